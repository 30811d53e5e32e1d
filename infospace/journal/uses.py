"""What a step read: versions of resources one by one, and Notes of large Collections together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from infospace.journal.rows import Use


class Uses(Sequence[Use]):
    """What a step read, each once: some by their versions, and the Notes with these numbers at version 1.

    A step that goes over 100,000 Notes is written down without an object for each; they are made when asked for.
    """

    def __init__(self, single: Sequence[Use], numbers: Sequence[int]) -> None:
        self.single = single
        self.numbers = numbers

    @cached_property
    def _all(self) -> tuple[Use, ...]:
        return (*self.single, *(Use(f"Note_{number}", 1) for number in self.numbers))

    def __len__(self) -> int:
        return len(self.single) + len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Use: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Use]: ...
    def __getitem__(self, index: int | slice) -> Use | Sequence[Use]:
        return self._all[index]

    def __iter__(self) -> Iterator[Use]:
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        return self._all == (other._all if isinstance(other, Uses) else other)

    __hash__ = None  # type: ignore[assignment]  # as a list has none


def of_notes(single: Sequence[Use], numbers: Sequence[int]) -> Sequence[Use]:
    """Return what was read as one sequence: Notes by their numbers, at version 1, besides single versions."""
    return Uses(single, numbers) if numbers else tuple(single)


class ReadVersions:
    """Takes note of what a step reads, at the version that it reads first."""

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self._versions: dict[str, int] = dict(known or {})
        self._together: list[Sequence[int]] = []

    def add(self, identifier: str, version: int) -> None:
        """Take note of a version of a resource."""
        self._versions.setdefault(identifier, version)

    def add_notes(self, numbers: Sequence[int]) -> None:
        """Take note of Notes at version 1, by their numbers."""
        if not any(known is numbers for known in self._together):
            self._together.append(numbers)

    def update(self, other: ReadVersions) -> None:
        """Take over what was read in another part of the step."""
        for identifier, version in other._versions.items():
            self._versions[identifier] = version
        for numbers in other._together:
            self.add_notes(numbers)

    def copy(self) -> ReadVersions:
        """Return the same by itself."""
        result = ReadVersions(self._versions)
        result._together = list(self._together)
        return result

    def __bool__(self) -> bool:
        return bool(self._versions or self._together)

    def items(self) -> Iterable[tuple[str, int]]:
        """Return ids and versions, each once."""
        return [(use.id, use.version) for use in self.rows()]

    def rows(self) -> Sequence[Use]:
        """Return what was read, as a step's row has it."""
        single = [Use(identifier, version) for identifier, version in self._versions.items()]
        if not self._together:
            return single
        numbers = _each_once(self._together)
        if single:
            known = {int(use.id[5:]) for use in single if use.id.startswith("Note_")}
            if not known.isdisjoint(numbers):
                numbers = [number for number in numbers if number not in known]
        return of_notes(single, numbers)


def _each_once(together: Sequence[Sequence[int]]) -> Sequence[int]:
    """Return numbers in order, each once."""
    if len(together) == 1 and isinstance(together[0], range):
        return together[0]
    return sorted(set().union(*together))
