"""The form `wait`: for some seconds, or until a condition holds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from infospace.clock import later, now, seconds_until
from infospace.errors import Invalid
from infospace.perform import Outcome
from infospace.runs.journal import StepRow
from infospace.view import Infospace
from planner.decide import Judge
from planner.plan import Wait, no_wait
from planner.resolve import Resolver
from planner.suspending import Pending, Suspension

if TYPE_CHECKING:
    from planner.run import Run

LONGEST_SLEEP = 60
"""Seconds that a `wait` just sleeps; a longer one suspends the run."""


async def waited(
    run: Run, view: Infospace, resolver: Resolver, form: Wait, position: str, expect: str | None
) -> Outcome:
    """Wait, and say what for. Raises Suspension where that takes long, or the run is halted meanwhile."""
    if form.condition is not None:
        if await Judge(view, resolver).holds(form.condition):
            return Outcome("success", value="its condition holds")
        raise Suspension([Pending(position, "wait", expect or "its condition does not hold yet")])
    seconds = resolver.value(form.seconds)
    fault = no_wait(seconds)
    if fault is not None or not isinstance(seconds, (int, float)):
        raise Invalid(f"unchecked: {fault}")
    until = _until(seconds, None if run.record is None else run.record.suspended(position))
    if run.replayed is not None or until <= now():
        return Outcome("success", value=f"{seconds:g} s")
    if seconds <= LONGEST_SLEEP:
        with suppress(TimeoutError):
            await asyncio.wait_for(run.halt.heard.wait(), seconds_until(until))
        if not run.halt.now:
            return Outcome("success", value=f"{seconds:g} s")
    raise Suspension([Pending(position, "wait", f"until {until[:19].replace('T', ' ')} UTC", until=until)])


def _until(seconds: float, waiting: StepRow | None) -> str:
    """Return the end of a wait, which began when the step was first reached."""
    pending = None if waiting is None else waiting.extra.get("pending")
    if isinstance(pending, Mapping) and isinstance(pending.get("until"), str):
        return str(pending["until"])
    return later(seconds)
