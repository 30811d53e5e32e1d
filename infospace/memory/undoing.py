"""Undoing a run: what it made goes, what it changed or deleted is as it was. Nothing that came later is lost.

Undoing is a run itself, and can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from infospace.clock import now
from infospace.errors import Conflict, Invalid
from infospace.ids import Kind, kind_of, number_of
from infospace.memory.changes import (
    Change,
    Delete,
    FreeName,
    GiveName,
    Keep,
    LetGo,
    Linked,
    Restore,
    SetLinks,
    Track,
    Untrack,
)
from infospace.memory.store import Effect, Lineage, Snapshot, Store, Tracked
from infospace.resources import Made
from infospace.runs.journal import FINISHED, CloseRun, OpenRun

NAMED = 5
"""How many things that changed since a refusal names."""

_WORDS = {"name": "named", "kept": "kept", "alive": "deleted or restored", "file": "imported", "links": "linked"}


@dataclass(frozen=True, slots=True)
class Undone:
    """What undoing did: its own run, and the ids that it deleted, restored, and brought back to how they were."""

    run: str
    deleted: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    reverted: list[str] = field(default_factory=list)


def undo(store: Store, run: str) -> Undone:
    """Undo a run that has ended.

    Raises NotFound for an unknown run, Conflict when it goes on, or when something that it wrote was changed
    since; Invalid when it wrote nothing.
    """
    with store.reading() as snapshot:
        row = snapshot.run(run)
        if row.status not in FINISHED:
            raise Conflict(f"{run} has not ended: it is {row.status}", hint="a run is undone when it has ended")
        reverting = _Reverting(snapshot, run)
        undone = reverting.plan()
        if not any(undone):
            raise Invalid(f"{run} wrote nothing that could be undone", hint="`infospace runs` lists the runs")
        own = store.new_id("run")
        changes = list(reverting.changes(Made(own, None, "undo")))
    opened = OpenRun(own, "edit", f"undo {run}", {"undo": run}, {}, now(), "")
    store.commit(changes, [opened, CloseRun(own, "success", now())])
    return Undone(own, *undone)


class _Reverting:
    """What has to be done so that everything is as it was before a run."""

    def __init__(self, snapshot: Snapshot, run: str) -> None:
        self._snapshot = snapshot
        self._run = run
        self._lineages = snapshot.lineages(run)
        self._gone = {lineage.id for lineage in self._lineages if lineage.gone is not None}
        self._effects: dict[str, list[Effect]] = {}
        for effect in snapshot.effects(run):
            self._effects.setdefault(effect.id, []).append(effect)
        self._delete: list[str] = []
        self._restore: dict[str, int | None] = {}
        self._let_go: list[str] = []
        self._keep: list[str] = []

    def plan(self) -> tuple[list[str], list[str], list[str]]:
        """Return which ids are deleted, restored, reverted. Raises Conflict for what was changed since."""
        self._refuse([clash for lineage in self._lineages for clash in self._clashes(lineage)])
        for lineage in self._lineages:
            self._place(lineage)
        self._refuse(list(self._held()))
        restored = [one for one in self._restore if self._was_alive(one) and one in self._gone]
        names = [change.id for change in self._names() if isinstance(change, (FreeName, GiveName))]
        touched = (*self._restore, *names, *self._let_go, *self._keep, *(one.note for one in self._files_before()))
        done = {*restored, *self._delete}
        reverted = list(dict.fromkeys(one for one in touched if one not in done))
        return self._delete, restored, reverted

    def _refuse(self, clashes: Sequence[str]) -> None:
        if clashes:
            more = f", and {len(clashes) - NAMED} more" if len(clashes) > NAMED else ""
            says = f"{self._run} cannot be undone, since {'; '.join(clashes[:NAMED])}{more}"
            raise Conflict(says, hint="undo the later run first")

    def _clashes(self, lineage: Lineage) -> Iterator[str]:
        """Say what happened to a resource after the run."""
        mine = [version for version, run in lineage.versions if run == self._run]
        if mine:
            for version, run in lineage.versions:
                if version > min(mine) and run != self._run:
                    yield f"{lineage.id} was changed by {run or 'somebody'} (version {version})"
            if min(mine) > 1 and min(mine) - 1 not in dict(lineage.versions):
                yield f"version {min(mine) - 1} of {lineage.id} was purged"
        for run, what in lineage.later:
            yield f"{lineage.id} was {_WORDS[what]} by {run}"

    def _place(self, lineage: Lineage) -> None:
        """Decide what becomes of a resource."""
        mine = [version for version, run in lineage.versions if run == self._run]
        created = bool(mine) and min(mine) == 1
        if created:
            if lineage.gone is None and lineage.kept:
                self._delete.append(lineage.id)
            return
        was_alive = self._was_alive(lineage.id)
        if mine or (was_alive and lineage.gone is not None):
            self._restore[lineage.id] = min(mine) - 1 if mine else None
        if not was_alive and lineage.gone is None:
            self._delete.append(lineage.id)
        kept = [effect for effect in self._effects.get(lineage.id, ()) if effect.what == "kept"]
        if kept and kept[0].before is not lineage.kept and was_alive:
            (self._let_go if lineage.kept else self._keep).append(lineage.id)

    def _was_alive(self, identifier: str) -> bool:
        lives = [effect for effect in self._effects.get(identifier, ()) if effect.what == "alive"]
        return lives[0].before is True if lives else True

    def _held(self) -> Iterator[str]:
        """Say who else has what would go."""
        mine = {*self._delete, *self._restore}
        for held, holder in self._snapshot.holders(self._delete):
            if holder not in mine:
                yield f"{holder} holds {held} now"
        for held, holder in self._snapshot.holders(self._let_go):
            if holder not in mine and self._snapshot.get(holder).kept:
                yield f"{holder} holds {held} now"

    def changes(self, made: Made) -> Iterator[Change]:
        """Give the changes, once it is planned."""
        names = list(self._names())
        yield from (change for change in names if isinstance(change, FreeName))
        yield from (Restore(identifier, version, made) for identifier, version in self._restore.items())
        yield from (Delete(identifier, made) for identifier in sorted(self._delete, key=_relations_first))
        yield from (LetGo(identifier) for identifier in self._let_go)
        yield from (Keep(identifier) for identifier in self._keep)
        yield from (change for change in names if isinstance(change, GiveName))
        yield from self._files()
        yield from self._links()

    def _names(self) -> Iterator[Change]:
        for lineage in self._lineages:
            names = [effect for effect in self._effects.get(lineage.id, ()) if effect.what == "name"]
            if not names or lineage.id in self._delete or names[0].before == lineage.name:
                continue
            before = cast("str | None", names[0].before)
            if lineage.name is not None:
                yield FreeName(lineage.id)
            if before is not None and self._was_alive(lineage.id):
                yield GiveName(lineage.id, before)

    def _file_effects(self) -> Iterator[tuple[Any, Any]]:
        """Give for each place where a file was before the run, or is after it, what was and what is."""
        first: dict[tuple[str, str, int], Any] = {}
        last: dict[tuple[str, str, int], Any] = {}
        for effect in self._snapshot.effects(self._run):
            if effect.what == "file":
                row: Any = effect.before or effect.after
                place = (row["root"], row["path"], row["part"])
                first.setdefault(place, effect.before)
                last[place] = effect.after
        yield from ((first[place], last[place]) for place in first)

    def _files_before(self) -> list[Tracked]:
        return [_tracked(before) for before, _ in self._file_effects() if before is not None]

    def _files(self) -> Iterator[Change]:
        now_at = {(one.root, one.path, one.part): one for one in self._snapshot.tracked()}
        tracks = []
        for before, after in self._file_effects():
            was, done = before and _tracked(before), after and _tracked(after)
            if done is not None and (done.root, done.path, done.part) in now_at and done.note not in self._delete:
                yield Untrack(done.root, done.path, done.part)
            if was is not None and was.note not in self._delete:
                tracks.append(was)
        for one in tracks:
            yield Track(one.root, one.path, one.note, one.digest, one.version, one.part, one.title)

    def _links(self) -> Iterator[Change]:
        for identifier, effects in self._effects.items():
            links = [effect for effect in effects if effect.what == "links"]
            created = identifier not in self._restore and identifier in self._delete
            if links and not created and self._was_alive(identifier):
                rows = cast("list[dict[str, Any]]", links[0].before)
                yield SetLinks(identifier, [Linked(**row) for row in rows])


def _relations_first(identifier: str) -> tuple[int, int]:
    """A Relation before what it ends at, a Collection before its members; later ones before earlier ones."""
    return (Kind.RELATION, Kind.COLLECTION, Kind.NOTE).index(kind_of(identifier)), -number_of(identifier)


def _tracked(row: dict[str, Any]) -> Tracked:
    return Tracked(**{**row, "digest": bytes.fromhex(row["digest"])})


def describe(undone: Undone) -> Iterable[str]:
    """Say in a few words what was done."""
    for word in ("deleted", "restored", "reverted"):
        count = len(getattr(undone, word))
        if count:
            yield f"{count:,} {word}"
