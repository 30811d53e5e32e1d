"""How probable it is that the first hit is about the question."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.search.certainty.first_hit import FEWEST, KNOWN_MODEL, NEIGHBOURS, first_hit_confidence
from infospace.search.query import SearchQuery
from infospace.search.top_k import highest_places
from infospace.store.changes import Delete, MakeNote

MODEL = f"{KNOWN_MODEL}some-file/policy"
SUBJECTS = ["the ship left the harbour", "the train was late", "a storm took the roof", "the choir sang on Sunday"]
cosines = st.lists(st.floats(-0.2, 0.9), min_size=FEWEST + 1, max_size=40).map(lambda some: np.sort(some)[::-1])


@given(cosines)
def test_a_better_first_and_worse_others_are_more_probable(highest: Any) -> None:
    """It is a probability, and those behind the neighbours do not count."""
    found = first_hit_confidence(MODEL, highest)
    assert found is not None
    assert 0 <= found <= 1
    better, worse = highest.copy(), highest.copy()
    better[0] += 0.1
    worse[1:] -= 0.1
    for other in (better, worse):
        assert (first_hit_confidence(MODEL, other) or 0) >= found
    assert first_hit_confidence(MODEL, highest[: NEIGHBOURS + 1]) == found


def test_the_formula_is_that_of_the_docstring() -> None:
    """A best of .6 with all others at .3: -6.15 + 6.12 * .6 + 10.86 * .3 is .78 in log odds."""
    assert first_hit_confidence(MODEL, np.array([0.6, *[0.3] * 30])) == 0.69


def test_nothing_is_said_of_other_models_and_of_few_notes() -> None:
    """Their cosines lie elsewhere; and few others do not say what a space has to offer."""
    assert first_hit_confidence("other/model@1", np.full(30, 0.4)) is None
    assert first_hit_confidence(MODEL, np.full(FEWEST, 0.4)) is None
    assert first_hit_confidence(MODEL, np.full(FEWEST + 1, 0.4)) is not None
    assert first_hit_confidence(MODEL, np.empty(0)) is None


@pytest.fixture
def space(tmp_path: Path, model: object) -> Iterator[Space]:
    """Forty notes on four subjects, and one on bread."""
    del model
    with contextlib.closing(open_space(tmp_path / "space.db")) as opened:
        texts = ["Sourdough bread is baked from flour, water and salt."]
        texts += [f"{subject}, on day {at}." for at in range(10) for subject in SUBJECTS]
        opened.store.commit([MakeNote(opened.store.new_id(Kind.NOTE), text, kept=True) for text in texts])
        yield opened


def told(space: Space, query: str, **more: Any) -> dict[str, Any]:
    """Return the certificate of a search."""
    return space.search.find(SearchQuery(query, **more), NullListener()).certificate


def test_a_note_that_answers_is_more_probable_than_what_is_left_without_it(space: Space) -> None:
    """The best cosines of all count, whatever threshold and limit are."""
    with_it = told(space, "how is sourdough bread baked?")["confidence"]
    assert told(space, "how is sourdough bread baked?", threshold=0.99, limit=1)["confidence"] == with_it
    space.store.commit([Delete(f"{Kind.NOTE}_1")])
    without = told(space, "how is sourdough bread baked?")["confidence"]
    assert without < 0.1
    assert with_it > 0.9


def test_only_what_is_searched_counts(space: Space) -> None:
    """Among others than the note that answers it is as if that were not there; among few nothing is said."""
    query = "how is sourdough bread baked?"
    assert told(space, query, within=np.arange(2, 42))["confidence"] < 0.1
    assert "confidence" not in told(space, query, within=np.arange(1, FEWEST + 1))
    assert "confidence" in told(space, query, within=np.arange(1, FEWEST + 2))


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_it_is_told_by_meaning_alone(space: Space, mode: Any) -> None:
    """By words another note may be first."""
    assert "confidence" not in told(space, "how is sourdough bread baked?", mode=mode)


@pytest.mark.parametrize("place", [0, 1, 7, 40_000], ids=str)
@pytest.mark.parametrize("stride", [1, 60])
def test_the_highest_of_very_many_are_found_wherever_they_stand(place: int, stride: int) -> None:
    """Also where a sample would see all of them, or none."""
    values = np.random.default_rng(1).normal(0.1, 0.1, 60_003).astype(np.float32)
    values[place : place + 12 * stride : stride] = np.linspace(0.8, 0.9, 12)
    found = highest_places(values, 21)
    assert sorted(values[found].tolist()) == sorted(values.tolist())[-21:]
    assert len(set(found.tolist())) == 21
    assert sorted(highest_places(values[:9], 21).tolist()) == list(range(9))
