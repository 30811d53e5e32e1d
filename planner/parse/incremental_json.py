"""What of a plan's document has arrived: the steps that are complete, found by their brackets while the text grows.

Only brackets and strings are followed here, each byte once; values are read as any JSON. Whether the whole is JSON
is for the reader of the whole to say.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json

_MARK = re.compile(rb'["\[\]{},:]')
_TEXT = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
"""The inside of a string, up to its end or to a backslash that nothing follows yet."""
_PASSED = re.compile(rb'[^"\[\]{}]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"\[\]{}]*)*', re.DOTALL)
"""All up to a bracket, or to a string that has not ended."""
_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:(?:`{3,}|~{3,})[^\n`]*\n\s*)?")
"""What may stand before the document: a byte order mark, and the opening of a Markdown code fence."""
_QUOTE, _BACKSLASH = 0x22, 0x5C
_OPENING, _CLOSING = b"[{", b"]}"
_LISTS = ("steps", "plan")


class Place(Enum):
    """How far a document has come."""

    BEFORE = auto()
    HEAD = auto()
    STEPS = auto()
    TAIL = auto()
    CLOSED = auto()
    ASTRAY = auto()
    """It is no plan as far as can be seen; nothing more is found in it."""


class IncrementalDocument:
    """The bytes of a document up to now, and what is complete in them.

    `head` are the keys that came before the steps, `steps` the steps; `pointer` is that of the list of steps.
    """

    def __init__(self) -> None:
        self.place = Place.BEFORE
        self.head: dict[str, JSON] = {}
        self.steps: list[JSON] = []
        self.pointer = ""
        self._bytes = bytearray()
        self._at = 0
        self._depth = 0
        self._list = 0
        """How deep the list of steps stands."""
        self._string: int | None = None
        """Where the string began that is being read."""
        self._key: tuple[int, int] | None = None
        self._start = 0
        """Where the value began that is being read: of a key of the head, or a step."""
        self._label: str | None = None

    @property
    def text(self) -> bytes:
        """The text that has arrived so far."""
        return bytes(self._bytes)

    @property
    def is_plan(self) -> bool:
        """Whether its list of steps has begun: it is a document, and no session."""
        return self.place in (Place.STEPS, Place.TAIL) or (self.place is Place.CLOSED and self._list > 0)

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._bytes += chunk
        try:
            self._follow()
        except InvalidJSON:
            self.place = Place.ASTRAY

    def _follow(self) -> None:
        if self.place is Place.BEFORE:
            self._begin()
        while self.place not in (Place.BEFORE, Place.CLOSED, Place.ASTRAY):
            if self._string is not None and not self._through_string(self._string):
                return
            if self._inside:
                passed = _PASSED.match(self._bytes, self._at)
                self._at = self._at if passed is None else passed.end()
            match = _MARK.search(self._bytes, self._at)
            if match is None:
                self._plain(self._at, len(self._bytes))
                self._at = len(self._bytes)
                return
            self._plain(self._at, match.start())
            self._at = match.end()
            self._consume(bytes(match[0]), match.start())

    @property
    def _inside(self) -> bool:
        """Whether only brackets count: inside a step, or a value of the head, or after the steps."""
        return self._depth > (1 if self.place is Place.HEAD else self._list) or self.place is Place.TAIL

    def _begin(self) -> None:
        before = _BEFORE.match(self._bytes)
        at = 0 if before is None else before.end()
        if at == len(self._bytes):
            return
        first = bytes(self._bytes[at : at + 1])
        if first in (b"`", b"~", b"\xef"):
            return
        if first not in (b"[", b"{"):
            self.place = Place.ASTRAY
            return
        self.place = Place.STEPS if first == b"[" else Place.HEAD
        self._list = 1 if first == b"[" else 0
        self._at, self._depth = at + 1, 1

    def _through_string(self, start: int) -> bool:
        """Go to the end of a string; return whether it is there."""
        match = _TEXT.match(self._bytes, self._at)
        self._at = self._at if match is None else match.end()
        if self._at == len(self._bytes) or self._bytes[self._at] == _BACKSLASH:
            return False
        self._at += 1
        self._string = None
        if self.place is Place.HEAD and self._depth == 1 and self._label is None:
            self._key = (start, self._at)
        return True

    def _plain(self, start: int, end: int) -> None:
        """Pass over what is neither a bracket nor a string: in the list of steps nothing but space may stand."""
        if self.place is Place.STEPS and self._depth == self._list and self._bytes[start:end].strip():
            self.place = Place.ASTRAY

    def _consume(self, mark: bytes, at: int) -> None:
        if self.place is Place.ASTRAY:
            return
        if mark == b'"':
            self._string = at
        elif mark in _OPENING:
            self._depth += 1
        elif mark in _CLOSING:
            self._depth -= 1
        match self.place:
            case Place.HEAD:
                self._in_head(mark, at)
            case Place.STEPS:
                self._in_steps(mark, at)
        if self._depth == 0:
            self.place = Place.CLOSED

    def _in_head(self, mark: bytes, at: int) -> None:
        if mark == b":" and self._depth == 1 and self._label is None and self._key is not None:
            self._label = str(read_json(bytes(self._bytes[slice(*self._key)])))
            self._key, self._start = None, self._at
        elif mark == b"[" and self._depth == 2 and self._label in _LISTS and not self._bytes[self._start : at].strip():
            self.place, self._list, self.pointer = Place.STEPS, 2, f"/{self._label}"
        elif self._label is not None and (self._depth, mark) in ((1, b","), (0, b"}")):
            self.head[self._label] = read_json(bytes(self._bytes[self._start : at]))
            self._label = None

    def _in_steps(self, mark: bytes, at: int) -> None:
        if self._depth == self._list + 1 and mark == b"{":
            self._start = at
        elif self._depth == self._list and mark == b"}":
            self.steps.append(read_json(bytes(self._bytes[self._start : self._at])))
        elif self._depth < self._list:
            self.place = Place.TAIL
        elif (self._depth == self._list and mark != b",") or (self._depth == self._list + 1 and mark == b"["):
            self.place = Place.ASTRAY
