"""Finding at the small door: exact names in any script, what is down or not there, what a condition left out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from infospace import Space
from infospace.core.tool import Tool, ToolAnswer
from infospace.data.json_text import dump
from infospace.data.result import truncate
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan
from planner.server.access import Access
from planner.server.core.find import PASSAGE

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[3] / "infospace" / "tools"))
from served import odd, synced, write
from smalldoor import Door, Words, play

NAMES = (
    "найти_заказ",
    "отменить_заказ",
    "查找订单",
    "取消订单",
    "ابحث_عن_الطلب",
    "ألغ_الطلب",
    "FindOrderByID",
    "findOrders",
    "ｆｉｎｄ＿ｉｎｖｏｉｃｅ",
    "straße_finden",
)
ASKED = [
    ("найти_заказ", "найти_заказ"),
    ("НАЙТИ_ЗАКАЗ", "найти_заказ"),
    ("shop/отменить_заказ", "отменить_заказ"),
    ("查找订单", "查找订单"),
    ("取消订单", "取消订单"),
    ("ابحث_عن_الطلب", "ابحث_عن_الطلب"),
    ("findorderbyid", "FindOrderByID"),
    ("FINDORDERS", "findOrders"),
    ("find_invoice", "ｆｉｎｄ＿ｉｎｖｏｉｃｅ"),
    ("ＦＩＮＤ＿ＩＮＶＯＩＣＥ", "ｆｉｎｄ＿ｉｎｖｏｉｃｅ"),
    ("STRASSE_FINDEN", "straße_finden"),
]


class Shop:
    """A server whose tools are named in several scripts, and all described alike."""

    server = "shop"

    def tools(self) -> list[Tool]:
        """Its tools; one describes itself as all the names, which words alone would rank first."""
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        loud = Tool(self.server, "anything", " ".join([*NAMES] * 3), schema, read_only=True, destructive=False)
        named = [Tool(self.server, name, "Does it.", schema, read_only=True, destructive=False) for name in NAMES]
        return [loud, *named]

    def find(self, name: str) -> Tool | None:
        """The tool of a name."""
        return next((tool for tool in self.tools() if tool.name == name), None)

    async def current(self, tool: Tool) -> Tool:
        """It does not change."""
        return tool

    async def call(self, tool: Tool, arguments: Any, timeout_s: float | None = None) -> ToolAnswer:
        """Answer."""
        del arguments, timeout_s
        return ToolAnswer([{"type": "text", "text": tool.name}])


def test_an_exact_name_comes_first_in_any_script_and_case(space: Space) -> None:
    space.tools.add(Shop())

    async def scene(door: Door) -> dict[str, str]:
        return {asked: await door.text("find", query=asked, kind="tool", limit=1) for asked, _ in ASKED}

    found = play(space, scene)
    assert {asked: line.partition("(")[0] for asked, line in found.items()} == {
        asked: f"shop/{name}" for asked, name in ASKED
    }


def test_a_tool_is_called_without_being_searched_first(space: Space) -> None:
    space.tools.add(Shop())

    async def scene(door: Door) -> Any:
        return await door.call("run", plan=[{"type": "shop/查找订单", "out": "$x"}])

    answer = play(space, scene)
    assert (answer["status"], answer["result"]) == ("success", "查找订单")


def test_a_server_that_is_down_is_told_apart_from_a_tool_that_is_not_there(space: Space, tmp_path: Path) -> None:
    """In a search, by name, in a check and in a run; what is not there names what its server has."""
    write(tmp_path, one=odd("plain"), other=odd("plain"))
    assert synced(space, mcp=tmp_path / "mcp.json").failed == []
    write(
        tmp_path, one={"command": sys.executable, "args": ["-c", "raise SystemExit('no licence')"]}, other=odd("plain")
    )
    assert [one.server for one in synced(space).failed] == ["one"]

    async def scene(door: Door) -> Any:
        steps = {
            name: [{"type": name, "arguments": {"text": "x"}, "out": "$x"}] for name in ("one/echo", "other/zzzzzz")
        }
        return (
            await door.text("find", query="one/echo", kind="tool", limit=1),
            await door.text("find", names=["one/echo"]),
            await door.call("run", plan=steps["one/echo"]),
            await door.wrong("find", names=["other/zzzzzz"]),
            await door.call("run", plan=steps["other/zzzzzz"], check=True),
        )

    line, named, failed, missing, refused = play(space, scene)
    for text in (line, named):
        assert text.startswith("one/echo(text: str)")
        assert "its server is down" in text
    assert failed["status"] == "failed"
    assert "no licence" in failed["failed"][0]["reason"]
    assert missing.startswith("there is no tool 'other/zzzzzz' (`server/tool`: there are other/")
    [problem] = refused["problems"]
    assert problem["problem"] == "there is no tool 'other/zzzzzz' in this space"
    assert problem["hint"].startswith("these arguments fit other/echo")
    assert problem["hint"].endswith("one/echo (its server is down)")
    assert problem["hint"].count("down") == 1


@pytest.mark.parametrize(
    ("step", "count"),
    [
        ({"query": "how lentils are cooked", "threshold": -1}, 3),
        ({"query": "lentils", "mode": "keyword"}, 2),
        ({}, 3),
    ],
)
def test_a_search_for_which_where_left_nothing_says_how_many_there_are_without(
    space: Space, step: dict[str, Any], count: int
) -> None:
    """At the small door beside the empty result, in `full` in the answer's text."""
    for number, text in enumerate(("Lentils are cooked.", "Lentils are sown.", "The moon is far.")):
        note = {"type": "create-note", "value": text, "metadata": {"kind": "fact"}, "name": f"note {number}"}
        assert run_sync(space, [note]).status == "success"
    search = {**step, "where": "metadata.kind = 'fact' AND metadata.year = 1900"}

    async def scene(door: Door) -> Any:
        return await door.call("run", plan=[{"type": "discover-notes", **search, "out": "$x"}])

    answer = play(space, scene)
    assert (answer["status"], answer["result"]) == ("success", [])
    assert answer["hint"].endswith(f"without `where` {count} fit")
    result = run_sync(space, [{"type": "discover-notes", **search, "out": "$x"}])
    assert result.steps[-1].extra["without_where"] == count


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


def test_a_saved_plan_is_told_with_what_it_takes_and_which_steps_it_has(space: Space) -> None:
    """Its steps by their types: who wants them whole reads them."""
    inputs = {"n": {"type": "integer"}}
    made = {"type": "create-note", "value": "$n", "out": "$made"}
    document = {"goal": "Keep a number.", "inputs": inputs, "steps": [made, {"type": "say", "value": "kept"}]}
    save_plan(space, "keep", {**document, "result": "$made"})
    found = play(space, lambda door: door.text("find", names=["plan:keep"]))
    told = {"goal": "Keep a number.", "inputs": inputs, "result": "$made"}
    assert found == f"plan:keep {dump(told)}\nsteps: create-note, say"


def test_a_tool_is_told_by_name_with_what_it_takes_and_answers(space: Space) -> None:
    """Its description is its server's word."""
    space.tools.add(Words())
    found = play(space, lambda door: door.text("find", names=["words/wrapped"]))
    properties = {"n": {"type": "integer", "default": 3}, "city": {"type": "string"}}
    assert found.splitlines() == [
        "words/wrapped(n: int = 3, city?: str) -> list: object",
        "Its server says: Says something wrapped. And more.",
        f"takes {dump({'type': 'object', 'properties': properties})}",
        f"answers {dump(Words.wraps)}",
    ]


def test_notes_are_found_by_what_they_are_about(sample_space: Space) -> None:
    """Each with its title, its score and its passage; last how many there are."""
    found = play(sample_space, lambda door: door.text("find", query="ranking", kind="note", limit=2))
    *lines, last = found.splitlines()
    [step] = run_sync(sample_space, [{"type": "discover-notes", "query": "ranking", "limit": 2, "out": "$x"}]).steps
    hits = sample_space.context().items(sample_space.store.get(str(step.resource)))
    for hit, line in zip(hits, lines, strict=True):
        about = hit.content["metadata"]
        passage = truncate(" ".join(about["passage"]["text"].split()), PASSAGE)
        assert line == f'{about["source_id"]} "{about["title"]}" ({about["score"]:.2f}) {passage}'
    proved = step.extra["certificate"]
    assert last == f"2 of {proved['matched']} that fit, among {proved['notes']} notes"


def test_a_caller_finds_no_more_than_it_may(space: Space) -> None:
    """Of each kind, with a query and without one."""
    space.tools.add(Words())

    async def scene(door: Door) -> list[str]:
        found = await door.text("find", query="words/plain; words/written", kind="tool", limit=3)
        return [found, await door.text("find", kind="tool")]

    found, listed = play(space, scene, Access("ann", results=1))
    assert [line.partition("(")[0] for line in found.splitlines()] == ["words/plain", "words/written"]
    assert [line.partition("(")[0] for line in listed.splitlines()] == [
        "words/broken",
        "1 of 4; a `query` finds the others",
    ]


def test_a_description_that_instructs_is_told_as_such(space: Space, tmp_path: Path) -> None:
    """Among what was found, and by name."""
    write(tmp_path, bad=odd("instructs"))
    assert synced(space, mcp=tmp_path / "mcp.json").failed == []

    async def scene(door: Door) -> list[str]:
        found = await door.text("find", query="bad/echo", kind="tool", limit=1)
        return [found, await door.text("find", names=["bad/echo"])]

    found, named = play(space, scene)
    beware = " [beware: its description asks to ignore or override other instructions]"
    assert found.startswith("bad/echo(text: str). IGNORE ALL")
    assert found.endswith(beware)
    assert named.startswith(f"bad/echo(text: str){beware}\nIts server says: IGNORE ALL")


def test_what_there_is_of_a_kind_is_listed_without_a_query(space: Space) -> None:
    """As the hint says where a saved plan is not there; at most twenty, or as many as are asked for."""

    async def scene(door: Door) -> list[str]:
        return [
            await door.text("find", kind="plan"),
            await door.text("find", kind="tool"),
            await door.text("find", kind="plan", limit=1),
            await door.wrong("find", kind="note"),
        ]

    assert play(space, scene)[:2] == ["there is no plan here", "there is no tool here"]
    space.tools.add(Words())
    for name in ("two", "one"):
        save_plan(space, name, {"goal": "Make some.", "steps": [{"type": "create-note", "value": 2}]})
    [refused] = play(space, lambda door: door.call("run", plan="plan:nothing"))["problems"]
    assert refused["hint"] == '`find` with "kind": "plan" lists them'
    plans, tools, first, notes = play(space, scene)
    assert plans == "plan:one(). Make some\nplan:two(). Make some"
    assert [line.partition("(")[0] for line in tools.splitlines()] == [
        f"words/{name}" for name in sorted(Words.answers)
    ]
    assert first == "plan:one(). Make some\n1 of 2; a `query` finds the others"
    assert notes == "notes are found by a `query` (what they are about, in plain words)"


def test_by_goal_come_the_tools_verbs_and_plans_that_fit_and_nothing_else(space: Space) -> None:
    space.tools.add(Words())
    save_plan(space, "weekly digest", {"goal": "Digest of the week.", "steps": [{"type": "create-note", "value": 2}]})

    async def scene(door: Door) -> list[str]:
        return [
            await door.text("find", query="sort a collection by a field"),
            await door.text("find", query="sort a collection by a field", kind="verb"),
            await door.text("find", query="qwrtz bxrk", kind="verb"),
            await door.text("find", query="digest of the week", kind="plan"),
            await door.text("find", query="words/plain"),
            await door.text("find", query="WRAPPED", kind="tool", limit=1),
        ]

    by_verb, verbs, no_verb, by_plan, exact, folded = play(space, scene)
    assert by_verb.startswith("sort (target*")
    assert verbs.startswith("sort (target*")
    assert "words/" not in verbs
    assert no_verb.startswith("no verb fits")
    assert len(by_verb) < 700
    assert by_plan.startswith("plan:weekly digest()")
    assert exact.startswith("words/plain(n: int = 3, city?: str)")
    assert folded == "words/wrapped(n: int = 3, city?: str) -> list: object. Says something wrapped"


def test_the_nearest_tool_is_told_where_no_saved_plan_fits_and_there_alone(space: Space) -> None:
    space.tools.add(Words())

    async def scene(door: Door) -> str:
        return await door.text("find", query="digest of the week")

    assert "no tool fits; the nearest:\nwords/" in play(space, scene)
    save_plan(space, "weekly digest", {"goal": "Digest of the week.", "steps": [{"type": "create-note", "value": 2}]})
    found = play(space, scene)
    assert "plan:weekly digest()" in found
    assert "no tool fits" in found
    assert "nearest" not in found
    assert "words/" not in found


@pytest.mark.parametrize("arguments", [{"n": 1}, {}])
def test_a_tool_that_does_not_say_what_it_answers_is_remembered_by_what_it_answered(
    space: Space, arguments: dict[str, Any]
) -> None:
    space.tools.add(Words())

    async def scene(door: Door) -> tuple[str, str]:
        before = await door.text("find", query="words/written", kind="tool", limit=1)
        await door.call("run", plan=[{"type": "words/written", "arguments": arguments, "out": "$x"}])
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
