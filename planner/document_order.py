"""Executions in document order, whenever they were made: a run that rested goes on in the midst of its plan."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from infospace.runs.journal import StepRow
from planner.plan import Block, ForEach, If, Parallel, Plan, Saved, Step, While

_INTO = re.compile(r"(?:\.(then|else|body|do|branches)(?:\[(\d+)\])?\.|(?:\[(\d+)\])?\.(on_fail)\.|(/))")
"""What leads into a step: a block of a form and which time or branch, the handler of a step or of an item, a plan."""
_LABEL = re.compile(r"(.*?)(?:#(\d+))?(?:\[\d+\])?$")
"""The label of a step in its block, and which attempt."""


def in_document_order(plan: Plan, rows: Iterable[StepRow]) -> list[StepRow]:
    """Return rows of a run of a plan in the order of the plan; what stands in a step comes after its own row."""
    return sorted(rows, key=lambda row: (_key(plan, row.position), row.sequence))


def _key(plan: Plan, position: str) -> tuple[int, ...]:
    """Return for each label on the way its place and attempt, and for each block between them its turn."""
    block: Block = plan.steps
    key: list[int] = []
    at = 0
    for into in _INTO.finditer(position):
        place, attempt, step = _labelled(block, position[at : into.start()])
        key += [place, attempt, *_turn(into)]
        form, number, _, handler, _ = into.groups()
        block = () if step is None else _inside(plan, step, form or handler, int(number or 0))
        at = into.end()
    place, attempt, _ = _labelled(block, position[at:])
    return (*key, place, attempt)


def _turn(into: re.Match[str]) -> tuple[int, int]:
    """Return the turn of a block in its step: rounds, items and branches by number, a handler after what it handles."""
    form, number, item, handler, _ = into.groups()
    if handler and not item:
        return sys.maxsize, 0
    return int(number or item or 0), int(form == "else" or bool(handler))


def _labelled(block: Block, written: str) -> tuple[int, int, Step | None]:
    """Return the place of a step in its block by its label, which attempt of it is told, and the step."""
    found = _LABEL.fullmatch(written)
    label, attempt = (found[1], int(found[2] or 1)) if found else (written, 1)
    for place, step in enumerate(block, 1):
        if step.label == label:
            return place, attempt, step
    return int(label) if label.isdigit() else 0, attempt, None


def _inside(plan: Plan, step: Step, block: str | None, number: int) -> Block:
    match block, step.form:
        case "then", If(_, then):
            return then
        case "else", If(_, _, otherwise):
            return otherwise
        case "body", While(_, body):
            return body
        case "do", ForEach(_, _, do):
            return do
        case "branches", Parallel(branches) if 0 < number <= len(branches):
            return branches[number - 1]
        case "on_fail", _ if isinstance(step.on_fail, tuple):
            return step.on_fail
        case None, Saved(name) if name in plan.plans:
            return plan.plans[name].steps
    return ()
