"""The closures of conditions: true, false or unknown, for each resource."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.paths import ABSENT, Path, Readable, kind_of, reader
from infospace.expressions.compare import TESTS, Verdict, compare, kind_word
from infospace.expressions.evaluate.closures import ConditionEvaluator, Getter
from infospace.expressions.mismatch import Evaluation
from infospace.expressions.tree import Comparator


def all_of(parts: list[ConditionEvaluator]) -> ConditionEvaluator:
    """Make the closure of AND: it ends at the first that is false."""

    def every(resource: Readable, evaluation: Evaluation) -> Verdict:
        verdict: Verdict = True
        for part in parts:
            one = part(resource, evaluation)
            if one is False:
                return False
            if one is None:
                verdict = None
        return verdict

    return every


def any_of(parts: list[ConditionEvaluator]) -> ConditionEvaluator:
    """Make the closure of OR: it ends at the first that is true."""

    def some(resource: Readable, evaluation: Evaluation) -> Verdict:
        verdict: Verdict = False
        for part in parts:
            one = part(resource, evaluation)
            if one:
                return True
            if one is None:
                verdict = None
        return verdict

    return some


def negation_of(part: ConditionEvaluator) -> ConditionEvaluator:
    """Make the closure of NOT."""

    def negated(resource: Readable, evaluation: Evaluation) -> Verdict:
        verdict = part(resource, evaluation)
        return None if verdict is None else not verdict

    return negated


def truth_of(get: Getter, text: str) -> ConditionEvaluator:
    """Make the closure of a value that is used as a condition."""

    def truth(resource: Readable, evaluation: Evaluation) -> Verdict:
        value = get(resource, evaluation)
        if value is None or isinstance(value, bool):
            return value
        evaluation.tally.wrong(text, f"is used as a condition and is {kind_word(value)}", value)
        return None

    return truth


def comparison_with_constant(by: Comparator, path: Path, known: str | float, text: str) -> ConditionEvaluator:
    """Make the closure that compares what is at a path with a constant."""
    find, test = reader(path), TESTS[by]
    direct: tuple[type, ...] = {"number": (float, int), "string": (str,)}.get(kind_of(known), ())

    def one(resource: Readable, evaluation: Evaluation) -> Verdict:
        value = find(resource)
        if type(value) in direct:
            return test(value, known)
        if value is None or value is ABSENT:
            return None
        return compare(by, value, known, evaluation.tally, text)

    return one


def between(get: Getter, get_low: Getter, get_high: Getter, text: str) -> ConditionEvaluator:
    """Make the closure of BETWEEN."""

    def between(resource: Readable, evaluation: Evaluation) -> Verdict:
        value = get(resource, evaluation)
        above = compare(">=", value, get_low(resource, evaluation), evaluation.tally, text)
        if above is False:
            return False
        below = compare("<=", value, get_high(resource, evaluation), evaluation.tally, text)
        return below if above or below is False else None

    return between


def in_list(get: Getter, get_items: Getter, text: str) -> ConditionEvaluator:
    """Make the closure of IN over one list."""

    def contained(resource: Readable, evaluation: Evaluation) -> Verdict:
        value, items = get(resource, evaluation), get_items(resource, evaluation)
        if items is None or (value is None and items):
            return None
        if not isinstance(items, (list, tuple)):
            evaluation.tally.wrong(text, f"takes a list, not {kind_word(items)}", items)
            return None
        return is_among(value, kind_of(value), items, [], evaluation, text)

    return contained


def is_among(
    value: JSON,
    kind: str,
    items: Sequence[JSON],
    others: Sequence[JSON],
    evaluation: Evaluation,
    text: str,
    *,
    unknown: bool = False,
) -> Verdict:
    """Say whether a value is one of the items; `others` are known to be of another type."""
    others = list(others)
    for item in items:
        if item is None:
            unknown = True
        elif kind_of(item) != kind:
            others.append(item)
        elif same(value, item):
            return True
    for other in others:
        evaluation.tally.wrong(text, f"compares {kind_word(value)} with {kind_word(other)}", value, other)
    return None if unknown or others else False
