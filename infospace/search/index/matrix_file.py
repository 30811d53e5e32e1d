"""The matrix beside the space, mapped into memory: 100,000 rows are there, and verified, in 30 ms instead of 600."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from infospace.search.index.derived_files import DerivedFiles, Draft, Head, checksum_array
from infospace.search.index.vector_matrix import Matrix

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot

NAME = "matrix"

MIN_ROWS = 5_000
"""Rows from which the file is worth while: below, reading them from the store takes less than 25 ms."""

REWRITE_FRACTION = 10
"""The file is written anew when one in so many Notes is newer than it."""


def load(shelf: DerivedFiles, model: str, snapshot: Snapshot) -> Matrix | None:
    """Return the matrix as it was at some generation up to the snapshot's, or None."""
    results = shelf.find(NAME, model, snapshot)
    if results is None:
        return None
    head, body = results
    try:
        (notes,) = head.more
        data = np.memmap(body, np.uint64, "r")
    except (OSError, ValueError):
        return None
    if head.size != _size(head.count, notes, head.dimension) or checksum_array(data) != head.checksum:
        return None
    numbers = 4 * head.count + notes
    matrix = Matrix(model)
    columns = data[: 4 * head.count].view(np.int64).reshape(4, head.count)
    vectors = data[numbers:].view(np.float32)[: head.count * head.dimension].reshape(head.count, head.dimension)
    known = data[4 * head.count : numbers].view(np.int64)
    matrix.put(np.asarray(columns), np.asarray(vectors), np.array(known), head.generation)
    return matrix


def save(shelf: DerivedFiles, matrix: Matrix) -> None:
    """Write the matrix, if that is worth while."""
    count = len(matrix.owners)
    if count < MIN_ROWS or matrix.changed * REWRITE_FRACTION < len(matrix.notes) or not shelf.writable:
        return

    def fill(path: Path) -> str:
        parts = (matrix.columns, matrix.notes, matrix.vectors)
        with path.open("wb") as file:
            for part in parts:
                file.write(np.ascontiguousarray(part).data)
            file.write(bytes(-file.tell() % 8))
        return checksum_array(np.memmap(path, np.uint64, "r"))

    draft = Draft(matrix.model, matrix.generation, matrix.vectors.shape[1], count, [len(matrix.notes)], fill)
    head: Head | None = shelf.write(NAME, draft)
    if head is not None:
        shelf.vouch(NAME, head)
    matrix.changed = 0


def _size(count: int, notes: int, dimension: int) -> int:
    size = 32 * count + 8 * notes + 4 * count * dimension
    return size + -size % 8
