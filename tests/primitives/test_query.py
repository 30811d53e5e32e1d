"""`query`: one SELECT over Collections and the space's notes."""

from __future__ import annotations

from typing import Any

import pytest

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
        ("SELECT code FROM $orders", [{"code": None}, {"code": None}, {"code": 7}, {"code": "7"}]),
        ("SELECT person FROM $orders WHERE code = 7", [{"person": "Ada"}]),
        ("SELECT DISTINCT person FROM $orders", [{"person": "Ada"}, {"person": "Bob"}, {"person": None}]),
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
