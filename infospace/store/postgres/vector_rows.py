"""Vectors in PostgreSQL: those of the passages as rows of pgvector, compared where they lie.

`vectors` holds the vectors as a file does, bit for bit. `passage_vectors` has those that are searched once more, as a
type that the database compares: a row for each row of `passages`, with the weight of fields in it, so that the inner
product is the score. The database compares in single precision, which narrows; what is left is decided here, in double.

- No passage is without its row: a foreign key, looked at when a transaction ends, refuses a commit that leaves one out.
  So a process of an earlier version that still runs cannot make a search overlook anything.
- A passage that goes takes its row along, by a trigger.
- A server without pgvector has no such table, and whoever searches there reads the vectors themselves.
"""

# ruff: noqa: S608 - statements are put together from constants and quoted names alone

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from infospace.store.note_fields import FIELD_WEIGHT
from infospace.store.records import NearestNotes, Rows
from infospace.store.sqlite.connection import Row
from infospace.store.sqlite.read import vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.store.postgres.connection import PostgresConnection

MARGIN: Final = 1e-5
"""More than single precision is wrong about the inner product of unit vectors, and the rounding to six decimals."""

EF_SEARCH: Final = 400
"""How many candidates the index looks at at a time."""

ROUNDS: Final = 3
"""How often the index is asked for four times as many passages, where those before were of too few Notes."""

_EXTENSION: Final = """SELECT quote_ident(n.nspname), to_regclass('passage_vectors') IS NOT NULL
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"""

_MAY_CREATE: Final = """SELECT EXISTS (SELECT 1 FROM pg_available_extension_versions
    WHERE name = 'vector' AND (NOT superuser OR trusted AND has_database_privilege(current_database(), 'CREATE')
        OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)))"""

_PRESENT: Final = """SELECT m.model FROM models m WHERE m.name = (SELECT value FROM state WHERE key = 'model')"""

_PASSAGES: Final = f"""SELECT p.note, p.sequence, p.start, v.vector, v.model FROM passages p
    LEFT JOIN vectors v ON v.digest = p.digest AND v.model = ({_PRESENT})"""


_log = logging.getLogger(__name__)

_REPORTED: Final = 10_000
"""Passages between two lines of the log."""


def _reported(batches: Iterator[list[Row]], total: int) -> Iterator[list[Row]]:
    """Pass batches on, and log how far they are: of many as a warning, which is told where nobody asked for a log."""
    level = logging.WARNING if total > _REPORTED else logging.INFO
    done = 0
    for batch in batches:
        yield batch
        before, done = done, done + len(batch)
        if done == total or done // _REPORTED > before // _REPORTED:
            _log.log(level, "vectors that the database compares: %d of %d passages are written", done, total)


class PostgresVectorRows:
    """The vectors of one connection's space, where its database has pgvector."""

    __slots__ = ("_connection", "_where")

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self._where: str | None = None

    @property
    def where(self) -> str | None:
        """The schema that pgvector is in, quoted; None where the space has no `passage_vectors`."""
        if self._where is None:
            row = self._connection.fetch_one(_EXTENSION)
            self._where = row[0] if row is not None and row[1] else None
        return self._where

    def make(self) -> bool:
        """Make the table and fill it, where the database has pgvector or lets us have it; return whether it is there.

        A transaction to write in is open.
        """
        connection = self._connection
        if self.where is not None:
            return True
        if connection.fetch_one(_EXTENSION) is None:
            if not connection.value(_MAY_CREATE):
                return False
            # Two spaces of one database may come to this at once.
            connection.run("SELECT pg_advisory_xact_lock(hashtextextended('infospace vector', 0))")
            connection.define("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        place = (connection.fetch_one(_EXTENSION) or ("public", False))[0]
        for definition in _definitions(place):
            connection.define(definition)
        total = connection.value("SELECT count(*) FROM passages")
        self._load(_reported(connection.batches(_PASSAGES), total))
        connection.define(
            "ALTER TABLE passages ADD CONSTRAINT passages_have_vectors FOREIGN KEY (note, sequence)"
            " REFERENCES passage_vectors DEFERRABLE INITIALLY DEFERRED"
        )
        return True

    def drop(self) -> None:
        """Take the table away with all that keeps it, for who loads passages without it."""
        if self.where is not None:
            self._connection.define("DROP TABLE passage_vectors CASCADE; DROP FUNCTION forget_vectors CASCADE")
            self._where = None

    def put(self, notes: Sequence[int]) -> None:
        """Give the passages that Notes have now their rows. They have none yet."""
        if notes and self.where is not None:
            self._load(iter([self._connection.all(f"{_PASSAGES} WHERE p.note = ANY(?::bigint[])", (_array(notes),))]))

    def nearest(self, model: str, query: NDArray[np.float32], limit: int) -> NearestNotes | None:
        """Return what the HNSW index thinks nearest, each Note by its exact cosine; None where there is no index."""
        where, present = self.where, self._model(model)
        if where is None or present is None or not self.is_indexed(present):
            return None
        connection, wide = self._connection, len(query)
        connection.define(
            f"SET LOCAL hnsw.ef_search = {EF_SEARCH}; SET LOCAL hnsw.iterative_scan = relaxed_order;"
            " SET LOCAL enable_seqscan = off"
        )
        ask = (
            f"SELECT note FROM passage_vectors WHERE model = {present} ORDER BY"
            f" (vector::{where}.halfvec({wide})) OPERATOR({where}.<#>) ?::{where}.halfvec({wide}) LIMIT ?"
        )
        most, results = limit + limit // 2 + 8, set[int]()
        for _ in range(ROUNDS):
            rows = connection.all(ask, (_vector(query), most))
            results = {note for (note,) in rows}
            if len(results) >= limit or len(rows) < most:
                break
            most *= 4
        connection.define("SET LOCAL enable_seqscan = on")
        return self._decided(model, query, sorted(results), -1.0, limit, sure=None)

    def above(
        self,
        model: str,
        query: NDArray[np.float32],
        threshold: float,
        *,
        limit: int | None,
        numbers: Iterable[int] | None,
        excluding: Iterable[int],
    ) -> NearestNotes | None:
        """Return the Notes from a threshold on; None where the database has no pgvector."""
        where = self.where
        if where is None:
            return None
        if numbers is not None and not (numbers := list(numbers)):
            return _nothing()
        present = self._model(model)
        left = set(excluding)
        if present is None:
            # Passages are of the present model alone. What another one has of the same texts nobody asks for in
            # earnest: it is compared here.
            notes = sorted({*self._passages_of(numbers)} - left)
            return self._decided(model, query, notes, threshold, limit, sure=None)
        among, values = "", list[object]()
        for condition, chosen in ((" AND note = ANY(?::bigint[])", numbers), (" AND note <> ALL(?::bigint[])", left)):
            if chosen is not None and (chosen is not left or left):
                among += condition
                values.append(_array(chosen))
        high, low = threshold + MARGIN, threshold - MARGIN
        # OFFSET 0 has each vector compared as it is read: else whole vectors would be sorted to be grouped.
        rows = self._connection.all(
            f"""WITH best AS MATERIALIZED (
                SELECT note, max(near) AS near FROM (
                    SELECT note, -(vector OPERATOR({where}.<#>) ?::{where}.vector) AS near
                    FROM passage_vectors WHERE model = {present}{among} OFFSET 0) each GROUP BY note),
            marks AS (SELECT count(*) FILTER (WHERE near >= ?) AS sure, max(near) FILTER (WHERE near < ?) AS below,
                (SELECT near FROM best ORDER BY near DESC OFFSET ? LIMIT 1) AS least FROM best)
            SELECT note, sure, near >= ? FROM best, marks
            WHERE CASE WHEN near >= ? THEN near >= coalesce(least, -2) - {2 * MARGIN}
                ELSE near >= ? OR near >= below - {2 * MARGIN} END
            ORDER BY note""",
            (_vector(query), *values, high, low, 2**62 if limit is None else max(limit, 1) - 1, high, high, low),
        )
        doubtful = {note for note, _, is_sure in rows if not is_sure}
        return self._decided(
            model,
            query,
            [note for note, *_ in rows],
            threshold,
            limit,
            sure=(rows[0][1] if rows else 0, doubtful),
        )

    def is_indexed(self, model: int) -> bool:
        """Whether there is an index of the vectors of a model that answers."""
        sql = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(?) AND indisvalid AND indisready"
        return self._connection.fetch_one(sql, (index_name(model),)) is not None

    def present_model(self) -> int | None:
        """Return the number of the model whose vectors the passages have; None before there is one."""
        result: int | None = self._connection.value(_PRESENT)
        return result

    def differences(self, progress: Callable[[int, int], None]) -> Iterator[tuple[int, str]]:
        """Give Notes whose rows here are not what their passages say, and what is wrong with each."""
        where = self.where
        if where is None:
            return
        import numpy as np

        total, done = self._connection.value("SELECT count(*) FROM passages"), 0
        sql = f"""SELECT p.note, p.start, v.vector, {where}.vector_send(s.vector), v.model IS NOT DISTINCT FROM s.model
            FROM passages p LEFT JOIN passage_vectors s USING (note, sequence)
            LEFT JOIN vectors v ON v.digest = p.digest AND v.model = ({_PRESENT}) ORDER BY p.note, p.sequence"""
        for batch in self._connection.batches(sql):
            for note, start, stored, searched, same in batch:
                if not same or (stored is None) != (searched is None):
                    yield note, "has a passage that is not among the vectors that the database compares"
                elif stored is not None:
                    row = np.frombuffer(stored, "<f4") * np.float32(FIELD_WEIGHT if start < 0 else 1)
                    if row.astype(">f4").tobytes() != bytes(searched)[4:]:
                        yield note, "is compared by another vector than the one that it has"
            done += len(batch)
            progress(done, total)
        gone = (
            "SELECT DISTINCT note FROM passage_vectors LEFT JOIN passages p USING (note, sequence) WHERE p.note IS NULL"
        )
        for (note,) in self._connection.all(gone):
            yield note, "is compared by a vector of a passage that it does not have"

    def _model(self, model: str) -> int | None:
        """Return the number of the present model if it is this one."""
        result: int | None = self._connection.value(f"{_PRESENT} AND m.name = ?", (model,))
        return result

    def _passages_of(self, numbers: Iterable[int] | None) -> Iterator[int]:
        if numbers is not None:
            yield from numbers
        else:
            yield from (note for (note,) in self._connection.all("SELECT DISTINCT note FROM passages"))

    def _decided(
        self,
        model: str,
        query: NDArray[np.float32],
        notes: Sequence[int],
        threshold: float,
        limit: int | None,
        *,
        sure: tuple[int, set[int]] | None,
    ) -> NearestNotes:
        """Compare in double precision what was narrowed to some Notes.

        `sure`: how many Notes are at or above the threshold without doubt, those that were left out among them, and
        which of `notes` are not of these; None where all that count are among `notes`.
        """
        import numpy as np

        rows = vectors.rows(self._connection, model, notes)
        best, which = _best(rows, query)
        owners = rows.owners[which]
        over = best >= threshold
        matched = int(over.sum())
        if sure is not None:
            matched = sure[0] + sum(1 for note in owners[over].tolist() if note in sure[1])
        order = np.lexsort((owners[over], -best[over]))[:limit]
        chosen = which[over][order]
        return NearestNotes(
            rows.owners[chosen],
            rows.versions[chosen],
            rows.starts[chosen],
            rows.ends[chosen],
            best[over][order],
            matched,
            max(best[~over].tolist(), default=None),
        )

    def _load(self, batches: Iterator[list[Row]]) -> None:
        """Insert rows of passages with their vectors, by COPY in its binary form where it is allowed."""
        import numpy as np

        for batch in batches:
            if self._connection.has_row_security:
                self._insert(batch)
                continue
            value = [_COPY_HEAD]
            for note, sequence, start, blob, model in batch:
                value.append(_KEY.pack(4, 8, note, 8, sequence))
                if blob is None:
                    value.append(_NULLS)
                    continue
                row = np.frombuffer(blob, "<f4") * np.float32(FIELD_WEIGHT if start < 0 else 1)
                value.append(_MODEL_AND_SIZE.pack(8, model, 4 + 4 * len(row), len(row), 0))
                value.append(row.astype(">f4").tobytes())
            value.append(_COPY_END)
            if batch:
                self._connection.load_binary("passage_vectors", ("note", "sequence", "model", "vector"), value)

    def _insert(self, batch: list[Row]) -> None:
        import numpy as np

        rows = []
        for note, sequence, start, blob, model in batch:
            vector = None
            if blob is not None:
                vector = _vector(np.frombuffer(blob, "<f4") * np.float32(FIELD_WEIGHT if start < 0 else 1))
            rows.append((note, sequence, None if blob is None else model, vector))
        sql = f"INSERT INTO passage_vectors (note, sequence, model, vector) VALUES (?, ?, ?, ?::{self.where}.vector)"
        self._connection.execute_many(sql, rows)


_COPY_HEAD: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END: Final = struct.pack("!h", -1)
_KEY: Final = struct.Struct("!hiqiq")
_MODEL_AND_SIZE: Final = struct.Struct("!iqihh")
_NULLS: Final = struct.pack("!ii", -1, -1)


def index_name(model: int) -> str:
    """Return the name of the index of a model's vectors."""
    return f"passage_vectors_hnsw_{model}"


def _definitions(place: str) -> tuple[str, ...]:
    """The table, which is scanned as a whole: vectors stay in its rows, and are not tried to be compressed."""
    return (
        f"""CREATE TABLE passage_vectors (note BIGINT NOT NULL, sequence BIGINT NOT NULL, model BIGINT,
            vector {place}.vector, PRIMARY KEY (note, sequence))""",
        "ALTER TABLE passage_vectors ALTER COLUMN vector SET STORAGE MAIN",
        """CREATE FUNCTION forget_vectors() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            DELETE FROM passage_vectors v USING gone WHERE v.note = gone.note AND v.sequence = gone.sequence;
            RETURN NULL; END $$""",
        """CREATE TRIGGER forget_vectors AFTER DELETE ON passages REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors()""",
    )


def _best(rows: Rows, query: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the best cosine of each Note, rounded to six decimals, and its first row that has it."""
    import numpy as np

    first = np.flatnonzero(np.diff(rows.owners, prepend=-1)).astype(np.int64)
    if not len(first):
        return np.empty(0, np.float64), np.empty(0, np.int64)
    scores: NDArray[np.float64] = np.vecdot(rows.vectors.astype(np.float64), query.astype(np.float64))
    scores = np.round(scores, 6)
    best = np.maximum.reduceat(scores, first)
    group = np.repeat(np.arange(len(first)), np.diff(first, append=len(scores)))
    is_best = np.flatnonzero(scores == best[group])
    _, where = np.unique(group[is_best], return_index=True)
    return best, is_best[where]


def _nothing() -> NearestNotes:
    import numpy as np

    none = np.empty(0, np.int64)
    return NearestNotes(none, none, none, none, np.empty(0, np.float64))


def _array(numbers: Iterable[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def _vector(query: NDArray[Any]) -> str:
    return "[" + ",".join(map(str, query.tolist())) + "]"
