"""Expressions over many items at once give what they give of each item, to the type, and have the same mismatches."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from drawn import NOW, PARAMETERS, TODAY, draw_row, over_items, over_many

from infospace import Invalid, Note
from infospace.core.errors import PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions import (
    Evaluation,
    ItemMismatches,
    Mismatch,
    Refusing,
    TypeMismatches,
    parse_condition,
    parse_expression,
)
from infospace.expressions.aggregates import parse_aggregate
from infospace.expressions.columns import HOLE, MIN_COMPILED_ITEMS, Chosen, column
from infospace.expressions.expression import Formula, evaluate_each, match_each
from infospace.expressions.show import show

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
HOW_MANY = 100_000 if PROVE else 600
ITEMS = MIN_COMPILED_ITEMS + 6
ODD: tuple[JSON, ...] = (None, "text", 7, [1, 2], {}, {"text": {"a": 1}, "number": "12", "list": None})
"""Contents that no column expects."""


def clock() -> tuple[str, str]:
    return TODAY, NOW


def draw_items(chance: random.Random) -> list[Note]:
    rows = [draw_row(chance) if chance.random() < 0.9 else chance.choice(ODD) for _ in range(ITEMS)]
    return [Note(id=f"Note_{place}", content=content) for place, content in enumerate(rows, 1)]


def given(tally: TypeMismatches) -> Evaluation:
    return Evaluation(PARAMETERS, tally, clock, ("text", "number"))


def one_by_one(formula: Formula, items: list[Note], tally: TypeMismatches) -> tuple[Any, ...]:
    evaluation = given(tally)
    try:
        return "values", repr([formula.get(item, evaluation) for item in items]), tally.mismatches, tally.kinds
    except Mismatch as error:
        return ("mismatch", error.message.rpartition("): ")[2])


def at_once(formula: Formula, items: list[Note], tally: TypeMismatches) -> tuple[Any, ...]:
    try:
        return "values", repr(evaluate_each(formula, items, given(tally))), tally.mismatches, tally.kinds
    except Mismatch as error:
        return ("mismatch", error.message.rpartition("): ")[2])


def test_expressions_over_many_items_give_what_closures_give() -> None:
    """Values with their types, counted mismatches and the sentence of the first; most values need no closure."""
    chance = random.Random(17)  # noqa: S311 - not for secrets
    items, written = draw_items(chance), 0
    for number in range(HOW_MANY):
        if not number % 50:
            items = draw_items(chance)
        formula = parse_expression(show(over_items(chance)))
        for tally in (TypeMismatches, Refusing):
            ours, theirs = at_once(formula, items, tally()), one_by_one(formula, items, tally())
            assert ours == theirs, f"{formula.text}\n of {[item.content for item in items]}"
        written += column(formula.tree, items, given(TypeMismatches())).count(HOLE) < ITEMS
    assert written > HOW_MANY * 0.7


def test_conditions_over_many_items_judge_as_closures_judge() -> None:
    """Unknown stays unknown, and mismatches are counted by items."""
    chance = random.Random(18)  # noqa: S311 - not for secrets
    items, judged = draw_items(chance), 0
    for number in range(HOW_MANY // 2):
        if not number % 50:
            items = draw_items(chance)
        text = f"{show(over_items(chance))} IS NULL OR NOT ({show(over_items(chance))} = {show(over_items(chance))})"
        try:
            where = parse_condition(text)
        except Invalid:
            continue
        together, alone = ItemMismatches(), ItemMismatches()
        verdicts = match_each(where, items, given(together))
        evaluation, expected = given(alone), []
        for item in items:
            alone.begin()
            expected.append(where.judge(item, evaluation))
        assert verdicts == expected, text
        assert (str(together), together.mismatches) == (str(alone), alone.mismatches), text
        judged += 1
    assert judged > HOW_MANY // 4


def test_aggregates_of_parts_of_many_items_are_those_of_the_parts() -> None:
    """A column that is computed once for all groups gives each what its own items give."""
    chance = random.Random(19)  # noqa: S311 - not for secrets
    items = draw_items(chance)
    for number in range(HOW_MANY // 4):
        if not number % 50:
            items = draw_items(chance)
        try:
            aggregate = parse_aggregate(show(over_many(chance)))
        except Invalid:
            continue
        whole = Chosen(items, range(ITEMS))
        for places in (range(0, ITEMS, 3), range(1, ITEMS, 3), [5], list(range(ITEMS))):
            ours, theirs = TypeMismatches(), TypeMismatches()
            assert repr(aggregate.of(whole.part(places), given(ours))) == repr(
                aggregate.of([items[place] for place in places], given(theirs))
            ), aggregate.text
            assert (ours.mismatches, ours.kinds) == (theirs.mismatches, theirs.kinds)


def test_a_list_that_is_given_is_looked_at_once_and_means_the_same() -> None:
    """Of texts, of numbers, with null, mixed, empty, and of what is no list."""
    contents: list[JSON] = [{"v": value} for value in ("a", "b", 1, 1.0, True, None, [1], {"a": 1}) for _ in range(9)]
    items = [Note(id=f"Note_{place}", content=content) for place, content in enumerate(contents, 1)]
    where = parse_condition("v IN $list OR NOT (v IN $list)")
    formula = parse_expression("v IN $list")
    for listed in (["a", "c"], [1, 2.5], ["a", None], [1, None], ["a", 1], [], [None], [True], [[1]], "a", None):
        ours, theirs = TypeMismatches(), TypeMismatches()
        together, alone = Evaluation({"list": listed}, ours), Evaluation({"list": listed}, theirs)
        assert evaluate_each(formula, items, together) == [formula.get(item, alone) for item in items], listed
        assert match_each(where, items, together) == [where.judge(item, alone) for item in items], listed
        assert ours.kinds == theirs.kinds


def test_a_parameter_without_a_place_is_left_to_the_closures() -> None:
    """Beside `coalesce` it is null, elsewhere the error that says so."""
    items = [Note(id=f"Note_{place}", content={"n": place}) for place in range(1, ITEMS)]
    missing = Evaluation({"x": PathNotFound("$x has no place y")}, TypeMismatches())
    assert evaluate_each(parse_expression("coalesce($x, n)"), items, missing) == list(range(1, ITEMS))
    assert match_each(parse_condition("$x IS NULL"), items, missing) == [True] * (ITEMS - 1)
    with pytest.raises(PathNotFound, match="no place"):
        evaluate_each(parse_expression("n + $x"), items, missing)
