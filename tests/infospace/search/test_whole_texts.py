"""Whole texts and several queries: their vectors, and what of them is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.search.embedding.embedder import Embedder
from infospace.store.changes import MakeNote

TEXTS = [
    "read a file",
    "x",
    "Delete the directory, and all that is in it, without asking me whether I am sure. " * 3,
    "",
]
POLICY = "tried-1"


@pytest.mark.usefixtures("model")
def test_several_queries_have_the_vectors_of_each(space: Space) -> None:
    """In their order, repetitions too, whatever their lengths; and so they are remembered."""
    alone = np.stack([space.embedding.query(text) for text in TEXTS])
    asked = space.embedding.queries([*TEXTS, TEXTS[0]])
    assert np.allclose(asked, [*alone, alone[0]], atol=1e-6)
    with open_space(space.store.address) as other, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "embed_queries", None)
        assert np.array_equal(other.embedding.queries(TEXTS), asked[:-1])


@pytest.mark.usefixtures("model")
def test_whole_texts_are_kept_under_a_key_of_their_own(space: Space) -> None:
    """What was embedded once is not again, under another policy it is, and no purge takes it."""
    vectors, there = space.embedding.embed_whole_texts(POLICY, [*TEXTS, TEXTS[1]], NullListener())
    assert there.all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[1], vectors[4])
    space.store.commit([MakeNote(space.store.new_id(Kind.NOTE), "A note.", kept=True)])
    space.embedding.catch_up(NullListener())
    space.store.purge(really=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "embed", None)
        again, there = space.embedding.embed_whole_texts(POLICY, TEXTS, NullListener(), 0)
        assert there.all()
        assert np.array_equal(again, vectors[:4])
        _, there = space.embedding.embed_whole_texts("tried-2", TEXTS, NullListener(), 0)
        assert not there.any()


@pytest.mark.usefixtures("model")
def test_a_bound_of_time_leaves_the_rest_for_later(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for one batch, so that call after call all gets done."""
    monkeypatch.setattr("infospace.search.embedding.service.TEXTS_PER_COMMIT", 2)
    texts = [f"text {number}" for number in range(5)]
    counts = []
    for _ in range(3):
        vectors, there = space.embedding.embed_whole_texts(POLICY, texts, NullListener(), 1e-9)
        counts.append(int(there.sum()))
        assert np.array_equal(vectors.any(axis=1), there)
    assert counts == [2, 4, 5]


@pytest.mark.usefixtures("model")
def test_a_space_that_keeps_nothing_embeds_all_the_same(tmp_path: Path) -> None:
    """As one that is not there."""
    with open_space(tmp_path / "missing.db", create=False) as space:
        vectors, there = space.embedding.embed_whole_texts(POLICY, TEXTS, NullListener())
        assert there.all()
        assert space.embedding.queries(TEXTS).shape == vectors.shape
