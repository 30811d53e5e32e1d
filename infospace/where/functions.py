"""The functions of `where`; null gives null, and a type that does not fit is unknown and counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.paths import Readable, kind_of
from infospace.where.ast import Function
from infospace.where.compare import PLAIN, TypeMismatches, Verdict

Parameters: TypeAlias = Mapping[str, JSON]
Getter: TypeAlias = Callable[[Readable, Parameters, TypeMismatches], JSON]
"""Gives a value; what is missing is None, as null is."""

TAKES: Final[dict[Function, tuple[str, ...]]] = {
    "lower": ("string",),
    "upper": ("string",),
    "length": ("string or list",),
    "abs": ("number",),
    "coalesce": ("value", "…"),
    "has": ("list", "value"),
}
"""What stands between the parentheses; `…` is any number more."""

_ON_ONE: Final[dict[Function, tuple[frozenset[str], Callable[[Any], JSON]]]] = {
    "lower": (frozenset({"string"}), str.lower),
    "upper": (frozenset({"string"}), str.upper),
    "length": (frozenset({"string", "list"}), len),
    "abs": (frozenset({"number"}), abs),
}


def call(function: Function, arguments: list[Getter]) -> Getter:
    """Make the closure that applies `function`; the number of arguments must fit `TAKES`."""
    if function == "coalesce":
        return _coalesce(arguments)
    if function == "has":
        return _has(*arguments)
    return _on_one(function, *arguments)


def _on_one(function: Function, get: Getter) -> Getter:
    accepted, result = _ON_ONE[function]

    def applied(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> JSON:
        value = get(resource, parameters, tally)
        if kind_of(value) in accepted:
            return result(value)
        tally.mismatches += value is not None
        return None

    return applied


def _coalesce(arguments: list[Getter]) -> Getter:
    def first(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> JSON:
        for get in arguments:
            value = get(resource, parameters, tally)
            if value is not None:
                return value
        return None

    return first


def _has(get_list: Getter, get_value: Getter) -> Getter:
    def has(resource: Readable, parameters: Parameters, tally: TypeMismatches) -> Verdict:
        items, value = get_list(resource, parameters, tally), get_value(resource, parameters, tally)
        if items is None or value is None:
            return None
        if not isinstance(items, (list, tuple)):
            tally.mismatches += 1
            return None
        kind = kind_of(value)
        if kind in PLAIN:
            return any(item == value and kind_of(item) == kind for item in items)
        return any(same(value, item) for item in items)

    return has
