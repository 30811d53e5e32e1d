"""What a call of a tool answers: all blocks, or of what is long a preview and where the rest can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from infospace.core.errors import NotFound
from infospace.core.plural import pluralize
from infospace.core.position import is_nested
from infospace.core.resources import text_of
from infospace.core.tool import Tool
from infospace.data.json_text import dump
from infospace.data.result import truncate
from infospace.journal.rows import CallRow
from infospace.space import Space
from infospace.tools.approvals import APPROVAL_CHOICES
from infospace.tools.builtin import SERVER
from planner.journal.result import RunResult
from planner.journal.suspension import Pending
from planner.metatools.arguments import LONGEST_MS, ExecuteOptions

LARGE: Final = 4_000
"""Characters of an answer's blocks and structured content up to which they stand in it."""

MEDIA: Final = 2_000_000
"""Characters of base64 that the pictures and sounds beside one answer have."""

_STATUS: Final = {"success": "success", "stopped": "success", "cancelled": "cancelled"}


def answer_of(
    space: Space, tool: Tool, options: ExecuteOptions, result: RunResult, longest_ms: int = LONGEST_MS
) -> dict[str, Any]:
    """Return the answer of a run whose steps are the call of a tool.

    `status` is `success`, `failed`, `cancelled`, `approval_required` (nothing was called; `approval` says who has to
    say what) or `waiting` (a saved plan that asks something).
    """
    run = result.run or ""
    call = _call(space, run) if run and tool.server != SERVER else None
    status: str = _STATUS.get(result.status, "failed")
    results: dict[str, Any] = {"tool_name": tool.full_name, "status": status, "is_error": status != "success"}
    if result.status == "suspended" and result.pending:
        results |= _waiting(run, result.pending)
        document: dict[str, Any] = _text_content(results["reason"])
    elif status == "success":
        document = _result_of_step(result) if call is None else _answered(call)
    else:
        results["reason"] = _why(tool, options, result, longest_ms)
        document = _answered(call) if call is not None and _has_answer(call) else _text_content(results["reason"])
    resource = None if result.result is None else result.result.resource_id
    results |= _short(document, resource, run) if status == "success" or call is not None else document
    results["resource_id"] = resource
    misfits = result.steps[-1].extra.get("misfits") if result.steps else None
    if misfits:
        results["misfits"] = misfits
    if options.include_metadata:
        results["execution_metadata"] = _metadata(tool, result, call)
    return results


def _call(space: Space, run: str) -> CallRow | None:
    """Return the last call that a run made, None where it made none."""
    with space.store.reading() as snapshot:
        try:
            result = snapshot.calls(run)
        except NotFound:
            return None
    return result[-1] if result else None


def media_blocks(space: Space, run: str) -> list[dict[str, Any]]:
    """Return the pictures and sounds that a run's last call answered, the first of them that are not too many."""
    call, results, size = _call(space, run), list[dict[str, Any]](), 0
    for block in _answered(call)["content"] if call is not None else ():
        if block.get("type") in ("image", "audio"):
            size += len(str(block.get("data", "")))
            if size <= MEDIA:
                results.append(dict(block))
    return results


def _has_answer(call: CallRow) -> bool:
    return isinstance(call.answer, Mapping)


def _answered(call: CallRow) -> dict[str, Any]:
    """What a tool answered, as it was journalled."""
    answer: Any = call.answer if _has_answer(call) else {}
    return {"content": list(answer.get("blocks", ())), "structured_content": answer.get("structured")}


def _result_of_step(result: RunResult) -> dict[str, Any]:
    """What a primitive or a saved plan gave."""
    data = None if result.result is None else result.result.data
    return {**_text_content("" if result.result is None else text_of(data)), "structured_content": data}


def _text_content(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}] if text else [], "structured_content": None}


def _why(tool: Tool, options: ExecuteOptions, result: RunResult, longest_ms: int) -> str:
    row = result.steps[-1] if result.steps else None
    if row is not None and row.error == "timeout":
        more = (
            "`options.timeout_ms` gives it longer"
            if options.timeout_ms < longest_ms
            else "no call may last longer here"
        )
        return f"{tool.full_name} did not answer within {options.timeout_ms:,} ms ({more})"
    if result.status == "cancelled":
        return f"the call of {tool.full_name} was broken off"
    reason = row.reason if row is not None and row.error != "cancelled" and len(result.steps) == 1 else None
    return reason or result.reason or f"{tool.full_name} failed"


def _waiting(run: str, pending: Sequence[Pending]) -> dict[str, Any]:
    """What has to be said before it goes on. The first of several is told; the others come after it."""
    one = pending[0]
    document: dict[str, Any] = {
        "run": run,
        "step": one.step,
        "question": one.question,
        "schema": one.schema and dict(one.schema),
    }
    document["answer_with"] = {"tool": "answer_run", "arguments": {"run": run, "step": one.step, "value": "…"}}
    if one.kind != "approve":
        return {
            "status": "waiting",
            "reason": f"nothing goes on before this is answered: {one.question}",
            "waits": document,
        }
    document["answer_with"]["arguments"]["value"] = "once"
    document["answers"] = {**APPROVAL_CHOICES}
    document["command"] = f"infospace answer {run} {one.step} once"
    reason = f"nothing was called, since somebody has to be asked first: {one.question}"
    return {"status": "approval_required", "reason": reason, "approval": document}


def _short(document: dict[str, Any], resource: str | None, run: str) -> dict[str, Any]:
    """Return blocks and structured content as they are, or where they are long the beginning of their texts."""
    size = len(dump(document["content"])) + (
        0 if document["structured_content"] is None else len(dump(document["structured_content"]))
    )
    if size <= LARGE:
        return document
    shown = [_shortened(block) for block in document["content"]][:20]
    if not shown:
        shown = _text_content(truncate(text_of(document["structured_content"])))["content"]
    read = resource or run
    message = (
        f"the whole has {pluralize(size, 'character')}: `read` gives {read} in pieces, and a plan takes it by this id"
    )
    return {
        "content": shown,
        "structured_content": None,
        "large": {"characters": size, "read": read, "all_blocks": run, "message": message},
    }


def _shortened(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "text":
        return {**block, "text": truncate(str(block.get("text", "")))}
    inner = block.get("resource")
    if isinstance(inner, Mapping) and isinstance(inner.get("text"), str):
        return {**block, "resource": {**inner, "text": truncate(inner["text"])}}
    size = len(dump(dict(block)))
    if size <= LARGE // 10:
        return dict(block)
    kind = " ".join(str(block[key]) for key in ("type", "mimeType") if key in block)
    return {"type": "text", "text": f"[{kind}: {pluralize(size, 'character')}, left out]"}


def duration_ms_of(result: RunResult) -> float:
    """Return for how many milliseconds a run's own steps ran, in which the steps inside of them did."""
    return sum(row.duration_ms for row in result.steps if not is_nested(row.position))


def _metadata(tool: Tool, result: RunResult, call: CallRow | None) -> dict[str, Any]:
    took = duration_ms_of(result)
    if call is not None:
        took = call.duration_ms or _broken_off_after(call, took, result)
    return {
        "tool_id": tool.id or tool.full_name,
        "server": tool.server,
        "execution_time_ms": round(took, 3),
        "request_id": result.run,
    }


def _broken_off_after(call: CallRow, took: float, result: RunResult) -> float:
    """Return for how many milliseconds a call lasted that was broken off: up to the end of its step."""
    row = next((row for row in reversed(result.steps) if row.position == call.position and row.started), None)
    if row is None:
        return took
    before = datetime.fromisoformat(call.started) - datetime.fromisoformat(row.started)
    return max(0.0, row.duration_ms - before.total_seconds() * 1000)
