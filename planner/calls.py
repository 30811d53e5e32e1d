"""Making one call of a step, and whether it may be made again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infospace.contract import Primitive
from infospace.errors import BudgetSpent, Invalid
from infospace.faults import ArgumentsInvalid
from infospace.perform import BUG, Outcome, perform
from infospace.tools.tool import NotAllowed, NotCalled
from infospace.view import Infospace

FINAL = (BUG, BudgetSpent.kind)
"""Kinds of failure that no `on_fail` handles and no `retry` repeats."""


async def validated(entry: Primitive, arguments: Mapping[str, Any], view: Infospace) -> Outcome:
    """Validate resolved arguments and perform the call. What does not fit was beyond the check, and is said so."""
    try:
        args = entry.validate(arguments)
    except ArgumentsInvalid as error:
        return Outcome("failed", reason=f"unchecked: {error}", error=error.kind)
    return await perform(entry, args, view)


def may_repeat(outcome: Outcome, view: Infospace) -> bool:
    """Whether a call that failed may be made again: never one that may have had its effect, unless that is safe."""
    if outcome.error in (*FINAL, NotAllowed.kind):
        return False
    name = view.extra.get("tool")
    tool = None if name is None else view.space.tools.find(str(name))
    if name is None or (tool is not None and (tool.read_only or tool.idempotent)):
        return True
    return outcome.error in (NotCalled.kind, Invalid.kind)
