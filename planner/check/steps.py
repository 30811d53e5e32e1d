"""Checking steps in document order: what each binds and names, and what becomes of it where steps may fail."""

from __future__ import annotations

from collections.abc import Callable

from infospace.core.json_types import JSON
from infospace.schema.shapes import (
    NO_METADATA,
    NoteShape,
    Shape,
    Unknown,
    union,
    with_identity,
)
from planner.check.control_flow import ControlFlowChecker, SavedPlanCheck
from planner.check.environment import Environment, Variable
from planner.check.names import GivenNameChecker
from planner.check.state import CheckState
from planner.check.step_types import TypeChecker
from planner.language.plan import Block, Call, ForEach, Map, Parallel, Step, UnparsedStep
from planner.language.problems import join
from planner.parse.conditions import queried_name

ERROR = NoteShape(
    {
        "type": "object",
        "properties": {key: {"type": "string"} for key in ("step", "type", "reason", "kind")},
        "required": ["step", "type", "reason", "kind"],
        "additionalProperties": False,
    },
    NO_METADATA,
)
"""The shape of `$error` in an `on_fail` list."""


GUESSED = Variable(Unknown())
"""What a step may have bound that could not be read."""


class StepChecker:
    """Walks the steps of a block in document order; hands control forms to `ControlFlowChecker`."""

    def __init__(
        self,
        state: CheckState,
        saved: SavedPlanCheck,
        on_step: Callable[[Step, Environment], None] | None = None,
    ) -> None:
        self._state = state
        self._catalogue, self._problems, self._values = state.catalogue, state.problems, state.values
        self._calls = state.calls
        self._names, self._types = GivenNameChecker(state), TypeChecker(state)
        self._forms = ControlFlowChecker(state, self, self._names, self._types, saved)
        self._on_step = on_step

    def block(self, steps: Block, depth: int = 1, most: int | None = None) -> None:
        """Check steps in the present environment, and bind what they bind. `most` is the depth allowed."""
        self._state.max_depth = most if most is not None else self._state.max_depth
        if steps and depth > self._state.max_depth:
            message = f"this is nested {depth} deep, and the budget allows {self._state.max_depth}"
            self._problems.error("too-deep", steps[0].pointer, message, f'"budget": {{"depth": {depth}}}')
            return
        was_reported = self._state.env.unreachable
        for step in steps:
            if self._state.env.unreachable and not was_reported:
                was_reported = True
                self._problems.warn("unreachable", step.pointer, "no path leads here: the plan was stopped before")
            self._step(step, depth)

    def called(self, steps: Block, depth: int, most: int) -> None:
        """Check the steps of a saved plan that is called, which may be a round of the loop that the call stands in."""
        with self._names.one_round(self._state.env):
            self.block(steps, depth, most)

    def inside(self, steps: Block, env: Environment, depth: int) -> Environment:
        """Check a block one level deeper, in an environment of its own; return what is known at its end."""
        with self._state.in_environment(env):
            self.block(steps, depth + 1)
        return env

    def _step(self, step: Step, depth: int) -> None:
        if self._on_step is not None:
            self._on_step(step, self._state.env)
        if isinstance(step.form, (ForEach, Map, Parallel)) and not self._forms.follow_rounds(step, depth):
            self._foresee(step, self._state.env)
        before = self._state.env.copy() if step.on_fail != "stop" else self._state.env
        outer, self._state.around = (self._state.around, self._state.handled), self._state.handled
        self._state.handled = self._values.leniency.handled = self._state.handled or step.on_fail != "stop"
        self._values.maybe_unbound_read = None
        match step.form:
            case Call(arguments):
                self._values.leniency.absent_names = step.type == "load" and step.on_fail != "stop"
                shape = self._call(step, dict(arguments))
                self._values.leniency.absent_names = False
                doubted = self._values.maybe_unbound_read
            case UnparsedStep(outs):
                shape, doubted = Unknown(), None
                for name in outs:
                    self._state.env.bind(name, GUESSED)
            case _:
                shape, doubted = self._forms.check(step, before, depth)
        self._values.maybe_unbound_read = None
        if shape is not None and shape.facts.which is None:
            shape = with_identity(shape, object())
        shape = self._names.check_step(step, shape)
        doubted = doubted or self._values.maybe_unbound_read
        self._out(step, shape, doubted)
        if step.on_fail != "stop" and not isinstance(step.form, (ForEach, Map)):
            if not isinstance(step.form, Call):
                self._foresee(step, before)
            self._on_fail(step, before, depth)
        self._state.around, self._state.handled = outer
        self._values.leniency.handled = self._state.handled

    def _foresee(self, step: Step, env: Environment) -> None:
        """Know of what the steps inside a step may change no more than is so whichever of them were run."""
        self._values.changes.foresee((step,), self._catalogue, self._values.facts, env)

    # Calls

    def _call(self, step: Step, arguments: dict[str, JSON]) -> Shape | None:
        entry = self._types.find(step.type, join(step.pointer, "type"), arguments, step.pointer)
        if entry is None:
            return self._unknown_call(step, arguments)
        self._types.check_model(entry, join(step.pointer, "type"))
        result_shape = self._calls.check(entry, arguments, step.pointer, self._state.env)
        if entry.out == "required" and step.out is None and not self._problems.below(join(step.pointer, "out")):
            fix = [{"op": "add", "path": join(step.pointer, "out"), "value": "$" + _fresh(step.type, self._state.env)}]
            message = f"{step.type} needs `out`, a `$variable` for its result"
            self._problems.error("missing-out", step.pointer, message, '"out": "$hits"', fix)
        if entry.out != "none" and result_shape is not None:
            return result_shape
        for key, value in (("out", step.out), ("name", step.name)):
            if value is not None:
                place = join(step.pointer, key)
                here = "" if entry.out == "none" else " here"
                message = f"{step.type} gives nothing{here}, so it has no `{key}`"
                self._problems.error("unwanted-out", place, message, "leave it out", [{"op": "remove", "path": place}])
        return Unknown() if step.out is not None else None

    def _unknown_call(self, step: Step, arguments: dict[str, JSON]) -> Shape:
        """Check the references of a call that the catalogue does not have, by the entry that was called so."""
        former = self._catalogue.find_alias(step.type)
        if former is None:
            self._calls.extra = None
            for key, raw in arguments.items():
                self._values.references(raw, join(step.pointer, key), self._state.env)
            return Unknown()
        result_shape = self._calls.check(former, arguments, step.pointer, self._state.env, quiet=True)
        return result_shape or Unknown()

    # Names and variables

    def _out(self, step: Step, shape: Shape | None, doubted: str | None) -> None:
        if step.out is None or shape is None:
            return
        pointer = join(step.pointer, "out")
        earlier = self._state.env.variables.get(step.out)
        if (
            earlier is not None
            and not self._state.env.loops
            and earlier != GUESSED
            and not self._problems.below(pointer)
        ):
            message = f"${step.out} is bound already; steps after this one see the new value"
            self._problems.warn("rebound", pointer, message)
        if step.name is None and not self._writes(step):
            self._state.bound.append((pointer, step.out))
        doubt = None if doubted is None else f"step {step.label} is skipped where {doubted} is unbound"
        if earlier is not None and doubt is not None:
            places = tuple(dict.fromkeys((*earlier.places, pointer)))
            both = Variable(union(earlier.shape, shape), places, earlier.unbound_reason, earlier.handled)
            self._state.env.bind(step.out, both)
        else:
            extra = self._calls.extra if isinstance(step.form, Call) else None
            self._state.env.bind(step.out, Variable(shape, (pointer,), doubt, doubt is not None, extra))

    def _writes(self, step: Step) -> bool:
        entry = self._catalogue.find(step.type)
        return entry is not None and entry.effect == "writes"

    def _on_fail(self, step: Step, before: Environment, depth: int) -> None:
        handler, doubt = before, f"step {step.label} may fail"
        if isinstance(step.on_fail, tuple):
            start = before.copy()
            start.absent_names |= dict.fromkeys(_missed(step), start.loops)
            handler = self.handler(step.on_fail, start, depth)
            doubt += ", and its `on_fail` does not bind it"
        doubts = (doubt, f"only the `on_fail` of step {step.label} binds it")
        good = self._state.env.copy()
        good.changed, good.unreachable = set(self._state.env.changed), self._state.env.unreachable
        self._state.env.join(good, handler, doubts, handled=True)

    def handler(self, steps: Block, env: Environment, depth: int) -> Environment:
        """Check an `on_fail` list, where `$error` is bound; return what is known at its end."""
        outer = env.variables.get("error")
        env.bind("error", Variable(ERROR))
        handled, self._state.handled = self._state.handled, self._state.around
        self.inside(steps, env, depth)
        self._state.handled = self._values.leniency.handled = handled
        if outer is not None:
            env.bind("error", outer)
        else:
            env.variables.pop("error", None)
        return env


def _missed(step: Step) -> set[str]:
    """The name that the space has not where a step has failed: a `load` of the whole of it fails for nothing else."""
    name = queried_name(step.form.arguments) if step.type == "load" and isinstance(step.form, Call) else None
    whole = isinstance(step.form, Call) and "slice" not in step.form.arguments
    return set() if name is None or not whole or step.timeout_s is not None else {name}


def _fresh(type_: str, env: Environment) -> str:
    """A variable name for a step that forgot it."""
    base = type_.rpartition("-")[2]
    name, number = base, 2
    while name in env.variables:
        name, number = f"{base}{number}", number + 1
    return name
