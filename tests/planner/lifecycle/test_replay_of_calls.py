"""Replaying what was asked of models and tools about things that the run itself made: their ids are others now."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint, Fail, Hang, Say

from infospace import InfospaceError, Space
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.journal.result import RunResult
from planner.lifecycle.replay import Replayed, replay
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan
from planner.sessions.session import Session

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import Limits

REVIEWS = ["Arrived broken.", "Works well.", "Smells of smoke."]
LIST = {"type": "create-collection", "value": REVIEWS, "out": "$c"}
NOTE = {"type": "create-note", "value": "a text", "out": "$n"}
RETRY = {"attempts": 2, "wait_s": 0}

PLANS: dict[str, list[Any]] = {
    "generate-note": [NOTE, {"type": "generate-note", "target": "$n", "prompt": "x", "out": "$o"}],
    "extract": [NOTE, {"type": "extract", "target": "$n", "instruction": "the point", "out": "$o"}],
    "a place": [
        {"type": "create-note", "value": {"a": "one", "b": {"c": "two"}}, "out": "$n"},
        {"type": "extract", "target": "$n.b", "instruction": "the point", "out": "$o"},
    ],
    "refine": [
        LIST,
        {"type": "synthesize", "target": "$c", "out": "$s"},
        {"type": "refine", "target": "$s", "instruction": "shorter", "out": "$o"},
        {"type": "generate-note", "target": "$o", "prompt": "what of ${s.citations[0]}?", "out": "$p"},
    ],
    "assess": [LIST, {"type": "assess", "target": "$c", "predicate": "all is well", "out": "$o"}],
    "filter-semantic": [
        LIST,
        {"type": "filter-semantic", "target": "$c", "predicate": "it complains", "out": "$bad"},
        {"type": "map", "target": "$bad", "operation": {"type": "generate-note", "prompt": "why?"}, "out": "$o"},
        {"type": "synthesize", "target": "$o", "out": "$p"},
    ],
    "for-each": [
        LIST,
        {
            "type": "for-each",
            "target": "$c",
            "do": [
                {"type": "create-note", "value": {"of": "${item}"}, "out": "$i"},
                {"type": "generate-note", "target": "$i", "prompt": "why?", "out": "$w"},
            ],
            "out": "$o",
        },
    ],
    "branches": [
        {
            "type": "parallel",
            "branches": [
                [{**NOTE, "out": "$a"}, {"type": "generate-note", "target": "$a", "prompt": "x", "out": "$b"}],
                [{**NOTE, "out": "$d"}, {"type": "generate-note", "target": "$d", "prompt": "y", "out": "$e"}],
            ],
        },
        {"type": "create-collection", "value": ["$b", "$e"], "out": "$c"},
        {"type": "synthesize", "target": "$c", "out": "$o"},
    ],
    "saved plan": [NOTE, {"type": "plan:asks", "arguments": {"of": "$n", "what": "a question"}, "out": "$o"}],
    "failure": [
        NOTE,
        {
            "type": "coerce",
            "target": "$n",
            "coercion": "int",
            "out": "$i",
            "on_fail": [{"type": "generate-note", "target": "$error", "prompt": "why?", "out": "$i"}],
        },
    ],
    "tool": [
        NOTE,
        LIST,
        {"type": "outside/keep", "arguments": {"ids": ["$n.@id"], "of": {"text": "see\n${c.@id}"}}, "out": "$k"},
        {"type": "load", "target": "${k}", "out": "$l"},
        {
            "type": "map",
            "target": "$c",
            "operation": {"type": "outside/keep", "arguments": {"ids": ["$item.@id"]}},
            "retry": RETRY,
            "on_fail": "continue",
            "out": "$o",
        },
    ],
}


def reader(body: dict[str, Any]) -> Say | str:
    """Answer as a model does that reads its material, and speaks of it by its label."""
    prompt = body["messages"][-1]["content"]
    labels = [line.split()[2] for line in prompt.split("\n") if line.startswith("<<<material ")]
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "citations" in schema.get("properties", {}):
        return json.dumps({"text": f"As is said\nin [{labels[0]}].", "citations": labels[:1]})
    if schema:
        return json.dumps({"value": "Works well" not in prompt})
    return f"This is about\n{labels[0] if labels else 'nothing'}."


@pytest.fixture
def outside(space: Space, limits: Limits) -> list[Any]:
    """A server whose tools keep ids, and need their time; the list grows with each call."""
    made: list[Any] = []
    server = LocalTools("outside")

    @server.tool()
    async def keep(ids: list[str], of: dict[str, str] | None = None) -> str:
        """Keep some ids."""
        made.append((ids, of))
        if len(made) == 3:
            raise InfospaceError(f"{ids[0]} is refused")
        return ids[0]

    @server.tool()
    async def hang() -> str:
        """Never answer, until all time is over."""
        made.append("hang")
        limits.run_out()
        await asyncio.Event().wait()
        return "never"

    space.tools.add(server)
    return made


def again(space: Space, result: RunResult, **how: Any) -> Replayed:
    return asyncio.run(replay(space, str(result.run), **how))


@pytest.mark.parametrize("name", PLANS)
def test_questions_about_what_the_run_made_are_answered_from_the_record(
    space: Space, endpoint: Endpoint, outside: list[Any], name: str
) -> None:
    """Nothing is asked again, and nothing differs; answers speak of what the replay made."""
    endpoint.answers = reader
    asks = {"type": "generate-note", "target": "$of", "prompt": "${what}", "out": "$r"}
    save_plan(
        space, "asks", {"inputs": {"of": {"kind": "Note"}, "what": {"type": "string"}}, "steps": [asks], "result": "$r"}
    )
    result = run_sync(space, PLANS[name])
    assert result.status == "success", result.reason
    asked, called = len(endpoint.requests), len(outside)
    assert asked + called > 0
    replayed = again(space, result)
    assert replayed.result.status == "success", replayed.result.reason
    assert replayed.difference.same, replayed.difference
    assert (len(endpoint.requests), len(outside)) == (asked, called)


def test_another_question_is_not_taken_for_one_of_the_record(space: Space, endpoint: Endpoint) -> None:
    """The text of what was made differs, since a note that it is made of has changed."""
    endpoint.answers = reader
    run_sync(space, [{"type": "create-note", "value": "before", "name": "source"}])
    steps = [{"type": "load", "target": "source", "slice": ":", "out": "$s"}, {**PLANS["extract"][1], "target": "$s"}]
    result = run_sync(space, steps)
    assert again(space, result).difference.same
    run_sync(space, [{"type": "update-note", "target": "source", "value": "after"}])
    replayed = again(space, result)
    assert "did not ask this of made" in str(replayed.result.reason)
    assert len(endpoint.requests) == 1
    assert again(space, result, live=True).result.status == "success"
    assert len(endpoint.requests) == 2


def test_a_replay_needs_no_model(space: Space, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor the one that was asked: another one may be set by now."""
    endpoint.answers = reader
    result = run_sync(space, PLANS["refine"])
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "another")
    assert again(space, result).difference.same
    assert again(space, result, live=True).difference.same
    for name in ("INFOSPACE_LLM_MODEL", "INFOSPACE_LLM_URL"):
        monkeypatch.delenv(name)
    assert again(space, result).difference.same


def test_what_somebody_answered_with_an_id_is_of_the_replay(space: Space) -> None:
    """They named something that the run had made."""
    ask = {"type": "ask", "value": "which?", "out": "$which"}
    result = run_sync(space, [LIST, ask, {"type": "load", "target": "${which}", "out": "$o"}])
    first = space.context().items(result.bindings["c"])[0]  # type: ignore[arg-type]
    answer(space, str(result.run), "2", first.id)
    ended = asyncio.run(resume(space, str(result.run)))
    assert ended.status == "success", ended.reason
    assert again(space, ended).difference.same


def test_a_model_s_failure_is_replayed_in_its_place(space: Space, endpoint: Endpoint) -> None:
    """Before the answer that a later attempt got, and as the failure that it was."""
    ask = {"type": "generate-note", "target": "$n", "prompt": "x", "out": "$o"}
    endpoint.say(Fail(400, "not now"), "Blue")
    result = run_sync(space, [NOTE, {**ask, "retry": RETRY}])
    assert [row.status for row in result.steps] == ["success", "failed", "success"]
    assert again(space, result).difference.same
    endpoint.say(Fail(400, "not now"))
    failed = run_sync(space, [NOTE, ask])
    replayed = again(space, failed)
    assert (replayed.result.status, replayed.difference.same) == ("failed", True)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("step", [{"type": "outside/hang"}, PLANS["generate-note"][1]])
@pytest.mark.parametrize("within", ["step", "form", "budget"])
def test_a_call_that_was_broken_off_is_replayed_as_that(
    space: Space, endpoint: Endpoint, outside: list[Any], limits: Limits, step: dict[str, Any], within: str
) -> None:
    """By the time of its step, of a form around it, or of the run; nothing is waited for."""

    def hang(_body: object) -> Hang:
        limits.run_out()
        return Hang()

    endpoint.answers = hang
    limit, budget = {"timeout_s": 0.1, "on_fail": "continue"}, {}
    if within == "step":
        steps = [NOTE, {**step, **limit}]
    elif within == "form":
        branch = [{**step, "out": "$b", "on_fail": "continue"}, {"type": "say", "value": "not reached"}]
        steps = [NOTE, {"type": "parallel", "branches": [[{**NOTE, "out": "$m"}], branch], **limit}]
    else:
        steps, budget = [NOTE, step], {"seconds": 0.1}
    result = run_sync(space, {"steps": [*steps, {"type": "create-note", "value": "after"}], "budget": budget})
    assert result.status == ("failed" if within == "budget" else "success"), result.reason
    replayed = again(space, result)
    assert replayed.difference.same, (replayed.difference, replayed.result.reason)
    assert replayed.result.reason == result.reason
    assert len(outside) + len(endpoint.requests) == 1


def test_of_questions_asked_at_once_the_failure_is_replayed(space: Space, endpoint: Endpoint) -> None:
    """Those that were broken off for it are no failures of their own."""

    def fails(body: dict[str, Any]) -> Any:
        return Fail(400, "too smoky") if "smoke" in body["messages"][-1]["content"] else Hang()

    endpoint.answers = fails
    result = run_sync(space, [LIST, {**PLANS["filter-semantic"][1], "on_fail": "continue"}])
    assert (result.status, result.steps[1].error) == ("success", "llm-declined")
    assert again(space, result).difference.same


def test_nobody_is_asked_in_a_replay_that_makes_calls(space: Space) -> None:
    """A call that was approved for once is not made again by it: it fails, and nothing waits."""
    made: list[str] = []
    outside = LocalTools("outside")

    @outside.tool(destructive=True)
    async def wipe(what: str) -> str:
        """Wipe something away."""
        made.append(what)
        return "gone"

    space.tools.add(outside)
    write = {"type": "create-note", "value": "a text", "name": "text", "replace": True}
    assert run_sync(space, [write]).status == "success"
    load = {"type": "load", "target": "text", "out": "$n"}
    result = run_sync(space, [load, {"type": "outside/wipe", "arguments": {"what": "${n}"}, "out": "$o"}])
    assert [one.kind for one in result.pending] == ["approve"]
    answer(space, str(result.run), result.pending[0].step, "once")
    assert asyncio.run(resume(space, str(result.run))).status == "success"
    assert asyncio.run(replay(space, str(result.run), live=True)).result.status == "success"
    assert run_sync(space, [{**write, "value": "another"}]).status == "success"
    again = asyncio.run(replay(space, str(result.run), live=True)).result
    assert (again.status, made) == ("failed", ["a text"])
    assert "nobody can be asked here" in (again.reason or "")


def test_a_fork_of_a_session_that_asks_what_that_had_asked_is_replayed_with_the_same_answer(
    space: Space, endpoint: Endpoint
) -> None:
    """It was not asked again in the fork, whose own record has none of it; another question has its own answer."""
    endpoint.answers = lambda _body: f"answer {len(endpoint.requests)}"
    note, write = PLANS["generate-note"]
    session = Session(space, "s")
    assert asyncio.run(session.play([note, write])).status == "success"
    forked = asyncio.run(session.fork("2", "something was wrong"))
    made = asyncio.run(forked.play([write, {**write, "prompt": "y", "out": "$p"}]))
    assert (made.status, len(endpoint.requests)) == ("success", 2), made.reason
    assert [space.context().text(made.bindings[name]) for name in "op"] == ["answer 1", "answer 2"]
    replayed = again(space, made)
    assert replayed.difference.same, (replayed.difference, replayed.result.reason)
    assert replayed.document["result"]["data"] == "answer 2"
    assert len(endpoint.requests) == 2
