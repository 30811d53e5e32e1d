"""What in the conditions of a query had no result, counted as the verbs count it: by the evaluator, row by row.

The engine takes it for unknown and counts nothing. Where it may have met some, what a condition reads is asked for by
a SELECT of its own, over the rows that come to the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from infospace.core.bounds import timed
from infospace.core.errors import PathNotFound
from infospace.core.json_types import JSON
from infospace.data.paths import Path
from infospace.expressions.evaluate import compile_condition
from infospace.expressions.expression import walk
from infospace.expressions.mismatch import Clock, Evaluation, ItemMismatches
from infospace.expressions.query.columns import Element
from infospace.expressions.query.select import of_place, rewrite
from infospace.expressions.query.tree import (
    MARK,
    Derived,
    Join,
    Output,
    Query,
    Select,
    Union,
)
from infospace.expressions.tree import Aggregate, And, Expression, Field, Parameter

MOST_PAIRS: Final = 100_000
"""Pairs of rows that are looked at for one ON."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, and the query that gives what it reads of each row that comes to it."""

    clause: str
    tree: Expression
    query: Query


def conditions_of(query: Query) -> Iterator[Condition]:
    """Iterate over the conditions of a query, and of the tables that it makes; not of those within subselects."""
    known: tuple[tuple[str, Query], ...] = ()
    for name, common in query.common:
        yield from _of_query(common, known)
        known = (*known, (name, common))
    yield from _of_body(query.body, known)


def _of_query(query: Query, common: tuple[tuple[str, Query], ...]) -> Iterator[Condition]:
    yield from conditions_of(replace(query, common=(*common, *query.common)) if common else query)


def _of_body(body: Select | Union, common: tuple[tuple[str, Query], ...]) -> Iterator[Condition]:
    if isinstance(body, Union):
        yield from _of_body(body.left, common)
        yield from _of_body(body.right, common)
        return
    for place, join in enumerate(body.sources):
        if isinstance(join.source, Derived):
            yield from _of_body(join.source.query.body, (*common, *join.source.query.common))
        if join.on is not None:
            pairs = (*body.sources[:place], Join("cross", join.source, None))
            yield from _condition_query("ON", join.on, Select((), pairs), common)
    if body.where is not None:
        yield from _condition_query("WHERE", body.where, Select((), body.sources), common)
    if body.having is not None:
        named = {output.name: output.expression for output in body.outputs if isinstance(output, Output)}
        trees = list(named.values())
        group = tuple(_with_outputs(of_place(node, trees), named) for node in body.group)
        grouped = replace(body, outputs=(), group=group, having=None, distinct=False)
        yield from _condition_query("HAVING", _with_outputs(body.having, named), grouped, common)


def _with_outputs(tree: Expression, named: Mapping[str, Expression]) -> Expression:
    def change(node: object) -> object:
        if isinstance(node, Aggregate):
            return node
        if isinstance(node, Field) and len(node.path.parts) == 1:
            return named.get(str(node.path.parts[0]))
        return None

    result: Expression = rewrite(tree, change)
    return result


def _condition_query(
    clause: str, tree: Expression, select: Select, common: tuple[tuple[str, Query], ...]
) -> Iterator[Condition]:
    """Ask for what a condition reads, in a query of its own; what stands beside a subselect in AND stays."""
    parts = [part for part in (tree.parts if isinstance(tree, And) else (tree,)) if not _has_inner(part)]
    if not parts:
        return
    kept = parts[0] if len(parts) == 1 else And(tuple(parts))
    read: dict[Expression, str] = {}

    def change(node: object) -> object:
        if not isinstance(node, (Field, Aggregate)):
            return None
        return Field(Path((read.setdefault(node, f"v{len(read)}"),)))

    asked = rewrite(kept, change)
    if read:
        outputs = tuple(Output(name, node, 0) for node, name in read.items())
        yield Condition(clause, asked, Query(replace(select, outputs=outputs), common))


def _has_inner(tree: Expression) -> bool:
    names = (
        str(node.path.parts[0]) if isinstance(node, Field) else node.name if isinstance(node, Parameter) else ""
        for node in walk(tree)
    )
    return any(name.startswith(MARK) for name in names)


def count_mismatches(
    query: Query,
    clauses: set[str],
    run: Callable[[Query], Iterator[dict[str, JSON]]],
    parameters: Mapping[str, JSON | PathNotFound],
    clock: Clock,
) -> list[ItemMismatches]:
    """Return what had no result in each condition of these clauses, where anything had none."""
    results = []
    for condition in conditions_of(query):
        if condition.clause not in clauses:
            continue
        tally = ItemMismatches()
        evaluation = Evaluation(parameters, tally, clock)
        judge = compile_condition(condition.tree)
        rows = run(condition.query)
        for row in timed(islice(rows, MOST_PAIRS) if condition.clause == "ON" else rows):
            tally.begin()
            judge(Element(row), evaluation)
        if tally.mismatches:
            results.append(tally)
    return results
