"""Keys that stand for JSON values: one by which equal values meet, one by which values of all types have an order."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from infospace.core.json_types import JSON


def equality_key(value: JSON) -> Hashable:
    """Return what two values have in common exactly when they are one JSON value, as `json_text.same` has it.

    1, 1.0 and -0.0, 0 are one; true is not 1; the order of an object's keys is no matter.
    """
    match value:
        case bool():
            return "boolean", value
        case None | str() | int() | float():
            return value
        case Mapping():
            return "object", frozenset((key, equality_key(item)) for key, item in value.items())
        case _:
            return "list", tuple(equality_key(item) for item in value)


def order_key(value: JSON) -> tuple[int, Any]:
    """Return what sorts values of any type: numbers, strings, booleans, lists, objects, null.

    Strings go by their characters' code points, lists by their elements, objects by their keys and values.
    Values that are the same JSON have the same key.
    """
    match value:
        case bool():
            return 2, value
        case int() | float():
            return 0, value
        case str():
            return 1, value
        case list() | tuple():
            return 3, [order_key(item) for item in value]
        case Mapping():
            return 4, sorted((key, order_key(item)) for key, item in value.items())
        case _:
            return 5, None
