"""Mending a refused plan: a fix is told where it was tried, and the plan has fewer errors after it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from infospace.core.json_types import JSON
from planner.language.json_patch import apply_patch, at
from planner.language.problems import Patch, Problem, join, replace
from planner.language.references import renamed

TRIED = 4_000
"""Steps that may be checked again to try fixes; of a plan of many steps fewer fixes are tried."""
LEAST = 6
"""Fixes that are tried of any plan."""

_NEEDED = re.compile(r"needs ['`](\w+)['`]$")

Recheck = Callable[[JSON], Sequence[Problem]]
"""Checks a document and returns its errors."""


def with_fixes(document: JSON, problems: Sequence[Problem], steps: int, recheck: Recheck) -> list[Problem]:
    """Return the problems, each with a fix that makes the plan better, or with none."""
    errors = [problem for problem in problems if problem.severity == "error"]
    left = max(LEAST, TRIED // max(1, steps))
    found = []
    for problem in problems:
        fix = problem.fix if problem.severity == "warning" else None
        for patch in _candidates(document, problem, errors) if problem.severity == "error" else ():
            if not left:
                break
            left -= 1
            if _helps(document, patch, problem, errors, recheck):
                fix = patch
                break
        found.append(dataclasses.replace(problem, fix=fix))
    return found


def _helps(document: JSON, patch: Patch, problem: Problem, errors: Sequence[Problem], recheck: Recheck) -> bool:
    try:
        after = recheck(apply_patch(document, patch))
    except (KeyError, IndexError, TypeError):
        return False
    told = (problem.code, problem.pointer, problem.message)
    if told in {(p.code, p.pointer, p.message) for p in after}:
        return False
    if len(after) >= len(errors):
        places = {(p.code, p.pointer) for p in errors}
        if problem.code != "bare-variable" or not {(p.code, p.pointer) for p in after} <= places:
            return False
    step, _, _ = problem.pointer.rpartition("/")
    return problem.code != "unknown-tool" or not any(p.pointer.startswith(f"{step}/") for p in after)


def _candidates(document: JSON, problem: Problem, errors: Sequence[Problem]) -> Iterator[Patch]:
    if problem.code == "missing-out" and problem.fix is not None:
        for other in errors:
            if other.code == "unbound-variable" and other.about:
                yield [{**problem.fix[0], "value": f"${other.about}"}]
    if problem.fix is not None:
        yield problem.fix
    if problem.code == "unbound-variable" and problem.about is not None:
        yield from _bound(document, problem.pointer, problem.about, problem.hint)
    if problem.code == "maybe-unbound" and problem.about is not None:
        yield from _guarded(document, problem.pointer, problem.about)
    needed = _NEEDED.search(problem.message) if problem.code == "missing-argument" else None
    if needed is not None and needed[1] in ("target", "source", "value"):
        for name in _bound_before(document, problem.pointer):
            yield [{"op": "add", "path": join(problem.pointer, needed[1]), "value": name}]
    if problem.code == "unknown-id" and problem.fix is None:
        for name in _bound_before(document, problem.pointer):
            yield replace(problem.pointer, name)


def _bound(document: JSON, pointer: str, name: str, hint: str | None) -> Iterator[Patch]:
    """Read the variable that was probably meant; bind it before; or let an earlier step bind it."""
    near = re.fullmatch(r"did you mean \$(\w+)\?", hint or "")
    text = _value_at(document, pointer)
    if near is not None and isinstance(text, str):
        yield replace(pointer, renamed(text, name, near[1]))
    for block, index in _around(document, pointer):
        steps = _value_at(document, block)
        for later in range(index + 1, len(steps)):
            if isinstance(steps[later], dict) and steps[later].get("out") == f"${name}":
                yield [{"op": "move", "from": join(block, later), "path": join(block, index)}]
        for earlier in range(index - 1, -1, -1):
            if isinstance(steps[earlier], dict) and "out" not in steps[earlier]:
                yield [{"op": "add", "path": join(block, earlier, "out"), "value": f"${name}"}]


def _bound_before(document: JSON, pointer: str) -> Iterator[str]:
    """The variables that steps before a place bind, the latest first, at most three."""
    found: list[str] = []
    for block, index in _around(document, pointer):
        for step in reversed(_value_at(document, block)[:index]):
            if isinstance(step.get("out"), str) and step["out"] not in found:
                found.append(step["out"])
    yield from found[:3]


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
