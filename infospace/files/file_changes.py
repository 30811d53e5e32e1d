"""One file against what is known of it: the changes that this comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy
from infospace.data.json_text import same
from infospace.files.file_times import FileTimes, Times, of_file_system
from infospace.files.formats import FileContent, Row, format_of, has_rows, read, read_rows
from infospace.files.formats.row_diff import align
from infospace.files.in_place.own_text import is_half_written, own_version
from infospace.files.links import is_alive, key_of_link, replaced, written
from infospace.files.tracked_files import NOTHING, FileKey, TrackedFiles, path_of, track, was_edited, was_of
from infospace.files.walk import FileToImport
from infospace.store.changes import (
    Change,
    Delete,
    ExpectedFile,
    JsonNull,
    Linked,
    MakeNote,
    Restore,
    Revise,
    SetLinks,
    Untrack,
)
from infospace.store.protocol import Store, TrackedFile

READER = 3
"""The version of what is read of a file; of one that an earlier one read, the same bytes are read once more."""

HALF_WRITTEN = -1
"""In the place of a version: the next export goes on with writing the file."""


@dataclass(slots=True)
class ImportChanges:
    """What something comes to: changes, and what is to be counted once they are stored.

    `counts` by the words of a `Summary`; `lost` are rows that their file has no more; `fresh` the Notes that are
    new; `left_out` files whose Notes were deleted here, and that are as they were then; `roots` those in which links
    may lead elsewhere.
    """

    changes: list[Change] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    failed: list[dict[str, str]] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    lost: list[TrackedFile] = field(default_factory=list)
    fresh: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)

    def fail(self, path: Path, reason: str) -> None:
        """Say why a file, or a row of it, is left out."""
        self.failed.append({"path": str(path), "reason": reason})


class FileChanges:
    """Takes files, by what is known. `made` says by whom, and so that there is something to be undone.

    Raises Conflict when something is not as it is known any more.
    """

    def __init__(
        self, store: Store, known: TrackedFiles, created_by: Callable[[], CreatedBy], times: FileTimes = of_file_system
    ) -> None:
        self._store = store
        self._times_of = times
        self._times = Times()
        self._known = known
        self._made = created_by
        self._taken = ImportChanges()

    def file(self, file: FileToImport) -> ImportChanges:
        """Take a file, or say why it cannot be read."""
        self._taken = ImportChanges(roots={str(file.root)})
        try:
            self._times = self._times_of(file.path)
            if has_rows(file.path):
                self._rows(file)
            else:
                digest, load = read(file)
                self._update_file((str(file.root), file.relative, 0), digest, load)
        except (Invalid, NotFound) as error:
            self._taken = ImportChanges()
            self._taken.fail(file.path, str(error))
        return self._taken

    def _rows(self, file: FileToImport) -> None:
        """Match rows with those that the file had, by their bytes and then by their neighbours."""
        rows, at = read_rows(file), (str(file.root), file.relative)
        removed = {one.digest: one.part for place, one in self._known.removed.items() if place[:2] == at}
        old = self._known.rows.get(at, [])
        matches = align([one.digest for one in old], [row.digest for row in rows])
        last = old[-1].part if old else 0
        for row, old_index in zip(rows, matches, strict=True):
            part = removed.pop(row.digest, None) if old_index is None else old[old_index].part
            if part is None:
                last = part = max(last + 1, row.number)
            try:
                self._update_file((*at, part), row.digest, _loader(row))
            except Invalid as error:
                self._taken.fail(file.path, str(error))
        matched = set(matches)
        self._taken.lost += [one for index, one in enumerate(old) if index not in matched]

    def _update_file(self, place: FileKey, digest: bytes, load: Callable[[], FileContent]) -> None:
        tracked = self._known.places.get(place)
        if tracked is not None and tracked.digest == digest and tracked.reader == READER:
            self._taken.counts["unchanged"] += 1
            if (tracked.created, tracked.modified) != self._times:
                self._taken.changes.append(track(self._with_current_times(tracked), was_of(tracked)))
        elif tracked is not None and tracked.digest == digest and self._is_edited(tracked):
            self._taken.counts["unchanged"] += 1
            self._taken.changes.append(track(self._with_current_times(tracked, load()), was_of(tracked)))
        elif tracked is not None:
            self._change(place, tracked, load(), digest, was_of(tracked))
        elif self._known.gone.get(digest):
            self._move(place, digest, load)
        elif (was := self._known.removed.get(place)) is not None:
            self._removed(place, was, digest, load)
        else:
            self._add(place, load(), digest)

    def _removed(self, place: FileKey, was: TrackedFile, digest: bytes, load: Callable[[], FileContent]) -> None:
        """Leave a file whose Note was deleted here, unless it changed since, or is named; then that Note comes back."""
        path = Path(place[0]) / place[1]
        if was.digest == digest and path not in self._known.named:
            self._taken.left_out.append({"path": str(path), "id": was.note})
            return
        whole, created_by = load(), self._made()
        self._warn(place, whole)
        with self._store.reading() as snapshot:
            version = snapshot.versions(was.note)[-1][0]
            note, own = snapshot.get(was.note, version), snapshot.links(was.note).get(was.note, [])
        self._taken.changes.append(Restore(was.note, None, created_by, version))
        if not (same(note.content, whole.content) and same(dict(note.metadata), whole.metadata)):
            content = JsonNull() if whole.content is None else whole.content
            self._taken.changes.append(Revise(was.note, content, whole.metadata, version, created_by))
            version += 1
        self._taken.changes.append(track(self._tracked(place, was.note, version, digest, whole), NOTHING))
        self._relate_again(was.note, own, whole, created_by)
        self._taken.counts["restored"] += 1

    def _relate_again(self, note: str, own: list[Linked], whole: FileContent, created_by: CreatedBy) -> None:
        """Give a Note that comes back its links, and bring back the Relations of these and of those to it."""
        self._taken.changes += replaced(note, own, written(whole.links), created_by, lambda _: False)
        known = {key_of_link(link): link for link in own}
        self._known.links[note] = [known.get(key_of_link(link), link) for link in written(whole.links)]
        again = [link.relation for link in self._known.links[note] if link.to is not None]
        for links in self._known.links.values():
            again += [link.lost[1] for link in links if link.lost is not None and link.lost[0] == note]
        with self._store.reading() as snapshot:
            lives = is_alive(snapshot)
            self._taken.changes += [
                Restore(relation, None, created_by)
                for relation in dict.fromkeys(again)
                if relation and not lives(relation)
            ]

    def _add(self, place: FileKey, whole: FileContent, digest: bytes) -> None:
        self._warn(place, whole)
        identifier, created_by = self._store.new_id(Kind.NOTE), self._made()
        self._taken.changes += [
            MakeNote(identifier, whole.content, whole.metadata, kept=True, created_by=created_by),
            track(self._tracked(place, identifier, 1, digest, whole), NOTHING),
        ]
        if whole.links:
            self._taken.changes.append(SetLinks(identifier, written(whole.links)))
        self._taken.fresh.add(identifier)
        self._taken.counts["added"] += 1

    def _change(
        self, place: FileKey, tracked: TrackedFile, whole: FileContent, digest: bytes, was: ExpectedFile
    ) -> None:
        self._warn(place, whole)
        version, edited, is_same = self._compared(tracked, whole)
        own = self._written_back_version(tracked) if edited and not is_same else None
        if own == HALF_WRITTEN:
            self._taken.counts["unchanged"] += 1
            return
        if own is not None:
            version = own
        if is_same or own is not None:
            self._taken.counts["unchanged"] += 1
        else:
            content = JsonNull() if whole.content is None else whole.content
            self._taken.changes.append(Revise(tracked.note, content, whole.metadata, version, self._made()))
            version += 1
            self._taken.counts["changed"] += 1
            if edited:
                self._conflict(Path(place[0]) / place[1], tracked.note, version - 1, version)
        self._relink(tracked.note, whole)
        self._taken.changes.append(track(self._tracked(place, tracked.note, version, digest, whole), was))

    def _warn(self, place: FileKey, whole: FileContent) -> None:
        if whole.warning:
            self._taken.warnings.append({"path": str(Path(place[0]) / place[1]), "reason": whole.warning})

    def _tracked(self, place: FileKey, note: str, version: int, digest: bytes, whole: FileContent) -> TrackedFile:
        created, modified = self._times
        title, aliases, lines = whole.title, whole.aliases, whole.lines
        return TrackedFile(
            *place[:2], note, version, digest, place[2], title, created, modified, aliases, lines, READER
        )

    def _with_current_times(self, one: TrackedFile, whole: FileContent | None = None) -> TrackedFile:
        """Return a file of the same bytes with its times as they are now, and what is read of it by this reader."""
        created, modified = self._times
        if whole is None:
            return replace(one, created=created, modified=modified)
        aliases, lines = whole.aliases, whole.lines
        return replace(one, created=created, modified=modified, aliases=aliases, lines=lines, reader=READER)

    def _is_edited(self, tracked: TrackedFile) -> bool:
        try:
            with self._store.reading() as snapshot:
                return was_edited(snapshot, tracked)
        except NotFound as error:
            raise Conflict(error.message, hint=error.hint) from error

    def _compared(self, tracked: TrackedFile, whole: FileContent) -> tuple[int, bool, bool]:
        """Return a Note's version, whether it was edited since its file was read, and whether it says the same."""
        try:
            with self._store.reading() as snapshot:
                note, edited = snapshot.get(tracked.note), was_edited(snapshot, tracked)
        except NotFound as error:
            raise Conflict(error.message, hint=error.hint) from error
        return note.version, edited, same(note.content, whole.content) and same(dict(note.metadata), whole.metadata)

    def _written_back_version(self, tracked: TrackedFile) -> int | None:
        """Return the version that a file says which was written back and not remembered, None for any other file."""
        with self._store.reading() as snapshot:
            result = own_version(snapshot, tracked)
            return HALF_WRITTEN if result is None and is_half_written(snapshot, tracked) else result

    def _relink(self, note: str, whole: FileContent) -> None:
        links, new = self._known.links.get(note, []), written(whole.links)
        if [*map(key_of_link, links)] != [*map(key_of_link, new)]:
            with self._store.reading() as snapshot:
                self._taken.changes += replaced(note, links, new, self._made(), is_alive(snapshot))

    def _conflict(self, path: Path, note: str, edited: int, version: int | None) -> None:
        conflict = {"path": str(path), "id": note, "edited_version": edited, "version": version}
        self._taken.conflicts.append(conflict)

    def _move(self, place: FileKey, digest: bytes, load: Callable[[], FileContent]) -> None:
        gone = self._known.gone_from(digest, place[1])
        whole = None if format_of(gone.path) == format_of(place[1]) else load()
        self._known.gone[digest].remove(gone)
        self._made()
        self._taken.changes.append(Untrack(gone.root, gone.path, gone.part, was_of(gone)))
        self._taken.counts["moved"] += 1
        self._taken.roots.add(gone.root)
        if whole is None:
            moved = replace(self._with_current_times(gone), root=place[0], path=place[1], part=place[2])
            self._taken.changes.append(track(moved, NOTHING))
        else:
            self._change(place, gone, whole, gone.digest, NOTHING)

    def delete_lost(self, candidates: Sequence[TrackedFile], paths: Sequence[Path], *, prune: bool) -> ImportChanges:
        """Delete the Notes whose file or row is gone from below `paths`, or count them."""
        self._taken = ImportChanges()
        given = [path.resolve() for path in paths]
        for file in self._known.unchanged_and_vanished(candidates):
            if any(path_of(file).is_relative_to(above) for above in given):
                self._delete_lost(file, prune=prune)
        return self._taken

    def _delete_lost(self, one: TrackedFile, *, prune: bool) -> None:
        try:
            with self._store.reading() as snapshot:
                edited, version = was_edited(snapshot, one), snapshot.get(one.note).version
        except NotFound as error:
            raise Conflict(error.message, hint=error.hint) from error
        if prune and not edited:
            self._taken.changes.append(Untrack(one.root, one.path, one.part, was_of(one)))
            self._taken.changes.append(Delete(one.note, self._made(), version))
            self._taken.counts["removed"] += 1
            self._taken.roots.add(one.root)
            return
        self._taken.counts["vanished"] += 1
        if prune:
            self._conflict(path_of(one), one.note, version, None)


def _loader(row: Row) -> Callable[[], FileContent]:
    return lambda: FileContent(row.load(), {})
