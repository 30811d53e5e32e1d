"""The clock of a run: what `today()` and `now()` are in it.

It is read when the run starts, after each `wait` and `ask`, when the run is resumed, and at each call of a session;
between two readings it stands, so that no two steps of a stretch differ. What was read is journalled with the steps.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from infospace.core.clock import today_and_now
from planner.journal.commit_order import ControlDecision

Reading: TypeAlias = tuple[str, str]
"""A day of the machine's time zone, and a moment in UTC, as `today_and_now` gives them."""

START = "@clock"
"""What a run's first reading is journalled under."""


def at_begin(position: str, number: int | None = None) -> str:
    """Return what the reading under which a step began, or a round was decided, is journalled under."""
    return f"{position}@clock" if number is None else f"{position}@clock[{number}]"


def at_end(position: str) -> str:
    """Return what the reading that was made after a `wait` or an `ask` is journalled under."""
    return f"{position}@clock.after"


def reading_of(decided: Any) -> Reading | None:
    """Return a reading as the journal has it, None for what is none."""
    return (str(decided[0]), str(decided[1])) if isinstance(decided, list) and len(decided) == 2 else None


class RunClock:
    """The clock of one course of steps. The branches of a `parallel` have one each, since each waits for itself."""

    __slots__ = ("_reading",)

    def __init__(self, reading: Reading | None = None) -> None:
        """Without a reading it is read when it is first looked at."""
        self._reading = reading

    @property
    def reading(self) -> Reading:
        """The pair of `today()` and `now()` that it shows."""
        if self._reading is None:
            self._reading = today_and_now()
        return self._reading

    def set(self, reading: Reading) -> None:
        """Let it show a reading from now on."""
        self._reading = reading

    def advance(self) -> Reading:
        """Read the time; return what it shows from now on."""
        self._reading = today_and_now()
        return self._reading

    def branch(self) -> RunClock:
        """Return a clock of its own for steps that run beside others: it shows the same until it is read again."""
        return RunClock(self.reading)

    def join(self, branches: list[RunClock]) -> None:
        """Show the latest of what the clocks of branches show, which have all ended."""
        self._reading = max(
            (self.reading, *(run_clock.reading for run_clock in branches)), key=lambda reading: reading[1]
        )


def decision_of(key: str, reading: Reading) -> ControlDecision:
    """Return what is journalled of a reading."""
    return ControlDecision(key, list(reading))
