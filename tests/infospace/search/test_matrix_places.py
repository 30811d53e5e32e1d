"""Where Notes stand in the matrix, by their numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from infospace.search.index.vector_matrix import Matrix

NUMBERS = st.sets(st.integers(1, 40), max_size=20).map(sorted)


@given(NUMBERS, NUMBERS, st.integers(1, 3))
def test_places_are_those_of_the_notes_that_are_there(there: list[int], asked: list[int], passages: int) -> None:
    """Ascending, each once however many passages it has; none of a Note without one."""
    owners = np.repeat(np.array(there, np.int64), passages)
    matrix = Matrix("a model")
    vectors = np.zeros((len(owners), 2), np.float32)
    matrix.put(np.stack([owners] * 4), vectors, np.array(there, np.int64), generation=1)
    found = matrix.places(np.array(asked, np.int64))
    assert found.tolist() == [place for place, number in enumerate(there) if number in asked]
