"""Texts of JSON as full text reads them: the same length, with blanks where JSON escapes a sign."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.resources import text_of
from infospace.search.best_passage import blank_json_escapes


@pytest.mark.parametrize(
    ("content", "blanked"),
    [
        (["a\nb"], '["a  b"]'),
        (["\u00e9\ttea"], '["é  tea"]'),
        (['say "no"'], '["say   no  "]'),
        (["\x01end"], '["      end"]'),
        ({"a\\b": 1}, '{"a  b":1}'),
        (["plain"], '["plain"]'),
    ],
)
def test_escapes_are_blanks_of_their_length(content: Any, blanked: str) -> None:
    text = text_of(content)
    assert blank_json_escapes(content, text) == blanked
    assert len(blanked) == len(text)


@pytest.mark.parametrize("text", ["a\\nb", "C:\\new\\table", "\\u00e9", "a\nb"])
def test_a_text_that_is_no_json_keeps_its_backslashes(text: str) -> None:
    assert blank_json_escapes(text, text) == text
