"""Corners of `where`: depth in a row, ends of ranges, lists with parameters."""

from __future__ import annotations

import pytest

from infospace.core.errors import WhereInvalid
from infospace.core.json_types import JSON
from infospace.expressions import TypeMismatches, parse_where
from infospace.expressions.grammar_check import DEEPEST


class Thing:
    """A resource with some values."""

    id, name, created, updated = "Note_1", None, "2026", "2026"

    def __init__(self) -> None:
        self.metadata: dict[str, JSON] = {}
        self.content: JSON = {"n": 5, "s": "b", "t": True, "l": [1, [2]], "o": {"a": 1}, "none": None}


def judged(text: str, **parameters: JSON) -> tuple[bool | None, int]:
    """The verdict, and how much was of other types."""
    tally = TypeMismatches()
    return parse_where(text).match(Thing(), parameters, tally), tally.mismatches


@pytest.mark.parametrize("one", ["NOT (t)", "(t)", "NOT t", "lower(s) = 'b'", "n IN (1, 5)", "NOT (NOT (t))"])
@pytest.mark.parametrize("joined", [" AND ", " OR "])
def test_parentheses_and_not_in_a_row_do_not_nest(one: str, joined: str) -> None:
    """Forty of them stand beside one another."""
    assert judged(joined.join([one] * 40))[0] is not None


@pytest.mark.parametrize(("opening", "closing", "levels"), [("(", ")", 1), ("NOT ", "", 1), ("NOT (", ")", 2)])
def test_they_nest_as_deep_as_is_allowed_and_no_deeper(opening: str, closing: str, levels: int) -> None:
    """What closes counts no more, and neither does NOT behind its value."""
    deep = DEEPEST // levels
    fits = f"{opening * deep}t{closing * deep}"
    judged(fits)
    judged(f"{fits} AND {fits} OR {fits}")
    with pytest.raises(WhereInvalid, match=f"deeper than {DEEPEST} levels"):
        parse_where(f"{opening * (deep + 1)}t{closing * (deep + 1)}")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("n BETWEEN 5 AND 9", True),
        ("n BETWEEN 1 AND 5", True),
        ("n BETWEEN 5 AND 5", True),
        ("n BETWEEN 6 AND 9", False),
        ("n BETWEEN 1 AND 4", False),
        ("n BETWEEN 9 AND 1", False),
        ("n BETWEEN NULL AND 4", False),
        ("n BETWEEN NULL AND 5", None),
        ("n BETWEEN 6 AND NULL", False),
        ("n BETWEEN 5 AND NULL", None),
        ("n NOT BETWEEN NULL AND 4", True),
        ("none BETWEEN 1 AND 9", None),
    ],
)
def test_a_range_has_its_ends_in_it(text: str, verdict: bool | None) -> None:
    """An end that is unknown may leave it undecided."""
    assert judged(text) == (verdict, 0)


@pytest.mark.parametrize(
    ("text", "given", "verdict", "mismatches"),
    [
        ("n IN ($x)", 5, True, 0),
        ("n IN ($x)", 5.0, True, 0),
        ("n IN ($x)", 6, False, 0),
        ("n IN ($x)", None, None, 0),
        ("n IN ($x)", "5", None, 1),
        ("n IN ('5', $x)", 5, True, 0),
        ("n IN ('5', $x)", "6", None, 2),
        ("n IN (1, $x)", None, None, 0),
        ("n IN (5, $x)", None, True, 0),
        ("t IN ($x)", 1, None, 1),
        ("t IN ($x)", True, True, 0),
        ("l IN ($x)", [1, [2]], True, 0),
        ("o IN ($x)", {"a": 1.0}, True, 0),
        ("n NOT IN ($x, 7)", 6, True, 0),
    ],
)
def test_a_list_with_parameters(text: str, given: JSON, verdict: bool | None, mismatches: int) -> None:
    """Each element compares as `=` does: null is unknown, another type unknown and counted."""
    assert judged(text, x=given) == (verdict, mismatches)


@pytest.mark.parametrize(
    ("text", "verdict", "mismatches"),
    [
        ("5 < n", False, 0),
        ("5 <= n", True, 0),
        ("5 > n", False, 0),
        ("5 >= n", True, 0),
        ("4 < n", True, 0),
        ("6 > n", True, 0),
        ("'a' < s", True, 0),
        ("'b' < s", False, 0),
        ("n < n", False, 0),
        ("n >= n", True, 0),
        ("t = t", True, 0),
        ("t != t", False, 0),
        ("t < t", None, 1),
        ("l = l", True, 0),
        ("o != o", False, 0),
        ("o < o", None, 1),
        ("'5' = n", None, 1),
        ("n = '5'", None, 1),
        ("none = n", None, 0),
    ],
)
def test_both_sides_compare_as_they_stand(text: str, verdict: bool | None, mismatches: int) -> None:
    """A constant on the left asks the question mirrored."""
    assert judged(text) == (verdict, mismatches)


@pytest.mark.parametrize(
    ("text", "verdict", "mismatches"),
    [
        ("s LIKE $p", True, 0),
        ("s NOT LIKE $p", False, 0),
        ("n LIKE $p", None, 1),
        ("none LIKE $p", None, 0),
        ("s LIKE $n", None, 1),
        ("s LIKE $z", None, 0),
        ("n LIKE $z", None, 0),
        ("n LIKE 'b'", None, 1),
        ("none LIKE 'b'", None, 0),
        ("has(l, 1)", True, 0),
        ("has(l, 1.0)", True, 0),
        ("has(l, TRUE)", False, 0),
        ("has(l, $q)", True, 0),
        ("has(s, 'b')", None, 1),
        ("has(none, 1)", None, 0),
        ("has(l, none)", None, 0),
        ("length(l) = 2", True, 0),
        ("length(s) = 1", True, 0),
        ("abs(n) = 5", True, 0),
        ("abs(t) = 1", None, 1),
        ("coalesce(none, n, s) = 5", True, 0),
        ("coalesce(n, s) = 5", True, 0),
        ("NOT none", None, 0),
        ("n AND t", None, 1),
    ],
)
def test_functions_and_patterns_take_what_fits(text: str, verdict: bool | None, mismatches: int) -> None:
    """What does not fit is unknown and counted; null and missing are unknown."""
    assert judged(text, p="B", n=3, z=None, q=[2]) == (verdict, mismatches)


@pytest.mark.parametrize(
    ("items", "value", "verdict"),
    [([[1]], [True], False), ([[1]], [1.0], True), ([{"a": 0}], {"a": False}, False), ([1], True, False)],
)
def test_has_compares_json_values_also_within_lists_and_objects(items: JSON, value: JSON, verdict: bool) -> None:
    """True is no 1, however deep; 1.0 is."""
    assert judged("has($items, $value)", items=items, value=value)[0] is verdict
