"""`coerce`: the same as another type, really of that type, or a sentence that says why not."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def coerced(run: Any, value: Any, coercion: str, status: str = "success", **arguments: Any) -> Any:
    """Coerce a Note, of whose content the check knows nothing where it is to fail in the run."""
    unknown = [
        {"type": "create-note", "value": json.dumps(value), "out": "$text"},
        {"type": "coerce", "target": "$text", "coercion": "json", "out": "$x"},
    ]
    known = [{"type": "create-note", "value": value, "out": "$x"}]
    return run(
        *(unknown if status == "failed" else known),
        {"type": "coerce", "target": "$x", "coercion": coercion, "out": "$y", **arguments},
        status=status,
    )


@pytest.mark.parametrize(
    ("value", "coercion", "found"),
    [
        ("text", "string", "text"),
        (3, "string", "3"),
        (None, "string", "null"),
        ({"b": [1, None], "a": "é"}, "string", '{"b":[1,null],"a":"é"}'),
        (42, "int", 42),
        (3.0, "int", 3),
        (-0.0, "int", 0),
        (True, "int", 1),
        (" -42\n", "int", -42),
        ("+7", "int", 7),
        ("3.0", "int", 3),
        ("1e3", "int", 1000),
        (str(10**100 + 1), "int", 10**100 + 1),
        (3, "float", 3.0),
        (False, "float", 0.0),
        ("3.5", "float", 3.5),
        (" .5 ", "float", 0.5),
        ("-1E-2", "float", -0.01),
        ("1e-999", "float", 0.0),
        (True, "bool", True),
        (0, "bool", False),
        (1.0, "bool", True),
        (" Yes ", "bool", True),
        ("OFF", "bool", False),
        ("0", "bool", False),
        ('{"a": [1, null]}', "json", {"a": [1, None]}),
        ("```json\n[1]\n```", "json", [1]),
        ('"3"', "json", "3"),
        (3, "json", 3),
        (None, "json", None),
        ([1, "2"], "list", [1, "2"]),
        ('[1, "2"]', "list", [1, "2"]),
        ("a, b,,c ", "list", ["a", "b", "c"]),
        ("a, b\n\nc", "list", ["a, b", "c"]),
        ("alone", "list", ["alone"]),
        ("", "list", []),
    ],
)
def test_what_has_the_form_is_given_in_it(run: Any, value: Any, coercion: str, found: Any) -> None:
    """Of the very type."""
    content = coerced(run, value, coercion).content("y")
    assert (content, type(content)) == (found, type(found))


@pytest.mark.parametrize(
    ("value", "delimiter", "found"), [("a; b;", ";", ["a", "b"]), ("[1],[2]", ",", ["[1]", "[2]"]), ([1], ",", [1])]
)
def test_a_delimiter_says_where_a_text_is_cut(run: Any, value: Any, delimiter: str, found: list[Any]) -> None:
    """Even one that would be JSON."""
    assert coerced(run, value, "list", delimiter=delimiter).content("y") == found


@pytest.mark.parametrize(
    ("value", "coercion", "message", "hint"),
    [
        (3.7, "int", "3.7 is not a whole number", "`float` keeps"),
        ("3.7", "int", '"3.7" is not a whole number', "`float` keeps"),
        ("1,000", "int", '"1,000" is not a whole number', "without signs of thousands"),
        ("", "int", '"" is not a whole number', "digits such as 42"),
        ("٣", "int", "is not a whole number", "digits such as 42"),
        ("1_000", "float", "is not a number", "digits such as 3.5"),
        ("nan", "float", "is not a number", "digits such as 3.5"),
        ("Infinity", "float", "is not a number", "digits such as 3.5"),
        ("1e999", "float", "is beyond what a number holds", "`string` keeps the digits"),
        (10**400, "float", "is beyond what a number holds", "`string` keeps the digits"),
        ("1e5000", "int", "is too large", "at most 4,000 digits"),
        (None, "int", "null is not a whole number", "`$x.key` is a place in it"),
        ({"n": 3}, "float", '{"n": 3} is not a number', "`$x.key` is a place in it"),
        (2, "bool", "2 is neither true nor false", "yes, no"),
        ("maybe", "bool", "is neither true nor false", "yes, no"),
        (None, "bool", "null is neither true nor false", "yes, no"),
        ("{'a': 1}", "json", "the text is not JSON", "double quotes"),
        ("", "json", "the text is empty", "JSON"),
        (3, "list", "3 is not a list", "makes a list of one"),
        (None, "list", "null is not a list", "makes a list of one"),
    ],
)
def test_what_has_not_fails_and_says_what_would_have_fitted(
    run: Any, value: Any, coercion: str, message: str, hint: str
) -> None:
    """In one sentence with a hint."""
    reason = coerced(run, value, coercion, "failed").reason
    assert message in reason
    assert hint in reason


@pytest.mark.parametrize(
    ("arguments", "pointer", "hint"),
    [
        ({"coercion": "integer"}, "/steps/1/coercion", 'did you mean "int"?'),
        ({"coercion": "int", "delimiter": ","}, "/steps/1", "leave it out"),
        ({"coercion": "list", "delimiter": ""}, "/steps/1/delimiter", None),
    ],
)
def test_a_wrong_coercion_is_refused(run: Any, arguments: Any, pointer: str, hint: str | None) -> None:
    """Before anything runs."""
    ran = coerced(run, "3", status="refused", **arguments)
    [problem] = [problem for problem in ran.result.problems if problem.severity == "error"]
    assert problem.pointer == pointer
    assert hint is None or problem.hint == hint


def test_a_search_result_is_its_text(search: Any) -> None:
    """As everywhere where a text is wanted."""
    ran = search(
        {"type": "discover-notes", "query": "a sleepy cat", "threshold": -1, "out": "$hits"},
        {"type": "coerce", "target": "$hits[0]", "coercion": "string", "out": "$text"},
    )
    assert ran.content("text") == ran.content("hits")[0]["text"]


@settings(max_examples=40, deadline=None)
@given(number=st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_from_its_text(shared: Any, number: float) -> None:
    """Exactly, zero with its sign."""
    ran = shared(
        {"type": "create-note", "value": number, "out": "$x"},
        {"type": "coerce", "target": "$x", "coercion": "string", "out": "$text"},
        {"type": "coerce", "target": "$text", "coercion": "int" if isinstance(number, int) else "float", "out": "$y"},
    )
    found = ran.content("y")
    assert (found, type(found), math.copysign(1, found)) == (number, type(number), math.copysign(1, number))
