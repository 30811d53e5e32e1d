"""A goal as one run: the plan is written, looked at, run, and where a step fails the rest is written anew.

The run is a session without a name: its first step is `write-plan`, with the model's calls in the journal, and the
steps of the plan follow. So a killed process loses no answer that was paid for, and a replay asks no model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from infospace.core.errors import Conflict
from infospace.core.json_types import JSON
from infospace.core.resources import Note
from infospace.data.result import truncate
from infospace.space import Space
from planner.execute.start import check_plan
from planner.goals.effects import Effect, effects_of
from planner.goals.write import MAX_REPAIRS
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit
from planner.journal.result import RunResult
from planner.sessions.session import Session, ignore_event

Agree: TypeAlias = "Callable[[GoalSession], Sequence[str] | None]"
"""Says whether the plan that a session has written is to be run."""

MAX_REPLANS = 2
"""How often the rest of a plan is written anew after a step failed."""
SO_FAR = 300
"""Characters of a step's result that the model is told."""


class GoalSession:
    """One goal: `write` a plan for it, then `run` that. Raises what sessions raise."""

    def __init__(
        self,
        space: Space,
        goal: str,
        inputs: Mapping[str, JSON] | None = None,
        *,
        max_repairs: int = MAX_REPAIRS,
        budget: Mapping[str, JSON] | None = None,
        emit: Emit = ignore_event,
    ) -> None:
        """`budget` is that of the run: turns of the model count as its `llm_calls`."""
        self._space = space
        self._goal = goal
        self._inputs = dict(inputs or {})
        self._max_repairs = max_repairs
        self._emit = emit
        head: dict[str, JSON] = {"goal": goal}
        if budget:
            head["budget"] = dict(budget)
        self._session = Session(space, None, head)
        self.document: JSON = None
        """The plan, once there is one."""

    @property
    def id(self) -> str | None:
        """The run, once it is one."""
        return self._session.id

    async def write(self, halt: SuspendRequest | None = None, so_far: str = "") -> RunResult:
        """Let the model write the plan; `document` is it where the outcome is a success."""
        step: dict[str, JSON] = {
            "type": "write-plan",
            "goal": escaped(self._goal),
            "max_repairs": self._max_repairs,
            "out": "$written_plan",
        }
        if so_far:
            step["so_far"] = escaped(so_far)
        if self._inputs:
            step["inputs"] = _escaped_values(self._inputs)
        result = await self._session.play([step], self._emit, halt)
        self.document = self._content(result) if result.status == "success" else None
        return result

    def effects(self) -> list[Effect]:
        """Return what the plan would do."""
        plan, _ = check_plan(self._space, self.document)
        return effects_of(plan, self._space.catalogue)

    async def run(self, approve: Sequence[str] = (), halt: SuspendRequest | None = None) -> RunResult:
        """Run the plan that was written, then end the run; a waiting one stays open for `resume` and `answer`.

        The tools of `approve` are called without asking.
        """
        if self.document is None or self.id is None:
            raise Conflict("there is no plan to run", hint="write it first")
        session = Session(self._space, None, approve=approve)
        session.id = self.id
        return await session.play_plan(self.document, self._inputs, self._emit, halt)

    async def end(self, result: RunResult) -> RunResult:
        """End the run as its plan ended; return the outcome of all of it. One that waits stays open."""
        if self._session.run is None:
            return result
        if result.status == "success":
            return await self._session.end(self._emit)
        if result.status in ("failed", "refused"):
            reason = result.reason or next((one.message for one in result.problems), "the plan failed")
            return await self._session.close("failed", reason, self._emit)
        return result

    async def abandon(self, reason: str) -> RunResult:
        """End the run without running the plan."""
        return await self._session.close("cancelled", reason, self._emit)

    def so_far(self, result: RunResult) -> str:
        """Say what a failed plan has done, and on what it failed, for the model that goes on from there."""
        lines = [f"The plan failed: {result.reason or 'no reason was given'}"]
        for row in result.steps:
            if row.type == "write-plan":
                continue
            bound = f" gave {row.resource}, bound as ${row.out}" if row.resource and row.out else ""
            lines.append(
                f"step {row.position} {row.type}: {row.status}{bound}: {truncate(row.reason or row.value, SO_FAR)}"
            )
        lines.append(
            'Nothing of it is done again. A result is bound by its id: {"type": "bind", "target": "Note_1", …}.'
        )
        return "\n".join(lines)

    def _content(self, result: RunResult) -> JSON:
        found = result.bindings.get("written_plan")
        return found.content if isinstance(found, Note) else None


async def write(
    space: Space,
    goal: str,
    inputs: Mapping[str, JSON] | None = None,
    *,
    max_repairs: int = MAX_REPAIRS,
    emit: Emit = ignore_event,
) -> tuple[JSON, RunResult]:
    """Let the model write a plan for a goal: the plan, None where it wrote none, and the run that it was written in."""
    session = GoalSession(space, goal, inputs, max_repairs=max_repairs, emit=emit)
    result = await session.end(await session.write())
    return session.document, result


async def do(
    space: Space,
    goal: str,
    agree: Agree,
    inputs: Mapping[str, JSON] | None = None,
    *,
    approve: Sequence[str] = (),
    max_repairs: int = MAX_REPAIRS,
    emit: Emit = ignore_event,
) -> RunResult:
    """Let the model write a plan for a goal, ask `agree`, and run it; where a step fails the rest is written anew.

    `agree` is handed the session with its `document` before anything of that happens, and again before what was
    written anew. It returns the tools that are called without asking besides those of `approve`, or None: nothing is
    run then, and the run is cancelled. Raises what sessions and `agree` raise.
    """
    session, so_far = GoalSession(space, goal, inputs, max_repairs=max_repairs, emit=emit), ""
    for left in range(MAX_REPLANS, -1, -1):
        written = await session.write(so_far=so_far)
        if session.document is None:
            break
        try:
            agreed = agree(session)
        except BaseException:
            await session.abandon("nobody agreed to the plan")
            raise
        if agreed is None:
            return await session.abandon("the plan was not wanted")
        written = await session.run([*approve, *agreed])
        if written.status != "failed" or not left:
            break
        so_far = session.so_far(written)
    return await session.end(written)


def escaped(text: str) -> str:
    """Return a text as a plan has it, so that nothing in it is read as a reference."""
    return text.replace("$", "${$}")


def _escaped_values(value: JSON) -> JSON:
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, list):
        return [_escaped_values(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _escaped_values(item) for key, item in value.items()}
    return value
