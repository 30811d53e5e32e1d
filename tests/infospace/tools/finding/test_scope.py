"""Scopes and filters: what a tool needs to be in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from infospace.core.tool import Tool
from infospace.tools.scope import EVERYTHING, Filters, Scope
from infospace.tools.search.lexical.suggestions import unmatched

TOOL = Tool(
    "git",
    "git_commit",
    "Record changes in the repository.",
    tags=("vcs", "write"),
    category="Development",
    integration="MCP",
    visibility="team",
    team="core",
    examples=({"message": "first"},),
)


@pytest.mark.parametrize(
    ("field", "allows", "refuses"),
    [
        ("include_tags", ["read", "vcs"], ["read"]),
        ("exclude_tags", ["read"], ["read", "vcs"]),
        ("include_servers", ["git", "web"], ["web"]),
        ("exclude_servers", ["web"], ["git"]),
        ("include_names", ["^git_"], ["^commit$"]),
        ("exclude_names", ["^git/git_push"], ["git/"]),
        ("visibility", ["public", "team"], ["public"]),
        ("teams", ["core"], ["other"]),
    ],
)
def test_a_scope_allows_what_has_one_of_what_is_included_and_none_of_what_is_excluded(
    field: str, allows: list[str], refuses: list[str]
) -> None:
    """Each of its fields; one that is not given does not limit."""
    assert Scope().allows(TOOL)
    assert Scope.model_validate({field: allows}).allows(TOOL)
    assert not Scope.model_validate({field: refuses}).allows(TOOL)


def test_an_empty_list_of_what_is_included_allows_nothing() -> None:
    """Which is not the same as no list."""
    assert not Scope(include_servers=()).allows(TOOL)
    assert not Scope(include_tags=()).allows(TOOL)


def test_a_tool_of_no_team_is_everyones() -> None:
    """A scope of teams does not hide it."""
    assert Scope(teams=("other",)).allows(Tool("web", "fetch"))


names = st.lists(st.sampled_from(["git", "web", "mail", "vcs", "write", "read"]), max_size=3).map(tuple)
scopes = st.builds(
    Scope,
    include_tags=st.none() | names,
    exclude_tags=names,
    include_servers=st.none() | names,
    exclude_servers=names,
    include_names=st.none() | st.just(("git",)) | st.just(("^web/",)),
    exclude_names=st.just(()) | st.just(("commit",)),
)
tools = st.builds(
    Tool,
    st.sampled_from(["git", "web", "mail"]),
    st.sampled_from(["git_commit", "fetch", "send"]),
    tags=names,
)


@given(scopes, scopes, scopes, tools)
def test_narrowing_takes_away_and_never_adds(one: Scope, two: Scope, three: Scope, tool: Tool) -> None:
    """What is left is in all of them, however they are put together."""
    narrowed = one.intersect(two).intersect(three)
    assert narrowed.allows(tool) == (one.allows(tool) and two.allows(tool) and three.allows(tool))
    assert narrowed.allows(tool) == one.intersect(two.intersect(three)).allows(tool)


@pytest.mark.parametrize(
    ("filters", "admits"),
    [
        ({}, True),
        ({"tags": ["vcs", "read"]}, True),
        ({"tags": ["read"]}, False),
        ({"exclude_tags": ["write"]}, False),
        ({"servers": ["git"]}, True),
        ({"servers": ["web"]}, False),
        ({"categories": ["development"]}, True),
        ({"categories": ["Web"]}, False),
        ({"integration_type": "MCP"}, True),
        ({"integration_type": "REST"}, False),
        ({"integration_type": "any"}, True),
        ({"name_pattern": "^git_c.*t$"}, True),
        ({"name_pattern": "^git/git"}, True),
        ({"name_pattern": "^commit"}, False),
        ({"description_contains": "CHANGES in"}, True),
        ({"description_contains": "branches"}, False),
        ({"has_examples": True}, True),
        ({"has_examples": False}, False),
        ({"visibility": ["team"]}, True),
        ({"visibility": ["public"]}, False),
        ({"teams": ["core"]}, True),
        ({"teams": ["other"]}, False),
    ],
)
def test_a_filter_admits_what_is_wanted(filters: dict[str, Any], admits: bool) -> None:
    """Each of them, read from JSON."""
    assert Filters.model_validate(filters).admits(TOOL) is admits


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(a)\1"])
def test_a_pattern_that_is_none_is_said(pattern: str) -> None:
    """Where it is read, and not where it is used."""
    with pytest.raises(ValidationError, match="is not a pattern") as raised:
        Filters(name_pattern=pattern)
    [error] = raised.value.errors()
    assert error["type"] == "invalid"
    assert error["ctx"]["message"] == error["msg"]
    assert error["ctx"]["hint"]
    with pytest.raises(ValidationError, match="is not a pattern"):
        Scope(exclude_names=(pattern,))


@pytest.mark.parametrize(
    ("filters", "sentence"),
    [
        ({"servers": ["gut"]}, "no tool here is of a server 'gut'; did you mean 'git'?"),
        ({"categories": ["develOpment", "Developmnt"]}, "no tool here is of a category 'Developmnt'; did you mean"),
        ({"tags": ["vcs", "wrote"]}, "no tool here has a tag 'wrote'; did you mean 'write'?"),
        ({"exclude_tags": ["zzz"]}, "no tool here has a tag 'zzz'; there are vcs, write"),
        ({"visibility": ["teams"]}, "no tool here is of a visibility 'teams'; did you mean 'team'?"),
        ({"teams": ["cores"]}, "no tool here is of a team 'cores'; did you mean 'core'?"),
    ],
)
def test_a_name_that_no_tool_has_is_told_with_the_nearest(filters: dict[str, Any], sentence: str) -> None:
    """Each of the names in filters; without a near one, with those that there are."""
    assert [one[: len(sentence)] for one in unmatched(Filters.model_validate(filters), [TOOL])] == [sentence]
    assert unmatched(Filters.model_validate(filters), [])[0].endswith("; there are none")
    known = Filters(servers=("git",), categories=("DEVELOPMENT",), tags=("vcs",), visibility=("team",), teams=("core",))
    assert unmatched(known, [TOOL]) == []


def test_of_many_names_the_first_are_told() -> None:
    """Eight of them, in their order."""
    tools = [Tool(f"s{number}", "x") for number in range(9, 0, -1)]
    asked = Filters(servers=("wholly-other",))
    listed = "s1, s2, s3, s4, s5, s6, s7, s8"
    assert unmatched(asked, tools) == [f"no tool here is of a server 'wholly-other'; there are {listed}, …"]
    assert unmatched(asked, tools[1:]) == [f"no tool here is of a server 'wholly-other'; there are {listed}"]


def test_what_is_no_filter_is_refused() -> None:
    """A mistyped key narrows nothing, and so must not pass."""
    with pytest.raises(ValidationError, match="tag"):
        Filters.model_validate({"tag": ["vcs"]})
    with pytest.raises(ValidationError, match="min_score"):
        Filters(min_score=2)
    with pytest.raises(ValidationError, match="integration_type"):
        Filters.model_validate({"integration_type": "SOAP"})


def test_a_pattern_takes_linear_time() -> None:
    """One that would keep a backtracking engine busy for years."""
    tool = Tool("s", "a" * 5_000)
    assert not Filters(name_pattern="^(a+)+$x").admits(tool)


def test_a_tag_that_only_an_untrusted_server_gives_its_tool_excludes_and_does_not_include() -> None:
    claims = Tool("git", "push", "Push.", tags=("vcs", "safe"), claimed=("safe",))
    assert not Scope(include_tags=("safe",)).allows(claims)
    assert Scope(include_tags=("safe", "vcs")).allows(claims)
    assert not Scope(exclude_tags=("safe",)).allows(claims)
    assert Scope(exclude_tags=("safe",)).forbids(claims)


def test_what_any_of_several_scopes_excludes_is_forbidden() -> None:
    """What none of them includes is not there, and is not forbidden."""
    inner = Scope(exclude_servers=("git",))
    assert Scope(include_names=("commit",)).intersect(inner).forbids(TOOL)
    assert not Scope(include_names=("commit",)).intersect(Scope(exclude_servers=("hg",))).forbids(TOOL)
    assert not Scope(include_servers=("hg",)).forbids(TOOL)


def test_a_filter_by_team_wants_a_tool_of_that_team_and_a_scope_takes_one_of_none() -> None:
    nobodys = Tool("git", "log", "Show the log.")
    assert Scope(teams=("core",)).allows(nobodys)
    assert not Filters(teams=("core",)).admits(nobodys)
    assert Filters(teams=("core",)).admits(TOOL)


def test_a_tool_that_was_called_has_examples() -> None:
    """Besides one that has its own."""
    plain = Tool("git", "log", "Show the log.")
    called = {plain.full_name}
    assert [Filters(has_examples=wanted).admits(plain, called) for wanted in (True, False, None)] == [True, False, True]
    assert [Filters(has_examples=wanted).admits(plain) for wanted in (True, False, None)] == [False, True, True]
    assert [Filters(has_examples=wanted).admits(TOOL) for wanted in (True, False, None)] == [True, False, True]


def test_what_is_narrowed_by_everything_stays_as_narrow_as_it_was() -> None:
    """From either side."""
    narrow = Scope(include_servers=("hg",))
    assert narrow.intersect(EVERYTHING) == EVERYTHING.intersect(narrow) == narrow
    assert not narrow.intersect(EVERYTHING).allows(TOOL)
