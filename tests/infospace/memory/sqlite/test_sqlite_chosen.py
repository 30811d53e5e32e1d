"""The choice of an embedding model, kept in the space."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from infospace.core.errors import StoreError
from infospace.core.ids import Kind
from infospace.store.changes import Embed, MakeNote, PassageSpan, Vectors
from infospace.store.protocol import Chosen, Store
from infospace.store.sqlite import open_store

MINE = Chosen("/models/mine", "mine@1", 0.75)


def filled(store: Store, model: str) -> None:
    """Make a Note, embedded with a model."""
    note = store.new_id(Kind.NOTE)
    digest = b"d" * 32
    vectors = Vectors(model, [digest], np.ones((1, 4), np.float32))
    store.commit([MakeNote(note, "text", kept=True), vectors, Embed(note, 1, [PassageSpan(0, 4, digest)])])


def test_a_choice_is_kept_and_given_up(tmp_path: Path) -> None:
    """By every opening of the file, until another one is made."""
    with closing(open_store(tmp_path / "s.db", create=True)) as store:
        with store.reading() as snapshot:
            assert snapshot.chosen() is None
        store.choose_model("mine@1/p", MINE)
    with closing(open_store(tmp_path / "s.db", create=False)) as store:
        with store.reading() as snapshot:
            assert (snapshot.chosen(), snapshot.model()) == (MINE, "mine@1/p")
        store.choose_model("first", None)
        with store.reading() as snapshot:
            assert (snapshot.chosen(), snapshot.model()) == (None, "first")


def test_who_does_not_know_of_a_choice_does_not_undo_it(tmp_path: Path) -> None:
    """A process that still uses the earlier model cannot make all wait for that one again."""
    with closing(open_store(tmp_path / "s.db", create=True)) as store:
        store.choose_model("mine@1/p", MINE)
        filled(store, "mine@1/p")
        for chosen in (None, Chosen("other", "other@1", 0.5)):
            store.use_model("first", chosen)
            with store.reading() as snapshot:
                assert (snapshot.model(), snapshot.pending_count()) == ("mine@1/p", 0)
        store.use_model("mine@1/q", MINE)
        with store.reading() as snapshot:
            assert (snapshot.model(), snapshot.pending_count()) == ("mine@1/q", 1)


def test_vectors_that_waiting_notes_may_need_are_not_purged(tmp_path: Path) -> None:
    """A model that a space goes back to has its vectors, and no passages yet."""
    with closing(open_store(tmp_path / "s.db", create=True)) as store:
        store.choose_model("first", None)
        filled(store, "first")
        store.choose_model("mine@1/p", MINE)
        store.choose_model("first", None)
        assert store.purge(really=True).vectors == 0
        with store.reading() as snapshot:
            assert snapshot.known_vectors("first", [b"d" * 32])


@pytest.mark.parametrize("value", ["no JSON", "[]", '{"name": "x"}', '{"name": 1, "key": 2, "other": 3}'])
def test_a_damaged_choice_is_said_to_be_damaged(tmp_path: Path, value: str) -> None:
    """And another one can be made all the same."""
    path = tmp_path / "s.db"
    with closing(open_store(path, create=True)) as store:
        store.choose_model("mine@1/p", MINE)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE state SET value = ? WHERE key = 'chosen'", (value,))
    connection.close()
    with closing(open_store(path, create=False)) as store:
        with store.reading() as snapshot, pytest.raises(StoreError, match="is damaged"):
            snapshot.chosen()
        store.choose_model("mine@1/p", MINE)
        with store.reading() as snapshot:
            assert snapshot.chosen() == MINE
