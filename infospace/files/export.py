"""Taking everything out again as files, and writing edits back to the files that Notes came from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from infospace.core.clock import now
from infospace.core.errors import Conflict, InfospaceError, Invalid, NotFound
from infospace.core.ids import Kind, number_of
from infospace.core.resources import CreatedBy, Note
from infospace.files.atomic_write import remove_leftovers, write_atomically
from infospace.files.export_paths import UsedPaths, bare_paths
from infospace.files.file_changes import READER
from infospace.files.file_times import of_file_system
from infospace.files.formats import FileContent, format_of, read
from infospace.files.formats.json import SIDE, beside, may_have_side, side_of
from infospace.files.in_place.own_text import FORMS, in_place, is_half_written, own_version
from infospace.files.in_place.row_edits import ROW_FORMS, RowEdit, edited_rows
from infospace.files.links import is_alive, replaced, settle, settle_run, written
from infospace.files.render import Rendered, render
from infospace.files.tracked_files import track, was_edited, was_of
from infospace.files.walk import FileToImport, read_bytes
from infospace.journal.rows import CloseRun, OpenRun
from infospace.store.changes import Change, Track
from infospace.store.link_targets import is_inside
from infospace.store.protocol import Snapshot, Store, TrackedFile

MANIFEST = ".infospace-export.json"
"""In an exported folder: which files the export wrote, by the SHA-256 of their bytes. Importing passes it over."""
NOTES_PER_READ = 64
"""Notes that are read together for an export."""


@dataclass(slots=True)
class ExportReport:
    """What was done: counts of files, and those that were left with the reason."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)

    def fail(self, path: Path, reason: str) -> None:
        """Report a file that was left as it is."""
        self.failed.append({"path": str(path), "reason": reason})


def export(store: Store, folder: Path, *, force: bool = False) -> ExportReport:
    """Write every kept Note out, except search results: Markdown with front matter, or JSON.

    Nothing is written outside of the folder. A file that an earlier export of this space wrote, and nobody changed,
    is replaced, and removed when its Note is gone; any other stays, unless `force`. Raises Invalid for a folder that
    is none, or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Invalid(f"{str(folder)!r} is not a folder to write to: {error.strerror}", hint="name a folder") from None
    with store.reading() as snapshot:
        place = os.path.realpath(folder)
        is_imported = any(is_inside(place, file.root) for file in snapshot.tracked())
        return _Export(folder, store.identity, force, is_imported).write(rendered(snapshot))


def rendered(snapshot: Snapshot) -> Iterator[tuple[str, bytes]]:
    """Give the relative path and the bytes of each file that the kept Notes make.

    The Notes are read twice, for their paths and for their files, so that no more than `NOTES_PER_READ` are held.
    """
    files = {file.note: file for file in reversed(snapshot.tracked())}
    taken = UsedPaths()
    bare = bare_paths(_kept_notes(snapshot), files)
    for note in _in_order(snapshot, bare, files):
        file = files.get(note.id)
        form = _as_its_file(snapshot, note, file) or _made_anew(note, file)
        path = taken.reserve(bare[note.id], form.suffix)
        yield path + form.suffix, form.data
        if form.side:
            yield path + SIDE, form.side


def _made_anew(note: Note, file: TrackedFile | None) -> Rendered:
    return render(note.content, note.metadata, Path(file.path).suffix.lower() if file and not file.part else ".md")


def _as_its_file(snapshot: Snapshot, note: Note, file: TrackedFile | None) -> Rendered | None:
    """Return the bytes of the file that a Note came from, changed only where the Note was.

    None where the file is not there as it was read, where it has several Notes, and for what its format cannot hold.
    """
    if file is None or file.part or format_of(file.path) not in FORMS:
        return None
    path = _path(file)
    try:
        if format_of(file.path) != "json" and not was_edited(snapshot, file):
            data = read_bytes(path)
            return Rendered(path.suffix.lower(), data) if sha256(data).digest() == file.digest else None
        is_as_read = read(FileToImport(Path(file.root), file.path, path))[0] == file.digest
        return in_place(path, note) if is_as_read else None
    except (Invalid, NotFound):
        return None


def _kept_notes(snapshot: Snapshot) -> Iterator[Note]:
    return (one for one in snapshot.listing(Kind.NOTE) if isinstance(one, Note) and not one.evidence)


def _in_order(snapshot: Snapshot, identifiers: Iterable[str], files: Mapping[str, TrackedFile]) -> Iterator[Note]:
    """Iterate over Notes by their ids; those that have a path from an import come first, and take theirs."""
    numbers = [
        number_of(identifier) for identifier in sorted(identifiers, key=lambda one: (one not in files, number_of(one)))
    ]
    for start in range(0, len(numbers), NOTES_PER_READ):
        yield from snapshot.notes(numbers[start : start + NOTES_PER_READ])


class _Export:
    def __init__(self, folder: Path, space: str, force: bool, is_imported: bool) -> None:
        self._is_imported = is_imported
        self._folder = Path(os.path.realpath(folder))
        self._space = space
        self._force = force
        self._before = self._manifest()
        self._after: dict[str, str] = {}
        self._wanted: set[str] = set()
        self._done = ExportReport()

    def write(self, files: Iterator[tuple[str, bytes]]) -> ExportReport:
        try:
            for path, data in files:
                self._wanted.add(path)
                try:
                    self._write_file(path, data)
                except (InfospaceError, OSError) as error:
                    self._done.fail(self._folder / path, _reason(error))
            self._remove_stale()
            remove_leftovers(self._folder / path for path in (*self._wanted, *self._before, MANIFEST))
        finally:
            self._write_manifest()
        return self._done

    def _write_manifest(self) -> None:
        """Remember what the export wrote, for the next one; in an imported folder only if it wrote something there."""
        if self._before or self._done.written or not self._is_imported:
            document = {"space": self._space, "files": {**self._files_still_there(), **self._after}}
            try:
                data = (json.dumps(document, ensure_ascii=False) + "\n").encode()
                write_atomically(self._folder / MANIFEST, data, follow=False)
            except Invalid as error:
                self._done.fail(self._folder / MANIFEST, str(error))

    def _manifest(self) -> dict[str, str]:
        """Return what an earlier export of this space wrote; nothing where that cannot be told."""
        try:
            document: Any = json.loads((self._folder / MANIFEST).read_bytes())
            files: dict[str, str] = document["files"] if document["space"] == self._space else {}
            return {str(path): str(digest) for path, digest in files.items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return {}

    def _files_still_there(self) -> dict[str, str]:
        return {path: digest for path, digest in self._before.items() if (self._folder / path).is_file()}

    def _write_file(self, path: str, data: bytes) -> None:
        target = self._inside(path)
        if os.path.lexists(target):
            present = target.read_bytes() if target.is_file() and not target.is_symlink() else None
            if present == data:
                self._after[path] = _digest(data)
                self._done.unchanged += 1
                return
            ours = present is not None and _digest(present) == self._before.get(path)
            if not ours and not (self._force and present is not None):
                raise Invalid("it was not written by an export, or was changed since", hint="--force overwrites it")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._inside(path), data, follow=False)
        self._after[path] = _digest(data)
        self._done.written += 1

    def _inside(self, path: str) -> Path:
        """Return the place of a file. Raises Invalid when links lead out of the folder, or a file is in the way."""
        target = self._folder / path
        parent = Path(os.path.realpath(target.parent))
        if ".." in PurePosixPath(path).parts or not parent.is_relative_to(self._folder):
            raise Invalid(f"it would lie outside of {str(self._folder)!r}", hint="a link in the folder leads there")
        in_the_way = next((one for one in (parent, *parent.parents) if one.exists() and not one.is_dir()), None)
        if in_the_way is not None:
            raise Invalid(f"{str(in_the_way)!r} is a file where a folder is needed", hint="move it away")
        return target

    def _remove_stale(self) -> None:
        """Remove what an earlier export wrote for Notes that are gone, and folders that are empty then."""
        for path, digest in self._before.items():
            if path in self._wanted:
                continue
            try:
                target = self._inside(path)
            except Invalid:
                continue
            try:
                self._remove_if_ours(target, digest)
            except OSError as error:
                self._done.fail(target, _reason(error))

    def _remove_if_ours(self, target: Path, digest: str) -> None:
        if target.is_file() and not target.is_symlink() and _digest(target.read_bytes()) == digest:
            target.unlink()
            self._done.removed += 1
            for folder in target.parents:
                if folder == self._folder or any(folder.iterdir()):
                    break
                folder.rmdir()


def _reason(error: InfospaceError | OSError) -> str:
    if isinstance(error, OSError):
        return f"the system does not let it: {error.strerror or error}"
    return str(error)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def write_back(store: Store, below: Path | None = None) -> ExportReport:
    """Write Notes that were edited here back to the files they came from, all or those below a path.

    A file that has changed since it was read stays as it is, and is reported; so is what its format cannot hold.
    """
    report = ExportReport()
    above = None if below is None else below.resolve()
    with store.reading() as snapshot:
        tracked = [file for file in snapshot.tracked() if above is None or _path(file).is_relative_to(above)]
        edited = [(file, snapshot.get(file.note)) for file in tracked if was_edited(snapshot, file)]
    remove_leftovers(path for file in tracked for path in (_path(file), side_of(_path(file))))
    notes = [(one, note) for one, note in edited if isinstance(note, Note)]
    for place, some in groupby(notes, key=lambda pair: _table(pair[0])):
        if place is None:
            for one, note in some:
                _try(report, one, partial(_write_one, store, one, note))
        else:
            _write_rows(store, list(some), report)
    report.unchanged = len(tracked) - len(edited)
    return report


def _path(one: TrackedFile) -> Path:
    return Path(one.root) / one.path


def _real(one: TrackedFile, path: Path) -> Path:
    """Return where a file lies that links may lead to. Raises Invalid when they lead out of its root."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(one.root)):
        raise Invalid(f"a link leads out of {one.root!r}", hint="move the file back")
    return real


def _write_one(store: Store, one: TrackedFile, note: Note) -> None:
    path = _path(one)
    file = FileToImport(Path(one.root), one.path, path)
    form = format_of(path)
    if form not in FORMS:
        raise Invalid(
            f"{note.id} is {path.suffix.lower()} text, which is not written back",
            hint="`infospace export FOLDER` has it",
        )
    if read(file)[0] != one.digest:
        with store.reading() as snapshot:
            version, is_half = own_version(snapshot, one), is_half_written(snapshot, one)
        if version is None and not is_half:
            raise Invalid("the file has changed since it was read", hint="`infospace add` takes both as versions")
        if version == note.version:
            _sync(store, one, note, file)
            return
    result = in_place(path, note)
    to_write = [(path, result.data)]
    if form == "json" and result.side != beside(path):
        if not may_have_side(path):
            raise Invalid(
                f"{path.name!r} has a name too long for one with metadata beside it", hint="choose a shorter name"
            )
        to_write.append((side_of(path), result.side or b"{}\n"))
    for real, data in [(_real(one, place), data) for place, data in to_write]:
        write_atomically(real, data, follow=False)
    _sync(store, one, note, file)


def _table(one: TrackedFile) -> Path | None:
    """Return the path of the table that a row is written back to, None for what is no such row."""
    return _path(one) if one.part and format_of(one.path) in ROW_FORMS else None


def _try(report: ExportReport, one: TrackedFile, write: Callable[[], object]) -> None:
    """Write something and count it, or report why not."""
    try:
        write()
    except (Conflict, Invalid, NotFound, OSError) as error:
        report.fail(_path(one), _reason(error))
    else:
        report.written += 1


def _write_rows(store: Store, rows: Sequence[tuple[TrackedFile, Note]], report: ExportReport) -> None:
    """Write rows of one table back, all at once, and remember them as they are then."""
    path = _path(rows[0][0])
    tracks: list[tuple[TrackedFile, Track]] = []
    try:
        edits = [RowEdit(note, one.digest, one.part) for one, note in rows]
        data, results = edited_rows(read_bytes(path), path, edits)
        for (one, note), row in zip(rows, results, strict=True):
            if isinstance(row, Invalid):
                report.fail(path, str(row))
            else:
                remembered = replace(one, digest=row.digest, version=note.version)
                tracks.append((one, track(remembered, was_of(one))))
        if tracks:
            write_atomically(_real(rows[0][0], path), data, follow=False)
    except (Invalid, NotFound, OSError) as error:
        for _ in tracks or rows:
            report.fail(path, _reason(error))
        return
    try:
        store.commit([change for _, change in tracks])
        report.written += len(tracks)
    except (Conflict, NotFound):  # others remember some of them meanwhile: each by itself
        for one, change in tracks:
            _try(report, one, partial(store.commit, [change]))


def _sync(store: Store, one: TrackedFile, note: Note, file: FileToImport) -> None:
    """Remember the file as it is now, with its links, all at once; a run only where those changed Relations.

    It is remembered with all that an import reads of it, so that the next one has nothing to change.
    """
    digest, load = read(file)
    whole = load()
    track = _as_read(one, note.version, digest, whole)
    with store.reading() as snapshot:
        old = snapshot.links(one.note).get(one.note, [])
        created_by = CreatedBy(None, None, "export")
        changes: list[Change] = list(replaced(one.note, old, written(whole.links), created_by, is_alive(snapshot)))
        if changes:
            created_by = CreatedBy(store.new_id("run"), None, "export")
            changes = list(replaced(one.note, old, written(whole.links), created_by, is_alive(snapshot)))
    if created_by.run is None:
        store.commit([track])
        if (whole.title, whole.aliases) != (one.title, one.aliases):
            _settle_titles(store, one, file)
        return
    opened = OpenRun(created_by.run, "edit", f"export --in-place {file.path}", None, {}, now(), "")
    store.commit([track, *changes], [opened])
    settle_run(store, [one.root], created_by)


def _as_read(one: TrackedFile, version: int, digest: bytes, whole: FileContent) -> Track:
    created, modified = of_file_system(_path(one))
    read_of = (whole.title, None, created, modified, whole.aliases, whole.lines, READER)
    return Track(one.root, one.path, one.note, digest, version, 0, *read_of)


def _settle_titles(store: Store, one: TrackedFile, file: FileToImport) -> None:
    """Have the links of other files lead to a title that is another now; a run only where that changed Relations."""
    runs: list[str] = []

    def created_by() -> CreatedBy:
        runs.extend(() if runs else (store.new_id("run"),))
        return CreatedBy(runs[-1], None, "export")

    def commit(changes: Sequence[Change]) -> None:
        run = runs.pop()
        goal = f"export --in-place {file.path}"
        store.commit(changes, [OpenRun(run, "edit", goal, None, {}, now(), ""), CloseRun(run, "success", now())])

    settle(store, [one.root], created_by, commit)


def to_json(report: ExportReport) -> Mapping[str, Any]:
    """Return the object that the command prints."""
    return {
        "written": report.written,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "failed": report.failed,
    }
