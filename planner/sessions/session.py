"""A session: a run that is written call by call. It outlives the process, with all that it has bound."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from infospace.core.clock import now
from infospace.core.errors import Conflict
from infospace.core.json_types import JSON
from infospace.journal.forks import calls_before
from infospace.journal.rows import FINISHED, CallRow, Disapprove, Entry, RunRow, RunStatus
from infospace.space import Space
from infospace.store.scoped_store import visibility_of
from infospace.tools.approvals import approvals_for_run, parse_tool_names
from infospace.tools.scoped_space import sight_in, within
from planner.execute.run import Steps
from planner.execute.start import bind_inputs
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit
from planner.journal.lease import is_live
from planner.journal.result import RunResult
from planner.journal.suspension import Pending
from planner.language.plan import Block, Plan
from planner.language.problems import Problem, Problems
from planner.lifecycle.resume import answer, pending_of
from planner.sessions.bindings import bindings_of
from planner.sessions.check import Check, CheckedCall, check_session_plan, check_session_steps
from planner.sessions.errors import (
    SessionMoved,
    already_ended_error,
    moved_error,
    nothing_to_resume_error,
    second_head_error,
    waiting_error,
)
from planner.sessions.fork import fork_entries
from planner.sessions.lines import read_head
from planner.sessions.names import full_name, name_of, naming, open_run
from planner.sessions.queue import Place, Queue, queue_of
from planner.sessions.session_run import CallEnd, SessionRun

Course: TypeAlias = Callable[[SessionRun, Sequence[JSON], Block], Awaitable[Steps | None]]
"""Says how the lines of a call are run, which it is given as JSON and as steps; None: one after the other."""


def ignore_event(_event: object) -> None:
    """Ignore an event: a listener for whoever wants none."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of a call: how it ended, None where the check refused it; `said` of what was broken off before."""

    run: SessionRun
    ended: CallEnd | None
    problems: Sequence[Problem]
    said: str = ""


class Session:
    """A session by name, which others may go on with; or one without, of whoever opened it.

    Its calls queue, and it rests between them. A call whose steps the check refuses has done nothing; one that fails
    ends there, and the session goes on with the next. While it waits it takes no steps, which is a Conflict.
    """

    def __init__(
        self,
        space: Space,
        name: str | None = None,
        head: JSON = None,
        inputs: Mapping[str, JSON] | None = None,
        approve: Sequence[str] = (),
        *,
        once: bool = False,
        alone: bool = False,
        owner: str | None = None,
    ) -> None:
        """`head` is what stands before the first step: goal, inputs, result, budget.

        The tools of `approve` may be called in it without asking; with `alone` in its own calls, and in these no others
        that callers before it named so. With `once` it is one session alone: when that has
        ended, steps are a Conflict; else they open another one of its name. One without a name is one alone. The names
        of the sessions of an `owner` are no others' names.
        Raises Invalid for the name, and for `approve`.
        """
        self._space = space
        self._approve = parse_tool_names(approve)
        self._alone = alone
        self._approved: str | None = None
        """The run in which that was said."""
        self.name = name
        self._once = once or name is None
        self._full = None if name is None else full_name(name, owner)
        self._queue = Queue() if self._full is None else queue_of(space, self._full)
        self._headed = head is not None or bool(inputs)
        problems = Problems()
        self._plan = self._titled(read_head(head, problems))
        self._inputs = dict(inputs or {})
        self._faults = problems.found
        self._run: SessionRun | None = None
        self._calls: Sequence[CallRow] = ()
        self.id: str | None = None
        """The run that it is, once it is one."""
        self.playing: SessionRun | None = None
        """Its run while a call of it is under way here."""

    def allow(self, approve: Sequence[str]) -> None:
        """Let tools be called without asking from the next call on. Raises Invalid."""
        self._approve, self._approved = parse_tool_names(approve), None

    def _titled(self, plan: Plan) -> Plan:
        if self.name is None or plan.goal:
            return plan
        goal = f"session {self.name}"
        document = plan.document if isinstance(plan.document, dict) else {}
        return replace(plan, goal=goal, document={**document, "goal": goal})

    # Calls

    def join(self) -> Place:
        """Take the place of a call that is made later, and leave it when that has ended, or is not made."""
        return self._queue.join()

    async def play(
        self,
        steps: Sequence[JSON],
        emit: Emit = ignore_event,
        halt: SuspendRequest | None = None,
        place: Place | None = None,
    ) -> RunResult:
        """Check steps, all of them against what is bound, then run them, when the place has its turn."""
        return self._run_result(await self.call(check_session_steps(steps), emit, halt, place))

    async def play_plan(
        self,
        document: JSON,
        inputs: Mapping[str, JSON] | None = None,
        emit: Emit = ignore_event,
        halt: SuspendRequest | None = None,
        course: Course | None = None,
    ) -> RunResult:
        """Check a whole plan against what is bound, with its inputs, then run its steps as those of the session."""
        return self._run_result(await self.call(check_session_plan(document, inputs or {}), emit, halt, course=course))

    async def call(
        self,
        check: Check,
        emit: Emit = ignore_event,
        halt: SuspendRequest | None = None,
        place: Place | None = None,
        course: Course | None = None,
    ) -> CallResult:
        """Check something and run it. Raises Conflict where the session waits, runs elsewhere, or has ended.

        `course` may say how the lines are run that were begun ahead.
        """
        async with self._queue.turn(place):
            try:
                run, checked, text = self._ready(check)
            except SessionMoved:
                self._run = None
                run, checked, text = self._ready(check)
            if not checked.problems.ok:
                return CallResult(run, None, checked.problems.found)
            steps = None if course is None else await course(run, checked.lines, checked.block)
            call_end = await self._played(run, checked.block, emit, halt, steps)
            return CallResult(run, call_end, checked.problems.found, text)

    async def answer(
        self, step: str, value: JSON, emit: Emit = ignore_event, halt: SuspendRequest | None = None
    ) -> RunResult:
        """Answer what it waits for, and go on; at a `wait` just look again. Raises what `resume.answer` does."""
        async with self._queue.turn():
            row = self._must_be_open()
            with self._space.store.reading() as snapshot:
                waits = [pending.step for pending in pending_of(snapshot.steps(row.run)) if pending.kind == "wait"]
            if step not in waits:
                answer(self._space, row.run, step, value)
            return self._run_result(await self._resume_open_lines(emit, halt))

    async def resume(
        self, emit: Emit = ignore_event, halt: SuspendRequest | None = None, approve: Sequence[str] = ()
    ) -> RunResult:
        """Go on with the lines that were begun; Conflict where none were, it runs elsewhere, or has ended.

        The tools of `approve` may be called from now on without asking.
        """
        async with self._queue.turn():
            return self._run_result(await self._resume_open_lines(emit, halt, approve))

    async def finish(
        self, emit: Emit = ignore_event, halt: SuspendRequest | None = None, approve: Sequence[str] = ()
    ) -> RunResult:
        """Do what `resume` does; one without a name then ends, since nobody has more for it.

        The tools of `approve` may be called from now on without asking.
        """
        async with self._queue.turn():
            if self.name is None and not self._recalled(self._must_be_open()).open_lines:
                return self._claim_run(emit).conclude()
            called = await self._resume_open_lines(emit, halt, approve)
            run, call_end = called.run, called.ended
            if self.name is not None or call_end is None or call_end.over or call_end.status == "suspended":
                return self._run_result(called, whole=self.name is None)
            self._run = None
            return run.conclude() if call_end.status == "success" else run.close("failed", None, call_end.reason)

    def _run_result(self, called: CallResult, *, whole: bool = False) -> RunResult:
        run, call_end = called.run, called.ended
        if call_end is None:
            return RunResult(run.id or None, "refused", bindings=run.bindings(), problems=called.problems)
        reason = "; ".join(text for text in (call_end.reason, called.said) if text) or None
        return run.outcome(replace(call_end, reason=reason), called.problems, whole=whole)

    # Its beginning and end

    async def begin(self) -> Sequence[Problem]:
        """Open it, where it is not open yet; return what is wrong with its head, for which it is not."""
        async with self._queue.turn():
            run = self._at_hand()
            problems = Problems()
            if run.id and self._headed:
                second_head_error(self._shown, problems)
            elif not run.id and self._open(run, problems):
                run.suspend()
            return problems.found

    async def end(self, emit: Emit = ignore_event) -> RunResult:
        """End it well: its name is free again. Its answer is what its head says, else its last value."""
        async with self._queue.turn():
            self._run, problems = None, Problems()
            run = self._at_hand()
            if not run.id and not self._open(run, problems):
                return RunResult(None, "refused", problems=problems.found)
            return self._claim_run(emit).conclude()

    async def close(self, status: RunStatus, reason: str, emit: Emit = ignore_event) -> RunResult:
        """End it where it stands, also where it waits. Raises Conflict where it runs elsewhere, or is not open."""
        async with self._queue.turn():
            self._run = None
            self._recalled(self._must_be_open())
            return self._claim_run(emit).close(status, None, reason)

    async def fork(self, label: str, reason: str, emit: Emit = ignore_event) -> Session:
        """End it as failed at one of its lines, and return a session without a name that goes on from before that.

        Both is one commit. The reason is followed by the id of the fork. Raises what `close` raises.
        """
        async with self._queue.turn():
            self._run = None
            row = self._must_be_open()
            self._recalled(row)
            result = Session(self._space)
            result.id = self._space.store.new_id("run")
            with self._space.store.reading() as snapshot:
                entries = fork_entries(snapshot, row.run, label, result.id)
            self._claim_run(emit).close("failed", None, f"{reason}; {result.id} goes on", also=entries)
        return result

    # What is known of it

    def bindings(self) -> dict[str, str]:
        """Return the ids of what its variables are bound to."""
        row = self._row()
        if row is None:
            return {}
        with self._space.store.reading() as snapshot:
            return bindings_of(row.inputs, snapshot.steps(row.run))

    @property
    def run(self) -> str | None:
        """The id of the run that it is, None where it is not open."""
        row = self._row()
        return None if row is None else row.run

    def pending(self) -> Sequence[Pending]:
        """Return what it waits for."""
        row = self._row()
        if row is None or row.status != "suspended":
            return ()
        with self._space.store.reading() as snapshot:
            return pending_of(snapshot.steps(row.run))

    @property
    def _shown(self) -> str:
        return f"session {self.name!r}" if self.name is not None else f"session {self.id or ''}".strip()

    def _row(self) -> RunRow | None:
        """Return its run as the journal has it, None where it is not open."""
        with self._space.store.reading() as snapshot:
            if self._full is not None and (self.id is None or not self._once):
                row = open_run(snapshot, self._full)
            else:
                row = None if self.id is None else snapshot.run(self.id)
        if row is None or row.status in FINISHED:
            return None
        self.id = row.run
        return row

    def _must_be_open(self) -> RunRow:
        row = self._row()
        if row is None:
            if self.id is not None:
                raise already_ended_error(self.name, self.id)
            raise Conflict(f"the {self._shown} is not open", hint="steps that are given to it by its name open one")
        return row

    # Its run

    def _at_hand(self) -> SessionRun:
        """Return its run as this process left it, as the journal has it, or one that is not opened yet.

        Raises Conflict where it waits, runs elsewhere, or has ended.
        """
        if self._run is not None and not self._run.open_lines:
            return self._run
        row = self._row()
        if row is None:
            if self._once and self.id is not None:
                raise already_ended_error(self.name, self.id)
            self._run, self.id = None, None
            return SessionRun(self._space, self._plan, self._approve)
        run = self._recalled(row)
        if run.waits:
            with self._space.store.reading() as snapshot:
                raise waiting_error(self._shown, row, snapshot)
        return run

    def _recalled(self, row: RunRow, space: Space | None = None) -> SessionRun:
        """Return its run as the journal has it, in a space. Raises Conflict where steps of it run elsewhere."""
        if is_live(row):
            raise moved_error(self._shown, row)
        if not visibility_of(row.scope).sees_as(sight_in(self._space)):
            message = f"the {self._shown} is of a caller who sees other notes"
            raise Conflict(message, hint="give steps to a session of another name")
        run = self._run = SessionRun(space or self._space, Plan(()))
        self._read(run, row)
        return run

    def _read(self, run: SessionRun, row: RunRow) -> None:
        """Let a run become what the journal has of it."""
        with self._space.store.reading() as snapshot:
            steps, self._calls, answers = snapshot.steps(row.run), snapshot.calls(row.run), snapshot.answers(row.run)
            before = calls_before(snapshot, row.run)
        run.recall(row, steps, self._calls, answers, before)

    def _claim_run(self, emit: Emit) -> SessionRun:
        """Own its run, to end it; what was broken off is settled."""
        run, self._run = self._run, None
        assert run is not None  # noqa: S101 - it was recalled, or opened
        run.claim(run.left_open(self._calls)[0] if run.open_lines else ())
        run.set_listener(emit)
        return run

    def _open(self, run: SessionRun, problems: Problems) -> bool:
        """Open its run, unless there is something wrong with its head; return whether it is open."""
        problems.found += self._faults
        store = self._space.store
        with store.reading() as snapshot:
            bound = bind_inputs(self._plan, self._inputs, snapshot, problems)
        if not problems.ok:
            return False
        run.id = store.new_id("run")
        run.open("session", bound, [] if self._full is None else naming(store, self._full, run.id))
        self._run, self.id, self._headed, self._approved = run, run.id, False, run.id
        return True

    def _ready(self, check: Check) -> tuple[SessionRun, CheckedCall, str]:
        """Check something, and journal its lines where it passes; say what was broken off before.

        Raises Moved where somebody else went on with the session since it was looked at.
        """
        run, text = self._at_hand(), ""
        entries: list[Entry] = []
        if run.open_lines:
            rows, text = run.left_open(self._calls)
            entries += rows
        checked = check(self._space, run)
        if run.id and self._headed:
            second_head_error(self._shown, checked.problems)
        if not checked.problems.ok:
            if run.id and self._has_moved(run):
                raise SessionMoved(self._shown)
            self._run = None if entries else self._run
            return run, checked, ""
        try:
            if not run.id and not self._open(run, checked.problems):
                return run, checked, ""
            entries += self._approvals(run.id)
            run.add(checked.block, checked.lines, checked.plans, entries)
        except Conflict as error:
            raise SessionMoved(self._shown) from error
        self._approved = run.id
        return run, checked, f"the call before was broken off: {text}" if text else ""

    def _approvals(self, run: str) -> list[Entry]:
        """Return what to journal so that the tools are approved in its run that may be called without asking."""
        if not self._alone:
            return list(approvals_for_run([] if self._approved == run else self._approve, run, now()))
        with self._space.store.reading() as snapshot:
            names = {
                approval.tool for approval in snapshot.approvals(run) if approval.run == run and approval.digest is None
            }
        entries: list[Entry] = [Disapprove(tool, run) for tool in sorted(names.difference(self._approve))]
        return [*entries, *approvals_for_run([tool for tool in self._approve if tool not in names], run, now())]

    def _has_moved(self, run: SessionRun) -> bool:
        row = self._row()
        return row is None or row.owner != run.previous  # no two runs have one owner

    async def _resume_open_lines(
        self, emit: Emit, halt: SuspendRequest | None, approve: Sequence[str] = ()
    ) -> CallResult:
        """Go on with the open lines, in the scope in which they were begun."""
        row = self._must_be_open()
        run = self._recalled(row, within(self._space, row.scope))
        if not run.open_lines:
            raise nothing_to_resume_error(self._shown, self.name)
        run.claim(approvals_for_run(parse_tool_names(approve), run.id, now()))
        # Until it was claimed an earlier owner that slept through its lease may have journalled a step more, and
        # somebody may have answered: what it goes on from is read now.
        claimed = SessionRun(run.space, Plan(()))
        claimed.owner = run.owner
        self._read(claimed, self._must_be_open())
        run = claimed
        try:
            return CallResult(run, await self._played(run, run.open_lines, emit, halt), ())
        finally:
            if row.scope is not None:
                self._run = None  # the next lines are of whoever gives them

    async def _played(
        self, run: SessionRun, block: Block, emit: Emit, halt: SuspendRequest | None, steps: Steps | None = None
    ) -> CallEnd:
        self._run, self.playing = None, run
        try:
            call_end = await run.play(block, emit, halt, steps)
        finally:
            self.playing = None
        self._run = None if call_end.over else run
        return call_end


def session_of(space: Space, run: str) -> Session:
    """Return the session that a run is."""
    with space.store.reading() as snapshot:
        name = name_of(snapshot, run)
    session = Session(space, name)
    session.id = run
    return session
