"""Spaces whose vectors are made, for tests in which the search is the point and the model is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infospace.core.ids import Kind, number_of
from infospace.core.listener import NullListener
from infospace.core.resources import Note, text_of
from infospace.search.query import SearchQuery, SearchResults
from infospace.search.search import Search
from infospace.store.changes import Change, Embed, MakeNote, PassageSpan, Vectors
from infospace.store.protocol import Store

MODEL = "made/1"
DIMENSION = 16
THRESHOLD = 0.3


@cache
def vector_of(text: str, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """A unit vector for a text: its words' vectors added up, so that texts that share words are near."""
    rows = [word_vector(word, dimension) for word in text.split()]
    total = np.sum(rows, axis=0)
    return (total / np.linalg.norm(total)).astype(np.float32)


@cache
def word_vector(word: str, dimension: int) -> NDArray[np.float64]:
    """The vector of a word: random, and always the same."""
    return np.random.default_rng(list(sha256(word.encode()).digest()[:8])).normal(size=dimension)


def parts_of(text: str) -> list[tuple[int, int]]:
    """Passages: what stands between bars."""
    found, at = [], 0
    for part in text.split("|"):
        if part.strip():
            found.append((at, at + len(part)))
        at += len(part) + 1
    return found


@dataclass(frozen=True)
class Info:
    """What a search asks of a model."""

    name: str = MODEL
    threshold: float = THRESHOLD
    dimension: int = DIMENSION


class MadeEmbedding:
    """Stands for `Embedding`, with vectors made of words."""

    info = Info()
    key = MODEL

    def __init__(self, store: Store) -> None:
        self._store = store

    def query(self, text: str) -> NDArray[np.float32]:
        return vector_of(text)

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = np.stack([vector_of(text) for text in texts])
        return rows

    def catch_up(self, _listener: Any, _seconds: float | None = None, _first: Sequence[int] = ()) -> int:
        """Embed what is pending, as `Embedding` does."""
        if not self._store.writable:
            return 0
        self._store.use_model(MODEL)
        with self._store.reading() as snapshot:
            pending = snapshot.pending()
        changes: list[Change] = []
        for text in pending:
            bounds = parts_of(text.text)
            stretches = [text.text[start:end] for start, end in bounds]
            bounds = [*bounds, *(field.bounds for field in text.fields)]
            stretches += [field.text for field in text.fields]
            digests = [sha256(stretch.encode()).digest() for stretch in stretches]
            if stretches:
                changes.append(Vectors(MODEL, digests, np.stack([vector_of(stretch) for stretch in stretches])))
            own = [PassageSpan(*bound, digest) for bound, digest in zip(bounds, digests, strict=True)]
            changes.append(Embed(text.id, text.version, own))
        self._store.commit(changes)
        return len(pending)


def search_in(store: Store) -> Search:
    """A search over a store, with made vectors."""
    return Search(store, MadeEmbedding(store))  # type: ignore[arg-type]


def find(search: Search, query: str, **wanted: Any) -> SearchResults:
    """Search in this thread."""
    return search.find(SearchQuery(query, **wanted), NullListener())


def make(store: Store, *texts: Any, **more: Any) -> list[str]:
    """Make kept Notes; return their ids."""
    notes = [MakeNote(store.new_id(Kind.NOTE), text, kept=True, **more) for text in texts]
    store.commit(notes)
    return [note.id for note in notes]


def eligible(store: Store) -> dict[int, Note[Any]]:
    """The Notes that discovery has to search, read one by one: kept, no evidence, no `_` name."""
    with store.reading() as snapshot:
        notes = [note for note in snapshot.listing(Kind.NOTE) if isinstance(note, Note)]
    return {number_of(note.id): note for note in notes if not note.evidence and not (note.name or "").startswith("_")}


def brute(notes: Iterable[Note[Any]], query: str) -> dict[str, tuple[float, int, int]]:
    """Every Note's best passage by a loop in double precision: score, start, end."""
    wide = vector_of(query).astype(np.float64)
    found = {}
    for note in notes:
        text = text_of(note.content)
        scored = [
            (round(float(np.dot(vector_of(text[start:end]).astype(np.float64), wide)), 6), -start, end)
            for start, end in parts_of(text)
        ]
        if scored:
            score, start, end = max(scored)
            found[note.id] = (score, -start, end)
    return found


def fill(store: Store, vectors: NDArray[np.float32]) -> list[str]:
    """Make a kept, embedded Note for each vector; return their ids."""
    ids = [store.new_id(Kind.NOTE) for _ in vectors]
    digests = [sha256(f"{at} of {ids[0]}".encode()).digest() for at in range(len(ids))]
    store.use_model(MODEL)
    store.commit(
        [
            *(MakeNote(identifier, "made", {"even": at % 2 == 0}, kept=True) for at, identifier in enumerate(ids)),
            Vectors(MODEL, digests, vectors),
            *(
                Embed(identifier, 1, [PassageSpan(0, 4, digest)])
                for identifier, digest in zip(ids, digests, strict=True)
            ),
        ]
    )
    return ids
