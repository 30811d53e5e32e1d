"""Commits in document order, whatever runs side by side.

Each of several parts that run at once has a lane. The lane of the first part that has not ended writes through;
those behind it keep their rows until it is their turn. What a step behind has made is transient, since whatever
writes waits for its turn: it is stored at once, so that the steps after it can read it. A lane that is dropped
leaves no row, and nothing that anybody finds.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from infospace.core.bounds import unhurried
from infospace.core.errors import BudgetExceeded, InfospaceError
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.resources import Note
from infospace.journal.rows import Entry, OwnerGuard, StepRow
from infospace.store.changes import Change
from infospace.store.protocol import Store
from planner.journal.suspension import Suspension
from planner.journal.unwritten import Storable, UnwrittenSteps, storable

if TYPE_CHECKING:
    from planner.execute.frame import Frame
    from planner.execute.run import Run
    from planner.language.plan import Step
    from planner.lifecycle.breakpoints import Breakpoints


@dataclass(slots=True)
class StartedStep:
    """One execution of a step that was begun; it is numbered when its beginning is in its place of the order."""

    sequence: int = 0
    frames: Mapping[str, JSON] = field(default_factory=dict)
    """Decisions stored in the row written when the step suspended; its final row replaces that row and must keep
    them."""


@dataclass(slots=True)
class ControlDecision:
    """What a form decided, by its position: it is journalled with the first step that is written after it."""

    position: str
    value: JSON
    written: bool = False


@dataclass(frozen=True, slots=True)
class FinishedStep:
    """The end of an execution: its row, with what it changed and what the forms around it decided."""

    started: StartedStep
    row: StepRow
    nesting: int
    changes: Sequence[Change] = ()
    decisions: Sequence[ControlDecision] = ()
    computed: Note[Any] | None = None
    """What a step gave that only computes: it may be written with the next one."""


class StepSink(Protocol):
    """Where executions begin and end."""

    def begin(self, started: StartedStep) -> None:
        """Number an execution that begins; raises BudgetExceeded when the budget has no more."""

    def end(self, finished: FinishedStep) -> None:
        """Write the end of an execution. Raises what the store raises."""

    def make(self, changes: Sequence[Change]) -> None:
        """Store what an execution made before its end is written."""

    async def wait_for_turn(self) -> None:
        """Wait until all that stands before has ended."""


class JournalWriter:
    """The track of a whole run: it writes to the store, and counts."""

    def __init__(self, store: Store, most: int, ended: Callable[[StepRow, int], None]) -> None:
        self.most = most
        """Executions that the budget allows."""
        self._store = store
        self._ended = ended
        self.sequence = 0
        """The number of the last execution that was begun."""
        self.uncounted = 0
        """Numbers of executions that were begun in an earlier part of the run, and are begun again."""
        self.guards: Sequence[OwnerGuard] = ()
        """Whose the run is, once it is open: nothing is written where it is somebody else's by now."""
        self.may_defer = False
        """Whether steps that only compute may be written together."""
        self._unwritten = UnwrittenSteps()
        self._raised: Exception | None = None
        """What a listener raised when nobody of the run was there to be told."""

    def begin(self, started: StartedStep) -> None:
        """Give an execution its number. Raises BudgetExceeded where the budget of steps is spent."""
        self._raise_what_was_raised()
        if self.sequence - self.uncounted >= self.most:
            raise BudgetExceeded(f"the budget of {pluralize(self.most, 'step')} ran out")
        self.sequence += 1
        started.sequence = self.sequence

    def end(self, finished: FinishedStep) -> None:
        """Write changes and row in one transaction; of an execution that the budget had no number for, nothing."""
        if not finished.started.sequence:
            return
        # Ends come in document order, and `written` is set after the commit alone: each decision is journalled once,
        # with the first row after it, though an earlier commit failed. A resumed run therefore finds the decision of
        # every form of which any step was journalled.
        fresh = [decision for decision in finished.decisions if not decision.written]
        row = finished.row
        before = finished.started.frames
        if fresh or before or row.frames or row.sequence != finished.started.sequence:
            frames = {**before, **{decision.position: decision.value for decision in fresh}}
            row = replace(row, sequence=finished.started.sequence, frames=frames)
        if self.may_defer and self._defer(finished, row):
            for decision in fresh:
                decision.written = True
            return
        self._commit(finished.changes, [row])
        for decision in fresh:
            decision.written = True
        self._unwritten.then(partial(self._ended, row, finished.nesting))
        self._unwritten.tell()

    def make(self, changes: Sequence[Change]) -> None:
        """Store what an execution made. It is transient, so it is found by nobody if the row never follows.

        Nothing is unwritten then: only what runs in a branch, or in a session ahead of its check, is stored before its
        row, and nothing of that is put off.
        """
        self._store.commit(changes)

    # What only computes

    @property
    def unwritten(self) -> Mapping[str, Note[Any]]:
        """The Notes that were made and are not in the store yet, by id."""
        return self._unwritten.notes

    def once_written(self, action: Callable[[], None]) -> None:
        """Do something when all that has ended is in the journal: at once, where it is."""
        self._unwritten.then(action)

    def flush(self) -> None:
        """Write what is unwritten, in one transaction. Raises what the store raises: then nothing of it is written."""
        self._raise_what_was_raised()
        self._write()
        self._unwritten.tell()

    def _write(self) -> None:
        if self._unwritten.rows:
            # These steps ended in their time: that of whoever is next is none of theirs.
            with unhurried():
                self._store.commit(self._unwritten.changes, [*self.guards, *self._unwritten.rows])
            self._unwritten.written()

    def _raise_what_was_raised(self) -> None:
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised

    def _defer(self, finished: FinishedStep, row: StepRow) -> bool:
        """Put the end of a step that only computed off; return whether it may be."""
        computed = finished.computed
        if computed is None or self._unwritten.is_full or row.extra or len(finished.changes) > 1:
            return False
        made: Storable | None = None
        for change in finished.changes:
            made = storable(change, computed)
            if made is None:
                return False
        if not self._unwritten.rows:
            # The loop comes to this before anything else that is ready: whenever the steps wait for something.
            asyncio.get_running_loop().call_soon(self.try_to_flush)
        self._unwritten.add(row, made)
        self._unwritten.then(partial(self._ended, row, finished.nesting))
        return True

    def try_to_flush(self) -> None:
        """Write what is unwritten; where that fails, the next commit of the run tries again, and is told why."""
        if not self._unwritten.rows:
            return
        with suppress(Exception):
            self._write()
        if self._unwritten.rows:
            return
        try:
            self._unwritten.tell()
        except Exception as error:  # noqa: BLE001 - whatever a listener raises breaks the run off, at its next step
            self._raised = error

    def _commit(self, changes: Sequence[Change], entries: Sequence[Entry]) -> None:
        """Commit with all that is unwritten, which comes first. What is raised is of these changes alone."""
        before = self._unwritten
        if not before.rows:
            self._store.commit(changes, [*self.guards, *entries])
            return
        try:
            # What ends without changes is journalled though its time is over, and so is what is before it.
            with nullcontext() if changes else unhurried():
                self._store.commit([*before.changes, *changes], [*self.guards, *before.rows, *entries])
        except InfospaceError:
            # Whose fault it is shows when each is written by itself.
            self.flush()
            self._store.commit(changes, [*self.guards, *entries])
        else:
            before.written()

    async def wait_for_turn(self) -> None:
        """Return at once: what reaches the journal is in order."""


@dataclass(slots=True)
class SuspendRequest:
    """Whether parts that run side by side are to begin no more steps."""

    now: bool = False
    requested: asyncio.Event = field(default_factory=asyncio.Event)
    """Wakes whoever just waits for time to pass."""
    pausing: Breakpoints | None = None
    """Says before which steps the run is put to rest."""
    broken: bool = False
    """Whether what runs is broken off, also what has not begun."""
    _task: asyncio.Task[Any] | None = None

    def set(self) -> None:
        """Halt from now on."""
        self.now = True
        self.requested.set()

    async def should_suspend(self, run: Run, step: Step, frame: Frame) -> bool:
        """Whether the run is to rest before a step: it was halted, or `pausing` wants it, which halts it now."""
        if not self.now and self.pausing is not None and await self.pausing.should_pause(run, step, frame):
            self.set()
        return self.now

    def hold(self, task: asyncio.Task[Any] | None) -> None:
        """Take what is cancelled where halting takes too long: at once where it was broken off before it began."""
        self._task = task
        if self.broken:
            self.break_off()

    def break_off(self) -> None:
        """Cancel what runs, or as soon as it begins."""
        self.broken = True
        if self._task is not None:
            self._task.cancel()


@dataclass(slots=True)
class OrderedBranch:
    """The track of one of several parts."""

    outer: StepSink
    most: int
    """Executions that may begin while others are before it."""
    _kept: deque[StartedStep | FinishedStep] = field(default_factory=deque)
    _open: bool = False
    _begun: int = 0
    _held: bool = False
    _turn: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, started: StartedStep) -> None:
        """Number an execution, or remember that it began."""
        if self._open:
            self.outer.begin(started)
            return
        self._begun += 1
        if self._begun > self.most:
            raise BudgetExceeded(f"the budget of {pluralize(self.most, 'step')} ran out")
        self._kept.append(started)

    def end(self, finished: FinishedStep) -> None:
        """Write the end of an execution, or keep it until the parts before have ended."""
        if self._open:
            self.outer.end(finished)
            return
        self.make(finished.changes)
        self._kept.append(replace(finished, changes=()))

    def make(self, changes: Sequence[Change]) -> None:
        """Store what an execution made."""
        if changes:
            self.outer.make(changes)

    async def wait_for_turn(self) -> None:
        """Wait until the parts before have ended, here and further out.

        Raises Suspension when one of them waits for something.
        """
        # Branches may stand in branches: the turn has come when it has come at every level, from the inside out.
        await self._turn.wait()
        if self._held:
            raise Suspension(())
        await self.outer.wait_for_turn()

    def hold(self) -> None:
        """Let nothing here have its turn: a part before waits for something."""
        self._held = True
        self._turn.set()

    def open(self) -> None:
        """Let it write: the parts before have ended.

        Raises BudgetExceeded at an execution that the budget has not; neither this nor what comes after is written.
        """
        # No await stands in here: no step of this branch can begin or end between the last entry and `_open`, so
        # nothing passes what is kept.
        while self._kept:
            entry = self._kept.popleft()
            if isinstance(entry, StartedStep):
                self.outer.begin(entry)
            else:
                self.outer.end(entry)
        self._open = True
        self._turn.set()

    def wake(self) -> None:
        """Let what waits for its turn look again at whether it is to halt."""
        self._turn.set()

    @property
    def begun(self) -> bool:
        """Whether it has anything that was not written."""
        return bool(self._kept)

    @property
    def waiting(self) -> int:
        """Executions that were begun and not yet numbered."""
        return 0 if self._open else self._begun

    def drop(self) -> None:
        """Forget what it keeps."""
        self._kept.clear()


class BufferedBranch(OrderedBranch):
    """The track of what runs ahead of the check: it tells what ends, and keeps all of it until the check has passed."""

    def __init__(self, outer: StepSink, most: int, tell: Callable[[StepRow, int], None]) -> None:
        super().__init__(outer, most)
        self._tell: Callable[[StepRow, int], None] | None = tell

    @property
    def begun_ahead(self) -> int:
        """Executions that were begun while it was held."""
        return self._begun

    def end(self, finished: FinishedStep) -> None:
        """Keep the end of an execution and tell it; once open, write it."""
        if not self._open and self._tell is not None:
            self._tell(finished.row, finished.nesting)
        super().end(finished)

    def drop(self) -> None:
        """Forget what it keeps, and tell no more."""
        self._tell = None
        super().drop()


def ordered_branches(outer: StepSink, count: int, most: int) -> list[OrderedBranch]:
    """Return lanes for parts that run side by side, in their order."""
    return [OrderedBranch(outer, most) for _ in range(count)]
