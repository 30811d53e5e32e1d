"""The loop that writes a plan: ask, read, check, fix, and ask again with what is wrong, a few times at most."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infospace.core.errors import BadResponse
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.llm.model import ANY_OBJECT, Message
from infospace.space import Space
from planner.goals.prompt import BEGINNING, Standing, planning_request
from planner.goals.repair import Checked, check_and_fix, plan_document, repair_messages
from planner.goals.reply import read_reply

MAX_REPAIRS = 3
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

    def known(self, goal: str, plan: JSON, standing: Standing = BEGINNING) -> Checked | None:
        """Return a plan that was known before, where it still passes the check without a change; else None."""
        checked = check_and_fix(self.space, plan_document(plan, goal), standing.bound)
        return checked if not checked.errors and not checked.fixes else None

    async def write(
        self, goal: str, inputs: Mapping[str, JSON] | None = None, standing: Standing = BEGINNING
    ) -> Checked:
        """Return a plan that passes the check, or its next step. `standing` says what was done of the goal already.

        Raises BadResponse where no answer is one, with what was tried, and what `ask` raises.
        """
        request = await asyncio.to_thread(planning_request, self.space, goal, inputs, standing)
        first, profile = request.messages, request.profile
        messages, seen = first, Counter[str]()
        while True:
            is_last = bool(self.attempts) and len(self.attempts) == self.max_repairs
            answer = await self.ask(messages, ANY_OBJECT if profile is None or is_last else profile.schema)
            reply = read_reply(answer)
            checked: Checked | None = None
            wrong: tuple[str, ...] = (reply.problem or "",)
            key = answer
            if reply.problem is None:
                document = reply.document if profile is None else profile.without_nulls(reply.document)
                document = plan_document(_next_step(document) if standing.mode == "steps" else document, goal)
                checked = await asyncio.to_thread(check_and_fix, self.space, document, standing.bound)
                wrong, key = tuple(problem.message for problem in checked.errors), dump(checked.document)
            self.attempts.append(Attempt(wrong, 0 if checked is None else checked.fixes))
            if checked is not None and not wrong:
                return checked
            seen[key] += 1
            if seen[key] == MAX_SAME:
                raise self._give_up_error("it answered with the same wrong plan again and again", wrong)
            if len(self.attempts) > self.max_repairs:
                raise self._give_up_error("none of its answers passes the check", wrong)
            refused = wrong[0] if checked is None else checked
            messages = repair_messages(self.space, first, answer, refused, repeated=seen[key] > 1)

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
