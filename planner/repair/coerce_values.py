"""Small mistakes in values that have one obvious mending: `"5"` for 5, one for a list of it, `Desc` for `desc`.

A value is written another way, and stays the same: no number becomes another one, no word another one of an enum.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infospace.data.misspelling import closest_spelling
from infospace.schema.validate import first_violation

_SAME: Mapping[str, tuple[str, ...]] = {
    "descending": ("desc",),
    "ascending": ("asc",),
    "desc": ("descending",),
    "asc": ("ascending",),
    "number": ("float",),
    "str": ("string",),
    "text": ("string",),
    "integer": ("int",),
    "int": ("integer",),
    "double": ("float",),
    "boolean": ("bool",),
    "bool": ("boolean",),
    "array": ("list",),
    "object": ("json",),
    "full": ("outer",),
    "keywords": ("keyword",),
    "vector": ("semantic",),
    "similarity": ("semantic",),
    "embedding": ("semantic",),
}
"""Words of an enum, by other words for the same."""
_HOLDERS = frozenset({"value", "text", "content", "const", "literal"})
"""Keys in whose place an object with nothing else in it stands for what it holds."""


@dataclass(frozen=True, slots=True)
class CoercedValue:
    """A value that fits where another did not."""

    value: Any


def coerce_value(value: Any, schema: Mapping[str, Any]) -> CoercedValue | None:
    """Return a value that says the same and fits the schema, None when none is obvious."""
    for candidate in _candidates(value, schema):
        if first_violation(candidate, schema) is None:
            return CoercedValue(candidate)
    return None


def _candidates(value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    for option in schema.get("anyOf", ()):
        yield from _candidates(value, option)
    if isinstance(value, str):
        words = [word for word in schema.get("enum", ()) if isinstance(word, str)]
        word = re.sub(r"^(to|as)[-_ ]+", "", value.strip(), flags=re.IGNORECASE)
        suggestion = closest_spelling(word, words) or next(
            (one for one in _SAME.get(word.lower(), ()) if one in words), None
        )
        if suggestion is not None:
            yield suggestion
        if schema.get("format") == "slice":
            yield re.sub(r"\s*(?:-(?=\d)|\.\.|,|to)\s*", ":", value.strip("[] ")) if value[:1] != "-" else value
        if schema.get("format") in ("path", "path-or-expression", "aggregate"):
            yield re.sub(r"\[$", "", re.sub(r"\.{2,}", ".", value)).strip(".")
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            read = {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().lower())
        if read is not None:
            yield read
    elif isinstance(value, (bool, int, float)):
        yield json.dumps(value)
        if isinstance(value, float) and value.is_integer():
            yield int(value)
    if isinstance(value, list) and len(value) == 1:
        yield value[0]
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _HOLDERS:
        yield next(iter(value.values()))
    yield [value]
