"""The check: everything that is wrong with a plan, before anything happens."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from infospace.contract.arguments import UNKNOWN
from infospace.contract.catalogue import Catalogue
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.names import normalise
from infospace.data.json_text import dump
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import nearest
from infospace.schema.shapes import (
    NO_METADATA,
    CollectionShape,
    NoteShape,
    RelationShape,
    Schema,
    Shape,
    Unknown,
)
from planner.check.conditions import reference_or_none
from planner.check.environment import Environment, Variable
from planner.check.mutations import MutationTracker
from planner.check.references.values import TextsRead, content_schema
from planner.check.schemas import misfits_as_written
from planner.check.space_facts import SpaceFacts
from planner.check.state import CheckState
from planner.check.steps import StepChecker
from planner.check.warnings import warn_of_effects
from planner.language.plan import Ask, Block, Input, Plan, SavedPlanCall, Step, Stop, blocks, every_step
from planner.language.problems import Problem, Problems, join, listed, replace, sort_problems
from planner.language.references import Reference, ReferenceInvalid, read_value
from planner.language.writable import check_writable
from planner.parse.document import parse_plan
from planner.parse.saved_plans import PREFIX, unknown_plan
from planner.parse.schemas import first_violation, row_violation
from planner.repair.fixes import with_fixes
from planner.repair.respell import respell

_KINDS: Mapping[str, Shape] = {
    Kind.NOTE: NoteShape(),
    Kind.COLLECTION: CollectionShape(),
    Kind.RELATION: RelationShape(),
}


def check(
    document: JSON, catalogue: Catalogue, facts: SpaceFacts, saved_as: str | None = None
) -> tuple[Plan, Problems]:
    """Read and check a whole plan; all problems at once. Nothing is run, nothing is changed.

    `saved_as` is the name of the saved plan that it is to be.
    """
    problems = Problems()
    if not check_writable(document, problems):
        return Plan((), document=document), problems
    plan, problems = _checked(document, catalogue, facts, saved_as)
    problems.found[:] = sort_problems(document, problems.found)
    if not problems.ok or any(problem.fix for problem in problems.found):

        def check_patched(patched: JSON) -> list[Problem]:
            return _checked(patched, catalogue, facts, saved_as)[1].found

        steps = sum(1 for _ in every_step(plan.steps))
        problems.found[:] = with_fixes(document, problems.found, steps, check_patched)
    return plan, problems


def _checked(document: JSON, catalogue: Catalogue, facts: SpaceFacts, saved_as: str | None) -> tuple[Plan, Problems]:
    problems = Problems()
    respelt = respell(document, catalogue)
    plan = parse_plan(respelt.document, problems)
    checker = Checker(catalogue, facts, problems, () if saved_as is None else (normalise(saved_as),))
    checker.inputs(plan)
    checker.block(plan.steps, most=plan.budget.depth)
    checker.result(plan)
    plan = dataclasses.replace(plan, plans=checker.plans)
    if problems.ok and not respelt.problems and not plan.steps:
        hint = '{"steps": [{"type": "say", "value": "hello"}]}'
        problems.warn("no-steps", plan.pointer, "the plan has no steps, so a run of it does nothing", hint)
    elif problems.ok and not respelt.problems:
        checker.unread(plan)
        warn_of_effects(plan, catalogue, problems, checker.texts, facts)
    problems.found[:] = respelt.all_written(problems.found)
    return plan, problems


def result_schema(plan: Plan, catalogue: Catalogue, facts: SpaceFacts) -> Schema | None:
    """Return what is known of the answer of a plan that has passed the check, None where nothing is."""
    checker = Checker(catalogue, facts, Problems())
    checker.inputs(plan)
    checker.block(plan.steps, most=plan.budget.depth)
    last = plan.steps[-1].out if plan.steps else None
    reference = reference_or_none(plan.result if plan.result is not None or last is None else f"${last}")
    variable = None if reference is None else checker.env.variables.get(reference.name)
    if reference is None or variable is None:
        return None
    shape = checker.place(variable, reference)
    return None if shape is None else content_schema(shape)


class Checker:
    """Checks a plan in document order with what is known of each variable. A session extends it line by line."""

    def __init__(
        self,
        catalogue: Catalogue,
        facts: SpaceFacts,
        problems: Problems,
        calling: tuple[str, ...] = (),
        on_step: Callable[[Step, Environment], None] | None = None,
        changes: MutationTracker | None = None,
    ) -> None:
        """`on_step` is called with each step before it is checked, and with what is known there.

        `changes` are those made before, where this is the check of a saved plan that is called.
        """
        self.problems = problems
        self.plans: dict[str, Plan] = {}
        """The saved plans that are named, directly or not."""
        self._calling = calling
        """Names of the saved plans that this one is called from, outermost first, and its own."""
        self._catalogue = catalogue
        self._state = CheckState(catalogue, facts, problems, changes)
        self._values = self._state.values
        self._steps = StepChecker(self._state, self._saved, on_step)

    @property
    def texts(self) -> TextsRead:
        """Where something is read that may hold text, in the steps that were checked."""
        return self._values.texts

    @property
    def env(self) -> Environment:
        """What is known after the last step that was checked."""
        return self._state.env

    @env.setter
    def env(self, known: Environment) -> None:
        self._state.env = known

    def block(self, steps: Block, depth: int = 1, most: int | None = None) -> None:
        """Check steps in the present environment, and bind what they bind. `most` is the depth allowed."""
        self._steps.block(steps, depth, most)

    def inputs(self, plan: Plan) -> None:
        """Bind the declared inputs."""
        for declared in plan.inputs.values():
            if declared.kind is None:
                shape: Shape = NoteShape(declared.schema or None, NO_METADATA)
            else:
                shape = self._kind_of_input(declared, declared.kind)
            self.env.bind(declared.name, Variable(shape, (declared.pointer,)))

    def _kind_of_input(self, declared: Input, kind: str) -> Shape:
        if kind == Kind.COLLECTION and declared.items is not None:
            shape: Shape = CollectionShape(NoteShape(declared.items))
        else:
            shape = _KINDS[kind]
        if declared.default is None:
            return shape
        pointer = join(declared.pointer, "default")
        if kind == Kind.COLLECTION and isinstance(declared.default, list):
            fault = row_violation(declared.default, declared.items)
            if fault is not None:
                self.problems.error("bad-input", pointer, f"the default of {declared.name!r} does not fit: {fault}")
            return shape
        if not isinstance(declared.default, str):
            message = f"the default of {declared.name!r} is the id or name of a {kind}, not {declared.default!r:.40}"
            self.problems.error("bad-input", pointer, message)
            return shape
        result = self._values.names.check(declared.default, pointer, self.env)
        if result is not None and Kind(kind) not in result.kinds:
            message = f"the default of {declared.name!r} is a {kind}, and {declared.default!r} is not one"
            self.problems.error("bad-input", pointer, message)
        return shape

    def _saved(self, step: Step, form: SavedPlanCall, depth: int) -> Shape:
        pointer = form.called or join(step.pointer, "type")
        name = normalise(form.name)
        if name in self._calling:
            chain = " → ".join((*self._calling[self._calling.index(name) :], name))
            message, hint = (
                f"saved plans that run one another never end: {chain}",
                "`while` and `for-each` repeat steps",
            )
            self.problems.error("plan-cycle", pointer, message, hint)
            self._changed_by(step)
            return Unknown()
        document = self._values.facts.plan(form.name)
        if document is None:
            self._no_plan(form, pointer)
            self._values.references(dict(form.arguments), join(step.pointer, "arguments"), self.env)
            return Unknown()
        facts, calling = self._values.facts, (*self._calling, name)
        inner = Checker(self._catalogue, facts, Problems(), calling, changes=self._values.changes)
        plan = parse_plan(document, inner.problems)
        inner._state.handled = inner._values.leniency.handled = self._state.handled
        inner.env = self.env.for_called_plan()
        stops = [one.form for one in every_step(plan.steps) if isinstance(one.form, Stop)]
        if not stops:
            inner.env.min_rounds = self.env.min_rounds
        inner.plans = self.plans
        inner._values.texts, inner._values.plan = self._values.texts, form.name
        inner._values.names.computed_names = self._values.names.computed_names
        self.plans[form.name] = plan
        inner.inputs(plan)
        inner._steps.called(plan.steps, depth + 1, self._state.max_depth)
        inner.result(plan)
        self._called(form, plan, join(step.pointer, "arguments"), pointer)
        for problem in inner.problems.found:
            if problem.severity == "error":
                message = (
                    f"the saved plan {form.name!r} would fail: {problem.message} (at {problem.pointer or 'its top'})"
                )
                self.problems.error(problem.code, pointer, message, problem.hint)
        self._changed_by(step)
        self.env.update_space_from(inner._left())
        return Unknown() if any(stop.status != "failed" for stop in stops) else inner.answer(plan)

    def _changed_by(self, step: Step) -> None:
        """Know no more of what the plan changes that a step calls."""
        self._values.changes.foresee((step,), self._catalogue, self._values.facts, self.env)

    def _left(self) -> Environment:
        """What is known once the plan is over, at its end or wherever it may be stopped."""
        known = self.env
        for stopped in self._state.stopped:
            after = known.copy()
            after.join(known, stopped, ("", ""))
            known = after
        return known

    def _no_plan(self, form: SavedPlanCall, pointer: str) -> None:
        names = [
            name.removeprefix(PREFIX)
            for name in (*self._values.facts.names(), *self.env.assigned_names)
            if name.startswith(PREFIX)
        ]
        near = nearest(form.name, names)
        fix = replace(pointer, f"plan:{near}") if near and is_misspelling(form.name, near) else None
        hint = unknown_plan(form.name, names)
        self.problems.error("unknown-plan", pointer, f"there is no saved plan {form.name!r}", hint, fix)

    def _called(self, form: SavedPlanCall, plan: Plan, pointer: str, type_pointer: str) -> None:
        """Check the arguments of a saved plan against its inputs."""
        values, suggestion = form.call_arguments(plan.inputs), set[str]()
        for name, raw in values.items():
            place = join(pointer, name) if name in form.arguments else type_pointer
            declared = plan.inputs.get(name)
            if declared is None:
                near = nearest(name, [key for key in plan.inputs if key not in form.arguments])
                sure = near is not None and is_misspelling(name, near)
                fix = [{"op": "move", "from": place, "path": join(pointer, near)}] if near and sure else None
                suggestion.update([near] if near else [])
                takes = f"it takes {listed(list(plan.inputs))}" if plan.inputs else "it takes none"
                hint = f"did you mean {near!r}?" if near else takes
                message = f"the saved plan {form.name!r} has no input {name!r}"
                self.problems.error("unknown-argument", place, message, hint, fix)
                self._values.references(raw, place, self.env)
            elif declared.kind is not None:
                kind = Kind(declared.kind)
                self._values.resource(raw, place, frozenset({kind}), self.env, lists=kind == Kind.COLLECTION)
            else:
                self._fits(declared, raw, place)
        for name, declared in plan.inputs.items():
            if declared.required and name not in values and name not in suggestion:
                message = f"the saved plan {form.name!r} needs the input {name!r}"
                where = pointer if form.arguments else form.called or pointer.removesuffix("/arguments")
                expected = f"a {declared.kind}" if declared.kind else dump(dict(declared.schema or {}))
                item = f'; the item is `$item`: "arguments": {{"{name}": "$item"}}' if form.mapped else ""
                self.problems.error("missing-argument", where, message, f"it wants {expected}{item}")

    def _fits(self, declared: Input, raw: JSON, pointer: str) -> None:
        with self.problems.muted():
            value, _ = self._values.value(raw, pointer, None, self.env)
        expected = declared.schema or {}
        if value is not UNKNOWN:
            self._values.lookalikes(raw, pointer, self.env)
            fault = first_violation(value, expected)
            if fault is not None:
                self.problems.error("bad-argument", pointer, f"the input {declared.name!r} does not fit: {fault}")
            return
        self._values.value(raw, pointer, None, self.env)
        with suppress(ReferenceInvalid):
            read, whose = read_value(raw), f"the input {declared.name!r}"
            misfit = next(misfits_as_written(raw, read, expected), None)
            if misfit is not None:
                message = f"{whose} does not fit: {misfit.message}"
                self.problems.error("bad-argument", join(pointer, *misfit.place), message)
                return
            self._values.fits(read, raw, expected, pointer, self.env, whose)

    def answer(self, plan: Plan) -> Shape:
        """Return what is known of the plan's answer, once it is checked."""
        reference = reference_or_none(plan.result)
        if reference is None:
            return Unknown()
        with self.problems.muted():
            return self._values.reference(reference, "/result", self.env) or Unknown()

    def place(self, variable: Variable, reference: Reference) -> Shape | None:
        """Return what is known of a place in what a variable is bound to."""
        return self._values.places.check(variable, reference, "", whole=False)

    def result(self, plan: Plan, pointer: str = "/result") -> None:
        """Check what the plan says that it answers with."""
        if plan.result is None:
            return
        reference = reference_or_none(plan.result)
        if reference is not None:
            with self._values.reporting_unbound_as("the plan fails where it is unbound", "bind it on both paths"):
                self._values.reference(reference, pointer, self.env)
            return
        text = plan.result if isinstance(plan.result, str) else ""
        fix = replace(pointer, f"${text}") if text in self.env.variables else None
        message = f"`result` is one `$variable`, not {plan.result!r:.60}"
        self.problems.error("bad-value", pointer, message, '"result": "$report"', fix)

    def unread(self, plan: Plan) -> None:
        """Warn of variables and inputs that nothing reads."""
        for declared in plan.inputs.values():
            if declared.pointer not in self.env.read:
                self.problems.warn("never-read", declared.pointer, f"nothing reads the input ${declared.name}")
        answers = set() if plan.result is not None else set(_last_places(plan.steps))
        needed = set(self._needed(every_step(plan.steps)))
        for pointer, name in self._state.bound:
            if pointer not in self.env.read and pointer not in answers:
                hint = "read it" if pointer in needed else "leave `out` away, or read it"
                self.problems.warn("never-read", pointer, f"nothing reads ${name}", hint)

    def _needed(self, steps: Iterable[Step]) -> Iterator[str]:
        """The places of an `out` that its step may not be without."""
        for step in steps:
            entry = self._catalogue.find(step.type)
            if isinstance(step.form, Ask) or (entry is not None and entry.out == "required"):
                yield join(step.pointer, "out")


def _last_places(steps: Block) -> Iterator[str]:
    """The bindings that may be the plan's answer when it names none: of the last step, at any depth."""
    if not steps:
        return
    last = steps[-1]
    yield join(last.pointer, "out")
    for block in blocks(last.form):
        yield from _last_places(block)
    if isinstance(last.on_fail, tuple):
        yield from _last_places(last.on_fail)
