"""Every function of expressions at its edges: what it gives, null and missing, and what it says of a wrong type."""

from __future__ import annotations

import math
import random
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

import pytest

from infospace import Note
from infospace.expressions import Evaluation, Mismatch, Refusing, TypeMismatches, parse_expression
from infospace.expressions.functions import FUNCTIONS, KINDS, round_number
from infospace.expressions.show import show

TODAY, NOW = "2026-11-23", "2026-11-23T21:05:09Z"
ITEM = Note(
    id="Note_1",
    content={
        "n": 7,
        "list": ["a", 1, 1.0, True, None],
        "empty": [],
        "object": {"a": 1},
        "lists": [[1], [2]],
        "e": "e\u0301",
        "tab": "\t\u00a0 a b \n",
    },
)


def value(text: str) -> Any:
    given = Evaluation({}, Refusing(), lambda: (TODAY, NOW), ("n", "list"))
    return parse_expression(text).get(ITEM, given)


GIVES: Final[list[tuple[str, Any]]] = [
    ("coalesce(missing, NULL, 0, 1)", 0),
    ("coalesce(NULL)", None),
    ("least(3, 1, 2)", 1),
    ("least('b', 'B', 'é')", "B"),
    ("greatest(1, 1.5)", 1.5),
    ("greatest('z', 'é')", "é"),
    ("greatest(-1)", -1),
    ("least(2, 1, NULL)", None),
    # numbers
    ("abs(-3)", 3),
    ("abs(-0.5)", 0.5),
    ("abs(-9223372036854775808)", 9223372036854775808),
    ("round(2.5)", 3),
    ("round(-2.5)", -3),
    ("round(0.5)", 1),
    ("round(-0.4)", 0),
    ("round(-0.4, 0)", 0.0),
    ("round(1.005, 2)", 1.01),
    ("round(2.675, 2)", 2.68),
    ("round(-1.005, 2)", -1.01),
    ("round(1e20)", 10**20),
    ("round(1234567, -3)", 1235000),
    ("round(1250, -2)", 1300),
    ("round(-1250, -2)", -1300),
    ("round(1234.5, -2)", 1200.0),
    ("round(7, 2)", 7),
    ("round(1.5, 2.0)", 1.5),
    ("round(123456789012345678901234567890, 2)", 123456789012345678901234567890),
    ("floor(-2.5)", -3),
    ("ceil(-2.5)", -2),
    ("floor(2)", 2),
    ("floor(1e20)", 10**20),
    ("power(2, 10)", 1024),
    ("power(2, 200)", 2**200),
    ("power(2, -1)", 0.5),
    ("power(2.0, 3)", 8.0),
    ("power(0, 0)", 1),
    ("power(-2, 3)", -8),
    ("power(4, 0.5)", 2.0),
    ("sqrt(9)", 3.0),
    ("sqrt(0)", 0.0),
    ("format(1234.5, 2)", "1,234.50"),
    ("format(-1234567.891, 1)", "-1,234,567.9"),
    ("format(1.005, 2)", "1.01"),
    ("format(0.5, 0)", "1"),
    ("format(-0.4, 0)", "0"),
    ("format(999.995, 2)", "1,000.00"),
    ("format(12345678901234567890, 0)", "12,345,678,901,234,567,890"),
    ("format(0, 3)", "0.000"),
    ("length(format(1, 400))", 402),
    # operators
    ("-7 % 4", -3),
    ("7 % -4", 3),
    ("-7.5 % 2", -1.5),
    ("6 / 3", 2),
    ("7 / 2", 3.5),
    ("1 / 3", 1 / 3),
    ("100000000000000000000 / 10", 10**19),
    ("0.1 + 0.2", 0.1 + 0.2),
    ("9007199254740993 + 1", 9007199254740994),
    ("2 + 3 * 4 - 10 / 5", 12),
    ("-(-3)", 3),
    ("- n", -7),
    ("1 || TRUE || 'é' || 1.0", "1trueé1.0"),
    ("1e21 || ''", "1e+21"),
    # texts
    ("lower('ÄÉЖΣ')", "äéжς"),
    ("upper('straße é')", "STRASSE É"),
    ("lower('')", ""),
    ("trim('  a b ')", "a b"),
    ("trim(tab)", "a b"),
    ("trim('')", ""),
    ("length('')", 0),
    ("length('日本🎉')", 3),
    ("length(e)", 2),
    ("length(list)", 5),
    ("length(empty)", 0),
    ("substr('abcdef', 2)", "bcdef"),
    ("substr('abcdef', 2, 3)", "bcd"),
    ("substr('abc', 1, 0)", ""),
    ("substr('abc', 3, 99)", "c"),
    ("substr('abc', 4)", ""),
    ("substr('abc', 0, 2)", "a"),
    ("substr('abc', -1, 3)", "a"),
    ("substr('abc', -5, 2)", ""),
    ("substr('日本🎉', 3, 1)", "🎉"),
    ("substr('abc', 2.0, 1.0)", "b"),
    ("replace('aaa', 'aa', 'b')", "ba"),
    ("replace('abc', '', 'x')", "abc"),
    ("replace('a.b', '.', '')", "ab"),
    ("initcap('the QUICK-brown fox''s')", "The Quick-Brown Fox'S"),
    ("initcap('été ßa 1a _b')", "Été Ssa 1a _B"),
    ("initcap('')", ""),
    ("split('a,b,,', ',')", ["a", "b", "", ""]),
    ("split('', ',')", [""]),
    ("split('abc', '')", ["abc"]),
    ("split('a--b', '--')", ["a", "b"]),
    ("split('a.b', '.')", ["a", "b"]),
    ("concat_ws(', ', 'a', 1, TRUE, NULL, 1.5)", "a, 1, true, 1.5"),
    ("concat_ws('-', list)", "a-1-1.0-true"),
    ("concat_ws('-', empty, 'x')", "x"),
    ("concat_ws('-', '', '')", "-"),
    ("concat_ws('', missing)", ""),
    ("starts_with('é日', 'é')", True),
    ("starts_with('abc', '')", True),
    ("starts_with('Abc', 'a')", False),
    ("contains('abc', 'bc')", True),
    ("contains('abc', '')", True),
    ("contains('abc', 'B')", False),
    ("contains(list, 1)", True),
    ("contains(list, 'A')", False),
    ("contains(list, FALSE)", False),
    ("contains(empty, 1)", False),
    ("contains(lists, lists[1])", True),
    # patterns
    ("matches('abc', 'b')", True),
    ("matches('abc', '^b')", False),
    ("matches('', '')", True),
    ("matches('ÀB', '(?i)àb')", True),
    (r"matches('é', '\w')", False),
    (r"matches('é', '\pL')", True),
    (r"regexp_extract('v1.25', '\d+')", "1"),
    (r"regexp_extract('v1.25', '(\d+)\.(\d+)', 2)", "25"),
    ("regexp_extract('abc', 'x')", None),
    ("regexp_extract('b', '(x)?b', 1)", None),
    ("regexp_replace('aab', 'a', 'x')", "xab"),
    ("regexp_replace('aab', 'a', 'x', 'g')", "xxb"),
    (r"regexp_replace('ab', '(a)(b)', '\2\1\0\\')", "baab\\"),
    ("regexp_replace('abc', 'b*', '-', 'g')", "-a-c-"),
    ("regexp_replace('abb', 'b*$', '-', 'g')", "a-"),
    ("regexp_replace('é日', '', '-', 'g')", "-é-日-"),
    ("regexp_replace('abc', 'x', '-')", "abc"),
    # dates
    ("today()", TODAY),
    ("now()", NOW),
    ("date_add('2024-01-31', 1)", "2024-02-01"),
    ("date_add('2024-02-28', 1)", "2024-02-29"),
    ("date_add('2023-02-28', 1)", "2023-03-01"),
    ("date_add('2000-02-28', 1)", "2000-02-29"),
    ("date_add('1900-02-28', 1)", "1900-03-01"),
    ("date_add('2024-03-01', -1)", "2024-02-29"),
    ("date_add('2026-12-31', 1)", "2027-01-01"),
    ("date_add('2024-02-29', 366)", "2025-03-01"),
    ("date_add('2026-11-23', 0)", "2026-11-23"),
    ("date_add('2026-11-23', 2.0)", "2026-11-25"),
    ("date_add('2026-03-28T23:30:00+01:00', 1)", "2026-03-29T23:30:00+01:00"),
    ("date_add('2026-03-28 09:30', 1)", "2026-03-29 09:30"),
    ("date_add(' 2026-03-28 ', 1)", "2026-03-29"),
    ("date_add('9999-12-30', 1)", "9999-12-31"),
    ("days('2024-02-28', '2024-03-01')", 2),
    ("days('2026-03-01', '2026-02-28')", -1),
    ("days('2026-01-01', '2026-01-01')", 0),
    ("days('2026-01-01T23:59:59Z', '2026-01-02T00:00:00Z')", 1),
    ("days('0001-01-01', '9999-12-31')", 3652058),
    ("year('2026-11-23')", 2026),
    ("month('2026-11-23T01:00')", 11),
    ("day('2024-02-29')", 29),
    ("weekday('2026-11-23')", 1),
    ("weekday('2026-11-22')", 7),
    ("weekday(today())", 1),
    ("strftime('2026-11-03T15:04:05', '%Y-%m-%d %H:%M:%S')", "2026-11-03 15:04:05"),
    ("strftime('2026-11-03T15:04:05', '%-d %B %y, %-I %p')", "3 November 26, 3 PM"),
    ("strftime('2026-11-03', '%A %a %b %j %u')", "Tuesday Tue Nov 307 2"),
    ("strftime('2027-01-01', '%G-W%V')", "2026-W53"),
    ("strftime('2026-11-03T00:00:00.25', '%I %f')", "12 250000"),
    ("strftime('0999-01-05', '%Y')", "0999"),
    ("strftime('2026-11-03', '100%% é')", "100% é"),
    ("strftime('2026-11-03', '')", ""),
    ("strftime('2026-11-03', '%F %T')", "2026-11-03 00:00:00"),
    # all of them
    ("complete(n, list)", True),
    ("complete(n, missing)", False),
    ("complete(*)", True),
    # casts
    ("CAST(1.0 AS text)", "1.0"),
    ("CAST(TRUE AS text)", "true"),
    ("CAST(object AS text)", '{"a":1}'),
    ("CAST(list AS text)", '["a",1,1.0,true,null]'),
    ("CAST(123456789012345678901234567890 AS text)", "123456789012345678901234567890"),
    ("CAST(' -7 ' AS number)", -7),
    ("CAST('7.50' AS number)", 7.5),
    ("CAST('1e3' AS number)", 1000.0),
    ("CAST('.5' AS number)", 0.5),
    ("CAST('123456789012345678901' AS number)", 123456789012345678901),
    ("CAST(2.0 AS integer)", 2),
    ("CAST('2.0' AS integer)", 2),
    ("CAST('true' AS integer)", 1),
    ("CAST(FALSE AS integer)", 0),
    ("CAST(' TRUE ' AS boolean)", True),
    ("CAST(0 AS boolean)", False),
    ("CAST('1' AS boolean)", True),
    ("CAST(-2 AS boolean)", True),
    ("TRY_CAST('x' AS number)", None),
    ("TRY_CAST(2.5 AS integer)", None),
    ("TRY_CAST(list AS boolean)", None),
]


@pytest.mark.parametrize(("text", "found"), GIVES)
def test_what_it_gives(text: str, found: Any) -> None:
    """The value and its type: 1 is not 1.0, nor true."""
    assert (type(value(text)), value(text)) == (type(found), found)


SAYS: Final[list[tuple[str, str]]] = [
    ("least(1, 'a')", "has least, which takes numbers, or texts, and not both"),
    ("greatest(TRUE, FALSE)", "has greatest, which takes numbers, or texts, not boolean"),
    ("abs('1')", "has abs, which takes a number, not text"),
    ("round(TRUE)", "has round, which takes a number, not boolean"),
    ("round(1.5, 0.5)", "has round, which takes a whole number"),
    ("round(1.5, 401)", "has round, which takes at most 400 digits"),
    ("round(1.5e308, -308)", "has round, which is beyond what a number holds"),
    ("floor(list)", "has floor, which takes a number, not a list"),
    ("power(0, -1)", "has power, which divides by zero"),
    ("power(-8, 1 / 3)", "has power, which is not a real number"),
    ("power(10, 400)", "has power, which is beyond what a number holds"),
    ("power(10.0, 400)", "has power, which is beyond what a number holds"),
    ("sqrt(-1)", "has sqrt, which takes a number that is not negative"),
    ("format('1', 2)", "has format, which takes a number, not text"),
    ("format(1, -1)", "has format, which takes 0 to 400 digits"),
    ("format(1, 401)", "has format, which takes 0 to 400 digits"),
    ("1 / 0", "divides by zero"),
    ("1 % 0.0", "divides by zero"),
    ("1e308 * 10", "is beyond what a number holds"),
    ("'1' + 1", "computes with text and number, not with numbers"),
    ("TRUE + 1", "computes with boolean and number, not with numbers"),
    ("-list", "takes a number, not a list"),
    ("list || ''", "joins texts, numbers and booleans, not a list"),
    ("lower(1)", "has lower, which takes text, not number"),
    ("trim(object)", "has trim, which takes text, not an object"),
    ("length(5)", "has length, which takes text or a list, not number"),
    ("length(object)", "has length, which takes text or a list, not an object"),
    ("substr('abc', 'a')", "has substr, which takes a whole number, not text"),
    ("substr('abc', 1.5)", "has substr, which takes a whole number"),
    ("substr('abc', 1, -1)", "has substr, which takes a length that is not negative"),
    ("replace('a', 1, 'b')", "has replace, which takes text, not number"),
    ("split(list, ',')", "has split, which takes text, not a list"),
    ("concat_ws(1, 'a')", "takes a text between the parts, not number"),
    ("concat_ws(',', object)", "joins texts, numbers and booleans"),
    ("concat_ws(',', lists)", "joins texts, numbers and booleans"),
    ("starts_with('a', 1)", "has starts_with, which takes text, not number"),
    ("contains('abc', 1)", "has contains, which looks for text in a text"),
    ("contains(5, 1)", "has contains, which takes text or a list, not number"),
    ("matches(1, 'a')", "has matches, which takes text, not number"),
    ("matches('a', '(')", "has matches, which takes a pattern of RE2"),
    ("regexp_extract('abc', 'b', 1)", "has regexp_extract, which takes a group from 0 to 0"),
    (r"regexp_replace('a', 'a', '\1')", "has regexp_replace, which has no group 1: the pattern has 0"),
    ("regexp_replace('a', 'a', 'b', 'i')", "has regexp_replace, which takes the flag 'g' alone, which replaces all"),
    ("date_add(5, 1)", "has date_add, which takes a date, not number"),
    ("date_add('2026-01-01', '1')", "has date_add, which takes a whole number, not text"),
    ("date_add('2026-01-01', 0.5)", "has date_add, which takes a whole number"),
    ("date_add('9999-12-31', 1)", "has date_add, which leaves the years 1 to 9999"),
    ("date_add('2026-01-01', 100000000000000000000)", "has date_add, which leaves the years 1 to 9999"),
    ("days('2026-01-01', 'soon')", "has days of what is not a date such as 2026-04-01 or 2026-04-01T09:30:00Z"),
    ("year('2026-1-5')", "has year of what is not a date"),
    ("day('2023-02-29')", "has day of what is not a day of the calendar, or no time of a day"),
    ("month('2026-01-01T24:00')", "has month of what is not a day of the calendar, or no time of a day"),
    ("weekday('')", "has weekday of what is not a date"),
    ("strftime('2026-01-01', '%Q')", "has strftime, which has no pattern %Q for dates: there are %Y"),
    ("CAST('x' AS number)", "cannot cast a text that is not a number"),
    ("CAST('inf' AS number)", "cannot cast a text that is not a number"),
    ("CAST('1_000' AS number)", "cannot cast a text that is not a number"),
    ("CAST('' AS integer)", "cannot cast a text that is not a whole number"),
    ("CAST(2.5 AS integer)", "cannot cast a number with a fraction to integer"),
    ("CAST('yes' AS boolean)", "cannot cast a text that is not a boolean"),
    ("CAST(0.5 AS boolean)", "cannot cast a number with a fraction to boolean"),
    ("CAST(list AS boolean)", "cannot cast a list to boolean"),
    ("CAST(TRUE AS number)", "cannot cast boolean to number"),
    ("CAST('1e999' AS number)", "is beyond what a number holds"),
]


@pytest.mark.parametrize(("text", "sentence"), SAYS)
def test_what_it_says(text: str, sentence: str) -> None:
    """One sentence, which begins with the operation; where mismatches are counted it is one, and the value null."""
    with pytest.raises(Mismatch) as raised:
        value(text)
    operation, _, said = raised.value.message.removeprefix("`").partition("` ")
    assert operation in text.replace("1.5e308", "1.5e+308").replace("1e308", "1e+308").replace("TRUE", "true").replace(
        "FALSE", "false"
    )
    assert said.startswith(sentence)
    tally = TypeMismatches()
    assert parse_expression(text).get(ITEM, Evaluation({}, tally)) is None
    assert tally.mismatches == 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1 + '1'", "CAST(… AS number) makes a number of a text, CAST(… AS text) a text of a number"),
        ("greatest(TRUE, FALSE)", None),
        ("CAST('x' AS integer)", "TRY_CAST gives null for what cannot be cast"),
        ("1 / 0", "CASE WHEN … THEN … END decides before"),
        ("sqrt(-1)", None),
    ],
)
def test_a_hint_stands_where_it_helps(text: str, hint: str | None) -> None:
    """A CAST between text and number only where there is a text."""
    with pytest.raises(Mismatch) as raised:
        value(text)
    assert raised.value.hint == hint


@pytest.mark.parametrize("text", ["-(-3)", "-(3)", "-(-n)", "1 - -3", "- n * 2", "-(n + 1)", "-(2.5) || ''"])
def test_an_expression_is_written_so_that_it_is_read_again(text: str) -> None:
    """Two minus signs in a row would begin a comment."""
    tree = parse_expression(text).tree
    assert parse_expression(show(tree)).tree == tree


FITTING = {
    "text": "'a'",
    "date": "'2026-01-01'",
    "number": "1",
    "whole": "1",
    "list": "list",
    "text or list": "'a'",
    "number or text": "1",
    "any": "'a'",
}
OTHERS = {"boolean": "TRUE", "number": "5", "string": "'a'", "list": "list", "object": "object"}
PLAIN = [name for name, function in FUNCTIONS.items() if function.apply is not None and function.takes]


def calls(name: str, place: int, argument: str) -> str:
    """A call with one argument other than what fits."""
    function = FUNCTIONS[name]
    arguments = [FITTING[function.accepts(at)] for at in range(max(function.needed, place + 1))]
    arguments[place] = argument
    return f"{name}({', '.join(arguments)})"


@pytest.mark.parametrize("name", PLAIN)
def test_null_in_null_out_at_each_place_whatever_the_others_are(name: str) -> None:
    """Null and missing are one; where one is null, the others are not judged before it."""
    for place in range(len(FUNCTIONS[name].takes)):
        assert value(calls(name, place, "NULL")) is None
        assert value(calls(name, place, "missing.deeper[3]")) is None


@pytest.mark.parametrize("name", PLAIN)
def test_a_wrong_type_is_told_at_each_place(name: str) -> None:
    """The sentence says what it takes and what it was given."""
    function = FUNCTIONS[name]
    words = {"string": "text", "list": "a list", "object": "an object"}
    for place in range(len(function.takes)):
        for kind, written in OTHERS.items():
            if kind in KINDS[function.accepts(place)]:
                continue
            with pytest.raises(Mismatch, match=rf"has {name}, which takes .*, not {words.get(kind, kind)}"):
                value(calls(name, place, written))


def test_every_function_is_in_the_tables() -> None:
    """A new one is tried at its edges, too."""
    told = " ".join(text for text, _ in (*GIVES, *SAYS))
    assert [name for name in FUNCTIONS if f"{name}(" not in told and name != "has"] == []


def test_rounding_is_that_of_decimals() -> None:
    """Half away from zero by the digits that are written, for numbers near the middle between two results too."""
    chance = random.Random(23)  # noqa: S311 - not for secrets
    for _ in range(20_000):
        digits = chance.randrange(8)
        place = Decimal(1).scaleb(-digits)
        near = chance.randrange(-(10**9), 10**9) + 0.5 + chance.choice((0, 0, 1e-9, -1e-9, 0.01, 0.3))
        number = chance.choice((near * 10.0**-digits, chance.uniform(-1e13, 1e13) * 10.0 ** -chance.randrange(20)))
        if math.nextafter(number, math.inf) != number and chance.random() < 0.3:
            number = math.nextafter(number, chance.choice((math.inf, -math.inf)))
        expected = float(Decimal(repr(number)).quantize(place, context=Context(prec=60, rounding=ROUND_HALF_UP)))
        assert repr(round_number(number, digits)) == repr(expected + 0.0), (number, digits)
