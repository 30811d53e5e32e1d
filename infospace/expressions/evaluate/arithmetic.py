"""The closures of operators between values, of the sign, and of CAST."""

from __future__ import annotations

from collections.abc import Callable
from math import fmod, isfinite
from typing import Any, Final

from infospace.core.json_types import JSON
from infospace.data.paths import Readable, kind_of
from infospace.expressions.compare import kind_word
from infospace.expressions.evaluate.closures import Getter
from infospace.expressions.functions import checked, concatenated
from infospace.expressions.mismatch import Evaluation, OperandError
from infospace.expressions.tree import Operator


def _add(one: Any, other: Any) -> Any:
    return one + other


def _subtract(one: Any, other: Any) -> Any:
    return one - other


def _multiply(one: Any, other: Any) -> Any:
    return one * other


def _divide(one: Any, other: Any) -> Any:
    if other == 0:
        raise OperandError("divides by zero")
    if isinstance(one, int) and isinstance(other, int) and one % other == 0:
        return one // other
    return one / other


def _remainder(one: Any, other: Any) -> Any:
    """The remainder has the sign of the first; whole numbers stay exact."""
    if other == 0:
        raise OperandError("divides by zero")
    if isinstance(one, int) and isinstance(other, int):
        rest = abs(one) % abs(other)
        return -rest if one < 0 else rest
    return fmod(one, other)


OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _remainder,
}
"""What each operator makes of two numbers, of which neither is null."""
_NUMBERS: Final = frozenset({int, float})


def computation_of(operator: Operator, get_left: Getter, get_right: Getter, text: str) -> Getter:
    """Make the closure of an operator of numbers."""
    apply = OPERATIONS[operator]

    def computed(resource: Readable, evaluation: Evaluation) -> JSON:
        return operated(apply, get_left(resource, evaluation), get_right(resource, evaluation), evaluation, text)

    return computed


def concatenation_of(get_left: Getter, get_right: Getter, text: str) -> Getter:
    """Make the closure of ||."""

    def concatenated(resource: Readable, evaluation: Evaluation) -> JSON:
        return operated(concat, get_left(resource, evaluation), get_right(resource, evaluation), evaluation, text)

    return concatenated


def operated(apply: Callable[[Any, Any], Any], one: JSON, other: JSON, evaluation: Evaluation, text: str) -> JSON:
    """Return what an operation makes of two values: null where one of them is, or where it has no result."""
    if one is None or other is None:
        return None
    try:
        if apply is not concat:
            if type(one) not in _NUMBERS or type(other) not in _NUMBERS:
                message = f"computes with {kind_word(one)} and {kind_word(other)}, not with numbers"
                evaluation.tally.wrong(text, message, one, other)
                return None
            value = apply(one, other)
            if type(value) is float and isfinite(value):
                return value
            return checked(value)
        return concat(one, other)
    except OverflowError:
        evaluation.tally.wrong(text, "is beyond what a number holds", one, other)
    except OperandError as error:
        evaluation.tally.wrong(text, str(error), one, other)
    return None


def concat(one: JSON, other: JSON) -> str:
    """Join two values as text. Raises OperandError for what has none, naming it."""
    try:
        return concatenated(one, other)
    except OperandError:
        for value in (one, other):
            if kind_of(value) not in ("string", "number", "boolean"):
                raise OperandError(f"joins texts, numbers and booleans, not {kind_word(value)}") from None
        raise


def negative_of(get: Getter, text: str) -> Getter:
    """Make the closure of a sign."""

    def negative(resource: Readable, evaluation: Evaluation) -> JSON:
        value = get(resource, evaluation)
        if value is None:
            return None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return -value
        evaluation.tally.wrong(text, f"takes a number, not {kind_word(value)}", value)
        return None

    return negative


def cast_of(get: Getter, to: Callable[[JSON], JSON], text: str, *, attempt: bool) -> Getter:
    """Make the closure of CAST, or of an `attempt`: TRY_CAST."""

    def cast(resource: Readable, evaluation: Evaluation) -> JSON:
        value = get(resource, evaluation)
        if value is None:
            return None
        try:
            return to(value)
        except OperandError as error:
            if not attempt:
                evaluation.tally.wrong(text, str(error), value)
            return None

    return cast
