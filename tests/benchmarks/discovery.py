"""`discover-notes` as a space grows, and its parts, beside other stores of vectors. Vectors are made.

Ten best of each query; every row is the median and the 95th percentile of turns taken in one process, in
milliseconds. Queries are made too, and known to the space, so that a row has no embedding in it unless it says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from asking import Asking, choose
from figures import NOT_INSTALLED, Call, Cell, Table, figure, interleaved, once, spread
from made import keep_queries, made_queries, made_text, made_vectors, space_file, threshold_for
from numpy.typing import NDArray
from peers import PEERS, Peers, sentence_transformer

from infospace import Space, open_space
from infospace.core.ids import number_of
from infospace.core.json_types import JSON
from infospace.core.listener import NullListener
from infospace.search.embedding.embedder import Embedder
from infospace.search.models.find import get_model
from infospace.search.query import SearchQuery
from planner.execute.start import run_sync

TURNS, TURNS_OF_MODELS, TURNS_OF_ALL, TURNS_OF_WORDS = 60, 20, 9, 9

QUIET = 0.25
"""Seconds before a call that runs a model: so long the threads of numeric libraries may go on spinning after one."""

BEST = 10
MATCHES = (100, 10_000)
WHERE = "metadata.year > 2010"
QUESTIONS = [f"made question {number}" for number in range(TURNS)]

EXACT, HNSW = "discover-notes, exact", "discover-notes, HNSW"
EXACT_ALONE, HNSW_ALONE = "  of this the search alone, exact", "  of this the search alone, HNSW"
REST = "  of this the rest (arguments, evidence, answer)"
NEW = "discover-notes, a new query, embedded"
EMBEDDED = "  of this the embedding"
ENCODED = "sentence-transformers, the embedding alone"
KEPT = "a plan that keeps all Notes as evidence"


def run(folder: Path, sizes: Sequence[int]) -> dict[str, Table]:
    """Return the tables `discovery` (milliseconds), `recall` (share of the ten best) and `filling` (seconds)."""
    model = get_model()
    embedder = Embedder(model)
    encoder = sentence_transformer(model.folder)
    encode = None if encoder is None else lambda text: encoder.encode(text, show_progress_bar=False)
    before = os.environ.get("INFOSPACE_INDEX")
    tables: dict[str, Table] = {"discovery": {}, "recall": {}, "filling": {}}
    try:
        for size in sizes:
            for name, cells in _measure(folder, size, embedder, encode).items():
                for row, cell in cells.items():
                    tables[name].setdefault(row, {})[f"{size:,} notes"] = cell
    finally:
        choose(before or "auto")
    return tables


def _measure(
    folder: Path, size: int, embedder: Embedder, encode: Callable[[str], Any] | None
) -> dict[str, dict[str, Cell]]:
    vectors = made_vectors(size)
    queries = made_queries(vectors, TURNS)
    filling: dict[str, Cell] = {}
    with open_space(space_file(folder, size)) as space, Asking(space) as ask:
        keep_queries(space, QUESTIONS, queries)
        choose("hnsw")
        filling["infospace, HNSW over the vectors"] = once(lambda: _alone(space, QUESTIONS[0])) / 1000
        with Peers(folder / f"peers of {size}", vectors) as peers:
            filling |= {name: peers.seconds.get(name, NOT_INSTALLED) for name in PEERS}
            found = _spreads(_without_model(space, ask) | _peers(peers, queries), TURNS)
            recall = _recall(space, vectors, peers, queries)
        found |= _spreads(_with_model(ask, embedder, encode), TURNS_OF_MODELS, QUIET)
        found[REST] = figure(found[EXACT]) - figure(found[EXACT_ALONE])
        found |= {name: NOT_INSTALLED for name in (*PEERS, ENCODED) if name not in found}
        choose("auto")
        found |= _spreads(_of_all(space, ask, vectors, queries), TURNS_OF_ALL)
        found["discover-notes, `where` on metadata, the first"] = once(lambda: ask(QUESTIONS[0], where=WHERE))
        found |= _spreads(_by_words(ask), TURNS_OF_WORDS)
        found[KEPT] = once(lambda: _keep_all(space))
    order = (EXACT, EXACT_ALONE, REST, HNSW, HNSW_ALONE, NEW, EMBEDDED, *PEERS, ENCODED)
    return {"discovery": {name: found[name] for name in (*order, *found)}, "recall": recall, "filling": filling}


def _without_model(space: Space, ask: Asking) -> dict[str, Call]:
    def by(index: str, call: Call) -> Call:
        def chosen(turn: int) -> object:
            choose(index)
            return call(turn)

        return chosen

    def whole(turn: int) -> object:
        return ask(QUESTIONS[turn], BEST)

    def alone(turn: int) -> object:
        return _alone(space, QUESTIONS[turn])

    return {
        EXACT: by("exact", whole),
        HNSW: by("hnsw", whole),
        EXACT_ALONE: by("exact", alone),
        HNSW_ALONE: by("hnsw", alone),
    }


def _peers(peers: Peers, queries: NDArray[np.float32]) -> dict[str, Call]:
    return {
        name: lambda turn, peer=peer: peer.nearest(queries[turn], BEST)  # type: ignore[misc]
        for name, peer in peers.there.items()
    }


def _with_model(ask: Asking, embedder: Embedder, encode: Callable[[str], Any] | None) -> dict[str, Call]:
    choose("auto")
    calls: dict[str, Call] = {
        NEW: lambda turn: ask(f"a new question {turn} about something", BEST),
        EMBEDDED: lambda turn: embedder.embed_query(f"a newer question {turn} about something"),
    }
    if encode is not None:
        calls[ENCODED] = lambda turn: encode(f"a newer question {turn} about something")
    return calls


def _of_all(space: Space, ask: Asking, vectors: NDArray[np.float32], queries: NDArray[np.float32]) -> dict[str, Call]:
    calls: dict[str, Call] = {}
    for matches in (one for one in MATCHES if one <= len(vectors)):
        at_least = [threshold_for(vectors, query, matches) for query in queries[:TURNS_OF_ALL]]
        at_least.append(at_least[0])
        name = f'discover-notes, "all" of {matches:,} matches'
        calls[name] = lambda turn, t=at_least: ask(QUESTIONS[turn], "all", t[turn])  # type: ignore[misc]
        calls[f"  of this the search alone, {matches:,} matches"] = lambda turn, t=at_least: _alone(  # type: ignore[misc]
            space, QUESTIONS[turn], None, t[turn]
        )
    return calls


def _by_words(ask: Asking) -> dict[str, Call]:
    return {
        "discover-notes, `where` on metadata, again": lambda turn: ask(QUESTIONS[turn], where=WHERE),
        "discover-notes, keyword": lambda turn: ask(f"number {turn + 77}", threshold=None, mode="keyword"),
        "discover-notes, hybrid": lambda turn: ask(QUESTIONS[turn], threshold=None, mode="hybrid"),
    }


def _alone(space: Space, query: str, limit: int | None = BEST, threshold: float = -1) -> Any:
    return space.search.find(SearchQuery(query, limit, threshold), NullListener())


def _recall(space: Space, vectors: NDArray[np.float32], peers: Peers, queries: NDArray[np.float32]) -> dict[str, Cell]:
    """How many of the ten best each finds, of those whose cosine is that of the tenth or higher."""
    shares: dict[str, list[float]] = {"infospace, exact": [], "infospace, HNSW": [], **{name: [] for name in PEERS}}
    places = {made_text(number): number for number in range(len(vectors))}
    for text, query in zip(QUESTIONS, queries, strict=True):
        scores = np.vecdot(vectors, query)
        least = np.sort(scores)[-BEST] - 1e-6
        answers = {name: [places[one] for one in peer.nearest(query, BEST)] for name, peer in peers.there.items()}
        for index, name in (("exact", "infospace, exact"), ("hnsw", "infospace, HNSW")):
            choose(index)
            found = _alone(space, text)
            if found.certificate["method"] == index:
                answers[name] = [number_of(hit.source) - 1 for hit in found.hits]
        for name, rows in answers.items():
            shares[name].append(float((scores[rows] >= least).sum()) / BEST)
    fallback = {"infospace, HNSW": "no index was fit"}
    return {
        name: float(np.mean(found)) if found else fallback.get(name, NOT_INSTALLED) for name, found in shares.items()
    }


def _keep_all(space: Space) -> None:
    step: dict[str, JSON] = {
        "type": "discover-notes",
        "query": QUESTIONS[0],
        "limit": "all",
        "threshold": -1,
        "out": "$all",
    }
    done = run_sync(space, [step, {"type": "size", "target": "$all", "out": "$n"}])
    if done.status != "success":
        raise RuntimeError(done.reason)


def _spreads(calls: Mapping[str, Call], turns: int, pause: float = 0.0) -> dict[str, Cell]:
    return {name: spread(times) for name, times in interleaved(calls, turns, pause=pause).items()}
