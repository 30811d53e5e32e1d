"""What a run leaves behind: rows that hold ids and versions, never copies of content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from infospace.core.json_types import JSON
from infospace.journal.audit import AuditRow
from infospace.journal.queue_rows import ClaimQueued, Enqueue, LimitQueue
from infospace.journal.schedule_rows import DropSchedule, PassDue, SaveSchedule, SetDue

RunKind: TypeAlias = Literal["plan", "session", "import", "edit"]
RunStatus: TypeAlias = Literal["running", "success", "failed", "suspended", "stopped", "cancelled", "refused"]
CallKind: TypeAlias = Literal["llm", "tool"]
CallStatus: TypeAlias = Literal["started", "success", "failed"]
StepStatus: TypeAlias = Literal["started", "success", "failed", "skipped", "suspended"]

MISSING = "which was pruned, or never began: a number is never used twice"
"""Why there is no run of a number that was given out."""
BROKEN_OFF = "the step was broken off"
"""Why a step failed that had begun, or waited, and did not end by itself; the kind of that is CANCELLED."""
CANCELLED = "cancelled"
"""The kind of failure of a call, or of a step, that was broken off."""

FINISHED: frozenset[RunStatus] = frozenset({"success", "failed", "stopped", "cancelled", "refused"})


@dataclass(frozen=True, slots=True)
class Use:
    """A resource that a step read, at the version it read."""

    id: str
    version: int


@dataclass(frozen=True, slots=True)
class StepRow:
    """One execution of a step. `sequence` counts executions in a run from 1, in document order as they end.

    `position` is the step's place in the plan (`4.do[3].2`), `attempt` counts from 1. `digest` is the
    SHA-256 of its resolved arguments, by which a replay finds it again. `resource` and `version` are the
    result. `error` is the kind of a failure (`bug` with a `trace`). Times: ISO 8601 UTC, milliseconds.
    """

    run: str
    sequence: int
    position: str
    type: str
    status: StepStatus
    started: str
    duration_ms: float
    attempt: int = 1
    out: str | None = None
    resource: str | None = None
    version: int | None = None
    value: str = ""
    reason: str | None = None
    error: str | None = None
    extra: Mapping[str, JSON] = field(default_factory=dict)
    expect: str | None = None
    uses: Sequence[Use] = ()
    digest: bytes | None = None
    trace: str | None = None
    frames: Mapping[str, JSON] = field(default_factory=dict)
    """What the forms around it had decided when it was written, by their positions, each told once in a run."""


def broken_off(row: StepRow) -> StepRow:
    """Return a step that was under way, or waited, as it is when its run has ended: it failed, and asks no more."""
    if row.status not in ("started", "suspended"):
        return row
    extra = {key: value for key, value in row.extra.items() if key != "pending"}
    return replace(row, status="failed", value="", reason=BROKEN_OFF, error=CANCELLED, extra=extra)


def settled(rows: Iterable[StepRow], status: RunStatus) -> list[StepRow]:
    """Return the steps of a run as they are at that status of the run: in one that has ended nothing waits."""
    return [broken_off(row) if status in FINISHED else row for row in rows]


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call of something outside, by a step: written before its effect (`started`), and again when it ended.

    `sequence` counts the calls of a run from 1, as they begin. `position` is the step's, `target` what was called
    (a model, `server/tool`), `digest` the SHA-256 of all that the answer depends on: by them a replay finds the
    `answer` again. One that stayed `started` is in doubt. `tokens` are those of question and answer together.
    `request` is what was asked, for whoever looks: a model's messages, a tool's arguments.
    """

    run: str
    sequence: int
    position: str
    kind: CallKind
    target: str
    digest: bytes
    status: CallStatus
    started: str
    duration_ms: float = 0.0
    tokens: int = 0
    answer: JSON = None
    reason: str | None = None
    error: str | None = None
    request: JSON = None


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run begins. `document` is the plan as it was read, `inputs` the ids of the resources bound to names.

    `plans` are the documents of the saved plans that it names, directly or not, as they were at the start; `forked`
    is the run at a step of which it begins. `scope` says which tools may be known of in it, None for all: whoever goes
    on with it goes on within that.
    """

    run: str
    kind: RunKind
    goal: str
    document: JSON
    inputs: Mapping[str, str]
    started: str
    owner: str
    plans: Mapping[str, JSON] = field(default_factory=dict)
    forked: str | None = None
    scope: JSON = None


@dataclass(frozen=True, slots=True)
class CloseRun:
    """A run ends, or suspends. `result` is an id, or None for null. What waits when it ends is `broken_off`.

    `due` is when a worker may go on with one that suspends, None when not by itself. One that somebody `interrupted`
    stays in its queue, and does not come into one.
    """

    run: str
    status: RunStatus
    ended: str
    result: str | None = None
    reason: str | None = None
    spent: Mapping[str, float] = field(default_factory=dict)
    due: str | None = None
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class OwnerGuard:
    """What follows in the same commit is written by this owner of the run, and only while it is.

    A commit with steps, calls or the end of a run raises LeaseLost, and changes nothing, where it has another one.
    """

    run: str
    owner: str


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The owner of a run is alive at this time; raises LeaseLost where it has another. `spent` is what it spent."""

    run: str
    owner: str
    at: str
    spent: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class ClaimRun:
    """A run that is not finished goes on under a new owner: it is `running` again.

    A Conflict when its owner is no longer `previous`: of two who take it at once, one gets it.
    """

    run: str
    owner: str
    previous: str | None
    at: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """What was answered to a step that a run waits for; the first answer stands.

    `position` is the step's, and of what a step may be asked more than once tells what this was.
    """

    run: str
    position: str
    value: JSON
    at: str


@dataclass(frozen=True, slots=True)
class Approve:
    """A tool may be called without asking: in one run, or with `run` None in the space from now on.

    `tool` is `server/tool`, or `server/*` for all of a server. `digest` is that of the tool as it was when somebody
    said so: one that has changed since is asked about again; None is whatever it says. A later one for the same tool
    takes the place of an earlier one.
    """

    tool: str
    digest: bytes | None
    at: str
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Disapprove:
    """A tool is asked about again that in the space, or in one run, might be called without asking."""

    tool: str
    run: str | None = None


@dataclass(frozen=True, slots=True)
class AddLines:
    """A session goes on with more steps, as they were read; `plans` are the saved plans that these name.

    They stand at the end of `steps` in the run's document. `scope` is that of the run from now on.
    """

    run: str
    lines: Sequence[JSON]
    plans: Mapping[str, JSON] = field(default_factory=dict)
    scope: JSON = None


@dataclass(frozen=True, slots=True)
class SetDocument:
    """The plan of a run that was opened before the plan had arrived whole, with the saved plans that it names."""

    run: str
    goal: str
    document: JSON
    inputs: Mapping[str, str]
    plans: Mapping[str, JSON] = field(default_factory=dict)


Entry: TypeAlias = (
    AddLines
    | AnswerRow
    | Approve
    | AuditRow
    | Heartbeat
    | CallRow
    | CloseRun
    | Disapprove
    | DropSchedule
    | Enqueue
    | SaveSchedule
    | LimitQueue
    | OwnerGuard
    | OpenRun
    | PassDue
    | SetDocument
    | SetDue
    | StepRow
    | ClaimQueued
    | ClaimRun
)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as it stands in the journal."""

    run: str
    kind: RunKind
    goal: str
    status: RunStatus
    started: str
    ended: str | None
    steps: int
    document: JSON
    inputs: Mapping[str, str]
    result: str | None
    reason: str | None
    owner: str | None
    heartbeat: str | None
    spent: Mapping[str, float] = field(default_factory=dict)
    plans: Mapping[str, JSON] = field(default_factory=dict)
    forked: str | None = None
    scope: JSON = None


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run in a list of many: what stands in the journal of it, without its plan."""

    run: str
    kind: RunKind
    goal: str
    status: RunStatus
    started: str
    ended: str | None
    reason: str | None
    owner: str | None
    heartbeat: str | None
    spent: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunStats:
    """How far a run is: executions, the plan's own steps that have ended and those it has, calls, and their tokens."""

    executions: int
    ended: int
    steps: int
    llm_calls: int
    tool_calls: int
    tokens: int
