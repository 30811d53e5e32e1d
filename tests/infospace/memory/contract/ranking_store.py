"""A store that answers `nearest` and `above` itself, by comparing with every row, as an engine with vectors would."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infospace.store.protocol import NearestNotes, Snapshot, Store
from infospace.store.sqlite import open_store


class RankingSnapshot:
    """A snapshot of another store, that ranks."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def nearest(self, model: str, query: NDArray[np.float32], limit: int) -> NearestNotes:
        """Return the nearest of all Notes, whatever their cosine."""
        return self.above(model, query, -1.0, limit=limit)

    def above(
        self,
        model: str,
        query: NDArray[np.float32],
        threshold: float,
        *,
        limit: int | None = None,
        numbers: Iterable[int] | None = None,
        excluding: Iterable[int] = (),
    ) -> NearestNotes:
        """Return what a loop over all rows finds."""
        rows = self._snapshot.rows(model, numbers)
        left = set(excluding)
        best: dict[int, tuple[float, int]] = {}
        for at, vector in enumerate(rows.vectors):
            cosine = round(float(np.dot(vector.astype(np.float64), query.astype(np.float64))), 6)
            owner = int(rows.owners[at])
            if owner in left:
                continue
            if owner not in best or cosine > best[owner][0]:
                best[owner] = cosine, at
        ranked = sorted(((-cosine, owner, at) for owner, (cosine, at) in best.items()))
        found = [at for cosine, _, at in ranked if -cosine >= threshold]
        below = [-cosine for cosine, _, _ in ranked if -cosine < threshold]
        which = np.array(found[:limit], np.int64)
        columns = (column[which] for column in (rows.owners, rows.versions, rows.starts, rows.ends))
        cosines = np.array([-cosine for cosine, _, _ in ranked[: len(which)]])
        return NearestNotes(*columns, cosines, len(found), max(below, default=None))


class RankingStore:
    """A store in an SQLite file whose snapshots rank."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def reading(self) -> Iterator[RankingSnapshot]:
        """Open a snapshot that ranks."""
        with self._store.reading() as snapshot:
            yield RankingSnapshot(snapshot)


def open_ranking(address: str) -> Any:
    """Open the space in a file, to be made if it is missing."""
    return RankingStore(open_store(address, create=True))
