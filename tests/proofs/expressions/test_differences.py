"""Where an expression means something else than the same words do in DuckDB: what both give, and why."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import duckdb
import pytest

from infospace import Note
from infospace.expressions import Evaluation, Mismatch, Refusing, parse_expression
from infospace.expressions.aggregates import parse_aggregate


class Fails(str):
    """A part of the sentence that says why there is no value."""

    __slots__ = ()


_WRONG = "what has no result is told, and not made up"
_TYPES = "nothing is converted"
_WRITTEN = "a number is what is written"
_NULLS = "null in, null out"
_EXACT = "whole numbers stay whole and exact"
_UNICODE = "case is Unicode's"
_DATES = "dates are ISO texts"

DIFFERENCES: Final[list[tuple[str, Any, str, Any, str]]] = [
    ("1 / 0", Fails("divides by zero"), "1 / 0", float("inf"), _WRONG),
    ("1 % 0", Fails("divides by zero"), "TRY(1 % 0)", None, _WRONG),
    ("sqrt(-1)", Fails("takes a number that is not negative"), "isnan(sqrt(-1))", True, _WRONG),
    ("1e308 * 10", Fails("beyond what a number holds"), "1e308::DOUBLE * 10", float("inf"), _WRONG),
    ("power(10.0, 400)", Fails("beyond what a number holds"), "power(10.0, 400)", float("inf"), _WRONG),
    ("substr('abc', 2, -1)", Fails("not negative"), "substr('abc', 2, -1)", "a", _WRONG),
    ("x = '1.5'", Fails("compares number with text"), "x = '1.5'", True, _TYPES),
    ("x IN ('a')", Fails("compares number with text"), "x IN ('a')", Fails("Could not convert"), _TYPES),
    ("least('a', x)", Fails("and not both"), "least('a', x)", Fails("Could not convert"), _TYPES),
    ("1 = TRUE", Fails("compares number with boolean"), "1 = TRUE", True, _TYPES),
    ("FALSE < TRUE", Fails("has no order"), "FALSE < TRUE", True, "true and false have no order"),
    ("CAST(2.5 AS integer)", Fails("with a fraction"), "CAST(2.5 AS INTEGER)", 3, "rounding is `round`'s"),
    ("CAST('2.5' AS integer)", Fails("with a fraction"), "CAST('2.5' AS INTEGER)", 3, "rounding is `round`'s"),
    ("CAST(0.5 AS boolean)", Fails("with a fraction"), "CAST(0.5 AS BOOLEAN)", True, "only whole numbers are cast"),
    ("CAST('yes' AS boolean)", Fails("not a boolean"), "CAST('yes' AS BOOLEAN)", True, "true and false alone are cast"),
    ("CAST(TRUE AS number)", Fails("cannot cast boolean"), "CAST(TRUE AS DOUBLE)", 1.0, _TYPES),
    ("CAST('inf' AS number)", Fails("not a number"), "CAST('inf' AS DOUBLE)", float("inf"), "JSON has no infinity"),
    ("CAST('1_000' AS number)", Fails("not a number"), "CAST('1_000' AS DOUBLE)", 1000.0, "JSON writes no such number"),
    ("round(1.005, 2)", 1.01, "round(1.005::DOUBLE, 2)", 1.0, _WRITTEN),
    ("format(2.675, 2)", "2.68", "format('{:,.2f}', 2.675::DOUBLE)", "2.67", _WRITTEN),
    ("format(0.5, 0)", "1", "format('{:,.0f}', 0.5::DOUBLE)", "0", "half is rounded away from zero, as `round` does"),
    ("0.1 + 0.2", 0.1 + 0.2, "0.1 + 0.2", Decimal("0.3"), "numbers with a point are doubles"),
    (
        "CAST(round(-0.4, 0) AS text)",
        "0.0",
        "round(-0.4::DOUBLE, 0)::VARCHAR",
        "-0.0",
        "zero is written without a sign",
    ),
    ("CAST(sqrt(0 / -2) AS text)", "0.0", "CAST(sqrt(0 / -2) AS VARCHAR)", "-0.0", "no whole number is -0"),
    ("CAST(6 / 3 AS text)", "2", "CAST(6 / 3 AS VARCHAR)", "2.0", _EXACT),
    ("CAST(floor(2.5) AS text)", "2", "floor(2.5::DOUBLE)::VARCHAR", "2.0", _EXACT),
    ("power(3, 40)", 3**40, "power(3, 40)", float(3**40), _EXACT),
    ("big = 9007199254740992.0", False, "big = 9007199254740992.0::DOUBLE", True, _EXACT),
    ("big * big * big", (2**53 + 1) ** 3, "TRY(big * big * big)", None, "digits go beyond 38"),
    ("greatest(1, NULL)", None, "greatest(1, NULL)", 1, _NULLS),
    ("'ABC' LIKE 'abc'", True, "'ABC' LIKE 'abc'", False, "LIKE ignores case"),
    ("'ς' LIKE 'Σ'", True, "'ς' ILIKE 'Σ'", False, _UNICODE),
    ("upper('ß')", "SS", "upper('ß')", "ẞ", _UNICODE),
    ("length(lower('İ'))", 2, "length(lower('İ'))", 1, _UNICODE),
    ("trim('\t a')", "a", "trim('\t a')", "\t a", "all white space is trimmed"),
    (
        "substr('abc', -1)",
        "abc",
        "substr('abc', -1)",
        "c",
        "places before the first are empty, as SQL's standard has it",
    ),
    ("split('abc', '')", ["abc"], "string_split('abc', '')", ["a", "b", "c"], "nothing is not a separator"),
    ("regexp_extract('abc', 'x')", None, "regexp_extract('abc', 'x')", "", "what is not found is null, not a text"),
    ("regexp_extract('b', '(x)?b', 1)", None, "regexp_extract('b', '(x)?b', 1)", "", "what is not found is null"),
    ("year('2026-1-5')", Fails("is not a date"), "year(CAST('2026-1-5' AS DATE))", 2026, _DATES),
    ("date_add('2026-01-31', 1)", "2026-02-01", "CAST(DATE '2026-01-31' + 1 AS VARCHAR)", "2026-02-01", _DATES),
    ("date_add('9999-12-31', 1)", Fails("1 to 9999"), "CAST(DATE '9999-12-31' + 1 AS VARCHAR)", "10000-01-01", _DATES),
    ("weekday('2026-11-22')", 7, "weekday(DATE '2026-11-22')", 0, "Monday is 1, Sunday 7"),
    (
        "one = other",
        True,
        """'{"a":1,"b":2}'::JSON = '{"b":2,"a":1}'::JSON""",
        False,
        "keys of an object have no order",
    ),
]
"""An expression, its value; the words in SQL, the engine's value; the reason."""
OVER_MANY: Final[list[tuple[str, Any, str, Any, str]]] = [
    ("sum(z)", 1.0, "sum(z)", 0.0, "a sum is rounded once"),
    ("list(a)", [1], "list(a ORDER BY i)", [1, None, None], "nulls do not count"),
    ("first(a)", 1, "last(a ORDER BY i)", None, "nulls do not count"),
    ("min(mixed)", 2, "min(mixed)", "2", "mixed values go by the order of `sort`"),
]
ROWS = [
    {"a": 1, "z": 1e17, "mixed": 2},
    {"a": None, "z": 1.0, "mixed": "x"},
    {"a": None, "z": -1e17, "mixed": True},
]
ITEM = {"x": 1.5, "big": 2**53 + 1, "one": {"a": 1, "b": 2}, "other": {"b": 2, "a": 1}}


def engine() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE item AS SELECT 1.5::DOUBLE AS x, 9007199254740993::HUGEINT AS big")
    connection.execute("CREATE TABLE t (i INTEGER, a INTEGER, z DOUBLE, mixed VARCHAR)")
    connection.execute("INSERT INTO t VALUES (0, 1, 1e17, '2'), (1, NULL, 1.0, 'x'), (2, NULL, -1e17, 'true')")
    return connection


def judge(found: Any, meant: Any) -> None:
    """A value is the same, of the same type; a failure says what it says."""
    if isinstance(meant, Fails):
        assert isinstance(found, Exception), f"{found!r} is a value"
        assert meant in str(found)
    else:
        assert (type(found), found) == (type(meant), meant)


@pytest.mark.parametrize(("text", "ours", "sql", "theirs", "reason"), DIFFERENCES)
def test_an_expression_means_what_the_language_says(text: str, ours: Any, sql: str, theirs: Any, reason: str) -> None:
    """It is not left to an engine; an engine that means it otherwise from now on is noticed."""
    try:
        found = parse_expression(text).get(Note(id="Note_1", content=ITEM), Evaluation({}, Refusing()))
    except Mismatch as error:
        found = error
    judge(found, ours)
    try:
        [[other]] = engine().execute(f"SELECT {sql} FROM item").fetchall()  # noqa: S608
    except duckdb.Error as error:
        other = error
    judge(other, theirs)


@pytest.mark.parametrize(("text", "ours", "sql", "theirs", "reason"), OVER_MANY)
def test_an_aggregate_means_what_the_language_says(text: str, ours: Any, sql: str, theirs: Any, reason: str) -> None:
    notes = [Note(id=f"Note_{place}", content=content) for place, content in enumerate(ROWS)]
    judge(parse_aggregate(text).of(notes, Evaluation({}, Refusing())), ours)
    [[other]] = engine().execute(f"SELECT {sql} FROM t").fetchall()  # noqa: S608
    judge(other, theirs)


def test_every_difference_has_its_reason() -> None:
    """There are no two of one expression."""
    texts = [text for text, *_ in (*DIFFERENCES, *OVER_MANY)]
    assert len(set(texts)) == len(texts)
    assert all(reason for *_, reason in (*DIFFERENCES, *OVER_MANY))
