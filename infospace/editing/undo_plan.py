"""What has to be done so that everything is as it was before a run, and what stands in the way of that.

A later run and its undoing cancel each other out, and so stand in nobody's way; so do an undoing and the undoing of
that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from infospace.core.errors import Conflict, NotFound
from infospace.core.ids import Kind, kind_of, number_of
from infospace.core.resources import CreatedBy, Relation
from infospace.editing.undo_links import LinkUndo
from infospace.files.tracked_files import FileKey, path_of, place_of, track, was_of
from infospace.journal.rows import RunRow
from infospace.store.changes import (
    SETTLED_BY,
    Change,
    Delete,
    Expect,
    ExpectLinks,
    FreeName,
    GiveName,
    Keep,
    Linked,
    MakeRelation,
    Restore,
    SetLinks,
    Track,
    Unkeep,
    Untrack,
)
from infospace.store.protocol import Effect, Lineage, Snapshot, TrackedFile

NAMED = 5
"""How many things that changed since a refusal names."""

_WORDS = {"name": "named", "kept": "kept", "alive": "deleted or restored", "file": "imported", "links": "linked"}


def cancelled(snapshot: Snapshot, run: str, later: Iterable[str]) -> set[str]:
    """Return which of the runs after `run` cancel each other out: those that were undone, and their undoings.

    Raises Conflict when `run` itself is undone already.
    """
    undoings = {}
    for one in sorted({one for one in later if number_of(one) > number_of(run)}, key=number_of, reverse=True):
        row = _find_run(snapshot, one)
        if (
            row is not None
            and row.kind == "edit"
            and isinstance(row.document, dict)
            and isinstance(row.document.get("undo"), str)
        ):
            undoings[one] = row.document["undo"]
    results: set[str] = set()
    for one, undid in undoings.items():
        if one in results:
            continue
        if undid == run:
            raise Conflict(f"{run} is undone already, by {one}", hint=f"undo {one} to have it again")
        if number_of(undid) > number_of(run):
            results |= {one, undid}
    return results


def _find_run(snapshot: Snapshot, run: str) -> RunRow | None:
    """Return a run, None when it was removed from the journal: then it cancels nothing out."""
    try:
        return snapshot.run(run)
    except NotFound:
        return None


class UndoPlan:
    """What has to be done so that everything is as it was before a run."""

    def __init__(self, snapshot: Snapshot, run: str) -> None:
        self._snapshot = snapshot
        self._run = run
        self._lineages = snapshot.lineages(run)
        self._latest = {lineage.id: lineage.versions[-1][0] for lineage in self._lineages}
        self._gone = {lineage.id for lineage in self._lineages if lineage.gone is not None}
        self._cancelled: set[str] = set()
        self._done = snapshot.effects(run)
        self._effects: dict[str, list[Effect]] = {}
        for effect in self._done:
            self._effects.setdefault(effect.id, []).append(effect)
        self._delete: dict[str, None] = {}
        self._restore: dict[str, int | None] = {}
        self._let_go: list[str] = []
        self._keep: list[str] = []
        self._purged: set[str] = set()
        """Relations that links had, and that are removed for good."""

    def plan(self) -> tuple[list[str], list[str], list[str]]:
        """Return which ids are deleted, restored, reverted. Raises Conflict for what was changed since."""
        self._cancelled = cancelled(self._snapshot, self._run, self._others())
        self._refuse([clash for lineage in self._lineages for clash in self._clashes(lineage)])
        for lineage in self._lineages:
            self._place(lineage)
        self._refuse(list(self._relate()))
        self._refuse(list(self._held_messages()))
        restored = [one for one in self._restore if self._was_alive(one) and one in self._gone]
        names = [change.id for change in self._names() if isinstance(change, (FreeName, GiveName))]
        files = [file.note for file in self._files_before()]
        links = [one for one, before, after in self._links_before() if before != after]
        touched = (*self._restore, *names, *self._let_go, *self._keep, *files, *links)
        done = {*restored, *self._delete}
        reverted = list(dict.fromkeys(one for one in touched if one not in done))
        return list(self._delete), restored, reverted

    def _refuse(self, clashes: Sequence[str]) -> None:
        if clashes:
            more = f", and {len(clashes) - NAMED} more" if len(clashes) > NAMED else ""
            message = f"{self._run} cannot be undone, since {'; '.join(clashes[:NAMED])}{more}"
            raise Conflict(message, hint="undo the later run first")

    def _others(self) -> Iterator[str]:
        for lineage in self._lineages:
            yield from (run for _, run in lineage.versions if run is not None)
            yield from (run for run, _ in lineage.later)

    def _clashes(self, lineage: Lineage) -> Iterator[str]:
        """Say what happened to a resource after the run, and still holds."""
        mine = [version for version, run in lineage.versions if run == self._run]
        if mine:
            for version, run in lineage.versions:
                if version > min(mine) and run != self._run and run not in self._cancelled:
                    yield f"{lineage.id} was changed by {run or 'somebody'} (version {version})"
            if min(mine) > 1 and min(mine) - 1 not in dict(lineage.versions):
                yield f"version {min(mine) - 1} of {lineage.id} was purged"
        elif lineage.gone is None and not self._was_alive(lineage.id):
            yield from self._since_restored(lineage)
        if lineage.gone is not None and self._alive_after_run(lineage) and 1 not in mine:
            yield f"{lineage.id} was deleted {lineage.gone}"
        for run, what in lineage.later:
            if run not in self._cancelled and self._is_left_changed(run, lineage):
                yield f"{lineage.id} was {_WORDS[what]} by {run}"

    def _is_left_changed(self, later: str, lineage: Lineage) -> bool:
        """Whether undoing a later run would change a resource; where it would not, nothing has to be undone first."""
        if any(run == later for _, run in lineage.versions):
            return True
        before: dict[tuple[str, ...], Any] = {}
        after: dict[tuple[str, ...], Any] = {}
        for effect in self._snapshot.effects(later):
            if effect.id == lineage.id:
                row: Any = effect.before or effect.after
                key = (effect.what, *((row["root"], row["path"], str(row["part"])) if effect.what == "file" else ()))
                alive = effect.what == "alive"
                before.setdefault(key, effect.before is not False if alive else effect.before)
                after[key] = effect.after is not False if alive else effect.after
        return before != after

    def _since_restored(self, lineage: Lineage) -> Iterator[str]:
        """Say what became, after the run, of a resource that it restored as it was."""
        back = self._lives(lineage.id)[-1].after
        is_later = self._is_later(lineage.id) if back is True else lambda version, _run: version > cast("int", back)
        for version, run in lineage.versions:
            if is_later(version, run) and run not in self._cancelled:
                yield f"{lineage.id} was changed by {run or 'somebody'} (version {version})"

    def _is_later(self, identifier: str) -> Callable[[int, str | None], bool]:
        """Return whether a version came after the run, as far as times tell, which are of a millisecond each."""
        ended, times = self._snapshot.run(self._run).ended or "", dict(self._snapshot.versions(identifier))

        def is_later(version: int, run: str | None) -> bool:
            return times[version] > ended if run is None else number_of(run) > number_of(self._run)

        return is_later

    def _lives(self, identifier: str) -> list[Effect]:
        return [effect for effect in self._effects.get(identifier, ()) if effect.what == "alive"]

    def _place(self, lineage: Lineage) -> None:
        """Decide what becomes of a resource."""
        mine = [version for version, run in lineage.versions if run == self._run]
        created = bool(mine) and min(mine) == 1
        if created:
            if lineage.gone is None and lineage.kept:
                self._delete[lineage.id] = None
            return
        was_alive = self._was_alive(lineage.id)
        if mine or (was_alive and lineage.gone is not None):
            self._restore[lineage.id] = min(mine) - 1 if mine else None
        if not was_alive and lineage.gone is None:
            self._delete[lineage.id] = None
        kept = [effect for effect in self._effects.get(lineage.id, ()) if effect.what == "kept"]
        if kept and kept[0].before is not lineage.kept and was_alive:
            (self._let_go if lineage.kept else self._keep).append(lineage.id)

    def _relate(self) -> Iterator[str]:
        """Decide which deleted Relations come back; say which cannot, since what they relate is gone."""
        links = {note: _linked(rows) for note, rows, _ in self._links_before()}
        relinking = LinkUndo(self._snapshot, links, self._notes_with_file_after(), self._delete, self._restore)
        for one in [one for one in self._restore if kind_of(one) is Kind.RELATION and one in self._gone]:
            relation = cast("Relation", self._snapshot.get(one, self._latest[one]))
            if relinking.stays_away(relation):
                del self._restore[one]
            elif (end := relinking.dead_end(relation)) is not None:
                yield f"{one} ends at {end}, which was deleted"
        self._delete |= dict.fromkeys(relinking.leaving())
        for one in relinking.coming():
            try:
                self._latest[one] = self._snapshot.briefs([one])[0].version
            except NotFound:
                self._purged.add(one)
            else:
                self._restore[one] = None
                self._gone.add(one)

    def _alive_after_run(self, lineage: Lineage) -> bool:
        """Whether a resource lived when the run ended, and no later run is known to have deleted it."""
        lives = self._lives(lineage.id)
        later = any(what == "alive" and run not in self._cancelled for run, what in lineage.later)
        return not later and (not lives or lives[-1].after is not False)

    def _was_alive(self, identifier: str) -> bool:
        lives = self._lives(identifier)
        return lives[0].before is True if lives else True

    def _held_messages(self) -> Iterator[str]:
        """Say what is kept and has what would go; what nobody kept goes on without it."""
        mine = {*self._delete, *self._restore}
        let_go = {*mine, *self._let_go}
        for held, holder in self._snapshot.holders(list(self._delete)):
            if holder not in mine and self._is_kept_holder(holder):
                yield f"{holder} holds {held} now"
        now_at = self._tracked_by_place()
        for file in self._files_before():
            there = now_at.get(place_of(file), file)
            if there.note != file.note and there.note not in mine:
                yield f"{str(path_of(file))!r} is {there.note} now"
        for held, holder in self._snapshot.holders(self._let_go):
            if holder not in let_go and self._is_kept_holder(holder):
                yield f"{holder} holds {held} now"

    def _is_kept_holder(self, holder: str) -> bool:
        """Whether something keeps what it has; the Relations of links that the store settles follow that."""
        resource = self._snapshot.get(holder)
        return resource.kept and resource.created_by.by != SETTLED_BY

    def changes(self, created_by: CreatedBy, new_id: Callable[[], str]) -> Iterator[Change]:
        """Give the changes, once it is planned: they fit what was read, and nothing else."""
        names, latest = list(self._names()), self._latest
        yield from (
            Expect(lineage.id, latest[lineage.id], lineage.name, lineage.kept, lineage.gone is None)
            for lineage in self._lineages
        )
        links, now = {one: _linked(rows) for one, rows, _ in self._links_before()}, self._snapshot.links()
        yield from (ExpectLinks(link, now[link]) for link in links if link in now)
        yield from (change for change in names if isinstance(change, FreeName))
        yield from (Restore(one, version, created_by, latest[one]) for one, version in self._restore.items())
        yield from self._links_of_deleted(now)
        for one in sorted(self._delete, key=_relations_first):
            yield Delete(one, created_by, unless_held=True)
        yield from (Unkeep(one) for one in sorted(self._let_go, key=_relations_first))
        yield from (Keep(identifier, alone=True) for identifier in self._keep)
        yield from (change for change in names if isinstance(change, GiveName))
        yield from self._files()
        for one, rows in links.items():
            yield from self._recreate_links(one, rows, new_id, created_by)

    def _links_of_deleted(self, now: Mapping[str, Sequence[Linked]]) -> Iterator[Change]:
        """Give Notes that the run brought back, and that go again, the links that they had when they were deleted."""
        for one in self._delete:
            links = [effect for effect in self._effects.get(one, ()) if effect.what == "links"]
            if links and self._lives(one) and not self._was_alive(one):
                if one in now:
                    yield ExpectLinks(one, now[one])
                yield SetLinks(one, _linked(cast("Any", links[0].before)))

    def _names(self) -> Iterator[Change]:
        for lineage in self._lineages:
            names = [effect for effect in self._effects.get(lineage.id, ()) if effect.what == "name"]
            if not names or lineage.id in self._delete or names[0].before == lineage.name:
                continue
            before = cast("str | None", names[0].before)
            if lineage.name is not None:
                yield FreeName(lineage.id)
            if before is not None and self._was_alive(lineage.id):
                yield GiveName(lineage.id, before, alone=True)

    def _file_effects(self) -> Iterator[tuple[Any, Any]]:
        """Give for each place where a file was before the run, or is after it, what was and what is."""
        first: dict[tuple[str, str, int], Any] = {}
        last: dict[tuple[str, str, int], Any] = {}
        for effect in self._done:
            if effect.what == "file":
                row: Any = effect.before or effect.after
                place = (row["root"], row["path"], row["part"])
                first.setdefault(place, effect.before)
                last[place] = effect.after
        yield from ((first[place], last[place]) for place in first)

    def _files_before(self) -> list[TrackedFile]:
        return [_tracked(before) for before, _ in self._file_effects() if before is not None]

    def _tracked_by_place(self) -> dict[FileKey, TrackedFile]:
        return {place_of(file): file for file in self._snapshot.tracked()}

    def _files(self) -> Iterator[Change]:
        now_at = self._tracked_by_place()
        tracks = []
        for before, after in self._file_effects():
            was, done = before and _tracked(before), after and _tracked(after)
            if done is not None and place_of(done) in now_at and done.note not in self._delete:
                there = now_at.pop(place_of(done))
                yield Untrack(done.root, done.path, done.part, was_of(there))
            if was is not None and was.note not in self._delete:
                tracks.append(was)
        for one in tracks:
            known = now_at.get(place_of(one))
            yield track(one, was_of(None if known is None or known.note in self._delete else known))

    def _notes_with_file_after(self) -> set[str]:
        """Return the Notes that have a file, or a row of one, once it is undone."""
        then: dict[FileKey, str] = {place_of(file): file.note for file in self._snapshot.tracked()}
        for change in self._files():
            if isinstance(change, Track):
                then[change.root, change.path, change.part] = change.note
            elif isinstance(change, Untrack):
                then.pop((change.root, change.path, change.part), None)
        return {note for note in then.values() if note not in self._delete}

    def _recreate_links(
        self, note: str, links: Sequence[Linked], new_id: Callable[[], str], created_by: CreatedBy
    ) -> Iterator[Change]:
        """Set the links of a Note; their Relations are others where they were removed for good."""
        others: dict[str, str] = {}
        for link in links:
            if link.relation in self._purged and link.to is not None and link.relation not in others:
                others[link.relation] = new_id()
                yield MakeRelation(others[link.relation], note, link.to, link.label, kept=True, created_by=created_by)
        yield SetLinks(note, [replace(link, relation=others.get(link.relation or "", link.relation)) for link in links])

    def _links_before(self) -> Iterator[tuple[str, Any, Any]]:
        """Give the Notes whose links the run set and that live then, with what these were before it and after."""
        for identifier, effects in self._effects.items():
            links = [effect for effect in effects if effect.what == "links"]
            dead = identifier in self._delete or (identifier in self._gone and identifier not in self._restore)
            if links and not dead and self._was_alive(identifier):
                yield identifier, links[0].before, links[-1].after


def _relations_first(identifier: str) -> tuple[int, int]:
    """A Relation before what it ends at, a Collection before its members; later ones before earlier ones."""
    return (Kind.RELATION, Kind.COLLECTION, Kind.NOTE).index(kind_of(identifier)), -number_of(identifier)


def _linked(rows: Sequence[dict[str, Any]]) -> list[Linked]:
    """Read links as an effect keeps them; earlier versions called the label otherwise."""
    return [Linked(**{"label" if key == "related_as" else key: value for key, value in row.items()}) for row in rows]


def _tracked(row: dict[str, Any]) -> TrackedFile:
    fields = {**row, "digest": bytes.fromhex(row["digest"]), "aliases": tuple(row.get("aliases", ()))}
    return TrackedFile(**fields)
