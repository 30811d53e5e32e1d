"""What the store answers to discovery from one read transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from infospace.core.resources import SearchResult
from infospace.store.changes import Evidence
from infospace.store.protocol import ChangedNotes, Chosen, Head, Rows, Text, Words
from infospace.store.sqlite.codec import id_of, keys_json
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import fulltext as words
from infospace.store.sqlite.read import fulltext_check as wordcheck
from infospace.store.sqlite.read import vectors
from infospace.store.sqlite.read.note_heads import heads
from infospace.store.sqlite.read.search_results import reference_of, results, text_of_column
from infospace.store.sqlite.write import collection_texts as described
from infospace.store.sqlite.write.embeddings import DERIVED, chosen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SearchQueries:
    """The part of `Snapshot` that discovery asks."""

    __slots__ = ("_engine", "generation")

    def __init__(self, engine: Connection) -> None:
        self._engine = engine
        self.generation: int = engine.value("SELECT value FROM state WHERE key = 'generation'")

    def discoverable(self, numbers: Iterable[int] | None = None) -> NDArray[np.int64]:
        """Return the numbers of the Notes that discovery searches."""
        return vectors.discoverable(self._engine, numbers)

    def searchable(self) -> bool:
        """Whether there is any Note that discovery searches."""
        return bool(self._engine.value("SELECT EXISTS (SELECT 1 FROM resources WHERE found = 1)"))

    def rows(self, model: str, numbers: Iterable[int] | None = None) -> Rows:
        """Return embedded passages; of a model without any vector the dimension is 0."""
        return vectors.rows(self._engine, model, numbers)

    def nearest(self, _model: str, _query: NDArray[np.float32], _limit: int) -> None:
        """Cannot: SQLite knows no vectors, so whoever searches reads the rows."""

    def above(
        self,
        _model: str,
        _query: NDArray[np.float32],
        _threshold: float,
        *,
        limit: int | None = None,
        numbers: Iterable[int] | None = None,
    ) -> None:
        """Cannot, as `nearest`."""

    def digests(self, numbers: Iterable[int]) -> list[tuple[int, int, int, bytes]]:
        """Return what the passages of Notes say they are."""
        return vectors.digests(self._engine, numbers)

    def moved(self, generation: int) -> ChangedNotes:
        """Return what changed after a generation; a generation of another space is not complete."""
        return vectors.moved(self._engine, generation, self.generation)

    def pending(self, limit: int | None = None, *, among: Sequence[int] | None = None) -> list[Text]:
        """Return Notes to be embedded with their text."""
        rows = self._engine.all(
            """SELECT key, version, content FROM pending JOIN resources ON key = note * 4
            WHERE ?1 IS NULL OR note IN (SELECT value FROM json_each(?1)) ORDER BY note LIMIT ?2""",
            (None if among is None else keys_json(among), -1 if limit is None else limit),
        )
        address = self._engine.address
        return [Text(id_of(key), version, text_of_column(content, address)[0]) for key, version, content in rows]

    def pending_sizes(self) -> list[tuple[int, int]]:
        """Return the Notes to be embedded with the lengths of their contents."""
        sql = "SELECT note, coalesce(length(content), 0) FROM pending JOIN resources ON key = note * 4 ORDER BY note"
        return [(note, size) for note, size in self._engine.all(sql)]

    def pending_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of the Notes to be embedded."""
        return vectors.column(self._engine.all("SELECT note FROM pending ORDER BY note"))

    def pending_count(self) -> int:
        """Count the Notes to be embedded."""
        counted: int = self._engine.value("SELECT count(*) FROM pending")
        return counted

    def current(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        """Return the versions of Notes."""
        return vectors.current(self._engine, numbers)

    def derived(self, name: str) -> str | None:
        """Return the token of the latest derived file of a name."""
        found: str | None = self._engine.value("SELECT value FROM state WHERE key = ?", (f"{DERIVED}{name}",))
        return found

    def heads(self, numbers: Iterable[int] | None = None, *, text: bool = False, own: bool = False) -> Iterator[Head]:
        """Iterate over what conditions read of discoverable Notes."""
        return heads(self._engine, numbers, text=text, own=own)

    def keyword_matches(self, query: str, among: Collection[int] | None = None) -> Words:
        """Return the discoverable Notes that have one of a query's words."""
        return words.search(self._engine, query, among)

    def words_in(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the BM25 of given texts among themselves."""
        return words.score(query, texts)

    def wording(self, tell: Callable[[int, int], None]) -> Iterator[tuple[int | None, str]]:
        """Give what is wrong with the full text."""
        return wordcheck.differences(self._engine, tell)

    def collections(self) -> int:
        """Count the Collections that can be found."""
        return described.count(self._engine)

    def undescribed(self, model: str) -> list[Text]:
        """Return the Collections whose passages are not known, with their text."""
        return described.undescribed(self._engine, model)

    def described(self, model: str) -> Rows:
        """Return the embedded passages of Collections' texts."""
        return described.rows(self._engine, model)

    def fitting(
        self, words_used: Sequence[str], texts: Sequence[str], among: Collection[int] | None = None
    ) -> NDArray[np.float64]:
        """Return how well stretches of Notes fit words that were looked for."""
        return words.fitting(self._engine, words_used, texts, among)

    def evidence(self, evidence: Sequence[Evidence]) -> list[SearchResult]:
        """Return the contents of search results; their sources may have been deleted since."""
        return results(self._engine, [reference_of(one) for one in evidence])

    def model(self) -> str | None:
        """Return the key of the present model."""
        found: str | None = self._engine.value("SELECT value FROM state WHERE key = 'model'")
        return found

    def chosen(self) -> Chosen | None:
        """Return the model that the space was told to use."""
        return chosen(self._engine)

    def known_vectors(self, model: str, digests: Sequence[bytes]) -> set[bytes]:
        """Return which digests have a vector."""
        return vectors.known_vectors(self._engine, model, digests)

    def vectors(self, model: str, digests: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors of those of the digests that have one."""
        return vectors.by_digest(self._engine, model, digests)

    def query(self, model: str, digest: bytes) -> NDArray[np.float32] | None:
        """Return the remembered vector of a query."""
        return vectors.query(self._engine, model, digest)

    def queries(self, model: str, limit: int) -> NDArray[np.float32]:
        """Return the vectors of the latest queries that are remembered."""
        return vectors.queries(self._engine, model, limit)
