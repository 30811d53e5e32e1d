"""What a question takes, in words: the answers that can be listed, or what an answer has to be."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.resources import CreatedBy
from infospace.journal.origin import Origin
from infospace.journal.rows import Use
from tui.tables.resource_context import format_origin
from tui.text.pending import choices, describe_schema, meanings

FORM = {
    "type": ["object", "string"],
    "properties": {"city": {"type": "string", "default": "Oslo"}, "days": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("schema", "listed", "words"),
    [
        (None, [], "text, or any JSON"),
        ({}, [], "text, or any JSON"),
        ({"type": "boolean"}, ["true", "false"], "true or false"),
        ({"enum": ["yes", 2, None]}, ["yes", "2", "null"], "yes or 2 or null"),
        ({"const": "go on"}, ["go on"], "go on"),
        ({"type": "string"}, [], "text"),
        ({"type": "string", "maxLength": 3}, [], 'text ({"maxLength":3})'),
        ({"type": "integer", "minimum": 1}, [], "a whole number from 1"),
        ({"oneOf": [{"const": "a"}, {"type": "object", "required": ["b"]}]}, [], 'a, or {"b": …}'),
        (FORM, [], '{"city": text (else "Oslo"), "days": a whole number}, or decline'),
        ({"type": "object", "required": ["a", "b"]}, [], '{"a": …, "b": …}'),
        ({"not": {"type": "null"}}, [], 'what fits {"not":{"type":"null"}}'),
    ],
)
def test_an_answer_is_listed_or_described(schema: dict[str, Any] | None, listed: list[str], words: str) -> None:
    assert choices(schema) == listed
    assert describe_schema(schema) == words


def test_choices_are_told_with_what_each_means() -> None:
    """Where the question says so of every one of them; else they are only listed."""
    told = {"enum": ["y", "n"], "description": "y: it was done; n: it was not"}
    assert meanings(told) == ["y: it was done", "n: it was not"]
    assert meanings(told | {"description": "y: it was done; or not"}) == ["one of y, n"]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (CreatedBy(None, None, "add"), "outside of any run"),
        (CreatedBy("run_1", None, "add"), "by run_1 add"),
        (CreatedBy("run_1", "2.do[0]", "head"), "by run_1 step 2.do[0] head"),
        (CreatedBy("run_1", None, None), "by run_1"),
    ],
)
def test_who_made_a_version_is_told(made: CreatedBy, told: str) -> None:
    assert format_origin(Origin(Use("Note_1", 1), created_by=made)) == told
