"""The check: everything that is wrong with a plan, before anything happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as changed
from typing import Any

from infospace.catalogue import Catalogue
from infospace.contract import Primitive
from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.kinds import (
    NO_METADATA,
    CollectionShape,
    NoteShape,
    RelationShape,
    Shape,
    Unknown,
    describe,
    never_fits,
)
from infospace.names import name_fault
from infospace.paths import nearest
from planner.check_call import CallChecker, first_resource
from planner.check_values import ValueChecker
from planner.conditions import COMPARED, EXISTENCE
from planner.environment import Environment, Variable
from planner.forms import FORMS, LATER
from planner.known import Known
from planner.parse import parse_plan
from planner.plan import All, AnyOf, Block, Call, Condition, ForEach, If, Map, Not, Plan, Step, Test
from planner.problems import Problems, join, replace
from planner.references import Literal, Reference, ReferenceInvalid, read_text, whole_reference

ERROR = NoteShape(
    {
        "type": "object",
        "properties": {key: {"type": "string"} for key in ("step", "type", "reason", "kind")},
        "additionalProperties": False,
    },
    NO_METADATA,
)
"""The shape of `$error` in an `on_fail` list."""

_KINDS: Mapping[str, Shape] = {
    Kind.NOTE: NoteShape(),
    Kind.COLLECTION: CollectionShape(),
    Kind.RELATION: RelationShape(),
}


def check(document: JSON, catalogue: Catalogue, known: Known) -> tuple[Plan, Problems]:
    """Read and check a whole plan; all problems at once. Nothing is run, nothing is changed."""
    problems = Problems()
    plan = parse_plan(document, problems)
    checker = Checker(catalogue, known, problems)
    checker.inputs(plan)
    checker.block(plan.steps, depth=1, most=plan.budget.depth)
    checker.result(plan)
    return plan, problems


class Checker:
    """Walks a plan in document order with what is known of each variable. A session extends it line by line."""

    def __init__(self, catalogue: Catalogue, known: Known, problems: Problems) -> None:
        self.problems = problems
        self.env = Environment()
        self._catalogue = catalogue
        self._values = ValueChecker(known, problems)
        self._calls = CallChecker(self._values, problems)
        self._most = 10

    def inputs(self, plan: Plan) -> None:
        """Bind the declared inputs."""
        for declared in plan.inputs.values():
            if declared.kind is None:
                shape: Shape = NoteShape(declared.schema or None, NO_METADATA)
            else:
                shape = _KINDS[declared.kind]
                if declared.default is not None:
                    pointer = join(declared.pointer, "default")
                    self._values.resource(declared.default, pointer, frozenset({Kind(declared.kind)}), Environment())
            self.env.bind(declared.name, Variable(shape, declared.pointer))

    def result(self, plan: Plan) -> None:
        """Check what the plan says that it answers with."""
        if plan.result is None:
            return
        reference = self._whole(plan.result)
        if reference is None:
            self.problems.error(
                "bad-value", "/result", f"`result` is one `$variable`, not {plan.result!r:.60}", '"result": "$report"'
            )
            return
        self._values.reference(reference, "/result", self.env)

    @staticmethod
    def _whole(raw: JSON) -> Reference | None:
        try:
            return whole_reference(raw) if isinstance(raw, str) else None
        except ReferenceInvalid:
            return None

    def block(self, steps: Block, depth: int = 1, most: int | None = None) -> None:
        """Check steps in the present environment, and bind what they bind."""
        self._most = most if most is not None else self._most
        if steps and depth > self._most:
            self.problems.error(
                "too-deep",
                steps[0].pointer,
                f"this is nested {depth} deep, and the budget allows {self._most}",
                '"budget": {"depth": …}',
            )
            return
        for step in steps:
            self._step(step, depth)

    def _inside(self, steps: Block, env: Environment, depth: int) -> Environment:
        outer, self.env = self.env, env
        self.block(steps, depth + 1)
        self.env = outer
        return env

    def _step(self, step: Step, depth: int) -> None:
        before = self.env.copy()
        match step.form:
            case Call(arguments):
                shape = self._call(step, arguments)
            case If():
                self._if(step, step.form, depth)
                shape = None
            case ForEach():
                shape = self._for_each(step, step.form, depth)
            case Map():
                shape = self._map(step, step.form)
        self._name(step, shape)
        self._out(step, shape)
        self._on_fail(step, before, shape, depth)

    # Calls

    def _call(self, step: Step, arguments: Mapping[str, JSON]) -> Shape | None:
        entry = self._entry(step.type, join(step.pointer, "type"))
        if entry is None:
            for key, raw in arguments.items():
                self._values.value(raw, join(step.pointer, key), None, self.env)
            return Unknown()
        gives = self._calls.check(entry, arguments, step.pointer, self.env).gives
        if entry.out == "required" and step.out is None:
            fix = [{"op": "add", "path": join(step.pointer, "out"), "value": "$" + _fresh(step.type, self.env)}]
            self.problems.error(
                "missing-out",
                step.pointer,
                f"{step.type} needs `out`, a `$variable` for its result",
                '"out": "$hits"',
                fix,
            )
        if entry.out != "none":
            return gives
        for key, value in (("out", step.out), ("name", step.name)):
            if value is not None:
                place = join(step.pointer, key)
                self.problems.error(
                    "unwanted-out",
                    place,
                    f"{step.type} gives nothing, so it has no `{key}`",
                    "leave it out",
                    [{"op": "remove", "path": place}],
                )
        return None

    def _entry(self, type_: str, pointer: str) -> Primitive | None:
        entry = self._catalogue.find(type_)
        if entry is not None:
            return entry
        known = [*self._catalogue.types(), *FORMS, *LATER]
        near = nearest(type_, known)
        hint = f"did you mean {near!r}?" if near else "`infospace primitives` lists them"
        self.problems.error(
            "unknown-type", pointer, f"there is no step type {type_!r}", hint, replace(pointer, near) if near else None
        )
        return None

    # Names and variables

    def _name(self, step: Step, shape: Shape | None) -> None:
        if step.name is None:
            return
        pointer = join(step.pointer, "name")
        name, schema = self._values.value(step.name, pointer, None, self.env)
        if not isinstance(name, str):
            if schema is not None and never_fits(schema, {"type": "string"}):
                self.problems.error("bad-argument", pointer, "`name` is text", "write `${x}` for the text of `$x`")
            return
        fault = name_fault(name)
        if fault is not None:
            self.problems.error("bad-name", pointer, fault.says, fault.hint)
            return
        holder = self._values.known.holder(name)
        if not step.replace and (holder is not None or name in self._values.given):
            who = f"{holder} has it" if holder is not None else "an earlier step gives it"
            fix = [{"op": "add", "path": join(step.pointer, "replace"), "value": True}]
            self.problems.error(
                "name-taken", pointer, f"the name {name!r} is taken: {who}", '`"replace": true` takes it over', fix
            )
        self._values.given[name] = shape or Unknown()

    def _out(self, step: Step, shape: Shape | None) -> None:
        if step.out is None or shape is None:
            return
        earlier = self.env.variables.get(step.out)
        pointer = join(step.pointer, "out")
        if earlier is not None and not self.env.loops:
            self.problems.warn(
                "rebound", pointer, f"${step.out} is bound already; steps after this one see the new value"
            )
        self.env.bind(step.out, Variable(shape, pointer))

    def _on_fail(self, step: Step, before: Environment, shape: Shape | None, depth: int) -> None:
        if step.on_fail == "stop":
            return
        if isinstance(step.on_fail, tuple):
            handler = before.copy()
            handler.bind("error", Variable(ERROR, join(step.pointer, "on_fail")))
            self._inside(step.on_fail, handler, depth)
            handler.variables.pop("error", None)
        else:
            handler = before
        if isinstance(step.form, (ForEach, Map)):
            return
        good = self.env.copy()
        doubt = f"step {step.label} may fail" + (
            ", and its `on_fail` does not bind it" if step.on_fail != "continue" else ""
        )
        self.env.join(good, handler, (doubt, f"only the `on_fail` of step {step.label} binds it"))
        for name, variable in list(self.env.variables.items()):
            if variable.doubt == doubt:
                self.env.bind(name, changed(variable, handled=True))
        del shape

    # Forms

    def _if(self, step: Step, form: If, depth: int) -> None:
        self._condition(form.condition, self.env)
        yes, no = _guards(form.condition)
        then = self._inside(form.then, self.env.certainly(yes), depth)
        otherwise = self._inside(form.otherwise, self.env.certainly(no), depth)
        for env, names in ((then, yes), (otherwise, no)):
            for name in names & self.env.variables.keys():
                if env.variables[name].pointer == self.env.variables[name].pointer:
                    env.bind(name, self.env.variables[name])
        doubts = (f"only the `then` of step {step.label} binds it", f"only the `else` of step {step.label} binds it")
        self.env.join(then, otherwise, doubts)

    def _for_each(self, step: Step, form: ForEach, depth: int) -> Shape:
        item = self._collection(form.target, join(step.pointer, "target"))
        body = self.env.copy(loop=True)
        body.bind(form.as_, Variable(item, join(step.pointer, "as")))
        outside = dict(body.variables)
        self._inside(form.do, body, depth)
        collect = form.collect or last_out(form.do)
        if collect is None:
            if step.out is not None:
                place = join(step.pointer, "out")
                self.problems.error(
                    "bad-value",
                    place,
                    "nothing in `do` binds a variable, so there is nothing to collect",
                    'give a step of `do` an "out"',
                )
            return CollectionShape()
        found = body.variables.get(collect)
        if found is None or (found is outside.get(collect) and collect != form.as_):
            pointer = join(step.pointer, "collect")
            near = nearest(collect, [name for name in body.variables if body.variables[name] is not outside.get(name)])
            hint = f"did you mean ${near}?" if near else "`collect` names the `out` of a step in `do`"
            self.problems.error(
                "unbound-variable",
                pointer,
                f"nothing in `do` binds ${collect}",
                hint,
                replace(pointer, f"${near}") if near else None,
            )
            return CollectionShape()
        body.find(collect)
        return CollectionShape(found.shape if form.filter_null else Unknown())

    def _map(self, step: Step, form: Map) -> Shape:
        item = self._collection(form.target, join(step.pointer, "target"))
        entry = self._entry(form.operation, form.pointer if form.named else join(form.pointer, "type"))
        if entry is None:
            return CollectionShape()
        env = self.env.copy(loop=True)
        env.bind("item", Variable(item, join(step.pointer, "target")))
        slot = first_resource(entry)
        given: dict[str, Shape] = {}
        if slot is not None and slot not in form.arguments:
            given[slot] = item
            kinds = entry.arguments[slot].kinds
            if not item.kinds & kinds:
                wanted = " or ".join(f"a {kind}" for kind in sorted(kinds))
                place = join(step.pointer, "target")
                self.problems.error(
                    "wrong-kind",
                    place,
                    f"each item is {describe(item)}, and {entry.type} wants {wanted}",
                    "`for-each` can do several steps an item",
                )
        gives = self._calls.check(entry, form.arguments, form.pointer, env, given).gives
        return CollectionShape(gives if form.filter_null else Unknown())

    def _collection(self, raw: JSON, pointer: str) -> Shape:
        shape = self._values.resource(raw, pointer, frozenset({Kind.COLLECTION}), self.env)
        return shape.item if isinstance(shape, CollectionShape) else Unknown()

    # Conditions

    def _condition(self, condition: Condition, env: Environment) -> None:
        match condition:
            case All(of) | AnyOf(of):
                inner = env
                for part in of:
                    self._condition(part, inner)
                    yes, no = _guards(part)
                    inner = inner.certainly(yes if isinstance(condition, All) else no)
            case Not(of):
                self._condition(of, env)
            case Test(type, arguments, pointer):
                if type:
                    self._test(type, arguments, pointer, env)

    def _test(self, type_: str, arguments: Mapping[str, JSON], pointer: str, env: Environment) -> None:
        target, place = arguments["target"], join(pointer, "target")
        if type_ in EXISTENCE:
            self._exists(target, place, env)
            return
        _, left = self._values.value(target, place, None, env)
        if type_ not in COMPARED:
            return
        raw, place = arguments["value"], join(pointer, "value")
        _, right = self._values.value(raw, place, None, env)
        ordered = {"anyOf": [{"type": "number"}, {"type": "string"}]}
        if type_ in ("greater_than", "less_than", "gte", "lte"):
            for schema, at in ((left, join(pointer, "target")), (right, place)):
                if schema is not None and never_fits(schema, ordered):
                    self.problems.error(
                        "bad-condition", at, f"{type_} compares two numbers or two texts, and this is neither"
                    )
                    return
            if left is not None and right is not None and never_fits(left, right):
                self.problems.error(
                    "bad-condition", pointer, f"{type_} compares two numbers or two texts, not one of each"
                )

    def _exists(self, target: JSON, pointer: str, env: Environment) -> None:
        reference = self._whole(target)
        if reference is None:
            self.problems.error(
                "bad-condition", pointer, "`bound` and `notbound` ask about a `$variable` or a place in one"
            )
            return
        if env.find(reference.name) is None:
            near = nearest(reference.name, env.variables)
            hint = f"did you mean ${near}?" if near else None
            self.problems.warn("never-bound", pointer, f"no step before this one binds ${reference.name}", hint)


def last_out(steps: Block) -> str | None:
    """Return the variable of the last step in a body that binds one."""
    return next((step.out for step in reversed(steps) if step.out is not None), None)


def _guards(condition: Condition) -> tuple[set[str], set[str]]:
    """The variables known to be bound where a condition is true, and where it is false."""
    match condition:
        case Test("bound" | "has_value", arguments):
            return _bare(arguments), set()
        case Test("notbound", arguments):
            return set(), _bare(arguments)
        case All(of):
            return set().union(*(_guards(part)[0] for part in of)), set()
        case AnyOf(of):
            return set(), set().union(*(_guards(part)[1] for part in of))
        case Not(of):
            yes, no = _guards(of)
            return no, yes
    return set(), set()


def _bare(arguments: Mapping[str, Any]) -> set[str]:
    try:
        read = read_text(arguments["target"]) if isinstance(arguments["target"], str) else Literal(None)
    except ReferenceInvalid:
        return set()
    return {read.name} if isinstance(read, Reference) else set()


def _fresh(type_: str, env: Environment) -> str:
    """A variable name for a step that forgot it."""
    base = type_.rpartition("-")[2].replace("-", "_")
    name, number = base, 2
    while name in env.variables:
        name, number = f"{base}{number}", number + 1
    return name
