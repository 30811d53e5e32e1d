"""How much one tool is like another: the cosine of both texts, else the share of words that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from infospace import Space
from infospace.core.tool import Tool
from infospace.tools.search.corpus import IndexedTool
from infospace.tools.search.similar import most_similar

COPY = Tool("disk", "copy_file", "Copy a file elsewhere.")
MOVE = Tool("disk", "move_file", "Move a file elsewhere.")
MAIL = Tool("post", "send_mail", "Send a letter.")


@pytest.fixture
def known(space: Space) -> list[IndexedTool]:
    """What is read of the three tools, without vectors."""
    return [replace(one) for one in space.finder._corpus([COPY, MOVE, MAIL]).tools]


def scores(known: Sequence[IndexedTool]) -> dict[str, float]:
    found = most_similar(known, [COPY, MOVE, MAIL], COPY, 5)
    return {one.tool.name: one.score for one in found}


def vectors(known: Sequence[IndexedTool], *rows: Any, key: str = "model") -> None:
    for one, row in zip(known, rows, strict=True):
        one.vector, one.key = np.array(row, np.float32), key


def test_without_vectors_it_is_the_share_of_the_words_of_both(known: list[IndexedTool]) -> None:
    """Copy, file, elsewhere; move, file, elsewhere: two of four. What has no word in common is not told."""
    assert scores(known) == {"move_file": 0.5}


def test_a_share_is_rounded_to_six_decimals(known: list[IndexedTool]) -> None:
    known[0].texts, known[1].texts = ("copy", "file"), ("copy", "letter")
    assert scores(known) == {"move_file": round(1 / 3, 6)}


def test_tools_of_one_word_that_is_the_same_are_wholly_alike(known: list[IndexedTool]) -> None:
    known[0].texts = known[1].texts = ("copy", "copies")
    assert scores(known) == {"move_file": 1.0}


def test_tools_that_say_nothing_are_not_alike(known: list[IndexedTool]) -> None:
    for one in known:
        one.texts = ("", "")
    assert scores(known) == {}


def test_with_vectors_it_is_their_cosine_from_nothing_to_one(known: list[IndexedTool]) -> None:
    """What rounding makes more than 1 is 1; what is contrary is not alike."""
    vectors(known, [1.0, 0.0], [0.6, 0.8], [-1.0, 0.0])
    assert scores(known) == {"move_file": 0.6}
    vectors(known, [1.0, 0.0], [1.00001, 0.0], [0.1234567, 0.99])
    assert scores(known) == {"move_file": 1.0, "send_mail": 0.123457}


@pytest.mark.parametrize("without", [0, 1])
def test_where_one_of_both_has_no_vector_words_decide(known: list[IndexedTool], without: int) -> None:
    vectors(known, [1.0, 0.0], [0.6, 0.8], [0.0, 1.0])
    known[without].vector = None
    assert scores(known)["move_file"] == 0.5


def test_vectors_of_different_models_are_not_compared(known: list[IndexedTool]) -> None:
    """Whose numbers have nothing to do with each other."""
    vectors(known, [1.0, 0.0], [0.6, 0.8], [0.6, 0.8])
    known[1].key = "another model"
    assert list(scores(known).items()) == [("send_mail", 0.6), ("move_file", 0.5)]
