"""Words of texts, and the parts of requests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.tools.search.tokenize import MOST_PARTS, literal, phrase_ids, split_request, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("List the files of directories", ["list", "file", "directory"]),
        ("readCSVFiles", ["read", "csv", "file"]),
        ("What can you do for me?", []),
        ("Café ÜBERSICHT naïve", ["cafe", "ubersicht", "naive"]),
        ("文書を検索", ["文書", "書を", "を検", "検索"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ﬁle", ["file"]),
        ("", []),
    ],
)
def test_a_text_has_the_words_that_a_tool_may_have(text: str, words: list[str]) -> None:
    """In small letters, names split, without stop words, plurals and accents; pairs where there are no spaces."""
    assert tokenize(text) == words


@given(st.text(), st.text())
def test_the_words_of_two_texts_are_those_of_each(text: str, other: str) -> None:
    """None is empty or has a capital; what stands apart from a text is nothing to its words."""
    words = tokenize(text)
    assert all(words)
    assert not any(word != word.lower() for word in words if word.isascii())
    assert tokenize(f"{text}\n{other}") == [*words, *tokenize(other)]


@given(st.lists(st.sampled_from(["file", "Reads", "tools", "a", "Wetter", "the", "x2", "Café", "日本語"]), max_size=6))
def test_signs_between_words_are_none(words: list[str]) -> None:
    """Neither does the first letter's case matter."""
    plain = tokenize(" ".join(words))
    for between in (", ", "-", "/", "\n", " * "):
        assert tokenize(between.join(words)) == plain
    assert tokenize(" ".join(word.capitalize() for word in words)) == plain


def test_a_request_of_several_sentences_is_also_taken_by_sentence() -> None:
    """And whole; what is too short to ask for anything belongs to its neighbour."""
    assert split_request("Find a flight. Book the hotel; then pay for it") == [
        "Find a flight.",
        "Book the hotel;",
        "then pay for it",
        "Find a flight. Book the hotel; then pay for it",
    ]
    assert split_request("Hello! Find a flight.") == ["Hello! Find a flight."]
    assert split_request("Find a flight. Thanks!") == ["Find a flight. Thanks!"]
    assert split_request("Version 2.5 of a.b.c is needed") == ["Version 2.5 of a.b.c is needed"]
    assert split_request("ファイルを読む。天気を調べる。")[:2] == ["ファイルを読む。", "天気を調べる。"]


@given(st.lists(st.sampled_from(["Read the file now.", "Ok.", "Go on\n", "and search the web;", "weiter"]), min_size=1))
def test_the_parts_are_few_and_leave_nothing_out(sentences: list[str]) -> None:
    """Every word of the request stands in one of its parts, in order."""
    request = " ".join(sentences)
    parts = split_request(request)
    assert 1 <= len(parts) <= MOST_PARTS
    assert parts[-1] == request.strip()
    if len(parts) > 1:
        assert " ".join(parts[:-1]).split() == request.split()


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("cities", "city"),
        ("aies", "aie"),
        ("eies", "eie"),
        ("files", "file"),
        ("boxes", "boxe"),
        ("shoes", "shoes"),
        ("trees", "trees"),
        ("raes", "raes"),
        ("status", "status"),
        ("class", "class"),
        ("bus", "bus"),
        ("gas", "gas"),
        ("tabs", "tab"),
    ],
)
def test_the_ending_of_a_plural_is_taken_away(word: str, stem: str) -> None:
    """Not of short words, nor where the ending belongs to the word."""
    assert tokenize(word) == [stem]


def test_what_a_tool_says_of_itself_is_known_whole_and_by_sentence() -> None:
    """What has no words says nothing."""
    said = "Finds a flight to Oslo. Books the best hotel."
    assert phrase_ids(said) == {literal(part) for part in split_request(said)}
    assert len(phrase_ids(said)) == 3
    assert (phrase_ids("!!! …"), phrase_ids(""), literal("?!")) == (frozenset(), frozenset(), 0)
    assert literal("Read the FILE!") == literal("read the file") != literal("the file read")
