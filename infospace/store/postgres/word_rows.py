"""Full text in PostgreSQL: the words of Notes as rows, with the tokens and the BM25 of the embedded store.

PostgreSQL's own text search has other tokens and other weights, so it would find and rank otherwise. The tokens are
those of SQLite's tokenizer, which makes them in memory; the rows are counted by the database.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from infospace.store.sqlite.connection import Row, connect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.store.postgres.connection import PostgresConnection
    from infospace.store.sqlite.read.fulltext import Entry

_INDEX_BY_NOTE: Final = "CREATE INDEX postings_note ON postings (note)"

TABLES: Final = (
    "CREATE TABLE words (note BIGINT PRIMARY KEY, length BIGINT NOT NULL)",
    """CREATE TABLE postings (
        term TEXT COLLATE "C" NOT NULL, note BIGINT NOT NULL, times BIGINT NOT NULL, PRIMARY KEY (term, note))""",
    _INDEX_BY_NOTE,
    "CREATE VIEW words_docsize AS SELECT note AS id FROM words",
)
"""How many words each Note has, and how often each word is in it, weighted by the column."""

_LONGEST: Final = 600
"""Characters of a word that is kept as it is: a row of an index holds 2,704 bytes."""

_BEGINNING: Final = 200
"""Characters that are kept of a longer one."""

_AMONG: Final = " AND note IN (SELECT value FROM json_each(?))"


class PostgresWordRows:
    """The words of one connection's space."""

    __slots__ = ("_connection",)

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    def index(self, listed: str, entries: Iterable[Entry]) -> None:
        """Put the words of Notes in the place of those of the keys in a JSON list."""
        listed_keys = "IN (SELECT value >> 2 FROM json_each(?))"
        self._connection.run(f"DELETE FROM postings WHERE note {listed_keys}", (listed,))
        self._connection.run(f"DELETE FROM words WHERE note {listed_keys}", (listed,))
        self._load(entries)

    def fill(self, batches: Iterable[Iterable[Entry]]) -> None:
        """Put the words of all Notes in the place of what is there, in a transaction to define in.

        The indexes are made afterwards, by sorting: kept up to date row by row they take most of the time.
        """
        for definition in (
            "DELETE FROM postings; DELETE FROM words",
            "ALTER TABLE postings DROP CONSTRAINT postings_pkey; DROP INDEX postings_note",
        ):
            self._connection.define(definition)
        for entries in batches:
            self._load(entries)
        for definition in ("ALTER TABLE postings ADD PRIMARY KEY (term, note)", _INDEX_BY_NOTE):
            self._connection.define(definition)

    def _load(self, entries: Iterable[Entry]) -> None:
        word_counts, rows = [], []
        for number, length, terms in counted(entries):
            word_counts.append((number, length))
            rows += [(term, number, times) for term, times in terms.items()]
        if word_counts:
            self._connection.load("words", ("note", "length"), word_counts)
            self._connection.load("postings", ("term", "note", "times"), rows)

    def count(self, term: str, *, prefix: bool, listed: str | None) -> int:
        """Count the Notes that have a word, or one that begins so; of those in a JSON list, or of all."""
        where, values = _where(term, prefix, listed)
        result: int = self._connection.value(f"SELECT count(DISTINCT note) FROM postings WHERE {where}", values)
        return result

    def matches(
        self, term: str, *, prefix: bool, listed: str | None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the Notes that have a word by number, how often it is in each by weight, and how long each is."""
        import numpy as np

        where, values = _where(term, prefix, listed)
        rows = self._connection.all(
            f"SELECT note, sum(times), max(length) FROM postings JOIN words USING (note)"
            f" WHERE {where} GROUP BY note ORDER BY note",
            values,
        )
        columns = np.array(rows, np.float64).reshape(len(rows), 3)
        return columns[:, 0].astype(np.int64), columns[:, 1], columns[:, 2]

    def mean_length(self, listed: str | None) -> float:
        """Return how many words a Note has on the average, of those in a JSON list, or of all."""
        among, values = (_AMONG, (listed,)) if listed is not None else ("", ())
        value = self._connection.value(f"SELECT avg(length) FROM words WHERE true{among}", values)
        return float(value or 1)

    def differences(
        self, batches: Iterator[list[Row]], progress: Callable[[int, int], None]
    ) -> Iterator[tuple[int | None, str]]:
        """Give Notes whose words here are not those of their texts, and what is wrong with each."""
        from infospace.store.sqlite.read.fulltext import entry

        stored = {number: (length, terms) for number, length, terms in self.rows()}
        total, done = self._connection.value("SELECT count(*) FROM resources WHERE found = 1"), 0
        for batch in batches:
            for number, length, terms in counted(entry(row, self._connection.address) for row in batch):
                had = stored.pop(number, None)
                if had is None:
                    yield number, "is searched and not in the full text"
                elif had[0] != length:
                    yield number, "has not as many words in the full text as in its own"
                elif terms - had[1]:
                    yield number, "is not found by a word that it has"
                elif had[1] - terms:
                    yield number, "is found by a word that is not there in it"
            done += len(batch)
            progress(done, total)
        yield from ((number, "is in the full text and is not searched") for number in sorted(stored))

    def rows(self) -> Iterator[tuple[int, int, Counter[str]]]:
        """Give the number, the length and the words of each Note, by number."""
        lengths: dict[int, int] = dict(self._connection.all("SELECT note, length FROM words ORDER BY note"))
        terms: dict[int, Counter[str]] = {number: Counter() for number in lengths}
        for term, note, times in self._connection.all("SELECT term, note, times FROM postings"):
            terms.setdefault(note, Counter())[term] = times
        for number in sorted(terms):
            yield number, lengths.get(number, 0), terms[number]


def _where(term: str, prefix: bool, listed: str | None) -> tuple[str, tuple[object, ...]]:
    """A condition of rows of `postings`. What begins with a word lies before the word with its last sign raised."""
    among, values = (_AMONG, (listed,)) if listed is not None else ("", ())
    if not prefix:
        return f"term = ?{among}", (_index_term(term), *values)
    term = term[:_BEGINNING]
    return f"term >= ? AND term < ?{among}", (term, term[:-1] + chr(ord(term[-1]) + 1), *values)


def _index_term(term: str) -> str:
    """Return what stands for a word in the index: of a very long one its beginning, and a digest of the whole."""
    return term if len(term) <= _LONGEST else f"{term[:_BEGINNING]}\x01{sha256(term.encode()).hexdigest()}"


def counted(entries: Iterable[Entry]) -> Iterator[tuple[int, int, Counter[str]]]:
    """Give of each Note its number, how many words it has, and how often each, by the weight of its column."""
    from infospace.store.sqlite.read.fulltext import COLUMNS, INSERT, TABLES, WEIGHTS

    weights = dict(zip(COLUMNS, WEIGHTS, strict=True))
    scratch = connect("file::memory:", ":memory:", wait=0)
    try:
        scratch.run(TABLES[0])
        scratch.run("CREATE VIRTUAL TABLE places USING fts5vocab(words, instance)")
        numbers = []
        for entry in entries:
            numbers.append(entry[0])
            scratch.run(INSERT, entry)
        terms: dict[int, Counter[str]] = {number: Counter() for number in numbers}
        lengths = dict.fromkeys(numbers, 0)
        for number, term, column, times in scratch.all("SELECT doc, term, col, count(*) FROM places GROUP BY 1, 2, 3"):
            terms[number][_index_term(term)] += weights[column] * times
            lengths[number] += times
        yield from ((number, lengths[number], terms[number]) for number in numbers)
    finally:
        scratch.close()
