"""What happens where an operation does not take the value that it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from infospace.core.clock import today_and_now
from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.data.paths import Readable


class OperandError(Exception):
    """An operation has no result for a value: of another type, out of range, or not to be read."""


@dataclass(slots=True)
class TypeMismatches:
    """Counts what had no result; null and missing do not count. What had none is null then.

    `kinds` says what was wrong ("compares text with number"), and how often.
    """

    mismatches: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    @staticmethod
    def failing() -> TypeMismatches:
        """Return what raises Mismatch at the first operation that has no result."""
        return Refusing()

    def wrong(self, text: str, message: str, *values: JSON) -> None:
        """Note that the operation written as `text` has no result for these values."""
        del text, values
        self.mismatches += 1
        self.kinds[message] += 1

    def __str__(self) -> str:
        """Return the commonest kinds as a person reads them, "" where there are none."""
        return self._list_kinds(lambda kind, count: f"{count:,} without a result: {kind}")

    def _list_kinds(self, tell: Callable[[str, int], str]) -> str:
        kinds = self.kinds.most_common()
        messages = [tell(kind, count) for kind, count in kinds[:MOST_KINDS]]
        return ", ".join([*messages, f"and {len(kinds) - MOST_KINDS:,} more"] if len(kinds) > MOST_KINDS else messages)


@dataclass(slots=True)
class ItemMismatches(TypeMismatches):
    """Counts what had no result item by item: `kinds` says in how many of the items it was met."""

    items: int = 0
    _met: set[str] = field(default_factory=set)

    def skip(self, items: int) -> None:
        """Count items of which nothing is without a result."""
        self.items += items

    def begin(self) -> None:
        """Begin with the next item."""
        self.items += 1
        self._met.clear()

    def wrong(self, text: str, message: str, *values: JSON) -> None:
        """Note what has no result; of one item each kind counts once."""
        del text, values
        self.mismatches += 1
        if message not in self._met:
            self._met.add(message)
            self.kinds[message] += 1

    def __str__(self) -> str:
        """Return the commonest kinds as a person reads them, "" where there are none: `2 of 3 compare …`."""
        return self._list_kinds(lambda kind, count: f"{count:,} of {self.items:,} {_plural_of(kind, count)}")


MOST_KINDS = 3
"""Kinds of mismatches that are told in a text."""


def _plural_of(kind: str, count: int) -> str:
    """Return what is said of one as it is said of several."""
    verb, space, rest = kind.partition(" ")
    if count == 1:
        return kind
    return {"is": "are", "has": "have"}.get(verb, verb.removesuffix("s")) + space + rest


class Mismatch(Invalid):
    """An expression has no value, since an operation in it has none."""

    kind = "mismatch"
    item: Readable | None = None
    """The resource that the operation was about, where whoever evaluates it knows."""


@dataclass(slots=True)
class Refusing(TypeMismatches):
    """Raises Mismatch at the first operation that has no result."""

    def wrong(self, text: str, message: str, *values: JSON) -> None:
        """Say in one sentence which operation has no result for which values."""
        from infospace.schema.value_text import shown

        given = " and ".join(shown(value) for value in values)
        raise Mismatch(f"`{text}` {message}" + (f": {given}" if given else ""), hint=_hint(message, values))


def _hint(message: str, values: tuple[JSON, ...]) -> str | None:
    if message.startswith("divides by zero"):
        return "CASE WHEN … THEN … END decides before"
    if "cast" in message:
        return "TRY_CAST gives null for what cannot be cast"
    if "text" in message and "number" in message and any(isinstance(value, str) for value in values):
        return "CAST(… AS number) makes a number of a text, CAST(… AS text) a text of a number"
    return None


Clock: TypeAlias = Callable[[], tuple[str, str]]
"""Gives the present day and moment, as `today_and_now` does; always the same ones of one run."""


@dataclass(slots=True)
class Evaluation:
    """What an expression is evaluated with, beside the resource.

    A parameter that does not exist is the error that says so. `fields` are the keys that `complete(*)` asks for.
    """

    parameters: Mapping[str, JSON | PathNotFound] = field(default_factory=dict)
    tally: TypeMismatches = field(default_factory=TypeMismatches)
    clock: Clock | None = None
    fields: tuple[str, ...] = ()
    _present: tuple[str, str] | None = None

    def present(self) -> tuple[str, str]:
        """Return the day and the moment that the evaluation takes for the present: the same ones each time."""
        if self._present is None:
            self._present = (self.clock or today_and_now)()
        return self._present
