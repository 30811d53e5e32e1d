"""An index of hnswlib: nearly all of the nearest, in a time that hardly grows with the space."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

M = 16
EF_BUILDING = 200
EF_LEAST, EF_MOST = 128, 1_024
"""Candidates of a query, at first and at most: of MiniLM's vectors (passages of Cranfield and Seal-Tools, their
questions) 128 give all ten nearest, 64 .996, 20 .96; of 100,000 made ones 128 give .944, 256 .992."""

SHIFT = 20
"""A label is `number of the Note << SHIFT | running number`, so that it says whose passage it is."""

CHUNK = 256
"""Rows added at a time: between two of them building can be given up."""

PROBES = 64
NEAREST = 10
RECALL = 0.99
"""An index that finds less of the ten nearest of its probes is not used."""


class Hnsw:
    """Passages by label. One thread at a time; unit vectors; a Note's passages come and go together."""

    def __init__(self, dimension: int) -> None:
        import hnswlib

        self._index: Any = hnswlib.Index("ip", dimension)
        self._dimension = dimension
        self._labels: dict[int, list[int]] | None = {}
        self.generation = -1
        self.live = 0
        self.dead = 0
        self.ef = EF_LEAST

    @classmethod
    def built(
        cls,
        owners: NDArray[np.int64],
        vectors: NDArray[np.float32],
        generation: int,
        keep_going: Callable[[], bool] = lambda: True,
        queries: NDArray[np.float32] | None = None,
    ) -> Hnsw | None:
        """Build an index over rows grouped by owner; None when it was given up, or finds too little.

        `queries` are queries that it is to be tried with, (n, dimension).
        """
        index = cls(vectors.shape[1])
        index._index.init_index(max(len(owners), CHUNK), ef_construction=EF_BUILDING, M=M)
        for at in range(0, len(owners), CHUNK):
            if not keep_going():
                return None
            index._add(owners[at : at + CHUNK], vectors[at : at + CHUNK])
        index.generation = generation
        return index if index.tuned(vectors, queries) else None

    @classmethod
    def loaded(cls, path: Path, dimension: int, generation: int, ef: int, dead: int) -> Hnsw:
        """Read an index whose file is known to be whole; RuntimeError when hnswlib cannot."""
        index = cls(dimension)
        index._index.load_index(str(path))
        index._labels = None
        index.dead = dead
        index.live = index._index.get_current_count() - dead
        index.generation = generation
        index.ef = ef
        return index

    def save(self, path: Path) -> None:
        """Write the index; what belongs to it besides goes into a head."""
        self._index.save_index(str(path))

    def _labels_by_note(self) -> dict[int, list[int]]:
        if self._labels is None:
            self._labels = {}
            for label in sorted(self._index.get_ids_list()):
                self._labels.setdefault(label >> SHIFT, []).append(label)
        return self._labels

    def _add(self, owners: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        if not len(owners):
            return
        own = self._labels_by_note()
        labels = []
        for owner in owners.tolist():
            labels_of = own.setdefault(owner, [])
            labels_of.append(labels_of[-1] + 1 if labels_of else owner << SHIFT)
            labels.append(labels_of[-1])
        room = self._index.get_max_elements()
        need = self._index.get_current_count() + len(labels)
        if need > room:
            self._index.resize_index(int(need * 1.25) + CHUNK)
        self._index.add_items(vectors, np.array(labels, np.uint64), num_threads=1)
        self.live += len(labels)

    def change(
        self, touched: Iterable[int], owners: NDArray[np.int64], vectors: NDArray[np.float32], generation: int
    ) -> None:
        """Take out all passages of the `touched` Notes, and put in what they have at a generation."""
        own = self._labels_by_note()
        for owner in touched:
            for label in own.get(owner, ()):
                try:
                    self._index.mark_deleted(label)
                except RuntimeError:  # it was taken out before
                    continue
                self.live -= 1
                self.dead += 1
        self._add(owners, vectors)
        self.generation = generation

    def nearest(self, query: NDArray[np.float32], limit: int) -> NDArray[np.int64] | None:
        """Return the owners of the nearest passages, at least `limit` of them if there are; None if it cannot."""
        count = min(2 * limit, self.live)
        while count:
            self._index.set_ef(max(self.ef, 2 * count))
            try:
                labels, _ = self._index.knn_query(query, k=count, num_threads=1)
            except RuntimeError:  # fewer can be reached than there are
                return None
            owners = np.unique(labels[0].astype(np.int64) >> SHIFT)
            if len(owners) >= limit or count == self.live:
                return owners
            count = min(4 * count, self.live)
        return np.empty(0, np.int64)

    def tuned(self, vectors: NDArray[np.float32], queries: NDArray[np.float32] | None = None) -> bool:
        """Raise `ef` until the ten nearest of the probes are found; whether they are, at last.

        Probes are the queries `queries`, and rows of `vectors` (all of the index's) pushed to a cosine of about 0.7.
        """
        sets = [self._probes(vectors)]
        if queries is not None and len(queries):
            sets.append(queries)
        return all(self._finds(vectors, probes) for probes in sets)

    def _probes(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        chance = np.random.default_rng(len(vectors))
        rows = np.sort(chance.choice(len(vectors), min(PROBES, len(vectors)), replace=False))
        noise = chance.normal(size=(len(rows), self._dimension)) / self._dimension**0.5
        probes: NDArray[np.float32] = (vectors[rows] + noise).astype(np.float32)
        return probes

    def labels(self) -> NDArray[np.int64]:
        """Return the labels of the passages that were not taken out, ascending: by Note, and in their order."""
        return np.array(sorted(filter(self._lives, self._index.get_ids_list())), np.int64)

    def _lives(self, label: int) -> bool:
        try:
            self._index.get_items([label])
        except RuntimeError:  # it was taken out
            return False
        return True

    def unlike(self, labels: NDArray[np.int64], vectors: NDArray[np.float32]) -> list[int]:
        """Return the places of the labels whose vectors are not these, row for row."""
        results: list[int] = []
        for at in range(0, len(labels), CHUNK):
            own = np.asarray(self._index.get_items(labels[at : at + CHUNK].tolist()), np.float32)
            results += (at + np.flatnonzero((own != vectors[at : at + CHUNK]).any(axis=1))).tolist()
        return results

    def recall(self, vectors: NDArray[np.float32]) -> float:
        """Return the share that it finds of the ten nearest of its probes; `vectors` are all of its own."""
        return self._share(vectors, self._probes(vectors))

    def _share(self, vectors: NDArray[np.float32], probes: NDArray[np.float32]) -> float:
        k = min(NEAREST, len(vectors))
        marks = [np.partition(scores, -k)[-k] for scores in (np.vecdot(vectors, probe) for probe in probes)]
        self._index.set_ef(max(self.ef, k))
        try:
            _, far = self._index.knn_query(probes, k=k, num_threads=1)
        except RuntimeError:  # fewer can be reached than there are
            return 0.0
        return float(np.mean((1 - far) >= np.array(marks)[:, None] - 1e-6))

    def _finds(self, vectors: NDArray[np.float32], probes: NDArray[np.float32]) -> bool:
        k = min(NEAREST, len(vectors))
        marks = [np.partition(scores, -k)[-k] for scores in (np.vecdot(vectors, probe) for probe in probes)]
        while self.ef <= EF_MOST:
            self._index.set_ef(self.ef)
            _, far = self._index.knn_query(probes, k=k, num_threads=1)
            if np.mean((1 - far) >= np.array(marks)[:, None] - 1e-6) >= RECALL:
                return True
            self.ef *= 2
        return False
