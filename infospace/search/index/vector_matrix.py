"""Every embedded passage in memory, as one matrix that follows the store from generation to generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.store.protocol import Rows, Snapshot

SPARE = 1.25
"""Capacity over need when the matrix grows, so that adding Notes does not copy it each time."""

BLOCK = 8_192
"""Rows scored in double precision at a time: 50 MB of 384 dimensions."""


class Matrix:
    """Passages of discoverable Notes: rows grouped by Note, Notes in order of their number.

    `owners`, `versions`, `starts`, `ends`: int64 of shape (n,); `vectors`: float32 of shape (n, dimension).
    A row is a passage, or a field such as the title, whose start is below 0 (`note_fields`).
    `numbers`: the Notes that have passages; `first`: each one's first row. `notes`: all discoverable Notes.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self.generation = -1
        self.changed = 0
        """How many Notes were read from the store since the matrix was last written beside it."""
        self.notes: NDArray[np.int64] = np.empty(0, np.int64)
        self._size = 0
        self._columns = np.empty((4, 0), np.int64)
        self._vectors = np.empty((0, 0), np.float32)
        self._group()

    @property
    def owners(self) -> NDArray[np.int64]:
        """The number of each row's Note."""
        return self._columns[0, : self._size]

    @property
    def versions(self) -> NDArray[np.int64]:
        """The version of the Note that each row was made from."""
        return self._columns[1, : self._size]

    @property
    def starts(self) -> NDArray[np.int64]:
        """Each passage's first character."""
        return self._columns[2, : self._size]

    @property
    def ends(self) -> NDArray[np.int64]:
        """The character behind each passage."""
        return self._columns[3, : self._size]

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The unit vectors of the passages, (passages, dimension)."""
        return self._vectors[: self._size]

    @property
    def columns(self) -> NDArray[np.int64]:
        """Owners, versions, starts and ends, shape (4, n)."""
        return self._columns[:, : self._size]

    def follow(self, snapshot: Snapshot) -> None:
        """Come up to the snapshot's generation; read all only where the store cannot say what changed."""
        if snapshot.generation == self.generation:
            return
        moved = snapshot.moved(self.generation) if self.generation >= 0 else None
        if moved is None or not moved.complete or len(moved.touched) * 4 > len(self.notes):
            rows = snapshot.rows(self.model)
            columns = np.stack([rows.owners, rows.versions, rows.starts, rows.ends])
            self.changed = len(rows.owners)
            self.put(columns, rows.vectors, snapshot.discoverable(), snapshot.generation)
            return
        if moved.touched:
            touched = np.fromiter(moved.touched, np.int64, len(moved.touched))
            self.changed += len(touched)
            self._merge(touched, snapshot.rows(self.model, moved.touched))
            rest = np.setdiff1d(self.notes, touched, assume_unique=True)
            self.notes = np.sort(np.concatenate([rest, snapshot.discoverable(moved.touched)]))
            self._group()
        self.generation = snapshot.generation

    def put(
        self,
        columns: NDArray[np.int64],
        vectors: NDArray[np.float32],
        notes: NDArray[np.int64],
        generation: int,
    ) -> None:
        """Take over all rows as they were at a generation. The arrays are never written to."""
        self._columns, self._vectors, self._size = columns, vectors, len(vectors)
        self.notes, self.generation = notes, generation
        self._group()

    def _merge(self, touched: NDArray[np.int64], rows: Rows) -> None:
        keep = ~np.isin(self.owners, touched)
        columns = np.stack([rows.owners, rows.versions, rows.starts, rows.ends])
        if keep.all() and (self._size == 0 or not len(rows.owners) or rows.owners[0] > self.owners[-1]):
            self._append(columns, rows.vectors)
            return
        columns = np.concatenate([self._columns[:, : self._size][:, keep], columns], axis=1)
        vectors = np.concatenate([self.vectors[keep], rows.vectors]) if self._size else rows.vectors
        order = np.argsort(columns[0], kind="stable")
        self._columns, self._vectors, self._size = columns[:, order], vectors[order], len(order)

    def _append(self, columns: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        if not columns.size:
            return
        need = self._size + columns.shape[1]
        if need > len(self._vectors) or need > self._columns.shape[1]:
            room = int(need * SPARE) + 64
            wider = np.empty((4, room), np.int64)
            wider[:, : self._size] = self._columns[:, : self._size]
            taller = np.empty((room, vectors.shape[1]), np.float32)
            if self._size:
                taller[: self._size] = self.vectors
            self._columns, self._vectors = wider, taller
        # Rows are only written behind those that any view has, so whoever holds a view (the thread that builds the
        # index) reads what it was given.
        self._columns[:, self._size : need] = columns
        self._vectors[self._size : need] = vectors
        self._size = need

    def _group(self) -> None:
        owners = self.owners
        self.first: NDArray[np.int64] = np.flatnonzero(np.diff(owners, prepend=-1)).astype(np.int64)
        self.numbers: NDArray[np.int64] = owners[self.first]
        self._bounds: NDArray[np.int64] = np.append(self.first, self._size)

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions in `self.numbers`, ascending, of some Notes by number, ascending; not of others."""
        if not len(self.numbers):
            return np.empty(0, np.int64)
        places = np.searchsorted(self.numbers, numbers)
        there: NDArray[np.int64] = places[self.numbers[np.minimum(places, len(self.numbers) - 1)] == numbers]
        return there

    def best(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return each embedded Note's best cosine, in single precision: shape (len(numbers),).

        By `vecdot`, which never spreads over threads: a product that does takes 40 ms instead of 0.5 where
        other programs keep the cores busy (10,000 rows), and saves a third where none does (100,000 rows).
        """
        if not self._size:
            return np.empty(0, np.float32)
        scores: NDArray[np.float32] = np.vecdot(self.vectors, query)
        return scores if len(self.first) == self._size else np.maximum.reduceat(scores, self.first)

    def shown(self, query: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each row that of the same Note to be shown: itself, or where it is a field the best passage.

        A Note without text has no passage: its row stays.
        """
        shown = rows.copy()
        wide = query.astype(np.float64)
        for at in np.flatnonzero(self.starts[rows] < 0).tolist():
            place = int(np.searchsorted(self.first, rows[at], "right"))
            begin = int(self.first[place - 1])
            end = int(self.first[place]) if place < len(self.first) else self._size
            passages = begin + np.flatnonzero(self.starts[begin:end] >= 0)
            if len(passages):
                scores = np.round(np.vecdot(self.vectors[passages].astype(np.float64), wide), 6)
                shown[at] = passages[int(np.argmax(scores))]
        return shown

    def exactly(
        self, query: NDArray[np.float32], which: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Score some Notes (positions in `numbers`) in double precision.

        Returns the best cosine of each, rounded to six decimals, and the row of its first best passage.
        The result of a row does not depend on its place in the matrix.
        """
        starts = self._bounds[which]
        counts = self._bounds[which + 1] - starts
        begins = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        rows = np.repeat(starts - begins, counts) + np.arange(int(counts.sum()))
        wide = query.astype(np.float64)
        scores = np.empty(len(rows))
        for at in range(0, len(rows), BLOCK):
            block = self.vectors[rows[at : at + BLOCK]].astype(np.float64)
            scores[at : at + BLOCK] = np.vecdot(block, wide)
        scores = np.round(scores, 6)
        best = np.maximum.reduceat(scores, begins)
        is_best = np.flatnonzero(scores == np.repeat(best, counts))
        group = np.repeat(np.arange(len(which)), counts)[is_best]
        _, where = np.unique(group, return_index=True)
        return best, rows[is_best[where]]
