"""Which Notes of a matrix are the best, where single precision and ties decide: in a matrix made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from infospace.search.index.vector_matrix import Matrix
from infospace.search.query import Cut
from infospace.search.top_k import Selection, best_cosine, select


def made(cosines: list[float]) -> Matrix:
    """Notes 1, 2, … of one passage each, with these cosines to the first axis."""
    numbers = np.arange(1, len(cosines) + 1, dtype=np.int64)
    vectors = np.array([[one, math.sqrt(max(0.0, 1 - one * one))] for one in cosines], np.float32)
    matrix = Matrix("a model")
    zeros = np.zeros(len(cosines), np.int64)
    matrix.put(np.stack([numbers, numbers, zeros, zeros]), vectors, numbers, generation=1)
    return matrix


QUERY = np.array([1, 0], np.float32)


def numbers(matrix: Matrix, found: Selection) -> list[int]:
    return [int(one) for one in matrix.owners[found.rows]]


def test_of_notes_that_single_precision_tells_apart_and_six_decimals_do_not_the_first_is_best() -> None:
    """Whatever the limit: those that it cuts off are compared exactly, too."""
    chance = np.random.default_rng(5)
    query = chance.standard_normal(384)
    query /= np.linalg.norm(query)
    other = chance.standard_normal((60, 384))
    other -= np.outer(other @ query, query)
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    vectors = (0.7 * query + math.sqrt(1 - 0.49) * other).astype(np.float32)
    matrix = Matrix("a model")
    owners, zeros = np.arange(1, 61, dtype=np.int64), np.zeros(60, np.int64)
    matrix.put(np.stack([owners, owners, zeros, zeros]), vectors, owners, generation=1)
    single = query.astype(np.float32)
    assert int(np.argmax(matrix.best(single))) != 0
    for limit in (1, 7, None):
        found = select(matrix, single, owners, 0.5, limit)
        assert numbers(matrix, found) == list(range(1, 61))[:limit]
        assert (set(found.cosines.tolist()), found.matched) == ({0.7}, 60)


def test_a_bonus_lifts_a_note_to_the_score_of_an_earlier_one_and_not_before_it() -> None:
    """Ties go by number, also where one is certain and the other lies at the threshold."""
    matrix = made([0.5, 0.4])
    found = select(matrix, QUERY, matrix.notes, 0.5, None, np.array([0.0, 0.1]))
    assert found.fused.tolist() == [0.5, 0.5]
    assert numbers(matrix, found) == [1, 2]
    assert (found.matched, found.near, found.max_below) == (2, 1, None)


def test_a_bonus_of_a_note_that_is_not_chosen_counts_for_nothing() -> None:
    matrix = made([0.9, 0.2, 0.3])
    found = select(matrix, QUERY, np.array([2, 3]), 0.25, None, np.array([0.5, 0.5, 0.0]))
    assert numbers(matrix, found) == [2, 3]
    assert (found.matched, found.near, found.max_below) == (2, 1, None)


@pytest.mark.parametrize(("threshold", "below"), [(0.5, 0.499999), (0.499999, 0.3), (0.3, None), (0.95, 0.9)])
def test_what_came_nearest_below_the_threshold_is_told_exactly(threshold: float, below: float | None) -> None:
    """To the sixth decimal, whatever stands at the threshold itself."""
    matrix = made([0.5, 0.499999, 0.3, 0.9])
    assert select(matrix, QUERY, matrix.notes, threshold, None).max_below == below


def test_a_note_that_six_decimals_put_below_the_threshold_came_nearest_to_it() -> None:
    """Though its cosine is above it before it is rounded."""
    matrix = made([0.4999994, 0.3])
    found = select(matrix, QUERY, matrix.notes, 0.4999992, None)
    assert (found.matched, found.max_below) == (0, 0.499999)


def test_the_best_cosine_is_that_of_the_chosen_notes() -> None:
    matrix = made([0.9, 0.2, -0.3])
    assert best_cosine(matrix, QUERY, matrix.notes) == 0.9
    assert best_cosine(matrix, QUERY, np.array([2, 3])) == 0.2
    assert best_cosine(matrix, QUERY, np.array([3])) == -0.3
    assert best_cosine(matrix, QUERY, np.array([], np.int64)) is None


@pytest.mark.parametrize(
    ("cut", "best", "least"),
    [
        (Cut(0.4), 0.9, 0.4),
        (Cut(0.4, None), None, 0.4),
        (Cut(0.4, 0.2), None, 0.4),
        (Cut(0.4, 0.2), 0.7, 0.55),
        (Cut(0.4, 0.2), 0.2, 0.2),
        (Cut(0.4, 0.2), 0.1, 0.2),
        (Cut(0.4, 1 / 3), 2 / 3, 0.566667),
    ],
)
def test_where_hits_end(cut: Cut, best: float | None, least: float) -> None:
    """At seven tenths of the way from chance to the best; below chance nothing is a hit."""
    assert cut.at(best) == least


def test_columns_follow_the_owners_when_rows_are_put_between_others() -> None:
    """A hit that is a field is shown by the best passage of its own Note."""
    matrix = Matrix("a model")
    owners = np.array([1, 1, 1, 4, 4], np.int64)
    starts, ends = np.array([-1, 0, 9, -1, -2], np.int64), np.array([0, 5, 12, 0, 0], np.int64)
    vectors = np.array([[1, 0], [0.1, 0.99], [0.6, 0.8], [1, 0], [0.5, 0.86]], np.float32)
    matrix.put(np.stack([owners, owners, starts, ends]), vectors, np.array([1, 4]), generation=1)
    found = select(matrix, QUERY, matrix.notes, 0.5, None)
    assert found.rows.tolist() == [0, 3]
    assert matrix.shown(QUERY, found.rows).tolist() == [2, 3]
