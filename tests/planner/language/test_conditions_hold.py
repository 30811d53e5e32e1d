"""When conditions are true, false, an error, and when they skip their form."""

from __future__ import annotations

from typing import Any

import pytest

VALUE: dict[str, Any] = {
    "n": 3,
    "t": "abc",
    "l": [1, {"a": 2}],
    "o": {"k": 1},
    "z": None,
    "e": "",
    "el": [],
    "eo": {},
    "f": False,
}


def branch(condition: Any) -> dict[str, Any]:
    """A step that tells whether a condition holds."""
    true, false = {"type": "create-note", "value": True}, {"type": "create-note", "value": False}
    return {"type": "if", "condition": condition, "then": [true], "else": [false]}


@pytest.fixture
def holds(run: Any) -> Any:
    """Ask a condition of `$x`, an input with VALUE as its value; of `$c`, a Collection of it and 1."""

    def ask(type_: str, target: Any = None, **fields: Any) -> bool:
        made = {"type": "create-collection", "value": ["$x", 1], "out": "$c"}
        condition = {"type": type_, **({} if target is None else {"target": target}), **fields}
        result = run({"inputs": {"x": {"default": VALUE}}, "steps": [made, branch(condition)]})
        assert result.status == "success", (result.reason, result.problems)
        answer: bool = result.result.data
        return answer

    return ask


@pytest.mark.parametrize(
    ("type_", "target", "value", "expected"),
    [
        ("equals", "$x.n", 3.0, True),
        ("equals", "$x.n", "3", False),
        ("equals", "$x.f", 0, False),
        ("equals", "$x.l", [1, {"a": 2.0}], True),
        ("not_equals", "$x.n", "3", True),
        ("greater_than", "$x.n", 2, True),
        ("greater_than", "$x.n", 3, False),
        ("gte", "$x.n", 3, True),
        ("gte", "$x.n", 3.5, False),
        ("less_than", "$x.t", "abd", True),
        ("less_than", "$x.n", 3, False),
        ("lte", "$x.n", 3, True),
        ("lte", "$x.n", 2.5, False),
        ("contains", "$x.t", "bc", True),
        ("contains", "$x.l", {"a": 2}, True),
        ("contains", "$x.l", "1", False),
        ("contains", "$x.o", "k", True),
        ("contains", "$x.o", 1, False),
        ("not_contains", "$x.t", "z", True),
        ("contains", "$c", 1, True),
        ("contains", "$c", "$x", True),
        ("contains", "$c", "$x.n", False),
    ],
)
def test_a_comparison_is_of_json_values_and_types(
    holds: Any, type_: str, target: str, value: Any, expected: bool
) -> None:
    """1 equals 1.0 and not "1"; substrings, equal elements, keys, members."""
    assert holds(type_, target, value=value) is expected


@pytest.mark.parametrize("place", ["$x.nowhere", "$x.l[9]", "$c[5]", "$x.n.deeper"])
def test_conditions_on_an_absent_place_have_their_fixed_answers(holds: Any, place: str) -> None:
    """Two are true with it absent, `notbound` and `empty` too; all the others are false; none fails."""
    for type_ in ("bound", "has_value"):
        assert holds(type_, place) is False
    for type_ in ("notbound", "empty"):
        assert holds(type_, place) is True
    for type_ in ("equals", "greater_than", "less_than", "gte", "lte", "contains"):
        assert holds(type_, place, value=1) is False
    for type_ in ("not_equals", "not_contains"):
        assert holds(type_, place, value=1) is True
    assert holds("matches_pattern", place, pattern="") is False
    assert holds("validates", place, schema={}) is False


@pytest.mark.parametrize(("place", "empty"), [("z", 1), ("e", 1), ("el", 1), ("eo", 1), ("n", 0), ("f", 0), ("t", 0)])
def test_null_and_empty_things_are_empty_and_zero_and_false_are_not(holds: Any, place: str, empty: int) -> None:
    """`has_value` is the opposite of `empty` for what exists."""
    assert holds("empty", f"$x.{place}") is bool(empty)
    assert holds("has_value", f"$x.{place}") is not bool(empty)
    assert holds("bound", f"$x.{place}") is True


def test_and_or_and_not_combine(holds: Any) -> None:
    """`of` is a list of conditions, or one."""
    yes, no = {"type": "has_value", "target": "$x"}, {"type": "empty", "target": "$x"}
    assert holds("and", of=[yes, yes]) is True
    assert holds("and", of=[yes, no]) is False
    assert holds("or", of=[no, yes]) is True
    assert holds("or", of=no) is False
    assert holds("not", of=no) is True
    assert holds("not", of=[yes]) is False


def test_a_pattern_is_found_anywhere_unless_anchored(holds: Any) -> None:
    """Of a text."""
    assert holds("matches_pattern", "$x.t", pattern="b") is True
    assert holds("matches_pattern", "$x.t", pattern="^b") is False


@pytest.mark.parametrize(
    ("place", "shown"), [("n", "3"), ("o", '{"k": 1}'), ("l", '[1, {"a": 2}]'), ("z", "null"), ("f", "false")]
)
def test_a_pattern_is_not_looked_for_in_what_is_no_text(run: Any, errors: Any, place: str, shown: str) -> None:
    """The step fails where the schema was not known, and the check says so where it is."""
    asked = branch({"type": "matches_pattern", "target": f"$x.{place}", "pattern": "3"})
    made = {"type": "create-note", "value": VALUE, "out": "$x"}
    [problem] = errors([made, asked])
    assert (problem.code, problem.pointer) == ("bad-condition", "/1/condition/target")
    assert problem.message == "matches_pattern looks into a text, and this is not one"
    result = run({"inputs": {"x": {"default": VALUE}}, "steps": [asked]})
    assert result.status == "failed"
    assert f"matches_pattern looks into a text, not into {shown}" in result.reason


def test_a_pattern_with_look_around_is_refused(errors: Any) -> None:
    """The syntax is RE2's; so is that of patterns in schemas."""
    plan = [{"type": "create-note", "value": "a", "out": "$x"}]
    looking = {"type": "matches_pattern", "target": "$x", "pattern": "a(?=b)"}
    [problem] = errors([*plan, branch(looking)])
    assert (problem.code, problem.pointer) == ("bad-pattern", "/1/condition/pattern")
    schema = {"type": "validates", "target": "$x", "schema": {"type": "string", "pattern": "(?<!a)b"}}
    [problem] = errors([*plan, branch(schema)])
    assert (problem.code, problem.pointer) == ("bad-schema", "/1/condition/schema/pattern")


def test_validates_asks_a_json_schema(holds: Any) -> None:
    """Also of a Collection, which is the list of its contents."""
    assert holds("validates", "$x", schema={"type": "object", "required": ["n"]}) is True
    assert holds("validates", "$x.n", schema={"type": "string"}) is False
    assert holds("validates", "$c", schema={"type": "array", "minItems": 2}) is True


@pytest.mark.parametrize(
    ("type_", "target", "value"),
    [
        ("greater_than", "$x.n", "a"),
        ("lte", "$x.t", 3),
        ("gte", "$x.f", 0),
        ("less_than", "$x.z", 1),
        ("contains", "$x.n", 3),
    ],
)
def test_a_comparison_of_mixed_types_fails_the_step(run: Any, type_: str, target: str, value: Any) -> None:
    """It is neither true nor false; the sentence names both."""
    step = branch({"type": type_, "target": target, "value": value})
    result = run({"inputs": {"x": {"default": VALUE}}, "steps": [step]})
    assert result.status == "failed"
    assert result.steps[0].error == "condition"
    assert type_.removeprefix("not_") in result.reason


def test_a_condition_that_reads_an_unbound_variable_skips_the_whole_form(run: Any) -> None:
    """Neither branch runs; `bound` and `notbound` never skip."""
    lost = [
        {"type": "create-note", "value": 1, "out": "$n"},
        {"type": "load", "target": "$n", "slice": ":1", "out": "$x", "on_fail": "continue"},
    ]
    result = run(*lost, branch({"type": "empty", "target": "$x"}))
    assert [(row.position, row.status) for row in result.steps] == [("1", "success"), ("2", "failed"), ("3", "skipped")]
    assert result.steps[2].extra["cause"] == "2"
    assert run(*lost, branch({"type": "bound", "target": "$x"})).result.data is False
    assert run(*lost, branch({"type": "notbound", "target": "$x"})).result.data is True


def test_what_a_skipped_form_would_have_bound_names_the_step_to_blame(run: Any) -> None:
    """The cause goes through the form to the step that needs its variable."""
    result = run(
        {"type": "create-note", "value": 1, "out": "$n"},
        {"type": "load", "target": "$n", "slice": ":1", "out": "$x", "on_fail": "continue"},
        {
            "type": "if",
            "condition": {"type": "has_value", "target": "$x"},
            "then": [{"type": "create-note", "value": 1, "out": "$y"}],
            "else": [{"type": "create-note", "value": 2, "out": "$y"}],
        },
        {"type": "say", "value": "$y"},
    )
    last = result.steps[-1]
    assert (last.status, last.extra["cause"]) == ("skipped", "2")
    assert last.reason == "$y is not bound: step 3 was skipped, because step 2 failed and was passed over"


def test_a_search_result_counts_as_its_source_in_a_collection(space: Any, run: Any) -> None:
    """Membership is by identity, and the identity of a result is its source's."""
    note = {"type": "create-note", "value": "Cats purr.", "name": "cats", "out": "$cat"}
    assert run(note, {"type": "create-note", "value": "Dogs bark.", "name": "dogs"}).status == "success"
    hits = {"type": "discover-notes", "query": "cats purring", "limit": 1, "out": "$hits"}
    cats = {"type": "load", "target": "cats", "out": "$cats"}
    assert run(hits, cats, branch({"type": "contains", "target": "$hits", "value": "$cats"})).result.data is True
    dogs = {"type": "load", "target": "dogs", "out": "$dogs"}
    assert run(hits, dogs, branch({"type": "contains", "target": "$hits", "value": "$dogs"})).result.data is False


def test_a_collection_contains_what_is_in_it_whatever_that_is(run: Any) -> None:
    """A Note, a Collection or a Relation by what it is; another one of the same content is not in it."""
    made = [
        {"type": "create-note", "value": "a", "out": "$a"},
        {"type": "create-note", "value": "b", "out": "$b"},
        {"type": "create-collection", "value": ["$a"], "out": "$inner"},
        {"type": "create-collection", "value": ["$a"], "out": "$other"},
        {"type": "create-relation", "source": "$a", "target": "$b", "relation": "cites", "out": "$r"},
        {"type": "create-relation", "source": "$a", "target": "$b", "relation": "cites", "out": "$s"},
        {"type": "create-collection", "value": ["$a", "$inner", "$r"], "out": "$all"},
    ]
    for value, inside in (
        ("$a", True),
        ("$b", False),
        ("$inner", True),
        ("$other", False),
        ("$r", True),
        ("$s", False),
    ):
        for type_, expected in (("contains", inside), ("not_contains", not inside)):
            result = run({"steps": [*made, branch({"type": type_, "target": "$all", "value": value})]})
            assert result.status == "success", (result.reason, result.problems)
            assert result.result.data is expected, (type_, value)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_collection_is_empty_where_nothing_is_in_it(run: Any, count: int) -> None:
    made = {"type": "create-collection", "value": list(range(count)), "out": "$c"}
    for type_, expected in (("empty", count == 0), ("has_value", count > 0)):
        result = run({"steps": [made, branch({"type": type_, "target": "$c"})]})
        assert result.result.data is expected


def test_a_name_is_bound_where_something_has_it(run: Any) -> None:
    """In the space, whoever gave it."""
    run({"steps": [{"type": "create-note", "value": 1, "name": "kept"}]})
    for name, there in (("kept", True), ("never", False)):
        for type_, expected in (("bound", there), ("notbound", not there)):
            result = run({"steps": [branch({"type": type_, "target": name})]})
            assert result.result is not None, (result.reason, result.problems)
            assert result.result.data is expected, (type_, name)
