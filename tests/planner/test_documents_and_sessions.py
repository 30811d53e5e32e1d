"""The forms in which a plan arrives, its inputs, and sessions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from infospace import Conflict, Space, Unreadable
from planner.read import Document, Lines, read_plan
from planner.session import Session, check_lines

SAY = {"type": "say", "value": "hi"}
NOTE = {"type": "create-note", "value": 1, "out": "$x"}


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values)


@pytest.mark.parametrize("value", [[SAY], [], {"steps": [SAY]}, {"plan": [SAY]}, {"goal": "g", "steps": []}])
def test_an_array_or_an_object_with_steps_is_a_document(value: Any) -> None:
    """However it is spread over lines."""
    for text in (json.dumps(value), json.dumps(value, indent=2)):
        assert read_plan(text) == Document(value)


@pytest.mark.parametrize("values", [[SAY], [SAY, NOTE], [{"goal": "g"}, SAY], [{"inputs": {}}, SAY], [{"goal": "g"}]])
def test_lines_whose_first_has_a_type_or_is_a_head_are_a_session(values: Any) -> None:
    """With the numbers of the lines; blank ones do not count as values."""
    read = read_plan(lines(*values) + "\n\n")
    assert isinstance(read, Lines)
    assert [value for _, value in read.lines] == values


@pytest.mark.parametrize("text", ["", "nothing", '{"steps": [}', '[{"type": "say"}', '{"a": 1}\n{"b": 2}'])
def test_a_text_that_is_neither_cannot_be_read(text: str) -> None:
    """The error says where."""
    with pytest.raises(Unreadable):
        read_plan(text)


# Inputs


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


def test_the_check_alone_assumes_any_value_of_an_inputs_schema(errors: Any) -> None:
    """Its places are checked as far as the schema closes them."""
    closed = {"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": False}
    use = {"type": "create-note", "value": "$p.titel"}
    assert [p.code for p in errors({"inputs": {"p": closed}, "steps": [use]})] == ["unknown-field"]
    assert errors({"inputs": {"p": {"type": "object"}}, "steps": [use]}) == []


# Sessions


def play(space: Space, *values: Any, head: Any = None, inputs: Any = None) -> list[Any]:
    """Give lines to a session one by one; return what each answers, and the end."""

    async def go() -> list[Any]:
        session = Session(space, lambda _event: None, head, inputs)
        answers: list[Any] = []
        for value in values:
            answers.append(await session.step(value))
            if answers[-1] is not None:
                return answers
        return [*answers, session.end()]

    return asyncio.run(go())


def test_each_line_is_checked_against_what_is_bound_and_then_run(space: Space) -> None:
    """Later lines see what earlier ones bound; the result is the last value."""
    *answers, end = play(space, NOTE, {"type": "create-note", "value": "${x}!", "out": "$y"})
    assert answers == [None, None]
    assert (end.status, end.result.data) == ("success", "1!")
    assert [row.position for row in end.steps] == ["1", "2"]


def test_a_refused_line_ends_the_session_and_earlier_lines_stay(space: Space) -> None:
    """Nothing is promised of later lines; the pointer begins with the line's index."""
    end = play(space, {**NOTE, "name": "kept"}, {"type": "say", "value": "$zz"}, head={"goal": "g"})[-1]
    assert end.status == "refused"
    assert [(p.code, p.pointer) for p in end.problems] == [("unbound-variable", "/2/value")]
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is not None
        assert snapshot.run(end.run).status == "refused"


def test_a_failed_line_ends_the_session(space: Space) -> None:
    """With the reason of the step."""
    end = play(space, NOTE, {"type": "load", "target": "$x", "slice": ":1"}, SAY)[-1]
    assert (end.status, len(end.steps)) == ("failed", 2)


def test_a_session_takes_inputs_result_and_budget_from_its_head(space: Space) -> None:
    """A step budget, a variable as result, an input without a default."""
    head = {"goal": "g", "inputs": {"n": {"type": "integer"}}, "result": "$x", "budget": {"steps": 2}}
    use = {"type": "create-note", "value": "$n", "out": "$x"}
    end = play(space, use, {**NOTE, "out": "$y"}, head=head, inputs={"n": 4})[-1]
    assert end.result.data == 4
    end = play(space, use, SAY, SAY, head=head, inputs={"n": 4})[-1]
    assert "the budget of 2 steps ran out" in end.reason
    [end] = play(space, use, head=head)
    assert [(p.code, p.pointer) for p in end.problems] == [("missing-input", "/inputs/n")]


def test_a_variable_that_a_handled_failure_left_unbound_is_unbound_in_the_next_line(space: Space) -> None:
    """What is bound is known for certain between the lines of a session."""
    lost = {"type": "load", "target": "$x", "slice": ":1", "out": "$y", "on_fail": "continue"}
    end = play(space, NOTE, lost, {"type": "say", "value": "$y"})[-1]
    assert [(p.code, p.pointer) for p in end.problems] == [("unbound-variable", "/2/value")]


def test_a_session_that_has_ended_takes_no_more_steps(space: Space) -> None:
    """Neither after its end nor after a failure."""

    async def go() -> None:
        session = Session(space, lambda _event: None)
        await session.step(NOTE)
        session.end()
        with pytest.raises(Conflict):
            await session.step(SAY)
        with pytest.raises(Conflict):
            session.cancel()

    asyncio.run(go())


def test_a_cancelled_session_is_journalled_as_cancelled(space: Space) -> None:
    """What its steps wrote stays."""

    async def go() -> Any:
        session = Session(space, lambda _event: None)
        await session.step({**NOTE, "name": "kept"})
        return session.cancel()

    end = asyncio.run(go())
    with space.store.reading() as snapshot:
        assert snapshot.run(end.run).status == "cancelled"
        assert snapshot.named("kept") is not None


def test_lines_are_checked_one_after_the_other_without_running_any(space: Space) -> None:
    """Pointers begin with the line's index; a head is line 0; its result is looked at last."""
    found = check_lines(space, [{"goal": "g", "result": "$q"}, NOTE, {"type": "size", "target": "$x"}, {"type": "sya"}])
    assert [(p.code, p.pointer) for p in found if p.severity == "error"] == [
        ("wrong-kind", "/2/target"),
        ("unknown-type", "/3/type"),
        ("unbound-variable", "/0/result"),
    ]
    with space.store.reading() as snapshot:
        assert snapshot.runs() == []


def test_an_outcome_is_short_when_it_is_shown(run: Any) -> None:
    """Its `repr`, which `asyncio` makes of every result, grows with nothing in it."""
    few, many = (run({"type": "create-collection", "value": list(range(count)), "out": "$c"}) for count in (1, 500))
    assert few.status == many.status == "success"
    assert len(repr(many)) <= len(repr(few)) + 5


@pytest.mark.parametrize(
    "line",
    [
        {"type": "ask", "value": "which?"},
        {"type": "wait", "seconds": 61},
        {"type": "wait", "condition": {"type": "bound", "target": "$x"}},
    ],
    ids=["ask", "seconds", "condition"],
)
def test_a_line_that_would_suspend_a_session_is_refused(space: Space, line: Any) -> None:
    """It could not be gone on with before the next line is written."""
    session = Session(space, lambda _event: None)
    assert asyncio.run(session.step({"type": "create-note", "value": 1, "out": "$x"})) is None
    ended = asyncio.run(session.step(line))
    assert ended is not None
    assert [(problem.code, problem.pointer) for problem in ended.problems] == [("unsupported", "/1/type")]
