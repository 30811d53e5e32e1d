"""A JSON Patch applied to the text of a document: what it does not touch stays as it was written."""

from __future__ import annotations

import json
import re
from typing import Any

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.json_source_map import JsonNode, Member, member_at, parts_of, spot_at, spot_of
from planner.language.problems import Patch

WIDE = 100
"""Characters of a line up to which a value that is put in stands on it."""
INDENT = "  "
"""How far what is inside stands in, where the text does not say."""


def patch_text(text: str, patch: Patch) -> str:
    """Return a text with a patch applied: `add`, `remove`, `replace`, `move`.

    The text must be JSON. Raises Invalid where the patch names a place that is not there.
    """
    for operation in patch:
        text = _applied(text, operation)
    return text


def changed_range(before: str, after: str) -> tuple[int, int, str]:
    """Return the smallest stretch of `before` whose replacement makes it `after`: start, end, and what replaces it."""
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    kept = 0
    while kept < most - start and before[-1 - kept] == after[-1 - kept]:
        kept += 1
    return start, len(before) - kept, after[start : len(after) - kept]


def _applied(text: str, operation: dict[str, Any]) -> str:
    path: str = operation["path"]
    match operation["op"]:
        case "remove":
            return _removed(text, path)
        case "replace":
            spot = _require_node(text, path)
            return _splice(text, spot.start, spot.end, _written(operation["value"], text, spot.start))
        case "add":
            return _added(text, path, operation["value"], None)
        case "move":
            return _moved(text, operation["from"], path)
    raise Invalid(f"the text cannot be patched by {operation['op']!r}", hint="add, remove, replace, move")


def _moved(text: str, source: str, path: str) -> str:
    if source == path:
        return text
    holder, _, _ = path.rpartition("/")
    member = member_at(spot_of(text), source)
    if member is not None and source.rpartition("/")[0] == holder and member_at(spot_of(text), path) is None:
        return _splice(text, member.start, member.end, json.dumps(parts_of(path)[-1], ensure_ascii=False))
    spot = _require_node(text, source)
    raw = _unindented(text, spot)
    return _added(_removed(text, source), path, spot.value, raw)


def _require_node(text: str, pointer: str) -> JsonNode:
    spot = spot_at(spot_of(text), pointer)
    if spot is None:
        raise Invalid(f"the patch names {pointer or 'the document'!r}, which is not there")
    return spot


def _splice(text: str, start: int, end: int, raw: str) -> str:
    return text[:start] + raw + text[end:]


# Out of it


def _removed(text: str, pointer: str) -> str:
    holder = _require_node(text, pointer.rpartition("/")[0])
    if not pointer:
        raise Invalid("the document itself cannot be removed")
    _require_node(text, pointer)
    bounds = _bounds(holder)
    index = _index(holder, parts_of(pointer)[-1])
    start, end = bounds[index]
    if index + 1 < len(bounds):
        return _splice(text, start, bounds[index + 1][0], "")
    if index:
        return _splice(text, bounds[index - 1][1], end, "")
    return _splice(text, holder.start + 1, holder.end - 1, "")


def _bounds(holder: JsonNode) -> list[tuple[int, int]]:
    """Return from where to where each member, or item, of a container is written."""
    if holder.kind == "object":
        return [(member.start, member.last) for member in holder.members]
    return [(item.start, item.end) for item in holder.items]


def _index(holder: JsonNode, part: str) -> int:
    if holder.kind == "object":
        return next(index for index, member in enumerate(holder.members) if member is holder.member(part))
    return int(part)


# Into it


def _added(text: str, pointer: str, value: JSON, raw: str | None) -> str:
    """Put a value in; `raw` is how it was written, without the indentation that it stood at."""
    if not pointer:
        return _written(value, text, 0)
    holder, part = _require_node(text, pointer.rpartition("/")[0]), parts_of(pointer)[-1]
    key = ""
    if holder.kind == "object":
        member = holder.member(part)
        if member is not None and member.value is not None:
            return _splice(text, member.value.start, member.value.end, _laid_out(value, raw, text, member))
        key = f"{json.dumps(part, ensure_ascii=False)}: "
    bounds = _bounds(holder)
    index = len(bounds) if holder.kind == "object" or part == "-" else int(part)
    if index > len(bounds) or holder.kind not in ("object", "array"):
        raise Invalid(f"the patch names {pointer!r}, which is not there")
    broken = _break(text, holder, bounds, value)
    inner = "" if broken is None else broken
    new = key + _shifted(value, raw, inner, len(inner) + len(key))
    if not bounds:
        closing = "" if broken is None else f"\n{_margin(text, holder.start)}"
        opening = "" if broken is None else f"\n{inner}"
        return _splice(text, holder.start + 1, holder.end - 1, opening + new + closing)
    between = ", " if broken is None else f",\n{inner}"
    if index == len(bounds):
        return _splice(text, bounds[-1][1], bounds[-1][1], between + new)
    return _splice(text, bounds[index][0], bounds[index][0], new + between)


def _laid_out(value: JSON, raw: str | None, text: str, member: Member) -> str:
    margin = _margin(text, member.start)
    return _shifted(value, raw, margin, member.end - member.start + len(margin))


def _break(text: str, holder: JsonNode, bounds: list[tuple[int, int]], value: JSON) -> str | None:
    """Return the indentation of what is inside a container of several lines, None for one of one line."""
    if bounds:
        gap = text[holder.start + 1 : bounds[0][0]]
        return gap.rpartition("\n")[2] if "\n" in gap else None
    margin = _margin(text, holder.start)
    alone = isinstance(value, (dict, list)) and value and "\n" in text
    return margin + _unit(text) if alone else None


def _written(value: JSON, text: str, start: int) -> str:
    margin = _margin(text, start)
    return _shifted(value, None, margin, start - text.rfind("\n", 0, start) - 1, _unit(text))


def _shifted(value: JSON, text: str | None, margin: str, taken: int, unit: str = INDENT) -> str:
    """Write a value that begins after `taken` characters of a line whose indentation is `margin`."""
    if text is not None:
        return text.replace("\n", f"\n{margin}")
    line = json.dumps(value, ensure_ascii=False)
    if taken + len(line) <= WIDE or not isinstance(value, (dict, list)):
        return line
    return json.dumps(value, ensure_ascii=False, indent=len(unit) or None).replace("\n", f"\n{margin}")


def _unindented(text: str, spot: JsonNode) -> str:
    """Return a value as it is written, its lines but the first without the indentation of the first."""
    margin = _margin(text, spot.start)
    lines = text[spot.start : spot.end].split("\n")
    return "\n".join([lines[0], *(line.removeprefix(margin) for line in lines[1:])])


def _margin(text: str, place: int) -> str:
    """Return the indentation of the line that a place stands on."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return how far the text indents what is inside: that of its first indented line."""
    match = re.search(r"\n( +|\t+)\S", text)
    return match[1] if match else INDENT
