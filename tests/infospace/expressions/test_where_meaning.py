from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions import TypeMismatches, parse_where


@dataclass(frozen=True)
class Note:
    """A resource as `Readable` asks for it."""

    content: JSON
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    id: str = "Note_12"
    name: str | None = None
    created: str = "2026-01-02T03:04:05Z"
    updated: str = "2026-02-03T04:05:06Z"


PAPER = Note(
    {
        "title": "Attention Is All You Need",
        "year": 2017,
        "score": 0.5,
        "open": True,
        "closed": False,
        "none": None,
        "tags": ["ml", "nlp", 7, None, [1, 2.0]],
        "empty": [],
        "venue": {"name": "NIPS", "rank": 1},
        "same": {"rank": 1.0, "name": "NIPS"},
        "due date": "2026-01-01",
        "quote": 'it\'s "so"',
        "metadata": {"score": 0.71, "odd key": "k"},
        "@id": "mine",
    },
    {"score": 9, "own": "yes"},
)


def judged(text: str, note: Note = PAPER, **parameters: JSON) -> tuple[bool | None, int]:
    """Give the verdict on `note`, and how many comparisons were of different types."""
    tally = TypeMismatches()
    return parse_where(text).match(note, parameters, tally), tally.mismatches


def check(text: str, verdict: bool | None, mismatches: int = 0) -> None:
    assert judged(text) == (verdict, mismatches)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("year = 2017", True),
        ("year == 2017.0", True),
        ("year != 2017", False),
        ("year <> 2018", True),
        ("year < 2017.5", True),
        ("2016 < year", True),
        ("year <= 2016", False),
        ("year >= 2017 AND year > 2016", True),
        ("score > -1.5e0", True),
        ("score = .5", True),
        ("title = 'Attention Is All You Need'", True),
        ('title = "Attention Is All You Need"', True),
        ("title < 'B'", True),
        ("'é' > 'z'", True),
        ("quote = 'it''s \"so\"'", True),
        ('quote = "it\'s ""so"""', True),
        ("open = TRUE", True),
        ("open != false", True),
    ],
)
def test_comparisons_of_one_type_are_plain(text: str, verdict: bool) -> None:
    """Numbers by value, strings by code point, in either quote."""
    check(text, verdict)


@pytest.mark.parametrize(
    "text",
    [
        "year = '2017'",
        "title > 3",
        "open = 1",
        "open < TRUE",
        "closed = 0",
        "tags = 'ml'",
        "tags < tags",
        "venue > venue",
        "venue = tags",
        "year LIKE '2017'",
        "title LIKE 3",
        "lower(year) = '2017'",
        "length(year) = 4",
        "length(venue) = 2",
        "abs(title) = 1",
        "abs(open) = 1",
        "has(title, 'A')",
        "year",
        "NOT title",
        "year IN ('2017')",
        "year NOT IN ('2017')",
    ],
)
def test_different_types_are_unknown_and_counted(text: str) -> None:
    """Nothing is converted, a boolean is not a number, and lists and objects have no order."""
    check(text, None, 1)


@pytest.mark.parametrize(
    "text",
    [
        "none = 1",
        "none != 1",
        "none = NULL",
        "none != none",
        "nowhere < 3",
        "nowhere = nowhere",
        "NOT nowhere = 1",
        "venue.nothing.deeper = 'x'",
        "tags[9] = 1",
        "nowhere LIKE '%'",
        "title LIKE NULL",
        "nowhere IN (1, 2)",
        "NULL IN (1)",
        "year IN (1, NULL)",
        "year NOT IN (1, NULL)",
        "nowhere BETWEEN 1 AND 2",
        "year BETWEEN NULL AND 3000",
        "NULL",
        "none",
        "NOT none",
        "lower(none) = 'x'",
        "length(nowhere) > 1",
        "abs(none) = 1",
        "has(nowhere, 1)",
        "has(tags, none)",
        "coalesce(none, nowhere) = 1",
    ],
)
def test_null_and_missing_are_unknown_and_not_counted(text: str) -> None:
    """What is not there compares as unknown; that is no mismatch."""
    check(text, None)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("none IS NULL", True),
        ("nowhere IS NULL", True),
        ("year IS NULL", False),
        ("year IS NOT NULL", True),
        ("none IS NOT NULL", False),
        ("closed IS NOT NULL AND empty IS NOT NULL", True),
        ("NOT none IS NULL", False),
        ("lower(year) IS NULL", True),
    ],
)
def test_is_null_is_never_unknown(text: str, verdict: bool) -> None:
    """Null and missing are the same to it."""
    assert judged(text)[0] is verdict


TRUTHS = {"TRUE": True, "FALSE": False, "NULL": None}


@pytest.mark.parametrize("left", TRUTHS)
@pytest.mark.parametrize("right", TRUTHS)
def test_and_or_and_not_are_kleenes(left: str, right: str) -> None:
    """Three values: false decides AND, true decides OR, else unknown spreads."""
    both = {TRUTHS[left], TRUTHS[right]}
    check(f"{left} AND {right}", False if False in both else None if None in both else True)
    check(f"{left} OR {right}", True if True in both else None if None in both else False)
    check(f"NOT {left}", None if TRUTHS[left] is None else not TRUTHS[left])


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("TRUE OR FALSE AND FALSE", True),
        ("(TRUE OR FALSE) AND FALSE", False),
        ("NOT FALSE AND FALSE", False),
        ("NOT (FALSE AND FALSE)", True),
        ("NOT year = 2018", True),
        ("not not open", True),
        ("year BETWEEN 2000 AND 2020 AND closed", False),
        ("closed OR year NOT BETWEEN 2000 AND 2010 AND open", True),
        ("(((year))) = ((2017))", True),
        ("title\n\tLIKE\n'attention%'", True),
    ],
)
def test_and_binds_tighter_than_or_and_not_tighter_than_both(text: str, verdict: bool) -> None:
    """SQL's precedence, parentheses where wanted, any white space."""
    check(text, verdict)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("open", True),
        ("closed", False),
        ("NOT closed", True),
        ("open AND NOT closed", True),
        ("has(tags, 'ml')", True),
        ("has(tags, 7.0)", True),
        ("has(tags, '7')", False),
        ("has(tags, TRUE)", False),
        ("has(empty, 1)", False),
        ("has(tags, tags[4])", True),
        ("NOT has(tags, 'cv')", True),
        ("has(tags, 'ml') = TRUE", True),
        ("coalesce(none, closed)", False),
        ("lower(title) = 'attention is all you need'", True),
        ("upper(venue.name) = 'NIPS'", True),
        ("length(title) = 25 AND length(tags) = 5 AND length(empty) = 0", True),
        ("abs(-3) = 3 AND abs(score) = 0.5", True),
        ("coalesce(none, nowhere, year) = 2017", True),
        ("LENGTH ( title ) > 3", True),
        ("year IN (1, 2017.0)", True),
        ("year IN (2017, NULL, 'x')", True),
        ("year NOT IN (1, 2)", True),
        ("title IN ('a', \"b\")", False),
        ("open IN (TRUE)", True),
        ("year IN (-1, -2)", False),
        ("year BETWEEN 2017 AND 2017", True),
        ("year BETWEEN 2018 AND NULL", False),
        ("year BETWEEN NULL AND 2016", False),
        ("title BETWEEN 'A' AND 'B'", True),
        ("venue = same", True),
        ("tags != empty", True),
    ],
)
def test_lists_ranges_and_functions_mean_what_they_say(text: str, verdict: bool) -> None:
    """A bare boolean counts, elements and objects are compared as JSON, ranges include their ends."""
    check(text, verdict)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("metadata.score = 0.71", True),
        ("@metadata.score = 9", True),
        ("metadata.own = 'yes'", None),
        ("@metadata.own = 'yes'", True),
        ("@id = 'Note_12' AND @name IS NULL AND @created < @updated", True),
        ("`due date` > '2025'", True),
        ("[\"due date\"] > '2025'", True),
        ("metadata.`odd key` = metadata['odd key']", True),
        ("tags[0] = 'ml' AND tags[-1][1] = 2", True),
        ("content LIKE 'x%'", None),
    ],
)
def test_fields_are_read_by_the_rule_of_paths(text: str, verdict: bool | None) -> None:
    """The first key is the content's, `metadata` else the resource's own, `@` always the resource."""
    check(text, verdict)


def test_text_notes_and_lists_are_read_too() -> None:
    """`content` is a text, `metadata` what is known of it, and a list is read by position."""
    text = Note("Some words", {"title": "T"})
    assert judged("content LIKE '%WORDS' AND metadata.title = 'T' AND title IS NULL", text) == (True, 0)
    assert judged("[0].a = 1", Note([{"a": 1}])) == (True, 0)


ORDINARY = """
date order year key value type text format index group desc end count left by status escape select from where
when limit all any timestamp interval table user row first
"""


@pytest.mark.parametrize("name", ORDINARY.split())
def test_ordinary_field_names_need_no_quotes(name: str) -> None:
    """Only the words of the language itself are taken, in whatever case."""
    note = Note({name: 3, "in": {name: "x"}})
    assert judged(f"{name} = 3 AND NOT {name} IN (4) AND `in`.{name} LIKE 'X'", note) == (True, 0)


@pytest.mark.parametrize("name", ["and", "OR", "not", "in", "like", "between", "is", "null", "true", "false"])
def test_words_of_the_language_are_fields_in_backticks_or_after_a_dot(name: str) -> None:
    """There is always a way to say it."""
    assert judged(f'`{name}` = 3 AND ["{name}"] = 3 AND a.{name} = 4', Note({name: 3, "a": {name: 4}})) == (True, 0)


def test_parameters_keep_their_types() -> None:
    """`$x` is a value, never text: what is in it cannot change the expression."""
    assert judged("title = $x", x="' OR 1=1 --") == (False, 0)
    assert judged("year > $n AND $n < year", n=2000) == (True, 0)
    assert judged("year = $n", n="2017") == (None, 1)
    assert judged("year IN (1, $n) OR closed", n=2017.0) == (True, 0)
    assert judged("year NOT IN ($a, $b)", a=1, b=None) == (None, 0)
    assert judged("year IN ($a, 'x')", a=[2017]) == (None, 2)
    assert judged("title LIKE $p", p="%ALL%") == (True, 0)
    assert judged("has($list, TRUE) OR has($list, '1')", list=[1]) == (False, 0)
    assert judged("has($list, 1)", list=[True, "1", [1]]) == (False, 0)
    assert judged("title LIKE $p", p=5) == (None, 1)
    assert judged("has($ids, @id)", ids=["Note_11", "Note_12"]) == (True, 0)
    assert judged("venue = $v AND $t", v={"rank": 1, "name": "NIPS"}, t=True) == (True, 0)
    assert judged("$t", t="yes") == (None, 1)


def test_a_parameter_without_a_value_is_missing() -> None:
    """The caller has forgotten it, and hears its name."""
    with pytest.raises(PathNotFound, match=r"\$hits\[0\]\.title"):
        judged("title = $hits[0].title")
    with pytest.raises(Invalid, match="escape"):
        judged("title LIKE $p ESCAPE '!'", p="x!")


def test_every_mismatch_that_is_met_is_counted() -> None:
    """Each comparison counts once; AND and OR stop when they are decided, IN counts only when nothing is equal."""
    assert judged("title > 3 OR year = 'x' OR open = 1") == (None, 3)
    assert judged("closed AND title > 3") == (False, 0)
    assert judged("title BETWEEN 1 AND 2") == (None, 2)
    assert judged("year IN ('a', TRUE, 5, NULL)") == (None, 2)
    assert judged("year IN ('a', TRUE, 2017)") == (True, 0)
    tally = TypeMismatches()
    where = parse_where("title = 1")
    assert [where.match(PAPER, {}, tally) for _ in range(3)] == [None] * 3
    assert (tally.mismatches, where.match(PAPER, {})) == (3, None)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(-2, 2), st.sampled_from(["", "1", "true"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=6,
)


def plain(value: JSON) -> object:
    """Give `value` as something whose `==` is JSON's equality: every scalar beside its kind."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return (isinstance(value, bool), value)


@settings(deadline=None)
@given(json_values, json_values)
def test_equality_is_by_value_and_type_at_any_depth(one: JSON, other: JSON) -> None:
    """1 equals 1.0, neither equals true or "1": so for elements of a list, and for lists and objects compared."""
    equal = plain(one) == plain(other)
    assert judged("has($list, $x)", list=[one], x=other)[0] is (None if other is None else equal)
    assert judged("$one = $other", one=[one], other=[other]) == (equal, 0)
    assert judged("$one != $other", one={"a": one}, other={"a": other}) == (not equal, 0)
