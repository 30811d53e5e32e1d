"""A primitive's contract in the forms in which it is read: JSON for machines, Markdown for a prompt or a page."""

from __future__ import annotations

import json
from typing import Any

from infospace.contract.decorator import Argument, Primitive
from infospace.core.ids import Kind
from infospace.schema.value_text import describe_schema, either


def effect_label(entry: Primitive) -> str:
    """Return the effect as a word, `depends` where it depends on the arguments."""
    return entry.effect if isinstance(entry.effect, str) else "depends"


def to_json(entry: Primitive) -> dict[str, Any]:
    """Return the contract as JSON."""
    return {
        "type": entry.type,
        "summary": entry.summary,
        "behaviour": entry.behaviour,
        "effect": effect_label(entry),
        "out": entry.out,
        "gives": entry.returns,
        "arguments": [
            {
                "name": argument.name,
                "reading": argument.reading.value,
                "kinds": sorted(argument.kinds),
                "type": format_argument_type(argument),
                "required": argument.required,
                "default": argument.default,
                "description": argument.description,
            }
            for argument in entry.arguments.values()
        ],
        "schema": entry.schema,
        "failures": list(entry.failures),
        "examples": [dict(example) for example in entry.examples],
        "avoid": list(entry.avoid),
        "provider": entry.provider,
    }


CACHED = "Equal calls (model, messages, schema) are made once in a run, and with `--cache` once in all runs."
"""What the contract of a primitive that asks a language model says of answers that are kept."""


def format_argument_type(argument: Argument) -> str:
    """Return what an argument takes, in words: `Collection`, `text`, `a number from -1 to 1 or null`."""
    if argument.kinds:
        return either(sorted(argument.kinds)) if len(argument.kinds) < len(Kind) else "any resource"
    return describe_schema(argument.schema) or "any JSON"


def to_markdown(entry: Primitive) -> str:
    """Return the contract in full, as Markdown."""
    lines = [f"## {entry.type}", "", entry.summary, ""]
    out = {"required": "; `out` is required", "optional": "", "none": ""}[entry.out]
    lines += [f"Effect: {effect_label(entry)}. Gives: {entry.returns}{out}.", ""]
    for argument in entry.arguments.values():
        need = "required" if argument.required else f"default `{json.dumps(_shown(argument.default))}`"
        lines.append(f"- `{argument.name}` ({format_argument_type(argument)}, {need}): {argument.description}")
    lines += ["", entry.behaviour] if entry.behaviour else []
    lines += ["", CACHED] if entry.asks else []
    lines += _list("Fails when:", entry.failures)
    lines += (
        ["", "Examples:", "```json", *(json.dumps(e, ensure_ascii=False) for e in entry.examples), "```"]
        if entry.examples
        else []
    )
    lines += _list("Avoid:", entry.avoid)
    return "\n".join(lines)


def _shown(default: Any) -> Any:
    return default if default is None or isinstance(default, (str, int, float, bool, list, dict)) else str(default)


def _list(title: str, items: Any) -> list[str]:
    return ["", title, *(f"- {item}" for item in items)] if items else []
