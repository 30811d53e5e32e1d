"""Answers that a planner model can afford: what is long is left out, and it is said where to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.contract.tool_signature import untitled
from infospace.core.position import Position
from infospace.data.json_text import dump
from infospace.data.result import truncate
from planner.server.core.wording import plain

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
"""Characters of a step's `value`, and of what was expected of it, that one answer shows."""
PART = 8_000
"""Characters that the steps, and the problems, of one answer have, as JSON; the first is shown however long it is."""
SHORT_PART = 4_000
"""Characters that the bindings, and what is pending, have."""
QUESTION = 1_000
"""Characters of a question, and of the schema of its answer, that one answer shows."""
SAID = 2_000
"""Characters of a sentence by which a call is refused."""


def truncate_run(document: dict[str, Any], first: int | None = None) -> dict[str, Any]:
    """Return a run's JSON in short; `left_out` says what is missing, and how to read it.

    Its steps are those from `first` on; without it those that did not end well in a round of a loop, and all others.
    """
    run = document["run"]
    left_out: dict[str, str] = {}
    shown, elsewhere = _steps(document["steps"], first)
    if elsewhere:
        left_out["steps"] = elsewhere
    bindings, missing = truncate_bindings(document["bindings"], SHORT_PART)
    if missing:
        left_out["bindings"] = f"{missing} of {len(document['bindings'])}; read {run}"
    problems = document["problems"]
    if len(documents := _problems(problems)) < len(problems):
        left_out["problems"] = _more_problems(problems, documents)
    pending = _first([_trimmed_pending(one) for one in document["pending"]], SHORT_PART)
    if pending != document["pending"]:
        left_out["pending"] = f"some of what it waits for; read {run}"
    if any("left_out" in step for step in shown):
        left_out["extra"] = f"of some steps; read {run}"
    trimmed = {
        **document,
        "result": _result(document["result"]),
        "bindings": bindings,
        "steps": shown,
        "pending": pending,
        "problems": documents,
        "reason": _short(document["reason"]),
    }
    return {**trimmed, "left_out": left_out} if left_out else trimmed


def truncate_check(ok: bool, problems: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer of a check, with as many problems as one can mend at once."""
    answer: dict[str, Any] = {"ok": ok, "problems": _problems(problems)}
    if len(answer["problems"]) < len(problems):
        answer["left_out"] = {"problems": _more_problems(problems, answer["problems"])}
    return answer


def truncate_bindings(bindings: Mapping[str, Any], most: int) -> tuple[dict[str, Any], int]:
    """Return the bindings that an answer shows in so many characters, and how many it leaves out."""
    shown: dict[str, Any] = {}
    size = 0
    for name, value in list(bindings.items())[:BINDINGS]:
        length = len(dump({name: value}))
        if size + length <= most:
            size += length
            shown[name] = value
    return shown, len(bindings) - len(shown)


def truncate_error(message: str) -> str:
    """Return what a call is refused with, which may quote what it was given."""
    return truncate(message, SAID)


def truncate_hits(answer: dict[str, Any]) -> dict[str, Any]:
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
            message = f"{len(hits) - len(kept)} of {len(hits)}"
            left_out["hits"] = f"{message}; ask for fewer, or run_plan with discover-notes and read its Collection"
            break
        kept.append(hit)
    return {**answer, "data": kept, "left_out": left_out}


def truncate_tools(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a meta-tool that finds tools without what says nothing; `describe_tool` has all of it."""
    shortened = {**answer, "tools": [_tool(tool) for tool in answer["tools"]]}
    return {**shortened, "guess": _tool(answer["guess"])} if answer.get("guess") else shortened


_USUAL: Mapping[str, Any] = {"title": "", "kind": "tool", "integration_type": "MCP", "untrusted": False}
"""What a tool of a list is where it does not say."""


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    shortened = {key: value for key, value in tool.items() if key not in _USUAL or value != _USUAL[key]}
    for key in ("input_schema", "output_schema"):
        if isinstance(schema := shortened.get(key), Mapping):
            shortened[key] = {name: part for name, part in untitled(schema).items() if name != "$schema"}
    return shortened


def _steps(steps: Sequence[dict[str, Any]], first: int | None) -> tuple[list[dict[str, Any]], str | None]:
    """Return the executions that an answer shows, and what it says of the others."""
    start = first or 0
    telling = [step for step in steps[start:] if first is not None or not _went_well_in_a_round(step)]
    shown = _first([_step(step) for step in telling[:STEPS]], PART)
    left = len(steps) - start - len(shown)
    if not left:
        return shown, None
    if len(telling) < len(steps) - start:
        return shown, f"{left} of {len(steps)}, such as rounds of loops that went well; get_run with first_step=0"
    return shown, f"{left} of {len(steps)}; get_run with first_step={start + len(shown)}"


def _went_well_in_a_round(step: Mapping[str, Any]) -> bool:
    return step["status"] == "success" and Position.parse(step["step"]).in_loop


def _first(entries: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return as many as have so many characters, at least one."""
    shown: list[dict[str, Any]] = []
    size = 0
    for entry in entries:
        size += len(dump(entry))
        if shown and size > most:
            break
        shown.append(entry)
    return shown


def _problems(problems: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return _first([_problem(problem) for problem in problems[:PROBLEMS]], PART)


def _more_problems(problems: Sequence[Any], shown: Sequence[Any]) -> str:
    return f"{len(problems) - len(shown)} of {len(problems)}; fix these first"


def _problem(problem: dict[str, Any]) -> dict[str, Any]:
    """Put a problem in the words of the set, and shorten one that quotes at length; a fix is whole or null.

    A pointer that is too long gives way to that of the nearest place around.
    """
    hint = problem["hint"]
    problem = {
        **problem,
        "message": plain(problem["message"], "full"),
        "hint": None if hint is None else plain(hint, "full"),
    }
    if len(dump(problem)) <= DATA:
        return problem
    pointer = problem["pointer"]
    while len(pointer) > REASON:
        pointer = pointer.rpartition("/")[0]
    fix = problem["fix"] if len(dump(problem["fix"])) <= DATA else None
    return {
        **problem,
        "pointer": pointer,
        "message": truncate(problem["message"], REASON),
        "hint": _short(problem["hint"]),
        "fix": fix,
    }


def _trimmed_pending(pending: dict[str, Any]) -> dict[str, Any]:
    """Shorten what a step asks; a schema is whole or left away."""
    shown = {**pending, "question": truncate(pending["question"], QUESTION)}
    if len(dump(pending["schema"])) > QUESTION:
        del shown["schema"]
    return shown


def _result(result: dict[str, Any] | None) -> dict[str, Any] | None:
    if result is None:
        return None
    shown = {**result, "extra": _extra(result)}
    size = len(dump(result["data"]))
    if size > DATA:
        del shown["data"]
        shown["data_omitted"] = {"characters": size, "read": result["resource_id"]}
    else:
        shown["value"] = truncate(result["value"], VALUE)
    return shown


def _step(step: dict[str, Any]) -> dict[str, Any]:
    extra = _extra(step)
    shown = {**step, "value": truncate(step["value"], VALUE), "extra": extra, "reason": _short(step["reason"])}
    if isinstance(expected := step.get("expect"), str):
        shown["expect"] = truncate(expected, VALUE)
    if len(extra) < len(step["extra"]):
        shown["left_out"] = sorted(set(step["extra"]) - set(extra))
    return shown


def _extra(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is long, and texts of a tool that the resource made of them has."""
    extra: dict[str, Any] = dict(answer["extra"])
    if answer["status"] == "success" and _are_texts(extra.get("content")):
        del extra["content"]
    if len(dump(extra)) <= EXTRA:
        return extra
    return {key: value for key, value in extra.items() if len(dump(value)) <= EXTRA // 4}


def _are_texts(blocks: Any) -> bool:
    return isinstance(blocks, list) and all(isinstance(block, dict) and block.get("type") == "text" for block in blocks)


def _short(reason: str | None) -> str | None:
    return None if reason is None else truncate(plain(reason, "full"), REASON)
