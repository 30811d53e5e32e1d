"""Scalar expressions as SQL of the engine, in the meaning of the evaluator.

Where a comparison, a computation or a call has no result, it is unknown in conditions (`strict` is false), and fails
the query in the SELECT list. The engine does not say in which order it looks at the parts of AND and OR: where one of
them may fail, CASE does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.data.paths import Path
from infospace.expressions.query.builder import (
    KINDS,
    NULL,
    WORDS,
    Builder,
    Typed,
    all_whole,
    chosen_whole,
    is_null,
    key_of,
    kinds_of,
    may_fail,
    number,
    unify,
)
from infospace.expressions.query.columns import EXACT, KIND_NAMES, NUMBERS, WORD, Type
from infospace.expressions.query.functions import (
    MISMATCH,
    call_of,
    cast_to,
    evaluated,
    fit,
    like_of,
    mixed_numbers,
    unless_null,
)
from infospace.expressions.query.tree import MARK, clean
from infospace.expressions.show import show
from infospace.expressions.tree import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Comparator,
    Compare,
    Constant,
    Element,
    Expression,
    Field,
    In,
    InList,
    IsNull,
    Like,
    Negative,
    Not,
    Operator,
    Or,
    Parameter,
    Star,
)

MANY: int = 64
"""Parts of one AND from which on they stand together: the engine plans a query in the square of those that stand alone,
and hears no interruption meanwhile."""
MAX_INLINE_ELEMENTS: int = 50
"""Elements of a list that are written one by one."""


class Expressions:
    """Writes expressions of one clause.

    `resolve` gives what a path means, `inner` what stands for a window function or a subselect; `aggregate` writes
    aggregates, where the clause may have them. `instead` gives what an expression is already known as.
    """

    def __init__(
        self,
        builder: Builder,
        resolve: Callable[[Path], Typed],
        *,
        strict: bool,
        inner: Callable[[str, Typed | None], Typed],
        aggregate: Callable[[Aggregate], Typed] | None = None,
        instead: Callable[[Expression], Typed | None] = lambda _node: None,
        complete: Callable[[], Sequence[Typed]] = lambda: (),
    ) -> None:
        self.builder = builder
        self.strict = strict
        self._resolve = resolve
        self._inner = inner
        self._aggregate = aggregate
        self._instead = instead
        self._complete = complete

    def value(self, node: Expression) -> Typed:
        """Return an expression as SQL, with its type."""
        known = self._instead(node)
        if known is not None:
            return known
        match node:
            case Constant(constant):
                return self.builder.constant(constant)
            case Field(path):
                first = path.parts[0]
                if isinstance(first, str) and first.startswith(MARK):
                    return self._inner(first, None)
                return self._resolve(path)
            case Parameter(name):
                return self.builder.constant(self._parameter(name, absent=not self.strict))
            case Aggregate():
                if self._aggregate is None:
                    raise Invalid(
                        f"`{clean(show(node))}` is an aggregate, and none stands in this clause", hint=_AGGREGATES
                    )
                return self._aggregate(node)
            case Star():
                raise Invalid("`*` stands in count(*) and complete(*) alone")
            case Arithmetic(first, rest):
                left, raw = self.value(first), first
                for at, (operator, part) in enumerate(rest):
                    raw = Arithmetic(first, rest[: at + 1])
                    safe = isinstance(part, Constant) and part.value != 0
                    left = self._computed(operator, left, self.value(part), clean(show(raw)), safe=safe)
                return left
            case Negative(value):
                return self._negative(self.value(value), clean(show(node)))
            case Cast(value, to, attempt):
                return cast_to(self, self.value(value), to, clean(show(node)), attempt=attempt)
            case Case(branches, otherwise):
                return self._case(branches, otherwise)
            case Call(function, arguments):
                return self._call(node, function, arguments)
            case Element(value, place):
                return self._element(value, place, clean(show(node)))
            case _:
                return self._verdict(node)

    def condition(self, node: Expression, *, top: bool = False) -> str:
        """Write a condition; at the `top` unknown and false are one."""
        result = self.value(node) if not top else self._top(node)
        if result.type is Type.BOOL:
            return f"({result.sql})"
        if result.type is Type.NULL:
            return "(NULL::BOOLEAN)"
        text = clean(show(node))
        if result.type is Type.ANY:
            other = self.mismatch(f"`{text}` is used as a condition and is not true or false", result)
            return f"(CASE WHEN ({result.sql}).v.k = 2 THEN ({result.sql}).v.d = 1 ELSE {other} END)"
        return f"({self.mismatch(f'`{text}` is used as a condition and is {WORDS[result.type]}', result)}::BOOLEAN)"

    def _top(self, node: Expression) -> Typed:
        match node:
            case And(parts):
                texts = [self.condition(part, top=True) for part in parts]
                if len(texts) > MANY:
                    chunks = [" AND ".join(texts[at : at + MANY]) for at in range(0, len(texts), MANY)]
                    texts = [f"CASE WHEN {chunk} THEN TRUE ELSE FALSE END" for chunk in chunks]
                return Typed(" AND ".join(texts), Type.BOOL)
            case Not(Or(parts)) if len(parts) > MANY:
                return Typed(f"coalesce({self.value(node).sql}, FALSE)", Type.BOOL)
            case Compare("=", left, right):
                one, other = self.value(left), self.value(right)
                if one.type is Type.ANY and other.type is Type.ANY:
                    return Typed(f"({one.sql}).v = ({other.sql}).v", Type.BOOL)
                return self._compared("=", one, other, clean(show(node)))
            case _:
                return self.value(node)

    def mismatch(self, message: str, *values: Typed) -> str:
        """Return SQL for what has no result for values: null where one of them is."""
        if not self.strict:
            self.builder.doubt()()
            return "NULL"
        failing = f"error({self.builder.parameter(f'{MISMATCH}{clean(message)}{MISMATCH}')})"
        nulls = " OR ".join(f"({value.sql}) IS NULL" for value in values if value.type is not Type.NULL)
        return f"CASE WHEN {nulls} THEN NULL ELSE {failing} END" if nulls else "NULL"

    def _parameter(self, name: str, *, absent: bool = False) -> JSON:
        value = self.builder.parameters.get(name)
        if isinstance(value, PathNotFound):
            if absent:
                return None
            raise value
        return value

    def _guarded(self, node: Expression) -> Typed:
        """Write what `coalesce` and IS NULL take: a place that does not exist is null."""
        if isinstance(node, Parameter):
            return self.builder.constant(self._parameter(node.name, absent=True))
        return self.value(node)

    # Conditions

    def _verdict(self, node: And | Or | Not | Compare | In | InList | Like | Between | IsNull) -> Typed:
        match node:
            case And(parts) | Or(parts):
                return self._joined(parts, "AND" if isinstance(node, And) else "OR")
            case Not(part):
                return Typed(f"NOT {self.condition(part)}", Type.BOOL)
            case Compare(by, left, right):
                return self._compared(by, self.value(left), self.value(right), clean(show(node)))
            case In(value, items):
                one, listed = self.value(value), [self.value(item) for item in items]
                result = self._in(one, listed, clean(show(node)))
                if self.strict and any(may_fail(item.sql) for item in listed):
                    return replace(result, sql=unless_null([one], result.sql))
                return result
            case InList(value, items):
                return self._in_list(self.value(value), items, clean(show(node)))
            case Like(value, pattern, escape):
                return self._like(node, value, pattern, escape)
            case Between(value, low, high):
                text, middle = clean(show(node)), self.value(value)
                above = self._compared(">=", middle, self.value(low), text)
                below = self._compared("<=", middle, self.value(high), text)
                return Typed(self._lazily([f"({above.sql})", f"({below.sql})"], "AND"), Type.BOOL)
            case IsNull(value):
                return Typed(is_null(self._guarded(value).sql), Type.BOOL)
            case _:
                assert_never(node)

    def _joined(self, parts: Sequence[Expression], word: str) -> Typed:
        return Typed(self._lazily([self.condition(part) for part in parts], word), Type.BOOL)

    def _lazily(self, texts: Sequence[str], word: str) -> str:
        """Join conditions by AND or OR: where one may fail, what is needed is evaluated, and nothing else."""
        if not self.strict or not any(map(may_fail, texts)):
            return f" {word} ".join(texts)
        result = texts[-1]
        for part in reversed(texts[:-1]):
            settled = f"NOT {part}" if word == "AND" else part
            verdict = "FALSE" if word == "AND" else "TRUE"
            result = f"CASE WHEN {settled} THEN {verdict} ELSE {part} {word} ({result}) END"
        return result

    def _compared(self, by: Comparator, left: Typed, right: Typed, text: str) -> Typed:
        """Compare two values: unknown where one is null, without a result where their kinds differ."""
        one, other = left.type, right.type
        if Type.NULL in (one, other):
            return Typed(self._evaluated_beside("NULL::BOOLEAN", left, right), Type.BOOL)
        if Type.LIST in (one, other):
            raise Invalid(f"`{text}` compares a list that the query makes", hint="it stands in the SELECT list alone")
        if one in NUMBERS and other in NUMBERS:
            return Typed(_numbers_compared(by, left, right), Type.BOOL)
        if one is other is Type.TEXT or (one is other is Type.BOOL and by in ("=", "!=")):
            return Typed(f"({left.sql}) {_SQL[by]} ({right.sql})", Type.BOOL)
        if Type.ANY not in (one, other):
            held = f"{WORDS[one]} with {WORDS[other]}" + (", which has no order" if one is other else "")
            sql = self.mismatch(f"`{text}` compares {held}", left, right)
            return Typed(f"{sql}::BOOLEAN" if sql == "NULL" else f"({sql})::BOOLEAN", Type.BOOL)
        return Typed(self._mixed(by, left, right, text), Type.BOOL)

    def _mixed(self, by: Comparator, left: Typed, right: Typed, text: str) -> str:
        orders = by not in ("=", "!=")
        kinds = [f"({value.sql}).v.k" if value.type is Type.ANY else str(KINDS[value.type]) for value in (left, right)]
        alike = f"{kinds[0]} = {kinds[1]}"
        if orders:
            alike += f" AND {kinds[0]} < 2"
        other = self.mismatch(f"`{text}` compares values of other types, or such as have no order", left, right)
        if left.type is Type.TEXT or right.type is Type.TEXT:
            sides = [f"({value.sql}).v.s" if value.type is Type.ANY else f"({value.sql})" for value in (left, right)]
        else:
            sides = [key_of(left), key_of(right)]
        return f"CASE WHEN {alike} THEN {sides[0]} {_SQL[by]} {sides[1]} ELSE {other} END"

    def _in(self, value: Typed, items: Sequence[Typed], text: str) -> Typed:
        alike = value.type is not Type.ANY and all(
            item.type in (value.type, Type.NULL)
            or (value.type in NUMBERS and item.type in NUMBERS and not _loses_precision(value, item))
            for item in items
        )
        if value.type is Type.NULL:
            return Typed("NULL::BOOLEAN" if items else "FALSE", Type.BOOL)
        if alike and value.type is not Type.LIST:
            return Typed(self._listed(value.sql, [item.sql for item in items]), Type.BOOL)
        fits = [item for item in items if item.type in (value.type, Type.NULL, Type.ANY) or value.type is Type.ANY]
        fits += [item for item in items if item not in fits and item.is_number and value.is_number]
        others = [item for item in items if item not in fits]
        result = " OR ".join(f"({self._compared('=', value, item, text).sql})" for item in fits) or "FALSE"
        if not others:
            return Typed(result, Type.BOOL)
        what = f"`{text}` compares {WORDS[value.type]} with {WORDS[others[0].type]}"
        return Typed(f"CASE WHEN {result} THEN TRUE ELSE {self.mismatch(what, value)} END", Type.BOOL)

    def _listed(self, value: str, items: Sequence[str]) -> str:
        """Write IN over values of one type; those that may fail are evaluated where none of the others is equal."""
        sure = [item for item in items if not may_fail(item)]
        all_of = f"({value}) IN ({', '.join(items)})"
        if not self.strict or len(sure) in (0, len(items)):
            return all_of
        return f"CASE WHEN ({value}) IN ({', '.join(sure)}) THEN TRUE ELSE {all_of} END"

    def _evaluated_beside(self, verdict: str, *values: Typed) -> str:
        """Write a verdict that does not depend on values, which are evaluated all the same where they may fail."""
        return evaluated(values, verdict) if self.strict else verdict

    def _in_list(self, value: Typed, items: Parameter, text: str) -> Typed:
        if items.name.startswith(MARK):
            return self._inner(items.name, value)
        actual = self._parameter(items.name, absent=not self.strict)
        if actual is None:
            return Typed(self._evaluated_beside("NULL::BOOLEAN", value), Type.BOOL)
        if not isinstance(actual, (list, tuple)):
            return Typed(f"({self.mismatch(f'`{text}` takes a list', value)})::BOOLEAN", Type.BOOL)
        if not actual:
            return Typed(self._evaluated_beside("FALSE", value), Type.BOOL)
        if (
            len(actual) > MAX_INLINE_ELEMENTS
            and value.type is Type.TEXT
            and all(isinstance(item, str) for item in actual)
        ):
            listed = self.builder.parameter(list(actual))
            return Typed(f"({value.sql}) IN (SELECT unnest({listed}::VARCHAR[]))", Type.BOOL)
        return self._in(value, [self.builder.constant(item) for item in actual], text)

    def _like(self, node: Like, value: Expression, pattern: Expression, escape: str | None) -> Typed:
        text = clean(show(node))
        one, other = self.value(value), self.value(pattern)
        known: JSON = None
        if isinstance(pattern, Constant):
            known = pattern.value
        elif isinstance(pattern, Parameter):
            known = self._parameter(pattern.name, absent=not self.strict)
        if Type.NULL in (one.type, other.type):
            return Typed(self._evaluated_beside("NULL::BOOLEAN", one, other), Type.BOOL)
        fitted = [fit(self, part, "text", f"`{text}`", text) for part in (one, other)]
        if fitted[0] is None or fitted[1] is None:
            what = f"`{text}` compares {WORDS[one.type]} with {WORDS[other.type]}"
            return Typed(f"({self.mismatch(what, one, other)})::BOOLEAN", Type.BOOL)
        return like_of(self, fitted[0], fitted[1], known if isinstance(known, str) else None, escape, text)

    # Values

    def _case(self, branches: Sequence[tuple[Expression, Expression]], otherwise: Expression) -> Typed:
        values, type_ = unify([*(self.value(then) for _, then in branches), self.value(otherwise)])
        conditions = [self.condition(when) for when, _ in branches]
        text = "".join(f" WHEN {when} THEN {then.sql}" for when, then in zip(conditions, values, strict=False))
        most = [value.most for value in values if value.type is Type.INT]
        element = next((value.element for value in values if value.element), None)
        bound = None if None in most else max((one or 0 for one in most), default=None)
        whole = None if type_ is not Type.NUM else chosen_whole(values, [f"{when}" for when in conditions])
        return Typed(f"CASE{text} ELSE {values[-1].sql} END", type_, bound, element, kinds_of(values), whole)

    def _call(self, node: Call, function: str, arguments: tuple[Expression, ...]) -> Typed:
        if function == "complete":
            parts = [part for part in arguments if not isinstance(part, Star)]
            values = [self._guarded(part) for part in parts] if parts else list(self._complete())
            results = [f"({is_null(value.sql, negated=True)})" for value in values]
            return Typed(self._lazily(results, "AND") or "TRUE", Type.BOOL)
        write = self._guarded if function == "coalesce" else self.value
        return call_of(self, function, [write(argument) for argument in arguments], clean(show(node)))

    def _element(self, of: Expression, place: int, text: str) -> Typed:
        """Write an element of a list; the engine counts from 1, and from the end as we do."""
        if isinstance(of, Field) and not str(of.path.parts[0]).startswith(MARK):
            return self._resolve(Path((*of.path.parts, place)))
        if isinstance(of, Parameter):
            actual = self._parameter(of.name, absent=not self.strict)
            if isinstance(actual, (list, tuple)):
                return self.builder.constant(actual[place] if -len(actual) <= place < len(actual) else None)
        value = self.value(of)
        if value.type is Type.NULL:
            return NULL
        if value.type is not Type.LIST:
            if value.type is Type.ANY and "list" in value.kinds:
                message = f"`{text}` takes an element of lists that stand in a column"
                raise Invalid(message, hint="a place in a column is a path: tags[0]")
            what = f"`{text}` takes an element of {WORDS[value.type]}, not of a list"
            return Typed(f"({self.mismatch(what, value)})::VARCHAR", Type.TEXT)
        if value.element is Type.ANY:
            raise Invalid(f"`{text}` takes an element of mixed values", hint="TRY_CAST makes the values of one type")
        return Typed(f"({value.sql})[{place + 1 if place >= 0 else place}]", value.element or Type.TEXT)

    def _computed(self, operator: Operator, left: Typed, right: Typed, text: str, *, safe: bool) -> Typed:
        if operator == "||":
            return self._concatenated(left, right, text)
        for value in (left, right):
            if value.type is Type.ANY:
                raise mixed_numbers(text, value)
        whole = left.type in (Type.INT, Type.NULL) and right.type in (Type.INT, Type.NULL)
        if Type.NULL in (left.type, right.type):
            null = self._evaluated_beside("NULL::HUGEINT" if whole else "NULL::DOUBLE", left, right)
            return Typed(null, Type.INT if whole else Type.NUM, 0)
        if not (left.is_number and right.is_number):
            what = f"`{text}` computes with {WORDS[left.type]} and {WORDS[right.type]}, not with numbers"
            return Typed(f"({self.mismatch(what, left, right)})::DOUBLE", Type.NUM)
        if operator in ("/", "%"):
            return self._divided(operator, left, right, text, safe=safe)
        if not whole:
            type_ = Type.FLOAT if Type.FLOAT in (left.type, right.type) else Type.NUM
            whole_ = None if type_ is Type.FLOAT else all_whole((left, right))
            return Typed(f"({number(left)} {operator} {number(right)})", type_, whole=whole_)
        most = _most(operator, left, right)
        # A product with nothing is small, of however large a number.
        fits = all(bound is not None and bound < WORD for bound in (most, left.most, right.most))
        type_name = "BIGINT" if fits else "HUGEINT"
        return Typed(f"(({left.sql})::{type_name} {operator} ({right.sql})::{type_name})", Type.INT, most)

    def _divided(self, operator: str, left: Typed, right: Typed, text: str, *, safe: bool) -> Typed:
        """Divide; `safe` is a constant that is not zero."""
        whole = left.type is Type.INT and right.type is Type.INT
        if operator == "%" and whole:
            sql = f"(({left.sql})::HUGEINT % ({right.sql})::HUGEINT)"
            result = Typed(sql, Type.INT, left.most)
        elif whole and not (left.is_small and right.is_small):
            large = self.mismatch(f"`{text}` divides whole numbers beyond 2^53, and is not exact", left, right)
            fits = f"abs(({left.sql})::HUGEINT) <= {EXACT} AND abs(({right.sql})::HUGEINT) <= {EXACT}"
            result = Typed(f"CASE WHEN {fits} THEN {number(left)} / {number(right)} ELSE {large} END", Type.NUM)
        else:
            type_ = Type.FLOAT if Type.FLOAT in (left.type, right.type) else Type.NUM
            sql = f"({number(left)} {operator} {number(right)})"
            exact = () if operator == "%" else (f"{sql} = trunc{sql}",)
            both = None if type_ is Type.FLOAT else all_whole((left, right), *exact)
            result = Typed(sql, type_, whole=both)
        if safe:
            return result
        zero = self.mismatch(f"`{text}` divides by zero", left)
        sql = f"CASE WHEN ({right.sql}) = 0 THEN {zero} ELSE {result.sql} END"
        return Typed(sql, result.type, result.most, whole=result.whole)

    def _concatenated(self, left: Typed, right: Typed, text: str) -> Typed:
        if Type.NULL in (left.type, right.type):
            return Typed(self._evaluated_beside("NULL::VARCHAR", left, right), Type.TEXT)
        for value in (left, right):
            if value.type is Type.LIST or (value.type is Type.ANY and value.kinds & {"list", "object"}):
                what = f"`{text}` joins texts, numbers and booleans"
                return Typed(f"({self.mismatch(what, left, right)})::VARCHAR", Type.TEXT)
        sides = [cast_to(self, value, "text", text, attempt=False).sql for value in (left, right)]
        return Typed(f"({sides[0]} || {sides[1]})", Type.TEXT)

    def _negative(self, value: Typed, text: str) -> Typed:
        if value.type is Type.NULL:
            return NULL
        if value.type is Type.ANY:
            raise mixed_numbers(text, value)
        if not value.is_number:
            return Typed(
                f"({self.mismatch(f'`{text}` takes a number, not {WORDS[value.type]}', value)})::DOUBLE", Type.NUM
            )
        sql = f"({value.sql})::HUGEINT" if value.type is Type.INT and (value.most or WORD) >= WORD else value.sql
        return Typed(f"(- {sql})", value.type, value.most, whole=value.whole)


_AGGREGATES = "HAVING, ORDER BY and the SELECT list have aggregates; WHERE is before them"
_SQL: dict[Comparator, str] = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def _loses_precision(left: Typed, right: Typed) -> bool:
    """Whether one is a whole number that a double may not hold, and the other a double."""
    whole = [value for value in (left, right) if value.type is Type.INT]
    return len(whole) == 1 and not whole[0].is_small


def _numbers_compared(by: Comparator, left: Typed, right: Typed) -> str:
    if _loses_precision(left, right):
        return f"({key_of(left)}) {_SQL[by]} ({key_of(right)})"
    if left.type is right.type is Type.INT:
        return f"({left.sql}) {_SQL[by]} ({right.sql})"
    return f"{number(left)} {_SQL[by]} {number(right)}"


def _most(operator: Operator, left: Typed, right: Typed) -> int | None:
    if left.most is None or right.most is None:
        return None
    return left.most * right.most if operator == "*" else left.most + right.most


__all__ = ["KIND_NAMES", "Expressions", "unify"]
