"""The properties of a space's Notes, which are the keys of their metadata: their types, and the values of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from infospace.core.json_types import JSON

PropertyType: TypeAlias = Literal["text", "date", "number", "boolean", "list", "object", "null"]

MOST_VALUES: Final = 20
"""Different values up to which they are told."""
_FOLLOWED: Final = 1_000
"""Different values of a property up to which they are counted."""
_WORDS: Final[Mapping[type, PropertyType]] = {
    bool: "boolean",
    int: "number",
    float: "number",
    list: "list",
    dict: "object",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Property:
    """One property of the Notes that discovery searches: how many have it, and of which types it is in how many.

    `date` is a text that is an ISO date, with a time of the day or without; the other texts are `text`. Types stand by
    how many Notes have them. `values` are the texts, numbers and booleans that it is, or that its lists hold, most
    frequent first; None where there are more than 20.
    """

    notes: int
    types: Mapping[PropertyType, int]
    values: tuple[JSON, ...] | None


@dataclass(slots=True)
class _Count:
    """What is counted of one property."""

    notes: int = 0
    types: dict[PropertyType, int] = field(default_factory=dict)
    values: dict[tuple[str, Any], int] | None = field(default_factory=dict)
    """By type and value, as 1 and true are one to Python; None where there are too many."""
    taken: int = 0
    """Values that were taken away since there were too many: after so many there may be few again."""


class PropertyCounts:
    """Counts properties, Note by Note, which can be taken away again."""

    def __init__(self) -> None:
        self._of: dict[str, _Count] = {}

    def add(self, metadata: Mapping[str, JSON]) -> None:
        """Count the metadata of one more Note."""
        for key, value in metadata.items():
            count = self._of.get(key)
            if count is None:
                count = self._of[key] = _Count()
            count.notes += 1
            type_ = type_of(value)
            count.types[type_] = count.types.get(type_, 0) + 1
            values = count.values
            if values is not None:
                for one in _values(type_, value):
                    values[one] = values.get(one, 0) + 1
                if len(values) > _FOLLOWED:
                    count.values = None

    def remove(self, metadata: Mapping[str, JSON]) -> None:
        """Take away what was counted of one Note."""
        for key, value in metadata.items():
            count = self._of[key]
            count.notes -= 1
            if not count.notes:
                del self._of[key]
                continue
            type_ = type_of(value)
            count.types[type_] -= 1
            for one in _values(type_, value):
                if count.values is None:
                    count.taken += 1
                elif count.values[one] == 1:
                    del count.values[one]
                else:
                    count.values[one] -= 1

    @property
    def are_exact(self) -> bool:
        """Whether no property can have come to have few values without its being known."""
        return all(count.taken <= _FOLLOWED - MOST_VALUES for count in self._of.values())

    def properties(self) -> dict[str, Property]:
        """Return the properties by name: those that most Notes have first."""
        results = sorted(self._of.items(), key=lambda item: (-item[1].notes, item[0]))
        return {name: _property(count) for name, count in results}


def _property(count: _Count) -> Property:
    types = sorted((item for item in count.types.items() if item[1]), key=lambda item: (-item[1], item[0]))
    values = None
    if count.values is not None and len(count.values) <= MOST_VALUES:
        ranked = sorted(count.values.items(), key=lambda item: (-item[1], item[0][0], item[0][1]))
        values = tuple(value for (_, value), _ in ranked)
    return Property(count.notes, dict(types), values)


def survey(notes: Iterable[Mapping[str, JSON]]) -> dict[str, Property]:
    """Return the properties of Notes by their metadata."""
    counts = PropertyCounts()
    for metadata in notes:
        counts.add(metadata)
    return counts.properties()


def type_of(value: JSON) -> PropertyType:
    """Return the type of a property's value."""
    if type(value) is not str:
        return _WORDS[type(value)]
    if len(value) < len("2026-11-24") or value[4] != "-" or value[7] != "-":
        return "text"
    return "date" if _is_date(value) else "text"


@lru_cache(maxsize=4_096)
def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _values(type_: PropertyType, value: Any) -> Sequence[tuple[str, Any]]:
    if type_ in ("text", "date"):
        return (("text", value),)
    if type_ in ("number", "boolean"):
        return ((type_, value),)
    if type_ == "list":
        return [(kind, one) for one in value if (kind := _SCALARS.get(type(one))) is not None]
    return ()


_SCALARS: Final[Mapping[type, str]] = {str: "text", int: "number", float: "number", bool: "boolean"}
