"""What people answer and planners do not: whether a tool may be called that is asked about.

A client that can ask its user (elicitation) is asked for that; else a person answers by `infospace answer`, or in the
screen. What was asked through a client is remembered while the server runs: nobody else answers it for the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from infospace.runs.journal import StepRow
from infospace.tools.approvals import WORDS
from infospace.tools.tool import NotAllowed
from planner.resume import pending_of
from planner.serve.access import Access
from planner.suspending import Pending

if TYPE_CHECKING:
    from infospace.jsonvalue import JSON
    from infospace.space import Space

THEIRS: Final = ("approve", "doubt")
"""Kinds of questions that are for people."""
MOST = 8
"""Questions that one call asks a person: some clients give a call up that asks ten times."""
REMEMBERED = 200
"""Calls that wait for a person at one time."""
SCHEMA: Final[Mapping[str, JSON]] = {
    "type": "object",
    "properties": {
        "answer": {
            "type": "string",
            "title": "May it be called?",
            "description": "; ".join(f"{word}: {meaning}" for word, meaning in WORDS.items()),
            "enum": list(WORDS),
        }
    },
    "required": ["answer"],
}
"""What a client shows its user as a form."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that a call of a door ended with, for the person behind the client."""

    run: str
    step: str
    tool: str
    says: str

    @property
    def key(self) -> str:
        """What tells it from other questions."""
        return f"{self.run}:{self.step}"


@dataclass(slots=True)
class Asked:
    """What the persons behind a door's clients were asked: open questions with what their calls answered, and others.

    `passed` are questions that nobody wanted to answer there, and that are not asked again.
    """

    open: dict[str, tuple[Question, dict[str, Any], int]] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)

    def ask(self, question: Question, answered: dict[str, Any], times: int) -> None:
        """Remember a question, what the call answers if nobody does, and how often the call has asked now."""
        self.open = dict([*self.open.items()][-REMEMBERED + 1 :]) | {question.key: (question, answered, times)}

    def take(self, key: str) -> tuple[Question, dict[str, Any], int] | None:
        """Return an open question, which is open no more."""
        return self.open.pop(key, None)


def question_of(run: str, steps: list[StepRow], access: Access, passed: set[str]) -> Question | None:
    """Return the first thing that a run asks people, where they may be asked through this access."""
    if access.approvals != "people":
        return None
    for one in pending_of(steps):
        if one.kind == "approve" and one.about is not None:
            found = Question(run, one.step, one.about["tool"], f"{one.question} ({run}, step {one.step})")
            if found.key not in passed:
                return found
    return None


def must_be_asked(space: Space, run: str, pending: Pending, access: Access) -> None:
    """Raise NotAllowed for a question that is for people."""
    if access.approvals == "people" and pending.kind in THEIRS:
        says = f"step {pending.step} of {run} asks people, and not the planner: {pending.question}"
        raise NotAllowed(says, hint=f"a person answers by `{command(space, run, pending.step)}`, or in the screen")


def command(space: Space, run: str, step: str) -> str:
    """Return what a person types to answer, wherever that is."""
    store = space.store
    where = store.address if store.derived is None else str(Path(store.address).absolute())
    return f"infospace --space {quote(where)} answer {run} {step}"


def for_people(space: Space, document: dict[str, Any], access: Access) -> dict[str, Any]:
    """Say in a run's JSON which of what it waits for are for people, and how they answer."""
    if access.approvals != "people" or not any(one["kind"] in THEIRS for one in document["pending"]):
        return document
    told = [
        {**one, "answered_by": "people", "command": command(space, document["run"], one["step"])}
        if one["kind"] in THEIRS
        else one
        for one in document["pending"]
    ]
    return {**document, "pending": told}


def call_for_people(space: Space, answered: dict[str, Any], access: Access) -> dict[str, Any]:
    """Leave out of the answer of a call of a tool how a planner would allow it, where that is for people."""
    approval = answered.get("approval")
    if access.approvals != "people" or approval is None:
        return answered
    told = {key: value for key, value in approval.items() if key != "answer_with"}
    told |= {"answered_by": "people", "command": f"{command(space, told['run'], told['step'])} once"}
    return {**answered, "approval": told}
