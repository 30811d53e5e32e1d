"""Expressions give what an engine gives of the same rows: DuckDB, by a translation of their trees."""

from __future__ import annotations

import math
import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from drawn import NOW, PARAMETERS, TODAY, draw_row, over_items, over_many
from duck import COLUMNS, REAL, Translator, connect, fill

from infospace import Note
from infospace.expressions import Evaluation, TypeMismatches, parse_expression
from infospace.expressions.aggregates import parse_aggregate
from infospace.expressions.evaluate import compile_expression
from infospace.expressions.expression import walk
from infospace.expressions.functions import AGGREGATES, FUNCTIONS, power
from infospace.expressions.show import show
from infospace.expressions.tree import Aggregate, Call, Expression, Star

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
HOW_MANY = 100_000 if PROVE else 1_000
PATIENCE = 3_600 if PROVE else 300
"""Seconds: the long form takes many minutes on a busy machine."""
FIRST_SEED = int(os.environ.get("INFOSPACE_SEED", "0"))
AT_ONCE = 20
"""Expressions in one SELECT."""
ROWS = (12, 12, 1, 12, 12, 0)
"""Rows of the tables, in turn."""


@dataclass
class Figures:
    """What came of many expressions."""

    expressions: int = 0
    values: int = 0
    nulls: int = 0
    words: Counter[str] = field(default_factory=Counter)
    excused: Counter[str] = field(default_factory=Counter)
    others: list[str] = field(default_factory=list)
    """What the engine gives otherwise for no reason."""


def alike(ours: Any, theirs: Any) -> bool:
    """Whether two values are the same; a number may be written with a point or without."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return ours == theirs
    return type(ours) is type(theirs) and bool(ours == theirs)


EXACT = 2**53
"""Up to here a double holds every whole number."""


def excuse(tree: Expression, row: Note, given: Evaluation, translator: Translator) -> str | None:
    """Why the engine may give another value of a row: a number there of which it does not hold every digit."""
    for node in walk(tree):
        if isinstance(node, Star):
            continue
        reason = inexact(node, compile_expression(node)(row, given), translator)
        if reason is not None:
            return reason
    return None


def excuse_of_many(tree: Expression, rows: Sequence[Note], given: Evaluation, translator: Translator) -> str | None:
    """Why the engine may give another value of many rows: a number computed with their aggregates."""
    for node in walk(tree):
        if has_aggregate(node):
            reason = inexact(node, parse_aggregate(show(node)).of(rows, given), translator)
            if reason is not None:
                return reason
    return None


def inexact(node: Expression, value: Any, translator: Translator) -> str | None:
    """Why the engine does not hold every digit of a value of an expression."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int) and abs(value) >= 10**38:
        return "a whole number of more than 38 digits"
    if translator.type_of(node) == REAL and abs(value) > EXACT:
        return "a number beyond 2**53 as a double"
    return None


def power_of_doubles(base: float, exponent: float) -> int | float:
    """Raise to a power as the engine does: in doubles, of which a whole number is made where `power` gives one."""
    exact = power(base, exponent)
    if isinstance(exact, int) and EXACT < abs(exact) < 10**38:
        return int(math.pow(base, exponent))
    return exact


def with_powers_of_doubles(tree: Expression, rows: Sequence[Note], given: Evaluation, *, many: bool) -> Any:
    """Compute an expression once more, of one row or with aggregates of many, its powers as the engine has them."""
    with patch.dict(FUNCTIONS, power=replace(FUNCTIONS["power"], apply=power_of_doubles)):
        if many:
            return parse_aggregate.__wrapped__(show(tree)).of(rows, given)
        return compile_expression(tree)(rows[0], given)


class Proof:
    """Expressions, computed by both of the same rows."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311
        self.connection = connect()
        self.translator = Translator(PARAMETERS, TODAY, NOW, tuple(COLUMNS))
        self.figures = Figures()
        self.rows: list[Note] = []

    def make_rows(self, count: int) -> None:
        """Take other rows."""
        contents = [draw_row(self.chance) for _ in range(count)]
        fill(self.connection, contents)
        self.rows = [Note(id=f"Note_{place}", content=content) for place, content in enumerate(contents)]

    def given(self) -> Evaluation:
        return Evaluation(PARAMETERS, TypeMismatches(), lambda: (TODAY, NOW), tuple(COLUMNS))

    def over_items(self, count: int) -> None:
        """Compare expressions over items."""
        trees = [over_items(self.chance) for _ in range(count)]
        read = [parse_expression(show(tree)) for tree in trees]
        assert [formula.tree for formula in read] == trees
        theirs = self.connection.execute(self.translator.select([formula.tree for formula in read])).fetchall()
        for place, formula in enumerate(read):
            for row, found in zip(self.rows, theirs, strict=True):
                given = self.given()
                ours = formula.get(row, given)
                self.judge(formula.text, formula.tree, row, ours, found[place])
            self.count(formula.tree)

    def over_many(self, count: int) -> None:
        """Compare expressions over aggregates."""
        trees = [tree for _ in range(count) if has_aggregate(tree := over_many(self.chance))]
        if not trees:
            return
        read = [parse_aggregate(show(tree)) for tree in trees]
        assert [aggregate.tree for aggregate in read] == trees
        [theirs] = self.connection.execute(
            self.translator.select_many([aggregate.tree for aggregate in read])
        ).fetchall()
        for aggregate, found in zip(read, theirs, strict=True):
            ours = aggregate.of(self.rows, self.given())
            self.judge(aggregate.text, aggregate.tree, None, ours, found)
            self.count(aggregate.tree)

    def judge(self, text: str, tree: Expression, row: Note | None, ours: Any, theirs: Any) -> None:
        figures = self.figures
        figures.values += 1
        figures.nulls += ours is None
        if alike(ours, theirs):
            return
        if isinstance(ours, str) and isinstance(theirs, str) and ours == theirs.replace("-0.0", "0.0"):
            figures.excused["a zero written with a sign"] += 1
            return
        rows = self.rows if row is None else [row]
        parts = (
            [tree]
            if row is not None
            else [part for node in walk(tree) if isinstance(node, Aggregate) for part in node.arguments]
        )
        found = (excuse(part, one, self.given(), self.translator) for part in parts for one in rows)
        reason = next(filter(None, found), None)
        if reason is None and row is None:
            reason = excuse_of_many(tree, self.rows, self.given(), self.translator)
        if reason is None and any(isinstance(node, Call) and node.function == "power" for node in walk(tree)):
            again = with_powers_of_doubles(tree, rows, self.given(), many=row is None)
            reason = "a power beyond 2**53 of whole numbers, as a double" if alike(again, theirs) else None
        content = None if row is None else row.content
        if reason is None:
            figures.others.append(f"{text}\n  gives {ours!r}\n  DuckDB {theirs!r}\n  of {content!r}")
        else:
            figures.excused[reason] += 1

    def count(self, tree: Expression) -> None:
        self.figures.expressions += 1
        for node in walk(tree):
            named = isinstance(node, (Call, Aggregate))
            self.figures.words[node.function if named else type(node).__name__] += 1  # type: ignore[union-attr]


def has_aggregate(tree: Expression) -> bool:
    return any(isinstance(node, Aggregate) for node in walk(tree))


@pytest.mark.parametrize(
    ("text", "theirs", "excused"),
    [
        ("power(3, 40)", int(3.0**40), True),
        ("power(3, 40) - 1", int(3.0**40) - 1, True),
        ("power(3, 40) % 2", 0, True),
        ("power(3, 40)", 3**40 + 1, False),
        ("power(3, 40) > 0", False, False),
        ("power(3, 40) IS NULL", True, False),
        ("power(3, 4)", 80, False),
    ],
)
def test_a_power_excuses_only_what_its_double_gives(text: str, theirs: Any, excused: bool) -> None:
    proof = Proof(0)
    proof.make_rows(1)
    formula = parse_expression(text)
    proof.judge(text, formula.tree, proof.rows[0], formula.get(proof.rows[0], proof.given()), theirs)
    assert (proof.figures.excused.total(), len(proof.figures.others)) == ((1, 0) if excused else (0, 1))


SEEDS = 10 if PROVE else 2
EVERY = {*FUNCTIONS, *AGGREGATES, *(node.__name__ for node in get_args(Expression))} - {"has", "Call", "Aggregate"}


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE)
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + SEEDS))
def test_an_expression_gives_what_the_engine_gives(seed: int) -> None:
    """Over items and over many; the rest are numbers of which the engine does not hold every digit."""
    proof = Proof(seed)
    batch = 0
    while proof.figures.expressions < HOW_MANY // SEEDS:
        proof.make_rows(ROWS[batch % len(ROWS)])
        proof.over_items(AT_ONCE)
        proof.over_many(AT_ONCE // 4)
        batch += 1
    figures = proof.figures
    print(  # what `make prove` shows
        f"\n{figures.expressions:,} expressions, {figures.values:,} values, of them {figures.nulls:,} null; "
        f"other digits: {dict(figures.excused)}"
    )
    assert figures.others == [], "\n".join(figures.others[:20])
    assert figures.nulls < figures.values * 0.6
    assert figures.excused.total() < figures.values * 0.01
    if PROVE:
        assert set(figures.words) >= EVERY
