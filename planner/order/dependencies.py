"""Which steps of a block wait for which others: some run alone, some side by side.

A step that writes, speaks, asks or calls what may change something starts when every earlier step has ended, and
later ones wait for it. Between two such steps, those that wait for something outside run side by side as far as
their variables allow: a step waits for an earlier one that binds what it reads or binds, or reads what it binds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from infospace.contract.arguments import OFFERED
from infospace.contract.catalogue import Catalogue
from infospace.core.tool import Tool, ToolKind
from planner.language.plan import (
    Ask,
    Block,
    Call,
    ForEach,
    Form,
    If,
    Map,
    Pages,
    Parallel,
    Plan,
    SavedPlanCall,
    Step,
    Stop,
    ToolCall,
    Wait,
    While,
    bindings,
    blocks,
    condition_of,
    every_step,
    every_test,
)
from planner.language.plan import reads as reads_of

Named: TypeAlias = "tuple[str, ToolKind]"
"""The full name of something that servers offer, and whether it is a tool, a prompt or a resource."""
ASKS_TOOL = "tool_condition"
"""The type of a condition that a tool answers."""


@dataclass(frozen=True, slots=True)
class StepNode:
    """A step with what it reads and binds. `alone`: nothing runs beside it; `waits`: it may wait for something."""

    step: Step
    reads: frozenset[str]
    binds: frozenset[str]
    alone: bool
    waits: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Steps in document order; `needs` has for each the indexes of the earlier ones that it waits for."""

    units: tuple[StepNode, ...]
    needs: tuple[frozenset[int], ...] = ()

    @property
    def side_by_side(self) -> bool:
        """Whether there is anything to gain by running them at once."""
        return bool(self.needs)


class DependencyTracker:
    """What units need, told one after the other in document order: the earlier ones that must have ended.

    Two that may not change places are those of which one binds what the other reads or binds. Of several such only
    the last are told, since these need the others.
    """

    def __init__(self) -> None:
        self._count = 0
        self._binder: dict[str, int] = {}
        self._readers: dict[str, list[int]] = {}
        """Of each variable those that read it as the last binder left it."""

    def of(self, unit: StepNode) -> frozenset[int]:
        """Return the numbers of those that the next unit needs, from 0."""
        results = {self._binder[name] for name in unit.reads | unit.binds if name in self._binder}
        for name in unit.binds:
            results.update(self._readers.pop(name, ()))
            self._binder[name] = self._count
        for name in unit.reads:
            self._readers.setdefault(name, []).append(self._count)
        self._count += 1
        return frozenset(results)


class DependencyAnalysis:
    """Groups of blocks, each worked out once."""

    def __init__(self, catalogue: Catalogue, plans: Mapping[str, Plan]) -> None:
        self._catalogue = catalogue
        self._plans = plans
        # Known by `id`, as steps cannot be hashed fast; the object is kept beside it, so no other gets its id.
        self._groups: dict[int, tuple[Block, tuple[Group, ...]]] = {}
        self._units: dict[int, tuple[Step, StepNode]] = {}
        self._computing: dict[int, tuple[Step, bool]] = {}

    def groups(self, steps: Block) -> tuple[Group, ...]:
        """Return the groups of a block, in document order."""
        known = self._groups.get(id(steps))
        if known is None:
            known = self._groups[id(steps)] = (steps, tuple(self._grouped(steps)))
        return known[1]

    def unit(self, step: Step) -> StepNode:
        """Return what a step reads and binds, and what it needs."""
        known = self._units.get(id(step))
        if known is None:
            known = self._units[id(step)] = (step, self._read(step))
        return known[1]

    def items_independent(self, steps: Block, handler: Block = ()) -> bool:
        """Whether executions of a block for several items may overlap, and gain by it."""
        units = [self.unit(step) for step in (*steps, *handler)]
        return any(unit.waits for unit in units) and not any(unit.alone for unit in units)

    def must_keep_order(self, step: Step) -> bool:
        """Whether a step of a branch waits for the branches before its own: what writes, names or says."""
        if isinstance(step.form, (If, While, ForEach, Map, Parallel, SavedPlanCall, Ask, Wait)):
            return step.name is not None
        return self.unit(step).alone and (step.name is not None or called_tool(step, self._catalogue) is None)

    def is_read_only(self, step: Step) -> bool:
        """Whether a step makes and reads at most, at every depth: it writes, calls, says and waits for nothing."""
        return not self.unit(step).alone and not any(self._calls(one) for one in every_step((step,)))

    def only_computes(self, step: Step) -> bool:
        """Whether a step is one call that declares that its arguments alone count, and that it waits for nothing."""
        known = self._computing.get(id(step))
        if known is None:
            entry = self._catalogue.find(step.type) if isinstance(step.form, Call) else None
            computes = entry is not None and entry.effect == "pure" and not entry.may_wait
            known = self._computing[id(step)] = (step, computes)
        return known[1]

    def _calls(self, step: Step) -> bool:
        match step.form:
            case If() | While() | ForEach():
                return _asks_tool(step.form)
            case SavedPlanCall(name):
                return any(self._calls(one) for one in every_step(self._plans[name].steps))
            case ToolCall() | Pages():
                return True
            case Map(_, operation):
                if "/" in operation:
                    return True
                entry = self._catalogue.find(operation)
            case _:
                entry = self._catalogue.find(step.type)
        return entry is not None and entry.effect == "calls"

    def _grouped(self, steps: Block) -> Iterator[Group]:
        beside: list[StepNode] = []
        for step in steps:
            unit = self.unit(step)
            if unit.alone:
                yield from _group(beside)
                beside = []
                yield Group((unit,))
            else:
                beside.append(unit)
        yield from _group(beside)

    def _read(self, step: Step) -> StepNode:
        handler = step.on_fail if isinstance(step.on_fail, tuple) else ()
        inner = [self.unit(one) for block in self._inner(step) for one in block]
        handled = [self.unit(one) for one in handler]
        parts = [*inner, *handled]
        reads = set(reads_of(step)).union(*(unit.reads for unit in parts))
        simple = isinstance(step.form, (Call, ToolCall)) and not handler
        binds = set() if step.out is None else {step.out}
        if not simple:
            binds = {name for name, _ in bindings((step,))}
        if handler:
            reads.add("error")
            binds.add("error")
        alone, waits = self._effect(step)
        alone = alone or step.name is not None or any(unit.alone for unit in parts)
        waits = waits or any(unit.waits for unit in parts)
        return StepNode(step, frozenset(reads), frozenset(binds), alone, waits)

    def _inner(self, step: Step) -> tuple[Block, ...]:
        match step.form:
            case ForEach(_, _, do):
                return (do,)
            case SavedPlanCall(name):
                plan = self._plans.get(name)
                return () if plan is None else (plan.steps,)
        return blocks(step.form)

    def _effect(self, step: Step) -> tuple[bool, bool]:
        """Return whether a step's own effect makes it stand alone, and whether the step itself may wait."""
        match step.form:
            case If() | While() | ForEach():
                return False, _asks_tool(step.form)
            case Parallel():
                return False, False
            case SavedPlanCall(name):
                return name not in self._plans, False
            case ToolCall() | Pages():
                return self._tool_effect(step)
            case Map(_, operation):
                return self._tool_effect(step) if "/" in operation else self._call_effect(step, operation)
            case Call():
                return self._call_effect(step, step.type)
            case Wait() | Ask() | Stop():
                return True, True
        return True, True

    def _tool_effect(self, step: Step) -> tuple[bool, bool]:
        tool = called_tool(step, self._catalogue)
        return (tool is None or not tool.read_only), True

    def _call_effect(self, step: Step, type_: str) -> tuple[bool, bool]:
        entry = self._catalogue.find(type_)
        if entry is None or not isinstance(entry.effect, str) or entry.returns == "Relation":
            return True, True
        if entry.effect == "calls" and not entry.asks:
            tool = called_tool(step, self._catalogue)
            return tool is None or not tool.read_only, True
        return entry.effect == "writes", entry.may_wait


def _group(units: list[StepNode]) -> Iterator[Group]:
    if sum(unit.waits for unit in units) < 2:
        if units:
            yield Group(tuple(units))
        return
    needs = DependencyTracker()
    yield Group(tuple(units), tuple(needs.of(unit) for unit in units))


def called_tool(step: Step, catalogue: Catalogue) -> Tool | None:
    """Return the tool that a step calls, as far as its name stands in the plan."""
    names = named_tool(step, catalogue)
    return None if names is None else catalogue.tools.find(*names)


def named_tool(step: Step, catalogue: Catalogue) -> Named | None:
    """Return the full name of the tool that a step calls, None where it calls none or the plan does not tell."""
    match step.form:
        case ToolCall(tool) | Pages(tool):
            return tool, "tool"
        case Map(_, operation, arguments):
            return (operation, "tool") if "/" in operation else _literal(operation, arguments, catalogue)
        case Call(arguments):
            return _literal(step.type, arguments, catalogue)
    return None


def _literal(type_: str, arguments: Mapping[str, Any], catalogue: Catalogue) -> Named | None:
    entry = catalogue.find(type_)
    for argument in entry.arguments.values() if entry else ():
        value = arguments.get(argument.name)
        if argument.reading in OFFERED and isinstance(value, str) and "/" in value and "$" not in value:
            return value, OFFERED[argument.reading]
    return None


def tools_asked(form: Form) -> Iterator[Named]:
    """Iterate over the tools that a form's condition asks, as far as their names stand in the plan."""
    for test in every_test(condition_of(form)):
        tool = test.arguments.get("tool") if test.type == ASKS_TOOL else None
        if isinstance(tool, str) and "$" not in tool:
            yield tool, "tool"


def _asks_tool(form: Form) -> bool:
    return any(test.type == ASKS_TOOL for test in every_test(condition_of(form)))
