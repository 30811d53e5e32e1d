"""What the benchmarks of rows and queries measure is the real thing, seen at a small size."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import querying
import rows
from figures import figure
from targets import AIMS

from infospace import Collection, Note, open_space
from infospace.core.ids import Kind
from infospace.data.json_text import dump


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows, once."""
    monkeypatch.setattr(rows, "ROWS", 600)
    monkeypatch.setattr(rows, "TURNS", 1)
    monkeypatch.setattr(querying, "ROWS", 600)
    monkeypatch.setattr(querying, "ROUNDS", 1)


@pytest.mark.parametrize("verb", rows.STEPS)
def test_a_step_is_run_with_its_journal_and_what_it_leaves_is_counted(few: None, verb: str, tmp_path: Path) -> None:
    """Each verb that has an aim has a figure; an item of any Collection has its share of what is no content."""
    assert verb in AIMS
    cells = rows._step(tmp_path, verb)
    assert 0 < cells[rows.SECONDS].p50 < 20  # type: ignore[union-attr]  # it is a spread
    path = tmp_path / f"{verb} 0.db"
    size = path.stat().st_size
    with open_space(path) as space, space.store.reading() as snapshot:
        assert [row.type for row in snapshot.steps("run_1")] == [verb]
        notes, collections = (list(snapshot.listing(kind, kept=None)) for kind in (Kind.NOTE, Kind.COLLECTION))
    contents = sum(len(dump(note.content).encode()) for note in notes if isinstance(note, Note))
    items = sum(len(one.members) for one in collections if isinstance(one, Collection))
    assert cells[rows.BYTES] == pytest.approx((size - contents) / items)


def test_a_query_and_duckdb_alone_are_told_apart(few: None) -> None:
    """Each is timed by itself, so that a busy machine may give any of them the most."""
    table = querying.run()["querying"]
    assert list(table) == [querying.GROUPED, querying.TOP]
    for cells in table.values():
        whole, engine, alone, ratio = (figure(cell) for cell in cells.values())
        assert min(whole, engine, alone) > 0
        assert ratio == engine / alone
