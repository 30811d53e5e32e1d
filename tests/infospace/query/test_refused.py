"""What a query may not say: each is refused before an engine sees it, or before the engine is asked for rows."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from infospace.core.bounds import OutOfTime, ending
from infospace.core.errors import BudgetExceeded, Invalid
from infospace.expressions.query.columns import Element, Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query

REFUSED: dict[str, str] = json.loads((Path(__file__).parent / "refused.json").read_text(encoding="utf-8"))
"""Statements, and what is said of each."""


def rows(sql: str, **tables: list[Any]) -> list[Any]:
    known = {f"${name}": Rows([Element(item) for item in items]) for name, items in tables.items()}
    return list(run_query(parse_query(sql), known, {"x": 1}))


@pytest.mark.parametrize("sql", [*REFUSED])
def test_a_statement_is_refused(sql: str) -> None:
    with pytest.raises(Invalid) as refused:
        rows(sql, t=[{"a": 1, "b": "x"}])
    assert REFUSED[sql] in refused.value.message


def test_there_are_enough_of_them() -> None:
    assert len(REFUSED) >= 60


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) AS n FROM $t a, $t b, $t c WHERE a.a * b.a + c.a = 12345678",
        "SELECT a.a FROM $t a, $t b, $t c ORDER BY a.a + b.a + c.a DESC",
        "SELECT count(*) AS n FROM $t a, $t b WHERE matches(a.b || b.b, '(a|b)*c$')",
        "SELECT a.a, sum(b.a) OVER (ORDER BY b.a) AS s FROM $t a, $t b, $t c",
        "SELECT count(*) AS n FROM " + ", ".join(f"$t a{table}" for table in range(16)),
        "SELECT concat_ws('', list(a.b)) AS r FROM $t a, $t b",
        "SELECT DISTINCT a.b || b.a || c.a AS r FROM $t a, $t b, $t c",
        "SELECT count(DISTINCT a.b || b.a) AS r FROM $t a, $t b",
        "SELECT quantile(a.a + b.a + c.a, 0.5) AS q FROM $t a, $t b, $t c",
        "SELECT a FROM $t UNION SELECT a.a * b.a AS a FROM $t a, $t b",
    ],
)
def test_a_query_ends_in_time(sql: str) -> None:
    """Within a tenth of a second of the time that it has, on a machine that is not busy; what waits is not counted."""
    table = [{"a": number, "b": f"text {number}"} for number in range(20_000)]
    rows("SELECT a FROM $t LIMIT 1", t=table[:1])
    known = {"$t": Rows([Element(item) for item in table])}
    started = time.process_time()
    with pytest.raises((OutOfTime, BudgetExceeded)) as ended, ending(time.monotonic() + 1.0):
        list(run_query(parse_query(sql), known, {}))
    assert isinstance(ended.value, OutOfTime) or "the query needs more memory than" in str(ended.value)
    assert time.process_time() - started < 1.0 + LATE


LATE = 2.0
"""Seconds that a busy machine may need more; alone it is 0.1."""


def test_a_function_of_ours_ends_within_the_rows_that_the_engine_gives_it() -> None:
    """The engine looks only behind two thousand rows, each of which makes 50,000 characters here."""
    made = parse_query("SELECT regexp_replace(a.b, '', $x, 'g') AS r FROM $t a, $t b")
    known = {"$t": Rows([Element({"b": "x" * 50}) for _ in range(3_000)])}
    begun = time.process_time()
    with pytest.raises(OutOfTime), ending(time.monotonic() + 0.3):
        list(run_query(made, known, {"x": "a" * 1_000}))
    assert time.process_time() - begun < 0.3 + 0.4


@pytest.mark.parametrize("form", ["{}", "NOT ({})"])
def test_many_conditions_are_not_planned_in_the_square_of_their_number(form: str) -> None:
    """Nothing interrupts the engine while it plans."""
    known = {"$t": Rows([Element({"a": number}) for number in range(2_000)])}

    def takes(count: int) -> float:
        join, sign = (" AND ", "!=") if form == "{}" else (" OR ", "=")
        condition = form.format(join.join(f"a {sign} {number}" for number in range(count)))
        query = parse_query(f"SELECT a FROM $t WHERE {condition}")
        found = []
        for _ in range(3):
            begun = time.process_time()
            assert len(list(run_query(query, known, {}))) == 2_000 - count
            found.append(time.process_time() - begun)
        return min(found)

    assert takes(900) < 12 * takes(90)


def test_a_query_gives_no_more_rows_than_a_step_may_make() -> None:
    """One row more than that comes, by which the step knows that there are too many."""
    known = {"$t": Rows([Element({"a": number}) for number in range(100)])}
    found = list(run_query(parse_query("SELECT x.a FROM $t x, $t y"), known, {}, None, 50))
    assert len(found) == 51
