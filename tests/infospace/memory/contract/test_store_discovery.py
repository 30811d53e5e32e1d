"""What a store knows for discovery: what is searched, passages and vectors, generations."""

from __future__ import annotations

import os

import numpy as np
import pytest
from store_tools import (
    MODEL,
    collection,
    digest,
    embed,
    embedded,
    generation,
    get,
    kept,
    note,
    relation,
    searched,
    waiting,
)

from infospace.core.errors import Invalid, NotFound
from infospace.core.ids import Kind, number_of
from infospace.store.changes import (
    Change,
    Delete,
    Embed,
    Evidence,
    FreeName,
    GiveName,
    Keep,
    MakeNote,
    PassageSpan,
    Query,
    Revise,
    Vectors,
)
from infospace.store.protocol import Store


class TestSearched:
    """Which Notes discovery searches, and which wait to be embedded."""

    def test_kept_notes_that_are_no_evidence_are_searched(self, store: Store) -> None:
        """Transient ones, infrastructure, evidence, deleted ones, Collections and Relations are not."""
        a, b = note(store, kept=True), note(store)
        hidden, gone = note(store, kept=True), note(store, kept=True)
        relation(store, a, a, kept=True)
        collection(store, [a], kept=True)
        cited, own = store.new_id(Kind.NOTE), store.new_id(Kind.NOTE)
        store.commit(
            [MakeNote(cited, Evidence(a, 1, 0.5), kept=True), MakeNote(own, {"text": "t"}, kept=True, evidence=True)]
        )
        store.commit([GiveName(hidden, "_hidden"), Delete(gone)])
        assert get(store, own).evidence
        assert searched(store) == waiting(store) == [number_of(a)]
        store.commit([Keep(b)])
        assert searched(store) == [number_of(a), number_of(b)]
        with store.reading() as snapshot:
            assert snapshot.discoverable([number_of(b), number_of(hidden), 999]).tolist() == [number_of(b)]
            assert snapshot.discoverable(np.array([], np.int64)).tolist() == []

    def test_an_underscore_name_hides_and_another_shows_again(self, store: Store) -> None:
        """Passages go when it hides; when it shows again it waits to be embedded."""
        a = note(store, kept=True)
        embed(store, a)
        store.commit([GiveName(a, "_a")])
        assert (searched(store), waiting(store), embedded(store)) == ([], [], [])
        store.commit([GiveName(a, "a")])
        assert (searched(store), waiting(store), embedded(store)) == ([1], [1], [])

    def test_losing_an_underscore_name_shows(self, store: Store) -> None:
        """The holder of `_n` is searched once it is called otherwise; one that loses it to another is let go."""
        a, b = note(store, kept=True), note(store, kept=True)
        store.commit([GiveName(a, "_n")])
        store.commit([FreeName(a), GiveName(b, "_n")])
        assert searched(store) == waiting(store) == [number_of(a)]
        c = note(store, kept=True)
        store.commit([GiveName(c, "_n", replace=True)])
        assert searched(store) == waiting(store) == [number_of(a)]
        assert kept(store, a, b, c) == [True, False, True]

    def test_new_text_waits_and_loses_its_passages(self, store: Store) -> None:
        """In the same transaction; metadata alone keeps the passages, at the new version."""
        a, b = note(store, "a", kept=True), note(store, "b", kept=True)
        embed(store, a, b)
        store.commit([Revise(a, "new"), Revise(b, metadata={"x": 1}), Revise(b, "b")])
        assert waiting(store) == [1]
        assert embedded(store) == [(2, 3)]

    def test_evidence_that_gets_plain_content_is_searched(self, store: Store) -> None:
        """It is a Note like any other then."""
        a, cited = note(store, "a"), store.new_id(Kind.NOTE)
        store.commit([MakeNote(cited, Evidence(a, 1, 0.5), kept=True)])
        store.commit([Revise(cited, metadata={"x": 1})])
        assert get(store, cited).evidence
        store.commit([Revise(cited, "plain")])
        assert not get(store, cited).evidence
        assert searched(store) == waiting(store) == [number_of(cited)]

    def test_pending_gives_the_text_that_is_to_be_embedded(self, store: Store) -> None:
        """A string is itself, other JSON its compact form in stored order, a blank text is there too."""
        made = [note(store, content, kept=True) for content in ("text\n", {"b": [1, None], "a": "ü"}, "", None)]
        with store.reading() as snapshot:
            texts = snapshot.pending()
            assert [text.id for text in snapshot.pending(limit=2)] == made[:2]
        assert [text.text for text in texts] == ["text\n", '{"b":[1,null],"a":"ü"}', "", "null"]
        assert {text.version for text in texts} == {1}

    def test_a_note_without_passages_can_be_embedded(self, store: Store) -> None:
        """It is searched, has no row, and waits no longer."""
        blank = note(store, " ", kept=True)
        store.commit([Embed(blank, 1, [])])
        assert (searched(store), waiting(store), embedded(store)) == ([1], [], [])


class TestEmbedding:
    """Passages and vectors."""

    def test_rows_come_by_note_and_passage(self, store: Store) -> None:
        """All of them, or those of some Notes, with bounds and vectors row for row."""
        long, short = note(store, "abcdef", kept=True), note(store, "x", kept=True)
        parts = [PassageSpan(0, 3, digest("abc")), PassageSpan(2, 6, digest("cdef"))]
        vectors = np.arange(9, dtype=np.float32).reshape(3, 3)
        store.commit(
            [
                Vectors(MODEL, [digest("x"), digest("abc"), digest("cdef")], vectors),
                Embed(short, 1, [PassageSpan(0, 1, digest("x"))]),
                Embed(long, 1, parts),
            ]
        )
        with store.reading() as snapshot:
            rows, some, none = snapshot.rows(MODEL), snapshot.rows(MODEL, [2, 77]), snapshot.rows("another")
            nobody = snapshot.rows(MODEL, [])
        assert rows.owners.tolist() == [1, 1, 2]
        assert (rows.starts.tolist(), rows.ends.tolist()) == ([0, 2, 0], [3, 6, 1])
        assert rows.vectors.tolist() == vectors[[1, 2, 0]].tolist()
        assert (rows.vectors.dtype, rows.owners.dtype) == (np.float32, np.int64)
        assert (some.owners.tolist(), some.vectors.tolist()) == ([2], [[0.0, 1.0, 2.0]])
        assert (len(none.owners), none.vectors.shape, nobody.vectors.shape) == (0, (0, 0), (0, 3))

    def test_more_rows_than_a_batch_come_back_bit_for_bit(self, store: Store) -> None:
        """No row is lost or moved where reading is done by the batch."""
        count = 1_203
        made = [store.new_id(Kind.NOTE) for _ in range(count)]
        vectors = np.random.default_rng(1).normal(size=(count, 5)).astype(np.float32)
        digests = [os.urandom(32) for _ in made]
        store.commit(
            [
                *(MakeNote(identifier, "x", kept=True) for identifier in made),
                Vectors(MODEL, digests, vectors),
                *(
                    Embed(identifier, 1, [PassageSpan(0, 1, key)])
                    for identifier, key in zip(made, digests, strict=True)
                ),
            ]
        )
        with store.reading() as snapshot:
            rows = snapshot.rows(MODEL)
        assert (rows.vectors == vectors).all()
        assert rows.owners.tolist() == list(range(1, count + 1))

    def test_embedding_an_earlier_version_is_left_undone(self, store: Store) -> None:
        """Also of a Note that was deleted, or left discovery, meanwhile; an unknown id is an error."""
        a, b, c = (note(store, text, kept=True) for text in ("a", "b", "c"))
        store.commit([Revise(a, "new"), Delete(b), GiveName(c, "_c")])
        before = generation(store)
        for identifier in (a, b, c):
            store.commit([Embed(identifier, 1, [PassageSpan(0, 1, digest("x"))])])
        assert (embedded(store), waiting(store), generation(store)) == ([], [1], before)
        with pytest.raises(NotFound, match="there is no Note"):
            store.commit([Embed("Note_99", 1, [])])

    def test_vectors_of_another_model_embed_nothing(self, store: Store) -> None:
        """A process that still uses the earlier model must not take Notes out of those that wait."""
        a = note(store, "a", kept=True)
        store.use_model(MODEL)
        embed(store, a, model="an earlier one")
        assert waiting(store) == [1]
        embed(store, a)
        assert (waiting(store), embedded(store)) == ([], [(1, 1)])

    def test_a_change_of_model_makes_everything_wait(self, store: Store) -> None:
        """Each searched Note is touched and without passages; the same model again changes nothing."""
        a, hidden = note(store, "a", kept=True), note(store, "b", kept=True)
        store.commit([GiveName(hidden, "_b")])
        store.use_model(MODEL)
        embed(store, a)
        before = generation(store)
        store.use_model(MODEL)
        assert (waiting(store), generation(store)) == ([], before)
        store.use_model("next")
        with store.reading() as snapshot:
            assert snapshot.model() == "next"
            assert snapshot.moved(before).touched == {1}
            assert snapshot.known_vectors(MODEL, [digest("a"), digest("zzz")]) == {digest("a")}
            assert snapshot.known_vectors("next", [digest("a")]) == set()
        assert (waiting(store), embedded(store)) == ([1], [])

    def test_vectors_that_do_not_fit_are_refused(self, store: Store) -> None:
        """NaN, another dimension, another count."""
        store.commit(
            [Vectors(MODEL, [b"1"], np.ones((1, 3), np.float32)), Vectors(MODEL, [], np.empty((0, 3), np.float32))]
        )
        for digests, rows, message in (
            ([b"2"], np.full((1, 3), np.nan), "NaN"),
            ([b"2"], np.ones((1, 4)), "3 dimensions, not 4"),
            ([b"2", b"3"], np.ones((1, 3)), "2 digests"),
        ):
            with pytest.raises(Invalid, match=message):
                store.commit([Vectors(MODEL, digests, rows.astype(np.float32))])
        with pytest.raises(Invalid, match="passage from 3 to 2"):
            store.commit([Embed(note(store, kept=True), 1, [PassageSpan(3, 2, b"1")])])

    def test_a_query_is_remembered_by_model_and_digest(self, store: Store) -> None:
        """The last vector counts, and is float32."""
        row = np.array([1, 2, 3], np.float32)
        store.commit([Query(MODEL, b"q", row * 2), Query(MODEL, b"q", row), Query("other", b"q", row * 3)])
        with store.reading() as snapshot:
            found = snapshot.query(MODEL, b"q")
            assert found is not None
            assert (found.tolist(), found.dtype) == ([1.0, 2.0, 3.0], np.float32)
            assert snapshot.query(MODEL, b"p") is None
        with pytest.raises(Invalid, match="vector of shape"):
            store.commit([Query(MODEL, b"q", np.array([np.inf], np.float32))])


class TestGenerations:
    """When discovery must look again."""

    def test_only_what_concerns_discovery_makes_a_generation(self, store: Store) -> None:
        """And it makes one per commit, that commit's answer."""
        a, b = note(store, kept=True), note(store)
        arrow, group = relation(store, a, b), collection(store, [b])
        start = generation(store)
        quiet: list[list[Change]] = [
            [MakeNote(store.new_id(Kind.NOTE), 1)],
            [Revise(b, "new")],
            [GiveName(a, "n")],
            [Keep(a)],
            [Revise(group, metadata={"x": 1}), Delete(arrow)],
            [Query(MODEL, b"q", np.ones(3, np.float32)), Vectors(MODEL, [b"v"], np.ones((1, 3), np.float32))],
            [],
        ]
        for changes in quiet:
            assert store.commit(changes) == start, changes
        loud: list[list[Change]] = [
            [MakeNote(store.new_id(Kind.NOTE), 1, kept=True), MakeNote(store.new_id(Kind.NOTE), 2, kept=True)],
            [Keep(group)],
            [Revise(b, "newer")],
            [Revise(b, metadata={"x": 2})],
            [Embed(b, 4, [])],
            [GiveName(b, "_n")],
            [GiveName(b, "m")],
            [Delete(b)],
        ]
        for offset, changes in enumerate(loud, start=1):
            assert store.commit(changes) == start + offset, changes
        assert generation(store) == start + len(loud)

    def test_moved_names_what_came_changed_or_went(self, store: Store) -> None:
        """Since any generation; a generation that never was is not complete."""
        a, b, c = (note(store, kept=True) for _ in range(3))
        start = generation(store)
        store.commit([Delete(a)])
        middle = generation(store)
        store.commit([Revise(b, "new")])
        with store.reading() as snapshot:
            assert snapshot.moved(start).touched == {1, 2}
            assert snapshot.moved(middle).touched == {2}
            assert snapshot.moved(snapshot.generation).touched == frozenset()
            assert snapshot.moved(0).touched == {1, 2, number_of(c)}
            assert snapshot.moved(middle).complete
            assert not snapshot.moved(snapshot.generation + 1).complete
            assert not snapshot.moved(-1).complete

    def test_pending_notes_are_told_with_their_sizes(self, store: Store) -> None:
        """By number; some of them are read with their texts."""
        long, short = note(store, "x" * 100, kept=True), note(store, "", kept=True)
        with store.reading() as snapshot:
            sizes = dict(snapshot.pending_sizes())
            assert list(sizes) == [number_of(long), number_of(short)]
            assert 100 <= sizes[number_of(long)] <= 110
            assert sizes[number_of(short)] <= 10
            assert [text.id for text in snapshot.pending(among=[number_of(short), 999])] == [short]
            assert snapshot.pending(among=[]) == []
