"""From text to JSON: which of the language's forms it is, and its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from infospace.errors import Unreadable
from infospace.jsontext import read_json, read_json_lines
from infospace.jsonvalue import JSON


@dataclass(frozen=True, slots=True)
class Document:
    """A plan that arrived whole."""

    value: JSON


@dataclass(frozen=True, slots=True)
class Lines:
    """A session: JSON Lines, each checked and run before the next. Numbers are 1-based lines of the text."""

    lines: Iterator[tuple[int, JSON]]


def read_plan(text: str | bytes) -> Document | Lines:
    """Read a plan in any form: an object with `steps` or `plan`, an array of steps, or JSON Lines.

    A text is JSON Lines when its first object has `type`, or is a head (`goal` or `inputs`, no steps).
    Raises Unreadable.
    """
    try:
        value = read_json(text)
    except Unreadable:
        if not _begins_with_line(text):
            raise
        return Lines(read_json_lines(text))
    return Lines(iter([(1, value)])) if is_line(value) else Document(value)


def read_stream(stream: Iterable[bytes]) -> Document | Lines:
    """Read a plan from lines as they are written: a session's each as it comes, anything else to its end.

    Raises Unreadable; the lines of a session raise it when they are asked for.
    """
    lines = iter(stream)
    first = b""
    for line in lines:
        first += line
        if line.strip():
            break
    if _begins_with_line(first):
        return Lines(read_json_lines(chain([first.lstrip()], lines)))
    return read_plan(first + b"".join(lines))


def is_line(value: JSON) -> bool:
    """Whether a value is a line of a session: a step, or a head."""
    if not isinstance(value, dict) or "steps" in value or "plan" in value:
        return False
    return "type" in value or is_head(value)


def is_head(value: JSON) -> bool:
    """Whether a value is the head of a session: it has `goal` or `inputs`, and is no step."""
    return isinstance(value, dict) and "type" not in value and ("goal" in value or "inputs" in value)


def _begins_with_line(text: str | bytes) -> bool:
    try:
        _, first = next(read_json_lines(text), (0, None))
    except Unreadable:
        return False
    return is_line(first)
