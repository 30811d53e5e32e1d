"""What worked before is remembered: as examples of tools, and as what they are asked for."""

from __future__ import annotations

from asyncio import run
from typing import Any

import pytest

from infospace import Invalid, Space
from infospace.core.tool import Tool
from infospace.store.scoped_store import Visibility
from infospace.store.tool_records import SuccessfulCall
from infospace.tools.builtin import all_tools
from infospace.tools.call_examples import SWITCH, call_examples, examples_of
from infospace.tools.local import LocalTools
from infospace.tools.scope import Filters, Scope
from infospace.tools.scoped_space import ScopedSpace
from infospace.tools.search.results import CallExample, ToolQuery, ToolResults
from planner.execute.start import run_sync
from planner.metatools.arguments import DescribeTool, ListTools, SearchTools
from planner.metatools.describe_tool import describe_tool
from planner.metatools.list_tools import list_tools
from planner.metatools.search_tools import search_tools

GOAL = "brew me some software for the coffee machine"
LIKE_IT = "software for my coffee machine"


@pytest.fixture
def office(space: Space) -> Space:
    """A space with three tools that say little of themselves."""
    tools = LocalTools("office")

    @tools.tool(read_only=True)
    def alpha(code: str, cookie: str = "") -> str:
        """Do the first thing."""
        return code + cookie

    @tools.tool(read_only=True)
    def beta(code: str) -> str:
        """Do the second thing."""
        return code

    @tools.tool(read_only=True)
    def gamma(code: int) -> int:
        """Do the third thing."""
        return 1 // code

    space.tools.add(tools)
    return space


def call(space: Space, name: str, goal: str = GOAL, **arguments: Any) -> str:
    """Call a tool in a run that has a goal; return the run's id."""
    result = run_sync(space, {"goal": goal, "steps": [{"type": f"office/{name}", "arguments": arguments}]})
    assert result.run is not None
    return result.run


def find(space: Space, request: str, **asked: Any) -> ToolResults:
    return space.finder.find(all_tools(space), ToolQuery(request, **asked), remembered=space.tools.successes())


def listed_with_examples(space: Space) -> list[str]:
    found = run(list_tools(space, ListTools.model_validate({"filters": {"has_examples": True}})))
    return [tool["name"] for tool in found["tools"]]


def described(space: Space, name: str) -> Any:
    return run(describe_tool(space, DescribeTool(tool_name=f"office/{name}")))["examples"]


def test_a_tool_is_found_for_requests_like_those_it_worked_for(office: Space) -> None:
    """And not before; the hit says why."""
    assert find(office, LIKE_IT).no_match
    call(office, "beta", code="x1")
    hit = find(office, LIKE_IT).hits[0]
    assert hit.tool.full_name == "office/beta"
    assert "remembered" in hit.matched_by
    (first, *_) = run(search_tools(office, SearchTools(query=LIKE_IT)))["tools"]
    assert (first["tool_name"], "remembered" in first["matched_by"]) == ("office/beta", True)
    found = run_sync(office, [{"type": "discover-tools", "query": LIKE_IT, "out": "$tools"}])
    ranking: Any = found.steps[0].extra["ranking"]
    assert ranking[0]["tool"] == "office/beta"


def test_a_tool_is_found_by_what_it_was_given(office: Space) -> None:
    """A word that no tool says of itself."""
    request = "the thing for Reykjavik"
    before = {hit.tool.name: hit.score for hit in find(office, request, filters=Filters(min_score=0)).hits}
    call(office, "alpha", goal="", code="Reykjavik")
    after = {hit.tool.name: hit for hit in find(office, request, filters=Filters(min_score=0)).hits}
    assert after["alpha"].score > before["alpha"]
    assert after["beta"].score == before["beta"]
    assert "remembered" in after["alpha"].matched_by


def test_calls_that_went_well_are_examples(office: Space) -> None:
    """The latest first; not those that failed, that the tool takes no more, or that name a secret."""
    call(office, "beta", code="one")
    call(office, "beta", code="two")
    call(office, "gamma", code=0)
    call(office, "alpha", code="three", cookie="hush")
    assert described(office, "beta") == [{"code": "two"}, {"code": "one"}]
    assert described(office, "gamma") == described(office, "alpha") == []
    listed = run(list_tools(office, ListTools(filters=Filters(has_examples=True))))
    assert [tool["tool_name"] for tool in listed["tools"]] == ["office/beta"]
    only = find(office, "do the second thing", filters=Filters(has_examples=True))
    assert [hit.tool.name for hit in only.hits] == ["beta"]
    assert "beta" not in {hit.tool.name for hit in find(office, "thing", filters=Filters(has_examples=False)).hits}


@pytest.mark.parametrize(
    ("given", "remembered"),
    [
        ("Authorization: Bearer abcdef0123456789", False),
        ("curl -H 'x: sk-proj-abcdefghijklmnop'", False),
        ("AKIAIOSFODNN7EXAMPLE", False),  # the one that its maker's manual shows
        ("postgresql://ann:hush-hush@db/x", False),
        ("-----BEGIN RSA PRIVATE KEY-----", False),
        ("the bearer of bad news", True),
        ("https://example.org:8080/a@b", True),
        ("sk-1", True),
    ],
)
def test_what_looks_like_a_key_is_no_example(office: Space, given: str, remembered: bool) -> None:
    """Whatever the argument is called that it stands in, and however deep."""
    call(office, "beta", code=given)
    assert described(office, "beta") == ([{"code": given}] if remembered else [])


def test_it_can_be_switched_off(office: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing of it is found or shown; a word that is none is an error."""
    call(office, "beta", code="x1")
    monkeypatch.setenv(SWITCH, "off")
    assert find(office, LIKE_IT).no_match
    assert described(office, "beta") == []
    monkeypatch.setenv(SWITCH, "perhaps")
    with pytest.raises(Invalid, match="INFOSPACE_REMEMBER_CALLS is 'perhaps'"):
        find(office, LIKE_IT)


def test_whoever_may_not_know_of_everything_learns_nothing_of_others_calls(office: Space) -> None:
    """Neither by examples nor by the ranking; one that may is shown all."""
    call(office, "beta", code="x1")
    narrow = ScopedSpace(office, Scope(include_servers=("office",)))
    assert described(narrow, "beta") == []
    assert find(narrow, LIKE_IT).no_match
    assert described(ScopedSpace(office, Scope()), "beta") == [{"code": "x1"}]


def test_whoever_sees_its_own_runs_alone_is_shown_its_own_calls_alone(office: Space) -> None:
    """By examples, the ranking, the filter and the list; and another's same call puts out none of them."""
    ann, bob = (ScopedSpace(office, Scope(), sight=Visibility(runs="own", caller=name)) for name in ("ann", "bob"))
    call(ann, "beta", code="of-ann")
    assert (described(bob, "beta"), described(ann, "beta")) == ([], [{"code": "of-ann"}])
    assert find(bob, LIKE_IT).no_match
    assert not find(ann, LIKE_IT).no_match
    assert listed_with_examples(bob) == []
    for code in ("of-ann", *"12345"):
        call(bob, "beta", code=code)
    assert described(ann, "beta") == [{"code": "of-ann"}]
    assert described(bob, "beta") == [{"code": code} for code in "54321"]
    assert described(office, "beta") == described(bob, "beta")


def test_whoever_sees_other_notes_is_shown_no_arguments_that_may_be_of_these(office: Space) -> None:
    """What was read out of a note was given to a tool."""
    call(office, "beta", code="of a private note")
    narrow = ScopedSpace(office, Scope(), sight=Visibility("none", caller="bob"))
    call(narrow, "beta", code="mine")
    assert described(narrow, "beta") == [{"code": "mine"}]


def test_it_is_forgotten_with_its_run(office: Space) -> None:
    """By whoever has it in mind already."""
    made = call(office, "beta", code="x1")
    assert not find(office, LIKE_IT).no_match
    office.store.forget([made], really=True)
    assert find(office, LIKE_IT).no_match
    assert described(office, "beta") == []


def test_a_goal_that_names_its_tool_says_nothing_of_what_was_wanted() -> None:
    """Its arguments still show how it is called."""
    calls = [SuccessfulCall("run_1", "s/t", {"a": 1}, goal) for goal in ("call s/t", "weigh the letter")]
    assert [one.request for one in call_examples(calls)] == ["", "weigh the letter"]


def test_an_example_is_shown_once() -> None:
    """Whether the tool says it itself, or it was called so twice."""
    tool = Tool("s", "t", "Do.", {"type": "object"}, examples=({"a": 1},))
    worked = [CallExample("", "s/t", {"a": number}) for number in (1, 2, 2, 3)]
    assert examples_of(tool, worked) == [{"a": 1}, {"a": 2}, {"a": 3}]
