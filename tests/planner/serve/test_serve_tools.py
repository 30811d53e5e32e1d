"""What each tool of the server takes, answers and refuses, over the protocol in memory."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ErrorData

from infospace import Space
from infospace.contract.tool_signature import briefly, tersely
from infospace.data.json_text import dump
from infospace.schema.validate import validate
from infospace.tools.local import LocalTools
from infospace.tools.scope import Filters
from planner.metatools.registry import META
from planner.parse.saved_plans import save_plan
from planner.parse.vocabulary import conditions_in_full, full
from planner.server.live_runs import MAX_LIVE_RUNS
from planner.server.protocol.resources import PAGE
from planner.server.tools import MAX_ARGUMENT_CHARACTERS, TOOLS
from planner.server.truncate import DATA, PROBLEMS, STEPS

sys.path.insert(0, str(Path(__file__).parent))
from serving import NOTE, SLOW, Planner, play, text_of

# Arguments


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("run_plan", {"wait_s": -1, "input": {}}, ["needs 'plan'", "`wait_s` is -1", "did you mean 'inputs'?"]),
        ("check_plan", {"plan": 3}, ["`plan` is 3"]),
        ("run_steps", {"session": 1, "steps": []}, ["`session` is 1", "`steps` is []"]),
        ("get_run", {"run": "7", "first_step": -1, "wait_s": "long"}, ["`run`", "`first_step` is -1", "`wait_s`"]),
        ("get_run", {"run": "seven"}, ['`run` is "seven", which has another form than is wanted (Such as run_7)']),
        ("read", {"ref": "", "slice": "a:b", "max_chars": 0}, ["`ref`", "`slice`", "`max_chars` is 0"]),
        ("read", {"ref": "Note_1", "fields": ["a[0]", "a.b"]}, ["a list", "an object"]),
        ("discover_notes", {"limit": 0, "mode": "exact"}, ["`limit` is 0", '`mode` is "exact"']),
        ("list_bindings", {}, ["`session` or `run`"]),
        ("list_bindings", {"session": "s", "run": "run_1"}, ["one of them"]),
        ("answer_run", {}, ["needs 'run'", "needs 'step'", "needs 'value'"]),
        ("describe_primitives", {"names": "size"}, ["`names`"]),
    ],
)
def test_malformed_arguments_are_told_all_at_once(space: Space, tool: str, arguments: Any, said: list[str]) -> None:
    """As an error of the tool, which a model reads and mends."""
    sentence = play(space, lambda planner: planner.wrong(tool, **arguments))
    assert all(part in sentence for part in said), sentence


def test_what_does_not_exist_is_told_with_what_would_fit(space: Space) -> None:
    """Runs, sessions, resources, primitives."""

    async def scene(planner: Planner) -> list[str]:
        await planner.call("run_plan", plan=[{**NOTE, "name": "reading list"}])
        return [
            await planner.wrong("get_run", run="run_99"),
            await planner.wrong("list_bindings", session="nobody"),
            await planner.wrong("read", ref="reading lst"),
            await planner.wrong("read", ref="Note_99"),
            await planner.wrong("read", ref="Note_1.title"),
            await planner.wrong("describe_primitives", names=["siz"]),
            await planner.wrong("run_steps", session="$s", steps=[NOTE]),
            await planner.wrong("answer_run", run="run_1", step="1", value=1),
        ]

    assert play(space, scene) == [
        "there is no run_99 (the list of resources lists the runs of a space)",
        "no session 'nobody' is open (run_steps opens one)",
        "nothing here has the name 'reading lst' (did you mean 'reading list'?)",
        "there is no Note_99 (it was never made, or only in another space)",
        "`title` does not exist: the content of Note_1 is a number, not an object",
        "there is no primitive 'siz' (did you mean 'size'?)",
        "a session cannot be called '$s': the name '$s' begins with $, which variables do ('s')",
        "run_1 is success, and waits for nothing (the list of resources says which are suspended)",
    ]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_plan", {"plan": [{"type": "create-note", "value": "VALUE"}]}),
        ("discover_notes", {"query": "VALUE"}),
        ("execute_tool", {"tool_name": "nobody/echo", "arguments": {"text": "VALUE"}}),
        ("nobody__echo", {"text": "VALUE"}),
    ],
)
def test_too_long_arguments_are_refused_in_a_sentence(space: Space, tool: str, arguments: dict[str, Any]) -> None:
    """Whatever stands in them, and of whatever tool."""
    longer = MAX_ARGUMENT_CHARACTERS + 1 - len(dump(arguments)) + len("VALUE")
    text = json.dumps(arguments).replace("VALUE", "x" * longer)
    assert play(space, lambda planner: planner.wrong(tool, **json.loads(text))) == (
        f"the arguments of {tool} have {MAX_ARGUMENT_CHARACTERS + 1:,} characters, and at most "
        f"{MAX_ARGUMENT_CHARACTERS:,} are taken (a plan loads long texts from notes)"
    )


def test_arguments_may_have_as_many_characters_as_are_taken(space: Space) -> None:
    plan = "x" * (MAX_ARGUMENT_CHARACTERS - len('{"plan":""}'))
    assert not play(space, lambda planner: planner.call("check_plan", plan=plan))["ok"]


def test_a_tool_that_is_not_there_is_a_fault_of_the_protocol(space: Space) -> None:
    async def scene(planner: Planner) -> None:
        with pytest.raises(MCPError, match="there is no tool 'run_plans'"):
            await planner.client.call_tool("run_plans", {})

    play(space, scene)


def test_every_tool_has_a_closed_schema_and_says_what_it_is_for(space: Space) -> None:
    """In few characters, since a model reads them all."""

    async def scene(planner: Planner) -> Any:
        return (await planner.client.list_tools()).tools

    tools = play(space, scene)
    assert [tool.name for tool in tools] == [
        *("check_plan", "run_plan", "run_steps", "get_run", "answer_run", "cancel_run"),
        *("read", "list_bindings", "manage_connections", "describe_primitives", "discover_notes"),
        *("search_tools", "list_tools", "describe_tool", "execute_tool", "get_tool_categories", "get_similar_tools"),
    ]
    for tool in tools:
        assert tool.input_schema["additionalProperties"] is False
        assert all("description" in field for field in tool.input_schema["properties"].values()), tool.name
        assert len(tool.description or "") < 260
    assert sum(len(tool.model_dump_json(exclude_none=True)) for tool in tools) < 13_200


def test_a_client_is_told_what_only_reads_and_what_reaches_outside(space: Space) -> None:
    """Plans and calls may reach tools; whatever else there is stays here."""

    async def scene(planner: Planner) -> Any:
        return (await planner.client.list_tools()).tools

    hints = {tool.name: tool.annotations for tool in play(space, scene)}
    outside = {name for name, hint in hints.items() if hint is not None and hint.open_world_hint}
    assert outside == {"run_plan", "run_steps", "answer_run", "execute_tool", "manage_connections"}
    acting = {name for name, hint in hints.items() if hint is not None and not hint.read_only_hint}
    assert acting == {*outside, "cancel_run"}
    assert all(hint is not None and hint.open_world_hint is not None for hint in hints.values())


def test_what_a_client_loads_is_the_schema_in_few_words() -> None:
    """The same arguments and limits; filters once, where the search has them; no null for what may be left out."""
    for known in (*TOOLS.values(), *META.values()):
        brief, whole = known.brief, known.schema
        assert brief["properties"].keys() == whole["properties"].keys(), known.name
        assert brief.get("required") == whole.get("required")
        assert '"null"' not in json.dumps(brief)
        assert "$defs" not in brief
    search, listing = META["search_tools"].brief, META["list_tools"].brief
    assert search["properties"]["filters"]["properties"].keys() == Filters.model_fields.keys()
    assert "properties" not in listing["properties"]["filters"]
    calls = [
        {"query": "x", "filters": {"tags": ["a"], "min_score": 0.5, "has_examples": True, "name_pattern": "^a"}},
        *({"query": "x", "filters": wrong} for wrong in ({"tags": "a"}, {"min_score": 2}, {"tag": []})),
        *({"query": "x", "limit": limit} for limit in (0, 1, 50, 51)),
    ]
    whole = META["search_tools"].schema
    assert [validate(call, search) == [] for call in calls] == [validate(call, whole) == [] for call in calls]


def test_of_what_may_be_left_out_null_is_not_told_and_tersely_its_form_alone() -> None:
    """What has to be given may still be null; a field may be called as what is left out."""
    text, nothing = {"type": "string", "minLength": 1, "description": "Words."}, {"type": "null"}
    fields = {"description": {"anyOf": [text, nothing], "default": None}, "pattern": {"anyOf": [text, nothing]}}
    brief = briefly({"properties": fields, "required": ["pattern"]})
    assert brief["properties"] == {"description": text, "pattern": {"anyOf": [text, nothing]}}
    assert tersely({"properties": fields, "required": ["pattern"], "additionalProperties": False}) == {
        "properties": {"description": {"type": "string"}, "pattern": {"anyOf": [{"type": "string"}, nothing]}},
        "required": ["pattern"],
    }


def test_a_definition_that_refers_to_itself_stays_one() -> None:
    """Others stand where they are used."""
    tree = {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}
    brief = briefly({"properties": {"tree": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree, "Other": {}}})
    assert list(brief["$defs"]) == ["Tree"]
    assert validate({"tree": {"of": [{"of": []}]}}, brief) == []
    assert validate({"tree": {"of": [{"of": 1}]}}, brief) != []


# Plans


def test_a_plan_comes_as_object_list_text_or_name(space: Space) -> None:
    save_plan(space, "one", [NOTE])

    async def scene(planner: Planner) -> None:
        for plan in ({"steps": [NOTE]}, [NOTE], json.dumps([NOTE]), "plan:one"):
            assert (await planner.call("check_plan", plan=plan))["ok"]
            answer = await planner.call("run_plan", plan=plan)
            assert (answer["status"], answer["result"]["data"]) == ("success", 1)
        for plan, code in (("[{", "unreadable"), ("plan:two", "not-found")):
            answer = await planner.call("check_plan", plan=plan)
            assert (answer["ok"], [problem["code"] for problem in answer["problems"]]) == (False, [code])
            assert (await planner.call("run_plan", plan=plan))["status"] == "refused"

    play(space, scene)


def test_inputs_are_checked_where_they_are_given(space: Space) -> None:
    plan = {"inputs": {"n": {"type": "integer"}}, "steps": [{"type": "create-note", "value": "$n"}]}

    async def scene(planner: Planner) -> None:
        assert (await planner.call("check_plan", plan=plan))["ok"]
        assert (await planner.call("check_plan", plan=plan, inputs={"n": 1}))["ok"]
        for inputs in ({}, {"n": "x"}):
            problems = (await planner.call("check_plan", plan=plan, inputs=inputs))["problems"]
            assert [problem["pointer"] for problem in problems] == ["/inputs/n"]
        assert (await planner.call("run_plan", plan=plan, inputs={"n": 4}))["result"]["data"] == 4
        warned = [NOTE, {"type": "create-note", "value": 2}]
        without = await planner.call("check_plan", plan=warned)
        assert [(one["code"], one["severity"]) for one in without["problems"]] == [("never-read", "warning")]
        assert await planner.call("check_plan", plan=warned, inputs={}) == without

    play(space, scene)


def test_a_call_that_is_cancelled_stops_waiting_and_not_the_run(space: Space) -> None:
    """The run goes on, and can be followed and cancelled."""

    async def scene(planner: Planner) -> None:
        call = asyncio.create_task(planner.call("run_plan", plan=[NOTE, SLOW]))
        begun = asyncio.Event()
        planner.heard = begun.set
        await begun.wait()
        call.cancel()
        await asyncio.wait([call])
        answer = await planner.call("get_run", run="run_1")
        assert (call.cancelled(), answer["status"]) == (True, "running")
        assert (await planner.call("cancel_run", run="run_1"))["status"] == "cancelled"

    play(space, scene)


def test_progress_is_told_to_who_asks_for_it(space: Space) -> None:
    """How many steps have ended, never fewer than before, and which was the last."""

    async def scene(planner: Planner) -> Any:
        await planner.call("run_plan", plan=[NOTE, {"type": "wait", "seconds": 0.3}])
        return planner.told

    told = play(space, scene)
    assert told[0] == (1.0, "1 create-note: success")
    assert max(count for count, _ in told) <= 2
    assert [count for count, _ in told] == sorted(count for count, _ in told)


def test_progress_of_a_call_of_a_tool_is_told_too(space: Space) -> None:
    """Such as of a saved plan, whose steps end one after the other."""
    gate, heard = LocalTools("gate"), threading.Event()

    @gate.tool(read_only=True)
    def enter() -> bool:
        """Enter once something was told."""
        return heard.wait(60)

    space.tools.add(gate)
    save_plan(space, "slow", [NOTE, {"type": "gate/enter", "out": "$entered"}])

    async def scene(planner: Planner) -> Any:
        planner.heard = heard.set
        answer = await planner.call("execute_tool", tool_name="infospace/plan:slow", arguments={})
        return planner.told, answer["structured_content"]

    told, entered = play(space, scene)
    assert (told[0], entered) == ((1, "1 create-note: success"), True)


def test_a_run_of_many_steps_and_a_plan_of_many_mistakes_are_told_in_parts(space: Space) -> None:
    """Each part says how to come by the next one."""
    steps = [{**NOTE, "value": "long " * 100, "out": f"$x{number}"} for number in range(2 * STEPS + 5)]
    wrong = [{"type": "sizes", "target": f"$nothing{number}"} for number in range(PROBLEMS + 7)]

    async def scene(planner: Planner) -> list[str]:
        answer = await planner.call("run_plan", plan=steps)
        found = [step["step"] for step in answer["steps"]]
        while "steps" in answer.get("left_out", {}):
            first = int(answer["left_out"]["steps"].rpartition("=")[2])
            answer = await planner.call("get_run", run=answer["run"], first_step=first)
            found += [step["step"] for step in answer["steps"]]
        problems = await planner.call("check_plan", plan=wrong)
        assert (len(problems["problems"]), "left_out" in problems) == (PROBLEMS, True)
        return found

    assert play(space, scene) == [str(number) for number in range(1, 2 * STEPS + 6)]


def test_data_is_omitted_from_just_above_the_bound(space: Space) -> None:
    """And can be read by the id that stands in its place."""

    async def scene(planner: Planner) -> None:
        for length, there in ((DATA - 2, True), (DATA - 1, False)):
            answer = await planner.call("run_plan", plan=[{"type": "create-note", "value": "x" * length}])
            assert ("data" in answer["result"]) is there
            assert ("data_omitted" in answer["result"]) is not there
            piece = await planner.call("read", ref=answer["result"]["resource_id"])
            assert piece["data"] == "x" * length

    play(space, scene)


def test_no_more_runs_than_can_be_overseen_go_on_at_once(space: Space) -> None:
    async def scene(planner: Planner) -> str:
        for _ in range(MAX_LIVE_RUNS):
            await planner.call("run_plan", plan=[SLOW], wait_s=0)
        return await planner.wrong("run_plan", plan=[SLOW])

    assert f"{MAX_LIVE_RUNS} runs are going on already" in play(space, scene)


# Looking


def test_long_hits_come_without_their_texts(sample_space: Space) -> None:
    """But with the passage that fits, and the id to read by."""

    async def scene(planner: Planner) -> Any:
        answer = await planner.call("discover_notes", query="ranking", limit="all", threshold=-1)
        assert answer["extra"]["certificate"]["exhaustive"]
        hit = answer["data"][0]
        assert "text" not in hit
        assert hit["metadata"]["passage"]["text"]
        source = await planner.call("read", ref=hit["metadata"]["source_id"])
        assert source["total"] == hit["char_count"]
        return answer["left_out"]

    assert "source_id" in play(sample_space, scene)["text"]


def test_a_search_within_a_named_collection_finds_what_it_has(sample_space: Space) -> None:
    """And nothing else, however much else fits as well."""

    async def scene(planner: Planner) -> None:
        two = {"type": "create-collection", "value": ["Note_1", "Note_2"], "name": "two", "out": "$c"}
        await planner.call("run_plan", plan=[two])
        for within in ("two", "Collection_1"):
            answer = await planner.call("discover_notes", query="ranking", within=within, threshold=-1)
            assert {hit["metadata"]["source_id"] for hit in answer["data"]} == {"Note_1", "Note_2"}
        wrong = await planner.wrong("discover_notes", query="ranking", within="twoo")
        assert wrong == "nothing here has the name 'twoo' (did you mean 'two'?)"

    play(sample_space, scene)


def test_resources_are_listed_page_by_page_and_read(sample_space: Space) -> None:
    """Notes, collections, runs; names are written as addresses are."""

    async def scene(planner: Planner) -> None:
        steps = [{"type": "create-note", "value": {"n": n}, "name": f"odd/näme {n}"} for n in range(PAGE)]
        steps += [{"type": "create-collection", "value": ["Note_1", 2], "name": "two"}]
        await planner.call("run_plan", plan=steps)
        found, cursor, pages = [], None, 0
        while cursor is not None or not pages:
            page = await planner.client.list_resources(cursor=cursor)
            assert 0 < len(page.resources) <= PAGE
            found += page.resources
            cursor, pages = page.next_cursor, pages + 1
        uris = {resource.name: resource.uri for resource in found}
        assert len(uris) == len(found)
        read = await planner.client.read_resource(uris["odd/näme 7"])
        assert json.loads(read.contents[0].text) == {"n": 7}
        read = await planner.client.read_resource("infospace://collection/two")
        assert json.loads(read.contents[0].text)[0]["id"] == "Note_1"
        run = next(name for name in uris if name.startswith("run_"))
        assert json.loads((await planner.client.read_resource(uris[run])).contents[0].text)["run"] == run
        templates = (await planner.client.list_resource_templates()).resource_templates
        assert {template.uri_template: template.description for template in templates} == {
            "infospace://note/{id}": "A note's content, by id (Note_12) or name.",
            "infospace://collection/{id}": "A collection's items with their contents, by id (Collection_3) or name.",
            "infospace://run/{id}": "A run's record, by id (run_7).",
        }
        for uri, message in (
            ("infospace://note/Note_999", "there is no Note_999 (it was never made, or only in another space)"),
            ("infospace://note/two", "'two' is a Collection, not a note"),
            ("file:///etc/passwd", "there is no resource 'file:///etc/passwd' (such as infospace://note/Note_12)"),
            ("infospace://run/x", "'x' is not the id of a run (such as run_7)"),
        ):
            with pytest.raises(MCPError) as refused:
                await planner.client.read_resource(uri)
            assert refused.value.error == ErrorData(code=INVALID_PARAMS, message=message, data={"uri": uri})

    play(sample_space, scene)


def test_the_prompt_has_the_language_and_the_goal(space: Space) -> None:
    async def scene(planner: Planner) -> str:
        [prompt] = (await planner.client.list_prompts()).prompts
        assert [argument.required for argument in prompt.arguments or ()] == [True]
        with pytest.raises(MCPError, match="goal"):
            await planner.client.get_prompt("plan", {})
        [message] = (await planner.client.get_prompt("plan", {"goal": "count the notes"})).messages
        return text_of(message.content)

    text = play(space, scene)
    assert "discover-notes" in text
    assert text.endswith("until it is ok, then run it with run_plan.\n\nGoal: count the notes")


def test_conditions_and_forms_are_described_and_a_wrong_name_hides_no_other(space: Space) -> None:
    """Where no name is right, the call is wrong."""

    async def scene(planner: Planner) -> tuple[str, str]:
        text = await planner.call("describe_primitives", names=["conditions", "no-such-verb", "while", "size"])
        return text, await planner.wrong("describe_primitives", names=["no-such-verb"])

    text, wrong = play(space, scene)
    assert conditions_in_full() in text
    assert full(space.catalogue, ["while"]) in text
    assert full(space.catalogue, ["size"]) in text
    assert "no-such-verb" in text
    assert "no-such-verb" in wrong
