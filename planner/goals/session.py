"""A goal as one run: the plan is written, looked at, run, and where a step fails the rest is written anew.

The run is a session without a name: its lines are `write-plan`, with the model's calls in the journal, and the steps
of what that wrote, in turns. So a killed process loses no answer that was paid for, and a replay asks no model. In
the mode `steps` each turn writes one step, and the model sees what the steps before gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from infospace.core.errors import Conflict
from infospace.core.json_types import JSON
from infospace.core.position import top_label
from infospace.core.resources import Note
from infospace.journal.forks import calls_before
from infospace.journal.rows import FINISHED, StepRow
from infospace.space import Space
from planner.execute.start import check_plan
from planner.goals.effects import Effect, effects_of, needs_consent
from planner.goals.guards import Limits, left_of, repeats_failure, stops, tried
from planner.goals.memory import RememberedPlanMatch, forget, nearest, recall, remember
from planner.goals.turns import Turn, progress_of, turns_of
from planner.goals.write import MAX_REPAIRS
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit, Event, Spoke
from planner.journal.result import RunResult
from planner.sessions.lines import PLAN
from planner.sessions.session import Session, ignore_event
from planner.streaming.session_ahead import SpeculativeSession

Agree: TypeAlias = "Callable[[GoalSession], Sequence[str] | bool | None]"
"""Says whether the plan that a session has written is to be run."""

Mode: TypeAlias = Literal["whole", "steps"]
"""Whether the model writes a plan for all of the goal, or one step after another."""

WRITTEN = "written_plan"
"""The variable that the plan is bound to."""


class GoalSession:
    """One goal: `write` a plan for it, then `run` that. Raises what sessions raise."""

    def __init__(
        self,
        space: Space,
        goal: str,
        inputs: Mapping[str, JSON] | None = None,
        *,
        mode: Mode = "whole",
        max_repairs: int = MAX_REPAIRS,
        limits: Limits | None = None,
        emit: Emit = ignore_event,
        halt: SuspendRequest | None = None,
        is_run: bool = True,
        memory: bool = True,
    ) -> None:
        """`limits` bound all of the run: what the model's plans spend counts too. `halt`, once set, suspends it.

        Without `is_run` the plan is written and not run, also when the run is resumed. Without `memory` no plan that
        went well before is used, and this one is not remembered.
        """
        self._space = space
        self.goal = goal
        self.mode: Mode = mode
        self.limits = limits or Limits()
        self._inputs = dict(inputs or {})
        self._max_repairs = max_repairs
        self._emit = emit
        self._halt = halt or SuspendRequest()
        self._is_run = is_run
        self._memory = memory and mode == "whole"
        self.recalled: RememberedPlanMatch | None = None
        """Where the plan is one that went well before."""
        head: dict[str, JSON] = {"goal": goal, "budget": self.limits.budget()}
        if mode == "steps" and self._inputs:
            head["inputs"] = {name: {} for name in self._inputs}
        self._session = Session(space, None, head, self._inputs if mode == "steps" else None)
        self._ahead: SpeculativeSession | None = None
        self.document: JSON = None
        """The plan, once there is one."""

    @classmethod
    def reopen(
        cls, space: Space, run: str, emit: Emit = ignore_event, halt: SuspendRequest | None = None
    ) -> GoalSession:
        """Return the session of a run that did not come to its end, with its goal, mode and limits.

        Raises Conflict for a run that is none of a goal.
        """
        with space.store.reading() as snapshot:
            document = snapshot.run(run).document
        steps: Any = document.get("steps", []) if isinstance(document, Mapping) else []
        if not is_of_goal(document):
            raise Conflict(f"{run} is not a run of a goal", hint="`infospace resume` goes on with any run")
        lines = [line for line in steps if line.get("expect") == PLAN]
        budget: Any = document.get("budget", {})  # type: ignore[union-attr]
        last = lines[-1]
        usual = Limits()
        limits = Limits(
            int(last.get("budget", {}).get("turns", usual.turns)) + len(lines) - 1,
            budget.get("tokens", usual.tokens),
            budget.get("seconds", usual.seconds),
            budget.get("tool_calls", usual.calls),
        )
        inputs = _written_values(last.get("inputs", {}))
        assert isinstance(inputs, dict)  # noqa: S101 - `write` gives an object
        result = cls(
            space,
            _written_values(last["goal"]),  # type: ignore[arg-type]
            inputs,
            mode=last.get("mode", "whole"),
            max_repairs=last["max_repairs"],
            limits=limits,
            emit=emit,
            halt=halt,
            memory=False,
        )
        result._session = Session(space)
        result._session.id = run
        turns = result.turns()
        result.document = turns[-1].document if turns and not turns[-1].was_run else None
        return result

    @property
    def id(self) -> str | None:
        """The run, once it is one."""
        return self._session.id

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.id is not None and self._session.run is None

    def turns(self) -> list[Turn]:
        """Return what was written until now, and what came of it."""
        return [] if self.id is None else turns_of(self._space, self.id)

    async def write(self) -> RunResult:
        """Let the model write a plan, or the next step; `document` is it where the outcome is a success.

        What the steps before it gave is told, by previews.
        """
        if self.id is None and self.mode == "steps" and self._inputs:
            await self._session.begin()  # the first step reads the inputs, so they are bound before it is written
        turns = self.turns()
        if self.mode == "whole" and turns and turns[-1].run == self.id and turns[-1].failure is not None:
            await self._fork(turns[-1].failure)
        remembered = self._remembered() if self._memory and not turns else {}
        step: dict[str, JSON] = {
            "type": "write-plan",
            "goal": escaped(self.goal),
            "max_repairs": self._max_repairs,
            "out": f"${WRITTEN}",
            "budget": left_of(self.limits, len(turns), *self._spent()),
        }
        if self._is_run:
            step["expect"] = PLAN
        if self.mode != "whole":
            step["mode"] = self.mode
        if progress := progress_of(turns):
            step["so_far"] = escaped(progress)
        bound: dict[str, JSON] = {name: one for name, one in self._bindings().items() if name != WRITTEN}
        if bound:
            step["bound"] = bound
        if self._inputs:
            step["inputs"] = _escaped_values(self._inputs)
        step |= remembered
        self._ahead = SpeculativeSession(self._space, self._inputs, self._emit) if self._runs_ahead else None
        try:
            result = await self._session.play([step], self._watch, self._halt)
        except BaseException:
            await self._drop_ahead()
            raise
        self.document = self._content(result) if result.status == "success" else None
        if self.document is None:
            await self._drop_ahead()
        elif self._ahead is not None:
            await self._ahead.settle()
        return result

    @property
    def _runs_ahead(self) -> bool:
        """Whether the first steps of a plan start while the model still writes it."""
        return self._is_run and self.mode == "whole" and self.recalled is None

    def _watch(self, event: Event) -> None:
        """Pass an event on; a piece of a plan may be the end of a step that can start."""
        self._emit(event)
        run = self._session.playing
        if isinstance(event, Spoke) and event.kind == "draft" and self._ahead is not None and run is not None:
            self._ahead.feed(event.text, run)

    async def _drop_ahead(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            await ahead.drop()

    def _remembered(self) -> dict[str, JSON]:
        """Return what the step gets of plans that went well: one for this goal, or an example of a goal near to it."""
        result = recall(self._space, self.goal, self._inputs)
        if result is not None and check_plan(self._space, result.plan)[1].ok:
            self.recalled = result
            return {"known": {"plan": _escaped_values(result.plan)}}
        near = nearest(self._space, self.goal)
        return {} if near is None else {"known": {"example": _escaped_values(near.plan)}}

    def learn(self, result: RunResult) -> None:
        """Remember a plan that went well at once; forget one that was remembered and failed."""
        if not self._memory:
            return
        turns = self.turns()
        if self.recalled is not None and (len(turns) > 1 or result.status == "failed"):
            forget(self._space, self.recalled.source.id)
        elif self.recalled is None and len(turns) == 1 and result.status == "success":
            remember(self._space, self.goal, self._inputs, turns[0].document, str(self.id))

    def effects(self) -> list[Effect]:
        """Return what the plan would do."""
        plan, _ = check_plan(self._space, self.document)
        return effects_of(plan, self._space.catalogue)

    async def run(self, approve: Sequence[str] = ()) -> RunResult:
        """Run the plan that was written, as a call of the session, which stays open.

        The tools of `approve` are called without asking. A budget of the plan's own is left out: the run has one.
        """
        if self.document is None or self.id is None:
            raise Conflict("there is no plan to run", hint="write it first")
        self._session.allow(approve)
        plan: dict[str, JSON] = dict(self.document) if isinstance(self.document, Mapping) else {}
        plan.pop("budget", None)
        inputs = self._inputs if self.mode == "whole" else {}
        ahead, self._ahead = self._ahead, None
        course = None if ahead is None else ahead.course
        return await self._session.play_plan(plan, inputs, self._emit, self._halt, course)

    async def _fork(self, failure: StepRow) -> None:
        """End the run at the step that failed, and go on in a fork of it, which has what was done before that step."""
        with self._space.store.reading() as snapshot:
            reason = snapshot.run(str(self.id)).reason or f"step {failure.position} ({failure.type}) failed"
        self._session = await self._session.fork(top_label(failure.position), reason, self._emit)

    async def resume(self, approve: Sequence[str] = ()) -> RunResult | None:
        """Go on with the lines that a process began which ended; None where none were begun."""
        if not self._has_open_lines():
            return None
        result = await self._session.resume(self._emit, self._halt, approve)
        turns = self.turns()
        self.document = turns[-1].document if turns and not turns[-1].was_run else None
        return result

    async def end(self, result: RunResult) -> RunResult:
        """End the run as its plan ended; return the outcome of all of it. One that waits stays open."""
        if self._session.run is None or result.status not in ("success", "failed", "refused"):
            return result
        if result.status == "success":
            return await self._session.end(self._emit)
        reason = result.reason or next((problem.message for problem in result.problems), "the plan failed")
        return await self.fail(reason)

    async def fail(self, reason: str) -> RunResult:
        """End the run as failed, for a reason."""
        await self._drop_ahead()
        return await self._session.close("failed", reason, self._emit)

    async def abandon(self, reason: str) -> RunResult:
        """End the run without running the plan."""
        await self._drop_ahead()
        return await self._session.close("cancelled", reason, self._emit)

    def whole(self, result: RunResult) -> RunResult:
        """Return the outcome of a call that ended the run, as that of the whole run."""
        with self._space.store.reading() as snapshot:
            rows = sorted(snapshot.steps(str(self.id)), key=lambda row: row.sequence)
        return replace(result, steps=rows)

    def why_not(self) -> str | None:
        """Say why the plan that was just written is not run, None where it may be."""
        return repeats_failure(self.turns(), steps=self.mode == "steps")

    def why_stop(self) -> str | None:
        """Say why the model is not asked for another plan, None where it is."""
        return stops(self._space, self.turns(), self.limits, steps=self.mode == "steps")

    def tried(self) -> str:
        """Say in a few words what was tried until now."""
        return tried(self.turns())

    def _content(self, result: RunResult) -> JSON:
        resource = result.bindings.get(WRITTEN)
        return resource.content if isinstance(resource, Note) else None

    def _bindings(self) -> dict[str, str]:
        """Return the ids of what is bound; before the run is one, nothing is."""
        return {} if self.id is None else self._session.bindings()

    def _spent(self) -> tuple[int, int]:
        """Return the tokens and the calls of tools that were spent."""
        if self.id is None:
            return 0, 0
        with self._space.store.reading() as snapshot:
            calls = snapshot.calls(self.id)
            calls += calls_before(snapshot, self.id)
        return sum(call.tokens for call in calls if call.kind == "llm"), sum(call.kind == "tool" for call in calls)

    def _has_open_lines(self) -> bool:
        from planner.sessions.session_run import is_between_calls

        with self._space.store.reading() as snapshot:
            row = snapshot.run(str(self.id))
        return row.status not in FINISHED and not is_between_calls(row)


def is_of_goal(document: JSON) -> bool:
    """Whether the document of a run is that of a goal: a model writes its lines."""
    steps = document.get("steps") if isinstance(document, Mapping) else None
    first = steps[0] if isinstance(steps, list) and steps else None
    return isinstance(first, Mapping) and first.get("expect") == PLAN


async def write(
    space: Space,
    goal: str,
    inputs: Mapping[str, JSON] | None = None,
    *,
    max_repairs: int = MAX_REPAIRS,
    limits: Limits | None = None,
    memory: bool = True,
    emit: Emit = ignore_event,
) -> tuple[JSON, RunResult]:
    """Let the model write a plan for a goal: the plan, None where it wrote none, and the run that it was written in."""
    session = GoalSession(
        space, goal, inputs, max_repairs=max_repairs, limits=limits, emit=emit, is_run=False, memory=memory
    )
    result = await session.end(await session.write())
    return session.document, result


async def do(
    space: Space,
    goal: str,
    agree: Agree,
    inputs: Mapping[str, JSON] | None = None,
    *,
    mode: Mode = "whole",
    approve: Sequence[str] = (),
    max_repairs: int = MAX_REPAIRS,
    limits: Limits | None = None,
    memory: bool = True,
    emit: Emit = ignore_event,
    halt: SuspendRequest | None = None,
) -> RunResult:
    """Let the model write a plan for a goal, ask `agree`, and run it; where a step fails the rest is written anew.

    `agree` is handed the session with its `document` before anything of that happens, and again before what was
    written anew; in the mode `steps` before each step. It returns True, or the tools that are called without asking
    besides those of `approve`; with False or None nothing is run, and the run is cancelled. A run
    that goes round in a circle, or has spent its `limits`, fails with a sentence on what was tried. Raises what
    sessions and `agree` raise, and TypeError for any other answer of `agree`.
    """
    session = GoalSession(
        space,
        goal,
        inputs,
        mode=mode,
        max_repairs=max_repairs,
        limits=limits,
        memory=memory,
        emit=emit,
        halt=halt,
    )
    result = await _drive(session, agree, approve, await session.write())
    session.learn(result)
    return result


async def resume_goal(
    space: Space,
    run: str,
    agree: Agree,
    *,
    approve: Sequence[str] = (),
    emit: Emit = ignore_event,
    halt: SuspendRequest | None = None,
) -> RunResult:
    """Go on with the run of a goal whose process ended, or that waited: from where the journal leaves it.

    Nothing that ended is done again, and no answer of the model is paid for twice. Raises what `do` raises, and
    Conflict for a run that is live, has ended, or is none of a goal.
    """
    session = GoalSession.reopen(space, run, emit, halt)
    result = await session.resume(approve)
    if result is None:
        failed = session.document is None and session.turns()[-1].failure is not None
        result = RunResult(run, "failed" if failed else "success")
    return await _drive(session, agree, approve, result)


async def _drive(session: GoalSession, agree: Agree, approve: Sequence[str], result: RunResult) -> RunResult:
    """Run what is written, and let the model write more, until the goal is reached, or the run ends, or waits."""
    while True:
        if session.document is not None:
            if (reason := session.why_not()) is not None:
                return await session.fail(reason)
            try:
                agreed = _tools_agreed(agree(session))
            except ApprovalUnavailable:
                raise
            except BaseException:
                await session.abandon("nobody agreed to the plan")
                raise
            if agreed is None:
                return await session.abandon("the plan was not wanted")
            result = await session.run([*approve, *agreed])
        run_result = await _ended(session, result)
        if run_result is not None:
            return run_result
        result = await session.write()


def _tools_agreed(answer: object) -> Sequence[str] | None:
    """Return the tools that are called without asking, None where the plan is not wanted. Raises TypeError."""
    if answer is None or answer is False:
        return None
    if answer is True:
        return ()
    if isinstance(answer, Sequence) and not isinstance(answer, str) and all(isinstance(one, str) for one in answer):
        return answer
    message = f"agree returns True, False, None or the names of tools to call without asking, not {answer!r:.80}"
    raise TypeError(message)


async def _ended(session: GoalSession, result: RunResult) -> RunResult | None:
    """Return how the run ended with a call of its session, None where the model is to write more."""
    if session.is_over:
        return session.whole(result)
    if result.status == "suspended":
        return result
    turns = session.turns()
    if turns[-1].document is None:
        tells = f"; tried: {session.tried()}" if len(turns) > 1 else ""
        return await session.fail(f"{result.reason or 'the model wrote no plan'}{tells}")
    if result.status == "refused" or (result.status == "success" and session.mode == "whole"):
        return await session.end(result)
    reason = session.why_stop()
    return None if reason is None else await session.fail(reason)


class ApprovalUnavailable(Conflict):
    """The plan of a run waits for a person's word, and nobody could be asked: the run stays as it is."""


def reads_only(session: GoalSession) -> Sequence[str] | None:
    """Agree to a plan that writes and calls nothing, and raise ApprovalUnavailable for any other."""
    if needs_consent(session.effects()):
        message = f"the plan of {session.id} writes or calls, and nobody could be asked about it"
        raise ApprovalUnavailable(message, hint=f"`infospace resume {session.id} --yes` agrees to it")
    return []


def escaped(text: str) -> str:
    """Return a text as a plan has it, so that nothing in it is read as a reference."""
    return text.replace("$", "${$}")


def _escaped_values(value: JSON) -> JSON:
    return _each_text(value, escaped)


def _written_values(value: JSON) -> JSON:
    """Return values as they were before they were escaped."""
    return _each_text(value, lambda text: text.replace("${$}", "$"))


def _each_text(value: JSON, change: Callable[[str], str]) -> JSON:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(item, change) for item in value]
    if isinstance(value, Mapping):
        return {key: _each_text(item, change) for key, item in value.items()}
    return value
