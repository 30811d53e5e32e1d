"""Which rows of the space's own tables a query can do without: what a store chooses by before anything is computed.

Only what WHERE, or ON of an inner join, says of one column and a text decides here, and only as far as it leaves out
rows that the condition leaves out, too: the engine judges each row that is read by the whole condition. A join by an id
lets the rows of one table follow from those of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions.evaluate import compile_expression
from infospace.expressions.expression import walk
from infospace.expressions.mismatch import Clock, Evaluation, TypeMismatches
from infospace.expressions.query.tree import MARK, Derived, Inner, Join, Query, Select, Table, Union, Window
from infospace.expressions.tree import (
    Aggregate,
    And,
    Between,
    Call,
    Compare,
    Expression,
    Field,
    In,
    InList,
    Parameter,
    Star,
)


@dataclass(frozen=True, slots=True)
class ColumnTest:
    """What a column of one of the space's own tables must be: equal to one of some texts, or before or after one.

    `tags`, which are lists, must have (`has`) a text among them, and are not compared.
    """

    column: str
    by: Literal["=", "<", "<=", ">", ">=", "has"]
    values: tuple[str, ...]


@dataclass(slots=True)
class WantedRows:
    """What is known of the rows that a query wants of one table in its FROM.

    `same` are columns that hold the id of a Note which the rows of another table are of: theirs, and where that table
    is named.
    """

    name: str
    tests: list[ColumnTest] = field(default_factory=list)
    same: list[tuple[str, str, int]] = field(default_factory=list)


Testable = Callable[[str], frozenset[str]]
"""Gives the columns of a table by which its rows can be chosen."""

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_IDS = {("notes", "@id"), ("items", "note"), ("links", "source"), ("links", "target")}


def required_rows(
    query: Query, testable: Testable, parameters: Mapping[str, JSON | PathNotFound], clock: Clock
) -> dict[int, WantedRows]:
    """Return what is wanted of each of the space's own tables, by where the query names it."""
    results: dict[int, WantedRows] = {}
    evaluation = Evaluation(parameters, TypeMismatches.failing(), clock)
    for select in _selects(query):
        _Selection(select, testable, evaluation).collect(results)
    return results


class _Selection:
    def __init__(self, select: Select, testable: Testable, evaluation: Evaluation) -> None:
        self._select = select
        self._testable = testable
        self._given = evaluation
        self._tables = [join.source for join in select.sources if isinstance(join.source, Table)]
        self._alone = len(select.sources) == 1

    def collect(self, results: dict[int, WantedRows]) -> None:
        for table in self._tables:
            results[table.start] = WantedRows(table.name.lower())
        conditions = list(_parts(self._select.where))
        for join in self._select.sources:
            if join.kind == "inner":
                conditions += _parts(join.on)
        outer = any(join.kind in ("left", "right", "full") for join in self._select.sources)
        for condition in conditions:
            self._test(condition, results)
            if not outer:
                self._join(condition, results)

    def _test(self, condition: Expression, results: dict[int, WantedRows]) -> None:
        match condition:
            case Compare(by, left, right) if by != "!=":
                for field_, other, how in ((left, right, by), (right, left, _MIRRORED[by])):
                    self._add(field_, how, (other,), results)
            case Between(value, low, high):
                self._add(value, ">=", (low,), results)
                self._add(value, "<=", (high,), results)
            case In(value, items):
                self._add(value, "=", items, results)
            case InList(value, items):
                self._add(value, "=", (items,), results)
            case Call("contains" | "has", (value, sought)):
                self._add(value, "has", (sought,), results)

    def _add(self, node: Expression, by: str, others: Sequence[Expression], results: dict[int, WantedRows]) -> None:
        place = self._column(node)
        if place is None:
            return
        table, column = place
        if (column == "tags") != (by == "has"):
            return
        if by != "=" and (table.name.lower(), column) in _IDS:
            return
        values = [value for other in others for value in self._values(other)]
        if by == "has" and len(values) != 1:
            return
        if values and all(isinstance(value, str) for value in values):
            texts = tuple(str(value) for value in values)
            results[table.start].tests.append(ColumnTest(column, by, texts))  # type: ignore[arg-type]  # only these comparisons come here

    def _values(self, node: Expression) -> Sequence[JSON]:
        """Return the values of what reads no row; of a list its elements; a null where that cannot be said."""
        if any(isinstance(part, (Field, Aggregate, Star)) for part in walk(node)):
            return [None]
        if any(isinstance(part, Parameter) and part.name.startswith(MARK) for part in walk(node)):
            return [None]
        try:
            value = compile_expression(node)(None, self._given)  # type: ignore[arg-type]  # it reads no row, as was asked above
        except (Invalid, PathNotFound):
            return [None]
        return value if isinstance(value, list) else [value]

    def _join(self, condition: Expression, results: dict[int, WantedRows]) -> None:
        if not isinstance(condition, Compare) or condition.by != "=":
            return
        left, right = self._column(condition.left), self._column(condition.right)
        if left is None or right is None or left[0] is right[0]:
            return
        for (table, column), (other, its) in ((left, right), (right, left)):
            name, other_name = table.name.lower(), other.name.lower()
            if (name, column) in _IDS and (other_name, its) in _IDS and its != "target":
                results[table.start].same.append((column, other_name, other.start))

    def _column(self, node: Expression) -> tuple[Table, str] | None:
        """Return the table and the column that a field names, where that is sure."""
        if not isinstance(node, Field) or not all(isinstance(part, str) for part in node.path.parts):
            return None
        parts = [str(part) for part in node.path.parts]
        for table in self._tables:
            if len(parts) == 2 and parts[0] == table.alias:
                return (table, parts[1]) if parts[1] in self._testable(table.name.lower()) else None
        if len(parts) == 1 and self._alone and self._tables:
            [table] = self._tables
            return (table, parts[0]) if parts[0] in self._testable(table.name.lower()) else None
        return None


def _parts(condition: Expression | None) -> Iterator[Expression]:
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _parts(part)
    elif condition is not None:
        yield condition


def _selects(query: Query) -> Iterator[Select]:
    for _, common in query.common:
        yield from _selects(common)
    yield from _of_body(query.body)
    yield from _of_inner(query.nested)


def _of_body(body: Select | Union) -> Iterator[Select]:
    if isinstance(body, Union):
        yield from _of_body(body.left)
        yield from _of_body(body.right)
        return
    yield body
    for join in body.sources:
        yield from _of_join(join)
    yield from _of_inner(body.nested)


def _of_join(join: Join) -> Iterator[Select]:
    if isinstance(join.source, Derived):
        yield from _selects(join.source.query)


def _of_inner(inner: Mapping[str, Inner]) -> Iterator[Select]:
    for one in inner.values():
        if not isinstance(one, Window):
            yield from _selects(one.query)
