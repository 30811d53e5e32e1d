"""The file of a changed Note as it is to be, and whether a file that changed is just that already.

Whoever is killed between writing a file and remembering that leaves such a file behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from infospace.core.errors import Invalid, NotFound
from infospace.core.json_types import JSON
from infospace.core.resources import Note
from infospace.data.json_text import read_json, same
from infospace.files.formats import format_of
from infospace.files.formats.json import beside, side_of
from infospace.files.in_place.json_edits import edited_json, holds
from infospace.files.in_place.markdown_edits import edited_markdown, edited_text, holds_note
from infospace.files.render import Rendered, render
from infospace.files.tracked_files import path_of
from infospace.files.walk import MAX_BYTES, read_bytes
from infospace.store.protocol import Snapshot, TrackedFile

FORMS = ("markdown_file", "text", "json")
"""What is written back."""


def in_place(path: Path, note: Note) -> Rendered:
    """Return the file of a Note with what was changed. Raises Invalid where it cannot be changed there."""
    form, suffix = format_of(path), path.suffix.lower()
    if form == "markdown_file":
        return Rendered(suffix, edited_markdown(read_bytes(path), path.name, note.content, note.metadata))
    held = _rendered(form, note)
    if held is None:
        raise Invalid(f"{note.id} has metadata or content that such a file cannot hold", hint="`infospace export`")
    if form == "json":
        data, side, metadata = read_bytes(path), beside(path), dict(note.metadata)
        if not _reads_as(data, note.content):
            data = edited_json(data, path.name, note.content) or held.data
        if not holds(side or b"{}", metadata):
            side = (edited_json(side, side_of(path).name, metadata) if held.side else None) or held.side
        return Rendered(held.suffix, data, side)
    return Rendered(suffix, edited_text(read_bytes(path), path.name, note.content))


def own_version(snapshot: Snapshot, one: TrackedFile) -> int | None:
    """Return the latest version, later than what was read, that the file says; None where it says something else."""
    if not _is_written_back(one):
        return None
    path, data = path_of(one), read_bytes(path_of(one))
    before = _read_from(snapshot, one)
    with suppress(Invalid):
        for note in _versions(snapshot, one):
            if _is(path, data, note, before):
                return note.version
    return None


def is_half_written(snapshot: Snapshot, one: TrackedFile) -> bool:
    """Whether a JSON file is that of a later version, and the metadata beside it still that of another."""
    path, before = path_of(one), _read_from(snapshot, one)
    if format_of(path) != "json" or not _is_written_back(one) or before is None:
        return False
    data, notes = read_bytes(path), list(_versions(snapshot, one))
    try:
        known = read_json(beside(path) or b"{}", what="the metadata", max_bytes=MAX_BYTES)
    except Invalid:
        return False
    is_ours = any(same(known, dict(note.metadata)) for note in (before, *notes))
    return is_ours and any(_reads_as(data, note.content) for note in notes if _rendered("json", note) is not None)


def _is(path: Path, data: bytes, note: Note, before: Note | None) -> bool:
    """Whether the bytes of a file are those that a Note would have there; line ends and YAML's ways are no matter."""
    form = format_of(path)
    if form == "markdown_file":
        return holds_note(data, path.name, {} if before is None else before.metadata, note.content, note.metadata)
    held = _rendered(form, note)
    if held is None or form != "json":
        return held is not None and held.data == data.replace(b"\r\n", b"\n")
    return _reads_as(data, note.content) and holds(beside(path) or b"{}", dict(note.metadata))


def _reads_as(data: bytes, content: JSON) -> bool:
    """Whether a JSON file has a value; one that is empty is an empty text."""
    return holds(data, content) if data.strip() else content == ""


def _rendered(form: str, note: Note) -> Rendered | None:
    """Return a Note as text or JSON; None where that cannot hold it."""
    suffix = ".json" if form == "json" else ".txt"
    held = render(note.content, note.metadata, suffix)
    return held if held.suffix == suffix else None


def _is_written_back(one: TrackedFile) -> bool:
    return not one.part and format_of(one.path) in FORMS and path_of(one).is_file()


def _read_from(snapshot: Snapshot, one: TrackedFile) -> Note | None:
    with suppress(NotFound):
        note = snapshot.get(one.note, one.version)
        return note if isinstance(note, Note) else None
    return None


def _versions(snapshot: Snapshot, one: TrackedFile) -> Iterator[Note]:
    for version, _ in reversed(snapshot.versions(one.note)):
        if version > one.version:
            with suppress(NotFound):
                note = snapshot.get(one.note, version)
                if isinstance(note, Note):
                    yield note
