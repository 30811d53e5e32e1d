"""How values compare: same type or unknown, nothing converted."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.paths import kind_of
from infospace.expressions.mismatch import TypeMismatches
from infospace.expressions.tree import Comparator

Verdict: TypeAlias = bool | None
"""True, false or, as None, unknown."""


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

WORDS: Final = {"string": "text", "list": "a list", "object": "an object"}
"""What kinds are called in a sentence, where that is not what `kind_of` calls them."""


def kind_word(value: JSON) -> str:
    """Return the kind of a value as a word of a sentence."""
    kind = kind_of(value)
    return WORDS.get(kind, kind)


def compare(by: Comparator, left: JSON, right: JSON, tally: TypeMismatches, text: str) -> Verdict:
    """Compare two values, as `text` does: unknown if one is null, or the types do not allow it."""
    if left is None or right is None:
        return None
    kind = kind_of(left)
    if kind == kind_of(right):
        if kind in {"number", "string"}:
            return TESTS[by](left, right)
        if by in {"=", "!="}:
            return same(left, right) is (by == "=")
        tally.wrong(text, f"compares {kind_word(left)} with {kind_word(right)}, which has no order", left, right)
        return None
    tally.wrong(text, f"compares {kind_word(left)} with {kind_word(right)}", left, right)
    return None


PLAIN: Final = frozenset({"null", "boolean", "number", "string"})
"""The kinds that have nothing inside them."""
