"""Comparing two runs: which steps, and which notes came and went.

Two runs are the same when they had the same steps, with the same arguments, inputs, outcomes and status. Times do not
count, and ids of what a run made itself count only by the step and the order of making: what a run made is compared by
content, everything else by identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Literal, TypeAlias

from infospace.core.json_types import JSON
from infospace.core.resources import Collection
from infospace.journal.rows import RunRow, StepRow
from infospace.store.protocol import Snapshot
from planner.inspect.diff_side import Item, RunView, result_of
from planner.parse.positions import written_step

Change: TypeAlias = Literal["type", "out", "arguments", "inputs", "status", "reason", "outcome"]

_APART = ("out", "expect", "id", "then", "else", "body", "do", "branches", "on_fail")
"""Fields of a step that are no arguments, or steps of their own."""


@dataclass(frozen=True, slots=True)
class SetDiff:
    """What came into a Collection and what went, by identity, and whether what stayed is in another order."""

    came: tuple[Item, ...]
    went: tuple[Item, ...]
    reordered: bool

    def mirrored(self) -> SetDiff:
        """Return the difference the other way round."""
        return SetDiff(self.went, self.came, self.reordered)


@dataclass(frozen=True, slots=True)
class ContentDiff:
    """Two contents, two objects of metadata, or two kinds; None where there was nothing."""

    before: JSON
    after: JSON
    what: Literal["content", "metadata", "kind"] = "content"

    def mirrored(self) -> ContentDiff:
        """Return the difference the other way round."""
        return ContentDiff(self.after, self.before, self.what)


Outcome: TypeAlias = SetDiff | ContentDiff


@dataclass(frozen=True, slots=True)
class StepDifference:
    """A step that differs, or that only one of the runs had."""

    position: str
    before: StepRow | None
    after: StepRow | None
    changes: tuple[Change, ...] = ()
    outcome: Outcome | None = None

    def mirrored(self) -> StepDifference:
        """Return the difference the other way round."""
        outcome = None if self.outcome is None else self.outcome.mirrored()
        return replace(self, before=self.after, after=self.before, outcome=outcome)


@dataclass(frozen=True, slots=True)
class Difference:
    """What is different in a second run from a first. `alike` counts the steps that are the same in both."""

    before: RunRow
    after: RunRow
    steps: tuple[StepDifference, ...]
    alike: int
    inputs: tuple[tuple[str, Outcome], ...]
    result: Outcome | None
    ended: bool
    """Whether they ended otherwise: in status, or for another reason."""
    lost: tuple[str, ...] = ()
    """Positions of steps that both had, of which nothing is said of the outcome: what one of them gave was removed."""

    @property
    def same(self) -> bool:
        """Whether nothing that counts is different."""
        return not (self.steps or self.inputs or self.result or self.ended)

    @property
    def replanned(self) -> bool:
        """Whether the documents are different, even if only in what does not count."""
        return self.before.document != self.after.document

    def mirrored(self) -> Difference:
        """Return the difference the other way round."""
        return replace(
            self,
            before=self.after,
            after=self.before,
            steps=tuple(step.mirrored() for step in self.steps),
            inputs=tuple((name, outcome.mirrored()) for name, outcome in self.inputs),
            result=None if self.result is None else self.result.mirrored(),
        )


def diff(
    snapshot: Snapshot,
    before: str,
    after: str,
    *,
    same_inputs: bool = False,
    restored: Mapping[str, Mapping[int, int]] | None = None,
) -> Difference:
    """Compare two runs. Raises NotFound for a run that is not there.

    With `same_inputs` the second was given the very resources that the first made of its inputs, as a replay is.
    `restored` says of resources which of their versions were made for the second, and like which earlier ones.
    """
    one, other = RunView(snapshot, before), RunView(snapshot, after)
    if same_inputs:
        other.take_inputs_of(one)
    other.take_restored(restored or {})
    return _Comparison(one, other).compare()


def pair_steps(
    before: Sequence[StepRow], after: Sequence[StepRow]
) -> Iterator[tuple[str, StepRow | None, StepRow | None]]:
    """Give the executions of two runs at the same positions, in the order of the plans; several at one in theirs."""
    first, second = _by_position(before), _by_position(after)
    for place in sorted(first.keys() | second.keys(), key=_natural):
        yield from ((place, *pair) for pair in zip_longest(first.get(place, ()), second.get(place, ())))


def _by_position(rows: Sequence[StepRow]) -> dict[str, list[StepRow]]:
    results: dict[str, list[StepRow]] = {}
    for row in rows:
        results.setdefault(row.position, []).append(row)
    return results


def duration_ms(run: RunRow) -> float | None:
    """Return how long a run took, 0 at least though the clock was set meanwhile; None while it has not ended."""
    if run.ended is None:
        return None
    took = datetime.fromisoformat(run.ended) - datetime.fromisoformat(run.started)
    return max(0.0, round(took.total_seconds() * 1000, 3))


class _Comparison:
    def __init__(self, before: RunView, after: RunView) -> None:
        self._before = before
        self._after = after

    def compare(self) -> Difference:
        one, other = self._before, self._after
        pairs = list(pair_steps(one.steps, other.steps))
        steps = [result for place, first, second in pairs if (result := self._step(place, first, second)) is not None]
        has_ended = (one.run.status, one.masked(one.run.reason)) != (other.run.status, other.masked(other.run.reason))
        return Difference(
            before=one.run,
            after=other.run,
            steps=tuple(steps),
            alike=len(pairs) - len(steps),
            inputs=tuple(self._inputs()),
            result=self._outcome(_last(one, one.run.result), _last(other, other.run.result)),
            ended=has_ended,
            lost=tuple(
                place for place, first, second in pairs if first and second and self._was_removed(first, second)
            ),
        )

    def _step(self, position: str, first: StepRow | None, second: StepRow | None) -> StepDifference | None:
        if first is None or second is None:
            return StepDifference(position, first, second)
        outcome = self._outcome(result_of(first), result_of(second))
        changes: list[Change] = []
        if first.type != second.type:
            changes.append("type")
        if first.out != second.out:
            changes.append("out")
        changes += self._read(first, second)
        if (first.status, first.error) != (second.status, second.error):
            changes.append("status")
        elif self._before.masked(first.reason) != self._after.masked(second.reason):
            changes.append("reason")
        if outcome is not None:
            changes.append("outcome")
        return StepDifference(position, first, second, tuple(changes), outcome) if changes else None

    def _was_removed(self, first: StepRow, second: StepRow) -> bool:
        """Whether something that a step gave was removed for good, where it would have to be looked at."""
        one, other = result_of(first), result_of(second)
        sides = ((self._before, one), (self._after, other))
        return one != other and any(version is not None and side.get(*version) is None for side, version in sides)

    def _read(self, first: StepRow, second: StepRow) -> Iterator[Change]:
        """Whether the arguments as written, and what was read for them, are different."""
        if first.digest is not None and first.digest == second.digest:
            return
        one, other = (arguments_of(side.run, row) for side, row in ((self._before, first), (self._after, second)))
        read = [side.read(row) for side, row in ((self._before, first), (self._after, second))]
        if one is not None and other is not None:
            written = one != other
        else:
            own = any(side.read_own_results(row) for side, row in ((self._before, first), (self._after, second)))
            written = first.digest != second.digest and read[0] == read[1] and not own
        if written:
            yield "arguments"
        if read[0] != read[1]:
            yield "inputs"

    def _inputs(self) -> Iterator[tuple[str, Outcome]]:
        one, other = self._before, self._after
        for name in sorted(one.run.inputs.keys() | other.run.inputs.keys()):
            outcome = self._outcome(_last(one, one.run.inputs.get(name)), _last(other, other.run.inputs.get(name)))
            if outcome is not None:
                yield name, outcome

    def _outcome(self, first: tuple[str, int] | None, second: tuple[str, int] | None) -> Outcome | None:
        """What is different between two versions of resources; None for nothing, or where one is lost."""
        if first == second:
            return None
        one = None if first is None else self._before.get(*first)
        other = None if second is None else self._after.get(*second)
        if (one is None and first is not None) or (other is None and second is not None):
            return None
        if one is None or other is None or one.kind != other.kind:
            first_kind, second_kind = (None if result is None else str(result.kind) for result in (one, other))
            return ContentDiff(first_kind, second_kind, "kind")
        result: Outcome | None
        if isinstance(one, Collection) and isinstance(other, Collection):
            result = self._sets(self._before.members(one), self._after.members(other))
        else:
            result = self._contents(self._before.value(one), self._after.value(other))
        return result or self._contents(dict(one.metadata), dict(other.metadata), "metadata")

    def _contents(self, one: JSON, other: JSON, what: Literal["content", "metadata"] = "content") -> ContentDiff | None:
        same = self._before.fingerprint(one) == self._after.fingerprint(other)
        return None if same else ContentDiff(one, other, what)

    def _sets(self, first: list[Item], second: list[Item]) -> SetDiff | None:
        went, stayed = _without(first, second)
        came, stayed_after = _without(second, first)
        reordered = [item.key for item in stayed] != [item.key for item in stayed_after]
        if not (came or went or reordered):
            return None
        return SetDiff(tuple(self._after.titled(came)), tuple(self._before.titled(went)), reordered)


def _without(some: list[Item], others: list[Item]) -> tuple[list[Item], list[Item]]:
    """Return those that others have not, one for one, and those that they have."""
    left: dict[str, int] = {}
    for item in others:
        left[item.key] = left.get(item.key, 0) + 1
    alone, shared = [], []
    for item in some:
        if left.get(item.key, 0):
            left[item.key] -= 1
            shared.append(item)
        else:
            alone.append(item)
    return alone, shared


def arguments_of(run: RunRow, row: StepRow) -> dict[str, JSON] | None:
    """Return the arguments of a step as they are written in its plan, None where it is not in it."""
    raw = written_step(run, row.position)
    return None if raw is None else {key: value for key, value in raw.items() if key not in _APART}


def _last(side: RunView, identifier: str | None) -> tuple[str, int] | None:
    return None if identifier is None else (identifier, side.version(identifier))


def _natural(position: str) -> list[tuple[bool, int, str]]:
    """Order positions as people count: 10 after 9, what stands in a step after it."""
    parts = re.findall(r"\d+|\D+", position)
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
