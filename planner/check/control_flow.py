"""Checking the control forms: what their conditions tell, and what is bound on which path."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Protocol

from infospace.contract.arguments import UNKNOWN
from infospace.contract.decorator import Primitive
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import nearest
from infospace.schema.shapes import (
    NO_METADATA,
    CollectionShape,
    NoteShape,
    Shape,
    Unknown,
    bare,
    describe,
    disjoint,
    union,
)
from infospace.tools.answer_content import result_schema
from planner.check.conditions import guards, read_by, reads_clock, reference_or_none, verdict
from planner.check.environment import Environment, Variable
from planner.check.names import GivenNameChecker
from planner.check.primitive_calls import item_slot
from planner.check.state import CheckState
from planner.check.step_types import TypeChecker
from planner.language.plan import (
    Ask,
    Block,
    Call,
    Condition,
    ForEach,
    If,
    Map,
    Pages,
    Parallel,
    SavedPlanCall,
    Step,
    Stop,
    ToolCall,
    Wait,
    While,
    bindings,
    collected,
    every_step,
)
from planner.language.problems import join, replace

ROUNDS = 3
"""Rounds of a loop that are followed until what is known where one begins stays the same."""


class BlockChecker(Protocol):
    """What checks the blocks that stand inside a control form."""

    def inside(self, steps: Block, env: Environment, depth: int) -> Environment:
        """Check a block one level deeper, in an environment of its own; return what is known at its end."""

    def handler(self, steps: Block, env: Environment, depth: int) -> Environment:
        """Check an `on_fail` list, where `$error` is bound; return what is known at its end."""


SavedPlanCheck = Callable[[Step, SavedPlanCall, int], Shape]
"""Checks a call of a saved plan at a depth; returns the shape of what it gives."""


class ControlFlowChecker:
    """Checks the control forms; the blocks inside of them are checked by `blocks`."""

    def __init__(
        self,
        state: CheckState,
        blocks: BlockChecker,
        names: GivenNameChecker,
        types: TypeChecker,
        saved: SavedPlanCheck,
    ) -> None:
        self._state = state
        self._catalogue, self._problems, self._values = state.catalogue, state.problems, state.values
        self._calls, self._tools, self._conditions = state.calls, state.tools, state.conditions
        self._blocks, self._names, self._types = blocks, names, types
        self._saved = saved

    def check(self, step: Step, before: Environment, depth: int) -> tuple[Shape | None, str | None]:
        """Check a control form; return the shape of what it gives, and a variable for which it may be skipped.

        `before` is what was known before the step.
        """
        match step.form:
            case If():
                return None, self._if(step, step.form, depth)
            case While():
                return None, self._while(step, step.form, depth)
            case ForEach():
                return self._for_each(step, step.form, before, depth)
            case Map():
                return self._map(step, step.form, depth)
            case Pages():
                return self._tools.pages(step, step.form, self._state.env), self._values.maybe_unbound_read
            case Parallel():
                self._parallel(step, step.form, depth)
            case Wait():
                self._wait(step, step.form)
            case Ask():
                return self._ask(step, step.form), self._values.maybe_unbound_read
            case Stop():
                self._stop(step, step.form)
            case ToolCall(tool, arguments):
                return self._tools.call(tool, arguments, step.pointer, self._state.env), self._values.maybe_unbound_read
            case SavedPlanCall():
                return self._saved(step, step.form, depth), self._values.maybe_unbound_read
        return None, self._values.maybe_unbound_read

    def _if(self, step: Step, form: If, depth: int) -> str | None:
        self._conditions.check(form.condition, self._state.env)
        doubted = self._values.maybe_unbound_read
        yes, no = guards(form.condition)
        decided = verdict(form.condition, self._state.env)
        before = self._state.env
        then = self._blocks.inside(form.then, before.with_facts(yes), depth)
        otherwise = self._blocks.inside(form.otherwise, before.with_facts(no), depth)
        if decided is not None:
            then, otherwise = (then, then) if decided else (otherwise, otherwise)
        doubts = (f"only the `then` of step {step.label} binds it", f"only the `else` of step {step.label} binds it")
        after = before.copy()
        after.join(then, otherwise, doubts)
        self._join_environment(step, after, doubted)
        return doubted

    def _join_environment(self, step: Step, after: Environment, doubted: str | None) -> None:
        """Take over what a form left; where the form may have been skipped, or what was there before."""
        if doubted is None:
            self._state.env.update_from(after)
            return
        reason = f"step {step.label} is skipped where {doubted} is unbound"
        self._state.env.join(after, self._state.env.copy(), (reason, ""), handled=True)

    def _while(self, step: Step, form: While, depth: int) -> str | None:
        outer = self._conditions.later
        self._conditions.later = outer.union(name for name, _ in bindings(form.body))
        self._conditions.check(form.condition, self._state.env)
        self._conditions.later = outer
        doubted = self._values.maybe_unbound_read
        self._ends(step, form)
        yes, no = guards(form.condition)
        doubts = (f"only the `body` of step {step.label} binds it, and that may not run", "")
        start = self._settled(form, yes, doubts, depth)
        self._conditions.check(form.condition, start)
        end = self._blocks.inside(form.body, start.with_facts(yes, loop=True), depth)
        end.changed |= start.changed
        after = self._state.env.copy()
        after.join(end, self._state.env.copy(), doubts)
        known = after.with_facts(no)
        known.changed |= after.changed
        self._join_environment(step, known, doubted)
        return doubted

    def _settled(self, form: While, yes: set[str], doubts: tuple[str, str], depth: int) -> Environment:
        """Return what is known wherever a round of a loop begins, the first and the later ones."""
        start, names = self._state.env.copy(), {name for name, _ in bindings(form.body)}
        start.between_rounds(self._state.env, names)
        for _ in range(ROUNDS):
            with self._problems.muted():
                end = self._blocks.inside(form.body, start.with_facts(yes, loop=True), depth)
            end.changed |= start.changed
            following = self._state.env.copy()
            following.join(end, self._state.env.copy(), doubts)
            following.between_rounds(self._state.env, names)
            if following.variables == start.variables:
                return following
            start = following
        for name in start.changed:
            start.bind(name, dataclasses.replace(start.variables[name], shape=Unknown()))
        return start

    def _ends(self, step: Step, form: While) -> None:
        """Refuse a loop of which nothing that it does can change whether its condition holds."""
        names = read_by(form.condition)
        if names is None or names & {name for name, _ in bindings(form.body)}:
            return
        inside = list(every_step(form.body))
        if any(self._may_change(inner) for inner in inside):
            return
        clock = reads_clock(form.condition)
        if clock and any(isinstance(inner.form, (Wait, Ask)) for inner in inside):
            return
        question = ", ".join(f"${name}" for name in sorted(names)) or "no variable"
        message = f"nothing in `body` changes what the condition reads ({question}), so the loop would never end"
        hint = "bind a variable of the condition in `body`, or leave with `stop`"
        if clock:
            hint = "`today()` and `now()` go on after a `wait` or an `ask` alone: put one into `body`"
        self._problems.error("endless-loop", join(step.pointer, "condition"), message, hint)

    def _may_change(self, step: Step) -> bool:
        """Whether a step may change a resource in place, or leave the loop."""
        match step.form:
            case Stop() | SavedPlanCall() | ToolCall() | Pages():
                return True
            case Call():
                return self._changes(step.type)
            case Map(_, operation):
                return self._changes(operation)
        return False

    def _changes(self, type_: str) -> bool:
        entry = self._catalogue.find(type_)
        return entry is None or entry.effect == "writes" or callable(entry.effect)

    def _parallel(self, step: Step, form: Parallel, depth: int) -> None:
        binders: dict[str, int] = {}
        for index, branch in enumerate(form.branches):
            for name, pointer in bindings(branch):
                if binders.setdefault(name, index) != index:
                    message = f"${name} is bound in branch {binders[name] + 1} already"
                    self._problems.error("bound-twice", pointer, message, "give each branch variables of its own")
                elif name in self._state.env.variables:
                    message = f"${name} is bound before step {step.label}, and a branch may not rebind it"
                    self._problems.error("bound-twice", pointer, message, "give it another name")
        before = self._state.env.copy()
        for branch in form.branches:
            start = before.copy()
            start.sibling_names |= self._state.env.assigned_names
            absent = self._state.env.absent_names  # what an earlier branch has given is not absent any more
            start.absent_names = {name: loops for name, loops in start.absent_names.items() if name in absent}
            end = self._blocks.inside(branch, start, depth)
            self._state.env.add_branch(before, end)
        if self._state.env.unreachable:
            # Another branch may have come to any of its steps before the plan was stopped in one.
            self._state.stopped.append(self._state.env.copy())

    def _wait(self, step: Step, form: Wait) -> None:
        if form.condition is not None:
            self._conditions.check(form.condition, self._state.env)
            return
        place = join(step.pointer, "seconds")
        value, schema = self._values.value(form.seconds, place, None, self._state.env)
        literal = value is not UNKNOWN and (isinstance(value, bool) or not isinstance(value, (int, float)))
        if literal or disjoint(schema, {"type": "number"}):
            self._problems.error("bad-value", place, "`seconds` is a number", '"seconds": 5')

    def _ask(self, step: Step, form: Ask) -> Shape:
        place = join(step.pointer, "value")
        _, schema = self._values.value(form.value, place, None, self._state.env)
        if disjoint(schema, {"type": "string"}):
            message = "the question is text"
            self._problems.error("bad-value", place, message, "`${x}` in a text is the text of `$x`")
        return NoteShape(form.schema, NO_METADATA)

    def _stop(self, step: Step, form: Stop) -> None:
        if form.value is not None:
            place = join(step.pointer, "value")
            reference = reference_or_none(form.value)
            if reference is not None:
                self._values.reference(reference, place, self._state.env)
            else:
                self._values.value(form.value, place, None, self._state.env)
        if form.status != "failed":
            self._state.stopped.append(self._state.env.copy())
        self._state.env.unreachable = True

    def follow_rounds(self, step: Step, depth: int) -> bool:
        """Check a loop's body again until a round changes nothing that is known before it. Return whether it did."""
        changes, facts = self._values.changes, self._values.facts
        if not isinstance(step.form, (ForEach, Map)) or self._problems.muted_depth > 1:
            return False
        if not changes.any_foreseen((step,), self._catalogue, facts):
            return True
        changes.deleting((step,), self._catalogue, facts, self._state.env)
        for _ in range(ROUNDS):
            since, before = changes.count, self._state.env
            self._state.env = before.copy()
            with self._problems.muted():
                self.check(step, before.copy(), depth)
            self._state.env = before
            if not changes.repeated(since, before):
                return True
        return False

    def _for_each(self, step: Step, form: ForEach, before: Environment, depth: int) -> tuple[Shape, str | None]:
        item, size = self._collection(form.target, join(step.pointer, "target"))
        doubted = self._values.maybe_unbound_read
        start = self._state.env.copy(loop=True)
        start.bind(form.as_, Variable(bare(item), (join(step.pointer, "as"),)))
        inner = start.copy()
        if not any(isinstance(one.form, Stop) for one in every_step(form.do)):
            inner.min_rounds = size or 0 if form.until is None else min(size or 0, 1)
        with self._names.one_round(inner):
            body = self._blocks.inside(form.do, inner, depth)
        collect, bound = collected(form), body
        result = None if collect is None else self._collected(step, collect, start, body)
        if isinstance(step.on_fail, tuple):
            failing = start.copy()
            failing.join(body, start, (f"an item of step {step.label} may fail before", ""), handled=True)
            if collect is not None and collect != form.as_:
                failing.variables.pop(collect, None)
                if collect in before.variables:
                    failing.bind(collect, before.variables[collect])
            handler = self._blocks.handler(step.on_fail, failing, depth)
            result = self._supplied(result, collect, start, handler)
            bound = start.copy()
            bound.join(body, handler, ("an item may fail", "an item may be well"), handled=True)
            body.add_names(handler)
        if form.until is not None:
            self._until(form.until, bound)
        self._state.env.add_names(body)
        if collect is None and step.out is not None:
            message = "nothing in `do` binds a variable, so there is nothing to collect"
            self._problems.warn("nothing-collected", join(step.pointer, "out"), message, 'give a step of `do` an "out"')
        return CollectionShape(
            bare(result) if result is not None and form.filter_null else Unknown(), NO_METADATA
        ), doubted

    def _until(self, until: Condition, bound: Environment) -> None:
        """Check the condition that ends a loop, where an item has bound what it binds at best.

        What an item leaves unbound is not true, so that it may do so is no mistake.
        """
        with self._values.tolerating_unbound():
            self._conditions.check(until, bound.with_facts(set(bound.variables)))

    def _collected(self, step: Step, collect: str, start: Environment, body: Environment) -> Shape | None:
        variable = body.find(collect)
        if variable is not None and (
            not _has_same_bindings(variable, start.variables.get(collect)) or collect == _as_of(step)
        ):
            return variable.shape
        pointer = join(step.pointer, "collect")
        own = [name for name, one in body.variables.items() if not _has_same_bindings(one, start.variables.get(name))]
        near = nearest(collect, own)
        hint = f"did you mean ${near}?" if near else "`collect` names the `out` of a step in `do`"
        fix = replace(pointer, f"${near}") if near and is_misspelling(collect, near) else None
        self._problems.error("unbound-variable", pointer, f"nothing in `do` binds ${collect}", hint, fix)
        return None

    @staticmethod
    def _supplied(result: Shape | None, name: str | None, start: Environment, handler: Environment) -> Shape | None:
        """What an item gives when an `on_fail` list may supply it instead."""
        variable = handler.find(name) if name is not None else None
        if variable is None or result is None or _has_same_bindings(variable, start.variables.get(name or "")):
            return result
        return union(result, variable.shape)

    def _map(self, step: Step, form: Map, depth: int) -> tuple[Shape, str | None]:
        item, size = self._collection(form.target, join(step.pointer, "target"))
        env = self._state.env.copy(loop=True)
        env.min_rounds = size or 0
        env.bind("item", Variable(bare(item), (join(step.pointer, "target"),)))
        place = form.pointer if form.named else join(form.pointer, "type")
        result_shape: Shape | None = Unknown()
        if "/" in form.operation:
            value, arguments_pointer = form.arguments.get("arguments", {}), join(form.pointer, "arguments")
            values = value if isinstance(value, dict) else {}
            tool = self._tools.find_for(form.operation, place, values, arguments_pointer, env)
            self._tools.arguments(tool, value, arguments_pointer, env)
            result_shape = NoteShape(result_schema(tool) if tool else None, NO_METADATA)
        else:
            entry = self._types.find(form.operation, place, form.arguments, form.pointer, forms=False)
            if entry is not None:
                self._types.check_model(entry, place)
                result_shape = self._mapped(step, form, entry, item, env)
        doubted = self._values.maybe_unbound_read
        if isinstance(step.on_fail, tuple):
            handler = self._blocks.handler(step.on_fail, env.copy(), depth)
            result_shape = self._supplied(result_shape, step.out, env, handler)
            self._state.env.add_names(handler)
        return CollectionShape(
            bare(result_shape) if result_shape is not None and form.filter_null else Unknown(), NO_METADATA
        ), doubted

    def _mapped(self, step: Step, form: Map, entry: Primitive, item: Shape, env: Environment) -> Shape | None:
        arguments_pointer, arguments = (step.pointer if form.named and form.arguments else form.pointer), form.arguments
        if form.named:
            arguments = {name: raw for name, raw in arguments.items() if name in entry.arguments}
        slot = item_slot(entry, arguments, item.kinds)
        if slot is None:
            return self._named_each(
                entry, arguments, arguments_pointer, env, self._calls.check(entry, arguments, arguments_pointer, env)
            )
        kinds = entry.arguments[slot].kinds
        if not item.kinds & kinds:
            expected = " or ".join(f"a {kind}" for kind in sorted(kinds))
            message = f"each item is {describe(item)}, and {entry.type} wants {expected}"
            place = join(step.pointer, "target")
            self._problems.error("wrong-kind", place, message, "`for-each` can do several steps an item")
            item = Unknown()
        result_shape = self._calls.check(entry, arguments, arguments_pointer, env, {slot: bare(item)})
        return self._named_each(entry, arguments, arguments_pointer, env, result_shape)

    def _named_each(
        self,
        entry: Primitive,
        arguments: Mapping[str, JSON],
        pointer: str,
        env: Environment,
        result_shape: Shape | None,
    ) -> Shape | None:
        """Check the name that an operation of `map` gives to each item, which can be but one item's."""
        value = arguments.get(entry.names) if entry.names is not None else None
        if entry.names is None or not isinstance(value, str):
            return result_shape
        outer, self._state.env = self._state.env, env
        with self._names.one_round(env):
            self._names.check(Step("", "", "", Call(arguments)), value, join(pointer, entry.names), result_shape)
        self._state.env = outer
        outer.add_names(env)
        if not self._problems.muted_depth:
            self._values.changes.deleted = True
        return result_shape

    def _collection(self, raw: JSON, pointer: str) -> tuple[Shape, int | None]:
        """Check what a loop goes over; return the shape of an item, and how many there are if that is known."""
        shape = self._values.resource(raw, pointer, frozenset({Kind.COLLECTION}), self._state.env, lists=True)
        return (shape.item, shape.facts.size) if isinstance(shape, CollectionShape) else (Unknown(), None)


def _has_same_bindings(variable: Variable, before: Variable | None) -> bool:
    """Whether a variable is bound by the steps that bound it before; what it is bound to may have changed."""
    return before is not None and variable.places == before.places


def _as_of(step: Step) -> str | None:
    return step.form.as_ if isinstance(step.form, ForEach) else None
