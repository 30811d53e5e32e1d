"""Ranking by the store itself: `nearest` by an index, `above` exactly. A store may answer None, that it cannot."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from store_tools import MODEL, note

from infospace.core.ids import Kind, number_of
from infospace.store.changes import Delete, Embed, GiveName, MakeNote, PassageSpan, Revise, Vectors
from infospace.store.protocol import NearestNotes, Store

THRESHOLD = 0.1


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return rows of length one."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def fill(store: Store, count: int = 60, dimension: int = 16) -> NDArray[np.float32]:
    """Make embedded Notes of one or two passages; return a query."""
    chance = np.random.default_rng(3)
    vectors = unit(chance.normal(size=(2 * count, dimension)))
    store.use_model(MODEL)
    made = [store.new_id(Kind.NOTE) for _ in range(count)]
    digests = [sha256(bytes([at])).digest() for at in range(2 * count)]
    parts = [PassageSpan(5 * at, 5 * at + 5, digest) for at, digest in enumerate(digests)]
    store.commit(
        [
            Vectors(MODEL, digests, vectors),
            *(MakeNote(identifier, "text", kept=True) for identifier in made),
            *(
                Embed(identifier, 1, parts[2 * at : 2 * at + 1 + at % 2])
                for at, identifier in enumerate(made)
                if at % 7 != 6
            ),
        ]
    )
    query: NDArray[np.float32] = unit(chance.normal(size=(1, dimension)))[0]
    return query


def looped(store: Store, query: NDArray[np.float32]) -> list[tuple[float, int, int]]:
    """Every Note's best cosine, number and first best passage's start, nearest first."""
    with store.reading() as snapshot:
        rows = snapshot.rows(MODEL)
    best: dict[int, tuple[float, int, int]] = {}
    for owner, start, vector in zip(rows.owners.tolist(), rows.starts.tolist(), rows.vectors, strict=True):
        cosine = round(float(np.dot(vector.astype(np.float64), query.astype(np.float64))), 6)
        if owner not in best or cosine > best[owner][0]:
            best[owner] = cosine, owner, start
    return sorted(best.values(), key=lambda found: (-found[0], found[1]))


def told(near: NearestNotes) -> list[tuple[float, int, int]]:
    """Return cosine, number and start of each."""
    assert (near.cosines.dtype, near.numbers.dtype) == (np.float64, np.int64)
    return list(zip(near.cosines.tolist(), near.numbers.tolist(), near.starts.tolist(), strict=True))


@pytest.fixture
def query(store: Store, implementation: Any) -> NDArray[np.float32]:
    """A query to a store that has vectors, and ranks."""
    made = fill(store)
    with store.reading() as snapshot:
        if snapshot.above(MODEL, made, 0.0) is None:
            assert snapshot.nearest(MODEL, made, 1) is None
            pytest.skip("the store does not rank")
    implementation.index(store.address)
    return made


def above(store: Store, query: NDArray[np.float32], threshold: float = THRESHOLD, **more: object) -> NearestNotes:
    """Ask a store that ranks."""
    with store.reading() as snapshot:
        found = snapshot.above(MODEL, query, threshold, **more)  # type: ignore[arg-type]
    assert found is not None
    return found


class TestAbove:
    """Exact: what a loop in double precision over all rows finds, to the sixth decimal."""

    def test_all_notes_from_a_threshold_on_are_found(self, store: Store, query: NDArray[np.float32]) -> None:
        """In order, with the first best passage, how many there are, and how near the next came."""
        every = looped(store, query)
        found = above(store, query)
        expected = [one for one in every if one[0] >= THRESHOLD]
        assert 5 < len(expected) < len(every)
        assert told(found) == expected
        assert (found.matched, found.max_below) == (len(expected), every[len(expected)][0])
        assert set(found.versions.tolist()) == {1}
        assert (found.ends - found.starts).tolist() == [5] * len(expected)

    def test_a_limit_cuts_and_counts_all_the_same(self, store: Store, query: NDArray[np.float32]) -> None:
        """The best so many; `matched` does not change."""
        every = above(store, query)
        some = above(store, query, limit=3)
        assert (told(some), some.matched, some.max_below) == (told(every)[:3], every.matched, every.max_below)

    def test_a_threshold_that_is_a_score_includes_it(self, store: Store, query: NDArray[np.float32]) -> None:
        """To the last decimal; one more and it is what came nearest."""
        every = looped(store, query)
        for place in (0, 7, len(every) - 1):
            cosine = every[place][0]
            assert above(store, query, cosine).matched == place + 1
            over = above(store, query, round(cosine + 1e-6, 6))
            assert (over.matched, over.max_below) == (place, cosine)

    def test_all_and_none_are_thresholds_too(self, store: Store, query: NDArray[np.float32]) -> None:
        """At -1 nothing came near; at 1 nothing is found."""
        assert above(store, query, -1.0).max_below is None
        nobody = above(store, query, 1.0)
        assert (told(nobody), nobody.matched) == ([], 0)

    def test_it_can_be_among_some_notes(self, store: Store, query: NDArray[np.float32]) -> None:
        """Those without passages, and those that are none, count for nothing."""
        among = [2, 7, 9, 14, 30, 999]
        expected = [one for one in looped(store, query) if one[1] in among]
        found = above(store, query, -1.0, numbers=among)
        assert told(found) == expected
        assert len(above(store, query, -1.0, numbers=[]).numbers) == 0

    def test_it_is_of_the_present_notes_and_versions(self, store: Store, query: NDArray[np.float32]) -> None:
        """Deleted, hidden and changed ones are out from the commit on; a snapshot keeps what it saw."""
        before = looped(store, query)
        first, second, third = (f"Note_{number}" for _, number, _ in before[:3])
        with store.reading() as snapshot:
            store.commit([Delete(first), GiveName(second, "_x"), Revise(third, "new")])
            kept = snapshot.above(MODEL, query, -1.0)
        assert kept is not None
        assert told(kept) == before
        assert told(above(store, query, -1.0)) == before[3:]

    def test_some_may_be_left_out(self, store: Store, query: NDArray[np.float32]) -> None:
        """They count nowhere, and those that are nobody's do not matter."""
        every = looped(store, query)
        out = [one[1] for one in every[:4]] + [every[8][1], 999]
        expected = [one for one in every if one[1] not in out]
        found = above(store, query, expected[2][0], excluding=out)
        assert (told(found), found.matched, found.max_below) == (expected[:3], 3, expected[3][0])
        among = [one[1] for one in every[3:10]]
        found = above(store, query, -1.0, numbers=among, excluding=out)
        assert told(found) == [one for one in every[4:10] if one[1] not in out]

    def test_another_model_has_other_rows(self, store: Store, query: NDArray[np.float32]) -> None:
        """Of one without vectors nothing is found."""
        with store.reading() as snapshot:
            found = snapshot.above("another", query, -1.0)
        assert found is not None
        assert (len(found.numbers), found.matched, found.max_below) == (0, 0, None)


class TestNearest:
    """By an index: nearly all of the nearest."""

    def test_nearly_all_of_the_nearest_are_found(self, store: Store, query: NDArray[np.float32]) -> None:
        """At most as many as wanted, each at its right cosine and passage, nearest first."""
        with store.reading() as snapshot:
            found = snapshot.nearest(MODEL, query, 10)
        assert found is not None
        every = looped(store, query)
        assert set(told(found)) <= set(every)
        assert told(found) == sorted(told(found), key=lambda one: (-one[0], one[1]))
        assert len(set(told(found)) & set(every[:10])) >= 9
        assert len(told(found)) <= 10

    def test_a_note_is_found_from_the_commit_on_that_embeds_it(self, store: Store, query: NDArray[np.float32]) -> None:
        """And no more from the one on that takes it out."""
        fresh = store.new_id(Kind.NOTE)
        store.commit(
            [
                MakeNote(fresh, "text", kept=True),
                Vectors(MODEL, [b"fresh"], query[None, :]),
                Embed(fresh, 1, [PassageSpan(0, 4, b"fresh")]),
            ]
        )
        with store.reading() as snapshot:
            found = snapshot.nearest(MODEL, query, 1)
        assert found is not None
        assert (found.numbers.tolist(), found.cosines.tolist()) == ([number_of(fresh)], [1.0])
        store.commit([Revise(fresh, "other")])
        with store.reading() as snapshot:
            found = snapshot.nearest(MODEL, query, 1)
        assert found is not None
        assert found.numbers.tolist() != [number_of(fresh)]


def test_a_store_that_has_no_vectors_finds_nothing_or_cannot(store: Store) -> None:
    """Neither is an error."""
    note(store, kept=True)
    with store.reading() as snapshot:
        for found in (snapshot.above(MODEL, np.ones(3, np.float32), 0.0), snapshot.nearest(MODEL, np.ones(3), 5)):
            assert found is None or not len(found.numbers)
