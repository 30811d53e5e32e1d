"""What is sure enough to be written in a word's place, and what is another word."""

from __future__ import annotations

import pytest

from infospace.data.misspelling import closest_spelling, is_misspelling


@pytest.mark.parametrize(
    ("written", "other"),
    [("ministry", "minister"), ("generate_ministry", "generate_minister"), ("generate_passport", "generate_password")],
)
def test_two_letters_that_are_others_make_another_word(written: str, other: str) -> None:
    """However long the word is, and though no list of words has it."""
    assert not is_misspelling(written, other)
    assert closest_spelling(written, [other]) is None


@pytest.mark.parametrize("written", ["minsitre", "ministter", "miniser", "mniister", "minitser", "minsterr"])
def test_a_letter_too_many_or_too_few_or_in_the_wrong_place_is_a_slip(written: str) -> None:
    assert closest_spelling(f"generate_{written}", ["generate_minister", "list_ministers"]) == "generate_minister"
