"""The steps of a run as they were written, by the positions under which they were executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infospace.core.json_types import JSON
from infospace.core.position import Part, Position, place_of
from infospace.journal.rows import RunRow
from planner.language.plan import Block, ForEach, If, Parallel, Plan, SavedPlanCall, Step, While
from planner.parse.steps import SAVED


def written_step(run: RunRow, position: str) -> Mapping[str, Any] | None:
    """Return the step of a run's document at a position, None where it has none there, as in a session."""
    place = place_of(position)
    return _written(run, place) if isinstance(place, Position) else None


def _written(run: RunRow, place: Position) -> Mapping[str, Any] | None:
    if place.part is None:
        return _labelled(_steps(run.document), place.label)
    holder = _written(run, place.part.holder)
    return None if holder is None else _labelled(_block(run, holder, place.part), place.label)


def _steps(document: JSON) -> JSON:
    if isinstance(document, dict):
        return document.get("steps", document.get("plan"))
    return document


def _block(run: RunRow, step: Mapping[str, Any], part: Part) -> JSON:
    """The list of steps inside of a step that a part is."""
    if part.block == "plan":
        return _steps(run.plans.get(str(step.get("type", "")).removeprefix(SAVED)))
    block: JSON = step.get(part.block)
    if part.block == "do" and step.get("type") == "map":
        operation = step.get("operation")
        return [operation if isinstance(operation, dict) else {"type": operation}]
    if part.block == "branches":
        number = part.number or 0
        return block[number - 1] if isinstance(block, list) and 0 < number <= len(block) else None
    return block


def _labelled(block: JSON, label: str) -> Mapping[str, Any] | None:
    if not isinstance(block, list):
        return None
    steps = [step for step in block if isinstance(step, dict)]
    by_id = next((step for step in steps if step.get("id") == label), None)
    if by_id is not None or not label.isdigit() or not 0 < int(label) <= len(steps):
        return by_id
    return steps[int(label) - 1]


def step_at(plan: Plan, position: str) -> Step | None:
    """Return the step of a plan that is executed at a position, None where it has none there."""
    place = place_of(position)
    return _step_at(plan, place) if isinstance(place, Position) else None


def _step_at(plan: Plan, place: Position) -> Step | None:
    block: Block = plan.steps
    if place.part is not None:
        holder = _step_at(plan, place.part.holder)
        block = () if holder is None else block_of(plan, holder, place.part)
    return next((step for step in block if step.label == place.label), None)


def block_of(plan: Plan, step: Step, part: Part) -> Block:
    """Return the steps of a plan, or of a saved plan that it runs, which stand in a part of a step."""
    match part.block, step.form:
        case "on_fail", _ if isinstance(step.on_fail, tuple):
            return step.on_fail
        case "then", If(_, then):
            return then
        case "else", If(_, _, otherwise):
            return otherwise
        case "body", While(_, body):
            return body
        case "do", ForEach(_, _, do):
            return do
        case "branches", Parallel(branches) if 0 < (part.number or 0) <= len(branches):
            return branches[(part.number or 0) - 1]
        case "plan", SavedPlanCall(name) if name in plan.plans:
            return plan.plans[name].steps
    return ()
