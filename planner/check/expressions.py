"""Expressions in a plan: what is known of the places and parameters that they read, and what in them makes no sense."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from infospace.data.paths import Path
from infospace.expressions.expression import Parsed, Where
from infospace.expressions.types import Senseless, Typer
from infospace.schema.shapes import NoSuchPath, Schema, Shape, place_in


def typer_of(text: str, item: Shape, of: Callable[[str], Schema | None], *, condition: bool = True) -> Typer:
    """Return what types expressions over items of a shape; `of` gives the schema of a `$parameter`."""

    def field(path: Path) -> Schema | None:
        found = place_in(item, path.parts)
        return None if isinstance(found, NoSuchPath) else found

    return Typer(field, of, text=text, never=", and so is never true" if condition else "")


def senseless_in(parsed: Parsed, item: Shape, of: Callable[[str], Schema | None]) -> Iterator[Senseless]:
    """Iterate over what in an expression over items of a shape can have no result."""
    condition = isinstance(parsed, Where)
    typer = typer_of(parsed.text, item, of, condition=condition)
    return typer.condition(parsed.tree) if condition else typer.senseless(parsed.tree)
