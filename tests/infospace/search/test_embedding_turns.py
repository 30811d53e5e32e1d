"""What a space's embedding is made of: one model's, whoever asks while another is taken up."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from infospace import Space
from infospace.core.ids import Kind, number_of
from infospace.core.listener import NullListener, Speech
from infospace.search.embedding import passages
from infospace.search.embedding.passages import POLICY
from infospace.search.embedding.service import Embedding
from infospace.search.models.switch import choose, inspect_model
from infospace.store.changes import MakeNote

sys.path.insert(0, str(Path(__file__).parent))

from tiny_model import make_model


def test_model_key_and_vectors_belong_together(space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the next model is taken up at the very moment at which the key of the one before is made."""
    one, other = (inspect_model(str(make_model(tmp_path / str(size), size, size))) for size in (16, 32))
    choose(space, one)
    embedding = Embedding(space.store)

    class Changing:
        def __format__(self, how: str) -> str:
            monkeypatch.setattr(passages, "POLICY", POLICY)
            choose(space, other)
            embedding.catch_up(NullListener())
            return POLICY

    monkeypatch.setattr(passages, "POLICY", Changing())
    assert embedding.key == f"{one.info.key}/{POLICY}"
    embedding.follow()
    assert (embedding.info, embedding.key) == (other.info, f"{other.info.key}/{POLICY}")
    assert embedding.query("sea").shape == (32,)


class Watching:
    """A listener that looks which notes are embedded whenever there is progress."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.embedded: list[set[str]] = []

    def message(self, kind: Speech, text: str) -> None:
        """Embedding says nothing."""

    def progress(self, done: int, total: int, what: str) -> None:
        del done, total, what
        with self._space.store.reading() as snapshot:
            waiting = {text.id for text in snapshot.pending()}
            notes = {f"{Kind.NOTE}_{number}" for number in snapshot.discoverable().tolist()}
        if not self.embedded or self.embedded[-1] != notes - waiting:
            self.embedded.append(notes - waiting)


def test_a_few_notes_are_found_at_once_then_ever_more(space: Space, tmp_path: Path) -> None:
    """Those that are wanted first do not wait for a hundred others; later ones are embedded many at a time."""
    choose(space, inspect_model(str(make_model(tmp_path / "16", 16, 16))))
    ids = [space.store.new_id(Kind.NOTE) for _ in range(300)]
    texts = [f"Sea {at}. {'The ship sails on. ' * 50}" for at in range(300)]
    space.store.commit([MakeNote(one, text, kept=True) for one, text in zip(ids, texts, strict=True)])
    watching = Watching(space)
    Embedding(space.store).catch_up(watching, first=[number_of(ids[250])])
    first, *later = [found for found in watching.embedded if found]
    assert ids[250] in first
    assert len(first) <= 5
    assert later[-1] == set(ids)
    assert len(later) <= 12
