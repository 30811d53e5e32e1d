"""The control forms: their fields, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.data.paths import a_kind
from infospace.schema.value_text import shown
from planner.language.plan import (
    Ask,
    ForEach,
    If,
    Map,
    Pages,
    Parallel,
    SavedPlanCall,
    Step,
    Stop,
    Wait,
    While,
    no_wait,
)
from planner.language.problems import join
from planner.language.references import NAME
from planner.parse.fields import COMMON, SAVED, Fields, nested
from planner.parse.schemas import check_schema

__all__ = ["COMMON", "FORMS", "Form", "read_form"]

Read: TypeAlias = "If | While | ForEach | Map | Pages | Parallel | Wait | Ask | Stop"


@dataclass(frozen=True, slots=True)
class Form:
    """A control form: the fields it needs, those it may have, what it is for, an example, and how it is read."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    summary: str
    example: Mapping[str, Any]
    read: Callable[[Fields], Read | None]
    dropped: tuple[str, ...] = ()
    """Fields that plans for earlier runtimes give it, and that it does without."""
    nests: bool = False
    """Whether what is none of its fields belongs into `arguments`."""


def read_form(type_: str, fields: Fields) -> Read | None:
    """Return a control form, or None when a field without which it means nothing is missing or wrong.

    Blocks are read all the same, so that what is wrong in them is said too.
    """
    form, suggestion = FORMS[type_], frozenset[str]()
    if type_ != "map" or not isinstance(fields.raw.get("operation"), str):
        suggestion = fields.report_unknown(type_, (*form.required, *form.optional), form.dropped, nests=form.nests)
    missing = [key for key in form.required if key not in fields.raw]
    for key in (key for key in missing if key not in suggestion):
        fields.problems.error("missing-argument", fields.pointer, f"{type_} needs {key!r}", _WANTED[key])
    if not missing:
        return form.read(fields)
    fields.all_blocks()
    return None


def _if(fields: Fields) -> If:
    fields.forbid_result_name("if", "give it to the steps in `then` and `else`")
    return If(fields.condition(), fields.block("then"), fields.block("else"))


def _while(fields: Fields) -> While:
    fields.forbid_result_name("while", "give it to the steps in `body`")
    return While(fields.condition(), fields.block("body"), fields.whole_number("max_iterations", 100))


def _for_each(fields: Fields) -> ForEach:
    as_ = fields.variable("as")
    body = fields.block("do")
    collect = fields.variable("collect")
    until = fields.condition("until") if "until" in fields.raw else None
    return ForEach(fields.raw["target"], as_ or "item", body, collect, fields.flag("filter_null", True), until)


def _map(fields: Fields) -> Map | ForEach | None:
    operation, place = fields.raw["operation"], join(fields.pointer, "operation")
    keep = fields.flag("filter_null", True)
    if isinstance(operation, str):
        stray = _report_stray_arguments(operation, fields)
        if operation.startswith(SAVED):
            return _map_of_plan(
                fields, SavedPlanCall(operation.removeprefix(SAVED), {}, mapped=True, called=place), place
            )
        return Map(fields.raw["target"], operation, stray, place, named=True, filter_null=keep)
    if not isinstance(operation, dict) or not isinstance(operation.get("type"), str):
        message = "`operation` is a primitive's name, or an object with a `type`"
        other = next(
            (key for key in ("tool", "name", "operation") if isinstance(operation, dict) and key in operation), ""
        )
        fix = [{"op": "move", "from": join(place, other), "path": join(place, "type")}] if other else None
        fields.problems.error("bad-value", place, message, '{"type": "pluck", "field": "title"}', fix)
        return None
    if operation["type"] in FORMS:
        message = f"`{operation['type']}` is a control form and cannot be mapped"
        hint = "`for-each` runs any steps for each item"
        fields.problems.error("bad-value", join(place, "type"), message, hint)
        return None
    for key in COMMON[1:]:
        if key in operation:
            message = f"the operation of `map` has no `{key}`"
            fix = [{"op": "remove", "path": join(place, key)}]
            if key not in fields.raw:
                fix = [{"op": "move", "from": join(place, key), "path": join(fields.pointer, key)}]
            fields.problems.error("unwanted-out", join(place, key), message, "write it on the `map` step", fix)
    arguments = {key: value for key, value in operation.items() if key not in COMMON}
    if "/" in operation["type"]:
        arguments = {"arguments": nested(operation["type"], operation, place, fields.problems)}
    if operation["type"].startswith(SAVED):
        values = nested(operation["type"], operation, place, fields.problems)
        return _map_of_plan(fields, SavedPlanCall(operation["type"].removeprefix(SAVED), values, mapped=True), place)
    return Map(fields.raw["target"], operation["type"], arguments, place, filter_null=keep)


def _map_of_plan(fields: Fields, operation: SavedPlanCall, place: str) -> ForEach:
    """A `map` of a saved plan, which has steps of its own, is a loop with that one step."""
    if "retry" in fields.raw:
        at = join(fields.pointer, "retry")
        message = f"`retry` repeats one call, and 'plan:{operation.name}' is a saved plan of several steps"
        fix = [{"op": "remove", "path": at}]
        fields.problems.error("bad-value", at, message, "write it on the steps inside", fix)
    out = fields.raw.get("out")
    name = out[1:] if isinstance(out, str) and NAME.fullmatch(out[1:]) else "item"
    step = Step(place, "1", f"{SAVED}{operation.name}", operation, out=name)
    return ForEach(fields.raw["target"], "item", (step,), name, fields.flag("filter_null", True))


def _report_stray_arguments(operation: str, fields: Fields) -> Mapping[str, JSON]:
    """Say that arguments which stand beside an operation's name stand in it; return them."""
    stray = [key for key in fields.raw if key not in (*COMMON, "target", "operation", "filter_null")]
    if not stray:
        return {}
    place = join(fields.pointer, "operation")
    whole = {"type": operation, **{key: fields.raw[key] for key in stray}}
    fix = [{"op": "replace", "path": place, "value": whole}]
    fix += [{"op": "remove", "path": join(fields.pointer, key)} for key in stray]
    message = f"the arguments of {operation} stand in `operation`, not beside it"
    fields.problems.error("unknown-argument", join(fields.pointer, stray[0]), message, dump(whole), fix)
    return {key: fields.raw[key] for key in stray}


def _pages(fields: Fields) -> Pages | None:
    by_cursor, tool = "next" in fields.raw, fields.raw["tool"]
    good = _one_way(fields, by_cursor=by_cursor)
    if not isinstance(tool, str) or "/" not in tool or "$" in tool:
        message = f"`tool` is a tool's full name, not {shown(tool)}"
        fields.problems.error("bad-value", join(fields.pointer, "tool"), message, '"server/tool"')
        good = False
    arguments = fields.raw.get("arguments", {})
    if not isinstance(arguments, dict):
        message = f"`arguments` is an object, not {a_kind(arguments)}"
        fields.problems.error("bad-value", join(fields.pointer, "arguments"), message)
        good = False
    if not by_cursor:
        good = _number(fields, "first", None) and _number(fields, "step", 1) and good
    as_, items, next_ = fields.variable("as"), fields.path("items"), fields.path("next")
    most = fields.whole_number("max_pages", 100)
    if not good or any(key in fields.raw and path is None for key, path in (("items", items), ("next", next_))):
        return None
    has_first, first, step = "first" in fields.raw, fields.raw.get("first"), fields.raw.get("step", 1)
    return Pages(str(tool), dict(arguments), as_ or "page", items, next_, has_first, first, step, most)


def _one_way(fields: Fields, *, by_cursor: bool) -> bool:
    """Say whether it is told how the next page is asked for, and in one way alone."""
    if by_cursor and "step" in fields.raw:
        message = "`pages` goes on by the cursor at `next`, or by numbers from `first` in steps of `step`, not by both"
        fields.problems.error("bad-value", join(fields.pointer, "step"), message, "leave out `next` or `step`")
        return False
    if not by_cursor and "first" not in fields.raw:
        message = "`pages` needs `next`, where the cursor of the next page is in an answer, or `first`, a number"
        fields.problems.error("missing-argument", fields.pointer, message, '"next": "next_cursor", or "first": 1')
        return False
    return True


def _number(fields: Fields, key: str, least: int | None) -> bool:
    """Say whether a field is a whole number, or a reference to one, which the check follows."""
    value = fields.raw.get(key, 1)
    if isinstance(value, str) and value.startswith("$"):
        return True
    if isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least):
        return True
    bound = "" if least is None else f" from {least}"
    message = f"`{key}` is a whole number{bound}, not {shown(value)}"
    hint = '"next" where `first` is a cursor' if key == "first" and isinstance(value, str) else None
    fields.problems.error("bad-value", join(fields.pointer, key), message, hint)
    return False


def _parallel(fields: Fields) -> Parallel:
    fields.forbid_result_name("parallel", "give it to the steps in `branches`")
    branches = fields.blocks("branches")
    if not branches and isinstance(fields.raw["branches"], list):
        fields.problems.error("bad-value", join(fields.pointer, "branches"), "`parallel` has at least one branch")
    return Parallel(branches)


def _wait(fields: Fields) -> Wait | None:
    fields.forbid_result_name("wait", "leave it out")
    if ("condition" in fields.raw) == ("seconds" in fields.raw):
        message = "`wait` has either a `condition` or `seconds`"
        fields.problems.error("missing-argument", fields.pointer, message, '"seconds": 5')
        return None
    if "condition" in fields.raw:
        return Wait(fields.condition(), None)
    seconds = fields.raw["seconds"]
    fault = no_wait(seconds)
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and fault is not None:
        fields.problems.error("bad-value", join(fields.pointer, "seconds"), fault, '"seconds": 5')
    return Wait(None, seconds)


def _ask(fields: Fields) -> Ask:
    schema = fields.raw.get("schema")
    if schema is not None and not check_schema(schema, join(fields.pointer, "schema"), fields.problems):
        schema = None
    return Ask(fields.raw["value"], schema if isinstance(schema, dict) else None)


def _stop(fields: Fields) -> Stop:
    fields.forbid_result_name("stop", "its `value` is the plan's answer")
    status = fields.raw.get("status", "success")
    if status not in ("success", "failed"):
        place = join(fields.pointer, "status")
        fields.problems.error("bad-value", place, f'`status` is "success" or "failed", not {shown(status)}')
    return Stop("failed" if status == "failed" else "success", fields.raw.get("value"))


FORMS: Mapping[str, Form] = {
    "if": Form(
        ("condition", "then"),
        ("else",),
        "One list of steps or the other.",
        {"type": "if", "condition": {"type": "empty", "target": "$hits"}, "then": [{"type": "say", "value": "none"}]},
        _if,
    ),
    "while": Form(
        ("condition", "body"),
        ("max_iterations",),
        "Steps again and again as long as the condition holds; the body must change what it reads.",
        {
            "type": "while",
            "condition": "$n < 5",
            "body": [{"type": "size", "target": "$found", "out": "$n"}],
        },
        _while,
    ),
    "for-each": Form(
        ("target", "do"),
        ("as", "collect", "filter_null", "until"),
        "Steps for each item, in a scope of their own; gives a Collection of what each collects. The item "
        "after which the condition `until` holds is the last.",
        {
            "type": "for-each",
            "target": "$hits",
            "as": "$hit",
            "do": [{"type": "create-note", "value": "${hit.metadata.title}", "out": "$line"}],
            "out": "$lines",
        },
        _for_each,
    ),
    "map": Form(
        ("target", "operation"),
        ("filter_null",),
        "One primitive or tool for each item, which is its first resource, or `$item`; gives a Collection.",
        {"type": "map", "target": "$hits", "operation": {"type": "load", "slice": ":200"}, "out": "$openings"},
        _map,
    ),
    "pages": Form(
        ("tool",),
        ("arguments", "as", "items", "next", "first", "step", "max_pages"),
        "A tool until it has no more: `$page` is the cursor at `next` in the answer before, or a number from `first` "
        "on; gives a Collection of all that answers list at `items`.",
        {
            "type": "pages",
            "tool": "tracker/issues",
            "arguments": {"cursor": "$page"},
            "items": "issues",
            "next": "page_info.end_cursor",
            "out": "$issues",
        },
        _pages,
        nests=True,
    ),
    "parallel": Form(
        ("branches",),
        (),
        "Lists of steps that do not depend on one another.",
        {
            "type": "parallel",
            "branches": [
                [{"type": "discover-notes", "query": "costs", "out": "$costs"}],
                [{"type": "discover-notes", "query": "risks", "out": "$risks"}],
            ],
        },
        _parallel,
    ),
    "wait": Form(
        (),
        ("condition", "seconds"),
        "Until a condition holds, or for some seconds.",
        {"type": "wait", "seconds": 5},
        _wait,
    ),
    "ask": Form(
        ("value",),
        ("schema",),
        "A question to a person; gives the answer.",
        {"type": "ask", "value": "Publish ${title}?", "schema": {"type": "boolean"}, "out": "$yes"},
        _ask,
        ("target",),
    ),
    "stop": Form(
        (),
        ("status", "value"),
        "End the plan on purpose, with an answer.",
        {"type": "stop", "status": "failed", "value": "nothing was found"},
        _stop,
    ),
}
"""The control forms by name."""

_WANTED = {
    "condition": '"$n > 3", or {"type": "empty", "target": "$hits"}',
    "then": "a list of steps",
    "body": "a list of steps",
    "target": "the Collection to go over",
    "do": "a list of steps",
    "operation": "a primitive's name, or an object with a `type`",
    "branches": "a list of lists of steps",
    "value": "the question",
    "tool": "a tool's full name: `server/tool`",
}
