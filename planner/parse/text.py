"""From text to JSON: which of the language's forms it is, and its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json, read_json_lines
from infospace.data.misspelling import closest_spelling
from planner.language.problems import Problem
from planner.parse.document import HEAD
from planner.parse.incremental_json import IncrementalDocument


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

    A text is JSON Lines when its first object has `type`, or is a head (`goal` or `inputs`, no steps) with lines after
    it; a head alone is a document, which lacks its steps. Raises InvalidJSON.
    """
    try:
        value = read_json(text)
    except InvalidJSON:
        if not _begins_with_line(text):
            raise
        return Lines(read_json_lines(text))
    return Lines(iter([(1, value)])) if is_line(value) and not is_head(value) else Document(value)


@dataclass(frozen=True, slots=True)
class PartialDocument:
    """A document of which the list of steps has begun, and more is to come."""

    text: bytes


def read_beginning(read: Callable[[], bytes]) -> Document | Lines | PartialDocument:
    """Read a plan as it comes, until it is known which form it has; `read` gives what is there, nothing at the end.

    Raises InvalidJSON.
    """
    arrived, first = IncrementalDocument(), True
    while chunk := read():
        arrived.feed(chunk)
        if arrived.is_plan:
            return PartialDocument(arrived.text)
        if first and b"\n" in chunk:
            text = arrived.text.lstrip()
            line, end, _ = text.partition(b"\n")
            if _begins_with_line(line):
                return Lines(read_json_lines(_lines(text, read)))
            first = not end
    return read_plan(arrived.text)


def _lines(text: bytes, read: Callable[[], bytes]) -> Iterator[bytes]:
    """Cut what comes into lines."""
    while True:
        *lines, text = text.split(b"\n")
        yield from lines
        chunk = read()
        if not chunk:
            yield text
            return
        text += chunk


def unreadable(error: InvalidJSON) -> Problem:
    """Return the one problem of a text that cannot be read."""
    return Problem("unreadable", error.pointer, error.message, error.hint)


def read_stream(stream: Iterable[bytes]) -> Document | Lines:
    """Read a plan from lines as they are written: a session's each as it comes, anything else to its end.

    Raises InvalidJSON; the lines of a session raise it when they are asked for.
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
    """Whether a value is a line of a session: a step, or a head.

    An object with its steps under another word (`step`, `actions`) is a document, of which that is wrong.
    """
    if not isinstance(value, dict) or "steps" in value or "plan" in value:
        return False
    return "type" in value or (is_head(value) and not any(map(_holds_steps, value.items())))


def is_head(value: JSON) -> bool:
    """Whether a value is the head of a session: it has `goal` or `inputs`, and is no step."""
    return isinstance(value, dict) and "type" not in value and ("goal" in value or "inputs" in value)


def _holds_steps(member: tuple[str, JSON]) -> bool:
    key, value = member
    if key in HEAD or not isinstance(value, list):
        return False
    return closest_spelling(key, ["steps", "plan"]) is not None or any(isinstance(one, dict) for one in value)


def _begins_with_line(text: str | bytes) -> bool:
    try:
        _, first = next(read_json_lines(text), (0, None))
    except InvalidJSON:
        return False
    return is_line(first)
