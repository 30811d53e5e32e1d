"""Checking what is given to a session against what it has bound, all of it before any of it is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.schema.shapes import CollectionShape, NoteShape, RelationShape
from infospace.space import Space
from planner.check.checker import Checker
from planner.check.environment import Variable
from planner.check.space_facts import SnapshotFacts
from planner.check.warnings import warn_of_effects
from planner.execute.start import bind_inputs
from planner.language.plan import Block, Plan, every_step
from planner.language.problems import Problems, sort_problems
from planner.language.references import strings
from planner.language.writable import check_writable
from planner.parse.document import parse_plan
from planner.parse.steps import parse_block, parse_step
from planner.repair.fixes import with_fixes
from planner.repair.respell import respell
from planner.sessions.lines import lines_of_plan, number_steps
from planner.sessions.session_run import SessionRun

_MENTIONED = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_PLAIN: Mapping[str, Variable] = {
    Kind.NOTE: Variable(NoteShape()),
    Kind.COLLECTION: Variable(CollectionShape()),
    Kind.RELATION: Variable(RelationShape()),
}
"""Of a variable no more than the kind of what it is bound to, by how the id of that begins."""


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """The lines of a call as they are journalled, and as steps; and all that is wrong with them, or doubtful."""

    lines: Sequence[JSON]
    block: Block
    plans: Mapping[str, Plan]
    problems: Problems


Check = Callable[[Space, SessionRun], CheckedCall]
"""Checks something against what a session has bound."""


def check_session_steps(steps: Sequence[JSON]) -> Check:
    """Return the check of steps. Pointers begin with the step's index."""

    def check(space: Space, run: SessionRun) -> CheckedCall:
        with space.store.reading() as snapshot:
            facts = SnapshotFacts(snapshot)
            variables = _variables(facts, run, steps)

            def once(raw: JSON) -> tuple[Block, Checker]:
                problems = Problems()
                respelt = respell(raw, space.catalogue, steps_only=True)
                block = parse_block(respelt.document, "", problems, len(run.lines) + 1)
                checker = _checker(space, facts, problems, variables)
                checker.block(block, most=run.plan.budget.depth)
                problems.found[:] = respelt.all_written(problems.found)
                return block, checker

            if not check_writable(steps, problems := Problems()):
                return CheckedCall((), (), {}, problems)
            block, checker = once(list(steps))
            _add_fixes(list(steps), block, checker.problems, lambda patched: once(patched)[1].problems)
        return CheckedCall(steps, _labelled(run, block), checker.plans, checker.problems)

    return check


def check_session_line(line: JSON, index: int) -> Check:
    """Return the check of one step. Pointers begin with its index among all the lines that were read."""

    def check(space: Space, run: SessionRun) -> CheckedCall:
        problems = Problems()
        if not check_writable(line, problems, f"/{index}"):
            return CheckedCall((), (), {}, problems)
        step = parse_step(line, f"/{index}", str(len(run.lines) + 1), problems)
        block = () if step is None else (step,)
        with space.store.reading() as snapshot:
            facts = SnapshotFacts(snapshot)
            checker = _checker(space, facts, problems, _variables(facts, run, line))
            checker.block(block, most=run.plan.budget.depth)
        problems.found[:] = sort_problems({str(index): line}, problems.found)
        return CheckedCall([line], _labelled(run, block), checker.plans, problems)

    return check


def check_session_plan(document: JSON, inputs: Mapping[str, JSON] | None) -> Check:
    """Return the check of a whole plan, with its inputs. Pointers are those of the plan's own check.

    Without inputs these may have any value, and what is returned has no lines to run.
    """

    def check(space: Space, run: SessionRun) -> CheckedCall:
        with space.store.reading() as snapshot:
            facts = SnapshotFacts(snapshot)
            variables = _variables(facts, run, document)

            def once(raw: JSON) -> tuple[Plan, Checker]:
                problems = Problems()
                respelt = respell(raw, space.catalogue)
                plan = parse_plan(respelt.document, problems)
                checker = _checker(space, facts, problems, variables)
                checker.inputs(plan)
                checker.block(plan.steps, most=run.plan.budget.depth)
                checker.result(plan)
                _own_budget(raw, problems)
                if problems.ok:
                    warn_of_effects(plan, space.catalogue, problems, checker.texts, facts)
                problems.found[:] = respelt.all_written(problems.found)
                return plan, checker

            if not check_writable(document, problems := Problems()):
                return CheckedCall((), (), {}, problems)
            plan, checker = once(document)
            problems = checker.problems
            _add_fixes(document, plan.steps, problems, lambda patched: once(patched)[1].problems)
            bound = {} if inputs is None else bind_inputs(plan, inputs, snapshot, problems)
        if inputs is None or not problems.ok:
            return CheckedCall((), (), {}, problems)
        lines = lines_of_plan(plan, bound, _steps(document))
        return CheckedCall(lines, _labelled(run, _parse_checked(lines, run)), checker.plans, problems)

    return check


def _own_budget(document: JSON, problems: Problems) -> None:
    if isinstance(document, dict) and document.get("budget"):
        message = "a plan that is run in a session has the session's budget, and none of its own"
        problems.error("unsupported", "/budget", message, "give it with the head of the session")


def _steps(document: JSON) -> list[JSON]:
    if isinstance(document, list):
        return document
    assert isinstance(document, dict)  # noqa: S101 - what the check has passed is a list or an object
    value: Any = document.get("steps", document.get("plan"))
    return list(value)


def _parse_checked(lines: Sequence[JSON], run: SessionRun) -> Block:
    """Read lines as steps, which are known to be right."""
    return parse_block(list(lines), "", Problems(), len(run.lines) + 1)


def _labelled(run: SessionRun, block: Block) -> Block:
    return number_steps(block, run.labels, len(run.lines) + 1)


def _checker(space: Space, facts: SnapshotFacts, problems: Problems, variables: Mapping[str, Variable]) -> Checker:
    checker = Checker(space.catalogue, facts, problems)
    checker.env.variables = dict(variables)
    return checker


def _add_fixes(raw: JSON, block: Block, problems: Problems, again: Callable[[JSON], Problems]) -> None:
    problems.found[:] = sort_problems(raw, problems.found)
    if problems.ok and not any(problem.fix for problem in problems.found):
        return
    steps = sum(1 for _ in every_step(block))
    problems.found[:] = with_fixes(raw, problems.found, steps, lambda patched: again(patched).found)


def _variables(facts: SnapshotFacts, run: SessionRun, value: JSON) -> dict[str, Variable]:
    """Return what is bound: of what is mentioned all that is known, of the rest the kind."""
    mentioned = {name for _, text in strings(value) for name in _MENTIONED.findall(text)}
    own = run.scope.own
    results = {name: _PLAIN[identifier.partition("_")[0]] for name, identifier in own.items()}
    for name in mentioned & own.keys():
        shape = facts.shape(own[name])
        if shape is None:
            del results[name]
        else:
            results[name] = Variable(shape)
    return results
