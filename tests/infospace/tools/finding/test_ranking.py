"""From relevance to a ranking: what goes before what, and what is not listed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core.tool import Tool
from infospace.tools.scope import Filters
from infospace.tools.search.confidence import PROBABLE
from infospace.tools.search.corpus import Corpus, CurrentTools, IndexedTool
from infospace.tools.search.documents import embedded, fields_of
from infospace.tools.search.lexical.bm25f import TermCounts, Vocabulary
from infospace.tools.search.ranking import Scores, rank_tools
from infospace.tools.search.results import ToolQuery, ToolResults
from infospace.tools.search.scoring import LISTED, relevance, strength


def rank(
    scored: list[tuple[Tool, float]], *, confidences: tuple[float, ...] | None = None, **asked: Any
) -> ToolResults:
    """Rank tools of given relevance, and of given confidence, else one of 1."""
    vocabulary = Vocabulary()
    known = []
    for tool, _ in scored:
        fields = fields_of(tool)
        known.append(IndexedTool(tool, fields, TermCounts.of(fields, vocabulary), embedded(fields)))
    scores = np.array([score for _, score in scored])
    nothing = np.zeros(len(scored), bool)
    confident = np.ones(len(scored)) if confidences is None else np.array(confidences)
    legs = Scores(-np.log1p(-scores), np.array([scores]), None, nothing, None, None, confident)
    present = CurrentTools([tool for tool, _ in scored], Corpus(known, vocabulary))
    return rank_tools(present, legs, ToolQuery("anything", **asked))


def names(found: ToolResults) -> list[str]:
    return [hit.tool.name for hit in found.hits]


def test_what_can_be_reached_goes_before_at_the_margin() -> None:
    """.85 connected above .92 unconnected, .60 connected below it."""
    far, near, poor = (Tool("s", name, connected=name != "far") for name in ("far", "near", "poor"))
    found = rank([(far, 0.92), (near, 0.85), (poor, 0.60)])
    assert names(found) == ["near", "far", "poor"]
    assert [hit.score for hit in found.hits] == [0.85, 0.92, 0.60]
    assert [one.reason for one in found.hits[0].adjustments] == ["connected", "trusted"]
    assert [one.reason for one in found.hits[1].adjustments] == ["trusted"]
    assert found.hits[0].ranked == pytest.approx(0.85 + sum(one.by for one in found.hits[0].adjustments))


def test_trust_decides_between_near_equals_and_no_more() -> None:
    """It weighs less than being reached."""
    doubtful, trusted = Tool("s", "doubtful", trusted=False), Tool("s", "trusted")
    assert names(rank([(doubtful, 0.71), (trusted, 0.70)])) == ["trusted", "doubtful"]
    assert names(rank([(doubtful, 0.75), (trusted, 0.70)])) == ["doubtful", "trusted"]
    assert names(rank([(replace(trusted, connected=False), 0.75), (doubtful, 0.70)])) == ["doubtful", "trusted"]


def test_what_is_blocked_is_not_there() -> None:
    """Neither among the hits nor as a guess."""
    found = rank([(Tool("s", "bad", blocked=True), 0.99), (Tool("s", "good"), 0.5)])
    assert names(found) == ["good"]
    none = rank([(Tool("s", "bad", blocked=True), 0.99)])
    assert (none.no_match, none.guess) == (True, None)


def test_equals_go_by_full_name() -> None:
    """Whatever the order in which they are given."""
    tools = [(Tool(server, "same"), 0.5) for server in ("c", "a", "b")]
    assert [hit.tool.server for hit in rank(tools).hits] == ["a", "b", "c"]
    assert [hit.tool.server for hit in rank(tools[::-1]).hits] == ["a", "b", "c"]


def test_no_boost_lifts_a_tool_above_the_floor() -> None:
    """Where none is probable, the nearest by relevance alone is a guess, and no match is said."""
    near, far = Tool("s", "near"), Tool("s", "far", connected=False, trusted=False)
    found = rank([(near, 0.58), (far, 0.59)], confidences=(PROBABLE / 2, PROBABLE * 0.99))
    assert found.no_match
    assert found.matched == 0
    assert found.guess is not None
    assert (found.guess.tool.name, found.guess.score) == ("far", pytest.approx(0.59))
    assert found.guess.confidence == pytest.approx(PROBABLE * 0.99, abs=1e-4)
    listed = rank([(Tool("s", "best"), 0.9), (Tool("s", "near"), LISTED - 0.01)])
    assert names(listed) == ["best"]


def test_what_is_listed_beside_the_probable_does_not_count_as_matched() -> None:
    """What is relevant is listed where one is probable, and where none of the listed is, none is said to fit."""
    tools = [(Tool("s", "a"), 0.9), (Tool("s", "b"), 0.5), (Tool("s", "c"), LISTED / 2)]
    found = rank(tools, confidences=(PROBABLE, PROBABLE / 2, 0.9))
    assert (names(found), found.matched) == (["a", "b"], 1)
    assert rank(tools, confidences=(PROBABLE / 2, PROBABLE / 2, 0.9)).no_match


def test_among_filtered_tools_less_confidence_does() -> None:
    """Whoever filters has said more of what is wanted than the request."""
    tools = [(Tool("s", "a", tags=("x",)), 0.5), (Tool("s", "b"), 0.5)]
    little = (PROBABLE / 2, PROBABLE / 2)
    assert rank(tools, confidences=little).no_match
    only = rank(tools, confidences=little, filters=Filters(tags=("x",)))
    assert (names(only), only.matched) == (["a"], 1)
    assert only.hits[0].confidence == pytest.approx(PROBABLE / 2, abs=1e-4)
    assert rank(tools, confidences=(PROBABLE / 8, 1), filters=Filters(tags=("x",))).no_match


def test_a_least_score_is_compared_with_the_relevance() -> None:
    """And takes the place of the floors, in both directions."""
    tools = [(Tool("s", "a"), 0.9), (Tool("s", "b"), 0.45), (Tool("s", "c"), 0.03)]
    assert names(rank(tools, filters=Filters(min_score=0.5))) == ["a"]
    assert names(rank(tools, filters=Filters(min_score=0))) == ["a", "b", "c"]
    assert rank(tools, filters=Filters(min_score=0.95)).no_match
    assert names(rank([(Tool("s", "c"), 0.03)], filters=Filters(min_score=0.01))) == ["c"]


@given(
    st.lists(
        st.tuples(st.floats(0.0, 0.999).map(lambda x: round(x, 3)), st.booleans(), st.booleans(), st.booleans()),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 5),
)
def test_a_ranking_is_that_of_all_that_is_relevant_cut_off(drawn: list[Any], limit: int) -> None:
    """Filters act before the best are taken, and the sum of relevance and adjustments is what is sorted by."""
    scored = [
        (Tool("s", f"t{at}", tags=("wanted",) if wanted else (), connected=connected, trusted=trusted), score)
        for at, (score, wanted, connected, trusted) in enumerate(drawn)
    ]
    filters = Filters(tags=("wanted",), min_score=0.1)
    every = rank(scored, limit=None, filters=Filters(min_score=0))
    kept = [hit for hit in every.hits if "wanted" in hit.tool.tags and hit.score >= 0.1]
    found = rank(scored, limit=limit, filters=filters)
    assert list(found.hits) == kept[:limit]
    assert found.matched == len(kept)
    assert [hit.ranked for hit in every.hits] == sorted((hit.ranked for hit in every.hits), reverse=True)


@given(st.lists(st.floats(-1, 3), min_size=1, max_size=8))
def test_relevance_is_a_chance(parts: list[float]) -> None:
    """From 0 to 1, more with more evidence, and more with more parts, as for any of several chances."""
    found = np.array(parts)[:, None]
    score = relevance(strength(found))[0]
    assert 0 <= score <= 1
    assert relevance(strength(found + 0.1))[0] >= score
    alone = 1 - np.prod([1 - relevance(strength(found[at : at + 1]))[0] for at in range(len(parts))])
    assert score == pytest.approx(alone, abs=1e-4)
