"""Where in a plan a place of its text is: in which step, condition or input, at a key or a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from infospace.core.json_types import JSON
from infospace.data.json_source_map import JsonNode, Member, parse_tolerant, path_to, spot_of, unquoted
from planner.language.problems import join
from planner.parse.text import is_head, is_line

Role: TypeAlias = Literal[
    "document",
    "inputs",
    "input",
    "budget",
    "steps",
    "branches",
    "step",
    "retry",
    "condition",
    "conditions",
    "operation",
    "arguments",
    "value",
]
"""What an object, an array or a value is in a plan. A `value` is one of the rest: an argument, a schema, a goal."""

BLOCKS = ("then", "else", "do", "body", "on_fail")


@dataclass(frozen=True, slots=True)
class EnclosingValue:
    """A value that a place lies in: what it is, where it stands, and under which key or index."""

    role: Role
    spot: JsonNode
    part: str | int | None
    pointer: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a plan.

    `at` is "key" in an object whose key is wanted, "value" where a value is; `key` is then the key or index that it
    stands under. `start` and `end` are where what stands there is written, `written` is what of it is before the
    place, `quoted` whether that is in quotes.
    """

    at: Literal["key", "value"]
    around: Sequence[EnclosingValue]
    key: str | int | None
    start: int
    end: int
    written: str
    quoted: bool
    member: Member | None = None
    """Of a key that is written: that one."""
    text: str = ""
    offset: int = 0
    between: str | None = None
    """Where a comma is missing, since this is behind a value: what stands between the value and what comes next."""

    @property
    def holder(self) -> EnclosingValue | None:
        """The object or array that it is directly in."""
        return self.around[-1] if self.around else None

    def nearest(self, *roles: Role) -> EnclosingValue | None:
        """Return the innermost of some roles that it is in."""
        return next((enclosing for enclosing in reversed(self.around) if enclosing.role in roles), None)

    def below(self, outer: EnclosingValue) -> tuple[str | int, ...]:
        """Return the keys and indexes on the way from something around it to the value, or to the key's object."""
        index = next(place for place, one in enumerate(self.around) if one is outer)
        parts = [enclosing.part for enclosing in self.around[index + 1 :] if enclosing.part is not None]
        if self.at == "value" and self.key is not None:
            parts.append(self.key)
        return tuple(parts)


def root_of(text: str) -> tuple[JsonNode | None, bool]:
    """Return the document of a text, and whether that is the array of the lines of a session."""
    results = parse_tolerant(text)
    first = next((spot for spot in results if spot.kind == "object"), None)
    several = sum(spot.kind == "object" for spot in results) > 1
    value = None if first is None else first.value
    lines = is_line(value) and (several or not is_head(value))
    return spot_of(text, lines=lines), lines


def cursor_at(text: str, offset: int, root: JsonNode | None, *, lines: bool, behind: bool) -> Cursor | None:
    """Return where a place is, None where nothing is to be written.

    Between a value and the end of what it is in that is so too, but with `behind`.
    """
    if root is None:
        return Cursor("value", (), None, offset, offset, "", False, None, text, offset)
    around = _around(root, offset, lines=lines)
    leaf = around.pop() if around and around[-1].spot.kind in ("string", "word") else None
    if leaf is not None:
        spot = leaf.spot
        raw = text[spot.start : offset]
        quoted = spot.kind == "string"
        raw = unquoted(raw) if quoted and offset > spot.start else raw
        return Cursor("value", around, leaf.part, spot.start, spot.end, raw, quoted, None, text, offset)
    if not around:
        return None
    result = _in_object(text, offset, around) if around[-1].spot.kind == "object" else _in_array(text, offset, around)
    return _after_last_value(text, offset, around) if result is None and behind else result


def _after_last_value(text: str, offset: int, around: list[EnclosingValue]) -> Cursor | None:
    """Return the place of what comes next behind the last value of an object or an array; of a key, also one begun."""
    spot = around[-1].spot
    keyed = spot.kind == "object"
    values = [member.value for member in spot.members] if keyed else spot.items
    last = values[-1] if values else None
    begin, end = _word_at(text, offset) if keyed else (offset, offset)
    start = len(text[:begin].rstrip())
    if last is None or not last.closed or last.end != start or text[end:].lstrip()[:1] not in ("", "]", "}"):
        return None
    key = None if keyed else len(values)
    raw = text[begin:offset]
    between = text[start:begin] or " "
    return Cursor("key" if keyed else "value", around, key, start, end, raw, False, None, text, offset, between)


def _in_object(text: str, offset: int, around: list[EnclosingValue]) -> Cursor | None:
    spot = around[-1].spot
    for member in spot.members:
        if member.start < offset <= member.end - member.closed:
            raw = unquoted(text[member.start : offset])
            return Cursor("key", around, None, member.start, member.end, raw, True, member, text, offset)
    before = next((member for member in reversed(spot.members) if member.end <= offset), None)
    if before is not None and before.value is None and before.colon is not None and before.colon < offset:
        return Cursor("value", around, before.key, offset, offset, "", False, None, text, offset)
    start, end = _word_at(text, offset)
    if _last_sign(text, start) in "{,":
        return Cursor("key", around, None, start, end, text[start:offset], False, None, text, offset)
    return None


def _word_at(text: str, offset: int) -> tuple[int, int]:
    """Return where the word without quotes begins and ends that a place lies in; both at the place without one."""
    start = offset
    while start and _in_word(text[start - 1]):
        start -= 1
    end = offset
    while end < len(text) and _in_word(text[end]):
        end += 1
    return start, end


def _in_word(sign: str) -> bool:
    return sign.isalnum() or sign in "_-"


def _in_array(text: str, offset: int, around: list[EnclosingValue]) -> Cursor | None:
    if _last_sign(text, offset) not in "[,":
        return None
    index = sum(item.start < offset for item in around[-1].spot.items)
    return Cursor("value", around, index, offset, offset, "", False, None, text, offset)


def _last_sign(text: str, offset: int) -> str:
    return text[:offset].rstrip()[-1:] or " "


def _around(root: JsonNode, offset: int, *, lines: bool) -> list[EnclosingValue]:
    results: list[EnclosingValue] = []
    for part, spot in path_to(root, offset):
        if not results:
            role: Role = "steps" if root.kind == "array" else "document"
            results.append(EnclosingValue(role, spot, None, ""))
            continue
        outer = results[-1]
        assert part is not None  # noqa: S101 - only the root has none
        role = _role(outer.role, part, spot)
        if lines and len(results) == 1 and part == 0 and is_head(spot.value):
            role = "document"
        results.append(EnclosingValue(role, spot, part, join(outer.pointer, part)))
    return results


def _role(outer: Role, part: str | int, spot: JsonNode) -> Role:
    """Return what a value is under a key or index of something around it."""
    inner: Role = "value"
    match outer, part:
        case "document", "steps" | "plan":
            inner = "steps"
        case "document", "inputs" | "budget":
            inner = "inputs" if part == "inputs" else "budget"
        case "inputs", _:
            inner = "input"
        case "steps", _:
            inner = "step"
        case "branches", _:
            inner = "steps"
        case "step", "then" | "else" | "do" | "body" | "on_fail":
            inner = "steps" if spot.kind == "array" else "value"
        case "step", "branches" | "condition" | "retry" | "operation":
            inner = part
        case "step", "until":
            inner = "condition"
        case "condition", "of":
            inner = "conditions" if spot.kind == "array" else "condition"
        case "conditions", _:
            inner = "condition"
        case "step" | "operation" | "condition", "arguments":
            inner = "arguments"
    return inner


def value_of(spot: JsonNode, name: str) -> JSON:
    """Return what stands under a key of an object, None where nothing does."""
    member = spot.member(name)
    return None if member is None or member.value is None else member.value.value
