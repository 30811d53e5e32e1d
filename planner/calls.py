"""Making one call of a step: a primitive's or a tool's, with arguments as they were written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from infospace.contract import Primitive
from infospace.errors import Invalid
from infospace.faults import ArgumentsInvalid
from infospace.jsonvalue import JSON
from infospace.perform import BUG, Outcome, guarded, perform
from infospace.tools.calling import call_tool
from infospace.tools.tool import NotAllowed, NotCalled
from infospace.view import Infospace
from planner.failure import Exhausted
from planner.resolve import Resolver

if TYPE_CHECKING:
    from planner.run import Run

FINAL = (BUG, Exhausted.kind)
"""Kinds of failure that no `on_fail` handles and no `retry` repeats."""


async def validated(entry: Primitive, arguments: Mapping[str, Any], view: Infospace) -> Outcome:
    """Validate resolved arguments and perform the call. What does not fit was beyond the check, and is said so."""
    try:
        args = entry.validate(arguments)
    except ArgumentsInvalid as error:
        return Outcome("failed", reason=f"unchecked: {error}", error=error.kind)
    return await perform(entry, args, view)


async def called(run: Run, view: Infospace, resolver: Resolver, tool: str, arguments: JSON) -> Outcome:
    """Call a tool with arguments that are resolved first. Raises Unbound, and what resolving raises."""
    given = resolver.value(arguments)
    async with run.slots:
        return await guarded(tool, call_tool(view, view.space.tools.get(tool), given), view)


def may_repeat(outcome: Outcome, view: Infospace) -> bool:
    """Whether a call that failed may be made again: never one that may have had its effect, unless that is safe."""
    if outcome.error in (*FINAL, NotAllowed.kind):
        return False
    tool = view.space.tools.find(str(view.extra.get("tool", "")))
    if tool is None or tool.read_only or tool.idempotent:
        return True
    return outcome.error in (NotCalled.kind, Invalid.kind)
