"""A tool in one line, enough to write the step that calls it: `git/git_log(repo_path: str, max_count: int = 10)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from infospace.core.tool import Tool
from infospace.data.json_text import dump
from infospace.schema.infer import types_in
from infospace.schema.outline import outline_schema, outline_value
from infospace.schema.references import resolved
from infospace.tools.answer_content import result_schema
from infospace.tools.builtin import step_type

ARGUMENTS = 14
"""Arguments of a tool that its line names; those that have to be given all stand there."""
CHOICES = 8
"""Values of one argument that are named."""
DEFAULT = 40
"""Characters of a default that stands there."""

_NAMES: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list"}


def signature_line(tool: Tool, answer: Any = None) -> str:
    """Return a tool's name, its arguments with types and defaults, and what it answers.

    What has no default and need not be given bears a `?`. `answer` is what it answered before, for a tool that does
    not say what it answers.
    """
    schema = tool.input_schema
    properties = schema.get("properties")
    fields: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    required = [name for name in schema.get("required", ()) if name in fields]
    others = [name for name in fields if name not in required]
    shown = others[: max(ARGUMENTS - len(required), 0)]
    messages = [_argument(name, fields[name], schema, name in required) for name in (*required, *shown)]
    if len(shown) < len(others):
        messages.append("…")
    result = result_outline(tool, answer)
    return f"{step_type(tool)}({', '.join(messages)})" + (f" -> {result}" if result else "")


def result_outline(tool: Tool, answer: Any = None) -> str:
    """Return what a tool answers: by its schema, else by what it answered before, "" where neither is known."""
    schema = result_schema(tool)
    if schema is not None:
        return outline_schema(schema)
    return "" if answer is None else outline_value(answer)


def _argument(name: str, schema: Any, root: Mapping[str, Any], required: bool) -> str:
    part = resolved(schema, root) if isinstance(schema, Mapping) else {}
    default = part.get("default")
    mark = "" if required or default is not None else "?"
    text = dump(default) if default is not None and not required else ""
    tail = f" = {text}" if text and len(text) <= DEFAULT else ""
    type_ = _type(part, root)
    return f"{name}{mark}{': ' if type_ else ''}{type_}{tail}"


def _type(part: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if isinstance(choices := part.get("enum"), list) and choices:
        return "|".join([*map(dump, choices[:CHOICES]), *(["…"] if len(choices) > CHOICES else [])])
    types = types_in(part, root) - {"null"}
    if len(types) >= len(_NAMES):
        return ""
    names = []
    for name in ("string", "integer", "number", "boolean", "array", "object"):
        if name not in types or (name == "integer" and "number" in types):
            continue
        if name == "array" and isinstance(items := part.get("items"), Mapping):
            inner = _type(resolved(items, root), root)
            names.append(f"[{inner}]" if inner else "list")
        elif name == "object":
            names.append(outline_schema({**part, "type": "object"}) or "object")
        else:
            names.append(_NAMES[name])
    return "|".join(names)
