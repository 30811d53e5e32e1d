"""Public sets of nested calls as plans: NESTFUL and NesTools, read from a folder that is given; and tools for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVER = "gold"
_TYPES: Mapping[str, str] = {
    "str": "string",
    "string": "string",
    "enum": "string",
    "int": "integer",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "bool": "boolean",
    "boolean": "boolean",
    "list": "array",
    "array": "array",
    "dict": "object",
    "object": "object",
}


@dataclass
class Gold:
    """Right plans by name, and the tools that they call, as `tools/list` answers them."""

    plans: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_gold(folder: Path) -> Gold:
    """Read what there is of the two sets in a folder; of two tools of one name the first is taken, with its plans."""
    gold = Gold()
    tasks = folder / "nestools-dev" / "tasks.jsonl"
    if tasks.is_file():
        for number, line in enumerate(tasks.read_text(encoding="utf-8").splitlines()):
            _nested(gold, json.loads(line), closed=number % 2 == 0)
    for data in sorted((folder / "nestful").glob("*-data.json")):
        spec = data.with_name(data.name.replace("-data", "-spec"))
        _sequences(gold, data.stem, json.loads(data.read_text("utf-8")), json.loads(spec.read_text("utf-8")))
    return gold


def _schema(parameters: Mapping[str, Any], required: list[str], *, closed: bool) -> dict[str, Any]:
    properties = {}
    for name, told in parameters.items():
        properties[name] = {
            "type": _TYPES.get(str(told.get("type", "string")).lower(), "string"),
            "description": told.get("description", ""),
        }
        values = [value for value in told.get("allowed_values", ()) if isinstance(value, str)]
        if values and properties[name]["type"] == "string":
            properties[name]["enum"] = values
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    return {**schema, "additionalProperties": False} if closed else schema


def _nested(gold: Gold, task: Mapping[str, Any], *, closed: bool) -> None:
    tools = {}
    for api in task["api"]:
        name = re.sub(r"\W", "_", api["api_name"])
        answer = _schema(api["responses"], list(api["responses"]), closed=False)
        takes = _schema(api["parameters"], list(api["required"]), closed=closed)
        tools[name] = {
            "name": name,
            "description": api["api_description"],
            "inputSchema": takes,
            "outputSchema": answer,
        }
    places: dict[str, str] = {}
    steps = []
    for number, call in enumerate(task["call"], start=1):
        name = re.sub(r"\W", "_", call["api_name"])
        given = {
            key: places.get(value, value) if isinstance(value, str) else value
            for key, value in call["parameters"].items()
        }
        fields = next((list(api["responses"]) for api in task["api"] if api["api_name"] == call["api_name"]), [])
        for place, key in zip(call["responses"], fields, strict=False):
            places[place] = f"$r{number}.{key}"
        steps.append({"type": f"{SERVER}/{name}", "arguments": given, "out": f"$r{number}"})
    _add(gold, f"nestools-{task['test_id']}", steps, tools)


def _sequences(gold: Gold, name: str, tasks: list[Any], specs: list[Any]) -> None:
    tools = {}
    for spec in specs:
        parameters = {
            **(spec.get("query_parameters") or spec.get("arguments") or spec.get("parameters") or {}),
            **(spec.get("path_parameters") or {}),
        }
        if not all(isinstance(told, dict) for told in parameters.values()):
            continue
        required = [key for key, told in parameters.items() if told.get("required") is True]
        tool = re.sub(r"\W", "_", spec["name"])
        answer = _schema(
            {key: told for key, told in spec["output_parameters"].items() if isinstance(told, dict)}, [], closed=False
        )
        tools[tool] = {
            "name": tool,
            "description": spec["description"],
            "inputSchema": _schema(parameters, required, closed=True),
            "outputSchema": answer,
        }
    for number, task in enumerate(tasks):
        steps = []
        for call in task["output"]:
            if call["name"] == "var_result":
                continue
            given = {key: _reference(value) for key, value in call["arguments"].items()}
            step = {"type": f"{SERVER}/{re.sub(chr(92) + 'W', '_', call['name'])}", "arguments": given}
            steps.append({**step, "out": f"${call['label']}"} if "label" in call else step)
        _add(gold, f"{name}-{number}", steps, tools)


def _reference(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return re.sub(r"\$(var\d+(?:\.[\w.]+)?)\$", r"$\1", value)


def _add(gold: Gold, name: str, steps: list[dict[str, Any]], tools: Mapping[str, Any]) -> None:
    called = {step["type"].partition("/")[2] for step in steps}
    if called <= tools.keys() and all(gold.tools.get(one, tools[one]) == tools[one] for one in called):
        gold.tools |= {one: tools[one] for one in called}
        gold.plans[name] = steps


def reads(plan: Any) -> Iterator[tuple[int, str, str]]:
    """Arguments that are a reference: index of the step, argument, reference."""
    for at, step in enumerate(plan):
        for key, value in step["arguments"].items():
            if isinstance(value, str) and value.startswith("$"):
                yield at, key, value
