"""Warnings of what a plan does outside: calls that may exceed the budget, and text from outside that may do harm."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from infospace.contract.arguments import ParseMode
from infospace.contract.catalogue import Catalogue
from infospace.core.errors import Invalid
from infospace.core.names import normalise
from infospace.core.plural import pluralize
from infospace.core.tool import Tool
from planner.check.conditions import reference_or_none
from planner.check.references.values import TextsRead
from planner.check.space_facts import SpaceFacts
from planner.language.plan import (
    Ask,
    Block,
    Call,
    Condition,
    ExpressionCondition,
    ForEach,
    Map,
    Pages,
    Plan,
    SavedPlanCall,
    Step,
    ToolCall,
    While,
    blocks,
    condition_of,
    every_part,
    every_step,
    names_of,
    reads,
)
from planner.language.problems import Problems, join
from planner.language.references import names_in
from planner.order.dependencies import called_tool
from planner.parse.conditions import EXISTENCE


def warn_of_effects(
    plan: Plan,
    catalogue: Catalogue,
    problems: Problems,
    texts: TextsRead | None = None,
    facts: SpaceFacts | None = None,
) -> None:
    """Warn of calls over the budget, of what is not there to be called, and of text from outside.

    `texts` tells where what is read may hold text; without it, everything that is read may. `facts` tells what earlier
    runs kept from outside; without it, nothing is taken to be.
    """
    called = [(step, called_tool(step, catalogue)) for step in every_step(plan.steps)]
    _over_budget(plan, called, catalogue, problems)
    for step, tool in called:
        if tool is not None and not tool.connected:
            message = f"{tool.full_name} is not connected now"
            problems.warn("not-connected", _named_at(step), message, "the run connects it, or fails there")
        if tool is not None and tool.blocked:
            problems.warn("blocked", _named_at(step), f"{tool.full_name} is blocked", "the step fails")
    TaintTracker(catalogue, plan.plans, problems, texts, facts).block(plan.steps, set(), is_asked=False)


def _named_at(step: Step) -> str:
    """Where a step names its tool."""
    return join(step.pointer, "tool" if isinstance(step.form, Pages) else "type")


def _over_budget(
    plan: Plan, called: Sequence[tuple[Step, Tool | None]], catalogue: Catalogue, problems: Problems
) -> None:
    """Count the calls of each step once, whatever loops and branches do, and of `pages` as many as it may make.

    `called` are all steps, and the tool that each calls.
    """
    asking = [step for step, _ in called if _asks(step, catalogue)]
    calling = [step for step, tool in called if tool is not None]
    pages = sum(step.form.max_pages - 1 for step in calling if isinstance(step.form, Pages))
    for limit, steps, more, what in (
        (plan.budget.llm_calls, asking, 0, "llm_calls"),
        (plan.budget.tool_calls, calling, pages, "tool_calls"),
    ):
        if limit is None or len(steps) + more <= limit:
            continue
        message = f"the plan has {pluralize(len(steps), 'step')} with {what}, and its budget allows {limit:,}"
        hint = "the run ends where the budget is spent"
        if len(steps) <= limit:
            message = f"the plan may make {len(steps) + more:,} tool_calls, and its budget allows {limit:,}"
            hint = f"{hint}; `max_pages` says how many calls `pages` makes at most"
        problems.warn("over-budget", f"/budget/{what}", message, hint)


def _asks(step: Step, catalogue: Catalogue) -> bool:
    type_ = step.form.operation if isinstance(step.form, Map) else step.type
    entry = catalogue.find(type_)
    return entry is not None and entry.asks


class TaintTracker:
    """Follows what servers that are not trusted gave, and warns where text of it reaches a tool that changes something.

    Once a plan: where it does so first.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        plans: Mapping[str, Plan],
        problems: Problems,
        texts: TextsRead | None,
        facts: SpaceFacts | None,
    ) -> None:
        self._catalogue = catalogue
        self._plans = plans
        self._problems = problems
        self._texts = None if texts is None else sorted(texts)
        self._names: set[str] = set()
        """Names of the space by which what came from outside is kept."""
        self._named: set[str] = set()
        """Names that steps gave: what had one of them before is not meant by it any more."""
        self._known = facts
        self._told = False
        self._caller: str | None = None
        """Where a saved plan is called, while its steps are followed."""
        self._within: tuple[str, ...] = ()
        """The saved plans that are followed, one in the other."""

    def block(self, steps: Block, outside: set[str], *, is_asked: bool, deciding: frozenset[str] = frozenset()) -> None:
        """Follow steps; `outside` are the variables whose text came from outside, and grows.

        `deciding` are those of them by which conditions around the steps decide whether these run.
        """
        for step in steps:
            tool = called_tool(step, self._catalogue)
            read = outside.intersection(reads(step)) if outside else set()
            if tool is not None and not is_asked:
                self._reach(step, tool, self._as_text(step, read), deciding)
            is_asked = is_asked or isinstance(step.form, Ask)
            came = tool is not None and not tool.trusted
            came = came or self._is_read_by_name(step) or (bool(read) and isinstance(step.form, _PASSES_ON))
            inner = outside
            if isinstance(step.form, ForEach):
                inner = {*outside, step.form.as_} if came else set(outside)
                self.block(step.form.do, inner, is_asked=is_asked, deciding=deciding)
                if step.form.until is not None:
                    # Whether there is a next item hangs on what the one before has bound.
                    by = deciding | inner.intersection(self._decides(step, step.form.until, "until"))
                    self.block(step.form.do, inner, is_asked=is_asked, deciding=by)
                came = came or inner > outside
            elif isinstance(step.form, SavedPlanCall):
                came = self._plan(step, step.form, outside, is_asked, deciding)
            for block in blocks(step.form):
                for _ in range(2 if isinstance(step.form, While) else 1):
                    by = deciding | outside.intersection(self._decides(step, condition_of(step.form), "condition"))
                    self.block(block, outside, is_asked=is_asked, deciding=by)
            if isinstance(step.on_fail, tuple):
                self.block(step.on_fail, inner, is_asked=is_asked, deciding=deciding)
            if came:
                self._track_outside(step, outside)
            self._named.update(_names_given(step))

    def _track_outside(self, step: Step, outside: set[str]) -> None:
        """Remember by which variables and names what came from outside is read from here on."""
        arguments = step.form.arguments if isinstance(step.form, Call) else {}
        entry = self._catalogue.find(step.type)
        target = reference_or_none(arguments.get("target"))
        if step.out is not None:
            outside.add(step.out)
        if entry is not None and entry.effect == "writes" and target is not None:
            outside.add(target.name)
        self._names.update(_names_given(step))

    def _is_read_by_name(self, step: Step) -> bool:
        """Whether a step takes what came from outside by its name."""
        entry = self._catalogue.find(step.type)
        if self._told or entry is None or not isinstance(step.form, Call):
            return False
        for argument in entry.arguments.values():
            value = step.form.arguments.get(argument.name)
            if not isinstance(value, str):
                continue
            names: Sequence[str] = ()
            if argument.reading is ParseMode.RESOURCE and not value.startswith("$"):
                names = (value,)
            elif argument.reading is ParseMode.SQL:
                names = _tables_in(value)
            if any(map(self._is_outside, names)):
                return True
        return False

    def _is_outside(self, name: str) -> bool:
        """Whether what has a name or an id came from outside: of this plan, else of an earlier run."""
        if normalise(name) in self._named:
            return normalise(name) in self._names
        return self._known is not None and not all(map(self._is_trusted, self._known.tools_behind(name)))

    def _is_trusted(self, called: str) -> bool:
        """Whether somebody vouches for the server of a tool; nobody does for one that is not known any more."""
        tool = self._catalogue.tools.find(called, "tool")
        return tool is not None and tool.trusted

    def _plan(
        self, step: Step, form: SavedPlanCall, outside: set[str], is_asked: bool, deciding: frozenset[str]
    ) -> bool:
        """Follow a saved plan, which sees its inputs alone; return whether what it gives may come from outside."""
        plan = self._plans.get(form.name)
        if plan is None or form.name in self._within:
            return bool(outside.intersection(reads(step)))
        values = form.call_arguments(plan.inputs)
        inner = {name for name, raw in values.items() if outside.intersection(names_in(raw))}
        before = self._caller, self._within
        self._caller, self._within = self._caller or step.pointer, (*self._within, form.name)
        self.block(plan.steps, inner, is_asked=is_asked, deciding=deciding)
        self._caller, self._within = before
        called = (called_tool(one, self._catalogue) for one in every_step(plan.steps))
        return bool(inner) or any(tool is not None and not tool.trusted for tool in called)

    def _as_text(self, step: Step, read: set[str]) -> set[str]:
        """Those of the variables that a call reads of which it gets what may hold text."""
        if not read or self._texts is None:
            return read
        item = isinstance(step.form, Map) and bool(read.intersection(names_in(step.form.target)))
        others = (f"{step.pointer}/on_fail", f"{step.pointer}/target")
        results = {name for pointer, name in self._read_at(step.pointer) if not pointer.startswith(others)}
        return results & (read | {"item"} if item else read)

    def _decides(self, step: Step, condition: Condition | None, key: str) -> Iterator[str]:
        """The variables by whose text a condition decides: whether one is bound is no text."""
        names = set(_read_values(condition))
        if self._texts is None:
            yield from names
        else:
            yield from (name for _, name in self._read_at(join(step.pointer, key)) if name in names)

    def _read_at(self, place: str) -> Iterator[tuple[str, str]]:
        """The places at or below a place in the plan that is followed at which text is read, and of which variable."""
        texts, plan = self._texts or [], self._within[-1] if self._within else ""
        for beginning in (place, f"{place}/"):
            for index in range(bisect_left(texts, (plan, beginning, "")), len(texts)):
                of, pointer, name = texts[index]
                if of != plan or not (pointer == place if beginning == place else pointer.startswith(beginning)):
                    break
                yield pointer, name

    def _reach(self, step: Step, tool: Tool, read: set[str], deciding: frozenset[str]) -> None:
        """Warn where text from outside reaches a tool, or decides whether it is called."""
        if self._told or tool.read_only or not (read or deciding):
            return
        self._told = True
        names = ", ".join(f"${name}" for name in sorted(read or deciding))
        called = f"{tool.full_name} in plan:{self._within[-1]}" if self._within else tool.full_name
        does = f"reaches {called}" if read else f"decides whether to call {called}"
        message = f"text from outside ({names}) {does}, which may change something"
        self._problems.warn("outside-text", self._caller or step.pointer, message, "put an `ask` before it")


_PASSES_ON = (Call, Map, ForEach, ToolCall, Pages)
"""Forms whose result comes from outside where what they read does."""


def _names_given(step: Step) -> list[str]:
    arguments = step.form.arguments if isinstance(step.form, Call) else {}
    names = (step.name, arguments.get("name"), arguments.get("value") if step.type == "name" else None)
    return [normalise(name) for name in names if isinstance(name, str)]


def _tables_in(sql: str) -> tuple[str, ...]:
    """The names by which a SELECT reads Collections of the space."""
    from infospace.expressions.query.parse import parse_query

    try:
        return parse_query(sql).named
    except Invalid:
        return ()


def _read_values(condition: Condition | None) -> Iterator[str]:
    """The variables whose values a condition reads."""
    for part in every_part(condition):
        if isinstance(part, ExpressionCondition) or part.type not in EXISTENCE:
            yield from names_of(part)
