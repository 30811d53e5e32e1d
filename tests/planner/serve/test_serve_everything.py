"""All servers at once behind `infospace serve`: real ones, misbehaving ones, infospace itself; clients in front."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitResult

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
from served import left, odd, write
from serving import Planner, Served, document_of, over_http, over_stdio, planners

SCRIPTS = Path(sys.executable).parent
TOKENS = {"all": "token-of-everything-0001", "files": "token-of-the-files-0002"}
FAILING = ("absent", "breaks", "dies", "hangs", "neither", "unset")
LONG = 60_000
"""Characters of a file that no client is to read."""

pytestmark = pytest.mark.slow


@dataclass
class Place:
    """A folder with a space whose servers were listed, and what its processes are known by."""

    folder: Path
    mark: str

    @property
    def space(self) -> Path:
        return self.folder / "space.db"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, node: Path) -> Iterator[Place]:
    """All servers, listed by the command."""
    folder = tmp_path_factory.mktemp("everything")
    mark = f"mark-{uuid.uuid4()}"
    home, repository = folder / mark, folder / "repository"
    home.mkdir()
    (home / "long.txt").write_text("word " * (LONG // 5))
    subprocess.run(["git", "init", "--quiet", "--initial-branch=trunk", str(repository)], check=True)
    (repository / "new.txt").write_text("new")
    real = {
        "time": {"command": str(SCRIPTS / "mcp-server-time"), "args": ["--local-timezone", "UTC"], "tags": ["clock"]},
        "git": {"command": str(SCRIPTS / "mcp-server-git")},
        "everything": {"command": str(node / "mcp-server-everything"), "trusted": True},
        "files": {"command": str(node / "mcp-server-filesystem"), "args": [str(home)]},
        "memory": {
            "command": str(node / "mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": str(home / "memory.json")},
            "trusted": True,
        },
        "inner": {
            "command": sys.executable,
            "args": ["-m", "tui.command", "--space", str(home / "inner.db"), "serve", "--tools", "full"],
        },
    }
    ours = {
        "plain": odd("plain", mark, trusted=True, timeout_s=5),
        "twin": odd("plain", mark, trusted=True),
        "fragile": odd("plain", mark, trusted=True),
        "several": odd("several", mark),
        "changing": odd("changing", mark, trusted=True),
        "instructs": odd("instructs", mark),
    }
    bad = {
        **{mode: odd(mode, mark) for mode in ("dies", "breaks")},
        "hangs": odd("hangs", mark, start_timeout_s=2),
        "absent": {"command": "no-such-command"},
        "neither": {"description": "Neither a command nor a URL."},
        "unset": odd("plain", mark, env={"KEY": "${NOBODY_SETS_THIS}"}),
    }
    write(folder, **real, **ours, **bad)
    scopes = {"default": {}, "files": {"include_servers": ["files"], "hide_underlying_tools": False}}
    tokens = [{"name": "all", "token": TOKENS["all"]}, {"name": "files", "token": TOKENS["files"], "scope": "files"}]
    (folder / "serve.json").write_text(json.dumps({"scopes": scopes, "tokens": tokens}))
    place = Place(folder, mark)
    done = infospace(place, "tools", "sync", "--json")
    assert sorted(one["server"] for one in done["failed"]) == sorted(FAILING)
    assert sorted(done["listed"]) == sorted([*real, *ours])
    again = infospace(place, "tools", "sync", "--json")
    assert (again["listed"], again["added"], again["changed"], again["removed"]) == ([], [], [], [])
    assert left(mark) == []
    yield place
    assert left(mark) == []


def infospace(place: Place, *words: str) -> Any:
    """Return what the command prints as JSON."""
    whole = [sys.executable, "-m", "tui.command", "--space", str(place.space), *words]
    done = subprocess.run(whole, capture_output=True, text=True, check=False, timeout=90)
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    return document


async def yes(_context: Any, _params: Any) -> ElicitResult:
    """Allow one call."""
    return ElicitResult(action="accept", content={"answer": "once"})


def at_stdio(place: Place, scene: Callable[[Planner], Awaitable[Any]]) -> Any:
    """Play a scene at a server of its own."""

    async def go() -> Any:
        async with over_stdio(place.space, elicitation_callback=yes) as planner:
            return await scene(planner)

    return asyncio.run(go())


@pytest.fixture
def served(place: Place) -> Iterator[Served]:
    """A server over HTTP for both tokens."""
    with over_http(place.space, "--config", str(place.folder / "serve.json"), token=None) as one:
        yield one
        assert one.end() == 0


async def call(planner: Planner, tool: str, **arguments: Any) -> Any:
    """Return what `execute_tool` answers, also of a tool that fails."""
    answer = await planner.client.call_tool("execute_tool", {"tool_name": tool, "arguments": arguments})
    return document_of(answer)


def test_from_finding_a_tool_to_a_plan_over_two_servers_and_notes(place: Place) -> None:
    """Discover, describe, execute, plan; what is long never leaves the runtime."""
    path = str(place.folder / place.mark / "long.txt")

    async def scene(planner: Planner) -> None:
        found = await planner.call("search_tools", query="read the text of a file", limit=5)
        assert "files/read_text_file" in [tool["tool_name"] for tool in found["tools"]]
        described = await planner.call("describe_tool", tool_name="files/read_text_file", include_metrics=True)
        assert described["metrics"]["execution_count"] == 0
        assert described["input_schema"]["required"] == ["path"]
        called = await planner.call("execute_tool", tool_name="files/read_text_file", arguments={"path": path})
        assert called["large"]["characters"] > LONG
        plan = {
            "steps": [
                {"type": "files/read_text_file", "arguments": {"path": path}, "out": "$file"},
                {"type": "split", "target": "$file.content", "delimiter": " ", "out": "$words"},
                {"type": "size", "target": "$words", "out": "$count"},
                {"type": "time/get_current_time", "arguments": {"timezone": "Asia/Tokyo"}, "out": "$now"},
                {
                    "type": "create-note",
                    "value": {"words": "$count", "at": "$now.datetime"},
                    "name": "count",
                    "replace": True,
                    "out": "$note",
                },
            ],
            "result": "$note",
        }
        ended = await planner.call("run_plan", plan=plan, wait_s=120)
        assert ended["status"] == "success", ended
        assert ended["result"]["data"]["words"] >= LONG // 5
        assert "+09:00" in ended["result"]["data"]["at"]
        described = await planner.call("describe_tool", tool_name="files/read_text_file", include_metrics=True)
        metrics = described["metrics"]
        assert (metrics["execution_count"], metrics["success_rate"]) == (2, 1.0)
        assert max(size for _, size in planner.read) < 12_000

    at_stdio(place, scene)
    assert left(place.mark) == []


def test_what_misbehaves_fails_alone_while_the_others_are_called(place: Place) -> None:
    """Dying, answering late, answering 50 MB, breaking off, asking back: a sentence each."""

    async def scene(planner: Planner) -> None:
        for name in ("time/get_current_time", "plain/echo", "twin/echo", "fragile/echo"):
            assert (await call(planner, name, text="x", timezone="UTC"))["status"] == "success"
        wrong = {"plain/slow": "did not answer within 5 s", "twin/flood": "more than 16 MB", "fragile/die": "has ended"}
        good = ["time/get_current_time"] * 5
        late = place.folder / "late"
        asked = [call(planner, name, timezone="UTC", until=str(late)) for name in (*wrong, *good)]
        answers = await asyncio.gather(*asked)
        late.touch()
        for answer, message in zip(answers, wrong.values(), strict=False):
            assert message in answer["reason"]
        assert [one["status"] for one in answers[len(wrong) :]] == ["success"] * 5
        for server in ("plain", "twin", "fragile"):
            assert (await call(planner, f"{server}/echo", text="again"))["content"][0]["text"] == "again"
        assert (await call(planner, "everything/get-sum", a=2, b=3))["status"] == "success"
        tiny = {"tool_name": "everything/get-tiny-image", "arguments": {}}
        picture = await planner.client.call_tool("execute_tool", tiny)
        assert "image" in [block.type for block in picture.content]
        inside = await call(planner, "inner/run_plan", plan=[{"type": "create-note", "value": "made inside"}])
        assert json.loads(inside["content"][0]["text"])["result"]["data"] == "made inside"
        assert (await call(planner, "changing/grow"))["status"] == "success"
        await _until_listed(planner, "changing/later_0")
        last = {"filters": {"servers": ["several"], "name_pattern": "^tool_"}, "page": 13, "page_size": 40}
        listed = await planner.call("list_tools", **last)
        assert (listed["total"], len(listed["tools"])) == (500, 20)
        told = (await planner.call("list_tools", filters={"servers": ["instructs"]}))["tools"][0]
        assert told["signs"]
        said = await planner.wrong("execute_tool", tool_name="dies/echo", arguments={})
        assert "ended with code 3 at its start; it said 'cannot find its configuration'" in said
        both = await planner.call("search_tools", query="echo", filters={"servers": ["plain", "twin"]})
        assert [tool["tool_name"] for tool in both["tools"]][:2] == ["plain/echo", "twin/echo"]

    at_stdio(place, scene)
    assert left(place.mark) == []


async def _until_listed(planner: Planner, name: str) -> None:
    async with asyncio.timeout(60):
        while True:
            answer = await planner.client.call_tool("describe_tool", {"tool_name": name})
            if not answer.is_error:
                return


def test_two_tokens_at_once_see_each_their_own(served: Served) -> None:
    """Lists, totals, categories, calls, plans; what is out of scope is as if it were not there."""

    async def scene() -> None:
        async with (
            planners(served, token=TOKENS["all"]) as [everything],
            planners(served, token=TOKENS["files"]) as [files],
        ):
            whole, some = await asyncio.gather(everything.call("list_tools"), files.call("list_tools"))
            assert whole["total"] > 500
            assert some["total"] < 50
            servers = (await files.call("get_tool_categories", include_servers=True))["servers"]
            assert [one["name"] for one in servers] == ["files"]
            names = {tool.name for tool in (await files.client.list_tools()).tools}
            assert "files__list_directory" in names
            assert not any(name.startswith(("time__", "git__")) for name in names)
            called = await files.client.call_tool("files__list_allowed_directories", {})
            assert not called.is_error
            near = [
                await files.wrong("execute_tool", tool_name=f"{one}/status", arguments={}) for one in ("git", "gti")
            ]
            assert near[0].replace("git/", "gti/") == near[1]
            refused = await files.call("check_plan", plan=[{"type": "git/git_status", "arguments": {"repo_path": "."}}])
            assert refused["problems"][0]["code"] == "unknown-tool"
            assert "git" not in json.dumps(refused["problems"][0]["hint"])

    asyncio.run(scene())
