"""Expressions in a plan: what is known of the places and parameters that they read, and what in them makes no sense."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.paths import Path, kind_of, nearest
from infospace.expressions.expression import Parsed, Where, walk
from infospace.expressions.refused import list_hint
from infospace.expressions.tree import Compare, Constant, Field, In
from infospace.expressions.types import Senseless, Typer
from infospace.schema.shapes import NoSuchPath, Schema, Shape, place_in, types_of
from infospace.schema.value_text import listed, shown
from planner.check.environment import Environment


def typer_of(text: str, item: Shape, of: Callable[[str], Schema | None], *, condition: bool = True) -> Typer:
    """Return what types expressions over items of a shape; `of` gives the schema of a `$parameter`."""

    def field(path: Path) -> Schema | None:
        subschema = place_in(item, path.parts)
        return None if isinstance(subschema, NoSuchPath) else subschema

    return Typer(field, of, text=text, never=", and so is never true" if condition else "")


def subtracted(path: Path, item: Shape) -> str | None:
    """Return a path with a `-` in it as the subtraction that was meant: where items have the parts, and not it."""
    pieces = str(path).split("-")
    if not 2 <= len(pieces) <= MOST_PIECES or not all(pieces):
        return None
    results = []
    for joints in product((False, True), repeat=len(pieces) - 1):
        parts = [pieces[0]]
        for cut, piece in zip(joints, pieces[1:], strict=True):
            parts[len(parts) if cut else len(parts) - 1 :] = [piece if cut else f"{parts[-1]}-{piece}"]
        if len(parts) > 1 and _has(parts[0], item) and all(part.isdecimal() or _has(part, item) for part in parts[1:]):
            results.append(" - ".join(parts))
    return results[0] if len(results) == 1 else None


def _has(text: str, item: Shape) -> bool:
    try:
        subschema = place_in(item, Path.parse(text).parts)
    except Invalid:
        return False
    return subschema is not None and not isinstance(subschema, NoSuchPath)


MOST_PIECES: Final = 6
"""Parts between minus signs, all joints of which are tried."""


def bare_names(parsed: Parsed, bound: Environment) -> Iterator[tuple[str, str, str | None]]:
    """Iterate over the names in an expression over variables alone: what is wrong, a hint, the text that was meant.

    What is meant is plain where a variable has just that name.
    """
    for path in parsed.paths:
        name = str(path).partition(".")[0]
        near = nearest(name, bound.variables)
        hint = f"did you mean ${near}?" if near else "a variable is written $name, a text in quotes"
        hint = list_hint(parsed.text, path) or hint
        suggestion = None
        if name in bound.variables and "'" not in parsed.text and '"' not in parsed.text:
            suggestion = re.sub(rf"(?<![\w$.`]){name}\b", f"${name}", parsed.text)
        yield f"`{path}` is a name, and there are no items here to have it", hint, suggestion


def senseless_in(
    parsed: Parsed, item: Shape, of: Callable[[str], Schema | None], *, fails: bool = False
) -> Iterator[Senseless]:
    """Iterate over what in an expression over items of a shape can have no result.

    `fails` says of a condition that the step fails where it has none, rather than to pass over the item.
    """
    condition = isinstance(parsed, Where)
    typer = typer_of(parsed.text, item, of, condition=condition and not fails)
    return typer.condition(parsed.tree) if condition else typer.senseless(parsed.tree)


class Unlisted(NamedTuple):
    """A literal that is compared with a place which never has it: a sentence, and what it has."""

    message: str
    hint: str | None


def unlisted_in(parsed: Parsed, item: Shape) -> Iterator[Unlisted]:
    """Iterate over the literals outside of the values that a schema lists for the place they are compared with."""
    for node in walk(parsed.tree):
        match node:
            case Compare("=" | "!=", Field(path), Constant() as literal):
                yield from _unlisted(path, (literal,), item)
            case Compare("=" | "!=", Constant() as literal, Field(path)):
                yield from _unlisted(path, (literal,), item)
            case In(Field(path), items):
                yield from _unlisted(path, tuple(one for one in items if isinstance(one, Constant)), item)


def _unlisted(path: Path, literals: Sequence[Constant], item: Shape) -> Iterator[Unlisted]:
    subschema = place_in(item, path.parts)
    values = None if isinstance(subschema, NoSuchPath) else listed_values(subschema)
    if values is None:
        return
    for literal in literals:
        value = literal.value
        alike = [one for one in values if kind_of(one) == kind_of(value)]
        if value is None or not alike or any(same(value, one) for one in values):
            continue
        near = nearest(value, [one for one in alike if isinstance(one, str)]) if isinstance(value, str) else None
        hint = f"did you mean {shown(near)}?" if near else None
        yield Unlisted(f"`{path}` is never {shown(value)} here: it is {listed([*values])}", hint)


def listed_values(schema: Schema | None, depth: int = 0) -> Sequence[JSON] | None:
    """Return the values that a schema lists, null apart; None where it admits others."""
    if schema is None or depth > MOST_PIECES:
        return None
    if isinstance(schema.get("enum"), list):
        return [one for one in schema["enum"] if one is not None]
    if "const" in schema:
        return [] if schema["const"] is None else [schema["const"]]
    options = schema.get("anyOf") or schema.get("oneOf")
    if not options:
        return [] if types_of(schema) == {"null"} else None
    results: list[JSON] = []
    for option in options:
        values = listed_values(option, depth + 1)
        if values is None:
            return None
        results += values
    return results
