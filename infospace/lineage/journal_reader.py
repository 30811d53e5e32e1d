"""The journal as somebody reads it who asks where things came from: each run is read once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infospace.core.errors import NotFound
from infospace.core.position import Part, Position, place_of
from infospace.core.resources import CreatedBy
from infospace.journal.rows import RunRow, StepRow, Use

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot


@dataclass(frozen=True, slots=True)
class _Steps:
    by_position: dict[str, list[StepRow]] = field(default_factory=dict)
    bound: dict[str, list[tuple[int, str]]] = field(default_factory=dict)


class JournalReader:
    """Runs and steps of a snapshot. A run that is not there was pruned."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.runs: dict[str, RunRow | None] = {}
        self._steps: dict[str, _Steps] = {}

    def run(self, identifier: str) -> RunRow | None:
        """Return a run, None when it was pruned."""
        if identifier not in self.runs:
            try:
                self.runs[identifier] = self._snapshot.run(identifier)
            except NotFound:
                self.runs[identifier] = None
        return self.runs[identifier]

    def step(self, created_by: CreatedBy, of: Use | None = None) -> StepRow | None:
        """Return the step that made something, of a part of a step the whole; None where no step is known.

        Of several at one position that which gave `of`, else the last.
        """
        if created_by.run is None or created_by.step is None:
            return None
        known = self._of(created_by.run).by_position
        rows = next((known[place] for place in _places(created_by.step) if place in known), None)
        if rows is None:
            return None
        return next((row for row in rows if of is not None and row.resource == of.id), rows[-1])

    def at(self, run: str, sequence: int) -> StepRow | None:
        """Return a step by its sequence."""
        rows = (row for rows in self._of(run).by_position.values() for row in rows)
        return next((row for row in rows if row.sequence == sequence), None)

    def variable(self, run: str, identifier: str, before: int) -> str | None:
        """Return the variable that a resource was bound to last before a step: an earlier step's `out`, or an input."""
        bound = [name for sequence, name in self._of(run).bound.get(identifier, ()) if sequence < before]
        if bound:
            return bound[-1]
        row = self.run(run)
        return next((name for name, text in row.inputs.items() if text == identifier), None) if row else None

    def last_bound(self, run: str, name: str) -> StepRow | None:
        """Return the last step that bound a variable well."""
        rows = (row for rows in self._of(run).by_position.values() for row in rows)
        results = [row for row in rows if row.out == name and row.resource is not None]
        return max(results, key=lambda row: row.sequence, default=None)

    def _of(self, run: str) -> _Steps:
        if run not in self._steps:
            steps = _Steps()
            for row in self._snapshot.steps(run) if self.run(run) is not None else ():
                steps.by_position.setdefault(row.position, []).append(row)
                if row.out is not None and row.resource is not None:
                    steps.bound.setdefault(row.resource, []).append((row.sequence, row.out))
            self._steps[run] = steps
        return self._steps[run]


def _places(step: str) -> Iterator[str]:
    """The position under which something was made, and those of the item and of the step of which that is a part."""
    yield step
    place = place_of(step)
    if isinstance(place, Part) and place.block == "on_fail":
        place = place.failed
        yield place.text
    if isinstance(place, Position) and place.item is not None:
        yield place.whole.text
