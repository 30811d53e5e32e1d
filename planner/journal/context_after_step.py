"""What a step gave, as it was then: read by version, however it was changed or deleted since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile

from infospace.context.context import Context
from infospace.core import clock
from infospace.core.clock import seconds
from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.core.position import holds
from infospace.core.resources import NOBODY, Resource
from infospace.journal.rows import StepRow
from infospace.space import Space
from infospace.store.protocol import Snapshot


class ContextAfterStep(Context):
    """A view of the space as it was when a step of a run had ended; without a step, when the run had.

    A version is taken to have been there if the run met it up to then; else by who made it: the run's own by their
    steps, since times tell milliseconds apart and a step may take less, others by their time. Of the very millisecond
    of the end, a version was not there yet if the run that made it began in it: who works one after the other began
    after the end.
    """

    def __init__(self, space: Space, rows: Sequence[StepRow], row: StepRow | None, ended: str | None = None) -> None:
        super().__init__(space, NOBODY, scratch=True)
        self._all = rows
        self._row = row
        self._ended = ended if row is None else clock.at(seconds(row.started) + row.duration_ms / 1000)

    def get(self, reference: str) -> Resource:
        """Return a resource as it was, by id. NotFound when that version was purged."""
        return self.resources([reference])[0]

    def resources(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return resources by id, each as it was."""
        with self.space.store.reading() as snapshot:
            try:
                items = snapshot.get_many(identifiers)
            except NotFound:
                return [snapshot.get(identifier, self._version(snapshot, identifier)) for identifier in identifiers]
            return [
                item if item.version == 1 else snapshot.get(item.id, self._version(snapshot, item.id)) for item in items
            ]

    @cached_property
    def _earlier_rows(self) -> Sequence[StepRow]:
        row = self._row
        return self._all if row is None else [one for one in self._all if _is_before(one, row)]

    @cached_property
    def _positions(self) -> set[str]:
        return {row.position for row in self._earlier_rows}

    def _version(self, snapshot: Snapshot, identifier: str) -> int:
        row = self._row
        if row is not None and identifier == row.resource and row.version is not None:
            return row.version
        met = max(self._met(identifier), default=0)
        known = snapshot.versions(identifier)
        there = list(takewhile(lambda one: one[0] <= met or self._existed(snapshot, identifier, *one), known))
        return (there or known)[-1 if there else 0][0]

    def _met(self, identifier: str) -> Iterator[int]:
        for row in self._earlier_rows:
            yield from (use.version for use in row.uses if use.id == identifier)
            if row.resource == identifier and row.version is not None:
                yield row.version

    def _existed(self, snapshot: Snapshot, identifier: str, version: int, at: str) -> bool:
        created_by = snapshot.get(identifier, version).created_by
        if not self._all or created_by.run != self._all[0].run or created_by.step is None:
            if at != self._ended:
                return self._ended is None or at < self._ended
            return created_by.run is None or not _began_at_or_after(snapshot, created_by.run, at)
        step = created_by.step
        return (
            self._row is None or step in self._positions or any(holds(position, step) for position in self._positions)
        )


def data_of(space: Space, row: StepRow, rows: Sequence[StepRow]) -> tuple[JSON, str | None]:
    """Return the full content of what a step gave, as it gave it; and why there is none, where it was purged."""
    if row.resource is None:
        return None, None
    context = ContextAfterStep(space, rows, row)
    try:
        return context.content(context.get(row.resource)), None
    except NotFound as error:
        return None, str(error)


def _began_at_or_after(snapshot: Snapshot, run: str, moment: str) -> bool:
    try:
        return snapshot.run(run).started >= moment
    except NotFound:
        return False


def _is_before(one: StepRow, row: StepRow) -> bool:
    """Whether an execution had ended when another had; what runs inside of that one began after it."""
    return one.sequence <= row.sequence or holds(row.position, one.position)
