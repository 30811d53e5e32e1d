"""`where` agrees with SQLite on every expression that both of them read, unknown included."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.core.json_types import JSON
from infospace.expressions import TypeMismatches, parse_where


@dataclass(frozen=True)
class Note:
    """A resource as `Readable` asks for it."""

    content: JSON
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    id: str = "Note_1"
    name: str | None = None
    created: str = ""
    updated: str = ""


PARAMETERS: dict[str, JSON] = {"low": 1, "half": 0.5, "word": "aB", "none": None}

strings = st.text(alphabet="aAbB%_!' ", max_size=4)
integers = st.integers(-3, 3)
quarters = st.integers(-8, 8).map(lambda n: n / 4)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def one_of(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from(texts)


def join(pattern: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(lambda given: pattern.format(*given))


string_constants = strings.map(quoted) | one_of("$word", "$none", "NULL")
number_constants = integers.map(str) | quarters.map(str) | one_of("$low", "$half", "$none", "NULL")
string_leaves = one_of("s", "t", "metadata.s", "`t`") | string_constants
number_leaves = one_of("n", "r", "metadata.r", "`n`") | number_constants
string_values = string_leaves | (
    join("{}({})", one_of("lower", "upper", "LOWER"), string_leaves)
    | join("coalesce({}, ({}))", string_leaves, string_leaves)
)
number_values = number_leaves | (
    join("length({})", string_values)
    | join("abs(({}))", number_leaves)
    | join("coalesce({}, abs({}))", number_leaves, number_leaves)
)
patterns = st.lists(one_of("a", "B", "%", "_", "!%", "!_", "!!"), max_size=5).map("".join).map(quoted)
comparators = one_of("=", "==", "!=", "<>", "<", "<=", ">", ">=")
negations = one_of("", "NOT ")


def listed(constants: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(constants, min_size=1, max_size=4).map(", ".join)


def comparing(values: st.SearchStrategy[str], constants: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return (
        join("{} {} {}", values, comparators, values)
        | join("{} {}IN ({})", values, negations, listed(constants))
        | join("{} {}BETWEEN {} AND {}", values, negations, values, values)
        | join("{} IS {}NULL", values, negations)
    )


predicates = (
    comparing(string_values, string_constants)
    | comparing(number_values, number_constants)
    | join("{} {}LIKE {}", string_values, negations, patterns | string_values)
    | join("{} {}like {} escape '!'", string_values, negations, patterns)
    | one_of("TRUE", "false", "NULL")
)
conditions = st.recursive(
    predicates,
    lambda inner: (
        join("{} {} {}", inner, one_of("AND", "OR", "and", "or"), inner) | join("({})", inner) | join("NOT {}", inner)
    ),
    max_leaves=16,
)
rows = st.fixed_dictionaries(
    {
        "n": st.none() | integers,
        "r": st.none() | quarters,
        "s": st.none() | strings,
        "t": st.none() | strings,
    }
)


@pytest.fixture(scope="module")
def table() -> sqlite3.Connection:
    """An empty table of typed columns, called as the object is in which the notes have them too."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE metadata (place INTEGER, n INTEGER, r REAL, s TEXT, t TEXT)")
    return connection


@settings(deadline=None, max_examples=400)
@given(conditions, st.lists(rows, min_size=1, max_size=6))
def test_where_agrees_with_sqlite(table: sqlite3.Connection, text: str, content: list[dict[str, JSON]]) -> None:
    """The same rows, the same text, the same true, false and unknown; nothing of one type meets another."""
    table.execute("DELETE FROM metadata")
    table.executemany(
        "INSERT INTO metadata VALUES (:place, :n, :r, :s, :t)",
        [{"place": place, **row} for place, row in enumerate(content)],
    )
    answers = table.execute(f"SELECT {text} FROM metadata ORDER BY place", PARAMETERS).fetchall()  # noqa: S608
    where, tally = parse_where(text), TypeMismatches()
    for row, (answer,) in zip(content, answers, strict=True):
        there = {key: value for key, value in row.items() if value is not None or key in "ns"}
        verdict = where.match(Note({**there, "metadata": there}), PARAMETERS, tally)
        assert verdict is (None if answer is None else bool(answer))
    assert tally.mismatches == 0
