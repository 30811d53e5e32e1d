"""A suite: goals, what there is to reach them with, and what has to come out. One JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from infospace.core.errors import Invalid, InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json
from infospace.schema.validate import validate

Comparison: TypeAlias = Literal["exact", "unordered", "number", "contains", "none"]

LINE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "goal": {"type": "string", "minLength": 1},
        "inputs": {"type": "object"},
        "notes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {}, "name": {"type": "string"}, "metadata": {"type": "object"}},
                "required": ["text"],
                "additionalProperties": False,
            },
        },
        "sample": {"type": "boolean"},
        "tools": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "pattern": "^[^/]+/[^/]+$"},
                    "description": {"type": "string"},
                    "input_schema": {"type": "object"},
                    "output_schema": {"type": "object"},
                    "changes": {"type": "boolean"},
                    "answers": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"when": {"type": "object"}, "result": {}},
                            "required": ["result"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["name", "answers"],
                "additionalProperties": False,
            },
        },
        "answer": {},
        "compare": {"enum": ["exact", "unordered", "number", "contains", "none"]},
        "tolerance": {"type": "number", "minimum": 0},
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["id", "goal"],
    "anyOf": [{"required": ["answer"]}, {"required": ["calls"]}],
    "additionalProperties": False,
}
"""JSON Schema of a line."""


@dataclass(frozen=True, slots=True)
class CannedAnswer:
    """What a declared tool answers: to arguments that have those of `when`, or to any."""

    result: JSON
    when: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """A tool that answers what the suite says. `changes` says that it is no mere look-up."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    output_schema: Mapping[str, Any] | None = None
    answers: Sequence[CannedAnswer] = ()
    changes: bool = False


@dataclass(frozen=True, slots=True)
class GoldCall:
    """A call that the right plan makes."""

    tool: str
    arguments: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class SuiteGoal:
    """One goal. `sample` puts the sample notes into its space; without `calls` the calls are not compared."""

    id: str
    goal: str
    answer: JSON = None
    compare: Comparison = "exact"
    tolerance: float = 1e-9
    inputs: Mapping[str, JSON] = field(default_factory=dict)
    notes: Sequence[Mapping[str, JSON]] = ()
    sample: bool = False
    tools: Sequence[DeclaredTool] = ()
    calls: Sequence[GoldCall] | None = None


def read_suite(text: str, what: str = "the suite") -> list[SuiteGoal]:
    """Read a suite. Raises Invalid with the number of the first line that does not fit."""
    results = list(_goals(text, what))
    if not results:
        raise Invalid(f"{what} has no goals", hint='{"id": "count", "goal": "count the notes", "answer": 3}')
    names = [goal.id for goal in results]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Invalid(f"{what} has two goals {twice!r}", hint="an id belongs to one goal")
    return results


def _goals(text: str, what: str) -> Iterator[SuiteGoal]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = read_json(line, what=f"line {number} of {what}")
        except InvalidJSON as error:
            raise Invalid(error.message, hint=error.hint) from error
        for fault in validate(value, LINE):
            raise Invalid(f"line {number} of {what} does not fit: {fault}", hint="`infospace help goals` shows one")
        assert isinstance(value, dict)  # noqa: S101 - the schema says so
        yield _goal(value)


def _goal(line: Mapping[str, Any]) -> SuiteGoal:
    calls = line.get("calls")
    return SuiteGoal(
        line["id"],
        line["goal"],
        line.get("answer"),
        line.get("compare", "exact" if "answer" in line else "none"),
        line.get("tolerance", 1e-9),
        line.get("inputs", {}),
        line.get("notes", ()),
        line.get("sample", False),
        [_tool(tool) for tool in line.get("tools", ())],
        None if calls is None else [GoldCall(call["tool"], call["arguments"]) for call in calls],
    )


def _tool(line: Mapping[str, Any]) -> DeclaredTool:
    return DeclaredTool(
        line["name"],
        line.get("description", ""),
        line.get("input_schema", {"type": "object"}),
        line.get("output_schema"),
        [CannedAnswer(one["result"], one.get("when", {})) for one in line["answers"]],
        line.get("changes", False),
    )
