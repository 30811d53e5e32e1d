"""Whether what came out is what was to come out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import isclose
from typing import Any

from infospace.core.json_types import JSON
from infospace.data.json_text import dump, same
from infospace.data.order import equality_key
from planner.evaluation.suite import GoldCall, SuiteGoal

_PUNCTUATION = re.compile(r"[\W_]+")


def answer_is_right(goal: SuiteGoal, answer: JSON) -> bool:
    """Compare a run's answer as the goal says.

    `exact`: the same JSON. `unordered`: a list with the same elements in any order. `number`: within the tolerance.
    `contains`: the answer's text has that of the goal, whatever the case.
    """
    expected = goal.answer
    match goal.compare:
        case "none":
            return True
        case "exact":
            return same(answer, expected)
        case "unordered":
            return (
                isinstance(answer, list)
                and isinstance(expected, list)
                and Counter(map(equality_key, answer)) == Counter(map(equality_key, expected))
            )
        case "number":
            return (
                isinstance(answer, int | float)
                and isinstance(expected, int | float)
                and not isinstance(answer, bool)
                and isclose(answer, expected, rel_tol=goal.tolerance, abs_tol=goal.tolerance)
            )
    return _text(expected).casefold() in _text(answer).casefold()


def calls_are_right(gold: Sequence[GoldCall], calls: Sequence[GoldCall], *, loosely: bool = False) -> bool:
    """Compare calls: the same tools with the same arguments, as often, in any order.

    Independent calls may be made in any order. `loosely` takes no account of case and punctuation in texts.
    """
    return Counter(_call(call, loosely) for call in gold) == Counter(_call(call, loosely) for call in calls)


def _call(call: GoldCall, loosely: bool) -> Hashable:
    return call.tool, equality_key(_plain(call.arguments) if loosely else dict(call.arguments))


def _plain(value: Any) -> JSON:
    if isinstance(value, str):
        return _PUNCTUATION.sub("", value).casefold()
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else dump(value)
