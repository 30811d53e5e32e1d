"""Where the values of a document stand, and what is understood of one that is being written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.data.json_source_map import JsonNode, member_at, nearest_spot, parse_tolerant, path_to, spot_at, spot_of
from infospace.data.json_text import MAX_DEPTH, read_json, same

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@st.composite
def documents(draw: Any) -> tuple[Any, str]:
    """A value, and a text of it in some layout."""
    value = draw(VALUES)
    indent = draw(st.sampled_from([None, 0, 2, "\t"]))
    return value, json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))


@given(documents())
def test_a_document_is_read_as_the_strict_reader_reads_it(written: tuple[Any, str]) -> None:
    """And its value stands where the text has it."""
    value, text = written
    spot = spot_of(text)
    assert spot is not None
    assert same(spot.value, value)
    assert text[spot.start : spot.end] == text.strip()


@given(documents())
def test_every_value_is_found_by_its_pointer(written: tuple[Any, str]) -> None:
    """What stands there is that value."""
    value, text = written
    root = spot_of(text)
    for pointer, inner in _every(value, ""):
        spot = spot_at(root, pointer)
        assert spot is not None, pointer
        assert same(read_json(text[spot.start : spot.end]), inner)
        if (member := member_at(root, pointer)) is not None:
            assert json.loads(text[member.start : member.end]) == member.key


def _every(value: Any, pointer: str) -> Any:
    yield pointer, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        part = str(key).replace("~", "~0").replace("/", "~1")
        yield from _every(item, f"{pointer}/{part}")


@given(documents(), st.data())
def test_any_beginning_of_a_document_is_understood(written: tuple[Any, str], data: Any) -> None:
    """Nothing is raised, everything lies in the text, and what is complete before it is there."""
    text = written[1]
    cut = text[: data.draw(st.integers(0, len(text)))]
    found = parse_tolerant(cut)
    _lie_in_order(found, len(cut))
    whole = spot_of(text)
    assert whole is not None
    for index, item in enumerate(whole.items):
        if item.end < len(cut):
            there = found[0].items[index]
            assert (there.start, there.end) == (item.start, item.end)
            assert same(there.value, item.value)
    for index, member in enumerate(whole.members):
        if member.value is not None and member.value.end < len(cut):
            said = found[0].members[index]
            assert said.key == member.key
            assert said.value is not None
            assert same(said.value.value, member.value.value)


@given(st.text(alphabet='{}[]:,"\\ \nabu01', max_size=60))
def test_any_text_is_understood_somehow(text: str) -> None:
    """What makes no sense is passed over."""
    found = parse_tolerant(text)
    _lie_in_order(found, len(text))
    for spot in found:
        assert same(read_json(json.dumps(spot.value)), spot.value)


def _lie_in_order(spots: Sequence[JsonNode], end: int) -> None:
    """Each lies in the text, and none begins before the one in front of it has ended."""
    last = 0
    for spot in spots:
        _lies(spot, last, end)
        last = spot.end


def _lies(spot: JsonNode, first: int, last: int) -> None:
    assert first <= spot.start <= spot.end <= last
    for member in spot.members:
        assert spot.start < member.start <= member.end <= spot.end
        if member.value is not None:
            _lies(member.value, member.end, spot.end)
    for item in spot.items:
        _lies(item, spot.start + 1, spot.end)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": 1, "b"', {"a": 1}),
        ('{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}),
        ('{"a": "$h\n  {"b": 1}}', {"a": "$h"}),
        ('[{"a": "x\n {"b": 1}]', [{"a": "x"}, {"b": 1}]),
        ('{"a" 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": "\\u12', {"a": ""}),
        ('{"a": "x\\', {"a": "x"}),
        ('{"a": tru', {"a": "tru"}),
        ("[1, , 2]", [1, 2]),
    ],
)
def test_what_is_missing_is_missing_in_the_tree(text: str, value: Any) -> None:
    """Quotes, commas, brackets, values."""
    spot = spot_of(text)
    assert spot is not None
    assert spot.value == value


def test_no_value_is_none() -> None:
    """An empty text has none, and commas are none."""
    assert spot_of("") is None
    assert spot_of(" , :") is None


def test_lines_are_an_array() -> None:
    """So that pointers into JSON Lines lead somewhere."""
    text = '{"type": "say"}\n\n{"type": "think"}\n'
    root = spot_of(text, lines=True)
    found = spot_at(root, "/1/type")
    assert found is not None
    assert text[found.start : found.end] == '"think"'


def test_a_pointer_to_what_is_not_there_gives_what_is_around() -> None:
    """The innermost that is."""
    text = '{"steps": [{"type": "size"}]}'
    root = spot_of(text)
    assert spot_at(root, "/steps/0/target") is None
    found = nearest_spot(root, "/steps/0/target/x")
    assert found is not None
    assert text[found.start : found.end] == '{"type": "size"}'
    assert nearest_spot(None, "/a") is None


def test_the_way_to_a_place_is_known() -> None:
    """Keys and indexes, outermost first."""
    text = '{"steps": [{"type": "size", "target": "$h'
    way = [part for part, _ in path_to(spot_of(text), len(text))]
    assert way == [None, "steps", 0, "target"]


def test_nesting_without_end_is_cut_off() -> None:
    """No stack overflows."""
    root = spot_of("[" * 100_000)
    depth = 0
    while root is not None and root.items:
        root, depth = root.items[0], depth + 1
    assert depth == MAX_DEPTH - 1
