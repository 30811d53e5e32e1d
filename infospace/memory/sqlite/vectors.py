"""Reading what discovery rests on into arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from infospace.memory.sqlite.discovery import MODEL
from infospace.memory.sqlite.engine import Engine, Row
from infospace.memory.sqlite.rows import keys_json
from infospace.memory.store import Moved, Rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The order of the join is fixed: passages as they stand, and for each the vector of its digest.
_PASSAGES = f"""SELECT note, version, start, "end", vector FROM passages CROSS JOIN vectors
    ON vectors.model = {MODEL} AND vectors.digest = passages.digest"""

_ALL = f"{_PASSAGES} ORDER BY note, sequence"

_SOME = f"{_PASSAGES} WHERE note IN (SELECT value FROM json_each(?)) ORDER BY note, sequence"


def rows(engine: Engine, model: str, numbers: Iterable[int] | None) -> Rows:
    """Return embedded passages of all Notes, or some. Without any, `vectors` has the shape (0, 0)."""
    import numpy as np

    found = engine.all(_ALL, (model,)) if numbers is None else engine.all(_SOME, (model, keys_json(numbers)))
    if not found:
        none = np.empty(0, np.int64)
        return Rows(none, none, none, none, np.empty((0, 0), np.float32))
    owners, versions, starts, ends, blobs = zip(*found, strict=True)
    vectors = np.frombuffer(b"".join(blobs), "<f4").reshape(len(found), -1)
    columns = (np.array(column, np.int64) for column in (owners, versions, starts, ends))
    return Rows(*columns, vectors.astype(np.float32, copy=False))


def discoverable(engine: Engine, numbers: Iterable[int] | None) -> NDArray[np.int64]:
    """Return the numbers of the Notes that discovery searches, ascending."""
    if numbers is None:
        return column(engine.all("SELECT key >> 2 FROM resources WHERE found = 1 ORDER BY key"))
    return column(
        engine.all(
            """SELECT key >> 2 FROM resources WHERE found = 1 AND key IN (SELECT value * 4 FROM json_each(?))
            ORDER BY key""",
            (keys_json(numbers),),
        )
    )


def column(found: Sequence[Row]) -> NDArray[np.int64]:
    """Return rows of one number each as an array."""
    import numpy as np

    return np.fromiter(chain.from_iterable(found), np.int64, len(found))


def moved(engine: Engine, generation: int, present: int) -> Moved:
    """Return which Notes came, changed or went after a generation; incomplete when that is not of this space."""
    if not 0 <= generation <= present:
        return Moved(frozenset(), complete=False)
    found = engine.all("SELECT key >> 2 FROM resources WHERE generation > ?", (generation,))
    return Moved(frozenset(chain.from_iterable(found)), complete=True)


def known_vectors(engine: Engine, model: str, digests: Sequence[bytes]) -> set[bytes]:
    """Return which of the digests have a vector."""
    number = engine.value("SELECT model FROM models WHERE name = ?", (model,))
    sql = "SELECT 1 FROM vectors WHERE model = ? AND digest = ?"
    return {digest for digest in digests if engine.one(sql, (number, digest)) is not None}


def query(engine: Engine, model: str, digest: bytes) -> NDArray[np.float32] | None:
    """Return the remembered vector of a query."""
    blob = engine.value(f"SELECT vector FROM queries WHERE model = {MODEL} AND digest = ?", (model, digest))
    if blob is None:
        return None
    import numpy as np

    return np.frombuffer(blob, "<f4").astype(np.float32, copy=False)
