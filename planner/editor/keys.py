"""The keys that may stand in an object of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infospace.contract.arguments import ParseMode
from infospace.contract.decorator import Argument, Primitive
from infospace.contract.docs import format_argument_type
from infospace.core.tool import Tool
from infospace.schema.shapes import NoSuchPath, Schema, subschema_at, types_of
from infospace.schema.value_text import describe_schema
from planner.editor.context import CursorContext
from planner.editor.cursor import Cursor, EnclosingValue, value_of
from planner.editor.offers import Offer, key
from planner.editor.references import properties
from planner.parse.conditions import JOINS, TESTS
from planner.parse.control_flow import FORMS
from planner.parse.document import BUDGET
from planner.parse.grammar import COMMON, FIELDS
from planner.parse.steps import CALLING, SAVED

HEAD: Mapping[str, tuple[str, str]] = {
    "goal": ("text", "what the plan is for"),
    "inputs": ("object", "what it is given, by name: JSON Schemas, or kinds of resources"),
    "steps": ("steps", "what it does"),
    "result": ("reference", "the variable that is its answer; the last value without it"),
    "budget": ("object", "what it may spend"),
}
INPUT: Mapping[str, tuple[str, str]] = {
    "type": ("text", "the JSON type of the value"),
    "kind": ("text", "the kind of the resource, which is passed itself"),
    "default": ("value", "what it is where it is not given"),
    "description": ("text", "what it is, for people"),
    "enum": ("list", "the values that it may have"),
}
TEST: Mapping[str, tuple[str, str]] = {
    "target": ("reference", "what is looked at"),
    "value": ("value", "what it is compared with"),
    "pattern": ("text", "a pattern found anywhere in it unless anchored; RE2 syntax"),
    "schema": ("object", "the JSON Schema that it is to fit"),
    "tool": ("text", "a tool that only reads, and answers true or false"),
    "arguments": ("object", "the tool's arguments"),
    "of": ("value", "conditions"),
}
UNDER: Mapping[str, str] = {
    **dict.fromkeys(("then", "else", "do", "body"), "steps"),
    **dict.fromkeys(("out", "as", "collect"), "reference"),
    "branches": "branches",
    "condition": "condition",
    "until": "condition",
    "operation": "condition",
    "retry": "object",
    "type": "text",
}
"""What stands under fields of steps and forms, where their schemas do not tell."""


def keys(cursor: Cursor, around: CursorContext) -> Iterator[Offer]:
    """Offer the keys of the object that a cursor is in, but for those that it has."""
    holder = cursor.holder
    if holder is None:
        return
    there = {member.key for member in holder.spot.members if member is not cursor.member}
    for offer in _keys(cursor, holder, around):
        if offer.label not in there:
            yield offer


def _keys(cursor: Cursor, holder: EnclosingValue, around: CursorContext) -> Iterable[Offer]:
    match holder.role:
        case "document":
            return _key_offers(HEAD)
        case "input":
            return _key_offers(INPUT)
        case "budget":
            return [key(name, "value", "a number") for name in BUDGET]
        case "retry":
            return [key(name, "value", describe_schema(of)) for name, of in COMMON["retry"]["properties"].items()]
        case "step":
            return _of_step(around)
        case "operation":
            return _of_operation(around)
        case "condition":
            return _of_condition(holder)
    outer = cursor.nearest("arguments")
    if outer is not None:
        return _of_arguments(cursor, outer, around)
    return ()


def _key_offers(known: Mapping[str, tuple[str, str]]) -> Iterator[Offer]:
    for name, (under, about) in known.items():
        yield key(name, under, about=about)


def _of_step(around: CursorContext) -> Iterator[Offer]:
    type_ = around.type
    yield key("type", "text", about="what the step is: a primitive, a form, a tool, a saved plan")
    entry = around.catalogue.find(type_)
    if entry is not None:
        yield from (_argument(argument) for argument in _sorted(entry))
    elif type_ in FORMS:
        form = FORMS[type_]
        for name in (*form.required, *form.optional):
            yield _field(name, FIELDS[name], "" if name in form.required else "optional")
    elif type_:
        yield key("arguments", "object", about=f"the arguments of {type_}")
    for name, schema in COMMON.items():
        gives = entry is None or entry.out != "none"
        fits = name != "retry" or type_ in CALLING or not (type_ in FORMS or type_.startswith(SAVED))
        if gives or name not in ("out", "name", "replace"):
            yield _field(name, schema, "every step", fits=fits)


def _of_operation(around: CursorContext) -> Iterator[Offer]:
    yield key("type", "text", about="a primitive or a tool, done for each item")
    entry = around.catalogue.find(around.type)
    if entry is not None:
        yield from (_argument(argument) for argument in _sorted(entry))
    elif around.type:
        yield key("arguments", "object", about=f"the arguments of {around.type}")


def _of_condition(holder: EnclosingValue) -> Iterator[Offer]:
    type_ = value_of(holder.spot, "type")
    yield key("type", "text", about="which condition")
    fields: tuple[str, ...] = TESTS.get(type_, ()) if isinstance(type_, str) else ()
    fields = ("of",) if type_ in JOINS else fields
    for name in fields:
        under, about = TEST[name]
        yield key(name, "list" if name == "of" and type_ != "not" else under, about=about)


def _of_arguments(cursor: Cursor, outer: EnclosingValue, around: CursorContext) -> Iterator[Offer]:
    schema = arguments_schema(outer, around)
    inner = subschema_at(schema, cursor.below(outer))
    if inner is None or isinstance(inner, NoSuchPath):
        return
    required = inner.get("required", ())
    for name, of in sorted(properties(inner), key=lambda entry: entry[0] not in required):
        need = "" if name in required else "optional"
        yield key(name, _under(of), _join_nonempty(describe_schema(of), need), str(of.get("description", "")))


def arguments_schema(outer: EnclosingValue, around: CursorContext) -> Schema | None:
    """Return the schema of nested arguments: of a tool, or of the inputs of a saved plan. None where it is unknown."""
    tool = called(outer, around)
    if tool is not None:
        return tool.input_schema
    if around.type.startswith(SAVED):
        return _inputs(around.known.plan(around.type.removeprefix(SAVED)))
    return None


def called(outer: EnclosingValue, around: CursorContext) -> Tool | None:
    """Return the tool whose arguments these are, as far as its name is written."""
    condition = around.cursor.nearest("condition")
    holder = condition if condition is not None and outer.pointer.startswith(f"{condition.pointer}/") else around.call
    if holder is None:
        return None
    for name in ("tool", "type"):
        value = value_of(holder.spot, name)
        tool = around.catalogue.tools.find(value) if isinstance(value, str) and "/" in value else None
        if tool is not None:
            return tool
    return None


def _inputs(document: Any) -> Schema | None:
    inputs = document.get("inputs") if isinstance(document, dict) else None
    if not isinstance(inputs, dict):
        return None
    schemas = {name: of if isinstance(of, dict) and "kind" not in of else {"x-of": of} for name, of in inputs.items()}
    required = [name for name, of in inputs.items() if isinstance(of, dict) and "default" not in of]
    return {"type": "object", "properties": schemas, "required": required}


def _sorted(entry: Primitive) -> list[Argument]:
    return sorted(entry.arguments.values(), key=lambda argument: not argument.required)


def _argument(argument: Argument) -> Offer:
    under = _under(argument.schema)
    if argument.reading is ParseMode.RESOURCE:
        under = "reference"
    elif argument.reading is ParseMode.ITEMS:
        under = "value"
    need = "" if argument.required else "optional"
    return key(argument.name, under, _join_nonempty(format_argument_type(argument), need), argument.description)


def _field(name: str, schema: Mapping[str, Any], need: str, *, fits: bool = True) -> Offer:
    under = UNDER.get(name) or ("reference" if name == "target" else _under(schema))
    return key(
        name, under, _join_nonempty(describe_schema(schema), need), str(schema.get("description", "")), fits=fits
    )


def _under(schema: Schema) -> str:
    """Return what is written under a key whose value has a schema, where there is but one way to begin it."""
    if "enum" in schema or "const" in schema:
        return "text" if types_of(schema) == {"string"} else "value"
    types = types_of(schema) - {"null"}
    items = schema.get("items")
    if types == {"array"} and isinstance(items, Mapping) and types_of(items) == {"string"}:
        return "texts"
    return {frozenset({"string"}): "text", frozenset({"object"}): "object", frozenset({"array"}): "list"}.get(
        frozenset(types), "value"
    )


def _join_nonempty(kind: str, need: str) -> str:
    return ", ".join(word for word in (kind, need) if word)
