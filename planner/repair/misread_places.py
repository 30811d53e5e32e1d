"""What was probably meant by a place, or a reference, that does not fit where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.data.json_text import dump
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import Path, nearest, show_parts
from infospace.schema.compare import Mismatch
from infospace.schema.infer import subschema_at
from infospace.schema.shapes import NoSuchPath, Schema, Shape, disjoint, place_in, types_of
from planner.language.problems import listed
from planner.language.references import Reference, Template, Value

_COUNTS = ("length", "size", "count", "len")

MOST_FIELDS = 5
"""Fields that a hint shows."""

_METADATA = ("metadata", "@metadata")
WRAPPERS = frozenset(
    [
        "result",
        "results",
        "output",
        "outputs",
        "data",
        "response",
        "content",
        "value",
        "body",
        "json",
        "answer",
        "structuredContent",
        "structured_content",
        "return",
        "returns",
    ]
)
"""Keys under which other systems have what a step gives."""


def is_same_place(value: Sequence[str | int], better: Sequence[str | int]) -> bool:
    """Whether a place is another one: a letter or two apart, without `metadata` before it, or with a wrapper in it."""
    if better[:1] and better[0] in _METADATA and tuple(value[:1]) != tuple(better[:1]):
        better = better[1:]
    if len(better) == 1 and len(value) > 1 and show_parts(tuple(value)) == better[0]:
        return True
    if len(better) + 1 == len(value):
        return any(
            part in WRAPPERS and (*value[:at], *value[at + 1 :]) == tuple(better) for at, part in enumerate(value)
        )
    return len(value) == len(better) and all(
        one == other or is_misspelling(str(one), str(other)) for one, other in zip(value, better, strict=True)
    )


def of_list(whole: str, parts: Sequence[str | int], otherwise: str) -> str:
    """Say how to count what a list holds, or take a field of all, where a path asks the list itself for it."""
    if parts[0] in _COUNTS and len(parts) == 1:
        return f'`size` counts: {{"type": "size", "target": "{whole}", "out": "$n"}}'
    return otherwise


def list_path_hint(shape: Shape, reference: Reference, index: int) -> str | None:
    """Say what was meant by a path that asks a list for a key, or what is no list for an item."""
    before, parts = reference.path.parts[:index], reference.path.parts[index:]
    at = next(i for i in range(len(parts)) if isinstance(place_in(shape, parts[: i + 1]), NoSuchPath))
    holder = place_in(shape, parts[:at])
    types = types_of(None if isinstance(holder, NoSuchPath) else holder)
    whole = str(Reference(reference.name, Path((*before, *parts[:at]))))
    if types <= {"array", "null"} and isinstance(parts[at], str):
        field = show_parts(parts[at:])
        pluck = f'{{"type": "pluck", "target": "{whole}", "field": {dump(field)}, "out": "$all"}}'
        one = Reference(reference.name, Path((*before, *parts[:at], 0, *parts[at:])))
        return of_list(whole, parts[at:], f"`{one}` is that of the first; of all: {pluck}")
    rest = (*parts[:at], *parts[at + 1 :])
    ends = at + 1 == len(parts) or isinstance(place_in(shape, rest), NoSuchPath)
    if isinstance(parts[at], int) and "array" not in types and not ends:
        suggestion = Reference(reference.name, Path((*before, *rest)))
        return f"{whole} is not a list: write `{suggestion}`"
    return None


def only_field(read: Value, found: Mismatch) -> tuple[str | None, str | None]:
    """Say which field of an object is wanted in its place, and where but one can be, the reference to it."""
    fields = found.given.get("properties") if types_of(found.given) == {"object"} else None
    if not isinstance(read, Reference) or not fields or "object" in types_of(found.wanted) or not found.wanted:
        return None, None
    fits = [key for key, inner in fields.items() if _surely_fits(inner, found.wanted)]
    if not fits or any(not isinstance(inner, Mapping) or not types_of(inner) for inner in fields.values()):
        return None, None
    suggestion = [str(Reference(read.name, Path((*read.path.parts, key)))) for key in fits]
    if len(suggestion) > 1:
        return f"its fields that fit: {listed([f'`{one}`' for one in suggestion], MOST_FIELDS)}", None
    return f"write `{suggestion[0]}`: no other field of {read} fits", suggestion[0]


def _surely_fits(value: Any, expected: Schema) -> bool:
    return isinstance(value, Mapping) and not disjoint(value, expected)


def text_or_value(read: Value, found: Mismatch) -> tuple[str, str | None] | None:
    """Say how to write a reference for its text, or for its value, where the other is wanted; and what is meant."""
    names, expected = types_of(found.given), types_of(found.wanted) - {"null"}
    if isinstance(read, Reference) and expected == {"string"} and names <= {"integer", "number", "boolean"}:
        return f'"${{{str(read)[1:]}}}" is its text', None
    if isinstance(read, Reference) and names == {"string"} and expected and expected <= {"integer", "number"}:
        number = "int" if expected == {"integer"} else "float"
        call = f'{{"type": "coerce", "target": "{read}", "coercion": "{number}"}}'
        return f"`coerce` makes a number of a text: {call}", None
    if isinstance(read, Template) and len(read.parts) == 1 and "string" not in expected:
        return f'"{read.parts[0]}" is the value, this is its text', str(read.parts[0])
    return None


def better_place(shape: Shape, parts: tuple[str | int, ...], missing: NoSuchPath) -> tuple[str | int, ...] | None:
    """The place that was probably meant: the key under `metadata`, the nearest where it failed, or under `metadata`."""
    if not isinstance(missing.key, str):
        return None
    at = next(i for i in range(len(parts)) if isinstance(place_in(shape, parts[: i + 1]), NoSuchPath))
    if at == 0:
        for start in ("metadata", "@metadata"):
            inner = place_in(shape, (start, *parts))
            if inner is not None and not isinstance(inner, NoSuchPath):
                return (start, *parts)
    if at == 0 and show_parts(parts) in missing.known:
        return (show_parts(parts),)
    rest = (*parts[:at], *parts[at + 1 :])
    if parts[at] in WRAPPERS and _is_whole_answer(shape, parts[:at], rest):
        return rest
    near = nearest(missing.key, missing.known)
    if near is not None:
        return (*parts[:at], near, *parts[at + 1 :])
    below = place_in(shape, ("metadata", *parts)) if at == 0 else None
    near = nearest(missing.key, below.known) if isinstance(below, NoSuchPath) and below.key == missing.key else None
    return None if near is None else ("metadata", near, *parts[1:])


def _is_whole_answer(shape: Shape, before: tuple[str | int, ...], rest: tuple[str | int, ...]) -> bool:
    """Whether a place exists once a wrapper in its path is left out; all of it only where it has no fields of its own.

    What is an object is not the `result` of itself.
    """
    there = place_in(shape, rest)
    if isinstance(there, NoSuchPath):
        return False
    holder = place_in(shape, before)
    return len(rest) > len(before) or "object" not in types_of(None if isinstance(holder, NoSuchPath) else holder)


def with_key(
    schema: Schema | None, parts: tuple[str | int, ...], key: str | int, near: str
) -> tuple[str | int, ...] | None:
    """A path with another key in the first place in which that one stands and the schema then says something."""
    tried = ((*parts[:at], near, *parts[at + 1 :]) for at, part in enumerate(parts) if part == key)
    return next((path for path in tried if subschema_at(schema, path) is not None), None)
