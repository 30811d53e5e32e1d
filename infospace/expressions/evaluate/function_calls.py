"""The closures of parameters, elements of lists, and calls of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from infospace.core.errors import PathNotFound
from infospace.core.json_types import JSON
from infospace.data.paths import Readable, kind_of
from infospace.expressions.compare import kind_word
from infospace.expressions.evaluate.closures import Getter
from infospace.expressions.functions import KINDS, joined
from infospace.expressions.mismatch import Evaluation, OperandError


def parameter_of(name: str, *, lenient: bool) -> Getter:
    """Make the closure that reads a parameter. Of a missing place: PathNotFound, or null where that is `lenient`."""

    def parameter(_resource: Readable, evaluation: Evaluation) -> JSON:
        try:
            value = evaluation.parameters[name]
        except KeyError:
            raise PathNotFound(f"the expression was given no value for ${name}") from None
        if isinstance(value, PathNotFound):
            if lenient:
                return None
            raise value
        return value

    return parameter


def element_of(get: Getter, place: int, text: str) -> Getter:
    """Make the closure that takes an element of a list; null where there are not so many."""

    def element(resource: Readable, evaluation: Evaluation) -> JSON:
        value = get(resource, evaluation)
        if isinstance(value, (list, tuple)):
            return value[place] if -len(value) <= place < len(value) else None
        if value is not None:
            evaluation.tally.wrong(text, f"takes an element of {kind_word(value)}, not of a list", value)
        return None

    return element


def coalesce(getters: list[Getter]) -> Getter:
    """Make the closure of `coalesce`, which asks for no more values than it needs."""

    def first(resource: Readable, evaluation: Evaluation) -> JSON:
        for get in getters:
            value = get(resource, evaluation)
            if value is not None:
                return value
        return None

    return first


def concat_ws(getters: list[Getter], text: str) -> Getter:
    """Make the closure of `concat_ws`, which asks for nothing where there is nothing to put between."""
    get_separator, *rest = getters

    def concat(resource: Readable, evaluation: Evaluation) -> JSON:
        separator = get_separator(resource, evaluation)
        if separator is None:
            return None
        if not isinstance(separator, str):
            evaluation.tally.wrong(text, f"takes a text between the parts, not {kind_word(separator)}", separator)
            return None
        values = [get(resource, evaluation) for get in rest]
        try:
            return joined(separator, values)
        except OperandError as error:
            evaluation.tally.wrong(text, str(error), *[value for value in values if value is not None][:3])
            return None

    return concat


_A: Final = {
    "text": "text",
    "date": "a date",
    "number": "a number",
    "whole": "a whole number",
    "list": "a list",
    "text or list": "text or a list",
    "number or text": "numbers, or texts",
    "any": "any value",
}


def call_with_one(name: str, apply: Callable[..., JSON], get: Getter, kind: str, text: str) -> Getter:
    """Make the closure of a function of one value."""
    accepted = KINDS[kind]

    def applied(resource: Readable, evaluation: Evaluation) -> JSON:
        value = get(resource, evaluation)
        if value is None:
            return None
        if kind_of(value) not in accepted:
            evaluation.tally.wrong(text, f"has {name}, which takes {_A[kind]}, not {kind_word(value)}", value)
            return None
        try:
            return apply(value)
        except OperandError as error:
            evaluation.tally.wrong(text, _reason(name, error), value)
            return None

    return applied


def _reason(name: str, error: OperandError) -> str:
    message = str(error)
    if message.startswith(("is not a date", "is not a day")):
        return f"has {name} of what {message}"
    return f"has {name}, which {message}"


def call_with_several(
    name: str, apply: Callable[..., JSON], getters: Sequence[Getter], kinds: Sequence[str], text: str
) -> Getter:
    """Make the closure of a function of several values, which are read in order up to a null."""
    triples = [(get, kind, KINDS[kind]) for get, kind in zip(getters, kinds, strict=True)]

    def applied(resource: Readable, evaluation: Evaluation) -> JSON:
        values: list[JSON] = []
        for get, kind, accepted in triples:
            value = get(resource, evaluation)
            if value is None:
                return None
            if kind_of(value) not in accepted:
                message = f"has {name}, which takes {_A[kind]}, not {kind_word(value)}"
                evaluation.tally.wrong(text, message, value)
                return None
            if kind == "whole" and isinstance(value, float):
                if not value.is_integer():
                    evaluation.tally.wrong(text, f"has {name}, which takes a whole number", value)
                    return None
                value = int(value)
            values.append(value)
        try:
            return apply(*values)
        except OperandError as error:
            evaluation.tally.wrong(text, _reason(name, error), *values)
            return None

    return applied
