"""Mending a refused plan: a fix is told where it was tried, and the plan has fewer errors after it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import Path
from planner.language.json_patch import apply_patch, at
from planner.language.problems import Patch, Problem, join, replace
from planner.language.references import Reference, renamed, whole_reference
from planner.repair.misread_places import is_same_place
from planner.repair.step_keys import OUT

MAX_RECHECKED_STEPS = 4_000
"""Steps that may be checked again to try fixes; of a plan of many steps fewer fixes are tried."""
MIN_ATTEMPTED_FIXES = 6
"""Fixes that are tried of any plan."""

Recheck = Callable[[JSON], Sequence[Problem]]
"""Checks a document and returns its problems."""


def with_fixes(document: JSON, problems: Sequence[Problem], steps: int, recheck: Recheck) -> list[Problem]:
    """Return the problems, each with a fix that makes the plan better, or with none."""
    errors = [problem for problem in problems if problem.severity == "error"]
    attempts_left = max(MIN_ATTEMPTED_FIXES, MAX_RECHECKED_STEPS // max(1, steps))
    results = []
    for problem in problems:
        fix = None
        for patch in _candidates(document, problem, errors):
            if not attempts_left:
                break
            attempts_left -= 1
            if _helps(document, patch, problem, problems, recheck):
                fix = patch
                break
        results.append(dataclasses.replace(problem, fix=fix))
    return results


def _helps(document: JSON, patch: Patch, problem: Problem, before: Sequence[Problem], recheck: Recheck) -> bool:
    """Whether a plan is better with a patch: this problem is gone, and there are fewer errors.

    Where the problem is a warning, there are no more errors than before, and no warning that there was not. Warnings
    of the whole plan are looked for where it has no errors, so that an error's end may bring some.
    """
    try:
        patched = apply_patch(document, patch)
        after = recheck(patched)
    except (KeyError, IndexError, TypeError):
        return False
    keys = [(one.code, one.pointer, one.message) for one in after]
    if (problem.code, problem.pointer, problem.message) in keys:
        return False
    wrong, was_wrong = _errors(after), _errors(before)
    if problem.severity == "warning":
        known = {(one.code, one.pointer) for one in before}
        return len(wrong) <= len(was_wrong) and {(one.code, one.pointer) for one in after} <= known
    if len(wrong) < len(was_wrong):
        return True
    if len(wrong) == len(was_wrong) and _are_in(patch, wrong, was_wrong, lambda one: _mends(patched, one, recheck)):
        return True
    places = {(one.code, one.pointer) for one in was_wrong}
    return problem.code == "bare-variable" and {(one.code, one.pointer) for one in wrong} <= places


def _mends(document: JSON, problem: Problem, recheck: Recheck) -> bool:
    """Whether the fix of an error takes it away, and leads to no other in its place."""
    if problem.fix is None:
        return False
    try:
        after = recheck(apply_patch(document, problem.fix))
    except (KeyError, IndexError, TypeError):
        return False
    return not any(f"{one.pointer}/".startswith(f"{problem.pointer}/") for one in _errors(after))


def _are_in(
    patch: Patch, wrong: Sequence[Problem], was_wrong: Sequence[Problem], is_mended: Callable[[Problem], bool]
) -> bool:
    """Whether the errors that are new stand within what a patch moves: they were there, and could not be told.

    What is moved is a key to another one; a step that moves has its errors elsewhere than before. An error at the
    place itself counts only if it can be mended: else what is moved does not fit there, and another may be meant.
    """
    moved = [operation["path"] for operation in patch if operation["op"] == "move"]
    if any(path.rpartition("/")[2].isdigit() for path in moved):
        return False
    known = {(problem.code, problem.pointer, problem.message) for problem in was_wrong}
    new = [problem for problem in wrong if (problem.code, problem.pointer, problem.message) not in known]
    return bool(moved) and all(
        any(
            problem.pointer.startswith(f"{place}/") or (problem.pointer == place and is_mended(problem))
            for place in moved
        )
        for problem in new
    )


def _errors(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity == "error"]


def _candidates(document: JSON, problem: Problem, errors: Sequence[Problem]) -> Iterator[Patch]:
    """What may mend a problem, surest first: nothing in it is made up."""
    if problem.code == "missing-out" and problem.fix is not None:
        names = dict.fromkeys(one.about for one in errors if one.code == "unbound-variable" and one.about)
        if len(names) == 1:
            yield [{**problem.fix[0], "value": f"${next(iter(names))}"}]
    if problem.fix is not None:
        yield problem.fix
    if problem.code == "unbound-variable" and problem.about is not None:
        yield from _bind_or_rename(document, problem.pointer, problem.about, problem.suggestion)
    if problem.code == "unknown-field" and problem.fix is None:
        yield from _read_meant_place(document, problem)
    if problem.code == "maybe-unbound" and problem.about is not None:
        yield from _guarded(document, problem.pointer, problem.about)


def _bind_or_rename(document: JSON, pointer: str, name: str, near: str | None) -> Iterator[Patch]:
    """Read the variable that was plainly meant; or bind it before, where a later step binds it."""
    text = _value_at(document, pointer)
    if near is not None and isinstance(text, str) and is_misspelling(name, near):
        yield replace(pointer, renamed(text, name, near))
    for block, index in _around(document, pointer):
        steps = _value_at(document, block)
        for later in range(index + 1, len(steps)):
            if isinstance(steps[later], dict) and steps[later].get("out") == f"${name}":
                yield [{"op": "move", "from": join(block, later), "path": join(block, index)}]
    unnamed = [
        join(block, earlier, "out")
        for block, index in _around(document, pointer)
        for earlier in range(index - 1, -1, -1)
        if _is_for_its_result(_value_at(document, block)[earlier])
    ]
    if len(unnamed) == 1:
        yield [{"op": "add", "path": unnamed[0], "value": f"${name}"}]


def _read_meant_place(document: JSON, problem: Problem) -> Iterator[Patch]:
    """Read the place that was plainly meant by a reference within an expression or a text."""
    text = _value_at(document, problem.pointer)
    reference = None if problem.about is None else whole_reference(problem.about)
    if problem.suggestion is None or problem.about is None or reference is None or not isinstance(text, str):
        return
    with suppress(Invalid):
        better, parts = Path.parse(problem.suggestion).parts, reference.path.parts
        for start in range(len(parts)):
            if is_same_place(parts[start:], better):
                suggestion = str(Reference(reference.name, Path((*parts[:start], *better))))[1:].replace("\\", r"\\")
                raw = rf"(?<!\$)(\$\{{?){re.escape(problem.about[1:])}(?![\w.\[])"
                yield replace(problem.pointer, re.sub(raw, rf"\g<1>{suggestion}", text))


def _is_for_its_result(step: Any) -> bool:
    """Whether a step does nothing that can be seen unless its result is bound, which it is not."""
    outside = "/" in step["type"] or step["type"].startswith("plan:") if isinstance(step.get("type"), str) else True
    return not outside and not {"out", "name", "id", *OUT} & step.keys()


def _guarded(document: JSON, pointer: str, name: str) -> Iterator[Patch]:
    """Run the step only where the variable is bound."""
    for block, index in _around(document, pointer):
        place = join(block, index)
        condition = {"type": "bound", "target": f"${name}"}
        yield replace(place, {"type": "if", "condition": condition, "then": [_value_at(document, place)]})


def _around(document: JSON, pointer: str) -> Iterator[tuple[str, int]]:
    """The lists of steps that a place stands in, innermost first, each with the step's index in it."""
    parts = pointer.split("/")
    for end in range(len(parts) - 1, 0, -1):
        block = "/".join(parts[:end])
        steps = _value_at(document, block)
        if parts[end].isdigit() and isinstance(steps, list) and all(isinstance(s, dict) and "type" in s for s in steps):
            yield block, int(parts[end])


def _value_at(document: JSON, pointer: str) -> Any:
    try:
        return at(document, pointer)
    except (KeyError, IndexError, TypeError):
        return None
