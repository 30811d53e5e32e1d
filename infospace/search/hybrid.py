"""Search by words, and by meaning and words together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.search.best_passage import with_best_passage
from infospace.search.query import Hit, SearchQuery, SearchResults, bounds_of, certificate
from infospace.search.top_k import select

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.core.json_types import JSON
    from infospace.search.index.vector_matrix import Matrix
    from infospace.store.protocol import Snapshot, Words

BM25_PER_COSINE = 50.0
"""BM25 that weighs as much as a cosine of 1 in `hybrid`: the score is cosine + BM25 / 50.

Chosen on the odd questions of Cranfield, MetaTool and Seal-Tools, where 40 to 60 differ by .001; NDCG@10 on
their even ones .582, .602, .926, of the cosine alone .534, .587, .745, of BM25 alone .533, .380, .921, of
reciprocal ranks (k 60) of both .571, .548, .867 (tests/benchmarks/quality.py).
"""

BY_MEANING, BY_WORDS = "meaning", "words"


def chosen_keyword_matches(
    snapshot: Snapshot, query: str, chosen: NDArray[np.int64] | None, among: Collection[int] | None
) -> Words:
    """Return those of the chosen Notes, None for all, that have a word; Invalid where the store has no full text."""
    result = snapshot.keyword_matches(query, among)
    if result is None:
        raise Invalid("this space's store does not search by words", hint='search by meaning: `"mode": "semantic"`')
    if chosen is None:
        return result
    keep = np.isin(result.numbers, chosen, assume_unique=True)
    numbers = result.numbers[keep]
    kept = tuple(int(number) for number in result.titled if number in numbers)
    return replace(result, numbers=numbers, scores=result.scores[keep], titled=kept)


def with_whole_titles(words: Words) -> NDArray[np.float64]:
    """Return BM25, with its bound added where the query is the whole title: such a Note comes before all others.

    On 300 pages with their titles as file names the exact title gives its page first in 100 % (97.3 without): others
    have the words of a short title more often in their texts (tests/benchmarks/titles.py).
    """
    return words.scores + words.bound * np.isin(words.numbers, words.titled)


def saturate_bm25(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return b/(b+1) of BM25, rounded to six decimals."""
    return np.round(scores / (scores + 1), 6)


def keyword_search(snapshot: Snapshot, query: SearchQuery, chosen: NDArray[np.int64]) -> SearchResults:
    """Find the Notes that have a word of the query, by BM25; those of which it is the whole title first."""
    among = query.among(snapshot)
    words = chosen_keyword_matches(snapshot, str(query.query), chosen, among)
    scores = saturate_bm25(with_whole_titles(words))
    order = np.lexsort((words.numbers, -scores))[: query.limit]
    numbers = words.numbers[order]
    versions = snapshot.current(numbers.tolist()).tolist()
    hits = [
        Hit(f"{Kind.NOTE}_{number}", version, score, None, None)
        for number, version, score in zip(numbers.tolist(), versions, scores[order].tolist(), strict=True)
    ]
    hits = with_best_passage(snapshot, hits, words.used, among)
    proved = certificate(
        matched=len(words.numbers),
        returned=len(hits),
        scored=len(chosen),
        notes=len(chosen),
        threshold=None,
        model=None,
        generation=snapshot.generation,
    )
    return SearchResults(hits, proved | _searched_terms(words))


def hybrid_search(
    snapshot: Snapshot,
    query: SearchQuery,
    chosen: NDArray[np.int64],
    matrix: Matrix,
    vector: NDArray[np.float32],
    threshold: float,
) -> SearchResults:
    """Find the Notes that are near the query, or have a word of it, by cosine + BM25 / 50."""
    words = chosen_keyword_matches(snapshot, str(query.query), chosen, query.among(snapshot))
    place = np.searchsorted(matrix.numbers, words.numbers)
    place[place == len(matrix.numbers)] = 0
    has_vector = matrix.numbers[place] == words.numbers if len(matrix.numbers) else np.zeros(len(place), bool)
    bm25 = np.zeros(len(matrix.numbers))
    bm25[place[has_vector]] = words.scores[has_vector]
    selection = select(matrix, vector, chosen, threshold, query.limit, bm25 / BM25_PER_COSINE)
    shown = matrix.shown(vector, selection.rows)
    return hybrid_results(
        snapshot,
        query,
        words,
        Scored(
            columns=matrix.columns[:, shown],
            cosines=selection.cosines,
            fused=selection.fused,
            bm25=bm25[np.searchsorted(matrix.numbers, matrix.owners[selection.rows])],
            matched=selection.matched,
            near=selection.near,
            max_below=selection.max_below,
        ),
        has_vector=has_vector,
        notes=len(chosen),
        threshold=threshold,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The best Notes that have vectors, in order, and what was counted of all of them.

    `columns`: number, version, and bounds of what is shown, shape (4, n); `fused`: the score; `matched` by either way,
    `near` by meaning; `max_below`: the highest cosine of those that match by neither.
    """

    columns: NDArray[np.int64]
    cosines: NDArray[np.float64]
    fused: NDArray[np.float64]
    bm25: NDArray[np.float64]
    matched: int
    near: int
    max_below: float | None


def hybrid_results(
    snapshot: Snapshot,
    query: SearchQuery,
    words: Words,
    scored: Scored,
    *,
    has_vector: NDArray[np.bool_],
    notes: int,
    threshold: float,
) -> SearchResults:
    """Put together what was found by both. `has_vector`: which of the Notes with a word have vectors."""
    hits = [
        _hit(bounds, score, cosine, weight, threshold)
        for bounds, score, cosine, weight in zip(
            scored.columns.T.tolist(),
            scored.fused.tolist(),
            scored.cosines.tolist(),
            scored.bm25.tolist(),
            strict=True,
        )
    ]
    alone = _without_vectors(snapshot, words.numbers[~has_vector], words.scores[~has_vector])
    if alone:
        hits = sorted([*hits, *alone], key=lambda hit: (-(hit.score or 0.0), _number(hit)))[: query.limit]
    hits = _with_keyword_passages(snapshot, hits, words, query.among(snapshot))
    proved = certificate(
        matched=scored.matched + len(alone),
        returned=len(hits),
        scored=notes,
        notes=notes,
        max_below=scored.max_below,
        threshold=threshold,
        model="",
        generation=snapshot.generation,
    )
    counts = {"matched_by": {BY_MEANING: scored.near, BY_WORDS: len(words.numbers)}}
    return SearchResults(hits, proved | counts | _searched_terms(words))


def _with_keyword_passages(
    snapshot: Snapshot, hits: list[Hit], words: Words, among: Collection[int] | None
) -> list[Hit]:
    """Hits of which those that only a word brought in have the passage with the word, if one has it."""
    worded = {hit.source: hit for hit in hits if hit.extra["matched_by"] == [BY_WORDS]}
    with_passages = with_best_passage(snapshot, list(worded.values()), words.used, among)
    results = {hit.source: hit for hit in with_passages if hit.start is not None}
    return [results.get(hit.source, hit) for hit in hits]


def _searched_terms(words: Words) -> dict[str, Any]:
    """What the certificate says of words: those looked for, and those left out since very many Notes have them."""
    return {"words": list(words.used), **({"words_left_out": list(words.common)} if words.common else {})}


def _number(hit: Hit) -> int:
    return int(hit.source.partition("_")[2])


def _hit(bounds: list[int], score: float, cosine: float, bm25: float, threshold: float) -> Hit:
    results = {BY_MEANING: cosine >= threshold, BY_WORDS: bm25 > 0}
    by: list[JSON] = [leg for leg, has in results.items() if has]
    extra: dict[str, JSON] = {"cosine": cosine, "bm25": round(bm25, 6), "matched_by": by}
    owner, version, start, end = bounds
    first, behind = bounds_of(start, end)
    return Hit(f"{Kind.NOTE}_{owner}", version, score, first, behind, extra)


def _without_vectors(snapshot: Snapshot, numbers: NDArray[np.int64], scores: NDArray[np.float64]) -> list[Hit]:
    """Hits of Notes that have a word, and no vector: not embedded yet, or without text but with a title."""
    if not len(numbers):
        return []
    versions = snapshot.current(numbers.tolist()).tolist()
    return [
        Hit(
            f"{Kind.NOTE}_{number}",
            version,
            round(score / BM25_PER_COSINE, 6),
            None,
            None,
            {"cosine": None, "bm25": round(score, 6), "matched_by": [BY_WORDS]},
        )
        for number, version, score in zip(numbers.tolist(), versions, scores.tolist(), strict=True)
    ]
