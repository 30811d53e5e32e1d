"""Ends of steps that only computed: they are written together, with the next commit of their run.

Nobody but the run itself sees what such a step gave, and what is computed again comes out the same; so it needs no
commit of its own. What must hold:

- Whoever is told of a step finds it in the journal: events are held back until what stands before them is written.
- What is seen outside of the run comes after: a step that reads the space, writes, calls, waits or asks begins when all
  before it is written, and so do the run's rest and its end.
- Nothing waits while the run does: the event loop writes what is unwritten as soon as the steps let it go on, after
  some milliseconds of computing at the latest, or one long computation of Notes.
- What such a step made is as it will be stored, whatever is done with what was read of it.
- A listener that fails breaks the run off; what else is written is told all the same.
- A crash loses the last of these steps, wholly and from the end; whoever goes on with the run computes them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from infospace.core.errors import Invalid
from infospace.core.resources import Note
from infospace.data.json_text import dump
from infospace.store.changes import Change, MakeNote

if TYPE_CHECKING:
    from infospace.core.json_types import JSON
    from infospace.journal.rows import StepRow

MAX_STEPS: Final = 64
"""Steps that are written together."""

MAX_CHARACTERS: Final = 4_000
"""Of a Note that may be written later. A larger one is written at once, so that what refuses it fails its own step."""

MAX_BRACKETS: Final = 200
"""Of a Note that may be written later: what is nested deeper may be refused where the stack is higher."""


@dataclass(frozen=True, slots=True)
class Storable:
    """A Note that is stored later."""

    change: MakeNote
    note: Note[Any]
    """What it then is, without its content."""
    text: str
    """The content, as JSON."""


class UnwrittenNotes(Mapping[str, Note[Any]]):
    """Notes by id, each of which is made anew when it is read, as a store does: nobody can change what is stored."""

    def __init__(self) -> None:
        self._notes: dict[str, Storable] = {}

    def add(self, one: Storable) -> None:
        """Add a Note."""
        self._notes[one.note.id] = one

    def clear(self) -> None:
        """Have none any more."""
        self._notes.clear()

    def __getitem__(self, identifier: str) -> Note[Any]:
        """Return a Note. Raises KeyError."""
        one = self._notes[identifier]
        return replace(one.note, content=json.loads(one.text), metadata={})

    def __contains__(self, identifier: object) -> bool:
        """Whether there is such a Note."""
        return identifier in self._notes

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids, in the order in which they were made."""
        return iter(self._notes)

    def __len__(self) -> int:
        """Return how many there are; none, and so false, most of the time."""
        return len(self._notes)


@dataclass(slots=True)
class UnwrittenSteps:
    """Steps that have ended and are not in the journal yet, in their order."""

    rows: list[StepRow] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: UnwrittenNotes = field(default_factory=UnwrittenNotes)
    """What they made, as it will be stored."""
    _then: list[Callable[[], None]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether no more are to be added."""
        return len(self.rows) >= MAX_STEPS

    def then(self, action: Callable[[], None]) -> None:
        """Do something once they are written, and what was to come then is done: now, where there is nothing."""
        if self.rows or self._then:
            self._then.append(action)
        else:
            action()

    def add(self, row: StepRow, made: Storable | None) -> None:
        """Add a step, with the Note that it made as `storable` gave it."""
        self.rows.append(row)
        if made is not None:
            self.changes.append(made.change)
            self.notes.add(made)

    def written(self) -> None:
        """Forget them, since they are written."""
        self.rows, self.changes = [], []
        self.notes.clear()

    def tell(self) -> None:
        """Do what was to come once they are written, in its order: all of it, then raise what the first raised."""
        if not self._then:
            return
        actions, self._then = self._then, []
        raised: BaseException | None = None
        for action in actions:
            try:
                action()
            except BaseException as error:  # noqa: BLE001 - it is raised below, when nothing is left
                raised = raised or error
        if raised is not None:
            raise raised


def storable(change: Change, made: Note[Any]) -> Storable | None:
    """Return how a Note is made later; None where it is to be made at once.

    It shares nothing with what was handed over, which somebody may still change.
    """
    if not isinstance(change, MakeNote) or change.id != made.id or change.content is not made.content:
        return None
    if change.kept or change.evidence or change.metadata:
        return None
    try:
        text = dump(cast("JSON", made.content))
        if len(text) > MAX_CHARACTERS or text.count("[") + text.count("{") > MAX_BRACKETS:
            return None
        content = json.loads(text)
    except (Invalid, RecursionError):
        return None
    stored = replace(change, content=content, metadata={}, at=made.created)
    return Storable(stored, replace(made, content=None), text)
