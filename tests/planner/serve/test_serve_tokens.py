"""Over HTTP: tokens of different scopes at one server, real servers of tools behind; health, figures, discovery."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from prometheus_client.parser import text_string_to_metric_families

from infospace import open_space

sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
sys.path.insert(0, str(Path(__file__).parent))
from served import odd, synced, write
from serving import Planner, Served, command, over_http, planners, text_of

pytestmark = pytest.mark.slow

SCRIPTS = Path(sys.executable).parent
TOKENS = {name: f"the-token-of-{name}-in-tests" for name in ("all", "clock", "hasty", "ops")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a space that knows the servers of time and git, and a repository with changes."""
    folder = tmp_path_factory.mktemp("tokens")
    repository = folder / "repository"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=trunk", str(repository)], check=True)
    for number in range(400):
        (repository / f"file-{number:03d}.txt").write_text(f"text {number}")
    write(
        folder,
        time={"command": str(SCRIPTS / "mcp-server-time"), "args": ["--local-timezone", "UTC"], "tags": ["clock"]},
        git={"command": str(SCRIPTS / "mcp-server-git"), "description": "Repositories and their history."},
        echo=odd("plain", trusted=True),
    )
    with open_space(folder / "space.db") as space:
        assert synced(space).failed == []
    scopes = {
        "everything": {"hide_underlying_tools": False},
        "clocks": {"include_servers": ["time"]},
        "seldom": {"include_servers": ["time"], "rate_per_minute": 3},
        "stdio": {"exclude_servers": ["echo"]},
    }
    tokens = [
        {"name": "all", "token": TOKENS["all"], "scope": "everything"},
        {"name": "clock", "token": "${CLOCK_TOKEN:-" + TOKENS["clock"] + "}", "scope": "clocks"},
        {"name": "hasty", "token": TOKENS["hasty"], "scope": "seldom"},
        {"name": "ops", "token": TOKENS["ops"], "admin": True},
    ]
    (folder / "serve.json").write_text(json.dumps({"scopes": scopes, "tokens": tokens}))
    return folder


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """One server for all tests here."""
    with over_http(folder / "space.db", "--config", str(folder / "serve.json"), token=None) as one:
        yield one


def get(served: Served, path: str, token: str | None, method: str = "GET", **more: Any) -> httpx2.Response:
    """Send a request."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    url = served.url.removesuffix("/mcp") + path
    return httpx2.request(method, url, headers={**headers, **more.pop("headers", {})}, timeout=90, **more)


async def works(planner: Planner, repository: Path) -> None:
    """Find tools, look at one, call it, and write a plan that uses two servers and notes."""
    found = await planner.call("search_tools", query="what changed in the working tree of the repository", limit=5)
    assert "git/git_status" in [tool["tool_name"] for tool in found["tools"]]
    described = await planner.call("describe_tool", tool_name="git/git_status", include_similar=True)
    assert described["input_schema"]["required"] == ["repo_path"]
    assert described["similar"][0]["server"] == "git"
    where = {"repo_path": str(repository)}
    called = await planner.call("execute_tool", tool_name="git/git_status", arguments=where)
    assert called["large"]["characters"] > 4_000
    plan = {
        "goal": "Keep what is not committed, with the time.",
        "steps": [
            {"type": "git/git_status", "arguments": where, "out": "$status"},
            {"type": "split", "target": "$status", "delimiter": "line", "out": "$lines"},
            {"type": "size", "target": "$lines", "out": "$count"},
            {"type": "time/get_current_time", "arguments": {"timezone": "Asia/Tokyo"}, "out": "$now"},
            {
                "type": "create-note",
                "value": {"lines": "$count", "at": "$now.datetime", "first": "${lines[0]}"},
                "name": "uncommitted",
                "replace": True,
                "out": "$note",
            },
            {"type": "discover-notes", "query": "uncommitted files", "out": "$hits"},
        ],
        "result": "$note",
    }
    assert (await planner.call("check_plan", plan=plan))["ok"]
    result = await planner.call("run_plan", plan=plan, wait_s=120)
    assert result["status"] == "success", result
    assert result["result"]["data"]["lines"] > 400
    assert "+09:00" in result["result"]["data"]["at"]
    assert "file-399" not in json.dumps(result)


def test_a_planner_finds_tools_and_uses_two_servers_in_a_plan(served: Served, folder: Path) -> None:
    """Hundreds of lines stay in the runtime: no answer has more than a few thousand characters."""

    async def scene() -> list[tuple[str, int]]:
        async with planners(served, token=TOKENS["ops"]) as [planner]:
            await works(planner, folder / "repository")
            return planner.read

    read = asyncio.run(scene())
    assert max(size for _, size in read) < 9_000


def test_over_standard_input_the_scope_of_that_name_holds(folder: Path) -> None:
    """The same work is done; what is out of that scope is not there."""
    whole = command(folder / "space.db", "--config", str(folder / "serve.json"))

    async def scene() -> None:
        async with Client(StdioServerParameters(command=whole[0], args=whole[1:])) as client:
            planner = Planner(client)
            await works(planner, folder / "repository")
            servers = (await planner.call("get_tool_categories", include_servers=True))["servers"]
            assert {one["name"] for one in servers} == {"infospace", "git", "time"}
            assert "no tool 'echo/echo'" in await planner.wrong("describe_tool", tool_name="echo/echo")

    asyncio.run(scene())


def test_each_token_sees_its_own_scope_at_once(served: Served) -> None:
    """Lists, proxies, searches; a plan of one is refused for the other."""

    async def scene() -> None:
        async with planners(served, token=TOKENS["all"]) as [wide], planners(served, token=TOKENS["clock"]) as [small]:
            names = [{tool.name for tool in (await one.client.list_tools()).tools} for one in (wide, small)]
            assert {"git__git_status", "time__convert_time", "echo__echo"} <= names[0]
            assert not any("__" in name for name in names[1])
            totals = [
                (await one.call("list_tools", filters={"integration_type": "MCP"}))["total"] for one in (wide, small)
            ]
            assert totals[1] == 2 < totals[0]
            direct = await wide.client.call_tool("echo__echo", {"text": "hi"})
            assert text_of(direct.content[0]) == "hi"
            with pytest.raises(MCPError, match="there is no tool"):
                await small.client.call_tool("echo__echo", {"text": "hi"})
            assert "is not called directly here" in await small.wrong("time__convert_time")
            plan = [{"type": "echo/echo", "arguments": {"text": "x"}}]
            assert (await wide.call("run_plan", plan=plan))["status"] == "success"
            assert (await small.call("run_plan", plan=plan))["problems"][0]["code"] == "unknown-tool"

    asyncio.run(scene())


def test_refusals_are_kept_with_who_was_refused(served: Served, folder: Path) -> None:
    """And can be looked up while the server runs."""

    async def scene() -> None:
        async with planners(served, token=TOKENS["clock"]) as [planner]:
            await planner.wrong("time__get_current_time", timezone="a-private-place")
            with pytest.raises(MCPError, match="there are check_plan, run_plan, run_steps"):
                await planner.client.call_tool("git__git_log", {})

    asyncio.run(scene())
    done = subprocess.run(
        [*command(folder / "space.db")[:5], "tools", "audit", "--json"], capture_output=True, text=True, check=True
    )
    rows = [row for row in json.loads(done.stdout)["audit"] if row["caller"] == "clock"]
    assert [(row["action"], row["reason"]) for row in rows[:2]] == [
        ("git__git_log", "out of scope"),
        ("time__get_current_time", "hidden"),
    ]
    assert "a-private-place" not in done.stdout


def test_a_token_that_calls_too_often_is_refused_and_the_others_are_not(served: Served) -> None:
    """Its own calls alone count."""

    async def scene() -> str:
        async with planners(served, token=TOKENS["all"]) as [wide], planners(served, token=TOKENS["hasty"]) as [small]:
            answers = [await small.client.call_tool("get_tool_categories", {}) for _ in range(4)]
            assert answers[-1].is_error
            said = text_of(answers[-1].content[0])
            for _ in range(4):
                await wide.call("get_tool_categories")
            return said

    assert "hasty may make 3 calls in a minute" in asyncio.run(scene())


def test_health_is_told_to_anybody_here_and_nothing_else_is(served: Served) -> None:
    """Another host is turned away from it too."""
    answer = get(served, "/health", None)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert get(served, "/health", None, headers={"Host": "evil.example"}).status_code == 421
    for path, method in (("/metrics", "GET"), ("/discover", "POST"), ("/mcp", "POST"), ("/", "GET"), ("/mcp/", "POST")):
        for token in (None, "not-a-token-of-this-server"):
            assert get(served, path, token, method).status_code == 401, path
    assert get(served, "/metrics", TOKENS["all"], headers={"Host": "evil.example"}).status_code == 421
    assert get(served, "/health", None, "POST").status_code == 401


def test_figures_are_those_of_the_caller_and_an_admin_sees_all(served: Served) -> None:
    """As Prometheus reads them."""

    async def scene() -> None:
        async with planners(served, token=TOKENS["all"]) as [planner]:
            for _ in range(3):
                await planner.call("execute_tool", tool_name="echo/echo", arguments={"text": "x"})

    asyncio.run(scene())

    def read(token: str) -> dict[tuple[str, ...], float]:
        answer = get(served, "/metrics", token)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    own, small, ops = (read(TOKENS[name]) for name in ("all", "clock", "ops"))
    assert own["infospace_tool_executions_total", "echo", "echo"] >= 3
    assert own["infospace_tools", "time"] == 2
    assert own["infospace_calls_total", "all", "execute_tool", "success"] >= 3
    assert not [key for key in small if "echo" in key or "git" in key or "all" in key]
    assert ("infospace_calls_total", "all", "execute_tool", "success") in ops


def test_discovery_is_for_the_admin_and_lists_what_is_new(served: Served, folder: Path) -> None:
    """A server that was added to the file is there afterwards, for all whose scope has it."""
    assert get(served, "/discover", TOKENS["all"], "POST").status_code == 403
    wrong = get(served, "/discover", TOKENS["ops"], "POST", json={"restrt": True})
    assert (wrong.status_code, wrong.json()["error"]) == (400, "unreadable")
    path = folder / "mcp.json"
    entries = json.loads(path.read_text())["mcpServers"]
    write(folder, **entries, late=odd("plain"))
    done = get(served, "/discover", TOKENS["ops"], "POST")
    assert done.status_code == 200
    assert done.json()["listed"] == ["late"]
    assert "late/echo" in done.json()["added"]

    async def scene() -> None:
        async with planners(served, token=TOKENS["all"]) as [wide], planners(served, token=TOKENS["ops"]) as [ops]:
            for planner in (wide, ops):
                assert (await planner.call("describe_tool", tool_name="late/echo"))["connected"]

    asyncio.run(scene())
    write(folder, **entries)
    assert "late/echo" in get(served, "/discover", TOKENS["ops"], "POST", json={"restart": False}).json()["removed"]
    anew = get(served, "/discover", TOKENS["ops"], "POST", json={"restart": True}).json()
    assert {*anew["listed"]} == {"time", "git", "echo"}
    with open_space(folder / "space.db") as space, space.store.reading() as snapshot:
        kept = [(row.caller, row.outcome, row.reason) for row in snapshot.audit() if row.action == "discover"]
    assert kept[::-1] == [
        ("all", "refused", "no admin"),
        ("ops", "refused", "unreadable"),
        *[("ops", "success", None)] * 3,
    ]
