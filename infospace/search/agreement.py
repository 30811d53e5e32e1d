"""Whether what discovery rests on agrees with the Notes: passages, vectors, and what is derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from infospace.errors import ModelError, StoreError
from infospace.ids import Kind, number_of
from infospace.resources import Resource, text_of
from infospace.search import matrixfile
from infospace.search.derived import Shelf
from infospace.view import Silence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.memory.store import Rows, Snapshot
    from infospace.search.matrix import Matrix
    from infospace.space import Space
    from infospace.view import Listener

MOST = 20
"""How many sentences one check gives; a further one says how many more there are."""

PAGE = 500
"""Notes whose texts and passages are held at a time."""

OFF = 1e-3
"""How far a vector's length may be from 1: float32 of 384 dimensions is off by 1e-6, half precision by 3e-4."""

WHAT = "comparing"


@dataclass(frozen=True, slots=True)
class Look:
    """One read transaction of a space, the model whose vectors count in it, and who hears of the progress."""

    space: Space
    snapshot: Snapshot
    model: str
    listener: Listener


Check: TypeAlias = Callable[[Look], Iterator[str]]


def disagreements(space: Space, listener: Listener | None = None) -> list[str]:
    """Return what does not agree, a sentence each; none when all is well. Writes nothing, embeds nothing.

    Everything is compared at one generation. Takes the texts by the page, and the vectors twice. Raises
    StoreError where the space cannot be read.
    """
    found: list[str] = []
    with space.store.reading() as snapshot:
        look = Look(space, snapshot, snapshot.model() or "", listener or Silence())
        for check in CHECKS:
            every = list(check(look))
            found += every[:MOST]
            if len(every) > MOST:
                found.append(f"and {len(every) - MOST:,} more like the last")
    return found


def _passages(look: Look) -> Iterator[str]:
    """Every Note that discovery searches: embedded, all of its text, as it is now, with a vector that is one."""
    snapshot = look.snapshot
    every = snapshot.discoverable()
    pending = set(snapshot.pending_numbers().tolist())
    dimension = _dimension(look)
    for at in range(0, len(every), PAGE):
        numbers = every[at : at + PAGE].tolist()
        notes = snapshot.many([f"{Kind.NOTE}_{number}" for number in numbers])
        rows, unread = _rows(snapshot, look.model, numbers)
        yield from (f"{Kind.NOTE}_{number} has a vector that is not of one size with the others" for number in unread)
        bounds = np.searchsorted(rows.owners, [*numbers, numbers[-1] + 1])
        lengths = _lengths(rows.vectors)
        if len(rows.owners) and dimension not in (None, rows.vectors.shape[1]):
            yield f"vectors have {rows.vectors.shape[1]} dimensions, and the model {look.model!r} gives {dimension}"
        for place, (number, note) in enumerate(zip(numbers, notes, strict=True)):
            if number not in unread:
                own = slice(int(bounds[place]), int(bounds[place + 1]))
                yield from (f"{note.id} {says}" for says in _note(look, note, rows, own, number in pending))
                yield from (f"{note.id} {says}" for says in _unlike(lengths[own]))
        look.listener.progress(at + len(numbers), len(every), WHAT)
    lost = sorted(pending.difference(every.tolist()))
    yield from (f"{Kind.NOTE}_{number} waits to be embedded and is not searched" for number in lost)


def _rows(snapshot: Snapshot, model: str, numbers: list[int]) -> tuple[Rows, set[int]]:
    """Read rows; where vectors of several sizes make that impossible, of all Notes but those that are to blame."""
    try:
        return snapshot.rows(model, numbers), set()
    except StoreError:
        unread = {number for number in numbers if not _is_readable(snapshot, model, number)}
        return snapshot.rows(model, [number for number in numbers if number not in unread]), unread


def _is_readable(snapshot: Snapshot, model: str, number: int) -> bool:
    try:
        snapshot.rows(model, [number])
    except StoreError:
        return False
    return True


def _dimension(look: Look) -> int | None:
    """The numbers in a vector of the space's model, where that is the model of this machine."""
    embedding = look.space.embedding
    try:
        return embedding.info.dimension if embedding.key == look.model else None
    except ModelError:
        return None


def _note(look: Look, note: Resource, rows: Rows, own: slice, waits: bool) -> Iterator[str]:
    text = text_of(note.content)
    pieces = list(zip(rows.starts[own].tolist(), rows.ends[own].tolist(), strict=True))
    if waits:
        if pieces:
            yield "waits to be embedded and has passages"
        return
    if not pieces:
        if _says_anything(text):
            yield "is searched, and neither is it embedded nor does it wait to be"
        return
    if (rows.versions[own] != note.version).any():
        yield f"is at version {note.version}, and its passages are not"
    if not _inside(pieces, len(text)):
        yield "has passages that do not lie one after another in its text"
        return
    edges = [0, *(place for piece in pieces for place in piece), len(text)]
    gaps = (text[end:start] for end, start in zip(edges[::2], edges[1::2], strict=True))
    if any(map(_says_anything, gaps)):
        yield "has text that is in none of its passages"
    digests = [(number_of(note.id), start, end, sha256(text[start:end].encode()).digest()) for start, end in pieces]
    if look.snapshot.digests([number_of(note.id)]) != digests:
        yield "has a passage whose digest is not that of its text"


def _inside(pieces: Sequence[tuple[int, int]], length: int) -> bool:
    before = 0
    for start, end in pieces:
        if not before <= start < end <= length:
            return False
        before = end
    return True


def _says_anything(text: str) -> bool:
    """Whether there is anything in a text that a tokenizer keeps; signs alone it may drop."""
    return any(map(str.isalnum, text))


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the length of each vector; it is not a number where one of the vector's numbers is none."""
    wide = vectors.astype(np.float64)
    with np.errstate(invalid="ignore"):
        lengths: NDArray[np.float64] = np.sqrt(np.vecdot(wide, wide))
    return lengths


def _unlike(lengths: NDArray[np.float64]) -> Iterator[str]:
    if not np.isfinite(lengths).all():
        yield "has a vector that holds NaN or an infinity"
    elif (wrong := lengths[np.abs(lengths - 1) > OFF]).size:
        yield f"has a vector of length {wrong[0]:.4g}, not 1"


def _in_memory(look: Look) -> Iterator[str]:
    """The matrix that the space's search holds, once it has followed to this generation."""
    with look.space.search.held() as matrix:
        if matrix is not None and matrix.model == look.model:
            yield from (f"the vectors in memory {says}" for says in _followed(matrix, look.snapshot))


def _beside(look: Look) -> Iterator[str]:
    """The matrix in the file beside the space, once it has followed to this generation."""
    matrix = matrixfile.load(Shelf(look.space.store), look.model, look.snapshot)
    if matrix is not None:
        yield from (f"the vectors in the derived file {says}" for says in _followed(matrix, look.snapshot))


def _followed(matrix: Matrix, snapshot: Snapshot) -> Iterator[str]:
    """Say what is different between a matrix that has followed to a snapshot and the store's own rows."""
    try:
        matrix.follow(snapshot)
        rows = snapshot.rows(matrix.model)
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


CHECKS: list[Check] = [_passages, _in_memory, _beside]
"""What is compared, in this order; a sentence for each thing that does not agree."""
