"""Full text: which Notes have a word of a query, and how well they fit by BM25.

The index holds what discovery searches, and nothing else: it is written in the transaction of the change.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import math
import threading
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from infospace.data.cjk import is_single, paired, parts, word_pattern
from infospace.data.json_text import ESCAPE
from infospace.data.stopwords import STOP
from infospace.data.titles import aliases_of
from infospace.store.note_fields import property_words, title_field
from infospace.store.protocol import Words
from infospace.store.sqlite.codec import keys_json, read
from infospace.store.sqlite.connection import Connection, Row, WordRows, connect
from infospace.store.sqlite.read.fields import PATH, titled
from infospace.store.sqlite.read.search_results import text_of_column
from infospace.store.sqlite.read.whole_titles import MOST_TITLES, having_title

if TYPE_CHECKING:
    from numpy.typing import NDArray

Entry: TypeAlias = tuple[int, str, str, str]
"""A row of the index: the number of a Note, and its `COLUMNS`."""

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""Marks are parts of words: in Hindi and Thai they are vowels. An accent on a Latin letter goes all the same."""

COLUMNS = ("title", "properties", "text")
"""What is searched by words: title and aliases, the texts of the other properties, the text."""

_FTS5 = f'USING fts5({", ".join(COLUMNS)}, tokenize = "{TOKENIZER}")'

TABLES = (f"CREATE VIRTUAL TABLE words {_FTS5}",)
"""Stemmed: on the Cranfield abstracts (NDCG@10) .527 against .513
without, on the requests of MetaTool .369 against .282, on those of Seal-Tools .916 against .916."""

MOST_ROWS = 40_000
"""Places of a word in Notes that are ranked: a query's rarest words come first, and the first whatever it costs.

Fixed numbers of words lose much more: the 8 rarest of long requests (Seal-Tools) give .731 against .916.
"""

MOST_WORDS = 64
"""Different words of a query that are looked up, in the order of the query."""

FILLED_AT_ONCE = 500
"""Notes whose texts are held while the index is made anew."""

WEIGHTS = (5, 3, 1)
"""How often a word counts that is once in the title, in a property, in the text; whole numbers.

On 550 pages of a reference manual the exact title as the query gives its page first in 85 % (66 without), and a page's
own description finds it at a mean reciprocal rank of .88 (.69).
"""

K1 = 1.2
"""How soon it does not matter that a word comes again; FTS5's own."""

B = 0.75
"""How much the length of a text matters; FTS5's own."""

_OCCURRENCES_SQL = """SELECT rowid, max(1, length(highlight(words, 2, char(1), '')) - length(text)) FROM words
    WHERE words MATCH ?"""
"""How often a word is in a text: `highlight` puts one sign before each."""

COLUMNS_OF_ENTRY = f"key >> 2, metadata, content, {PATH}"
"""What `entry` makes a row of."""

_ROWS = f"""SELECT {COLUMNS_OF_ENTRY} FROM resources
    WHERE found = 1 AND key IN (SELECT value FROM json_each(?))"""

_TITLES = "SELECT rowid, title FROM words WHERE rowid IN (SELECT value FROM json_each(?))"

INSERT = "INSERT INTO words (rowid, title, properties, text) VALUES (?, ?, ?, ?)"


def index(connection: Connection, keys: Collection[int]) -> None:
    """Bring the index in line with what the resources of these keys are now."""
    listed = keys_json(keys)
    if connection.word_rows is not None:
        connection.word_rows.index(listed, _texts(connection, listed))
        return
    connection.run("DELETE FROM words WHERE rowid IN (SELECT value >> 2 FROM json_each(?))", (listed,))
    connection.execute_many(INSERT, _texts(connection, listed))


def fill(connection: Connection) -> None:
    """Make the index anew."""
    keys = [key for (key,) in connection.all("SELECT key FROM resources WHERE found = 1 ORDER BY key")]
    batches = (keys[start : start + FILLED_AT_ONCE] for start in range(0, len(keys), FILLED_AT_ONCE))
    if connection.word_rows is not None:
        connection.word_rows.fill(_texts(connection, keys_json(batch)) for batch in batches)
        return
    for batch in batches:
        index(connection, batch)


def _texts(connection: Connection, listed: str) -> Iterator[Entry]:
    for batch in connection.batches(_ROWS, (listed,)):
        yield from (entry(row, connection.address) for row in batch)


def entry(row: Row, address: str) -> Entry:
    """Return the row of the index for a Note's number, metadata and content as they are stored, and its file's path."""
    number, stored, content, path = row
    text, form = text_of_column(content, address)
    metadata = read(stored, address)
    titles = "\n".join([title_field(metadata, titled(content, address), path), *aliases_of(metadata)])
    plain = text if form == "text" else ESCAPE.sub(" ", text)
    return number, _normal(titles), _normal(property_words(metadata)), _normal(plain)


def _normal(text: str) -> str:
    return text if text.isascii() else paired(unicodedata.normalize("NFC", text))


def search(connection: Connection, query: str, among: Collection[int] | None = None) -> Words:
    """Return the Notes that have one of the query's words, with their BM25: of those among the given alone.

    k1 1.2 and b 0.75, as FTS5 has them (https://sqlite.org/fts5.html#the_bm25_function); a word's weight is
    log(1 + (N - n + 0.5) / (n + 0.5)), which unlike FTS5's does not vanish for words of many Notes. What is counted
    is counted among the given ones, so that neither a word nor a score tells of others. A word adds less than
    (k1 + 1) times its weight, which is what bounds BM25.
    """
    words = _query_terms(query)
    listed = None if among is None else keys_json(among)
    counted = sorted((count, at) for at, word in enumerate(words) if (count := _count(connection, word, listed)))
    used: list[int] = []
    rows = 0
    for count, at in counted:
        rows += count
        if used and rows > MOST_ROWS:
            break
        used.append(at)
    total = _total(connection, among)
    result, times = _ranked(connection, total, [words[at] for at in used], listed)
    result = replace(result, common=tuple(words[at] for _, at in counted[len(used) :]))
    if len(counted) < len(words):  # a word that nothing has is in no title
        return result
    having = times == len(used)
    best = result.numbers[having][(-result.scores[having]).argsort(kind="stable")[:MOST_TITLES]].tolist()
    bound = (K1 + 1) * sum(_weight(total, count) for count, _ in counted[: len(used)])
    return replace(result, titled=having_title(_normal(query), _titles(connection, best)), bound=bound)


def _titles(connection: Connection, numbers: Collection[int]) -> dict[int, str]:
    """Titles and aliases of Notes as they are in the index, one a line."""
    if connection.word_rows is not None:
        return {number: text for number, text, *_ in _texts(connection, keys_json(number << 2 for number in numbers))}
    return dict(connection.all(_TITLES, (keys_json(numbers),)))


def _total(connection: Connection, among: Collection[int] | None) -> int:
    if among is not None:
        return len(among)
    total: int = connection.value("SELECT count(*) FROM resources WHERE found = 1")
    return total


def _query_terms(query: str) -> list[str]:
    """The words to look for: each stem once, without stop words unless there is nothing else."""
    query_words = word_pattern().findall(unicodedata.normalize("NFC", query).lower())
    results = [part for word in query_words for part in parts(word)]
    words = list(dict.fromkeys(word for word in results if word not in STOP) or dict.fromkeys(results))
    return list(_stemmer().by_stem(words[:MOST_WORDS]).values())


def _fts_term(word: str) -> str:
    """What FTS5 is asked: for a word, or for all that begins with a single character that stands for a word."""
    return f'"{word}"{"*" if is_single(word) else ""}'


_COUNT = "SELECT count(*) FROM words WHERE words MATCH ?"
_COUNT_AMONG = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid IN (SELECT value FROM json_each(?))"
_BM25 = f"bm25(words, {', '.join(map(str, WEIGHTS))})"
_SCORES = f"SELECT rowid, {_BM25} FROM words WHERE words MATCH ?"
_SCORES_AMONG = f"""SELECT rowid, {_BM25} FROM words
    WHERE words MATCH ? AND rowid IN (SELECT value FROM json_each(?))"""


def _count(connection: Connection, word: str, listed: str | None = None) -> int:
    if connection.word_rows is not None:
        term = _stemmed(word)
        return connection.word_rows.count(term, prefix=is_single(word), listed=listed) if term else 0
    counted: int = (
        connection.value(_COUNT, (_fts_term(word),))
        if listed is None
        else connection.value(_COUNT_AMONG, (_fts_term(word), listed))
    )
    return counted


def score(query: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return what each of the query's words that is there adds to the BM25 of given texts among themselves, (texts)."""
    import numpy as np

    scores: dict[str, NDArray[Any]] = {}
    connection = connect("file::memory:", ":memory:", wait=0)
    try:
        connection.run(TABLES[0])
        connection.execute_many("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(map(_normal, texts)))
        for word in _query_terms(query):
            if _count(connection, word):
                numbers, added = _scored(connection, word, len(texts))
                scores[word] = np.zeros(len(texts))
                scores[word][numbers] = added
    finally:
        connection.close()
    return scores


def fitting(
    connection: Connection, words: Sequence[str], texts: Sequence[str], among: Collection[int] | None = None
) -> NDArray[Any]:
    """Return how well stretches of Notes fit words that `search` looked for; 0 where none of them is.

    The sum of f / (f + 1.2) times the word's weight in `search`, f being how often it is there: BM25 for texts of
    one length, so that a stretch's score does not depend on the others.
    """
    import numpy as np

    scores = np.zeros(len(texts))
    total, listed = _total(connection, among), None if among is None else keys_json(among)
    scratch = connect("file::memory:", ":memory:", wait=0)
    try:
        scratch.run(TABLES[0])
        scratch.execute_many("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(map(_normal, texts)))
        for word in words:
            weight = _weight(total, _count(connection, word, listed))
            for at, times in scratch.all(_OCCURRENCES_SQL, (_fts_term(word),)):
                scores[at] += weight * times / (times + K1)
    finally:
        scratch.close()
    return scores


def _ranked(
    connection: Connection, total: int, used: Sequence[str], listed: str | None = None
) -> tuple[Words, NDArray[Any]]:
    """The Notes that have one of the words; and how many of the words each has."""
    import numpy as np

    lengths = None if listed is None or connection.word_rows is not None else _lengths(connection, listed)
    if connection.word_rows is not None:
        mean = connection.word_rows.mean_length(listed)
        scored = [_scored_rows(connection.word_rows, word, total, listed, mean) for word in used]
    else:
        scored = [_scored(connection, word, total) if lengths is None else lengths.scored(word, total) for word in used]
    if not scored:
        return Words(np.empty(0, np.int64), np.empty(0), tuple(used)), np.empty(0, np.int64)
    numbers, places = np.unique(np.concatenate([matching for matching, _ in scored]), return_inverse=True)
    scores = np.bincount(places, weights=np.concatenate([score for _, score in scored]))
    return Words(numbers, scores.astype(np.float64), tuple(used)), np.bincount(places)


def _stemmed(word: str) -> str:
    """The token that a word stands for in the index; empty where it has none."""
    return "".join(next(iter(_stemmer().by_stem([word])), ()))


def _scored_rows(
    rows: WordRows, word: str, total: int, listed: str | None, mean: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The Notes that have a word, and what it adds to their BM25, from how often it is there."""
    numbers, times, lengths = rows.matches(_stemmed(word), prefix=is_single(word), listed=listed)
    return numbers, _weight(total, len(numbers)) * times * (K1 + 1) / (times + _norm(lengths / mean))


def _scored(connection: Connection, word: str, total: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The Notes that have a word, and what it adds to their BM25."""
    import numpy as np

    rows = connection.all(_SCORES, (_fts_term(word),))
    results = np.array(rows, np.float64)
    weight = _weight(total, len(rows))
    return results[:, 0].astype(np.int64), -results[:, 1] * (weight / _fts5_weight(total, len(rows)))


def _fts5_weight(total: int, count: int) -> float:
    """The weight of a word in FTS5."""
    return max(math.log((total - count + 0.5) / (count + 0.5)), 1e-6)


@dataclass(frozen=True, slots=True)
class _Lengths:
    """How many words some Notes have, and a Note on the average: of these, `own`, and of all, `every`.

    FTS5 weighs by what all texts are together. Its BM25 gives how often a word is in a text, a whole number, and with
    that and the lengths it is reckoned anew as if there were these Notes alone.
    """

    connection: Connection
    listed: str
    of: dict[int, int]
    own: float
    every: float

    def scored(self, word: str, total: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The Notes that have a word, and what it adds to their BM25."""
        import numpy as np

        results = np.array(self.connection.all(_SCORES_AMONG, (_fts_term(word), self.listed)), np.float64)
        numbers = results[:, 0].astype(np.int64)
        fts5_weight = _fts5_weight(_total(self.connection, None), _count(self.connection, word))
        long = np.array([self.of[number] for number in numbers.tolist()], np.float64)
        part = -results[:, 1] / fts5_weight / (K1 + 1)
        times = np.maximum(1, np.rint(part * _norm(long / self.every) / (1 - part)))
        return numbers, _weight(total, len(numbers)) * times * (K1 + 1) / (times + _norm(long / self.own))


def _norm(length: NDArray[Any]) -> NDArray[Any]:
    """What BM25 adds to how often a word is there, by the length of the text in average lengths."""
    return K1 * (1 - B + B * length)


def _lengths(connection: Connection, listed: str) -> _Lengths:
    rows = connection.all("SELECT id, sz FROM words_docsize WHERE id IN (SELECT value FROM json_each(?))", (listed,))
    of = {number: sum(_varints(sizes)) for number, sizes in rows}
    count, *sizes = _varints(connection.value("SELECT block FROM words_data WHERE id = 1") or b"\0")
    return _Lengths(connection, listed, of, sum(of.values()) / max(1, len(of)) or 1, sum(sizes) / max(1, count) or 1)


def _varints(packed: bytes) -> list[int]:
    """Read numbers as SQLite writes them: seven bits a byte, the highest first, the last byte without its eighth."""
    results: list[int] = []
    value = 0
    for byte in packed:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            results.append(value)
            value = 0
    return results


def _weight(total: int, count: int) -> float:
    """The weight of a word that `count` of all texts have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


class _Stemmer:
    """FTS5's own tokenizer, asked through a table of its own in memory."""

    def __init__(self) -> None:
        self._connection = connect("file::memory:", ":memory:", wait=0)
        self._connection.run(f"CREATE VIRTUAL TABLE words {_FTS5}")
        self._connection.run("CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance)")
        self._lock = threading.Lock()

    def by_stem(self, words: Sequence[str]) -> dict[tuple[str, ...], str]:
        """Return the first word of each stem; one without any token is left out."""
        with self._lock:
            self._connection.run("DELETE FROM words")
            self._connection.execute_many("INSERT INTO words (rowid, text) VALUES (?, ?)", list(enumerate(words)))
            rows = self._connection.all("SELECT doc, term FROM stems ORDER BY doc, offset")
        stems: dict[int, tuple[str, ...]] = {}
        for at, term in rows:
            stems[at] = (*stems.get(at, ()), term)
        results: dict[tuple[str, ...], str] = {}
        for at, stem in stems.items():
            results.setdefault(stem, words[at])
        return results


@cache
def _stemmer() -> _Stemmer:
    return _Stemmer()
