"""Aggregates: how they are read, what is said of one that is none, and what they reckon."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace import Invalid, Note
from infospace.expressions import Evaluation, Mismatch, Refusing, TypeMismatches
from infospace.expressions.aggregates import MAX_AGGREGATE_CHARACTERS, parse_aggregate
from infospace.expressions.show import show

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def reckon(text: str, *values: Any) -> Any:
    """Reckon an aggregate of Notes that have the values at `x`."""
    notes = [Note(id=f"Note_{i}", content={"x": value}) for i, value in enumerate(values)]
    return parse_aggregate(text).of(notes, Evaluation())


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("count", "count()"),
        ("COUNT", "count()"),
        ("count()", "count()"),
        ("count(*)", "count()"),
        ("count(DISTINCT x)", "count_distinct(x)"),
        ("round( sum(price*quantity)/count ( x ), 2)", "round(sum(price * quantity) / count(x), 2)"),
        ("sum(CASE WHEN done THEN 1 ELSE 0 END)", "sum(CASE WHEN done THEN 1 ELSE 0 END)"),
        (" count( x ) ", "count(x)"),
        ("Avg(metadata.score)", "avg(metadata.score)"),
        ('sum(["odd key"])', "sum(`odd key`)"),
        ('max(["a b"].c[-1])', "max(`a b`.c[-1])"),
        ("list(@id)", "list(@id)"),
        ("min(count)", "min(count)"),
    ],
)
def test_an_aggregate_is_an_expression_over_functions_of_many_items(text: str, read: str) -> None:
    """Case and blanks are no matter; a key may be odd, or have the name of a function."""
    assert show(parse_aggregate(text).tree) == read
    assert parse_aggregate(read).tree == parse_aggregate(text).tree


def test_an_aggregate_of_a_thousand_characters_is_read_and_a_longer_one_refused() -> None:
    """The length counts before anything is read."""
    longest = f"sum({'x' * (MAX_AGGREGATE_CHARACTERS - 5)})"
    assert len(longest) == MAX_AGGREGATE_CHARACTERS == 1_000
    assert show(parse_aggregate(longest).tree) == longest
    with pytest.raises(Invalid, match=r"an aggregate has 1,001 characters, more than 1,000"):
        parse_aggregate(f"{longest} ")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("avrg(x)", 'did you mean "avg(x)"?'),
        ("mean(metadata.score)", 'did you mean "avg(metadata.score)"?'),
        ("countdistinct(x)", 'did you mean "count_distinct(x)"?'),
        ("median_of(x)", "did you mean median?"),
        ('average(["a"])', 'did you mean `avg(["a"])`?'),
        ("sum", "such as sum(metadata.score)"),
        ("sum(sum(a))", "`group` twice, one after another"),
    ],
)
def test_what_is_no_aggregate_is_told_with_the_nearest(text: str, hint: str) -> None:
    """In one sentence."""
    with pytest.raises(Invalid, match="is not an aggregate") as raised:
        parse_aggregate(text)
    assert raised.value.hint == hint


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "title",
        "sum(*)",
        "list()",
        "sum(DISTINCT x)",
        "quantile(x)",
        "sum(${x})",
        "sum(a, b)",
        "sum(a",
        "(count)",
        "sum(sum(a))",
        "not count",
        "lower(a)",
        "avg(a..b)",
        "sum(x)".ljust(2_000),
        "sum(`a)",
    ],
)
def test_nothing_else_is_an_aggregate(text: str) -> None:
    """Each is refused, and there is a hint."""
    with pytest.raises(Invalid) as raised:
        parse_aggregate(text)
    assert raised.value.hint


@given(words=st.lists(st.sampled_from(["count", "sum", "(", ")", "*", ",", "x", "not", "in", "is", "1", "[0]"])))
def test_reading_ends_in_an_aggregate_or_in_a_sentence(words: list[str]) -> None:
    """Never in another error."""
    with suppress(Invalid):
        assert "count" in show(parse_aggregate(" ".join(words)).tree) or "sum" in words


@given(values=st.lists(NUMBERS, min_size=1))
def test_sums_and_means_are_exact_for_whole_numbers_and_rounded_once_for_others(values: list[Any]) -> None:
    """Of any size."""
    exact = sum(map(Fraction, values))
    if all(isinstance(value, int) for value in values):
        assert reckon("sum(x)", *values) == exact
        assert isinstance(reckon("sum(x)", *values), int)
    elif abs(exact) < 2**1000:
        assert reckon("sum(x)", *values) == float(exact)
    if abs(exact) < 2**1000:
        mean = reckon("avg(x)", *values)
        assert mean == exact / len(values) if isinstance(mean, int) else mean == float(exact / len(values))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sum(x)", None),
        ("avg(x)", None),
        ("min(x)", None),
        ("max(x)", None),
        ("count(x)", 0),
        ("count_distinct(x)", 0),
        ("list(x)", []),
        ("count", 2),
        ("count(y)", 0),
    ],
)
def test_null_and_missing_count_for_count_alone(text: str, value: Any) -> None:
    """As in SQL."""
    assert reckon(text, None, None) == value


def test_distinct_values_are_json_values() -> None:
    """1 is 1.0, and -0.0 is 0; true, "1" and [1] are others; keys have no order."""
    values = [
        1,
        1.0,
        True,
        "1",
        [1],
        [1.0],
        [True],
        {"a": 1, "b": 2},
        {"b": 2.0, "a": 1},
        0,
        -0.0,
        False,
        2**53,
        2.0**53,
    ]
    assert reckon("count_distinct(x)", *values) == 9


def test_least_and_greatest_go_by_the_order_of_sort() -> None:
    """Numbers, strings, booleans, lists, objects; the first of equal ones, and large numbers exactly."""
    values = ["b", 3, True, [0], {"a": 0}, 2**53 + 1, 2.0**53, None]
    assert (reckon("min(x)", *values), reckon("max(x)", *values)) == (3, {"a": 0})
    assert reckon("max(x)", *values[5:]) == 2**53 + 1
    assert repr(reckon("min(x)", -0.0, 0)) == "-0.0"


def test_what_is_no_number_is_left_out_of_a_sum_and_tallied() -> None:
    """A boolean is no number; null is not tallied."""
    tally = TypeMismatches()
    notes = [Note(id="Note_1", content={"x": value}) for value in (1, "2", True, None, [3], 4)]
    assert parse_aggregate("sum(x)").of(notes, Evaluation(tally=tally)) == 5
    assert tally.mismatches == 3
    assert parse_aggregate("avg(x)").of(notes[1:3], Evaluation(tally=tally)) is None
    assert tally.mismatches == 5
    with pytest.raises(Mismatch, match=r"`sum\(x\)` takes numbers, not text: \"2\""):
        parse_aggregate("sum(x)").of(notes, Evaluation(tally=Refusing()))


@pytest.mark.parametrize(
    ("text", "values", "value"),
    [
        ("median(x)", [3, 1, 2], 2),
        ("median(x)", [1, 2], 1.5),
        ("median(x)", [1, 3], 2),
        ("median(x)", [0.5, 0.25], 0.375),
        ("quantile(x, 0.25)", [1, 2, 3, 4, 5], 2),
        ("quantile(x, 0.9)", [1, 2], 1.9),
        ("quantile(x, 0)", [2, 1], 1),
        ("first(x)", [None, 5, 1], 5),
        ("last(x)", [5, 1, None], 1),
        ("bool_or(x > 3)", [1, 5, None], True),
        ("bool_and(x > 3)", [1, 5], False),
        ("bool_and(x > 3)", [None], None),
        ("count(DISTINCT x)", [1, 1.0, 2, None], 2),
        ("sum(x * 2) + 1", [1, 2], 7),
        ("round(avg(x), 1)", [1, 2, 2], 1.7),
        ("max(x) - min(x)", [1, 9], 8),
        ("sum(CASE WHEN x > 1 THEN 1 ELSE 0 END)", [1, 2, 3], 2),
        ("coalesce(sum(x), 0)", [], 0),
        ("count", [], 0),
    ],
)
def test_aggregates_stand_in_expressions_and_expressions_in_aggregates(
    text: str, values: list[Any], value: Any
) -> None:
    assert reckon(text, *values) == value


def test_paths_that_stand_in_no_aggregate_are_known() -> None:
    """Each once, in order: what the items have to be grouped by; of the items the first has it."""
    read = parse_aggregate("coalesce(b, a.c) || sum(x) || round(max(y) - b, 2)")
    assert [str(path) for path in read.outside] == ["b", "a.c"]
    assert [str(path) for path in read.paths] == ["b", "a.c", "x", "y"]
    assert parse_aggregate("sum(x)").outside == ()
    assert reckon("x || ': ' || count()", "first", "last") == "first: 2"
    assert reckon("x || ': ' || count()") is None


def test_an_aggregate_says_which_parameters_it_takes() -> None:
    """As an expression does; a quantile takes its part from one."""
    read = parse_aggregate("quantile(x, $part) * $factor")
    assert read.parameters == ("part", "factor")
    notes = [Note(id=f"Note_{i}", content={"x": value}) for i, value in enumerate([1, 2, 3])]
    assert read.of(notes, Evaluation({"part": 0.5, "factor": 10})) == 20
    assert read.of(notes, Evaluation({"part": None, "factor": 10})) is None
    for part in (-0.1, 1.5, "x", True):
        with pytest.raises(
            Mismatch, match=r"^`quantile\(x, \$part\)` takes a number from 0 to 1 as its second argument$"
        ):
            read.of(notes, Evaluation({"part": part, "factor": 10}, Refusing()))
    reckoned = [Note(id="Note_1", content={"x": True})]
    with pytest.raises(Mismatch, match=r"`quantile\(x, \$part\)` takes numbers, not boolean: true"):
        read.of(reckoned, Evaluation({"part": 0.5, "factor": 1}, Refusing()))


def test_truths_of_what_is_none_are_left_out_and_counted() -> None:
    """As numbers are."""
    tally = TypeMismatches()
    notes = [Note(id=f"Note_{i}", content={"x": value}) for i, value in enumerate([True, 1, "false", None])]
    assert parse_aggregate("bool_and(x)").of(notes, Evaluation(tally=tally)) is True
    assert dict(tally.kinds) == {"takes true and false, not number": 1, "takes true and false, not text": 1}
    with pytest.raises(Mismatch, match=r"`bool_or\(x\)` takes true and false, not number: 1"):
        parse_aggregate("bool_or(x)").of(notes, Evaluation(tally=Refusing()))


def test_a_large_whole_sum_and_others_are_added_exactly_and_rounded_once() -> None:
    """The others are not forgotten where the whole numbers alone are beyond what a float holds exactly."""
    assert reckon("sum(x)", 2**60, 4096.0) == 2**60 + 4096
    assert reckon("sum(x)", 2**53, 1, 0.5, 0.5) == 2**53 + 2


def test_a_sum_that_no_number_holds_fails_though_a_mean_does_not() -> None:
    """The sentence names the aggregate; where mismatches are counted it is null."""
    beyond: list[tuple[str, list[Any]]] = [("sum(x)", [1e308, 1e308]), ("avg(x)", [10**400, 1])]
    for text, values in beyond:
        items = [Note(id=f"Note_{place}", content={"x": value}) for place, value in enumerate(values)]
        with pytest.raises(Mismatch) as raised:
            parse_aggregate(text).of(items, Evaluation({}, Refusing()))
        assert raised.value.message == f"`{text}` is beyond what a number holds"
        counted = Evaluation()
        assert parse_aggregate(text).of(items, counted) is None
        assert counted.tally.mismatches == 1
    assert reckon("avg(x)", 1e308, 1e308) == 1e308
    assert reckon("sum(x)", 1e308, 1e308, -1e308) == 1e308


def test_an_aggregate_is_computed_where_it_is_asked_for() -> None:
    """A branch of CASE that is not taken has no mismatch, as over one item."""
    text = "CASE WHEN count(x) > 5 THEN sum(x) ELSE coalesce(count(x), sum(x)) END"
    items = [Note(id="Note_1", content={"x": "a"})]
    assert parse_aggregate(text).of(items, Evaluation({}, Refusing())) == 1
    with pytest.raises(Mismatch, match=r"`sum\(x\)` takes numbers, not text"):
        parse_aggregate("CASE WHEN count(x) > 0 THEN sum(x) END").of(items, Evaluation({}, Refusing()))


def test_aggregates_that_python_takes_for_equal_are_not_mixed_up() -> None:
    """True is 1 to Python, and not here."""
    assert reckon("CASE WHEN first(TRUE) THEN min(1) || ' ' || min(TRUE) || ' ' || min(1.0) END", 0) == "1 true 1.0"


def test_all_fields_are_those_of_one_item() -> None:
    """Inside an aggregate it asks each; outside there is nobody to ask."""
    with pytest.raises(Invalid, match=r"`complete\(\*\)` looks at one item, and here are many") as raised:
        parse_aggregate("CASE WHEN complete(*) THEN count(*) ELSE 0 END")
    assert raised.value.hint == "count(CASE WHEN complete(*) THEN 1 END) counts the items that are complete"
    items = [Note(id=f"Note_{place}", content=content) for place, content in enumerate([{"x": 1}, {"x": None}])]
    assert parse_aggregate("count(CASE WHEN complete(*) THEN 1 END)").of(items, Evaluation(fields=("x",))) == 1


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1, 3], "2"),
        ([1, 2], "1.5"),
        ([1.0, 3.0], "2.0"),
        ([1, 2.5, 4.0], "2.5"),
        ([10**17 + 1, 10**17 + 3], str(10**17 + 2)),
    ],
)
def test_an_average_of_whole_numbers_is_whole_and_exact_where_it_can_be(values: list[Any], found: str) -> None:
    """2, and not 2.0: so it is written, compared as text and joined as one; large ones keep their digits."""
    assert repr(reckon("avg(x)", *values)) == found
