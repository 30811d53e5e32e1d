"""`discover-notes` at 1,000 and 10,000 notes, and its parts. Milliseconds, medians.

`python tests/benchmarks/discovery.py [SIZE …]` for other sizes. Vectors are made.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
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
from planner.start import run_sync

TURNS = 30
SIZES = (1_000, 10_000)
WHERE = "metadata.year > 2010"


def run(sizes: tuple[int, ...] = SIZES) -> dict[str, dict[str, float]]:
    """Return medians by size, in milliseconds."""
    embedder = Embedder(get_model())
    embedder.embed_query("warm up")
    with tempfile.TemporaryDirectory() as folder:
        return {f"{size:,} notes": _measure(Path(folder) / f"{size}.db", size, embedder) for size in sizes}


def _measure(path: Path, size: int, embedder: Embedder) -> dict[str, float]:
    made_space(path, size).close()
    found = {}
    for opening in ("opening to the first answer", "opening again, to the first answer"):
        with open_space(path) as space:
            found[opening] = _once(lambda at=space: _search(at, "the first question", 5))
    with open_space(path) as space:
        found |= {
            "query embedded": _median(lambda i: embedder.embed_query(f"question number {i} about something")),
            "the whole, new query": _median(lambda i: _search(space, f"a new question {i} about something", 5)),
            "the whole, repeated query": _median(lambda _: _search(space, "the first question", 5)),
            '"all" at the threshold, repeated query': _median(
                lambda _: _search(space, "the first question", "all"), 10
            ),
            "where on metadata, first": _once(lambda: _search(space, "the first question", 5, where=WHERE)),
            "where on metadata": _median(lambda _: _search(space, "the first question", 5, where=WHERE), 5),
            "keyword": _median(lambda _: _search(space, "number 77", 5, mode="keyword"), 10),
            "hybrid": _median(lambda _: _search(space, "number 77", 5, mode="hybrid"), 10),
            "matrix and selection alone": _median(lambda _: _select(space)),
        }
        found["without the query's embedding"] = found["the whole, repeated query"]
        found["a plan that keeps all as evidence"] = _once(lambda: _all(space))
    return found


def _all(space: Space) -> None:
    step = {"type": "discover-notes", "query": "the first question", "limit": "all", "threshold": -1, "out": "$all"}
    done = run_sync(space, [step, {"type": "size", "target": "$all", "out": "$n"}])
    if done.status != "success":
        raise RuntimeError(done.reason)


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


def main() -> None:
    """Print the table."""
    table = run(tuple(int(size) for size in sys.argv[1:]) or SIZES)
    for name in next(iter(table.values())):
        print(f"{name:<42}", *(f"{column[name]:10.2f}" for column in table.values()))


if __name__ == "__main__":
    main()
