"""Where in a text the values of a JSON document stand, also while it is being written.

The reading is tolerant: brackets, quotes, commas and values that are missing are missing in the tree too, and what
makes no sense is passed over. A text that `json_text` reads is read here as the same value. Places are characters,
0-based, ends excluded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from infospace.core.json_types import JSON
from infospace.data.json_text import MAX_DEPTH

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\[^\n])*(?:"|\\?)|[\[\]{},:]|[^\s\[\]{},:"]+')
_UNFINISHED_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")
_STRING = json.JSONDecoder(strict=False)

Kind: TypeAlias = Literal["object", "array", "string", "word"]


@dataclass(slots=True)
class Member:
    """A key of an object with its value, either of which may not be there yet."""

    key: str
    start: int
    end: int
    """Of the key, with its quotes."""
    closed: bool
    """Whether the key's closing quote is there."""
    colon: int | None = None
    value: JsonNode | None = None

    @property
    def last(self) -> int:
        """Where the member ends."""
        if self.value is not None:
            return self.value.end
        return self.end if self.colon is None else self.colon + 1


@dataclass(slots=True)
class JsonNode:
    """A value and where it stands. A `word` is a number, true, false, null, or something that is none of them."""

    kind: Kind
    start: int
    end: int
    closed: bool = True
    """Whether its last bracket or quote is there."""
    text: str = ""
    """Of a string or a word: as it is written."""
    members: list[Member] = field(default_factory=list)
    items: list[JsonNode] = field(default_factory=list)

    def member(self, key: str) -> Member | None:
        """Return the last member of that key, which is the one that counts."""
        return next((member for member in reversed(self.members) if member.key == key), None)

    @property
    def value(self) -> JSON:
        """The value as far as it is there; members without one are left out."""
        match self.kind:
            case "object":
                return {member.key: member.value.value for member in self.members if member.value is not None}
            case "array":
                return [item.value for item in self.items]
            case "string":
                return unquoted(self.text)
        try:
            result: JSON = json.loads(self.text)
        except (ValueError, RecursionError):
            return self.text
        return result

    def holds(self, offset: int) -> bool:
        """Whether a place is between its brackets or quotes, or for a word, at it."""
        if self.kind == "word":
            return self.start <= offset <= self.end
        return self.start < offset and (offset < self.end if self.closed else offset <= self.end)


def unquoted(text: str) -> str:
    """Return the text of a JSON string that may lack its closing quote."""
    inner = text[1:-1] if is_closed_string(text) else _UNFINISHED_ESCAPE.sub("", text[1:])
    try:
        result: str = _STRING.decode(f'"{inner}"')
    except ValueError:
        return inner
    return result


def is_closed_string(text: str) -> bool:
    """Whether a token that begins with a quote ends with the one that closes it."""
    if len(text) < 2 or not text.endswith('"'):
        return False
    slashes = len(text) - 1 - len(text[:-1].rstrip("\\"))
    return slashes % 2 == 0


def parse_tolerant(text: str) -> list[JsonNode]:
    """Return the values that stand one after the other in a text: one, or those of JSON Lines."""
    return _Reader(text).read()


def spot_of(text: str, *, lines: bool = False) -> JsonNode | None:
    """Return the document of a text; with `lines`, an array of its lines. None where there is no value at all.

    A Markdown code fence around it is no value.
    """
    results = [spot for spot in parse_tolerant(text) if not spot.text.startswith(("```", "~~~"))]
    if lines:
        return JsonNode("array", -1, len(text), closed=False, items=results)
    return next((spot for spot in results if spot.kind in ("object", "array")), results[0] if results else None)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[tuple[JsonNode, Member | None]] = []
        """Containers that are open, each with the member that waits for its value."""
        self._roots: list[JsonNode] = []
        self._too_deep = 0

    def read(self) -> list[JsonNode]:
        for match in _TOKEN.finditer(self._text):
            sign, at = match[0], match.start()
            if self._too_deep:
                self._too_deep += (sign in "[{") - (sign in "]}")
            elif sign in ("{", "["):
                self._opened("object" if sign == "{" else "array", at)
            elif sign in ("}", "]"):
                self._closed("object" if sign == "}" else "array", at)
            elif sign == ":":
                self._colon(at)
            elif sign == ",":
                self._expect(None)
            elif sign[0] == '"':
                self._string(sign, at)
            else:
                self._attach(JsonNode("word", at, match.end(), text=sign))
        while self._open:
            self._end(len(self._text), closed=False)
        return self._roots

    @property
    def _here(self) -> tuple[JsonNode | None, Member | None]:
        return self._open[-1] if self._open else (None, None)

    def _expect(self, member: Member | None) -> None:
        if self._open:
            self._open[-1] = (self._open[-1][0], member)

    def _opened(self, kind: Kind, at: int) -> None:
        if len(self._open) >= MAX_DEPTH:
            self._too_deep = 1
            return
        holder, member = self._here
        around = self._open[-2][0] if len(self._open) > 1 else None
        if holder is not None and holder.kind == "object" and member is None and around and around.kind == "array":
            self._end(at, closed=False)
        spot = JsonNode(kind, at, at + 1, closed=False)
        self._attach(spot)
        self._open.append((spot, None))

    def _closed(self, kind: Kind, at: int) -> None:
        if not any(spot.kind == kind for spot, _ in self._open):
            return
        while self._open[-1][0].kind != kind:
            self._end(at, closed=False)
        self._end(at + 1, closed=True)

    def _end(self, at: int, *, closed: bool) -> None:
        spot, _ = self._open.pop()
        spot.end, spot.closed = at, closed

    def _colon(self, at: int) -> None:
        _, member = self._here
        if member is not None and member.colon is None:
            member.colon = at

    def _string(self, token: str, at: int) -> None:
        holder, member = self._here
        if holder is not None and holder.kind == "object" and (member is None or member.colon is None):
            member = Member(unquoted(token), at, at + len(token), is_closed_string(token))
            holder.members.append(member)
            self._expect(member)
            return
        self._attach(JsonNode("string", at, at + len(token), is_closed_string(token), token))

    def _attach(self, spot: JsonNode) -> None:
        """Put a value where one was expected; in an object, one without a key has none to be found by."""
        holder, member = self._here
        if holder is None:
            self._roots.append(spot)
        elif holder.kind == "array":
            holder.items.append(spot)
        elif member is not None:
            member.value = spot
            self._expect(None)


def parts_of(pointer: str) -> list[str]:
    """Return the keys and indexes of a JSON pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def spot_at(root: JsonNode | None, pointer: str) -> JsonNode | None:
    """Return the value that a JSON pointer points at, None where there is none."""
    spot = root
    for part in parts_of(pointer):
        if spot is None:
            return None
        spot = _inside(spot, part)
    return spot


def member_at(root: JsonNode | None, pointer: str) -> Member | None:
    """Return the member that a JSON pointer points at the value of, None where that is none."""
    holder, _, _ = pointer.rpartition("/")
    spot = spot_at(root, holder) if pointer else None
    return spot.member(parts_of(pointer)[-1]) if spot is not None and spot.kind == "object" else None


def nearest_spot(root: JsonNode | None, pointer: str) -> JsonNode | None:
    """Return the value that a JSON pointer points at, or the innermost around it that is there."""
    spot = root
    for part in parts_of(pointer):
        inner = None if spot is None else _inside(spot, part)
        if inner is None:
            break
        spot = inner
    return spot


def _inside(spot: JsonNode, part: str) -> JsonNode | None:
    if spot.kind == "object":
        member = spot.member(part)
        return None if member is None else member.value
    if spot.kind == "array" and part.isdigit() and int(part) < len(spot.items):
        return spot.items[int(part)]
    return None


def path_to(root: JsonNode | None, offset: int) -> Iterator[tuple[str | int | None, JsonNode]]:
    """Iterate over the values that a place lies in, outermost first, each with its key or index in the one before."""
    part: str | int | None = None
    spot = root
    while spot is not None and spot.holds(offset):
        yield part, spot
        part, spot = _child(spot, offset)


def _child(spot: JsonNode, offset: int) -> tuple[str | int | None, JsonNode | None]:
    for member in spot.members:
        if member.value is not None and member.value.holds(offset):
            return member.key, member.value
    for index, item in enumerate(spot.items):
        if item.holds(offset):
            return index, item
    return None, None
