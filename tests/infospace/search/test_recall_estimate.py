"""How much of what is right a search has found, by a judged sample."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace import Space, open_space
from infospace.core.errors import Invalid
from infospace.core.ids import Kind, number_of
from infospace.core.listener import NullListener
from infospace.search.certainty.judging import draw_sample
from infospace.search.certainty.recall import FIRST_STRATUM, Judged, RecallEstimate, estimate, sample, stratify
from infospace.search.query import SearchQuery
from infospace.store.changes import MakeNote


def judged(right: Sequence[bool], found: int, count: int, seed: int) -> RecallEstimate:
    """Estimate the recall of a search that found the first of some Notes, by so many judgements."""
    strata = stratify(range(found), range(found, len(right)), (), seed)
    told = [[0, 0] for _ in strata]
    for which, number in sample(strata, count):
        told[which][0] += 1
        told[which][1] += right[number]
    return estimate([Judged(one.place, len(one.items), *both) for one, both in zip(strata, told, strict=True)], seed)


@given(st.integers(0, 60), st.integers(0, 900), st.integers(0, 30), st.integers(0, 5))
def test_every_note_is_in_one_stratum(found: int, below: int, unscored: int, seed: int) -> None:
    """Those of higher rank in a smaller one; and a sample of all of them is all of them, each once."""
    numbers = range(1, found + below + unscored + 1)
    strata = stratify(numbers[:found], numbers[found : found + below], numbers[found + below :], seed)
    drawn = sample(strata, len(numbers))
    assert sorted(number for _, number in drawn) == list(numbers)
    assert all(number in strata[which].items for which, number in drawn)
    ranked = [one for one in strata if one.place == "below"]
    for upper, lower in itertools.pairwise(ranked):
        assert max(upper.items) < min(lower.items)
        assert len(lower.items) >= len(upper.items) or lower is ranked[-1]
    assert not ranked or len(ranked[0].items) == min(below, max(FIRST_STRATUM, found))


def test_whoever_ends_early_has_judged_as_many_of_each_stratum() -> None:
    """Small ones apart, of which there are no more."""
    strata = stratify(range(3), range(3, 700), (), 1)
    counts = np.bincount([which for which, _ in sample(strata, 33)])
    assert counts[0] == 3
    assert max(counts[1:]) - min(counts[1:]) <= 1


def test_judging_all_gives_recall_itself() -> None:
    """With no interval around it."""
    right = [at % 3 == 0 for at in range(90)]
    found = judged(right, 30, 90, 1)
    assert found.recall == found.low == found.high == pytest.approx(sum(right[:30]) / sum(right), abs=1e-4)
    assert (found.right_found, found.right_missed) == (10, 20)


def test_a_stratum_counts_by_its_size() -> None:
    """One of two right among a hundred stands for fifty."""
    found = estimate([Judged("found", 10, 10, 10), Judged("below", 100, 2, 1)])
    assert found.right_missed == 50
    assert found.recall == pytest.approx(10 / 60, abs=1e-4)
    assert found.low < 10 / 60 < found.high


def test_where_none_below_is_right_all_may_have_been_found() -> None:
    """And the fewer were judged, the less that says."""
    few, many = (estimate([Judged("found", 10, 10, 10), Judged("below", 300, count, 0)]) for count in (3, 100))
    assert few.recall == few.high == many.recall == many.high == 1
    assert few.low < 0.2
    assert many.low > 0.6


def test_where_none_is_right_nothing_is_known() -> None:
    """Recall is none, and the interval is all there is."""
    found = estimate([Judged("found", 5, 5, 0), Judged("below", 300, 40, 0)])
    assert (found.recall, found.low, found.high) == (None, 0, 1)


def test_a_part_of_which_nothing_was_judged_is_refused() -> None:
    """Of it nothing is known, however sure the rest is."""
    with pytest.raises(Invalid, match="nothing is known of 300 notes") as refused:
        estimate([Judged("found", 5, 5, 1), Judged("below", 300, 0, 0)])
    assert "at least 2" in str(refused.value.hint)


@pytest.mark.parametrize(("found", "rate", "decay"), [(30, 0.8, 30.0), (5, 0.8, 100.0), (100, 0.7, 100.0)])
def test_the_interval_holds_the_true_recall(found: int, rate: float, decay: float) -> None:
    """In 95 of 100 spaces or more, though hardly any of 3,000 Notes are right."""
    holds = []
    for seed in range(60):
        chances = rate * np.exp(-np.arange(3_000) / decay)
        right = (np.random.default_rng(seed).random(3_000) < chances).tolist()
        told = judged(right, found, 60, seed)
        holds.append(told.low - 1e-4 <= sum(right[:found]) / sum(right) <= told.high + 1e-4)
    assert np.mean(holds) >= 0.92  # 60 draws of .95 are above that in 95 of 100 cases


@pytest.fixture
def space(tmp_path: Path, model: object) -> Iterator[Space]:
    """Forty notes, of which eight are about bread."""
    del model
    with contextlib.closing(open_space(tmp_path / "space.db")) as opened:
        texts = [f"Sourdough bread wants flour, water and salt, loaf {at}." for at in range(8)]
        texts += [f"The ship number {at} left the harbour in the morning." for at in range(31)] + [""]
        opened.store.commit([MakeNote(opened.store.new_id(Kind.NOTE), text, kept=True) for text in texts])
        yield opened


def test_a_search_is_held_against_all_that_it_left_out(space: Space) -> None:
    """Notes without a score are a part of their own; the same query draws the same Notes."""
    drawn = draw_sample(space.search, SearchQuery("how to bake bread", threshold=0.4), 40, NullListener())
    assert {one.place for one in drawn.strata} == {"found", "below", "unscored"}
    assert sum(len(one.items) for one in drawn.strata) == 40
    assert drawn.certificate["matched"] == len(drawn.strata[0].items) == 8
    again = draw_sample(space.search, SearchQuery("how to bake bread", threshold=0.4), 40, NullListener())
    assert again.waiting == drawn.waiting
    for note in drawn.waiting:
        drawn.tell(note, right=number_of(note) <= 8)
    assert not drawn.waiting
    assert drawn.estimate().recall == 1


def test_what_a_high_threshold_leaves_out_is_told(space: Space) -> None:
    """By words the rest is ranked by meaning."""
    for wanted in (SearchQuery("bake bread", threshold=0.9), SearchQuery("loaf 3", mode="keyword")):
        drawn = draw_sample(space.search, wanted, 40, NullListener())
        for note in drawn.waiting:
            drawn.tell(note, right=number_of(note) <= 8)
        told = drawn.estimate()
        matched = drawn.certificate["matched"]
        assert told.recall == pytest.approx(min(matched, 8) / 8)
        assert told.right_found + told.right_missed == 8


def test_only_notes_that_were_drawn_are_judged(space: Space) -> None:
    """Another one would not stand for anything."""
    drawn = draw_sample(space.search, SearchQuery("bread", threshold=0.4), 5, NullListener())
    other = next(f"Note_{number}" for number in range(1, 41) if f"Note_{number}" not in drawn.waiting)
    with pytest.raises(Invalid, match="not among the notes that were drawn"):
        drawn.tell(other, right=True)
    with pytest.raises(Invalid, match="without a query"):
        draw_sample(space.search, SearchQuery(None), 5, NullListener())
