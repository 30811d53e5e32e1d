"""Corners of discovery: what is cut, what is counted, and what happens while others write."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infospace.contract.arguments import BoundCondition
from infospace.core.ids import number_of
from infospace.core.listener import NullListener
from infospace.expressions import parse_where
from infospace.search.hybrid import BM25_PER_COSINE
from infospace.search.query import SearchQuery
from infospace.search.search import MAX_MODEL_CHANGES, Search
from infospace.store.changes import Delete, Revise
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("made_search")

from made_search import MODEL, find, make, search_in  # noqa: E402


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty space."""
    with contextlib.closing(open_store(tmp_path / "space.db", create=True)) as opened:
        yield opened


def behind(store: Store) -> Search:
    """A search that embeds nothing more."""
    search = search_in(store)
    search._embedding.catch_up = lambda *_: 0  # type: ignore[method-assign]
    return search


def numbers(*ids: str) -> Any:
    """What `within` is."""
    return np.array(sorted(map(number_of, ids)), np.int64)


def having(text: str) -> BoundCondition:
    """A condition."""
    return BoundCondition(parse_where(text))


def test_the_limit_counts_what_waits_to_be_embedded(store: Store) -> None:
    """By both: it stands among the others by its score, and what is beyond the limit is not returned."""
    near, far = make(store, "sea ship", "sea moon star bread salt rope")
    find(search_in(store), "sea")
    late = make(store, "sea", "sea sail")
    everything = find(behind(store), "sea", mode="hybrid", limit=None)
    assert {hit.source for hit in everything.hits} == {near, far, *late}
    assert [hit.score for hit in everything.hits] == sorted((hit.score for hit in everything.hits), reverse=True)
    for limit in (1, 2, 3):
        found = find(behind(store), "sea", mode="hybrid", limit=limit)
        assert [hit.source for hit in found.hits] == [hit.source for hit in everything.hits][:limit]
        assert (found.certificate["returned"], found.certificate["matched"]) == (limit, 4)
        assert not found.certificate["exhaustive"]


def test_what_waits_has_the_score_of_its_words(store: Store) -> None:
    """And of two that score the same the earlier comes first."""
    make(store, "moon")
    find(search_in(store), "moon")
    first, second = make(store, "sea", "sea")
    found = find(behind(store), "sea", mode="hybrid", limit=None, threshold=0.9)
    assert [hit.source for hit in found.hits] == [first, second]
    for hit in found.hits:
        assert hit.score == round(float(hit.extra["bm25"]) / BM25_PER_COSINE, 6)  # type: ignore[arg-type]
        assert hit.extra["cosine"] is None


def test_what_waits_beside_what_is_embedded_has_the_score_of_its_own_words(store: Store) -> None:
    """Each of them, however many words the texts before it have."""
    make(store, "sea moon star bread salt rope sail", "sea ship")
    find(search_in(store), "sea")
    late = make(store, "sea", "sea sail bread moon")
    found = find(behind(store), "sea", mode="hybrid", limit=None)
    with store.reading() as snapshot:
        words = snapshot.keyword_matches("sea")
    assert words is not None
    bm25 = dict(zip(words.numbers.tolist(), words.scores.tolist(), strict=True))
    assert len({round(bm25[number_of(note)], 6) for note in late}) == 2
    for hit in found.hits:
        assert hit.extra["bm25"] == round(bm25[number_of(hit.source)], 6)
        assert (hit.extra["cosine"] is None) == (hit.source in late)


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_what_waits_outside_of_the_condition_is_not_missed(store: Store, mode: Any) -> None:
    """It was not to be searched: all that was, has been."""
    (near,) = make(store, "sea ship", metadata={"kind": "old"})
    find(search_in(store), "sea")
    (late,) = make(store, "sea", metadata={"kind": "new"})
    for narrowed in ({"within": numbers(near)}, {"where": having("metadata.kind = 'old'")}):
        proved = find(behind(store), "sea", mode=mode, limit=None, **narrowed).certificate
        assert (proved["unembedded"], proved["scored"], proved["notes"], proved["exhaustive"]) == (0, 1, 1, True)
    for narrowed in ({"within": numbers(late)}, {"where": having("metadata.kind = 'new'")}):
        proved = find(behind(store), "sea", mode=mode, limit=None, **narrowed).certificate
        assert (proved["unembedded"], proved["scored"], proved["notes"], proved["exhaustive"]) == (1, 0, 1, False)


@pytest.mark.parametrize("narrowed", [False, True])
def test_the_condition_chooses_before_the_limit(store: Store, narrowed: bool) -> None:
    """Not among the best few."""
    make(store, *["sea ship"] * 5, metadata={"kind": "a"})
    (wanted,) = make(store, "sea moon star", metadata={"kind": "b"})
    which: dict[str, Any] = {"within": numbers(wanted)} if narrowed else {"where": having("metadata.kind = 'b'")}
    for mode in ("semantic", "keyword", "hybrid"):
        found = find(search_in(store), "sea ship", mode=mode, limit=1, threshold=-1, **which)
        assert [hit.source for hit in found.hits] == [wanted], mode
        assert (found.certificate["notes"], found.certificate["matched"]) == (1, 1)


def test_within_and_where_both_count(store: Store) -> None:
    """A Note has to be in the one and to satisfy the other."""
    a, _b, c, d = (make(store, "sea", metadata={"n": n})[0] for n in range(4))
    found = find(search_in(store), "sea", limit=None, within=numbers(a, c, d), where=having("metadata.n >= 1"))
    assert {hit.source for hit in found.hits} == {c, d}


class Restless:
    """Takes another model for the space as often as a search has embedded all."""

    def __init__(self, search: Search, store: Store, times: int) -> None:
        self.turns = 0
        self._own = search._embedding.catch_up
        self._store, self._times = store, times
        search._embedding.catch_up = self  # type: ignore[method-assign, assignment]

    def __call__(self, *given: Any) -> int:
        """Catch up, and have another process take the space over."""
        done = self._own(*given)
        self.turns += 1
        if self.turns <= self._times:
            self._store.use_model("other/1")
        return done


@pytest.mark.parametrize(("times", "turns"), [(0, 1), (1, 2), (2, 3), (9, MAX_MODEL_CHANGES)])
def test_a_search_begins_anew_while_the_model_changes_and_has_an_end(store: Store, times: int, turns: int) -> None:
    """Where it goes on changing, it answers, and does not claim that all was searched."""
    make(store, "sea ship", "moon")
    search = search_in(store)
    restless = Restless(search, store, times)
    found = find(search, "sea", limit=None, threshold=-1)
    assert restless.turns == turns
    whole = times < MAX_MODEL_CHANGES
    assert found.certificate["exhaustive"] is whole
    assert len(found.hits) == (2 if whole else 0)


def test_who_may_only_read_does_not_wait_for_another_model(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot have the space embedded anew: one turn is enough."""
    make(store, "sea ship")
    store.use_model("other/1")
    monkeypatch.setattr(type(store), "writable", False)
    search = search_in(store)
    restless = Restless(search, store, 0)
    found = find(search, "sea", limit=None)
    assert restless.turns == 1
    assert (found.certificate["unembedded"], found.certificate["exhaustive"]) == (1, False)


def test_a_query_is_embedded_once_for_a_space(store: Store) -> None:
    """Its vector is kept, for other processes too, by model and text."""
    make(store, "sea ship")
    asked: list[str] = []
    for query in ("sea", "sea", "ship", "sea"):
        search = search_in(store)
        own = search._embedding.query
        search._embedding.query = lambda text, own=own: (asked.append(text), own(text))[1]  # type: ignore[method-assign, assignment, misc]
        find(search, query)
    assert asked == ["sea", "ship"]


def test_the_threshold_is_the_models_own_unless_one_is_given(store: Store) -> None:
    """Also in an empty space; 0 is a threshold."""
    assert find(search_in(store), "sea").certificate["threshold"] == 0.3
    make(store, "sea ship", "moon")
    for given, told in ((None, 0.3), (0.0, 0.0), (0.5, 0.5)):
        assert find(search_in(store), "sea", threshold=given).certificate["threshold"] == told
        assert find(search_in(store), "sea", threshold=given, mode="hybrid").certificate["threshold"] == told
    assert find(search_in(store), "sea").certificate["model"] == MODEL


def test_a_note_at_the_threshold_is_found(store: Store) -> None:
    """Inclusive, to the sixth decimal."""
    make(store, "sea ship")
    (hit,) = find(search_in(store), "sea", threshold=-1).hits
    at, above = (find(search_in(store), "sea", threshold=hit.score + more) for more in (0, 1e-6))
    assert (len(at.hits), at.certificate["max_below"]) == (1, None)
    assert (len(above.hits), above.certificate["max_below"]) == (0, hit.score)


def test_words_are_searched_in_what_is_there_now(store: Store) -> None:
    """By a search that has its matrix from before, too."""
    first, second = make(store, "sea ship", "sea moon")
    search = search_in(store)
    assert len(find(search, "sea", limit=None).hits) == 2
    store.commit([Delete(first)])
    (third,) = make(store, "sea star")
    found = find(search, "sea", mode="keyword", limit=None)
    assert {hit.source for hit in found.hits} == {second, third}
    assert found.certificate["notes"] == 2


def test_equal_scores_go_by_number_in_every_mode(store: Store) -> None:
    """Not by text: Note_9 stands before Note_10."""
    made = make(store, *["sea ship"] * 12)
    for mode in ("semantic", "keyword", "hybrid"):
        found = find(search_in(store), "sea ship", mode=mode, limit=None)
        assert [hit.source for hit in found.hits] == made, mode
        found = find(search_in(store), "sea ship", mode=mode, limit=10)
        assert [hit.source for hit in found.hits] == made[:10], mode


def test_many_that_wait_stand_by_number(store: Store) -> None:
    """Not by the text of their ids."""
    make(store, "moon")
    find(search_in(store), "moon")
    late = make(store, *["sea"] * 12)
    found = find(behind(store), "sea", mode="hybrid", limit=None, threshold=0.9)
    assert [hit.source for hit in found.hits] == late


def test_what_is_at_the_threshold_is_matched_by_meaning(store: Store) -> None:
    """Inclusive, also where words count."""
    make(store, "sea ship")
    (hit,) = find(search_in(store), "sea", threshold=-1).hits
    for more, by in ((0.0, ["meaning", "words"]), (1e-6, ["words"])):
        (both,) = find(search_in(store), "sea", mode="hybrid", threshold=hit.score + more).hits
        assert both.extra["matched_by"] == by


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_the_limit_cuts_what_is_returned_and_not_what_matched(store: Store, mode: Any) -> None:
    """A limit that is reached exactly leaves nothing out."""
    make(store, *["sea ship"] * 3)
    for limit, whole in ((1, False), (2, False), (3, True), (4, True), (None, True)):
        found = find(search_in(store), "sea", mode=mode, limit=limit)
        proved = found.certificate
        assert (len(found.hits), proved["returned"]) == (min(limit or 3, 3),) * 2
        assert (proved["matched"], proved["exhaustive"]) == (3, whole)


def test_a_hit_by_its_title_keeps_the_passage_that_is_nearest(store: Store) -> None:
    """No passage has the word, and none is as near as the title."""
    make(store, "bread salt|moon star|moon bread", metadata={"title": "moon star zebra"})
    (hit,) = find(search_in(store), "moon star zebra", mode="hybrid", threshold=0.84).hits
    assert (hit.extra["matched_by"], hit.extra["cosine"]) == (["meaning", "words"], 0.85)
    assert (hit.start, hit.end) == (11, 20)
    (hit,) = find(search_in(store), "moon star zebra", threshold=0.84).hits
    assert (hit.score, hit.start, hit.end) == (0.85, 11, 20)
    make(store, "salt", metadata={"title": "zebra"})
    _, hit = find(search_in(store), "zebra", mode="keyword").hits
    assert (hit.start, hit.end) == (None, None)


def test_an_early_note_that_has_text_at_last_stands_among_the_others(store: Store) -> None:
    """The same search finds what a new one does."""
    _first, _second, early, *_others = make(store, "sea ship", "moon star", "", "bread salt", "sail rope")
    search = search_in(store)
    find(search, "sea")
    store.commit([Revise(early, "sea moon")])
    for query in ("sea", "sea moon", "sail", "bread"):
        for mode in ("semantic", "keyword", "hybrid"):
            wanted: dict[str, Any] = {"limit": None, "threshold": 0.9, "mode": mode}
            assert find(search, query, **wanted) == find(search_in(store), query, **wanted)
    assert find(search, "sea moon").hits[0].source == early


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_a_condition_on_what_no_note_has_is_told_in_every_mode(store: Store, mode: Any) -> None:
    """With what was perhaps meant."""
    make(store, "sea", "sea ship", metadata={"kind": "tale"})
    found = find(search_in(store), "sea", mode=mode, where=having("metadata.knd = 'tale'"))
    assert "did you mean `metadata.kind`?" in str(found.hint)
    assert find(search_in(store), "sea", mode=mode, where=having("metadata.kind = 'tale'")).hint is None


@pytest.mark.parametrize("limit", [0, 1, 2, 3, None])
def test_a_search_by_conditions_alone_gives_no_more_than_are_asked_for(store: Store, limit: int | None) -> None:
    """The first by their numbers; its certificate says how many there are, and whether these are all."""
    ids = make(store, "one", "two", "three", "four")
    query = SearchQuery(None, within=numbers(*ids[:3]), limit=limit)
    found = search_in(store).find(query, NullListener())
    kept = ids[: 3 if limit is None else limit]
    assert [hit.source for hit in found.hits] == kept
    proved = found.certificate
    assert (proved["method"], proved["matched"], proved["returned"]) == ("filter", 3, len(kept))
    assert proved["exhaustive"] is (len(kept) == 3)
