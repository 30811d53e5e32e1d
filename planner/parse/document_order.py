"""Executions in document order, whenever they were made: a run that rested goes on in the midst of its plan."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from infospace.core.position import Part, Position
from infospace.journal.rows import StepRow
from planner.language.plan import Block, Plan, Step
from planner.parse.positions import block_of


def in_document_order(plan: Plan, rows: Iterable[StepRow]) -> list[StepRow]:
    """Return rows of a run of a plan in the order of the plan; what stands in a step comes after its own row."""
    keys = _Keys(plan)
    return sorted(rows, key=lambda row: (keys.of(Position.parse(row.position))[0], row.sequence))


class _Keys:
    """By what positions are sorted: for each step on the way its place and attempt, for each part between its turn."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._top = _labels(plan.steps)
        self._parts: dict[str, tuple[tuple[int, ...], Mapping[str, tuple[int, Step]]]] = {}
        """The keys of parts, and the steps in them; the steps of one part are met one after the other."""

    def of(self, position: Position) -> tuple[tuple[int, ...], Step | None]:
        """Return the key of a position, and the step there, None where the plan has none."""
        before, labels = ((), self._top) if position.part is None else self._within(position.part)
        label = position.label
        place, step = labels.get(label) or (int(label) if label.isdigit() else 0, None)
        return (*before, place, position.attempt), step

    def _within(self, part: Part) -> tuple[tuple[int, ...], Mapping[str, tuple[int, Step]]]:
        known = self._parts.get(part.text)
        if known is None:
            before, holder = self.of(part.holder)
            labels = {} if holder is None else _labels(block_of(self._plan, holder, part))
            known = self._parts[part.text] = ((*before, *_turn(part)), labels)
        return known


def _turn(part: Part) -> tuple[int, int]:
    """Return the turn of a part in its step: rounds, items and branches by number, a handler after what it handles."""
    if part.block == "on_fail" and part.number is None:
        return sys.maxsize, 0
    return part.number or 0, int(part.block in ("else", "on_fail"))


def _labels(block: Block) -> dict[str, tuple[int, Step]]:
    """Return the steps of a block by label, each with its place in it."""
    return {step.label: (place, step) for place, step in reversed(list(enumerate(block, 1)))}
