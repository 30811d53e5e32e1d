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
from infospace.expressions.expression import Formula
from infospace.expressions.query.columns import Rows
from infospace.expressions.query.engine import run_query
from infospace.expressions.query.parse import parse_query
from infospace.expressions.show import show

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
SEED = int(os.environ.get("INFOSPACE_SEED", "11"))
HOW_MANY = 5_000 if PROVE else 60
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


def unsigned(value: JSON) -> JSON:
    """A text in which a zero below nothing, which a query writes as 0.0, has no sign."""
    if isinstance(value, list):
        return [unsigned(one) for one in value]
    return value.replace("-0.0", "0.0") if isinstance(value, str) else value


@pytest.mark.slow
def test_a_query_gives_what_the_evaluator_gives() -> None:
    """A mismatch is one in both; what a query cannot do is little, and said."""
    chance, outcomes = random.Random(SEED), Counter[str]()  # noqa: S311
    while outcomes.total() < HOW_MANY:
        formula = parse_expression(show(over_items(chance)))
        if formula.reads_all:
            continue
        notes = [Note(id=f"Note_{place}", content=draw_row(chance)) for place in range(6)]
        ours, theirs = evaluated(formula, notes, Refusing()), queried(formula, notes)
        told = f"{formula.text}\n  gives {ours!r}\n  query {theirs!r}\n  of {[note.content for note in notes]}"
        if isinstance(theirs, Invalid) and isinstance(ours, Mismatch):
            outcomes["no result"] += 1
        elif isinstance(theirs, Mismatch) and any(limit in theirs.message for limit in BEYOND):
            outcomes["refused"] += 1
        elif isinstance(theirs, Mismatch) or isinstance(ours, Mismatch):
            # Beside a null, a part that has no result is looked at by one and not by the other.
            counted = evaluated(formula, notes, TypeMismatches())
            assert not isinstance(counted, Mismatch)
            assert None in counted, told
            assert isinstance(theirs, Mismatch) or all(map(same, counted, theirs)), told
            outcomes["no result beside null"] += 1
        elif isinstance(theirs, Invalid):
            assert any(limit in theirs.message for limit in LIMITS), told
            outcomes["refused"] += 1
        else:
            assert len(ours) == len(theirs) == len(notes), told
            alike = all(map(same, ours, theirs))
            assert alike or all(map(same, map(unsigned, ours), map(unsigned, theirs))), told
            outcomes["same" if alike else "a zero written with a sign"] += 1
    print(f"\n{outcomes.total():,} expressions in queries: {dict(outcomes)}")  # what `make prove` shows
    assert outcomes["refused"] < HOW_MANY // 10
    assert outcomes["a zero written with a sign"] <= HOW_MANY // 500
    assert outcomes["no result beside null"] <= HOW_MANY // 50
    assert outcomes["same"] > HOW_MANY // 2
