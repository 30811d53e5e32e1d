"""Callers of different scopes at one server: what is listed, called, refused, kept; over the protocol in memory."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from infospace import Space
from infospace.core.bounds import Bounds
from infospace.core.tool import Tool, ToolAnswer
from infospace.journal.audit import AuditRow
from infospace.tools.scope import Scope
from planner.parse.saved_plans import save_plan
from planner.server import client_calls
from planner.server.access import MINUTE, Access, Rate
from planner.server.operations import Operations
from planner.server.protocol.mcp_server import make_server

sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
sys.path.insert(0, str(Path(__file__).parent))
from served import odd, synced, until, write
from serving import Planner, document_of, text_of

ECHO = {"type": "one/echo", "arguments": {"text": "x"}, "out": "$x"}
SECRET = "hunter2-is-the-password"  # noqa: S105 - a word that must not get out


@pytest.fixture
def known(space: Space) -> Space:
    """A space with two servers of the same tools."""
    write(Path(space.store.address).parent, one=odd("plain", trusted=True), two=odd("plain"), bad=odd("instructs"))
    assert synced(space).failed == []
    return space


def play(space: Space, scene: Any, **access: Any) -> Any:
    """Let a planner play a scene at a door of its own."""

    async def go() -> Any:
        door = Operations(space, Access("ann", **{"tools": ("full",), **access}))
        try:
            async with Client(make_server(door)) as client:
                return await scene(Planner(client))
        finally:
            await door.close()

    return asyncio.run(go())


def audit(space: Space) -> list[AuditRow]:
    """Return what was kept, in its order."""
    with space.store.reading() as snapshot:
        return snapshot.audit()[::-1]


async def listed(planner: Planner) -> dict[str, Any]:
    """Return the tools that are listed."""
    return {tool.name: tool for tool in (await planner.client.list_tools()).tools}


def test_hidden_tools_are_not_listed_and_a_direct_call_is_refused_and_kept(known: Space) -> None:
    """By either of its names; nothing is called, and nothing of its arguments stays."""

    async def scene(planner: Planner) -> None:
        assert not [name for name in await listed(planner) if "__" in name]
        for name in ("one__echo", "one/echo"):
            said = await planner.wrong(name, text=SECRET)
            told = 'execute_tool calls it: {"tool_name": "one/echo", "arguments": …}'
            assert said == f"'{name}' is not called directly here ({told})"

    play(known, scene)
    rows = audit(known)
    assert [(row.caller, row.action, row.outcome, row.reason) for row in rows] == [
        ("ann", name, "refused", "hidden") for name in ("one__echo", "one/echo")
    ]
    assert SECRET not in str(rows)
    with known.store.reading() as snapshot:
        assert snapshot.tool_uses() == []


def test_where_no_tool_calls_a_hidden_one_a_step_does(known: Space) -> None:
    """As at the small door."""
    said = play(known, lambda planner: planner.wrong("one__echo", text=SECRET), tools=("core",))
    assert said == (
        """'one__echo' is not called directly here (a step calls it: {"type": "one/echo", "arguments": …})"""
    )


def test_a_tool_out_of_scope_is_refused_like_one_that_is_nowhere_and_kept(known: Space) -> None:
    """Directly, by the meta-tools, and in plans."""

    async def scene(planner: Planner) -> None:
        direct = []
        for name in ("two__echo", "xyz__echo"):
            with pytest.raises(MCPError) as unknown:
                await planner.client.call_tool(name, {"text": SECRET})
            direct.append(str(unknown.value).replace(name, "…"))
        assert direct[0] == direct[1]
        asked = [await planner.wrong("describe_tool", tool_name=f"{server}/flood") for server in ("two", "xyz")]
        assert asked[0].replace("two", "xyz") == asked[1]
        calls = {"tool_name": "two/echo", "arguments": {"text": SECRET}}
        assert "there is no tool 'two/echo' (did you mean 'one/echo'?)" in await planner.wrong("execute_tool", **calls)
        refused = await planner.call("run_plan", plan=[{**ECHO, "type": "two/echo"}])
        assert (refused["status"], refused["problems"][0]["code"]) == ("refused", "unknown-tool")
        find = {"type": "discover-tools", "query": "say a text again", "out": "$t"}
        found = await planner.call("run_plan", plan=[find])
        assert {hit["metadata"]["server"] for hit in found["result"]["data"]} == {"one"}

    play(known, scene, scope=Scope(include_servers=("one",)))
    assert [(row.action, row.target, row.outcome, row.reason) for row in audit(known)] == [
        ("two__echo", "", "refused", "out of scope"),
        ("describe_tool", "two/flood", "refused", "out of scope"),
        ("execute_tool", "two/echo", "refused", "out of scope"),
        ("run_plan", "", "refused", None),
        ("run_plan", "", "success", None),
    ]
    assert SECRET not in str(audit(known))


def test_what_is_kept_of_a_call_names_the_run_or_session_that_it_is_for(known: Space) -> None:
    """Or the saved plan; none that is not a text, and nothing of a plan that is given as one."""
    step = {"type": "create-note", "value": 1, "out": "$x"}

    async def scene(planner: Planner) -> str:
        run: str = (await planner.call("run_plan", plan=[{"type": "ask", "value": "Which?", "out": "$a"}]))["run"]
        await planner.call("cancel_run", run=run)
        await planner.call("run_steps", session="work", steps=[step])
        await planner.wrong("run_steps", session=1, steps=[step])
        await planner.call("run_plan", plan=json.dumps([{**step, "value": SECRET}]))
        await planner.call("run_plan", plan="plan:one")
        return run

    save_plan(known, "one", [step])
    run = play(known, scene)
    assert [(row.action, row.target, row.outcome) for row in audit(known)] == [
        ("run_plan", "", "waiting"),
        ("cancel_run", run, "cancelled"),
        ("run_steps", "work", "success"),
        ("run_steps", "", "refused"),
        ("run_plan", "", "success"),
        ("run_plan", "plan:one", "success"),
    ]
    assert SECRET not in str(audit(known))


def test_without_hiding_proxies_are_listed_and_answer_as_the_tool_does(known: Space) -> None:
    """Their descriptions are told as their servers' words, and flagged where they instruct."""

    async def scene(planner: Planner) -> None:
        tools = await listed(planner)
        assert {"one__echo", "bad__echo"} <= tools.keys()
        assert not any(name.startswith("two__") for name in tools)
        assert tools["one__echo"].input_schema["required"] == ["text"]
        assert tools["one__echo"].annotations.read_only_hint
        assert tools["one__echo"].annotations.open_world_hint
        assert tools["one__echo"].description == "one/echo. Its server says: Say a text again."
        assert "Beware: this description asks to ignore" in tools["bad__echo"].description
        said = await planner.client.call_tool("one__echo", {"text": "hello"})
        assert ([text_of(block) for block in said.content], said.is_error) == (["hello"], False)
        structured = await planner.client.call_tool("one__structured", {})
        assert structured.structured_content == {"a": [1, None]}
        failed = await planner.client.call_tool("one__fail", {})
        assert ([text_of(block) for block in failed.content], failed.is_error) == (["no such place"], True)
        assert '"text" is missing' in await planner.wrong("one__echo")
        blocks = await planner.client.call_tool("one__blocks", {})
        assert [block.type for block in blocks.content] == ["text", "image"]
        begins, told = (await planner.client.call_tool("one__echo", {"text": "x" * 20_000})).content
        assert text_of(begins).endswith("[cut: 20,000 characters in all]")
        [note] = re.findall(r"`read` gives (Note_\d+) in pieces", text_of(told))
        assert text_of(told).startswith("the whole has 20,027 characters: ")
        assert (await planner.call("read", ref=note))["total"] == 20_000

    play(known, scene, scope=Scope(exclude_servers=("two",)), hide_underlying_tools=False)
    assert ("one__echo", "success") in [(row.action, row.outcome) for row in audit(known)]


def test_a_proxy_has_a_name_that_the_protocol_allows(space: Space) -> None:
    """Whatever its server is called; by that it is called. Of two of one name the first is; a blocked one has none."""
    servers = {"my größte server": odd("plain", trusted=True), "my_gr__te_server": odd("plain")}
    write(Path(space.store.address).parent, **servers, off=odd("plain", blocked=True))
    assert synced(space).failed == []

    async def scene(planner: Planner) -> None:
        proxies = {name: tool for name, tool in (await listed(planner)).items() if "__" in name}
        assert {name.removeprefix("my_gr__te_server__") for name in proxies} >= {"echo", "structured"}
        assert all(name.startswith("my_gr__te_server__") for name in proxies)
        assert proxies["my_gr__te_server__echo"].description.startswith("my größte server/echo. ")
        said = await planner.client.call_tool("my_gr__te_server__echo", {"text": "x"})
        assert [text_of(block) for block in said.content] == ["x"]

    play(space, scene, hide_underlying_tools=False)


def test_the_schema_of_a_call_is_found_without_listing_the_tools(known: Space) -> None:
    """Over HTTP each call looks at the schema, in which arguments may have to stand in headers too: servers' alone."""
    access = {"tools": ("full",), "hide_underlying_tools": False, "scope": Scope(exclude_servers=("two",))}
    schema = make_server(Operations(known, Access("ann", **access))).get_tool_input_schema
    assert schema is not None
    echo = schema("one__echo")
    assert echo is not None
    assert echo["required"] == ["text"]
    assert [schema(name) for name in ("check_plan", "run", "two__echo", "nothing__here")] == [None] * 4
    hidden = make_server(Operations(known, Access("ann", tools=("full",)))).get_tool_input_schema
    assert hidden is not None
    assert hidden("one__echo") is None


def test_a_call_that_needs_approval_says_so_and_is_made_when_it_is_answered(known: Space) -> None:
    """It waits for nobody; through a proxy it is told in a text."""

    async def scene(planner: Planner) -> None:
        asked = await planner.client.call_tool("execute_tool", {"tool_name": "two/structured", "arguments": {}})
        assert asked.is_error
        told = document_of(asked)
        assert told is not None
        assert told["status"] == "approval_required"
        how = told["approval"]["answer_with"]
        done = await planner.call(how["tool"], **how["arguments"])
        assert (done["status"], done["result"]["data"]) == ("success", {"a": [1, None]})
        proxy = await planner.client.call_tool("two__structured", {})
        assert proxy.is_error
        assert json.loads(text_of(proxy.content[-1]))["answer_with"]["tool"] == "answer_run"

    play(known, scene, hide_underlying_tools=False, approvals="planner")
    assert [(row.action, row.outcome) for row in audit(known)] == [
        *(("execute_tool", "waiting"), ("answer_run", "success"), ("two__structured", "waiting"))
    ]
    assert all(row.run for row in audit(known))


def test_a_question_about_a_tool_out_of_scope_is_not_answered(known: Space) -> None:
    """Whoever may not know of it can approve nothing of it."""

    async def ask(planner: Planner) -> Any:
        return (await planner.call("run_plan", plan=[{"type": "two/structured"}]))["run"]

    run = play(known, ask)

    async def answer(planner: Planner) -> str:
        return await planner.wrong("answer_run", run=run, step="1", value="always")

    assert "asks nothing that can be answered here" in play(known, answer, scope=Scope(include_servers=("one",)))
    with known.store.reading() as snapshot:
        assert snapshot.approvals() == []


def test_what_the_configuration_approves_is_called_at_once(known: Space) -> None:
    """By the meta-tool, in plans and in sessions."""

    async def scene(planner: Planner) -> None:
        step = {"type": "two/structured"}
        called = await planner.call("execute_tool", tool_name="two/structured", arguments={})
        assert called["status"] == "success"
        assert (await planner.call("run_plan", plan=[step]))["status"] == "success"
        assert (await planner.call("run_steps", session="s", steps=[step]))["status"] == "success"

    play(known, scene, approve=["two/*"])


def test_a_primitive_that_a_scope_excludes_is_no_door_either(known: Space) -> None:
    """It is not listed, and the others are."""

    async def scene(planner: Planner) -> None:
        tools = await listed(planner)
        assert "discover_notes" not in tools
        assert {"run_plan", "search_tools"} <= tools.keys()
        assert "no primitive 'discover-notes'" in await planner.wrong("discover_notes", query="tea")
        assert "`discover-notes`" not in await planner.call("describe_primitives")

    play(known, scene, scope=Scope(exclude_names=("^infospace/discover-notes$",)))


def test_an_answer_about_tools_leaves_out_what_says_nothing(known: Space) -> None:
    """`describe_tool` has all of it."""

    async def scene(planner: Planner) -> None:
        asked = {"query": "say a text again", "filters": {"servers": ["one"]}, "limit": 1, "include_schemas": True}
        (hit,) = (await planner.call("search_tools", **asked))["tools"]
        assert not {"title", "kind", "integration_type", "untrusted"} & hit.keys()
        assert (hit["tool_name"], hit["tags"], hit["input_schema"]["required"]) == ("one/echo", ["text"], ["text"])
        (own,) = (await planner.call("list_tools", page_size=1, filters={"servers": ["infospace"]}))["tools"]
        assert own["integration_type"] == "local"
        whole = await planner.call("describe_tool", tool_name="one/echo")
        assert (whole["kind"], whole["integration_type"], whole["untrusted"]) == ("tool", "MCP", False)

    play(known, scene)


def test_pictures_of_a_long_answer_are_shown_as_pictures(space: Space) -> None:
    """Beside what is told of them; a long text in a block is told by how it begins."""
    write(Path(space.store.address).parent, one=odd("pictures", trusted=True))
    assert synced(space).failed == []

    async def scene(planner: Planner) -> None:
        for name, given in (("execute_tool", {"tool_name": "one/picture", "arguments": {}}), ("one__picture", {})):
            said = await planner.client.call_tool(name, given)
            (picture,) = [block for block in said.content if block.type == "image"]
            assert (len(picture.data), picture.mime_type) == (8_000, "image/png")
        found = await planner.client.call_tool("execute_tool", {"tool_name": "one/picture", "arguments": {}})
        text, left, letter = document_of(found)["content"]
        assert (text["text"], left["text"]) == ("look", "[image image/png: 8,049 characters, left out]")
        assert letter["resource"]["text"].endswith("[cut: 9,000 characters in all]")
        assert len(text_of(found.content[0])) < 2_000

    play(space, scene, hide_underlying_tools=False)


class Kinds:
    """A server whose tools say in each way what they may destroy; what they answer is a list."""

    server = "kinds"
    says: ClassVar = {"unsaid": None, "calm": False, "harsh": True}

    def tools(self) -> list[Tool]:
        """Its tools."""
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        return [
            Tool(self.server, name, "Do it.", schema, read_only=False, destructive=destructive)
            for name, destructive in self.says.items()
        ]

    def find(self, name: str) -> Tool | None:
        """The tool of a name."""
        return next((tool for tool in self.tools() if tool.name == name), None)

    async def current(self, tool: Tool) -> Tool:
        """It does not change."""
        return tool

    async def call(self, tool: Tool, arguments: Any, timeout_s: float | None = None) -> ToolAnswer:
        """Answer."""
        del tool, arguments, timeout_s
        return ToolAnswer([{"type": "text", "text": "[1, 2]"}], [1, 2])


def test_proxies_say_what_they_may_destroy_as_the_tools_do(space: Space) -> None:
    """One that does not say so may, as the protocol has it; a list in an answer, which has no place there, is text."""
    space.tools.add(Kinds())

    async def scene(planner: Planner) -> None:
        tools = await listed(planner)
        hints = {name: tools[f"kinds__{name}"].annotations.destructive_hint for name in Kinds.says}
        assert hints == {"unsaid": True, "calm": False, "harsh": True}
        answer = await planner.client.call_tool("kinds__calm", {})
        assert (text_of(answer.content[0]), answer.structured_content) == ("[1, 2]", None)

    play(space, scene, hide_underlying_tools=False, approve=("kinds/calm",))


def test_what_a_step_may_make_at_most_holds_whatever_its_plan_says(space: Space) -> None:
    """For each run that the caller begins."""
    made = {"type": "create-collection", "value": [1, 2, 3, 4], "out": "$c"}

    async def scene(planner: Planner) -> None:
        few = await planner.call("run_plan", plan=[{**made, "value": [1, 2]}])
        assert few["status"] == "success"
        many = await planner.call("run_plan", plan={"steps": [made], "budget": {"items": 100}})
        assert (many["status"], "3 items" in many["reason"]) == ("failed", True), many["reason"]

    play(space, scene, bounds=Bounds(items=3))


def test_limits_bound_what_a_caller_may_ask_for(known: Space) -> None:
    """Fewer tools in an answer; no longer calls, by plans neither."""

    async def scene(planner: Planner) -> None:
        assert len((await planner.call("search_tools", query="text", filters={"min_score": 0}))["tools"]) == 2
        page = await planner.call("list_tools")
        assert (len(page["tools"]), page["pages"]) == (2, -(-page["total"] // 2))
        assert len((await planner.call("get_similar_tools", tool_name="one/echo"))["tools"]) == 2
        described = await planner.call("describe_tool", tool_name="one/echo", include_similar=True)
        assert len(described["similar"]) == 2
        call = {"tool_name": "one/slow", "arguments": {"seconds": 4}}
        said = await planner.wrong("execute_tool", **call, options={"timeout_ms": 2_501})
        assert "`options.timeout_ms` is 2,501, and ann may give a call 2,500 at most" in said
        at_most = {"timeout_ms": 2_500}
        await planner.call("execute_tool", tool_name="one/echo", arguments={"text": "runs"}, options=at_most)
        late = await planner.client.call_tool("execute_tool", call)
        reason = document_of(late)["reason"]
        assert "within 2,500 ms" in reason
        assert "no call may last longer here" in reason
        plan = await planner.call("run_plan", plan=[{"type": "one/slow", "arguments": {"seconds": 4}, "timeout_s": 20}])
        assert (plan["status"], "did not answer within 2.5 s" in plan["reason"]) == ("failed", True)
        assert "no call may last longer here" in plan["reason"]

    play(known, scene, results=2, timeout_ms=2_500)


def test_a_caller_with_the_longest_limit_has_none_in_plans(known: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step lasts as long as it says."""
    monkeypatch.setattr("planner.server.operations.LONGEST_MS", 300)

    async def scene(planner: Planner) -> None:
        step = {"type": "one/slow", "arguments": {"seconds": 1}, "timeout_s": 60}
        assert (await planner.call("run_plan", plan=[step]))["status"] == "success"

    play(known, scene, timeout_ms=300)


def test_more_calls_than_a_minute_may_have_are_refused_and_kept(known: Space) -> None:
    """Whatever they are for; the sentence says when to come again."""

    async def scene(planner: Planner) -> None:
        await planner.call("list_tools")
        await planner.call("get_tool_categories")
        said = await planner.wrong("list_tools")
        assert "ann may make 2 calls in a minute" in said
        assert "again in" in said

    play(known, scene, rate_per_minute=2)
    assert [(row.action, row.reason) for row in audit(known)] == [("list_tools", "rate")]


def test_a_call_that_comes_when_the_refused_one_was_told_to_is_answered(space: Space) -> None:
    """Of a second that has begun to pass the whole is told."""
    at = [0.0]

    async def ignore(_ended: int, _text: str) -> None:
        """Nobody listens."""

    async def go() -> None:
        door = Operations(space, Access("ann", tools=("full",), rate_per_minute=1))
        door.rate = Rate(1, lambda: at[0])
        await client_calls.answer(door, "list_tools", {}, ignore)
        at[0] = MINUTE - 0.3
        with pytest.raises(client_calls.RateLimited, match=r"1 call in a minute \(again in 1 s\)$"):
            await client_calls.answer(door, "list_tools", {}, ignore)
        at[0] += 1
        await client_calls.answer(door, "list_tools", {}, ignore)

    asyncio.run(go())


def test_a_call_that_its_caller_cancels_is_broken_off(known: Space) -> None:
    """Unlike a plan, nobody could come back for it."""

    async def scene(planner: Planner) -> None:
        await planner.call("execute_tool", tool_name="one/echo", arguments={"text": "runs"})
        slow = {"tool_name": "one/slow", "arguments": {"seconds": 60}}
        call = asyncio.create_task(planner.client.call_tool("execute_tool", slow))
        await asyncio.to_thread(until, lambda: _runs(known)[0].status == "running")
        call.cancel()
        await asyncio.wait([call])
        await asyncio.to_thread(until, lambda: _runs(known)[0].status != "running")

    play(known, scene)
    assert _runs(known)[0].status == "cancelled"


def _runs(space: Space) -> Any:
    with space.store.reading() as snapshot:
        return snapshot.runs()


def test_large_results_never_pass_through_the_model(known: Space) -> None:
    """A preview and an id; a plan takes the Note by that."""

    async def scene(planner: Planner) -> None:
        text = ("word " * 5_000).strip()
        found = await planner.call("execute_tool", tool_name="one/echo", arguments={"text": text})
        assert found["large"]["characters"] > 24_000
        step = {"type": "split", "target": found["large"]["read"], "delimiter": " ", "out": "$words"}
        counted = await planner.call("run_plan", plan=[step, {"type": "size", "target": "$words", "out": "$n"}])
        assert counted["result"]["data"] == 5_000
        assert max(size for _, size in planner.read) < 4_000

    play(known, scene)
