"""The steps of a run as they were written, by the positions under which they were executed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from infospace.jsonvalue import JSON
from infospace.runs.journal import RunRow
from planner.plan import Block, ForEach, If, Parallel, Plan, Saved, Step, While
from planner.steps import SAVED

_INTO = re.compile(r"(\.then\.|\.else\.|\.body\[\d+\]\.|\.do\[\d+\]\.|\.branches\[\d+\]\.|(?:\[\d+\])?\.on_fail\.|/)")
_BEHIND = re.compile(r"(#\d+)?(\[\d+\])?(\.on_fail)?$")
"""What follows a label without leading further in: an attempt, an item."""

_TOP = re.compile(r"[.\[#/!]")


def written_step(run: RunRow, position: str) -> Mapping[str, Any] | None:
    """Return the step of a run's document at a position, None where it has none there, as in a session."""
    block: JSON = _steps(run.document)
    label, *rest = _INTO.split(position)
    found = _labelled(block, label)
    for into, inner in zip(rest[::2], rest[1::2], strict=True):
        if found is None:
            return None
        found = _labelled(_block(run, found, into), inner)
    return found


def top_label(position: str) -> str:
    """Return the label of the plan's own step that a position lies in."""
    return _TOP.split(position, maxsplit=1)[0]


def _steps(document: JSON) -> JSON:
    if isinstance(document, dict):
        return document.get("steps", document.get("plan"))
    return document


def _block(run: RunRow, step: Mapping[str, Any], into: str) -> JSON:
    """The list of steps inside of a step that a position leads into."""
    if into == "/":
        return _steps(run.plans.get(str(step.get("type", "")).removeprefix(SAVED)))
    key, _, index = into.strip(".]").partition("[")
    if into.endswith(".on_fail."):
        return step.get("on_fail")
    block: JSON = step.get(key)
    if key == "do" and step.get("type") == "map":
        operation = step.get("operation")
        return [operation if isinstance(operation, dict) else {"type": operation}]
    if key == "branches":
        inside = isinstance(block, list) and 0 < int(index) <= len(block)
        return block[int(index) - 1] if inside and isinstance(block, list) else None
    return block


def _labelled(block: JSON, label: str) -> Mapping[str, Any] | None:
    if not isinstance(block, list):
        return None
    name = _BEHIND.sub("", label)
    steps = [step for step in block if isinstance(step, dict)]
    by_id = next((step for step in steps if step.get("id") == name), None)
    if by_id is not None or not name.isdigit() or not 0 < int(name) <= len(steps):
        return by_id
    return steps[int(name) - 1]


def step_at(plan: Plan, position: str) -> Step | None:
    """Return the step of a plan that is executed at a position, None where it has none there."""
    label, *rest = _INTO.split(position)
    found = _step_labelled(plan.steps, label)
    for into, inner in zip(rest[::2], rest[1::2], strict=True):
        if found is None:
            return None
        found = _step_labelled(_steps_in(plan, found, into), inner)
    return found


def _step_labelled(block: Block, label: str) -> Step | None:
    name = _BEHIND.sub("", label)
    return next((step for step in block if step.label == name), None)


def _steps_in(plan: Plan, step: Step, into: str) -> Block:
    """The steps inside of a step that a position leads into."""
    if into.endswith(".on_fail."):
        return step.on_fail if isinstance(step.on_fail, tuple) else ()
    form, (key, _, index) = step.form, into.strip(".]").partition("[")
    if isinstance(form, Saved):
        return plan.plans[form.name].steps if form.name in plan.plans else ()
    if isinstance(form, ForEach):
        return form.do
    if isinstance(form, If):
        return form.then if key == "then" else form.otherwise
    if isinstance(form, Parallel):
        return form.branches[int(index) - 1] if 0 < int(index) <= len(form.branches) else ()
    return form.body if isinstance(form, While) else ()
