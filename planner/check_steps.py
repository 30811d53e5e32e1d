"""Checking steps in document order: what each binds and names, and what becomes of it where steps may fail."""

from __future__ import annotations

from infospace.catalogue import Catalogue
from infospace.contract import Primitive
from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.kinds import NO_METADATA, CollectionShape, NoteShape, Shape, Unknown, describe, never_fits
from infospace.names import name_fault, normalised
from infospace.paths import nearest
from planner.check_call import CallChecker, item_slot
from planner.check_conditions import ConditionChecker, guards, verdict
from planner.check_values import ValueChecker
from planner.environment import Environment, Given, Variable, joined, union
from planner.forms import FORMS, LATER
from planner.known import Known
from planner.plan import Block, Budget, Call, ForEach, If, Map, Step, Unread, collected
from planner.problems import Problems, join, replace

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


class StepChecker:
    """Walks steps; `env` is what is known after the last of them."""

    def __init__(self, catalogue: Catalogue, known: Known, problems: Problems) -> None:
        self.problems = problems
        self.env = Environment()
        self.bound: list[tuple[str, str]] = []
        """Pointers and names of the bindings that are made for something to read them."""
        self._catalogue = catalogue
        self._values = ValueChecker(known, problems)
        self._calls = CallChecker(self._values, problems)
        self._conditions = ConditionChecker(self._values, problems)
        self._most = Budget().depth

    def block(self, steps: Block, depth: int = 1, most: int | None = None) -> None:
        """Check steps in the present environment, and bind what they bind. `most` is the depth allowed."""
        self._most = most if most is not None else self._most
        if steps and depth > self._most:
            says = f"this is nested {depth} deep, and the budget allows {self._most}"
            self.problems.error("too-deep", steps[0].pointer, says, f'"budget": {{"depth": {depth}}}')
            return
        for step in steps:
            self._step(step, depth)

    def _inside(self, steps: Block, env: Environment, depth: int) -> Environment:
        outer, self.env = self.env, env
        self.block(steps, depth + 1)
        self.env = outer
        return env

    def _step(self, step: Step, depth: int) -> None:
        before = self.env.copy() if step.on_fail != "stop" else self.env
        self._values.doubted = None
        match step.form:
            case Call(arguments):
                shape = self._call(step, dict(arguments))
                doubted = self._values.doubted
            case If():
                shape, doubted = None, self._if(step, step.form, depth)
            case ForEach():
                shape, doubted = self._for_each(step, step.form, before, depth)
            case Map():
                shape, doubted = self._map(step, step.form, depth)
            case Unread(outs):
                shape, doubted = Unknown(), None
                for name in outs:
                    self.env.bind(name, Variable(Unknown()))
        self._values.doubted = None
        self._name(step, shape)
        doubted = doubted or self._values.doubted
        self._out(step, shape, doubted)
        if step.on_fail != "stop" and not isinstance(step.form, (ForEach, Map)):
            self._on_fail(step, before, depth)

    # Calls

    def _call(self, step: Step, arguments: dict[str, JSON]) -> Shape | None:
        entry = self._entry(step.type, join(step.pointer, "type"))
        if entry is None:
            return self._unknown_call(step, arguments)
        gives = self._calls.check(entry, arguments, step.pointer, self.env)
        if entry.out == "required" and step.out is None and not self.problems.below(join(step.pointer, "out")):
            fix = [{"op": "add", "path": join(step.pointer, "out"), "value": "$" + _fresh(step.type, self.env)}]
            says = f"{step.type} needs `out`, a `$variable` for its result"
            self.problems.error("missing-out", step.pointer, says, '"out": "$hits"', fix)
        if entry.out != "none":
            return gives
        for key, value in (("out", step.out), ("name", step.name)):
            if value is not None:
                place = join(step.pointer, key)
                says = f"{step.type} gives nothing, so it has no `{key}`"
                self.problems.error("unwanted-out", place, says, "leave it out", [{"op": "remove", "path": place}])
        return Unknown() if step.out is not None else None

    def _unknown_call(self, step: Step, arguments: dict[str, JSON]) -> Shape:
        """Check the references of a call that the catalogue does not have, by the entry that is nearest."""
        near = nearest(step.type, self._catalogue.types())
        if near is None:
            for key, raw in arguments.items():
                self._values.references(raw, join(step.pointer, key), self.env)
            return Unknown()
        return self._calls.check(self._catalogue.get(near), arguments, step.pointer, self.env, quiet=True)

    def _entry(self, type_: str, pointer: str, *, forms: bool = True) -> Primitive | None:
        entry = self._catalogue.find(type_)
        if entry is not None:
            return entry
        if "/" in type_ or type_.startswith("plan:") or type_ in ("call-tool", "discover-tools"):
            what = "saved plans" if type_.startswith("plan:") else "tools"
            says = f"{type_!r} belongs to the language, but this version does not run {what} yet"
            self.problems.error("unsupported", pointer, says, "`infospace primitives` lists what it runs")
            return None
        near = nearest(type_, [*self._catalogue.types(), *((*FORMS, *LATER) if forms else ())])
        hint = f"did you mean {near!r}?" if near else "`infospace primitives` lists them"
        fix = replace(pointer, near) if near else None
        self.problems.error("unknown-type", pointer, f"there is no step type {type_!r}", hint, fix)
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
        name = normalised(name)
        if not step.replace:
            self._taken(step, name, pointer)
        self.env.given[name] = Given(shape or Unknown(), certain=self._values.doubted is None)

    def _taken(self, step: Step, name: str, pointer: str) -> None:
        holder, given = self._values.known.holder(name), self.env.given.get(name)
        hint = '`"replace": true` takes it over'
        fix = [{"op": "add", "path": join(step.pointer, "replace"), "value": True}]
        if given is not None and given.certain:
            self.problems.error(
                "name-taken", pointer, f"the name {name!r} is taken: an earlier step gives it", hint, fix
            )
        elif given is not None:
            says = f"the name {name!r} may be taken: an earlier step gives it on some path"
            self.problems.warn("name-taken", pointer, says, hint, fix)
        elif holder is not None:
            self.problems.error("name-taken", pointer, f"the name {name!r} is taken: {holder} has it", hint, fix)
        elif self.env.loops:
            says = f"from the second item on, the name {name!r} is taken"
            self.problems.warn("name-taken", pointer, says, f"{hint}; `${{item}}` in it makes it each item's own", fix)

    def _out(self, step: Step, shape: Shape | None, doubted: str | None) -> None:
        if step.out is None or shape is None:
            return
        pointer = join(step.pointer, "out")
        if step.out in self.env.variables and not self.env.loops:
            says = f"${step.out} is bound already; steps after this one see the new value"
            self.problems.warn("rebound", pointer, says)
        if step.name is None and not self._writes(step):
            self.bound.append((pointer, step.out))
        doubt = None if doubted is None else f"step {step.label} is skipped where {doubted} is unbound"
        earlier = self.env.variables.get(step.out)
        if earlier is not None and doubt is not None:
            both = Variable(union(earlier.shape, shape), (*earlier.places, pointer), earlier.doubt, earlier.handled)
            self.env.bind(step.out, both)
        else:
            self.env.bind(step.out, Variable(shape, (pointer,), doubt, handled=doubt is not None))

    def _writes(self, step: Step) -> bool:
        entry = self._catalogue.find(step.type)
        return entry is not None and entry.effect == "writes"

    def _on_fail(self, step: Step, before: Environment, depth: int) -> None:
        handler, doubt = before, f"step {step.label} may fail"
        if isinstance(step.on_fail, tuple):
            handler = self._handler(step.on_fail, before.copy(), depth)
            doubt += ", and its `on_fail` does not bind it"
        doubts = (doubt, f"only the `on_fail` of step {step.label} binds it")
        good = self.env.copy()
        good.changed = set(self.env.changed)
        self.env.join(good, handler, doubts, handled=True)

    def _handler(self, steps: Block, env: Environment, depth: int) -> Environment:
        outer = env.variables.get("error")
        env.bind("error", Variable(ERROR))
        self._inside(steps, env, depth)
        if outer is not None:
            env.bind("error", outer)
        else:
            env.variables.pop("error", None)
        return env

    # Forms

    def _if(self, step: Step, form: If, depth: int) -> str | None:
        self._conditions.check(form.condition, self.env)
        doubted = self._values.doubted
        yes, no = guards(form.condition)
        decided = verdict(form.condition, self.env)
        before = self.env
        then = self._inside(form.then, before.certainly(yes), depth)
        otherwise = self._inside(form.otherwise, before.certainly(no), depth)
        if decided is not None:
            then, otherwise = (then, then) if decided else (otherwise, otherwise)
        doubts = (f"only the `then` of step {step.label} binds it", f"only the `else` of step {step.label} binds it")
        if doubted is None:
            before.join(then, otherwise, doubts)
            return None
        after = before.copy()
        after.join(then, otherwise, doubts)
        reason = f"step {step.label} is skipped where {doubted} is unbound"
        before.join(after, before.copy(), (reason, ""), handled=True)
        return doubted

    def _for_each(self, step: Step, form: ForEach, before: Environment, depth: int) -> tuple[Shape, str | None]:
        item = self._collection(form.target, join(step.pointer, "target"))
        doubted = self._values.doubted
        start = self.env.copy(loop=True)
        start.bind(form.as_, Variable(item, (join(step.pointer, "as"),)))
        body = self._inside(form.do, start.copy(), depth)
        collect = collected(form)
        made = None if collect is None else self._collected(step, collect, start, body)
        if isinstance(step.on_fail, tuple):
            failing = start.copy()
            failing.join(body, start, (f"an item of step {step.label} may fail before", ""), handled=True)
            if collect is not None and collect != form.as_:
                failing.variables.pop(collect, None)
                if collect in before.variables:
                    failing.bind(collect, before.variables[collect])
            handler = self._handler(step.on_fail, failing, depth)
            made = self._supplied(made, collect, start, handler)
            body.given = joined(body.given, handler.given)
        self.env.given = joined(self.env.given, body.given)
        if collect is None and step.out is not None:
            says = "nothing in `do` binds a variable, so there is nothing to collect"
            self.problems.warn("nothing-collected", join(step.pointer, "out"), says, 'give a step of `do` an "out"')
        return CollectionShape(made if made is not None and form.filter_null else Unknown()), doubted

    def _collected(self, step: Step, collect: str, start: Environment, body: Environment) -> Shape | None:
        found = body.find(collect)
        if found is not None and (found is not start.variables.get(collect) or collect == _as_of(step)):
            return found.shape
        pointer = join(step.pointer, "collect")
        own = [name for name in body.variables if body.variables[name] is not start.variables.get(name)]
        near = nearest(collect, own)
        hint = f"did you mean ${near}?" if near else "`collect` names the `out` of a step in `do`"
        fix = replace(pointer, f"${near}") if near else None
        self.problems.error("unbound-variable", pointer, f"nothing in `do` binds ${collect}", hint, fix)
        return None

    @staticmethod
    def _supplied(made: Shape | None, name: str | None, start: Environment, handler: Environment) -> Shape | None:
        """What an item gives when an `on_fail` list may supply it instead."""
        found = handler.find(name) if name is not None else None
        if found is None or made is None or found is start.variables.get(name or ""):
            return made
        return union(made, found.shape)

    def _map(self, step: Step, form: Map, depth: int) -> tuple[Shape, str | None]:
        item = self._collection(form.target, join(step.pointer, "target"))
        entry = self._entry(form.operation, form.pointer if form.named else join(form.pointer, "type"), forms=False)
        env = self.env.copy(loop=True)
        env.bind("item", Variable(item, (join(step.pointer, "target"),)))
        gives: Shape | None = Unknown() if entry is None else self._mapped(step, form, entry, item, env)
        doubted = self._values.doubted
        if isinstance(step.on_fail, tuple):
            handler = self._handler(step.on_fail, env.copy(), depth)
            gives = self._supplied(gives, step.out, env, handler)
            self.env.given = joined(self.env.given, handler.given)
        return CollectionShape(gives if gives is not None and form.filter_null else Unknown()), doubted

    def _mapped(self, step: Step, form: Map, entry: Primitive, item: Shape, env: Environment) -> Shape:
        slot = item_slot(entry, form.arguments, item.kinds)
        if slot is None:
            return self._calls.check(entry, form.arguments, form.pointer, env)
        kinds = entry.arguments[slot].kinds
        if not item.kinds & kinds:
            wanted = " or ".join(f"a {kind}" for kind in sorted(kinds))
            says = f"each item is {describe(item)}, and {entry.type} wants {wanted}"
            place = join(step.pointer, "target")
            self.problems.error("wrong-kind", place, says, "`for-each` can do several steps an item")
            item = Unknown()
        return self._calls.check(entry, form.arguments, form.pointer, env, {slot: item})

    def _collection(self, raw: JSON, pointer: str) -> Shape:
        shape = self._values.resource(raw, pointer, frozenset({Kind.COLLECTION}), self.env)
        return shape.item if isinstance(shape, CollectionShape) else Unknown()


def _as_of(step: Step) -> str | None:
    return step.form.as_ if isinstance(step.form, ForEach) else None


def _fresh(type_: str, env: Environment) -> str:
    """A variable name for a step that forgot it."""
    base = type_.rpartition("-")[2]
    name, number = base, 2
    while name in env.variables:
        name, number = f"{base}{number}", number + 1
    return name
