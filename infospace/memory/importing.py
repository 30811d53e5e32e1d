"""Bringing files into a space: what is new, changed or moved becomes Notes; what is the same is left alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infospace.clock import now
from infospace.errors import Invalid, NotFound
from infospace.ids import Kind
from infospace.memory.changes import Change, MakeNote, Revise, Track, Untrack
from infospace.memory.files import Found, NoteFile, Refused, read_note, walk
from infospace.memory.store import Store, Tracked
from infospace.resources import Made
from infospace.runs.journal import CloseRun, Entry, OpenRun
from infospace.view import Listener

if TYPE_CHECKING:
    from infospace.space import Space

BATCH = 200
"""Files between two commits: an interruption loses at most the reading of so many."""


@dataclass(slots=True)
class Summary:
    """What an import did: counts of files, those that failed with their reasons, and what was embedded."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
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
            "failed": self.failed,
            "passages_embedded": self.passages_embedded,
            "seconds": round(self.seconds, 3),
            "run": self.run,
        }


def import_paths(space: Space, paths: Sequence[Path], listener: Listener) -> Summary:
    """Import files and folders. A file that cannot be read is reported, and the rest goes on.

    Nothing is embedded here. The import is a run of the journal, unless nothing changed.
    """
    return Import(space.store, listener).run(paths)


class Import:
    """One import: files against what is known of them, in batches."""

    def __init__(self, store: Store, listener: Listener) -> None:
        self._store = store
        self._listener = listener
        self._summary = Summary()
        self._known: dict[tuple[str, str], Tracked] = {}
        self._gone: dict[bytes, list[Tracked]] = {}
        self._changes: list[Change] = []
        self._opened = False

    def run(self, paths: Sequence[Path]) -> Summary:
        """Import, and say what was done."""
        with self._store.reading() as snapshot:
            self._known = {(t.root, t.path): t for t in snapshot.tracked()}
        found = list(self._rooted(self._walk(paths)))
        self._find_gone({(str(f.root), f.relative) for f in found})
        for index, file in enumerate(found):
            self._take(file)
            if len(self._changes) >= BATCH:
                self._commit(paths)
            self._listener.progress(index + 1, len(found), "reading")
        self._commit(paths)
        self._close()
        return self._summary

    def _walk(self, paths: Sequence[Path]) -> Iterable[Found]:
        for path in paths:
            if not path.exists():
                raise NotFound(f"there is no file or folder {str(path)!r}")
            for found in walk(path):
                if isinstance(found, Refused):
                    self._fail(found.path, found.reason)
                else:
                    yield found

    def _rooted(self, found: Iterable[Found]) -> Iterable[Found]:
        """Put files under the root by which they are known, and drop those that come twice."""
        roots = sorted({Path(root) for root, _ in self._known}, key=lambda root: -len(root.parts))
        seen = set()
        for file in found:
            absolute = file.root / file.relative
            root = next((r for r in roots if r == file.root or r in absolute.parents), file.root)
            if root != file.root:
                file = Found(root, absolute.relative_to(root).as_posix(), file.path)  # noqa: PLW2901
            if (file.root, file.relative) not in seen:
                seen.add((file.root, file.relative))
                yield file

    def _find_gone(self, present: set[tuple[str, str]]) -> None:
        """Remember the tracked files whose path has vanished: one of the same bytes has moved."""
        for key, tracked in self._known.items():
            if key not in present and not (Path(tracked.root) / tracked.path).exists():
                self._gone.setdefault(tracked.digest, []).append(tracked)

    def _take(self, file: Found) -> None:
        try:
            read = read_note(file)
        except Invalid as error:
            self._fail(file.path, str(error))
            return
        key = (str(file.root), file.relative)
        tracked, digest = self._known.get(key), bytes.fromhex(read.hash)
        if tracked is not None and tracked.digest == digest:
            self._summary.unchanged += 1
        elif tracked is not None:
            self._change(key, tracked, read, digest)
        elif self._gone.get(digest):
            self._move(key, self._gone[digest].pop())
        else:
            self._add(key, read, digest)

    def _add(self, key: tuple[str, str], read: NoteFile, digest: bytes) -> None:
        identifier = self._store.new_id(Kind.NOTE)
        made = self._made()
        self._changes.append(MakeNote(identifier, read.text, read.metadata, kept=True, made=made))
        self._changes.append(Track(*key, identifier, digest, 1))
        self._summary.added += 1

    def _change(self, key: tuple[str, str], tracked: Tracked, read: NoteFile, digest: bytes) -> None:
        with self._store.reading() as snapshot:
            version = snapshot.get(tracked.note).version
        made = self._made()
        self._changes.append(Revise(tracked.note, read.text, read.metadata, made=made))
        self._changes.append(Track(*key, tracked.note, digest, version + 1))
        self._summary.changed += 1

    def _move(self, key: tuple[str, str], tracked: Tracked) -> None:
        self._made()
        self._changes.append(Untrack(tracked.root, tracked.path))
        self._changes.append(Track(*key, tracked.note, tracked.digest, tracked.version))
        self._summary.moved += 1

    def _made(self) -> Made:
        if self._summary.run is None:
            self._summary.run = self._store.new_id("run")
        return Made(self._summary.run, None, "add")

    def _commit(self, paths: Sequence[Path]) -> None:
        if not self._changes:
            return
        entries: list[Entry] = []
        if not self._opened:
            self._opened = True
            goal = "add " + " ".join(str(path) for path in paths)
            entries.append(OpenRun(self._summary.run or "", "import", goal, None, {}, now(), ""))
        self._store.commit(self._changes, entries)
        self._changes = []

    def _close(self) -> None:
        if self._opened and self._summary.run is not None:
            self._store.commit([], [CloseRun(self._summary.run, "success", now())])

    def _fail(self, path: Path, reason: str) -> None:
        self._summary.failed.append({"path": str(path), "reason": reason})


def import_text(space: Space, data: bytes, summary: Summary) -> None:
    """Make one kept Note of text handed over directly; counted in the summary, as failed when it is not text."""
    from infospace.memory.markdown import parse

    store = space.store
    try:
        parsed = parse(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8 text: byte 0x{data[error.start]:02x} at position {error.start}"
        summary.failed.append({"path": "-", "reason": reason})
        return
    except Invalid as error:
        summary.failed.append({"path": "-", "reason": str(error)})
        return
    run = store.new_id("run")
    made = MakeNote(store.new_id(Kind.NOTE), parsed.text, parsed.metadata, kept=True, made=Made(run, None, "add"))
    store.commit([made], [OpenRun(run, "import", "add -", None, {}, now(), ""), CloseRun(run, "success", now())])
    summary.added += 1
    summary.run = summary.run or run
