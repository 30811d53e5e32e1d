"""Members of a Collection that are known by their numbers alone: a Collection of 100,000 Notes holds no object each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from infospace.core.resources import Member


class NoteMembers(Sequence[Member]):
    """The places of Notes in a Collection, none of which records anything. A place is made when it is asked for.

    `numbers` are those of the Notes, in order; a range where they follow each other.
    """

    __slots__ = ("numbers",)

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> NoteMembers: ...
    def __getitem__(self, index: int | slice) -> Member | NoteMembers:
        if isinstance(index, slice):
            return NoteMembers(self.numbers[index])
        return Member(f"Note_{self.numbers[index]}")

    def __iter__(self) -> Iterator[Member]:
        return (Member(f"Note_{number}") for number in self.numbers)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NoteMembers):
            return len(self) == len(other) and all(map(int.__eq__, self.numbers, other.numbers))
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __repr__(self) -> str:
        return f"NoteMembers({self.numbers!r})"


def identifiers_of(members: Sequence[Member]) -> list[str]:
    """Return the ids of members, in order."""
    if isinstance(members, NoteMembers):
        return [f"Note_{number}" for number in members.numbers]
    return [member.id for member in members]


def picked(members: Sequence[Member], places: Sequence[int]) -> Sequence[Member]:
    """Return the members at these places, in the order of the places."""
    if isinstance(members, NoteMembers):
        return NoteMembers(tuple(map(members.numbers.__getitem__, places)))
    return [members[place] for place in places]
