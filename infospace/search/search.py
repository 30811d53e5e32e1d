"""Discovery: which kept Notes fit a query, and what was proved about that."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from infospace.core.ids import Kind
from infospace.search import store_search
from infospace.search.certainty.first_hit import NEIGHBOURS, first_hit_confidence
from infospace.search.chance import Chances
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.search.embedding.service import seconds_in_search
from infospace.search.hybrid import hybrid_search, keyword_search
from infospace.search.index import matrix_file as matrixfile
from infospace.search.index.ann_index import Index
from infospace.search.index.derived_files import DerivedFiles
from infospace.search.index.vector_matrix import Matrix
from infospace.search.note_filter import NoteFilter
from infospace.search.query import Cut, Hit, SearchQuery, SearchResults, bounds_of, certificate
from infospace.search.top_k import best_cosine, exact_cosines, select
from infospace.store.changes import Query
from infospace.store.note_fields import text_digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.core.listener import Listener
    from infospace.search.embedding.service import Embedding
    from infospace.search.index.hnsw import Hnsw
    from infospace.store.protocol import Snapshot, Store

_log = logging.getLogger(__name__)

PRIORITISE_FROM = 50
"""Notes that are embedded in whatever order, since a second or two does for all of them."""

MAX_MODEL_CHANGES = 3
"""How often a search begins anew because another process has given the space another model meanwhile."""


class Search:
    """Searches one space. The matrix is made at the first search and follows the store from then on."""

    def __init__(self, store: Store, embedding: Embedding) -> None:
        self._store = store
        self._embedding = embedding
        self._matrix: Matrix | None = None
        self._note_filter = NoteFilter()
        self._chances = Chances()
        self._everyday: tuple[str, NDArray[np.float32]] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def locked_matrix(self) -> Iterator[Matrix | None]:
        """Hold the matrix as the searches so far have left it, None before the first; searches wait meanwhile."""
        with self._lock:
            yield self._matrix

    @cached_property
    def _derived_files(self) -> DerivedFiles:
        return DerivedFiles(self._store)

    @cached_property
    def _index(self) -> Index:
        return Index(self._derived_files)

    async def discover(self, query: SearchQuery, listener: Listener) -> SearchResults:
        """Embed what is pending, then search.

        Raises ModelError where Notes are to be searched by meaning and there is no model, Invalid where they
        are to be searched by words and the store cannot.
        """
        return await asyncio.to_thread(self.find, query, listener)

    def find(self, query: SearchQuery, listener: Listener) -> SearchResults:
        """Do what `discover` does, in this thread."""
        clock = time.monotonic()
        results = self._search(query, listener)
        proof, took = results.certificate, (time.monotonic() - clock) * 1000
        _log.info(
            "searched %s (%s): %d compared, %d found, %.0f ms",
            query.mode,
            proof["method"],
            proof["scored"],
            len(results.hits),
            took,
        )
        return results

    def _search(self, query: SearchQuery, listener: Listener) -> SearchResults:
        with self._lock:
            if query.query is None:
                return self._filter(query)
            if query.mode == "keyword":
                return self._keyword_search(query)
            if self._is_empty():
                return self._empty_result(query)
            first = self._first_to_embed(query)
            for turn in range(MAX_MODEL_CHANGES):
                self._embedding.catch_up(listener, seconds_in_search(), first)
                key, info = self._embedding.key, self._embedding.info  # a change from here on is seen by the key
                vector = self._query_vector(str(query.query), key)
                everyday = self._everyday_vectors(key) if query.is_auto or query.wants_proposal else None
                with self._store.reading() as snapshot:
                    if turn < MAX_MODEL_CHANGES - 1 and self._store.writable and snapshot.model() != key:
                        continue
                    cut = self._cut(query, snapshot, key, info.threshold, everyday)
                    results = self._ranked_by_store(query, snapshot, key, vector, cut) or self._vector_search(
                        query, snapshot, self._follow(snapshot, key), vector, cut
                    )
                    if query.wants_proposal and everyday is not None:
                        chance = self._chances.of(snapshot, key, query.seen, everyday)
                        results.certificate.update(query.proposal(info.threshold, chance, results))
                break
            results.certificate["model"] = info.name
            results.certificate.update(query.certificate_of(cut))
            if self._matrix is not None:
                matrixfile.save(self._derived_files, self._matrix)
            return results

    def _first_to_embed(self, query: SearchQuery) -> list[int]:
        """Numbers of the Notes that wait to be embedded and have a word of the query, those that fit best first.

        Where very many wait, there is time for a few of them; of these the search shall have what it is after.
        """
        with self._store.reading() as snapshot:
            few = snapshot.pending_count() < PRIORITISE_FROM
            words = None if few else snapshot.keyword_matches(str(query.query))
            if words is None:
                return []
            waiting = snapshot.pending_numbers()
        if query.within is not None:
            waiting = np.intersect1d(waiting, query.within, assume_unique=True)
        there = np.isin(words.numbers, waiting, assume_unique=True)
        results: list[int] = words.numbers[there][np.argsort(-words.scores[there], kind="stable")].tolist()
        return results

    def _cut(
        self,
        query: SearchQuery,
        snapshot: Snapshot,
        key: str,
        model_threshold: float,
        everyday: NDArray[np.float32] | None,
    ) -> Cut:
        """Where hits end; for that, what everyday requests find among the Notes that whoever asks may know of."""
        if everyday is None:
            return query.cut(model_threshold, None)
        return query.cut(model_threshold, self._chances.of(snapshot, key, query.seen, everyday))

    def _everyday_vectors(self, key: str) -> NDArray[np.float32]:
        if self._everyday is None or self._everyday[0] != key:
            self._everyday = key, self._embedding.queries(EVERYDAY)
        return self._everyday[1]

    def _ranked_by_store(
        self, query: SearchQuery, snapshot: Snapshot, key: str, vector: NDArray[np.float32], cut: Cut
    ) -> SearchResults | None:
        """Have the store rank; None where it cannot: SQLite never can."""
        if snapshot.model() != key:
            return None
        results = store_search.approximate_search(snapshot, query, key, vector, cut)
        if results is not None or snapshot.above(key, vector, cut.fixed, numbers=()) is None:
            return results
        chosen, report = None, dict[str, Any]()
        if query.is_restricted:
            chosen, report = self._candidates(snapshot, snapshot.discoverable(), query)
        results = store_search.exact_search(snapshot, query, key, vector, cut, chosen)
        return None if results is None else replace(results, **report)

    def _filter(self, query: SearchQuery) -> SearchResults:
        """Find by condition alone: nothing is scored, and so no model is asked."""
        with self._store.reading() as snapshot:
            chosen, report = self._candidates(snapshot, snapshot.discoverable(), query)
            numbers = chosen.tolist()[: query.limit]
            versions = snapshot.current(numbers).tolist()
            proved = certificate(
                matched=len(chosen),
                returned=len(numbers),
                scored=0,
                notes=len(chosen),
                method="filter",
                threshold=None,
                model=None,
                generation=snapshot.generation,
            )
        hits = [
            Hit(f"{Kind.NOTE}_{one}", version, None, None, None) for one, version in zip(numbers, versions, strict=True)
        ]
        return SearchResults(hits, proved, **report)

    def _keyword_search(self, query: SearchQuery) -> SearchResults:
        with self._store.reading() as snapshot:
            fresh = self._matrix is not None and self._matrix.generation == snapshot.generation
            notes = self._matrix.notes if self._matrix is not None and fresh else snapshot.discoverable()
            chosen, report = self._candidates(snapshot, notes, query)
            results = keyword_search(snapshot, query, chosen)
        return replace(results, **report)

    def _vector_search(
        self, query: SearchQuery, snapshot: Snapshot, matrix: Matrix, vector: NDArray[np.float32], cut: Cut
    ) -> SearchResults:
        chosen, report = self._candidates(snapshot, matrix.notes, query)
        pending = snapshot.pending_numbers()
        if len(pending):
            pending = np.intersect1d(pending, chosen, assume_unique=True)
        if snapshot.model() != matrix.model:  # embedded with another model, in a space that nobody may write to
            pending = _without_vectors(snapshot, np.setdiff1d(chosen, matrix.numbers, assume_unique=True))
        index = self._index.ready(matrix, snapshot) if query.allows_approximate else None
        result = None if index is None else _approximate(matrix, index, vector, cut, query.limit or 0)
        if result is None:
            threshold = cut.fixed if cut.chance is None else cut.at(best_cosine(matrix, vector, chosen))
            if query.mode == "hybrid":
                result = hybrid_search(snapshot, query, chosen, matrix, vector, threshold)
            else:
                result = _exact(matrix, vector, chosen, threshold, query.limit)
        proved = result.certificate
        if proved["method"] == "exact":
            proved["scored"] = len(chosen) - len(pending)
        proved["unembedded"] = len(pending)
        proved["exhaustive"] = proved["exhaustive"] and not len(pending)
        return replace(result, certificate=proved, **report)

    def _follow(self, snapshot: Snapshot, key: str) -> Matrix:
        if self._matrix is None or self._matrix.model != key:
            self._matrix = matrixfile.load(self._derived_files, key, snapshot) or Matrix(key)
        self._matrix.follow(snapshot)
        return self._matrix

    def _is_empty(self) -> bool:
        """Whether there is no Note to search, and so no need of a model."""
        with self._store.reading() as snapshot:
            if self._matrix is not None and self._matrix.generation == snapshot.generation:
                return not len(self._matrix.notes)
            return not snapshot.searchable()

    def _empty_result(self, query: SearchQuery) -> SearchResults:
        from infospace.search.models.custom import model_name_and_threshold

        with self._store.reading() as snapshot:
            generation = snapshot.generation
            name, model_threshold = model_name_and_threshold(snapshot.chosen())
        cut = query.cut(model_threshold, None)
        proved = certificate(
            matched=0,
            returned=0,
            scored=0,
            notes=0,
            threshold=cut.fixed,
            model=name,
            generation=generation,
        )
        return SearchResults([], proved | query.certificate_of(cut))

    def _query_vector(self, query: str, key: str) -> NDArray[np.float32]:
        digest = text_digest(query)
        with self._store.reading() as snapshot:
            known = snapshot.query(key, digest)
        if known is not None:
            return known
        vector = self._embedding.query(query)
        if self._store.writable and self._embedding.key == key:
            self._store.commit([Query(key, digest, vector)])
        return vector

    def _candidates(
        self, snapshot: Snapshot, notes: NDArray[np.int64], query: SearchQuery
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """The numbers (ascending) of the Notes that count, and what `SearchResults` tells of the condition."""
        if query.seen is not None:
            notes = query.seen(snapshot, notes)
        chosen = notes if query.within is None else np.intersect1d(notes, query.within, assume_unique=True)
        if query.where is None:
            return chosen, {}
        from infospace.expressions import ItemMismatches

        tally = ItemMismatches()
        satisfying, hint = self._note_filter.satisfying(snapshot, chosen, len(notes), query.where, tally)
        return satisfying, {"hint": hint, "mismatches": tally.mismatches, "mismatched": str(tally)}


def _without_vectors(snapshot: Snapshot, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of Notes without vectors of a model that have text: with passages of another one, or waiting for any."""
    other = {number for number, *_ in snapshot.digests(numbers.tolist())}
    return np.intersect1d(numbers, np.union1d(snapshot.pending_numbers(), sorted(other)).astype(np.int64))


def _exact(
    matrix: Matrix, vector: NDArray[np.float32], chosen: NDArray[np.int64], threshold: float, limit: int | None
) -> SearchResults:
    """Compare with every chosen Note."""
    selection = select(matrix, vector, chosen, threshold, limit, highest=NEIGHBOURS + 1)
    confidence = first_hit_confidence(matrix.model, selection.highest)
    proved = certificate(
        matched=selection.matched,
        returned=len(selection.rows),
        scored=len(chosen),
        notes=len(chosen),
        max_below=selection.max_below,
        threshold=threshold,
        model="",
        generation=matrix.generation,
    )
    if confidence is not None:
        proved["confidence"] = confidence
    return SearchResults(_hits(matrix, vector, selection.rows, selection.cosines), proved)


def _approximate(matrix: Matrix, index: Hnsw, query: NDArray[np.float32], cut: Cut, limit: int) -> SearchResults | None:
    """Compare with the Notes that an index thinks near; None when it cannot tell."""
    owners = index.nearest(query, limit)
    if owners is None:
        return None
    cosines, rows = exact_cosines(matrix, query, matrix.places(owners))
    threshold = cut.at(max(cosines.tolist(), default=None))
    keep = cosines >= threshold
    cosines, rows = cosines[keep], rows[keep]
    order = np.lexsort((matrix.owners[rows], -cosines))[:limit]
    proved = certificate(
        matched=None,
        returned=len(order),
        scored=len(owners),
        notes=len(matrix.notes),
        method="hnsw",
        threshold=threshold,
        model="",
        generation=matrix.generation,
    )
    return SearchResults(_hits(matrix, query, rows[order], cosines[order]), proved)


def _hits(
    matrix: Matrix, query: NDArray[np.float32], rows: NDArray[np.int64], scores: NDArray[np.float64]
) -> list[Hit]:
    columns = matrix.columns[:, matrix.shown(query, rows)].tolist()
    return [
        Hit(f"{Kind.NOTE}_{owner}", version, score, *bounds_of(start, end))
        for owner, version, start, end, score in zip(*columns, scores.tolist(), strict=True)
    ]
