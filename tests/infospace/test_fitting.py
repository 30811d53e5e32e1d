"""Patterns of a schema are held in linear time wherever they stand, and those that cannot be are faults."""

from __future__ import annotations

import time
from typing import Any

import pytest

from infospace.fitting import misfits, misfits_but_for, schema_faults
from infospace.tools.servers.sound import sound

EXPLODING = "^(a+)+$"
"""Python's own engine needs 2 to the power of the number of letters for a text that almost fits."""
NEARLY = "a" * 60 + "!"


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (NEARLY, {"pattern": EXPLODING}),
        ({NEARLY: 1}, {"propertyNames": {"pattern": EXPLODING}}),
        ({NEARLY: 1}, {"patternProperties": {EXPLODING: {"type": "string"}}}),
        ({NEARLY: 1}, {"patternProperties": {EXPLODING: True}, "additionalProperties": False}),
        ({NEARLY: 1}, {"patternProperties": {EXPLODING: True}, "additionalProperties": {"type": "string"}}),
    ],
)
def test_a_pattern_that_explodes_is_held_at_once(value: Any, schema: dict[str, Any]) -> None:
    """Whichever keyword has it, and also while something in the value is not known yet."""
    assert list(schema_faults(schema)) == []
    begun = time.process_time()
    misfits(value, schema)
    list(misfits_but_for(value, schema, object()))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("value", "schema", "says"),
    [
        ({"x_1": 1, "y": 2}, {"patternProperties": {"^x_": {"type": "string"}}}, ["1 is not text at `x_1`"]),
        (
            {"x_1": "", "y": 2, "k": 3},
            {"properties": {"k": True}, "patternProperties": {"^x_": True}, "additionalProperties": False},
            ['"y" is unknown (it takes k)'],
        ),
        (
            {"x_1": 1, "y": 2},
            {"patternProperties": {"^x_": True}, "additionalProperties": {"type": "string"}},
            ["2 is not text at `y`"],
        ),
        ({"größe": 1}, {"patternProperties": {r"^\p{L}+$": True}, "additionalProperties": False}, []),
        ([1], {"patternProperties": {"x": False}, "additionalProperties": False}, []),
    ],
)
def test_keys_are_held_against_patterns(value: Any, schema: dict[str, Any], says: list[str]) -> None:
    """Those that fit one by its schema, the others by `additionalProperties`; what is no object has no keys."""
    assert list(schema_faults(schema)) == []
    assert misfits(value, schema) == says


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"pattern": "(?=x)"}, ("pattern",)),
        ({"patternProperties": {"(?=x)": True}}, ("patternProperties", "(?=x)")),
        ({"patternProperties": {"(": True}}, ("patternProperties", "(")),
        (
            {"allOf": [{"patternProperties": {"^x": True}}], "unevaluatedProperties": False},
            ("unevaluatedProperties",),
        ),
    ],
)
def test_what_cannot_be_held_is_a_fault_in_its_place(schema: dict[str, Any], place: tuple[str, ...]) -> None:
    """So a server's schema loses that alone."""
    assert [fault.place for fault in schema_faults(schema)] == [place]
    assert list(schema_faults(sound({"type": "object", **schema}))) == []


def test_a_property_may_be_called_like_a_keyword() -> None:
    """Names under `properties` are no keywords."""
    names = {"unevaluatedProperties": {"type": "boolean"}}
    assert list(schema_faults({"properties": names, "patternProperties": {"^x": True}})) == []
