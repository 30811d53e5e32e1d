"""Warnings of what a plan does outside: calls that may exceed the budget, and text from outside that may do harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from infospace.catalogue import Catalogue
from infospace.jsonvalue import JSON
from planner.order import called_tool
from planner.plan import Ask, Block, Call, ForEach, Map, Plan, Step, ToolCall, While, blocks, every_step
from planner.problems import Problems, join
from planner.references import ReferenceInvalid, read_text, references_in, strings


def warn_of_effects(plan: Plan, catalogue: Catalogue, problems: Problems) -> None:
    """Warn of calls over the budget, of what is not there to be called, and of text from outside."""
    _over_budget(plan, catalogue, problems)
    for step in every_step(plan.steps):
        tool = called_tool(step, catalogue)
        if tool is not None and not tool.connected:
            says = f"{tool.full_name} is not connected now"
            problems.warn("not-connected", join(step.pointer, "type"), says, "the run connects it, or fails there")
        if tool is not None and tool.blocked:
            problems.warn("blocked", join(step.pointer, "type"), f"{tool.full_name} is blocked", "the step fails")
    Outside(catalogue, problems).block(plan.steps, set(), asked=False)


def _over_budget(plan: Plan, catalogue: Catalogue, problems: Problems) -> None:
    """Count the calls that the plan has at least, each once, whatever its loops and branches do."""
    asking = [step for step in every_step(plan.steps) if _asks(step, catalogue)]
    calling = [step for step in every_step(plan.steps) if called_tool(step, catalogue) is not None]
    for limit, steps, what in (
        (plan.budget.llm_calls, asking, "llm_calls"),
        (plan.budget.tool_calls, calling, "tool_calls"),
    ):
        if limit is not None and len(steps) > limit:
            says = f"the plan has {len(steps)} steps with {what}, and its budget allows {limit:,}"
            problems.warn("over-budget", f"/budget/{what}", says, "the run ends where the budget is spent")


def _asks(step: Step, catalogue: Catalogue) -> bool:
    type_ = step.form.operation if isinstance(step.form, Map) else step.type
    entry = catalogue.find(type_)
    return entry is not None and entry.asks


class Outside:
    """Follows what came from tools, and warns where it reaches one that may take something away, unasked."""

    def __init__(self, catalogue: Catalogue, problems: Problems) -> None:
        self._catalogue = catalogue
        self._problems = problems

    def block(self, steps: Block, outside: set[str], *, asked: bool) -> None:
        """Follow steps; `outside` are the variables whose text came from outside, and grows."""
        for step in steps:
            reads = set(_reads(step))
            tool = called_tool(step, self._catalogue)
            if tool is not None and tool.destructive and not tool.read_only and not asked and reads & outside:
                names = ", ".join(f"${name}" for name in sorted(reads & outside))
                says = f"text from outside ({names}) reaches {tool.full_name}, which may take something away"
                self._problems.warn("outside-text", step.pointer, says, "put an `ask` before it")
            asked = asked or isinstance(step.form, Ask)
            came = tool is not None or bool(reads & outside)
            inner = outside
            if isinstance(step.form, ForEach):
                inner = {*outside, step.form.as_} if came else set(outside)
                self.block(step.form.do, inner, asked=asked)
                came = came or inner > outside
            for block in blocks(step.form):
                for _ in range(2 if isinstance(step.form, While) else 1):
                    self.block(block, outside, asked=asked)
            if isinstance(step.on_fail, tuple):
                self.block(step.on_fail, inner, asked=asked)
            if step.out is not None and came:
                outside.add(step.out)


def _reads(step: Step) -> Iterator[str]:
    """The variables that a step's own arguments read."""
    match step.form:
        case Call(arguments) | ToolCall(_, arguments):
            yield from _names(dict(arguments))
        case Map(target, _, arguments):
            yield from _names(target)
            yield from _names(dict(arguments))
        case ForEach(target):
            yield from _names(target)


def _names(raw: JSON | Mapping[str, JSON]) -> Iterator[str]:
    for _, text in strings(raw):
        with suppress(ReferenceInvalid):
            for reference in references_in(read_text(text)):
                yield reference.name
