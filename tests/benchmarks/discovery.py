"""`discover-notes` at 1,000 and 10,000 notes, and its parts. Milliseconds, medians."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from made import made_space

from infospace import Space, open_space
from infospace.perform import answer
from infospace.search.embedder import Embedder
from infospace.search.found import Wanted
from infospace.search.model import get_model
from infospace.view import Silence

TURNS = 30
SIZES = (1_000, 10_000)


def run(sizes: tuple[int, ...] = SIZES) -> dict[str, dict[str, float]]:
    """Return medians by size, in milliseconds."""
    embedder = Embedder(get_model())
    embedder.embed_query("warm up")
    with tempfile.TemporaryDirectory() as folder:
        return {f"{size:,} notes": _measure(Path(folder) / f"{size}.db", size, embedder) for size in sizes}


def _measure(path: Path, size: int, embedder: Embedder) -> dict[str, float]:
    made_space(path, size).close()
    with open_space(path) as space:
        first = _once(lambda: _search(space, "the first question", 5))
        found = {
            "opening to the first answer": first,
            "query embedded": _median(lambda i: embedder.embed_query(f"question number {i} about something")),
            "the whole, new query": _median(lambda i: _search(space, f"a new question {i} about something", 5)),
            "the whole, repeated query": _median(lambda _: _search(space, "the first question", 5)),
            '"all", repeated query': _median(lambda _: _search(space, "the first question", "all"), 10),
            "where on metadata": _median(
                lambda _: _search(space, "the first question", 5, where="metadata.year > 2010"), 5
            ),
            "matrix and selection alone": _median(lambda _: _select(space)),
        }
        found["without the query's embedding"] = found["the whole, repeated query"]
    return found


def _search(space: Space, query: str, limit: Any, **more: Any) -> None:
    entry = space.catalogue.get("discover-notes")
    found = asyncio.run(answer(entry, {"query": query, "limit": limit, **more}, space.view(scratch=True)))
    if found.status != "success":
        raise RuntimeError(found.reason)


def _select(space: Space) -> None:
    space.search.find(Wanted("the first question", 5, 0.3), Silence())


def _once(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def _median(call: Callable[[int], Any], turns: int = TURNS) -> float:
    call(-1)
    return statistics.median(_once(lambda i=i: call(i)) for i in range(turns))
