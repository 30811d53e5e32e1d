from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.core.errors import WhereInvalid
from infospace.expressions import Where, parse_where
from infospace.expressions.tokens import CONDITIONS

sys.path.insert(0, str(Path(__file__).parents[1]))

from counting import calls


def refused(text: str) -> WhereInvalid:
    """Read `text`, which must be refused."""
    with pytest.raises(WhereInvalid) as caught:
        parse_where(text)
    return caught.value


def outcome(text: str) -> Where | WhereInvalid:
    """Read `text`, or say why not; anything else comes through."""
    try:
        return parse_where(text)
    except WhereInvalid as error:
        return error


def test_a_where_says_what_it_reads_and_what_it_takes() -> None:
    """Each path and each parameter once, in order, as written."""
    text = "metadata.score > $hits[0].metadata.score AND (metadata.score < $max OR has(@metadata.tags, $t))"
    where = parse_where(f"{text} AND `odd key`[0] IN ($max, $_x9['a b'])")
    assert [str(path) for path in where.paths] == ["metadata.score", "@metadata.tags", '["odd key"][0]']
    assert where.parameters == ("hits[0].metadata.score", "max", "t", "_x9['a b']")
    assert where.text.startswith(text)


def test_a_where_is_read_once() -> None:
    """The same text gives the same object."""
    assert parse_where("a = 1") is parse_where("a = 1")


def test_an_empty_where_has_an_example_as_its_hint() -> None:
    """The example is a `where` itself."""
    error = refused("")
    assert error.hint == "such as metadata.score > 0.5 AND status = 'open'"
    assert parse_where(error.hint.removeprefix("such as ")).parameters == ()


def test_of_a_function_that_is_not_there_all_are_listed_but_that_of_one_member() -> None:
    """`has(tags, 'x')` stands where SQL has no function: it is never what was meant by another name."""
    hint = refused("frobnicatedly(a) = 1").hint or ""
    listed = hint.removeprefix("there are ").split(", ")
    assert {"coalesce", "length", "contains", "count"} <= set(listed)
    assert "has" not in listed


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("metadata.scor >", 14, "`where` ends where a value was expected, after '>' (character 14)"),
        ("", 0, "`where` is empty"),
        (" \n", 0, "`where` is empty"),
        ("a = 1 AND", 6, "ends where a value was expected, after 'AND'"),
        ("a BETWEEN 1", 10, "ends where the AND of BETWEEN was expected"),
        ("a LIKE", 2, "ends where a value"),
        ("a IN", 2, "ends where a list in parentheses"),
        ("a IS NOT", 5, "ends where NULL or NOT NULL"),
        ("NOT", 0, "ends where a value"),
        ("= 1", 0, "'=' (character 0) where a value"),
        ("a = = 1", 4, "'=' (character 4) where a value"),
        ("a = 1 b = 2", 6, "'b' (character 6) where an operator or the end"),
        ("a == 1 AND OR b", 11, "'OR' (character 11) where a value"),
        ("in = 1", 0, "a field of that name is written `in`"),
        ("(a = 1", 0, "a `(` (character 0) that is not closed"),
        ("a IN (1, 2", 5, "a `(` (character 5) that is not closed"),
        ("a = 1)", 5, "')' (character 5)"),
        ("()", 1, "')' (character 1) where a value"),
        ("a IN ()", 6, "')' (character 6) where a value"),
        ("a IN 5", 5, "contains(list, value)"),
        ("a IN b", 5, "contains(list, value)"),
        ("a IS 5", 5, "'5' (character 5) where NULL or NOT NULL"),
        ("a IS TRUE", 5, "compared by = and !="),
        ("a NOT 5", 2, "'NOT' (character 2)"),
        ("a, b = 1", 1, "',' (character 1)"),
        ("(a, b) = (1, 2)", 2, "',' (character 2)"),
        ("a BETWEEN 1 OR 2", 12, "'OR' (character 12) where the AND of BETWEEN"),
        ("a BETWEEN 1 AND 2 = 3", 0, "a range is BETWEEN low AND high"),
        ("a = b = c", 0, "comparisons are joined by AND"),
        ("1 < a < 3", 0, "a range is BETWEEN low AND high"),
        ("a = NOT b", 8, "a condition (character 8) where a value"),
        ("5", 0, "'5' (character 0) where a condition"),
        ("a = 1 AND 'x'", 10, "where a condition was expected"),
        ("lower(a)", 0, "compare what lower gives"),
        ("a LIKE 'x' ESCAPE 'xy'", 18, "one character in quotes"),
        ("a LIKE 'x' ESCAPE b", 18, "one character in quotes"),
        ("a LIKE 'x!' ESCAPE '!'", 7, "ends with its escape character (character 7)"),
        ("a ESCAPE 'x'", 2, "'ESCAPE' (character 2)"),
        ("a = 'x", 4, "a quote ' (character 4) that is not closed"),
        ("a = 'x' AND b = \"y'", 16, 'a quote " (character 16) that is not closed'),
        ("`a = 1", 0, "a quote ` (character 0) that is not closed"),
        ("a['x", 2, "a quote ' (character 2) that is not closed"),
        ("a[b] = 1", 0, "is not a path"),
        ("@what = 1", 0, "there are @metadata, @id"),
        ("$ = 1", 0, "a parameter is written $x"),
        ("$x[y] = 1", 0, "not a place of $x"),
        ("a.= 1", 1, "'.' (character 1)"),
        ("5abc = 1", 1, "'abc' (character 1)"),
        ("0x1F = a", 1, "'x1F' (character 1)"),
        ("1e999 = a", 0, "beyond what a number holds"),
        ("n'x' = 1", 1, '"\'" (character 1)'),
        ("a§b = 1", 1, "'§' (character 1)"),
        ("a = 🙂", 4, "'🙂' (character 4)"),
        ("a = \x00", 4, r"'\x00' (character 4)"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(text: str, position: int, message: str) -> None:
    """What was found, at which character from 0, and what would have fitted."""
    error = refused(text)
    assert message in str(error)
    assert error.position == position


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1=1; DROP TABLE notes", "';' (character 3)"),
        ("a = 1 -- and b", "`--` (character 6)"),
        ("a = 1 /* b */", "`/*` (character 6)"),
        ("a = 1 # b", "'#' (character 6)"),
        ("{# b #} a = 1", "'{' (character 0)"),
        ("a = 1 {# b", "'{' (character 6)"),
        ("a && b", "'&' (character 2)"),
        ("!a", "'!' (character 0)"),
        ("SELECT * FROM notes", "'SELECT' (character 0)"),
        ("a = (SELECT 1)", "'SELECT' (character 5)"),
        ("a IN (SELECT b FROM c)", "'SELECT' (character 6)"),
        ("EXISTS (SELECT 1)", "'EXISTS' (character 0)"),
        ("CAST(a AS INT) = 1", "no type 'INT' (character 10)"),
        ("a::int = 1", "':' (character 1)"),
        ("count(a) > 1", "'count' (character 0), which is made of many items"),
        ("row_number() OVER () = 1", "'row_number' (character 0)"),
        ("a = ANY (b)", "'ANY' (character 4)"),
        ("a IS DISTINCT FROM b", "'DISTINCT' (character 5)"),
        ("a ILIKE 'x'", "'ILIKE' (character 2)"),
        ("a REGEXP 'x'", "'REGEXP' (character 2)"),
        ("a LIKE 'x' COLLATE nocase", "'COLLATE' (character 11)"),
        ("a ISNULL", "'ISNULL' (character 2)"),
        ("a <=> b", "'>' (character 4)"),
        ("a = ?", "'?' (character 4)"),
        (":a = 1", "':' (character 0)"),
        ("metadata->'score' > 1", "`->` (character 8)"),
        ("metadata ->> 'score' > 1", "'>' (character 10)"),
        ("DATE '2026-01-01' < a", "(character 5)"),
        ("a = INTERVAL '1' DAY", "'INTERVAL' (character 4)"),
        ("a = 'x' 'y'", "(character 8)"),
        ("a.b.c(1) = 1", "'(' (character 5)"),
        ("WHERE a = 1", "'WHERE' (character 0)"),
        ("a = 1 ORDER BY b", "'ORDER' (character 6)"),
        ("a = 1 UNION SELECT 1", "'UNION' (character 6)"),
    ],
)
def test_other_constructs_of_sql_are_refused(text: str, found: str) -> None:
    """The language is closed: whatever else sqlglot could read is an error, and says what is allowed."""
    error = refused(text)
    assert found in error.message
    assert error.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("lenght(a) > 1", "did you mean length?"),
        ("includes(a, 'x')", "there are coalesce"),
        ("a CONTAINS 'x'", "contains(text or list, value)"),
        ("len(a) > 1", "did you mean length?"),
        ("has(a)", "has(list, value)"),
        ("lower() = 'x'", "a value is"),
        ("lower(a, b) = 'x'", "lower(text)"),
        ("a ILIKE 'x'", "LIKE ignores case already"),
        ("a && b", "write AND"),
        ("a = 1 -- b", "blanks around it"),
        ("a = 1 /* b */", "blanks around it"),
        ("WHERE a = 1", "left out"),
        ("a ESCAPE 'x'", CONDITIONS),
        ("5", CONDITIONS),
        ("a = NOT b", "comparisons are joined by AND"),
    ],
)
def test_hints_name_what_would_have_fitted(text: str, hint: str) -> None:
    """A model that writes another dialect is told the word of this one."""
    assert hint in (refused(text).hint or "")


@pytest.mark.parametrize("text", ["a = ${x.title}", "${x.title} = a", "a = '${x.title}'", 'a LIKE "%${x.title}%"'])
def test_pasted_text_is_an_error_that_offers_the_parameter(text: str) -> None:
    """Not even inside quotes is text put into an expression."""
    error = refused(text)
    assert "$x.title" in (error.hint or "")
    assert error.position == text.index("$")


@pytest.mark.parametrize("text", ["a = '$5'", "a = '$'", "a = '${'", "a = '\\d+$'", "a = '{x}'"])
def test_a_dollar_in_quotes_is_a_dollar(text: str) -> None:
    """Only `${name}` looks like pasted text."""
    assert isinstance(parse_where(text), Where)


DEEP = {
    "parentheses": "(" * 1000 + "a" + ")" * 1000,
    "open parentheses": "(" * 1000,
    "not": "NOT " * 1000 + "a",
    "not in parentheses": "NOT (" * 1000 + "a" + ")" * 1000,
    "functions": "lower(" * 1000 + "a" + ")" * 1000 + " = 'x'",
    "brackets": "a[" * 1000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_nesting_is_refused_and_does_not_exhaust_the_stack(text: str) -> None:
    """The parser below is recursive; nothing reaches it that could bring it down."""
    assert "deeper than 24 levels" in refused(text).message or text.startswith("a[")


def test_nesting_up_to_the_limit_is_read_even_from_a_deep_stack() -> None:
    """The limit stands for every caller that is not itself in distress; such a one hears of it, in words."""
    text = "(NOT " * 12 + "a = 1" + ")" * 12

    def below(levels: int) -> Where:
        return below(levels - 1) if levels else parse_where(text)

    assert parse_where("(" * 24 + "a" + ")" * 24).paths
    assert "deeper than 24 levels" in refused("(" * 25 + "a" + ")" * 25).message
    assert below(300).paths
    parse_where.cache_clear()
    with pytest.raises(WhereInvalid, match="is nested too deeply") as raised:
        below(sys.getrecursionlimit() - len(inspect.stack(0)) - 200)
    assert raised.value.hint == "AND and OR in a row need no parentheses"
    assert raised.value.position == 0


LONG = {
    "and": " AND ".join(["a = 1"] * 12_500),
    "in": f"a IN ({','.join(['1'] * 50_000)})",
    "quotes": "'" * 100_000,
    "key": "a" * 100_000,
    "signs": ";" * 100_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_very_long_text_is_refused_unread(text: str) -> None:
    """A list of that length belongs into a parameter, and the hint says how; a short text takes more steps to read."""
    parse_where.cache_clear()
    assert calls(lambda: refused(text)) < calls(lambda: parse_where("a = 1 AND b = 2"))
    assert "id IN $list" in (refused(text).hint or "")


def test_long_chains_are_read() -> None:
    """AND, OR and IN may go on; they do not nest."""
    text = " AND ".join(["a != 1"] * 2900)
    assert len(parse_where(text).paths) == 1
    assert parse_where(f"a IN ({', '.join(map(str, range(5000)))})").paths


WORDS = """
a metadata.score @id `odd` 1 -2.5 'x' "y" $p $h[0].x NULL TRUE AND OR NOT IN LIKE BETWEEN IS ESCAPE = != < >= ( ) ,
lower( has( coalesce( ${x} ; + - . [ ] { } @ $ ' ` " -- /* {# \\ SELECT CASE
"""


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(WORDS.split()), max_size=25), st.sampled_from(["", " "]))
def test_any_sequence_of_words_is_read_or_refused(words: list[str], between: str) -> None:
    """There is nothing but an answer or `WhereInvalid`, whose position lies in the text."""
    text = between.join(words)
    result = outcome(text)
    if isinstance(result, WhereInvalid):
        assert result.position is not None
        assert 0 <= result.position <= len(text)
    else:
        assert result.text == text


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Neither white space, control characters nor other scripts bring out another exception."""
    assert isinstance(outcome(text), Where | WhereInvalid)
