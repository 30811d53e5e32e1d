"""The forms in which a plan arrives, and its inputs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infospace import Collection, InvalidJSON, Note
from planner.execute.start import check_plan
from planner.language.goal import filled
from planner.language.json_patch import apply_patch
from planner.language.plan import Table
from planner.parse.text import Document, Lines, read_plan

SAY = {"type": "say", "value": "hi"}
EVIDENCE = {"text": "t", "format": "text", "metadata": {"title": "T", "score": 0.5}, "char_count": 1}
NOTE = {"type": "create-note", "value": 1, "out": "$x"}


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values)


@pytest.mark.parametrize("value", [[SAY], [], {"steps": [SAY]}, {"plan": [SAY]}, {"goal": "g", "steps": []}])
def test_an_array_or_an_object_with_steps_is_a_document(value: Any) -> None:
    """However it is spread over lines."""
    for text in (json.dumps(value), json.dumps(value, indent=2)):
        assert read_plan(text) == Document(value)


@pytest.mark.parametrize("values", [[SAY], [SAY, NOTE], [{"goal": "g"}, SAY], [{"inputs": {}}, SAY]])
def test_lines_whose_first_has_a_type_or_is_a_head_are_a_session(values: Any) -> None:
    """With the numbers of the lines; blank ones do not count as values."""
    read = read_plan(lines(*values) + "\n\n")
    assert isinstance(read, Lines)
    assert [value for _, value in read.lines] == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the plan is empty"),
        ("nothing", "the plan is not JSON: it begins with 'nothing'"),
        ('{"steps": [}', "line 1, column 12: a value was expected"),
        ('[{"type": "say"}', "ends inside an array opened at line 1, column 1"),
        ('{"a": 1}\n{"b": 2}', "a second document, which begins at line 2, column 1"),
    ],
)
def test_a_text_that_is_neither_cannot_be_read(text: str, message: str) -> None:
    """The error says where."""
    with pytest.raises(InvalidJSON, match=message):
        read_plan(text)


@pytest.mark.parametrize("head", [{"goal": "g"}, {"inputs": {}}, {"goal": "g", "inputs": {}}])
def test_a_head_alone_is_a_document_that_lacks_its_steps(space: Any, head: Any) -> None:
    """Whoever writes one forgot them: a session of nothing would succeed."""
    assert read_plan(lines(head)) == Document(head)
    [problem] = check_plan(space, head)[1].found
    assert (problem.code, problem.severity, problem.message) == ("not-a-plan", "error", "the plan has no `steps`")


# Inputs


@pytest.mark.parametrize("key", ["step", "stepps", "actions"])
def test_steps_under_another_word_are_those_of_a_document(space: Any, key: str) -> None:
    """Beside a goal, too: a head of a session has none. The problem stands where the key stands."""
    document = {"goal": "g", key: [NOTE]}
    assert read_plan(json.dumps(document)) == Document(document)
    first, *_ = check_plan(space, document)[1].found
    assert (first.code, first.pointer) == ("unknown-key", f"/{key}")
    assert first.fix == [{"op": "move", "from": f"/{key}", "path": "/steps"}]


def test_a_plan_without_steps_is_warned_of(space: Any) -> None:
    """It runs, and does nothing; where more is wrong that is said instead."""
    for document, place in (([], ""), ({"steps": []}, "/steps"), ({"goal": "g", "plan": []}, "/plan")):
        [problem] = check_plan(space, document)[1].found
        assert (problem.code, problem.severity, problem.pointer) == ("no-steps", "warning", place)
    assert [problem.code for problem in check_plan(space, {"goal": 1, "steps": []})[1].found] == ["bad-value"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("tool_calls", True, "the budget of tool_calls is a number from 0, not true"),
        ("seconds", False, "the budget of seconds is a number from 0, not false"),
        ("steps", "3", 'the budget of steps is a number from 0, not "3"'),
        ("items", -1, "the budget of items is a number from 0, not -1"),
        ("llm_calls", 2.5, "the budget of llm_calls is a whole number, not 2.5"),
        ("seconds", 2.5, None),
        ("steps", 0, None),
        ("llm_calls", 2.0, None),
    ],
)
def test_a_budget_is_of_numbers_from_0(errors: Any, key: str, value: Any, message: str | None) -> None:
    """Whole ones, but for the seconds."""
    found = errors({"budget": {key: value}, "steps": [SAY]})
    expected = [] if message is None else [("bad-value", f"/budget/{key}", message)]
    assert [(problem.code, problem.pointer, problem.message) for problem in found] == expected


def test_inputs_are_bound_as_variables(run: Any) -> None:
    """A value becomes a Note; without one, the default is taken."""
    plan = {
        "inputs": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
        "steps": [{"type": "create-note", "value": ["$a", "$b"]}],
    }
    assert run(plan, a=5).result.data == [5, 2]
    assert run(plan, a=5, b=6).result.data == [5, 6]


def test_an_input_that_is_not_given_or_does_not_fit_is_refused(run: Any) -> None:
    """With its own pointer; a run without it does not begin."""
    plan = {"inputs": {"a": {"type": "integer"}}, "steps": [{"type": "say", "value": "$a"}]}
    for given, code in (({}, "missing-input"), ({"a": "x"}, "bad-input"), ({"a": 1, "b": 2}, "bad-input")):
        result = run(plan, **given)
        assert result.status == "refused"
        name = "b" if "b" in given else "a"
        assert [(p.code, p.pointer) for p in result.problems] == [(code, f"/inputs/{name}")]


def test_an_input_of_a_kind_passes_the_resource_itself(run: Any) -> None:
    """By id or name; of the wrong kind it is refused."""
    made = run({"type": "create-collection", "value": [1, 2], "name": "list", "out": "$c"}).result.resource_id
    plan = {"inputs": {"c": {"kind": "Collection"}}, "steps": [{"type": "bind", "target": "$c", "out": "$d"}]}
    assert run(plan, c="list").result.resource_id == made
    assert run(plan, c=made).result.resource_id == made
    note = run({**NOTE, "name": "note"}).result.resource_id
    for given in (note, "note", "nobody", "Note_99", 3):
        assert [p.pointer for p in run(plan, c=given).problems] == ["/inputs/c"]


@pytest.mark.parametrize(
    ("spec", "key", "meant"),
    [
        ({"schema": {"type": "string"}}, "schema", {"type": "string"}),
        (
            {"schema": {"type": "string", "default": "a"}, "description": "b"},
            "schema",
            {"type": "string", "default": "a", "description": "b"},
        ),
        ({"schema": {"kind": "Note"}}, "schema", {"kind": "Note"}),
        ({"typ": "string"}, "typ", {"type": "string"}),
        ({"type": "array", "item": {"type": "string"}}, "item", {"type": "array", "items": {"type": "string"}}),
        ({"Kind": "Note"}, "Kind", {"kind": "Note"}),
        ({"schema": "string"}, "schema", None),
        ({"value": 3, "default": 1}, "value", None),
        ({"type": "string", "optional": True}, "optional", None),
    ],
)
def test_an_input_whose_keys_are_not_those_of_a_schema_is_an_error(
    errors: Any, spec: dict[str, Any], key: str, meant: Any
) -> None:
    """Any value would fit it. The fix is the schema that was plainly meant."""
    use = {"type": "say", "value": "hello"}
    [problem] = errors({"inputs": {"p": spec}, "steps": [use]})
    assert (problem.code, problem.pointer) == ("bad-input", f"/inputs/p/{key}")
    document = {"inputs": {"p": spec}, "steps": [use]}
    mended = None if problem.fix is None else apply_patch(document, problem.fix)["inputs"]["p"]
    assert mended == meant


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"default": 3},
        {"description": "anything"},
        {"type": "string", "example": "a", "x-order": 1},
        {"type": "string", "nullable": True, "markdownDescription": "*a*"},
        {"enum": [1, 2]},
    ],
)
def test_an_input_may_say_more_than_the_schema_needs(errors: Any, spec: dict[str, Any]) -> None:
    assert errors({"inputs": {"p": spec}, "steps": [{"type": "say", "value": "hello"}]}) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("two\n lines", "two lines"),
        (["a", 1], '["a",1]'),
        (Note(id="Note_1", content={"a": 1}), '{"a":1}'),
        (Note(id="Note_1", content=EVIDENCE, evidence=True), "T (0.50)"),
        (Collection(id="Collection_1", name="list"), "list"),
        (Table([1]), "1 row"),
        (Table(range(1_000)), "1,000 rows"),
        ("${x} $x", "${x} $x"),
        ("x" * 120, "x" * 120),
        ("x" * 121, f"{'x' * 90}… [cut: 121 characters in all]"),
    ],
    ids=lambda part: str(part)[:20],
)
def test_a_goal_says_what_its_inputs_are(value: Any, text: str) -> None:
    """Their texts, cut where they are long, or what they are called; what is no input stays as it is written."""
    assert filled("a ${x} of ${y}, $x: ${x.a} ${x}", {"x": value}) == f"a {text} of ${{y}}, $x: ${{x.a}} {text}"


def test_the_check_alone_assumes_any_value_of_an_inputs_schema(errors: Any) -> None:
    """Its places are checked as far as the schema closes them."""
    closed = {"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": False}
    use = {"type": "create-note", "value": "$p.titel"}
    assert [p.code for p in errors({"inputs": {"p": closed}, "steps": [use]})] == ["unknown-field"]
    assert errors({"inputs": {"p": {"type": "object"}}, "steps": [use]}) == []


def test_an_outcome_is_short_when_it_is_shown(run: Any) -> None:
    """Its `repr`, which `asyncio` makes of every result, grows with nothing in it."""
    few, many = (run({"type": "create-collection", "value": list(range(count)), "out": "$c"}) for count in (1, 500))
    assert few.status == many.status == "success"
    assert len(repr(many)) <= len(repr(few)) + 5
