"""`query` beside DuckDB alone: 100,000 rows joined, grouped and sorted; what conversion takes is told apart.

Run: python tests/benchmarks/querying.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import duckdb
from figures import Table, lines

from infospace.core.clock import today_and_now
from infospace.expressions.query import duckdb_engine
from infospace.expressions.query.builder import Builder
from infospace.expressions.query.columns import Element, Rows
from infospace.expressions.query.parse import parse_query
from infospace.expressions.query.select import Writer

ROWS = 100_000
ROUNDS = 5
JOINED = (
    "SELECT b.area, count(*) AS n, sum(a.price) AS total, max(a.who) AS who FROM $a a JOIN $b b ON a.shop = b.shop "
    "GROUP BY b.area ORDER BY total DESC"
)
SORTED = "SELECT shop, price, who FROM $a ORDER BY who, price DESC LIMIT 100"
GROUPED = f"{ROWS:,} rows joined with 1,000, grouped, sorted"
TOP = f"the first 100 of {ROWS:,} rows sorted by two columns"
RATIO = "engine : DuckDB"
ALONE = {JOINED: JOINED.replace("$a", "a").replace("$b", "b"), SORTED: SORTED.replace("$a", "a")}


def tables() -> tuple[list[Any], list[Any]]:
    chance = random.Random(7)  # noqa: S311 - not for secrets
    sales = [
        {
            "shop": chance.randrange(1000),
            "price": round(chance.random() * 100, 2),
            "who": f"name {chance.randrange(999)}",
        }
        for _ in range(ROWS)
    ]
    return sales, [{"shop": shop, "area": f"area {shop % 50}"} for shop in range(1000)]


def fastest(call: Callable[[], object]) -> float:
    """Return the milliseconds of the fastest of some calls."""
    found = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return min(found) * 1000


def run() -> dict[str, Table]:
    """Return the table `querying`: milliseconds of the fastest of some turns, and how many times DuckDB's alone."""
    sales, shops = tables()
    items = {"$a": [Element(row) for row in sales], "$b": [Element(row) for row in shops]}
    alone = duckdb.connect(":memory:", config={"threads": str(duckdb_engine.THREADS)})
    alone.execute("CREATE TABLE a (shop BIGINT, price DOUBLE, who VARCHAR)")
    alone.execute("CREATE TABLE b (shop BIGINT, area VARCHAR)")
    rows = Rows(items["$a"])
    arrays = {name: rows.column((name,)).arrays[""] for name in ("shop", "price", "who")}
    alone.register("given", arrays)
    alone.execute("INSERT INTO a SELECT shop, price, who FROM given")
    alone.executemany("INSERT INTO b VALUES (?, ?)", [[row["shop"], row["area"]] for row in shops])
    table: Table = {}
    for name, (sql, plain) in {GROUPED: (JOINED, ALONE[JOINED]), TOP: (SORTED, ALONE[SORTED])}.items():
        parsed = parse_query(sql)
        whole = fastest(lambda: list(duckdb_engine.run_query(parsed, {k: Rows(v) for k, v in items.items()}, {})))  # noqa: B023
        builder = Builder({}, today_and_now)
        compiled = Writer(builder, {name: Rows(of) for name, of in items.items()}).write(parse_query(sql).query, 10**6)
        loaded: Any = duckdb.connect(":memory:", config={"threads": str(duckdb_engine.THREADS)})
        for of_table, of in builder.tables.items():
            duckdb_engine._load(loaded, of_table, of)
        ours = fastest(lambda: loaded.execute(compiled.sql).fetchall())  # noqa: B023
        theirs = fastest(lambda: alone.execute(plain).fetchall())  # noqa: B023
        loaded.close()
        table[name] = {"whole": whole, "of it the engine": ours, "DuckDB alone": theirs, RATIO: ours / theirs}
    alone.close()
    return {"querying": table}


if __name__ == "__main__":
    print("\n".join(lines(run()["querying"])))
