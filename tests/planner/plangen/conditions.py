"""Conditions of every type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plangen.calls import content
from plangen.things import TEXT, Thing, several
from plangen.writer import Writer, anything


def condition(w: Writer, deep: int = 0) -> Any:
    """A condition of any type, as an object or as a text."""
    if deep < 2 and w.maybe(0.2):
        word = w.chance.choice(("and", "or", "not"))
        of = [condition(w, deep + 1) for _ in range(1 if word == "not" else 2)]
        return {"type": word, "of": of[0] if word == "not" and w.maybe(0.5) else of}
    return w.chance.choice(_TESTS)(w)


def _exists(w: Writer) -> dict[str, Any]:
    word = w.chance.choice(("bound", "notbound", "has_value", "empty"))
    return {"type": word, "target": _spot(w)}


def _spot(w: Writer) -> str:
    target = w.one(lambda t: t.kind in "NC?", w.record())
    if not target.startswith("$"):
        target = f"${w.make(w.record())}"
    if "[" not in target and isinstance(w.about(target).holds, Mapping) and w.maybe(0.6):
        return f"{target}.{w.path(target)[0]}"
    return target


def _same(w: Writer) -> dict[str, Any]:
    holds = content(w)
    return {"type": w.chance.choice(("equals", "not_equals")), "target": w.value(holds), "value": w.value(holds)}


def _ordered(w: Writer) -> dict[str, Any]:
    holds = w.chance.choice(("number", "text"))
    word = w.chance.choice(("greater_than", "less_than", *("gte", "lte") * 3, "lte"))
    return {"type": word, "target": w.value(holds), "value": w.value(holds)}


def _contains(w: Writer) -> dict[str, Any]:
    word = w.chance.choice(("contains", "not_contains"))
    holds = w.chance.choice(("text", "list", "object", "items"))
    if holds == "items":
        return {"type": word, "target": f"${w.make(several(TEXT))}", "value": w.one(anything, w.record())}
    target = w.value("text" if holds == "text" else "list" if holds == "list" else w.record().holds)
    return {"type": word, "target": target, "value": w.value("text")}


def _pattern(w: Writer) -> dict[str, Any]:
    pattern = w.chance.choice((r"\d+$", "^a", "one|two"))
    return {"type": "matches_pattern", "target": w.value("text"), "pattern": pattern}


def _validates(w: Writer) -> dict[str, Any]:
    schema = w.chance.choice(({"type": "object"}, {"type": "number"}, {"minLength": 2}))
    return {"type": "validates", "target": w.value(content(w)), "schema": schema}


def _expressed(w: Writer) -> str:
    holds = w.chance.choice(("number", "text"))
    left = w.value(holds)
    if not isinstance(left, str) or not left.startswith("$"):
        left = f"${w.make(Thing('N', holds))}"
    said = f"{left} {w.chance.choice(('=', '<>', '<', '<=', '>', '>='))} {_operand(w.value(holds))}"
    spot = _spot(w)
    more = (f"{spot} IS NOT NULL", f"coalesce({spot}, 1) = 1", "today() <= now()", f"{spot} IS NULL")
    if w.maybe(0.5):
        said = f"{said} {w.chance.choice(('AND', 'OR'))} {w.chance.choice(more)}"
    return f"NOT ({said})" if w.maybe(0.2) else said


def _operand(value: Any) -> str:
    """What an expression has in the place of a value of a plan."""
    if not isinstance(value, str):
        return str(value)
    if value.startswith("$") and not value.startswith("${"):
        return value
    return "'{}'".format(value.replace("'", "''"))


def _tool(w: Writer) -> dict[str, Any]:
    tool: dict[str, Any] = {"type": "tool_condition", "tool": "files/is_ready"}
    return tool | ({"arguments": {}} if w.maybe(0.3) else {})


_TESTS = (_exists, _exists, _expressed, _expressed, _same, _ordered, _contains, _pattern, _validates, _tool)
