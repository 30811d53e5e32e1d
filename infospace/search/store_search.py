"""Search by meaning in a store that compares vectors itself, as PostgreSQL with pgvector does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from infospace.core.ids import Kind
from infospace.search.hybrid import BM25_PER_COSINE, Scored, chosen_keyword_matches, hybrid_results
from infospace.search.index.ann_index import setting
from infospace.search.query import Cut, Hit, SearchQuery, SearchResults, bounds_of, certificate

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        notes=snapshot.discoverable_count(),
        unembedded=snapshot.pending_count(),
        method="hnsw",
        threshold=threshold,
        model="",
        generation=snapshot.generation,
    )
    hits = _hits(_columns(snapshot, model, query, near), near.cosines)
    return SearchResults([hit for hit in hits if (hit.score or 0.0) >= threshold], proved)


def exact_search(
    snapshot: Snapshot,
    wanted: SearchQuery,
    model: str,
    query: NDArray[np.float32],
    cut: Cut,
    chosen: NDArray[np.int64] | None,
) -> SearchResults | None:
    """Find by having the store compare with every one of the `chosen` Notes, None for all; None where it cannot."""
    among = None if chosen is None else chosen.tolist()
    threshold = cut.fixed
    if cut.chance is not None:
        best = snapshot.above(model, query, -1.0, limit=1, numbers=among)
        threshold = cut.at(None if best is None else max(best.cosines.tolist(), default=None))
    if wanted.mode == "hybrid":
        return _hybrid(snapshot, wanted, model, query, threshold, chosen)
    near = snapshot.above(model, query, threshold, limit=wanted.limit, numbers=among)
    if near is None:
        return None
    notes, pending = _counted(snapshot, chosen)
    proved = certificate(
        matched=near.matched,
        returned=len(near.numbers),
        scored=notes - pending,
        notes=notes,
        unembedded=pending,
        max_below=near.max_below,
        threshold=threshold,
        model="",
        generation=snapshot.generation,
    )
    return SearchResults(_hits(_columns(snapshot, model, query, near), near.cosines), proved)


def _hybrid(
    snapshot: Snapshot,
    wanted: SearchQuery,
    model: str,
    query: NDArray[np.float32],
    threshold: float,
    chosen: NDArray[np.int64] | None,
) -> SearchResults | None:
    """Find by both: Notes with a word count whatever their cosine, of the others the nearest are enough."""
    words = chosen_keyword_matches(snapshot, str(wanted.query), chosen, wanted.among(snapshot))
    among, worded = None if chosen is None else chosen.tolist(), words.numbers.tolist()
    near = snapshot.above(model, query, threshold, limit=wanted.limit, numbers=among, excluding=worded)
    own = snapshot.above(model, query, -1.0, numbers=worded)
    if near is None or own is None:
        return None
    bm25 = np.concatenate([words.scores[np.searchsorted(words.numbers, own.numbers)], np.zeros(len(near.numbers))])
    cosines = np.concatenate([own.cosines, near.cosines])
    fused = np.round(cosines + bm25 / BM25_PER_COSINE, 6)
    numbers = np.concatenate([own.numbers, near.numbers])
    order = np.lexsort((numbers, -fused))[: wanted.limit]
    rows = np.stack(
        [
            numbers,
            *(
                np.concatenate([getattr(own, column), getattr(near, column)])
                for column in ("versions", "starts", "ends")
            ),
        ]
    )[:, order]
    notes, pending = _counted(snapshot, chosen)
    results = hybrid_results(
        snapshot,
        wanted,
        words,
        Scored(
            columns=_shown(snapshot, model, query, rows),
            cosines=cosines[order],
            fused=fused[order],
            bm25=bm25[order],
            matched=near.matched + len(own.numbers),
            near=near.matched + int((own.cosines >= threshold).sum()),
            max_below=near.max_below,
        ),
        has_vector=np.isin(words.numbers, own.numbers, assume_unique=True),
        notes=notes,
        threshold=threshold,
    )
    proved = results.certificate
    proved["scored"], proved["unembedded"] = notes - pending, pending
    proved["exhaustive"] = proved["exhaustive"] and not pending
    return results


def _counted(snapshot: Snapshot, chosen: NDArray[np.int64] | None) -> tuple[int, int]:
    """Return how many Notes were to be compared, and how many of them have no vectors yet."""
    if chosen is None:
        return snapshot.discoverable_count(), snapshot.pending_count()
    return len(chosen), len(np.intersect1d(snapshot.pending_numbers(), chosen, assume_unique=True))


def _columns(snapshot: Snapshot, model: str, query: NDArray[np.float32], near: NearestNotes) -> NDArray[np.int64]:
    return _shown(snapshot, model, query, np.stack([near.numbers, near.versions, near.starts, near.ends]))


def _shown(snapshot: Snapshot, model: str, query: NDArray[np.float32], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return number, version, start and end of hits, shape (4, n), with the best passage in the place of a field.

    A Note without text has no passage: its field stays.
    """
    fields = np.flatnonzero(columns[2] < 0)
    if not len(fields):
        return columns
    shown = columns.copy()
    rows = snapshot.rows(model, np.sort(columns[0, fields]).tolist())
    scores: NDArray[np.float64] = np.vecdot(rows.vectors.astype(np.float64), query.astype(np.float64))
    scores = np.round(scores, 6)
    scores[rows.starts < 0] = -np.inf
    for at in fields.tolist():
        begin, end = np.searchsorted(rows.owners, [columns[0, at], columns[0, at] + 1]).tolist()
        best = begin + int(np.argmax(scores[begin:end]))
        if np.isfinite(scores[best]):
            shown[2:, at] = rows.starts[best], rows.ends[best]
    return shown


def _hits(columns: NDArray[np.int64], scores: NDArray[np.float64]) -> list[Hit]:
    described: Iterable[list[int]] = columns.T.tolist()
    return [
        Hit(f"{Kind.NOTE}_{number}", version, score, *bounds_of(start, end))
        for (number, version, start, end), score in zip(described, scores.tolist(), strict=True)
    ]
