"""`load`: a known resource, or a part of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Note
from infospace.contract.decorator import ArgumentsInvalid
from infospace.store.changes import Delete
from primitives.load import load

BOUND = st.none() | st.integers(-7, 7)
STEP = st.none() | st.integers(-3, 3).filter(bool)


def written(start: int | None, stop: int | None, step: int | None) -> str:
    """A slice as a plan writes it."""
    text = f"{'' if start is None else start}:{'' if stop is None else stop}"
    return text if step is None else f"{text}:{step}"


@settings(max_examples=60, deadline=None)
@given(value=st.sampled_from(["", "hello", "ab", ["x", 1, None, [2], "z"], []]), start=BOUND, stop=BOUND, step=STEP)
def test_slices_of_texts_and_lists_are_those_of_python(
    shared: Any, value: Any, start: int | None, stop: int | None, step: int | None
) -> None:
    """A new Note of those characters or elements; the range is cut short at the ends."""
    ran = shared(
        {"type": "create-note", "value": value, "metadata": {"m": 1}, "out": "$x"},
        {"type": "load", "target": "$x", "slice": written(start, stop, step), "out": "$part"},
    )
    assert ran.content("part") == value[start:stop:step]
    assert ran.resource("part").metadata == {}
    assert ran.resource("part").id != ran.resource("x").id


@settings(max_examples=30, deadline=None)
@given(length=st.integers(0, 5), start=BOUND, stop=BOUND, step=STEP)
def test_slices_of_collections_are_those_of_python(
    shared: Any, length: int, start: int | None, stop: int | None, step: int | None
) -> None:
    """A new Collection of the same resources."""
    ran = shared(
        {"type": "create-collection", "value": list(range(length)), "out": "$list"},
        {"type": "load", "target": "$list", "slice": written(start, stop, step), "out": "$part"},
    )
    assert [i.id for i in ran.items("part")] == [i.id for i in ran.items("list")][start:stop:step]


@pytest.mark.parametrize("how", ["id", "name", "variable"])
def test_without_a_slice_it_is_the_resource_itself(run: Any, how: str) -> None:
    """By id, name or variable: no copy."""
    kept = run({"type": "create-note", "value": "text", "name": "thing", "out": "$x"}).resource("x")
    target = {"id": kept.id, "name": "thing", "variable": "$y"}[how]
    ran = run(
        {"type": "bind", "target": "thing", "out": "$y"},
        {"type": "load", "target": target, "out": "$z"},
    )
    assert ran.resource("z").id == kept.id


def test_a_name_is_found_in_any_normal_form(run: Any) -> None:
    """Names are compared in NFC, and otherwise exactly."""
    run({"type": "create-note", "value": 1, "name": unicodedata.normalize("NFD", "Übersicht"), "out": "$x"})
    assert run({"type": "load", "target": "Übersicht", "out": "$y"}).content("y") == 1
    run({"type": "load", "target": "übersicht", "out": "$y"}, status="refused")


def test_infrastructure_is_loaded_by_name(search: Any) -> None:
    """`_x` is left out of discovery alone."""
    assert "infrastructure" in search({"type": "load", "target": "_hidden", "out": "$x"}).content("x")


def test_loading_a_search_result_gives_its_source(search: Any) -> None:
    """With a slice, a part of the source's text."""
    ran = search(
        {"type": "discover-notes", "query": "bake bread", "limit": 1, "out": "$hits"},
        {"type": "load", "target": "$hits[0]", "out": "$note"},
        {"type": "load", "target": "$hits[0]", "slice": ":5", "out": "$start"},
    )
    assert ran.resource("note").name == "bread"
    assert ran.content("start") == "Knead"


@pytest.mark.parametrize("value", [3, None, {"a": 1}, True])
def test_what_has_no_order_cannot_be_sliced(run: Any, value: Any) -> None:
    """The reason says what it is, and what has an order."""
    ran = run(
        {"type": "create-note", "value": value, "out": "$x"},
        {"type": "load", "target": "$x", "slice": ":2", "out": "$part", "on_fail": "continue"},
    )
    assert "has no order to slice (a text, a list or a Collection has)" in ran.reason


@pytest.mark.parametrize("slice_", ["1:2:0", "5", "1:x", 3, [1, 2], "", "::::", "1.0:2"])
def test_a_wrong_slice_is_one_fault(call: Callable[..., Any], slice_: Any) -> None:
    """It says what was given and what a slice looks like."""
    with pytest.raises(ArgumentsInvalid) as raised:
        load.validate({"target": Note(id="Note_1", content="x"), "slice": slice_})
    (fault,) = raised.value.faults
    assert fault.place == ("slice",)
    assert fault.message.startswith("`slice`")
    assert ":" in (fault.hint or "")


def test_a_name_that_nobody_has_says_which_is_near(call: Callable[..., Any], run: Any) -> None:
    """Names are never searched by meaning."""
    run({"type": "create-note", "value": 1, "name": "reading list"})
    ran = run({"type": "load", "target": "readinglist", "out": "$x"}, status="refused")
    assert ran.result.problems[0].code == "unknown-name"
    assert "reading list" in (ran.result.problems[0].hint or "")


def test_the_check_knows_what_a_slice_gives(run: Any) -> None:
    """A part of a text is text, which has no fields."""
    ran = run(
        {"type": "create-note", "value": "text", "out": "$x"},
        {"type": "load", "target": "$x", "slice": ":2", "out": "$part"},
        {"type": "create-note", "value": "$part.title", "out": "$y"},
        status="refused",
    )
    assert ran.result.problems[0].code == "unknown-field"


def test_a_deleted_item_is_no_longer_in_a_collection(run: Any) -> None:
    """The rest can be loaded and read."""
    ran = run({"type": "create-collection", "value": ["a", "b"], "name": "both", "out": "$list"})
    ran.space.store.commit([Delete(ran.items("list")[0].id)])
    ran = run(
        {"type": "load", "target": "both", "out": "$list"},
        {"type": "flatten", "target": "both", "out": "$text"},
    )
    assert ran.result.steps[0].value == "1 note: b"
    assert ran.content("text") == "b"
