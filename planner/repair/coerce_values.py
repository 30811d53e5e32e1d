"""Small mistakes in values that have one obvious mending: `"5"` for 5, one for a list of it, 30 (percent) for 0.3."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infospace.data.paths import nearest
from infospace.schema.validate import first_violation


@dataclass(frozen=True, slots=True)
class Mended:
    """A value that fits where another did not."""

    value: Any


def coerce_value(value: Any, schema: Mapping[str, Any]) -> Mended | None:
    """Return a value that says the same and fits the schema, None when none is obvious."""
    for candidate in _candidates(value, schema):
        if first_violation(candidate, schema) is None:
            return Mended(candidate)
    return None


def _candidates(value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    for option in schema.get("anyOf", ()):
        yield from _candidates(value, option)
    if isinstance(value, str):
        near = nearest(value, [word for word in schema.get("enum", ()) if isinstance(word, str)])
        if near is not None:
            yield near
        if schema.get("format") == "slice":
            yield re.sub(r"\s*(?:-(?=\d)|\.\.|,|to)\s*", ":", value.strip("[] ")) if value[:1] != "-" else value
        if schema.get("format") in ("path", "aggregate"):
            yield re.sub(r"\[$", "", re.sub(r"\.{2,}", ".", value)).rstrip(".")
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
        if isinstance(value, int) and not isinstance(value, bool) and value < schema.get("minimum", value):
            yield schema["minimum"]
        if not isinstance(value, bool) and 1 < value <= 100:
            yield value / 100
    if isinstance(value, list) and len(value) == 1:
        yield value[0]
    if isinstance(value, dict) and len(value) == 1:
        yield next(iter(value.values()))
    yield [value]
