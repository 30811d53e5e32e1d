"""What a person is asked becomes a form that a client can show, and what the form has becomes the answer."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.errors import Conflict
from infospace.core.tool import NotAllowed
from infospace.data.paths import ABSENT
from infospace.journal.rows import StepRow
from planner.journal.suspension import Pending
from planner.server.access import Access
from planner.server.approvals import (
    REMEMBERED,
    OpenQuestion,
    QuestionStore,
    call_for_people,
    command,
    for_people,
    question_of,
    refuse_human_question,
)
from planner.server.question_forms import Question

TITLE = "Your answer"


def ask(schema: Any = None, kind: Any = "ask", **more: Any) -> Question:
    return Question("run_1", Pending("2", kind, "What?", schema, **more))


def the_field(schema: Any) -> dict[str, Any]:
    """The one field of the form of a question."""
    form = ask(schema).form
    assert (form["type"], form["required"], list(form["properties"])) == ("object", ["answer"], ["answer"])
    found: dict[str, Any] = form["properties"]["answer"]
    assert found.pop("title") == TITLE
    return found


def test_a_question_has_its_run_and_step() -> None:
    """And a key of its own, by what its answer is kept under."""
    assert (ask().message, ask().key, ask().tool) == ("What? (run_1, step 2)", "run_1:2", None)
    about = ask(key="2#call", about={"tool": "web/get"})
    assert (about.key, about.tool) == ("run_1:2#call", "web/get")


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        (None, {"type": "string"}),
        ({}, {"type": "string"}),
        ({"type": "boolean", "default": True, "examples": [1]}, {"type": "boolean", "default": True}),
        ({"type": "integer", "minimum": 1, "maximum": 5}, {"type": "integer", "minimum": 1, "maximum": 5}),
        ({"type": "number", "minimum": 1, "multipleOf": 5}, {"type": "number", "minimum": 1}),
        (
            {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "a"},
            {"type": "string", "minLength": 1, "maxLength": 9},
        ),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "regex"}, {"type": "string"}),
        ({"enum": ["a", "b"], "description": "Or?"}, {"type": "string", "enum": ["a", "b"], "description": "Or?"}),
        ({"enum": ["a", 2, None, [1]], "default": 2}, {"type": "string", "enum": ["a", "2", "null", "[1]"]}),
        ({"enum": [1, "1"]}, {"type": "string", "description": 'JSON that fits {"enum":[1,"1"]}'}),
        ({"const": 3}, {"type": "string", "description": 'JSON that fits {"const":3}'}),
        ({"type": "array"}, {"type": "string", "description": 'JSON that fits {"type":"array"}'}),
        ({"type": ["string", "null"]}, {"type": "string", "description": 'JSON that fits {"type":["string","null"]}'}),
        (
            {"type": "string", "anyOf": [{"minLength": 1}]},
            {"type": "string", "description": 'JSON that fits {"type":"string","anyOf":[{"minLength":1}]}'},
        ),
    ],
    ids=str,
)
def test_an_answer_that_is_no_object_is_one_field(schema: Any, field: Any) -> None:
    """As near to its schema as a form can say; else its schema is told."""
    assert the_field(schema) == field


@pytest.mark.parametrize(
    "more",
    [
        {"oneOf": [{"minimum": 1}]},
        {"anyOf": [{"minimum": 1}]},
        {"allOf": [{"minimum": 1}]},
        {"$ref": "#/$defs/few"},
        {"const": 3},
    ],
    ids=str,
)
def test_what_a_form_cannot_say_is_no_field_of_a_type(more: Any) -> None:
    """A client would take answers there that the schema refuses."""
    (keyword,) = more
    field = the_field({"type": "integer", **more})
    assert field["type"] == "string"
    assert keyword in field["description"]


def test_a_long_schema_is_cut_in_a_form() -> None:
    """Whoever answers sees the beginning."""
    description = the_field({"type": "array", "description": "x" * 5_000})["description"]
    assert description.startswith('JSON that fits {"type":"array","description":"xxx')
    assert len(description) == len("JSON that fits ") + 500


WIDTH = {"type": "integer", "title": "Width"}
FIELDS = {
    str({"type": "string"}): {"type": "string"},
    str({"enum": ["a"]}): {"type": "string", "enum": ["a"]},
}
"""Schemas, as text, with the field that each is."""


@pytest.mark.parametrize(
    ("properties", "required", "fields"),
    [
        ({"width": WIDTH, "name": {"type": "string"}}, ["width"], ["width"]),
        ({"width": WIDTH, "name": {"enum": ["a"]}}, None, []),
        ({"width": WIDTH, "deep": {"type": "object"}}, ["width"], None),
        ({"width": WIDTH}, ["width", "height"], None),
        ({}, [], None),
    ],
    ids=str,
)
def test_an_object_of_plain_fields_is_the_form_itself(properties: Any, required: Any, fields: Any) -> None:
    """With those required that it requires; another object is written as JSON."""
    schema = {"type": "object", "properties": properties, **({} if required is None else {"required": required})}
    form = ask(schema).form
    if fields is None:
        assert list(form["properties"]) == ["answer"]
        assert ask(schema).answer({"answer": '{"width": 1}'}) == {"width": 1}
    else:
        assert (list(form["properties"]), form["required"]) == (list(properties), fields)
        assert form["properties"]["width"] == WIDTH
        assert form["properties"].get("name", {}) == FIELDS.get(str(properties.get("name")), {})
        assert ask(schema).answer({"width": 1, "name": None}) == {"width": 1}


@pytest.mark.parametrize(
    ("schema", "content", "answer"),
    [
        (None, {"answer": "text"}, "text"),
        (None, {"answer": "17"}, 17),
        (None, {"answer": None}, ABSENT),
        (None, {}, ABSENT),
        ({"type": "string"}, {"answer": "17"}, "17"),
        ({"type": "boolean"}, {"answer": False}, False),
        ({"type": "integer"}, {"answer": 0}, 0),
        ({"enum": ["a", 2, None]}, {"answer": "null"}, None),
        ({"enum": ["a", 2, None]}, {"answer": "b"}, ABSENT),
        ({"enum": [1, "1"]}, {"answer": "1"}, 1),
        ({"type": "array"}, {"answer": "[1]"}, [1]),
    ],
    ids=str,
)
def test_what_the_form_has_becomes_the_answer(schema: Any, content: Any, answer: Any) -> None:
    """As its schema wants it; a field that was left blank is no answer."""
    assert ask(schema).answer(content) == answer


def test_an_approval_is_one_of_the_words() -> None:
    """Anything else is no answer."""
    form = ask(kind="approve").form
    assert form["properties"]["answer"]["enum"] == ["once", "run", "always", "no"]
    assert (form["properties"]["answer"]["title"], form["required"]) == ("May it be called?", ["answer"])
    assert "once: this call; run: every call" in form["properties"]["answer"]["description"]
    for said, answer in {"always": "always", "no": "no", "yes": ABSENT}.items():
        assert ask(kind="approve").answer({"answer": said}) == answer
    assert ask(kind="approve").answer({"answer": ["once"]}) is ABSENT
    assert ask(kind="approve").answer({}) is ABSENT


def test_a_doubt_is_cleared_in_one_of_three_ways() -> None:
    """What it answered, or why it failed, is said besides, where that is known."""
    form = ask(kind="doubt").form
    assert (list(form["properties"]), form["required"]) == (["answer", "more"], ["answer"])
    assert form["properties"]["answer"]["enum"] == ["repeat", "result", "failed"]
    assert [field["title"] for field in form["properties"].values()] == [
        "Did it have its effect?",
        "What it answered, or why it failed",
    ]
    for content, answer in (
        ({"answer": "repeat", "more": "now"}, "repeat"),
        ({"answer": "result", "more": '{"id": 3}'}, {"result": {"id": 3}}),
        ({"answer": "result", "more": "  "}, {"result": None}),
        ({"answer": "result"}, {"result": None}),
        ({"answer": "failed", "more": " no line "}, {"failed": "no line"}),
        ({"answer": "failed"}, {"failed": "somebody said that it had no effect"}),
        ({"answer": "perhaps"}, ABSENT),
        ({}, ABSENT),
    ):
        assert ask(kind="doubt").answer(content) == answer


# Who is asked


def opened(step: str, **given: Any) -> OpenQuestion:
    return OpenQuestion(Question("run_1", Pending(step, "ask", "What?")), "run_plan", given, "asked", 1)


def test_an_open_question_is_taken_once_and_by_the_call_that_asked() -> None:
    """By another name or with other arguments it stays open."""
    asked = QuestionStore()
    put = opened("1", plan=[])
    asked.ask(put)
    for key, name, given, message in (
        ("run_1:2", "run_plan", {"plan": []}, "nothing is asked here under 'run_1:2'"),
        ("run_1:1", "run_steps", {"plan": []}, "'run_1:1' was asked by another call"),
        ("run_1:1", "run_plan", {"plan": [1]}, "'run_1:1' was asked by another call"),
    ):
        with pytest.raises(Conflict, match=message):
            asked.pop(key, name, given)
    assert asked.pop("run_1:1", "run_plan", {"plan": []}) is put
    with pytest.raises(Conflict, match="nothing is asked here"):
        asked.pop("run_1:1", "run_plan", {"plan": []})


def test_the_oldest_of_many_open_questions_are_forgotten() -> None:
    """So many are remembered; one that is put again is there once."""
    asked = QuestionStore()
    for number in range(REMEMBERED + 2):
        asked.ask(opened(str(number)))
    assert list(asked.open) == [f"run_1:{number}" for number in range(2, REMEMBERED + 2)]


def row(step: str, kind: Any, about: Any = None) -> StepRow:
    """A step that waits."""
    pending = Pending(step, kind, f"{step}?", about=about).to_json()
    return StepRow(
        "run_1", int(step), step, "ask", "suspended", "2026-01-01T00:00:00.000Z", 1, extra={"pending": pending}
    )


def test_people_are_asked_the_first_question_that_nobody_passed() -> None:
    """A time that is waited for is none; and where the planner answers, nobody is asked."""
    rows = [row("1", "wait"), row("2", "ask"), row("3", "approve")]
    people, planner = Access("ann"), Access("ann", approvals="planner")
    for access, passed, step in (
        (people, set(), "2"),
        (people, {"run_1:2"}, "3"),
        (people, {"run_1:2", "run_1:3"}, None),
        (planner, set(), None),
    ):
        question = question_of("run_1", rows, access, passed)
        assert (None if question is None else question.pending.step) == step


def test_a_planner_is_told_what_people_answer_and_how(space: Space) -> None:
    """Approvals and doubts are for them, unless the planner may answer; an `ask` is for both."""
    people, planner = Access("ann"), Access("ann", approvals="planner")
    typed = f"infospace --space {Path(space.store.address).absolute()} answer run_1"
    pending = [{"step": str(number), "kind": kind} for number, kind in enumerate(("ask", "approve", "doubt", "wait"))]
    document = {"run": "run_1", "pending": pending}
    told = for_people(space, document, people)["pending"]
    assert [one.get("command") for one in told] == [None, f"{typed} 1", f"{typed} 2", None]
    assert [one.get("answered_by") for one in told] == [None, "people", "people", None]
    assert for_people(space, document, planner) == document
    only = {"run": "run_1", "pending": pending[:1]}
    assert for_people(space, only, people) == only
    for one in pending:
        asked = Pending(one["step"], one["kind"], "May it?")  # type: ignore[arg-type]
        refuse_human_question(space, "run_1", asked, planner)
        if one["kind"] in ("approve", "doubt"):
            with pytest.raises(
                NotAllowed, match=f"step {one['step']} of run_1 asks people.*answer run_1 {one['step']}"
            ):
                refuse_human_question(space, "run_1", asked, people)
        else:
            refuse_human_question(space, "run_1", asked, people)


def test_what_a_person_types_to_answer_reaches_the_space_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A space that was opened by its name in a folder, whose path a shell would take apart."""
    (tmp_path / "two words").mkdir()
    monkeypatch.chdir(tmp_path / "two words")
    with open_space("space.db") as opened:
        typed = shlex.split(command(opened, "run_1", "2"))
    assert typed == ["infospace", "--space", str(tmp_path / "two words" / "space.db"), "answer", "run_1", "2"]


def test_a_call_that_needs_an_approval_says_who_gives_it(space: Space) -> None:
    """How a planner would answer is told to one that may."""
    approval = {"run": "run_1", "step": "1", "answer_with": "answer_run"}
    answered = {"status": "approval_required", "approval": approval}
    assert call_for_people(space, answered, Access("ann", approvals="planner")) == answered
    told = call_for_people(space, answered, Access("ann"))["approval"]
    assert (told["answered_by"], "answer_with" in told, told["run"]) == ("people", False, "run_1")
    assert told["command"].endswith("answer run_1 1 once")
    done = {"status": "success", "approval": None}
    assert call_for_people(space, done, Access("ann")) == done
    assert call_for_people(space, {"status": "failed"}, Access("ann")) == {"status": "failed"}
