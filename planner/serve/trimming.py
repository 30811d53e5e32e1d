"""Answers that a planner model can afford: what is long is left out, and it is said where to read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infospace.answer import cut
from infospace.jsontext import dump

DATA = 4_000
"""Characters of `data` that an answer holds; longer ones are to be read."""
EXTRA = 600
"""Characters of a step's `extra` that an answer holds."""
STEPS = 30
"""Executions of steps that one answer shows."""
PROBLEMS = 20
"""Problems that one answer shows."""
BINDINGS = 100
"""Variables that one answer shows."""
REASON = 500
"""Characters of a reason that one answer shows."""
VALUE = 120
"""Characters of a step's `value` that one answer shows."""


def trimmed_run(document: dict[str, Any], first: int = 0) -> dict[str, Any]:
    """Return a run's JSON in short, its steps from `first` on; `left_out` says what is missing, and how to read it."""
    run = document["run"]
    left_out: dict[str, str] = {}
    steps, bindings = document["steps"], document["bindings"]
    shown = [_step(step) for step in steps[first : first + STEPS]]
    if first + len(shown) < len(steps):
        left_out["steps"] = (
            f"{len(steps) - first - len(shown)} of {len(steps)}; get_run with first_step={first + STEPS}"
        )
    if len(bindings) > BINDINGS:
        left_out["bindings"] = f"{len(bindings) - BINDINGS} of {len(bindings)}; read {run}"
        bindings = dict(list(bindings.items())[:BINDINGS])
    problems = document["problems"]
    if len(problems) > PROBLEMS:
        left_out["problems"] = f"{len(problems) - PROBLEMS} of {len(problems)}; mend these first"
    if any("left_out" in step for step in shown):
        left_out["extra"] = f"of some steps; read {run}"
    trimmed = {
        **document,
        "result": _result(document["result"]),
        "bindings": bindings,
        "steps": shown,
        "problems": problems[:PROBLEMS],
        "reason": _short(document["reason"]),
    }
    return {**trimmed, "left_out": left_out} if left_out else trimmed


def trimmed_check(ok: bool, problems: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer of a check, with as many problems as one can mend at once."""
    answer: dict[str, Any] = {"ok": ok, "problems": list(problems[:PROBLEMS])}
    if len(problems) > PROBLEMS:
        answer["left_out"] = {"problems": f"{len(problems) - PROBLEMS} of {len(problems)}; mend these first"}
    return answer


def trimmed_hits(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a search, its hits without their sources' whole texts where these are long."""
    hits = answer["data"]
    if not isinstance(hits, list) or len(dump(hits)) <= DATA:
        return answer
    short = [{key: value for key, value in hit.items() if key != "text"} for hit in hits]
    left_out = {"text": "read the `source_id` of a hit for its whole text"}
    kept: list[Any] = []
    size = 0
    for hit in short:
        size += len(dump(hit))
        if kept and size > 3 * DATA:
            says = f"{len(hits) - len(kept)} of {len(hits)}"
            left_out["hits"] = f"{says}; ask for fewer, or run_plan with discover-notes and read its Collection"
            break
        kept.append(hit)
    return {**answer, "data": kept, "left_out": left_out}


def _result(result: dict[str, Any] | None) -> dict[str, Any] | None:
    if result is None:
        return None
    shown = {**result, "extra": _extra(result["extra"])}
    size = len(dump(result["data"]))
    if size > DATA:
        del shown["data"]
        shown["data_omitted"] = {"characters": size, "read": result["resource_id"]}
    return shown


def _step(step: dict[str, Any]) -> dict[str, Any]:
    extra = _extra(step["extra"])
    shown = {**step, "value": cut(step["value"], VALUE), "extra": extra, "reason": _short(step["reason"])}
    if len(extra) < len(step["extra"]):
        shown["left_out"] = sorted(set(step["extra"]) - set(extra))
    return shown


def _extra(extra: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is long."""
    if len(dump(extra)) <= EXTRA:
        return extra
    return {key: value for key, value in extra.items() if len(dump(value)) <= EXTRA // 4}


def _short(reason: str | None) -> str | None:
    return None if reason is None else cut(reason, REASON)
