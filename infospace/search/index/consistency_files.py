"""Whether what is derived from a space's vectors agrees with it: the matrix in memory, and the files beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from infospace.core.errors import StoreError
from infospace.core.ids import Kind
from infospace.core.plural import pluralize
from infospace.search.index import ann_index as index
from infospace.search.index import matrix_file as matrixfile
from infospace.search.index.derived_files import DerivedFiles
from infospace.search.index.hnsw import SHIFT

if TYPE_CHECKING:
    from infospace.search.index.consistency import ConsistencyCheck
    from infospace.search.index.hnsw import Hnsw
    from infospace.search.index.vector_matrix import Matrix

LEAST_RECALL = 0.95
"""A sound index finds this share of the ten nearest of its probes; .99 when it was built, a little less as it ages."""


def in_memory(look: ConsistencyCheck) -> Iterator[str]:
    """The matrix that the space's search holds, once it has followed to this generation."""
    with look.space.search.locked_matrix() as matrix:
        if matrix is not None and matrix.model == look.model:
            yield from (f"the vectors in memory {message}" for message in _followed(matrix, look))


def beside(look: ConsistencyCheck) -> Iterator[str]:
    """The matrix in the file beside the space, once it has followed to this generation."""
    shelf = DerivedFiles(look.space.store)
    matrix = matrixfile.load(shelf, look.model, look.snapshot)
    if matrix is not None:
        yield from (f"the vectors in the derived file {message}" for message in _followed(matrix, look))
    elif shelf.find(matrixfile.NAME, look.model, look.snapshot) is not None:
        yield "the derived file of vectors is not as it was written, and is not used"


def _followed(matrix: Matrix, look: ConsistencyCheck) -> Iterator[str]:
    """Say what is different between a matrix that has followed to a snapshot and the store's own rows."""
    snapshot = look.snapshot
    try:
        matrix.follow(snapshot)
        rows = look.rows
    except StoreError:
        return  # a vector of another size, of which another check has told
    if matrix.generation != snapshot.generation:
        yield f"are of generation {matrix.generation}, not {snapshot.generation}"
    every = snapshot.discoverable()
    here, there = set(matrix.notes.tolist()), set(every.tolist())
    yield from (f"still know {Kind.NOTE}_{number}, which is not searched" for number in sorted(here - there))
    yield from (f"do not know {Kind.NOTE}_{number}" for number in sorted(there - here))
    if here == there and not np.array_equal(matrix.notes, every):
        yield "know a Note twice, or Notes out of their order"
    columns = np.stack([rows.owners, rows.versions, rows.starts, rows.ends])
    if columns.shape != matrix.columns.shape or not np.array_equal(columns, matrix.columns):
        yield "have other passages than the space"
    elif not np.array_equal(rows.vectors, matrix.vectors, equal_nan=True):
        which = np.flatnonzero((rows.vectors != matrix.vectors).any(axis=1))
        yield f"have other numbers than the space for {Kind.NOTE}_{rows.owners[which[0]]}"


def nearly(look: ConsistencyCheck) -> Iterator[str]:
    """The file of the index of hnswlib, once it has followed: which passages it has, where, and what it finds."""
    results = DerivedFiles(look.space.store).find(index.NAME, look.model, look.snapshot)
    if results is None:
        return
    read = index.loaded(*results)
    if read is None:
        yield "the derived file of the index is not as it was written, and is not used"
        return
    moved = look.snapshot.moved(results[0].generation)
    if read.found is None or not moved.complete:
        return  # no index was fit, or this one will be built anew
    try:
        rows = look.rows
    except StoreError:
        return  # a vector of another size, of which another check has told
    if not len(rows.owners) or results[0].dimension != rows.vectors.shape[1]:
        return  # it will not be asked
    touched = np.array(sorted(moved.touched), np.int64)
    which = np.flatnonzero(np.isin(rows.owners, touched))
    read.found.change(touched.tolist(), rows.owners[which], rows.vectors[which], look.snapshot.generation)
    yield from (f"the index in the derived file {message}" for message in _indexed(read.found, look))


def _indexed(index: Hnsw, look: ConsistencyCheck) -> Iterator[str]:
    rows = look.rows
    labels = index.labels()
    owners = labels >> SHIFT
    if index.live != len(labels):
        yield f"counts {pluralize(index.live, 'passage')}, and has {len(labels):,}"
    here, there = set(owners.tolist()), set(rows.owners.tolist())
    yield from (f"still finds {Kind.NOTE}_{number}, which has no passages" for number in sorted(here - there))
    yield from (f"does not know {Kind.NOTE}_{number}" for number in sorted(there - here))
    if here != there:
        return
    if not np.array_equal(owners, rows.owners):
        yield "has other passages than the space"
        return
    for number in sorted({int(rows.owners[at]) for at in index.unlike(labels, rows.vectors)}):
        yield f"has another vector than the space for {Kind.NOTE}_{number}"
    recall = index.recall(rows.vectors)
    if recall < LEAST_RECALL:
        yield f"finds {recall:.2f} of what is nearest, and {LEAST_RECALL} at least is sound"
