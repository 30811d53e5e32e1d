"""`query` and the verbs give the same rows in the same order, over columns of every kind."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.context.invoke import call_directly
from infospace.contract.arguments import BoundCondition
from infospace.data.json_text import dump, same
from infospace.expressions import ItemMismatches, parse_where
from infospace.expressions.query.columns import Element, Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query

PAIRS = 10_000 if os.environ.get("INFOSPACE_PROVE") else 400
PARTS = 10

WHOLE = [0, 1, 2, 3, -1, 7]
BIG = [2**53 + 1, 2**53, -(2**62), 2**64, 10**30, 2**63 - 1]
POINTS = [0.5, 1.0, -2.25, 1e6, 0.0, 2.0]
TEXTS = ["a", "b", "A", "ab", "1", "", "é", "10", "ß"]
COLUMNS: Mapping[str, list[Any]] = {
    "whole": WHOLE,
    "big": [*BIG, 1],
    "point": POINTS,
    "number": [*WHOLE, *POINTS],
    "text": TEXTS,
    "truth": [True, False],
    "mixed": [*WHOLE[:3], *TEXTS[:4], True, False, 0.5, 1.0, "1", [1], [1, 2], ["a"], {"a": 1}, 2**53 + 1],
    "nothing": [None],
}
"""What a column may hold, beside null."""
ABSENT = object()
ONES = ("'1'", "'1.0'", "'2.0'", "'0.5'", "'true'")
NUMERIC = ("whole", "point", "number")


def computed(chance: random.Random, name: str) -> str:
    """Compute a number of a column, of which it matters whether it has a point."""
    forms = ["({0} + 1)", "({0} * 2)", "({0} - 0.5)", "(- {0})", "abs({0})", "round({0}, 1)", "coalesce({0}, 1)"]
    forms += ["({0} / 2)", "({0} % 2)", "CASE WHEN {0} > 1 THEN {0} ELSE 2 END", "({0} + {0} * 0.5)", "power({0}, 2)"]
    made = chance.choice(forms).format(name)
    return chance.choice(("({0} + 1)", "({0} * 1)", "{0}", "{0}")).format(made)


def rows(chance: random.Random, kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """Make up to twelve rows, some of whose fields are null or missing."""
    made = []
    for _ in range(chance.choice((0, 1, 3, 6, 12))):
        row = {}
        for name, kind in kinds.items():
            value = chance.choice([*COLUMNS[kind], *COLUMNS[kind], None, ABSENT])
            if value is not ABSENT:
                row[name] = value
        made.append(row)
    return made


def literal(chance: random.Random, kind: str) -> str:
    value = chance.choice([value for value in COLUMNS[kind] if not isinstance(value, (list, dict))])
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    return f"'{value}'" if isinstance(value, str) else repr(value)


def condition(chance: random.Random, kinds: Mapping[str, str], depth: int = 0) -> str:
    """Make a condition that both take: its computing is over columns of numbers alone."""
    name = chance.choice([*kinds])
    kind = kinds[name]
    other = chance.choice([*kinds])
    forms = [
        f"{name} {chance.choice(('=', '!=', '<', '<=', '>', '>='))} {literal(chance, kind)}",
        f"{name} {chance.choice(('=', '!=', '<', '>='))} {other}",
        f"{name} IS NULL",
        f"{name} IS NOT NULL",
        f"{name} IN ({literal(chance, kind)}, {literal(chance, chance.choice([*COLUMNS]))})",
        f"{name} BETWEEN {literal(chance, kind)} AND {literal(chance, kind)}",
        f"coalesce({name}, {literal(chance, kind)}) = {literal(chance, kind)}",
        f"{name} LIKE '%{chance.choice(('a', '1', 'B', 'é'))}%'",
        f"TRY_CAST({name} AS integer) > 1",
        f"CAST({name} AS text) = {chance.choice(ONES)}",
    ]
    if kind not in ("mixed", "big"):
        forms.append(f"concat_ws('', TRY_CAST({name} AS number)) IN ('1', '1.0', '0.0', '10')")
    if kind in NUMERIC:
        forms += [f"{computed(chance, name)} || '' IN ('1', '1.0', '2.0', '0.0', '0', '0.5')" for _ in range(2)]
    if kind in ("whole", "big", "point"):
        forms += [
            f"{name} % 2 = 1",
            f"{name} + 1 > {literal(chance, kind)}",
            f"10 / {name} > 2" if kind != "big" else "",
        ]
    if kind == "text":
        forms += [f"upper({name}) = 'A'", f"length({name}) > 1", f"{name} || 'x' = 'ax'"]
    made = chance.choice([form for form in forms if form])
    if depth < 2 and chance.random() < 0.4:
        made = f"({made} {chance.choice(('AND', 'OR'))} {condition(chance, kinds, depth + 1)})"
    return f"NOT ({made})" if chance.random() < 0.15 else made


def verb(space: Space, type_: str, arguments: Mapping[str, Any]) -> list[Any]:
    """Run one verb over lists of rows; return the contents of what it gives."""
    context = space.context()
    made = {
        key: context.collection([context.note(row) for row in value]) if key in ("target", "value") else value
        for key, value in arguments.items()
    }
    entry = space.catalogue.get(type_)
    assert entry is not None
    result = asyncio.run(call_directly(entry, made, context))
    assert result.status == "success", (type_, arguments, result.reason)
    found: Any = result.data
    return list(found)


def query(
    space: Space, sql: str, tables: Mapping[str, list[Any]], tallies: list[ItemMismatches] | None = None
) -> list[Any]:
    """Run one query over lists of rows; `tallies` get what had no result."""
    context = space.context()
    known = {f"${name}": Rows([context.note(row) for row in of]) for name, of in tables.items()}
    return list(run_query(parse_query(sql), known, {}, tallies=tallies))


def agree(verbs: list[Any], queried: list[Any], columns: list[str], what: object) -> None:
    """Compare rows by these columns, in order; missing is null.

    A number has a point in both or in neither, but for medians of whole numbers and others.
    """
    one = [[row.get(column) for column in columns] for row in verbs]
    other = [[row.get(column) for column in columns] for row in queried]
    assert same(one, other), (what, one, other)
    if "median" not in str(what):
        assert dump(one) == dump(other), (what, one, other)


def filtering(space: Space, chance: random.Random, kinds: dict[str, str], of: list[Any]) -> None:
    where = condition(chance, kinds)
    verbs = verb(space, "filter-structured", {"target": of, "where": where})
    tally, tallies = ItemMismatches(), list[ItemMismatches]()
    judge = BoundCondition(parse_where(where)).judge(tally)
    for row in of:
        judge(Element(row))
    sql = f"SELECT {', '.join(kinds)} FROM $t WHERE {where}"
    agree(verbs, query(space, sql, {"t": of}, tallies), [*kinds], (sql, of))
    assert [str(one) for one in tallies] == ([str(tally)] if tally.mismatches else []), (sql, of)


def projecting(space: Space, chance: random.Random, kinds: dict[str, str], of: list[Any]) -> None:
    """Texts and numbers of columns, also through a SELECT within."""
    fields = {}
    for name, kind in kinds.items():
        forms = [f"CAST({name} AS text)", f"coalesce({name}, {literal(chance, kind)})", name]
        if kind in NUMERIC:
            number = computed(chance, name)
            forms += [number, f"CAST({number} AS text)", f"concat_ws('-', {number}, {name})", f"'=' || {number}"]
        fields[f"x_{name}"] = chance.choice(forms)
    verbs = verb(space, "project", {"target": of, "fields": fields})
    sql = f"SELECT {', '.join(f'{text} AS {name}' for name, text in fields.items())} FROM $t"
    agree(verbs, query(space, sql, {"t": of}), [*fields], (sql, of))
    numbers = {name: text for name, text in fields.items() if kinds[name[2:]] in NUMERIC and "||" not in text}
    if numbers:
        listed = ", ".join(f"CAST({name} AS text) AS {name}" for name in numbers)
        inner = ", ".join(f"{text} AS {name}" for name, text in numbers.items())
        texts = {name: f"CAST({text} AS text)" for name, text in numbers.items()}
        verbs = verb(space, "project", {"target": of, "fields": texts})
        sql = f"SELECT {listed} FROM (SELECT {inner} FROM $t) s"
        agree(verbs, query(space, sql, {"t": of}), [*numbers], (sql, of))


def sorting(space: Space, chance: random.Random, kinds: dict[str, str], of: list[Any]) -> None:
    by, order = chance.sample([*kinds], 2), chance.choice(("asc", "desc"))
    nulls = chance.choice(("first", "last"))
    verbs = verb(space, "sort", {"target": of, "by": by, "order": order, "nulls": nulls})
    keys = ", ".join(f"{key} {order} NULLS {nulls}" if nulls == "first" else f"{key} {order}" for key in by)
    sql = f"SELECT {', '.join(kinds)} FROM $t ORDER BY {keys}"
    agree(verbs, query(space, sql, {"t": of}), [*kinds], (sql, of))


def grouping(space: Space, chance: random.Random, kinds: dict[str, str], of: list[Any]) -> None:
    by = chance.sample([*kinds], chance.choice((1, 2)))
    aggregates = {"n": "count"}
    for name, kind in kinds.items():
        takes = ["count({0})", "count(DISTINCT {0})", "min({0})", "max({0})", "first({0})", "last({0})", "list({0})"]
        if kind in ("whole", "point", "number"):
            takes += ["sum({0})", "avg({0})", "median({0})", "round(sum({0}) * 2, 1)"]
            takes += ["CAST(sum({0}) AS text)", "'' || avg({0})", "CAST(first({0}) AS text)", "'' || last({0} * 2)"]
        if kind == "big":
            takes += ["sum({0})"]
        if kind == "truth":
            takes += ["bool_or({0})", "bool_and({0})"]
        aggregates[f"of_{name}"] = chance.choice(takes).format(name)
    verbs = verb(space, "group", {"target": of, "by": by, "aggregates": aggregates})
    made = ", ".join(f"{'count(*)' if text == 'count' else text} AS {key}" for key, text in aggregates.items())
    sql = f"SELECT {', '.join(by)}, {made} FROM $t GROUP BY {', '.join(by)}"
    agree(verbs, query(space, sql, {"t": of}), [*by, *aggregates], (sql, of))


def joining(space: Space, chance: random.Random, kinds: dict[str, str], of: list[Any]) -> None:
    others = {f"r_{name}": chance.choice([kind, kind, chance.choice([*COLUMNS])]) for name, kind in kinds.items()}
    right = rows(chance, others)
    left_key, right_key = chance.choice([*kinds]), chance.choice([*others])
    how = chance.choice(("inner", "left", "right", "outer"))
    arguments = {"target": of, "value": right, "left_key": left_key, "right_key": right_key, "join_type": how}
    verbs = verb(space, "join", arguments)
    words = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "outer": "FULL JOIN"}
    listed = [*(f"a.{name}" for name in kinds), *(f"b.{name}" for name in others)]
    sql = f"SELECT {', '.join(listed)} FROM $t a {words[how]} $u b ON a.{left_key} = b.{right_key}"
    agree(verbs, query(space, sql, {"t": of, "u": right}), [*kinds, *others], (sql, of, right))


def differing(space: Space, chance: random.Random, kinds: dict[str, str], of: list[Any]) -> None:
    by = chance.sample([*kinds], chance.choice((1, 2)))
    verbs = verb(space, "group", {"target": of, "by": by})
    sql = f"SELECT DISTINCT {', '.join(by)} FROM $t"
    agree(verbs, query(space, sql, {"t": of}), by, (sql, of))


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    with open_space(tmp_path_factory.mktemp("pairs") / "space.db") as opened:
        yield opened


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_rows_in_the_same_order(space: Space, part: int) -> None:
    for seed in range(part * PAIRS // PARTS, (part + 1) * PAIRS // PARTS):
        chance = random.Random(seed)  # noqa: S311 - not for secrets
        names = chance.sample(["a", "b", "c", "d"], chance.choice((2, 3, 4)))
        kinds = {name: chance.choice([*COLUMNS]) for name in names}
        pair = chance.choice((filtering, filtering, sorting, grouping, joining, differing, projecting, projecting))
        pair(space, chance, kinds, rows(chance, kinds))
