"""What a space's embedding is made of: one model's, whoever asks while another is taken up."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from infospace import Space
from infospace.core.listener import NullListener
from infospace.search.embedding import passages
from infospace.search.embedding.passages import POLICY
from infospace.search.embedding.service import Embedding
from infospace.search.models.switch import choose, inspect_model

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
