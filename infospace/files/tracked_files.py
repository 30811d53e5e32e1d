"""What a space knows of files, as it was at one moment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from infospace.core.ids import number_of
from infospace.data.json_text import same
from infospace.files.import_roots import ImportRoots
from infospace.files.walk import FileToImport
from infospace.store.changes import Change, ExpectedFile, Linked, Track, Untrack
from infospace.store.protocol import Snapshot, Store, TrackedFile

FileKey = tuple[str, str, int]
"""Root, path and part."""

NOTHING = ExpectedFile()


class TrackedFiles:
    """Files by their places, the rows of each, and those that vanished by their bytes, since they may have moved.

    `rooting` says by which root each of the files `listed` is known. `untwinned` are the changes by which, of two
    Notes that are one file by two roots, the one under the outer root stays it. `named` are files that were named
    themselves, and not by a folder.
    """

    def __init__(self, store: Store, listed: Sequence[FileToImport], named: Collection[Path] = ()) -> None:
        self._store = store
        self.named = frozenset(named)
        with store.reading() as snapshot:
            tracked = snapshot.tracked()
        self.rooting = ImportRoots(tracked, {str(file.root) for file in listed})
        self.rows: dict[tuple[str, str], list[TrackedFile]] = {}
        self.gone: dict[bytes, list[TrackedFile]] = {}
        twins = {place_of(file): file for file in self.rooting.twins}
        self.untwinned: list[Change] = [Untrack(*place, was_of(one)) for place, one in twins.items()]
        self.places = {place_of(file): file for file in tracked if place_of(file) not in twins}
        self._sort({(str(file.root), file.relative) for file in map(self.rooting.placed, listed)})

    def _sort(self, present: set[tuple[str, str]]) -> None:
        there: dict[tuple[str, str], bool] = {}
        for file in sorted(self.places.values(), key=place_of):
            at = (file.root, file.path)
            if file.part:
                self.rows.setdefault(at, []).append(file)
            if at not in there:
                there[at] = at in present or path_of(file).exists()
            if not there[at]:
                self.gone.setdefault(file.digest, []).append(file)

    @cached_property
    def removed(self) -> dict[FileKey, TrackedFile]:
        """Files whose Notes somebody deleted, as they were then, by their places."""
        with self._store.reading() as snapshot:
            return {place_of(file): file for file in snapshot.removed_files()}

    @cached_property
    def links(self) -> dict[str, list[Linked]]:
        """The links in files, by Note."""
        with self._store.reading() as snapshot:
            return snapshot.links()

    def gone_from(self, digest: bytes, path: str) -> TrackedFile:
        """Return one of the vanished files of these bytes, if there is one of the same name, that."""
        gone, name = self.gone[digest], PurePosixPath(path).name
        return next((file for file in gone if PurePosixPath(file.path).name == name), gone[0])

    def unchanged_and_vanished(self, lost: Sequence[TrackedFile]) -> Iterator[TrackedFile]:
        """Give those of the files that are known as they were, and all that vanished."""
        gone = {place_of(file): file for some in self.gone.values() for file in some}
        rows = {place_of(file): file for file in lost if self.places.get(place_of(file)) == file}
        yield from (rows | gone).values()


def place_of(one: TrackedFile) -> FileKey:
    """Return where a file is."""
    return one.root, one.path, one.part


def path_of(one: TrackedFile) -> Path:
    """Return the path of a file."""
    return Path(one.root) / one.path


def was_of(one: TrackedFile | None) -> ExpectedFile:
    """Return what a place was when it was read."""
    return NOTHING if one is None else ExpectedFile(one.note, one.version)


def track(one: TrackedFile, was: ExpectedFile) -> Track:
    """Return the change that remembers a file."""
    return Track(
        one.root,
        one.path,
        one.note,
        one.digest,
        one.version,
        one.part,
        one.title,
        was,
        one.created,
        one.modified,
        one.aliases,
        one.lines,
        one.reader,
    )


def was_edited(snapshot: Snapshot, tracked: TrackedFile) -> bool:
    """Whether a Note has another content or metadata than its file gave it."""
    note = snapshot.get(tracked.note)
    if note.version == tracked.version:
        return False
    base = snapshot.get(tracked.note, tracked.version)
    return not (same(note.content, base.content) and same(dict(note.metadata), dict(base.metadata)))


def first_to_embed(snapshot: Snapshot, paths: Sequence[Path]) -> list[int]:
    """Return the numbers of the Notes that wait to be embedded in the order in which they are wanted.

    First those of files that were named themselves, and not by a folder; of these and of the others first what was
    changed last, since that is looked for soonest. Notes without a file come last, the latest first.
    """
    names = {str(path.absolute()) for path in paths if path.is_file()}
    ranks: dict[int, tuple[bool, str]] = {}
    for file in snapshot.tracked():
        rank = (str(Path(file.root) / file.path) in names, file.modified or "")
        number = number_of(file.note)
        ranks[number] = max(rank, ranks.get(number, rank))
    pending: list[int] = snapshot.pending_numbers().tolist()
    return sorted(pending, key=lambda number: (ranks.get(number, (False, "")), number), reverse=True)
