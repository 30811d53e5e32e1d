"""A tool in one line: its arguments with types and defaults, and what it answers."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.tool import Tool
from planner.metatools.signature_line import ARGUMENTS, CHOICES, signature_line

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def line(required: list[str], /, **properties: Any) -> str:
    """The line of a tool that takes these arguments."""
    schema = {"type": "object", "properties": properties, "required": required, "$defs": {"city": {"enum": ["B", "L"]}}}
    return signature_line(Tool("s", "t", input_schema=schema))


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        (TEXT, "a?: str"),
        ({**WHOLE, "default": 10}, "a: int = 10"),
        ({**TEXT, "default": "x" * 38}, f'a: str = "{"x" * 38}"'),
        ({**TEXT, "default": "x" * 39}, "a: str"),
        ({"type": "boolean", "default": False}, "a: bool = false"),
        ({"type": ["number", "null"]}, "a?: float"),
        ({"type": ["integer", "number"]}, "a?: float"),
        ({"type": ["string", "integer"]}, "a?: str|int"),
        ({"type": "array", "items": TEXT}, "a?: [str]"),
        ({"type": "array"}, "a?: list"),
        ({"type": ["string", "integer", "boolean", "array", "null"]}, "a?: str|int|bool|list"),
        ({"type": ["string", "number", "boolean", "array", "object"]}, "a?"),
        ({"type": "object", "properties": {"b": WHOLE}}, "a?: {b?: integer}"),
        ({"enum": ["x", 2]}, 'a?: "x"|2'),
        ({"enum": list(range(CHOICES))}, "a?: " + "|".join(map(str, range(CHOICES)))),
        ({"enum": list(range(CHOICES + 1))}, "a?: " + "|".join(map(str, range(CHOICES))) + "|…"),
        ({"$ref": "#/$defs/city"}, 'a?: "B"|"L"'),
        ({}, "a?"),
        (True, "a?"),
    ],
    ids=str,
)
def test_an_argument_has_its_type_and_its_default(argument: Any, told: str) -> None:
    """What need not be given bears a mark where it has no default; a long default is left out."""
    assert line([], a=argument) == f"s/t({told})"


def test_what_is_needed_stands_first_and_all_of_it() -> None:
    """Without its default; of the others as many as there is room for."""
    assert line(["b", "none"], a=TEXT, b={**WHOLE, "default": 1}) == "s/t(b: int, a?: str)"
    names = [f"n{number:02}" for number in range(ARGUMENTS + 2)]
    every: dict[str, Any] = {name: {} for name in names}
    many = line(names[-2:], **every)
    assert many == f"s/t({', '.join([*names[-2:], *(f'{name}?' for name in names[: ARGUMENTS - 2])])}, …)"
    assert line(names, **every, more=TEXT, still=TEXT, most=TEXT) == f"s/t({', '.join(names)}, …)"
    exactly = {name: every[name] for name in names[:ARGUMENTS]}
    assert line(names[:2], **exactly).endswith(f"{names[ARGUMENTS - 1]}?)")


def test_what_a_tool_answers_is_told_by_its_schema_or_by_what_it_answered_before() -> None:
    tool = Tool("s", "t", output_schema={"type": "object", "properties": {"n": WHOLE}, "required": ["n"]})
    assert signature_line(tool, {"other": "x"}) == "s/t() -> {n: integer}"
    assert signature_line(Tool("s", "t"), {"other": "x"}) == "s/t() -> {other: text}"
    assert signature_line(Tool("s", "t")) == "s/t()"
    assert signature_line(Tool("infospace", "plan:p")) == "plan:p()"
