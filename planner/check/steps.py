"""Checking steps in document order: what each binds and names, and what becomes of it where steps may fail."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from infospace.contract.catalogue import Catalogue
from infospace.contract.decorator import Primitive
from infospace.core.json_types import JSON
from infospace.core.names import name_error, normalised
from infospace.data.paths import nearest
from infospace.schema.shapes import (
    NO_METADATA,
    NoteShape,
    Shape,
    Unknown,
    bare,
    disjoint,
    is_itself,
    union,
    with_identity,
)
from planner.check.calls import CallChecker
from planner.check.conditions import ConditionChecker
from planner.check.environment import Environment, Given, Variable
from planner.check.space_facts import SpaceFacts
from planner.check.tool_calls import ToolChecker
from planner.check.values import ValueChecker
from planner.language.plan import Block, Budget, Call, ForEach, Map, Parallel, Saved, Step, UnparsedStep
from planner.language.problems import Problems, join, replace
from planner.parse.conditions import queried_name
from planner.parse.control_flow import FORMS
from planner.repair.unknown_arguments import suggest_types, translate_legacy

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


class StepChecker(ABC):
    """Walks steps; `env` is what is known after the last of them. The control forms are in `check_forms`."""

    def __init__(self, catalogue: Catalogue, known: SpaceFacts, problems: Problems) -> None:
        self.problems = problems
        self.env = Environment()
        self.bound: list[tuple[str, str]] = []
        """Pointers and names of the bindings that are made for something to read them."""
        self._catalogue = catalogue
        self._values = ValueChecker(known, problems)
        self._tools = ToolChecker(catalogue, self._values, problems)
        self._calls = CallChecker(self._values, self._tools, problems)
        self._conditions = ConditionChecker(self._values, self._tools, problems)
        self._most = Budget().depth
        self._handled = False
        """Whether an `on_fail` of the step, or around it, handles that it fails."""
        self._around = False
        """Whether an `on_fail` around it does."""

    def block(self, steps: Block, depth: int = 1, most: int | None = None) -> None:
        """Check steps in the present environment, and bind what they bind. `most` is the depth allowed."""
        self._most = most if most is not None else self._most
        if steps and depth > self._most:
            message = f"this is nested {depth} deep, and the budget allows {self._most}"
            self.problems.error("too-deep", steps[0].pointer, message, f'"budget": {{"depth": {depth}}}')
            return
        told = self.env.dead
        for step in steps:
            if self.env.dead and not told:
                told = True
                self.problems.warn("unreachable", step.pointer, "no path leads here: the plan was stopped before")
            self._step(step, depth)

    def _inside(self, steps: Block, env: Environment, depth: int) -> Environment:
        outer, self.env = self.env, env
        self.block(steps, depth + 1)
        self.env = outer
        return env

    def _step(self, step: Step, depth: int) -> None:
        ahead = isinstance(step.form, (ForEach, Map, Parallel, Saved)) or step.on_fail != "stop"
        if ahead and not self._gone_through(step, depth):
            steps = (step,) if not isinstance(step.form, Call) else ()
            self._values.changes.foresee(steps, self._catalogue, self._values.known, self.env)
        before = self.env.copy() if step.on_fail != "stop" else self.env
        outer, self._around = (self._around, self._handled), self._handled
        self._handled = self._values.handled = self._handled or step.on_fail != "stop"
        self._values.doubted = None
        match step.form:
            case Call(arguments):
                self._values.may_be_absent = step.type == "load" and step.on_fail != "stop"
                shape = self._call(step, dict(arguments))
                self._values.may_be_absent = False
                doubted = self._values.doubted
            case UnparsedStep(outs):
                shape, doubted = Unknown(), None
                for name in outs:
                    self.env.bind(name, GUESSED)
            case _:
                shape, doubted = self._form(step, before, depth)
        self._values.doubted = None
        if shape is not None and shape.facts.which is None:
            shape = with_identity(shape, object())
        shape = self._name(step, shape)
        doubted = doubted or self._values.doubted
        self._out(step, shape, doubted)
        if step.on_fail != "stop" and not isinstance(step.form, (ForEach, Map)):
            self._on_fail(step, before, depth)
        self._around, self._handled = outer
        self._values.handled = self._handled

    @abstractmethod
    def _gone_through(self, step: Step, depth: int) -> bool:
        """Take into account what a loop changes before a round of it is looked at; whether that is known in full."""

    @abstractmethod
    def _form(self, step: Step, before: Environment, depth: int) -> tuple[Shape | None, str | None]:
        """Check a control form; return the shape of what it gives, and a variable for which it may be skipped.

        `before` is what was known before the step.
        """

    # Calls

    def _call(self, step: Step, arguments: dict[str, JSON]) -> Shape | None:
        entry = self._entry(step.type, join(step.pointer, "type"), arguments, step.pointer)
        if entry is None:
            return self._unknown_call(step, arguments)
        self._model(entry, join(step.pointer, "type"))
        gives = self._calls.check(entry, arguments, step.pointer, self.env)
        if entry.out == "required" and step.out is None and not self.problems.below(join(step.pointer, "out")):
            fix = [{"op": "add", "path": join(step.pointer, "out"), "value": "$" + _fresh(step.type, self.env)}]
            message = f"{step.type} needs `out`, a `$variable` for its result"
            self.problems.error("missing-out", step.pointer, message, '"out": "$hits"', fix)
        if entry.out != "none" and gives is not None:
            return gives
        for key, value in (("out", step.out), ("name", step.name)):
            if value is not None:
                place = join(step.pointer, key)
                here = "" if entry.out == "none" else " here"
                message = f"{step.type} gives nothing{here}, so it has no `{key}`"
                self.problems.error("unwanted-out", place, message, "leave it out", [{"op": "remove", "path": place}])
        return Unknown() if step.out is not None else None

    def _model(self, entry: Primitive, pointer: str) -> None:
        """Say that a call needs a language model and none is configured: an error, unless an `on_fail` handles it."""
        why = self._catalogue.why_unasked() if entry.asks else None
        if why is None:
            return
        message = f"{entry.type} asks a language model: {why.message}"
        if self._handled:
            self.problems.warn(
                "no-model", pointer, message, why.hint or "without one it fails, which `on_fail` handles"
            )
        else:
            self.problems.error("no-model", pointer, message, why.hint or "`on_fail` can handle that there is none")

    def _unknown_call(self, step: Step, arguments: dict[str, JSON]) -> Shape:
        """Check the references of a call that the catalogue does not have, by the entry that is nearest."""
        former = self._catalogue.find_alias(step.type)
        near = former.type if former else nearest(step.type, self._catalogue.types())
        if near is None:
            for key, raw in arguments.items():
                self._values.references(raw, join(step.pointer, key), self.env)
            return Unknown()
        gives = self._calls.check(self._catalogue.get(near), arguments, step.pointer, self.env, quiet=True)
        return gives or Unknown()

    def _entry(
        self, type_: str, pointer: str, raw: Mapping[str, JSON], around: str, *, forms: bool = True
    ) -> Primitive | None:
        """Return the entry of a type; that there is none is told at `pointer`, of the call that stands at `around`."""
        entry = self._catalogue.find(type_)
        if entry is not None:
            return entry
        former = self._catalogue.find_alias(type_)
        if former is not None:
            message, hint = f"{type_!r} is called {former.type!r} here", f'"type": "{former.type}"'
            self.problems.error("unknown-type", pointer, message, hint, translate_legacy(former, raw, pointer, around))
            return None
        several = suggest_types(type_, raw, self._catalogue)
        if several:
            hint = f"did you mean {' or '.join(map(repr, several))}?"
            fix = replace(pointer, several[0]) if len(several) == 1 else None
            self.problems.error("unknown-type", pointer, f"there is no step type {type_!r}", hint, fix)
            return None
        known = [*self._catalogue.types(), *(FORMS if forms else ())]
        near = nearest(type_, known) or self._catalogue.tools.closest(type_)
        hint = f"did you mean {near!r}?" if near else "`infospace primitives` lists them"
        fix = replace(pointer, near) if near else None
        self.problems.error("unknown-type", pointer, f"there is no step type {type_!r}", hint, fix)
        return None

    # Names and variables

    def _name(self, step: Step, shape: Shape | None) -> Shape | None:
        """Check the name that a step gives; return the shape of its result, which may be who had the name before."""
        entry = self._catalogue.find(step.type) if isinstance(step.form, Call) else None
        renames = None if entry is None else entry.names
        if step.replace and step.name is None and renames is None:
            place = join(step.pointer, "replace")
            self.problems.error(
                "bad-value",
                place,
                "`replace` goes with `name`",
                "add `name`, or leave `replace` out",
                [{"op": "remove", "path": place}],
            )
        if renames is not None and isinstance(step.form, Call) and isinstance(step.form.arguments.get(renames), str):
            self.env.there.clear()
            shape = self._check_result_name(step, step.form.arguments[renames], join(step.pointer, renames), shape)
            self._values.changes.deleted = True
        if step.name is not None:
            shape = self._check_result_name(step, step.name, join(step.pointer, "name"), shape)
        return shape

    def _check_result_name(self, step: Step, written: JSON, pointer: str, shape: Shape | None) -> Shape | None:
        """Check the name that a step gives to its result, and remember that it has it; return the result's shape."""
        name, schema = self._values.value(written, pointer, None, self.env)
        if not isinstance(name, str):
            if schema is not None and disjoint(schema, {"type": "string"}):
                self.problems.error("bad-argument", pointer, "`name` is text", "write `${x}` for the text of `$x`")
            elif step.replace:
                self._values.changes.replaced(Unknown(), shape or Unknown(), self.env)
            return shape
        fault = name_error(name)
        if fault is not None:
            self.problems.error("bad-name", pointer, fault.message, fault.hint)
            return shape
        name = normalised(name)
        if step.replace:
            holders = list(self._holders(name))
            for holder in holders:
                self._values.changes.replaced(holder, shape or Unknown(), self.env)
            if shape is not None and any(holder.kinds & shape.kinds for holder in holders):
                shape = self._over(shape, holders)
        elif name not in self.env.absent:
            self._report_name_taken(step, name, pointer)
        self.env.absent.discard(name)
        if shape is not None and self._values.doubted is None:
            self._renamed(name, shape.facts.which)
        self.env.given[name] = Given(shape or Unknown(), certain=self._values.doubted is None)
        return shape

    @staticmethod
    def _over(shape: Shape, holders: Sequence[Shape]) -> Shape:
        """The result of a step that replaces: where kinds are one, that is who had the name."""
        same = len(holders) == 1 and holders[0].kinds == shape.kinds and is_itself(shape) and is_itself(holders[0])
        return with_identity(bare(shape), holders[0].facts.which if same else object())

    def _renamed(self, name: str, which: object) -> None:
        """What gets a name is known by no other that it had."""
        for other, given in list(self.env.given.items()):
            if other != name and given.certain and given.shape.facts.which is which:
                del self.env.given[other]
                self.env.absent.add(other)
        if isinstance(which, str) and self._values.known.holder(name) != which:
            self.env.renamed.add(which)

    def _holders(self, name: str) -> Iterator[Shape]:
        """Iterate over what may have a name: what earlier steps gave it to, also in branches beside; the space."""
        given = [found.shape for found in (self.env.given.get(name), self.env.beside.get(name)) if found is not None]
        yield from (shape for shape in given if shape.facts.which not in self.env.gone)
        known, which = self._values.known.shape(name), self._values.known.holder(name)
        if known is not None and which not in self.env.gone:
            yield with_identity(self._values.changes.shape(name, known), which)
        elif name in self.env.there:
            yield Unknown()

    def _report_name_taken(self, step: Step, name: str, pointer: str) -> None:
        holder = self._values.known.holder(name)
        given = self.env.given.get(name) or self.env.beside.get(name)
        hint, fix = '`"replace": true` takes it over', None
        if step.type:
            fix = [{"op": "add", "path": join(step.pointer, "replace"), "value": True}]
        else:
            hint = "`for-each` with `${item}` in the name gives each item its own"
        if self._values.changes.deleted and (holder is not None or given is not None):
            message = f"the name {name!r} may be taken: {holder or 'an earlier step'} had it, and it may be free by now"
            self.problems.warn("name-taken", pointer, message, hint, fix)
        elif given is not None and given.certain:
            self.problems.error(
                "name-taken", pointer, f"the name {name!r} is taken: an earlier step gives it", hint, fix
            )
        elif given is not None:
            message = f"the name {name!r} may be taken: an earlier step gives it on some path"
            self.problems.warn("name-taken", pointer, message, hint, fix)
        elif holder is not None:
            self.problems.error("name-taken", pointer, f"the name {name!r} is taken: {holder} has it", hint, fix)
        elif self.env.loops:
            certain = self.env.times > 1 and not self._handled
            message = f"from the second {'item' if certain else 'item or round'} on, the name {name!r} is taken"
            report = self.problems.error if certain else self.problems.warn
            report("name-taken", pointer, message, f"{hint}; `${{item}}` in it makes it each item's own", fix)

    def _out(self, step: Step, shape: Shape | None, doubted: str | None) -> None:
        if step.out is None or shape is None:
            return
        pointer = join(step.pointer, "out")
        earlier = self.env.variables.get(step.out)
        if earlier is not None and not self.env.loops and earlier != GUESSED and not self.problems.below(pointer):
            message = f"${step.out} is bound already; steps after this one see the new value"
            self.problems.warn("rebound", pointer, message)
        if step.name is None and not self._writes(step):
            self.bound.append((pointer, step.out))
        doubt = None if doubted is None else f"step {step.label} is skipped where {doubted} is unbound"
        if earlier is not None and doubt is not None:
            places = tuple(dict.fromkeys((*earlier.places, pointer)))
            both = Variable(union(earlier.shape, shape), places, earlier.doubt, earlier.handled)
            self.env.bind(step.out, both)
        else:
            extra = self._calls.extra if isinstance(step.form, Call) else None
            self.env.bind(step.out, Variable(shape, (pointer,), doubt, doubt is not None, extra))

    def _writes(self, step: Step) -> bool:
        entry = self._catalogue.find(step.type)
        return entry is not None and entry.effect == "writes"

    def _on_fail(self, step: Step, before: Environment, depth: int) -> None:
        handler, doubt = before, f"step {step.label} may fail"
        if isinstance(step.on_fail, tuple):
            start = before.copy()
            start.absent |= _missed(step)
            handler = self._handler(step.on_fail, start, depth)
            doubt += ", and its `on_fail` does not bind it"
        doubts = (doubt, f"only the `on_fail` of step {step.label} binds it")
        good = self.env.copy()
        good.changed, good.dead = set(self.env.changed), self.env.dead
        self.env.join(good, handler, doubts, handled=True)

    def _handler(self, steps: Block, env: Environment, depth: int) -> Environment:
        outer = env.variables.get("error")
        env.bind("error", Variable(ERROR))
        handled, self._handled = self._handled, self._around
        self._inside(steps, env, depth)
        self._handled = self._values.handled = handled
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
