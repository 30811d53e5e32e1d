"""Guards of the loop that reaches a goal: what it may spend, and when it goes round in a circle.

Each says in one sentence why the run ends, and what was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from infospace.core.errors import BudgetExceeded, NotFound
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.data.json_text import dump
from infospace.data.result import truncate
from infospace.journal.rows import StepRow
from infospace.space import Space
from planner.execute.start import check_plan
from planner.goals.effects import effects_of
from planner.goals.turns import Turn, same_text

MAX_REPLANS = 2
"""How often the rest of a whole plan is written anew after a step failed."""
MAX_IDLE = 3
"""Turns in a row that may give no new value."""
REASON = 200
"""Characters of a step's failure that a sentence quotes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reaching one goal may spend: plans or steps that the model writes, tokens, seconds, calls of tools.

    Times of waiting for a person do not count as seconds.
    """

    turns: int = 20
    tokens: int = 200_000
    seconds: float = 1_800
    calls: int = 100

    def budget(self) -> dict[str, JSON]:
        """Return what the run itself keeps to, as the head of a session has it."""
        return {"tokens": self.tokens, "seconds": self.seconds, "tool_calls": self.calls}


def repeats_failure(turns: Sequence[Turn], *, steps: bool) -> str | None:
    """Say that what was written in the last turn is what failed before, None where it is not.

    One step may be tried again once another step has given something since.
    """
    text, what = same_text(turns[-1].document), "step" if steps else "plan"
    for turn in reversed(turns[:-1]):
        failure = turn.failure
        if failure is not None and same_text(turn.document) == text:
            return _sentence(
                f"the model proposed the same {what} again that had failed at step {failure.position}"
                f"{_in_run(failure, turns[-1].run)} ({failure.type}): {_reason(failure)}",
                turns,
            )
        if steps and turn.was_run and failure is None:
            return None
    return None


def stops(space: Space, turns: Sequence[Turn], limits: Limits, *, steps: bool) -> str | None:
    """Say why the model is not asked for another plan, None where it is."""
    last = turns[-1].failure if turns else None
    if last is not None and last.error == BudgetExceeded.kind:
        return _sentence(_reason(last), turns)
    if last is not None and (earlier := _same_failure(turns)) is not None:
        return _sentence(
            f"step {earlier.position}{_in_run(earlier, last.run)} and step {last.position} ({last.type}) failed alike:"
            f" {_reason(last)}",
            turns,
        )
    if last is not None and not steps and len(turns) > MAX_REPLANS:
        return _sentence(f"{_reason(last)}; the rest of a plan is written again at most {MAX_REPLANS} times", turns)
    if len(turns) >= limits.turns:
        return _sentence(f"the budget of {pluralize(limits.turns, 'turn')} is spent", turns)
    if idle_turns(space, turns) >= MAX_IDLE:
        return _sentence(f"{MAX_IDLE} turns in a row gave no new value", turns)
    return None


def tried(turns: Sequence[Turn]) -> str:
    """Say in a few words what was tried."""
    run = [turn for turn in turns if turn.was_run]
    failed = [turn.failure for turn in run if turn.failure is not None]
    count = sum(turn.document is not None for turn in turns)
    parts = [f"{count} plan{'s' * (count != 1)} written", f"{len(run)} run"]
    if failed:
        listed = ", ".join(dict.fromkeys(f"{row.position} {row.type}" for row in failed[-3:]))
        parts.append(f"{len(failed)} failed (last: {listed})")
    return ", ".join(parts)


def _in_run(row: StepRow, run: str) -> str:
    """Name the run of a step, where it is another one than `run`: that which this was forked from."""
    return "" if row.run == run else f" of {row.run}"


def _sentence(why: str, turns: Sequence[Turn]) -> str:
    return f"{why}; tried: {tried(turns)}"


def _reason(row: StepRow) -> str:
    return truncate(row.reason or "no reason was given", REASON)


def _same_failure(turns: Sequence[Turn]) -> StepRow | None:
    """Return an earlier failure of the step on which the last turn ended, as it is written, for the same reason."""
    last, line = turns[-1].failure, turns[-1].failed_line()
    for turn in turns[:-1]:
        failure = turn.failure
        if failure is None or last is None or failure.reason != last.reason:
            continue
        if same_text(turn.failed_line()) == same_text(line):
            return failure
    return None


def idle_turns(space: Space, turns: Sequence[Turn]) -> int:
    """Return how many of the last turns gave no value that an earlier one had not given.

    What writes, or calls what may change something, counts as new where it is another step than before, whatever it
    answers.
    """
    seen: set[bytes] = set()
    idle = 0
    for turn in turns:
        if not turn.was_run:
            continue
        values = set(_values(space, turn))
        idle = 0 if values - seen else idle + 1
        seen |= values
    return idle


def _values(space: Space, turn: Turn) -> list[bytes]:
    results = [_digest(_content(space, row)) for row in turn.rows if row.status == "success" and row.resource]
    effects = effects_of(check_plan(space, turn.document)[0], space.catalogue)
    changes = any(effect.kind == "writes" or (effect.kind == "calls" and not effect.read_only) for effect in effects)
    if changes and turn.failure is None:
        results.append(_digest(same_text(turn.document)))
    return results


def _content(space: Space, row: StepRow) -> JSON:
    context = space.context()
    try:
        return context.content(context.get(row.resource or ""))
    except NotFound:
        return row.value


def _digest(value: JSON) -> bytes:
    return sha256(dump(value).encode("utf-8", "surrogatepass")).digest()


def left_of(limits: Limits, turns: int, tokens: int, calls: int) -> dict[str, JSON]:
    """Return what is left of the limits, for the model. Seconds are not told: the same prompt is the same question."""
    return {
        "turns": max(0, limits.turns - turns),
        "tokens": max(0, limits.tokens - tokens),
        "calls": max(0, limits.calls - calls),
    }
