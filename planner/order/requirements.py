"""What steps call by name, however deep they stand: whoever goes on with a run looks first whether it is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infospace.contract.catalogue import Catalogue
from planner.language.plan import Block, Call, Map, Plan, SavedPlanCall, every_step
from planner.order.dependencies import Named, named_tool, tools_asked


def required_tools(steps: Block, plans: Mapping[str, Plan], catalogue: Catalogue) -> dict[Named, str]:
    """Return the full names of the tools that steps call, each with the label of the first step that does."""
    results: dict[Named, str] = {}
    for step in steps:
        for name in _named((step,), plans, catalogue, frozenset()):
            results.setdefault(name, step.label)
    return results


def missing_primitives(steps: Block, plans: Mapping[str, Plan], catalogue: Catalogue) -> dict[str, str]:
    """Return the primitives that steps name and a catalogue has not, each with the label of the first such step."""
    results: dict[str, str] = {}
    for step in steps:
        for type_ in _types((step,), plans, frozenset()):
            if catalogue.find(type_) is None:
                results.setdefault(type_, step.label)
    return results


def _types(steps: Block, plans: Mapping[str, Plan], within: frozenset[str]) -> Iterator[str]:
    for step in every_step(steps):
        match step.form:
            case Call():
                yield step.type
            case Map(_, operation) if "/" not in operation:
                yield operation
            case SavedPlanCall(plan) if plan in plans and plan not in within:
                yield from _types(plans[plan].steps, plans, within | {plan})


def _named(steps: Block, plans: Mapping[str, Plan], catalogue: Catalogue, within: frozenset[str]) -> Iterator[Named]:
    for step in every_step(steps):
        name = named_tool(step, catalogue)
        if name is not None:
            yield name
        yield from tools_asked(step.form)
        if isinstance(step.form, SavedPlanCall) and step.form.name in plans and step.form.name not in within:
            plan = step.form.name
            yield from _named(plans[plan].steps, plans, catalogue, within | {plan})
