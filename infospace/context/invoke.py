"""Performing one call of a primitive: validate, call, and tell an expected failure from a bug."""

from __future__ import annotations

import time
import traceback
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

from infospace.context.context import Context
from infospace.contract.arguments import Args
from infospace.contract.decorator import Primitive
from infospace.core.clock import now
from infospace.core.errors import InfospaceError, InputRequired
from infospace.core.resources import Resource
from infospace.data.result import Status, StepResult

BUG = "bug"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: the resource, or why there is none. `error` is the failure's kind."""

    status: Status
    resource: Resource | None = None
    value: str = ""
    reason: str | None = None
    error: str | None = None
    trace: str | None = None


async def call(entry: Primitive, arguments: Mapping[str, Any], context: Context) -> Outcome:
    """Validate the resolved arguments and call the primitive. Never raises for what the call does wrong."""
    try:
        args = entry.validate(arguments)
    except InfospaceError as error:
        return Outcome("failed", reason=str(error), error=error.kind)
    return await perform(entry, args, context)


async def perform(entry: Primitive, args: Args, context: Context) -> Outcome:
    """Call the primitive with validated arguments. Never raises for what the call does wrong."""
    return await call_guarded(entry.type, entry.call(args, context), context)


async def call_guarded(type_: str, making: Awaitable[Resource | None], context: Context) -> Outcome:
    """Await what a call of a type makes. Never raises for what the call does wrong; InputRequired passes through."""
    try:
        resource = await making
        return Outcome("success", resource, "" if resource is None else context.answer(resource))
    except InputRequired:
        raise
    except InfospaceError as error:
        return Outcome("failed", reason=str(error), error=error.kind)
    except Exception as error:  # noqa: BLE001 - a bug in a primitive ends its step, and is recorded as one
        return Outcome("failed", reason=bug_message(type_, error), error=BUG, trace=traceback.format_exc())


def bug_message(type_: str, error: BaseException) -> str:
    """Return the one sentence that a user reads of a bug."""
    return f"{type_} has a bug ({type(error).__name__}); the traceback is in the journal"


async def call_directly(entry: Primitive, arguments: Mapping[str, Any], context: Context) -> StepResult:
    """Call a primitive directly, outside any plan: the uniform answer, with `data`; nothing is committed.

    `resource_id` is null for what was made, since it is not there afterwards.
    """
    started, clock = now(), time.perf_counter()
    outcome = await call(entry, arguments, context)
    resource, data = outcome.resource, None
    if resource is not None:
        try:
            data = context.content(resource)
        except InfospaceError as error:
            outcome, resource = Outcome("failed", reason=str(error), error=error.kind), None
    return StepResult(
        status=outcome.status,
        resource_id=None if resource is None or context.is_new(resource) else resource.id,
        value=outcome.value,
        data=data,
        reason=outcome.reason,
        extra=context.extra,
        started_at=started,
        duration_ms=round((time.perf_counter() - clock) * 1000, 3),
        error=outcome.error,
    )
