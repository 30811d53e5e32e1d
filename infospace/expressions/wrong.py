"""What happens where an operation does not take the value that it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from infospace.core.clock import today_and_now
from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON


class Wrong(Exception):
    """An operation has no result for a value: of another type, out of range, or not to be read."""


@dataclass(slots=True)
class TypeMismatches:
    """Counts what had no result; null and missing do not count. What had none is null then.

    `kinds` says what was wrong ("compares text with number"), and how often.
    """

    mismatches: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def wrong(self, text: str, message: str, *values: JSON) -> None:
        """Note that the operation written as `text` has no result for these values."""
        del text, values
        self.mismatches += 1
        self.kinds[message] += 1


class Mismatch(Invalid):
    """An expression has no value, since an operation in it has none."""

    kind = "mismatch"


@dataclass(slots=True)
class Refusing(TypeMismatches):
    """Raises Mismatch at the first operation that has no result."""

    def wrong(self, text: str, message: str, *values: JSON) -> None:
        """Say in one sentence which operation has no result for which values."""
        from infospace.schema.words import shown

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
