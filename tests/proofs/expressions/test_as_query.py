"""An expression in the SELECT list of a query gives what it gives of each item, or the query says why it cannot."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from drawn import NOW, PARAMETERS, TODAY, draw_row, over_items

from infospace import Invalid, Note
from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.expressions import Evaluation, Mismatch, Refusing, TypeMismatches, parse_expression
from infospace.expressions.evaluate import compile_expression
from infospace.expressions.expression import Formula, walk
from infospace.expressions.query.columns import Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query
from infospace.expressions.show import show
from infospace.expressions.tree import Star

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
SEED = int(os.environ.get("INFOSPACE_SEED", "11"))
HOW_MANY = 5_000 if PROVE else 60
PATIENCE = 3_600 if PROVE else 300
"""Seconds: the long form takes many minutes on a busy machine."""
LIMITS = (
    "lists that the query makes",
    "a list that the query makes",
    "whole numbers beyond 2^53",
    "an element of lists",
    "an element of mixed",
    "has mixed values",
    "computes with a column of",
)
"""What a query is refused for that a verb does."""
BEYOND = ("numbers with a point do not hold", "more than 38 digits")
"""What a value fails a query for that the language has."""
EXACT = 2**53
"""Up to here a double holds every whole number."""


def clock() -> tuple[str, str]:
    return TODAY, NOW


def evaluated(formula: Formula, notes: list[Note], tally: TypeMismatches) -> list[JSON] | Mismatch:
    try:
        return [formula.get(note, Evaluation(PARAMETERS, tally, clock)) for note in notes]
    except Mismatch as error:
        return error


def queried(formula: Formula, notes: list[Note]) -> list[JSON] | Invalid:
    query = parse_query(f"SELECT {formula.text} AS v FROM $rows")  # noqa: S608
    try:
        return [row["v"] for row in run_query(query, {"$rows": Rows(notes)}, PARAMETERS, clock)]
    except Invalid as error:
        return error


def goes_beyond(formula: Formula, notes: list[Note]) -> bool:
    """Whether a part of it is, for one of the rows, a number that a query does not hold with every digit."""
    for node in walk(formula.tree):
        if isinstance(node, Star):
            continue
        part = compile_expression(node)
        for note in notes:
            value = part(note, Evaluation(PARAMETERS, TypeMismatches(), clock))
            if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) > EXACT:
                return True
    return False


def judge(formula: Formula, notes: list[Note]) -> str | None:
    """Compare one expression over these items: in a word what came of it; None where a query means something else."""
    ours, theirs = evaluated(formula, notes, Refusing()), queried(formula, notes)
    if isinstance(theirs, Mismatch):
        if isinstance(ours, Mismatch):
            return "no result"
        if any(limit in theirs.message for limit in BEYOND):
            return "beyond its numbers" if goes_beyond(formula, notes) else None
        # Beside a null, a part that has no result is looked at by the query and not by the verb.
        return "no result beside null" if None in ours else None
    if isinstance(theirs, Invalid):
        return "refused" if any(limit in theirs.message for limit in LIMITS) else None
    if isinstance(ours, Mismatch):
        counted = evaluated(formula, notes, TypeMismatches())
        beside = not isinstance(counted, Mismatch) and None in counted and all(map(same, counted, theirs))
        return "no result beside null" if beside else None
    return "same" if len(ours) == len(theirs) == len(notes) and all(map(same, ours, theirs)) else None


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE)
def test_a_query_gives_what_the_evaluator_gives() -> None:
    """A mismatch is one in both; what a query cannot do is little, and said."""
    chance, outcomes, others = random.Random(SEED), Counter[str](), list[str]()  # noqa: S311
    while outcomes.total() < HOW_MANY:
        formula = parse_expression(show(over_items(chance)))
        if formula.reads_all:
            continue
        notes = [Note(id=f"Note_{place}", content=draw_row(chance)) for place in range(6)]
        outcome = judge(formula, notes)
        outcomes[outcome or "other"] += 1
        if outcome is None:
            ours, theirs = evaluated(formula, notes, Refusing()), queried(formula, notes)
            contents = [note.content for note in notes]
            others.append(f"{formula.text}\n  gives {ours!r}\n  query {theirs!r}\n  of {contents}")
    print(f"\n{outcomes.total():,} expressions in queries: {dict(outcomes)}")  # what `make prove` shows
    assert others == [], "\n".join(others[:20])
    assert outcomes["refused"] < HOW_MANY // 10
    assert outcomes["beyond its numbers"] < HOW_MANY // 20
    assert outcomes["no result beside null"] <= HOW_MANY // 50
    assert outcomes["same"] > HOW_MANY // 2
