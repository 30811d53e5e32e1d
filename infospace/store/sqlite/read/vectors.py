"""Reading what discovery rests on into arrays."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from infospace.core.errors import StoreError
from infospace.store.note_fields import FIELD_WEIGHT
from infospace.store.protocol import ChangedNotes, Rows
from infospace.store.sqlite.codec import keys_json
from infospace.store.sqlite.connection import Connection, Row
from infospace.store.sqlite.write.embeddings import MODEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_AMONG = " WHERE note IN (SELECT value FROM json_each(?))"

# The order of the join is fixed: passages as they stand, and for each the vector of its digest.
_PASSAGES = f"""SELECT note, version, start, "end", vector FROM passages CROSS JOIN vectors
    ON vectors.model = {MODEL} AND vectors.digest = passages.digest"""


def rows(connection: Connection, model: str, numbers: Iterable[int] | None) -> Rows:
    """Return embedded passages and fields of all Notes, or some; the vectors of fields by their weight.

    A model without any vector has the dimension 0.
    """
    import numpy as np

    among, values = ("", ()) if numbers is None else (_AMONG, (keys_json(numbers),))
    most = connection.value(f"SELECT count(*) FROM passages{among}", values)
    columns = np.empty((4, most), np.int64)
    wide = connection.value(f"SELECT length(vector) FROM vectors WHERE model = {MODEL} LIMIT 1", (model,))
    vectors = np.empty((most, (wide or 0) // 4), np.float32)
    size = 0
    for batch in connection.batches(f"{_PASSAGES}{among} ORDER BY note, sequence", (model, *values)):
        *bounds, blobs = zip(*batch, strict=True)
        if wide % 4 or any(not isinstance(blob, bytes) or len(blob) != wide for blob in blobs):
            raise _damaged(connection, "a vector in it has the wrong length")
        try:
            columns[:, size : size + len(batch)] = bounds
        except (TypeError, ValueError, OverflowError) as error:
            raise _damaged(connection, "where a passage in it stands is no number") from error
        vectors[size : size + len(batch)] = np.frombuffer(b"".join(blobs), "<f4").reshape(len(batch), -1)
        size += len(batch)
    vectors[:size][columns[2, :size] < 0] *= FIELD_WEIGHT
    return Rows(columns[0, :size], columns[1, :size], columns[2, :size], columns[3, :size], vectors[:size])


def _damaged(connection: Connection, what: str) -> StoreError:
    return StoreError(
        f"the space {connection.address!r} is damaged: {what}",
        hint="`infospace doctor --deep` says more; a copy of the file that is whole puts it right",
    )


def digests(connection: Connection, numbers: Iterable[int]) -> list[tuple[int, int, int, bytes]]:
    """Return number, start, end and digest of passages, by Note and in order, with a vector or without."""
    sql = f'SELECT note, start, "end", digest FROM passages{_AMONG} ORDER BY note, sequence'
    return [(note, start, end, digest) for note, start, end, digest in connection.all(sql, (keys_json(numbers),))]


def discoverable(connection: Connection, numbers: Iterable[int] | None) -> NDArray[np.int64]:
    """Return the numbers of the Notes that discovery searches, ascending."""
    if numbers is None:
        return column(connection.all("SELECT key >> 2 FROM resources WHERE found = 1 ORDER BY key"))
    return column(
        connection.all(
            """SELECT key >> 2 FROM resources WHERE found = 1 AND key IN (SELECT value * 4 FROM json_each(?))
            ORDER BY key""",
            (keys_json(numbers),),
        )
    )


def current(connection: Connection, numbers: Sequence[int]) -> NDArray[np.int64]:
    """Return the versions of Notes, in their order."""
    rows = connection.all(
        "SELECT key >> 2, version FROM resources WHERE key IN (SELECT value * 4 FROM json_each(?))",
        (keys_json(numbers),),
    )
    versions: dict[int, int] = dict(rows)
    return column([(versions[number],) for number in numbers])


def column(found: Sequence[Row]) -> NDArray[np.int64]:
    """Return rows of one number each as an array."""
    import numpy as np

    return np.fromiter(chain.from_iterable(found), np.int64, len(found))


def moved(connection: Connection, generation: int, present: int) -> ChangedNotes:
    """Return which Notes came, changed or went after a generation; incomplete when that is not of this space."""
    forgotten: int = connection.value("SELECT value FROM state WHERE key = 'forgotten'")
    if not forgotten <= generation <= present:
        return ChangedNotes(frozenset(), complete=False)
    rows = connection.all("SELECT key >> 2 FROM resources WHERE generation > ?", (generation,))
    return ChangedNotes(frozenset(chain.from_iterable(rows)), complete=True)


def known_vectors(connection: Connection, model: str, digests: Sequence[bytes]) -> set[bytes]:
    """Return which of the digests have a vector."""
    number = connection.value("SELECT model FROM models WHERE name = ?", (model,))
    sql = "SELECT 1 FROM vectors WHERE model = ? AND digest = ?"
    return {digest for digest in digests if connection.fetch_one(sql, (number, digest)) is not None}


def by_digest(connection: Connection, model: str, digests: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
    """Return the vectors of those of the digests that have one."""
    import numpy as np

    number = connection.value("SELECT model FROM models WHERE name = ?", (model,))
    sql = "SELECT vector FROM vectors WHERE model = ? AND digest = ?"
    result = ((digest, connection.value(sql, (number, digest))) for digest in digests)
    return {digest: np.frombuffer(blob, "<f4") for digest, blob in result if blob is not None}


def queries(connection: Connection, model: str, limit: int) -> NDArray[np.float32]:
    """Return the vectors of the latest queries, (n, dimension)."""
    import numpy as np

    rows = connection.all(
        f"SELECT vector FROM queries WHERE model = {MODEL} ORDER BY used DESC LIMIT ?", (model, limit)
    )
    return np.array([np.frombuffer(blob, "<f4") for (blob,) in rows], np.float32)


def query(connection: Connection, model: str, digest: bytes) -> NDArray[np.float32] | None:
    """Return the remembered vector of a query."""
    blob = connection.value(f"SELECT vector FROM queries WHERE model = {MODEL} AND digest = ?", (model, digest))
    if blob is None:
        return None
    import numpy as np

    return np.frombuffer(blob, "<f4").astype(np.float32, copy=False)
