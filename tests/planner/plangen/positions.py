"""From a step's position in a run, such as `4.do[3].2`, back to the step as it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from furnished import COUNT, GREET
from plangen.supplied import PLANS

SAVED: Mapping[str, Any] = {"greet": GREET, "count": COUNT, **PLANS}
_WORD = re.compile(r"(then|else|do|body|branches|on_fail)(?:\[(\d+)\])?")
_ITEM = re.compile(r"\[\d+\]$|#\d+$")


def written(document: Mapping[str, Any], position: str) -> dict[str, Any]:
    """Return the step that stands at a position, inside saved plans too."""
    outer, slash, inner = position.partition("/")
    step = _in(document["steps"], outer)
    if not slash:
        return step
    return written(SAVED[step["type"].removeprefix("plan:")], inner)


def _in(block: Any, position: str) -> dict[str, Any]:
    label, *rest = position.split(".")
    while rest:
        word = _WORD.fullmatch(rest[0])
        assert word, (position, rest)
        step = _labelled(block, label)
        block = _operation(step) if step["type"] == "map" and word[1] == "do" else step[word[1]]
        if word[1] == "branches":
            block = block[int(word[2]) - 1]
        label, *rest = rest[1:]
    return _labelled(block, label)


def _operation(step: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The saved plan that a `map` runs, as the only step of its round."""
    operation = step["operation"]
    return [operation if isinstance(operation, dict) else {"type": operation}]


def _labelled(block: Any, label: str) -> dict[str, Any]:
    while _ITEM.search(label):
        label = _ITEM.sub("", label)
    return next(step for index, step in enumerate(block) if step.get("id", str(index + 1)) == label)
