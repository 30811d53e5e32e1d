"""How a plan is written where nobody has written it yet, or where it is to be laid out anew."""

from __future__ import annotations

import json

from infospace.core.json_types import JSON
from planner.editor.draft import Draft
from planner.parse.text import is_head

WIDE = 76
"""Characters of a line up to which an object or a list stands on it."""


def plan_document(draft: Draft) -> JSON:
    """Return the plan that a draft says; of JSON Lines, as a document."""
    if not draft.lines or not isinstance(draft.document, list):
        return draft.document
    lines = draft.document
    head = lines[0] if lines and isinstance(lines[0], dict) and is_head(lines[0]) else {}
    return {**head, "steps": lines[bool(head) :]}


def format_plan(document: JSON) -> str:
    """Write a plan: a step a line where it is short, else a field a line."""
    return _written(document, 0) + "\n"


def _written(value: JSON, depth: int) -> str:
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or (depth and len(short) + 2 * depth <= WIDE):
        return short
    margin, inner = "  " * depth, "  " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_written(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{margin}}}"
    return "[\n" + ",\n".join(inner + _written(item, depth + 1) for item in value) + f"\n{margin}]"
