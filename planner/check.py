"""The check: everything that is wrong with a plan, before anything happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infospace.catalogue import Catalogue
from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.kinds import NO_METADATA, CollectionShape, NoteShape, RelationShape, Shape
from planner.check_conditions import whole
from planner.check_steps import StepChecker
from planner.environment import Variable
from planner.known import Known
from planner.parse import parse_plan
from planner.plan import Block, If, Input, Plan
from planner.problems import Problems, join, replace

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
    checker.block(plan.steps, most=plan.budget.depth)
    checker.result(plan)
    if problems.ok:
        checker.unread(plan)
    return plan, problems


class Checker(StepChecker):
    """Checks a plan in document order with what is known of each variable. A session extends it line by line."""

    def __init__(self, catalogue: Catalogue, known: Known, problems: Problems) -> None:
        super().__init__(catalogue, known, problems)
        self._inputs: list[Input] = []

    def inputs(self, plan: Plan) -> None:
        """Bind the declared inputs."""
        for declared in plan.inputs.values():
            if declared.kind is None:
                shape: Shape = NoteShape(declared.schema or None, NO_METADATA)
            else:
                shape = self._kind_of_input(declared, declared.kind)
            self.env.bind(declared.name, Variable(shape, (declared.pointer,)))

    def _kind_of_input(self, declared: Input, kind: str) -> Shape:
        if declared.default is None:
            return _KINDS[kind]
        pointer = join(declared.pointer, "default")
        if not isinstance(declared.default, str):
            says = f"the default of {declared.name!r} is the id or name of a {kind}, not {declared.default!r:.40}"
            self.problems.error("bad-input", pointer, says)
            return _KINDS[kind]
        found = self._values.literal_resource(declared.default, pointer, self.env)
        if found is not None and Kind(kind) not in found.kinds:
            says = f"the default of {declared.name!r} is a {kind}, and {declared.default!r} is not one"
            self.problems.error("bad-input", pointer, says)
        return _KINDS[kind]

    def result(self, plan: Plan, pointer: str = "/result") -> None:
        """Check what the plan says that it answers with."""
        if plan.result is None:
            return
        reference = whole(plan.result)
        if reference is not None:
            with self._values.telling("the plan fails where it is unbound", "bind it on both paths"):
                self._values.reference(reference, pointer, self.env)
            return
        written = plan.result if isinstance(plan.result, str) else ""
        fix = replace(pointer, f"${written}") if written in self.env.variables else None
        says = f"`result` is one `$variable`, not {plan.result!r:.60}"
        self.problems.error("bad-value", pointer, says, '"result": "$report"', fix)

    def unread(self, plan: Plan) -> None:
        """Warn of variables and inputs that nothing reads."""
        for declared in plan.inputs.values():
            if declared.pointer not in self.env.read:
                self.problems.warn("never-read", declared.pointer, f"nothing reads the input ${declared.name}")
        answers = set() if plan.result is not None else set(_last_places(plan.steps))
        for pointer, name in self.bound:
            if pointer not in self.env.read and pointer not in answers:
                self.problems.warn("never-read", pointer, f"nothing reads ${name}", "leave `out` away, or read it")


def _last_places(steps: Block) -> Iterator[str]:
    """The bindings that may be the plan's answer when it names none: of the last step, at any depth."""
    if not steps:
        return
    last = steps[-1]
    yield join(last.pointer, "out")
    if isinstance(last.form, If):
        yield from _last_places(last.form.then)
        yield from _last_places(last.form.otherwise)
    if isinstance(last.on_fail, tuple):
        yield from _last_places(last.on_fail)
