"""What an earlier part of a run left in the journal, by position: a run that goes on takes it from there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from infospace.core.json_types import JSON
from infospace.core.position import Position, holds
from infospace.core.tool import NotAllowed, NotCalled
from infospace.journal.rows import CANCELLED, CallRow, StepRow
from planner.journal.failures import TIMEOUT
from planner.journal.run_clock import START, Reading, at_begin, at_end, reading_of


def at_read(position: str, number: int | None = None) -> str:
    """Return what the versions that a form read for what it decided, or for a round, are journalled under."""
    return f"{position}@read" if number is None else f"{position}@read[{number}]"


class RecordedRun:
    """The executions, decisions, answers and calls of a run up to now."""

    def __init__(
        self,
        rows: Sequence[StepRow] = (),
        calls: Sequence[CallRow] = (),
        answers: Mapping[str, JSON] | None = None,
        before: Sequence[CallRow] = (),
    ) -> None:
        """`before` are calls of runs that it was forked from: they are known, and answer nothing here."""
        self.rows = [row for row in rows if row.status != "suspended"]
        self._answers = dict(answers or {})
        self._by_position = {row.position: row for row in self.rows}
        self._suspended = {row.position: row for row in rows if row.status == "suspended"}
        self._decisions: dict[str, Any] = {}
        self._rounds: dict[str, int] = {}
        self._branches: dict[str, str] = {}
        for row in rows:
            self._decisions |= row.frames
            self._index_position(row.position)
        self._calls: dict[tuple[str, bytes], list[CallRow]] = {}
        for call in calls:
            if not self._is_pending_wait(call.position):
                self._calls.setdefault((call.position, call.digest), []).append(call)
        self._made = {call.digest: f"{call.position} of {call.run}" for call in before if may_have_had_effect(call)}
        self._made |= {call.digest: call.position for call in calls if may_have_had_effect(call)}

    def _is_pending_wait(self, position: str) -> bool:
        """Whether a `wait` stands there that has not ended: its condition is asked anew each time."""
        row = self._suspended.get(position)
        pending = None if row is None else row.extra.get("pending")
        return isinstance(pending, Mapping) and pending.get("kind") == "wait"

    def _index_position(self, position: str) -> None:
        for part in Position.parse(position).parts:
            form = part.holder.text
            if part.block in ("body", "do"):
                self._rounds[form] = max(self._rounds.get(form, 0), part.number or 0)
            elif part.block in ("then", "else"):
                self._branches[form] = part.block

    @property
    def sequence(self) -> int:
        """The number of the last execution that was begun."""
        return max((row.sequence for row in (*self.rows, *self._suspended.values())), default=0)

    @property
    def positions(self) -> Collection[str]:
        """The positions of all executions, also of those that wait."""
        return {*self._by_position, *self._suspended}

    @property
    def executions(self) -> int:
        """How many executions ended or wait; what holds one that waits will be begun again."""
        return len(self.rows) + len(self._suspended)

    def row(self, position: str) -> StepRow | None:
        """Return the row of an execution that ended."""
        return self._by_position.get(position)

    def broken_off(self, position: str) -> bool:
        """Whether an execution, or that of which this is a part, was broken off, and did not end by itself."""
        row = self.row(position) or self.row(Position.parse(position).whole.text)
        return row is None or row.error in (TIMEOUT, CANCELLED)

    def suspended(self, position: str) -> StepRow | None:
        """Return the row of an execution that was left waiting."""
        return self._suspended.get(position)

    def decision(self, position: str) -> Any:
        """Return what a form decided, None when it is not known to have."""
        return self._decisions.get(position)

    def read(self, position: str, number: int | None = None) -> list[tuple[str, int]]:
        """Return the versions that a form read for what it decided, or for a round of this number."""
        result = self._decisions.get(at_read(position, number)) or ()
        return [(str(identifier), int(version)) for identifier, version in result]

    def stopped_inside(self, position: str) -> bool:
        """Whether a `stop` in the form at a position ended it; one in a saved plan ends that plan alone."""
        inside = (row.position for row in self.rows if row.type == "stop" and row.status == "success")
        return any(holds(position, place) and _plans_around(place) == _plans_around(position) for place in inside)

    @property
    def first_reading(self) -> Reading | None:
        """What the clock showed when the run started, None where no step tells it."""
        return reading_of(self._decisions.get(START))

    def reading(self, position: str, number: int | None = None) -> Reading | None:
        """Return what the clock showed when a step began, None where it did not.

        Of a `while` the reading under which it was decided whether a round of this number begins, of a `for-each` the
        one under which `until` was asked after an item of this number.
        """
        there = position in self._by_position or position in self._suspended or (number or 1) <= self.rounds(position)
        results = reading_of(self._decisions.get(at_begin(position, number)))
        return self.first_reading if results is None and there else results

    def reading_after(self, position: str) -> Reading | None:
        """Return what the clock showed after a `wait` or an `ask`, None where that is not known."""
        return reading_of(self._decisions.get(at_end(position)))

    def rounds(self, position: str) -> int:
        """Return how many rounds of a `while`, or items of a `for-each`, were begun."""
        return self._rounds.get(position, 0)

    def branch(self, position: str) -> str | None:
        """Return which block of an `if` was begun."""
        return self._branches.get(position)

    def answered(self, key: str) -> bool:
        """Whether something was answered: to a step, or to what else the key tells of one."""
        return key in self._answers

    def answer(self, key: str) -> JSON:
        """Return what was answered."""
        return self._answers[key]

    def has_calls(self, position: str) -> bool:
        """Whether a step called anything."""
        return any(place == position for place, _ in self._calls)

    def find_made_call(self, digest: bytes) -> str | None:
        """Return the position of a tool's call that has, or may have, had its effect, None where there is none.

        That of a call in a run which this one was forked from ends with the run: `4 of run_7`.
        """
        return self._made.get(digest)

    def call(self, position: str, digest: bytes) -> CallRow | None:
        """Take the next call that a step made with these arguments, None when it made no more."""
        calls = self._calls.get((position, digest))
        return calls.pop(0) if calls else None


def may_have_had_effect(call: CallRow) -> bool:
    """Whether a tool was reached by a call, and did not itself say that it failed."""
    if call.kind != "tool" or call.error in (NotCalled.kind, NotAllowed.kind):
        return False
    return not (isinstance(call.answer, Mapping) and call.answer.get("is_error"))


def _plans_around(position: str) -> int:
    """In how many saved plans, one in the other, a position stands."""
    return sum(part.block == "plan" for part in Position.parse(position).parts)
