"""Where in a front matter each value stands, by the marks of the YAML parser's events.

A block's own end mark lies behind the comments that follow it; here a block ends where its last value does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Place:
    """A value from `start` to `end`, in characters; an anchor or tag before it belongs to it.

    `kind` is `scalar`, `alias`, `list` or `mapping`; `style` is the sign of a scalar that has one (`"`, `'`, `|` or
    `>`); `flow` says that a list or mapping is in brackets, which open before `inside`. `items` are those of a list,
    or a mapping's values with their keys.
    """

    kind: str
    start: int
    end: int
    style: str = ""
    flow: bool = False
    inside: int = 0
    items: list[tuple[Place | None, Place]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written where the value would stand, which is null."""
        return self.kind == "scalar" and self.start == self.end and not self.style


def places(block: str) -> Place | None:
    """Return the place of the one value of a block of YAML that can be read; None where it has none."""
    from ruamel.yaml import YAML

    events = iter(YAML(typ="safe", pure=True).parse(block))
    first = next(event for event in events if _kind(event) not in ("StreamStart", "DocumentStart"))
    return None if _kind(first) == "StreamEnd" else _Reader(block, events).value(first)


class _Reader:
    def __init__(self, block: str, events: Iterator[Any]) -> None:
        self._block = block
        self._events = events

    def value(self, event: Any) -> Place:
        kind, start, end = _kind(event), event.start_mark.index, event.end_mark.index
        if kind == "Alias":
            return Place("alias", start, end)
        if kind == "Scalar":
            style = event.style or ""
            return Place("scalar", start, self._end_of_block_scalar(start, end) if style in ("|", ">") else end, style)
        result = Place("list" if kind == "SequenceStart" else "mapping", start, end, "", bool(event.flow_style), end)
        closing = self._members(result)
        if result.flow:
            result.end = closing.end_mark.index
        elif result.items:
            result.end = result.items[-1][1].end
        return result

    def _members(self, result: Place) -> Any:
        """Read the items of a list or mapping, and return the event that ends it."""
        for event in self._events:
            if _kind(event) in ("SequenceEnd", "MappingEnd"):
                return event
            key = self.value(event) if result.kind == "mapping" else None
            value = self.value(next(self._events) if key else event)
            if key and value.is_empty:
                value.start = value.end = self._after_colon(key.end)
            result.items.append((key, value))
        raise AssertionError("the events of a list or mapping end with one of their own")

    def _after_colon(self, end: int) -> int:
        """Return where the value of a key would begin: the mark of none lies behind what follows it."""
        colon = re.compile(r"\s*:").match(self._block, end)
        return colon.end() if colon else end

    def _end_of_block_scalar(self, start: int, end: int) -> int:
        """Return the end of the last line of the text, without the empty lines after it where they say nothing."""
        header = self._block[start:end].partition("\n")[0]
        text = self._block[start:end]
        return start + len(text.removesuffix("\n") if "+" in header.partition(" #")[0] else text.rstrip(" \n"))


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")
