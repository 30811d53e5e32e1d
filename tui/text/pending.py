"""What a suspended run waits for, as a person reads it: the question, what may be answered, and by which command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infospace.core.json_types import JSON
    from planner.journal.suspension import Pending
    from tui.text.output import Output

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list, as JSON",
    "object": "an object, as JSON",
    "null": "null",
}


_BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}


def show_pending(run: str | None, pending: Sequence[Pending], out: Output, *, told: bool = False) -> None:
    """Say of each thing what it is, and with which command it is answered or gone on with, unless that is `told`."""
    for one in pending:
        out.talk(f"step {one.step} waits: {one.question}", "yellow")
        if one.kind == "wait":
            continue
        free = choices(one.schema)
        out.talk(f"  → {command(out, 'answer', run, one.step, *free[:1])}{'' if free else ' …'}", "dim")
        message = meanings(one.schema) if free else [f"… is {describe_schema(one.schema)}"]
        for line in message:
            out.talk(f"      {line}", "dim")
    if not told and pending and all(one.kind == "wait" for one in pending):
        out.talk(f"  → {command(out, 'resume', run)}", "dim")


def value_of(text: str, asked: Pending | None) -> JSON:
    """Return an answer as its schema wants it: JSON where that fits, else text."""
    from planner.journal.suspension import read_answer

    return read_answer(text, None if asked is None else asked.schema)


def command(out: Output, *words: str | None) -> str:
    """Return a command line as a shell takes it, for the space that this command works on."""
    space = () if out.space is None else ("--space", out.space)
    return shlex.join(["infospace", *space, *(word for word in words if word is not None)])


def choices(schema: Mapping[str, Any] | None) -> list[str]:
    """Return the answers that a schema leaves, as they are typed; none where they cannot be listed."""
    if schema is None:
        return []
    if schema.get("type") == "boolean":
        return ["true", "false"]
    listed = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return [_typed(value) for value in listed]


def meanings(schema: Mapping[str, Any] | None) -> list[str]:
    """Return a line for each choice, or one for all of them where nothing is said about them."""
    listed = choices(schema)
    texts = str((schema or {}).get("description", "")).split("; ")
    if len(texts) == len(listed) and all(line.startswith(f"{one}: ") for one, line in zip(listed, texts, strict=True)):
        return texts
    return [f"one of {', '.join(listed)}"]


def describe_schema(schema: Mapping[str, Any] | None) -> str:
    """Say in words what a schema takes."""
    if not schema:
        return "text, or any JSON"
    listed = choices(schema)
    if listed:
        return " or ".join(listed)
    parts = schema.get("oneOf") or schema.get("anyOf")
    if parts:
        return ", or ".join(describe_schema(part) for part in parts)
    type_, required = schema.get("type"), schema.get("required")
    if type_ == ["object", "string"] and isinstance(schema.get("properties"), dict):
        fields = ", ".join(f'"{name}": {_field(part)}' for name, part in schema["properties"].items())
        return f"{{{fields}}}, or decline"
    if type_ == "object" and required:
        return "{" + ", ".join(f'"{key}": …' for key in required) + "}"
    bounds = {key: value for key, value in schema.items() if key not in ("type", "description", "title")}
    if type_ in ("integer", "number") and bounds.keys() <= _BOUNDS:
        from infospace.schema.value_text import describe_schema as in_words

        return in_words(schema)
    if isinstance(type_, str) and type_ in _TYPES:
        return _TYPES[type_] + (f" ({_json(bounds)})" if bounds else "")
    return f"what fits {_json(dict(schema))}"


def _field(schema: Any) -> str:
    """Say in words what a field of a form takes, and what it has where nothing is written."""
    if not isinstance(schema, dict):
        return "…"
    words = describe_schema({key: value for key, value in schema.items() if key not in ("default", "description")})
    return f"{words} (else {_json(schema['default'])})" if "default" in schema else words


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    from infospace.data.json_text import dump
    from infospace.data.result import truncate

    return truncate(dump(value), 200)
