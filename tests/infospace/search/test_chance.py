"""The threshold `auto`: what everyday requests find in a space, and where between that and the best hit hits end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from infospace.core.ids import number_of
from infospace.search.chance import PASSAGES, SAMPLE, chance_of_rows, sampled
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.search.query import AUTO_THRESHOLD_FRACTION, Mode
from infospace.store.changes import Delete, Revise
from infospace.store.protocol import Snapshot, Store
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "memory" / "contract"))
pytest.register_assert_rewrite("made_search")

from made_search import THRESHOLD, brute, eligible, find, make, search_in, vector_of  # noqa: E402
from ranking_store import RankingStore  # noqa: E402

TEXTS = [f"{first} {second} tale|{second} {third}" for first in "abcd" for second in "efg" for third in "hij"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A space of some tales."""
    with contextlib.closing(open_store(tmp_path / "space.db", create=True)) as opened:
        make(opened, *TEXTS)
        yield opened


def chance_by_hand(store: Store) -> float:
    """The median of the best cosines of everyday requests, by a loop."""
    notes = eligible(store).values()
    return round(float(np.median([max(score for score, *_ in brute(notes, one).values()) for one in EVERYDAY])), 6)


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_hits_end_at_a_share_of_the_way_from_chance_to_the_best(store: Store, mode: Mode) -> None:
    """The certificate says both, and every Note at or above the threshold was found."""
    found = find(search_in(store), "a e tale", threshold="auto", limit=None, mode=mode).certificate
    scores = [score for score, *_ in brute(eligible(store).values(), "a e tale").values()]
    chance = chance_by_hand(store)
    assert found["chance"] == pytest.approx(chance, abs=2e-6)
    assert found["threshold"] == pytest.approx(chance + AUTO_THRESHOLD_FRACTION * (max(scores) - chance), abs=2e-6)
    near = found["matched"] if mode == "semantic" else found["matched_by"]["meaning"]
    assert near == sum(score >= found["threshold"] for score in scores)
    assert 0 < near < len(scores)


def test_nothing_is_found_where_the_best_is_below_chance(store: Store) -> None:
    """Of two queries that are alike but for where they point."""
    away = next(word for word in map(str, range(1_000)) if _best(store, word) < chance_by_hand(store) - 0.01)
    found = find(search_in(store), away, threshold="auto", limit=None)
    assert not found.hits
    assert found.certificate["threshold"] == found.certificate["chance"]
    assert found.certificate["max_below"] == pytest.approx(_best(store, away), abs=2e-6)


def _best(store: Store, query: str) -> float:
    return max(score for score, *_ in brute(eligible(store).values(), query).values())


@pytest.mark.parametrize("wanted", [{}, {"limit": None}, {"certify": True}, {"within": np.array([2, 5, 9])}], ids=str)
def test_a_store_that_ranks_answers_the_same(store: Store, tmp_path: Path, wanted: dict[str, object]) -> None:
    """By its index or by comparing with every Note."""
    plain = find(search_in(store), "b f tale", threshold="auto", **wanted)
    with contextlib.closing(open_store(tmp_path / "space.db", create=False)) as opened:
        ranked = find(search_in(RankingStore(opened)), "b f tale", threshold="auto", **wanted)  # type: ignore[arg-type]
    assert ranked.hits == plain.hits
    assert ranked.certificate["threshold"] == plain.certificate["threshold"]
    assert ranked.certificate["chance"] == plain.certificate["chance"]


@pytest.mark.parametrize("threshold", [-1.0, 0.5, 1.0, None], ids=str)
def test_a_certificate_with_proof_proposes_what_auto_would_be(store: Store, threshold: float | None) -> None:
    """Whatever the threshold that was used, and though nothing reaches it; hits are those of that threshold."""
    auto = find(search_in(store), "b f tale", threshold="auto").certificate
    plain = find(search_in(store), "b f tale", threshold=threshold)
    found = find(search_in(store), "b f tale", threshold=threshold, certify=True)
    assert found.hits == plain.hits
    assert found.certificate == plain.certificate | {
        "chance": auto["chance"],
        "proposed_threshold": auto["threshold"],
    }
    assert "proposed_threshold" not in find(search_in(store), "b f tale", threshold="auto", certify=True).certificate


def test_chance_follows_the_space(store: Store) -> None:
    """A Note that comes to say what everyday requests do raises it, and it sinks again when the Note goes."""
    search = search_in(store)
    before = find(search, "a e", threshold="auto").certificate["chance"]
    (note,) = make(store, "a e tale")
    assert find(search, "a e", threshold="auto").certificate["chance"] == before
    store.commit([Revise(note, "|".join(EVERYDAY))])
    assert find(search, "a e", threshold="auto").certificate["chance"] == pytest.approx(1.0)
    store.commit([Delete(note)])
    assert find(search, "a e", threshold="auto").certificate["chance"] == before


def test_what_nobody_may_know_of_moves_no_threshold(store: Store) -> None:
    """Chance is told among the Notes that whoever asks may see."""
    expected = find(search_in(store), "a e", threshold="auto").certificate
    hidden = [number_of(one) for one in make(store, *EVERYDAY)]

    def seen(_snapshot: Snapshot, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.setdiff1d(numbers, hidden)

    found = find(search_in(store), "a e", threshold="auto", seen=seen).certificate
    assert (found["chance"], found["threshold"]) == (expected["chance"], expected["threshold"])


def test_without_vectors_the_models_own_threshold_counts(tmp_path: Path) -> None:
    """An empty space, and one whose only Note has no text."""
    with contextlib.closing(open_store(tmp_path / "other.db", create=True)) as opened:
        for _ in range(2):
            found = find(search_in(opened), "a", threshold="auto").certificate
            assert (found["threshold"], found["chance"]) == (THRESHOLD, None)
            make(opened, "")


def test_a_given_threshold_says_nothing_of_chance(store: Store) -> None:
    """No everyday request is embedded for it."""
    assert "chance" not in find(search_in(store), "a e", threshold=0.2).certificate
    assert "chance" not in find(search_in(store), "a e").certificate


def test_a_sample_changes_by_one_number_at_most() -> None:
    """Whatever order it is told in, and whichever number comes."""
    numbers = np.arange(1, 9_000, 2)
    chosen = set(sampled(numbers).tolist())
    assert len(chosen) == SAMPLE
    for more in (2, 400, 8_888):
        assert len(chosen - set(sampled(np.sort(np.append(numbers, more))).tolist())) <= 1
    assert sampled(numbers, 5_000).tolist() == sampled(numbers, len(numbers)).tolist()
    assert 4_200 < np.mean(sampled(numbers)) < 4_800


def _unit(count: int, seed: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, 96))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("passages", [1, 5])
def test_the_chance_of_a_large_space_is_told_by_few_of_its_notes(passages: int) -> None:
    """Nearer to what all give than what the sample alone gives, however many passages each Note has."""
    notes, everyday = 12_000, _unit(99, 1)
    vectors = _unit(notes * passages, 2)
    owners = np.repeat(np.arange(1, notes + 1), passages)
    true = float(np.median((vectors @ everyday.T).max(axis=0)))
    taken = min(SAMPLE, PASSAGES // passages)
    alone = np.isin(owners, sampled(np.unique(owners), taken))
    sample = float(np.median((vectors[alone] @ everyday.T).max(axis=0)))
    told = chance_of_rows(owners, vectors, everyday)
    assert told is not None
    assert abs(told - true) < abs(sample - true) / 2
    assert chance_of_rows(owners[::-1], vectors[::-1], everyday) == told


def test_vectors_of_requests_are_those_of_the_packaged_list(store: Store) -> None:
    """Its requests are many, each there once, and none is blank."""
    del store
    assert len(set(EVERYDAY)) == len(EVERYDAY) > 50
    assert all(vector_of(one).any() for one in EVERYDAY)
