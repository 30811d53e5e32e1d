"""`execute_tool`: one call, approved, journalled, counted; what is long becomes a Note."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from known_servers import ask, narrowed, odd, synced, twins, write

from infospace import Invalid, NotFound, Space
from infospace.core.tool import Tool, ToolAnswer
from infospace.data.json_text import dump
from infospace.journal.rows import CallRow, OpenRun
from infospace.tools.local import LocalTools
from planner.lifecycle.resume import answer, resume
from planner.metatools.arguments import USUAL_MS, ExecuteTool
from planner.metatools.call_result import LARGE, MEDIA, media_blocks
from planner.metatools.execute_tool import execute_tool, prepare_call
from planner.parse.saved_plans import save_plan

LONG = 9_000


@pytest.fixture
def known(space: Space) -> Space:
    """A space with two servers of the same tools; `two` is trusted."""
    return twins(space)


def called(space: Space, tool: str, **arguments: Any) -> Any:
    """Call a tool."""
    return ask(space, "execute_tool", tool_name=tool, arguments=arguments)


def test_all_blocks_and_the_structured_content_come_back(known: Space) -> None:
    """With what is known of the call, unless that is not wanted."""
    found = called(known, "two/blocks")
    assert (found["status"], found["is_error"]) == ("success", False)
    assert [block["type"] for block in found["content"]] == ["text", "image"]
    assert called(known, "two/structured")["structured_content"] == {"a": [1, None]}
    metadata = found["execution_metadata"]
    described = ask(known, "describe_tool", tool_name="two/blocks")
    assert (metadata["tool_id"], metadata["server"]) == (described["id"], "two")
    assert metadata["execution_time_ms"] > 0
    with known.store.reading() as snapshot:
        [row] = snapshot.steps(metadata["request_id"])
        assert (row.type, row.status, row.resource) == ("two/blocks", "success", found["resource_id"])
        assert snapshot.get(found["resource_id"]).created_by.run == metadata["request_id"]
    options = {"include_metadata": False}
    bare = ask(known, "execute_tool", tool_name="two/echo", arguments={"text": "x"}, options=options)
    assert "execution_metadata" not in bare


def test_a_tool_that_says_it_failed_is_an_error_in_its_words(known: Space) -> None:
    """Its blocks are kept."""
    found = called(known, "two/fail")
    assert (found["status"], found["is_error"]) == ("failed", True)
    assert found["content"] == [{"type": "text", "text": "no such place"}]
    assert "no such place" in found["reason"]


def test_a_server_that_dies_is_an_error_without_blocks_of_its_own(known: Space) -> None:
    """In one sentence."""
    found = called(known, "two/die")
    assert (found["status"], found["is_error"]) == ("failed", True)
    assert "two/die failed" in found["reason"]


def test_arguments_that_do_not_fit_are_told_all_at_once_and_nothing_is_called(known: Space) -> None:
    """Nor is there a run."""
    with pytest.raises(Invalid) as wrong:
        called(known, "one/echo", text=3)
    assert str(wrong.value) == "the arguments of one/echo do not fit its schema: 3 is not text at `text`"
    with known.store.reading() as snapshot:
        assert snapshot.runs() == []
        assert snapshot.tool_uses() == []


@pytest.mark.parametrize("text", ["$x", "${y.z}", "$$x", "$5 for ${x", "$${x}", "a $name", "US$x", "$$$x"])
def test_a_dollar_sign_is_no_reference_here(known: Space, text: str) -> None:
    """The tool gets the text."""
    assert called(known, "one/echo", text=text)["content"][0]["text"] == text
    assert called(known, "infospace/create-note", value={"k": [text]})["structured_content"] == {"k": [text]}


def test_a_call_that_needs_approval_says_so_and_what_would_approve_it(known: Space) -> None:
    """Nothing is called, and nobody is waited for; answered, it is made."""
    found = called(known, "one/structured")
    assert (found["status"], found["is_error"]) == ("approval_required", True)
    approval = found["approval"]
    assert "call the tool structured of the server one" in approval["question"]
    assert approval["answers"].keys() == {"once", "run", "always", "no"}
    with known.store.reading() as snapshot:
        assert snapshot.tool_uses("one", "structured") == []
    answer(known, approval["run"], approval["step"], "always")
    assert asyncio.run(resume(known, approval["run"])).status == "success"
    assert called(known, "one/structured")["structured_content"] == {"a": [1, None]}


def test_what_is_approved_by_name_is_called_at_once(known: Space) -> None:
    """For this call alone."""
    args = ExecuteTool.model_validate({"tool_name": "one/structured", "arguments": {}})
    assert asyncio.run(execute_tool(known, args, ["one/*"]))["status"] == "success"
    assert called(known, "one/structured")["status"] == "approval_required"


def test_a_large_result_becomes_a_note_with_a_preview_and_an_id(space: Space) -> None:
    """All of it is there to be read, and to be passed on by a plan."""
    local = LocalTools("local")

    @local.tool(read_only=True)
    def lines(count: int) -> list[str]:
        """Give lines."""
        return [f"line {number}" for number in range(count)]

    space.tools.add(local)
    found = called(space, "local/lines", count=LONG)
    assert found["structured_content"] is None
    assert len(str(found)) < 2_000
    assert found["large"]["read"] == found["resource_id"]
    assert space.context().get(found["resource_id"]).content[-1] == f"line {LONG - 1}"
    assert called(space, "infospace/split", target=found["resource_id"])["status"] == "success"
    assert "large" not in called(space, "local/lines", count=3)


class Told(LocalTools):
    """A server whose tool answers just these blocks."""

    blocks: list[dict[str, Any]]

    async def call(self, tool: Tool, arguments: Any, timeout_s: float | None = None) -> ToolAnswer:
        del tool, arguments, timeout_s
        return ToolAnswer(self.blocks)


def test_of_a_large_answer_each_block_is_told_by_its_beginning(space: Space) -> None:
    """What is no text stands there where it is short; of very many blocks the first twenty do."""
    told = Told("told")

    @told.tool(read_only=True)
    def all_of_it() -> None:
        """Tell all of it."""

    image, sound = (
        {"type": kind, "mimeType": f"{kind}/x", "data": "x" * size} for kind, size in (("image", 500), ("audio", 9))
    )
    file = {"type": "resource", "resource": {"uri": "a:b", "text": "r" * 5_000}}
    told.blocks = [file, image, sound, *({"type": "text", "text": f"text {number}"} for number in range(30))]
    space.tools.add(told)
    content = called(space, "told/all_of_it")["content"]
    assert content[0]["resource"]["text"].endswith("r… [cut: 5,000 characters in all]")
    assert content[1] == {"type": "text", "text": f"[image image/x: {len(dump(image))} characters, left out]"}
    assert content[2] == sound
    assert [block["text"] for block in content[3:]] == [f"text {number}" for number in range(17)]


def test_an_answer_is_large_from_one_character_above_the_bound_on(space: Space) -> None:
    """Its blocks and its structured content count together, as JSON."""
    local = LocalTools("local")

    @local.tool(read_only=True)
    def say(size: int) -> str:
        """Say so much."""
        return "x" * size

    @local.tool(read_only=True)
    def give(size: int) -> list[str]:
        """Give so much."""
        return ["x" * size]

    space.tools.add(local)
    for tool, key in (("say", "content"), ("give", "structured_content")):
        at_once = called(space, f"local/{tool}", size=0)
        other = "structured_content" if key == "content" else "content"
        around = len(dump(at_once[key])) + (0 if at_once[other] is None else len(dump(at_once[other])))
        assert "large" not in called(space, f"local/{tool}", size=LARGE - around)
        assert called(space, f"local/{tool}", size=LARGE - around + 1)["large"]["characters"] == LARGE + 1


def test_pictures_are_passed_on_as_far_as_there_is_room(space: Space) -> None:
    """All characters count, also of what was left out; what comes after it is left out, too."""
    run = space.store.new_id("run")
    at = "2026-04-01T09:30:00.123Z"
    blocks: list[Any] = [{"type": kind, "data": "x" * size} for kind, size in (("image", MEDIA - 1), ("audio", 1))]
    blocks += [{"type": "text", "text": "y"}, {"type": "image", "data": "z"}]
    call = CallRow(run, 1, "1", "tool", "files/read", b"", "started", at)
    space.store.commit([], [OpenRun(run, "plan", "", {"steps": []}, {}, at, "me"), call])
    assert media_blocks(space, run) == []
    space.store.commit([], [replace(call, status="success", answer={"blocks": blocks, "is_error": False})])
    assert media_blocks(space, run) == blocks[:2]
    assert media_blocks(space, "run_99") == []


def test_a_picture_is_left_out_of_a_large_answer_and_kept(space: Space) -> None:
    """It is told of, and stands in the run."""
    write(Path(space.store.address).parent, web=odd("plain", trusted=True))
    synced(space)
    found = called(space, "web/echo", text="x" * LONG)
    assert found["content"][0]["text"].endswith(f"[cut: {LONG:,} characters in all]")
    assert space.context().get(found["resource_id"]).content == "x" * LONG


def test_a_call_that_takes_too_long_is_broken_off_and_counted(known: Space) -> None:
    """The sentence says what gives it longer."""
    slow = {"tool_name": "two/slow", "arguments": {}}
    called(known, "two/echo", text="the server runs")
    found = ask(known, "execute_tool", **slow, options={"timeout_ms": 300})
    assert (found["status"], found["is_error"]) == ("failed", True)
    assert "did not answer within 300 ms" in found["reason"]
    with known.store.reading() as snapshot:
        [use] = snapshot.tool_uses("two", "slow")
    assert (use.execution_count, use.success_rate) == (1, 0.0)
    assert ask(known, "execute_tool", **slow, options={"timeout_ms": 60_000})["status"] == "success"


def test_cancelling_breaks_the_call_off(known: Space) -> None:
    """The journal says so."""
    called(known, "two/echo", text="the server runs")
    args = ExecuteTool.model_validate({"tool_name": "two/slow", "arguments": {}})
    call = prepare_call(known, args)

    async def scene() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(call.play(known, lambda _event: begun.set()))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(scene())
    with known.store.reading() as snapshot:
        assert snapshot.runs(limit=1)[0].status == "cancelled"


def test_metrics_are_those_of_real_calls(known: Space) -> None:
    """Of servers' tools and of what the space itself can do."""
    called(known, "two/echo", text="x")
    called(known, "two/fail")
    called(known, "infospace/create-note", value=1)
    metrics = {
        name: ask(known, "describe_tool", tool_name=name, include_metrics=True)["metrics"]
        for name in ("two/echo", "two/fail", "one/echo", "infospace/create-note")
    }
    assert [metrics[name]["execution_count"] for name in metrics] == [1, 1, 0, 1]
    assert [metrics[name]["success_rate"] for name in metrics] == [1.0, 0.0, None, 1.0]
    assert metrics["two/echo"]["p95_ms"] >= metrics["two/echo"]["mean_ms"] * 0.999 > 0


def test_primitives_saved_plans_prompts_and_resources_are_called_alike(known: Space) -> None:
    """By what they are called in a search."""
    save_plan(
        known,
        "twice",
        {"inputs": {"n": {"type": "integer"}}, "steps": [{"type": "create-note", "value": ["$n", "$n"]}]},
    )
    assert called(known, "infospace/plan:twice", n=4)["structured_content"] == [4, 4]
    assert called(known, "infospace/create-note", value="kept", name="my note")["status"] == "success"
    found = called(known, "infospace/load", target="my note")
    assert found["structured_content"] == "kept"
    assert called(known, "infospace/discover-notes", query="kept")["status"] == "success"
    assert called(known, "one/greet", who="Ann")["content"][0]["content"]["text"] == "Greet Ann."
    assert called(known, "one/odd://one")["content"][0]["resource"]["text"] == "here is odd://one"
    filled = called(known, "one/odd://{name}", name="a b")
    assert (filled["tool_name"], filled["content"][0]["resource"]["text"]) == (
        "one/odd://{name}",
        "here is odd://a%20b",
    )


def test_a_saved_plan_lasts_as_long_as_the_call_says(known: Space) -> None:
    """Else as its budget does; and never longer than a caller may let it."""
    save_plan(known, "slow", {"steps": [{"type": "wait", "seconds": 30}]})
    save_plan(known, "short", {"steps": [{"type": "wait", "seconds": 30}], "budget": {"seconds": 0.1, "steps": 5}})
    limit = {"timeout_ms": 100}
    said = ask(known, "execute_tool", tool_name="infospace/plan:slow", arguments={}, options=limit)
    assert (said["status"], "budget of 0.1 seconds" in said["reason"]) == ("failed", True)
    assert "budget of 0.1 seconds" in called(known, "infospace/plan:short")["reason"]
    args = ExecuteTool.model_validate({"tool_name": "infospace/plan:slow", "arguments": {}})
    assert prepare_call(known, args).prepared.plan.budget.seconds == USUAL_MS / 1000
    assert prepare_call(known, args, 50).prepared.plan.budget.seconds == 0.05


def test_a_saved_plan_takes_as_long_as_its_own_steps_do(space: Space) -> None:
    """What runs in one of them is not counted once more."""
    notes = [{"type": "create-note", "value": number, "out": "$x"} for number in (1, 2)]
    save_plan(space, "inner", notes)
    save_plan(space, "outer", [{"type": "if", "condition": "1 = 1", "then": notes}, {"type": "plan:inner"}])
    metadata = called(space, "infospace/plan:outer")["execution_metadata"]
    with space.store.reading() as snapshot:
        rows = {row.position: row.duration_ms for row in snapshot.steps(metadata["request_id"])}
    assert rows.keys() == {"1", "1.then.1", "1.then.2", "2", "2/1", "2/2"}
    metrics = ask(space, "describe_tool", tool_name="infospace/plan:outer", include_metrics=True)["metrics"]
    took = round(rows["1"] + rows["2"], 3)
    assert (metadata["execution_time_ms"], metrics["mean_ms"]) == (took, pytest.approx(took))


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("infospace/size", {"targt": "Note_1"}, "did you mean 'target'?"),
        ("infospace/size", {}, "needs 'target'"),
        ("infospace/size", {"target": "Note_99"}, "Note_99"),
        ("infospace/create-note", {"value": 1, "type": "remove"}, "has no argument 'type'"),
        ("infospace/create-note", {"value": 1, "on_fail": []}, "has no argument 'on_fail'"),
        ("infospace/plan:twice", {"m": 1}, "no input 'm'"),
    ],
)
def test_what_does_not_fit_what_the_space_can_do_is_told(space: Space, tool: str, arguments: Any, said: str) -> None:
    """Before anything is done."""
    save_plan(space, "twice", {"inputs": {"n": {"type": "integer"}}, "steps": [{"type": "create-note", "value": "$n"}]})
    with pytest.raises((Invalid, NotFound)) as wrong:
        called(space, tool, **arguments)
    assert said in str(wrong.value)


def test_a_tool_of_a_server_that_failed_says_what_it_failed_with(space: Space) -> None:
    """Rather than that another server has one of that name; to whoever may know of every server."""
    write(Path(space.store.address).parent, gone=odd("dies"), off=odd("plain", disabled=True), one=odd("plain"))
    synced(space)
    for name, why in (
        ("gone/echo", "ended with code 3 at its start; it said 'cannot find its configuration'"),
        ("off/echo", "the server 'off' is disabled"),
    ):
        with pytest.raises(NotFound) as unknown:
            called(space, name, text="x")
        assert why in str(unknown.value.hint)
        with pytest.raises(NotFound, match="did you mean 'one/echo'"):
            called(narrowed(space, include_servers=["one"]), name, text="x")


def test_a_blocked_tool_is_told_like_one_that_is_not_there(space: Space) -> None:
    """It is not listed, and not called; whoever asks for it learns nothing."""
    write(Path(space.store.address).parent, shut=odd("plain", blocked=True))
    synced(space)
    with space.store.reading() as snapshot:
        identifier = next(tool.id for tool in snapshot.tools("shut"))
    assert ask(space, "list_tools", filters={"servers": ["shut"]})["total"] == 0
    for name, other in (("shut/echo", "shut/ecko"), ("shut/echo", "none/echo"), (identifier, "tool_999")):
        for meta, more in (
            ("execute_tool", {"arguments": {"text": "x"}}),
            ("describe_tool", {}),
            ("get_similar_tools", {}),
        ):
            sentences = []
            for one in (name, other):
                with pytest.raises(NotFound) as told:
                    ask(space, meta, tool_name=one, **more)
                sentences.append(str(told.value).replace(repr(one), "it"))
            assert sentences[0] == sentences[1]


def test_the_time_of_a_call_that_lasted_too_long_is_the_time_that_it_took(space: Space) -> None:
    """Not nothing, and not that of the server's start."""
    tools = LocalTools("slow")

    @tools.tool(read_only=True)
    async def nap() -> str:
        """Sleep."""
        await asyncio.sleep(60)
        return "late"

    space.tools.add(tools)
    answered = ask(space, "execute_tool", tool_name="slow/nap", arguments={}, options={"timeout_ms": 400})
    assert "did not answer within 400 ms" in answered["reason"]
    assert 350 <= answered["execution_metadata"]["execution_time_ms"] < 20_000
    with space.store.reading() as snapshot:
        [use] = [one for one in snapshot.tool_uses() if one.server == "slow"]
    assert (use.execution_count, use.success_rate) == (1, 0)
    assert 350 <= use.mean_ms < 20_000


def test_the_time_of_a_plan_counts_no_step_twice(space: Space) -> None:
    """What a saved plan within it does lies in the time of the step that runs it."""
    save_plan(space, "inner", [{"type": "wait", "seconds": 0.02}, {"type": "create-note", "value": 1}])
    save_plan(space, "outer", [{"type": "plan:inner"}, {"type": "create-note", "value": 2}])
    metadata = called(space, "infospace/plan:outer")["execution_metadata"]
    with space.store.reading() as snapshot:
        took = {row.position: row.duration_ms for row in snapshot.steps(metadata["request_id"])}
    assert took.keys() == {"1", "1/1", "1/2", "2"}
    assert metadata["execution_time_ms"] == round(took["1"] + took["2"], 3)


def test_filters_alone_find_tools_by_name(space: Space) -> None:
    """Without a query there is no relevance; neither of both is a fault that is told."""
    write(Path(space.store.address).parent, one=odd("plain", tags=["x"]), two=odd("plain"))
    synced(space)
    found = ask(space, "search_tools", filters={"tags": ["x"]}, limit=2)
    names = [tool["tool_name"] for tool in found["tools"]]
    assert names == sorted(names)
    assert {tool["server"] for tool in found["tools"]} == {"one"}
    assert {tool["score"] for tool in found["tools"]} == {None}
    assert found["matched"] == ask(space, "list_tools", filters={"tags": ["x"]})["total"]
    assert ask(space, "search_tools", filters={"tags": ["none"]})["no_match"]
    for given, why in (({}, "none of `query`, `filters`"), ({"filters": {"min_score": 0.5}}, "there is none")):
        with pytest.raises(Invalid, match=why):
            ask(space, "search_tools", **given)


def test_a_result_that_does_not_fit_its_own_schema_is_reported_and_kept(space: Space) -> None:
    """It is not dropped."""
    write(Path(space.store.address).parent, s=odd("promises", trusted=True))
    synced(space)
    found = called(space, "s/promise")
    assert (found["status"], found["structured_content"]) == ("success", {"n": "three"})
    assert found["misfits"] == ['"three" is not a whole number at `n`']


def test_arguments_of_which_an_open_schema_says_nothing_are_named_beside_what_is_wrong(known: Space) -> None:
    """They may be what was meant for those that are missing; alone they are let pass."""
    with pytest.raises(Invalid) as wrong:
        called(known, "two/echo", txt="x", more=1)
    assert '"text" is missing' in wrong.value.message
    assert wrong.value.hint == "it says nothing of 'txt', 'more'; it takes text"
    assert called(known, "two/echo", text="x", more=1)["status"] == "success"


def test_a_call_lasts_as_long_as_the_entry_says_where_nobody_says_otherwise(space: Space) -> None:
    """The start of its server apart; what the call says goes before, and so does the limit of a caller."""
    entries = {"slow": odd("plain", trusted=True, timeout_s=0.4), "long": odd("plain", timeout_s=90)}
    write(Path(space.store.address).parent, **entries)
    assert synced(space).failed == []
    space.tools.close()
    late = called(space, "slow/slow")
    assert (late["status"], late["reason"].split(" (")[0]) == ("failed", "slow/slow did not answer within 0.4 s")
    longer = ask(space, "execute_tool", tool_name="slow/slow", arguments={}, options={"timeout_ms": 20_000})
    assert longer["status"] == "success"
    args = ExecuteTool.model_validate({"tool_name": "long/echo", "arguments": {"text": "x"}})
    times = [prepare_call(space, args, most).prepared.plan.steps[0].timeout_s for most in (600_000, 5_000)]
    assert times == [None, 5.0]


def test_the_tool_may_be_given_as_name_as_in_the_protocol(known: Space) -> None:
    """Instead of `tool_name`, not beside it."""
    found = ask(known, "execute_tool", name="two/echo", arguments={"text": "x"})
    assert (found["tool_name"], found["status"]) == ("two/echo", "success")
    with pytest.raises(Invalid, match="name"):
        ask(known, "execute_tool", tool_name="two/echo", name="two/echo", arguments={"text": "x"})
