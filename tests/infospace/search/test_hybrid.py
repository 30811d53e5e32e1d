"""Search by meaning and words: near or with a word, ordered by both, each hit saying why it is there."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infospace.core.ids import Kind, number_of
from infospace.search.hybrid import BM25_PER_COSINE
from infospace.search.query import SearchResults
from infospace.store.changes import Delete, Keep, MakeNote
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("made_search")

from made_search import brute, eligible, find, make, search_in  # noqa: E402

WORDS = ["sea", "ship", "sail", "moon", "star", "bread", "salt"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty space."""
    with contextlib.closing(open_store(tmp_path / "space.db", create=True)) as opened:
        yield opened


def hybrid(store: Store, query: str, **wanted: Any) -> SearchResults:
    """Search by both."""
    return find(search_in(store), query, mode="hybrid", **{"limit": None, **wanted})


TEXTS = st.lists(st.sampled_from([*WORDS, "|"]), max_size=7).map(" ".join)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(TEXTS, min_size=1, max_size=12),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    st.sampled_from([-1.0, 0.0, 0.3, 0.8, 1.0]),
    st.none() | st.integers(1, 5),
    st.none() | st.sets(st.integers(1, 12)),
)
def test_every_search_is_the_brute_force_one(
    texts: list[str], query: str, threshold: float, limit: int | None, within: set[int] | None
) -> None:
    """Cosines by a loop, BM25 by the store, and nothing else: hits, order, scores, reasons, certificate."""
    numbers = None if within is None else np.array(sorted(within), np.int64)
    with contextlib.closing(open_store(":memory:", create=True)) as store:
        make(store, *texts)
        found = hybrid(store, query, threshold=threshold, limit=limit, within=numbers)
        notes = {number: note for number, note in eligible(store).items() if within is None or number in within}
        cosines = {note: score for note, (score, _, _) in brute(notes.values(), query).items()}
        with store.reading() as snapshot:
            words = snapshot.keyword_matches(query)
    assert words is not None
    pairs = zip(words.numbers.tolist(), words.scores.tolist(), strict=True)
    bm25 = {f"Note_{number}": score for number, score in pairs if number in notes}
    near = {note for note, cosine in cosines.items() if cosine >= threshold}
    fused = {note: round(cosines[note] + bm25.get(note, 0) / BM25_PER_COSINE, 6) for note in near | bm25.keys()}
    order = sorted(fused, key=lambda note: (-fused[note], number_of(note)))
    assert [(hit.source, hit.score) for hit in found.hits] == [(note, fused[note]) for note in order[:limit]]
    for hit in found.hits:
        assert hit.extra["cosine"] == cosines[hit.source]
        assert hit.extra["bm25"] == round(bm25.get(hit.source, 0), 6)
        assert hit.extra["matched_by"] == ["meaning"] * (hit.source in near) + ["words"] * (hit.source in bm25)
    below = [cosine for note, cosine in cosines.items() if note not in fused]
    proved = found.certificate
    assert (proved["matched"], proved["max_below"]) == (len(fused), max(below, default=None))
    assert proved["matched_by"] == {"meaning": len(near), "words": len(bm25)}
    assert proved["exhaustive"] == (len(found.hits) == len(fused))


def test_a_word_brings_in_what_is_below_the_threshold(store: Store) -> None:
    """And the nearer one without the word is there too."""
    word, near = make(store, "sea moon star bread salt rope", "ship")
    found = hybrid(store, "ship sea", threshold=0.6)
    assert {hit.source: hit.extra["matched_by"] for hit in found.hits} == {
        near: ["meaning", "words"],
        word: ["words"],
    }


def test_what_a_word_brings_in_is_counted_by_its_word_alone(store: Store) -> None:
    """And is not the nearest of those that do not match, though nearer than they are."""
    word, near, *_others = make(store, "sea moon star bread salt rope", "ship", "sail sail", "moon|star moon")
    cosines = sorted(cosines_to(store, "ship sea").values())
    assert cosines_to(store, "ship sea")[word] == cosines[-2] < 0.6
    found = hybrid(store, "ship sea", threshold=0.6)
    assert {hit.source for hit in found.hits} == {word, near}
    assert (found.certificate["matched"], found.certificate["max_below"]) == (2, cosines[-3])
    assert found.certificate["matched_by"] == {"meaning": 1, "words": 2}


def test_how_many_are_near_is_counted_exactly_at_the_threshold(store: Store) -> None:
    """A cosine that is the threshold is near, and one by a millionth less is not."""
    (note,) = make(store, "sea moon star")
    (cosine,) = cosines_to(store, "ship sea").values()
    for threshold, near in ((cosine, 1), (round(cosine + 1e-6, 6), 0), (round(cosine - 1e-6, 6), 1)):
        found = hybrid(store, "ship sea", threshold=threshold)
        assert [hit.source for hit in found.hits] == [note]
        assert found.hits[0].extra["matched_by"] == ["meaning"] * near + ["words"]
        assert found.certificate["matched_by"] == {"meaning": near, "words": 1}


def test_of_equals_those_without_vectors_come_by_their_number(store: Store) -> None:
    """The ninth before the tenth, also where only one of them is wanted."""
    make(store, *["moon"] * 8)
    find(search_in(store), "sea")
    late = make(store, "sea", "sea", "sea")
    assert late == ["Note_9", "Note_10", "Note_11"]
    search = search_in(store)
    search._embedding.catch_up = lambda *_: 0  # type: ignore[method-assign]
    for limit in (1, 2, 3, None):
        found = find(search, "sea", mode="hybrid", threshold=1.0, limit=limit)
        assert [hit.source for hit in found.hits] == late[:limit]


def test_a_note_that_is_kept_after_later_ones_stands_in_its_place(store: Store) -> None:
    """Its vector and its words meet, and those of the others."""
    ids = [store.new_id(Kind.NOTE) for _ in range(8)]
    texts = ["sea", "moon", "ship sea", "star", "bread", "salt moon", "sail", "sea salt"]
    store.commit([MakeNote(one, text, kept=one != ids[1]) for one, text in zip(ids, texts, strict=True)])
    search = search_in(store)
    assert len(find(search, "sea", mode="hybrid", limit=None, threshold=1.0).hits) == 3
    store.commit([Keep(ids[1])])
    for word in ("moon", "sea", "salt"):
        found = find(search, word, mode="hybrid", limit=None, threshold=1.0).hits
        fresh = find(search_in(store), word, mode="hybrid", limit=None, threshold=1.0).hits
        assert [(hit.source, hit.score, hit.extra) for hit in found] == [
            (hit.source, hit.score, hit.extra) for hit in fresh
        ]
        assert all(hit.extra["cosine"] is not None for hit in found)
        assert [hit.source for hit in found if hit.source == ids[1]] == ids[1:2] * (word == "moon")


def cosines_to(store: Store, query: str) -> dict[str, float]:
    """The cosine of each Note, by a loop."""
    return {note: score for note, (score, _, _) in brute(eligible(store).values(), query).items()}


def test_what_waits_to_be_embedded_is_found_by_its_words(store: Store) -> None:
    """It has no cosine, and the certificate does not claim that all was searched."""
    make(store, "sea ship")
    find(search_in(store), "sea")
    (late,) = make(store, "sea moon")
    search = search_in(store)
    search._embedding.catch_up = lambda *_: 0  # type: ignore[method-assign]
    found = find(search, "sea", mode="hybrid", limit=None)
    hit = next(hit for hit in found.hits if hit.source == late)
    assert (hit.extra["cosine"], hit.extra["matched_by"], hit.start, hit.end) == (None, ["words"], 0, 8)
    assert (found.certificate["unembedded"], found.certificate["exhaustive"]) == (1, False)
    assert found.certificate["matched"] == 2


def test_a_note_without_text_is_found_by_its_title(store: Store) -> None:
    """It has no passage, and is embedded all the same."""
    (empty,) = make(store, "", metadata={"title": "sea"})
    found = hybrid(store, "sea")
    assert [hit.source for hit in found.hits] == [empty]
    assert (found.certificate["unembedded"], found.certificate["exhaustive"]) == (0, True)


def test_a_deleted_note_leaves_no_ghost(store: Store) -> None:
    """In neither leg."""
    first, second = make(store, "sea ship", "sea ship")
    search = search_in(store)
    assert len(find(search, "sea", mode="hybrid").hits) == 2
    store.commit([Delete(first)])
    assert [hit.source for hit in find(search, "sea", mode="hybrid").hits] == [second]


def test_in_an_empty_space_there_is_nothing(store: Store) -> None:
    """No model is needed."""
    assert hybrid(store, "sea").hits == []


def test_a_hit_by_a_word_alone_points_at_the_word(store: Store) -> None:
    """Others at the passage that is nearest in meaning."""
    (note,) = make(store, "moon star rope|bread salt sea|moon star")
    (hit,) = hybrid(store, "ship sea", threshold=0.9).hits
    assert (hit.source, hit.extra["matched_by"], hit.start, hit.end) == (note, ["words"], 15, 29)
    (hit,) = hybrid(store, "moon star salt", threshold=0.5).hits
    assert (hit.extra["matched_by"], hit.start) == (["meaning", "words"], 30)
