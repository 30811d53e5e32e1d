"""The space's own tables: their columns, and their rows as a snapshot has them, read by the column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from infospace.core.bounds import check_time
from infospace.core.json_types import JSON
from infospace.data.paths import ABSENT, Part, inside
from infospace.expressions.query.columns import Rows
from infospace.schema.infer import Schema

_TEXT: Final[Schema] = {"type": ["string", "null"]}
_SURE: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": ["integer", "null"]}
_LIST: Final[Schema] = {"type": ["array", "null"], "items": {"type": "string"}}
SCHEMAS: Final[Mapping[str, Mapping[str, Schema]]] = {
    "notes": {
        "title": _TEXT,
        "path": _TEXT,
        "folder": _TEXT,
        "root": _TEXT,
        "file": _TEXT,
        "created": _SURE,
        "modified": _SURE,
        "tags": _LIST,
        "aliases": _LIST,
        "words": {"type": "integer"},
        "text": _SURE,
        "content": {},
        "metadata": {"type": "object"},
    },
    "items": {
        "note": _SURE,
        "section": _TEXT,
        "line": {"type": "integer"},
        "kind": {"type": "string", "enum": ["task", "bullet", "heading"]},
        "text": _SURE,
        "status": _TEXT,
        "done": {"type": ["boolean", "null"]},
        "due": _TEXT,
        "scheduled": _TEXT,
        "completed": _TEXT,
        "priority": _TEXT,
        "tags": _LIST,
        "fields": {"type": ["object", "null"]},
    },
    "links": {
        "source": _SURE,
        "target": _TEXT,
        "target_text": _SURE,
        "heading": _TEXT,
        "relation": _SURE,
        "property": _TEXT,
        "line": _NUMBER,
    },
}
"""The columns of each table in order, and what is known of each; `notes` has the properties of its Notes besides."""
TABLES: Final = tuple(SCHEMAS)
OF_PROPERTIES: Final = frozenset({"title", "tags", "aliases"})
"""Columns of `notes` that are made of the property of their name."""
OWN: Final = ("@id", "@name", "@created", "@updated")
"""What a Note has besides its columns: of `notes` alone."""


class StoredTable(Protocol):
    """Some rows of a table in a snapshot."""

    def __len__(self) -> int:
        """How many rows there are."""

    @property
    def numbers(self) -> Sequence[int]:
        """The number of the Note of each row."""

    def column(self, name: str) -> list[JSON]:
        """Return a column by its name."""

    def property(self, key: str) -> list[JSON]:
        """Return a key of each Note's metadata, null where it has none."""

    def properties(self) -> list[str]:
        """Return the keys of the metadata of all Notes, in the order in which they first come."""

    def has_property(self, key: str) -> bool:
        """Whether any Note has a key in its metadata."""


class SpaceRows(Rows):
    """The rows of one of the space's own tables."""

    def __init__(self, name: str, table: StoredTable) -> None:
        super().__init__(())
        self._name = name
        self._table = table
        self._known: dict[str, list[JSON]] = {}

    def __len__(self) -> int:
        return len(self._table)

    @property
    def stored(self) -> StoredTable:
        """The table as the store has it."""
        return self._table

    def called(self, place: int) -> str:
        """Return the id of the Note of a row."""
        return f"Note_{self._table.numbers[place]}"

    def keys(self) -> list[str]:
        """Return the columns; of `notes` then the properties that no column is called like."""
        own = list(SCHEMAS[self._name])
        if self._name == "notes":
            own += [key for key in self._table.properties() if key not in SCHEMAS["notes"]]
        return own

    def has(self, parts: tuple[Part, ...]) -> bool:
        """Whether it has a column, or any Note a property, of the first key of a path."""
        first = parts[0]
        if first in SCHEMAS[self._name]:
            return True
        if self._name != "notes" or not isinstance(first, str):
            return False
        return first.startswith("@") or self._table.has_property(first)

    def values(self, parts: tuple[Part, ...]) -> list[JSON]:
        """Return what the rows have at a path; None where they have nothing."""
        check_time()
        first, *rest = parts
        if first == "metadata" and self._name == "notes" and len(rest) == 1 and isinstance(rest[0], str):
            return self._table.property(rest[0])
        results = self._first(first)
        if not rest:
            return results
        places = (None if value is None else inside(value, rest) for value in results)
        return [None if value is ABSENT else value for value in places]

    def _first(self, first: Part) -> list[JSON]:
        if not isinstance(first, str):
            return [None] * len(self)
        if first not in self._known:
            self._known[first] = self._read(first)
        return self._known[first]

    def _read(self, first: str) -> list[JSON]:
        if first in SCHEMAS[self._name] or (self._name == "notes" and first in OWN):
            return self._table.column(first)
        if self._name == "notes" and first.startswith("@"):
            name = first.removeprefix("@")
            return self._table.column(name) if name in SCHEMAS["notes"] else [None] * len(self)
        return self._table.property(first) if self._name == "notes" else [None] * len(self)


class EmptyTable:
    """A table without rows, as the check has it: whatever a query asks of it, it is null."""

    numbers: Sequence[int] = ()

    def __len__(self) -> int:
        return 0

    def column(self, name: str) -> list[JSON]:
        """Return no value."""
        del name
        return []

    property = column

    def properties(self) -> list[str]:
        """Return no key."""
        return []

    def has_property(self, key: str) -> bool:
        """No Note has it."""
        del key
        return False
