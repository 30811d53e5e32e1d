"""Whether what discovery rests on agrees with the Notes: passages, vectors, words, and what is derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from infospace.core.errors import ModelError, StoreError
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Resource, text_of
from infospace.search.index.consistency_files import beside, in_memory, nearly
from infospace.store.note_fields import FIELD_WEIGHT, Field, field_at, text_digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.core.listener import Listener
    from infospace.space import Space
    from infospace.store.protocol import Rows, Snapshot

MAX_MESSAGES = 20
"""How many sentences one check gives; a further one says how many more there are."""

PAGE = 500
"""Notes whose texts and passages are held at a time."""

OFF = 1e-3
"""How far a vector's length may be from 1: float32 of 384 dimensions is off by 1e-6, half precision by 3e-4."""

WHAT, WHAT_WORDS = "comparing", "comparing words"


@dataclass(frozen=True)
class ConsistencyCheck:
    """One read transaction of a space, the model whose vectors count in it, and who hears of the progress."""

    space: Space
    snapshot: Snapshot
    model: str
    listener: Listener

    @cached_property
    def rows(self) -> Rows:
        """All embedded passages; StoreError where their vectors are not of one size."""
        return self.snapshot.rows(self.model)


Check: TypeAlias = Callable[[ConsistencyCheck], Iterator[str]]


def disagreements(space: Space, listener: Listener | None = None) -> list[str]:
    """Return what does not agree, a sentence each; none when all is well. Writes nothing, embeds nothing.

    Everything is compared at one generation. Takes the texts by the page, and the vectors twice; time linear in
    both. Raises StoreError where the space cannot be read.
    """
    results: list[str] = []
    with space.store.reading() as snapshot:
        look = ConsistencyCheck(space, snapshot, snapshot.model() or "", listener or NullListener())
        for check in CHECKS:
            every = list(check(look))
            results += every[:MAX_MESSAGES]
            if len(every) > MAX_MESSAGES:
                results.append(f"and {len(every) - MAX_MESSAGES:,} more like the last")
    return results


def _passages(look: ConsistencyCheck) -> Iterator[str]:
    """Every Note that discovery searches: embedded, all of its text, as it is now, with a vector that is one."""
    snapshot = look.snapshot
    every = snapshot.discoverable()
    pending = set(snapshot.pending_numbers().tolist())
    dimension = _dimension(look)
    for at in range(0, len(every), PAGE):
        numbers = every[at : at + PAGE].tolist()
        notes = snapshot.get_many([f"{Kind.NOTE}_{number}" for number in numbers])
        rows, unread = _rows(snapshot, look.model, numbers)
        yield from (f"{Kind.NOTE}_{number} cannot be searched: {why}" for number, why in unread.items())
        bounds = np.searchsorted(rows.owners, [*numbers, numbers[-1] + 1])
        lengths = _lengths(rows.vectors) / np.where(rows.starts < 0, FIELD_WEIGHT, 1)
        document: dict[int, list[tuple[int, int, bytes]]] = {}
        for number, start, end, digest in snapshot.digests(numbers):
            document.setdefault(number, []).append((start, end, digest))
        if len(rows.owners) and dimension not in (None, rows.vectors.shape[1]):
            yield f"vectors have {rows.vectors.shape[1]} dimensions, and the model {look.model!r} gives {dimension}"
        fields = snapshot.fields(numbers)
        for place, (number, note) in enumerate(zip(numbers, notes, strict=True)):
            if number not in unread:
                own = slice(int(bounds[place]), int(bounds[place + 1]))
                yield from (
                    f"{note.id} {message}"
                    for message in _note(note, rows, own, document.get(number, []), number in pending)
                )
                yield from (
                    f"{note.id} {message}" for message in _fields(document.get(number, []), fields.get(number, ()))
                )
                yield from (f"{note.id} {message}" for message in _unlike(lengths[own]))
        look.listener.progress(at + len(numbers), len(every), WHAT)
    lost = sorted(pending.difference(every.tolist()))
    yield from (f"{Kind.NOTE}_{number} waits to be embedded and is not searched" for number in lost)


def _rows(snapshot: Snapshot, model: str, numbers: list[int]) -> tuple[Rows, dict[int, str]]:
    """Read rows; where what is damaged makes that impossible, of all Notes but those that are to blame, with why."""
    try:
        return snapshot.rows(model, numbers), {}
    except StoreError:
        unread = {number: why for number in numbers if (why := _why_unreadable(snapshot, model, number)) is not None}
        return snapshot.rows(model, [number for number in numbers if number not in unread]), unread


def _why_unreadable(snapshot: Snapshot, model: str, number: int) -> str | None:
    try:
        snapshot.rows(model, [number])
    except StoreError as error:
        return error.message.rpartition(" is damaged: ")[2]
    return None


def _dimension(look: ConsistencyCheck) -> int | None:
    """The numbers in a vector of the space's model, where that is the model of this machine."""
    embedding = look.space.embedding
    try:
        return embedding.info.dimension if embedding.key == look.model else None
    except ModelError:
        return None


def _note(
    note: Resource, rows: Rows, own: slice, stored_rows: list[tuple[int, int, bytes]], waits: bool
) -> Iterator[str]:
    """What is wrong with a Note's passages: their rows, and where each says that it is, with which digest."""
    text = text_of(note.content)
    bounds = list(zip(rows.starts[own].tolist(), rows.ends[own].tolist(), strict=True))
    pieces = [(start, end) for start, end in bounds if field_at(start) is None]
    if waits:
        if bounds:
            yield "waits to be embedded and has passages"
        return
    if not pieces:
        if _has_tokens(text):
            yield "is searched, and neither is it embedded nor does it wait to be"
        return
    if (rows.versions[own] != note.version).any():
        yield f"is at version {note.version}, and its passages are not"
    if not _inside(pieces, len(text)):
        yield "has passages that do not lie one after another in its text"
        return
    edges = [0, *(place for piece in pieces for place in piece), len(text)]
    gaps = (text[end:start] for end, start in zip(edges[::2], edges[1::2], strict=True))
    if any(map(_has_tokens, gaps)):
        yield "has text that is in none of its passages"
    stretches = [one for one in stored_rows if field_at(one[0]) is None]
    if stretches != [(start, end, text_digest(text[start:end])) for start, end in pieces]:
        yield "has a passage whose digest is not that of its text"


def _fields(stored_rows: list[tuple[int, int, bytes]], fields: Sequence[Field]) -> Iterator[str]:
    """What is wrong with a Note's fields: those that are embedded are not those that it has now."""
    embedded = [one for one in stored_rows if field_at(one[0]) is not None]
    if stored_rows and embedded != [(*field.bounds, text_digest(field.text)) for field in fields]:
        yield "has another title, alias or description than the one that is embedded"


def _inside(pieces: Sequence[tuple[int, int]], length: int) -> bool:
    before = 0
    for start, end in pieces:
        if not before <= start < end <= length:
            return False
        before = end
    return True


def _has_tokens(text: str) -> bool:
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


def _wording(look: ConsistencyCheck) -> Iterator[str]:
    """The full text: it has the Notes that discovery searches and no others, each by its own words."""

    def report_progress(done: int, total: int) -> None:
        look.listener.progress(done, total, WHAT_WORDS)

    try:
        for number, message in look.snapshot.wording(report_progress):
            yield f"the full text {message}" if number is None else f"{Kind.NOTE}_{number} {message}"
    except StoreError as error:
        yield f"the full text cannot be read: {error.message}"


CHECKS: list[Check] = [_passages, _wording, in_memory, beside, nearly]
"""What is compared, in this order; a sentence for each thing that does not agree."""
