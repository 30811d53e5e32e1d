"""A store as somebody sees it who may not see, or not change, all of it.

Nothing goes round it: what a space of such a caller reads and writes, it reads and writes through here. A question
that is not listed here has no answer (`ScopedSnapshot.__getattr__`), so a new one cannot be forgotten.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args
from urllib.parse import quote

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind, number_of
from infospace.core.resources import Note, Relation, Resource
from infospace.data.properties import Property, survey
from infospace.journal.queue_rows import QueuedRun
from infospace.journal.rows import MISSING
from infospace.journal.schedule_rows import Schedule
from infospace.store.changes import (
    AddMembers,
    Change,
    Delete,
    Derived,
    Describe,
    Embed,
    Expect,
    ExpectLinks,
    FreeName,
    GiveName,
    Keep,
    MakeCollection,
    MakeNote,
    MakeNotes,
    MakeRelation,
    Query,
    RemoveMembers,
    Restore,
    Revise,
    Unkeep,
    Vectors,
)
from infospace.store.tool_records import ToolChange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.contract.arguments import BoundCondition
    from infospace.core.json_types import JSON
    from infospace.journal.rows import Approve, CallRow, Entry, RunHead, RunRow, StepRow
    from infospace.store.protocol import ResourceSummary, Snapshot, Store, TrackedFile
    from infospace.store.tool_records import SuccessfulCall

Whose: TypeAlias = Literal["own", "all"]

SESSION: Final = "_session:"
"""What the name of the Note begins with that says which run a session is."""

_DERIVED: Final = (Embed, Vectors, Describe, Query, Derived)
"""Changes that follow from what is there, and show nobody anything."""
_MAKE: Final = (MakeNote, MakeCollection, MakeRelation)
_CHANGE: Final = (Keep, GiveName, Revise, AddMembers, RemoveMembers, Delete, Restore, FreeName, Unkeep)
_TOOL_CHANGE: Final = get_args(ToolChange)
"""What servers list and how often their tools are called: of the space, and of no Note that anybody sees."""


class NotVisible(Invalid):
    """Something kept would be changed by a caller who may only read it, or not even that."""

    kind = "not_allowed"


@dataclass(frozen=True, slots=True)
class Visibility:
    """What of a space a caller may see and change besides what its own runs make.

    `notes` is `all`, `read` (change nothing that is kept), `none`, or a condition: those Notes alone that satisfy it.
    Runs and sessions are everybody's, or those alone that `caller` began.
    """

    notes: str = "all"
    runs: Whose = "all"
    sessions: Whose = "all"
    caller: str | None = None

    @property
    def hides(self) -> bool:
        """Whether there are Notes that it does not see."""
        return self.notes not in ("all", "read")

    @property
    def limits(self) -> bool:
        """Whether there is anything that it may not do."""
        return self.notes != "all" or "own" in (self.runs, self.sessions)

    def to_json(self) -> dict[str, JSON]:
        """Return it as a run keeps it, with what is not as usual alone."""
        usual = Visibility()
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) != getattr(usual, name)}

    def sees_as(self, other: Visibility) -> bool:
        """Whether both see the same Notes."""
        return self.notes == other.notes or not (self.hides or other.hides)

    @property
    def condition(self) -> BoundCondition | None:
        """What a Note satisfies that is seen; None where all are, or none is. Raises Invalid for no condition."""
        from infospace.contract.arguments import BoundCondition as BoundWhere
        from infospace.expressions import parse_where

        return BoundWhere(parse_where(self.notes), {}) if self.hides and self.notes != "none" else None


EVERYTHING: Final = Visibility()


def visibility_of(stored: JSON) -> Visibility:
    """Return the sight that a run keeps with its scope."""
    stored = stored if isinstance(stored, dict) else {}
    return Visibility(**{name: cast("Any", stored[name]) for name in Visibility.__slots__ if name in stored})


def sessions_of(caller: str | None) -> str:
    """Return what the names of the Notes of a caller's own sessions begin with, of everybody's without a caller."""
    return SESSION if caller is None else f"{SESSION}{quote(caller, safe='')}/"


def unscoped(snapshot: Snapshot) -> Snapshot:
    """Return all of the space that a snapshot shows, or shows a part of."""
    return snapshot.unscoped if isinstance(snapshot, ScopedSnapshot) else snapshot


class ScopedSnapshot:
    """A snapshot as far as it is seen. What is hidden is answered as what does not exist."""

    def __init__(self, of: Snapshot, store: ScopedStore) -> None:
        self._of = of
        self._store = store
        self._sight = store.sight

    PASSED: Final = frozenset(
        {
            # of the space as a whole
            *("generation", "model", "chosen", "derived", "searchable", "words_in", "fitting"),
            "testable",
            # by the digest of a text, which whoever asks has
            *("query", "known_vectors", "vectors"),
            # of tools, which have a scope of their own
            *("tools_generation", "tool_sources", "servers", "tools", "tool", "tool_by_id", "tool_counts"),
            *("tool_uses", "tool_totals", "successful_calls_generation", "server_uses"),
            # of Evidence that whoever asks has found, and of ids whose results it has
            *("evidence", "identities"),
        }
    )
    """Questions whose answers tell nothing that is hidden."""

    def __getattr__(self, name: str) -> Any:
        if name in self.PASSED:
            return getattr(self._of, name)
        raise AttributeError(name)

    @property
    def unscoped(self) -> Snapshot:
        """All of the space, for questions about what is seen whose answers tell nothing of what is hidden."""
        return self._of

    # Resources

    def _sees(self, resource: Resource) -> bool:
        sight = self._sight
        if (resource.name or "").startswith(SESSION):
            own = (resource.name or "").startswith(sessions_of(sight.caller))
            return own if sight.sessions == "own" else True
        run = resource.created_by.run
        if not resource.kept and sight.runs == "own":
            return run is not None and self._store.began(run, self._of)
        if not sight.hides or (run is not None and self._store.saw_the_same(run, self._of)):
            return True
        plain = isinstance(resource, Note) and resource.kept and not resource.evidence
        condition = self._store.condition
        if not plain or condition is None or (resource.name or "").startswith("_"):
            return False
        return condition.match(cast("Any", resource)) is True

    def get(self, identifier: str, version: int | None = None) -> Resource:
        """Return a resource that is seen, now and at the version."""
        try:
            resource = self._of.get(identifier, version)
            if self._sees(resource) and (version is None or not self._sight.hides or self._sees_now(resource)):
                return resource
        except NotFound:
            if not self._sight.limits:
                raise
        raise _not_found(identifier)

    def _sees_now(self, earlier: Resource) -> bool:
        try:
            return self._sees(self._of.get(earlier.id))
        except NotFound:
            return earlier.created_by.run is not None and self._store.saw_the_same(earlier.created_by.run, self._of)

    def get_many(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return several resources that are seen."""
        resources = self._of.get_many(identifiers)
        for resource in resources:
            if not self._sees(resource):
                raise _not_found(resource.id)
        return resources

    def notes(self, numbers: Sequence[int]) -> Sequence[Note]:
        """Return several Notes that are seen."""
        results = self._of.notes(numbers)
        for result in results:
            if not self._sees(result):
                raise _not_found(result.id)
        return results

    def versions(self, identifier: str) -> list[tuple[int, str]]:
        """Return the versions of a resource that is seen."""
        self.get(identifier)
        return self._of.versions(identifier)

    def named(self, name: str) -> str | None:
        """Return the id of the holder of a name, if it is seen."""
        identifier = self._of.named(name)
        return None if identifier is None or not self._shows(identifier) else identifier

    def names(self) -> list[str]:
        """Return the names of what is seen."""
        return [name for name in self._of.names() if self.named(name) is not None]

    def _shows(self, identifier: str) -> bool:
        try:
            self.get(identifier)
        except NotFound:
            return False
        return True

    def relations(
        self, *, source: str | None = None, target: str | None = None, relation: str | None = None
    ) -> list[str]:
        """Return the Relations that are seen, with both of their ends."""
        results = self._of.relations(source=source, target=target, relation=relation)
        return [identifier for identifier in results if self._shows_with_ends(identifier)]

    def _shows_with_ends(self, identifier: str) -> bool:
        try:
            one = self.get(identifier)
            return isinstance(one, Relation) and bool(self.get(one.source) and self.get(one.target))
        except NotFound:
            return False

    def listing(
        self, kind: Kind, *, kept: bool | None = True, after: int = 0, limit: int | None = None
    ) -> Iterator[Resource]:
        """Iterate over the resources of a kind that are seen: the limit counts these."""
        return islice((one for one in self._of.listing(kind, kept=kept, after=after) if self._sees(one)), limit)

    def count(self, kind: Kind, *, kept: bool | None = True) -> int:
        """Count what `listing` would give."""
        return sum(1 for _ in self.listing(kind, kept=kept))

    def briefs(self, identifiers: Sequence[str]) -> list[ResourceSummary]:
        """Return what a list shows of resources that are seen."""
        for identifier in identifiers:
            self.get(identifier)
        return self._of.briefs(identifiers)

    def collections(self) -> int:
        """Count the Collections that can be found: none where Notes are hidden, whose titles they would be found by."""
        return 0 if self._sight.hides else self._of.collections()

    def undescribed(self, model: str) -> Any:
        """Return the Collections to be embedded."""
        return [] if self._sight.hides else self._of.undescribed(model)

    def described(self, model: str) -> Any:
        """Return the embedded passages of Collections. Asked only where there are some to be found."""
        if self._sight.hides:
            raise Invalid("Collections are not searched where Notes are hidden")
        return self._of.described(model)

    def digests(self, numbers: Iterable[int]) -> list[tuple[int, int, int, bytes]]:
        """Return the passages of the Notes that are seen."""
        return self._of.digests([number for number in numbers if self._shows(f"{Kind.NOTE}_{number}")])

    def tracked(self, root: str | None = None) -> list[TrackedFile]:
        """Return the imported files of the Notes that are seen."""
        return [file for file in self._of.tracked(root) if not self._sight.hides or self._shows(file.note)]

    def discoverable(self, numbers: Iterable[int] | None = None) -> NDArray[np.int64]:
        """Return the numbers of the Notes that are searched."""
        return self._store.searched(self._of, self._of.discoverable(numbers))

    def discoverable_count(self) -> int:
        """Count the Notes that are searched."""
        return len(self.discoverable())

    def heads(self, numbers: Iterable[int] | None = None, *, text: bool = False, own: bool = False) -> Iterator[Any]:
        """Iterate over the Notes that are searched."""
        return self._of.heads(self.discoverable(numbers).tolist(), text=text, own=own)

    def properties(self) -> Mapping[str, Property]:
        """Return the properties of the Notes that are searched: of the others neither names, values nor counts."""
        if not self._sight.hides:
            return self._of.properties()
        return survey(head.metadata for head in self.heads())

    def space_table(self, name: str, tests: Iterable[Any], among: Iterable[Any]) -> Any:
        """Return rows of one of the space's own tables: of Notes that are searched, and what leads to such."""
        seen = self.discoverable().tolist() if self._sight.hides else None
        return self._of.space_table(name, tests, among, seen)

    # Runs

    def run(self, identifier: str) -> RunRow:
        """Return a run that is seen."""
        row = self._of.run(identifier)
        if not self._sight.runs == self._sight.sessions == "all" and not self._sees_run(row):
            message = f"there is no {identifier}, {MISSING}"
            raise NotFound(message, hint="`infospace runs` lists the runs of a space")
        return row

    def _sees_run(self, row: RunRow) -> bool:
        whose = self._sight.sessions if row.kind == "session" else self._sight.runs
        return whose == "all" or visibility_of(row.scope).caller == self._sight.caller

    def runs(self, *, limit: int | None = None, before: int | None = None) -> list[RunRow]:
        """Return the runs that are seen: the limit counts these."""
        results: list[RunRow] = []
        page = 100 if limit is not None else None
        while limit is None or len(results) < limit:
            more = self._of.runs(limit=page, before=before)
            results += [row for row in more if self._sees_run(row)]
            if page is None or len(more) < page:
                break
            before = number_of(more[-1].run)
        return results[:limit]

    def run_heads(self) -> list[RunHead]:
        """Return the runs that are seen, without their plans."""
        seen = {row.run for row in self.runs()}
        return [head for head in self._of.run_heads() if head.run in seen]

    def queued(
        self, due: str | None = None, limit: int | None = None, *, names: Sequence[str] = (), skip: int = 0
    ) -> list[QueuedRun]:
        """Return the runs in queues that are seen."""
        seen = {row.run for row in self.runs()}
        results = [queued for queued in self._of.queued(due, names=names) if queued.run in seen]
        return results[skip:][:limit]

    def queue_limits(self) -> dict[str, int]:
        """Return the limits of the queues in which a run is that is seen."""
        names = {queued.queue for queued in self.queued()}
        return {name: most for name, most in self._of.queue_limits().items() if name in names}

    def schedules(self, due: str | None = None) -> list[Schedule]:
        """Return the schedules: none for who does not see everybody's runs, since they begin such."""
        return [] if self._sight.limits else self._of.schedules(due)

    def _of_run(self, run: str) -> str:
        return self.run(run).run

    def steps(self, run: str) -> list[StepRow]:
        """Return the steps of a run that is seen; none of one that is not there yet."""
        try:
            return self._of.steps(self._of_run(run))
        except NotFound:
            return []

    def step_extra(self, run: str, step: str) -> dict[str, JSON] | None:
        """Return what a step of a run that is seen told besides."""
        return self._of.step_extra(self._of_run(run), step)

    def answers(self, run: str) -> dict[str, JSON]:
        """Return what was answered in a run that is seen."""
        return self._of.answers(self._of_run(run))

    def approvals(self, run: str | None = None) -> list[Approve]:
        """Return what may be called without asking, in the space and in a run that is seen."""
        return self._of.approvals(None if run is None else self._of_run(run))

    def calls(self, run: str) -> list[CallRow]:
        """Return the calls of a run that is seen."""
        return self._of.calls(self._of_run(run))

    def successful_calls(self, limit: int) -> list[SuccessfulCall]:
        """Return calls that went well of runs that are seen, and that saw no other Notes: the limit counts these."""
        return list(
            islice((call for call in self._of.successful_calls(sys.maxsize) if self._shows_calls(call.run)), limit)
        )

    def _shows_calls(self, run: str) -> bool:
        if self._sight.runs == "own" and not self._store.began(run, self._of):
            return False
        if self._sight.sessions == "own" and not self._shows_run(run):
            return False
        return not self._sight.hides or self._store.saw_the_same(run, self._of)

    def _shows_run(self, run: str) -> bool:
        try:
            return bool(self.run(run))
        except NotFound:
            return False


class ScopedStore:
    """A store as far as somebody sees it. Closing it leaves the store open."""

    def __init__(self, of: Store, sight: Visibility) -> None:
        self._of = of
        self.sight = sight
        self._began_by_caller: dict[str, bool] = {}
        self._saw_the_same: dict[str, bool] = {}
        self._choosing = threading.Lock()
        self.address, self.identity, self.derived = of.address, of.identity, of.derived
        self.new_id = of.new_id
        self.new_numbers = of.new_numbers

    @cached_property
    def condition(self) -> BoundCondition | None:
        """What a Note satisfies that is seen."""
        return self.sight.condition

    @cached_property
    def _choice(self) -> Any:
        from infospace.search.note_filter import NoteFilter

        return NoteFilter()

    @property
    def writable(self) -> bool:
        """Whether a commit will be kept."""
        return self._of.writable

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """Open a snapshot of what is seen."""
        with self._of.reading() as snapshot:
            yield cast("Snapshot", ScopedSnapshot(snapshot, self))

    def get(self, identifier: str) -> Resource:
        """Return a resource that is seen, as it is now."""
        with self.reading() as snapshot:
            return snapshot.get(identifier)

    @contextmanager
    def overlay(self) -> Iterator[Store]:
        """Open a private copy of the space, of which the same is seen."""
        with self._of.overlay() as store:
            yield cast("Store", ScopedStore(store, self.sight))

    def searched(self, snapshot: Snapshot, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which of the Notes that discovery searches are searched for this caller."""
        if not self.sight.hides:
            return numbers
        if self.condition is None:
            return numbers[:0]
        with self._choosing:
            results: NDArray[np.int64] = self._choice.satisfying(snapshot, numbers, len(numbers), self.condition)[0]
        return results

    def began(self, run: str, snapshot: Snapshot) -> bool:
        """Whether the caller began a run, which stays so."""
        if run not in self._began_by_caller:
            self._began_by_caller[run] = _run_matches(snapshot, run, lambda kept: kept.caller == self.sight.caller)
        return self._began_by_caller[run]

    def saw_the_same(self, run: str, snapshot: Snapshot) -> bool:
        """Whether a run saw the Notes that are seen here, which stays so: what it made of them shows no others."""
        if run not in self._saw_the_same:
            self._saw_the_same[run] = _run_matches(snapshot, run, self.sight.sees_as)
        return self._saw_the_same[run]

    def commit(self, changes: Sequence[Change], entries: Sequence[Entry] = ()) -> int:
        """Apply changes that the caller may make. Raises NotVisible for others, NotFound for what is hidden."""
        if self.sight.limits:
            self._must_be_allowed([change for change in changes if not isinstance(change, _DERIVED)])
            changes = [self._from_nobody_hidden(change) for change in changes]
        try:
            return self._of.commit(changes, entries)
        except Conflict:
            self._refuse_hidden_names([change.name for change in changes if isinstance(change, GiveName)])
            raise

    def _refuse_hidden_names(self, names: Sequence[str]) -> None:
        """Raise Conflict for a name that something hidden has, without a word of what that is."""
        with self._of.reading() as snapshot, self.reading() as seen:
            for name in names:
                if snapshot.named(name) is not None and seen.named(name) is None:
                    raise Conflict(f"the name {name!r} is taken", hint="take another name")

    def _from_nobody_hidden(self, change: Change) -> Change:
        """A name is taken over from what is seen alone: else it is taken, as one that may not be replaced is."""
        if not isinstance(change, GiveName) or not change.replace:
            return change
        with self.reading() as snapshot:
            return change if snapshot.named(change.name) is not None else replace(change, replace=False)

    def _must_be_allowed(self, changes: Sequence[Change]) -> None:
        made_here: dict[str, bool] = {}
        """What the commit itself makes, and whether it is the record of a session."""
        made_ranges: list[range] = []
        """Those of the Notes that it makes many of at once."""
        with self.reading() as snapshot:
            for change in changes:
                if isinstance(change, MakeNotes):
                    made_ranges.append(range(change.first, change.first + len(change.contents)))
                    continue
                if isinstance(change, _MAKE):
                    made_here[change.id] = isinstance(change, MakeNote) and _of_session(change.created_by)
                    if change.kept and not made_here[change.id]:
                        self._must_write("keep anything")
                    continue
                if isinstance(change, (Expect, ExpectLinks)):
                    continue
                if not isinstance(change, _CHANGE):
                    if isinstance(change, _TOOL_CHANGE):
                        continue
                    raise NotVisible(f"{self._caller_name} may not do that ({type(change).__name__})")
                if isinstance(change, Revise) and _of_session(change.created_by):
                    continue
                if isinstance(change, GiveName) and not made_here.get(change.id):
                    self._must_be_no_session(change.name)
                if change.id.startswith("Note_") and any(number_of(change.id) in some for some in made_ranges):
                    made_here[change.id] = False
                if change.id in made_here:
                    if isinstance(change, (Keep, GiveName)) and not made_here[change.id]:
                        self._must_write("keep or name anything")
                    continue
                resource = snapshot.get(change.id)
                if resource.kept or isinstance(change, (Keep, GiveName)):
                    self._must_write(f"change {change.id}" if resource.kept else "keep or name anything")

    def _must_be_no_session(self, name: str) -> None:
        # Who opens a session of that name would go on in the run that the Note says.
        if self.sight.sessions == "own" and name.startswith(SESSION):
            raise NotVisible(
                f"{self._caller_name} may not give the name {name!r}: it means a session", hint="take another name"
            )

    def _must_write(self, what: str) -> None:
        if self.sight.notes in ("read", "none"):
            raise NotVisible(
                f"{self._caller_name} may not {what}: its scope has `notes` {self.sight.notes!r}",
                hint="what a run makes for itself stays possible, without `name` and `persist`",
            )

    @property
    def _caller_name(self) -> str:
        return self.sight.caller or "this caller"

    def use_model(self, *_: Any) -> None:
        """The model is chosen for the whole space. Raises NotVisible."""
        raise NotVisible(f"{self._caller_name} may not choose the model")

    choose_model = use_model

    def purge(self, *, really: bool) -> Any:
        """Nothing is removed for good through here. Raises NotVisible."""
        del really
        raise NotVisible(f"{self._caller_name} may not remove anything for good")

    def forget(self, runs: Sequence[str], *, really: bool, compact: bool = True) -> Any:
        """No run is removed through here. Raises NotVisible."""
        del runs, really, compact
        raise NotVisible(f"{self._caller_name} may not remove runs")

    def check(self) -> list[str]:
        """The store is not checked through here. Raises Conflict."""
        raise Conflict("a space is checked as a whole")

    def close(self) -> None:
        """Leave the store open."""


def _run_matches(snapshot: Snapshot, run: str, message: Callable[[Visibility], bool]) -> bool:
    try:
        row = snapshot.run(run)
    except NotFound:
        return False
    return row.kind in ("plan", "session") and message(visibility_of(row.scope))


def _of_session(result: Any) -> bool:
    return result.run is None and result.by == "session"


def _not_found(identifier: str) -> NotFound:
    return NotFound(f"there is no {identifier}", hint="it was never made, or only in another space")
