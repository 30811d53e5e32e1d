"""What a run asks besides approvals: `ask` steps and calls in doubt, put to the person behind the client as forms."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp_types import (
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    FormElicitationCapability,
    UrlElicitationCapability,
)

sys.path.insert(0, str(Path(__file__).parent))
from serving import Planner, document_of, play

from infospace import Conflict, Space
from infospace.data.paths import ABSENT
from infospace.journal.rows import CallRow, OpenRun
from infospace.tools.journalled_calls import digest_of
from infospace.tools.local import LocalTools
from infospace.tools.scope import Scope
from planner.execute.start import run_sync
from planner.journal.suspension import Pending
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan
from planner.server.access import Access
from planner.server.approvals import REMEMBERED, OpenQuestion, QuestionStore
from planner.server.protocol.elicitation import supports_elicitation
from planner.server.question_forms import Question

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
"""The later protocol, and the earlier one."""

PEOPLE, PLANNER = Access("ann"), Access("ann", approvals="planner")
SIZE = {
    "type": "object",
    "properties": {"width": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["width"],
}


def ask(schema: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A step that asks."""
    return {
        "type": "ask",
        "value": "How many?",
        "out": "$said",
        **({} if schema is None else {"schema": schema}),
        **more,
    }


class Person:
    """Whoever sits before a client: fills in the next form; a word instead dismisses or declines it."""

    def __init__(self, *filled: Mapping[str, Any] | str) -> None:
        self.filled = list(filled)
        self.forms: list[dict[str, Any]] = []
        self.asked: list[str] = []

    async def __call__(self, _context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        assert isinstance(params, ElicitRequestFormParams)
        self.forms.append(params.requested_schema)
        filled = self.filled.pop(0)
        if isinstance(filled, str):
            return ElicitResult(action="cancel" if filled == "cancel" else "decline")
        return ElicitResult(action="accept", content=dict(filled))


@MODES
@pytest.mark.parametrize(
    ("schema", "filled", "said"),
    [
        (None, {"answer": "yes, but shorter"}, "yes, but shorter"),
        ({"type": "boolean"}, {"answer": False}, False),
        ({"type": "integer", "minimum": 3}, {"answer": 7}, 7),
        ({"enum": ["a", 2, None]}, {"answer": "2"}, 2),
        (SIZE, {"width": 3, "name": None}, {"width": 3}),
        ({"type": "array", "items": {"type": "integer"}}, {"answer": "[1, 2]"}, [1, 2]),
    ],
)
def test_an_ask_is_put_to_the_person_behind_the_client(
    space: Space, mode: str, schema: Any, filled: Any, said: Any
) -> None:
    """As a form for its schema; what is said is what the step gives."""
    person = Person(filled)

    async def scene(planner: Planner) -> Any:
        return await planner.call("run_plan", plan=[ask(schema)])

    ended = play(space, scene, PEOPLE, mode=mode, elicitation_callback=person)
    assert (ended["status"], ended["result"]["data"]) == ("success", said)
    assert person.asked == [f"How many? ({ended['run']}, step 1)"]
    with space.store.reading() as snapshot:
        rows = [(row.action, row.target, row.outcome, row.reason) for row in snapshot.audit()]
    assert ("elicitation", f"{ended['run']}:1", "success", "ask") in rows


def test_at_the_small_door_an_ask_is_put_too_and_the_run_told_as_it_ended(space: Space) -> None:
    """Where the run was begun, and where somebody looks at it; each is waited for as the call says."""
    person = Person({"answer": "a"}, {"answer": "b"})
    plan = [ask(), {"type": "wait", "seconds": 0.3}, {"type": "create-note", "value": "${said}!", "out": "$x"}]
    begun = run_sync(space, plan)

    async def scene(planner: Planner) -> tuple[Any, Any]:
        return await planner.call("run", plan=plan), await planner.call("follow", run=begun.run)

    access = Access("ann", tools=("core", "meta"))
    ran, followed = play(space, scene, access, elicitation_callback=person)
    for ended, said in ((ran, "a!"), (followed, "b!")):
        assert ended.keys() == {"status", "run", "ref", "result"}
        assert (ended["status"], ended["result"]) == ("success", said)
    assert followed["run"] == begun.run


@pytest.mark.parametrize(
    ("asks", "supported"),
    [
        (None, False),
        (ElicitationCapability(), True),
        (ElicitationCapability(form=FormElicitationCapability()), True),
        (ElicitationCapability(url=UrlElicitationCapability()), False),
        (ElicitationCapability(form=FormElicitationCapability(), url=UrlElicitationCapability()), True),
    ],
    ids=["none", "no mode", "form", "url", "both"],
)
def test_a_client_is_asked_that_shows_forms(asks: Any, supported: bool) -> None:
    """One that names no mode does; one that only opens addresses does not."""
    context: Any = SimpleNamespace(session=SimpleNamespace(client_capabilities=ClientCapabilities(elicitation=asks)))
    assert supports_elicitation(context) is supported


def test_a_client_that_says_nothing_of_itself_is_not_asked() -> None:
    context: Any = SimpleNamespace(session=SimpleNamespace(client_capabilities=None))
    assert supports_elicitation(context) is False


@MODES
def test_asks_of_sessions_and_of_saved_plans_are_put_too(space: Space, mode: str) -> None:
    """Wherever a call ends with one."""
    person = Person({"answer": "a"}, {"answer": "b"})
    save_plan(space, "asks", {"steps": [ask()]})

    async def scene(planner: Planner) -> Any:
        first = await planner.call("run_steps", session="s", steps=[ask()])
        called = await planner.call("execute_tool", tool_name="infospace/plan:asks", arguments={})
        return first["result"]["data"], called["structured_content"]

    assert play(space, scene, PEOPLE, mode=mode, elicitation_callback=person) == ("a", "b")


@MODES
def test_an_ask_that_nobody_answers_waits_and_the_planner_may_answer(space: Space, mode: str) -> None:
    """It may have asked its user in its own way; it is not put again."""
    person = Person("cancel", "decline")

    async def scene(planner: Planner) -> Any:
        for _ in person.filled[:]:
            asked = await planner.call("run_plan", plan=[ask({"type": "integer"})])
            assert (asked["status"], "answered_by" in asked["pending"][0]) == ("suspended", False)
            assert (await planner.call("get_run", run=asked["run"]))["status"] == "suspended"
        return await planner.call("answer_run", run=asked["run"], step="1", value=4)

    assert play(space, scene, PEOPLE, mode=mode, elicitation_callback=person)["result"]["data"] == 4
    assert len(person.asked) == 2


def test_an_answer_that_does_not_fit_is_told_and_asked_for_again(space: Space) -> None:
    """A client need not hold its user to the form."""
    person = Person({"answer": 1}, {"answer": 5})

    async def scene(planner: Planner) -> Any:
        said = await planner.wrong("run_plan", plan=[ask({"type": "integer", "minimum": 3})])
        assert "the answer to step 1 does not fit" in said
        return await planner.call("get_run", run="run_1", wait_s=300)

    assert play(space, scene, PEOPLE, mode="legacy", elicitation_callback=person)["result"]["data"] == 5


def test_where_the_owner_lets_it_the_planner_is_asked_alone(space: Space) -> None:
    """No form is shown."""
    person = Person()

    async def scene(planner: Planner) -> Any:
        asked = await planner.call("run_plan", plan=[ask()])
        return await planner.call("answer_run", run=asked["run"], step="1", value="x")

    assert play(space, scene, PLANNER, elicitation_callback=person)["result"]["data"] == "x"
    assert person.asked == []


STEP: dict[str, Any] = {"type": "outside/send", "arguments": {"text": "hello"}, "out": "$sent"}


def in_doubt(space: Space) -> tuple[str, list[str]]:
    """Leave a run as a process does that is killed in a call; return its id, and what is called from now on."""
    made: list[str] = []
    outside = LocalTools("outside")

    @outside.tool()
    async def send(text: str) -> str:
        """Send a text."""
        made.append(text)
        return f"sent {text}"

    space.tools.add(outside)
    run, at = space.store.new_id("run"), "2026-03-31T00:00:00.000Z"
    digest = digest_of(outside.tools()[0], STEP["arguments"])
    begun = CallRow(run, 1, "1", "tool", "outside/send", digest, "started", at)
    space.store.commit([], [OpenRun(run, "plan", "send", {"goal": "send", "steps": [STEP]}, {}, at, "gone:1:x"), begun])
    assert [one.kind for one in asyncio.run(resume(space, run)).pending] == ["doubt"]
    return run, made


@MODES
@pytest.mark.parametrize(
    ("filled", "status", "told", "calls"),
    [
        ({"answer": "repeat"}, "success", "sent hello", 1),
        ({"answer": "result", "more": "it was sent"}, "success", "it was sent", 0),
        ({"answer": "result"}, "success", [], 0),
        ({"answer": "failed", "more": "no line"}, "failed", "no line", 0),
    ],
)
def test_a_call_in_doubt_is_put_to_the_person(
    space: Space, mode: str, filled: Any, status: str, told: Any, calls: int
) -> None:
    """It is made again only where that is said, and the planner does not say it."""
    run, made = in_doubt(space)
    person = Person("cancel", filled)

    async def dismissed(planner: Planner) -> None:
        asked = await planner.call("get_run", run=run)
        assert (asked["pending"][0]["kind"], asked["pending"][0]["answered_by"]) == ("doubt", "people")
        assert "asks people" in await planner.wrong("answer_run", run=run, step="1", value="repeat")

    async def said(planner: Planner) -> Any:
        return await planner.call("get_run", run=run, wait_s=300)

    play(space, dismissed, PEOPLE, mode=mode, elicitation_callback=person)
    assert made == []
    ended = play(space, said, PEOPLE, mode=mode, elicitation_callback=person)
    assert ended["status"] == status
    assert (ended["result"]["data"] == told) if status == "success" else (told in ended["reason"])
    assert len(made) == calls
    assert [set(form["properties"]) for form in person.forms] == [{"answer", "more"}] * 2


def test_a_doubt_about_a_tool_out_of_scope_is_not_put(space: Space) -> None:
    """Nor answered."""
    run, _made = in_doubt(space)
    person = Person()

    async def scene(planner: Planner) -> str:
        assert (await planner.call("get_run", run=run))["status"] == "suspended"
        return await planner.wrong("answer_run", run=run, step="1", value="repeat")

    narrow = Access("ann", Scope(exclude_servers=("outside",)))
    assert "asks nothing that can be answered here" in play(space, scene, narrow, elicitation_callback=person)
    assert person.asked == []


def test_a_call_that_comes_back_is_the_one_that_was_asked_about(space: Space) -> None:
    """Another one, or with other arguments, is refused, and the question stays open."""

    async def scene(planner: Planner) -> Any:
        plan = {"plan": [ask()], "wait_s": 20}
        first = await planner.client.session.call_tool("run_plan", plan, allow_input_required=True)
        key = first.request_state
        said = {key: ElicitResult(action="accept", content={"answer": "x"})}

        async def back(name: str, arguments: dict[str, Any]) -> Any:
            return await planner.client.session.call_tool(
                name, arguments, input_responses=said, request_state=key, allow_input_required=True
            )

        for name, arguments in (("search_tools", {}), ("run_plan", {**plan, "wait_s": "soon"}), ("nothing", plan)):
            refused = await back(name, arguments)
            assert refused.is_error
            assert "was asked by another call" in refused.content[0].text
        return document_of(await back("run_plan", plan))

    assert play(space, scene, PEOPLE, elicitation_callback=Person())["result"]["data"] == "x"


PRIMITIVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "regex", "maxLength": 9},
        {"type": "boolean", "description": "Really?"},
        {"type": "number", "minimum": 0, "exclusiveMaximum": 5},
        {"enum": ["a", "b"]},
        {"enum": [1, "1"]},
        {"enum": [True, {"a": 1}]},
        {"const": 3},
        {"type": ["string", "null"]},
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "array", "items": {"type": "string"}},
        {},
    ]
)
SCHEMAS = st.one_of(
    st.none(),
    PRIMITIVES,
    st.builds(
        lambda fields, required: {"type": "object", "properties": fields, "required": required},
        st.dictionaries(st.sampled_from("abc"), PRIMITIVES, max_size=3),
        st.lists(st.sampled_from("abcd"), unique=True),
    ),
)


@given(SCHEMAS)
def test_a_form_has_nothing_that_a_client_could_not_show(schema: dict[str, Any] | None) -> None:
    """Fields of text, numbers, yes or no, and choices; what is required is among them; a blank form is no answer."""
    question = Question("run_1", Pending("1", "ask", "What?", schema))
    form = question.form
    Draft202012Validator.check_schema(form)
    assert form["type"] == "object"
    assert form["properties"]
    assert set(form["required"]) <= set(form["properties"])
    for field in form["properties"].values():
        assert field["type"] in ("string", "number", "integer", "boolean")
        assert set(field) <= {
            *("type", "title", "description", "default", "enum", "format"),
            *("minLength", "maxLength", "minimum", "maximum"),
        }
        assert field.get("format") in (None, "email", "uri", "date", "date-time")
    if "answer" in form["properties"]:
        assert question.answer({}) is ABSENT


def test_what_was_answered_elsewhere_meanwhile_is_told(space: Space) -> None:
    """The form was still open."""

    class Slow(Person):
        async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
            answer(space, "run_1", "1", "elsewhere")
            return await super().__call__(context, params)

    async def scene(planner: Planner) -> Any:
        said = await planner.wrong("run_plan", plan=[ask()])
        return said, await planner.call("answer_run", run="run_1", step="1", value="late")

    said, ended = play(space, scene, PEOPLE, mode="legacy", elicitation_callback=Slow({"answer": "here"}))
    assert "run_1" in said
    assert ended["result"]["data"] == "elsewhere"


def test_of_more_open_questions_than_are_remembered_the_oldest_is_forgotten() -> None:
    """The latest is open, and one that is asked again is no other."""
    asked = [Question(f"run_{number}", Pending("1", "ask", "who?")) for number in range(REMEMBERED + 2)]
    store = QuestionStore()
    for question in asked:
        store.ask(OpenQuestion(question, "answer_run", {}, {}, 1))
    assert [*store.open] == [question.key for question in asked[2:]]
    with pytest.raises(Conflict, match="nothing is asked here under 'run_1:1'"):
        store.pop("run_1:1", "answer_run", {})
    with pytest.raises(Conflict, match="'run_2:1' was asked by another call"):
        store.pop("run_2:1", "resume_run", {})
    assert store.pop("run_2:1", "answer_run", {}).question == asked[2]
    store.ask(OpenQuestion(asked[-1], "answer_run", {}, {}, 2))
    assert [*store.open] == [question.key for question in asked[3:]]
    assert store.open[asked[-1].key].times == 2
