"""A new run that begins at a step of another, with a change: what came before is taken as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from sys import maxsize

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.json_types import JSON
from infospace.core.position import Position, top_label
from infospace.core.resources import CreatedBy
from infospace.data.paths import did_you_mean
from infospace.journal.forks import first_of
from infospace.journal.rows import OpenRun, RunRow, StepRow
from infospace.space import Space
from infospace.store.protocol import Snapshot
from infospace.tools.approvals import approvals_for_run, parse_tool_names
from infospace.tools.scoped_space import scope_of
from planner.check.checker import check
from planner.check.space_facts import SnapshotFacts
from planner.execute.run import Run
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit
from planner.journal.recorded import RecordedRun
from planner.journal.result import RunResult
from planner.language.json_patch import apply_patch, check_patch
from planner.language.plan import Plan
from planner.language.problems import Patch
from planner.lifecycle.fork_copies import Copy, ForkCopies
from planner.lifecycle.resume import plan_of


async def fork(
    space: Space,
    run: str,
    step: str,
    patch: Patch,
    emit: Emit = lambda _event: None,
    halt: SuspendRequest | None = None,
    approve: Sequence[str] = (),
) -> RunResult:
    """Run a plan anew from one of its own steps on, changed by a JSON Patch. `halt` is that of `stream`.

    `step` is the label of a step of the plan itself, such as `3`. Steps before it are not run again: their results
    are bound, at the versions that they had when the step began; one that changed since is copied. Notes that are
    read by name or found by a search are as they are now. Names of what the run and its forks had made go over to
    what the fork makes. A changed plan that the check refuses is refused. What was approved in the run is asked about
    anew, but for the tools of `approve`.

    Raises NotFound, Conflict for what is no run of a plan or ended before the step, Invalid for a patch that touches
    earlier steps.
    """
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(run), snapshot.steps(run)
        document, first = _changed(row, patch), first_of(snapshot, run)
        plan, problems = check(document, space.catalogue, SnapshotFacts(snapshot, free=first))
    labels = [one.label for one in plan_of(row).steps]
    if step not in labels:
        hint = did_you_mean(step, labels, f"it has {', '.join(labels)}")
        raise NotFound(f"the plan of {run} has no step {step!r} of its own", hint=hint)
    before = labels[: labels.index(step)]
    _require_reached(row, rows, step, before)
    _require_untouched(plan_of(row), plan, len(before))
    if not problems.ok:
        return RunResult(None, "refused", problems=tuple(problems.found))
    return await _Fork(space, row, rows, before, step).run(
        plan, first, emit, halt or SuspendRequest(), parse_tool_names(approve)
    )


def _changed(row: RunRow, patch: Patch) -> JSON:
    if row.kind == "session":
        hint = f"`infospace show {row.run} --json` has its lines, to be run as a plan"
        raise Conflict(f"{row.run} is a session, whose lines come call by call, and cannot be forked", hint=hint)
    if row.kind != "plan":
        raise Conflict(f"{row.run} is not a run of a plan, and cannot be forked", hint="`infospace runs` lists them")
    check_patch(patch)
    document: JSON = row.document
    for index, operation in enumerate(patch):
        try:
            document = apply_patch(document, [operation])
        except (KeyError, IndexError, TypeError, ValueError) as error:
            message = f"operation {index} of the patch names a place that the plan does not have: {operation['path']}"
            raise Invalid(message, hint=f"`infospace show {row.run} --json` has the plan") from error
    return document


def _require_reached(row: RunRow, rows: Sequence[StepRow], step: str, before: Sequence[str]) -> None:
    """Raise Conflict where the run ended at a step before the one from which it is to be forked."""
    for one in rows:
        position = Position.parse(one.position)
        failed = position.first.text in before and one.status == "failed"
        in_saved = any(part.block == "plan" for part in position.parts)
        has_ended = (failed and not one.extra.get("handled")) or (one.type == "stop" and not in_saved)
        place = position.top
        if has_ended and place in before:
            how = "stopped the plan" if one.type == "stop" else "failed"
            message = f"step {place} of {row.run} {how}, and a fork at step {step} would end there too"
            raise Conflict(message, hint=f"fork it at step {place}")


def _require_untouched(old: Plan, new: Plan, count: int) -> None:
    for index in range(count):
        if index >= len(new.steps) or new.steps[index] != old.steps[index]:
            message = f"step {old.steps[index].label} is changed, and lies before the step from which the run is forked"
            raise Invalid(message, hint=f"fork it at step {old.steps[index].label}")


class _Fork:
    def __init__(self, space: Space, row: RunRow, rows: Sequence[StepRow], before: Sequence[str], step: str) -> None:
        self._space = space
        self._row = row
        self._before = frozenset(before)
        self._rows = [one for one in rows if top_label(one.position) in before and one.status != "suspended"]
        starts = [one.started for one in rows if top_label(one.position) == step]
        self._moment = min(starts, default=row.ended or now())
        others = [one for one in rows if top_label(one.position) not in before]
        self._later = [one for one in others if one.started >= self._moment]

    async def run(self, plan: Plan, first: str, emit: Emit, halt: SuspendRequest, approve: Sequence[str]) -> RunResult:
        space, row = self._space, self._row
        run = Run(space, plan, emit)
        run.halt = halt
        run.id, run.forked = space.store.new_id("run"), first
        context = space.context(CreatedBy(run.id, None, "fork"))
        seen: dict[str, set[int]] = {one: set() for one in row.inputs.values()}
        for one in self._rows:
            if one.resource is not None:
                seen.setdefault(one.resource, set()).add(one.version or 1)
        with space.store.reading() as snapshot:
            copying = ForkCopies(context, snapshot, partial(self._version_at_begin, snapshot), seen)
            copies = {one: result for one in seen if (result := copying.of(one)) is not None}
        inputs = {name: copies[one].id if one in copies else one for name, one in row.inputs.items()}
        plans = {name: inner.document for name, inner in run.plans.items()}
        goal = f"{row.goal} (fork of {row.run})".strip()
        document, at, scope = plan.document, now(), scope_of(space)
        opened = OpenRun(run.id, "plan", goal, document, inputs, at, run.owner, plans, row.run, scope)
        kept = [self._copied_row(one, run.id, copies) for one in self._rows]
        space.store.commit(context.changes, [opened, *approvals_for_run(approve, run.id, opened.started), *kept])
        record = RecordedRun(kept, (), {})
        with space.store.reading() as snapshot:
            run.restore(snapshot.run(run.id), record, (), run.owner)
        return await run.run_to_end()

    def _version_at_begin(self, snapshot: Snapshot, identifier: str) -> int | None:
        """Return the version that a resource had when the step began, None where it has it still."""
        is_there = partial(self._existed, snapshot, identifier, *self._bounds(identifier))
        versions = [number for number, _ in takewhile(is_there, snapshot.versions(identifier))]
        try:
            current = snapshot.get(identifier)
        except NotFound:
            current = None
        if not versions or (current is not None and current.version == versions[-1]):
            return None
        return versions[-1]

    def _bounds(self, identifier: str) -> tuple[int, int]:
        """Return the last version that was met before the step, and the first that was met from it on.

        Times tell milliseconds apart, and a step may take less: what was met says more than they do.
        """
        before = [version for row in self._rows for version in _met(row, identifier)]
        after = [use.version for row in self._later for use in row.uses if use.id == identifier]
        return max(before, default=0), min(after, default=maxsize)

    def _existed(self, snapshot: Snapshot, identifier: str, last: int, first: int, version: tuple[int, str]) -> bool:
        """Whether a version was there when the step began: the run's own by their steps, others by their time."""
        number, time = version
        if number <= last or number > first:
            return number <= last
        created_by = snapshot.get(identifier, number).created_by
        if created_by.run == self._row.run and created_by.step is not None:
            return top_label(created_by.step) in self._before
        return time <= self._moment

    @staticmethod
    def _copied_row(row: StepRow, run: str, copies: dict[str, Copy]) -> StepRow:
        """Return a step as the fork has it: what it gave is the copy, at the version that it gave."""
        taken = replace(row, run=run, extra={**row.extra, "forked": row.run})
        copied = copies.get(row.resource or "")
        if copied is None:
            return taken
        return replace(taken, resource=copied.id, version=copied.versions.get(row.version or 0, 1))


def _met(row: StepRow, identifier: str) -> Iterator[int]:
    """Give the versions of a resource that a step read or gave."""
    yield from (use.version for use in row.uses if use.id == identifier)
    if row.resource == identifier and row.version is not None:
        yield row.version
