"""The space's Notes as the rows of the table `notes`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from infospace.core.json_types import JSON
from infospace.core.resources import Location, Note, text_of
from infospace.data.json_text import dump
from infospace.data.titles import title_of
from infospace.schema.infer import Schema

_TEXT: Final[Schema] = {"type": ["string", "null"]}
_LIST: Final[Schema] = {"type": ["array", "null"], "items": {"type": "string"}}
SCHEMAS: Final[Mapping[str, Schema]] = {
    "title": _TEXT,
    "path": _TEXT,
    "folder": _TEXT,
    "root": _TEXT,
    "file": _TEXT,
    "created": {"type": "string"},
    "modified": {"type": "string"},
    "tags": _LIST,
    "aliases": _LIST,
    "words": {"type": "integer"},
    "text": {"type": "string"},
    "content": {},
    "metadata": {"type": "object"},
}
"""The columns that every Note has, and what is known of each."""
COLUMNS: Final = tuple(SCHEMAS)
OF_PROPERTIES: Final = frozenset({"title", "tags", "aliases"})
"""Columns that are made of the property of their name."""


class NoteRow:
    """A Note as a row: its columns, then every property by its name, where no column has it."""

    __slots__ = ("_note", "content")

    def __init__(self, note: Note[Any]) -> None:
        self._note = note
        self.content: JSON = _Columns(note)

    @property
    def id(self) -> str:
        """The Note's id."""
        return self._note.id

    @property
    def name(self) -> str | None:
        """The Note's name."""
        return self._note.name

    @property
    def metadata(self) -> Mapping[str, JSON]:
        """The Note's metadata."""
        return self._note.metadata

    @property
    def created(self) -> str:
        """When it was made."""
        return self._note.created

    @property
    def updated(self) -> str:
        """When it was last changed."""
        return self._note.updated

    @property
    def location(self) -> Location | None:
        """Where its file lies."""
        return self._note.location


class _Columns(Mapping[str, JSON]):
    """The columns of one Note, each made when it is asked for."""

    __slots__ = ("_note",)

    def __init__(self, note: Note[Any]) -> None:
        self._note = note

    def __getitem__(self, key: str) -> JSON:
        read = _READ.get(key)
        return self._note.metadata[key] if read is None else read(self._note)

    def __iter__(self) -> Iterator[str]:
        yield from COLUMNS
        yield from (key for key in self._note.metadata if key not in SCHEMAS)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _text(note: Note[Any]) -> str:
    return text_of(note.content) if isinstance(note.content, str) else dump(note.content)


def _strings(note: Note[Any], key: str) -> JSON:
    found = note.metadata.get(key)
    if isinstance(found, str):
        return [found]
    return list(found) if isinstance(found, (list, tuple)) else None


def _file(note: Note[Any]) -> str | None:
    return None if note.location is None else PurePosixPath(note.location.path).name


def _when(note: Note[Any], key: str) -> str:
    """Return a time of the file, else of the Note."""
    found = note.metadata.get(key)
    return found if isinstance(found, str) else note.created if key == "created" else note.updated


_READ: Final[Mapping[str, Callable[[Note[Any]], JSON]]] = {
    "title": lambda note: title_of(note.metadata, note.name, note.content, note.location),
    "path": lambda note: None if note.location is None else note.location.path,
    "folder": lambda note: None if note.location is None else note.location.folder,
    "root": lambda note: None if note.location is None else note.location.root,
    "file": _file,
    "created": lambda note: _when(note, "created"),
    "modified": lambda note: _when(note, "modified"),
    "tags": lambda note: _strings(note, "tags"),
    "aliases": lambda note: _strings(note, "aliases"),
    "words": lambda note: len(_text(note).split()),
    "text": _text,
    "content": lambda note: note.content,
    "metadata": lambda note: dict(note.metadata),
}
