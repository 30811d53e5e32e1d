"""What a step makes of a tool's answer: out of the wrapping of servers, and JSON that stands in a text."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.tool import Tool, ToolAnswer
from infospace.tools.answer_content import content_of, result_schema

LIST = {"type": "array", "items": {"type": "integer"}}


def tool(output: Any) -> Tool:
    return Tool("words", "say", "Says something.", {"type": "object"}, output)


def wrapping(**others: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"result": LIST, **others}}


@pytest.mark.parametrize("output", [None, wrapping()])
def test_a_result_alone_is_taken_out_where_nothing_says_that_it_is_a_field(output: Any) -> None:
    assert content_of(tool(output), ToolAnswer([], {"result": [1, 2]})) == ([1, 2], {"unwrapped": "result"})


@pytest.mark.parametrize(
    "output",
    [
        wrapping(more={"type": "integer"}),
        {"type": "object", "properties": {"other": LIST}},
        {"type": "object", "properties": {}},
        {"type": "object"},
        {"type": "object", "properties": ["result"]},
    ],
)
def test_a_result_is_a_field_where_the_schema_has_it_as_one(output: Any) -> None:
    assert content_of(tool(output), ToolAnswer([], {"result": [1, 2]})) == ({"result": [1, 2]}, {})


@pytest.mark.parametrize("value", [{"result": [1], "more": 2}, {"other": 1}, {}, [1], "result"])
def test_what_has_more_than_a_result_stays_as_it_is(value: Any) -> None:
    assert content_of(tool(wrapping()), ToolAnswer([], value)) == (value, {})


def test_the_schema_of_what_is_wrapped_is_that_of_the_value() -> None:
    assert result_schema(tool(wrapping())) == LIST
    assert result_schema(tool(None)) is None
    kept = result_schema(tool(wrapping(more={"type": "integer"})))
    assert kept is not None
    assert set(kept["properties"]) == {"result", "more"}


def text(said: str) -> ToolAnswer:
    return ToolAnswer([{"type": "text", "text": said}])


@pytest.mark.parametrize(
    ("said", "value", "told"),
    [
        ('{"a": 1}', {"a": 1}, {"read_as": "json"}),
        (" \n[1, 2]", [1, 2], {"read_as": "json"}),
        ("{no json", "{no json", {}),
        ("12", "12", {}),
        ('"x"', '"x"', {}),
        ("", "", {}),
    ],
)
def test_an_object_or_a_list_in_a_text_is_read_as_such(said: str, value: Any, told: Any) -> None:
    """A number is a text, as a server that has one says it in words."""
    assert content_of(tool(None), text(said)) == (value, told)
