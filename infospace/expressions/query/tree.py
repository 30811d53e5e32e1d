"""What a query is made of, once read.

Scalar expressions are `infospace.expressions.tree`. A window function or a subselect within one stands as a field (or,
behind IN, a parameter) whose name begins with `MARK`, and ends with the words that say what it is; the SELECT that it
stands in has it in `nested`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from infospace.data.paths import Path
from infospace.expressions.tree import Expression

MARK: Final = "\0"
"""Begins the names of what stands for a window function or a subselect; no text of a query may hold it."""

_MARKED: Final = re.compile(rf"`{MARK}\d+ ([^`]*)`|\${MARK}\d+ (\([^()]*\))")
"""What stands for a window function or a subselect, as an expression with it is written."""

JoinKind: TypeAlias = Literal["inner", "left", "right", "full", "cross"]


@dataclass(frozen=True, slots=True)
class Variable:
    """`FROM $x`: a Collection or a list, by its reference without `$`."""

    reference: str
    alias: str
    start: int


@dataclass(frozen=True, slots=True)
class Table:
    """`FROM notes`, or a name that WITH gives."""

    name: str
    alias: str
    start: int


@dataclass(frozen=True, slots=True)
class Derived:
    """`FROM (SELECT …) alias`."""

    query: Query
    alias: str
    start: int


@dataclass(frozen=True, slots=True)
class Unnest:
    """`UNNEST(o.items) AS alias`: a row for each element of the list that a row of an earlier table has there."""

    path: Path
    alias: str
    start: int


Source: TypeAlias = Variable | Table | Derived | Unnest


@dataclass(frozen=True, slots=True)
class Join:
    """A table, and how its rows meet those before it."""

    kind: JoinKind
    source: Source
    on: Expression | None


@dataclass(frozen=True, slots=True)
class Output:
    """An output by its name; `start` is where its expression begins."""

    name: str
    expression: Expression
    start: int


@dataclass(frozen=True, slots=True)
class Stars:
    """`*`, or `alias.*`: all columns."""

    alias: str | None
    start: int


@dataclass(frozen=True, slots=True)
class Sort:
    """What is ordered by: nulls come last unless it says so."""

    by: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """`function(arguments) OVER (PARTITION BY … ORDER BY … ROWS …)`; an aggregate stands in `aggregate`."""

    function: str
    arguments: tuple[Expression, ...]
    partition: tuple[Expression, ...]
    order: tuple[Sort, ...]
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """`ROWS BETWEEN … AND …`: rows from and to, counted from the present one; None is unbounded."""

    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A subselect that gives one value."""

    query: Query


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS (SELECT …)`."""

    query: Query


@dataclass(frozen=True, slots=True)
class Among:
    """The `(SELECT …)` of `value IN (SELECT …)`."""

    query: Query


Inner: TypeAlias = Window | Scalar | Exists | Among


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT without ORDER BY; `sources` are its tables, the first of them joined to nothing."""

    outputs: tuple[Output | Stars, ...]
    sources: tuple[Join, ...]
    distinct: bool = False
    where: Expression | None = None
    group: tuple[Expression, ...] = ()
    having: Expression | None = None
    nested: Mapping[str, Inner] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Union:
    """`left UNION right`, with ALL keeping equal rows."""

    left: Select | Union
    right: Select | Union
    keep_all: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT, or several joined by UNION, in an order, and so many of its rows."""

    body: Select | Union
    common: tuple[tuple[str, Query], ...] = ()
    order: tuple[Sort, ...] = ()
    limit: Expression | None = None
    offset: Expression | None = None
    nested: Mapping[str, Inner] = field(default_factory=dict)
    """What stands in its ORDER BY."""


def clean(text: str) -> str:
    """Return an expression, or a message with one, as its author would know it: without marks."""
    return "".join(c for c in _MARKED.sub(lambda mark: mark[1] or mark[2], text) if c >= " ")


def sources_of(query: Query) -> list[Source]:
    """Return all tables of a query and of what stands in it, in order of the text."""
    results: list[Source] = []
    for _, common in query.common:
        results += sources_of(common)
    _of_body(query.body, results)
    _of_inner(query.nested, results)
    return results


def _of_body(body: Select | Union, sources: list[Source]) -> None:
    if isinstance(body, Union):
        _of_body(body.left, sources)
        _of_body(body.right, sources)
        return
    for join in body.sources:
        sources.append(join.source)
        if isinstance(join.source, Derived):
            sources += sources_of(join.source.query)
    _of_inner(body.nested, sources)


def _of_inner(inner: Mapping[str, Inner], found: list[Source]) -> None:
    for one in inner.values():
        if not isinstance(one, Window):
            found += sources_of(one.query)


def output_names(body: Select | Union) -> tuple[str, ...]:
    """Return the names of the columns that a SELECT gives, () where `*` leaves them to its tables."""
    first = body
    while isinstance(first, Union):
        first = first.left
    names = [output.name for output in first.outputs if isinstance(output, Output)]
    return tuple(names) if len(names) == len(first.outputs) else ()
