"""A query over the space's own tables as SQL of the database that they lie in, as far as that means the same there.

What is written is of one type throughout: texts, which both compare by code point, whole numbers, true and false; so
nothing can have no result. Every value is a parameter, every column one of `PUSHED`. The rest (properties, lists,
functions, arithmetic, windows, subselects, DISTINCT, UNION, Collections) is read and computed by DuckDB
(`infospace.expressions.query.duckdb_engine`), as on a file; `NotAlike` says what of a query that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, TypeAlias

from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions.evaluate import compile_expression
from infospace.expressions.expression import walk
from infospace.expressions.mismatch import Clock, Evaluation, TypeMismatches
from infospace.expressions.query.select import of_place, rewrite
from infospace.expressions.query.tree import MARK, Output, Query, Select, Table
from infospace.expressions.show import show
from infospace.expressions.tree import (
    Aggregate,
    And,
    Between,
    Compare,
    Expression,
    Field,
    In,
    InList,
    IsNull,
    Not,
    Or,
    Parameter,
    Star,
)

Kind: TypeAlias = Literal["text", "integer", "boolean"]

_TEXT: Final[Kind] = "text"
_TEXTS: Final = {
    "notes": ("@id", "@name", "@created", "@updated", "path", "folder", "root", "file", "created", "modified"),
    "items": ("note", "section", "kind", "text", "status", "due", "scheduled", "completed", "priority"),
    "links": ("source", "target", "target_text", "heading", "relation", "property"),
}
PUSHED: Final[Mapping[str, Mapping[str, Kind]]] = {
    "notes": {**dict.fromkeys(_TEXTS["notes"], _TEXT), "words": "integer"},
    "items": {**dict.fromkeys(_TEXTS["items"], _TEXT), "line": "integer", "done": "boolean"},
    "links": {**dict.fromkeys(_TEXTS["links"], _TEXT), "line": "integer"},
}
"""The columns that a database compares as the language does, and what they hold."""

_COMPARED: Final = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class NotAlike(Exception):
    """Something of a query does not mean the same in the database, or has not been shown to."""


class DatabaseTable(Protocol):
    """Some rows of one of the space's own tables, which their database can read and compare."""

    def selected(self, columns: Sequence[str]) -> tuple[str, list[Any]]:
        """Return a SELECT of the rows, and its values: columns `n` and `q`, which order them, then `c0`, `c1`, …."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """A query as SQL with `?` for each of its values, and the names of its outputs."""

    sql: str
    values: tuple[Any, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sql:
    text: str
    kind: Kind
    values: tuple[Any, ...] = ()


def push(
    query: Query,
    table_of: Callable[[Table], DatabaseTable],
    parameters: Mapping[str, JSON | PathNotFound],
    clock: Clock,
    most: int,
) -> Pushed:
    """Write a query of which at most `most` + 1 rows are wanted. Raises NotAlike."""
    body = query.body
    if not isinstance(body, Select):
        raise NotAlike("UNION")
    for clause, what in ((query.common, "WITH"), (body.distinct, "DISTINCT")):
        if clause:
            raise NotAlike(what)
    if query.nested or body.nested:
        raise NotAlike("a subselect or OVER")
    return _Pushed(query, body, table_of, Evaluation(parameters, TypeMismatches.failing(), clock)).write(most)


class _Pushed:
    def __init__(
        self, query: Query, select: Select, table_of: Callable[[Table], DatabaseTable], evaluation: Evaluation
    ) -> None:
        self._query = query
        self._select = select
        self._table_of = table_of
        self._evaluation = evaluation
        self._columns: dict[int, list[str]] = {}
        self._groups: list[tuple[Expression, _Sql]] = []
        self._tables: list[Table] = []
        for join in select.sources:
            if not isinstance(join.source, Table) or join.source.name.lower() not in PUSHED:
                raise NotAlike("a table that is not of the space alone")
            if join.kind not in ("inner", "cross"):
                raise NotAlike(f"{join.kind.upper()} JOIN")
            self._columns[len(self._tables)] = []
            self._tables.append(join.source)
        if not self._tables:
            raise NotAlike("no table")

    def write(self, most: int) -> Pushed:
        select, query = self._select, self._query
        outputs = [output for output in select.outputs if isinstance(output, Output)]
        if len(outputs) != len(select.outputs):
            raise NotAlike("`*`")
        if len({output.name for output in outputs}) != len(outputs):
            raise NotAlike("two outputs of one name")
        trees = [output.expression for output in outputs]
        named = {output.name: output.expression for output in reversed(outputs)}
        sorts = [replace(sort, by=_with_outputs(of_place(sort.by, trees), named)) for sort in query.order]
        having = None if select.having is None else _with_outputs(select.having, named)
        conditions = [join.on for join in select.sources if join.on is not None]
        where = [self._condition(one) for one in (*conditions, *((select.where,) if select.where is not None else ()))]
        for node in select.group:
            tree = of_place(node, trees)
            self._groups.append((self._canonical(tree), self._value(tree)))
        everything = [*trees, *(sort.by for sort in sorts)]
        grouped = bool(self._groups) or having is not None or any(map(_has_aggregate, everything))
        value = self._of_group if grouped else self._value
        result = [value(tree) for tree in trees]
        having_sql = None if having is None else self._condition(having, value)
        keys = [(value(sort.by), sort) for sort in sorts]
        rows = [f"t{place}.{column}" for place in range(len(self._tables)) for column in ("n", "q")]
        order = f"min(ARRAY[{', '.join(rows)}])" if grouped else ", ".join(rows)
        parts: list[str | _Sql] = ["SELECT "]
        for place, one in enumerate(result):
            parts += [", " if place else "", one, f" AS o{place}"]
        parts.append(" FROM ")
        for place, table in enumerate(self._tables):
            rows_sql, bound = self._table_of(table).selected(self._columns[place])
            parts += [" CROSS JOIN " if place else "", _Sql(f"({rows_sql}) AS t{place}", "text", tuple(bound))]
        for place, one in enumerate(where):
            parts += [" AND " if place else " WHERE ", one]
        for place, (_, one) in enumerate(self._groups):
            parts += [", " if place else " GROUP BY ", one]
        if having_sql is not None:
            parts += [" HAVING ", having_sql]
        parts.append(" ORDER BY ")
        for one, sort in keys:
            direction = " DESC" if sort.descending else ""
            parts += [one, f"{direction} NULLS {'FIRST' if sort.nulls_first else 'LAST'}, "]
        parts.append(order)
        limit = self._count(query.limit)
        parts.append(f" LIMIT {min(most + 1, most + 1 if limit is None else limit)}")
        if offset := self._count(query.offset):
            parts.append(f" OFFSET {offset}")
        sql = "".join(part if isinstance(part, str) else part.text for part in parts)
        values = tuple(value for part in parts if isinstance(part, _Sql) for value in part.values)
        return Pushed(sql, values, tuple(output.name for output in outputs))

    def _count(self, node: Expression | None) -> int | None:
        if node is None:
            return None
        value = self._constant(node)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
            raise NotAlike("LIMIT or OFFSET of no whole number")
        return value

    # Values

    def _value(self, node: Expression) -> _Sql:
        if isinstance(node, Field):
            return self._field(node)
        if isinstance(node, Aggregate):
            raise NotAlike(f"`{show(node)}` where one row is meant")
        if isinstance(node, (Compare, And, Or, Not, In, InList, Between, IsNull)):
            return self._condition(node)
        return self._given_value(node)

    def _of_group(self, node: Expression) -> _Sql:
        canonical = self._canonical(node)
        for tree, sql in self._groups:
            if tree == canonical:
                return sql
        if isinstance(node, Aggregate):
            return self._aggregate(node)
        if isinstance(node, Field):
            raise NotAlike(f"`{show(node)}` of no group")
        if isinstance(node, (Compare, And, Or, Not, In, InList, Between, IsNull)):
            return self._condition(node, self._of_group)
        return self._given_value(node)

    def _aggregate(self, node: Aggregate) -> _Sql:
        name = node.function
        if name == "count" and (not node.arguments or isinstance(node.arguments[0], Star)) and not node.distinct:
            return _Sql("count(*)", "integer")
        if len(node.arguments) != 1 or name not in ("count", "count_distinct", "min", "max", "sum"):
            raise NotAlike(f"`{name}(…)`")
        value = self._value(node.arguments[0])
        if (name in ("min", "max") and value.kind == "boolean") or (name == "sum" and value.kind != "integer"):
            raise NotAlike(f"`{name}(…)` of {value.kind}")
        if node.distinct and name != "count":
            raise NotAlike(f"`{name}(DISTINCT …)`")
        inner = f"DISTINCT {value.text}" if node.distinct or name == "count_distinct" else value.text
        kind: Kind = value.kind if name in ("min", "max") else "integer"
        return _Sql(f"{'count' if name == 'count_distinct' else name}({inner})", kind, value.values)

    def _field(self, node: Field) -> _Sql:
        place, column = self._place(node)
        columns = self._columns[place]
        if column not in columns:
            columns.append(column)
        return _Sql(f"t{place}.c{columns.index(column)}", PUSHED[self._tables[place].name.lower()][column])

    def _place(self, node: Field) -> tuple[int, str]:
        parts = node.path.parts
        if all(isinstance(part, str) and not part.startswith(MARK) for part in parts):
            aliases = [table.alias for table in self._tables]
            if len(parts) == 2 and aliases.count(str(parts[0])) == 1:
                place = aliases.index(str(parts[0]))
                if parts[1] in PUSHED[self._tables[place].name.lower()]:
                    return place, str(parts[1])
            elif len(parts) == 1 and len(aliases) == 1 and parts[0] in PUSHED[self._tables[0].name.lower()]:
                return 0, str(parts[0])
        raise NotAlike(f"`{show(node)}`")

    def _canonical(self, node: Expression) -> Any:
        def change(part: Any) -> Any:
            if isinstance(part, Field):
                place, column = self._place(part)
                return Parameter(f"{MARK}{place}.{column}")
            return None

        return rewrite(node, change)

    def _given_value(self, node: Expression) -> _Sql:
        """Return what reads no row, as a parameter."""
        value = self._constant(node)
        if isinstance(value, str):
            return _Sql("?::text", "text", (value,))
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
            return _Sql("?::bigint", "integer", (value,))
        raise NotAlike(f"`{show(node)}`")

    def _constant(self, node: Expression) -> JSON:
        if any(isinstance(part, (Field, Aggregate, Star)) for part in walk(node)):
            raise NotAlike(f"`{show(node)}`")
        try:
            return compile_expression(node)(None, self._evaluation)  # type: ignore[arg-type]  # it reads no row, as was asked above
        except (Invalid, PathNotFound):
            raise NotAlike(f"`{show(node)}`") from None

    # Conditions

    def _condition(self, node: Expression, value: Callable[[Expression], _Sql] | None = None) -> _Sql:
        of = value or self._value
        match node:
            case And(parts):
                return _joined(" AND ", [self._condition(part, value) for part in parts])
            case Or(parts):
                return _joined(" OR ", [self._condition(part, value) for part in parts])
            case Not(part):
                inner = self._condition(part, value)
                return _Sql(f"(NOT {inner.text})", "boolean", inner.values)
            case IsNull(part):
                inner = of(part)
                return _Sql(f"({inner.text} IS NULL)", "boolean", inner.values)
            case Compare(by, left, right):
                return _compared(of(left), f" {_COMPARED[by]} ", of(right))
            case Between(part, low, high):
                inner, least, greatest = of(part), of(low), of(high)
                return _joined(" AND ", [_compared(inner, " >= ", least), _compared(inner, " <= ", greatest)])
            case In(part, items) if items:
                inner = of(part)
                return _joined(" OR ", [_compared(inner, " = ", of(item)) for item in items])
            case Field():
                inner = of(node)
                if inner.kind == "boolean":
                    return inner
        raise NotAlike(f"`{show(node)}`")


def _compared(left: _Sql, by: str, right: _Sql) -> _Sql:
    if left.kind != right.kind or left.kind == "boolean":
        raise NotAlike(f"{left.kind} compared with {right.kind}")
    return _Sql(f"({left.text}{by}{right.text})", "boolean", left.values + right.values)


def _joined(by: str, parts: Sequence[_Sql]) -> _Sql:
    values = tuple(value for part in parts for value in part.values)
    return _Sql(f"({by.join(part.text for part in parts)})", "boolean", values)


def _with_outputs(node: Expression, named: Mapping[str, Expression]) -> Any:
    """Return an expression with outputs in the place of their names, but within aggregates."""

    def change(part: Any) -> Any:
        if isinstance(part, Aggregate):
            return part
        if isinstance(part, Field) and len(part.path.parts) == 1:
            return named.get(str(part.path.parts[0]))
        return None

    return rewrite(node, change)


def _has_aggregate(node: Expression) -> bool:
    return any(isinstance(part, Aggregate) for part in walk(node))
