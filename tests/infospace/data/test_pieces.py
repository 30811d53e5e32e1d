"""Texts cut into paragraphs, sentences and lines, or read as the JSON that they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.data.split_text import json_lines, json_list, lines, paragraphs, sentences

TEXT = st.text(alphabet="aB1 .!?…\"')。\n\r\t", max_size=40)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One. two! Three? Four…", ["One.", "two!", "Three?", "Four…"]),
        ("No sign at the end", ["No sign at the end"]),
        ("One\nsentence on two lines. Next", ["One\nsentence on two lines.", "Next"]),
        ("A title\n\nIts text. More.", ["A title", "Its text.", "More."]),
        ("Dr. Smith met J. R. Ewing, e.g. in May. Right.", ["Dr. Smith met J. R. Ewing, e.g. in May.", "Right."]),
        (
            "See No. 5, etc. and so on. He said no. Then he left.",
            ["See No. 5, etc. and so on.", "He said no.", "Then he left."],
        ),
        (
            "It costs 3.50 at 5 p.m. in Rome. We saw 42. Yes.",
            ["It costs 3.50 at 5 p.m. in Rome.", "We saw 42.", "Yes."],
        ),
        ("1. First step. 2. Second\n3. Third.", ["1. First step.", "2. Second\n3. Third."]),
        ('"Stop!" he cried. "Go." (Then.) End', ['"Stop!" he cried.', '"Go."', "(Then.)", "End"]),
        ("Wait... what? Well... Yes?! No", ["Wait... what?", "Well...", "Yes?!", "No"]),
        ("你好。世界！「好。」", ["你好。", "世界！", "「好。」"]),
        ("...", ["..."]),
        (" \n\t ", []),
        ("", []),
    ],
)
def test_a_sentence_ends_where_the_rule_says(text: str, pieces: list[str]) -> None:
    """Signs, quotes, abbreviations, initials, numbers, ellipses."""
    assert sentences(text) == pieces


@given(text=TEXT)
def test_no_character_but_white_space_is_lost(text: str) -> None:
    """By any of the three; no piece is blank, and none has white space around it."""
    for cut in (paragraphs, sentences, lines):
        pieces = cut(text)
        assert "".join("".join(pieces).split()) == "".join(text.split())
        assert all(piece.strip() for piece in pieces)
    assert all(piece == piece.strip() for piece in sentences(text) + paragraphs(text))


@given(pieces=st.lists(st.text(alphabet="ab c.", min_size=1, max_size=6).filter(str.strip)))
def test_paragraphs_and_lines_that_were_joined_come_back(pieces: list[str]) -> None:
    """Whichever line ends are used; lines keep the white space in front."""
    trimmed = [piece.strip() for piece in pieces]
    for end in ("\n", "\r\n", "\r"):
        assert paragraphs(f"{end} {end}".join(trimmed)) == trimmed
        assert lines(end.join(pieces)) == [piece.rstrip() for piece in pieces]


@pytest.mark.parametrize(
    ("text", "as_list", "as_lines"),
    [
        ('[1, {"a": 2}]', [1, {"a": 2}], [[1, {"a": 2}]]),
        ("[\n1,\n2]", [1, 2], None),
        ("```json\n[1]\n```", None, None),
        ('{"a": 1}\n\n[2]\n', None, [{"a": 1}, [2]]),
        ('{"a": 1}\nand text', None, None),
        ("[a link](x.md)", None, None),
        ("3\n4", None, None),
        ("", None, None),
    ],
)
def test_text_is_json_only_where_all_of_it_is(text: str, as_list: object, as_lines: object) -> None:
    """A list as a whole, or an object or a list in each line."""
    assert (json_list(text), json_lines(text)) == (as_list, as_lines)
