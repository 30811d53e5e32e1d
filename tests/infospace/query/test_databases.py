"""Databases of queries are used again: a query sees nothing of those before it, nor of those beside it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from typing import Any

import duckdb
import pytest

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.expressions import Mismatch
from infospace.expressions.query import duckdb_engine
from infospace.expressions.query.columns import Element, Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query


def tables(*values: JSON) -> dict[str, Rows]:
    return {"$t": Rows([Element({"a": value}) for value in values])}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The databases that are made from here on; none is there before."""
    databases = list[Any]()
    monkeypatch.setattr(duckdb_engine, "_DATABASES", duckdb_engine._Databases())
    connect = duckdb.connect

    def counted(*arguments: Any, **settings: Any) -> Any:
        databases.append(connect(*arguments, **settings))
        return databases[-1]

    monkeypatch.setattr(duckdb, "connect", counted)
    return databases


def is_open(database: Any) -> bool:
    try:
        return database.execute("SELECT 1").fetchall() == [(1,)]
    except duckdb.ConnectionException:
        return False


def test_a_database_is_used_again_and_found_empty(made: list[Any]) -> None:
    """No table and no function of the query before is left; what is set cannot be set otherwise."""
    query = parse_query("SELECT upper(a) AS v FROM $t ORDER BY v")
    assert list(run_query(query, tables("b", "a"), {})) == [{"v": "A"}, {"v": "B"}]
    functions = "SELECT count(*) FROM duckdb_functions()"
    before = made[0].execute(functions).fetchall()
    assert list(run_query(query, tables("c"), {})) == [{"v": "C"}]
    assert len(made) == 1
    assert made[0].execute(functions).fetchall() == before
    with duckdb_engine._DATABASES.connection(keep=True) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == []
        with pytest.raises(duckdb.InvalidInputException, match="the configuration has been locked"):
            connection.execute("SET memory_limit = '9GB'")


def test_queries_side_by_side_have_databases_of_their_own(made: list[Any]) -> None:
    """Two of them are kept afterwards."""
    query = parse_query("SELECT a FROM $t")
    going = [run_query(query, tables(place), {}) for place in range(3)]
    assert [next(rows) for rows in going] == [{"a": 0}, {"a": 1}, {"a": 2}]
    assert [list(rows) for rows in going] == [[], [], []]
    assert [is_open(database) for database in made] == [True, True, False]


@pytest.mark.parametrize(
    ("sql", "values", "error"),
    [
        ("SELECT a / 0 AS v FROM $t", (1,), Mismatch),
        ("SELECT (SELECT a FROM $t) AS v FROM $t", (1, 2), Invalid),
    ],
)
def test_a_database_whose_query_failed_is_closed(made: list[Any], sql: str, values: Any, error: Any) -> None:
    with pytest.raises(error):
        list(run_query(parse_query(sql), tables(*values), {}))
    assert [is_open(database) for database in made] == [False]
    assert list(run_query(parse_query("SELECT a FROM $t"), tables(7), {})) == [{"a": 7}]


def test_a_database_whose_query_was_broken_off_is_closed(made: list[Any]) -> None:
    rows = run_query(parse_query("SELECT a FROM $t"), tables(1, 2), {})
    assert next(rows) == {"a": 1}
    assert isinstance(rows, Generator)
    rows.close()
    assert [is_open(database) for database in made] == [False]


def test_a_database_that_held_many_rows_is_closed(made: list[Any]) -> None:
    """It would keep a part of the memory that they took."""
    query = parse_query("SELECT sum(a) AS v FROM $t")
    for count, kept in ((10_000, True), (10_001, False)):
        assert list(run_query(query, tables(*[1] * count), {})) == [{"v": count}]
        assert [is_open(database) for database in made] == [kept]


def test_a_database_whose_query_took_much_memory_is_closed(made: list[Any]) -> None:
    """Few rows, each long and joined with many: what the process grew by is given back, and not kept by who is idle."""
    rows = {"$t": Rows([Element({"x": number, "t": f"{number:05}" + "y" * 3_000}) for number in range(1_200)])}
    ordered = "SELECT a.x AS x, row_number() OVER (ORDER BY a.t || b.t) AS n FROM $t a JOIN $t b ON b.x < 40"
    query = parse_query(f"SELECT x FROM ({ordered}) s WHERE n < 3")
    assert list(run_query(query, rows, {})) == [{"x": 0}, {"x": 0}]
    assert [is_open(database) for database in made] == [False]


FORKING = """
import os, sys
from infospace.expressions.query.columns import Element, Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query

def tell(number):
    rows = list(run_query(parse_query("SELECT a FROM $t"), {"$t": Rows([Element({"a": number})])}, {}))
    os.write(1, f"{rows}\\n".encode())  # whole lines: both processes write at once

tell(1)
child = os.fork()
tell(2 if child else 3)
if child:
    sys.exit(os.waitpid(child, 0)[1])
"""


def test_a_process_that_forks_and_its_child_go_on_querying() -> None:
    """The threads of a database are in one of the two alone."""
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, sorted(done.stdout.split("\n")), done.stderr) == (
        0,
        ["", "[{'a': 1}]", "[{'a': 2}]", "[{'a': 3}]"],
        "",
    )
