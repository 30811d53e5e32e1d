"""Many Notes at once: those that a step made together, and members of a Collection that are known by their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import repeat
from typing import Any, overload

from infospace.core.bounds import timed_if_many
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy, Member, Note

MANY = 256
"""So many Notes that are made, held or read at once go together; fewer go one by one, as all could."""


@dataclass(frozen=True, slots=True)
class BatchHead:
    """What the Notes of a batch share: when they were made, and by which step. They are transient, at version 1."""

    created: str
    created_by: CreatedBy


class BatchNote(Note[Any]):
    """A Note of a batch, as good as any other Note: only its number and content are held, the rest is its batch's.

    `dataclasses.replace` gives an ordinary Note.
    """

    __slots__ = ("_head", "_number")

    _head: BatchHead
    _number: int

    def __new__(cls, **values: Any) -> Any:
        """Return an ordinary Note of the values, where there are any: so a changed copy is one."""
        return Note(**values) if values else object.__new__(cls)

    def __init__(self, **values: Any) -> None:
        """Do nothing: `notes_of` fills in what a Note of a batch holds."""

    @property
    def id(self) -> str:
        """The id, of the number."""
        return f"Note_{self._number}"

    @property
    def metadata(self) -> dict[str, JSON]:
        """Empty: whoever wants metadata on a Note makes it by itself."""
        return {}

    @property
    def created(self) -> str:
        """When the batch was made."""
        return self._head.created

    @property
    def updated(self) -> str:
        """When the batch was made."""
        return self._head.created

    @property
    def created_by(self) -> CreatedBy:
        """The step that made the batch."""
        return self._head.created_by

    name = None
    version = 1
    kept = False
    location = None
    evidence = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Note):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in fields(Note))

    __hash__ = None  # type: ignore[assignment]  # as a Note has none, for its content

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}(id={self.id!r}, content={self.content!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _whole, ({field.name: getattr(self, field.name) for field in fields(Note)},)


def _whole(values: dict[str, Any]) -> Note[Any]:
    return Note(**values)


def notes_of(head: BatchHead, first: int, contents: Sequence[JSON]) -> list[Note[Any]]:
    """Return the Notes of a batch, whose first has this number."""
    return _notes(repeat(head), range(first, first + len(contents)), contents)


def _notes(heads: Iterable[BatchHead], numbers: Iterable[int], contents: Iterable[JSON]) -> list[Note[Any]]:
    new, result = object.__new__, BatchNote
    # A frozen class lets nobody set its slots but their descriptors: this is what its own `__init__` comes to.
    slots: Any = BatchNote
    set_head, set_number, set_content = (getattr(slots, name).__set__ for name in ("_head", "_number", "content"))
    resources: list[Note[Any]] = []
    for head, number, content in zip(heads, numbers, contents):  # noqa: B905 - the heads may repeat without an end
        note = new(result)
        set_head(note, head)
        set_number(note, number)
        set_content(note, content)
        resources.append(note)
    return resources


class ReadNotes(Sequence[Note[Any]]):
    """Notes of batches that are read at once: their contents and numbers, and each's head, all in order.

    They are made when they are first gone through; who reads their contents alone needs none. Going through many of
    them looks at the clock now and then, and raises OutOfTime.
    """

    __slots__ = ("_notes", "contents", "heads", "numbers")

    def __init__(self, numbers: Sequence[int], contents: Sequence[JSON], heads: Sequence[BatchHead]) -> None:
        self.numbers = numbers
        self.contents = contents
        self.heads = heads
        self._notes: list[Note[Any]] | None = None

    def _all(self) -> list[Note[Any]]:
        if self._notes is None:
            self._notes = _notes(self.heads, self.numbers, self.contents)
        return self._notes

    def __len__(self) -> int:
        return len(self.contents)

    @overload
    def __getitem__(self, index: int) -> Note[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Note[Any]]: ...
    def __getitem__(self, index: int | slice) -> Note[Any] | list[Note[Any]]:
        if isinstance(index, slice):
            return self._all()[index]
        if self._notes is not None:
            return self._notes[index]
        return notes_of(self.heads[index], self.numbers[index], (self.contents[index],))[0]

    def __iter__(self) -> Iterator[Note[Any]]:
        return iter(timed_if_many(self._all()))

    def __eq__(self, other: object) -> bool:
        return self._all() == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list has none


class ResultNotes(Sequence[Note[Any]]):
    """The Notes that a step made at once, in order; each is there when it is asked for."""

    __slots__ = ("contents", "first", "head")

    def __init__(self, head: BatchHead, first: int, contents: Sequence[JSON]) -> None:
        self.head = head
        self.first = first
        self.contents = contents

    @property
    def numbers(self) -> range:
        """The numbers of the Notes."""
        return range(self.first, self.first + len(self.contents))

    def __len__(self) -> int:
        return len(self.contents)

    @overload
    def __getitem__(self, index: int) -> Note[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Note[Any]]: ...
    def __getitem__(self, index: int | slice) -> Note[Any] | list[Note[Any]]:
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        place = range(len(self))[index]
        return notes_of(self.head, self.first + place, self.contents[place : place + 1])[0]

    def __iter__(self) -> Iterator[Note[Any]]:
        return iter(notes_of(self.head, self.first, self.contents))


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
