"""Queries that a database computes give the rows that they give on a file, in the same order."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from databases import place_in_database

from infospace import Space, open_space
from infospace.context.invoke import call_directly
from infospace.core.bounds import OutOfTime, ending
from infospace.core.errors import StoreError
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from primitives.query import query

PROVE = bool(os.environ.get("INFOSPACE_PROVE"))
QUERIES = 10_000 if PROVE else 300

TEXTS = {"items": ["note", "section", "kind", "text", "status", "due", "scheduled", "completed", "priority"]}
TEXTS["links"] = ["source", "target", "target_text", "heading", "relation", "property"]
TEXTS["notes"] = ['"@id"', '"@name"', "path", "folder", "file", "modified"]
NUMBERS = {"items": ["line"], "links": ["line"], "notes": ["words"]}
VALUES = [
    "a",
    "A",
    "b",
    "é",
    "日本",
    "z\U0001f600",
    "",
    "2026-03-01",
    "2026-03-02",
    "task",
    "x",
    "One",
    "n1.md",
    "deep",
]
JOINS = {("items", "notes"): 'a.note = b."@id"', ("links", "notes"): 'a.source = b."@id"'}
JOINS |= {("links", "items"): "a.target = b.note", ("notes", "links"): 'a."@id" = b.target'}


@pytest.fixture(scope="module")
def spaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Space, Space]]:
    """The same files in a file and in a database."""
    folder = tmp_path_factory.mktemp("notes")
    chance = random.Random(31)  # noqa: S311
    for number in range(40):
        place = folder / chance.choice(["", "deep", "deep/er", "Deep"])
        place.mkdir(exist_ok=True)
        path = place / f"n{number}.md"
        path.write_text(_text(chance), encoding="utf-8")
        os.utime(path, (1_700_000_000 + number % 7, 1_700_000_000 + number % 7))
    with ExitStack() as stack:
        made = []
        for address in (str(folder.parent / "space.db"), place_in_database(folder)):
            made.append(stack.enter_context(open_space(address)))
            import_paths(made[-1], [folder], NullListener())
        yield made[0], made[1]


def _text(chance: random.Random) -> str:
    words = ["a", "A", "b", "é", "日本", "z\U0001f600", "\x01", "\x01\x02"]
    lines = []
    for _ in range(chance.randrange(12)):
        text = " ".join(chance.choices(words, k=chance.randrange(1, 3)))
        due = chance.choice(["", "", " 📅 2026-03-01", " 📅 2026-03-02", " ⏳ 2026-03-01", " 🔼"])
        link = chance.choice(["", "", f" [[n{chance.randrange(50)}]]", " [[Ghost#part]]"])
        lines.append(
            chance.choice(["# One", "## a", f"- [ ] {text}{due}{link}", f"- [x] {text}{due}", f"- {text}{link}"])
        )
    return "\n".join(lines) + "\n"


def rows(space: Space, sql: str) -> tuple[Any, dict[str, Any]]:
    """Return what a query gives, or why it gives nothing, and what it tells besides."""
    found = asyncio.run(call_directly(query, {"sql": sql}, space.context(scratch=True)))
    return (found.data if found.status == "success" else found.reason), dict(found.extra)


class Asking:
    """Writes random queries."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def write(self) -> str:
        """Return a query over one table, or over two by an id."""
        pick = self.chance.choice
        if self.chance.random() < 0.3:
            tables = pick(list(JOINS))
            source = f"{tables[0]} a JOIN {tables[1]} b ON {JOINS[tables]}"
            texts = [f"{alias}.{one}" for alias, table in zip("ab", tables, strict=True) for one in TEXTS[table]]
            numbers = [f"{alias}.{one}" for alias, table in zip("ab", tables, strict=True) for one in NUMBERS[table]]
        else:
            source = pick(list(TEXTS))
            texts, numbers = TEXTS[source], NUMBERS[source]
        where = f" WHERE {self.condition(texts, numbers, 2)}" if self.chance.random() < 0.7 else ""
        tail = f" LIMIT {pick([0, 1, 3, 7])}" if self.chance.random() < 0.4 else ""
        tail += f" OFFSET {pick([1, 2])}" if tail and self.chance.random() < 0.5 else ""
        if self.chance.random() < 0.4:
            return self.grouped(source, where, tail, texts, numbers)
        columns = self.chance.sample([*texts, *numbers], k=self.chance.randrange(1, 4))
        outputs = ", ".join(f"{one} AS c{place}" for place, one in enumerate(columns))
        order = self.order([*columns, "c0"]) if self.chance.random() < 0.7 else ""
        return f"SELECT {outputs} FROM {source}{where}{order}{tail}"

    def grouped(self, source: str, where: str, tail: str, texts: list[str], numbers: list[str]) -> str:
        """Return one with GROUP BY, or one row of aggregates."""
        pick = self.chance.choice
        keys = self.chance.sample(texts, k=self.chance.randrange(0, 3))
        made = [
            *("count(*)", f"count({pick(texts)})", f"count(DISTINCT {pick(texts)})", f"min({pick(texts)})"),
            *(f"max({pick(texts)})", f"sum({pick(numbers)})", f"max({pick(numbers)})"),
        ]
        chosen = self.chance.sample(made, k=2)
        outputs = ", ".join(f"{one} AS c{place}" for place, one in enumerate([*keys, *chosen]))
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        having = f" HAVING count(*) > {pick([0, 1, 2])}" if self.chance.random() < 0.3 else ""
        order = self.order([*keys, *chosen, "c0"]) if self.chance.random() < 0.6 else ""
        return f"SELECT {outputs} FROM {source}{where}{group}{having}{order}{tail}"

    def order(self, of: list[str]) -> str:
        """Return ORDER BY."""
        chosen = self.chance.sample(of, k=min(len(of), self.chance.randrange(1, 3)))
        ends = ["", " DESC", " DESC NULLS FIRST", " NULLS FIRST"]
        return " ORDER BY " + ", ".join(one + self.chance.choice(ends) for one in chosen)

    def condition(self, texts: list[str], numbers: list[str], depth: int) -> str:
        """Return a condition."""
        pick = self.chance.choice
        kind = self.chance.randrange(8 if depth else 5)
        match kind:
            case 0:
                return f"{pick(texts)} {pick(['=', '!=', '<', '<=', '>', '>='])} '{pick(VALUES)}'"
            case 1:
                return f"{pick(numbers)} {pick(['=', '<', '>='])} {self.chance.randrange(-1, 12)}"
            case 2:
                return f"{pick(texts)} IS {pick(['', 'NOT '])}NULL"
            case 3:
                return f"{pick(texts)} {pick(['', 'NOT '])}IN ('{pick(VALUES)}', '{pick(VALUES)}')"
            case 4:
                return f"{pick(texts)} BETWEEN '{pick(VALUES)}' AND '{pick(VALUES)}'"
            case 5:
                return f"NOT ({self.condition(texts, numbers, depth - 1)})"
        both = (self.condition(texts, numbers, depth - 1), self.condition(texts, numbers, depth - 1))
        return f"({both[0]} {'AND' if kind == 6 else 'OR'} {both[1]})"


@pytest.mark.timeout(3_600 if PROVE else 300)
def test_random_queries_give_the_same_rows_in_the_same_order(spaces: tuple[Space, Space]) -> None:
    """On both stores; most of them the database computes."""
    file, database = spaces
    chance = random.Random(os.environ.get("INFOSPACE_SEED", "31"))  # noqa: S311
    asking, computed, some = Asking(chance), 0, 0
    for _ in range(QUERIES):
        sql = asking.write()
        expected, _ = rows(file, sql)
        found, extra = rows(database, sql)
        assert found == expected, (sql, extra)
        computed += extra.get("computed") == "in the database"
        some += isinstance(found, list) and len(found) > 0
    assert computed > 0.9 * QUERIES
    assert some > 0.4 * QUERIES


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT title FROM notes", "`title`"),
        ("SELECT upper(path) AS p FROM notes", "`upper(path)`"),
        ("SELECT DISTINCT folder FROM notes", "DISTINCT"),
        ("SELECT * FROM links", "`*`"),
        ("SELECT path FROM notes WHERE status = 'open'", "`status`"),
        ("SELECT line FROM items WHERE line > 1.5", "`1.5`"),
        ("SELECT note FROM items UNION SELECT source AS note FROM links", "UNION"),
        ('SELECT n.path AS p, i.text AS t FROM notes n LEFT JOIN items i ON i.note = n."@id"', "LEFT JOIN"),
        ("SELECT path, (SELECT count(*) FROM links) AS n FROM notes", "a subselect or OVER"),
        ("SELECT path FROM notes WHERE path LIKE '%a%'", "`path LIKE '%a%'`"),
    ],
)
def test_what_does_not_mean_the_same_there_is_computed_here(spaces: tuple[Space, Space], sql: str, why: str) -> None:
    """With the same rows as on a file, and a word of what it is."""
    expected, told = rows(spaces[0], sql)
    found, extra = rows(spaces[1], sql)
    assert found == expected
    assert (extra["computed"], extra["not_in_the_database"]) == ("here", why)
    assert "computed" not in told


def test_a_query_ends_with_the_time_of_its_step(spaces: tuple[Space, Space]) -> None:
    """The database gives it up, and the connection is as good as before."""
    clauses = " ".join(f"JOIN items i{n} ON i{n}.line >= i.line" for n in range(6))
    sql = f"SELECT count(*) AS n FROM items i {clauses}"
    started = time.monotonic()
    with ending(time.monotonic() + 0.5), pytest.raises(OutOfTime):
        asyncio.run(call_directly(query, {"sql": sql}, spaces[1].context(scratch=True)))
    assert time.monotonic() - started < 20
    assert rows(spaces[1], "SELECT count(*) AS n FROM notes")[0] == [{"n": 40}]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("UPDATE resources SET kept = 0", "can be read and not written"),
        ("SET TRANSACTION READ WRITE", "must be set before any query"),
        ("SELECT set_config('transaction_read_only', 'off', true)", "must be set before any query"),
        ("COMMIT; UPDATE resources SET kept = 0", "multiple commands"),
    ],
)
def test_what_computes_a_query_can_write_nothing(spaces: tuple[Space, Space], sql: str, why: str) -> None:
    """Whatever text reached it: no query is written so, and PostgreSQL refuses what writes, or would let it."""
    with spaces[1].store.rows() as connection:
        with pytest.raises(StoreError, match=why):
            connection.all_in_time(sql)
        connection.rollback()
        assert connection.value("SELECT count(*) FROM resources WHERE kept = 1") > 40
