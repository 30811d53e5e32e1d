"""What a planner does at the server, scene by scene: the same over standard input and output, and over HTTP."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
from mcp.shared.exceptions import MCPError

from infospace.data.json_text import dump
from planner.server.truncate import DATA

sys.path.insert(0, str(Path(__file__).parent))
from serving import Planner

GOAL = "titles of the decisions about ranking"
WRONG = {
    "goal": GOAL,
    "steps": [
        {"type": "discover-note", "query": "decisions about ranking", "limit": "all", "out": "$decisions"},
        {"type": "pluck", "target": "$decisions", "field": "metadata.titel", "out": "$titles"},
    ],
    "result": "$title",
}
SLOW = {"steps": [{"type": "create-note", "value": "first", "out": "$x"}, {"type": "wait", "seconds": 60}]}
WANTED = {"type": "object", "properties": {"keep": {"type": "integer", "minimum": 1}}, "required": ["keep"]}
ASKING = [
    {"type": "discover-notes", "query": "decisions about ranking", "limit": "all", "out": "$found"},
    {"type": "ask", "value": "Which of them, from the first?", "schema": WANTED, "out": "$answer"},
    {"type": "head", "target": "$found", "count": "$answer.keep", "out": "$kept"},
]
TEXTS = [f"{number}: {'lorem ipsum ' * 40}" for number in range(60)]


async def asks_for_the_language(planner: Planner) -> None:
    """In short, then what a plan needs of it in full; as a tool, and as a prompt."""
    assert "discover-notes" in await planner.call("describe_primitives")
    assert "metadata.title" in await planner.call("describe_primitives", names=["pluck", "if"])
    [prompt] = (await planner.client.list_prompts()).prompts
    [message] = (await planner.client.get_prompt(prompt.name, {"goal": GOAL})).messages
    assert message.content.type == "text"
    planner.read.append(("the prompt", len(message.content.text)))
    assert message.content.text.endswith(f"Goal: {GOAL}")
    assert "`discover-notes`" in message.content.text


async def looks_for_notes(planner: Planner) -> None:
    """The nearest few, with what is known of the rest; a whole text is read by its id."""
    answer = await planner.call("discover_notes", query="decisions about ranking", limit=5)
    certificate = answer["extra"]["certificate"]
    assert len(answer["data"]) == certificate["returned"] == 5 < certificate["matched"]
    assert "hits" not in answer.get("left_out", {})
    source = answer["data"][0]["metadata"]["source_id"]
    assert (await planner.call("read", ref=source))["kind"] == "Note"


async def writes_a_plan(planner: Planner) -> Any:
    """Write a wrong plan, be told every problem, apply the fixes as they are given, run it; return the right one."""
    answer = await planner.call("run_plan", plan=WRONG)
    assert (answer["status"], answer["run"]) == ("refused", None)
    told = (await planner.call("check_plan", plan=WRONG))["problems"]
    assert told == answer["problems"]
    assert {problem["pointer"] for problem in told} >= {"/steps/0/type", "/result"}
    plan = WRONG
    for _ in range(5):
        answer = await planner.call("check_plan", plan=plan)
        if answer["ok"]:
            break
        fix = next(problem["fix"] for problem in answer["problems"] if problem["fix"])
        plan = jsonpatch.apply_patch(plan, fix)
    answer = await planner.call("run_plan", plan=plan)
    assert answer["status"] == "success", answer
    assert any("Decision" in title for title in answer["result"]["data"])
    return plan


async def follows_a_slow_run(planner: Planner) -> None:
    """Be told that it is running, look at it, cancel it."""
    answer = await planner.call("run_plan", plan=SLOW, wait_s=0)
    assert (answer["status"], answer["result"]) == ("running", None)
    answer = await planner.until_bound(answer["run"], "x")
    assert (answer["status"], [step["step"] for step in answer["steps"]]) == ("running", ["1"])
    answer = await planner.call("cancel_run", run=answer["run"])
    assert (answer["status"], answer["steps"][-1]["reason"]) == ("cancelled", "the step was broken off")
    assert "has ended already" in await planner.wrong("cancel_run", run=answer["run"])


async def is_asked(planner: Planner) -> str:
    """Be asked; return the run that waits."""
    answer = await planner.call("run_plan", plan=ASKING)
    [asked] = answer["pending"]
    assert (answer["status"], asked["step"], asked["kind"]) == ("suspended", "2", "ask")
    assert (asked["question"], asked["schema"]) == (ASKING[1]["value"], WANTED)
    return str(answer["run"])


async def answers(planner: Planner, run: str) -> None:
    """Answer wrongly, to another step, then rightly: the run goes on to its end, and asks no more."""
    assert "keep" in await planner.wrong("answer_run", run=run, step="2", value={"keep": 0})
    assert "asks nothing" in await planner.wrong("answer_run", run=run, step="3", value={"keep": 1})
    answer = await planner.call("answer_run", run=run, step="2", value={"keep": 2})
    assert (answer["status"], answer["pending"], answer["bindings"]["kept"]["size"]) == ("success", [], 2)
    assert [step["step"] for step in answer["steps"]] == ["1", "2", "3"]
    assert "waits for nothing" in await planner.wrong("answer_run", run=run, step="2", value={"keep": 1})


async def whole(planner: Planner, ref: str, **arguments: Any) -> list[Any]:
    """Read all of something in pieces."""
    piece = await planner.call("read", ref=ref, **arguments)
    pieces = [piece]
    while piece["next"] is not None:
        piece = await planner.call("read", ref=ref, slice=piece["next"], **arguments)
        pieces.append(piece)
    return pieces


async def reads_what_is_long(planner: Planner) -> str:
    """Data above the bound is left out, and read in pieces that make it up exactly; return the result's id."""
    plan = [{"type": "create-collection", "value": TEXTS, "out": "$c"}, {"type": "flatten", "target": "$c"}]
    answer = await planner.call("run_plan", plan=plan)
    result = answer["result"]
    text = "\n\n".join(TEXTS)
    assert result["data_omitted"] == {"characters": len(dump(text)), "read": result["resource_id"]}
    pieces = await whole(planner, result["resource_id"])
    assert "".join(piece["data"] for piece in pieces) == text
    assert {piece["total"] for piece in pieces} == {len(text)}
    assert all(len(piece["data"]) <= DATA for piece in pieces)
    pieces = await whole(planner, answer["bindings"]["c"]["id"], max_chars=3_000)
    assert [item["content"] for piece in pieces for item in piece["data"]] == TEXTS
    assert all(len(dump(piece["data"])) <= 3_200 for piece in pieces)
    return str(result["resource_id"])


async def looks_around(planner: Planner, run: str) -> None:
    """Notes, collections and runs are resources of the protocol, listed page by page and read by address."""
    keeping = [
        {"type": "create-note", "value": {"n": 1}, "name": "one note", "out": "$n"},
        {"type": "create-collection", "value": ["$n", "two"], "name": "a list"},
    ]
    answer = await planner.call("run_plan", plan=keeping)
    note, collection = answer["bindings"]["n"]["id"], answer["result"]["resource_id"]
    found: list[str] = []
    cursor = None
    while cursor is not None or not found:
        page = await planner.client.list_resources(cursor=cursor)
        planner.read.append(("a page of resources", len(page.model_dump_json(exclude_none=True))))
        found += [str(one.uri) for one in page.resources]
        cursor = page.next_cursor
    assert len(found) == len(set(found))
    assert {f"infospace://collection/{collection}", f"infospace://note/{note}", f"infospace://run/{run}"} <= {*found}
    templates = (await planner.client.list_resource_templates()).resource_templates
    assert {one.uri_template for one in templates} == {f"infospace://{part}/{{id}}" for part in _PARTS}
    assert await _resource(planner, f"infospace://note/{note}") == {"n": 1}
    assert await _resource(planner, "infospace://note/one%20note") == {"n": 1}
    assert [item["content"] for item in await _resource(planner, f"infospace://collection/{collection}")] == [
        {"n": 1},
        "two",
    ]
    assert (await _resource(planner, f"infospace://run/{run}"))["run"] == run
    with pytest.raises(MCPError, match="Note_999999"):
        await planner.client.read_resource("infospace://note/Note_999999")


_PARTS = ("note", "collection", "run")


async def _resource(planner: Planner, uri: str) -> Any:
    [content] = (await planner.client.read_resource(uri)).contents
    assert content.mime_type == "application/json"
    planner.read.append(("a resource", len(content.text)))
    return json.loads(content.text)


async def works_in_a_session(planner: Planner) -> str:
    """Bind step by step; what is refused or fails leaves the session as it was. Begin steps that outlast the server."""
    one = [{"type": "create-note", "value": [1, 2, 3], "out": "$x"}]
    two = [{"type": "split", "target": "$x", "out": "$c"}, {"type": "size", "target": "$c", "out": "$n"}]
    run = (await planner.call("run_steps", session="work", steps=one))["run"]
    answer = await planner.call("run_steps", session="work", steps=[*two, {"type": "say", "value": "$nothing"}])
    assert (answer["status"], [p["pointer"] for p in answer["problems"]]) == ("refused", ["/2/value"])
    assert answer["bindings"].keys() == {"x"}
    failing = [{"type": "load", "target": "$x", "slice": "0:1", "out": "$y"}, {"type": "load", "target": "$y[4]"}]
    answer = await planner.call("run_steps", session="work", steps=failing)
    assert (answer["status"], answer["bindings"].keys()) == ("failed", {"x", "y"})
    slow = [*two, {"type": "wait", "seconds": 60}]
    answer = await planner.call("run_steps", session="work", steps=slow, wait_s=0)
    assert (answer["status"], answer["run"]) == ("running", run)
    await planner.until_bound(run, "n")
    return str(run)


async def finds_its_session_again(planner: Planner, run: str) -> None:
    """All that had ended is bound; steps go on, under the same run."""
    bindings = (await planner.call("list_bindings", session="work"))["bindings"]
    assert bindings.keys() == {"x", "y", "c", "n"}
    assert bindings["n"]["value"] == "3"
    answer = await planner.call("get_run", run=run)
    assert (answer["status"], answer["bindings"].keys()) == ("suspended", {"x", "y", "c", "n"})
    answer = await planner.call("run_steps", session="work", steps=[{"type": "create-note", "value": "${n}!"}])
    assert (answer["run"], answer["status"], answer["result"]["data"]) == (run, "success", "3!")
    assert [step["step"] for step in answer["steps"]] == ["7"]
    assert "step 6 (wait)" in answer["reason"]
    assert (await planner.call("get_run", run=run))["status"] == "success"
