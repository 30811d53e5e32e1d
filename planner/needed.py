"""The tools that steps call by name, however deep they stand: whoever goes on with a run looks for them first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infospace.catalogue import Catalogue
from planner.order import Named, named_tool
from planner.plan import All, AnyOf, Block, Condition, If, Not, Plan, Saved, Test, Wait, While, every_step


def needed_tools(steps: Block, plans: Mapping[str, Plan], catalogue: Catalogue) -> dict[Named, str]:
    """Return the full names of the tools that steps call, each with the label of the first step that does."""
    found: dict[Named, str] = {}
    for step in steps:
        for name in _named((step,), plans, catalogue, frozenset()):
            found.setdefault(name, step.label)
    return found


def _named(steps: Block, plans: Mapping[str, Plan], catalogue: Catalogue, within: frozenset[str]) -> Iterator[Named]:
    for step in every_step(steps):
        name = named_tool(step, catalogue)
        if name is not None:
            yield name
        match step.form:
            case If(condition) | While(condition):
                yield from _asked(condition)
            case Wait(condition) if condition is not None:
                yield from _asked(condition)
            case Saved(plan) if plan in plans and plan not in within:
                yield from _named(plans[plan].steps, plans, catalogue, within | {plan})


def _asked(condition: Condition) -> Iterator[Named]:
    match condition:
        case All(of) | AnyOf(of):
            for part in of:
                yield from _asked(part)
        case Not(of):
            yield from _asked(of)
        case Test("tool_condition", arguments):
            tool = arguments.get("tool")
            if isinstance(tool, str) and "$" not in tool:
                yield tool, "tool"
