"""Spaces of a given size with made vectors, for figures in which size is the point and the model is not."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from infospace import Space, open_space
from infospace.ids import Kind
from infospace.memory.changes import Change, Embed, MakeNote, Stretch, Vectors
from infospace.resources import text_of

CLUSTERS = 50
"""Made vectors lie around this many centres, as those of real notes do around themes."""


def made_vectors(count: int, dimension: int = 384, seed: int = 1) -> np.ndarray:
    """Return clustered unit vectors, float32 of shape (count, dimension)."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(CLUSTERS, dimension))
    rows = centres[chance.integers(CLUSTERS, size=count)] + chance.normal(scale=1.5, size=(count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def made_space(path: Path, count: int) -> Space:
    """Return a space of `count` kept Notes of about 300 characters, each embedded with a made vector."""
    space = open_space(path)
    space.store.use_model(space.embedding.key)
    vectors = made_vectors(count)
    for start in range(0, count, 2_000):
        rows = vectors[start : start + 2_000]
        notes: list[Change] = []
        embedded: list[Change] = []
        digests = []
        for offset in range(len(rows)):
            text = f"Note number {start + offset}. " + "Words that stand for the text of a note. " * 7
            identifier = space.store.new_id(Kind.NOTE)
            metadata = {"title": f"Note {start + offset}", "year": 2000 + (start + offset) % 25}
            notes.append(MakeNote(identifier, text, metadata, kept=True))
            digest = hashlib.sha256(text_of(text).encode()).digest()
            digests.append(digest)
            embedded.append(Embed(identifier, 1, [Stretch(0, len(text), digest)]))
        space.store.commit([*notes, Vectors(space.embedding.key, digests, rows), *embedded])
    return space
