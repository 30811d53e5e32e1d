"""What discovery reads besides rows: heads, digests, versions, queries, derived files, the choice of a model."""

from __future__ import annotations

import numpy as np
import pytest
from store_tools import MODEL, collection, digest, embed, get, note, searched, waiting

from infospace.core.ids import Kind, number_of
from infospace.data.properties import Property
from infospace.store.changes import Delete, Derived, Describe, GiveName, MakeNote, Query, Revise, Vectors
from infospace.store.protocol import Chosen, Store


class TestProperties:
    """The keys of the metadata of the Notes that discovery searches."""

    def test_they_have_types_and_few_values_those_that_most_have_first(self, store: Store) -> None:
        """Values of lists count; what is transient, evidence or begins with `_` does not."""
        note(store, "a", kept=True, state="open", tags=["x", 1, ["deep"]], when="2026-11-24T09:30:00Z")
        second = note(store, "b", kept=True, state=["late"], done=True)
        note(store, "c", kept=True, state="open", done=1, when="2026-13-01")
        note(store, "transient", state="other")
        with store.reading() as snapshot:
            found = snapshot.properties()
        assert list(found) == ["state", "done", "when", "tags"]
        assert found == {
            "state": Property(3, {"text": 2, "list": 1}, ("open", "late")),
            "done": Property(2, {"boolean": 1, "number": 1}, (True, 1)),
            "when": Property(2, {"date": 1, "text": 1}, ("2026-11-24T09:30:00Z", "2026-13-01")),
            "tags": Property(1, {"list": 1}, (1, "x")),
        }
        with store.reading() as before:
            store.commit(
                [Revise(second, metadata={"state": None}), MakeNote(store.new_id(Kind.NOTE), "", {"n": 2}, kept=True)]
            )
            with store.reading() as after:
                changed = after.properties()
            assert before.properties() == found
        assert changed["state"] == Property(3, {"text": 2, "null": 1}, ("open",))
        assert changed["n"] == Property(1, {"number": 1}, (2,))

    def test_one_with_more_than_twenty_values_has_none_told(self, store: Store) -> None:
        for number in range(21):
            note(store, "", kept=True, n=number, few=number % 20)
        with store.reading() as snapshot:
            found = snapshot.properties()
        assert found["n"].values is None
        assert found["few"].values == tuple(range(20))


class TestHeads:
    """What a condition reads of a Note."""

    def test_heads_are_of_searched_notes_by_number(self, store: Store) -> None:
        """Metadata and structured content; a text is empty unless it is asked for."""
        a, b = note(store, "text", kept=True, tag=1), note(store, {"x": [1]}, kept=True)
        note(store, "transient")
        with store.reading() as snapshot:
            short, whole = list(snapshot.heads()), list(snapshot.heads(text=True))
        assert [(head.number, head.metadata, head.content) for head in short] == [
            (number_of(a), {"tag": 1}, ""),
            (number_of(b), {}, {"x": [1]}),
        ]
        assert [head.content for head in whole] == ["text", {"x": [1]}]
        assert [head.size > 0 for head in whole] == [True, True]

    def test_own_fields_are_there_when_they_are_asked_for(self, store: Store) -> None:
        """Id, name and times; of some Notes alone."""
        a, b = note(store, kept=True), note(store, kept=True)
        store.commit([GiveName(b, "n"), Revise(b, "new")])
        found = get(store, b)
        with store.reading() as snapshot:
            (head,) = snapshot.heads([number_of(b), 99], own=True)
            assert list(snapshot.heads([])) == []
            assert [head.id for head in snapshot.heads(own=True)] == [a, b]
        assert (head.id, head.name, head.created, head.updated) == (b, "n", found.created, found.updated)


class TestNumbers:
    """Versions and digests by number."""

    def test_versions_come_in_the_order_that_was_asked(self, store: Store) -> None:
        """Of Notes that exist, as int64."""
        a, b = note(store), note(store)
        store.commit([Revise(b, "new")])
        with store.reading() as snapshot:
            found = snapshot.current([number_of(b), number_of(a)])
            assert (found.tolist(), found.dtype) == ([2, 1], np.int64)
            assert snapshot.current([]).tolist() == []

    def test_digests_are_there_with_a_vector_or_without(self, store: Store) -> None:
        """Number, bounds and digest of each passage of these Notes."""
        a, b = note(store, "first", kept=True), note(store, "second", kept=True)
        embed(store, a, b)
        with store.reading() as snapshot:
            assert snapshot.digests([number_of(b), number_of(a), 99]) == [
                (number_of(a), 0, 5, digest("first")),
                (number_of(b), 0, 6, digest("second")),
            ]
            vectors = snapshot.vectors(MODEL, [digest("first"), b"unknown"])
        assert {key: vector.tolist() for key, vector in vectors.items()} == {digest("first"): [5.0, 1.0, 0.0]}

    def test_whether_there_is_anything_to_search(self, store: Store) -> None:
        """And how much."""
        with store.reading() as snapshot:
            assert (snapshot.searchable(), snapshot.discoverable_count()) == (False, 0)
        a = note(store, kept=True)
        with store.reading() as snapshot:
            assert (snapshot.searchable(), snapshot.discoverable_count()) == (True, 1)
        store.commit([Delete(a)])
        with store.reading() as snapshot:
            assert (snapshot.searchable(), snapshot.discoverable_count()) == (False, 0)


def test_the_latest_queries_come_first(store: Store) -> None:
    """One that is asked again is the latest; those of another model are not among them."""
    rows = {key: np.full(2, at, np.float32) for at, key in enumerate((b"a", b"b", b"c"))}
    for key in (b"a", b"b", b"c", b"a"):
        store.commit([Query(MODEL, key, rows[key])])
    store.commit([Query("other", b"z", np.ones(2, np.float32))])
    with store.reading() as snapshot:
        found, none = snapshot.queries(MODEL, 2), snapshot.queries("nobody", 5)
    assert (found.tolist(), found.dtype) == ([[0, 0], [2, 2]], np.float32)
    assert len(none) == 0


def test_the_latest_derived_file_of_a_name_is_known(store: Store) -> None:
    """A commit that says only that makes no generation."""
    before = store.commit([Derived("matrix", "one"), Derived("index", "x")])
    assert store.commit([Derived("matrix", "two")]) == before
    with store.reading() as snapshot:
        assert [snapshot.derived(name) for name in ("matrix", "index", "other")] == ["two", "x", None]


class TestModels:
    """The model whose vectors discovery needs, and who chooses it."""

    def test_a_choice_is_kept_and_makes_everything_wait(self, store: Store) -> None:
        """None is the default one."""
        a = note(store, kept=True)
        choice = Chosen("/models/é", "key", 0.25)
        with store.reading() as snapshot:
            assert (snapshot.chosen(), snapshot.model()) == (None, None)
        store.use_model(MODEL)
        embed(store, a)
        store.choose_model("another", choice)
        with store.reading() as snapshot:
            assert (snapshot.chosen(), snapshot.model()) == (choice, "another")
        assert waiting(store) == searched(store) == [number_of(a)]
        store.choose_model(MODEL, None)
        with store.reading() as snapshot:
            assert (snapshot.chosen(), snapshot.model()) == (None, MODEL)

    def test_who_knows_an_earlier_choice_changes_nothing(self, store: Store) -> None:
        """A process that has not seen that the space chose another model."""
        choice = Chosen("name", "key", 0.25)
        store.choose_model("another", choice)
        store.use_model(MODEL)
        with store.reading() as snapshot:
            assert snapshot.model() == "another"
        store.use_model("another 2", choice)
        with store.reading() as snapshot:
            assert snapshot.model() == "another 2"


@pytest.mark.parametrize("count", [0, 1, 2_500])
def test_lists_of_any_length_can_be_asked_for(store: Store, count: int) -> None:
    """Longer than an engine's statement may have parameters."""
    numbers, keys = list(range(1, count + 1)), [number.to_bytes(32, "big") for number in range(count)]
    a = note(store, kept=True)
    with store.reading() as snapshot:
        assert snapshot.discoverable(numbers).tolist() == ([number_of(a)] if count else [])
        assert len(snapshot.rows(MODEL, numbers).owners) == 0
        assert snapshot.known_vectors(MODEL, keys) == set()
        assert snapshot.vectors(MODEL, keys) == {}
        assert [found.id for found in snapshot.get_many([a] * count)] == [a] * count
        assert snapshot.digests(numbers) == []
        assert snapshot.holders([a] * count) == []


class TestDescribed:
    """What kept Collections are embedded as."""

    def test_a_collection_waits_until_its_passages_are_known(self, store: Store) -> None:
        """Its text is name, metadata and titles; then its vectors come by number, with all bounds 0."""
        a = note(store, "First\nline", kept=True)
        group = collection(store, [a], kept=True)
        hidden = collection(store, [a])
        store.commit([GiveName(group, "all"), Revise(group, metadata={"topic": "x"}), GiveName(hidden, "_hidden")])
        with store.reading() as snapshot:
            (text,) = snapshot.undescribed(MODEL)
            assert (snapshot.collections(), len(snapshot.described(MODEL).owners)) == (1, 0)
        assert (text.id, text.version, text.text) == (group, 2, "all\ntopic: x\nFirst")
        describe(store, text.id, text.text)
        with store.reading() as snapshot:
            rows = snapshot.described(MODEL)
            assert snapshot.undescribed(MODEL) == []
            assert [found.id for found in snapshot.undescribed("another")] == [group]
        assert (rows.owners.tolist(), rows.starts.tolist(), rows.ends.tolist()) == ([number_of(group)], [0], [0])
        assert rows.vectors.tolist() == [[1.0, 0.0, 0.0]]

    def test_it_waits_again_when_what_it_was_read_from_changes(self, store: Store) -> None:
        """Itself, or an item; and what was made of an earlier text is not taken."""
        a = note(store, "First", kept=True)
        group = collection(store, [a], kept=True)
        describe(store, group, "First")
        store.commit([Revise(a, "Second")])
        describe(store, group, "First")
        with store.reading() as snapshot:
            assert [text.text for text in snapshot.undescribed(MODEL)] == ["Second"]
        describe(store, group, "Second")
        with store.reading() as snapshot:
            assert snapshot.undescribed(MODEL) == []
        store.commit([GiveName(group, "n")])
        with store.reading() as snapshot:
            assert [text.text for text in snapshot.undescribed(MODEL)] == ["n\nSecond"]


def describe(store: Store, group: str, text: str) -> None:
    """Embed a Collection's text as one passage."""
    vectors = Vectors(MODEL, [digest(text)], np.array([[1, 0, 0]], np.float32))
    store.commit([vectors, Describe(group, MODEL, digest(text), [digest(text)])])
