"""Going on with a run that was suspended, or whose owner is gone: nothing that was done is done again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.json_types import JSON
from infospace.data.paths import nearest
from infospace.journal.rows import AnswerRow, ClaimRun, CloseRun, Entry, Heartbeat, RunRow, StepRow
from infospace.schema.validate import first_violation
from infospace.space import Space
from infospace.tools.approvals import approvals_for_run, approvals_from_answer
from infospace.tools.scoped_space import within
from planner.execute.run import Run
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit
from planner.journal.lease import is_live, new_owner, seconds_spent
from planner.journal.recorded import RecordedRun
from planner.journal.result import RunResult
from planner.journal.suspension import Pending
from planner.language.plan import Plan
from planner.language.problems import Problems
from planner.order.requirements import missing_primitives, required_tools
from planner.parse.document import parse_plan


def pending_of(rows: list[StepRow]) -> list[Pending]:
    """Return what a run waits for, by the rows of its steps."""
    pending = [row.extra.get("pending") for row in rows if row.status == "suspended"]
    return [Pending.of(one) for one in pending if isinstance(one, dict)]


def answer(space: Space, run: str, step: str, value: JSON) -> None:
    """Answer a step that a suspended run waits for. The run does not go on by itself.

    One that goes on meanwhile, to look at something else that it waits for, takes the answer before it rests.
    Raises NotFound for a run or a step that does not wait, Invalid for a value that does not fit, Conflict where it
    was answered before.
    """
    with space.store.reading() as snapshot:
        row = snapshot.run(run)
        waiting = {pending.step: pending for pending in pending_of(snapshot.steps(run)) if pending.kind != "wait"}
    if row.status != "suspended" and not (row.status == "running" and step in waiting):
        raise Conflict(
            f"{run} is {row.status}, and waits for nothing", hint="`infospace runs` says which are suspended"
        )
    if step not in waiting:
        near = nearest(step, waiting)
        hint = f"it waits for {', '.join(waiting)}" if waiting else "`infospace resume` continues it"
        raise NotFound(f"step {step!r} of {run} asks nothing", hint=f"did you mean {near!r}?" if near else hint)
    schema = waiting[step].schema
    fault = None if schema is None else first_violation(value, schema, formats=True)
    if fault is not None:
        raise Invalid(f"the answer to step {step} does not fit: {fault}", hint=waiting[step].question)
    asked, at = waiting[step], now()
    entries: list[Entry] = [AnswerRow(run, asked.answer_key, value, at)]
    if asked.kind == "approve" and asked.about is not None:
        entries += approvals_from_answer(value, run, asked.about["tool"], bytes.fromhex(asked.about["digest"]), at)
    space.store.commit([], entries)


async def resume(
    space: Space,
    run: str,
    emit: Emit = lambda _event: None,
    halt: SuspendRequest | None = None,
    approve: Sequence[str] = (),
    also: Sequence[Entry] = (),
) -> RunResult:
    """Go on with a run from where it is; steps that ended are taken from the journal. `halt` is that of `stream`.

    Of a session the lines that were begun. Nothing more may be known of in it than where it was begun. The tools of
    `approve` may be called from now on without asking, besides those that were approved before. `also` is committed
    with the claim of the run, or refuses it; not for sessions. Raises NotFound for a
    run that is not there, Conflict for one that is live, that has ended, that needs what is not here, or for a session
    that is at rest, Invalid for `approve`.
    """
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(run), snapshot.steps(run)
    if row.kind == "plan" and row.status == "running" and row.document is None and not is_live(row):
        left = CloseRun(run, "cancelled", now(), reason="its process ended before its plan had arrived whole")
        space.store.commit([], [ClaimRun(run, new_owner(), row.owner, now()), left])
    space, plan = must_be_resumable(space, row, rows)
    if row.kind == "session":
        from planner.sessions.session import session_of

        return await session_of(space, run).finish(emit, halt, approve)
    owner, at = new_owner(), now()
    spent = {**row.spent, "seconds": seconds_spent(row, rows)}
    space.store.commit(
        [],
        [
            ClaimRun(run, owner, row.owner, at),
            Heartbeat(run, owner, at, spent),
            *approvals_for_run(approve, run, at),
            *also,
        ],
    )
    # Of two who resume it at once ClaimRun lets one through. What it goes on from is read after that: until then an
    # earlier owner that slept through its lease may have journalled a step more, and somebody may have answered. From
    # here on that owner fails at its OwnerGuard.
    with space.store.reading() as snapshot:
        calls = snapshot.calls(run)
        record = RecordedRun(snapshot.steps(run), calls, snapshot.answers(run))
    going = Run(space, plan, emit)
    going.halt = halt or going.halt
    going.restore(row, record, calls, owner)
    result = await going.run_to_end()
    if result.status == "suspended" and not going.halt.now and _answered(space, result):
        # It was given while this run went on, and whoever gave it could not go on with it.
        return await resume(space, run, emit, halt)
    return result


def must_be_resumable(space: Space, row: RunRow, rows: list[StepRow]) -> tuple[Space, Plan]:
    """Return a space as whoever began a run sees it, and the run's plan; Conflict where it cannot go on."""
    _require_resumable(row)
    space = within(space, row.scope)
    plan = _plan(row)
    _has_what_it_needs(space, row, plan, RecordedRun(rows))
    return space, plan


def _answered(space: Space, result: RunResult) -> bool:
    """Whether what a run rests for was answered meanwhile."""
    with space.store.reading() as snapshot:
        return not snapshot.answers(str(result.run)).keys().isdisjoint(pending.answer_key for pending in result.pending)


def _require_resumable(row: RunRow) -> None:
    if row.kind not in ("plan", "session"):
        message = f"{row.run} is not a run of a plan or a session, and cannot be resumed"
        raise Conflict(message, hint="`infospace runs` lists them")
    if row.status == "suspended":
        return
    if row.document is None and not is_live(row):
        raise _no_plan(row)
    if row.status != "running":
        raise Conflict(f"{row.run} has ended already: {row.status}", hint="`infospace run` runs its plan again")
    if is_live(row):
        hint = "it can be resumed once that process has ended"
        raise Conflict(f"{row.run} is being run by {row.owner}", hint=hint)


def must_be_all_there(space: Space, run: str) -> None:
    """Raise Conflict for a suspended run that needs what is not in a space as somebody sees it; NotFound for none."""
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(run), snapshot.steps(run)
    if row.status == "suspended":
        _has_what_it_needs(space, row, _plan(row), RecordedRun(rows))


def _plan(row: RunRow) -> Plan:
    if row.kind != "session":
        return plan_of(row)
    from planner.sessions.lines import plan_of_session

    return plan_of_session(row)


def _has_what_it_needs(space: Space, row: RunRow, plan: Plan, record: RecordedRun) -> None:
    """Raise Conflict where steps that have not ended name what is not here: the run would fail for good."""
    left = tuple(
        step for step in plan.steps if (recorded := record.row(step.label)) is None or recorded.extra.get("retried")
    )
    needed = required_tools(left, plan.plans, space.catalogue)
    missing = {name: label for (name, kind), label in needed.items() if space.tools.find(name, kind) is None}
    missing |= missing_primitives(left, plan.plans, space.catalogue)
    for name, label in missing.items():
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        message = f"step {label} of {row.run} calls {name}{more}, which is not here"
        where = "its servers are connected" if "/" in name else "that is"
        raise Conflict(message, hint=f"it waits as it is: resume it where {where}")


def plan_of(row: RunRow) -> Plan:
    """Return the plan of a run as it was at the start, with the saved plans that it names.

    Raises Conflict for a run whose plan never arrived whole, or was refused.
    """
    if row.document is None:
        raise _no_plan(row)
    problems = Problems()
    plans = {name: parse_plan(document, problems) for name, document in row.plans.items()}
    plan = replace(parse_plan(row.document, problems), plans=plans)
    if not problems.ok:
        raise NotFound(f"the plan of {row.run} cannot be read any more: {problems.found[0].message}")
    return plan


def _no_plan(row: RunRow) -> Conflict:
    """Say of a run that was opened before its document had arrived that this came to nothing."""
    what = "was refused" if row.status == "refused" else "never arrived whole"
    return Conflict(f"the plan of {row.run} {what}: nothing of it was done", hint="`infospace run` runs it again")
