"""What AND, OR, CASE, coalesce, IN and BETWEEN do not need never fails a query: it is as with the verbs."""

from __future__ import annotations

import pytest

from infospace import Note
from infospace.core.json_types import JSON
from infospace.expressions import Evaluation, Mismatch, Refusing, parse_expression
from infospace.expressions.query.columns import Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query

ROWS = (
    {"x": -1, "t": "a", "z": 0, "big": 10**37, "m": "one", "s": "a"},
    {"x": 4, "t": None, "z": 2, "big": 2, "m": 5, "s": "b"},
    {"x": 9, "t": "c", "z": 1, "big": 1, "m": 7, "s": "b"},
)
GIVEN: dict[str, JSON] = {"none": []}
FAILING = {
    "sqrt(x)": "x < 0",
    "sqrt(x) + sqrt(x) * sqrt(x)": "x < 0",
    "1 / z": "z = 0",
    "7 % z": "z = 0",
    "big * big": "big > 9",
    "CAST(m AS number)": "x < 0",
    "CAST(m AS integer)": "x < 0",
    "power(x, 0.5)": "x < 0",
    "round(10 / z, 2)": "z = 0",
    "length(CASE WHEN x < 0 THEN concat_ws('-', sqrt(x), sqrt(x)) ELSE s END)": "x < 0",
    "days(s, '2026-01-01')": "s IS NOT NULL",
    "format(sqrt(x), 1)": "x < 0",
    "substr('abc', sqrt(x))": "x < 0",
    "regexp_extract('abc', CASE WHEN x < 0 THEN '(' ELSE 'b' END)": "x < 0",
    "concat_ws('-', sqrt(x), s, sqrt(x))": "x < 0",
    "sqrt(-1)": "x = x",
    "substr('Ab', 3, -1)": "x = x",
    "CAST('one' AS number)": "x = x",
    "date_add('soon', 1)": "x = x",
}
"""Operations that have no result for some rows, and a condition that is true of those."""
FORMS = (
    "CASE WHEN {when} THEN NULL ELSE {what} END",
    "CASE WHEN NOT ({when}) THEN {what} END",
    "CASE WHEN {when} THEN 1 WHEN x > 100 THEN {what} ELSE 2 END",
    "CASE WHEN {when} THEN 1 WHEN {what} IS NULL THEN 2 ELSE 3 END",
    "coalesce(CASE WHEN {when} THEN 'known' END, concat_ws(' ', {what}))",
    "coalesce(CASE WHEN {when} THEN 'known' END, concat_ws(' ', {what}), concat_ws('-', {what}))",
    "coalesce(CASE WHEN {when} THEN TRUE END, {what} IS NULL)",
    "coalesce(CASE WHEN {when} THEN TRUE END, coalesce(x = 77, {what} IS NOT NULL))",
    "({when}) OR {what} IS NULL",
    "NOT ({when}) AND {what} IS NOT NULL",
    "x > 100 OR ({when}) OR x > 200 OR {what} IS NULL",
    "({when}) OR (x < 100 AND {what} IS NULL)",
    "x IN (CASE WHEN {when} THEN x ELSE 77 END, CASE WHEN {when} THEN 1 ELSE length(concat_ws('', {what})) END)",
    "CASE WHEN {when} THEN 0 ELSE 1 END BETWEEN 1 AND CASE WHEN {what} IS NULL THEN 0 ELSE 1 END",
    (
        "coalesce(CASE WHEN ({when}) OR {what} IS NULL THEN 'a' END,"
        " CASE WHEN NOT ({when}) THEN concat_ws('', {what}) END)"
    ),
)


def test_a_try_is_not_null_of_what_only_the_query_cannot_hold() -> None:
    """Null would be a wrong answer: the language has the number."""
    text = "TRY_CAST('941785381157980805' AS number)"
    assert evaluated(text, ROWS) == [941785381157980805] * 3
    with pytest.raises(Mismatch, match="which a query's numbers with a point do not hold"):
        queried(f"SELECT {text} AS v FROM $rows", ROWS)


@pytest.mark.parametrize("text", ["big * nothing", "nothing * big", "big * nothing + x", "- (big * nothing)"])
def test_a_product_with_nothing_is_nothing(text: str) -> None:
    """The result is small; what it is made of needs its own room."""
    rows = ({"x": 1, "big": 10**38 - 1, "nothing": 0}, {"x": 2, "big": -(2**64), "nothing": 0})
    assert queried(f"SELECT {text} AS v FROM $rows", rows) == evaluated(text, rows)


@pytest.mark.parametrize("text", ["x", "x || ''", "length(x || '')", "-x"])
def test_a_zero_keeps_its_sign(text: str) -> None:
    """A text of it shows the sign, in a query as with the verbs."""
    rows = ({"x": -0.0}, {"x": 0.0}, {"x": -0.5})
    assert list(map(repr, queried(f"SELECT {text} AS v FROM $rows", rows))) == list(map(repr, evaluated(text, rows)))


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ('SELECT "@id" AS v FROM $rows', ["Note_0", "Note_1", "Note_2"]),
        ("SELECT `@id` AS v FROM $rows", ["Note_0", "Note_1", "Note_2"]),
        ("SELECT x AS v FROM $rows WHERE \"@id\" = 'Note_1'", [4]),
        ('SELECT x AS v FROM $rows ORDER BY "@id" DESC LIMIT 1', [9]),
        ('SELECT count(DISTINCT "@id") AS v FROM $rows', [3]),
        ('SELECT a.x AS v FROM $rows a JOIN $rows b ON a."@id" = b."@id" WHERE b.x = 9', [9]),
    ],
)
def test_a_quoted_word_of_the_resource_is_that_word(sql: str, values: list[JSON]) -> None:
    """In one table as behind an alias: a content key of that name cannot stand first."""
    assert queried(sql, ROWS) == values


@pytest.mark.parametrize(
    "text",
    [
        "concat_ws(t, {what})",
        "concat_ws(t, {what}, 'b')",
        "coalesce(t, concat_ws(t, {what}))",
        "concat_ws(NULL, {what})",
        "substr(t, {what})",
        "starts_with(t, concat_ws('', {what}))",
        "contains(t, concat_ws('', {what}))",
        "greatest(t, concat_ws('', {what}))",
        "replace(t, 'a', concat_ws('', {what}))",
        "replace(t, u, concat_ws('', {what}))",
        "t IN (concat_ws('', {what}), 'b')",
        "n IN ({what}, 4)",
        "power(n, {what})",
        "round(n, {what})",
    ],
)
def test_what_stands_after_a_null_is_not_asked_for(text: str) -> None:
    """As the evaluator reads the arguments of a function, one after the other: null ends it."""
    written = text.format(what="sqrt(x)")
    rows = ({"x": -1, "t": None, "u": "a", "n": None}, {"x": 4, "t": "-", "u": None, "n": 3})
    assert queried(f"SELECT {written} AS v FROM $rows", rows) == evaluated(written, rows)
    if not text.startswith(("coalesce", "concat_ws(NULL")):
        with pytest.raises(Mismatch, match="has sqrt, which takes a number that is not"):
            queried(f"SELECT {written} AS v FROM $rows", ({"x": -1, "t": "-", "u": "a", "n": 3},))


@pytest.mark.parametrize(
    "text",
    [
        "nothing || sqrt(x)",
        "sqrt(x) || nothing",
        "nothing + sqrt(x)",
        "sqrt(x) * nothing",
        "nothing = sqrt(x)",
        "sqrt(x) < nothing",
        "nothing BETWEEN sqrt(x) AND 3",
        "nothing LIKE concat_ws('', sqrt(x))",
        "greatest(sqrt(x), nothing)",
        "substr(concat_ws('', sqrt(x)), nothing)",
        "sqrt(x) + NULL",
    ],
)
def test_a_column_of_nulls_hides_no_failure(text: str) -> None:
    """What the evaluator fails of, the query fails of, whatever else the column may hold."""
    rows = ({"x": -1, "nothing": None}, {"x": 4, "nothing": None})
    with pytest.raises(Mismatch, match="sqrt"):
        evaluated(text, rows)
    with pytest.raises(Mismatch, match="sqrt"):
        queried(f"SELECT {text} AS v FROM $rows", rows)
    assert queried(f"SELECT {text} AS v FROM $rows", rows[1:]) == [None]


def clock() -> tuple[str, str]:
    return "2026-01-01", "2026-01-01T00:00:00Z"


def queried(sql: str, rows: tuple[dict[str, JSON], ...]) -> list[JSON]:
    notes = [Note(id=f"Note_{place}", content=row) for place, row in enumerate(rows)]
    return [row["v"] for row in run_query(parse_query(sql), {"$rows": Rows(notes)}, GIVEN, clock)]


def evaluated(text: str, rows: tuple[dict[str, JSON], ...]) -> list[JSON]:
    formula = parse_expression(text)
    notes = [Note(id=f"Note_{place}", content=row) for place, row in enumerate(rows)]
    return [formula.get(note, Evaluation(GIVEN, Refusing(), clock)) for note in notes]


NEGATIVE, ZERO, NUMBER = "sqrt, which takes a number that is not negative", "divides by zero", "is not a number "
SENTENCES = {
    "7 % z": ZERO,
    "1 / z": ZERO,
    "round(10 / z, 2)": ZERO,
    "big * big": "a whole number of the query has more than 38 digits",
    "CAST(m AS number)": f"cannot cast a text that {NUMBER}",
    "CAST('one' AS number)": f"cannot cast a text that {NUMBER}",
    "CAST(m AS integer)": "cannot cast a text that is not a whole number",
    "power(x, 0.5)": "power, which is not a real number",
    "days(s, '2026-01-01')": "days of what is not a date",
    "date_add('soon', 1)": "date_add of what is not a date",
    "regexp_extract('abc', CASE WHEN x < 0 THEN '(' ELSE 'b' END)": "regexp_extract, which takes a pattern of RE2",
    "substr('Ab', 3, -1)": "substr, which takes a length that is not negative",
}
"""What is said of an operation where another thing fails in it than a root."""


@pytest.mark.parametrize("what", FAILING)
def test_it_has_no_result_where_it_is_needed(what: str) -> None:
    """Each operation fails the query that needs it, so that the next tests show something."""
    with pytest.raises(Mismatch, match=SENTENCES.get(what, NEGATIVE)):
        queried(f"SELECT concat_ws(' ', {what}) AS v FROM $rows", ROWS)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", FAILING)
def test_what_is_not_needed_never_fails(what: str, form: str) -> None:
    """The evaluator answers, and the query answers the same."""
    text = form.format(what=what, when=FAILING[what])
    expected = evaluated(text, ROWS)
    assert queried(f"SELECT {text} AS v FROM $rows", ROWS) == expected


@pytest.mark.parametrize("form", FORMS)
def test_of_many_rows_and_few_values_it_is_the_same(form: str) -> None:
    """The engine keeps columns of few values apart from their rows, and evaluates each value once where it may."""
    rows = tuple(ROWS[place * 7 % 3] for place in range(6_000))
    text = form.format(what="sqrt(x)", when="x < 0")
    assert queried(f"SELECT {text} AS v FROM $rows", rows) == evaluated(text, rows)


@pytest.mark.parametrize(
    "text",
    [
        "(CASE WHEN sqrt(x) > 1 THEN 1 ELSE 2 END) IS NULL",
        "(CASE WHEN sqrt(x) > 1 THEN 1 ELSE 2 END) IS NOT NULL",
        "(sqrt(x) IN $none) IS NULL",
        "complete(sqrt(x) IN $none)",
        "(substr(s, 1, x) IN $none) IS NULL",
    ],
)
def test_what_is_needed_fails_though_its_result_is_known(text: str) -> None:
    """Whether it is null is known beforehand; that it has no result for a row, as with the verbs, is not."""
    with pytest.raises(Mismatch, match=r"which takes a (number|length) that is not negative"):
        evaluated(text, ROWS)
    with pytest.raises(Mismatch, match=r"which takes a (number|length) that is not negative"):
        queried(f"SELECT {text} AS v FROM $rows", ROWS)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("x IN (-1, sqrt(x))", [True, False, False]),
        ("x IN (sqrt(x), -1)", [True, False, False]),
        ("s IN ('a', concat_ws('', sqrt(x)))", [True, False, False]),
        ("x < 0 OR x < sqrt(x)", [True, False, False]),
        ("x > 0 AND x < sqrt(x)", [False, False, False]),
        ("x BETWEEN 1 AND sqrt(x)", [False, False, False]),
        ("coalesce(t, concat_ws('', sqrt(x)))", ["a", "2.0", "c"]),
    ],
)
def test_what_decides_comes_first(text: str, values: list[JSON]) -> None:
    """A number that compares with a call, whichever side of the sign it stands on."""
    assert queried(f"SELECT {text} AS v FROM $rows", ROWS) == evaluated(text, ROWS) == values


@pytest.mark.parametrize("form", FORMS)
def test_groups_look_no_further_either(form: str) -> None:
    """An aggregate is of all of its rows; what is made of it is as lazy."""
    text = form.format(what="sqrt(sum(x))", when="sum(x) < 0").replace("x >", "sum(x) >").replace("x <", "sum(x) <")
    text = text.replace("sum(sum(x))", "sum(x)").replace("x IN", "sum(x) IN").replace("x = 77", "sum(x) = 77")
    text = text.replace("THEN x ELSE", "THEN sum(x) ELSE")
    found = queried(f"SELECT s, {text} AS v FROM $rows GROUP BY s ORDER BY s", ROWS)
    plain = form.format(what="sqrt(x)", when="x < 0")
    assert found == evaluated(plain, ({"x": -1}, {"x": 13}))


def test_a_list_of_joined_rows_is_in_the_order_of_the_left_then_the_right() -> None:
    """Whatever the order in which the engine finds the pairs."""
    rows = tuple({"k": place % 3, "x": place} for place in range(60))
    sql = "SELECT list(a.x * 100 + b.x) AS v FROM $rows a JOIN $rows b ON a.k = b.k WHERE a.x < 6"
    pairs = [left * 100 + right for left in range(6) for right in range(60) if left % 3 == right % 3]
    assert queried(sql, rows) == [pairs]
