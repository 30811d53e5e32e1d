"""Whether what a plan's variables are bound to is what the check said of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infospace import Space
from infospace.core.resources import Collection, Note, Resource
from infospace.schema.shapes import CollectionShape, NoteShape, Shape
from infospace.schema.validate import first_violation
from planner.check.checker import Checker
from planner.check.environment import Variable
from planner.check.space_facts import SnapshotFacts
from planner.journal.result import RunResult
from planner.language.plan import Plan
from planner.language.problems import Problems


def told(space: Space, plan: Plan) -> dict[str, Variable]:
    """What the check knows of each variable at the end of a plan, before it runs."""
    with space.store.reading() as snapshot:
        checker = Checker(space.catalogue, SnapshotFacts(snapshot), Problems())
        checker.inputs(plan)
        checker.block(plan.steps, most=plan.budget.depth)
    return checker.env.variables


def misjudged(space: Space, known: dict[str, Variable], result: RunResult) -> Iterator[str]:
    """Say which variables are bound to something else than the check said."""
    for name, resource in result.bindings.items():
        if name not in known:
            yield f"${name} is bound, and the check knows nothing of it"
            continue
        for fault in _misfits(space, known[name].shape, resource, 0):
            yield f"${name}: {fault}"


def _misfits(space: Space, shape: Shape, resource: Resource, depth: int) -> Iterator[str]:
    if resource.kind not in shape.kinds:
        yield f"{resource.id} is said to be {sorted(shape.kinds)}"
    elif isinstance(shape, NoteShape) and isinstance(resource, Note):
        yield from _content(resource, shape)
    elif isinstance(shape, CollectionShape) and isinstance(resource, Collection) and depth < 2:
        for item in space.context().items(resource)[:3]:
            for fault in _misfits(space, shape.item, item, depth + 1):
                yield f"item {fault}"


def _content(note: Note[Any], shape: NoteShape) -> Iterator[str]:
    parts: list[tuple[str, Any, Any]] = [("content", note.content, shape.content)]
    if not note.evidence:
        parts.append(("metadata", dict(note.metadata), shape.metadata))
    for word, value, schema in parts:
        fault = None if schema is None else first_violation(value, schema)
        if fault is not None:
            yield f"{note.id}: its {word} is not what was said: {fault}; {schema!r:.300}"
