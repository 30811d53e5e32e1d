"""Why a session does not take what it is given, and how it goes on."""

from __future__ import annotations

from infospace.core.errors import Conflict
from infospace.journal.rows import RunRow
from infospace.store.protocol import Snapshot
from planner.language.problems import Problems
from planner.lifecycle.resume import pending_of


class SessionMoved(Conflict):
    """Somebody else went on with the session since it was looked at."""

    def __init__(self, text: str) -> None:
        super().__init__(f"the {text} was continued by another process meanwhile", hint="give it the steps again")


def waiting_error(text: str, row: RunRow, snapshot: Snapshot) -> Conflict:
    """Say what a session waits for, before which it takes no steps."""
    pending, answers = pending_of(snapshot.steps(row.run)), snapshot.answers(row.run)
    message = "; ".join(f"step {one.step} ({one.kind}): {one.question}" for one in pending)
    questions = [one.step for one in pending if one.kind != "wait" and one.answer_key not in answers]
    questions = questions if row.status == "suspended" else []
    command = f"`infospace answer {row.run} {questions[0]} …`" if questions else f"`infospace resume {row.run}`"
    tool = f"answer_run({row.run!r}, {(questions or [pending[0].step])[0]!r}, …)"
    return Conflict(
        f"the {text} waits, and takes no steps before it has gone on: {message}",
        hint=f"{command} goes on, and so does {tool}",
    )


def moved_error(text: str, row: RunRow) -> Conflict:
    """Say that another process is running steps of a session."""
    hint = f"{row.run} rests when they have ended; or take another name"
    return Conflict(f"the {text} is running steps in another process ({row.owner})", hint=hint)


def already_ended_error(name: str | None, run: str) -> Conflict:
    """Say that a session has ended; nothing goes on with it, and one by name leaves its name to another one."""
    if name is None:
        return Conflict(f"the session {run} has ended already", hint="open another one")
    hint = f"the name is free: a session that is opened as {name!r} is another one"
    return Conflict(f"the session {name!r} ({run}) has ended already", hint=hint)


def nothing_to_resume_error(text: str, name: str | None) -> Conflict:
    """Say that there is nothing to go on with."""
    hint = "give it steps, or end it" if name is None else f"`infospace run - --session {name}` gives it steps"
    return Conflict(f"the {text} is at rest, and waits for nothing but more steps", hint=hint)


def second_head_error(text: str, problems: Problems) -> None:
    """Refuse a head where there was one already."""
    message = f"the {text} is open already, and has a head"
    problems.error(
        "unsupported", "", message, "leave the head and its inputs away; what they would bind, bind by steps"
    )
