"""Two runs of one plan, and the ids in which they differ: what the one made, and what the other made in its place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from infospace.core.errors import ReplayInterrupted
from infospace.core.ids import ID_IN_TEXT, kind_of, number_of
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy
from infospace.journal.origin import Product
from infospace.journal.rows import CallRow

Rename: TypeAlias = Callable[[str], str]
"""From a text to the same with other ids in it."""


class IdMapping:
    """The ids that a run gives out, and those of an earlier run.

    Of the same kind, at the same step, the first is the counterpart of the first, and so on.
    """

    def __init__(self, products: Iterable[Product]) -> None:
        self._then: dict[tuple[str, str], list[str]] = {}
        for one in sorted((product for product in products if product.of.version == 1), key=_by_number):
            self._then.setdefault((one.created_by.step or "", kind_of(one.of.id)), []).append(one.of.id)
        self._count: dict[tuple[str, str], int] = {}
        self._earlier: dict[str, str] = {}
        self._later: dict[str, str] = {}

    def record_new_id(self, identifier: str, created_by: CreatedBy) -> None:
        """Take note of an id that the later run gives out."""
        place = (created_by.step or "", kind_of(identifier))
        count = self._count.get(place, 0)
        self._count[place] = count + 1
        there = self._then.get(place, ())
        if count < len(there):
            self._earlier[identifier] = there[count]
            self._later[there[count]] = identifier

    def restart_step(self, created_by: CreatedBy) -> None:
        """Count from the first again at a step: what was made there so far is dropped."""
        for place in [place for place in self._count if place[0] == (created_by.step or "")]:
            del self._count[place]

    def earlier(self, text: str) -> str:
        """Return a text of the later run as the earlier one had it."""
        return _renamed(text, self._earlier)

    def later(self, text: str) -> str:
        """Return a text of the earlier run as it is for the later one."""
        return _renamed(text, self._later)


@dataclass(frozen=True, slots=True)
class ReplaySource:
    """The run that is replayed, as far as it called what is outside."""

    calls: Sequence[CallRow]
    ids: IdMapping
    broken_off: Callable[[str], bool]
    """Whether a step, by its position, was broken off, rather than that it ended by itself."""
    only: bool
    """Whether nothing is called of which there is no record."""

    async def replay_interruption(self, position: str) -> None:
        """Do what a call of a step did that was under way when it was broken off.

        Raises ReplayInterrupted where its whole step was; else it was for something beside it in the step.
        """
        if self.broken_off(position):
            raise ReplayInterrupted
        await asyncio.Event().wait()


def rename_ids(value: JSON, rename: Rename) -> JSON:
    """Return a JSON value with all its texts renamed, keys too."""
    match value:
        case str():
            return rename(value)
        case Mapping():
            return {rename(key): rename_ids(inner, rename) for key, inner in value.items()}
        case list() | tuple():
            return [rename_ids(inner, rename) for inner in value]
    return value


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return ID_IN_TEXT.sub(lambda found: names.get(found[0], found[0]), text) if names else text


def _by_number(product: Product) -> int:
    return number_of(product.of.id)
