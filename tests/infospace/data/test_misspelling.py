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


@pytest.mark.parametrize(
    ("written", "other", "is_slip"),
    [
        ("getUser", "get_user", True),
        ("user_get", "get_user", False),
        ("delete_user", "get_user", False),
        ("min_price", "max_price", False),
        ("v1", "v2", False),
        ("v10", "v11", False),
        ("notes", "note", True),
        ("note", "notes", True),
        ("news", "new", True),
        ("note", "noted", False),
        ("xearch", "search", True),
        ("bat", "cat", False),
        ("ame", "name", True),
        ("am", "ham", False),
        ("mnisteer", "minister", True),
        ("sminarr", "seminar", False),
        ("mministeer", "minister", True),
        ("iministeer", "minister", False),
    ],
)
def test_a_slip_is_one_letter_or_two_of_a_long_word_that_begins_alike(written: str, other: str, is_slip: bool) -> None:
    """In a name as well as alone; a word that is one by itself is none, but for its plural."""
    assert is_misspelling(written, other) is is_slip
    assert is_misspelling(f"{written}_id", f"{other}_id") is is_slip
    assert not is_misspelling("mnisteer", "minister", 1)


def test_of_several_that_are_meant_the_nearest_is_the_one() -> None:
    """As it is written, else of the same words; of two that are as near none."""
    assert closest_spelling("get_user", ["getUser", "get_user", "get_users"]) == "get_user"
    assert closest_spelling("getuser", ["get_users", "get_user"]) == "get_user"
    assert closest_spelling("getuser", ["get_user", "getUser"]) is None
    assert closest_spelling("get_usr", ["get_user", "get_usir"]) is None
    assert closest_spelling("get_usr", ["put_user", "get_user"]) == "get_user"
