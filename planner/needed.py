"""What steps call by name, however deep they stand: whoever goes on with a run looks first whether it is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infospace.catalogue import Catalogue
from planner.order import Named, named_tool
from planner.plan import All, AnyOf, Block, Call, Condition, If, Map, Not, Plan, Saved, Test, Wait, While, every_step


def needed_tools(steps: Block, plans: Mapping[str, Plan], catalogue: Catalogue) -> dict[Named, str]:
    """Return the full names of the tools that steps call, each with the label of the first step that does."""
    found: dict[Named, str] = {}
    for step in steps:
        for name in _named((step,), plans, catalogue, frozenset()):
            found.setdefault(name, step.label)
    return found


def missing_primitives(steps: Block, plans: Mapping[str, Plan], catalogue: Catalogue) -> dict[str, str]:
    """Return the primitives that steps name and a catalogue has not, each with the label of the first such step."""
    found: dict[str, str] = {}
    for step in steps:
        for type_ in _types((step,), plans, frozenset()):
            if catalogue.find(type_) is None:
                found.setdefault(type_, step.label)
    return found


def _types(steps: Block, plans: Mapping[str, Plan], within: frozenset[str]) -> Iterator[str]:
    for step in every_step(steps):
        match step.form:
            case Call():
                yield step.type
            case Map(_, operation) if "/" not in operation:
                yield operation
            case Saved(plan) if plan in plans and plan not in within:
                yield from _types(plans[plan].steps, plans, within | {plan})


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
