"""The form `wait`: for some seconds, or until a condition holds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from infospace.context.context import Context
from infospace.context.invoke import Outcome
from infospace.core.clock import later, now, seconds_until
from infospace.core.errors import Invalid
from infospace.journal.rows import StepRow
from planner.execute.arguments import Resolver
from planner.execute.conditions import ConditionEvaluator
from planner.journal.suspension import Pending, Suspension
from planner.language.plan import Wait, no_wait

if TYPE_CHECKING:
    from planner.execute.run import Run

LONGEST_SLEEP = 60
"""Seconds that a `wait` just sleeps; a longer one suspends the run."""


async def run_wait(
    run: Run, context: Context, resolver: Resolver, form: Wait, position: str, expect: str | None
) -> Outcome:
    """Wait, and say what for. Raises Suspension where that takes long, or the run is halted meanwhile."""
    if form.condition is not None:
        if await ConditionEvaluator(context, resolver).evaluate(form.condition):
            return Outcome("success", value="its condition holds")
        raise Suspension([Pending(position, "wait", expect or "its condition does not hold yet")])
    seconds = seconds_to_wait(form, resolver)
    until = _until(seconds, None if run.record is None else run.record.suspended(position))
    if run.replayed is not None or until <= now():
        return Outcome("success", value=f"{seconds:g} s")
    if seconds <= LONGEST_SLEEP:
        with suppress(TimeoutError):
            await asyncio.wait_for(run.halt.requested.wait(), seconds_until(until))
        if not run.halt.now:
            return Outcome("success", value=f"{seconds:g} s")
    raise Suspension([Pending(position, "wait", f"until {until[:19].replace('T', ' ')} UTC", until=until)])


def seconds_to_wait(form: Wait, resolver: Resolver) -> float:
    """Return for how long to wait. Raises Invalid for what is no such number, and what resolving raises."""
    seconds = resolver.value(form.seconds)
    fault = no_wait(seconds)
    if fault is not None or not isinstance(seconds, (int, float)):
        raise Invalid(f"unchecked: {fault}")
    return seconds


def _until(seconds: float, waiting: StepRow | None) -> str:
    """Return the end of a wait, which began when the step was first reached."""
    pending = None if waiting is None else waiting.extra.get("pending")
    if isinstance(pending, Mapping) and isinstance(pending.get("until"), str):
        return str(pending["until"])
    return later(seconds)
