"""`sort`: by fields of the items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.5, -1.5, 2.0])
    | st.sampled_from(["", "a", "B", "é"])
    | st.lists(st.integers(0, 1), max_size=1)
    | st.sampled_from([{"k": 1}, {"k": 0}])
)
NO_VALUE = "an operator or the end was expected"
ITEMS = st.lists(st.fixed_dictionaries({}, optional={"x": VALUES, "y": VALUES}), max_size=7)


def test_a_key_that_no_item_has_is_told_in_the_text(run: Any) -> None:
    """The items are as they were then; a key that is null in all of them is there."""
    made = {"type": "create-note", "value": '[{"x": 2, "y": null}, {"x": 1}]', "out": "$text"}
    read = {"type": "coerce", "target": "$text", "coercion": "json", "out": "$json"}
    split = {"type": "split", "target": "$json", "out": "$all"}
    for by, told in (("nope", "2 notes (no item has `nope`)"), (["x", "nope desc"], "2 notes (no"), ("y", "2 notes: ")):
        value = run(made, read, split, {"type": "sort", "target": "$all", "by": by}).last.value
        assert value.startswith(told)


def rank(value: Any) -> tuple[int, Any]:
    """The order of the contract: numbers, strings, booleans, lists, objects; here objects have one key."""
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, (int, float)):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return (3, value) if isinstance(value, list) else (4, value["k"])


def model(items: list[Any], by: list[str], order: str, nulls: str) -> list[Any]:
    """Sort as the contract says, by insertion, one comparison at a time."""

    def before(left: Any, right: Any) -> bool:
        for path in by:
            a, b = left["item"].get(path), right["item"].get(path)
            if (a is None) != (b is None):
                return (a is None) == (nulls == "first")
            if a is None or rank(a) == rank(b):
                continue
            return (rank(a) < rank(b)) == (order == "asc")
        return False

    result: list[Any] = []
    for item in items:
        place = len(result)
        while place and before({"item": item}, {"item": result[place - 1]}):
            place -= 1
        result.insert(place, item)
    return result


@settings(max_examples=80, deadline=None)
@given(
    items=ITEMS,
    by=st.sampled_from([["x"], ["x", "y"], ["y", "x"]]),
    order=st.sampled_from(["asc", "desc"]),
    nulls=st.sampled_from(["first", "last"]),
)
def test_sorting_agrees_with_a_plain_model(
    shared: Any, items: list[Any], by: list[str], order: Literal["asc", "desc"], nulls: str
) -> None:
    """Stable, nothing dropped, null and missing where `nulls` says in both orders, mixed types in their order."""
    numbered = [{**item, "place": place} for place, item in enumerate([*items, {"x": 0, "y": 0}])]
    ran = shared(
        {"type": "create-collection", "value": numbered, "out": "$list"},
        {"type": "sort", "target": "$list", "by": by, "order": order, "nulls": nulls, "out": "$sorted"},
    )
    assert ran.content("sorted") == model(numbered, by, order, nulls)


def test_by_default_ascending_with_nulls_last(run: Any) -> None:
    """One path needs no list."""
    ran = run(
        {"type": "create-collection", "value": [{"n": 2}, {}, {"n": None}, {"n": 1}], "out": "$list"},
        {"type": "sort", "target": "$list", "by": "n", "out": "$sorted"},
    )
    assert ran.content("sorted") == [{"n": 1}, {"n": 2}, {}, {"n": None}]


def test_items_stay_the_same_resources(run: Any) -> None:
    """Only their order is new."""
    ran = run(
        {"type": "create-collection", "value": [{"n": 2}, {"n": 1}], "out": "$list"},
        {"type": "sort", "target": "$list", "by": "n", "out": "$sorted"},
    )
    assert [i.id for i in ran.items("sorted")] == [i.id for i in reversed(ran.items("list"))]


def test_large_numbers_are_compared_exactly(run: Any) -> None:
    """A whole number is not rounded to a float."""
    big = 2**53
    ran = run(
        {"type": "create-collection", "value": [{"n": big + 1}, {"n": big}, {"n": big + 0.0}], "out": "$list"},
        {"type": "sort", "target": "$list", "by": "n", "out": "$sorted"},
    )
    assert [item["n"] for item in ran.content("sorted")] == [big, big, big + 1]


def test_objects_that_are_equal_keep_their_order(run: Any) -> None:
    """The order of an object's keys is no matter."""
    items = [{"o": {"a": 1, "b": 2}, "n": 1}, {"o": {"b": 2, "a": 1}, "n": 2}, {"o": {"a": 1, "b": 2}, "n": 3}]
    ran = run(
        {"type": "create-collection", "value": items, "out": "$list"},
        {"type": "sort", "target": "$list", "by": "o", "out": "$sorted"},
    )
    assert [item["n"] for item in ran.content("sorted")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("by", "place", "message"),
    [
        (3, ("by",), "`by` is 3, not a path or an expression or a list of such"),
        (None, ("by",), "`by` is null, not a path or an expression or a list of such"),
        ([], ("by",), "`by` is []: list should have at least 1 item, not 0"),
        ("a..b", ("by",), f"`by`: the sort key has '.' (character 1) where {NO_VALUE}"),
        (
            ["a", "b c"],
            ("by", 1),
            "`by[1]`: the sort key has 'c' (character 2) where an operator or the end was expected",
        ),
        (["a", 3], ("by", 1), "`by[1]` is 3, not a path or an expression"),
    ],
)
def test_a_wrong_by_is_one_fault_at_its_place(by: Any, place: tuple[Any, ...], message: str) -> None:
    """Alternatives of a type never show in a message."""
    from infospace import Collection
    from infospace.contract.decorator import ArgumentsInvalid
    from primitives.sort import sort

    with pytest.raises(ArgumentsInvalid) as raised:
        sort.validate({"target": Collection(id="Collection_1"), "by": by})
    [fault] = raised.value.faults
    assert (fault.place, fault.message.replace("was expected", "was expected")) == (place, message)


def test_an_order_in_capitals_is_refused_with_the_word_that_was_meant(call: Callable[..., Any], run: Any) -> None:
    """A pointer, the words that fit, and the nearest."""
    ran = run(
        {"type": "create-collection", "value": [1], "out": "$list"},
        {"type": "sort", "target": "$list", "by": "n", "order": "DESC", "out": "$sorted"},
        status="refused",
    )
    problem = next(problem for problem in ran.result.problems if problem.pointer == "/steps/1/order")
    assert (problem.pointer, problem.message) == ("/steps/1/order", '`order` is "DESC", not "asc" or "desc"')
    assert problem.hint == 'did you mean "desc"?'


@pytest.mark.parametrize(
    ("by", "order", "ns"),
    [
        ("n desc", "asc", [3, 2, 1, 0]),
        (["t desc", "n"], "asc", [1, 3, 0, 2]),
        (["t asc", "n"], "desc", [2, 0, 3, 1]),
        ("-n", "asc", [3, 2, 1, 0]),
        ("lower(t) || n DESC", "asc", [3, 1, 2, 0]),
        ("abs(n - $middle), n", None, None),
        (["abs(n - $middle)", "n"], "asc", [2, 1, 3, 0]),
        (["case desc", "n"], "asc", [1, 3, 0, 2]),
        ("case", "asc", [0, 2, 3, 1]),
        ("due-date desc", "asc", [0, 1, 2, 3]),
        ("desc", "desc", [3, 2, 1, 0]),
        ("$path", "asc", [0, 1, 2, 3]),
        (["$path"], "desc", [3, 2, 1, 0]),
    ],
)
def test_a_key_is_a_path_or_an_expression_with_its_own_order(run: Any, by: Any, order: Any, ns: Any) -> None:
    """`order` is for those that say none; `$x` in an expression is a value, alone it is what the key is written as."""
    rows = [{"n": n, "t": "Bb"[n % 2], "case": n % 2, "due-date": 9 - n, "desc": n} for n in (3, 0, 2, 1)]
    rows = [{**row, "t": "B" if row["n"] % 2 else "A"} for row in rows]
    steps = [
        {"type": "create-note", "value": 2, "out": "$middle"},
        {"type": "create-note", "value": "n", "out": "$path"},
        {"type": "create-collection", "value": rows, "out": "$list"},
        {"type": "sort", "target": "$list", "by": by, **({"order": order} if order else {}), "out": "$sorted"},
    ]
    if ns is None:
        [problem] = [p for p in run(*steps, status="refused").result.problems if p.severity == "error"]
        assert "has ',' (character 16) where an operator or the end was expected" in problem.message
        return
    assert [row["n"] for row in run(*steps).content("sorted")] == ns


def test_an_expression_without_a_result_fails_and_names_the_item(run: Any) -> None:
    """A missing value is null, and so is what is computed of it."""
    rows = [{"n": 1}, {}, {"n": "x"}]
    steps = [
        {"type": "create-collection", "value": rows, "out": "$list"},
        {"type": "sort", "target": "$list", "by": "n * 2", "out": "$sorted"},
    ]
    reason = run(*steps, status="failed").reason
    assert "item 3 (" in reason
    assert '`n * 2` computes with text and number, not with numbers: "x" and 2' in reason
    steps[0]["value"] = rows[:2]
    assert run(*steps).content("sorted") == [{"n": 1}, {}]
