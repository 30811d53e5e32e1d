"""Made spaces are what they say: every Note is there, embedded with its made vector."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from made import made_space, made_vectors


def test_every_note_of_a_made_space_is_embedded(tmp_path: Path, model: Any) -> None:
    """Else a benchmark of search would measure a space in which little is searched, and the time of embedding."""
    del model
    with made_space(tmp_path / "made.db", 30) as space, space.store.reading() as snapshot:
        rows = snapshot.rows(space.embedding.key)
        assert snapshot.pending_count() == 0
        assert np.array_equal(rows.vectors, made_vectors(30))
