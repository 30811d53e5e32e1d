"""Which failures are tried again, and when. `StepExecution._handle_failure` asks here for a whole step."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from infospace.context.context import Context
from infospace.context.invoke import BUG, Outcome
from infospace.core.errors import BudgetExceeded, Invalid
from infospace.core.resources import CreatedBy
from infospace.core.tool import NotAllowed, NotCalled
from planner.execute.step_state import StepState
from planner.journal.suspension import Suspension
from planner.language.plan import Retry

_log = logging.getLogger(__name__)

FINAL = (BUG, BudgetExceeded.kind)
"""Kinds of failure that no `on_fail` handles and no `retry` repeats."""

LONGEST_PAUSE = 3_600.0
"""Seconds between two attempts at most, however often their wait is multiplied."""


def is_retryable(outcome: Outcome, context: Context) -> bool:
    """Whether a call that failed may be made again: never one that may have had its effect, unless that is safe."""
    if outcome.error in (*FINAL, NotAllowed.kind):
        return False
    name = context.extra.get("tool")
    tool = None if name is None else context.space.tools.find(str(name))
    if name is None or (tool is not None and (tool.read_only or tool.idempotent)):
        return True
    return outcome.error in (NotCalled.kind, Invalid.kind)


async def retry_delay(retry: Retry | None, attempt: int, requested: asyncio.Event, step: str) -> None:
    """Wait after a failed attempt of a step, the 1-based `attempt`, for `wait_s * backoff ** (attempt - 1)` seconds.

    No longer than until `requested` is set.
    """
    wait = retry.wait_s if retry is not None else 0
    seconds = min(wait * retry.backoff ** (attempt - 1), LONGEST_PAUSE) if retry is not None and wait else 0.0
    _log.info("step %s failed at attempt %d; it is tried again in %.1f s", step, attempt, seconds)
    if seconds:
        with suppress(TimeoutError):
            await asyncio.wait_for(requested.wait(), seconds)


async def attempt_call(
    state: StepState, where: str, type_: str, call: Callable[[Context], Awaitable[Outcome]]
) -> tuple[Outcome, Context]:
    """Make one of several calls of a step, again while it fails and `retry` has attempts left.

    `where` it stands, what it calls, and the call in a view of its own, which is returned with its outcome. Raises
    Suspension once the run is halted, and what the call raises.
    """
    retry, attempt = state.step.retry, 1
    while True:
        if state.run.halt.now:
            raise Suspension(())
        context = state.context.inner(CreatedBy(state.run.id, where, type_))
        outcome = await call(context)
        last = retry is None or attempt >= retry.attempts
        if outcome.status != "failed" or last or not is_retryable(outcome, context):
            return outcome, context
        await retry_delay(retry, attempt, state.run.halt.requested, where)
        attempt += 1
