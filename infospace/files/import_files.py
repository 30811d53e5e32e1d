"""Bringing files into a space: what is new, changed or moved becomes Notes; what is the same is left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infospace.core.clock import now
from infospace.core.errors import Conflict, InfospaceError, Invalid, NotFound, StoreError
from infospace.core.ids import Kind
from infospace.core.listener import Listener
from infospace.core.resources import CreatedBy
from infospace.files.file_changes import FileChanges, ImportChanges
from infospace.files.file_times import FileTimes, OfGit, of_file_system
from infospace.files.formats.json import is_side
from infospace.files.links import hidden_aliases, resolve
from infospace.files.tracked_files import TrackedFiles
from infospace.files.walk import FileToImport, RefusedFile, SkippedEntry, walk
from infospace.journal.rows import CloseRun, Entry, Heartbeat, OpenRun, RunStatus
from infospace.store.changes import (
    Change,
    Delete,
    ExpectLinks,
    MakeNote,
    MakeRelation,
    Restore,
    Revise,
    SetLinks,
    SettleLinks,
    Track,
    Untrack,
)
from infospace.store.optimistic import TRIES
from infospace.store.protocol import Store, TrackedFile

if TYPE_CHECKING:
    from infospace.space import Space

BATCH = 400
"""Changes in a commit: an interruption loses at most the reading of so many."""

Make = Callable[[], ImportChanges]


@dataclass(slots=True)
class Summary:
    """What an import did: counts of Notes, the files that failed with their reasons, and what was embedded.

    `warnings` are files that were taken, with what of them could not be understood, or is ambiguous.
    `conflicts` are Notes that were edited here as well as in their file; both are kept, as versions. `vanished`
    counts those whose file or row is gone, and that are still there. `restored` counts Notes that were deleted here and
    came back with their file; `left_out` are files whose Notes were deleted here, and that did not change since.
    `skipped` are files and folders that are not taken, with the reason; of a folder, `files` counts what it has that
    would have been taken.
    """

    added: int = 0
    changed: int = 0
    restored: int = 0
    moved: int = 0
    unchanged: int = 0
    removed: int = 0
    vanished: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    passages_embedded: int = 0
    seconds: float = 0.0
    run: str | None = None

    def count(self, file_changes: ImportChanges) -> None:
        """Add what was stored."""
        for state, number in file_changes.counts.items():
            setattr(self, state, getattr(self, state) + number)
        self.failed += file_changes.failed
        self.warnings += file_changes.warnings
        self.conflicts += file_changes.conflicts
        self.left_out += file_changes.left_out

    def to_json(self) -> dict[str, Any]:
        """Return the documented object."""
        return {
            "added": self.added,
            "changed": self.changed,
            "restored": self.restored,
            "moved": self.moved,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "vanished": self.vanished,
            "failed": self.failed,
            "warnings": self.warnings,
            "conflicts": self.conflicts,
            "left_out": self.left_out,
            "skipped": self.skipped,
            "passages_embedded": self.passages_embedded,
            "seconds": round(self.seconds, 3),
            "run": self.run,
        }


def import_paths(
    space: Space,
    paths: Sequence[Path],
    listener: Listener,
    *,
    prune: bool = False,
    git_times: bool = False,
    summary: Summary | None = None,
) -> Summary:
    """Import files and folders. A file that cannot be read is reported, and the rest goes on.

    Nothing is embedded here. The import is a run of the journal, unless nothing changed. With `prune`, Notes
    whose file or row under `paths` is gone are deleted. With `git_times` a file is as old as its first commit, and
    changed at its last. Interrupted, it keeps what it has, and `summary`, if it
    was given, says what that is. What another process changes at the same time is looked at again: whoever was
    first made the Note, and for the others it is unchanged. Raises NotFound for a path where nothing is.
    """
    times = OfGit() if git_times else of_file_system
    return Import(space.store, listener, summary or Summary(), times).run(paths, prune=prune)


class Import:
    """One import: files against what is known of them, in batches.

    A batch that another process has overtaken is stored in no part; it is made again, by what is known then.
    """

    _known: TrackedFiles

    def __init__(self, store: Store, listener: Listener, summary: Summary, times: FileTimes = of_file_system) -> None:
        self._store = store
        self._times = times
        self._listener = listener
        self._summary = summary
        self._goal = "add"
        self._run: str | None = None
        self._needs_run = False
        self._wrote = ""
        self._listed: list[FileToImport] = []
        self._named: set[Path] = set()
        self._batch: list[tuple[Make, ImportChanges]] = []
        self._waiting = 0
        self._is_stale = False
        self._lost: list[TrackedFile] = []
        self._linked: list[TrackedFile] = []
        self._fresh: set[str] = set()
        self._written: set[str] = set()
        self._roots: set[str] = set()

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
                self._close("failed", error.message)
            raise
        except Exception as error:  # whoever hears of the progress may break off too, and no run goes on for ever
            with suppress(InfospaceError):
                self._close("failed", f"{type(error).__name__}: {error}")
            raise
        self._close("success")
        return self._summary

    def _import(self, paths: Sequence[Path], prune: bool) -> None:
        self._list(paths)
        self._load_known_files()
        self._do(self._untwin)
        files = self._known.rooting.without_duplicates(self._listed)
        for index, file in enumerate(files, start=1):
            self._import_file(file)
            if self._waiting >= BATCH:
                self._commit()
            self._listener.progress(index, len(files), "reading")
        self._commit()
        if self._lost or any(self._known.gone.values()):
            self._load_known_files()
            self._do(
                lambda: FileChanges(self._store, self._known, self._provenance).delete_lost(
                    self._lost, paths, prune=prune
                )
            )
            self._commit()
        self._settle_links()
        for called, reason in hidden_aliases(self._linked, self._written):
            self._summary.warnings.append({"path": str(Path(called.root) / called.path), "reason": reason})

    def _list(self, paths: Sequence[Path]) -> None:
        """List the files under their roots."""
        for path in paths:
            for one in walk(path):
                if isinstance(one, RefusedFile):
                    self._summary.failed.append({"path": str(one.path), "reason": one.reason})
                elif isinstance(one, SkippedEntry):
                    skipped = {"path": str(one.path), "reason": one.reason, "files": one.count()}
                    self._summary.skipped.append(skipped)
                elif not is_side(one.path):
                    self._listed.append(one)
                    if path.is_file():
                        self._named.add(one.path)

        self._summary.warnings += _differing_by_case(self._listed)

    def _load_known_files(self) -> None:
        """Read what is known of the files."""
        self._known = TrackedFiles(self._store, self._listed, self._named)

    def _do(self, make: Make) -> None:
        """Put into the batch what something comes to; what needs no change is counted at once."""
        try:
            file_changes = make()
        except Conflict:
            self._is_stale, file_changes = True, ImportChanges()
        if file_changes.changes or self._is_stale:
            self._batch.append((make, file_changes))
            self._waiting += len(file_changes.changes)
        else:
            self._count(file_changes)

    def _untwin(self) -> ImportChanges:
        return ImportChanges(list(self._known.untwinned))

    def _import_file(self, file: FileToImport) -> None:
        self._do(partial(self._gather_file, file))

    def _gather_file(self, file: FileToImport) -> ImportChanges:
        return FileChanges(self._store, self._known, self._provenance, self._times).file(
            self._known.rooting.placed(file)
        )

    def _settle_links(self) -> None:
        """Settle links until there is nothing to settle, since others bring files in as well.

        Where links lead depends on the files that are known: while these are the same, nothing is left to settle.
        """
        for _ in range(TRIES):
            self._do(self._link)
            if not self._batch:
                return
            self._commit()
            with self._store.reading() as snapshot:
                if snapshot.tracked() == self._linked:
                    return

    def _link(self) -> ImportChanges:
        with self._store.reading() as snapshot:
            self._linked = snapshot.tracked()
            new_id = partial(self._store.new_id, Kind.RELATION)
            changes = resolve(snapshot, self._roots, new_id, self._provenance, self._fresh, self._linked)
            return ImportChanges(list(changes))

    def _provenance(self) -> CreatedBy:
        self._needs_run = True
        self._run = self._run or self._store.new_id("run")
        return CreatedBy(self._run, None, "add")

    def _commit(self) -> None:
        """Store the batch, and make it again as often as another process was faster; an interruption waits for it."""
        is_interrupted = False
        for left in reversed(range(TRIES)):
            self._wrote = ""
            try:
                if self._is_stale:
                    self._remake_batch()
                self._write()
                break
            except (Conflict, NotFound):
                self._is_stale = True
                if not left:
                    raise
            except KeyboardInterrupt:
                if is_interrupted:
                    raise
                is_interrupted = True
                if self._is_written():
                    break
        for _, file_changes in self._batch:
            self._count(file_changes)
        self._batch, self._waiting = [], 0
        if is_interrupted:
            raise KeyboardInterrupt

    def _remake_batch(self) -> None:
        """Make the batch again by what is known now."""
        self._needs_run = self._summary.run is not None
        self._load_known_files()
        makes = [self._untwin, *(make for make, _ in self._batch if make != self._untwin)]
        self._batch = [(make, make()) for make in makes]
        self._is_stale = False

    def _write(self) -> None:
        result = [
            (make != self._untwin, change) for make, file_changes in self._batch for change in file_changes.changes
        ]
        changes = [change for _, change in sorted(result, key=lambda one: (one[0], _order(one[1])))]
        if changes:
            self._wrote, run = now(), self._run if self._needs_run else None
            entries: list[Entry] = []
            if run is not None and self._summary.run is None:
                entries = [OpenRun(run, "import", self._goal, None, {}, self._wrote, "")]
            elif run is not None:
                entries = [Heartbeat(run, "", self._wrote)]
            self._store.commit(changes, entries)
            self._summary.run = run

    def _is_written(self) -> bool:
        """Whether the last commit came to its end, though it was interrupted."""
        with self._store.reading() as snapshot, suppress(NotFound):
            if self._run is not None and snapshot.run(self._run).heartbeat == self._wrote:
                self._summary.run = self._run
                return True
        return False

    def _count(self, file_changes: ImportChanges) -> None:
        self._summary.count(file_changes)
        self._lost += file_changes.lost
        self._fresh |= file_changes.fresh
        self._written.update(change.note for change in file_changes.changes if isinstance(change, Track))
        self._roots |= file_changes.roots

    def _close(self, status: RunStatus, reason: str | None = None) -> None:
        if self._summary.run is not None:
            self._store.commit([], [CloseRun(self._summary.run, status, now(), reason=reason)])


def _differing_by_case(files: Sequence[FileToImport]) -> Iterator[dict[str, str]]:
    """Give a warning for each file beside one whose path differs by upper and lower case alone."""
    first: dict[str, Path] = {}
    for path in dict.fromkeys(file.path for file in files):
        other = first.setdefault(str(path).casefold(), path)
        if other != path:
            reason = (
                f"it differs from {str(other)!r} by upper and lower case alone: both are notes, and a link that is"
                " written as neither leads to one of them; many systems have room for one file of the two"
            )
            yield {"path": str(path), "reason": reason}


_ORDER = (ExpectLinks, MakeNote, Restore, Revise, MakeRelation, Untrack, Delete, Track, SetLinks, SettleLinks)


def _order(change: Change) -> int:
    """Changes of one type together, since the store applies those at once; makers before what refers to them.

    A file that two Notes were is one Note's before all else: by what is known, it is so already.
    """
    return _ORDER.index(type(change))


def import_text(space: Space, data: bytes, summary: Summary) -> None:
    """Make one kept Note of text handed over directly; counted in the summary, as failed when it is not text."""
    from infospace.files.formats.markdown_file import read as read_markdown

    store = space.store
    try:
        whole = read_markdown(data, "standard input")
    except Invalid as error:
        summary.failed.append({"path": "-", "reason": str(error)})
        return
    if not data.strip():
        summary.failed.append({"path": "-", "reason": "standard input has no text"})
        return
    if whole.warning:
        summary.warnings.append({"path": "-", "reason": whole.warning})
    run = store.new_id("run")
    result = MakeNote(
        store.new_id(Kind.NOTE), whole.content, whole.metadata, kept=True, created_by=CreatedBy(run, None, "add")
    )
    store.commit([result], [OpenRun(run, "import", "add -", None, {}, now(), ""), CloseRun(run, "success", now())])
    summary.added += 1
    summary.run = summary.run or run
