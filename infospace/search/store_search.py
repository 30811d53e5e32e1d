"""Search by meaning in a store that ranks by itself: its vectors stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from infospace.core.ids import Kind
from infospace.search.index.ann_index import setting
from infospace.search.query import Cut, Hit, SearchQuery, SearchResults, bounds_of, certificate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.store.protocol import NearestNotes, Snapshot


def approximate_search(
    snapshot: Snapshot, wanted: SearchQuery, model: str, query: NDArray[np.float32], cut: Cut
) -> SearchResults | None:
    """Find by the store's own index; None where it has none, or a proof is asked for, or INFOSPACE_INDEX is `exact`."""
    if not wanted.allows_approximate or wanted.limit is None or setting() == "exact":
        return None
    near = snapshot.nearest(model, query, wanted.limit)
    if near is None:
        return None
    threshold = cut.at(max(near.cosines.tolist(), default=None))
    proved = certificate(
        matched=None,
        returned=int((near.cosines >= threshold).sum()),
        scored=len(near.numbers),
        notes=len(snapshot.discoverable()),
        unembedded=snapshot.pending_count(),
        method="hnsw",
        threshold=threshold,
        model="",
        generation=snapshot.generation,
    )
    return SearchResults([hit for hit in _hits(near) if (hit.score or 0.0) >= threshold], proved)


def exact_search(
    snapshot: Snapshot,
    wanted: SearchQuery,
    model: str,
    query: NDArray[np.float32],
    cut: Cut,
    chosen: NDArray[np.int64],
) -> SearchResults | None:
    """Find by having the store compare with every one of the `chosen` Notes; None where it cannot."""
    among = None if wanted.within is None and wanted.where is None else chosen.tolist()
    threshold = cut.fixed
    if cut.chance is not None:
        best = snapshot.above(model, query, -1.0, limit=1, numbers=among)
        threshold = cut.at(None if best is None else max(best.cosines.tolist(), default=None))
    near = snapshot.above(model, query, threshold, limit=wanted.limit, numbers=among)
    if near is None:
        return None
    pending = len(np.intersect1d(snapshot.pending_numbers(), chosen, assume_unique=True))
    proved = certificate(
        matched=near.matched,
        returned=len(near.numbers),
        scored=len(chosen) - pending,
        notes=len(chosen),
        unembedded=pending,
        max_below=near.max_below,
        threshold=threshold,
        model="",
        generation=snapshot.generation,
    )
    return SearchResults(_hits(near), proved)


def _hits(near: NearestNotes) -> list[Hit]:
    columns = (near.numbers, near.versions, near.cosines, near.starts, near.ends)
    return [
        Hit(f"{Kind.NOTE}_{number}", version, score, *bounds_of(start, end))
        for number, version, score, start, end in zip(*(column.tolist() for column in columns), strict=True)
    ]
