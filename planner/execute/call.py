"""Making one call of a step, and whether it may be made again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infospace.context.context import Context
from infospace.context.invoke import BUG, Outcome, perform
from infospace.contract.argument_errors import ArgumentsInvalid
from infospace.contract.decorator import Primitive
from infospace.core.errors import BudgetExceeded, Invalid
from infospace.core.tool import NotAllowed, NotCalled

FINAL = (BUG, BudgetExceeded.kind)
"""Kinds of failure that no `on_fail` handles and no `retry` repeats."""


async def call_validated(entry: Primitive, arguments: Mapping[str, Any], view: Context) -> Outcome:
    """Validate resolved arguments and perform the call. What does not fit was beyond the check, and is said so."""
    try:
        args = entry.validate(arguments)
    except ArgumentsInvalid as error:
        return Outcome("failed", reason=f"unchecked: {error}", error=error.kind)
    return await perform(entry, args, view)


def is_retryable(outcome: Outcome, view: Context) -> bool:
    """Whether a call that failed may be made again: never one that may have had its effect, unless that is safe."""
    if outcome.error in (*FINAL, NotAllowed.kind):
        return False
    name = view.extra.get("tool")
    tool = None if name is None else view.space.tools.find(str(name))
    if name is None or (tool is not None and (tool.read_only or tool.idempotent)):
        return True
    return outcome.error in (NotCalled.kind, Invalid.kind)
