"""A model whose vectors are made from the texts themselves, and what exact search must find with it.

Everything about embedding is the real thing but the numbers: texts are cut, waited for, committed and searched
as ever, and whoever has a text knows its vector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infospace import Space
from infospace.core.ids import Kind, number_of
from infospace.core.resources import Note, text_of
from infospace.search.embedding.backfill import ActiveModel
from infospace.search.embedding.passages import POLICY, Passage, split
from infospace.search.models.find import ModelInfo
from infospace.store.protocol import Store

DIMENSION = 48
CENTRES = np.random.default_rng(7).normal(size=(6, DIMENSION)) * 1.2
MADE = ModelInfo("made", Path("nowhere"), "made", True, DIMENSION, 0.3, 66, "made@1")

Scored = tuple[str, int, float, int, int]
"""Id, version, score, and the bounds of the best passage."""


@cache
def vector_of(text: str) -> NDArray[np.float32]:
    """Return the vector of a text: one of a few directions, and something of its own."""
    digest = sha256(text.encode()).digest()
    row = CENTRES[digest[8] % len(CENTRES)] + np.random.default_rng(int.from_bytes(digest[:8])).normal(size=DIMENSION)
    return (row / np.linalg.norm(row)).astype(np.float32)


def offsets(text: str) -> list[tuple[int, int]]:
    """Return the bounds of each word, which is a token here."""
    return [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]


@cache
def passages_of(text: str) -> list[Passage]:
    """Return where a text is cut."""
    return split(text, offsets, MADE.max_tokens)


class MadeEmbedder:
    """Stands where the model stands."""

    offsets = staticmethod(offsets)
    embed_query = staticmethod(vector_of)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None]) -> NDArray[np.float32]:
        """Return the vectors of texts."""
        progress(len(texts))
        return np.array([vector_of(text) for text in texts])


def made(store: Store) -> Space:
    """Return a space over a store, whose embedding is made."""
    space = Space(store)
    space.embedding._taken = ActiveModel(MADE, f"{MADE.key}/{POLICY}", MadeEmbedder(), None)
    return space


def _of_title(note: Note[Any], wide: NDArray[np.float64]) -> float:
    """The score of a Note's title, which counts 0.85; below every other where it has none."""
    file = note.location
    title = note.metadata.get("title") or (Path(file.path).stem if file is not None and not file.part else "")
    if not title:
        return -2.0
    row = vector_of(str(title)) * np.float32(0.85)
    return float(np.round(np.vecdot(row.astype(np.float64), wide), 6))


def nearest(space: Space, query: str, threshold: float) -> list[Scored]:
    """Compare a query with every passage of every Note that counts, read one by one from the store."""
    wide = vector_of(query).astype(np.float64)
    found: list[Scored] = []
    with space.store.reading() as snapshot:
        for note in snapshot.listing(Kind.NOTE, kept=True):
            if note.evidence or (note.name or "").startswith("_"):
                continue
            text = text_of(note.content)
            pieces = passages_of(text)
            if not pieces:
                continue
            rows = np.array([vector_of(text[piece.start : piece.end]) for piece in pieces]).astype(np.float64)
            scores = np.round(np.vecdot(rows, wide), 6).tolist()
            piece = pieces[scores.index(max(scores))]
            best = max(*scores, _of_title(note, wide))
            if best >= threshold:
                found.append((note.id, note.version, best, piece.start, piece.end))
    return sorted(found, key=lambda one: (-one[2], number_of(one[0])))
