"""What a run, a session and a check answer at the small door: status, result, and what went wrong or waits.

    {"status": "success", "run": "run_7", "ref": "Note_12", "result": …}

A result that is long has `shape`, then `example` or `begins`, and `ref` to read it by, in place of `result`. `failed`
are the steps that failed and were not handled, `asks` what a person or the planner has to answer, `problems` what is
wrong with a plan, `bound` what a call of `step` bound besides its result. Nothing is told twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from infospace.core.errors import NotFound
from infospace.core.position import holds
from infospace.data.json_source_map import parts_of
from infospace.data.json_text import dump
from infospace.data.result import truncate
from infospace.space import Space
from planner.server.access import Access
from planner.server.approvals import THEIRS
from planner.server.core.preview import kind_and_shape, preview
from planner.server.core.wording import plain
from planner.sessions.bindings import binds_for_all

RESULT = 4_000
"""Characters of a plan's result that stand in its answer; a longer one is told by its shape."""
STEP_RESULT = 1_000
"""Characters of what steps of a session gave last: what is passed on to the next need not be read."""
REASON = 400
"""Characters of a reason, a question or a hint."""
FIX = 600
"""Characters of a fix; a longer one is left out."""
PROBLEMS = 12
"""Problems that one answer shows."""
FAILED = 5
"""Failed steps that one answer shows."""
BOUND = 12
"""Variables that one answer shows."""
SCHEMA = 600
"""Characters of the schema of an answer that is asked for."""

UNSENT: Final = frozenset({"never-read", "not-connected"})
"""Warnings without a meaning here: what is bound last is read in the answer, and a run starts the servers it calls."""

DOUBTS: Final = frozenset({"unknown-argument", "unknown-property", "unknown-value", "hidden-property"})
"""Warnings that a run's answer tells, too: what was read may be empty, or passed over, for a name that was misspelt."""


def show_check(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outcome of a check."""
    return {"ok": document["ok"], **_problems(document["problems"])}


def show_run(document: Mapping[str, Any], access: Access, *, most: int = RESULT) -> dict[str, Any]:
    """Return how a run ended, or how far it is, from the documented object."""
    status = document["status"]
    if status == "refused":
        reason = document.get("reason")
        short = {"reason": _short(reason)} if reason else {}
        return {"status": status, **short, **_problems(document["problems"])}
    shown: dict[str, Any] = {"status": status, "run": document["run"]}
    failed = _failed(document["steps"]) if status not in ("success", "running") else []
    if failed:
        shown["failed"] = failed[:FAILED]
        if len(failed) > FAILED:
            shown["more_failed"] = len(failed) - FAILED
    reason = document.get("reason")
    if reason and not any(one["reason"] in _short(reason) for one in failed):
        shown["reason"] = _short(reason)
    if document["pending"]:
        shown["asks"] = [_pending(one, access) for one in document["pending"]]
    empty = _why_empty(document) if status == "success" else {}
    doubts = [one for one in document["problems"] if one["code"] in DOUBTS]
    return {**shown, **_result(document["result"], most), **empty, **_problems(doubts)}


def show_steps(space: Space, document: Mapping[str, Any], access: Access) -> dict[str, Any]:
    """Return what steps of a session did: what they bound anew, and the last result once; of running ones, nothing."""
    shown = show_run(document, access, most=STEP_RESULT)
    if document["status"] in ("refused", "running"):
        # What runs is told as the journal has it, with all that the session did before.
        return shown
    ended = {step["step"]: step["status"] for step in document["steps"]}
    ids: dict[str, Any] = {}
    for step in document["steps"]:
        if step["out"] and step["status"] == "success" and binds_for_all(step["step"], step["out"][1:], ended):
            ids.pop(step["out"], None)  # the latest stand last
            ids[step["out"]] = step["resource_id"]
    result = shown.get("ref")
    bound = bound_to(space, {name: identifier for name, identifier in ids.items() if identifier not in (None, result)})
    last = next((name for name, identifier in reversed(ids.items()) if identifier == result), None)
    return {**shown, **({"out": last} if last else {}), **({"bound": bound} if bound else {})}


def bound_to(space: Space, ids: Mapping[str, str]) -> dict[str, str]:
    """Return the shapes of what variables are bound to, the latest of them."""
    context, results = space.context(), {}
    for name, identifier in list(ids.items())[-BOUND:]:
        try:
            results[name] = kind_and_shape(space, context.get(identifier))
        except NotFound:
            results[name] = "removed"
    return results


def _result(result: Mapping[str, Any] | None, most: int) -> dict[str, Any]:
    if result is None:
        return {}
    ref = {} if result["resource_id"] is None else {"ref": result["resource_id"]}
    data = result["data"]
    if len(dump(data)) <= most:
        return {**ref, "result": data}
    return {**ref, **preview(data)}


def _why_empty(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a search that found nothing says of that, where nothing is the result."""
    result = document["result"]
    if result is None or result["data"] != []:
        return {}
    step = next((one for one in reversed(document["steps"]) if one["resource_id"] == result["resource_id"]), None)
    extra = step["extra"] if step is not None else {}
    messages = [str(extra["hint"])] if extra.get("hint") else []
    if "without_where" in extra:
        messages.append(f"without `where` {extra['without_where']:,} fit")
    return {"hint": _short("; ".join(messages))} if messages else {}


def _failed(steps: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the failed steps, the innermost of those that failed by one another; not those that were handled."""
    failed = [step for step in steps if step["status"] == "failed" and not step["extra"].get("handled")]
    inner = [one for one in failed if not any(holds(one["step"], other["step"]) for other in failed)]
    return [{"step": one["step"], "type": one["type"], "reason": _short(one["reason"] or "")} for one in inner]


def _pending(pending: Mapping[str, Any], access: Access) -> dict[str, Any]:
    shown = {"step": pending["step"], "kind": pending["kind"], "question": _short(pending["question"])}
    schema = pending.get("schema")
    if schema and len(dump(schema)) <= SCHEMA:
        shown["schema"] = schema
    if pending.get("until"):
        shown["until"] = pending["until"]
    if access.approvals == "people" and pending["kind"] in THEIRS:
        shown["answered_by"] = "people, not you"
    return shown


def _problems(problems: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sent = [problem for problem in problems if problem["severity"] == "error" or problem["code"] not in UNSENT]
    if not sent:
        return {}
    shown = [_problem(one) for one in sent[:PROBLEMS]]
    return {"problems": shown, **({"more_problems": len(sent) - PROBLEMS} if len(sent) > PROBLEMS else {})}


def _problem(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem by its place, its sentence, and what mends it; a hint stands there where nothing does."""
    shown: dict[str, Any] = {"at": problem["pointer"], "problem": _short(problem["message"])}
    if problem["severity"] == "warning":
        shown["warning"] = True
    fix = problem["fix"]
    mends = {} if fix is None else show_fix(problem["pointer"], fix)
    if mends and len(dump(mends)) <= FIX:
        shown |= mends
    elif problem["hint"]:
        shown["hint"] = _short(problem["hint"])
    return shown


def show_fix(place: str, fix: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a fix for what stands at a place, in a word for each of the common ones, else as the JSON Patch it is.

    `put` is the value that stands there, `rename` the key under which it stands, both those of both; `remove` takes
    it away; `move` names the keys beside it that stand within the key `into`; `unwrap` lets the keys of the object
    there stand in its place.
    """
    parent = place.rpartition("/")[0]
    match fix:
        case [{"op": "replace", "path": path, "value": value}] if path == place:
            return {"put": value}
        case [{"op": "remove", "path": path}] if path == place:
            return {"remove": True}
        case [{"op": "move", "from": source, "path": path}, *rest] if source == place and _holds(parent, path):
            match rest:
                case []:
                    return {"rename": parts_of(path)[-1]}
                case [{"op": "replace", "path": at, "value": value}] if at == path:
                    return {"rename": parts_of(path)[-1], "put": value}
    return _moved_in(parent, fix) or _unwrapped(place, fix) or {"patch": [*fix]}


def _holds(parent: str, path: str) -> bool:
    """Whether a place is that of a key of an object, or of an element of a list, at another place."""
    return path.rpartition("/")[0] == parent and path != ""


def _moved_in(parent: str, fix: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return which keys of an object move into one of its keys, under the names that they have."""
    moves = [one for one in fix if one["op"] == "move"]
    into = moves[0]["path"].rpartition("/")[0] if moves else ""
    first: list[Mapping[str, Any]] = [{"op": "add", "path": into, "value": {}}]
    if not moves or [*fix] not in (moves, first + moves) or not _holds(parent, into):
        return {}
    keys = [move["from"].removeprefix(f"{parent}/") for move in moves]
    if any(
        one["from"] != f"{parent}/{key}" or one["path"] != f"{into}/{key}" for key, one in zip(keys, moves, strict=True)
    ):
        return {}
    return {"move": [parts_of(f"/{key}")[-1] for key in keys], "into": parts_of(into)[-1]}


def _unwrapped(place: str, fix: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return that all that stands in an object comes to stand beside it, and it goes."""
    parent = place.rpartition("/")[0]
    *moves, last = fix
    if last != {"op": "remove", "path": place} or not moves:
        return {}
    for move in moves:
        key = move["path"].removeprefix(f"{parent}/")
        if move["op"] != "move" or move["path"] != f"{parent}/{key}" or move["from"] != f"{place}/{key}":
            return {}
    return {"unwrap": True}


def _short(text: str) -> str:
    return truncate(plain(text), REASON)
