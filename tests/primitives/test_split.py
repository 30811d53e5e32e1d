"""`split`: one into many."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def unknown(value: Any) -> list[dict[str, Any]]:
    """Steps that bind $x to a value of which the check knows nothing."""
    return [
        {"type": "create-note", "value": json.dumps(value), "out": "$text"},
        {"type": "coerce", "target": "$text", "coercion": "json", "out": "$x"},
    ]


def parts(run: Any, value: Any, **arguments: Any) -> Any:
    """Split a Note, of whose content the check knows nothing where it is to fail in the run."""
    status = arguments.pop("status", "success")
    known = [{"type": "create-note", "value": value, "metadata": {"k": ["m", "n"]}, "out": "$x"}]
    return run(
        *(unknown(value) if status == "failed" else known),
        {"type": "split", "target": "$x", "out": "$parts", **arguments},
        status=status,
    )


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([1, None, {"a": 2}, "x"], [1, None, {"a": 2}, "x"]),
        ({"n": 1, "items": [{"a": 1}, 2]}, [{"a": 1}, 2]),
        ('[1, {"a": 2}]', [1, {"a": 2}]),
        ('{"a": 1}\n\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ("[1]\n[2]", [[1], [2]]),
        ("One\nparagraph.\n\n \n Another. \n", ["One\nparagraph.", "Another."]),
        ("[not json]\n\nat all", ["[not json]", "at all"]),
        ('{"a": 1}\n\nand text', ['{"a": 1}', "and text"]),
        ("3\n4", ["3\n4"]),
        ([], []),
        ("", []),
        (" \n", []),
        ("[]", []),
        (None, []),
        ({"items": []}, []),
    ],
)
def test_by_default_the_parts_are_found(run: Any, value: Any, found: list[Any]) -> None:
    """List elements, an object's only list, JSON Lines, then paragraphs; nothing to split is success."""
    ran = parts(run, value)
    assert ran.content("parts") == found
    assert all(dict(item.metadata) == {} for item in ran.items("parts"))


@pytest.mark.parametrize(
    ("delimiter", "found"),
    [
        ("paragraph", ["One. Two\nlines", "Three."]),
        ("sentence", ["One.", "Two\nlines", "Three."]),
        ("line", ["One. Two", "lines", "Three."]),
        ("\n", ["One. Two", "lines", "", "Three."]),
        (" ", ["One.", "Two\nlines\n\nThree."]),
        ("lines", ["One. Two\n", "\n\nThree."]),
        ("absent", ["One. Two\nlines\n\nThree."]),
    ],
)
def test_a_text_is_cut_as_wanted(run: Any, delimiter: str, found: list[str]) -> None:
    """At a text of one's own exactly: nothing is trimmed or left out."""
    assert parts(run, "One. Two\nlines\n\nThree.", delimiter=delimiter).content("parts") == found


@pytest.mark.parametrize(("field", "found"), [("a.b", ["x", "y"]), ("metadata.k", ["m", "n"]), ("c", ["p", "q"])])
def test_a_field_says_what_is_split(run: Any, field: str, found: list[str]) -> None:
    """A path as everywhere."""
    assert parts(run, {"a": {"b": ["x", "y"]}, "c": "p\n\nq"}, field=field).content("parts") == found


@pytest.mark.parametrize(
    ("value", "arguments", "message"),
    [
        ({"a": 1}, {}, "the object has no list (`field` says what to split)"),
        ({"a": [1], "b b": []}, {}, 'the object has lists at `a`, `["b b"]`'),
        (3, {}, "content of type number has no parts"),
        (True, {}, "content of type boolean has no parts"),
        ([1], {"delimiter": "line"}, "'line' cuts a text, and this is of type list"),
    ],
)
def test_what_has_no_parts_fails_and_says_so(run: Any, value: Any, arguments: Any, message: str) -> None:
    """With what would have helped."""
    assert message in parts(run, value, **arguments, status="failed").reason


def test_an_empty_delimiter_and_a_field_that_is_not_there_are_refused(run: Any) -> None:
    """By the check."""
    for arguments, pointer in (({"delimiter": ""}, "/steps/1/delimiter"), ({"field": "items.x"}, "/steps/1/field")):
        ran = parts(run, {"items": {"y": [1]}}, **arguments, status="refused")
        assert pointer in [problem.pointer for problem in ran.result.problems]


@settings(max_examples=30, deadline=None)
@given(
    text=st.text(alphabet="ab, \n", min_size=1, max_size=20),
    delimiter=st.sampled_from([",", ", ", "\n", "a", "ab", " "]),
)
def test_flatten_puts_together_what_split_took_apart(shared: Any, text: str, delimiter: str) -> None:
    """With the same separator, exactly."""
    ran = shared(
        {"type": "create-note", "value": text, "out": "$x"},
        {"type": "split", "target": "$x", "delimiter": delimiter, "out": "$parts"},
        {"type": "flatten", "target": "$parts", "separator": delimiter, "out": "$whole"},
    )
    assert ran.content("whole") == text
    assert ran.content("parts") == text.split(delimiter)


JSON_VALUES = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@settings(max_examples=30, deadline=None)
@given(
    items=st.lists(JSON_VALUES, max_size=5), start=st.none() | st.integers(-7, 7), stop=st.none() | st.integers(-7, 7)
)
def test_the_parts_of_a_list_are_a_collection_of_its_elements(
    shared: Any, items: list[Any], start: int | None, stop: int | None
) -> None:
    """As a value it is the list again, and a slice of the one is as a slice of the other."""
    cut = f"{'' if start is None else start}:{'' if stop is None else stop}"
    ran = shared(
        {"type": "create-note", "value": items, "out": "$x"},
        {"type": "split", "target": "$x", "out": "$parts"},
        {"type": "create-note", "value": "$parts", "out": "$again"},
        {"type": "load", "target": "$parts", "slice": cut, "out": "$few"},
        {"type": "load", "target": "$x", "slice": cut, "out": "$short"},
    )
    assert ran.content("again") == items
    assert ran.content("few") == ran.content("short") == items[start:stop]
