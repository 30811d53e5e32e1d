"""Databases of queries are used again: a query sees nothing of those before it, nor of those beside it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from typing import Any

import duckdb
import pytest

from infospace.core.errors import BudgetExceeded, Invalid
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


def test_what_the_queries_of_a_database_take_is_added_up(made: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes less than a database may keep; what the process gives back between two is not counted."""
    mebibytes = iter([100, 130, 110, 140, 140, 145, 100, 100])
    monkeypatch.setattr(duckdb_engine, "_resident", lambda: next(mebibytes) * 2**20)
    kept = []
    for place in range(4):
        list(run_query(parse_query("SELECT a FROM $t"), tables(place), {}))
        kept.append([is_open(database) for database in made])
    assert kept == [[True], [True], [False], [False, True]]


def test_what_does_not_fit_into_the_memory_is_said_so_while_it_is_loaded(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_engine, "_SETTINGS", {**duckdb_engine._SETTINGS, "memory_limit": "20MB"})
    query = parse_query("SELECT count(*) AS n FROM $t WHERE a > 'a'")
    with pytest.raises(BudgetExceeded, match="needs more memory than 2GB"):
        list(run_query(query, tables(*[f"{number:06}" + "y" * 2_000 for number in range(30_000)]), {}))
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


INHERITING = """
import os, signal, sys, threading

give, given = threading.Event(), threading.Event()

def let_give():
    give.set()
    given.wait(20)

os.register_at_fork(before=let_give)  # hooks are called in reverse order: this one after that of the databases

from infospace.expressions.query import duckdb_engine
from infospace.expressions.query.columns import Element, Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query

def rows(*values):
    # upper is a function of Python, which is taken away after the query
    query = parse_query("SELECT upper(a) AS a FROM $t")
    return run_query(query, {"$t": Rows([Element({"a": value}) for value in values])}, {})

def give_back():
    late = rows("x")
    next(late)
    begun.set()
    give.wait(20)
    list(late)
    given.set()

begun = threading.Event()
half_read = rows("a", "b")
next(half_read)
other = threading.Thread(target=give_back)
other.start()
begun.wait(20)
child = os.fork()
if child:
    other.join()
    assert list(half_read) == [{"a": "B"}]
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
signal.alarm(20)
assert list(rows("c")) == [{"a": "C"}]
if sys.argv[1] == "closes":
    half_read.close()
assert list(rows("d")) == [{"a": "D"}]
duckdb_engine._DATABASES.close()
"""


@pytest.mark.parametrize("does", ["closes", "leaves"])
def test_a_child_goes_on_and_ends_whatever_was_being_queried_at_the_fork(does: str) -> None:
    """A query that is half read, and a database that comes back after the idle ones were closed."""
    command = [sys.executable, "-c", INHERITING, does]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
