"""A plan that a model wrote, mended: by fixes of the check at once, else by the model, which is told what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from infospace.core.errors import InfospaceError
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.llm.model import Message
from infospace.llm.prompts import delimit
from infospace.space import Space
from planner.execute.start import check_plan
from planner.language.json_patch import apply_patch
from planner.language.plan import Plan
from planner.language.problems import Problem
from planner.parse.control_flow import FORMS
from planner.parse.vocabulary import full
from planner.sessions.check import check_session_plan
from planner.sessions.session_run import SessionRun

ROUNDS = 8
"""Rounds of fixes and checks; each takes at least one error away."""
SHOWN = 12
"""Problems that the model is told at once; those after them often follow from these."""
CONTRACTS = 3
"""Contracts of misused types that it is told in full."""
NO_STEPS = Problem("not-a-plan", "/steps", "the plan has no steps", "write the steps that reach the goal")
"""What is wrong with a plan that the check passes, and that does nothing."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A document as it is after all fixes of its errors, what is still wrong with it, and how many fixes it took."""

    document: JSON
    problems: tuple[Problem, ...]
    fixes: int = 0

    @property
    def errors(self) -> list[Problem]:
        """The problems for which it may not run."""
        return [problem for problem in self.problems if problem.severity == "error"]


def check_and_fix(space: Space, document: JSON, bound: Mapping[str, str] | None = None) -> Checked:
    """Check a document and apply the fixes of its errors, as long as each round leaves fewer of them.

    `bound` are the ids of what is bound before its first step, by variable name.
    """
    bound = bound or {}
    checked = Checked(document, _problems(space, document, bound))
    for _ in range(ROUNDS):
        better = next(filter(None, (_fixed(space, checked, problem, bound) for problem in checked.errors)), None)
        if better is None:
            break
        checked = better
    return checked


def _problems(space: Space, document: JSON, bound: Mapping[str, str]) -> tuple[Problem, ...]:
    """Check a document: by itself, or among what a session has bound."""
    problems = check_plan(space, document)[1].found
    if bound and any(problem.severity == "error" for problem in problems):
        run = SessionRun(space, Plan(()))
        run.scope.own = dict(bound)
        problems = check_session_plan(_without_budget(document), None)(space, run).problems.found
    empty = isinstance(document, dict) and document.get("steps") == []
    return (*problems, NO_STEPS) if empty else tuple(problems)


def _without_budget(document: JSON) -> JSON:
    """Return a plan without a budget of its own, which one that is run in a session may not have."""
    return (
        {key: value for key, value in document.items() if key != "budget"} if isinstance(document, dict) else document
    )


def _fixed(space: Space, checked: Checked, problem: Problem, bound: Mapping[str, str]) -> Checked | None:
    if problem.fix is None:
        return None
    try:
        document = apply_patch(checked.document, problem.fix)
    except (KeyError, IndexError, TypeError):
        return None
    after = Checked(document, _problems(space, document, bound), checked.fixes + 1)
    return after if len(after.errors) < len(checked.errors) else None


def repair_messages(
    space: Space, first: Sequence[Message], text: str, checked: Checked | str, *, repeated: bool = False
) -> list[Message]:
    """Return the conversation that asks for a better plan: the first messages, the last answer, what is wrong with it.

    What is wrong is that of a checked document, which stands for the answer, or a sentence on why there is none.
    `repeated` says that the answer was given before.
    """
    if isinstance(checked, str):
        wrong, text = f"This cannot be read as a plan: {checked}.", text[:4_000]
    else:
        text = dump(checked.document)
        problems = "\n".join(map(_line, checked.errors[:SHOWN]))
        wrong = f"The check refuses this plan:\n{delimit('problems', problems)}"
        contracts = full(space.catalogue, _misused(space, checked)) if _misused(space, checked) else ""
        wrong += f"\n\n{contracts}" if contracts else ""
    if repeated:
        wrong = f"You gave this answer before.\n{wrong}"
    again = f"{wrong}\n\nAnswer with the whole plan once more, corrected, as one JSON document and nothing else."
    return [*first, {"role": "assistant", "content": text or "(nothing)"}, {"role": "user", "content": again}]


def _line(problem: Problem) -> str:
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"- at {problem.pointer or 'the document'}: {problem.message}{hint}"


def _misused(space: Space, checked: Checked) -> list[str]:
    """The types of the steps that errors are about, so far as they are known, the first few."""
    results: list[str] = []
    for problem in checked.errors:
        step_type = _type_at(checked.document, problem.pointer)
        is_known = step_type in FORMS or (step_type is not None and space.catalogue.find(step_type) is not None)
        if step_type is not None and is_known and step_type not in results:
            results.append(step_type)
    return results[:CONTRACTS]


def _type_at(document: JSON, pointer: str) -> str | None:
    """Return the type of the innermost step that a pointer leads into."""
    value, result = document, None
    for part in ["", *pointer.split("/")[1:]]:
        if part:
            try:
                value = value[int(part)] if isinstance(value, list) else value[part]  # type: ignore[index, call-overload]
            except (KeyError, IndexError, ValueError, TypeError):
                break
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            result = value["type"]
    return result


def plan_document(document: JSON, goal: str) -> JSON:
    """Return a document with the goal as the user put it. Raises InfospaceError where it is no object."""
    if not isinstance(document, dict):
        raise InfospaceError("a plan is a JSON object")
    return {"goal": goal, **{key: value for key, value in document.items() if key != "goal"}}
