"""What may stand where somebody writes a SELECT: tables, columns and properties, their values, functions and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from infospace.data.paths import KEY
from infospace.data.properties import Property
from infospace.expressions.functions import AGGREGATES, FUNCTIONS
from infospace.expressions.query.space_tables import OWN

CLAUSES: Final = (
    *("SELECT", "DISTINCT", "FROM", "JOIN", "LEFT JOIN", "ON", "WHERE", "AND", "OR", "NOT", "IN", "LIKE", "BETWEEN"),
    *("IS NULL", "GROUP BY", "HAVING", "ORDER BY", "ASC", "DESC", "LIMIT", "OFFSET", "UNION", "AS", "WITH", "CASE"),
)
_WORD: Final = re.compile(r"(?:(?P<alias>[^\W\d][\w-]*)\.)?(?P<word>[@`$]?[\w-]*)$")
_VALUE: Final = re.compile(
    r"(?P<path>[\w.@`-]+)\s*(?:=|!=|<>|\bIN\s*\((?:\s*'(?:[^']|'')*'\s*,)*)\s*'(?P<word>(?:[^']|'')*)$", re.IGNORECASE
)
_FROM: Final = re.compile(r"\b(?:FROM|JOIN)\s+(?:(?:[\w$]+|`[^`]+`)(?:\s+(?:AS\s+)?\w+)?\s*,\s*)*$", re.IGNORECASE)
_TABLE: Final = re.compile(
    r"(?:\b(?:FROM|JOIN)\s+|,\s*)(?:`(?P<quoted>[^`]+)`|(?P<table>\$?[^\W\d]\w*)\b)(?:\s+(?:AS\s+)?(?P<alias>[^\W\d]\w*))?",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"'(?:[^']|'')*'")


@dataclass(frozen=True, slots=True)
class QueryOffers:
    """What may stand from a place in the text to the cursor, the likeliest first."""

    start: int
    texts: tuple[str, ...] = ()


def complete_query(
    text: str, cursor: int, tables: Mapping[str, Sequence[str]], properties: Mapping[str, Property]
) -> QueryOffers:
    """Return what may stand at the cursor; `tables` are the columns of what may be read, by name.

    Those are the space's own tables, Collections by their names, and `$x`.
    """
    before, after = text[:cursor], text[cursor:]
    value = _VALUE.search(before)
    if _QUOTED.sub("", before).count("'") % 2:
        return QueryOffers(cursor) if value is None else _values(value, properties)
    word = _WORD.search(before)
    assert word is not None  # noqa: S101 - it may be empty
    start, raw = word.start("word"), word["word"]
    if _FROM.search(before[: word.start()]):
        return QueryOffers(start, _beginning(raw, (name if name[:1] == "$" else _written(name) for name in tables)))
    known = _tables_in(before[: word.start()] + after, tables)
    if word["alias"] is not None:
        table = known.get(word["alias"].lower())
        return QueryOffers(start, () if table is None else _beginning(raw, _columns(table, tables, properties)))
    names = [*dict.fromkeys(known.values())] or ["notes"]
    columns = [column for table in names for column in _columns(table, tables, properties)]
    calls = [f"{name}(" for name in (*AGGREGATES, *FUNCTIONS) if name != "has"]
    words = CLAUSES if raw else ()
    first = ["SELECT", "WITH"] if not before[: word.start()].strip() else []
    return QueryOffers(start, _beginning(raw, first or [*columns, *known, *calls, *words]))


def _values(match: re.Match[str], properties: Mapping[str, Property]) -> QueryOffers:
    name = match["path"].rpartition(".")[2].strip("`")
    known = properties.get(name)
    texts = [value for value in (known.values or ()) if isinstance(value, str)] if known is not None else []
    quoted = [f"{text.replace(chr(39), chr(39) * 2)}'" for text in texts]
    return QueryOffers(match.start("word"), _beginning(match["word"], quoted))


def _tables_in(text: str, tables: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the tables that a text reads, by their aliases, or by themselves."""
    results = {}
    for match in _TABLE.finditer(_QUOTED.sub("''", text)):
        exact, alias = match["quoted"] or match["table"], match["alias"]
        table = exact if exact in tables else exact.lower()
        if table in tables:
            taken = alias is None or any(alias.upper() in clause.split() for clause in CLAUSES)
            results[table.lstrip("$").lower() if taken else str(alias).lower()] = table
    return results


def _columns(table: str, tables: Mapping[str, Sequence[str]], properties: Mapping[str, Property]) -> Iterator[str]:
    yield from tables[table]
    if table == "notes":
        yield from (_written(name) for name in properties if name not in tables[table])
        yield from OWN


def _written(name: str) -> str:
    return name if KEY.fullmatch(name) else f"`{name.replace('`', '``')}`"


def _beginning(text: str, offers: Sequence[str] | Mapping[str, object] | Iterator[str]) -> tuple[str, ...]:
    low = text.lower().lstrip("`")
    fits = (offer for offer in offers if offer.lower().lstrip("`").startswith(low) and offer.lower() != text.lower())
    return tuple(dict.fromkeys(fits))
