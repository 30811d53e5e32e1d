"""Which Notes a search looks at: those within a Collection, and those that satisfy a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from infospace.core.errors import NotFound
from infospace.core.ids import Kind, is_id, kind_of, number_of
from infospace.core.resources import Collection, Note, Resource, SearchResult
from infospace.data.paths import ABSENT, OF_FILES, OWN, Path, Readable, find, nearest, reader, show_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.contract.arguments import BoundCondition
    from infospace.expressions import ItemMismatches
    from infospace.store.protocol import Head, Snapshot

MAX_CACHED_CHARACTERS = 32_000_000
"""Characters of metadata and structured content that are kept, decoded, for the next condition."""

SUBSET_FRACTION = 4
"""A search within less than one in so many Notes reads just these."""

_OF_THE_RESOURCE = frozenset(OWN) - {"@metadata"}
_METADATA = Path(("metadata",))

LOOKED_AT = 2_000
"""Notes that are looked at for a key in the wrong place."""


def numbers_within(items: Iterable[Resource], read: Callable[[Sequence[str]], list[Resource]]) -> NDArray[np.int64]:
    """Return the numbers (ascending) of the Notes that items are, or are search results of, in Collections too.

    `read` gives resources by id. A Collection is entered once, so that one that contains itself has an end.
    """
    numbers: set[int] = set()
    entered: set[str] = set()
    level = list(items)
    while level:
        deeper: list[Resource] = []
        for item in level:
            if isinstance(item, Collection) and item.id not in entered:
                entered.add(item.id)
                deeper += read([member.id for member in item.members])
            elif isinstance(item, Note) and is_id(source := source_of(item)):
                if kind_of(source) is Kind.NOTE:
                    numbers.add(number_of(source))
                elif kind_of(source) is Kind.COLLECTION and source not in entered:
                    with suppress(NotFound):
                        deeper += read([source])
        level = deeper
    return np.array(sorted(numbers), np.int64)


def source_of(note: Note[Any]) -> str:
    """Return the id of what a search result was found in, which of a tool's is none; of any other Note its own."""
    return cast("SearchResult", note.content)["metadata"]["source_id"] if note.evidence else note.id


class NoteFilter:
    """What conditions read of the Notes of a space, kept from search to search while it fits."""

    def __init__(self) -> None:
        self._heads: dict[int, Head] | None = None
        self._size = 0
        self._generation = -1
        self._too_large = False

    def satisfying(
        self,
        snapshot: Snapshot,
        among: NDArray[np.int64],
        notes: int,
        where: BoundCondition,
        tally: ItemMismatches | None = None,
    ) -> tuple[NDArray[np.int64], str | None]:
        """Return which of the Notes `among` (of `notes` in all) satisfy a condition, and a hint where none does."""
        heads = self._read(snapshot, among, notes, where)
        judge = where.judge(tally)
        chosen = [number for number, head in heads.items() if judge(head)]
        hint = None if chosen else misplaced_in(where, list(heads.values()), "note")
        return np.array(chosen, np.int64), hint

    def _read(
        self, snapshot: Snapshot, among: NDArray[np.int64], notes: int, where: BoundCondition
    ) -> Mapping[int, Head]:
        firsts = {path.parts[0] if path.parts else "content" for path in where.where.paths}
        reads_text, own = not firsts.isdisjoint(("content", "@title")), not firsts.isdisjoint(_OF_THE_RESOURCE)
        if len(among) * SUBSET_FRACTION < notes:
            return {head.number: head for head in snapshot.heads(among.tolist(), text=reads_text, own=own)}
        if reads_text or own or self._too_large:
            heads = {head.number: head for head in snapshot.heads(text=reads_text, own=own)}
        else:
            heads = self._follow(snapshot)
        return heads if len(among) == len(heads) else {number: heads[number] for number in among.tolist()}

    def _follow(self, snapshot: Snapshot) -> dict[int, Head]:
        moved = snapshot.moved(self._generation) if self._heads is not None else None
        if self._heads is None or moved is None or not moved.complete:
            heads = {head.number: head for head in snapshot.heads()}
            self._size = sum(head.size for head in heads.values())
        else:
            heads = self._heads
            for number in moved.touched:
                gone = heads.pop(number, None)
                self._size -= gone.size if gone else 0
            fresh = {head.number: head for head in snapshot.heads(moved.touched)} if moved.touched else {}
            self._size += sum(head.size for head in fresh.values())
            heads |= fresh
            if fresh:
                heads = dict(sorted(heads.items()))
        self._too_large = self._size > MAX_CACHED_CHARACTERS
        self._heads, self._generation = (None, -1) if self._too_large else (heads, snapshot.generation)
        return heads


def misplaced_in(where: BoundCondition, items: Sequence[Readable], noun: str = "item") -> str | None:
    """Say of a condition that none of the items satisfies which key of it none has, and where else it may be found."""
    for path in where.where.paths if items else ():
        if path.parts[0] not in (*OWN, "metadata", "content") or len(path.parts) > 1:
            find = reader(path)
            if all(find(item) is ABSENT for item in items):
                return f"nothing satisfies `where`; {_absent(path, items, noun)}"
        elif path.parts[0] in OF_FILES and all(item.location is None for item in items):
            return f"nothing satisfies `where`; no {noun} has `{path}`: none was imported from a file"
    return None


def _absent(path: Path, items: Sequence[Readable], noun: str) -> str:
    """Say that no item has a place, and which place was perhaps meant."""
    first, few = path.parts[0], items[:LOOKED_AT]
    known = [place for item in few if isinstance(place := find(item, _METADATA), Mapping)]
    if isinstance(first, str) and first not in (*OWN, "metadata") and (has := sum(first in one for one in known)):
        some = f"one {noun} has" if has == 1 else f"{has:,} {noun}s have"
        return f"{some} `{first}` under `metadata`: write `metadata.{path}`"
    message = f"no {noun} has `{path}`"
    word = next((part for part in path.parts if isinstance(part, str) and part not in ("metadata", "@metadata")), "")
    places: dict[str, str] = {}
    for one in known:
        places |= {key: f"metadata.{show_parts((key,))}" for key in one}
    places |= {own[1:]: own for own in OWN if own[1:] not in places}
    for item in () if first in ("metadata", "@metadata") else few:
        if isinstance(item.content, Mapping):
            places |= {key: show_parts((key,)) for key in item.content if key not in ("@metadata", *OWN)}
    near = nearest(word, places)
    return message if near is None else f"{message}; did you mean `{places[near]}`?"
