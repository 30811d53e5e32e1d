"""What the benchmarks give to every runtime does what they say it does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import interpreter
from graphs import IN_MEMORY, INFOSPACE, OURS

from infospace import Space


@pytest.mark.parametrize("runtime", OURS)
def test_a_chain_comes_to_the_number_of_its_steps_each_time(runtime: str, tmp_path: Path) -> None:
    """So that what is measured is what the other runtimes do too."""
    with OURS[runtime].begin(tmp_path) as graphs:
        chain = graphs.chain(7)
        assert [chain(), chain()] == [7, 7]


def test_only_in_memory_nothing_is_left_on_the_disk(tmp_path: Path) -> None:
    """The figures of a space in memory have no file in them."""
    for runtime, left in ((IN_MEMORY, False), (INFOSPACE, True)):
        with OURS[runtime].begin(tmp_path) as graphs:
            graphs.chain(3)()
        assert any(tmp_path.iterdir()) is left


def test_a_run_without_rows_leaves_what_it_made_and_no_step(space: Space) -> None:
    """Its figures are those of all but the journal's rows."""
    steps = [{"type": "create-note", "value": 1, "out": "$x"}, {"type": "bind", "target": "$x", "out": "$y"}]
    interpreter._running(space, steps, interpreter._unwritten)(0)
    with space.store.reading() as snapshot:
        [row] = snapshot.runs(limit=5)
        assert (row.status, snapshot.steps(row.run)) == ("success", [])
