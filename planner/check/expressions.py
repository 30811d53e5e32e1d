"""Expressions in a plan: what is known of the places and parameters that they read, and what in them makes no sense."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Final

from infospace.core.errors import Invalid
from infospace.data.paths import Path, nearest
from infospace.expressions.expression import Parsed, Where
from infospace.expressions.types import Senseless, Typer
from infospace.schema.shapes import NoSuchPath, Schema, Shape, place_in
from planner.check.environment import Environment


def typer_of(text: str, item: Shape, of: Callable[[str], Schema | None], *, condition: bool = True) -> Typer:
    """Return what types expressions over items of a shape; `of` gives the schema of a `$parameter`."""

    def field(path: Path) -> Schema | None:
        found = place_in(item, path.parts)
        return None if isinstance(found, NoSuchPath) else found

    return Typer(field, of, text=text, never=", and so is never true" if condition else "")


def subtracted(path: Path, item: Shape) -> str | None:
    """Return a path with a `-` in it as the subtraction that was meant: where items have the parts, and not it."""
    pieces = str(path).split("-")
    if not 2 <= len(pieces) <= MOST_PIECES or not all(pieces):
        return None
    found = []
    for joints in product((False, True), repeat=len(pieces) - 1):
        parts = [pieces[0]]
        for cut, piece in zip(joints, pieces[1:], strict=True):
            parts[len(parts) if cut else len(parts) - 1 :] = [piece if cut else f"{parts[-1]}-{piece}"]
        if len(parts) > 1 and _has(parts[0], item) and all(part.isdecimal() or _has(part, item) for part in parts[1:]):
            found.append(" - ".join(parts))
    return found[0] if len(found) == 1 else None


def _has(text: str, item: Shape) -> bool:
    try:
        found = place_in(item, Path.parse(text).parts)
    except Invalid:
        return False
    return found is not None and not isinstance(found, NoSuchPath)


MOST_PIECES: Final = 6
"""Parts between minus signs, all joints of which are tried."""


def bare_names(parsed: Parsed, bound: Environment) -> Iterator[tuple[str, str]]:
    """Iterate over the names in an expression over variables alone, each as what is wrong with it, and a hint."""
    for path in parsed.paths:
        near = nearest(str(path).partition(".")[0], bound.variables)
        hint = f"did you mean ${near}?" if near else "a variable is written $name, a text in quotes"
        yield f"`{path}` is a name, and there are no items here to have it", hint


def senseless_in(
    parsed: Parsed, item: Shape, of: Callable[[str], Schema | None], *, fails: bool = False
) -> Iterator[Senseless]:
    """Iterate over what in an expression over items of a shape can have no result.

    `fails` says of a condition that the step fails where it has none, rather than to pass over the item.
    """
    condition = isinstance(parsed, Where)
    typer = typer_of(parsed.text, item, of, condition=condition and not fails)
    return typer.condition(parsed.tree) if condition else typer.senseless(parsed.tree)
