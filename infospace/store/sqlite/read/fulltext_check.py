"""Whether the full text is that of the Notes: it is made once more beside the space, and the two are compared."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from infospace.data.json_text import dump
from infospace.store.sqlite.connection import Connection, connect
from infospace.store.sqlite.read.fulltext import COLUMNS, COLUMNS_OF_ENTRY, INSERT, TOKENIZER, Entry, entry

MOST_TERMS = 20
"""Words whose Notes are compared one by one; of further ones it is only said that they differ."""

_NOTES = f"SELECT {COLUMNS_OF_ENTRY} FROM resources WHERE found = 1"

_MADE = f"CREATE VIRTUAL TABLE words USING fts5({', '.join(COLUMNS)}, content = '', tokenize = \"{TOKENIZER}\")"

_OPEN = "CREATE VIRTUAL TABLE temp.{} USING fts5vocab(main, words, instance)"

_KEPT = "SELECT id, c0, c1, c2 FROM words_content WHERE id IN (SELECT value FROM json_each(?))"

_SIZES = "SELECT id, sz FROM words_docsize ORDER BY id"

# A number for all places of a word: where one differs, so does it. The primes keep the sum within 63 bits.
_TERMS = """SELECT term, count(*), sum((place % 30011) * (place % 30013)) FROM (
    SELECT term, doc * 31 + offset * 3 + (col = 'title') + 2 * (col = 'properties') AS place FROM temp.{})
    GROUP BY term"""

_PLACES = "SELECT doc, col, offset FROM temp.{} WHERE term = ?"


def differences(connection: Connection, tell: Callable[[int, int], None]) -> Iterator[tuple[int | None, str]]:
    """Give Notes' numbers, None for the whole, and what is wrong with each. `tell` hears how many Notes were read.

    Takes time linear in the texts, 10 s for 100,000 Notes of 90 words, and a third of their room on the disk for
    temporary files. Raises StoreError where the index cannot be read.
    """
    if connection.word_rows is not None:
        yield from connection.word_rows.differences(connection.batches(_NOTES), tell)
        return
    beside = connect("", connection.address, wait=0)
    try:
        beside.run("BEGIN")
        beside.run(_MADE)
        total: int = connection.value("SELECT count(*) FROM resources WHERE found = 1")
        done = 0
        strayed: list[int] = []
        for batch in connection.batches(_NOTES):
            rows = [entry(row, connection.address) for row in batch]
            strayed += _unlike(connection, rows)
            beside.execute_many(INSERT, rows)
            done += len(batch)
            tell(done, total)
        differences_found = [*_sizes(connection, beside), *_terms(connection, beside)]
        yield from differences_found
        known = {number for number, _ in differences_found}
        yield from ((number, "has another text in the full text") for number in strayed if number not in known)
    finally:
        beside.close()


def _unlike(connection: Connection, rows: Sequence[Entry]) -> Iterator[int]:
    """Give those of Notes whose text the full text keeps otherwise."""
    listed = dump([number for number, *_ in rows])
    stored = {row[0]: row for row in connection.all(_KEPT, (listed,))}
    yield from (row[0] for row in rows if stored.get(row[0], row) != row)


def _sizes(connection: Connection, beside: Connection) -> Iterator[tuple[int, str]]:
    """Compare which Notes are there, and how many words each has in each column."""
    had: dict[int, bytes] = dict(connection.all(_SIZES))
    result: dict[int, bytes] = dict(beside.all(_SIZES))
    for number in sorted(had.keys() | result.keys()):
        if number not in result:
            yield number, "is in the full text and is not searched"
        elif number not in had:
            yield number, "is searched and not in the full text"
        elif had[number] != result[number]:
            yield number, "has not as many words in the full text as in its own"


def _terms(connection: Connection, beside: Connection) -> Iterator[tuple[int | None, str]]:
    """Compare the places of each word."""
    name = f"places_{id(beside)}"
    for one in (connection, beside):
        one.run(_OPEN.format(name))
    try:
        had, result = ({row[0]: row[1:] for row in one.all(_TERMS.format(name))} for one in (connection, beside))
        unlike = sorted(term for term in had.keys() | result.keys() if had.get(term) != result.get(term))
        sentences: set[tuple[int, str]] = set()
        for term in unlike[:MOST_TERMS]:
            here, there = (set(one.all(_PLACES.format(name), (term,))) for one in (connection, beside))
            sentences |= {(number, "is found by a word that is not there in it") for number, *_ in here - there}
            sentences |= {(number, "is not found by a word that it has") for number, *_ in there - here}
        yield from sorted(sentences)
        if len(unlike) > MOST_TERMS:
            yield None, f"has {len(unlike) - MOST_TERMS:,} more words that are not those of the Notes"
    finally:
        connection.run(f"DROP TABLE temp.{name}")
