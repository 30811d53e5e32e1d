"""Bringing files into a space: what is new, changed or moved becomes Notes; what is the same is left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from infospace.clock import now
from infospace.errors import InfospaceError, Invalid, NotFound, StoreError
from infospace.ids import Kind
from infospace.jsontext import same
from infospace.memory.aligning import align
from infospace.memory.changes import (
    Change,
    Delete,
    Linked,
    MakeNote,
    MakeRelation,
    Null,
    Revise,
    SetLinks,
    Track,
    Untrack,
)
from infospace.memory.files import Found, Refused, walk
from infospace.memory.links import is_alive, replaced, resolve, written
from infospace.memory.readers import Row, Whole, format_of, has_rows, read, read_rows
from infospace.memory.readers.objects import is_side
from infospace.memory.rooting import Rooting
from infospace.memory.store import Snapshot, Store, Tracked
from infospace.resources import Made
from infospace.runs.journal import Beat, CloseRun, Entry, OpenRun, RunStatus
from infospace.view import Listener

if TYPE_CHECKING:
    from infospace.space import Space

BATCH = 400
"""Changes in a commit: an interruption loses at most the reading of so many."""

Place = tuple[str, str, int]
"""Root, path and part."""


@dataclass(slots=True)
class Summary:
    """What an import did: counts of Notes, the files that failed with their reasons, and what was embedded.

    `conflicts` are Notes that were edited here as well as in their file; both are kept, as versions. `vanished`
    counts those whose file or row is gone, and that are still there.
    """

    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    removed: int = 0
    vanished: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    passages_embedded: int = 0
    seconds: float = 0.0
    run: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the documented object."""
        return {
            "added": self.added,
            "changed": self.changed,
            "moved": self.moved,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "vanished": self.vanished,
            "failed": self.failed,
            "conflicts": self.conflicts,
            "passages_embedded": self.passages_embedded,
            "seconds": round(self.seconds, 3),
            "run": self.run,
        }


def import_paths(
    space: Space, paths: Sequence[Path], listener: Listener, *, prune: bool = False, summary: Summary | None = None
) -> Summary:
    """Import files and folders. A file that cannot be read is reported, and the rest goes on.

    Nothing is embedded here. The import is a run of the journal, unless nothing changed. With `prune`, Notes
    whose file or row under `paths` is gone are deleted. Interrupted, it keeps what it has, and `summary`, if it
    was given, says what that is. Raises NotFound for a path where nothing is.
    """
    return Import(space.store, listener, summary or Summary()).run(paths, prune=prune)


class Import:
    """One import: files against what is known of them, in batches."""

    def __init__(self, store: Store, listener: Listener, summary: Summary) -> None:
        self._store = store
        self._listener = listener
        self._summary = summary
        self._goal = "add"
        self._known: dict[Place, Tracked] = {}
        self._rows: dict[tuple[str, str], list[Tracked]] = {}
        self._gone: dict[bytes, list[Tracked]] = {}
        self._lost: list[Tracked] = []
        self._fresh: set[str] = set()
        self._changes: list[Change] = []

    def run(self, paths: Sequence[Path], *, prune: bool) -> Summary:
        """Import, and say what was done."""
        self._goal = " ".join(("add", *map(str, paths)))
        try:
            self._import(paths, prune)
        except KeyboardInterrupt:
            self._commit()
            self._close("cancelled")
            raise
        except InfospaceError as error:
            with suppress(StoreError):
                self._close("failed", error.says)
            raise
        self._close("success")
        return self._summary

    def _import(self, paths: Sequence[Path], prune: bool) -> None:
        found = self._found(paths)
        for index, file in enumerate(found, start=1):
            try:
                self._take(file)
            except (Invalid, NotFound) as error:
                self._fail(file.path, str(error))
            if len(self._changes) >= BATCH:
                self._commit()
            self._listener.progress(index, len(found), "reading")
        self._settle_lost(paths, prune)
        self._commit()
        with self._store.reading() as snapshot:
            self._changes += resolve(snapshot, lambda: self._store.new_id(Kind.RELATION), self._made, self._fresh)
        self._commit()

    def _found(self, paths: Sequence[Path]) -> list[Found]:
        """List the files under their roots, and learn what is known of them."""
        listed: list[Found] = []
        for path in paths:
            for one in walk(path):
                if isinstance(one, Refused):
                    self._fail(one.path, one.reason)
                elif not is_side(one.path):
                    listed.append(one)
        with self._store.reading() as snapshot:
            tracked = snapshot.tracked()
        rooting = Rooting((one.root for one in tracked), {str(file.root) for file in listed})
        moved = dict(rooting.moved(tracked))
        for before, after in moved.items():
            self._changes += [Untrack(before.root, before.path, before.part), _track(after)]
        found = list(rooting.found(listed))
        self._learn([moved.get(one, one) for one in tracked], {(str(file.root), file.relative) for file in found})
        return found

    def _learn(self, tracked: Sequence[Tracked], present: set[tuple[str, str]]) -> None:
        """Remember what is known of files; of those that vanished by their bytes, since they may have moved."""
        there: dict[tuple[str, str], bool] = {}
        for one in tracked:
            at = (one.root, one.path)
            self._known[(*at, one.part)] = one
            if one.part:
                self._rows.setdefault(at, []).append(one)
            if at not in there:
                there[at] = at in present or (Path(one.root) / one.path).exists()
            if not there[at]:
                self._gone.setdefault(one.digest, []).append(one)

    def _take(self, file: Found) -> None:
        if has_rows(file.path):
            self._take_rows(file)
        else:
            digest, load = read(file)
            self._put((str(file.root), file.relative, 0), digest, load)

    def _take_rows(self, file: Found) -> None:
        """Match rows with those that the file had, by their bytes and then by their neighbours."""
        rows, at = read_rows(file), (str(file.root), file.relative)
        old = self._rows.get(at, [])
        matches = align([one.digest for one in old], [row.digest for row in rows])
        last = old[-1].part if old else 0
        for row, match in zip(rows, matches, strict=True):
            last = last if match is not None else max(last + 1, row.number)
            try:
                self._put((*at, last if match is None else old[match].part), row.digest, _loader(row))
            except Invalid as error:
                self._fail(file.path, str(error))
        matched = set(matches)
        self._lost += [one for index, one in enumerate(old) if index not in matched]

    def _put(self, place: Place, digest: bytes, load: Callable[[], Whole]) -> None:
        tracked = self._known.get(place)
        if tracked is not None and tracked.digest == digest:
            self._summary.unchanged += 1
        elif tracked is not None:
            self._change(place, tracked, load(), digest)
        elif self._gone.get(digest):
            self._move(place, self._take_gone(digest, place[1]), load)
        else:
            self._add(place, load(), digest)

    def _take_gone(self, digest: bytes, path: str) -> Tracked:
        """Take one of the vanished files of these bytes, if there is one of the same name, that."""
        gone, name = self._gone[digest], PurePosixPath(path).name
        chosen = next((one for one in gone if PurePosixPath(one.path).name == name), gone[0])
        gone.remove(chosen)
        return chosen

    def _add(self, place: Place, whole: Whole, digest: bytes) -> None:
        identifier, made = self._store.new_id(Kind.NOTE), self._made()
        self._changes.append(MakeNote(identifier, whole.content, whole.metadata, kept=True, made=made))
        self._changes.append(_track(Tracked(*place[:2], identifier, 1, digest, place[2], whole.title)))
        self._changes += replaced(identifier, [], written(whole.links), made, lambda _: False)
        self._fresh.add(identifier)
        self._summary.added += 1

    def _change(self, place: Place, tracked: Tracked, whole: Whole, digest: bytes) -> None:
        with self._store.reading() as snapshot:
            note = snapshot.get(tracked.note)
            version, edited = note.version, was_edited(snapshot, tracked)
            same_note = same(note.content, whole.content) and same(dict(note.metadata), whole.metadata)
            if not same_note:
                links = self._links.get(tracked.note, [])
                self._changes += replaced(tracked.note, links, written(whole.links), self._made(), is_alive(snapshot))
        if same_note:
            self._summary.unchanged += 1
        else:
            version += 1
            content = Null() if whole.content is None else whole.content
            self._changes.append(Revise(tracked.note, content, whole.metadata, version - 1, self._made()))
            self._summary.changed += 1
            if edited:
                at = str(Path(place[0]) / place[1])
                conflict = {"path": at, "id": tracked.note, "edited_version": version - 1, "version": version}
                self._summary.conflicts.append(conflict)
        self._changes.append(_track(Tracked(*place[:2], tracked.note, version, digest, place[2], whole.title)))

    @cached_property
    def _links(self) -> dict[str, list[Linked]]:
        """The links of files as they were before."""
        with self._store.reading() as snapshot:
            return snapshot.links()

    def _move(self, place: Place, gone: Tracked, load: Callable[[], Whole]) -> None:
        self._made()
        self._changes.append(Untrack(gone.root, gone.path, gone.part))
        self._summary.moved += 1
        if format_of(gone.path) == format_of(place[1]):
            moved = Tracked(*place[:2], gone.note, gone.version, gone.digest, place[2], gone.title)
            self._changes.append(_track(moved))
        else:
            self._change(place, gone, load(), gone.digest)

    def _settle_lost(self, paths: Sequence[Path], prune: bool) -> None:
        """Delete the Notes whose file or row is gone, or count them."""
        given = [path.resolve() for path in paths]
        lost = [*self._lost, *(one for some in self._gone.values() for one in some)]
        for one in lost:
            path = Path(one.root) / one.path
            if not any(path.is_relative_to(above) for above in given):
                continue
            with self._store.reading() as snapshot:
                edited = was_edited(snapshot, one)
                version = snapshot.get(one.note).version
            if prune and not edited:
                self._changes.append(Delete(one.note, self._made()))
                self._summary.removed += 1
                continue
            self._summary.vanished += 1
            if prune:
                conflict = {"path": str(path), "id": one.note, "edited_version": version, "version": None}
                self._summary.conflicts.append(conflict)

    def _made(self) -> Made:
        if self._summary.run is None:
            run = self._store.new_id("run")
            self._store.commit([], [OpenRun(run, "import", self._goal, None, {}, now(), "")])
            self._summary.run = run
        return Made(self._summary.run, None, "add")

    def _commit(self) -> None:
        """Commit what was gathered; an interruption waits until it is."""
        run = self._summary.run
        beat = now()
        self._changes.sort(key=_order)
        entries: list[Entry] = [] if run is None else [Beat(run, "", beat)]
        if self._changes:
            try:
                self._store.commit(self._changes, entries)
            except KeyboardInterrupt:
                if run is None or not self._has_beat(run, beat):
                    self._store.commit(self._changes, entries)
                self._changes = []
                raise
        self._changes = []

    def _has_beat(self, run: str, beat: str) -> bool:
        with self._store.reading() as snapshot:
            return snapshot.run(run).heartbeat == beat

    def _close(self, status: RunStatus, reason: str | None = None) -> None:
        if self._summary.run is not None:
            self._store.commit([], [CloseRun(self._summary.run, status, now(), reason=reason)])

    def _fail(self, path: Path, reason: str) -> None:
        self._summary.failed.append({"path": str(path), "reason": reason})


_ORDER = (MakeNote, Revise, MakeRelation, Delete, Untrack, Track, SetLinks)


def _order(change: Change) -> int:
    """Changes of one type together, since the store applies those at once; makers before what refers to them."""
    return _ORDER.index(type(change))


def was_edited(snapshot: Snapshot, tracked: Tracked) -> bool:
    """Whether a Note has another content or metadata than its file gave it."""
    note = snapshot.get(tracked.note)
    if note.version == tracked.version:
        return False
    base = snapshot.get(tracked.note, tracked.version)
    return not (same(note.content, base.content) and same(dict(note.metadata), dict(base.metadata)))


def _loader(row: Row) -> Callable[[], Whole]:
    return lambda: Whole(row.load(), {})


def _track(one: Tracked) -> Track:
    return Track(one.root, one.path, one.note, one.digest, one.version, one.part, one.title)


def import_text(space: Space, data: bytes, summary: Summary) -> None:
    """Make one kept Note of text handed over directly; counted in the summary, as failed when it is not text."""
    from infospace.memory.readers.marked import read as read_markdown

    store = space.store
    try:
        whole = read_markdown(data, "standard input")
    except Invalid as error:
        summary.failed.append({"path": "-", "reason": str(error)})
        return
    run = store.new_id("run")
    made = MakeNote(store.new_id(Kind.NOTE), whole.content, whole.metadata, kept=True, made=Made(run, None, "add"))
    store.commit([made], [OpenRun(run, "import", "add -", None, {}, now(), ""), CloseRun(run, "success", now())])
    summary.added += 1
    summary.run = summary.run or run
