"""Ends of steps that only computed: they are written together, with the next commit of their run.

Nobody but the run itself sees what such a step gave, and what is computed again comes out the same; so it needs no
commit of its own. What must hold:

- Whoever is told of a step finds it in the journal: events are held back until what stands before them is written.
- What is seen outside of the run comes after: a step that reads the space, writes, calls, waits or asks begins when all
  before it is written, and so do the run's rest and its end.
- Nothing waits while the run does: the event loop writes what is unwritten as soon as the steps let it go on, after
  some milliseconds of computing at the latest, or one long computation of Notes.
- A crash loses the last of these steps, wholly and from the end; whoever goes on with the run computes them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
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


@dataclass(slots=True)
class UnwrittenSteps:
    """Steps that have ended and are not in the journal yet, in their order."""

    rows: list[StepRow] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: dict[str, Note[Any]] = field(default_factory=dict)
    """What they made, by id, as it will be stored."""
    _then: list[Callable[[], None]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether no more are to be added."""
        return len(self.rows) >= MAX_STEPS

    def then(self, action: Callable[[], None]) -> None:
        """Do something once they are written: now, where there are none."""
        if self.rows:
            self._then.append(action)
        else:
            action()

    def add(self, row: StepRow, made: tuple[MakeNote, Note[Any]] | None) -> None:
        """Add a step, with the Note that it made as `storable` gave it."""
        self.rows.append(row)
        if made is not None:
            change, note = made
            self.changes.append(change)
            self.notes[note.id] = note

    def written(self) -> None:
        """Forget them, since they are written, and do what was to come then, in its order."""
        actions, self._then = self._then, []
        self.rows, self.changes = [], []
        self.notes.clear()
        for action in actions:
            action()


def storable(change: Change, made: Note[Any]) -> tuple[MakeNote, Note[Any]] | None:
    """Return how a Note is made later, and what it then is; None where it is to be made at once.

    It is what a store gives back: other than what was handed over, which somebody may still change.
    """
    if not isinstance(change, MakeNote) or change.id != made.id or change.content is not made.content:
        return None
    if change.kept or change.evidence or change.metadata:
        return None
    try:
        text = dump(cast("JSON", made.content))
        if len(text) > MAX_CHARACTERS:
            return None
    except Invalid:
        return None
    content = json.loads(text)
    return replace(change, content=content, at=made.created), replace(made, content=content)
