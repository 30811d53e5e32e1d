"""The loop that writes a plan: ask, read, check, fix, and ask again with what is wrong, a few times at most."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infospace.core.errors import BadResponse, BudgetExceeded
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.llm.model import ANY_OBJECT, Message
from infospace.space import Space
from planner.goals.profile import PlanningProfile
from planner.goals.prompt import BEGINNING, GoalProgress, planning_request
from planner.goals.repair import Checked, check_and_fix, plan_document, repair_messages
from planner.goals.reply import read_reply

MAX_REPAIRS = 3
MAX_STEPS = 300
"""Steps of a plan, those within steps not counted: nobody looks through more before saying yes."""
MAX_SAME = 3
"""Times that the model may give one wrong plan: told of it twice, it will not do better."""

AskModel = Callable[[Sequence[Message], Mapping[str, Any]], Awaitable[str]]
"""Asks the model for a text that may be held to a schema: journalled and charged by whoever gives it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of the model: what was wrong with it (nothing where it may run), and how many fixes it took."""

    errors: tuple[str, ...]
    fixes: int = 0

    def to_json(self) -> JSON:
        """Return it as the step's `extra` has it."""
        return {"errors": list(self.errors), "fixes": self.fixes}


@dataclass(slots=True)
class PlanWriter:
    """Writes one plan for one goal; `attempts` are those made so far."""

    space: Space
    ask: AskModel
    max_repairs: int = MAX_REPAIRS
    attempts: list[Attempt] = field(default_factory=list)

    def known(self, goal: str, plan: JSON, progress: GoalProgress = BEGINNING) -> Checked | None:
        """Return a plan that was known before, where it still passes the check without a change; else None."""
        checked = check_and_fix(self.space, plan_document(plan, goal), progress.bound)
        return checked if not checked.errors and not checked.fixes else None

    async def write(
        self, goal: str, inputs: Mapping[str, JSON] | None = None, progress: GoalProgress = BEGINNING
    ) -> Checked:
        """Return a plan that passes the check, or its next step. `progress` says what was done of the goal already.

        Raises BadResponse where no answer is one, with what was tried, and what `ask` raises.
        """
        request = await asyncio.to_thread(planning_request, self.space, goal, inputs, progress)
        first, profile = request.messages, request.profile
        messages, seen = first, Counter[str]()
        wrong: tuple[str, ...] = ()
        while True:
            is_last = bool(self.attempts) and len(self.attempts) == self.max_repairs
            try:
                answer = await self.ask(messages, ANY_OBJECT if profile is None or is_last else profile.schema)
            except BudgetExceeded as error:
                if not wrong:
                    raise
                raise BudgetExceeded(f"{error.message}; last: {wrong[0]}", hint=error.hint) from error
            result = await asyncio.to_thread(self._read, answer, goal, profile, progress)
            checked = None if isinstance(result, str) else result
            wrong = (result,) if isinstance(result, str) else tuple(problem.message for problem in result.errors)
            self.attempts.append(Attempt(wrong, 0 if checked is None else checked.fixes))
            if checked is not None and not wrong:
                return checked
            key = answer if checked is None else dump(checked.document)
            seen[key] += 1
            if seen[key] == MAX_SAME:
                raise self._give_up_error("it answered with the same wrong plan again and again", wrong)
            if len(self.attempts) > self.max_repairs:
                raise self._give_up_error("none of its answers passes the check", wrong)
            messages = repair_messages(self.space, first, answer, result, repeated=seen[key] > 1)

    def _read(self, answer: str, goal: str, profile: PlanningProfile | None, progress: GoalProgress) -> Checked | str:
        """Return the plan in an answer as the check has it, or in a sentence why there is none that is checked."""
        reply = read_reply(answer)
        if reply.problem is not None:
            return reply.problem
        document = reply.document if profile is None else profile.without_nulls(reply.document)
        document = plan_document(_next_step(document) if progress.mode == "steps" else document, goal)
        steps = document.get("steps") if isinstance(document, Mapping) else None
        if isinstance(steps, list) and len(steps) > MAX_STEPS:
            return (
                f"the plan has {len(steps):,} steps, and at most {MAX_STEPS} are taken: a `for-each` or `map` repeats"
            )
        return check_and_fix(self.space, document, progress.bound)

    def _give_up_error(self, why: str, wrong: Sequence[str]) -> BadResponse:
        count = len(self.attempts)
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        return BadResponse(
            f"the model wrote no plan in {count} attempt{'s' * (count != 1)}: {why}; last: {wrong[0]}{more}",
            hint="put the goal in other words or in parts, or use another model",
        )


def _next_step(document: JSON) -> JSON:
    """Return the first step of a plan alone: those after it were written before anybody saw what it gives."""
    steps = document.get("steps", document.get("plan")) if isinstance(document, Mapping) else document
    return {"steps": steps[:1]} if isinstance(steps, list) else document
