"""Search among the Collections of a space: by name, metadata and the titles of their items, as they are now.

What a Collection is embedded as is read again only when it, or what its titles are read from, has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from infospace.core.ids import Kind, number_of
from infospace.search.chance import chance_of_rows
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.search.index.vector_matrix import Matrix
from infospace.search.query import Hit, SearchQuery, SearchResults, certificate
from infospace.search.top_k import best_cosine, select
from infospace.store.changes import Describe
from infospace.store.note_fields import text_digest

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.search.passages_of_collection import SearchFunction
    from infospace.search.query import Threshold
    from infospace.space import Space
    from infospace.store.protocol import Snapshot

COLLECTIONS_PER_COMMIT = 200
"""Collections that are written in one transaction, in which their texts are read again."""


def search_collections(query: str, limit: int | None, threshold: Threshold | None) -> SearchFunction:
    """Return the search for kept Collections; no `threshold` is the model's own."""
    search_query = SearchQuery(query, limit, threshold)

    def run(space: Space, listener: Listener) -> SearchResults:
        with space.store.reading() as snapshot:
            if not snapshot.collections():
                return _nothing(snapshot, search_query)
        space.embedding.follow()
        vector = space.embedding.query(query)
        if space.store.writable:
            _catch_up(space, listener)
        with space.store.reading() as snapshot:
            matrix, count = _matrix(space, snapshot, listener), snapshot.collections()
        cut = search_query.cut(space.embedding.info.threshold, _chance(space, matrix) if search_query.is_auto else None)
        threshold = cut.fixed if cut.chance is None else cut.at(best_cosine(matrix, vector, matrix.notes))
        selection = select(matrix, vector, matrix.notes, threshold, limit)
        columns = matrix.columns[:2, selection.rows].tolist()
        hits = [
            Hit(f"{Kind.COLLECTION}_{owner}", version, score, None, None)
            for owner, version, score in zip(*columns, selection.cosines.tolist(), strict=True)
        ]
        proved = certificate(
            matched=selection.matched,
            returned=len(hits),
            scored=count,
            notes=count,
            max_below=selection.max_below,
            threshold=threshold,
            model=space.embedding.info.name,
            generation=matrix.generation,
        )
        return SearchResults(hits, _renamed(proved) | search_query.certificate_of(cut))

    return run


def _chance(space: Space, matrix: Matrix) -> float | None:
    """What everyday requests find among all Collections."""
    return chance_of_rows(matrix.owners, matrix.vectors, space.embedding.queries(EVERYDAY))


def _catch_up(space: Space, listener: Listener) -> None:
    """Embed the Collections that changed, and keep what they were embedded as."""
    key = space.embedding.key
    with space.store.reading() as snapshot:
        texts = snapshot.undescribed(key)
    if not texts:
        return
    passages = space.embedding.passages([text.text for text in texts], listener)
    digests: list[list[bytes]] = [[] for _ in texts]
    for owner, (start, end) in zip(passages.owners.tolist(), passages.bounds, strict=True):
        digests[owner].append(text_digest(texts[owner].text[start:end]))
    changes = [Describe(text.id, key, text_digest(text.text), own) for text, own in zip(texts, digests, strict=True)]
    for at in range(0, len(changes), COLLECTIONS_PER_COMMIT):
        space.store.commit(changes[at : at + COLLECTIONS_PER_COMMIT])


def _matrix(space: Space, snapshot: Snapshot, listener: Listener) -> Matrix:
    """The passages of all Collections with text at one generation; what is not kept is embedded once more."""
    key = space.embedding.key
    rows = snapshot.described(key)
    columns, vectors = np.stack([rows.owners, rows.versions, rows.starts, rows.ends]), rows.vectors
    texts = snapshot.undescribed(key)
    if texts:
        passages = space.embedding.passages([text.text for text in texts], listener)
        more = np.zeros((4, len(passages.owners)), np.int64)
        more[0] = np.array([number_of(text.id) for text in texts], np.int64)[passages.owners]
        more[1] = np.array([text.version for text in texts], np.int64)[passages.owners]
        columns = np.concatenate([columns, more], axis=1)
        vectors = np.concatenate([vectors, passages.vectors]) if len(vectors) else passages.vectors
        order = np.argsort(columns[0], kind="stable")
        columns, vectors = columns[:, order], vectors[order]
    matrix = Matrix(key)
    matrix.put(columns, vectors, np.unique(columns[0]), snapshot.generation)
    return matrix


def _nothing(snapshot: Snapshot, query: SearchQuery) -> SearchResults:
    """What is found where there is no Collection; no model is needed for that."""
    from infospace.search.models.custom import model_name_and_threshold

    name, own = model_name_and_threshold(snapshot.chosen())
    cut = query.cut(own, None)
    proved = certificate(
        matched=0,
        returned=0,
        scored=0,
        notes=0,
        threshold=cut.fixed,
        model=name,
        generation=snapshot.generation,
    )
    return SearchResults([], _renamed(proved) | query.certificate_of(cut))


def _renamed(proved: dict[str, Any]) -> dict[str, Any]:
    """The certificate, whose counts are of Collections here."""
    return {"collections" if name == "notes" else name: value for name, value in proved.items()}
