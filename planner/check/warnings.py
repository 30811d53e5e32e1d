"""Warnings of what a plan does outside: calls that may exceed the budget, and text from outside that may do harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infospace.contract.catalogue import Catalogue
from infospace.core.tool import Tool
from planner.language.plan import (
    Ask,
    Block,
    Call,
    Condition,
    ForEach,
    Map,
    Pages,
    Plan,
    Saved,
    Step,
    While,
    blocks,
    condition_of,
    every_step,
    every_test,
    reads,
)
from planner.language.problems import Problems, join
from planner.language.references import names_in
from planner.order.dependencies import called_tool
from planner.parse.conditions import EXISTENCE


def warn_of_effects(plan: Plan, catalogue: Catalogue, problems: Problems) -> None:
    """Warn of calls over the budget, of what is not there to be called, and of text from outside."""
    _over_budget(plan, catalogue, problems)
    for step in every_step(plan.steps):
        tool = called_tool(step, catalogue)
        if tool is not None and not tool.connected:
            message = f"{tool.full_name} is not connected now"
            problems.warn("not-connected", _named_at(step), message, "the run connects it, or fails there")
        if tool is not None and tool.blocked:
            problems.warn("blocked", _named_at(step), f"{tool.full_name} is blocked", "the step fails")
    TaintTracker(catalogue, plan.plans, problems).block(plan.steps, set(), asked=False)


def _named_at(step: Step) -> str:
    """Where a step names its tool."""
    return join(step.pointer, "tool" if isinstance(step.form, Pages) else "type")


def _over_budget(plan: Plan, catalogue: Catalogue, problems: Problems) -> None:
    """Count the calls that the plan has at least, each once, whatever its loops and branches do."""
    asking = [step for step in every_step(plan.steps) if _asks(step, catalogue)]
    calling = [step for step in every_step(plan.steps) if called_tool(step, catalogue) is not None]
    for limit, steps, what in (
        (plan.budget.llm_calls, asking, "llm_calls"),
        (plan.budget.tool_calls, calling, "tool_calls"),
    ):
        if limit is not None and len(steps) > limit:
            message = f"the plan has {len(steps)} steps with {what}, and its budget allows {limit:,}"
            problems.warn("over-budget", f"/budget/{what}", message, "the run ends where the budget is spent")


def _asks(step: Step, catalogue: Catalogue) -> bool:
    type_ = step.form.operation if isinstance(step.form, Map) else step.type
    entry = catalogue.find(type_)
    return entry is not None and entry.asks


class TaintTracker:
    """Follows what came from tools, and warns where it reaches one that may take something away, unasked."""

    def __init__(self, catalogue: Catalogue, plans: Mapping[str, Plan], problems: Problems) -> None:
        self._catalogue = catalogue
        self._plans = plans
        self._problems = problems
        self._caller: str | None = None
        """Where a saved plan is called, while its steps are followed."""
        self._within: tuple[str, ...] = ()
        """The saved plans that are followed, one in the other."""

    def block(self, steps: Block, outside: set[str], *, asked: bool, deciding: frozenset[str] = frozenset()) -> None:
        """Follow steps; `outside` are the variables whose text came from outside, and grows.

        `deciding` are those of them by which conditions around the steps decide whether these run.
        """
        for step in steps:
            tool = called_tool(step, self._catalogue)
            read = outside.intersection(reads(step))
            if tool is not None and not asked:
                self._reach(step, tool, read, deciding)
            asked = asked or isinstance(step.form, Ask)
            came = tool is not None or (bool(read) and isinstance(step.form, (Call, Map, ForEach)))
            inner = outside
            if isinstance(step.form, ForEach):
                inner = {*outside, step.form.as_} if came else set(outside)
                self.block(step.form.do, inner, asked=asked, deciding=deciding)
                if step.form.until is not None:
                    # Whether there is a next item hangs on what the one before has bound.
                    by = deciding | inner.intersection(_read_values(step.form.until))
                    self.block(step.form.do, inner, asked=asked, deciding=by)
                came = came or inner > outside
            elif isinstance(step.form, Saved):
                came = self._plan(step, step.form, outside, asked, deciding)
            for block in blocks(step.form):
                for _ in range(2 if isinstance(step.form, While) else 1):
                    by = deciding | outside.intersection(_read_values(condition_of(step.form)))
                    self.block(block, outside, asked=asked, deciding=by)
            if isinstance(step.on_fail, tuple):
                self.block(step.on_fail, inner, asked=asked, deciding=deciding)
            if step.out is not None and came:
                outside.add(step.out)

    def _plan(self, step: Step, form: Saved, outside: set[str], asked: bool, deciding: frozenset[str]) -> bool:
        """Follow a saved plan, which sees its inputs alone; return whether what it gives may come from outside."""
        plan = self._plans.get(form.name)
        if plan is None or form.name in self._within:
            return bool(outside.intersection(reads(step)))
        given = form.call_arguments(plan.inputs)
        inner = {name for name, raw in given.items() if outside.intersection(names_in(raw))}
        before = self._caller, self._within
        self._caller, self._within = self._caller or step.pointer, (*self._within, form.name)
        self.block(plan.steps, inner, asked=asked, deciding=deciding)
        self._caller, self._within = before
        return bool(inner) or any(called_tool(one, self._catalogue) is not None for one in every_step(plan.steps))

    def _reach(self, step: Step, tool: Tool, read: set[str], deciding: frozenset[str]) -> None:
        """Warn where text from outside reaches a tool, or decides whether it is called."""
        if tool.read_only or not tool.destructive or not (read or deciding):
            return
        names = ", ".join(f"${name}" for name in sorted(read or deciding))
        called = f"{tool.full_name} in plan:{self._within[-1]}" if self._within else tool.full_name
        does = f"reaches {called}" if read else f"decides whether to call {called}"
        message = f"text from outside ({names}) {does}, which may take something away"
        self._problems.warn("outside-text", self._caller or step.pointer, message, "put an `ask` before it")


def _read_values(condition: Condition | None) -> Iterator[str]:
    """The variables whose text a condition reads: whether one is bound is no text."""
    for test in every_test(condition):
        if test.type not in EXISTENCE:
            yield from names_in(test.arguments)
