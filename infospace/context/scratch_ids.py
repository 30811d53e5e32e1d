"""Ids of what a step makes that is never kept, such as that of a preview."""

from __future__ import annotations

from infospace.core.ids import Kind


class ScratchIds:
    """Ids for what is made and never kept, above every id that a store gives."""

    def __init__(self) -> None:
        self._next = 900_000_000_000_000_000

    def new_id(self, kind: Kind) -> str:
        """Return an id that nothing has."""
        self._next += 1
        return f"{kind}_{self._next}"

    def new_numbers(self, count: int) -> int:
        """Return the first of so many numbers that nothing has, which follow each other."""
        first = self._next + 1
        self._next += count
        return first


SCRATCH_IDS = ScratchIds()
