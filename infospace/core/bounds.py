"""How much one step may make, and how long it may go on. Computing code asks here, since nothing can interrupt it.

Everything here is a few instructions where nothing is wrong: it is called for every Note that is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TypeVar

from infospace.core.errors import BudgetExceeded
from infospace.core.json_types import JSON

T = TypeVar("T")

OFTEN = 256
"""Items between two looks at the clock."""
MOST_ITEMS = 1_000_000
MOST_CHARACTERS = 100_000_000


class OutOfTime(BaseException):
    """What computes has to end: its time is over, or whoever wanted it stopped it.

    No `Exception`, like the cancellation that it stands for: nothing that handles failures takes it for one.
    """


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one step may make at most."""

    items: int = MOST_ITEMS
    """Notes and other resources made, and members of one Collection made."""
    characters: int = MOST_CHARACTERS
    """Characters of the texts and other content made; of a number or the like, what JSON needs for it, about."""


class Room:
    """What is left of the bounds of one step, shared by all of its parts."""

    __slots__ = ("_bounds", "_characters", "_items")

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._items = bounds.items
        self._characters = bounds.characters

    @property
    def items(self) -> int:
        """How many items may still be made."""
        return self._items

    def consume(self, items: int = 0, characters: int = 0) -> None:
        """Take room for what is made. Raises BudgetExceeded where there is not enough, and nothing is taken."""
        if items > self._items or characters > self._characters:
            self.require_room(items, characters)
        self._items -= items
        self._characters -= characters

    def require_room(self, items: int = 0, characters: int = 0) -> None:
        """Raise BudgetExceeded where there is no room for so much: asked before it is made."""
        if items > self._items:
            raise _too_much(self._bounds.items, self._bounds.items - self._items + items, "items")
        if characters > self._characters:
            needed = self._bounds.characters - self._characters + characters
            raise _too_much(self._bounds.characters, needed, "characters")

    def require_members_fit(self, members: int) -> None:
        """Raise BudgetExceeded where a Collection may not have so many."""
        if members > self._bounds.items:
            raise _too_much(self._bounds.items, members, "items")


def _too_much(bound: int, needed: int, what: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"the budget of {bound:,} {what} that one step may make is too small: it would make {needed:,} or more",
        hint=f'"budget": {{"{what}": {needed}}} allows it, where the server does; or make less at once',
    )


class Stop:
    """Set from any thread, it ends what computes."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = False


_END: ContextVar[float] = ContextVar("end", default=inf)
_STOP: ContextVar[Stop | None] = ContextVar("stop", default=None)
_MOST: ContextVar[Bounds | None] = ContextVar("most", default=None)


def check_time() -> None:
    """Raise OutOfTime where what runs here has no time left, or was stopped."""
    if monotonic() > _END.get():
        raise OutOfTime
    stop = _STOP.get()
    if stop is not None and stop.now:
        raise OutOfTime


def seconds_left() -> float:
    """Return how long what runs here may go on; infinite where nobody said so."""
    return _END.get() - monotonic()


@contextmanager
def ending(end: float | None) -> Iterator[None]:
    """Let what is done inside end at a time of the monotonic clock, or before where it had to anyway."""
    if end is None or end >= _END.get():
        yield
        return
    token = _END.set(end)
    try:
        yield
    finally:
        _END.reset(token)


@contextmanager
def unhurried() -> Iterator[None]:
    """Let what is done inside come to its end, though the time of whoever does it is over, or somebody stops it."""
    end, stop = _END.set(inf), _STOP.set(None)
    try:
        yield
    finally:
        _STOP.reset(stop)
        _END.reset(end)


def stopped_by(stop: Stop) -> None:
    """Let all that this context does from now on be ended by that."""
    _STOP.set(stop)


@contextmanager
def at_most(bounds: Bounds | None) -> Iterator[None]:
    """Limit the bounds of all runs that begin inside this block."""
    token = _MOST.set(bounds)
    try:
        yield
    finally:
        _MOST.reset(token)


def bounded(items: int, characters: int) -> Bounds:
    """Return what a step may make, where its plan allows so much: no more than whoever runs the plan does."""
    most = _MOST.get()
    if most is None:
        return Bounds(items, characters)
    return Bounds(min(items, most.items), min(characters, most.characters))


def timed(items: Iterable[T]) -> Iterator[T]:
    """Iterate, and look at the clock now and then. Raises OutOfTime."""
    for count, item in enumerate(items):
        if not count % OFTEN:
            check_time()
        yield item


def timed_if_many(items: Sequence[T]) -> Iterable[T]:
    """Iterate as `timed` does over many items; few are gone through whatever the time is, as an end is journalled."""
    return timed(items) if len(items) > OFTEN else items


class Timed(list[T]):
    """A list whose iteration looks at the clock now and then, so that whoever goes through it ends in time."""

    __slots__ = ()

    def __iter__(self) -> Iterator[T]:
        """Iterate over the items. Raises OutOfTime where the time of the step or run is over."""
        return timed(super().__iter__()) if len(self) > OFTEN else super().__iter__()


_SHORT = frozenset({int, float, bool, type(None)})
"""Types of values that count as eight characters."""


def characters_of(value: JSON) -> int:
    """Count the characters that JSON needs for a value, without its escapes, about. Raises OutOfTime."""
    if isinstance(value, str):
        return len(value)
    if value is None or isinstance(value, (int, float)):
        return 8
    if isinstance(value, (dict, Mapping)):
        total = 2 + 4 * len(value)
        for key, item in value.items():
            total += len(key) + (len(item) if type(item) is str else characters_of(item))
        return total
    if isinstance(value, (list, tuple)):
        return 2 + sum(1 + characters_of(item) for item in timed_if_many(value))
    return 8


def measure(values: Sequence[JSON]) -> tuple[int, bool]:
    """Return the sum of `characters_of` many values, and whether all in them is of JSON's own types and no other.

    Those are `dict` with keys that are `str`, `list`, `str`, `int`, `float`, `bool` and None. Raises OutOfTime.
    """
    try:
        return sum(map(_exact_characters, timed(values))), True
    except _OtherType:
        return sum(map(characters_of, timed(values))), False


def measure_table(rows: Sequence[JSON]) -> tuple[int, bool]:
    """Do as `measure` for rows of a table: the names of the columns count once, as in the file that they come from."""
    characters, plain = measure(rows)
    first = rows[0] if rows and isinstance(rows[0], dict) else None
    if first is None:
        return characters, plain
    names = first.keys()
    frame = 2 + 4 * len(first) + sum(map(len, names))
    alike = sum(isinstance(row, dict) and row.keys() == names for row in timed(rows))
    return characters - frame * (alike - 1), plain


class _OtherType(Exception):
    """A value is of another type than those that are read from JSON."""


def _exact_characters(value: JSON) -> int:
    kind: type = type(value)
    if kind is dict:
        total = 2 + 4 * len(value)  # type: ignore[arg-type]  # its type is looked at, here and below
        for key, item in value.items():  # type: ignore[union-attr]
            if type(key) is not str:
                raise _OtherType
            kind = type(item)
            if kind is str:
                total += len(key) + len(item)  # type: ignore[arg-type]
            elif kind in _SHORT:
                total += len(key) + 8
            else:
                total += len(key) + _exact_characters(item)
        return total
    if kind is str:
        return len(value)  # type: ignore[arg-type]
    if kind in _SHORT:
        return 8
    if kind is list:
        items: Iterable[JSON] = timed_if_many(value)  # type: ignore[arg-type]
        return 2 + sum(1 + _exact_characters(item) for item in items)
    raise _OtherType
