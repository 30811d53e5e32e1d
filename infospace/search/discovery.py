"""Discovery: which kept Notes are nearest in meaning to a query, and what was proved about that."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from infospace.ids import Kind, kind_of, number_of
from infospace.memory.changes import Query
from infospace.resources import Note, Resource, SearchResult
from infospace.search.matrix import Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.argument import Bound
    from infospace.memory.store import Snapshot, Store
    from infospace.search.embedding import Embedding
    from infospace.view import Listener

MARGIN = 1e-5
"""More than single precision can be wrong about a cosine of unit vectors of 384 dimensions (about 1e-6)."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One Note found: its id and version, cosine rounded to six decimals, and its best passage's bounds."""

    source: str
    version: int
    score: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, nearest first, and the certificate of LANGUAGE.md for them."""

    hits: list[Hit]
    certificate: dict[str, Any]


def numbers_within(items: Iterable[Resource]) -> NDArray[np.int64]:
    """Return the numbers (ascending) of the Notes that items are, or are search results of."""
    numbers = set()
    for item in items:
        if not isinstance(item, Note):
            continue
        identifier = cast("SearchResult", item.content)["metadata"]["source_id"] if item.evidence else item.id
        if kind_of(identifier) is Kind.NOTE:
            numbers.add(number_of(identifier))
    return np.array(sorted(numbers), np.int64)


class Search:
    """Searches one space. The matrix is made at the first search and follows the store from then on."""

    def __init__(self, store: Store, embedding: Embedding) -> None:
        self._store = store
        self._embedding = embedding
        self._matrix: Matrix | None = None
        self._lock = threading.Lock()

    async def discover(
        self,
        query: str,
        *,
        limit: int | None,
        threshold: float | None,
        where: Bound | None,
        within: NDArray[np.int64] | None,
        listener: Listener,
    ) -> Found:
        """Embed what is pending, then search. `limit` None gives every hit; `threshold` None the model's.

        Raises ModelError where Notes are to be searched and there is no model.
        """
        return await asyncio.to_thread(self._discover, query, limit, threshold, where, within, listener)

    def _discover(
        self,
        query: str,
        limit: int | None,
        threshold: float | None,
        where: Bound | None,
        within: NDArray[np.int64] | None,
        listener: Listener,
    ) -> Found:
        with self._lock:
            if self._is_empty():
                return self._nothing(threshold)
            self._embedding.catch_up(listener)
            threshold = self._embedding.info.threshold if threshold is None else threshold
            with self._store.reading() as snapshot:
                vector = self._query(snapshot, query)
                if self._matrix is None or self._matrix.model != self._embedding.key:
                    self._matrix = Matrix(self._embedding.key)
                self._matrix.follow(snapshot)
                chosen = self._chosen(snapshot, self._matrix, where, within)
                pending = np.intersect1d(snapshot.pending_numbers(), chosen, assume_unique=True)
            found = _select(self._matrix, vector, limit, threshold, chosen)
            found.certificate["scored"] = len(chosen) - len(pending)
            found.certificate["unembedded"] = len(pending)
            found.certificate["exhaustive"] = found.certificate["exhaustive"] and not len(pending)
            found.certificate["model"] = self._embedding.info.name
            return found

    def _is_empty(self) -> bool:
        """Whether there is no Note to search, and so no need of a model."""
        with self._store.reading() as snapshot:
            if self._matrix is not None and self._matrix.generation == snapshot.generation:
                return not len(self._matrix.notes)
            return not snapshot.searchable()

    def _nothing(self, threshold: float | None) -> Found:
        from infospace.search.model import DEFAULT_MODEL, DEFAULT_THRESHOLD

        with self._store.reading() as snapshot:
            generation = snapshot.generation
        certificate = {
            "matched": 0,
            "returned": 0,
            "exhaustive": True,
            "scored": 0,
            "notes": 0,
            "unembedded": 0,
            "max_below": None,
            "method": "exact",
            "threshold": DEFAULT_THRESHOLD if threshold is None else threshold,
            "model": DEFAULT_MODEL,
            "generation": generation,
        }
        return Found([], certificate)

    def _query(self, snapshot: Snapshot, query: str) -> NDArray[np.float32]:
        digest = sha256(query.encode()).digest()
        known = snapshot.query(self._embedding.key, digest)
        if known is not None:
            return known
        vector = self._embedding.query(query)
        if self._store.writable:
            self._store.commit([Query(self._embedding.key, digest, vector)])
        return vector

    def _chosen(
        self, snapshot: Snapshot, matrix: Matrix, where: Bound | None, within: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """The numbers (ascending) of the Notes that count: discoverable, in `within`, satisfying `where`."""
        chosen = matrix.notes if within is None else np.intersect1d(matrix.notes, within, assume_unique=True)
        if where is None:
            return chosen
        notes = snapshot.many([f"{Kind.NOTE}_{number}" for number in chosen])
        return np.array([number_of(note.id) for note in notes if where.match(note)], np.int64)


def _select(
    matrix: Matrix, query: NDArray[np.float32], limit: int | None, threshold: float, chosen: NDArray[np.int64]
) -> Found:
    """The best of the chosen Notes. Single precision narrows the field, double precision decides."""
    best = matrix.best(query)
    if len(chosen) != len(matrix.notes):
        best = np.where(np.isin(matrix.numbers, chosen, assume_unique=True), best, np.float32(-np.inf))
    sure = best >= threshold + MARGIN
    near = np.flatnonzero((best >= threshold - MARGIN) & ~sure)
    certain = np.flatnonzero(sure)
    wanted = certain
    if limit is not None and len(certain) > limit:
        floor = np.partition(best[certain], len(certain) - limit)[len(certain) - limit]
        wanted = certain[best[certain] >= floor - MARGIN]
    scores, rows = _exactly(matrix, query, np.concatenate([wanted, near]))
    above = scores >= threshold
    matched = len(certain) + int(above[len(wanted) :].sum())
    scores, rows = scores[above], rows[above]
    order = np.lexsort((matrix.owners[rows], -scores))[:limit]
    hits = [
        Hit(
            f"{Kind.NOTE}_{matrix.owners[row]}",
            int(matrix.versions[row]),
            float(score),
            int(matrix.starts[row]),
            int(matrix.ends[row]),
        )
        for score, row in zip(scores[order].tolist(), rows[order].tolist(), strict=True)
    ]
    certificate = {
        "matched": matched,
        "returned": len(hits),
        "exhaustive": len(hits) == matched,
        "scored": len(chosen),
        "notes": len(chosen),
        "unembedded": 0,
        "max_below": _max_below(matrix, query, best, threshold),
        "method": "exact",
        "threshold": threshold,
        "model": "",
        "generation": matrix.generation,
    }
    return Found(hits, certificate)


def _exactly(
    matrix: Matrix, query: NDArray[np.float32], which: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if not len(which):
        return np.empty(0, np.float64), np.empty(0, np.int64)
    return matrix.exactly(query, which)


def _max_below(matrix: Matrix, query: NDArray[np.float32], best: NDArray[np.float32], threshold: float) -> float | None:
    """The highest rounded cosine below the threshold: how near the next Note came."""
    below = best[(best < threshold + MARGIN) & np.isfinite(best)]
    while len(below):
        top = below.max()
        which = np.flatnonzero((best >= top - 2 * MARGIN) & (best <= top))
        scores, _ = matrix.exactly(query, which)
        under = scores[scores < threshold]
        if len(under):
            return float(under.max())
        below = below[below < top - 2 * MARGIN]
    return None
