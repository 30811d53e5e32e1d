"""How probable it is that a tool does what is asked for, by what its catalogue answers by chance."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_tools import made_tools
from numpy.typing import NDArray

from infospace.core.tool import Tool
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.tools.scope import Filters
from infospace.tools.search.confidence import (
    BY_BOTH,
    BY_MEANING,
    BY_WORDS,
    MAX_FEATURE,
    PROBABLE,
    SURE,
    Model,
    NullScores,
    features,
    log_odds,
    probabilities,
)
from infospace.tools.search.documents import Fields
from infospace.tools.search.finder import Finder
from infospace.tools.search.lexical.bm25f import Bm25, TermCounts, Vocabulary
from infospace.tools.search.results import ToolQuery

TOOLS = made_tools()
TALK = Path(__file__).parents[3] / "benchmarks" / "small_talk.json"


def best(finder: Finder, tools: list[Tool], request: str) -> float:
    """Return the highest confidence of an answer."""
    found = finder.find(tools, ToolQuery(request))
    return max(hit.confidence for hit in (*found.hits, *([found.guess] if found.guess else [])))


def test_by_chance_is_told_by_the_median_and_the_middle_two_thirds() -> None:
    """Of the best tool of each request; of each tool, the mean and deviation of its cosines."""
    evidence = np.array([[0.1 * at, 0.0] for at in range(1, 102)])
    null = NullScores.of(evidence, evidence)
    assert null.best == pytest.approx(5.1)
    assert null.spread == pytest.approx(3.4)
    assert null.means.tolist() == pytest.approx([5.1, 0.0])
    assert null.spreads[0] == pytest.approx(np.arange(1, 102).std() / 10)
    assert null.spreads[1] > 0


def test_evidence_and_cosine_are_told_in_spreads_above_chance_up_to_a_bound() -> None:
    """On both sides; of a tool without a cosine neither is known, and its words are."""
    vocabulary = Vocabulary()
    tools = [Fields("read file", *[""] * 6), Fields("send mail", *[""] * 6), Fields("route", *[""] * 6)]
    corpus = SimpleNamespace(bm25=Bm25([TermCounts.of(tool, vocabulary) for tool in tools], vocabulary))
    null = NullScores(2.0, 0.5, np.array([0.1, 0.1, 0.1]), np.array([0.2, 0.2, 0.2]))
    evidence = np.array([[3.0, 2_000.0, 2.5], [-2_000.0, 2.0, 0.0]])
    cosines = np.array([[0.5, 30.0, np.nan], [-30.0, 0.1, np.nan]])
    above, share, rare, near = features(corpus, [["read"], ["file", "unheard"]], evidence, cosines, null)  # type: ignore[arg-type]
    nan, most = float("nan"), MAX_FEATURE
    np.testing.assert_allclose(above, [[2.0, most, nan], [-most, 0.0, nan]])
    np.testing.assert_allclose(near, [[2.0, most, nan], [-most, 0.0, nan]], atol=1e-9)
    np.testing.assert_allclose(share, [[1, 0, 0], [0.5, 0, 0]])
    np.testing.assert_allclose(rare, [[1, 0, 0], [1, 0, 0]])
    for cosine, chance in ((None, null), (cosines, None)):
        above, share, _, near = features(corpus, [["read"], ["mail"]], evidence, cosine, chance)  # type: ignore[arg-type]
        assert np.isnan(above).all()
        assert np.isnan(near).all()
        np.testing.assert_allclose(share, [[1, 0, 0], [0, 1, 0]])


numbers = st.lists(st.lists(st.floats(-3, 3), min_size=4, max_size=4), min_size=1, max_size=6).map(
    lambda rows: np.array(rows).T[:, None, :]
)


@given(numbers, st.integers(0, 3), st.sampled_from([BY_BOTH, BY_MEANING, BY_WORDS]))
def test_more_evidence_never_makes_a_tool_less_probable(drawn: NDArray[np.float64], which: int, model: Model) -> None:
    """Of any kind, by any model."""
    more = drawn.copy()
    more[which] += 0.5
    before, after = (probabilities(log_odds(some, model), None) for some in (drawn, more))
    assert (after >= before - 1e-12).all()
    assert ((before > 0) & (before < 1)).all()


def test_a_tool_without_a_vector_is_judged_by_its_words() -> None:
    """By the model of words; the part of the request counts that it fits best."""
    drawn = np.full((4, 2, 1), np.nan)
    drawn[1], drawn[2] = [[0.2], [0.9]], [[0.1], [2.0]]
    expected = 1 / (1 + np.exp(-(BY_WORDS.coefficients[1] * 0.9 + BY_WORDS.coefficients[2] * 2.0 + BY_WORDS.intercept)))
    assert probabilities(log_odds(drawn, BY_BOTH), None).tolist() == pytest.approx([expected])


def test_what_was_called_for_before_is_evidence_of_its_own() -> None:
    """The more the likest request is like this one, the more; what a tool says of itself is not taken away."""
    odds, nearest = np.array([[-2.0, -2.0, -2.0, 3.0]]), np.array([[np.nan, 0.6, 0.9, 0.6]])
    found = probabilities(odds, nearest)
    assert found[0] == pytest.approx(1 / (1 + np.exp(2)))
    assert found[0] < 0.3 < found[1] < 0.7 < found[2]
    assert found[3] == pytest.approx(1 / (1 + np.exp(-3)))


def test_small_talk_in_ten_languages_fits_no_tool(finder: Finder) -> None:
    """None of it is among the everyday requests that confidence is read beside."""
    talk = json.loads(TALK.read_text(encoding="utf-8"))
    assert not set(talk) & set(EVERYDAY)
    told = [finder.find(TOOLS, ToolQuery(text)).no_match for text in talk]
    assert np.mean(told) >= 0.9


@pytest.mark.parametrize(
    "request_",
    [
        "read my config file",
        "install imagemagick",
        "open a PR",
        "commit and push my branch",
        "delete a directory, then search code",
        "list open pull requests",
    ],
)
def test_a_request_that_a_tool_fits_is_never_told_that_none_does(finder: Finder, request_: str) -> None:
    """And its confidence is above that of small talk."""
    assert not finder.find(TOOLS, ToolQuery(request_)).no_match
    assert best(finder, TOOLS, request_) > best(finder, TOOLS, "how was your weekend?")


def test_a_tool_that_is_named_is_sure(finder: Finder) -> None:
    """By its name, or by what it says of itself."""
    for request in ("search_code", TOOLS[0].description):
        assert finder.find(TOOLS, ToolQuery(request)).hits[0].confidence == SURE


def test_matched_counts_what_is_probable(finder: Finder) -> None:
    """More may be listed beside it; with a least score that alone counts."""
    asked = ToolQuery("read a file", None)
    found = finder.find(TOOLS, asked)
    assert found.matched == sum(hit.confidence >= PROBABLE for hit in found.hits)
    assert 0 < found.matched < len(found.hits)
    assert finder.find(TOOLS, replace(asked, filters=Filters(min_score=0))).matched == len(TOOLS)


def test_confidence_does_not_depend_on_what_is_filtered(finder: Finder) -> None:
    """A filter only makes less of it do: whoever filters has said more than the request."""
    plain = {hit.tool.name: hit.confidence for hit in finder.find(TOOLS, ToolQuery("read a file", None)).hits}
    only = finder.find(TOOLS, ToolQuery("read a file", None, Filters(servers=("filesystem",))))
    assert {hit.tool.name: hit.confidence for hit in only.hits}.items() <= plain.items()
