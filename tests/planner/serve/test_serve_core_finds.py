"""Finding at the small door: exact names in any script, what is down or not there, what a condition left out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.core.tool import Tool, ToolAnswer
from planner.execute.start import run_sync

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
from served import odd, synced, write
from test_serve_core import Door, play

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
    assert "one/" not in problem["hint"]
    assert "down" not in problem["hint"]


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
