"""The grammar of plans as JSON Schema (2020-12): one flat union of steps told apart by `type`, closed throughout.

It says which fields there are and what may stand in them. Whether variables are bound, kinds fit and names exist is
for the check to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from infospace.contract.arguments import ParseMode
from infospace.contract.catalogue import Catalogue
from infospace.contract.decorator import Argument, Primitive
from infospace.schema.shapes import types_of
from planner.language.plan import LONGEST_WAIT
from planner.parse.conditions import JOINS, OPTIONAL, TESTS
from planner.parse.control_flow import FORMS
from planner.parse.document import BUDGET
from planner.parse.steps import CALLING

VARIABLE = {"type": "string", "pattern": r"^\$[A-Za-z_][A-Za-z0-9_]*$"}
REFERENCE = {"type": "string", "pattern": r"^\$[A-Za-z_]"}
STEPS = {"$ref": "#/$defs/steps"}
CONDITION = {"$ref": "#/$defs/condition"}
EXPRESSED = {"type": "string", "description": "an SQL condition over $variables: $spent > $budget AND $h.up = false"}

COMMON: Mapping[str, Any] = {
    "out": {**VARIABLE, "description": "gets the result"},
    "id": {"type": "string", "description": "a label instead of the step's number"},
    "name": {"type": "string", "description": "names, and so keeps, the result"},
    "replace": {"type": "boolean", "description": "takes the name from whoever has it"},
    "on_fail": {"anyOf": [{"enum": ["stop", "continue"]}, STEPS], "description": "stop, go on, or steps instead"},
    "retry": {
        "type": "object",
        "properties": {
            "attempts": {"type": "integer", "minimum": 1},
            "wait_s": {"type": "number", "minimum": 0},
            "backoff": {"type": "number", "minimum": 1},
        },
        "additionalProperties": False,
        "description": "attempts in all, seconds before the second, their factor after each",
    },
    "timeout_s": {"type": "number", "exclusiveMinimum": 0, "description": "seconds that the step may take"},
    "expect": {"type": "string", "description": "what you expect of it; shown beside the outcome"},
}
"""The fields that a step may have which makes calls of its own, but for `type`."""

AROUND: Mapping[str, Any] = {key: value for key, value in COMMON.items() if key != "retry"}
"""Those of a step that holds other steps."""

FIELDS: Mapping[str, Any] = {
    "condition": CONDITION,
    "until": CONDITION,
    "then": STEPS,
    "else": STEPS,
    "do": STEPS,
    "body": STEPS,
    "branches": {"type": "array", "items": STEPS, "minItems": 1},
    "target": {"type": "string", "description": "a Collection"},
    "as": {**VARIABLE, "description": "the item; $item without it"},
    "collect": {**VARIABLE, "description": "whose value each item gives; the body's last `out` without it"},
    "operation": {"$ref": "#/$defs/operation"},
    "filter_null": {"type": "boolean", "description": "false keeps a null where an item gave nothing"},
    "max_iterations": {"type": "integer", "minimum": 1, "description": "100 without it"},
    "seconds": {"anyOf": [{"type": "number", "minimum": 0, "maximum": LONGEST_WAIT}, REFERENCE]},
    "tool": {"type": "string", "pattern": "^[^/]+/.", "description": "a tool's full name, `server/tool`"},
    "arguments": {"type": "object", "description": "the tool's own arguments, by its schema"},
    "items": {"type": "string", "description": "the path of the list in an answer; the answer itself without it"},
    "next": {"type": "string", "description": "the path of the next page's cursor in an answer"},
    "first": {"description": "the first page: a number, or a cursor beside `next`"},
    "step": {"anyOf": [{"type": "integer", "minimum": 1}, REFERENCE], "description": "1 without it"},
    "max_pages": {"type": "integer", "minimum": 1, "description": "100 without it; needing more is a failure"},
    "value": {},
    "schema": {"type": "object", "description": "JSON Schema of the answer"},
    "status": {"enum": ["success", "failed"]},
}
"""The fields of the control forms."""


def grammar(catalogue: Catalogue, types: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the grammar of a document; with `types`, of one that has only these primitives."""
    entries = [entry for entry in catalogue if types is None or entry.type in set(types)]
    steps = [_form(name) for name in FORMS] + [_step(entry) for entry in entries] + [_tool(), _saved()]
    definitions: dict[str, Any] = {}
    for entry in entries:
        definitions |= entry.schema.get("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "goal": {"type": "string"},
            "inputs": {"type": "object", "additionalProperties": {"type": "object"}},
            "steps": STEPS,
            "result": {**REFERENCE, "description": "the plan's answer; the last value without it"},
            "budget": {
                "type": "object",
                "properties": {key: {"type": "number", "minimum": 0} for key in BUDGET},
                "additionalProperties": False,
            },
        },
        "required": ["steps"],
        "additionalProperties": False,
        "$defs": {
            "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}},
            "step": {"anyOf": steps},
            "operation": {"anyOf": [{"type": "string"}, *(_operation(entry) for entry in entries), _tool(bare=True)]},
            "condition": {
                "anyOf": [EXPRESSED, *(_test(name) for name in TESTS), *(_join(name) for name in JOINS)],
            },
            **definitions,
        },
    }


def _closed(type_: Any, properties: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"type": type_, **properties},
        "required": ["type", *required],
        "additionalProperties": False,
    }


def _form(name: str) -> dict[str, Any]:
    form = FORMS[name]
    own = {field: FIELDS[field] for field in (*form.required, *form.optional)}
    common = COMMON if name in CALLING else AROUND
    return {"description": form.summary, **_closed({"const": name}, {**own, **common}, form.required)}


def _step(entry: Primitive) -> dict[str, Any]:
    own = {argument.name: _argument(argument) for argument in entry.arguments.values()}
    common = {
        key: value for key, value in COMMON.items() if entry.out != "none" or key not in ("out", "name", "replace")
    }
    required = [argument.name for argument in entry.arguments.values() if argument.required]
    if entry.out == "required":
        required.append("out")
    return {"description": entry.summary, **_closed({"const": entry.type}, {**own, **common}, required)}


def _operation(entry: Primitive) -> dict[str, Any]:
    """The same without the fields of steps; the item stands in for the first resource."""
    own = {argument.name: _argument(argument) for argument in entry.arguments.values()}
    resources = [argument.name for argument in entry.arguments.values() if argument.reading is ParseMode.RESOURCE]
    required = [
        argument.name
        for argument in entry.arguments.values()
        if argument.required and argument.name not in resources[:1]
    ]
    return _closed({"const": entry.type}, own, required)


def _tool(*, bare: bool = False) -> dict[str, Any]:
    type_ = {"type": "string", "pattern": "^[^/]+/.", "description": "a tool's full name, `server/tool`"}
    own = {"arguments": {"type": "object", "description": "the tool's own arguments, by its schema"}}
    return _closed(type_, own if bare else {**own, **COMMON}, ())


def _saved() -> dict[str, Any]:
    type_ = {"type": "string", "pattern": "^plan:.", "description": "a saved plan"}
    return _closed(type_, {"arguments": {"type": "object", "description": "the plan's inputs"}, **AROUND}, ())


def _argument(argument: Argument) -> dict[str, Any]:
    """What may stand in an argument: what it admits, or a reference to it."""
    schema = {key: value for key, value in argument.schema.items() if key not in ("$defs", "title")}
    literal = argument.reading in (ParseMode.LITERAL, ParseMode.WHERE, ParseMode.EXPRESSION, ParseMode.SQL)
    if literal or "string" in types_of(argument.schema):
        return schema
    description = schema.pop("description", None)
    either = {"anyOf": [schema, REFERENCE]}
    return either if description is None else {**either, "description": description}


def _test(name: str) -> dict[str, Any]:
    fields = TESTS[name]
    kinds = {"pattern": {"type": "string"}, "schema": {"type": "object"}, "arguments": {"type": "object"}}
    return _closed(
        {"const": name},
        {field: kinds.get(field, {}) for field in fields},
        [field for field in fields if field not in OPTIONAL],
    )


def _join(name: str) -> dict[str, Any]:
    many = {"type": "array", "items": CONDITION, "minItems": 1, **({"maxItems": 1} if name == "not" else {})}
    return _closed({"const": name}, {"of": {"anyOf": [CONDITION, many]}}, ["of"])
