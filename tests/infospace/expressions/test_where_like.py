from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.core.errors import Invalid
from infospace.data import like as module
from infospace.data.like import fold, like

sys.path.insert(0, str(Path(__file__).parents[1]))

from counting import lines


@pytest.mark.parametrize(
    ("text", "pattern", "fits"),
    [
        ("Attention", "attention", True),
        ("Attention", "att%", True),
        ("Attention", "%TION", True),
        ("Attention", "%tent%", True),
        ("Attention", "a_t_n%n", True),
        ("Attention", "att", False),
        ("ab", "ab_", False),
        ("", "", True),
        ("", "%", True),
        ("", "_", False),
        ("a", "%%", True),
        ("aa", "a%a", True),
        ("a", "a%a", False),
        ("two\nlines", "two%lines", True),
        ("two\nlines", "two_lines", True),
        ("a.c", "a.c", True),
        ("abc", "a.c", False),
        ("[x]", "[x]", True),
        ("ÉTÉ", "été", True),
        ("ΟΔΟΣ", "%οδος", True),
        ("Straße", "STRA_E", True),
        ("STRASSE", "straße", False),
        ("İx", "_X", True),
        ("\ud800x", "_x", True),
    ],
)
def test_like_looks_at_the_whole_text_and_not_at_its_case(text: str, pattern: str, fits: bool) -> None:
    """`%` is any text, `_` one character, all else itself, in any script."""
    assert like(pattern, None)(text) is fits


def test_escape_makes_the_next_character_itself() -> None:
    """With it `%`, `_` and the escape character can be looked for."""
    assert like("100!%", "!")("100%")
    assert not like("100!%", "!")("100 ")
    assert like("a!_!!", "!")("A_!")
    assert like("%%a", "%")("%A")
    assert not like("%%a", "%")("xa")
    with pytest.raises(Invalid, match="ends with its escape character"):
        like("100!", "!")


def slow(text: str, pattern: str) -> bool:
    """Say the same by the textbook's table of prefixes."""
    row = [True] + [False] * len(text)
    for letter in pattern:
        after = [letter == "%" and row[0]]
        for place, character in enumerate(text):
            same = letter in ("_", character)
            after.append(after[-1] or row[place + 1] if letter == "%" else same and row[place])
        row = after
    return row[-1]


@settings(deadline=None, max_examples=400)
@given(st.text(alphabet="ab", max_size=12), st.text(alphabet="ab%_", max_size=8))
def test_like_agrees_with_the_textbook(text: str, pattern: str) -> None:
    """Taking the first place for each piece finds a fit whenever there is one."""
    assert like(pattern, None)(text) is slow(text, pattern)


@settings(deadline=None, max_examples=50)
@given(st.text(alphabet="ab", min_size=60, max_size=90), st.integers(0, 20), st.integers(65, 70), st.data())
def test_long_pieces_with_gaps_are_found_too(text: str, start: int, length: int, data: st.DataObject) -> None:
    """Beyond the short pieces another algorithm looks for them, and finds the same."""
    piece = "".join("_" if data.draw(st.booleans()) else c for c in text[start : start + length])
    assert like(f"%{piece}%", None)(text)
    for pattern in (f"%{piece}", f"{piece}%", piece, f"%b{piece}%"):
        assert like(pattern, None)(text) is slow(text, pattern)
    assert like(f"%{'a' * 40}{'_' * 30}c%", None)(f"b{'a' * 40}{text[:30]}c")


@given(st.text())
def test_taking_the_case_out_keeps_the_length(text: str) -> None:
    """So `_` stays one character of the text."""
    assert len(fold(text)) == len(text)


def work_of(pattern: str, size: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Look for a pattern in a text that it does not fit; return characters looked at, and lines executed."""
    looked = 0

    class Counted:
        """A piece that counts what it looks at."""

        def __init__(self, letters: Any) -> None:
            self._piece = make(letters)
            self.size = self._piece.size

        def at(self, text: str, start: int) -> bool:
            nonlocal looked
            looked += self.size
            return self._piece.at(text, start)

        def find(self, text: str, start: int, end: int) -> int:
            nonlocal looked
            found = self._piece.find(text, start, end)
            looked += max(0, (end if found < 0 else found + self.size) - start)
            return found

    make = module._piece
    monkeypatch.setattr(module, "_piece", Counted)
    fits = like.__wrapped__(pattern, None)
    answers: list[bool] = []
    executed = lines(module, lambda: answers.append(fits("a" * size)))
    assert answers == [False]
    assert looked
    return looked + executed


SIZE = 100_000


@pytest.mark.parametrize(
    "pattern",
    [
        "a%" * 40 + "b",
        "a%" * 40 + "b%",
        "%a_b" * 40,
        "%a_b%",
        "%" + "a_" * 10_000 + "b%",
        "%" + "a" * 10_000 + "b%",
        "_%" * 1_000 + "b",
    ],
)
def test_like_takes_no_longer_than_the_text_is_long(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patterns that bring a backtracking matcher to a halt: no piece goes over again what another went over.

    Characters that are looked at in searching, and lines executed, are counted.
    """
    assert work_of(pattern, SIZE, monkeypatch) < 5 * SIZE


def test_a_long_piece_is_found_whole_behind_another() -> None:
    """Not where its first character is missing, at the end of what stands before it."""
    fits = like("x%a" + "_" * 70 + "b%", None)
    assert fits("xa" + "c" * 70 + "b")
    assert fits("x.a" + "c" * 70 + "b.")
    assert not fits("x" + "c" * 70 + "b")
    assert not fits("a" + "c" * 70 + "b")


def test_a_long_piece_fits_where_the_text_begins_and_ends() -> None:
    """And not one character further on."""
    piece = "a" + "_" * 70 + "b"
    text = "a" + "c" * 70 + "b"
    for pattern, fitting, other in (
        (piece, text, "c" + text[:-1]),
        (f"{piece}%", f"{text}.", f".{text}"),
        (f"%{piece}", f".{text}", f"{text}."),
        (f"%{piece}", text + text, text + text[1:-1]),
        (f"x%{piece}", f"xx{text}", f"x{text}x"),
    ):
        assert like(pattern, None)(fitting), pattern
        assert not like(pattern, None)(other), pattern
