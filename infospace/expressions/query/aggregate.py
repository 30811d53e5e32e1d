"""Aggregates and functions of windows as SQL of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from infospace.core.errors import Invalid
from infospace.expressions.functions import AGGREGATES
from infospace.expressions.query.builder import (
    UNSURE,
    WORDS,
    Typed,
    any_of,
    number,
    renamed,
    sort_key,
    unify,
    wholeness,
)
from infospace.expressions.query.columns import EXACT, NUMBERS, Type
from infospace.expressions.query.functions import mixed_numbers
from infospace.expressions.query.translate import Expressions
from infospace.expressions.query.tree import Sort, Window, clean
from infospace.expressions.show import show
from infospace.expressions.tree import Aggregate, Constant, Expression, Parameter

_NUMERIC = ("sum", "avg", "median", "quantile")


def aggregate(node: Aggregate, of: Expressions, order: str, over: str = "") -> Typed:
    """Write an aggregate over rows that `order` numbers; `over` is what stands behind it in a window."""
    name, text = node.function, clean(show(node))
    if not node.arguments:
        return Typed(f"count(*){over}", Type.INT, EXACT)
    value = of.value(node.arguments[0])
    sql = value.sql
    if name in ("count", "count_distinct"):
        counted = f"({sql})" if name == "count" else f"(DISTINCT {sort_key(value)})"
        return Typed("0::BIGINT" if value.type is Type.NULL else f"count{counted}{over}", Type.INT, EXACT)
    if value.type is Type.NULL:
        return Typed("NULL::HUGEINT" if name != "list" else "[]::VARCHAR[]", _type_when_empty(name), 0, Type.TEXT)
    if name in _NUMERIC:
        return _numeric(node, value, of, text, over)
    if name in ("bool_or", "bool_and"):
        if value.type is Type.BOOL:
            return Typed(f"{name}({sql}){over}", Type.BOOL)
        return _wrong(of, value, f"`{text}` takes true and false, not {WORDS[value.type]}", over)
    if value.type is Type.LIST:
        raise Invalid(f"`{text}` has lists that the query makes", hint="they stand in the SELECT list alone")
    if name == "list":
        return _list(value, order, over)
    if name in ("min", "max") and value.type is not Type.ANY:
        return Typed(f"{name}({sql}){over}", value.type, value.most, whole=_whole_extreme(value, name, order, over))
    by = f"({sql}).v" if name in ("min", "max") else order
    pick = "arg_min" if name in ("min", "first") else "arg_max"
    whole = value.whole
    if whole not in (None, UNSURE):
        whole = f"{pick}(CASE WHEN ({sql}) IS NOT NULL THEN {whole} END, {by}){over}"
    return Typed(f"{pick}({sql}, {by}){over}", value.type, value.most, kinds=value.kinds, whole=whole)


def _whole_extreme(value: Typed, name: str, order: str, over: str) -> str | None:
    """Return SQL for whether the first of the least, or of the greatest, numbers is whole."""
    if not value.tells_whole:
        return value.whole
    by = f"{{'v': ({value.sql}) + 0.0::DOUBLE, 'r': {'' if name == 'min' else '-'}{order}}}"
    return f"arg_{name}(CASE WHEN ({value.sql}) IS NOT NULL THEN {value.whole} END, {by}){over}"


def _type_when_empty(name: str) -> Type:
    return Type.LIST if name == "list" else Type.INT


def _wrong(of: Expressions, value: Typed, message: str, over: str) -> Typed:
    failing = of.mismatch(message)
    if of.strict:
        failing = f"error({of.builder.parameter(chr(1) + clean(message) + chr(1))})"
    sql = f"CASE WHEN count({value.sql}){over} = 0 THEN NULL ELSE {failing} END::DOUBLE"
    return Typed(sql, Type.NUM)


def _numeric(node: Aggregate, value: Typed, of: Expressions, text: str, over: str) -> Typed:
    if value.type is Type.ANY:
        raise mixed_numbers(text, value)
    if value.type not in NUMBERS:
        return _wrong(of, value, f"`{text}` takes numbers, not {WORDS[value.type]}", over)
    sql = value.sql
    whole, count = value.type is Type.INT, f"count({sql}){over}"
    total = f"sum({sql}){over}" if whole else f"fsum({sql}){over}"
    match node.function:
        case "sum":
            return Typed(total, value.type, whole=_all_whole(value, over))
        case "avg" if whole:
            parts = f"({total} // {count})::DOUBLE + ({total} % {count})::DOUBLE / {count}"
            small = f"CASE WHEN abs({total}) <= {EXACT} THEN {total}::DOUBLE / {count} ELSE {parts} END"
            return Typed(f"CASE WHEN {count} = 0 THEN NULL ELSE {small} END", Type.NUM)
        case "avg":
            result = f"({total} / {count})"
            all_ = _all_whole(value, over)
            exact = f"{all_} AND {result} = trunc{result}" if all_ not in (None, UNSURE) else all_
            return Typed(result, value.type, whole=exact)
    part = 0.5 if node.function == "median" else _part(node.arguments[1], of, text)
    if part is None:
        return Typed("NULL::DOUBLE", Type.NUM)
    if whole and not value.is_small:
        raise Invalid(f"`{text}` has whole numbers beyond 2^53", hint="a query interpolates between doubles")
    type_ = Type.FLOAT if value.type is Type.FLOAT else Type.NUM
    whole_ = UNSURE if value.type is Type.NUM else None
    return Typed(f"quantile_cont({number(value)}, {part!r}::DOUBLE){over}", type_, whole=whole_)


def _all_whole(value: Typed, over: str) -> str | None:
    """Return SQL for whether all numbers that an aggregate is made of are whole."""
    if value.type is not Type.NUM or value.whole == UNSURE:
        return value.whole
    return f"coalesce(bool_and(CASE WHEN ({value.sql}) IS NOT NULL THEN {wholeness(value)} END){over}, TRUE)"


def _part(node: Expression, of: Expressions, text: str) -> float | None:
    """Return the second argument of `quantile`."""
    given = node.value if isinstance(node, Constant) else None
    if isinstance(node, Parameter):
        given = of.builder.parameters.get(node.name)  # type: ignore[assignment]
    if given is None and isinstance(node, (Constant, Parameter)):
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
        raise Invalid(f"`{text}` takes a number from 0 to 1 as its second argument")
    return float(given)


def _list(value: Typed, order: str, over: str) -> Typed:
    listed = any_of(value) if value.tells_whole else value
    element = f"({listed.sql}).o" if listed.type is Type.ANY else listed.sql
    if over:
        text = f"list({element}) FILTER (WHERE ({value.sql}) IS NOT NULL){over}"
    else:
        text = f"list({element} ORDER BY {order}) FILTER (WHERE ({value.sql}) IS NOT NULL)"
    return Typed(f"COALESCE({text}, [])", Type.LIST, element=listed.type)


_BY_ROW = frozenset({"row_number", "ntile", "lag", "lead", "first_value", "last_value"})
"""Functions whose result depends on which of two equal rows comes first."""


def window(node: Window, of: Expressions, order: str, column: Callable[[Typed], Typed] | None) -> Typed:
    """Write a function over a window, whose rows `order` numbers where nothing else orders them.

    `column` makes a value a column of its own, where that can be done.
    """
    result = column or (lambda value: value)
    by = [result(of.value(part)) for part in node.partition]
    partition = ", ".join("1" if value.type is Type.NULL else sort_key(value) for value in by)
    sorts = [sort_sql(result(of.value(sort.by)), sort) for sort in node.order]
    if node.function in _BY_ROW or node.frame is not None:
        sorts.append(order)
    over = " OVER (" + (f"PARTITION BY {partition} " if partition else "")
    over += f"ORDER BY {', '.join(sorts)}" if sorts else ""
    if node.frame is not None:
        over += f" ROWS BETWEEN {_edge(node.frame.low, 'PRECEDING')} AND {_edge(node.frame.high, 'FOLLOWING')}"
    over += ")"
    if node.function in AGGREGATES and isinstance(node.arguments[0], Aggregate):
        return aggregate(node.arguments[0], of, order, over)
    return _ranked(node.function, [of.value(argument) for argument in node.arguments], node.arguments, over)


def _edge(rows: int | None, side: str) -> str:
    if rows is None:
        return f"UNBOUNDED {side}"
    if rows == 0:
        return "CURRENT ROW"
    return f"{abs(rows)} {'PRECEDING' if rows < 0 else 'FOLLOWING'}"


def _ranked(name: str, values: Sequence[Typed], nodes: Sequence[Expression], over: str) -> Typed:
    match name:
        case "row_number" | "rank" | "dense_rank":
            return Typed(f"{name}(){over}", Type.INT, EXACT)
        case "percent_rank" | "cume_dist":
            return Typed(f"{name}(){over}", Type.NUM)
        case "ntile":
            return Typed(f"ntile({_count(nodes[0], name)}){over}", Type.INT, EXACT)
        case "lag" | "lead":
            by = _count(nodes[1], name) if len(nodes) > 1 else 1
            values, type_ = unify([values[0], *values[2:]])
            rest = f", {values[1].sql}" if len(values) > 1 else ""
            most = max((value.most or 0 for value in values), default=0)
            is_known = all(value.most is not None for value in values)
            whole = None
            if type_ is Type.NUM:
                messages = ["FALSE" if value.type is Type.NULL else wholeness(value) for value in values]
                rest_told = f", {messages[-1]}" if len(values) > 1 else ""
                whole = UNSURE if UNSURE in messages else f"{name}({messages[0]}, {by}{rest_told}){over}"
            return Typed(f"{name}({values[0].sql}, {by}{rest}){over}", type_, most if is_known else None, whole=whole)
    [value] = values
    whole = f"{name}({value.whole}){over}" if value.tells_whole else None
    return renamed(value, f"{name}({value.sql}){over}", whole)


def _count(node: Expression, name: str) -> int:
    given = node.value if isinstance(node, Constant) else None
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 1_000_000:
        raise Invalid(f"{name} takes a whole number that stands there", hint=f"such as {name}(…, 2)")
    return given


def sort_sql(value: Typed, sort: Sort) -> str:
    """Write what is ordered by: nulls come last, unless it says so."""
    if value.type is Type.NULL:
        return "1"
    order = "DESC" if sort.descending else "ASC"
    return f"{sort_key(value)} {order} NULLS {'FIRST' if sort.nulls_first else 'LAST'}"
