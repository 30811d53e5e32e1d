"""A space that was narrowed to a scope: a tool out of it is unknown to the check, to the run, and to discovery."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
from served import odd, synced, write

from infospace import NotFound, Space
from infospace.tools.local import LocalTools
from infospace.tools.scope import Scope
from infospace.tools.scoped_space import ScopedSpace
from planner.execute.start import check_plan, run_sync
from planner.journal.result import RunResult
from planner.parse.saved_plans import save_plan
from planner.sessions.queue import queue_of

ECHO = {"type": "two/echo", "arguments": {"text": "x"}, "out": "$x"}


@pytest.fixture
def whole(space: Space) -> Space:
    """A space with two servers of the same tools."""
    folder = Path(space.store.address).parent
    write(folder, one=odd("plain"), two=odd("plain", visibility="team", team="ops", tags=["danger"]))
    synced(space)
    return space


def narrowed(space: Space, **bounds: Any) -> Space:
    """Return a space for somebody who may not know everything."""
    return ScopedSpace(space, Scope.model_validate(bounds))


def servers_in(found: RunResult) -> set[str]:
    """Return the servers whose tools a run found."""
    assert found.result is not None
    hits: Any = found.result.data
    return {hit["metadata"]["server"] for hit in hits}


BOUNDS = [
    {"include_servers": ["one"]},
    {"exclude_servers": ["two"]},
    {"exclude_tags": ["danger"]},
    {"exclude_names": ["^two/"]},
    {"include_names": ["^one/"]},
    {"visibility": ["public"]},
    {"teams": ["sales"]},
]


@pytest.mark.parametrize("bounds", BOUNDS, ids=lambda bounds: next(iter(bounds)))
def test_a_tool_out_of_scope_is_unknown_to_the_check(whole: Space, bounds: Any) -> None:
    """In the words for one that is nowhere; the same plan passes where it may be known."""
    small = narrowed(whole, **bounds)
    told = []
    for name in ("two/echo", "twx/echo"):
        [problem] = check_plan(small, [{**ECHO, "type": name}])[1].found[:1]
        told.append((problem.code, problem.message.replace(name, "…"), problem.hint))
    assert told[0] == told[1]
    assert told[0][0] == "unknown-tool"
    assert "two" not in str(told[0][2])
    assert check_plan(whole, [ECHO])[1].ok
    assert run_sync(small, [{**ECHO, "type": "one/echo"}]).status == "success"


def test_it_is_unknown_to_the_run_too_when_only_that_names_it(whole: Space) -> None:
    """As `$hit.metadata.tool` may; nothing is called."""
    small = narrowed(whole, include_servers=["one"])
    for name in ("two/echo", "twx/echo"):
        hit = {"type": "create-note", "value": {"metadata": {"tool": name}}, "out": "$hit"}
        call = {"type": "call-tool", "tool": "$hit.metadata.tool", "arguments": {"text": "x"}}
        result = run_sync(small, [hit, call])
        assert result.status == "failed"
        assert f"there is no tool {name!r} (did you mean 'one/echo'?)" in str(result.reason)
        reading = {"type": "read-resource", "resource": "two/odd://anything"}
        refused = run_sync(small, [reading])
        assert (refused.status, [one.code for one in refused.problems]) == ("refused", ["unknown-resource"])
        late = {**reading, "resource": "$uri"}
        unknown = run_sync(small, [{"type": "create-note", "value": reading["resource"], "out": "$uri"}, late])
        assert unknown.status == "failed"
        assert "there is no resource 'two/odd://anything'" in str(unknown.reason)
    with whole.store.reading() as snapshot:
        assert snapshot.tool_uses("two") == []


@pytest.mark.parametrize("bounds", BOUNDS, ids=lambda bounds: next(iter(bounds)))
def test_a_resource_that_a_server_does_not_list_is_in_the_scope_of_its_server(whole: Space, bounds: Any) -> None:
    """What its entry says of it holds for all it gives."""
    assert whole.tools.get("two/odd://anything", "resource").server == "two"
    with pytest.raises(NotFound, match="there is no resource"):
        narrowed(whole, **bounds).tools.get("two/odd://anything", "resource")


def test_discover_tools_finds_what_is_in_scope(whole: Space) -> None:
    """And counts no more."""
    find = {"type": "discover-tools", "query": "say a text again", "limit": "all", "out": "$t"}
    small = run_sync(narrowed(whole, include_servers=["one"]), [find])
    assert servers_in(small) == {"one"}
    assert small.steps[0].extra["searched"] == 11
    assert {"one", "two", "infospace"} >= servers_in(run_sync(whole, [find])) > {"one"}


def test_saved_plans_run_in_the_scope_of_their_caller(whole: Space) -> None:
    """What a plan may do does not grow by being saved."""
    save_plan(whole, "shout", [ECHO])
    plan = [{"type": "plan:shout", "out": "$x"}]
    assert run_sync(whole, plan).status == "success"
    small = run_sync(narrowed(whole, include_servers=["one"]), plan)
    assert (small.status, small.problems[0].code) == ("refused", "unknown-tool")


def test_the_language_stays_but_for_what_is_excluded(whole: Space) -> None:
    """Who includes a server leaves the verbs; who excludes a verb does not have it."""
    note = {"type": "create-note", "value": 1, "out": "$n"}
    gone = {"type": "remove", "target": "$n"}
    assert run_sync(narrowed(whole, include_servers=["one"]), [note, gone]).status == "success"
    small = narrowed(whole, exclude_names=["^infospace/remove$"])
    [problem] = check_plan(small, [note, gone])[1].found
    assert problem.code == "unknown-type"
    assert "remove" not in [entry.type for entry in small.catalogue]
    assert "remove" in [entry.type for entry in whole.catalogue]


def test_callers_of_one_space_share_its_sessions_and_what_it_keeps(whole: Space) -> None:
    """A narrowed one leaves the other open when it is closed."""
    small = narrowed(whole, include_servers=["one"])
    smaller = narrowed(small, exclude_names=["slow"])
    assert queue_of(smaller, "s") is queue_of(whole, "s")
    assert (smaller.embedding, smaller.finder, smaller.search) == (whole.embedding, whole.finder, whole.search)
    assert smaller.tools.find("one/slow") is None
    smaller.close()
    assert run_sync(whole, [ECHO]).status == "success"


def test_what_is_in_scope_is_looked_at_again_when_there_are_others(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only then: a scope may have many patterns."""
    grows = LocalTools("it")

    @grows.tool()
    def one() -> int:
        """Give 1."""
        return 1

    space.tools.add(grows)
    small, looked = narrowed(space, exclude_names=["w"]), list[str]()
    allows = Scope.allows
    monkeypatch.setattr(Scope, "allows", lambda self, tool: looked.append(tool.name) or allows(self, tool))
    for _ in range(3):
        assert [tool.name for tool in small.tools] == ["one"]
    assert looked == ["one"]

    @grows.tool()
    def two() -> int:
        """Give 2."""
        return 2

    @grows.tool()
    def three() -> int:
        """Give 3."""
        return 3

    assert [tool.name for tool in small.tools] == ["one", "three"]
