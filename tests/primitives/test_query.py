"""`query`: one SELECT over Collections and the space's notes."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import pytest

from planner.execute.start import run_sync

ORDERS = [
    {"person": "Ada", "items": [{"price": 3, "what": "pen"}, {"price": 2.5, "what": "ink"}]},
    {"person": "Bob", "items": [{"price": 10, "what": "book"}]},
    {"person": "Ada", "items": [{"price": 4, "what": "pad"}], "code": 7},
    {"person": None, "items": None, "code": "7"},
]


def table(name: str, rows: list[Any]) -> list[dict[str, Any]]:
    return [{"type": "create-collection", "value": rows, "out": f"${name}"}]


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (
            (
                "SELECT person, count(*) AS n, sum(i.price) AS total FROM $orders o, UNNEST(o.items) AS i "
                "WHERE i.price > $least GROUP BY person HAVING n > 1 ORDER BY total DESC LIMIT 5"
            ),
            [{"person": "Ada", "n": 3, "total": 9.5}],
        ),
        ("SELECT person FROM $orders GROUP BY person HAVING count(code) > 0", [{"person": "Ada"}, {"person": None}]),
        ("SELECT count(*) AS n FROM $orders HAVING max(person) = 'Bob'", [{"n": 4}]),
        ("SELECT code FROM $orders", [{"code": None}, {"code": None}, {"code": 7}, {"code": "7"}]),
        ("SELECT person FROM $orders WHERE code = 7", [{"person": "Ada"}]),
        ("SELECT DISTINCT person FROM $orders", [{"person": "Ada"}, {"person": "Bob"}, {"person": None}]),
        (
            "SELECT DISTINCT o.person FROM $orders o ORDER BY o.person DESC",
            [{"person": "Bob"}, {"person": "Ada"}, {"person": None}],
        ),
        (
            "SELECT DISTINCT lower(o.person) AS who FROM $orders o WHERE code IS NULL ORDER BY lower(o.person)",
            [{"who": "ada"}, {"who": "bob"}],
        ),
        ("SELECT split(person, 'd')[0] AS a, split(person, 'd')[-1] AS b FROM $orders LIMIT 1", [{"a": "A", "b": "a"}]),
        ("SELECT list(i.what)[1] AS second FROM $orders o, UNNEST(o.items) AS i", [{"second": "ink"}]),
        ("SELECT n.content AS name FROM $names n ORDER BY name", [{"name": "Ada"}, {"name": "Cy"}]),
        ("SELECT * FROM $names", [{"content": "Cy"}, {"content": "Ada"}]),
        (
            "SELECT names, o.person FROM $names LEFT JOIN $orders o ON names = o.person",
            [{"names": "Cy", "person": None}, {"names": "Ada", "person": "Ada"}, {"names": "Ada", "person": "Ada"}],
        ),
        ("SELECT person FROM $orders WHERE person IN $names LIMIT 1", [{"person": "Ada"}]),
        (
            (
                "WITH rich AS (SELECT person, max(i.price) AS most FROM $orders o, UNNEST(o.items) i GROUP BY person) "
                "SELECT person, rank() OVER (ORDER BY most DESC) AS place FROM rich ORDER BY place"
            ),
            [{"person": "Bob", "place": 1}, {"person": "Ada", "place": 2}],
        ),
        ('SELECT o.person AS "the person" FROM $orders o LIMIT 1;', [{"the person": "Ada"}]),
    ],
)
def test_the_rows_of_a_select(run: Any, sql: str, rows: list[Any]) -> None:
    steps = [*table("orders", ORDERS), *table("names", ["Cy", "Ada"])]
    steps += [{"type": "create-note", "value": 2, "out": "$least"}, {"type": "query", "sql": sql, "out": "$rows"}]
    assert run(*steps).content("rows") == rows


@pytest.mark.parametrize(
    ("values", "sql", "rows"),
    [
        ([1, 2.5, 2], "SELECT x, x * 2 AS y FROM $t", [(1, 2), (2.5, 5.0), (2, 4)]),
        ([1.0, 2], "SELECT x, x + 0 AS y FROM $t", [(1.0, 1.0), (2, 2)]),
        ([2, 1.0, 1], "SELECT DISTINCT x, 0 AS y FROM $t", [(2, 0), (1.0, 0)]),
        ([2, 1.0, 1], "SELECT x, min(x) AS y FROM $t GROUP BY x", [(2, 2), (1.0, 1.0)]),
        ([2.0, 1, 1.0, 2], "SELECT min(x) AS x, max(x) AS y FROM $t", [(1, 2.0)]),
        ([1.0, 2], "SELECT x, list(x) OVER () AS y FROM $t", [(1.0, [1.0, 2]), (2, [1.0, 2])]),
        ([1.0, 2], "SELECT x, lag(x, 1, 0) OVER (ORDER BY x) AS y FROM $t", [(1.0, 0), (2, 1.0)]),
        ([1.0, 2], "SELECT x, first_value(x) OVER (ORDER BY x) AS y FROM $t", [(1.0, 1.0), (2, 1.0)]),
        ([1.0, 2], "SELECT x, 0 AS y FROM $t UNION SELECT x + 1 AS x, 0 AS y FROM $t", [(1.0, 0), (2, 0), (3, 0)]),
        ([1.0, 2.0], "SELECT x, x + 1 AS y FROM $t", [(1.0, 2.0), (2.0, 3.0)]),
        ([1, 2], "SELECT avg(x) AS x, median(x) AS y FROM $t", [(1.5, 1.5)]),
        ([1, 3], "SELECT avg(x) AS x, median(x) AS y FROM $t", [(2, 2)]),
        (
            [2**53, -(2**53), 0.5],
            "SELECT x, x * 2 AS y FROM $t",
            [(2**53, 2.0**54), (-(2**53), -(2.0**54)), (0.5, 1.0)],
        ),
        ([2**53 + 1, 1.5], "SELECT x, x AS y FROM $t", [(2**53 + 1, 2**53 + 1), (1.5, 1.5)]),
    ],
)
def test_a_number_has_a_point_where_the_verbs_give_one(run: Any, values: Any, sql: str, rows: Any) -> None:
    """In a column of whole numbers and others, too; beyond 2^53 such a column computes with doubles."""
    found = run(*table("t", [{"x": value} for value in values]), {"type": "query", "sql": sql, "out": "$r"})
    assert [repr((row["x"], row["y"])) for row in found.content("r")] == [repr(row) for row in rows]


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("x", [1, 2, None]),
        ("x DESC", [2, 1, None]),
        ("x NULLS FIRST", [None, 1, 2]),
        ("x DESC NULLS FIRST", [None, 2, 1]),
        ("x ASC NULLS LAST", [1, 2, None]),
        ("x DESC NULLS LAST", [2, 1, None]),
    ],
)
def test_nulls_stand_where_the_order_says(run: Any, sort: str, found: list[Any]) -> None:
    """Last, whatever the direction; of the rows, and of those of a window."""
    rows = table("t", [{"x": 2}, {"x": None}, {"x": 1}])
    ordered = run(*rows, {"type": "query", "sql": "SELECT x FROM $t ORDER BY SORT".replace("SORT", sort), "out": "$r"})
    assert [row["x"] for row in ordered.content("r")] == found
    sql = "SELECT x, row_number() OVER (ORDER BY SORT) AS n FROM $t ORDER BY n".replace("SORT", sort)
    numbered = run(*rows, {"type": "query", "sql": sql, "out": "$r"})
    assert [row["x"] for row in numbered.content("r")] == found


@pytest.mark.parametrize(
    ("frame", "found"),
    [
        ("BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", [1, 3, 7, 15]),
        ("BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", [15, 14, 12, 8]),
        ("BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", [15, 15, 15, 15]),
        ("BETWEEN CURRENT ROW AND CURRENT ROW", [1, 2, 4, 8]),
        ("BETWEEN 1 PRECEDING AND CURRENT ROW", [1, 3, 6, 12]),
        ("BETWEEN 1 PRECEDING AND 1 FOLLOWING", [3, 7, 14, 12]),
        ("BETWEEN CURRENT ROW AND 2 FOLLOWING", [7, 14, 12, 8]),
        ("BETWEEN 2 PRECEDING AND 1 PRECEDING", [None, 1, 3, 6]),
        ("BETWEEN 1 FOLLOWING AND 2 FOLLOWING", [6, 12, 8, None]),
        ("BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING", [None, 1, 3, 7]),
        ("BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING", [14, 12, 8, None]),
        ("2 PRECEDING", [1, 3, 7, 14]),
    ],
)
def test_a_window_has_the_rows_between_its_edges(run: Any, frame: str, found: list[Any]) -> None:
    """Both edges are in it; without rows a sum is null."""
    sql = "SELECT sum(x) OVER (ORDER BY x ROWS FRAME) AS s FROM $t ORDER BY x".replace("FRAME", frame)
    ran = run(*table("t", [{"x": 4}, {"x": 1}, {"x": 8}, {"x": 2}]), {"type": "query", "sql": sql, "out": "$r"})
    assert [row["s"] for row in ran.content("r")] == found


def test_equal_rows_of_a_window_stand_in_the_order_of_the_table(run: Any) -> None:
    """For what depends on which comes first, and for edges of rows; with no order at all, too."""
    rows = table("t", [{"k": number % 2, "x": 2**number} for number in range(6)])
    sql = (
        "SELECT x, row_number() OVER (ORDER BY k) AS n, sum(x) OVER (ORDER BY k ROWS 1 PRECEDING) AS s, "
        "lag(x) OVER () AS before, first_value(x) OVER (PARTITION BY k) AS first FROM $t"
    )
    found = [tuple(row.values()) for row in run(*rows, {"type": "query", "sql": sql, "out": "$r"}).content("r")]
    assert found == [
        (1, 1, 1, None, 1),
        (2, 4, 18, 1, 2),
        (4, 2, 5, 2, 1),
        (8, 5, 10, 4, 2),
        (16, 3, 20, 8, 1),
        (32, 6, 40, 16, 2),
    ]


def test_equal_rows_of_a_window_stand_in_the_order_of_a_long_table(run: Any) -> None:
    """More rows than an engine sorts at once without moving equal ones."""
    rows = [{"k": number % 3, "x": number * 7919 % 5000} for number in range(5000)]
    sql = "SELECT x, sum(x) OVER (ORDER BY k ROWS 1 PRECEDING) AS s FROM $t"
    found = run(*table("t", rows), {"type": "query", "sql": sql, "out": "$r"}).content("r")
    ordered = [row["x"] for row in sorted(rows, key=lambda row: row["k"])]
    sums = {x: x + before for before, x in pairwise([0, *ordered])}
    assert [row["s"] for row in found] == [sums[row["x"]] for row in rows]


def test_the_average_of_large_whole_numbers_is_rounded_once(run: Any) -> None:
    """Their sum is beyond 2^53, where a double of it is another number."""
    values = [362053604518451774, 969721800422229794, 635568337227888850, 323984487592695769]
    values += [833272967100725580, 1116977930883399959, 1111565609775812846]
    found = run(
        *table("t", [{"x": value} for value in values]),
        {"type": "query", "sql": "SELECT avg(x) AS x FROM $t", "out": "$r"},
    )
    assert found.content("r") == [{"x": sum(values) / len(values)}]
    assert sum(values) / len(values) != float(sum(values)) / len(values)


def test_rows_of_many_tables_stand_in_their_order(run: Any) -> None:
    """By the first table, then the next; what the first has no row for comes last."""
    tables = {"a": [{"k": 1, "x": 1}, {"k": 2, "x": 2}], "b": [{"k": 3, "y": 3}, {"k": 2, "y": 2}]}
    steps = [step for name, rows in tables.items() for step in table(name, rows)]
    joins = ""
    for name in "cde":
        steps += table(name, [{"k": 1}])
        joins += f" LEFT JOIN ${name} {name} ON a.k = {name}.k"
    sql = f"SELECT a.x, b.y FROM $a a FULL JOIN $b b ON a.k = b.k{joins}"  # noqa: S608 - names of this test
    found = run(*steps, {"type": "query", "sql": sql, "out": "$r"})
    assert found.content("r") == [{"x": 1, "y": None}, {"x": 2, "y": 2}, {"x": None, "y": 3}]


@pytest.mark.parametrize(
    ("sql", "name", "status"),
    [
        ("SELECT x, x FROM $t", "x", "refused"),
        ("SELECT x AS y, k AS y FROM $t", "y", "refused"),
        ("SELECT n FROM (SELECT x AS n, k AS n FROM $t) s", "n", "refused"),
        ("SELECT *, x FROM $t", "x", "failed"),
        ("SELECT x, * FROM $t", "x", "failed"),
        ("SELECT a.*, b.* FROM $t a JOIN $t b ON a.x = b.x", "x", "failed"),
    ],
)
def test_two_outputs_of_one_name_are_wrong(run: Any, space: Any, sql: str, name: str, status: str) -> None:
    """One would be lost: a row has each name once. Which columns `*` has, the run alone knows."""
    steps = [*table("t", [{"x": 1, "k": 2}]), {"type": "query", "sql": sql, "out": "$r"}]
    result = run_sync(space, {"steps": steps})
    assert result.status == status
    assert f"two outputs are called {name!r}" in f"{result.problems} {result.reason}"


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ("BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW", "'FOLLOWING' (character 54) where PRECEDING was expected"),
        ("BETWEEN 1 PRECEDING AND UNBOUNDED PRECEDING", "'PRECEDING' (character 70) where FOLLOWING was expected"),
        ("BETWEEN 1 FOLLOWING AND 1 PRECEDING", "has a window whose rows end before they begin (character 36)"),
        ("2 FOLLOWING", "has a window whose rows end before they begin (character 36)"),
        ("BETWEEN x PRECEDING AND CURRENT ROW", "'x' (character 44) where a number of rows was expected"),
    ],
)
def test_edges_of_a_window_that_make_no_sense_are_refused(space: Any, frame: str, message: str) -> None:
    sql = "SELECT sum(x) OVER (ORDER BY x ROWS FRAME) AS s FROM $t".replace("FRAME", frame)
    result = run_sync(space, {"steps": [*table("t", [{"x": 4}]), {"type": "query", "sql": sql, "out": "$r"}]})
    assert result.status == "refused"
    assert message in str(result.problems)


def test_a_parameter_that_nothing_binds_is_told_where_the_query_stands(space: Any) -> None:
    steps = [*table("t", [{"x": 4}]), {"type": "query", "sql": "SELECT x FROM $t WHERE x > $least", "out": "$r"}]
    result = run_sync(space, {"steps": steps})
    errors = [(one.code, one.pointer) for one in result.problems if one.severity == "error"]
    assert errors == [("unbound-variable", "/steps/1/sql")]


def test_a_column_may_be_called_rows(run: Any) -> None:
    """The word begins the edges of a window behind a value alone."""
    table_of = table("t", [{"rows": 2}, {"rows": 1}])
    over = "PARTITION BY rows ORDER BY rows, 0 + rows DESC ROWS 1 PRECEDING"
    sql = "SELECT rows, sum(rows) OVER (OVER) AS s FROM $t ORDER BY rows".replace("(OVER)", f"({over})")
    assert run(*table_of, {"type": "query", "sql": sql, "out": "$r"}).content("r") == [
        {"rows": 1, "s": 1},
        {"rows": 2, "s": 2},
    ]


@pytest.mark.parametrize(
    ("sql", "rows", "empty"),
    [
        ("SELECT x FROM (SELECT * FROM $rows) t", [{"x": 1.5}], []),
        ("WITH t AS (SELECT *, 1 AS one FROM $rows) SELECT q, one FROM t", [{"q": None, "one": 1}], []),
        ("SELECT t.x FROM (SELECT DISTINCT * FROM $rows) t ORDER BY t.Name", [{"x": 1.5}], []),
        ("SELECT title FROM (SELECT * FROM notes) t WHERE t.folder = 'none'", [], []),
        (
            "SELECT * FROM $rows UNION SELECT 'b' AS b, 2 AS c FROM $rows",
            [{"Name": "a", "x": 1.5}, {"Name": "b", "x": 2}],
            [],
        ),
    ],
)
def test_all_columns_of_a_subselect_are_those_of_the_items(space: Any, sql: str, rows: Any, empty: Any) -> None:
    """What no item has is null there, too; whether the check knows the items or not, and of no items."""
    known = {"type": "object", "properties": {"Name": {"type": "string"}, "x": {"type": "number"}}}
    for table, expected in (([{"Name": "a", "x": 1.5}], rows), ([], empty)):
        for items in ({}, {"items": known}):
            steps = [{"type": "query", "sql": sql, "out": "$q"}]
            result = run_sync(
                space, {"inputs": {"rows": {"kind": "Collection", **items}}, "steps": steps}, {"rows": table}
            )
            assert result.status == "success", (result.reason, result.problems)
            assert result.result is not None
            assert result.result.data == expected


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT x FROM $all WHERE x = Ann", " (no item has `Ann`)"),
        ("SELECT x, nmae FROM $all", " (no item has `nmae`)"),
        ("SELECT a.x, b.q FROM $all a JOIN $all b ON a.x = b.x WHERE z IS NULL", " (no item has `z`, `q`)"),
        ("SELECT x, late FROM $all", ""),
        ("SELECT x AS one FROM $all WHERE o.p IS NULL ORDER BY one", ""),
        ("SELECT title, nobody FROM notes", ""),
    ],
)
def test_a_name_that_no_item_has_is_told_in_the_text(run: Any, sql: str, told: str) -> None:
    """A key that is null is there, and so is an object that lacks a key; of notes the check says it."""
    rows = {"type": "create-note", "value": '[{"x": "a", "late": null, "o": {}}, {"x": "b"}]', "out": "$text"}
    read = {"type": "coerce", "target": "$text", "coercion": "json", "out": "$json"}
    steps = [
        rows,
        read,
        {"type": "split", "target": "$json", "out": "$all"},
        {"type": "query", "sql": sql, "out": "$q"},
    ]
    value = run(*steps).last.value
    assert value.startswith(tuple("0123456789"))
    assert value.partition(":")[0].partition(" (")[2] == told[2:]


def test_nothing_is_told_of_a_table_without_items(run: Any) -> None:
    assert run(*table("all", []), {"type": "query", "sql": "SELECT x FROM $all", "out": "$q"}).last.value == "0 items"


def test_an_output_may_be_called_like_the_column_that_it_is_made_of(run: Any) -> None:
    """Also where the check knows no columns: what HAVING and ORDER BY name is the output."""
    text = {"type": "create-note", "value": '[{"k": "a", "price": 2}, {"k": "b", "price": 5}]', "out": "$text"}
    rows = {"type": "coerce", "target": "$text", "coercion": "json", "out": "$json"}
    split = {"type": "split", "target": "$json", "out": "$all"}
    sql = "SELECT k, sum(price) AS price FROM $all GROUP BY k HAVING price > 1 ORDER BY price DESC"
    result = run(text, rows, split, {"type": "query", "sql": sql, "out": "$rows"})
    assert result.content("rows") == [{"k": "b", "price": 5}, {"k": "a", "price": 2}]


def test_the_notes_of_the_space_are_a_table(run: Any) -> None:
    """Their columns, their properties by name, and one read transaction whose generation is told."""
    made = [
        {
            "type": "create-note",
            "value": "one two three",
            "metadata": {"status": "open", "tags": ["a"]},
            "name": "first",
        },
        {"type": "create-note", "value": {"x": 1}, "metadata": {"status": "done"}, "name": "second"},
        {"type": "create-note", "value": "left out", "name": "_hidden"},
        {"type": "create-note", "value": "not kept"},
    ]
    run(*made)
    sql = "SELECT @id, @name, words, status, content, tags FROM notes WHERE status IS NOT NULL ORDER BY words DESC"
    ran = run({"type": "query", "sql": sql, "out": "$rows"})
    found = ran.content("rows")
    assert [row.pop("id").split("_")[0] for row in found] == ["Note", "Note"]
    assert found == [
        {"name": "first", "words": 3, "status": "open", "content": "one two three", "tags": ["a"]},
        {"name": "second", "words": 1, "status": "done", "content": {"x": 1}, "tags": None},
    ]
    assert ran.last.extra["generation"] > 0
    count = run({"type": "query", "sql": "SELECT count(*) AS n FROM notes", "out": "$rows"})
    assert count.content("rows") == [{"n": 2}]


def test_it_was_made_from_all_rows_of_its_tables(run: Any) -> None:
    """Also from those that no condition took."""
    steps = [*table("orders", ORDERS), {"type": "query", "sql": "SELECT person FROM $orders LIMIT 1", "out": "$rows"}]
    ran = run(*steps)
    uses = {use.id for use in ran.last.uses}
    assert {item.id for item in ran.items("orders")} <= uses
    assert len(ran.items("orders")) == 4


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT persn FROM $typed", "there is no `persn` in `typed`"),
        ("SELECT t.person AS a, count(*) AS n FROM $typed t", "`t.person` is neither grouped by nor in an aggregate"),
        ("SELECT person, person FROM $typed", "two outputs are called 'person'"),
        ("SELECT count(*) FROM $typed", "has an output without a name (character 7)"),
        ("SELECT person + 1 AS a FROM $typed", "`person + 1` computes with numbers, and `person` is text"),
        (
            "SELECT (SELECT person FROM $typed) + 1 AS a FROM $other",
            "`(SELECT …) + 1` computes with numbers, and `(SELECT …)` is text",
        ),
        (
            "SELECT (n IN (SELECT n FROM $other)) + 1 AS a FROM $other",
            "`(n IN (SELECT …)) + 1` computes with numbers, and `n IN (SELECT …)` is true or false",
        ),
        (
            "SELECT (lag(person) OVER (ORDER BY person)) + 1 AS a FROM $typed",
            "`lag(…) OVER (…) + 1` computes with numbers, and `lag(…) OVER (…)` is text",
        ),
        ("SELECT a.person FROM $typed a JOIN $other b ON a.person = b.n", "compares text with a number"),
        ("SELECT person FROM $typed WHERE count(*) > 1", "WHERE has `count()`, which is made of many rows"),
        ("SELECT person FROM $typed, $other", "$other"),
        ("SELECT person FROM $typd", "$typd is not bound before this step"),
        ("SELECT person FROM tasks", "there is no table 'tasks'"),
        (
            "SELECT person FROM $typed UNION SELECT person, n FROM $other",
            "UNION joins a SELECT of 1 output with one of 2",
        ),
        ("DELETE FROM notes", "'DELETE' (character 0) where a query was expected"),
    ],
)
def test_the_check_says_what_is_wrong(space: Any, sql: str, message: str) -> None:
    from planner.execute.start import run_sync

    if message == "$other":
        sql, message = "SELECT person FROM $typed x, $typed y", "`person` is in `x` and in `y`"
    steps = [
        *table("typed", [{"person": "Ada"}]),
        *table("other", [{"n": 1}]),
        {"type": "query", "sql": sql, "out": "$rows"},
    ]
    result = run_sync(space, {"steps": steps})
    assert result.status == "refused"
    assert any(message in problem.message for problem in result.problems), result.problems


def test_the_check_follows_its_fields(space: Any) -> None:
    """What a query gives is known after it."""
    from planner.execute.start import run_sync

    steps = [
        *table("orders", [{"person": "Ada", "price": 2}]),
        {"type": "query", "sql": "SELECT person, sum(price) AS total FROM $orders GROUP BY person", "out": "$rows"},
        {"type": "sort", "target": "$rows", "by": "totl", "out": "$sorted"},
    ]
    [problem] = run_sync(space, {"steps": steps}).problems
    assert (problem.code, problem.hint) == ("unknown-field", "did you mean `total`?")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT code > 1 AS x FROM $orders", "`code > 1` compares values of other types"),
        ("SELECT code + 1 AS x FROM $orders", "`code + 1` computes with a column of number and text"),
        ("SELECT 1 / (code_of - 7) AS x FROM $orders", "divides by zero"),
        ("SELECT CAST(person AS number) AS x FROM $orders", "cannot cast a text that is not a number"),
        (
            "SELECT (SELECT person FROM $orders) AS x FROM $orders",
            "a subselect that is used as one value gives several",
        ),
        ("SELECT big * big AS x FROM $orders", "more than 38 digits"),
        ("SELECT huge * huge AS x FROM $orders", "`x` is beyond what a number holds"),
    ],
)
def test_an_operation_without_a_result_fails_the_step(run: Any, sql: str, reason: str) -> None:
    orders = [{**order, "code_of": 7, "big": 10**30, "huge": 1e200} for order in ORDERS]
    ran = run(
        {"type": "create-note", "value": orders, "out": "$n"},
        {"type": "split", "target": "$n", "out": "$orders"},
        {"type": "query", "sql": sql, "out": "$x"},
        status="failed",
    )
    assert reason in ran.reason


def test_without_the_engine_one_sentence_says_so(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.delitem(sys.modules, "infospace.expressions.query.duckdb_engine", raising=False)
    steps = [*table("orders", ORDERS), {"type": "query", "sql": "SELECT person FROM $orders", "out": "$rows"}]
    assert (
        run(*steps, status="failed").reason == "`query` needs DuckDB, which is not installed here (pip install duckdb)"
    )


def test_it_ends_when_its_step_has_no_time_left(run: Any) -> None:
    steps = [
        *table("t", [{"a": number} for number in range(3000)]),
        {
            "type": "query",
            "sql": "SELECT count(*) AS n FROM $t a, $t b, $t c WHERE a.a * b.a + c.a = 1234567",
            "timeout_s": 1,
            "out": "$rows",
        },
    ]
    assert "`timeout_s`" in run(*steps, status="failed").reason


def test_it_makes_no_more_than_its_budget_allows(space: Any) -> None:
    from planner.execute.start import run_sync

    steps = [*table("t", list(range(50))), {"type": "query", "sql": "SELECT a AS x, b FROM $t a, $t b", "out": "$r"}]
    result = run_sync(space, {"steps": steps, "budget": {"items": 1000}})
    assert result.status == "failed"
    assert "the budget of 1,000 items that one step may make is too small" in (result.reason or "")


TYPED = {
    "kind": "Collection",
    "items": {
        "type": "object",
        "properties": {"person": {"type": "string"}, "price": {"type": "number"}, "due date": {"type": "string"}},
        "additionalProperties": False,
    },
    "default": [],
}


@pytest.mark.parametrize(
    ("sql", "hint", "meant"),
    [
        ("SELECT persn FROM $rows", "did you mean `person`?", "SELECT person FROM $rows"),
        (
            "SELECT r.persn FROM $rows r WHERE r.persn LIKE 'persn%'",
            "did you mean `person`?",
            "SELECT r.person FROM $rows r WHERE r.person LIKE 'persn%'",
        ),
        ("SELECT due FROM $rows", "there is person, price, due date", None),
        ("SELECT `due dat` AS d FROM $rows", "did you mean `due date`?", "SELECT `due date` AS d FROM $rows"),
        (
            "SELECT person FROM $rows WHERE person ILIKE 'a%'",
            "LIKE ignores case already",
            "SELECT person FROM $rows WHERE person LIKE 'a%'",
        ),
        ("SELECT count(*) FROM $rows", "… AS count", "SELECT count(*) AS count FROM $rows"),
        (
            "SELECT person, sum(price) FROM $rows GROUP BY person",
            "… AS sum",
            "SELECT person, sum(price) AS sum FROM $rows GROUP BY person",
        ),
        ("SELECT price * 2 FROM $rows", "… AS total", None),
        ('SELECT person FROM $rows WHERE person = "Ada"', "a text stands in single quotes: 'Ada'", None),
        ("SELECT mean(price) AS m FROM $rows", "did you mean avg?", "SELECT avg(price) AS m FROM $rows"),
        ("SELECT group_concat(person) AS g FROM $rows", "concat_ws(', ', list(x))", None),
        ("SELECT person FROM rows", "a Collection is $rows", "SELECT person FROM $rows"),
        ("SELECT title FROM note", "did you mean notes?", "SELECT title FROM notes"),
        ("SELECT title FROM tasks", "there is notes", None),
        (
            "SELECT person FROM $rows LIMIT 5, 10",
            "write LIMIT 10 OFFSET 5",
            "SELECT person FROM $rows LIMIT 10 OFFSET 5",
        ),
        (
            "SELECT person FROM $rows WHERE price > '3'",
            "price > 3",
            "SELECT person FROM $rows WHERE price > 3",
        ),
    ],
)
def test_what_is_plainly_meant_is_a_fix(space: Any, sql: str, hint: str, meant: str | None) -> None:
    """What may be meant otherwise is a hint alone."""
    from planner.execute.start import check_plan

    plan = {"inputs": {"rows": TYPED}, "steps": [{"type": "query", "sql": sql, "out": "$x"}]}
    [problem] = [one for one in check_plan(space, plan)[1].found if one.severity == "error"]
    assert hint in (problem.hint or "")
    assert problem.fix == (None if meant is None else [{"op": "replace", "path": "/steps/0/sql", "value": meant}])


def test_two_equal_signs_are_one(run: Any) -> None:
    """As in every expression."""
    step = {"type": "query", "sql": "SELECT 1 AS n FROM $orders WHERE 1 == 1", "out": "$n"}
    assert run(*table("orders", ORDERS), step).content("n") == [{"n": 1}] * 4


def test_a_token_sees_in_notes_what_it_may_read(space: Any) -> None:
    """Neither rows nor counts nor provenance of the others, with every limit that `notes` of a token may have."""
    from infospace.store.changes import MakeNote
    from infospace.store.scoped_store import Visibility
    from infospace.tools.scope import EVERYTHING
    from infospace.tools.scoped_space import ScopedSpace
    from planner.execute.start import run_sync

    ids = [space.store.new_id("Note") for _ in range(4)]
    metadata: list[dict[str, Any]] = [{"team": "red", "n": 1}, {"team": "blue", "n": 2}, {"team": "red", "n": 3}, {}]
    space.store.commit(
        [MakeNote(one, f"text {one}", given, kept=True) for one, given in zip(ids, metadata, strict=True)]
    )
    sql = "SELECT @id, n, (SELECT count(*) FROM notes) AS all_, count(*) OVER (PARTITION BY 1) AS here FROM notes"

    def seen(notes: str) -> tuple[list[Any], set[str]]:
        narrowed = ScopedSpace(space, EVERYTHING, sight=Visibility(notes=notes, caller="someone"))
        result = run_sync(narrowed, [{"type": "query", "sql": sql, "out": "$rows"}])
        assert result.status == "success", (result.reason, result.problems)
        return list(result.result.data), {use.id for use in result.steps[0].uses}

    whole = [{"id": one, "n": given.get("n"), "all_": 4, "here": 4} for one, given in zip(ids, metadata, strict=True)]
    assert seen("all") == seen("read") == (whole, set(ids))
    assert seen("none") == ([], set())
    red = [{"id": ids[0], "n": 1, "all_": 2, "here": 2}, {"id": ids[2], "n": 3, "all_": 2, "here": 2}]
    assert seen("metadata.team = 'red'") == (red, {ids[0], ids[2]})
