"""What people answer: whether a tool may be called that is asked about, what became of a call in doubt, and `ask`.

A client that can ask its user (elicitation) is asked for that; else a person answers by `infospace answer`, or in the
screen. An `ask` may then be answered by the planner too, which may have asked its user in its own way; the others not.
What was asked through a client is remembered while the server runs: nobody else answers it for the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from infospace.core.errors import Conflict
from infospace.core.tool import NotAllowed
from infospace.journal.rows import StepRow
from planner.journal.suspension import Pending
from planner.lifecycle.resume import pending_of
from planner.server.access import Access
from planner.server.question_forms import Question

if TYPE_CHECKING:
    from infospace.space import Space

THEIRS: Final = ("approve", "doubt")
"""Kinds of questions that are for people alone."""
ASKED: Final = (*THEIRS, "ask")
"""Kinds of questions that the person behind a client is asked."""
MAX_QUESTIONS = 8
"""Questions that one call asks a person: some clients give a call up that asks ten times."""
REMEMBERED = 200
"""Calls that wait for a person at one time."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that was put, the call that it is of, what this answers if nobody does, and how often it has asked."""

    question: Question
    name: str
    given: Mapping[str, Any]
    answered: dict[str, Any] | str
    times: int


@dataclass(slots=True)
class QuestionStore:
    """What the persons behind a door's clients were asked: open questions with what their calls answered, and others.

    `passed` are questions that nobody wanted to answer there, and that are not asked again.
    """

    open: dict[str, OpenQuestion] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)

    def ask(self, put: OpenQuestion) -> None:
        """Remember a question that was put."""
        self.open = dict([*self.open.items()][-REMEMBERED + 1 :]) | {put.question.key: put}

    def pop(self, key: str, name: str, values: Mapping[str, Any]) -> OpenQuestion:
        """Return an open question, which is open no more. Raises Conflict for none, or for one of another call."""
        result = self.open.get(key)
        if result is None:
            raise Conflict(f"nothing is asked here under {key!r:.60}", hint="get_run says how a run stands")
        if (result.name, result.given) != (name, values):
            raise Conflict(f"{key!r} was asked by another call", hint=f"{result.name}, with the arguments that it had")
        return self.open.pop(key)


def question_of(run: str, steps: list[StepRow], access: Access, passed: set[str]) -> Question | None:
    """Return the first thing that a run asks people, where they may be asked through this access."""
    if access.approvals != "people":
        return None
    asked = (Question(run, pending) for pending in pending_of(steps) if pending.kind in ASKED)
    return next((question for question in asked if question.key not in passed), None)


def refuse_human_question(space: Space, run: str, pending: Pending, access: Access) -> None:
    """Raise NotAllowed for a question that is for people."""
    if access.approvals == "people" and pending.kind in THEIRS:
        message = f"step {pending.step} of {run} asks people, and not the planner: {pending.question}"
        raise NotAllowed(message, hint=f"`{command(space, run, pending.step)}`, or the screen, takes a person's answer")


def command(space: Space, run: str, step: str) -> str:
    """Return what a person types to answer, wherever that is."""
    store = space.store
    where = store.address if store.derived is None else str(Path(store.address).absolute())
    return f"infospace --space {quote(where)} answer {run} {step}"


def for_people(space: Space, document: dict[str, Any], access: Access) -> dict[str, Any]:
    """Say in a run's JSON which of what it waits for are for people, and how they answer."""
    if access.approvals != "people" or not any(one["kind"] in THEIRS for one in document["pending"]):
        return document
    documents = [
        {**one, "answered_by": "people", "command": command(space, document["run"], one["step"])}
        if one["kind"] in THEIRS
        else one
        for one in document["pending"]
    ]
    return {**document, "pending": documents}


def call_for_people(space: Space, answer: dict[str, Any], access: Access) -> dict[str, Any]:
    """Leave out of the answer of a call of a tool how a planner would allow it, where that is for people."""
    approval = answer.get("approval")
    if access.approvals != "people" or approval is None:
        return answer
    shown = {key: value for key, value in approval.items() if key != "answer_with"}
    shown |= {
        "answered_by": "people",
        "command": f"{command(space, shown['run'], shown['step'])} once",
    }
    return {**answer, "approval": shown}
