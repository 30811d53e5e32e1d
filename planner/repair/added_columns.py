"""Steps that other systems have for adding computed fields to rows: `project` with `keep`."""

from __future__ import annotations

from collections.abc import Mapping

from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from planner.language.problems import Patch, join, replace
from planner.parse.fields import COMMON

VERBS = ("derive", "assign", "mutate", "with_columns", "with_column", "add_fields", "add_columns", "extend")
"""What it is called elsewhere, with an underscore between words."""
_HOLDERS = ("fields", "columns", "expressions", "assignments", "values")
_NAMES = ("field", "column")
_TEXTS = ("expression", "expr", "formula")


def is_added_columns(type_: str) -> bool:
    """Whether a step type means to add computed fields to each item."""
    return type_.replace("-", "_").lower() in VERBS


def project_of(raw: Mapping[str, JSON], type_pointer: str, pointer: str) -> Patch | None:
    """Write such a step as `project`; None where its arguments do not say plainly which fields have which expressions.

    They are an object of names and expressions, or one name and one expression.
    """
    own = [key for key in raw if key not in (*COMMON, "target", "mismatch")]
    if raw.get("keep", True) is not True:
        return None
    kept: Patch = [] if "keep" in raw else [{"op": "add", "path": join(pointer, "keep"), "value": True}]
    own = [key for key in own if key != "keep"]
    head = replace(type_pointer, "project")
    match own:
        case [holder] if holder in _HOLDERS:
            fields = raw[holder]
            if not isinstance(fields, dict) or not fields:
                return None
            texts = {name: _text(value) for name, value in fields.items()}
            if not all(texts.values()):
                return None
            if holder != "fields":
                head += [{"op": "move", "from": join(pointer, holder), "path": join(pointer, "fields")}]
            if texts != fields:
                head += replace(join(pointer, "fields"), texts)
            return [*head, *kept]
        case [one, other]:
            name, text = (one, other) if one in _NAMES else (other, one)
            if name in _NAMES and text in _TEXTS and isinstance(raw[name], str) and (written := _text(raw[text])):
                gone: Patch = [{"op": "remove", "path": join(pointer, key)} for key in own]
                fields = {str(raw[name]): written}
                return [*head, *gone, {"op": "add", "path": join(pointer, "fields"), "value": fields}, *kept]
    return None


def _text(value: JSON) -> str | None:
    """An expression as text: a number, a boolean and null as they are written."""
    if isinstance(value, str):
        return value
    return None if isinstance(value, (dict, list)) else dump(value)
