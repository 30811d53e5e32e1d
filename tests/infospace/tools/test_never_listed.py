"""Servers that were never listed: found by what their entries say, with what listing them needs."""

from __future__ import annotations

import sys
from asyncio import run
from pathlib import Path
from typing import Any

import pytest

from infospace import NotFound, Space
from infospace.core.tool import NotCalled
from infospace.store.changes import Change
from infospace.store.tool_records import AddSource
from infospace.tools.builtin import all_tools, searched
from infospace.tools.mcp.errors import ServerFailed
from infospace.tools.scope import Filters, Scope
from infospace.tools.scoped_space import ScopedSpace
from infospace.tools.search.results import ToolQuery, ToolResults
from planner.execute.start import run_sync
from planner.metatools.arguments import DescribeTool, ExecuteTool, ListTools, SearchTools
from planner.metatools.describe_tool import describe_tool
from planner.metatools.execute_tool import execute_tool
from planner.metatools.list_tools import list_tools
from planner.metatools.search_tools import search_tools

sys.path.insert(0, str(Path(__file__).parent))
from served import odd, synced, write

GITHUB = {
    "command": "npx",
    "args": ["-y", "server-github"],
    "env": {"TOKEN": "${INFOSPACE_TEST_UNSET}", "MODE": "hush-hush"},
    "description": "GitHub repos, issues, pull requests, code search",
    "tags": ["dev"],
    "team": "core",
}


def known(space: Space, tmp_path: Path, **servers: Any) -> None:
    """Have a space know servers, without listing them."""
    changes: list[Change] = [AddSource(str(write(tmp_path, **servers)))]
    space.store.commit(changes)
    assert space.tools.servers is not None
    space.tools.servers.reload()


def find(space: Space, request: str, **asked: Any) -> ToolResults:
    return space.finder.find(searched(space), ToolQuery(request, **asked))


@pytest.mark.parametrize("request_", ["list open pull requests", "github", "search code on GitHub"])
def test_a_server_is_found_by_its_description(space: Space, tmp_path: Path, request_: str) -> None:
    """As one that is not connected, with what listing it needs: names, and no values."""
    known(space, tmp_path, github=GITHUB)
    hit = find(space, request_).hits[0]
    assert (hit.tool.full_name, hit.tool.kind, hit.tool.connected) == ("github/*", "server", False)
    needs = str(hit.to_json()["needs"])
    assert needs == (
        "it was never listed: `infospace tools sync` lists what it can do, and runs 'npx' with TOKEN, MODE for that; "
        "the environment has not: INFOSPACE_TEST_UNSET"
    )
    assert "the environment has not: INFOSPACE_TEST_UNSET" in needs
    assert "hush" not in needs


def test_nothing_of_an_address_that_may_be_secret_is_told(space: Space, tmp_path: Path) -> None:
    """Only who is asked, and the names of headers."""
    url = "https://ann:pass@search.example/sse?key=abc"
    known(space, tmp_path, web={"url": url, "headers": {"Authorization": "Bearer xyz"}, "title": "Web search"})
    needs = find(space, "search the web").hits[0].tool.needs
    assert "asks 'search.example' with Authorization" in needs
    assert not any(word in needs for word in ("ann", "pass", "abc", "xyz"))


def test_what_nobody_asked_for_or_may_have_is_not_found(space: Space, tmp_path: Path) -> None:
    """A disabled server, a blocked one, one that is out of scope or filtered out."""
    known(space, tmp_path, off={**GITHUB, "disabled": True}, bad={**GITHUB, "blocked": True}, github=GITHUB)
    assert [tool.server for tool in space.tools.never_listed()] == ["bad", "github"]
    request = "list open pull requests"
    names = [hit.tool.full_name for hit in find(space, request).hits]
    assert names[0] == "github/*"
    assert "bad/*" not in names
    assert find(space, request, filters=Filters(tags=("dev",))).matched == 1
    assert find(space, request, filters=Filters(servers=("web",))).no_match
    narrow = ScopedSpace(space, Scope(exclude_servers=("github",)))
    assert "github" not in {tool.server for tool in searched(narrow)}
    assert {tool.server for tool in all_tools(space)} == {"infospace"}


def test_a_server_that_was_listed_is_found_by_its_tools_alone(space: Space, tmp_path: Path) -> None:
    """And one that could not be listed says why."""
    path = write(tmp_path, odd=odd("plain", description="Odd things"), gone={**GITHUB, "command": "no-such-command"})
    known(space, tmp_path, odd=odd("plain", description="Odd things"), gone={**GITHUB, "command": "no-such-command"})
    first = space.tools.never_listed()
    assert [tool.server for tool in first] == ["gone", "odd"]
    assert all(one is other for one, other in zip(first, space.tools.never_listed(), strict=True))
    assert synced(space, mcp=path).listed == ["odd"]
    (left,) = space.tools.never_listed()
    assert left.server == "gone"
    assert "the last try failed: " in left.needs
    assert "no-such-command" in left.needs


def test_a_server_that_needs_a_variable_says_how_it_gets_one(space: Space, tmp_path: Path) -> None:
    """When it is to be started."""
    known(space, tmp_path, github=GITHUB)
    with pytest.raises(ServerFailed, match="INFOSPACE_TEST_UNSET") as refused:
        run(space.tools.servers.pool.current(space.tools.servers.entries["github"]))
    assert refused.value.hint == "set it, or write `${NAME:-default}`"


def test_the_meta_tools_tell_of_it_and_do_not_call_it(space: Space, tmp_path: Path) -> None:
    """Found, described, and refused with what it needs; so is a tool of it that somebody guesses."""
    known(space, tmp_path, github=GITHUB)
    (found, *_) = run(search_tools(space, SearchTools(query="open a pull request")))["tools"]
    assert (found["tool_name"], found["kind"], found["connected"]) == ("github/*", "server", False)
    described = run(describe_tool(space, DescribeTool(tool_name="github/*", include_similar=True)))
    assert described["needs"] == found["needs"]
    with pytest.raises(NotCalled, match="cannot be called yet") as refused:
        run(execute_tool(space, ExecuteTool(tool_name="github/*", arguments={})))
    assert refused.value.hint == found["needs"]
    with pytest.raises(NotFound) as unknown:
        run(describe_tool(space, DescribeTool(tool_name="github/create_issue")))
    assert unknown.value.hint == f"github: {found['needs']}"


def test_a_plan_that_finds_it_is_told_what_it_needs(space: Space, tmp_path: Path) -> None:
    """In `extra.ranking`; a step that calls it all the same is refused before anything happens."""
    known(space, tmp_path, github=GITHUB)
    result = run_sync(space, [{"type": "discover-tools", "query": "open a pull request", "out": "$tools"}])
    assert result.status == "success"
    ranking: Any = result.steps[0].extra["ranking"]
    assert (ranking[0]["tool"], "sync" in ranking[0]["needs"]) == ("github/*", True)
    refused = run_sync(space, [{"type": "call-tool", "tool": "github/*", "arguments": {}}])
    assert refused.status == "refused"
    assert "never listed" in str(refused.problems[0].hint)


def test_a_filter_by_a_server_that_was_never_listed_names_something(space: Space, tmp_path: Path) -> None:
    """A search finds it, and a list, which has none of its tools, says what these need."""
    known(space, tmp_path, github=GITHUB)
    filters = {"servers": ["github"], "tags": ["dev"]}
    found = run(search_tools(space, SearchTools.model_validate({"query": "pull requests", "filters": filters})))
    assert ([tool["tool_name"] for tool in found["tools"]], "unknown" in found) == (["github/*"], False)
    listed = run(list_tools(space, ListTools.model_validate({"filters": filters})))
    [said] = listed["unknown"]
    assert (listed["total"], said.startswith("github: it was never listed: `infospace tools sync` lists")) == (0, True)
