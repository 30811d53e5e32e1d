"""All that can be mended in a plan: fixes applied one round after another, as long as one is offered."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from planner.editor.text_patch import patch_text
from planner.language.json_patch import apply_patch, at
from planner.language.problems import Patch, Problem

ROUNDS = 50
"""Rounds of fixes; a plan in which still more can be mended is left as it is then."""


@dataclass(frozen=True, slots=True)
class FixedPlan:
    """A plan after all fixes: its text, the document, what was mended, and what is still wrong or doubtful."""

    text: str
    document: JSON
    fixed: tuple[Problem, ...]
    left: tuple[Problem, ...]


def apply_fixes(text: str, check: Callable[[JSON], Sequence[Problem]]) -> FixedPlan:
    """Mend a plan that is JSON text; what no fix touches stays as it was written.

    Each fix was tried by itself. Those of one round are applied together but for such as move steps, and what they
    come to is checked: where it is worse than before, the first is applied alone.
    """
    document: JSON = json.loads(text)
    left, fixed = tuple(check(document)), list[Problem]()
    for _ in range(ROUNDS):
        offered = [problem for problem in left if problem.fix]
        if not offered:
            break
        for chosen in (_together(document, offered), offered[:1]):
            mended_text, mended, applied = _applied(text, document, chosen)
            after = tuple(check(mended))
            if applied and _errors(after) <= _errors(left):
                break
        else:
            break
        text, document, left = mended_text, mended, after
        fixed += applied
    return FixedPlan(text, document, tuple(fixed), left)


def _errors(problems: Sequence[Problem]) -> int:
    return sum(problem.severity == "error" for problem in problems)


def _together(document: JSON, offered: Sequence[Problem]) -> list[Problem]:
    """The fixes that leave the places of the others as they are; one that moves steps is applied alone."""
    still = [problem for problem in offered if not _shifts(document, problem.fix or [])]
    return still or list(offered[:1])


def _shifts(document: JSON, patch: Patch) -> bool:
    """Whether a patch puts something into a list of the document, or takes it out."""
    for operation in patch:
        places = [operation["path"], *([operation["from"]] if "from" in operation else [])]
        for place in places if operation["op"] != "replace" else ():
            try:
                holder = at(document, place.rpartition("/")[0])
            except (KeyError, IndexError, TypeError):
                continue
            if isinstance(holder, list):
                return True
    return False


def _applied(text: str, document: JSON, chosen: Sequence[Problem]) -> tuple[str, JSON, list[Problem]]:
    """Apply fixes to a text and to its document; one whose places are gone by then is left out."""
    done = []
    for problem in chosen:
        try:
            document_after = apply_patch(document, problem.fix or [])
            text_after = patch_text(text, problem.fix or [])
        except (KeyError, IndexError, TypeError, Invalid):
            continue
        if document_after != document:
            text, document = text_after, document_after
            done.append(problem)
    return text, document, done
