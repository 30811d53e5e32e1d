"""What a run answers: the documented JSON of `run --json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from infospace.core.resources import Collection, Note, Resource, text_of
from infospace.data.result import StepResult
from infospace.journal.rows import RunStatus, StepRow
from planner.journal.context_after_step import data_of
from planner.journal.suspension import Pending
from planner.language.problems import Problem

if TYPE_CHECKING:
    from infospace.space import Space

NOT_BEGUN = "it was interrupted before it began"
"""Why a run came to nothing that was broken off before it had an id."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of a run. `result` always has its `data`; `bindings` are ids by variable name.

    Its `repr` stays short: `asyncio` makes one when a run ends, for a message that nobody sees.
    """

    run: str | None
    status: RunStatus
    result: StepResult | None = field(default=None, repr=False)
    bindings: Mapping[str, Resource] = field(default_factory=dict, repr=False)
    steps: Sequence[StepRow] = field(default=(), repr=False)
    problems: Sequence[Problem] = field(default=(), repr=False)
    reason: str | None = None
    pending: Sequence[Pending] = ()
    """What a suspended run waits for."""

    def to_json(self, space: Space | None = None) -> dict[str, Any]:
        """Return the documented object. With a space, each step's answer has its `data` too."""
        return {
            "run": self.run,
            "status": self.status,
            "result": None if self.result is None else self.result.to_json(),
            "bindings": {name: binding(resource) for name, resource in self.bindings.items()},
            "steps": [step_json(row, space, self.steps) for row in self.steps],
            "pending": [pending.to_json() for pending in self.pending],
            "problems": [problem.to_json() for problem in self.problems],
            "reason": self.reason,
        }


def binding(resource: Resource) -> dict[str, Any]:
    """Return a binding in short: kind, id, and size (a Collection's items, a Note's characters)."""
    size: int | None = None
    if isinstance(resource, Collection):
        size = len(resource)
    elif isinstance(resource, Note):
        size = len(text_of(resource.content))
    return {"kind": str(resource.kind), "id": resource.id, "size": size}


def step_json(row: StepRow, space: Space | None = None, rows: Sequence[StepRow] = ()) -> dict[str, Any]:
    """Return one step as `run --json` shows it; with a space, with `data`: what it gave, as it was then.

    `rows` are the steps of its run. Where that version was removed for good, `data` is null and `data_gone` says so.
    """
    shown = answer_of(row).to_json(data=False)
    if space is not None:
        shown["data"], gone = data_of(space, row, rows)
        if gone is not None:
            shown["data_gone"] = gone
    out = None if row.out is None else f"${row.out}"
    return {"step": row.position, "type": row.type, "out": out, **shown, "expect": row.expect}


def answer_of(row: StepRow) -> StepResult:
    """Return a journal row as an answer, without its data."""
    return StepResult(
        status="failed" if row.status == "started" else row.status,
        resource_id=row.resource,
        value=row.value,
        reason=row.reason,
        extra=row.extra,
        started_at=row.started,
        duration_ms=row.duration_ms,
        error=row.error,
    )
