"""The lines of a session: steps, perhaps with a head before them; and a whole plan as lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.core.resources import Resource, is_resource
from infospace.data.paths import a_kind
from infospace.journal.rows import RunRow
from infospace.space import Space
from planner.check.checker import Checker
from planner.check.conditions import reference_or_none
from planner.check.space_facts import SnapshotFacts
from planner.language.plan import Block, Plan, Step, Table
from planner.language.problems import Problem, Problems, join, sort_problems
from planner.language.references import literal
from planner.language.writable import check_writable
from planner.parse.document import parse_head, parse_plan
from planner.parse.steps import parse_step
from planner.parse.text import is_head

ANSWER = "the plan's result"
"""What is expected of the last line of a plan that is run in a session: its value is the plan's result."""
PLAN = "a plan for the goal"
"""What is expected of a line whose value is a plan that a model wrote, and that the lines after it are."""
INPUT = "an input of the plan"
"""What is expected of a line that binds an input of such a plan: it is no value that the plan gave."""
FRAMES = (ANSWER, PLAN, INPUT)
"""What is expected of lines that nobody wrote as steps of a plan."""


def read_head(head: JSON, problems: Problems, at: str = "/0") -> Plan:
    """Read what stands before the first step of a session; None is no head."""
    if head is None:
        return Plan((), document={})
    if not isinstance(head, dict):
        problems.error("not-a-plan", at, f"the head of a session is an object, not {a_kind(head)}", '{"goal": "…"}')
        return Plan((), document={})
    for key in ("steps", "plan"):
        if key in head:
            problems.error("unknown-key", join(at, key), f"the head of a session has no {key!r}", "one step a line")
    plan = parse_head(head, problems, at)
    if plan.result is not None and reference_or_none(plan.result) is None:
        message = f"`result` is one `$variable`, not {plan.result!r:.60}"
        problems.error("bad-value", join(at, "result"), message, '"result": "$report"')
    return plan


def check_lines(space: Space, lines: Sequence[JSON]) -> list[Problem]:
    """Check the lines of a session one after the other, without running any. Pointers begin with the line's index."""
    problems = Problems()
    if not check_writable(lines, problems):
        return problems.found
    with space.store.reading() as snapshot:
        checker = Checker(space.catalogue, SnapshotFacts(snapshot), problems)
        number, most, head = 0, None, None
        for index, line in enumerate(lines):
            if index == 0 and is_head(line) and isinstance(line, dict):
                head = read_head(line, problems)
                checker.inputs(head)
                most = head.budget.depth
                continue
            number += 1
            step = parse_step(line, f"/{index}", str(number), problems)
            if step is not None:
                checker.block((step,), most=most)
        if head is not None:
            checker.result(head, "/0/result")
    return sort_problems(lines, problems.found)


def number_steps(steps: Sequence[Step], earlier: Collection[str], first: int) -> Block:
    """Return the steps of a call; one whose id an earlier line has is known by its number, from `first` on."""
    return tuple(
        replace(step, label=str(number)) if step.label in earlier else step for number, step in enumerate(steps, first)
    )


def plan_of_session(row: RunRow) -> Plan:
    """Return all the lines of a session as a plan, with the saved plans that they name."""
    document: Any = row.document or {}
    problems = Problems()
    plans = {name: parse_plan(inner, problems) for name, inner in row.plans.items()}
    head = parse_head({key: value for key, value in document.items() if key != "steps"}, problems)
    block: dict[str, Step] = {}
    for number, line in enumerate(document.get("steps", ()), 1):
        step = parse_step(line, f"/steps/{number - 1}", str(number), problems)
        block |= {} if step is None else {one.label: one for one in number_steps((step,), block, number)}
    if not problems.ok:
        raise NotFound(f"the lines of {row.run} cannot be read any more: {problems.found[0].message}")
    return replace(head, steps=tuple(block.values()), plans=plans)


def lines_of_plan(plan: Plan, bound: Mapping[str, Resource | Table | JSON], steps: Sequence[JSON]) -> list[JSON]:
    """Return the lines that a plan is in a session: what its inputs are bound to, its steps, and what it answers."""
    lines: list[JSON] = []
    for name, value in bound.items():
        if is_resource(value):
            lines.append({"type": "bind", "target": value.id, "out": f"${name}", "expect": INPUT})
        elif isinstance(value, Table):
            rows, count = literal(list(value.rows)), max(len(value.rows), 1)
            line = {"type": "head", "target": rows, "count": count, "out": f"${name}", "expect": INPUT}
            lines.append(cast("JSON", line))
        else:
            lines.append(
                {"type": "create-note", "value": literal(cast("JSON", value)), "out": f"${name}", "expect": INPUT}
            )
    lines += steps
    if plan.result is not None:
        lines.append({"type": "bind", "target": plan.result, "expect": ANSWER})
    return lines
