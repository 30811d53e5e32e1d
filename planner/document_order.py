"""Executions in document order, whenever they were made: a run that rested goes on in the midst of its plan."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from infospace.position import Part, Position
from infospace.runs.journal import StepRow
from planner.plan import Block, Plan, Step
from planner.written import block_of


def in_document_order(plan: Plan, rows: Iterable[StepRow]) -> list[StepRow]:
    """Return rows of a run of a plan in the order of the plan; what stands in a step comes after its own row."""
    return sorted(rows, key=lambda row: (_key(plan, Position.parse(row.position))[0], row.sequence))


def _key(plan: Plan, position: Position) -> tuple[tuple[int, ...], Step | None]:
    """Return for each step on the way its place and attempt, for each part between them its turn; and the step."""
    part = position.part
    if part is None:
        before: tuple[int, ...] = ()
        block: Block = plan.steps
    else:
        before, holder = _key(plan, part.holder)
        before = (*before, *_turn(part))
        block = () if holder is None else block_of(plan, holder, part)
    place, step = _labelled(block, position.label)
    return (*before, place, position.attempt), step


def _turn(part: Part) -> tuple[int, int]:
    """Return the turn of a part in its step: rounds, items and branches by number, a handler after what it handles."""
    if part.block == "on_fail" and part.number is None:
        return sys.maxsize, 0
    return part.number or 0, int(part.block in ("else", "on_fail"))


def _labelled(block: Block, label: str) -> tuple[int, Step | None]:
    """Return the place of a step in its block by its label, and the step."""
    for place, step in enumerate(block, 1):
        if step.label == label:
            return place, step
    return int(label) if label.isdigit() else 0, None
