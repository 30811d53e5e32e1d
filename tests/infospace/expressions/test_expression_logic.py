"""The logic of three values, written out: every form with true, false, unknown, and with values that are null."""

from __future__ import annotations

from typing import Any, Final

import pytest

from infospace import Note
from infospace.expressions import Evaluation, TypeMismatches, parse_condition, parse_expression

T, F, U = True, False, None
WRITTEN: Final = {"TRUE": T, "FALSE": F, "NULL": U}
ITEM = Note(id="Note_1", content={"null": None, "one": 1, "a": "a", "yes": True, "list": [1, None]})
PARAMETERS: Final[dict[str, Any]] = {"none": [], "some": [1, 2], "holes": [1, None], "nothing": None, "texts": ["a"]}


def value(text: str) -> Any:
    """The value of an expression; what has no result is null, and counted."""
    tally = TypeMismatches()
    found = parse_expression(text).get(ITEM, Evaluation(PARAMETERS, tally))
    assert tally.mismatches == 0, tally.kinds
    return found


AND = [
    ("TRUE", "TRUE", T),
    ("TRUE", "FALSE", F),
    ("TRUE", "NULL", U),
    ("FALSE", "TRUE", F),
    ("FALSE", "FALSE", F),
    ("FALSE", "NULL", F),
    ("NULL", "TRUE", U),
    ("NULL", "FALSE", F),
    ("NULL", "NULL", U),
]
OR = [
    ("TRUE", "TRUE", T),
    ("TRUE", "FALSE", T),
    ("TRUE", "NULL", T),
    ("FALSE", "TRUE", T),
    ("FALSE", "FALSE", F),
    ("FALSE", "NULL", U),
    ("NULL", "TRUE", T),
    ("NULL", "FALSE", U),
    ("NULL", "NULL", U),
]
FORMS: Final[list[tuple[str, Any]]] = [
    # NOT
    ("NOT TRUE", F),
    ("NOT FALSE", T),
    ("NOT NULL", U),
    ("NOT NOT NULL", U),
    # comparisons
    *((f"1 {sign} NULL", U) for sign in ("=", "!=", "<", "<=", ">", ">=")),
    *((f"NULL {sign} 1", U) for sign in ("=", "!=", "<", "<=", ">", ">=")),
    *((f"NULL {sign} NULL", U) for sign in ("=", "!=", "<", "<=", ">", ">=")),
    ("missing = missing", U),
    ("missing != `null`", U),
    ("TRUE = NULL", U),
    ("TRUE = FALSE", F),
    ("list = NULL", U),
    ("list = list", T),
    # IN: true where one is equal, else unknown where one is null
    ("1 IN (1)", T),
    ("1 IN (2)", F),
    ("1 IN (1, NULL)", T),
    ("1 IN (NULL, 1)", T),
    ("1 IN (2, NULL)", U),
    ("1 IN (NULL)", U),
    ("NULL IN (1)", U),
    ("NULL IN (NULL)", U),
    ("1 NOT IN (1)", F),
    ("1 NOT IN (2)", T),
    ("1 NOT IN (1, NULL)", F),
    ("1 NOT IN (2, NULL)", U),
    ("NULL NOT IN (1)", U),
    ("one IN (missing, one)", T),
    ("one IN (missing, 2)", U),
    ("TRUE IN (FALSE, NULL)", U),
    # IN of a list that is given: nothing is in an empty one, not even null
    ("1 IN $some", T),
    ("3 IN $some", F),
    ("1 IN $holes", T),
    ("3 IN $holes", U),
    ("1 IN $none", F),
    ("NULL IN $none", F),
    ("NULL IN $some", U),
    ("1 IN $nothing", U),
    ("1 NOT IN $none", T),
    ("NULL NOT IN $none", T),
    ("3 NOT IN $holes", U),
    ("'A' IN $texts", F),
    # BETWEEN is two comparisons and AND
    ("1 BETWEEN 1 AND 1", T),
    ("2 BETWEEN 1 AND 3", T),
    ("2 BETWEEN 3 AND 1", F),
    ("NULL BETWEEN 1 AND 3", U),
    ("2 BETWEEN NULL AND 3", U),
    ("2 BETWEEN 1 AND NULL", U),
    ("2 BETWEEN 3 AND NULL", F),
    ("2 BETWEEN NULL AND 1", F),
    ("2 BETWEEN NULL AND NULL", U),
    ("2 NOT BETWEEN 3 AND NULL", T),
    ("2 NOT BETWEEN 1 AND NULL", U),
    ("NULL NOT BETWEEN 1 AND 3", U),
    # LIKE
    ("'a' LIKE 'a'", T),
    ("'a' LIKE 'b'", F),
    ("NULL LIKE '%'", U),
    ("'a' LIKE NULL", U),
    ("'' LIKE '%'", T),
    ("'a' NOT LIKE NULL", U),
    ("NULL NOT LIKE '%'", U),
    # IS NULL is never unknown
    ("NULL IS NULL", T),
    ("NULL IS NOT NULL", F),
    ("missing IS NULL", T),
    ("one IS NULL", F),
    ("one IS NOT NULL", T),
    ("(1 = NULL) IS NULL", T),
    ("(NULL AND FALSE) IS NULL", F),
    ("NOT NULL IS NULL", F),
    ("(NOT NULL) IS NULL", T),
    # CASE takes what is true, and neither what is false nor what is unknown
    ("CASE WHEN TRUE THEN 1 ELSE 2 END", 1),
    ("CASE WHEN FALSE THEN 1 ELSE 2 END", 2),
    ("CASE WHEN NULL THEN 1 ELSE 2 END", 2),
    ("CASE WHEN NOT NULL THEN 1 ELSE 2 END", 2),
    ("CASE WHEN FALSE THEN 1 END", U),
    ("CASE WHEN NULL THEN 1 WHEN TRUE THEN 2 END", 2),
    ("CASE WHEN TRUE THEN NULL ELSE 2 END", U),
    ("CASE NULL WHEN NULL THEN 1 ELSE 2 END", 2),
    ("CASE 1 WHEN NULL THEN 1 WHEN 1 THEN 3 ELSE 2 END", 3),
    ("CASE one WHEN 2 THEN 'two' END", U),
    # of several values
    ("coalesce(NULL, 1, 2)", 1),
    ("coalesce(NULL, NULL)", U),
    ("coalesce(FALSE, TRUE)", F),
    ("coalesce(0, 1)", 0),
    ("coalesce('', 'a')", ""),
    ("coalesce(missing, `null`, a)", "a"),
    ("least(1, 2)", 1),
    ("least(1, NULL)", U),
    ("least(NULL, NULL)", U),
    ("greatest(1, 2)", 2),
    ("greatest(NULL, 2)", U),
    ("greatest('a', 'b', missing)", U),
    ("complete(one, a)", T),
    ("complete(one, missing)", F),
    ("complete(NULL)", F),
    # contains
    ("contains(list, 1)", T),
    ("contains(list, 2)", F),
    ("contains(list, NULL)", U),
    ("contains(NULL, 1)", U),
    # null in, null out
    *((f"1 {sign} NULL", U) for sign in "+-*/%"),
    *((f"NULL {sign} 1", U) for sign in "+-*/%"),
    ("NULL / 0", U),
    ("NULL % 0", U),
    ("-missing", U),
    ("'a' || NULL", U),
    ("NULL || NULL", U),
    ("concat_ws(', ', 'a', NULL, 'b')", "a, b"),
    ("concat_ws(', ', NULL)", ""),
    ("concat_ws(NULL, 'a', 'b')", U),
    ("CAST(NULL AS text)", U),
    ("CAST(missing AS integer)", U),
    ("TRY_CAST(NULL AS boolean)", U),
    # a bare value of a condition
    ("yes AND missing IS NULL", T),
    ("missing OR yes", T),
    ("missing AND yes", U),
]


@pytest.mark.parametrize(("left", "right", "found"), AND)
def test_and(left: str, right: str, found: bool | None) -> None:
    """False decides; else unknown spreads. So of three, in any order."""
    assert value(f"{left} AND {right}") is found
    for third, meant in WRITTEN.items():
        all_of = {WRITTEN[left], WRITTEN[right], meant}
        whole = F if F in all_of else U if U in all_of else T
        assert value(f"{left} AND {right} AND {third}") is whole
        assert value(f"{third} AND ({left} AND {right})") is whole


@pytest.mark.parametrize(("left", "right", "found"), OR)
def test_or(left: str, right: str, found: bool | None) -> None:
    """True decides; else unknown spreads. What AND is of the opposites is the opposite."""
    assert value(f"{left} OR {right}") is found
    assert value(f"NOT (NOT {left} AND NOT {right})") is found
    for third, meant in WRITTEN.items():
        any_of = {WRITTEN[left], WRITTEN[right], meant}
        whole = T if T in any_of else U if U in any_of else F
        assert value(f"{left} OR {right} OR {third}") is whole


@pytest.mark.parametrize(("text", "found"), FORMS)
def test_every_form_with_null(text: str, found: Any) -> None:
    """The same as a value and, where it is true or false, as a condition; no mismatch is counted."""
    assert (type(value(text)), value(text)) == (type(found), found)
    if isinstance(found, bool):
        assert parse_condition(text).match(ITEM, PARAMETERS) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FALSE AND 1 / 0 = 1", F),
        ("TRUE OR 1 / 0 = 1", T),
        ("one = 2 AND a > 1", F),
        ("CASE WHEN TRUE THEN 1 ELSE 1 / 0 END", 1),
        ("CASE WHEN FALSE THEN 1 / 0 ELSE 2 END", 2),
        ("CASE WHEN TRUE THEN 1 WHEN a > 1 THEN 2 END", 1),
        ("coalesce(1, 1 / 0)", 1),
    ],
)
def test_nobody_looks_further_than_needed(text: str, found: Any) -> None:
    """What is not looked at cannot be wrong."""
    assert value(text) == found
