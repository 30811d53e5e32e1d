"""The small door: five tools, few characters, and no way lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from infospace import Space
from infospace.core.tool import Tool, ToolAnswer
from infospace.data.json_text import dump
from planner.execute.start import run_sync
from planner.parse.control_flow import FORMS
from planner.parse.page import (
    LONGEST,
    LONGEST_SHORT,
    language_page,
    page_verbs,
    short_page,
    short_page_verbs,
    verbs_by_sql,
)
from planner.parse.saved_plans import save_plan
from planner.server.access import Access
from planner.server.core.answers import RESULT, STEP_RESULT
from planner.server.core.tools import CORE
from planner.server.operations import Operations
from planner.server.protocol.mcp_server import make_server

sys.path.insert(0, str(Path(__file__).parent))
from mcp import Client
from serving import over_stdio, text_of

FIXED = 2_950
"""Characters that a client gets before its first call, at most: its tools and instructions."""
ROWS = [{"who": f"person {number % 7}", "price": number, "note": "x" * 30} for number in range(300)]


class Door:
    """Calls the tools of the small door as a model does."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def text(self, tool: str, **arguments: Any) -> str:
        """Return what a tool answers, as it is read."""
        answer = await self.client.call_tool(tool, arguments)
        text = text_of(answer.content[0])
        assert not answer.is_error, text
        assert answer.structured_content is None
        return text

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Return the JSON that a tool answers."""
        return json.loads(await self.text(tool, **arguments))

    async def wrong(self, tool: str, **arguments: Any) -> str:
        """Return the sentence by which a tool refuses."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, answer
        return text_of(answer.content[0])


def play(space: Space, scene: Any, access: Access | None = None, **client: Any) -> Any:
    """Let a planner play a scene at the small door."""

    async def go() -> Any:
        door = Operations(space, access or Access("ann"))
        try:
            async with Client(make_server(door), **client) as made:
                return await scene(Door(made))
        finally:
            await door.close()

    return asyncio.run(go())


class Words:
    """A server that answers in the ways that servers do: wrapped, as JSON in a text, as plain text."""

    server = "words"
    answers: ClassVar = {
        "wrapped": ToolAnswer([{"type": "text", "text": "[1, 2]"}], {"result": [{"n": 1}, {"n": 2}]}),
        "written": ToolAnswer([{"type": "text", "text": '{"rows": [{"n": 1}, {"n": 2}], "next": null}'}]),
        "plain": ToolAnswer([{"type": "text", "text": "one\ntwo"}]),
        "broken": ToolAnswer([{"type": "text", "text": "{no json"}]),
    }
    wraps: ClassVar = {"type": "object", "properties": {"result": {"type": "array", "items": {"type": "object"}}}}

    def tools(self) -> list[Tool]:
        """Its tools: they change nothing."""
        return [
            Tool(
                self.server,
                name,
                f"Says something {name}. And more.",
                {"type": "object", "properties": {"n": {"type": "integer", "default": 3}, "city": {"type": "string"}}},
                self.wraps if name == "wrapped" else None,
                read_only=True,
                destructive=False,
            )
            for name in self.answers
        ]

    def find(self, name: str) -> Tool | None:
        """The tool of a name."""
        return next((tool for tool in self.tools() if tool.name == name), None)

    async def current(self, tool: Tool) -> Tool:
        """It does not change."""
        return tool

    async def call(self, tool: Tool, arguments: Any, timeout_s: float | None = None) -> ToolAnswer:
        """Answer in its way."""
        del arguments, timeout_s
        return self.answers[tool.name]


# What it weighs


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_a_client_gets_before_its_first_call_is_short(space: Space, mode: str) -> None:
    async def scene(door: Door) -> int:
        listed = (await door.client.list_tools()).model_dump_json(by_alias=True, exclude_none=True)
        return len(listed) + len(door.client.instructions or "")

    assert 2_000 < play(space, scene, mode=mode) <= FIXED


def test_the_list_of_tools_is_the_same_bytes_from_call_to_call_and_start_to_start(space: Space, tmp_path: Path) -> None:
    async def scene(door: Door) -> set[str]:
        found = set()
        for number in range(3):
            found.add((await door.client.list_tools()).model_dump_json(by_alias=True))
            await door.call("run", plan=[{"type": "create-note", "value": number, "name": f"n{number}"}])
        return found

    async def served() -> str:
        async with over_stdio(tmp_path / "other.db", arguments=("--tools", "core")) as planner:
            return (await planner.client.list_tools()).model_dump_json(by_alias=True, exclude={"meta"})

    assert len(play(space, scene) | play(space, scene)) == 1
    assert asyncio.run(served()) == asyncio.run(served())


def test_the_sets_have_the_tools_that_they_are_said_to_have(space: Space) -> None:
    async def scene(door: Door) -> list[str]:
        return [tool.name for tool in (await door.client.list_tools()).tools]

    meta = ["search_tools", "list_tools", "describe_tool", "execute_tool", "get_tool_categories", "get_similar_tools"]
    assert play(space, scene) == ["find", "run", "step", "follow", "read"] == [*CORE]
    assert play(space, scene, Access("ann", tools=("meta",))) == meta
    both = play(space, scene, Access("ann", tools=("meta", "core")))
    assert both == [*CORE, *meta]
    assert len(play(space, scene, Access("ann", tools=("core", "full")))) == 21


def test_a_tool_of_another_set_is_not_there(space: Space) -> None:
    from mcp.shared.exceptions import MCPError

    async def scene(door: Door) -> None:
        for name in ("run_plan", "search_tools", "discover_notes"):
            with pytest.raises(MCPError, match="there are find, run, step, follow, read"):
                await door.client.call_tool(name, {})

    play(space, scene)


HELP = Path(__file__).parents[3] / "tui" / "help" / "agents.md"


@pytest.mark.parametrize("name", ["core", "meta", "full", "compat"])
def test_the_documentation_says_what_a_set_weighs(space: Space, name: Any) -> None:
    """To a hundred characters or two."""

    async def scene(door: Door) -> int:
        listed = (await door.client.list_tools()).model_dump_json(by_alias=True, exclude_none=True)
        return len(listed) + len(door.client.instructions or "")

    [told] = re.findall(rf"^\| `{name}`.*\| ([\d,]+) \|$", HELP.read_text(encoding="utf-8"), re.MULTILINE)
    assert abs(int(told.replace(",", "")) - play(space, scene, Access("ann", tools=(name,)))) <= 200


# The language


def test_the_language_comes_in_one_call_on_one_page(space: Space) -> None:
    page = play(space, lambda door: door.text("find"))
    assert page == short_page(space.catalogue)
    assert len(page) <= LONGEST_SHORT == 1_850


def test_the_whole_language_comes_by_its_name(space: Space) -> None:
    page = play(space, lambda door: door.text("find", names=["language"]))
    assert page == language_page(space.catalogue)
    assert len(page) <= LONGEST == 4_000


def test_the_short_page_names_what_it_does_not_explain(space: Space) -> None:
    """Each verb and form of the whole page stands there, and each name that it sends to `find` is described."""
    short = short_page(space.catalogue)
    [more] = [line for line in short.splitlines() if line.startswith("More by name")]
    names = re.findall(r"[a-z-]+", more.partition(":")[2].partition(";")[0])
    assert {*names} | {*short_page_verbs()} | verbs_by_sql() == {*page_verbs()} | {"coerce"}
    assert not {*names} & {*short_page_verbs()}
    assert not verbs_by_sql() & {*names, *short_page_verbs()}

    async def scene(door: Door) -> str:
        return await door.text("find", names=names[:30])

    assert "there is no primitive" not in play(space, scene)


@pytest.mark.parametrize("page", [page_verbs, short_page_verbs])
def test_the_page_names_verbs_with_arguments_that_they_have(space: Space, page: Any) -> None:
    """Each that has to be given but the target of a group, and none that is not there."""
    for name, takes in page().items():
        words = set(re.findall(r"[a-z_]+", re.sub(r"\"[^\"]*\"|[(\[{→].*", " ", takes)))
        if name in FORMS:
            known, needed = {*FORMS[name].required, *FORMS[name].optional, "out"}, {*FORMS[name].required}
        else:
            entry = space.catalogue.get(name)
            known = {*entry.arguments}
            needed = {one.name for one in entry.arguments.values() if one.required} - {"target"}
        told = {*re.findall(r"[a-z_]+", takes)}
        assert needed <= told, (name, needed - told)
        assert words & known or not known - {"target"}, (name, words, known)
    for name in FORMS:
        assert name in page_verbs()


def test_several_queries_are_answered_at_once_and_what_they_find_stands_there_once(space: Space) -> None:
    space.tools.add(Words())

    async def scene(door: Door) -> list[str]:
        return [
            await door.text("find", query="words/plain; words/written;words/plain", kind="tool", limit=2),
            await door.text("find", query="words/plain; qwrtz bxrk", kind="tool", limit=1),
            await door.wrong("find", query=" ; "),
        ]

    found, partly, blank = play(space, scene)
    names = [line.partition("(")[0] for line in found.splitlines()]
    assert sorted(names) == sorted({*names})
    assert {"words/plain", "words/written"} <= {*names}
    assert "words/plain" in partly
    assert "no tool fits 'qwrtz bxrk'" in partly
    assert "blank" in blank


def test_what_several_tools_answer_alike_is_told_once(space: Space) -> None:
    class Graph(Words):
        server = "graph"
        wraps: ClassVar = {
            "type": "object",
            "properties": {
                "entities": {"type": "array", "items": {"type": "string"}},
                "is_complete": {"type": "boolean"},
            },
            "required": ["entities", "is_complete"],
        }

        def tools(self) -> list[Tool]:
            return [
                Tool(self.server, name, f"Reads {name}.", {"type": "object"}, self.wraps, read_only=True)
                for name in ("people", "places")
            ]

    space.tools.add(Graph())
    found = play(space, lambda door: door.text("find", query="graph/people; graph/places", kind="tool", limit=1))
    one, other = found.splitlines()
    assert one.startswith("graph/people() -> {entities: list: text, is_complete: boolean}. ")
    assert other.startswith("graph/places() -> as graph/people. ")


def test_what_the_page_says_of_values_and_expressions_holds(space: Space) -> None:
    """Each sentence that left a model in doubt, run."""
    plan = [
        {"type": "create-collection", "value": [3, 1, 2], "out": "$c"},
        {"type": "sort", "target": "$c", "by": ["content desc"], "out": "$sorted"},
        {"type": "create-note", "value": {"rows": [{"a": 1, "tags": ["x", "y"]}, {"a": None}]}, "out": "$n"},
        {"type": "query", "sql": "SELECT r.a AS a FROM $n.rows r WHERE r.a > 0", "out": "$q"},
        {"type": "query", "sql": "SELECT t AS tag FROM $n.rows r, UNNEST(r.tags) AS t", "out": "$tags"},
        {
            "type": "if",
            "condition": "$n.rows[0].a = 1",
            "then": [{"type": "create-note", "value": "in", "out": "$inner"}],
            "else": [{"type": "create-note", "value": "out", "out": "$inner"}],
        },
        {
            "type": "for-each",
            "target": "$c",
            "as": "$i",
            "collect": "$d",
            "out": "$round",
            "until": "$d > 1",
            "do": [{"type": "compute", "expression": "$i * 1", "out": "$d"}],
        },
        {"type": "create-note", "value": "a\nb", "out": "$text"},
        {"type": "split", "target": "$text", "delimiter": "line", "out": "$lines"},
        {
            "type": "create-note",
            "out": "$all",
            "value": {
                "sorted": "$sorted[-1]",
                "q": "$q[0].a",
                "tags": "$tags[1].tag",
                "inner": "$inner",
                "lines": "$lines[1]",
            },
        },
        {
            "type": "compute",
            "out": "$f",
            "expression": "format(1234.5, 2) || ' ' || length($n.rows) || weekday('2026-11-23') || substr('abc', 1, 2)",
        },
        {"type": "create-note", "value": {"all": "$all", "f": "$f", "round": "$round"}, "out": "$end"},
    ]
    told = play(space, lambda door: door.call("run", plan=plan))
    assert told.get("result") == {
        "all": {"sorted": 1, "q": 1, "tags": "y", "inner": "in", "lines": "b"},
        "f": "1,234.50 21ab",
        "round": [3],
    }, told


def test_what_is_asked_for_by_name_is_told_and_what_is_not_there_hides_nothing(space: Space) -> None:
    save_plan(space, "two", {"goal": "Make two.", "steps": [{"type": "create-note", "value": 2}]})

    async def scene(door: Door) -> tuple[str, str]:
        found = await door.text("find", names=["sort", "pages", "conditions", "plan:two", "pluk"])
        return found, await door.wrong("find", names=["pluk", "nothing/at_all"])

    found, wrong = play(space, scene)
    for part in (
        "sort(",
        "priority desc",
        "page_info.end_cursor",
        "matches_pattern",
        "Make two.",
        "did you mean 'pluck'",
    ):
        assert part in found, part
    assert "pluk" in wrong
    assert "nothing/at_all" in wrong


def test_by_goal_come_the_tools_verbs_and_plans_that_fit_and_nothing_else(space: Space) -> None:
    space.tools.add(Words())
    save_plan(space, "weekly digest", {"goal": "Digest of the week.", "steps": [{"type": "create-note", "value": 2}]})

    async def scene(door: Door) -> list[str]:
        return [
            await door.text("find", query="sort a collection by a field"),
            await door.text("find", query="digest of the week", kind="plan"),
            await door.text("find", query="words/plain"),
            await door.text("find", query="WRAPPED", kind="tool", limit=1),
        ]

    by_verb, by_plan, exact, folded = play(space, scene)
    assert by_verb.startswith("sort (target*")
    assert len(by_verb) < 700
    assert by_plan.startswith("plan:weekly digest()")
    assert exact.startswith("words/plain(n: int = 3, city?: str)")
    assert folded == "words/wrapped(n: int = 3, city?: str) -> list: object. Says something wrapped"


def test_a_tool_that_does_not_say_what_it_answers_is_remembered_by_what_it_answered(space: Space) -> None:
    space.tools.add(Words())

    async def scene(door: Door) -> tuple[str, str]:
        before = await door.text("find", query="words/written", kind="tool", limit=1)
        await door.call("run", plan=[{"type": "words/written", "arguments": {"n": 1}, "out": "$x"}])
        return before, await door.text("find", query="words/written", kind="tool", limit=1)

    before, after = play(space, scene)
    assert "->" not in before
    assert "-> {rows: list: {n: integer}, next: null}" in after


def test_how_a_text_began_that_a_tool_answered_stands_in_its_line_where_it_fits_best(space: Space) -> None:
    space.tools.add(Words())

    async def scene(door: Door) -> tuple[str, str]:
        await door.call("run", plan=[{"type": "words/plain", "arguments": {"n": 1}, "out": "$x"}])
        first = await door.text("find", query="words/plain", kind="tool", limit=3)
        return first, await door.text("find", query="words/written", kind="tool", limit=3)

    first, later = play(space, scene)
    assert '-> text of 7 characters in 2 lines that began "one\\ntwo". ' in first
    assert "that began" not in later
    assert "words/plain" in later


# Answers


def six_steps(result: str = "$done") -> dict[str, Any]:
    """A plan of six steps over 300 rows."""
    return {
        "steps": [
            {"type": "create-collection", "value": ROWS, "out": "$rows"},
            {"type": "filter-structured", "target": "$rows", "where": "price > 10", "out": "$some"},
            {"type": "group", "target": "$some", "by": ["who"], "aggregates": {"n": "count"}, "out": "$groups"},
            {"type": "sort", "target": "$groups", "by": ["n desc", "who"], "out": "$sorted"},
            {"type": "head", "target": "$sorted", "count": 2, "out": "$done"},
            {"type": "size", "target": "$rows", "out": "$n"},
        ],
        "result": result,
    }


def test_a_run_answers_its_result_once_and_little_else(space: Space) -> None:
    async def scene(door: Door) -> tuple[str, str, str]:
        one = await door.text("run", plan=[{"type": "compute", "expression": "1 + 1", "out": "$x"}])
        return one, await door.text("run", plan=six_steps()), await door.text("run", plan=six_steps("$rows"))

    one, six, long = play(space, scene)
    assert len(one) - len("2") <= 250
    assert json.loads(one)["result"] == 2
    assert len(six) <= 500
    assert [row["n"] for row in json.loads(six)["result"]] == [42, 42]
    told = json.loads(long)
    assert len(long) <= 500
    assert "result" not in told
    assert told["shape"] == "list of 300: {who: text, price: integer, note: text}"
    assert told["example"] == ROWS[0]
    assert told["ref"].startswith("Collection_")
    assert "never-read" not in one + six + long


def test_a_refused_plan_with_four_errors_says_all_in_few_characters(space: Space) -> None:
    plan = [
        {"type": "discover-note", "query": "x", "out": "$x"},
        {"type": "sort", "target": "$y", "by": "a"},
        {"type": "head", "target": "$x", "cont": 3},
        {"type": "pluk", "target": "$x", "field": "text"},
    ]
    text = play(space, lambda door: door.text("run", plan=plan))
    told = json.loads(text)
    assert (told["status"], len(told["problems"])) == ("refused", 4)
    assert len(text) <= 700
    assert told["problems"][0]["put"] == "discover-notes"
    checked = play(space, lambda door: door.call("run", plan=plan, check=True))
    assert checked == {"ok": False, "problems": told["problems"]}


def test_a_failed_step_is_told_once_with_what_failed_in_it(space: Space) -> None:
    plan = [
        {"type": "create-collection", "value": [{"a": 1}, {"a": "x"}], "out": "$c"},
        {
            "type": "for-each",
            "target": "$c",
            "as": "$i",
            "do": [{"type": "compute", "expression": "$i.a + 1", "out": "$n"}],
        },
    ]
    text = play(space, lambda door: door.text("run", plan=plan))
    told = json.loads(text)
    assert told["status"] == "failed"
    [failed] = told["failed"]
    assert failed["step"] == "2.do[2].1"
    assert text.count("computes with text and number") == 1
    assert "reason" not in told


def test_steps_say_what_they_bound_anew_and_give_the_result_once(space: Space) -> None:
    async def scene(door: Door) -> list[Any]:
        first = [{"type": "create-collection", "value": ROWS, "out": "$rows"}]
        second = [
            {"type": "group", "target": "$rows", "by": ["who"], "out": "$groups"},
            {"type": "size", "target": "$groups", "out": "$n"},
        ]
        return [
            await door.call("step", session="s", steps=first),
            await door.call("step", session="s", steps=second),
            await door.call("step", session="s"),
        ]

    one, two, bound = play(space, scene)
    assert one["out"] == "$rows"
    assert one["shape"].startswith("list of 300: {")
    assert "bound" not in one
    assert (two["result"], two["out"]) == (7, "$n")
    assert two["bound"] == {"$groups": "Collection of 7: {who: text, n: integer}"}
    assert bound["bound"].keys() == {"$rows", "$groups", "$n"}


def test_what_is_cut_says_how_to_go_on(space: Space) -> None:
    text = "word " * 3_000

    async def scene(door: Door) -> tuple[Any, Any]:
        told = await door.call("run", plan=[{"type": "create-note", "value": text, "out": "$t"}])
        return told, await door.call("read", ref=told["ref"])

    told, piece = play(space, scene)
    assert told["shape"] == "text of 15,000 characters"
    assert text.startswith(told["begins"].rstrip("…"))
    assert piece["next"] == "4000:15000"
    assert RESULT > STEP_RESULT


def test_json_in_a_text_and_values_that_a_server_wraps_are_read_and_said_to_be(space: Space) -> None:
    """The check knows of the wrapping, and a replay reads the same."""
    from planner.lifecycle.replay import replay

    space.tools.add(Words())
    plan = [
        {"type": "words/written", "out": "$a"},
        {"type": "sort", "target": "$a.rows", "by": "n desc", "out": "$rows"},
        {"type": "words/wrapped", "out": "$b"},
        {"type": "pluck", "target": "$b", "field": "n", "out": "$numbers"},
        {"type": "words/plain", "out": "$c"},
        {"type": "words/broken", "out": "$d"},
        {
            "type": "if",
            "condition": "$b[0].n = 1 AND $c = 'one\ntwo'",
            "then": [
                {"type": "create-note", "value": {"rows": "$rows", "numbers": "$numbers", "d": "$d"}, "out": "$all"}
            ],
        },
    ]

    async def scene(door: Door) -> tuple[Any, Any]:
        done = await door.call("run", plan=plan)
        return done, await door.call("read", ref=done["run"], fields=["steps"], max_chars=50_000)

    done, record = play(space, scene)
    assert done["result"] == {"rows": [{"n": 2}, {"n": 1}], "numbers": [1, 2], "d": "{no json"}
    extras = [step["extra"] for step in record["data"]["steps"]]
    assert [one.get("read_as") or one.get("unwrapped") for one in extras[:6:2]] == ["json", "result", None]
    again = asyncio.run(replay(space, done["run"]))
    assert again.result.result is not None
    assert again.result.result.data == done["result"]
    refused = play(
        space,
        lambda door: door.call(
            "run",
            plan=[{"type": "words/wrapped", "out": "$b"}, {"type": "compute", "expression": "$b.result", "out": "$x"}],
        ),
    )
    assert refused["status"] == "refused"


# No way lost


def test_runs_are_listed_followed_answered_cancelled_and_forked(space: Space) -> None:
    asking = {
        "goal": "ask",
        "steps": [
            {"type": "create-note", "value": {"n": 1}, "out": "$first"},
            {"type": "ask", "value": "Which?", "schema": {"type": "integer"}, "out": "$answer"},
            {"type": "compute", "expression": "$answer + $first.n", "out": "$sum"},
        ],
        "result": "$sum",
    }

    async def scene(door: Door) -> None:
        waits = await door.call("run", plan=asking)
        run = waits["run"]
        assert waits["status"] == "suspended"
        assert waits["asks"] == [{"step": "2", "kind": "ask", "question": "Which?", "schema": {"type": "integer"}}]
        [listed] = (await door.call("follow"))["runs"]
        assert (listed["run"], listed["status"], listed["goal"]) == (run, "suspended", "ask")
        assert "names the step" in await door.wrong("follow", run=run, value=4)
        done = await door.call("follow", run=run, step="2", value=4)
        assert (done["status"], done["result"]) == ("success", 5)
        forked = await door.call(
            "follow",
            run=run,
            do="fork",
            step="3",
            patch=[{"op": "replace", "path": "/steps/2/expression", "value": "$answer * 10"}],
        )
        assert (forked["status"], forked["result"]) == ("success", 40)
        assert forked["run"] != run
        assert len((await door.call("follow", run=run, do="steps"))["steps"]) == 3
        other = await door.call("run", plan=asking)
        assert (await door.call("follow", run=other["run"], do="cancel"))["status"] == "cancelled"
        assert "undo" in await door.wrong("follow", run=other["run"], do="cancel")

    play(space, scene)


def test_a_poll_tells_what_is_new_and_which_step_runs(space: Space) -> None:
    slow = [
        {"type": "create-collection", "value": [1, 2, 3], "out": "$c"},
        {"type": "size", "target": "$c", "out": "$n"},
        {"type": "wait", "seconds": 60},
    ]

    async def scene(door: Door) -> tuple[Any, Any]:
        begun = await door.call("run", plan=slow, wait_s=0)
        look = await door.call("follow", run=begun["run"], wait_s=0)
        while not look.get("running", [""])[0].startswith("3 ") or len(look.get("new", ())) < 2:
            look = await door.call("follow", run=begun["run"], wait_s=0.05)
        again = await door.call("follow", run=begun["run"], after=look["seen"])
        return look, again

    look, again = play(space, scene)
    assert look["running"] == ["3 wait"]
    assert look["new"] == ["1 create-collection: Collection of 3: integer", "2 size: integer"]
    assert "new" not in again
    assert len(dump(again)) <= 120


def test_nobody_is_told_to_type_a_command(space: Space) -> None:
    async def scene(door: Door) -> list[str]:
        run = (await door.call("run", plan=[{"type": "create-note", "value": 1, "out": "$x"}]))["run"]
        return [
            await door.wrong("follow", run=run, step="1", value=2),
            await door.wrong("follow", run=run, do="resume"),
            await door.wrong("follow", run=run, do="fork"),
            await door.wrong("follow", run="run_99"),
            await door.text("run", plan="plan:nothing"),
            await door.wrong("step", session="nobody"),
            await door.wrong("read", ref="run_88"),
        ]

    for sentence in play(space, scene):
        assert "infospace " not in sentence, sentence
        assert not any(name in sentence for name in ("run_plan", "get_run", "answer_run", "run_steps")), sentence


def test_what_a_killed_server_left_is_listed_resumed_and_its_call_in_doubt_asked(tmp_path: Path) -> None:
    """The call may have had its effect: that is for people to say, and the planner is told so."""
    server = tmp_path / "slow.py"
    server.write_text(
        "import asyncio, os, pathlib\nfrom mcp.server import MCPServer\nserver = MCPServer('slow')\n"
        "@server.tool()\nasync def act(file: str) -> str:\n    'Do it slowly.'\n    pathlib.Path(file).touch()\n"
        "    await asyncio.sleep(60)\n    return 'done'\nserver.run()\n"
    )
    mcp = tmp_path / "mcp.json"
    mcp.write_text(
        json.dumps({"mcpServers": {"slow": {"command": sys.executable, "args": [str(server)], "autoApprove": ["act"]}}})
    )
    space, mark = tmp_path / "space.db", tmp_path / "began"
    base = [sys.executable, "-m", "tui.command", "--space", str(space)]
    subprocess.run([*base, "tools", "sync", "--mcp", str(mcp)], check=True, capture_output=True)
    plan = {"goal": "act", "steps": [{"type": "slow/act", "arguments": {"file": str(mark)}, "out": "$x"}]}

    async def begin() -> None:
        async with over_stdio(space, noted=tmp_path / "pid", arguments=("--tools", "core")) as planner:
            asyncio.get_running_loop().create_task(planner.client.call_tool("run", {"plan": plan, "wait_s": 0}))
            end = time.monotonic() + 60
            while not mark.exists() and time.monotonic() < end:  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.05)
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)

    async def resume() -> tuple[Any, Any]:
        async with over_stdio(space, arguments=("--tools", "core")) as planner:
            door = Door(planner.client)
            [left] = (await door.call("follow"))["runs"]
            return left, await door.call("follow", run=left["run"], do="resume")

    try:
        asyncio.run(begin())
    except BaseException:  # noqa: BLE001 - the connection breaks with the server, in whatever way
        assert mark.exists()
    end = time.monotonic() + 60
    left, told = asyncio.run(resume())
    while told["status"] == "running" and time.monotonic() < end:
        left, told = asyncio.run(resume())
    assert left["goal"] == "act"
    [asked] = told["asks"]
    assert (told["status"], asked["kind"], asked["answered_by"]) == ("suspended", "doubt", "people, not you")
    assert "slow/act" in asked["question"]


def test_a_running_server_sees_what_another_process_saved_and_synced(tmp_path: Path) -> None:
    """At its next call: a saved plan, a note, and the tools of a server that was never there before."""
    space, plan, mcp = tmp_path / "space.db", tmp_path / "plan.json", tmp_path / "mcp.json"
    base = [sys.executable, "-m", "tui.command", "--space", str(space)]
    plan.write_text(json.dumps([{"type": "create-note", "value": 3, "name": "three", "out": "$x"}]))
    mcp.write_text(json.dumps({"mcpServers": {"time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]}}}))

    def run(*words: str) -> None:
        subprocess.run([*base, *words], check=True, capture_output=True)

    async def scene() -> tuple[str, str, str, Any, Any]:
        async with over_stdio(space, arguments=("--tools", "core")) as planner:
            door = Door(planner.client)
            before = await door.text("find", query="convert_time", kind="tool")
            await asyncio.to_thread(run, "plans", "save", "make three", str(plan))
            await asyncio.to_thread(run, "tools", "sync", "--mcp", str(mcp))
            after = await door.text("find", query="convert_time", kind="tool", limit=1)
            saved = await door.text("find", names=["plan:make three"])
            made = await door.call("run", plan="plan:make three")
            return before, after, saved, made, await door.call("read", ref="three")

    before, after, saved, made, read = asyncio.run(scene())
    assert "time/convert_time" not in before
    assert after.startswith("time/convert_time(")
    assert "create-note" in saved
    assert (made["result"], read["data"]) == (3, 3)


def test_json_that_a_tool_answers_as_a_text_in_an_object_is_told_by_its_shape(space: Space) -> None:
    """So the step that reads it as JSON, and the one after it, can be written without looking at it."""
    text = dump(ROWS)
    steps = [{"type": "create-note", "value": {"content": text}, "out": "$file"}]

    async def scene(door: Door) -> tuple[Any, Any]:
        first = await door.call(
            "step", session="s", steps=[*steps, {"type": "create-note", "value": {"content": "[" * 999}}]
        )
        return first, await door.call("run", plan=steps)

    first, told = play(space, scene)
    shape = "{content: JSON text, list of 300: {who: text, price: integer, note: text}}"
    assert first["bound"] == {"$file": shape}
    assert told["shape"] == shape
    assert told["begins"]["content"].startswith('[{"who":')
    assert len(dump(told)) < 350


def test_a_name_that_no_note_has_is_told_beside_the_empty_answer(space: Space) -> None:
    """Else a misspelt property looks like an answer without hits."""
    note = {"type": "create-note", "value": "x", "metadata": {"status": "open"}, "name": "a"}
    assert run_sync(space, [note]).status == "success"
    plan = {"steps": [{"type": "query", "sql": "SELECT statsu FROM notes", "out": "$q"}], "result": "$q"}

    async def scene(door: Door) -> Any:
        return await door.call("run", plan=plan)

    answer = play(space, scene)
    assert answer["status"] == "success"
    (doubt,) = answer["problems"]
    assert doubt["warning"] is True
    assert "statsu" in doubt["problem"]
