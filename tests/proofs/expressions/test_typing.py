"""What is said of an expression before it is evaluated holds of what it gives."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest
from jsonschema import Draft202012Validator

sys.path.insert(0, str(FilePath(__file__).parent))

from drawn import NOW, PARAMETERS, TODAY, Drawer, draw_row, over_many

from infospace import Note
from infospace.data.paths import Path
from infospace.expressions import Evaluation, Mismatch, Refusing, TypeMismatches, parse_expression
from infospace.expressions.aggregates import parse_aggregate
from infospace.expressions.evaluate import compile_expression
from infospace.expressions.expression import walk
from infospace.expressions.show import show
from infospace.expressions.tree import Aggregate, And, Call, Case, Expression, In, Not, Or, children
from infospace.expressions.types import Typer
from infospace.schema.infer import Schema, schema_of_value, subschema_at

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
HOW_MANY = 50_000 if PROVE else 1_000
TYPES = ("small", "int", "double", "number", "text", "date", "bool", "ints", "texts")
INTEGER, NUMBER, TEXT, TRUTH = ({"type": name} for name in ("integer", "number", "string", "boolean"))
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("n", "m", "big"), INTEGER),
        **dict.fromkeys(("x", "y"), NUMBER),
        **dict.fromkeys(("s", "t", "d", "e"), TEXT),
        **dict.fromkeys(("p", "q"), TRUTH),
        "ints": {"type": "array", "items": {"type": ["integer", "null"]}},
        "texts": {"type": "array", "items": {"type": ["string", "null"]}},
        "o": {"type": "object", "properties": {"k": INTEGER, "x": {"type": ["number", "null"]}, "s": TEXT}},
    },
}


class Wild(Drawer):
    """Draws what may be of any type, so that much of it has no result."""

    def draw(self, wanted: str, depth: int) -> Expression:
        other = wanted != "bool" and self.chance.random() < 0.2  # what cannot be a condition is not read as one
        return super().draw(self.chance.choice(TYPES) if other else wanted, depth)


def typer() -> Typer:
    def field(path: Path) -> Schema | None:
        found = subschema_at(SCHEMA, path.parts)
        return found if isinstance(found, dict) else None

    return Typer(field, lambda name: schema_of_value(PARAMETERS[name]))


def evaluations() -> Iterator[Evaluation]:
    """Counting, and refusing."""
    for tally in (TypeMismatches(), Refusing()):
        yield Evaluation(PARAMETERS, tally, lambda: (TODAY, NOW), tuple(SCHEMA["properties"]))


def items(chance: random.Random) -> list[Note]:
    return [Note(id=f"Note_{place}", content=draw_row(chance)) for place in range(6)]


def values(get: Any, of: Any) -> Iterator[Any]:
    """What a closure gives, where it gives something."""
    for given in evaluations():
        try:
            yield get(of, given)
        except Mismatch:
            continue


@pytest.mark.slow
@pytest.mark.parametrize("half", range(2))
def test_the_schema_that_is_told_fits_what_comes(half: int) -> None:
    """Of expressions that are well typed, and of others: a value, or null where nothing else is promised."""
    chance = random.Random(half)  # noqa: S311
    for _ in range(HOW_MANY // 2):
        tree = (Drawer, Wild)[half](chance).draw(chance.choice(TYPES), chance.randint(1, 3))
        formula = parse_expression(show(tree))
        told = typer().schema(formula.tree)
        validator = Draft202012Validator({} if told is None else told)
        for item in items(chance):
            for value in values(formula.get, item):
                assert validator.is_valid(value), f"{formula.text}\n  gives {value!r}, not {told}\n  of {item.content}"


@pytest.mark.slow
def test_the_schema_that_is_told_of_an_aggregate_fits_what_comes() -> None:
    """Of many items, of one and of none."""
    chance = random.Random(7)  # noqa: S311
    for _ in range(HOW_MANY // 2):
        tree = over_many(chance)
        if not any(isinstance(node, Aggregate) for node in walk(tree)):
            continue
        aggregate = parse_aggregate(show(tree))
        told = typer().schema(aggregate.tree)
        validator = Draft202012Validator({} if told is None else told)
        found = items(chance)
        for many in (found, found[:1], []):
            for value in values(aggregate.of, many):
                assert validator.is_valid(value), f"{aggregate.text}\n  gives {value!r}, not {told}"


def judged(node: Expression) -> bool:
    """Whether it has no result where one of its parts has none."""
    if isinstance(node, Call):
        return node.function not in ("coalesce", "complete")
    return not isinstance(node, (And, Or, Not, Case, In))


@pytest.mark.slow
def test_what_is_said_to_have_no_result_has_none() -> None:
    """It is null, or false where the rest decides; and something is said of many."""
    chance, told = random.Random(3), 0  # noqa: S311
    for _ in range(HOW_MANY // 2):
        tree = Wild(chance).draw(chance.choice(TYPES), chance.randint(1, 3))
        formula = parse_expression(show(tree))
        for node in walk(formula.tree):
            inner = any(list(typer().senseless(part)) for part in children(node))
            if inner or not judged(node) or not (said := list(typer().senseless(node))):
                continue
            told += 1
            get = compile_expression(node)
            for item in items(chance):
                for value in values(get, item):
                    assert value is None or value is False, f"{show(node)}\n  gives {value!r}, but {said[0].message}"
    assert told > HOW_MANY // 20
