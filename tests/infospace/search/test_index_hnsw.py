"""The index of hnswlib: used where it may be, never with a ghost, and only when it finds what it should."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infospace.contract.arguments import BoundCondition
from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.expressions import parse_where
from infospace.search.index import ann_index as index
from infospace.search.index import hnsw
from infospace.search.index.hnsw import Hnsw
from infospace.store.changes import Delete, GiveName, MakeNote, Revise
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("made_search")

from made_search import fill, find, make, search_in, vector_of  # noqa: E402

WORDS = ["sea", "ship", "sail", "moon", "star", "bread", "salt", "rope", "tide", "gull"]


def clustered(count: int, dimension: int = 64, seed: int = 1) -> Any:
    """Made unit vectors around twenty centres."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(20, dimension))
    rows = centres[chance.integers(20, size=count)] + chance.normal(scale=1.5, size=(count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A space of 150 Notes."""
    chance = np.random.default_rng(1)
    with contextlib.closing(open_store(tmp_path / "space.db", create=True)) as opened:
        fill(opened, np.stack([vector_of(" ".join(chance.choice(WORDS, size=5))) for _ in range(150)]))
        yield opened


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting `hnsw`."""
    monkeypatch.setenv("INFOSPACE_INDEX", "hnsw")


def pairs(found: Any) -> list[tuple[str, float]]:
    """Sources and scores of the hits."""
    return [(hit.source, hit.score) for hit in found.hits]


def test_the_rows_whose_vectors_are_others_are_told_by_their_places() -> None:
    """Also where one number of a row differs, and behind the rows that are read at once."""
    vectors = clustered(2 * hnsw.CHUNK + 3, dimension=4)
    made = Hnsw.built(np.arange(len(vectors)), vectors, 1)
    assert made is not None
    labels = made.labels()
    assert made.unlike(labels, vectors) == []
    other, places = vectors.copy(), [0, 7, hnsw.CHUNK - 1, hnsw.CHUNK, 2 * hnsw.CHUNK + 2]
    for at in places:
        other[at, at % 4] += 1
    assert made.unlike(labels, other) == places
    some = [hnsw.CHUNK, 3, 7]
    assert made.unlike(labels[some], vectors[some]) == []
    assert made.unlike(labels[some], vectors[[hnsw.CHUNK, 7, 3]]) == [1, 2]
    assert made.unlike(labels[:0], vectors[:0]) == []


@pytest.mark.usefixtures("always")
def test_only_what_was_proved_is_said(store: Store) -> None:
    """Neither how many match, nor what came next, nor that it is all."""
    found = find(search_in(store), "sea tide", limit=5)
    assert (found.certificate["method"], found.certificate["matched"]) == ("hnsw", None)
    assert (found.certificate["max_below"], found.certificate["exhaustive"]) == (None, False)
    assert (found.certificate["returned"], found.certificate["notes"]) == (5, 150)
    assert 5 <= found.certificate["scored"] <= 150
    assert pairs(found) == pairs(find(search_in(store), "sea tide", limit=5, certify=True))


@pytest.mark.usefixtures("always")
def test_what_is_as_near_as_the_threshold_is_found(store: Store) -> None:
    """And nothing that is less near."""
    nearest = pairs(find(search_in(store), "sea tide", limit=5))
    for count in (1, 3, 5):
        threshold = nearest[count - 1][1]
        found = find(search_in(store), "sea tide", limit=5, threshold=threshold)
        assert (found.certificate["method"], pairs(found)) == (
            "hnsw",
            [pair for pair in nearest if pair[1] >= threshold],
        )


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    "wanted",
    [
        {"limit": None},
        {"certify": True},
        {"within": np.arange(1, 50)},
        {"where": BoundCondition(parse_where("metadata.even = $yes"), {"yes": True})},
        {"mode": "hybrid"},
    ],
)
def test_what_must_be_exact_is_exact(store: Store, wanted: dict[str, Any]) -> None:
    """`all`, `certify`, `within`, `where`, and search by words."""
    search = search_in(store)
    find(search, "sea")
    proved = find(search, "sea", **wanted).certificate
    assert proved["method"] == "exact"
    assert proved["matched"] is not None


def test_small_spaces_are_searched_exactly(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default, and with the setting `exact` whatever the size."""
    assert find(search_in(store), "sea").certificate["method"] == "exact"
    monkeypatch.setattr(index, "CROSSOVER", 10)
    monkeypatch.setenv("INFOSPACE_INDEX", "exact")
    search = search_in(store)
    assert {find(search, "sea").certificate["method"] for _ in range(3)} == {"exact"}
    assert search._index._thread is None


def test_another_setting_is_an_error(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what there is."""
    monkeypatch.setenv("INFOSPACE_INDEX", "fast")
    with pytest.raises(Invalid, match=r"^INFOSPACE_INDEX is 'fast' \(auto, exact or hnsw\)$"):
        find(search_in(store), "sea")


def test_without_hnswlib_search_is_exact(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """And goes on."""
    monkeypatch.setenv("INFOSPACE_INDEX", "hnsw")
    monkeypatch.setattr(index, "find_spec", lambda _name: None)
    assert find(search_in(store), "sea").certificate["method"] == "exact"


def test_while_a_thread_imports_hnswlib_search_is_exact(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is being imported is among the modules already, and has no spec yet."""
    monkeypatch.setattr(index, "CROSSOVER", 100)
    go = threading.Event()
    built = Hnsw.built
    monkeypatch.setattr(Hnsw, "built", lambda *rows: go.wait(60) and built(*rows))
    search = search_in(store)
    with monkeypatch.context() as importing:
        importing.setitem(sys.modules, "hnswlib", ModuleType("hnswlib"))
        assert {find(search, "sea").certificate["method"] for _ in range(3)} == {"exact"}
    go.set()
    assert search._index._thread is not None
    search._index._thread.join()
    assert find(search, "sea").certificate["method"] == "hnsw"


def test_above_the_crossover_nobody_waits_for_the_index(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first searches are exact; once the thread is done the index answers, and later reads its file."""
    monkeypatch.setattr(index, "CROSSOVER", 100)
    go = threading.Event()
    built = Hnsw.built
    monkeypatch.setattr(Hnsw, "built", lambda *rows: go.wait(60) and built(*rows))
    search = search_in(store)
    first = find(search, "sea tide")
    assert search._index._thread is None
    assert (first.certificate["method"], find(search, "sea").certificate["method"]) == ("exact", "exact")
    go.set()
    assert search._index._thread is not None
    search._index._thread.join()
    then = find(search, "sea tide")
    assert then.certificate["method"] == "hnsw"
    assert pairs(then) == pairs(first)
    monkeypatch.setattr(Hnsw, "built", None)
    later = search_in(store)
    find(later, "sea")
    find(later, "sea")
    assert later._index._thread is not None
    later._index._thread.join()
    assert find(later, "sea").certificate["method"] == "hnsw"


def test_many_changes_are_put_in_by_a_thread(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile search is exact; a few are put in at once."""
    monkeypatch.setattr(index, "CROSSOVER", 100)
    monkeypatch.setattr(index, "MAX_INSERTED_BY_SEARCH", 5)
    search = search_in(store)
    find(search, "sea")
    find(search, "sea")
    assert search._index._thread is not None
    search._index._thread.join()
    make(store, *["rope tide"] * 4)
    assert find(search, "rope tide", limit=4).certificate["method"] == "hnsw"
    ids = make(store, *["gull rope"] * 20)
    assert find(search, "gull rope", limit=30).certificate["method"] == "exact"
    search._index._thread.join()
    found = find(search, "gull rope", limit=30)
    assert found.certificate["method"] == "hnsw"
    assert set(ids) <= {hit.source for hit in found.hits}


def test_an_index_that_finds_too_little_is_not_used(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not built again and again either."""
    monkeypatch.setenv("INFOSPACE_INDEX", "hnsw")
    tries = []
    monkeypatch.setattr(Hnsw, "tuned", lambda _self, vectors, _asked: bool(tries.append(len(vectors))))
    search = search_in(store)
    assert {find(search, "sea").certificate["method"] for _ in range(3)} == {"exact"}
    assert tries == [150]
    make(store, *["moon"] * 160)
    find(search, "sea")
    assert tries == [150, 310]
    assert find(search_in(store), "sea").certificate["method"] == "exact"
    assert tries == [150, 310]


def test_building_is_given_up_when_the_program_ends() -> None:
    """Between two chunks."""
    rows = clustered(600)
    asked = iter([True, False])
    assert Hnsw.built(np.arange(600), rows, 1, lambda: next(asked)) is None


@pytest.mark.parametrize("count", [1, 3, 40, 3_000])
def test_the_ten_nearest_are_found(count: int) -> None:
    """Recall of made vectors that are not in the index is .99 at least, also after many left and came."""
    rows, queries = clustered(count), clustered(50, seed=1)
    queries += np.random.default_rng(2).normal(size=queries.shape).astype(np.float32) / 16
    made = Hnsw.built(np.arange(count), rows, 1)
    assert made is not None
    gone, fresh = np.arange(0, count, 3), clustered(len(range(0, count, 3)), seed=3)
    made.change(gone.tolist(), gone, fresh, 2)
    rows[gone] = fresh
    hits = 0
    for query in queries:
        found = made.nearest(query, 10)
        assert found is not None
        best = np.argsort(-(rows @ query))[:10]
        hits += len(set(best.tolist()) & set(found.tolist()))
    assert hits >= 0.99 * 50 * min(count, 10)
    assert (made.live, made.dead) == (count, len(gone))


def test_a_note_of_many_passages_does_not_hide_others() -> None:
    """Fifty passages of one Note are the nearest; ten Notes are wanted, and found."""
    rows = clustered(500)
    query = rows[0]
    near = query + np.random.default_rng(1).normal(size=(50, 64)).astype(np.float32) / 100
    made = Hnsw.built(
        np.concatenate([np.arange(500), np.full(50, 500)]),
        np.concatenate([rows, near / np.linalg.norm(near, axis=1, keepdims=True)]),
        1,
    )
    assert made is not None
    found = made.nearest(query, 10)
    assert found is not None
    assert len(found) >= 10
    assert {0, 500} <= set(found.tolist())


ACTS = st.lists(
    st.tuples(st.sampled_from(["make", "revise", "hide", "show", "delete"]), st.integers(0, 10**6), st.integers(0, 9)),
    max_size=40,
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(ACTS)
@pytest.mark.usefixtures("always")
def test_deleting_and_changing_leave_no_ghost(tmp_path_factory: pytest.TempPathFactory, acts: Any) -> None:
    """After each change the index's answer is the exact one: same Notes, same scores."""
    path = tmp_path_factory.mktemp("ghosts") / "space.db"
    with contextlib.closing(open_store(path, create=True)) as store:
        search = search_in(store)
        ids = fill(store, np.stack([vector_of(f"{one} {other}") for one in WORDS for other in WORDS]))
        for kind, pick, word in acts:
            note = ids[pick % len(ids)]
            if kind == "make":
                ids.append(store.new_id(Kind.NOTE))
                store.commit([MakeNote(ids[-1], f"{WORDS[word]} | sea", kept=True)])
            elif kind == "revise":
                store.commit([Revise(note, f"{WORDS[word]} tide | {WORDS[word]}")])
            elif kind in ("hide", "show"):
                store.commit([GiveName(note, f"{'_' * (kind == 'hide')}the {note}")])
            elif len(ids) > 20:
                store.commit([Delete(note)])
                ids.remove(note)
            found = find(search, WORDS[word], limit=10, threshold=-1)
            assert found.certificate["method"] == "hnsw"
            exact = find(search, WORDS[word], limit=10, threshold=-1, certify=True)
            assert [hit.score for hit in found.hits] == [hit.score for hit in exact.hits]
            least = exact.hits[-1].score
            assert [hit for hit in found.hits if hit.score > least] == [hit for hit in exact.hits if hit.score > least]


@pytest.mark.usefixtures("always")
def test_searches_and_changes_side_by_side(store: Store) -> None:
    """Eight threads search while one writes: none fails, and each finds ten."""
    search, failed = search_in(store), []

    def look() -> None:
        failed.extend(word for word in WORDS if len(find(search, word, limit=10, threshold=-1).hits) != 10)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for word in WORDS:
        make(store, f"{word} sea", f"{word} moon")
    for thread in threads:
        thread.join()
    assert not failed
