"""Corners of scopes, examples and words at which a single fault was not noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infospace.core.tool import Tool
from infospace.tools.approvals import ELEMENTS, question
from infospace.tools.call_examples import EXAMPLES, examples_of
from infospace.tools.scope import Filters, Scope
from infospace.tools.search.results import CallExample
from infospace.tools.search.tokenize import MOST_PARTS, split_request, tokenize

TOOL = Tool("s", "t", tags=("danger", "own"), claimed=("danger",))


def test_a_tag_that_is_only_claimed_excludes_and_does_not_include() -> None:
    assert [Scope(include_tags=(tag,)).allows(TOOL) for tag in TOOL.tags] == [False, True]
    assert [Scope(exclude_tags=(tag,)).allows(TOOL) for tag in TOOL.tags] == [False, False]


def test_what_any_of_the_joined_scopes_excludes_is_forbidden() -> None:
    joined = Scope(include_servers=("s",)).intersect(Scope(exclude_servers=("s",)))
    assert joined.forbids(TOOL)
    assert not joined.forbids(replace(TOOL, server="r"))


@pytest.mark.parametrize(("examples", "called", "has"), [((), (), False), (({},), (), True), ((), ("s/t",), True)])
def test_examples_are_the_tools_own_and_those_of_its_calls(
    examples: tuple[dict[str, str], ...], called: tuple[str, ...], has: bool
) -> None:
    tool = replace(TOOL, examples=examples)
    assert [Filters(has_examples=wanted).admits(tool, called) for wanted in (True, False)] == [has, not has]


def test_examples_stand_once_and_the_tools_own_are_all_there() -> None:
    """Of its calls so many that there are five in all."""
    calls = [CallExample("", "s/t", {"n": number // 2}) for number in range(20)]
    assert examples_of(TOOL, calls) == [{"n": number} for number in range(EXAMPLES)]
    many = tuple({"n": number} for number in range(EXAMPLES + 2))
    assert examples_of(replace(TOOL, examples=many), calls) == list(many)


def test_a_long_request_is_taken_in_so_many_parts_at_most() -> None:
    parts = split_request(" ".join(f"Do the thing number {number}." for number in range(7)))
    assert len(parts) == MOST_PARTS
    for sentences in (2, 6, 7, 8, 14, 15, 40):
        request = " ".join(f"Do the thing number {number}." for number in range(sentences))
        *parts, whole = split_request(request)
        assert whole == " ".join(parts) == request
        assert len(parts) == min(sentences, {8: 4, 14: 7, 15: 5, 40: 7}.get(sentences, sentences)) < MOST_PARTS


def test_plurals_lose_their_ending_but_for_those_that_are_none() -> None:
    assert tokenize("queries xaies xeies glasses bus") == ["query", "xaie", "xeie", "glasse", "bus"]


def test_a_question_shows_a_list_that_just_fits_whole() -> None:
    assert "cut" not in question(TOOL, {"n": list(range(ELEMENTS))})
    assert f"{ELEMENTS + 1} elements in all" in question(TOOL, {"n": list(range(ELEMENTS + 1))})
