"""Titles of texts without a heading: the first line, cut where a reader would cut it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core.resources import Location
from infospace.data.tags import tags_of, with_parents
from infospace.data.titles import aliases_of, first_line, headings_at, title_of
from infospace.store.note_fields import property_words
from infospace.store.sqlite.read.search_results import TITLE, shortened

WORDS = "The quick brown fox jumps over the lazy dog while the cat looks on from the garden wall"


def test_a_long_line_is_cut_between_words() -> None:
    """What is cut off is told by an ellipsis, and the word before it is whole."""
    assert shortened(WORDS) == "The quick brown fox jumps over the lazy dog while the cat looks on from the…"
    assert shortened(WORDS[:TITLE]) == WORDS[:TITLE]
    assert shortened("a" * 79 + " b") == "a" * 79 + "…"
    assert shortened("a" * 80 + " b") == "a" * 79 + "…"


@pytest.mark.parametrize("line", ["検索" * 60, "第1章 " + "全文検索" * 40, "x" * 100], ids=["Han", "one blank", "word"])
def test_a_line_without_blanks_is_cut_at_the_limit(line: str) -> None:
    """A blank near the beginning is no place to cut at."""
    assert shortened(line) == line[: TITLE - 1] + "…"


def test_a_letter_keeps_its_marks() -> None:
    """Thai vowels and tones are not torn off."""
    line = "ก" * 78 + "ที่" * 10
    assert shortened(line) == "ก" * 78 + "…"


@given(st.text(alphabet=st.sampled_from("ab \u3000漢ที่é"), max_size=200))
def test_a_title_is_never_longer_than_the_limit_and_begins_as_the_line(line: str) -> None:
    """And a short line is its own title."""
    found = shortened(line)
    assert len(found) <= TITLE
    assert found == line if len(line) <= TITLE else line.startswith(found[:-1]) and found[-1] == "…"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Head\n\nbody", "Head"),
        ("## *Second* ##\n", "*Second*"),
        ("\n\n  ---\n\n> - [ ] do **it** `now`\n", "do it now"),
        ("<p align='center'>\n<h1>Big</h1>\n", "Big"),
        ("<!-- note -->\nrest", "rest"),
        ("<div class=\n'x'>text</div>", "'x'>text"),
        ("![logo](a.png) [Home](b.md) and [[c|d]]", "logo Home and d"),
        ("a < b and c > d", "a < b and c > d"),
        ("#idea later", "idea later"),
        ("—", "—"),
        ("###\n\n#", None),
        ("", None),
        ("x" * 2000, "x" * 1000),
        ("\n" * 60 + "deep", "deep"),
    ],
)
def test_the_first_line_is_told_without_markup(text: str, title: str | None) -> None:
    """The first that says something; a text that is nothing but markup has none."""
    assert first_line(text) == title


@pytest.mark.parametrize(
    ("metadata", "name", "content", "location", "title"),
    [
        ({"title": "T"}, "name", {"title": "J"}, Location("/r", "f.md"), "T"),
        ({"title": "  "}, "name", {"title": "J"}, Location("/r", "f.md"), "name"),
        ({"title": 3}, None, {"title": "J"}, Location("/r", "f.md"), "3"),
        ({}, None, {"title": True}, Location("/r", "d/f.g.md"), "f.g"),
        ({}, None, "# Row", Location("/r", "f.csv", 2), "Row"),
        ({}, None, [1], None, None),
    ],
)
def test_a_title_is_what_says_it_first(
    metadata: Any, name: str | None, content: Any, location: Location | None, title: str | None
) -> None:
    """The metadata, the name, the JSON, the file, the text."""
    assert title_of(metadata, name, content, location) == title


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("intro", ("One",)),
        ("deep", ("One", "Two", "*Three*")),
        ("next", ("One", "Second two")),
        ("after the code", ("One", "Second two")),
        ("last", ("Final",)),
        ("## Two", ("One", "Two")),
    ],
)
def test_a_passage_stands_under_the_headings_above_it(place: str, expected: tuple[str, ...]) -> None:
    """Deeper ones end with the next of the same level; what looks like one in code is none."""
    text = "# One\nintro\n## Two ##\n### *Three*\ndeep\n## Second two\nnext\n"
    text += "~~~~\n# no\n~~~\n# no\n~~~~\nafter the code\n#tag\n# Final\nlast"
    assert headings_at(text, text.index(place)) == expected
    assert headings_at("no heading", 3) == ()


def test_titles_and_aliases_are_no_words_of_properties() -> None:
    """They are searched as names; of the others texts count, and lists of texts."""
    metadata = {"title": "T", "alias": "A", "aliases": ["B"], "status": "open", "tags": ["a", "b"], "rank": {"n": 3}}
    assert property_words(metadata) == "open\na\nb"


@pytest.mark.parametrize(
    ("metadata", "aliases"),
    [
        ({}, ()),
        ({"aliases": "One"}, ("One",)),
        ({"alias": ["One", " Two "]}, ("One", "Two")),
        ({"alias": "Two", "aliases": ["One", "", 3, "Two", "One"]}, ("One", "Two")),
        ({"aliases": {"a": "One"}, "alias": None}, ()),
    ],
    ids=str,
)
def test_other_names_are_texts_of_either_property_each_once(
    metadata: dict[str, object], aliases: tuple[str, ...]
) -> None:
    assert aliases_of(metadata) == aliases


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("#a, b/c,, a", ("a", "b/c")),
        (["a, b", " #c ", 7, None, ["d"]], ("a, b", "c", "7")),
        ({"a": 1}, ()),
        (None, ()),
    ],
    ids=str,
)
def test_tags_are_a_list_or_a_text_with_commas(value: Any, tags: tuple[str, ...]) -> None:
    assert tags_of(value) == tags


def test_a_tag_is_also_those_above_it() -> None:
    assert with_parents(["a/b/c", "d", "a"]) == ("a", "a/b", "a/b/c", "d")
