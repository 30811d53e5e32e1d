"""Running a suite: each goal in a space of its own, through the same loop as `infospace do`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from infospace.core.errors import InfospaceError
from infospace.core.json_types import JSON
from infospace.llm.model import LanguageModel
from infospace.space import Space, open_space
from planner.evaluation.declared_tools import providers
from planner.evaluation.score import answer_is_right, calls_are_right
from planner.evaluation.suite import GoldCall, SuiteGoal
from planner.execute.start import run
from planner.goals.effects import tools_called
from planner.goals.session import GoalSession, do
from planner.journal.result import RunResult

Prepare = Callable[[Space], None]
"""Puts the sample notes into a space."""


@dataclass(frozen=True, slots=True)
class GoalOutcome:
    """What became of one goal. `right` is what the suite asked for; `at_once` that no repair was needed.

    `calls` and `calls_loosely` are None where the suite declares no calls; `why` says what was wrong.
    """

    id: str
    right: bool
    at_once: bool
    repairs: int
    fixes: int
    tokens: int
    seconds: float
    status: str
    answer: JSON = None
    calls: bool | None = None
    calls_loosely: bool | None = None
    why: str | None = None
    plan: JSON = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


async def run_suite(
    goals: Sequence[SuiteGoal], model: LanguageModel, sample: Prepare, max_repairs: int = 3
) -> AsyncIterator[GoalOutcome]:
    """Run goals one after another; the outcome of each as it ends."""
    for goal in goals:
        with (
            tempfile.TemporaryDirectory(prefix="infospace-eval-") as folder,
            open_space(Path(folder) / "s.db") as space,
        ):
            space.language_model = model
            yield await _outcome(space, goal, sample, max_repairs)


async def _outcome(space: Space, goal: SuiteGoal, sample: Prepare, max_repairs: int) -> GoalOutcome:
    calls: list[GoldCall] = []
    started = time.perf_counter()
    plans: list[JSON] = []

    def agree(session: GoalSession) -> Sequence[str]:
        plans.append(session.document)
        return tools_called(session.effects())

    try:
        await _furnish(space, goal, sample, calls)
        started = time.perf_counter()
        result = await do(space, goal.goal, agree, goal.inputs, max_repairs=max_repairs)
    except InfospaceError as error:
        result = RunResult(None, "failed", reason=str(error))
    seconds = round(time.perf_counter() - started, 3)
    return _scored(goal, result, calls, plans, seconds)


async def _furnish(space: Space, goal: SuiteGoal, sample: Prepare, calls: list[GoldCall]) -> None:
    if goal.sample:
        sample(space)
    for number, note in enumerate(goal.notes, 1):
        step = {"type": "create-note", "value": "$text", "name": note.get("name", f"note {number}")}
        more = {"metadata": "$metadata"} if "metadata" in note else {}
        inputs: dict[str, JSON] = {"text": {}, "metadata": {}} if more else {"text": {}}
        values = {name: note[name] for name in inputs}
        result = await run(space, {"inputs": inputs, "steps": [{**step, **more}]}, values)
        if result.status != "success":
            raise InfospaceError(f"note {number} of {goal.id!r} cannot be made: {result.reason or result.problems[0]}")
    for provider in providers(goal.tools, calls):
        space.tools.add(provider)


def _scored(
    goal: SuiteGoal, result: RunResult, calls: Sequence[GoldCall], plans: Sequence[JSON], seconds: float
) -> GoalOutcome:
    attempts: list[Any] = [attempt for row in result.steps for attempt in _list(row.extra.get("attempts"))]
    used: list[Any] = [row.extra["llm"] for row in result.steps if "llm" in row.extra]
    tokens = sum(llm["tokens"] for llm in used)
    value = None if result.result is None else result.result.data
    exactly = None if goal.calls is None else calls_are_right(goal.calls, calls)
    loosely = None if goal.calls is None else calls_are_right(goal.calls, calls, loosely=True)
    ended_well = result.status in ("success", "stopped")
    why = None
    if not ended_well:
        why = result.reason or next((problem.message for problem in result.problems), result.status)
    elif not answer_is_right(goal, value):
        why = "the answer is another one"
    elif loosely is False:
        why = "the calls are other ones"
    return GoalOutcome(
        goal.id,
        why is None,
        why is None and len(attempts) == 1 and not attempts[0]["fixes"],
        max(0, len(attempts) - 1),
        sum(attempt["fixes"] for attempt in attempts),
        tokens,
        seconds,
        result.status,
        value,
        exactly,
        loosely,
        why,
        plans[-1] if plans else None,
    )


def _list(value: JSON) -> Sequence[JSON]:
    return value if isinstance(value, list) else ()
