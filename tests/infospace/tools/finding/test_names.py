"""What a mistyped word was meant to be."""

from __future__ import annotations

import pytest

from infospace.tools.search.lexical.typos import Names

NAMES = Names([["browser", "click"], ["read", "file"], ["create", "pull", "request"], ["kubernetes"], []])


@pytest.mark.parametrize(
    ("word", "meant"),
    [("brwoser", "browser"), ("clik", "click"), ("kubernets", "kubernetes"), ("reqest", "request"), ("read", "read")],
)
def test_a_word_with_a_typing_error_is_the_word_of_a_name(word: str, meant: str) -> None:
    """The one with which it shares most trigrams."""
    found = NAMES.closest_word(word)
    assert found is not None
    assert found[0] == meant
    assert 0 < found[1] <= 1


@pytest.mark.parametrize("word", ["weather", "zzz", "fil", "", "日本語です", "clerk"])
def test_a_word_that_is_like_none_stays_unknown(word: str) -> None:
    """And so does one of three letters or less."""
    assert NAMES.closest_word(word) is None


def test_a_whole_name_is_known_by_its_letters() -> None:
    """Where the words alone are too short to tell."""
    alike = NAMES.likeness(["red", "fiel"])
    assert alike.argmax() == 1
    assert (NAMES.likeness(["weather", "tomorrow"]) == 0).all()


def test_no_names_are_like_nothing() -> None:
    """An empty index answers."""
    assert Names([]).closest_word("browser") is None
    assert Names([]).likeness(["browser"]).tolist() == []


def test_a_word_that_only_begins_alike_is_no_typing_error() -> None:
    """Letters count as well as trigrams: who says hello does not ask for help."""
    names = Names([["help"], ["head"], ["image"]])
    assert [names.closest_word(word) for word in ("hello", "imagemagick")] == [None, None]
    assert names.likeness(["hello"]).tolist() == [0, 0, 0]
    assert names.closest_word("helpp") == ("help", pytest.approx(8 / 11))
