"""What the check knows of an expression: what it gives, and what in it can have no result whatever the values are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from infospace.data.paths import Path
from infospace.expressions import parse_expression
from infospace.expressions.aggregates import parse_aggregate
from infospace.expressions.types import Typer
from infospace.schema.infer import subschema_at, types_of

FIELDS: Mapping[str, Any] = {
    "n": {"type": "integer"},
    "half": {"type": "number"},
    "s": {"type": "string"},
    "t": {"type": "boolean"},
    "o": {"type": "object"},
    "l": {"type": "array", "items": {"type": "string"}},
    "either": {"type": ["string", "integer"]},
    "word": {"type": ["string", "boolean"]},
    "some": {"type": ["string", "array"]},
}


def typer(text: str = "") -> Typer:
    """A typer that knows the fields, and parameters of the same names."""

    def field(path: Path) -> Any:
        return FIELDS.get(str(path))

    return Typer(field, FIELDS.get, text=text)


def types(text: str) -> Any:
    """The JSON types that an expression may give; None where nothing is known."""
    schema = typer().schema(parse_expression(text).tree)
    return None if schema is None else named(schema)


def named(schema: Any) -> set[str]:
    """The types that a schema names; a number may be whole."""
    found = set(types_of(schema))
    return found - {"integer"} if "number" in found else found


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("1", {"integer"}),
        ("1.5", {"number"}),
        ("'x'", {"string"}),
        ("TRUE", {"boolean"}),
        ("n", {"integer", "null"}),
        ("$n", {"integer", "null"}),
        ("n + 1", {"integer", "null"}),
        ("n + half", {"number", "null"}),
        ("n / 2", {"number", "null"}),
        ("n * 2 / 2", {"number", "null"}),
        ("n % 2 - 1", {"integer", "null"}),
        ("-n", {"integer", "null"}),
        ("-half", {"number", "null"}),
        ("n || s", {"string", "null"}),
        ("n = 1", {"boolean", "null"}),
        ("n IS NULL", {"boolean"}),
        ("n IN $l", {"boolean", "null"}),
        ("CAST(s AS integer)", {"integer", "null"}),
        ("CAST(s AS text)", {"string", "null"}),
        ("TRY_CAST(s AS number)", {"number", "null"}),
        ("CAST(s AS boolean)", {"boolean", "null"}),
        ("abs(n)", {"integer", "null"}),
        ("abs(half)", {"number", "null"}),
        ("round(half)", {"integer", "null"}),
        ("round(half, 1)", {"number", "null"}),
        ("round(n, 1)", {"integer", "null"}),
        ("power(n, 2)", {"number", "null"}),
        ("floor(half)", {"integer", "null"}),
        ("length(s)", {"integer", "null"}),
        ("concat_ws('', s)", {"string"}),
        ("concat_ws('', s, o)", {"string", "null"}),
        ("concat_ws(s, 'a')", {"string", "null"}),
        ("coalesce(n, 's')", {"integer", "string", "null"}),
        ("least(1, 2)", {"integer"}),
        ("least(1, 2.5)", {"number"}),
        ("greatest('a', 'b')", {"string"}),
        ("greatest(1, 'a')", {"integer", "string", "null"}),
        ("least(n, 1)", {"integer", "null"}),
        ("today()", {"string"}),
        ("complete(s)", {"boolean"}),
        ("matches(s, 'x')", {"boolean", "null"}),
        ("CASE WHEN t THEN 1 ELSE 2 END", {"integer"}),
        ("CASE WHEN t THEN 1 WHEN s = 'a' THEN TRUE ELSE 's' END", {"integer", "boolean", "string"}),
        ("CASE WHEN t THEN 1 END", {"integer", "null"}),
        ("split(s, ',')[0]", {"string", "null"}),
        ("upper(s)[0]", None),
        ("unknown", None),
        ("$unknown", None),
    ],
)
def test_the_type_of_what_an_expression_gives_is_known(text: str, type_: Any) -> None:
    """Whole where all is whole and nothing is divided; null wherever a value may be missing."""
    assert types(text) == type_


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("count", {"integer"}),
        ("count(DISTINCT s)", {"integer"}),
        ("sum(n)", {"integer", "null"}),
        ("sum(half)", {"number", "null"}),
        ("avg(n)", {"number", "null"}),
        ("median(n)", {"number", "null"}),
        ("quantile(n, 0.5)", {"number", "null"}),
        ("bool_or(t)", {"boolean", "null"}),
        ("bool_and(unknown)", {"boolean", "null"}),
        ("max(1)", {"integer", "null"}),
        ("max(s)", {"string", "null"}),
        ("first(n)", {"integer", "null"}),
    ],
)
def test_the_type_of_an_aggregate_is_known(text: str, type_: Any) -> None:
    """A count is never null."""
    schema = typer().schema(parse_aggregate(text).tree)
    assert named(schema) == type_


def test_a_list_of_values_has_their_type() -> None:
    """As a list for each group."""
    schema = typer().schema(parse_aggregate("list(n)").tree)
    assert schema is not None
    assert named(schema) == {"array"}
    assert named(subschema_at(schema, (0,))) >= {"integer"}


def problems(text: str, *, condition: bool = False) -> list[tuple[str, str | None, str | None]]:
    """Each thing that can have no result: what is said, the hint and the text that is meant."""
    tree = parse_expression(text).tree
    found = typer(text).condition(tree) if condition else typer(text).senseless(tree)
    return [(one.message, one.hint, one.suggestion) for one in found]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("n = 'x'", "`n = 'x'` compares a number with text, and so is never true", "CAST one"),
        ("s > 3", "`s > 3` compares text with a number, and so is never true", "`s > '3'`"),
        ("t < TRUE", "`t < true` compares true or false, which has no order", "numbers and texts have one"),
        ("o < o", "`o < o` compares an object, which has no order", "numbers and texts have one"),
        ("s + 1", "`s + 1` computes with numbers, and `s` is text", "CAST(… AS number) makes a number of a text"),
        ("t * 2", "`t * 2` computes with numbers, and `t` is true or false", None),
        ("-s", "`-s` takes a number, and `s` is text", "CAST(… AS number)"),
        ("upper(s)[0]", "`upper(s)[0]` takes an element of a list, and `upper(s)` is text", None),
        ("split(s, ',')[0] + 1", "computes with numbers, and `split(s, ',')[0]` is text", "CAST(… AS number)"),
        ("s || o", "`s || o` joins texts, numbers and booleans, and `o` is an object", None),
        ("n LIKE 'x'", "LIKE looks at text, and `n` is a number", "`=` compares others"),
        ("s LIKE n", "LIKE looks at text, and `n` is a number", "`=` compares others"),
        ("lower(n)", "lower takes text, and `n` is a number", "a path of one"),
        ("abs(s)", "abs takes a number, and `s` is text", "CAST(… AS number)"),
        ("substr(s, s)", "substr takes a number, and `s` is text", "CAST(… AS number)"),
        ("length(n)", "length takes a list or text, and `n` is a number", "a path of one"),
        ("n IN (1, 'x')", "`n = 'x'` compares a number with text", "CAST one"),
        ("n IN ($l)", "`n IN ($l)` compares with a list, and so is never true", "`n IN $l` asks whether the list"),
        ("n IN $s", "IN takes a list, and `$s` is text", None),
        ("n IN $l", "`n IN $l` compares a number with text, and so is never true", "nothing is converted: CAST"),
        ("n BETWEEN 'a' AND 'b'", "`n >= 'a'` compares a number with text", "CAST one"),
        ("n BETWEEN 1 AND 'b'", "`n <= 'b'` compares a number with text", "CAST one"),
        ("t AND n", "`n` is used as a condition, and is a number", "compare it with a value"),
        ("t OR NOT s", "`s` is used as a condition, and is text", "compare it with a value"),
        ("t OR s", "`s` is used as a condition, and is text", "compare it with a value"),
        ("CASE WHEN s THEN 1 END", "`s` is used as a condition, and is text", "compare it with a value"),
        ("CASE WHEN t THEN s + 1 END", "computes with numbers, and `s` is text", None),
        ("CASE WHEN t THEN 1 ELSE s + 1 END", "computes with numbers, and `s` is text", None),
        ("coalesce(s + 1, 2)", "computes with numbers, and `s` is text", None),
        ("CAST(s + 1 AS text)", "computes with numbers, and `s` is text", None),
        ("n = 1 AND (s + 1 IS NULL)", "computes with numbers, and `s` is text", None),
        ("s + 1 = 2", "computes with numbers, and `s` is text", None),
        ("s + 1 IN (1, 2)", "computes with numbers, and `s` is text", None),
        ("s + 1 BETWEEN 1 AND 2", "computes with numbers, and `s` is text", None),
        ("lower(n) LIKE 'x'", "lower takes text, and `n` is a number", None),
        ("lower(n) IN $l", "lower takes text, and `n` is a number", None),
        ("split(lower(n), ',')[0]", "lower takes text, and `n` is a number", None),
        ("-(s + 1)", "computes with numbers, and `s` is text", None),
        ("regexp_extract(s, '(')", "has regexp_extract, which takes a pattern of RE2", None),
        ("matches(s, '(')", "`matches(s, '(')` has matches, which takes a pattern of RE2", None),
        ("regexp_replace(s, '(', '')", "has regexp_replace, which takes a pattern of RE2", None),
        ("strftime(s, '%Q')", "has strftime, which has no pattern %Q for dates", None),
    ],
)
def test_what_can_have_no_result_is_said(text: str, message: str, hint: str | None) -> None:
    """Once, however deep it stands."""
    [(found, offered, _)] = problems(text)
    assert message in found
    assert hint is None or hint in (offered or "")


@pytest.mark.parametrize(
    "text",
    [
        "either = 'x'",
        "either > 3",
        "either + 1",
        "unknown + 1",
        "unknown = 's' AND unknown > 3",
        "n = 1.5",
        "n = NULL",
        "unknown < o",
        "unknown IN $l",
        "o = o",
        "o != o",
        "l IN ($l)",
        "s IN ($some)",
        "t = TRUE",
        "s IN $l",
        "s IN $unknown",
        "either IN (1, 'x')",
        "$l = l",
        "n + $n",
        "n || s || t",
        "coalesce(n, s) = 'x'",
        "matches(s, s)",
        "strftime(s, '%Y')",
        "t AND unknown",
        "least(n, half) > 1",
        "contains(l, n)",
    ],
)
def test_what_may_have_a_result_is_left_alone(text: str) -> None:
    """Where one kind fits, or nothing is known."""
    assert problems(text) == []


def test_a_condition_is_true_or_false() -> None:
    """What stands as one is looked at."""
    [(message, hint, _)] = problems("n", condition=True)
    assert (message, hint) == ("`n` is used as a condition, and is a number", "compare it with a value")
    assert problems("t", condition=True) == problems("unknown", condition=True) == []
    [(message, _, _)] = problems("s = 1", condition=True)
    assert message == "`s = 1` compares text with a number, and so is never true"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("n = '7'", "n = 7"),
        ("'7' = n", "7 = n"),
        ("n > ' -2.5 ' AND t", "n > -2.5 AND t"),
        ("s = 7", "s = '7'"),
        ("s = 7.5", "s = '7.5'"),
        ("n = 'seven'", None),
        ("n = '1e3'", None),
        ("n = 'nan'", None),
        ("s = TRUE", None),
        ("t = '7'", None),
        ("word = 7", None),
        ("o = 7", None),
        ("n = '7' OR half = '7'", None),
        ("n IN ($l)", "n IN $l"),
        ("n IN ($l) AND t", None),
        ("n IN ($l, 1)", None),
    ],
)
def test_a_constant_of_another_type_is_told_as_what_it_says(text: str, meant: str | None) -> None:
    """Where there is one of it, and it plainly says a number, or a text."""
    assert problems(text)[0][2] == meant


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("s * 2", "CAST(… AS number) makes a number of a text"),
        ("t * 2", None),
        ("upper(s)[0]", None),
        ("upper(t)", "a path of one"),
        ("length(n)", "a path of one"),
        ("contains(n, 's')", "a path of one"),
    ],
)
def test_a_conversion_is_offered_where_it_makes_a_number_of_a_text(text: str, hint: str | None) -> None:
    """Of what is no text, and where no number is wanted, there is none to be made."""
    [(_, offered, _)] = problems(text)
    assert offered == hint


def test_aggregates_take_what_fits() -> None:
    """Numbers, or truths."""

    def said(text: str) -> list[str]:
        return [one.message for one in typer(text).senseless(parse_aggregate(text).tree)]

    assert said("sum(s)") == ["sum takes a number, and `s` is text"]
    assert said("avg(t) + 1") == ["avg takes a number, and `t` is true or false"]
    assert said("median(s)") == ["median takes a number, and `s` is text"]
    assert said("quantile(s, 0.5)") == ["quantile takes a number, and `s` is text"]
    assert said("bool_and(n)") == ["bool_and takes true or false, and `n` is a number"]
    assert said("bool_or(s)") == ["bool_or takes true or false, and `s` is text"]
    assert said("max(s) || list(s)") == [
        "`max(s) || list(s)` joins texts, numbers and booleans, and `list(s)` is a list"
    ]
    assert said("count(s) + sum(n)") == said("max(o)") == said("bool_or(t)") == []
