"""How values compare: same type or unknown, nothing converted."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.paths import kind_of
from infospace.where.ast import Comparator

Verdict: TypeAlias = bool | None
"""True, false or, as None, unknown."""


@dataclass(slots=True)
class TypeMismatches:
    """Counts what was compared although the types differ; null and missing do not count."""

    mismatches: int = 0


TESTS: Final[dict[Comparator, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What each comparator asks of two numbers or two strings (which compare by code point)."""

MIRRORED: Final[dict[Comparator, Comparator]] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
"""The same question with the sides exchanged."""


def compare(by: Comparator, left: JSON, right: JSON, tally: TypeMismatches) -> Verdict:
    """Compare two values: unknown if one is null, unknown and counted if their types do not allow it."""
    if left is None or right is None:
        return None
    kind = kind_of(left)
    if kind == kind_of(right):
        if kind in {"number", "string"}:
            return TESTS[by](left, right)
        if by in {"=", "!="}:
            return same(left, right) is (by == "=")
    tally.mismatches += 1
    return None


PLAIN: Final = frozenset({"null", "boolean", "number", "string"})
"""The kinds that have nothing inside them."""
