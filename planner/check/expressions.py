"""Expressions in a plan: what is known of the places and parameters that they read, and what in them makes no sense."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
