"""Whether the best tool stands out among those that are as near."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core.tool import Tool
from infospace.tools.scope import Filters
from infospace.tools.search.bm25f import TermCounts, Vocabulary
from infospace.tools.search.confidence import ALLOWED, FAMILY, NEXT, SHARE, is_confident
from infospace.tools.search.corpus import Corpus, IndexedTool
from infospace.tools.search.documents import embedded, fields_of
from infospace.tools.search.finder import Finder
from infospace.tools.search.results import ToolQuery
from infospace.tools.search.scoring import NO_MATCH


def corpus(vectors: list[list[float] | None], server: str = "") -> Corpus:
    """Return tools that are as alike as their vectors are, of a server each, or all of one."""
    vocabulary = Vocabulary()
    known = []
    for at, vector in enumerate(vectors):
        tool = Tool(server or f"s{at}", f"t{at}")
        fields = fields_of(tool)
        row = None if vector is None else np.array(vector, np.float32)
        known.append(IndexedTool(tool, fields, TermCounts.of(fields, vocabulary), embedded(fields), "m", row))
    return Corpus(known, vocabulary)


def apart(count: int) -> list[list[float] | None]:
    """Return vectors that have nothing in common."""
    return list(np.eye(count).tolist())


def out(evidence: Any, vectors: list[list[float] | None], server: str = "") -> bool:
    """Whether the best of all by the sum of its evidence stands out."""
    rows = np.atleast_2d(np.array(evidence, float))
    best = int(rows.sum(axis=0).argmax())
    return is_confident(rows, best, np.arange(rows.shape[1]), corpus(vectors, server))


def test_the_best_stands_out_by_a_share_of_its_evidence() -> None:
    """Of one unit, .29 above the others is enough, and .28 is not."""
    least = SHARE - ALLOWED
    assert out([1.0, *[1 - least - 0.01] * NEXT], apart(NEXT + 1))
    assert not out([1.0, *[1 - least + 0.01] * NEXT], apart(NEXT + 1))


def test_what_does_the_same_as_the_best_takes_nothing_away() -> None:
    """Neither on one server nor on twenty."""
    same: list[list[float] | None] = [[1.0, 0.0]] * 20
    assert out([1.0] * 20 + [0.2], [*same, [0.0, 1.0]])
    assert not out([1.0] * 20 + [0.9] * 9, [*same, *[[0.0, 1.0]] * 9])
    assert not out([1.0] * 20, [None] * 20)


def test_a_family_of_tools_is_about_one_thing() -> None:
    """What the tools of a server have in common speaks for all of them; of a server of hundreds it does not."""
    assert out([1.0] * 10, apart(10), "git")
    assert not out([1.0] * 10, apart(10))
    assert not out([1.0] * (FAMILY + 1), apart(FAMILY + 1), "everything")


def test_only_the_next_ones_count() -> None:
    """However many others there are below them, and wherever they stand."""
    far = [0.0] * 500
    assert not out([1.0, *[0.9] * NEXT, *far], [*apart(NEXT + 1), *[[0.0] * (NEXT + 1)] * 500])
    assert not out([*far, *[0.9] * NEXT, 1.0], [*[[0.0] * (NEXT + 1)] * 500, *apart(NEXT + 1)])


def test_the_part_of_the_request_counts_that_the_tool_is_for() -> None:
    """Another part has tools of its own, which stand beside it."""
    assert out([[1.0, 0.1, 0.1], [0.1, 0.9, 0.1]], apart(3))


def test_one_tool_stands_alone() -> None:
    """With nothing beside it."""
    assert out([0.4], apart(1))


@given(st.lists(st.floats(0, 2), min_size=2, max_size=30), st.permutations(range(30)))
def test_the_order_of_the_tools_does_not_matter(evidence: list[float], order: list[int]) -> None:
    """Whether the best is the first or the last."""
    chosen = [at for at in order if at < len(evidence)]
    one = is_confident(np.array([evidence]), int(np.argmax(evidence)), np.arange(len(evidence)), corpus(apart(30)))
    moved = np.array([evidence])[:, chosen]
    assert is_confident(moved, chosen.index(int(np.argmax(evidence))), np.arange(len(chosen)), corpus(apart(30))) == one


COUNTED = ("teachers", "cars", "dogs", "airports", "lakes", "museums", "miners", "volcanoes", "farms", "bridges")


@pytest.mark.parametrize("what", ["windows", "songs", "trees"])
def test_a_request_that_many_tools_nearly_do_has_no_match(finder: Finder, what: str) -> None:
    """The nearest is the guess; a filter, or a least score, has it listed all the same."""
    tools = [Tool(thing, f"count_{thing}", f"Count the {thing} of a country.") for thing in COUNTED]
    assert finder.find(tools, ToolQuery("count the lakes of a country")).hits[0].tool.name == "count_lakes"
    asked = ToolQuery(f"count the {what} of a country")
    found = finder.find(tools, asked)
    assert found.no_match
    assert found.guess is not None
    assert found.guess.score > NO_MATCH
    assert not finder.find(tools, replace(asked, filters=Filters(min_score=0.1))).no_match
    assert not finder.find(tools, replace(asked, filters=Filters(name_pattern="count"))).no_match
