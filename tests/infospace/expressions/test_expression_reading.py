"""How expressions, conditions and sort keys are read: what belongs together, what is refused, and what is meant."""

from __future__ import annotations

import re

import pytest

from infospace.core.errors import ExpressionInvalid, WhereInvalid
from infospace.expressions import parameters_in, parse_condition, parse_expression, parse_sort_key, parse_where
from infospace.expressions.expression import MAX_EXPRESSION_CHARACTERS, guarded_parameters
from infospace.expressions.show import show


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a+b*c", "a + (b * c)"),
        ("a - b - c", "a - b - c"),
        ("a - (b - c)", "a - (b - c)"),
        ("a * b / c % d", "a * b / c % d"),
        ("a || b || c", "a || b || c"),
        ("a + b || c", "(a + b) || c"),
        ("-a * b", "(-a) * b"),
        ("a--1", "a--1"),
        ("a * -1", "a * -1"),
        ("- - a", "-(-a)"),
        ("NOT a = 1 AND b", "(NOT (a = 1)) AND b"),
        ("a OR b AND c", "a OR (b AND c)"),
        ("a IS NOT NULL", "a IS NOT NULL"),
        ("a is null", "a IS NULL"),
        ("a NOT IN (1, 'x')", "NOT (a IN (1, 'x'))"),
        ("a IN $x.y", "a IN $x.y"),
        ("a IN ($x)", "a IN ($x)"),
        ("a NOT BETWEEN 1 AND 2", "NOT (a BETWEEN 1 AND 2)"),
        ("a LIKE 'x!%' ESCAPE '!'", "a LIKE 'x!%' ESCAPE '!'"),
        ("a NOT LIKE 'x!%' ESCAPE '!'", "NOT (a LIKE 'x!%' ESCAPE '!')"),
        ('a = "it\'s"', "a = 'it''s'"),
        ("case when a then 1 when b then 2 end", "CASE WHEN a THEN 1 WHEN b THEN 2 ELSE NULL END"),
        ("CASE a WHEN 1 THEN 'x' ELSE 'y' END", "CASE WHEN a = 1 THEN 'x' ELSE 'y' END"),
        ("cast(a as text)", "CAST(a AS text)"),
        ("TRY_CAST(a AS Integer)", "TRY_CAST(a AS integer)"),
        ("complete(*)", "complete(*)"),
        ("`case` || `a b` || x.case", "`case` || `a b` || x.case"),
        ("`a``b`[0].c", "`a``b`[0].c"),
        ("due-date", "due-date"),
        ("asc + desc", "`asc` + `desc`"),
        ("@id || @metadata.score", "@id || @metadata.score"),
        ("TRUE = false", "true = false"),
        ("when + end", "`when` + `end`"),
        ("(CASE WHEN a THEN 1 END) + when", "(CASE WHEN a THEN 1 ELSE NULL END) + `when`"),
        (
            "CASE WHEN a THEN CASE WHEN b THEN 1 END ELSE `end` END",
            "CASE WHEN a THEN CASE WHEN b THEN 1 ELSE NULL END ELSE `end` END",
        ),
    ],
)
def test_what_is_read_is_shown_as_the_language_has_it(text: str, read: str) -> None:
    """And what is shown reads the same."""
    tree = parse_expression(text).tree
    assert show(tree) == read
    assert parse_expression(read).tree == tree


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("CASE WHEN a THEN 1", "has a CASE (character 0) without its END", "CASE WHEN condition THEN value ELSE"),
        ("CASE a THEN 1 END", "'THEN' (character 7) where an operator or the end was expected", "CASE WHEN"),
        ("CASE WHEN a 1 END", "'1' (character 12)", ""),
        ("CASE WHEN a THEN 1 ELSE 2 WHEN b THEN 3 END", "'WHEN' (character 26)", "CASE WHEN"),
        ("CASE WHEN a THEN 1 ELSE 2 ELSE 3 END", "'ELSE' (character 26)", "CASE WHEN"),
        ("CASE END", "'END' (character 5) where a value was expected", "a field of that name is written `END`"),
        ("(CASE WHEN a THEN 1) END", "')' (character 19)", ""),
        ("CAST(a)", "')' (character 6) where AS and a type was expected", "such as CAST(price AS number)"),
        ("CAST(a AS)", "')' (character 9) where a type was expected", "there are text, number, integer, boolean"),
        ("CAST(a AS text", "ends where the `)` of CAST was expected, after 'text'", ""),
        ("CAST(a, b AS text)", "',' (character 6)", ""),
        ("CAST(a AS text, 1)", "',' (character 14) where the `)` of CAST was expected", ""),
        ("CAST(a AS date)", "has no type 'date' (character 10)", "there are text, number, integer, boolean"),
        ("CAST(a AS varchar)", "has no type 'varchar'", "did you mean text? there are"),
        ("CAST(a AS bool)", "has no type 'bool'", "did you mean boolean? there are"),
        ("CAST(a AS decimal)", "has no type 'decimal'", "did you mean number? there are"),
        ("CAST(a AS nmber)", "has no type 'nmber'", "did you mean number? there are"),
        ("complete(a, *)", "'*' (character 12)", ""),
        ("complete(*, a)", "'*' (character 9)", ""),
        ("lower(*)", "'*' (character 6) where a value was expected", ""),
        ("*", "'*' (character 0) where a value was expected", ""),
        ("substr(a)", "has substr (character 0) with 1 argument", "it is substr(text, start, length)"),
        ("substr(a, 1, 2, 3)", "has substr (character 0) with 4 arguments", "it is substr(text, start, length)"),
        ("round()", "')' (character 6) where a value", ""),
        ("today(1)", "has today (character 0) with 1 argument", "it is today()"),
        ("coalesce()", "')' (character 9) where a value", ""),
        ("complete()", "')' (character 9) where a value", ""),
        ("1 + (2", "has a `(` (character 4) that is not closed", ""),
        ("a ^ 2", "'^' (character 2)", "write power(a, b)"),
        ("a DIV 2", "'DIV' (character 2)", "floor(a / b)"),
        ("a mod 2", "'mod' (character 2)", "write %"),
        ("a | b", "'|' (character 2)", "write OR; texts are joined by ||"),
        ("a GLOB 'x*'", "'GLOB' (character 2)", "LIKE with % and _"),
        ("a RLIKE 'x'", "'RLIKE' (character 2)", "matches(text, pattern) finds one of RE2"),
        ("a NOTNULL", "'NOTNULL' (character 2)", "IS NULL or IS NOT NULL"),
        ("a; b", "';' (character 1)", "there is one expression, and nothing after it"),
        ("a = 1 + b = 2", "where a value was expected", "comparisons are joined by AND"),
        ("(a = 1) + 1 = b = 2", "where a value was expected", "comparisons are joined by AND"),
        ("NOT (a + 1)", "has a value (character 5) where a condition was expected", ""),
        (
            "a AND -b",
            "has a value (character 7) where a condition was expected",
            "compare the number, or the text, with a value",
        ),
        ("CASE WHEN a + 1 THEN 1 END", "where a condition was expected", "compare the number, or the text"),
        ("a AND length(b)", "'length' (character 6) where a condition was expected", "compare what length gives"),
        ("a LIKE 'x' ESCAPE ''", "where one character in quotes was expected", "such as ESCAPE '!'"),
        ("a - -", "ends where a value was expected, after '-' (character 4)", "a value is a path"),
        ("SELECT a", "'SELECT' (character 0) where a value was expected", "there is one expression; a SELECT is none"),
        ("a IN (SELECT b)", "'SELECT' (character 6)", "there is one expression; a SELECT is none"),
        ("a a", "'a' (character 2) where an operator or the end was expected", "operators are + -"),
        ("distinct(a)", "has no function 'distinct'", ""),
        ("sum(a)", "has 'sum' (character 0), which is made of many items", "`group` makes it"),
        ("DATE_TRUNC('month', a)", "has no function 'DATE_TRUNC' (character 0)", ""),
        ("x" * 50 + "(a)", f"has no function {'x' * 40!r} (character 0)", "there are coalesce"),
        ("a " + "b" * 50, f"has {'b' * 40 + '…'!r} (character 2)", ""),
        ("a[1..2]", "(character 0), which is not a path", ""),
        ("a = [1, 2]", "has '[1, 2]' (character 4), which is not a path", "a list stands after IN, in parentheses"),
        ("coalesce(a, [])", "has '[])' (character 12), which is not a path", "a list stands after IN, in parentheses"),
        ("1" * 401, "(character 0), beyond what a number holds", "numbers go to about 1.8e308"),
        ("-1e400", "has '-1e400' (character 0), beyond what a number holds", "numbers go to about 1.8e308"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text: str, message: str, hint: str) -> None:
    """And told what would have fitted."""
    with pytest.raises(ExpressionInvalid) as raised:
        parse_expression(text)
    assert raised.value.message.startswith("the expression ")
    assert message in raised.value.message
    assert (raised.value.hint or "").startswith(hint)
    assert not isinstance(raised.value, WhereInvalid)
    place = re.search(r"\(character (\d+)\)", raised.value.message)
    assert place is None or raised.value.position == int(place[1])


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ceiling(a)", "ceil(a)"),
        ("1 + SUBSTRING(a, 1)", "1 + substr(a, 1)"),
        ("lenght(a) + 1", "length(a) + 1"),
        ("lower(a) = current_date", "lower(a) = today()"),
        ("CURRENT_TIMESTAMP || ''", "now() || ''"),
        ("a ilike 'x'", "a LIKE 'x'"),
        ("a NOT ILIKE 'x'", None),
        ("CAST(a AS int)", "CAST(a AS integer)"),
        ("CAST(a AS nmber)", None),
        ("rtrim(a)", None),
        ("frobnicate(a)", None),
    ],
)
def test_words_of_other_dialects_are_told_with_the_text_that_is_meant(text: str, meant: str | None) -> None:
    """Only where it means exactly the same."""
    with pytest.raises(ExpressionInvalid) as raised:
        parse_expression(text)
    assert raised.value.suggestion == meant


def test_a_field_may_have_the_name_of_a_moment() -> None:
    """In backticks, or where a place of it is read."""
    assert show(parse_expression("`current_date`").tree) == "`current_date`"
    assert [str(path) for path in parse_expression("current_date.year").paths] == ["current_date.year"]
    assert [str(path) for path in parse_expression("ilike + escape").paths] == ["ilike", "escape"]


@pytest.mark.parametrize(
    ("text", "order", "read"),
    [
        ("score", None, "score"),
        ("score desc", "desc", "score"),
        ("score ASC", "asc", "score"),
        ("desc", None, "`desc`"),
        ("asc desc", "desc", "`asc`"),
        ("lower(title) desc", "desc", "lower(title)"),
        ("CASE WHEN a THEN 1 END desc", "desc", "CASE WHEN a THEN 1 ELSE NULL END"),
        ("a - b asc", "asc", "a - b"),
        ("a + desc", None, "a + `desc`"),
    ],
)
def test_a_sort_key_may_say_its_order(text: str, order: str | None, read: str) -> None:
    """The last word, behind a value."""
    key = parse_sort_key(text)
    assert (key.order, show(key.tree)) == (order, read)


def test_a_sort_key_that_is_none_is_called_so() -> None:
    """Also a long one."""
    with pytest.raises(ExpressionInvalid, match=r"the sort key has 'down' \(character 6\)"):
        parse_sort_key("score down")
    with pytest.raises(ExpressionInvalid, match="the sort key is empty"):
        parse_sort_key(" ")
    with pytest.raises(ExpressionInvalid, match="the sort key has 32,769 characters, more than 32,768"):
        parse_sort_key("a" * (MAX_EXPRESSION_CHARACTERS + 1))


def test_an_expression_of_the_longest_length_is_read() -> None:
    """One character more is refused by its name, with the place where it is too long."""
    assert parse_expression("a" * MAX_EXPRESSION_CHARACTERS).paths
    with pytest.raises(ExpressionInvalid, match="the condition has 32,769 characters, more than 32,768") as raised:
        parse_condition("a" * (MAX_EXPRESSION_CHARACTERS + 1))
    assert raised.value.position == MAX_EXPRESSION_CHARACTERS
    assert not isinstance(raised.value, WhereInvalid)
    with pytest.raises(WhereInvalid, match="`where` has 32,769 characters"):
        parse_where("a" * (MAX_EXPRESSION_CHARACTERS + 1))
    with pytest.raises(ExpressionInvalid, match="`until` ends where a value"):
        parse_condition("a =", "`until`")


def test_what_an_expression_takes_is_known() -> None:
    """Each parameter once, in order; those that may be missing are those that `coalesce` and IS NULL alone hold."""
    text = "coalesce($a.b, $c) + $c + $d * $d - coalesce(lower($e), 0)"
    expression = parse_expression(text)
    assert expression.parameters == ("a.b", "c", "d", "e")
    assert guarded_parameters(expression.tree) == {"a.b", "e"}
    assert guarded_parameters(parse_expression("CASE WHEN $x IS NOT NULL THEN $x ELSE $y END").tree) == frozenset()
    assert guarded_parameters(parse_expression("$x IS NULL OR FALSE").tree) == {"x"}
    assert parameters_in("$b + $a.c[0] || '$d' || $b") == ("b", "a.c[0]")
    assert parameters_in("a + 'x") == parameters_in("no parameter") == ()
    assert parameters_in("$a" + " " * MAX_EXPRESSION_CHARACTERS) == ()
