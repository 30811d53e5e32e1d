"""What expressions give: every function, arithmetic, CASE and CAST, and what is said where there is no result."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Note
from infospace.core.errors import PathNotFound
from infospace.expressions import Evaluation, Mismatch, Refusing, TypeMismatches, parse_condition, parse_expression
from infospace.expressions.show import show

CONTENT: Any = {
    "n": 5,
    "half": 2.5,
    "s": "Ada Lovelace",
    "none": None,
    "t": True,
    "l": ["a", 1, None],
    "o": {"a": 1},
    "due": "2026-04-01",
    "at": "2026-04-01T09:05:03.25Z",
    "big": 10**300,
    "price-cost": 7,
}


def value(text: str, **parameters: Any) -> Any:
    """The value, where a mismatch is an error."""
    note = Note(id="Note_1", content=CONTENT)
    clock = lambda: ("2026-11-23", "2026-11-23T10:00:00Z")  # noqa: E731 - a clock that stands
    given = Evaluation(parameters, Refusing(), clock, fields=("n", "none"))
    return parse_expression(text).get(note, given)


def counted(text: str, **parameters: Any) -> tuple[Any, dict[str, int]]:
    """The value, and what is counted where a mismatch is null."""
    tally = TypeMismatches()
    found = parse_expression(text).get(Note(id="Note_1", content=CONTENT), Evaluation(parameters, tally))
    return found, dict(tally.kinds)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 - 2 - 1", 4),
        ("7 - (2 - 1)", 6),
        ("6 / 3", 2),
        ("7 / 2", 3.5),
        ("8 / 2 / 2", 2),
        ("-7 / 2", -3.5),
        ("7 % 3", 1),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("-7.5 % 2", -1.5),
        ("7.5 % -2", 1.5),
        ("10 - 7 % 3", 9),
        ("-n", -5),
        ("-(n + 1)", -6),
        ("- half", -2.5),
        ("n - 1", 4),
        ("n -1", 4),
        ("price-cost", 7),
        ("9007199254740993 + 0", 2**53 + 1),
        ("9007199254740993 % 10", 3),
        ("2e3", 2000.0),
        ("1.5E-1", 0.15),
        (".5 + 1", 1.5),
        ("none + 1", None),
        ("1 + nowhere", None),
        ("-none", None),
        ("s || '!'", "Ada Lovelace!"),
        ("n || '' || half", "52.5"),
        ("t || 1", "true1"),
        ("s || none", None),
        ("none || s", None),
        ("'a' || 1 + 2", "a3"),
    ],
)
def test_arithmetic_and_joining(text: str, result: Any) -> None:
    """Exact division, a remainder with the sign of the first, whole numbers whole and exact, null in, null out."""
    assert (value(text), type(value(text))) == (result, type(result))


def test_a_long_row_of_operators_gives_what_a_short_one_does() -> None:
    """From left to right; null and a mismatch as everywhere."""
    for many in (2, 63, 64, 65, 500):
        assert value("1000" + " - n" * many) == 1000 - 5 * many
        assert value("s" + " || 'x'" * many) == "Ada Lovelace" + "x" * many
        assert value("none" + " + 1" * many) is None
        assert value("1" + " + 1" * (many - 1) + " + none") is None
        with pytest.raises(Mismatch, match="computes with number and text, not with numbers"):
            value("1" + " + 1" * (many - 1) + " + s")


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("least(3, 1, 2)", 1),
        ("greatest(3, 1, 2)", 3),
        ("least('b', 'a')", "a"),
        ("greatest('b', 'a')", "b"),
        ("least(1, none)", None),
        ("abs(-2)", 2),
        ("abs(-2.5)", 2.5),
        ("round(2.5)", 3),
        ("round(-2.5)", -3),
        ("round(1.005, 2)", 1.01),
        ("round(2.675, 2)", 2.68),
        ("round(n, 2)", 5),
        ("round(1250, -2)", 1300),
        ("round(1249, -2)", 1200),
        ("round(half, 0)", 3.0),
        ("floor(2.7)", 2),
        ("floor(-2.1)", -3),
        ("ceil(2.1)", 3),
        ("ceil(-2.7)", -2),
        ("power(2, 10)", 1024),
        ("power(2, -1)", 0.5),
        ("power(2, 0.5) * power(2, 0.5) > 1.99", True),
        ("power(0, 0)", 1),
        ("power(1, 99999)", 1),
        ("power(-1, 99999)", -1),
        ("power(2, 1023)", 2**1023),
        ("sqrt(9)", 3.0),
        ("sqrt(0)", 0.0),
        ("lower(s)", "ada lovelace"),
        ("upper(s)", "ADA LOVELACE"),
        ("trim('  a b ')", "a b"),
        ("length(s)", 12),
        ("length(l)", 3),
        ("substr(s, 1, 3)", "Ada"),
        ("substr(s, 5)", "Lovelace"),
        ("substr(s, 0, 3)", "Ad"),
        ("substr(s, -1, 3)", "A"),
        ("substr(s, -5, 3)", ""),
        ("substr(s, 12, 5)", "e"),
        ("substr(s, 13)", ""),
        ("substr(s, 2, 0)", ""),
        ("replace(s, 'a', 'o')", "Ado Loveloce"),
        ("replace(s, '', 'o')", "Ada Lovelace"),
        ("replace(s, 'a', '')", "Ad Lovelce"),
        ("initcap('the QUICK fox-trot o2x')", "The Quick Fox-Trot O2x"),
        ("initcap('a_b')", "A_B"),
        ("split('a,b,,c', ',')", ["a", "b", "", "c"]),
        ("split('a', '')", ["a"]),
        ("split('a,b,,c', ',')[0]", "a"),
        ("split('a,b,,c', ',')[-1]", "c"),
        ("split('a,b', ',')[2]", None),
        ("split('a,b', ',')[-3]", None),
        ("split(none, ',')[0]", None),
        ("split(split('a=1;b=2', ';')[1], '=')[0] || '!'", "b!"),
        ("(coalesce(none, l))[1]", 1),
        ("l[0] || split('b c', ' ')[1]", "ac"),
        ("CAST(split('a 7', ' ')[1] AS integer) + 1", 8),
        ("concat_ws(', ', 'a', none, 1, t)", "a, 1, true"),
        ("concat_ws('-', l)", "a-1"),
        ("concat_ws('-', 'x', l, 'y')", "x-a-1-y"),
        ("concat_ws('-', none)", ""),
        ("concat_ws(none, 'a')", None),
        ("starts_with(s, 'Ada')", True),
        ("starts_with(s, 'ada')", False),
        ("contains(s, 'Love')", True),
        ("contains(s, 'love')", False),
        ("contains(l, 1)", True),
        ("contains(l, '1')", False),
        ("contains(l, t)", False),
        ("contains(none, 1)", None),
        ("format(1234.5, 2)", "1,234.50"),
        ("format(1234567, 0)", "1,234,567"),
        ("format(-0.001, 2)", "0.00"),
        ("format(-1234.565, 2)", "-1,234.57"),
        ("matches(s, 'L.v')", True),
        ("matches(s, '^L')", False),
        ("regexp_extract(s, '(L)(o)')", "Lo"),
        ("regexp_extract(s, '(L)(o)', 2)", "o"),
        ("regexp_extract(s, '(L)(o)', 0)", "Lo"),
        ("regexp_extract(s, 'x')", None),
        ("regexp_extract(s, '(x)?A', 1)", None),
        ("regexp_replace(s, '[aeo]', '*')", "Ad* Lovelace"),
        ("regexp_replace(s, '[aeo]', '*', '')", "Ad* Lovelace"),
        ("regexp_replace(s, '[aeo]', '*', 'g')", "Ad* L*v*l*c*"),
        (r"regexp_replace(s, '(\\w+) (\\w+)', '\2, \1')".replace("\\\\", "\\"), "Lovelace, Ada"),
        (r"regexp_replace(s, 'A', '\\\0')", r"\Ada Lovelace"),
        (r"regexp_replace(s, '(x)?A', '[\1]')", "[]da Lovelace"),
        ("regexp_replace(s, 'x', 'y', 'g')", "Ada Lovelace"),
        ("today()", "2026-11-23"),
        ("now()", "2026-11-23T10:00:00Z"),
        ("date_add(due, 30)", "2026-05-01"),
        ("date_add(due, -1)", "2026-03-31"),
        ("date_add(at, 1)", "2026-04-02T09:05:03.25Z"),
        ("date_add('2024-02-28', 1)", "2024-02-29"),
        ("days(due, '2026-04-11')", 10),
        ("days('2026-04-11', due)", -10),
        ("days(at, '2026-04-02T00:00')", 1),
        ("year(due) * 10000 + month(due) * 100 + day(due)", 20260401),
        ("weekday(due)", 3),
        ("weekday('2026-04-05')", 7),
        ("strftime(due, '%A, %-d. %B %Y (%a %b %d/%m/%y)')", "Wednesday, 1. April 2026 (Wed Apr 01/04/26)"),
        ("strftime(at, '%H:%M:%S.%f %I %p')", "09:05:03.250000 09 AM"),
        ("strftime('2026-01-01 13:07', '%I:%M %p %-I')", "01:07 PM 1"),
        ("strftime('2026-01-01T00:30', '%I %p %T')", "12 AM 00:30:00"),
        ("strftime('2026-01-01T12:00:00', '%I %p')", "12 PM"),
        ("strftime('2027-01-01', '%j %u %V %G %F 100%%')", "001 5 53 2026 2027-01-01 100%"),
        ("strftime('0099-03-04', '%Y %-Y')", "0099 99"),
        ("coalesce(none, nowhere, n, s)", 5),
        ("coalesce(none)", None),
        ("complete(*)", False),
        ("complete(n, s)", True),
        ("complete(n, none)", False),
        ("has(l, 'a')", True),
    ],
)
def test_each_function_gives_what_it_says(text: str, result: Any) -> None:
    """Of the kind that it says, too: a whole number is none with a point."""
    assert (value(text), type(value(text))) == (result, type(result))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("CASE WHEN n > 3 THEN 'many' ELSE 'few' END", "many"),
        ("CASE WHEN n > 9 THEN 'many' WHEN n > 4 THEN 'some' ELSE 'few' END", "some"),
        ("CASE WHEN none THEN 1 ELSE 2 END", 2),
        ("CASE WHEN n > 9 THEN 1 END", None),
        ("CASE n WHEN 4 THEN 'four' WHEN 5 THEN 'five' END", "five"),
        ("CASE none WHEN none THEN 1 ELSE 0 END", 0),
        ("CASE WHEN n = 0 THEN 0 ELSE 10 / n END", 2),
        ("CASE WHEN n = 5 THEN 0 ELSE 1 / 0 END", 0),
        ("CASE WHEN FALSE THEN 1 / 0 ELSE CASE WHEN t THEN 'in' END END", "in"),
        ("CASE WHEN n = 5 OR 1 / 0 = 1 THEN 1 ELSE 0 END", 1),
        ("n = 4 AND 1 / 0 = 1", False),
        ("n > 4 AND n < 6", True),
        ("none AND t", None),
        ("t IS NULL", False),
        ("none IS NOT NULL", False),
        ("NOT t", False),
        ("s LIKE 'ada%'", True),
        ("n IN (1, 5)", True),
        ("n IN $some", True),
        ("6 IN $some", False),
        ("none IN $some", None),
        ("6 IN $holey", None),
        ("none IN $nothing", False),
        ("n BETWEEN 1 AND 9", True),
        ("o", {"a": 1}),
        ("l[-1]", None),
        ("o.a", 1),
        ("$some[1]", 5),
        ("NULL", None),
    ],
)
def test_conditions_and_cases_are_values(text: str, result: Any) -> None:
    """AND, OR and CASE look no further than they must."""
    some = [1, 5]
    assert value(text, **{"some": some, "some[1]": 5, "holey": [1, None], "nothing": []}) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("CAST(n AS text)", "5"),
        ("CAST(half AS text)", "2.5"),
        ("CAST(t AS text)", "true"),
        ("CAST(o AS text)", '{"a":1}'),
        ("CAST(l AS text)", '["a",1,null]'),
        ("CAST(none AS text)", None),
        ("CAST('42' AS number)", 42),
        ("CAST(' -4.50 ' AS number)", -4.5),
        ("CAST('1e3' AS number)", 1000.0),
        ("CAST('+.5' AS number)", 0.5),
        ("CAST('9007199254740993' AS number)", 2**53 + 1),
        ("CAST(half AS number)", 2.5),
        ("CAST(3.0 AS integer)", 3),
        ("CAST('3.0' AS integer)", 3),
        ("CAST('true' AS integer)", 1),
        ("CAST(' False ' AS integer)", 0),
        ("CAST(t AS integer)", 1),
        ("CAST('TRUE' AS boolean)", True),
        ("CAST('false' AS boolean)", False),
        ("CAST(0 AS boolean)", False),
        ("CAST(-2 AS boolean)", True),
        ("CAST('0' AS boolean)", False),
        ("CAST(t AS boolean)", True),
        ("TRY_CAST('x' AS number)", None),
        ("TRY_CAST('7' AS number)", 7),
        ("TRY_CAST(l AS boolean)", None),
        ("TRY_CAST(2.5 AS integer)", None),
    ],
)
def test_cast_converts_what_is_written_so(text: str, result: Any) -> None:
    """Text of a number, a whole number, true and false; TRY_CAST gives null for the rest."""
    assert (value(text), type(value(text))) == (result, type(result))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("1 / 0", "`1 / 0` divides by zero: 1 and 0", "CASE WHEN … THEN … END decides before"),
        ("n % 0.0", "`n % 0.0` divides by zero: 5 and 0.0", "CASE WHEN … THEN … END decides before"),
        ("power(0, -1)", "has power, which divides by zero: 0 and -1", None),
        ("n + t", "`n + t` computes with number and boolean, not with numbers: 5 and true", None),
        ("n + s", "computes with number and text, not with numbers", "CAST(… AS number) makes a number of a text"),
        ("s - o", "computes with text and an object, not with numbers", None),
        ("-s", '`-s` takes a number, not text: "Ada Lovelace"', None),
        ("-t", "`-t` takes a number, not boolean: true", None),
        ("big * big", "`big * big` is beyond what a number holds", None),
        ("1e308 * 10", "is beyond what a number holds: 1e+308 and 10", None),
        ("big / 1e-10", "is beyond what a number holds", None),
        ("power(10, 400)", "has power, which is beyond what a number holds", None),
        ("power(2, 1024)", "has power, which is beyond what a number holds", None),
        ("power(10.0, 400)", "has power, which is beyond what a number holds", None),
        ("power(-8, 0.5)", "has power, which is not a real number", None),
        ("sqrt(-1)", "has sqrt, which takes a number that is not negative: -1", None),
        ("round(n, 401)", "has round, which takes at most 400 digits", None),
        ("round(n, 0.5)", "has round, which takes a whole number: 0.5", None),
        ("format(n, -1)", "has format, which takes 0 to 400 digits: 5 and -1", None),
        ("substr(s, 1, -1)", "has substr, which takes a length that is not negative", None),
        ("s || o", "joins texts, numbers and booleans, not an object", None),
        ("concat_ws('-', o)", "joins texts, numbers and booleans", None),
        ("concat_ws(n, s)", "takes a text between the parts, not number: 5", None),
        ("least(1, s)", "has least, which takes numbers, or texts, and not both", None),
        ("greatest(t)", "has greatest, which takes numbers, or texts, not boolean: true", None),
        ("abs(s)", "has abs, which takes a number, not text", None),
        ("lower(n)", "`lower(n)` has lower, which takes text, not number: 5", None),
        ("length(n)", "has length, which takes text or a list, not number: 5", None),
        ("split(s, n)", "has split, which takes text, not number: 5", None),
        ("contains(s, n)", "has contains, which looks for text in a text", None),
        ("contains(o, 'a')", "has contains, which takes text or a list, not an object", None),
        ("matches(s, $p)", "has matches, which takes a pattern of RE2", None),
        ("regexp_extract(s, '(A)', 2)", "has regexp_extract, which takes a group from 0 to 1", None),
        ("regexp_extract(s, '(A)', -1)", "has regexp_extract, which takes a group from 0 to 1", None),
        (r"regexp_replace(s, 'A', '\1')", "has no group 1: the pattern has 0", None),
        ("regexp_replace(s, 'A', 'B', 'i')", "takes the flag 'g' alone, which replaces all", None),
        ("year(s)", "has year of what is not a date such as 2026-04-01", None),
        ("year('2026-02-30')", "has year of what is not a day of the calendar", None),
        ("year('2026-02-03T25:00')", "is not a day of the calendar, or no time of a day", None),
        ("year('2026-2-3')", "is not a date such as", None),
        ("date_add(due, 99999999)", "has date_add, which leaves the years 1 to 9999", None),
        ("date_add(due, 1.5)", "has date_add, which takes a whole number: 1.5", None),
        ("days(due, s)", "has days of what is not a date", None),
        ("strftime(due, '%Q')", "has no pattern %Q for dates: there are %Y %m", None),
        ("CAST(s AS number)", "cannot cast a text that is not a number", "TRY_CAST gives null for what cannot be cast"),
        ("CAST('1_000' AS number)", "cannot cast a text that is not a number", None),
        ("CAST('0x10' AS integer)", 'cannot cast a text that is not a whole number: "0x10"', None),
        ("CAST('nan' AS number)", "cannot cast a text that is not a number", None),
        ("CAST('1e999' AS number)", "is beyond what a number holds", None),
        ("CAST(t AS number)", "cannot cast boolean to number: true", None),
        ("CAST(l AS number)", "cannot cast a list to number", None),
        ("CAST(half AS integer)", "cannot cast a number with a fraction to integer: 2.5", None),
        ("CAST(half AS boolean)", "cannot cast a number with a fraction to boolean: 2.5", None),
        ("CAST('yes' AS boolean)", 'cannot cast a text that is not a boolean: "yes"', None),
        ("CAST(l AS boolean)", "cannot cast a list to boolean", None),
        ("n = s", "`n = s` compares number with text: 5 and ", "CAST(… AS text) a text of a number"),
        ("o < o", "compares an object with an object, which has no order", None),
        ("n IN (1, s)", "compares number with text: 5 and ", None),
        ("n IN $p", "takes a list, not text", None),
        ("s LIKE n", "compares text with number", None),
        ("n LIKE 'x'", "looks at number, not at text: 5", None),
        ("(s || '')[1]", "`(s || '')[1]` takes an element of text, not of a list: ", None),
        ("NOT s", "is used as a condition and is text", None),
        ("CASE WHEN n THEN 1 END", "`n` is used as a condition and is number: 5", None),
    ],
)
def test_what_has_no_result_is_said_in_one_sentence(text: str, message: str, hint: str | None) -> None:
    """Which operation, what is wrong, and the values; counted, it is null."""
    with pytest.raises(Mismatch) as raised:
        value(text, p="(")
    assert message in raised.value.message
    assert raised.value.message.startswith(f"`{show(parse_expression(text).tree)}` ") or text.startswith(
        ("NOT", "CASE")
    )
    if hint:
        assert hint in (raised.value.hint or "")
    found, kinds = counted(text, p="(")
    assert (found, sum(kinds.values())) == (None, 1) or text.startswith("CASE")


class Word(str):
    """A text, as a tool in Python may give it."""

    __slots__ = ()


def test_a_text_of_a_kind_of_its_own_is_joined_as_a_text() -> None:
    assert value("$word || '!' || 1", word=Word("a")) == "a!1"
    assert value("concat_ws(', ', $word, n)", word=Word("a")) == "a, 5"


def test_a_large_text_is_not_made() -> None:
    """Ten million characters are."""
    text = "x" * 1_000_000
    assert len(value("replace($x, 'x', '0123456789')", x=text)) == 10_000_000
    with pytest.raises(Mismatch, match="makes a text of more than 10,000,000 characters"):
        value("replace($x, 'x', '01234567890')", x=text)
    for new in ("0" * 10_000, "0" * 9_999 + r"\0"):
        assert len(value("regexp_replace($x, 'x', $new, 'g')", x=text[:1_000], new=new)) == 10_000_000
        with pytest.raises(Mismatch, match="makes a text of more than 10,000,000 characters"):
            value("regexp_replace($x, 'x', $new, 'g')", x=text[:1_001], new=new)
    with pytest.raises(Mismatch, match="makes a text of more than 10,000,000 characters"):
        value("concat_ws('', $x, $x, $x, $x, $x, $x, $x, $x, $x, $x, 'x')", x=text)


def test_a_missing_place_of_a_parameter_fails_but_where_it_is_asked_for() -> None:
    """`coalesce`, IS NULL and conditions take it for null; a parameter that nobody gave is an error everywhere."""
    missing = {"a.b": PathNotFound("`b` does not exist")}
    assert value("coalesce($a.b, 3)", **missing) == 3
    assert value("$a.b IS NULL", **missing) is True
    assert value("$a.b IS NOT NULL", **missing) is False
    assert value("coalesce(lower($a.b), 'none')", **missing) == "none"
    for text in ("$a.b", "$a.b + 1", "lower($a.b)", "coalesce(1, 2) + $a.b", "$a.b = 1", "1 IN $a.b"):
        with pytest.raises(PathNotFound, match="`b` does not exist"):
            value(text, **missing)
    note = Note(id="Note_1", content=CONTENT)
    for text in ("$a.b = 1", "NOT $a.b > 3", "1 + $a.b > 2", "n IN $a.b"):
        assert parse_condition(text).match(note, missing) is None
    with pytest.raises(PathNotFound, match=r"no value for \$x"):
        value("coalesce($x, 3)")


def test_complete_of_everything_asks_for_the_fields_of_all() -> None:
    """Of an object those that any item has; of another content that it is not null."""
    expression = parse_expression("complete(*)")

    def complete(content: Any) -> Any:
        return expression.get(Note(id="Note_1", content=content), Evaluation(fields=("a", "b")))

    assert complete({"a": 1, "b": 0}) is True
    assert complete({"a": 1, "b": None}) is False
    assert complete({"a": 1}) is False
    assert complete("text") is True
    assert complete(None) is False
    assert expression.reads_all is True
    assert parse_expression("complete(a)").reads_all is False
