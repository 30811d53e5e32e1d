"""Patches of a text: they say the same as of the value, and leave alone what they do not touch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core.errors import Invalid
from infospace.data.json_text import read_json, same
from planner.editor.text_patch import changed_range, patch_text
from planner.language.json_patch import apply_patch, at
from planner.language.problems import join

KEYS = st.text(alphabet="abc/~ é", max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def _places(value: Any, pointer: str = "") -> list[str]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [pointer, *(place for key, item in inner for place in _places(item, join(pointer, key)))]


@st.composite
def patches(draw: Any) -> tuple[Any, list[dict[str, Any]]]:
    """A document, and a patch of it."""
    document = now = draw(st.lists(VALUES, max_size=3) | st.dictionaries(KEYS, VALUES, max_size=3))
    patch = []
    for _ in range(draw(st.integers(1, 3))):
        operation = _operation(draw, now)
        patch.append(operation)
        now = apply_patch(now, [operation])
        if not isinstance(now, (dict, list)):
            break
    return document, patch


def _operation(draw: Any, document: Any) -> dict[str, Any]:
    places = _places(document)
    kind = draw(st.sampled_from(["add", "remove", "replace", "move"]))
    if len(places) == 1:
        kind = "add"
    if kind in ("remove", "replace"):
        path = draw(st.sampled_from(places[1:]))
        return {"op": kind, "path": path, **({"value": draw(VALUES)} if kind == "replace" else {})}
    source = draw(st.sampled_from(places[1:])) if kind == "move" else None
    left = apply_patch(document, [{"op": "remove", "path": source}]) if source else document
    holders = [place for place in _places(left) if isinstance(at(left, place) if place else left, (dict, list))]
    holder = draw(st.sampled_from(holders))
    inside = at(left, holder) if holder else left
    part: Any = draw(st.integers(0, len(inside))) if isinstance(inside, list) else draw(KEYS)
    path = join(holder, part)
    return (
        {"op": "move", "from": source, "path": path} if source else {"op": "add", "path": path, "value": draw(VALUES)}
    )


@given(patches(), st.sampled_from([None, 0, 2, 4, "\t"]))
def test_a_text_is_patched_as_its_value_is(made: tuple[Any, list[dict[str, Any]]], indent: Any) -> None:
    """In whatever layout it is written."""
    document, patch = made
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    assert same(read_json(patch_text(text, patch)), apply_patch(document, patch))


@given(st.text(alphabet="ab", max_size=12), st.text(alphabet="ab", max_size=12))
def test_the_changed_range_makes_the_one_text_of_the_other(before: str, after: str) -> None:
    """And is no longer than it must be at either end."""
    start, end, new = changed_range(before, after)
    assert before[:start] + new + before[end:] == after
    assert end - start <= len(before)
    if start < end and new:
        assert before[start] != new[0]
        assert before[end - 1] != new[-1] or len(new) < 1


PLAN = """{
  "goal": "x",   "steps": [
    {"type": "create-not", "value": [1,2],
     "out": "$x"},

    {"type": "size", "traget": "$x"}
  ]
}
"""


@pytest.mark.parametrize(
    ("patch", "old", "new"),
    [
        ([{"op": "replace", "path": "/steps/0/type", "value": "create-note"}], "create-not", "create-note"),
        ([{"op": "move", "from": "/steps/1/traget", "path": "/steps/1/target"}], '"traget"', '"target"'),
        ([{"op": "add", "path": "/steps/1/out", "value": "$n"}], '"$x"}\n  ]', '"$x", "out": "$n"}\n  ]'),
        ([{"op": "remove", "path": "/steps/0/out"}], ',\n     "out": "$x"', ""),
        ([{"op": "remove", "path": "/goal"}], '"goal": "x",   ', ""),
        ([{"op": "add", "path": "/result", "value": "$n"}], "\n  ]\n}", '\n  ],\n  "result": "$n"\n}'),
    ],
)
def test_what_a_patch_does_not_touch_stays_as_it_was_written(patch: Any, old: str, new: str) -> None:
    """Spaces, lines and the order of keys."""
    assert patch_text(PLAN, patch) == PLAN.replace(old, new)


def test_a_step_that_moves_keeps_its_layout() -> None:
    """It is indented as its new place is."""
    text = '[\n  {\n    "type": "a"\n  },\n  {"type": "b", "then": [\n    1\n  ]}\n]'
    moved = patch_text(text, [{"op": "move", "from": "/1", "path": "/0"}])
    assert moved == '[\n  {"type": "b", "then": [\n    1\n  ]},\n  {\n    "type": "a"\n  }\n]'


def test_a_long_value_is_laid_out_over_lines() -> None:
    """Indented as the text indents."""
    text = '{\n    "steps": []\n}'
    step = {"type": "say", "value": "x" * 120}
    new = patch_text(text, [{"op": "add", "path": "/steps/0", "value": step}])
    assert read_json(new) == {"steps": [step]}
    assert new.startswith('{\n    "steps": [\n        {\n')


@pytest.mark.parametrize("path", ["/a/b", "/c/0", "/d/9"])
def test_a_place_that_is_not_there_is_a_sentence(path: str) -> None:
    """Nothing is changed then."""
    with pytest.raises(Invalid, match="is not there"):
        patch_text('{"c": 1, "d": []}', [{"op": "add", "path": path, "value": 1}])
    with pytest.raises(Invalid, match="is not there"):
        patch_text('{"c": 1, "d": []}', [{"op": "remove", "path": path}])
    with pytest.raises(Invalid, match="the document itself cannot be removed"):
        patch_text("{}", [{"op": "remove", "path": ""}])
    with pytest.raises(Invalid, match="test"):
        patch_text("{}", [{"op": "test", "path": ""}])
