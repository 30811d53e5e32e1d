"""Spaces of a given size with made vectors, for figures in which size is the point and the model is not."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.core.resources import text_of
from infospace.store.changes import Change, Embed, MakeNote, PassageSpan, Query, Vectors

CLUSTERS = 50
"""Made vectors lie around this many centres, as those of real notes do around themes."""

AT_A_TIME = 2_000


def made_vectors(count: int, dimension: int = 384, seed: int = 1) -> NDArray[np.float32]:
    """Return clustered unit vectors, float32 of shape (count, dimension)."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(CLUSTERS, dimension))
    rows = centres[chance.integers(CLUSTERS, size=count)] + chance.normal(scale=1.5, size=(count, dimension))
    return _unit(rows)


def made_queries(vectors: NDArray[np.float32], count: int, seed: int = 2) -> NDArray[np.float32]:
    """Return `count` unit vectors, each at a cosine of about 0.7 to one of `vectors`."""
    chance = np.random.default_rng(seed)
    rows = vectors[chance.integers(len(vectors), size=count)]
    return _unit(rows + chance.normal(size=rows.shape) / rows.shape[1] ** 0.5)


def threshold_for(vectors: NDArray[np.float32], query: NDArray[np.float32], matches: int) -> float:
    """Return the cosine at or above which `matches` of the vectors lie, or all where there are fewer."""
    scores = np.vecdot(vectors.astype(np.float64), query.astype(np.float64))
    return float(np.floor(np.sort(scores)[-min(matches, len(scores))] * 1e6) / 1e6)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def made_text(number: int) -> str:
    """Return the text of a made Note, about 300 characters."""
    return f"Note number {number}. " + "Words that stand for the text of a note. " * 7


def made_space(path: Path | str, count: int) -> Space:
    """Return a space of `count` kept Notes of about 300 characters, each embedded with a made vector."""
    space = open_space(path)
    space.store.use_model(space.embedding.key)
    vectors = made_vectors(count)
    for start in range(0, count, AT_A_TIME):
        rows = vectors[start : start + AT_A_TIME]
        notes: list[Change] = []
        embedded: list[Change] = []
        digests = []
        for number in range(start, start + len(rows)):
            text = made_text(number)
            identifier = space.store.new_id(Kind.NOTE)
            # Without a title, which would wait to be embedded with the model, and the Note with it.
            notes.append(MakeNote(identifier, text, {"year": 2000 + number % 25}, kept=True))
            digest = hashlib.sha256(text_of(text).encode()).digest()
            digests.append(digest)
            embedded.append(Embed(identifier, 1, [PassageSpan(0, len(text), digest)]))
        space.store.commit([*notes, Vectors(space.embedding.key, digests, rows), *embedded])
    return space


def keep_queries(space: Space, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
    """Have the space know the vectors of queries, as if each had been asked before."""
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    space.store.commit([Query(space.embedding.key, *one) for one in zip(digests, rows, strict=True)])


def space_file(folder: Path, size: int) -> Path:
    """Return the file of a made space in a folder; it is made where it is not there yet."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{size}.db"
    if not path.exists():
        made_space(path, size).close()
    return path
