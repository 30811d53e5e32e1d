"""Conditions as closures: made once, called for every resource."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from infospace.core.errors import PathNotFound
from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.paths import ABSENT, Readable, kind_of, reader
from infospace.where.ast import (
    And,
    Between,
    Call,
    Comparator,
    Compare,
    Condition,
    Constant,
    Field,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Parameter,
    Truth,
    Value,
)
from infospace.where.compare import MIRRORED, TESTS, TypeMismatches, Verdict, compare
from infospace.where.functions import Getter, Parameters, call
from infospace.where.like import like

Judge: TypeAlias = Callable[[Readable, Parameters, TypeMismatches], Verdict]


def compile_condition(condition: Condition) -> Judge:
    """Make the closure that judges one resource by `condition`."""
    match condition:
        case And(parts):
            return _all([compile_condition(part) for part in parts])
        case Or(parts):
            return _some([compile_condition(part) for part in parts])
        case Not(part):
            return _not(compile_condition(part))
        case Compare(by, left, right):
            return _compare(by, left, right)
        case In():
            return _among(condition)
        case Like():
            return _like(condition)
        case Between(value, low, high):
            return _between(getter(value), getter(low), getter(high))
        case IsNull(value):
            get = getter(value)
            return lambda resource, parameters, tally: get(resource, parameters, tally) is None
        case Truth(value):
            return _truth(getter(value))
        case _:
            assert_never(condition)


def getter(value: Value) -> Getter:
    """Make the closure that gives `value` for one resource."""
    match value:
        case Constant(constant):
            return lambda _resource, _parameters, _tally: constant
        case Field(path):
            find = reader(path)

            def field(resource: Readable, _parameters: Parameters, _tally: TypeMismatches) -> JSON:
                found = find(resource)
                return None if found is ABSENT else found

            return field
        case Parameter(name):

            def parameter(_resource: Readable, parameters: Parameters, _tally: TypeMismatches) -> JSON:
                try:
                    return parameters[name]
                except KeyError:
                    raise PathNotFound(f"`where` was given no value for ${name}") from None

            return parameter
        case Call():
            return call(value.function, [getter(argument) for argument in value.arguments])
        case _:
            assert_never(value)


def _all(parts: list[Judge]) -> Judge:
    def every(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        verdict: Verdict = True
        for part in parts:
            one = part(resource, parameters, tally)
            if one is False:
                return False
            if one is None:
                verdict = None
        return verdict

    return every


def _some(parts: list[Judge]) -> Judge:
    def some(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        verdict: Verdict = False
        for part in parts:
            one = part(resource, parameters, tally)
            if one:
                return True
            if one is None:
                verdict = None
        return verdict

    return some


def _not(part: Judge) -> Judge:
    def negated(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        verdict = part(resource, parameters, tally)
        return None if verdict is None else not verdict

    return negated


def _truth(get: Getter) -> Judge:
    def truth(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        value = get(resource, parameters, tally)
        if value is None or isinstance(value, bool):
            return value
        tally.mismatches += 1
        return None

    return truth


def _compare(by: Comparator, left: Value, right: Value) -> Judge:
    match left, right:
        case Field(), Constant(str() | int() | float()):
            return _compare_constant(by, left, right)
        case Constant(str() | int() | float()), Field():
            return _compare_constant(MIRRORED[by], right, left)
    get_left, get_right = getter(left), getter(right)

    def both(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        return compare(by, get_left(resource, parameters, tally), get_right(resource, parameters, tally), tally)

    return both


def _compare_constant(by: Comparator, field: Field, constant: Constant) -> Judge:
    find, test, known = reader(field.path), TESTS[by], constant.value
    direct: tuple[type, ...] = {"number": (float, int), "string": (str,)}.get(kind_of(known), ())

    def one(resource: Readable, _parameters: Parameters, tally: TypeMismatches) -> Verdict:
        value = find(resource)
        if type(value) in direct:
            return test(value, known)
        if value is None or value is ABSENT:
            return None
        return compare(by, value, known, tally)

    return one


def _between(get: Getter, get_low: Getter, get_high: Getter) -> Judge:
    def between(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        value = get(resource, parameters, tally)
        above = compare(">=", value, get_low(resource, parameters, tally), tally)
        if above is False:
            return False
        below = compare("<=", value, get_high(resource, parameters, tally), tally)
        return below if above or below is False else None

    return between


def _among(among: In) -> Judge:
    get = getter(among.value)
    getters = [getter(item) for item in among.items if isinstance(item, Parameter)]
    known = [item.value for item in among.items if isinstance(item, Constant)]
    by_kind: dict[str, set[JSON]] = {}
    for item in known:
        by_kind.setdefault(kind_of(item), set()).add(item)
    has_null = "null" in by_kind
    count = {kind: sum(kind_of(item) == kind for item in known) for kind in by_kind if kind != "null"}
    total = sum(count.values())

    def contained(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        value = get(resource, parameters, tally)
        if value is None:
            return None
        kind = kind_of(value)
        likes = by_kind.get(kind)
        if likes is not None and value in likes:
            return True
        unknown, others = has_null, total - count.get(kind, 0)
        for get_item in getters:
            item = get_item(resource, parameters, tally)
            if item is None:
                unknown = True
            elif kind_of(item) != kind:
                others += 1
            elif same(value, item):
                return True
        tally.mismatches += others
        return None if unknown or others else False

    return contained


def _like(condition: Like) -> Judge:
    get, escape = getter(condition.value), condition.escape
    match condition.pattern:
        case Constant(str() as pattern):
            fits = like(pattern, escape)

            def fixed(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
                value = get(resource, parameters, tally)
                if isinstance(value, str):
                    return fits(value)
                tally.mismatches += value is not None
                return None

            return fixed
    get_pattern = getter(condition.pattern)

    def varying(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        value, pattern = get(resource, parameters, tally), get_pattern(resource, parameters, tally)
        if isinstance(value, str) and isinstance(pattern, str):
            return like(pattern, escape)(value)
        tally.mismatches += value is not None and pattern is not None
        return None

    return varying
