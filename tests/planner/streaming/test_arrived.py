"""What of a document is complete, byte by byte while it arrives."""

from __future__ import annotations

import json
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.parse.incremental_json import IncrementalDocument, Place
from planner.parse.text import Document, Lines, PartialDocument, read_beginning

TEXTS = st.text(alphabet='ab"\\/{}[]:, \n\té€😀', max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
STEPS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=4)
HEADS = st.dictionaries(st.sampled_from(["goal", "inputs", "budget", 'a "b"']), VALUES, max_size=3)
AROUND = st.sampled_from(["{}", "\ufeff{}", "\n {}\n", "```json\n{}\n```\n", "\ufeff~~~\n{}\n~~~"])


@given(HEADS, STEPS, HEADS, st.sampled_from(["steps", "plan", ""]), AROUND, st.booleans(), st.integers(1, 9))
def test_steps_are_found_however_the_text_is_cut(
    head: Any, steps: Any, tail: Any, key: str, around: str, spread: bool, size: int
) -> None:
    """With what stands before them, in every form."""
    tail = {name: value for name, value in tail.items() if name not in head}
    document = {**head, key: steps, **tail} if key else steps
    plain = json.dumps(document, ensure_ascii=False, indent=2 if spread else None)
    text = around.replace("{}", plain).encode()
    arrived = IncrementalDocument()
    for at in range(0, len(text), size):
        arrived.feed(text[at : at + size])
        assert arrived.steps == steps[: len(arrived.steps)]
    assert arrived.text == text
    assert arrived.place is Place.CLOSED
    assert arrived.steps == steps
    assert arrived.is_plan
    if key:
        assert (arrived.head, arrived.pointer) == (head, f"/{key}")


def test_a_step_is_complete_with_its_closing_bracket_and_not_before() -> None:
    """Brackets in texts do not count, nor do quotes behind a backslash."""
    text = b'[{"type": "say", "value": "} ] \\" \\\\"}, {"type": "x"}]'
    arrived = IncrementalDocument()
    found = []
    for at in range(len(text)):
        arrived.feed(text[at : at + 1])
        found.append(len(arrived.steps))
    first, second = text.index(b"}, {"), text.rindex(b"}")
    assert found == [0] * first + [1] * (second - first) + [2] * (len(text) - second)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"  \n",
        b"hello",
        b"```json",
        b"7",
        b'{"goal": "g"}',
        b'{"steps": {"type": "say"}}',
        b'"steps"',
        b"\xef",
        b"\xff\xfe[",
        b'{"goal": 1 2, "steps": [',
        b'{"a": {"steps": [{}]}}',
    ],
)
def test_no_steps_are_seen_where_none_begin(text: bytes) -> None:
    """Such a text is left to the reader of the whole."""
    arrived = IncrementalDocument()
    arrived.feed(text)
    assert not arrived.is_plan
    assert arrived.steps == []


@pytest.mark.parametrize(
    "text",
    [
        b'[{"type": "a"}, 1, {"type": "b"}]',
        b'[{"type": "a"}, "x", {"type": "b"}]',
        b'[{"type": "a"}, [{"type": "b"}]]',
        b'[{"type": "a"}: {"type": "b"}]',
        b'[{"type": "a"}, {"type": NaN}, {"type": "b"}]',
        b'[{"type": "a"}, {"type": "b", "type": "c"}, {"type": "b"}]',
        b'[{"type": "a"}, {"type": ]}, {"type": "b"}]',
        b'{"steps": [{"type": "a"}], "steps": [{"type": "b"}]}',
        b'{"steps": [{"type": "a"}], "plan": [{"type": "b"}]}',
    ],
)
def test_what_is_no_step_ends_the_steps(text: bytes) -> None:
    """So nothing runs ahead behind it."""
    arrived = IncrementalDocument()
    arrived.feed(text)
    assert arrived.steps == [{"type": "a"}]


def calls_of_following(text: bytes, size: int) -> int:
    """Feed a text in pieces; return how many calls of functions that took, which no load of the machine changes."""
    calls = 0

    def counted(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    arrived = IncrementalDocument()
    sys.setprofile(counted)
    try:
        for at in range(0, len(text), size):
            arrived.feed(text[at : at + size])
    finally:
        sys.setprofile(None)
    assert arrived.place is Place.CLOSED
    return calls


def test_the_work_grows_with_the_text_and_not_with_its_square() -> None:
    """A step is read once, however many pieces it comes in."""

    def text(count: int) -> bytes:
        return json.dumps([{"type": "create-note", "value": {"n": [n, "x" * 60]}} for n in range(count)]).encode()

    assert calls_of_following(text(2_000), 20) < 5 * calls_of_following(text(500), 20)


# What is known from the beginning


def reading(*chunks: str) -> Any:
    pieces = iter([chunk.encode() for chunk in chunks])
    return lambda: next(pieces, b"")


@pytest.mark.parametrize("text", ["[", '{"steps": [', '{"goal": "g",\n "plan":[{"type":', "```\n[\n"])
def test_a_document_is_known_when_its_steps_begin(text: str) -> None:
    """No more is read than that, not even to the end of a line."""
    assert read_beginning(reading(text, "never read")) == PartialDocument(text.encode())


def test_lines_are_told_as_they_come() -> None:
    """The second is not waited for before the first is told, wherever they are cut."""
    read = read_beginning(reading("\n", '{"type"', ': "a"}\n', '{"type": "b"', '}\n{"type": "c"}'))
    assert isinstance(read, Lines)
    assert [value for _, value in read.lines] == [{"type": "a"}, {"type": "b"}, {"type": "c"}]


def test_what_is_neither_is_read_to_its_end() -> None:
    """As any text that is there at once."""
    assert read_beginning(reading('{"go', 'al": 1, "steps": 7}')) == Document({"goal": 1, "steps": 7})
    read = read_beginning(reading('{"type": "say",\n', '"value": 1}'))
    assert isinstance(read, Lines)
    assert list(read.lines) == [(1, {"type": "say", "value": 1})]
