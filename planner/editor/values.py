"""The values that may stand at a place of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infospace.contract.arguments import ParseMode
from infospace.contract.decorator import Argument
from infospace.contract.docs import effect_label
from infospace.core.ids import Kind
from infospace.data.paths import show_parts
from infospace.expressions.functions import AGGREGATES
from infospace.schema.references import resolved
from infospace.schema.shapes import TYPES, NoSuchPath, Schema, describe, format_types, subschema_at, types_of
from infospace.tools.answer_content import result_schema
from planner.editor.context import CursorContext
from planner.editor.cursor import Cursor, EnclosingValue, value_of
from planner.editor.keys import arguments_schema, called
from planner.editor.offers import CONDITION, PLAN, STEP, Offer, text, value
from planner.editor.references import item_places, properties, variables
from planner.language.plan import bindings
from planner.parse.conditions import JOINS, TESTS
from planner.parse.control_flow import FORMS
from planner.parse.grammar import COMMON, FIELDS
from planner.parse.saved_plans import PREFIX
from planner.parse.steps import SAVED

NAMES = 40
"""Names of the space that are offered at once, since each is looked up."""

PAGES = "pages"
CURSORS = frozenset({"string", "integer", "number"})
"""JSON types of cursors."""
DEEPEST = 3
"""Keys within keys of an answer that are offered."""


def values(cursor: Cursor, around: CursorContext) -> Iterator[Offer]:
    """Offer what may stand at a cursor where a value is wanted, references inside of texts apart."""
    holder = cursor.holder
    if holder is None:
        yield PLAN
        return
    match holder.role:
        case "steps":
            yield STEP
        case "branches":
            yield Offer("a branch", '[{"type": ""}]', about="a list of steps", back=3, again=True)
        case "conditions":
            yield CONDITION
        case "step" | "operation" | "condition" if cursor.key == "type":
            yield from _types(holder, around)
        case "document":
            yield from _of_document(cursor, around)
        case "input":
            yield from _of_input(cursor)
        case "condition":
            yield from _of_condition(cursor, holder, around)
        case "step" | "operation" | "value" | "arguments":
            yield from _of_call(cursor, around)


# Types


def _types(holder: EnclosingValue, around: CursorContext) -> Iterator[Offer]:
    if holder.role == "condition":
        for name, fields in TESTS.items():
            yield text(name, ", ".join(fields))
        for name in JOINS:
            yield text(name, "over conditions")
        return
    for entry in around.catalogue:
        yield text(entry.type, f"{effect_label(entry)} → {entry.returns}", entry.summary)
    for name, form in FORMS.items() if holder.role == "step" else ():
        yield text(name, "form", form.summary)
    yield from _tools(around)
    for name in around.known.names() if holder.role == "step" else ():
        if name.startswith(PREFIX):
            plan = name.removeprefix(PREFIX)
            document = around.known.plan(plan)
            goal = document.get("goal") if isinstance(document, dict) else None
            yield text(f"{SAVED}{plan}", "saved plan", goal if isinstance(goal, str) else "")


def _tools(around: CursorContext, *, reading: bool = False) -> Iterator[Offer]:
    for tool in around.catalogue.tools:
        detail = "tool, reads" if tool.read_only else "tool"
        yield text(tool.full_name, detail, tool.description, fits=tool.connected and (tool.read_only or not reading))


# Beside the steps


def _of_document(cursor: Cursor, around: CursorContext) -> Iterator[Offer]:
    if cursor.key == "result":
        yield from map(_quoted, variables(around.env))


def _of_input(cursor: Cursor) -> Iterator[Offer]:
    if cursor.key == "type":
        yield from (text(name) for name in TYPES)
    elif cursor.key == "kind":
        yield from (text(str(kind)) for kind in Kind)


def _of_condition(cursor: Cursor, holder: EnclosingValue, around: CursorContext) -> Iterator[Offer]:
    match cursor.key:
        case "target":
            yield from map(_quoted, variables(around.env))
        case "value":
            target = value_of(holder.spot, "target")
            if isinstance(target, str) and target.startswith("$"):
                shape = around.shape(target)
                yield from _by_schema(getattr(shape, "content", None) or {})
            yield from map(_quoted, variables(around.env))
        case "tool":
            yield from _tools(around, reading=True)


# In a step


def _of_call(cursor: Cursor, around: CursorContext) -> Iterator[Offer]:
    outer = cursor.nearest("arguments")
    if outer is not None:
        yield from _of_arguments(cursor, outer, around)
        return
    call = around.call
    if call is None:
        return
    below = cursor.below(call)
    name = str(below[0]) if below else ""
    entry = around.catalogue.find(around.type)
    if entry is not None and name in entry.arguments:
        yield from _of_argument(entry.arguments[name], below[1:], cursor, around)
    elif around.type in FORMS or name in COMMON:
        yield from _of_field(name, cursor, around)


def _of_arguments(cursor: Cursor, outer: EnclosingValue, around: CursorContext) -> Iterator[Offer]:
    schema = arguments_schema(outer, around)
    below = cursor.below(outer)
    subschema = subschema_at(schema, below) if schema is not None else None
    if isinstance(subschema, NoSuchPath):
        return
    of = subschema or {}
    kind = of.get("x-of", {}).get("kind") if isinstance(of.get("x-of"), dict) else None
    if isinstance(kind, str) and kind in list(Kind):
        yield from _resources(cursor, around, frozenset({Kind(kind)}))
        return
    yield from _by_schema(of)
    tool = called(outer, around)
    for example in tool.examples if tool is not None and len(below) == 1 else ():
        if below[0] in example:
            yield value(example[str(below[0])], "example")
    yield from map(_quoted, variables(around.env, schema=of or None))


def _of_argument(
    argument: Argument, below: Sequence[str | int], cursor: Cursor, around: CursorContext
) -> Iterator[Offer]:
    schema = argument.schema
    if argument.reading is ParseMode.RESOURCE:
        yield from _resources(cursor, around, argument.kinds)
    elif argument.reading is ParseMode.TOOL:
        yield from _tools(around)
    elif argument.reading is ParseMode.ITEMS:
        yield from map(_quoted, variables(around.env))
    elif argument.reading is ParseMode.LITERAL:
        yield from (text(name) for name in TYPES if below[-1:] == ("type",))
    elif has_format(schema, "aggregate"):
        yield from aggregates(around.targets(argument.within))
    elif has_format(schema, "path") or argument.reading is ParseMode.SORT_KEYS:
        yield from map(_quoted, item_places(around.targets(argument.within), ""))
    elif argument.reading not in (ParseMode.WHERE, ParseMode.EXPRESSION):
        yield from _by_schema(schema if not below else {})
        if not argument.required and not below and argument.default is not None:
            yield value(argument.default, "default")
        yield from map(_quoted, variables(around.env, schema=schema if not below else None))


def aggregates(shapes: Sequence[Any]) -> Iterator[Offer]:
    """Offer aggregates of the paths that items have."""
    yield text("count")
    paths = [offer.label for offer in item_places(shapes, "") if not offer.label.startswith(("@", "metadata"))]
    for function, (least, _, _) in AGGREGATES.items():
        yield from (text(f"{function}({path})") for path in paths if least <= 1)


def has_format(schema: Any, format_: str) -> bool:
    """Whether a schema has a format anywhere in it."""
    if isinstance(schema, Mapping):
        return schema.get("format") == format_ or any(has_format(inner, format_) for inner in schema.values())
    return isinstance(schema, list) and any(has_format(inner, format_) for inner in schema)


def _resources(cursor: Cursor, around: CursorContext, kinds: frozenset[Kind]) -> Iterator[Offer]:
    yield from map(_quoted, variables(around.env, kinds))
    if cursor.written.startswith("$"):
        return
    expected = cursor.written.casefold()
    names = (name for name in around.known.names() if not name.startswith("_") and expected in name.casefold())
    for name, _ in zip(names, range(NAMES), strict=False):
        shape = around.known.shape(name)
        if shape is not None:
            yield text(name, f"{describe(shape)}, by name", fits=bool(shape.kinds & kinds))
    for name, assigned in around.env.assigned_names.items():
        yield text(name, f"{describe(assigned.shape)}, named before", fits=bool(assigned.shape.kinds & kinds))


def _of_field(name: str, cursor: Cursor, around: CursorContext) -> Iterator[Offer]:
    match name:
        case "target":
            yield from _resources(cursor, around, frozenset({Kind.COLLECTION}))
        case "out" | "as":
            yield text(f"${_fresh(around, name)}")
        case "collect":
            yield from (text(f"${bound}") for bound in _bound_inside(around))
        case "on_fail":
            yield text("stop", about="the plan stops; so it is without `on_fail`")
            yield text("continue", about="the failure is passed over")
            yield Offer("steps", '[{"type": ""}]', "steps instead", back=3, again=True)
        case "tool":
            yield from _tools(around)
        case "items" | "next":
            yield from _answer_places(name, around)
        case "operation":
            for entry in around.catalogue:
                yield text(entry.type, effect_label(entry), entry.summary)
            yield from _tools(around)
        case _:
            schema = COMMON.get(name) or FIELDS.get(name) or {}
            yield from _by_schema(schema)
            if name in ("value", "name", "seconds", "first", "step"):
                yield from map(_quoted, variables(around.env))


def _answer_places(name: str, around: CursorContext) -> Iterator[Offer]:
    """Offer the places in a tool's answer that may be its list of items, or the cursor of its next page."""
    value = None if around.step is None else value_of(around.step.spot, "tool")
    tool = around.catalogue.tools.find(value) if isinstance(value, str) and "/" in value else None
    for path, schema in _places_below(None if tool is None else result_schema(tool), ()):
        types = types_of(schema)
        if "array" in types if name == "items" else types & CURSORS:
            yield text(show_parts(path), format_types(schema), str(schema.get("description", "")))


def _places_below(schema: Schema | None, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Iterate over the places that a schema names, as deep as answers have lists and cursors."""
    for key, inner in properties(schema) if schema is not None and len(path) < DEEPEST else ():
        yield (*path, key), inner
        yield from _places_below(inner, (*path, key))


def _fresh(around: CursorContext, name: str) -> str:
    """A name for what a step gives that nothing has."""
    item = "page" if around.type == PAGES else "item"
    base = item if name == "as" else around.type.rpartition("/")[2].rpartition(":")[2].rpartition("-")[2] or "x"
    base = "".join(sign if sign.isalnum() else "_" for sign in base)
    result, number = base, 2
    while result in around.env.variables:
        result, number = f"{base}{number}", number + 1
    return result


def _bound_inside(around: CursorContext) -> list[str]:
    """The variables that the body of a loop binds, the last first."""
    from planner.language.problems import Problems
    from planner.parse.steps import parse_block

    body = None if around.step is None else value_of(around.step.spot, "do")
    block = parse_block(body, "", Problems())
    return list(dict.fromkeys(name for name, _ in reversed(list(bindings(block)))))


def _by_schema(schema: Schema) -> Iterator[Offer]:
    """Offer the values that a schema lists."""
    for one in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        own = resolved(one, schema)
        if isinstance(own.get("enum"), list):
            yield from (value(each) for each in own["enum"])
        if "const" in own:
            yield value(own["const"])
        if own.get("type") == "boolean":
            yield from (value(each) for each in (True, False))
    if "default" in schema and schema["default"] is not None:
        yield value(schema["default"], "default")


def _quoted(offer: Offer) -> Offer:
    """Return an offer of what stands in a string, with the quotes."""
    return Offer(
        offer.label, f'"{offer.insert}"', offer.detail, offer.about, 1 if offer.again else 0, offer.again, offer.fits
    )
