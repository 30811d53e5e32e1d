"""Whether a tool may be called is for people to say: through the client, the command, or not at all."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestParams, ElicitResult, ErrorData

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
from served import odd, synced, write
from serving import TOKEN, Planner, document_of, over_http, over_stdio, planners, play, text_of

from infospace import Space, open_space
from infospace.tools.local import LocalTools
from infospace.tools.scope import Scope
from planner.lifecycle.resume import answer
from planner.server.access import Access
from planner.server.approvals import MAX_QUESTIONS

PLANNER = Access("ann", approvals="planner")
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
"""The later protocol, and the earlier one."""


def files(space: Space) -> list[str]:
    """Put a server into the space whose one tool takes something away; the list grows with each call."""
    made: list[str] = []
    server = LocalTools("files")

    @server.tool(destructive=True)
    def delete(path: str) -> str:
        """Delete a file."""
        made.append(path)
        return f"deleted {path}"

    space.tools.add(server)
    return made


DELETE = {"type": "files/delete", "arguments": {"path": "a"}, "out": "$d"}
CALL = {"tool_name": "files/delete", "arguments": {"path": "a"}}


class Person:
    """Whoever sits before a client: is asked, and answers with the next word; None dismisses the question."""

    def __init__(self, *words: str | None) -> None:
        self.words = list(words)
        self.asked: list[str] = []

    async def __call__(self, _context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        self.asked.append(params.message)
        word = self.words.pop(0)
        if word is None:
            return ElicitResult(action="cancel")
        return (
            ElicitResult(action="decline")
            if word == "decline"
            else ElicitResult(action="accept", content={"answer": word})
        )


def person_types(space: Space, run: str) -> str:
    """What a person types to answer the first step of a run."""
    return f"infospace --space {space.store.address} answer {run} 1"


def test_a_planner_does_not_approve_its_own_calls(space: Space) -> None:
    """It is told who does, and how; when a person has, the run goes on."""
    made = files(space)

    async def scene(planner: Planner) -> Any:
        asked = await planner.call("run_plan", plan=[DELETE])
        [pending] = asked["pending"]
        assert (pending["answered_by"], pending["command"]) == ("people", person_types(space, asked["run"]))
        for word in ("once", "always", "no"):
            said = await planner.wrong("answer_run", run=asked["run"], step="1", value=word)
            assert f"step 1 of {asked['run']} asks people, and not the planner: call the tool delete" in said
            assert f"`{person_types(space, asked['run'])}`" in said
        assert (await planner.call("get_run", run=asked["run"]))["pending"] == [pending]
        assert made == []
        answer(space, asked["run"], "1", "once")
        return await planner.call("answer_run", run=asked["run"], step="1", value="whatever")

    assert play(space, scene)["status"] == "success"
    assert made == ["a"]
    with space.store.reading() as snapshot:
        assert snapshot.approvals() == []
        refused = [row for row in snapshot.audit() if row.outcome == "refused"]
    assert [(row.action, row.reason) for row in refused] == [("answer_run", "not-allowed")] * 3


def test_a_called_tool_that_waits_for_people_does_not_say_how_a_planner_answers(space: Space) -> None:
    """It says what a person types."""
    files(space)

    async def scene(planner: Planner) -> Any:
        return document_of(await planner.client.call_tool("execute_tool", CALL))

    told = play(space, scene)["approval"]
    assert (told["answered_by"], told["command"]) == ("people", f"{person_types(space, told['run'])} once")
    assert "answer_with" not in told


@MODES
def test_the_person_behind_a_client_is_asked(space: Space, mode: str) -> None:
    """Once for each call; the answer of the tool is that of the whole."""
    made, person = files(space), Person("once", "no")

    async def scene(planner: Planner) -> Any:
        return await planner.call("run_plan", plan=[DELETE, DELETE])

    ended = play(space, scene, mode=mode, elicitation_callback=person)
    assert (ended["status"], made) == ("failed", ["a"])
    assert "somebody said no" in ended["reason"]
    assert all(
        "call the tool delete of the server files" in message and '"path":"a"' in message for message in person.asked
    )
    assert len(person.asked) == 2
    with space.store.reading() as snapshot:
        rows = [(row.action, row.target, row.outcome, row.reason) for row in snapshot.audit()[::-1]]
    assert rows[1:] == [
        ("elicitation", "files/delete", "success", "once"),
        ("elicitation", "files/delete", "refused", "no"),
    ]


@MODES
def test_a_person_is_asked_at_every_door_that_calls(space: Space, mode: str) -> None:
    """`execute_tool`, a proxy, a session; what is answered with always is not asked again."""
    made, person = files(space), Person("once", "once", "always")

    async def scene(planner: Planner) -> None:
        called = await planner.call("execute_tool", **CALL)
        assert (called["status"], called["content"][0]["text"]) == ("success", "deleted a")
        proxy = await planner.client.call_tool("files__delete", {"path": "b"})
        assert not proxy.is_error
        assert (await planner.call("run_steps", session="s", steps=[DELETE]))["status"] == "success"
        assert (await planner.call("run_steps", session="s", steps=[DELETE]))["status"] == "success"

    play(space, scene, Access("ann", hide_underlying_tools=False), mode=mode, elicitation_callback=person)
    assert made == ["a", "b", "a", "a"]
    assert len(person.asked) == 3


@MODES
def test_a_question_that_is_dismissed_waits_for_others_and_is_not_put_again(space: Space, mode: str) -> None:
    """The call is answered as if nobody could be asked."""
    made, person = files(space), Person(None, "decline")

    async def scene(planner: Planner) -> None:
        asked = await planner.call("run_plan", plan=[DELETE])
        assert (asked["status"], asked["pending"][0]["answered_by"]) == ("suspended", "people")
        assert (await planner.call("get_run", run=asked["run"]))["status"] == "suspended"
        assert len(person.asked) == 1
        declined = await planner.client.call_tool("execute_tool", CALL)
        assert "somebody said no" in document_of(declined)["reason"]

    play(space, scene, mode=mode, elicitation_callback=person)
    assert made == []


@MODES
def test_one_call_asks_a_person_so_many_times_and_no_more(space: Space, mode: str) -> None:
    """Then it is answered as it stands; following it asks on."""
    made, person = files(space), Person(*["once"] * (MAX_QUESTIONS + 2))

    async def scene(planner: Planner) -> Any:
        asked = await planner.call("run_plan", plan=[DELETE] * (MAX_QUESTIONS + 2))
        assert (asked["status"], len(made)) == ("suspended", MAX_QUESTIONS)
        return await planner.call("get_run", run=asked["run"], wait_s=300)

    assert play(space, scene, mode=mode, elicitation_callback=person)["status"] == "success"
    assert len(made) == MAX_QUESTIONS + 2


def test_an_answer_to_a_question_that_is_not_open_is_refused(space: Space) -> None:
    """Nothing is run or called a second time for it."""
    made = files(space)

    async def scene(planner: Planner) -> None:
        asked = await planner.call("run_plan", plan=[DELETE])
        key = f"{asked['run']}:1"
        said = {key: ElicitResult(action="accept", content={"answer": "always"})}
        forged = await planner.client.call_tool("run_plan", {"plan": [DELETE]}, input_responses=said, request_state=key)
        assert forged.is_error
        assert "nothing is asked here" in text_of(forged.content[0])

    play(space, scene)
    assert made == []
    with space.store.reading() as snapshot:
        assert len(snapshot.runs()) == 1


def test_a_client_that_cannot_ask_after_all_leaves_the_question(space: Space) -> None:
    """It says that it can, and answers with an error."""
    files(space)

    async def cannot(_context: Any, _params: ElicitRequestParams) -> ErrorData:
        return ErrorData(code=-32000, message="no screen")

    async def scene(planner: Planner) -> Any:
        return await planner.call("run_plan", plan=[DELETE])

    assert play(space, scene, mode="legacy", elicitation_callback=cannot)["status"] == "suspended"


def test_nobody_is_asked_about_a_tool_out_of_scope(space: Space) -> None:
    """A run of somebody else may wait for it."""
    files(space)

    async def ask(planner: Planner) -> Any:
        return (await planner.call("run_plan", plan=[DELETE]))["run"]

    run, person = play(space, ask), Person()

    async def look(planner: Planner) -> Any:
        return await planner.call("get_run", run=run)

    narrow = Access("ann", Scope(exclude_servers=("files",)))
    assert play(space, look, narrow, elicitation_callback=person)["status"] == "suspended"
    assert person.asked == []


def test_where_the_owner_lets_it_a_planner_answers(space: Space) -> None:
    """The question says what may be answered; the run goes on from there; nobody else is asked."""
    made, person = files(space), Person()

    async def scene(planner: Planner) -> None:
        asked = await planner.call("run_plan", plan=[DELETE, DELETE])
        assert (asked["status"], made) == ("suspended", [])
        [pending] = asked["pending"]
        assert (pending["step"], pending["kind"], "answered_by" in pending) == ("1", "approve", False)
        assert pending["schema"]["enum"] == ["once", "run", "always", "no"]
        assert (await planner.call("get_run", run=asked["run"]))["pending"] == [pending]
        assert 'or "no"' in await planner.wrong("answer_run", run=asked["run"], step="1", value="yes")
        second = await planner.call("answer_run", run=asked["run"], step="1", value="once")
        assert ([one["step"] for one in second["pending"]], made) == (["2"], ["a"])
        ended = await planner.call("answer_run", run=asked["run"], step="2", value="no")
        assert (ended["status"], made) == ("failed", ["a"])
        assert "somebody said no" in ended["reason"]

    play(space, scene, PLANNER, elicitation_callback=person)
    assert person.asked == []


def test_what_was_once_answered_with_always_is_called_in_sessions_too(space: Space) -> None:
    """It is remembered in the space."""
    made = files(space)

    async def scene(planner: Planner) -> Any:
        asked = await planner.call("run_plan", plan=[DELETE])
        await planner.call("answer_run", run=asked["run"], step="1", value="always")
        return await planner.call("run_steps", session="s", steps=[DELETE])

    assert play(space, scene, PLANNER)["status"] == "success"
    assert made == ["a", "a"]


STEP = [{"type": "two/structured", "out": "$x"}]


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """The file of a space with a server whose tools are asked about."""
    file = tmp_path / "space.db"
    write(tmp_path, two=odd("plain"))
    with open_space(file) as space:
        assert synced(space).failed == []
    return file


@pytest.mark.slow
@MODES
def test_a_real_server_asks_over_standard_input_and_http(served: Path, mode: str) -> None:
    """In processes of their own, with a tool of a third one."""
    person = Person("once", "once")

    async def by_stdio() -> Any:
        async with over_stdio(served, mode=mode, elicitation_callback=person) as planner:
            return await planner.call("run_plan", plan=STEP)

    async def by_http(url: Any) -> Any:
        async with planners(url, (mode,), TOKEN, elicitation_callback=person) as [planner]:
            return await planner.call("run_plan", plan=STEP)

    assert asyncio.run(by_stdio())["result"]["data"] == {"a": [1, None]}
    with over_http(served) as url:
        assert asyncio.run(by_http(url))["result"]["data"] == {"a": [1, None]}
    assert len(person.asked) == 2


@pytest.mark.slow
def test_the_command_answers_for_a_person_and_an_option_lets_the_planner(served: Path) -> None:
    """While the server runs."""

    async def by_command() -> Any:
        async with over_stdio(served) as planner:
            asked = await planner.call("run_plan", plan=STEP)
            typed = shlex.split(asked["pending"][0]["command"])
            words = [sys.executable, "-m", "tui.command", *typed[1:], "once"]
            done = await asyncio.to_thread(subprocess.run, [*words, "--json"], capture_output=True, text=True)
            assert json.loads(done.stdout)["status"] == "success", done.stderr
            return await planner.call("get_run", run=asked["run"])

    async def by_planner() -> Any:
        async with over_stdio(served, arguments=("--approvals", "planner")) as planner:
            asked = await planner.call("run_plan", plan=STEP)
            return await planner.call("answer_run", run=asked["run"], step="1", value="once")

    assert asyncio.run(by_command())["result"]["data"] == {"a": [1, None]}
    assert asyncio.run(by_planner())["result"]["data"] == {"a": [1, None]}


def test_a_refused_call_of_the_protocol_is_still_one(space: Space) -> None:
    """What is no tool is no question either."""

    async def scene(planner: Planner) -> None:
        with pytest.raises(MCPError, match="there is no tool 'nothing'; there are check_plan"):
            await planner.client.call_tool("nothing", {})

    play(space, scene, elicitation_callback=Person())
