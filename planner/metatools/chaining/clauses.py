"""A goal in parts: what is to be done one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from planner.metatools.chaining.literals import GoalLiteral

MAX_CLAUSES = 3
"""Parts of a goal."""
_JOINT: Final = re.compile(r",?\s+(?:and\s+)?then\s+|;\s*|\.\s+|,?\s+and\s+|,\s+", re.IGNORECASE)
_THEN: Final = re.compile(r"then|[;.]", re.IGNORECASE)
"""What stands only between things that are done one after the other."""
_BEGINS: Final = re.compile(r"\s*([A-Za-z]+)\b")
_NO_VERB: Final = frozenset(
    {
        *(
            "the",
            "a",
            "an",
            "of",
            "in",
            "to",
            "from",
            "with",
            "at",
            "on",
            "for",
            "by",
            "as",
            "its",
            "it",
            "all",
            "their",
        ),
        *("what", "which", "who", "if", "that", "crew", "cast", "last", "first", "also"),
    }
)


def partings(goal: str, literals: Sequence[GoalLiteral]) -> Iterator[list[tuple[int, int]]]:
    """Iterate over ways to part a goal, as places of its parts: whole first, then at words that join sentences."""
    joints = [
        joint
        for joint in _JOINT.finditer(goal)
        if not any(literal.start < joint.end() and joint.start() < literal.end for literal in literals)
        and _is_followed(goal, joint, literals)
    ]
    sure = [joint for joint in joints if _THEN.search(joint.group())]
    for count in range(len(sure), min(len(joints), MAX_CLAUSES - 1) + 1):
        for chosen in combinations(joints, count):
            if not set(sure) <= set(chosen):
                continue
            starts = [0, *(joint.end() for joint in chosen)]
            ends = [*(joint.start() for joint in chosen), len(goal)]
            yield list(zip(starts, ends, strict=True))


def _is_followed(goal: str, joint: re.Match[str], literals: Sequence[GoalLiteral]) -> bool:
    """Whether a part begins with a word that can say what to do."""
    if any(literal.start == joint.end() for literal in literals):
        return False
    match = _BEGINS.match(goal, joint.end())
    return match is not None and match[1].lower() not in _NO_VERB
