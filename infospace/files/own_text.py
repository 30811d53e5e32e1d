"""Whether a file that changed has just what a version of its Note says: the text that writing back gave it.

Whoever is killed between writing a file and remembering that leaves such a file behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from infospace.core.errors import Invalid, NotFound
from infospace.core.resources import Note
from infospace.data.json_text import read_json, same
from infospace.files.formats import format_of
from infospace.files.formats.json import beside
from infospace.files.render import Rendered, render
from infospace.files.tracked_files import path_of
from infospace.files.walk import MAX_BYTES, read_bytes
from infospace.store.protocol import Snapshot, TrackedFile

FORMS = ("markdown_file", "text", "json")
"""What is written back."""


def in_place(one: TrackedFile, note: Note) -> Rendered | None:
    """Return a Note as its file would have it; None where its format cannot hold it."""
    path = path_of(one)
    suffix = {"markdown_file": path.suffix.lower(), "text": ".txt", "json": ".json"}[format_of(path)]
    result = render(note.content, note.metadata, suffix)
    return result if result.suffix == suffix else None


def own_version(snapshot: Snapshot, one: TrackedFile) -> int | None:
    """Return the latest version, later than what was read, that the file says; None where it says something else."""
    if not _is_written_back(one):
        return None
    path, data = path_of(one), _data(one)
    for note in _versions(snapshot, one):
        result = in_place(one, note)
        side = beside(path) if format_of(path) == "json" else b""
        if result is not None and result.data == data and side in ((result.side,) if result.side else (b"", b"{}\n")):
            return note.version
    return None


def is_half_written(snapshot: Snapshot, one: TrackedFile) -> bool:
    """Whether a JSON file is that of a later version, and the metadata beside it still that of another."""
    path = path_of(one)
    if format_of(path) != "json" or not _is_written_back(one):
        return False
    data, notes = _data(one), list(_versions(snapshot, one))
    try:
        known = read_json(beside(path) or b"{}", what="the metadata", max_bytes=MAX_BYTES)
        before = snapshot.get(one.note, one.version)
    except (Invalid, NotFound):
        return False
    is_ours = any(same(known, dict(note.metadata)) for note in (before, *notes))
    return is_ours and any(result.data == data for note in notes if (result := in_place(one, note)) is not None)


def _is_written_back(one: TrackedFile) -> bool:
    return not one.part and format_of(one.path) in FORMS and path_of(one).is_file()


def _data(one: TrackedFile) -> bytes:
    """Return what a file says, with line feeds for line ends where those are no matter."""
    data = read_bytes(path_of(one))
    return data if format_of(one.path) == "json" else data.replace(b"\r\n", b"\n")


def _versions(snapshot: Snapshot, one: TrackedFile) -> Iterator[Note]:
    for version, _ in reversed(snapshot.versions(one.note)):
        if version > one.version:
            with suppress(NotFound):
                note = snapshot.get(one.note, version)
                if isinstance(note, Note):
                    yield note
