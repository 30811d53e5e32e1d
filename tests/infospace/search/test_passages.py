"""Passages: everything is covered, everything fits, and cuts fall where a reader would cut."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infospace.core.errors import ModelError
from infospace.search.embedding.embedder import Embedder
from infospace.search.embedding.passages import PIECE, Passage, split
from infospace.search.models.find import ModelInfo

sys.path.insert(0, str(Path(__file__).parents[1]))

from counting import calls

ROOM = 254


def words_of(text: str) -> list[tuple[int, int]]:
    """A tokenizer for tests: a run of letters is one token, every other non-blank character is one too."""
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def halves_of(text: str) -> list[tuple[int, int]]:
    """A tokenizer that gives some characters two tokens and leaves NUL out, as real ones do."""
    places = [(at, at + 1) for at, character in enumerate(text) if not character.isspace() and character != "\0"]
    return [place for place in places for _ in range(1 + (text[place[0]] == "한"))]


@pytest.fixture(scope="module")
def embedder(model: ModelInfo) -> Embedder:
    """The default model in this process."""
    return Embedder(model)


prose = st.text(st.sampled_from("ab .\n#\t한東!?\0\u2028é"), max_size=400)
windows = st.integers(3, 40)


@given(text=prose, window=windows, tokens=st.sampled_from([words_of, halves_of]))
@example(text="\0", window=3, tokens=words_of)
@example(text="한" * 9, window=3, tokens=halves_of)
def test_every_character_that_is_not_blank_is_in_one_passage(text: str, window: int, tokens: object) -> None:
    """Passages are in order, apart, trimmed and not empty; between them is nothing but blanks."""
    passages = split(text, words_of if tokens is words_of else halves_of, window)
    at = 0
    for passage in passages:
        assert at <= passage.start < passage.end <= len(text)
        assert text[at : passage.start].strip() == ""
        inside = text[passage.start : passage.end]
        assert inside == inside.strip()
        at = passage.end
    assert text[at:].strip() == ""
    assert bool(passages) == bool(text.strip())


@given(text=prose, window=windows)
def test_every_passage_fits_the_window(text: str, window: int) -> None:
    """Cut between words, a passage has at most the window's tokens without the two special ones."""
    for passage in split(text, words_of, window):
        assert len(words_of(text[passage.start : passage.end])) <= window - 2


@given(text=prose, window=windows)
def test_cutting_is_deterministic_and_a_text_that_fits_stays_whole(text: str, window: int) -> None:
    """The same text gives the same passages; one that fits is cut nowhere."""
    passages = split(text, words_of, window)
    assert split(text, words_of, window) == passages
    if len(words_of(text)) <= window - 2:
        assert len(passages) <= 1


@given(text=prose, window=windows)
def test_there_are_few_passages(text: str, window: int) -> None:
    """However fine the breaks, no more than twice as many as must be, and two."""
    must = -(-len(words_of(text)) // (window - 2))
    assert len(split(text, words_of, window)) <= 2 * must + 2


@settings(deadline=None)
@given(st.text(st.sampled_from("aeiorst .\n-_/%Zéß한東→😀\u0301\u200b\ud800"), min_size=300, max_size=3000))
def test_every_passage_fits_the_real_window(embedder: Embedder, text: str) -> None:
    """Tokenised on its own, as it will be embedded, no passage is longer than what the model sees."""
    for passage in split(text, embedder.offsets, 256):
        assert len(embedder.offsets(text[passage.start : passage.end])) <= ROOM


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("end of it.\n\n", "# Heading\n"),
        ("end of it.\n", "## Heading\n"),
        ("end of it.\n\n", "New paragraph "),
        ("end of it\n \n", "new paragraph "),
        ("- an item\n", "- another item "),
        ("the end. ", "Then more "),
        ('"the end." ', "Then more "),
        ("完了。", "次の "),
    ],
    ids=["heading", "tight heading", "paragraph", "blank line", "line", "sentence", "quotation", "ideographs"],
)
def test_the_cut_falls_at_the_strongest_break(before: str, after: str) -> None:
    """A break beats all weaker ones around it, though those lie nearer to the middle."""
    filler = "word " * 90
    text = filler + before + after + "word " * 110
    passages = split(text, words_of, 162)
    assert [passage.start for passage in passages] == [0, len(filler + before)]


@pytest.mark.parametrize(
    ("strong", "weak"),
    [("\n# ", "\n\n"), ("\n\n", "\n"), ("\n", ". "), (". ", " ")],
    ids=["heading", "paragraph", "line", "sentence"],
)
def test_a_break_beats_the_next_weaker_one_that_lies_in_the_middle(strong: str, weak: str) -> None:
    """Of the two the stronger one is cut at."""
    before = "word " * 89 + "word" + strong
    text = before + "word " * 9 + "word" + weak + "word " * 100
    _, second = split(text, words_of, 162)
    assert second.start == len(before.removesuffix("# "))


def test_without_a_better_break_the_parts_are_equal_and_words_stay_whole() -> None:
    """260 words make 130 and 130, not 254 and 6."""
    text = " ".join(["word"] * 260)
    first, second = split(text, words_of, 256)
    assert (first, second) == (Passage(0, 130 * 5 - 1), Passage(130 * 5, len(text)))


@pytest.mark.parametrize("marks", [".(", "東京", "”—"])
def test_a_word_is_not_cut_where_a_mark_offers_itself(embedder: Embedder, marks: str) -> None:
    """In a text without blanks, cuts fall beside punctuation or an ideograph, never within a word."""
    word = "antidisestablishmentarianism"
    assert len(embedder.offsets(word)) > 4
    text = f"{word}{marks[0]}{word}s{marks[1]}" * 300
    passages = split(text, embedder.offsets, 256)
    assert len(passages) > 10
    assert all({text[passage.start - 1], text[passage.start]} & set(marks) for passage in passages[1:])


def test_a_strong_break_near_the_beginning_makes_no_crumb() -> None:
    """A heading after three words is not worth a passage of three words."""
    text = "one two three\n\n# Heading " + "word " * 400
    first = split(text, words_of, 256)[0]
    assert len(words_of(text[first.start : first.end])) > 60


def test_a_text_without_a_visible_character_has_no_passage() -> None:
    """Blanks of any kind are nothing to embed; a NUL is not blank and is covered."""
    assert split("", words_of, 256) == []
    assert split(" \n\t\u2003\u2028", words_of, 256) == []
    assert split(" \0 ", lambda _: [], 256) == [Passage(1, 2)]


def test_a_window_without_room_is_refused() -> None:
    """Two special tokens leave nothing of a window of two."""
    assert split("a", words_of, 3) == [Passage(0, 1)]
    with pytest.raises(ModelError, match="no room"):
        split("a", words_of, 2)


def test_long_texts_are_tokenised_in_pieces_at_blanks() -> None:
    """No piece is longer than PIECE, none cuts a word, and together they are the text."""
    pieces: list[str] = []

    def tokens(text: str) -> list[tuple[int, int]]:
        pieces.append(text)
        return words_of(text)

    text = "unbelievable " * 20_000
    passages = split(text, tokens, 256)
    assert "".join(pieces) == text
    assert len(pieces) > 3
    assert all(len(piece) <= PIECE and piece.split() == ["unbelievable"] * len(piece.split()) for piece in pieces)
    assert all(len(text[passage.start : passage.end].split()) <= ROOM for passage in passages)


@pytest.mark.parametrize(
    "unit",
    ["a", " ", "word ", "東", "a.", "# h\n\n", "\n", "\0"],
    ids=["one word", "blanks", "words", "ideographs", "marks", "headings", "lines", "NUL"],
)
def test_the_work_grows_with_length_and_not_faster(unit: str) -> None:
    """Eight times the text takes no more than nine times the steps, whatever it is made of."""
    assert steps(unit, 320_000) < 9 * steps(unit, 40_000) + 100


def steps(unit: str, size: int) -> int:
    """Cut a text of one repeated unit; return the calls that took, with the offsets known before."""
    text = unit * (size // len(unit))
    known: dict[str, list[tuple[int, int]]] = {}
    split(text, lambda piece: known.setdefault(piece, cut(piece, unit)), 256)
    return calls(lambda: split(text, known.__getitem__, 256))


def cut(piece: str, unit: str) -> list[tuple[int, int]]:
    """Offsets of a text of one repeated unit; of one word, one token."""
    return [(0, len(piece))] if unit == "a" else quick(piece, unit)


def quick(piece: str, unit: str) -> list[tuple[int, int]]:
    """Offsets of a text of one repeated unit, quickly: a token for each of its first characters."""
    if not unit.strip("\0 \n"):
        return []
    return [(at, at + 1) for at in range(0, len(piece), len(unit)) if not piece[at].isspace()]
