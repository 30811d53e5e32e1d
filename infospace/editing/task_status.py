"""The status of a task, `- [ ]`: one character of a Note's text, found by the line that the table `items` gives."""

from __future__ import annotations

from dataclasses import replace

from infospace.core.errors import Invalid
from infospace.core.resources import Note
from infospace.data.markdown.body import Item, read_body
from infospace.files.formats import format_of
from infospace.store.protocol import Snapshot

SHOWN = 12
"""How many lines of tasks an error names."""


def with_status(snapshot: Snapshot, note: Note, line: int, status: str) -> str:
    """Return a Note's text with another status of the task in a line, as the file counts lines, and nothing else.

    Raises Invalid for a line without one, and for a status that would not be read as one.
    """
    if len(status) != 1 or not status.isprintable():
        raise Invalid(f"the status {status!r} is not one character", hint="x, ' ', - or >")
    items, before = _items(snapshot, note)
    places = [at for at, item in enumerate(items) if item.status is not None and item.line + before == line]
    if not places:
        raise Invalid(f"line {line} of {note.id} holds no task", hint=_lines_of(items, before))
    if len(places) > 1:
        raise Invalid(f"line {line} of {note.id} holds {len(places)} tasks", hint="put each in a line of its own")
    text, [place] = str(note.content), places
    start = items[place].status_at
    result = f"{text[:start]}{status}{text[start + 1 :]}"
    if read_body(result).items != (*items[:place], replace(items[place], status=status), *items[place + 1 :]):
        raise Invalid(f"line {line} of {note.id} would be read otherwise with {status!r} in the brackets", hint="use x")
    return result


def _items(snapshot: Snapshot, note: Note) -> tuple[tuple[Item, ...], int]:
    """Return the items of a Note that is Markdown, and how many lines stand before its text in its file."""
    file = next((one for one in snapshot.tracked() if one.note == note.id), None)
    is_other = file is not None and (file.part or format_of(file.path) not in ("markdown_file", "html"))
    if not isinstance(note.content, str) or is_other:
        return (), 0
    return read_body(note.content).items, 0 if file is None else file.lines


def _lines_of(items: tuple[Item, ...], before: int) -> str:
    lines = [str(item.line + before) for item in items if item.status is not None]
    if not lines:
        return "it has no tasks"
    more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    return f"its tasks are in {'line' if len(lines) == 1 else 'lines'} {', '.join(lines[:SHOWN])}{more}"
