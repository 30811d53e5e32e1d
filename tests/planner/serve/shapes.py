"""What other programs rely on in the server's answers, as JSON Schema. Fields may be added, and none be missing."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from infospace.data.json_text import dump
from planner.server.truncate import DATA

TEXT: dict[str, Any] = {"type": "string"}
WORD: dict[str, Any] = {"type": ["string", "null"]}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
LEFT_OUT = {"type": "object", "additionalProperties": TEXT, "minProperties": 1}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT[\d:.]+Z$"}


def an_object(fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An object that has all of these fields, and perhaps others, some of which are known."""
    return {"type": "object", "properties": {**fields, **more}, "required": [*fields]}


PROBLEM = an_object(
    {
        "code": {"type": "string", "pattern": "^[a-z-]+$"},
        "severity": {"enum": ["error", "warning"]},
        "pointer": {"type": "string", "pattern": "^(/|$)"},
        "message": {"type": "string", "minLength": 1},
        "hint": WORD,
        "fix": {"type": ["array", "null"], "items": {"type": "object", "required": ["op", "path"]}},
    }
)
ANSWER: dict[str, Any] = {
    "status": {"enum": ["success", "failed", "skipped", "suspended"]},
    "resource_id": {"type": ["string", "null"], "pattern": r"^(Note|Collection|Relation)_\d+$"},
    "value": {"type": "string", "maxLength": 500},
    "reason": WORD,
    "extra": {"type": "object"},
    "started_at": TIME,
    "duration_ms": {"type": "number", "minimum": 0},
}
STEP = an_object(
    {"step": TEXT, "type": TEXT, "out": {"type": ["string", "null"], "pattern": r"^\$"}, **ANSWER},
    left_out={"type": "array", "items": TEXT},
)
OMITTED = an_object({"characters": {"type": "integer", "exclusiveMinimum": DATA}, "read": TEXT})
RESULT = {
    "oneOf": [{"type": "null"}, an_object({**ANSWER, "data": {}}), an_object({**ANSWER, "data_omitted": OMITTED})]
}
PENDING = an_object(
    {"step": TEXT, "kind": {"enum": ["ask", "approve", "wait", "doubt"]}, "question": TEXT},
    schema={"type": ["object", "null"]},
    until={"oneOf": [{"type": "null"}, TIME]},
)
BINDING: dict[str, Any] = {
    "kind": {"enum": ["Note", "Collection", "Relation"]},
    "id": TEXT,
    "size": {"type": ["integer", "null"]},
}


def many(item: Any) -> dict[str, Any]:
    """A list of such."""
    return {"type": "array", "items": item}


def named(item: Any) -> dict[str, Any]:
    """An object of such, by names."""
    return {"type": "object", "additionalProperties": item}


RUN = an_object(
    {
        "run": {"type": ["string", "null"], "pattern": r"^run_\d+$"},
        "status": {"enum": ["success", "failed", "suspended", "stopped", "cancelled", "refused", "running"]},
        "result": RESULT,
        "bindings": named(an_object(BINDING)),
        "steps": many(STEP),
        "pending": many(PENDING),
        "problems": many(PROBLEM),
        "reason": WORD,
    },
    left_out=LEFT_OUT,
)
_PART: dict[str, Any] = {
    "of": {"enum": ["characters", "elements", "items"]},
    "total": COUNT,
    "slice": {"type": "string", "pattern": r"^\d+:\d+$"},
    "next": {"type": ["string", "null"], "pattern": r"^\d+:\d+$"},
    "data": {},
}
_TOO_LONG = many(an_object({"at": COUNT, "ref": TEXT, "characters": COUNT}))
OF_PLACE = an_object({"ref": TEXT, **_PART}, too_long=_TOO_LONG)
OF_RESOURCE = an_object({"ref": TEXT, "kind": TEXT, "name": WORD, "version": COUNT, **_PART}, too_long=_TOO_LONG)
HIT = an_object(
    {"format": {"enum": ["text", "json"]}, "metadata": {"type": "object", "required": ["source_id", "score"]}},
    char_count=COUNT,
    text=TEXT,
)
SHAPES: dict[str, Any] = {
    "check_plan": an_object({"ok": {"type": "boolean"}, "problems": many(PROBLEM)}, left_out=LEFT_OUT),
    **dict.fromkeys(("run_plan", "run_steps", "get_run", "answer_run", "cancel_run"), RUN),
    "read": {"anyOf": [OF_PLACE, OF_RESOURCE]},
    "discover_notes": an_object({**ANSWER, "data": many(HIT)}, left_out=LEFT_OUT),
    "list_bindings": an_object({"run": TEXT, "bindings": named(an_object({**BINDING, "value": TEXT}))}, left_out=COUNT),
}
"""By tool; `describe_primitives` alone answers in Markdown."""

_VALIDATORS = {tool: Draft202012Validator(shape) for tool, shape in SHAPES.items()}


def misshapen(tool: str, answer: Any) -> str | None:
    """Say what is wrong with the shape of an answer, None when it is as documented."""
    if tool not in _VALIDATORS:
        return None
    wrong = [f"{error.json_path}: {error.message:.200}" for error in _VALIDATORS[tool].iter_errors(answer)]
    result = answer.get("result")
    if result is not None and "data" in result and len(dump(result["data"])) > DATA:
        wrong.append(f"data of {len(dump(result['data'])):,} characters")
    if result is not None and "data_omitted" in result and result["data_omitted"]["read"] != result["resource_id"]:
        wrong.append("what is omitted is to be read elsewhere")
    if SHAPES[tool] is RUN and answer["status"] == "refused" and answer["steps"]:
        wrong.append("refused, and steps were run")
    return "; ".join(wrong) or None
