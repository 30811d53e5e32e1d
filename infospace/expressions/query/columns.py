"""Typed columns made of items' values: the engine guesses no type. Imports numpy; import it late.

A column of whole numbers, numbers, texts or booleans alone is one of the engine's. Anything else is `ANY`: a struct
of a key `v`, by which values compare as `infospace.data.order` has it, and of the value as JSON, `o`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import numpy as np

from infospace.core.bounds import check_time, timed
from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.data.order import order_key
from infospace.data.paths import ABSENT, Part, Path, Readable, reader, show_parts

EXACT: Final = 2**53
"""Up to here a whole number is a double, too."""
DIGITS: Final = 10**38
"""Whole numbers of the engine are smaller."""
WORD: Final = 2**63


class Type(Enum):
    """What a value is in the engine."""

    INT = "HUGEINT"
    FLOAT = "DOUBLE"
    NUM = "DOUBLE "
    """Whole numbers and others, none of which a double changes; comes back whole where it has no fraction."""
    TEXT = "VARCHAR"
    BOOL = "BOOLEAN"
    ANY = "STRUCT"
    LIST = "LIST"
    NULL = "NULL"


_BATCH: Final = 4_096
"""Items between two looks at the clock."""
NUMBERS: Final = frozenset({Type.INT, Type.FLOAT, Type.NUM})


@dataclass(slots=True)
class Column:
    """One column: its type, the largest whole number in it, and its arrays by the suffix of their names.

    `NUM` has an array `w`, of whether each is whole, where a number with a point has no fraction (1.0).
    """

    type: Type
    arrays: dict[str, Any]
    most: int = 0
    whole: bool = False
    """Of `INT`: whether it fits 64 bits."""
    kinds: frozenset[str] = frozenset()
    """Of `ANY`: what there is in it."""


@dataclass(slots=True)
class Rows:
    """The rows of one table, and the columns that a query asks of it, made when first asked for."""

    items: Sequence[Readable]
    parents: Sequence[int] | None = None
    """Of elements of lists: the row each comes from."""
    columns: dict[tuple[Part, ...], Column] = field(default_factory=dict)
    _keys: list[str] | None = None

    def __len__(self) -> int:
        return len(self.items)

    def called(self, place: int) -> str:
        """Return what a row is called in a sentence."""
        return self.items[place].id or f"row {place}"

    def column(self, parts: tuple[Part, ...]) -> Column:
        """Return the column of a path."""
        result = self.columns.get(parts)
        if result is None:
            result = self.columns[parts] = column_of(self.values(parts), show_parts(parts) or "content")
        return result

    def values(self, parts: tuple[Part, ...]) -> list[JSON]:
        """Return what the items have at a path; None where they have nothing."""
        read = reader(Path(parts))

        def other(item: Readable) -> JSON:
            return None if (value := read(item)) is ABSENT else value

        [first, *rest] = parts or [None]
        if rest or not isinstance(first, str) or first.startswith("@") or first in ("metadata", "content"):
            return [other(item) for item in timed(self.items)]
        results: list[JSON] = []
        for start in range(0, len(self.items), _BATCH):
            check_time()
            results += [
                content.get(first) if type(content := item.content) is dict else other(item)
                for item in self.items[start : start + _BATCH]
            ]
        return results

    def keys(self) -> list[str]:
        """Return the first keys of the items in order of first appearance; `content` of plain values."""
        if self._keys is None:
            results: dict[str, None] = {}
            for item in timed(self.items):
                content = item.content
                if isinstance(content, Mapping):
                    results.update(dict.fromkeys(content))
                elif content is not None:
                    results["content"] = None
            self._keys = list(results)
        return self._keys

    def has(self, parts: tuple[Part, ...]) -> bool:
        """Whether any item has the first key of a path."""
        first = parts[0]
        if isinstance(first, str) and first.startswith("@"):
            return True
        if first == "metadata" and any(item.metadata for item in self.items):
            return True
        for item in timed(self.items):
            content = item.content
            if first in content if isinstance(content, Mapping) else first == "content" and content is not None:
                return True
        return False


class Element:
    """An element of a list as something that paths are read from."""

    __slots__ = ("content",)
    id = ""
    name = location = None
    metadata: Mapping[str, JSON] = {}
    created = updated = ""

    def __init__(self, content: JSON) -> None:
        self.content = content


def unnest(rows: Rows, parts: tuple[Part, ...], text: str) -> Rows:
    """Return the elements of the lists at a path, each with its row. Raises Invalid at what is no list."""
    elements: list[Readable] = []
    parents: list[int] = []
    for place, value in enumerate(rows.values(parts)):
        if value is None:
            continue
        if not isinstance(value, (list, tuple)):
            raise Invalid(f"UNNEST({text}) takes lists, and that of {rows.called(place)} is {_short(value)}")
        elements += map(Element, value)
        parents += [place] * len(value)
    return Rows(elements, parents)


def _short(value: JSON) -> str:
    text = dump(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


_SCALARS: Final = frozenset({int, float, str, bool})


def column_of(values: list[JSON], name: str) -> Column:
    """Make a column of values. Raises Invalid for what the engine cannot hold."""
    types = set(map(type, values))
    nulls = type(None) in types
    types.discard(type(None))
    match sorted(type_.__name__ for type_ in types):
        case []:
            return Column(Type.NULL, {})
        case ["str"]:
            return Column(Type.TEXT, {"": _texts(values, name)})
        case ["bool"]:
            return Column(Type.BOOL, {"": _masked(values, False, np.bool_, nulls=nulls)})
        case ["float"]:
            return Column(Type.FLOAT, {"": _masked(values, 0.0, np.float64, nulls=nulls)})
        case ["int"]:
            return _whole(values, name, nulls=nulls)
        case ["float", "int"] if all(-EXACT <= v <= EXACT for v in values if type(v) is int):
            arrays = {"": _masked(values, 0.0, np.float64, nulls=nulls)}
            if any(type(value) is float and value.is_integer() for value in values):
                arrays["w"] = np.array([type(value) is int for value in values], dtype=np.bool_)
            return Column(Type.NUM, arrays)
    return _any(values, name)


def _masked(values: list[JSON], filler: Any, type_: Any, *, nulls: bool) -> Any:
    if not nulls:
        return np.array(values, dtype=type_)
    mask = [value is None for value in values]
    return np.ma.masked_array(np.array([filler if value is None else value for value in values], dtype=type_), mask)


def _texts(values: list[JSON], name: str) -> Any:
    for value in values:
        if isinstance(value, str) and not value.isascii():
            _encodable(value, name)
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


def _encodable(text: str, name: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"a text of `{name}` has half of a surrogate pair (character {error.start})"
        raise Invalid(message, hint="such a text is not valid Unicode, and a query cannot hold it") from error


def _whole(values: list[JSON], name: str, *, nulls: bool) -> Column:
    most = max(abs(value) for value in values if isinstance(value, int))
    if most < WORD:
        return Column(Type.INT, {"": _masked(values, 0, np.int64, nulls=nulls)}, most, whole=True)
    if most >= DIGITS:
        raise Invalid(f"`{name}` has a whole number of more than 38 digits, and a query holds none")
    return Column(Type.INT, {"": _texts([None if v is None else str(v) for v in values], name)}, most)


def _any(values: list[JSON], name: str) -> Column:
    """Make the arrays of a mixed column: its keys, and each value as JSON."""
    count = len(values)
    keys = [(None, 0.0, 0, "") if value is None else any_key(value, name) for value in timed(values)]
    texts = [None if value is None else dump(value) for value in timed(values)]
    mask = [value is None for value in values]
    kinds = np.ma.masked_array(np.array([key[0] or 0 for key in keys], dtype=np.uint8), mask)
    arrays: dict[str, Any] = {
        "k": kinds,
        "d": np.array([key[1] for key in keys], dtype=np.float64),
        "s": _texts([key[3] for key in keys], name),
        "o": _texts(list(texts), name),
    }
    if any(key[2] for key in keys):
        arrays["r"] = _texts([str(key[2]) for key in keys], name)
    assert len(kinds) == count  # noqa: S101 - a key for each value
    return Column(Type.ANY, arrays, kinds=frozenset(KIND_NAMES[key[0]] for key in keys if key[0] is not None))


KIND_NAMES: Final = ("number", "text", "boolean", "list", "object")
"""What the first part of a key stands for, which is that of `order_key`."""


def any_key(value: JSON, name: str) -> tuple[int | None, float, int, str]:
    """Return what a value is compared by: its kind, a double and what it lacks of a whole number, or a text."""
    if isinstance(value, bool):
        return 2, float(value), 0, ""
    if isinstance(value, int):
        return 0, *split_whole(value, name), ""
    if isinstance(value, float):
        return 0, value, 0, ""
    if isinstance(value, str):
        return 1, 0.0, 0, value
    kind, key = order_key(value)
    return kind, 0.0, 0, _sortable(key, name)


def split_whole(value: int, name: str) -> tuple[float, int]:
    """Return the double nearest to a whole number, and what it lacks."""
    if abs(value) >= DIGITS:
        raise Invalid(f"`{name}` has a whole number of more than 38 digits, and a query holds none")
    near = float(value)
    return near, value - int(near)


def _sortable(key: Any, name: str) -> str:
    """Return a text that sorts as an order key of a list or an object does: parts end before all that go on."""
    if isinstance(key, list):
        return "".join("\2" + _sortable(part, name) for part in key) + "\1"
    if isinstance(key, tuple):
        first, second = key
        if isinstance(first, str):
            return _escaped(first) + "\1" + _sortable(second, name)
        if first == 0:
            return "0" + _number(second, name)
        if first == 1:
            return "1" + _escaped(second) + "\1"
        return f"{first}" + (_sortable(second, name) if isinstance(second, list) else f"{int(second or 0)}")
    raise TypeError(key)


def _escaped(text: str) -> str:
    return text if text.isalnum() else "".join("\3" + chr(ord(c) + 3) if c <= "\3" else c for c in text)


def _number(value: float, name: str) -> str:
    near, rest = split_whole(value, name) if isinstance(value, int) else (value, 0)
    bits = int(np.float64(near + 0.0).view(np.uint64))
    ordered = bits ^ 0xFFFFFFFFFFFFFFFF if bits >> 63 else bits | 1 << 63
    return f"{ordered:016x}{rest + DIGITS:039d}"
