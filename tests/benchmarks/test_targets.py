"""Targets are judged by what was found, and say so where nothing was."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import discovery
import processes
from figures import NOT_INSTALLED, NOT_MEASURED, Spread, Table
from targets import HUNDRED, TARGETS, judged

PEER = "ten best with their texts, exact, 100,000 notes: sqlite-vec : discover-notes"


def test_without_figures_every_target_is_said_to_be_unmeasured() -> None:
    """None is met, and none is missed."""
    assert [row["found"] for row in judged({}).values()] == [NOT_MEASURED] * len(TARGETS)
    assert {row[""] for row in judged({}).values()} == {""}


def test_a_peer_that_is_missing_is_said_to_be_missing() -> None:
    """So the ratio with it is no number."""
    table: Table = {"sqlite-vec, exact": {HUNDRED: NOT_INSTALLED}, discovery.EXACT: {HUNDRED: Spread(9.0, 9.0)}}
    assert judged({"discovery": table})[PEER]["found"] == NOT_INSTALLED


def test_a_ratio_is_of_medians_and_is_met_from_its_bound_on() -> None:
    """Three times as fast is enough, less is not."""
    for theirs, said in ((27.0, "met"), (26.9, "MISSED")):
        table: Table = {
            "sqlite-vec, exact": {HUNDRED: Spread(theirs, 99.0)},
            discovery.EXACT: {HUNDRED: Spread(9.0, 1.0)},
        }
        assert judged({"discovery": table})[PEER][""] == said


def test_of_several_commands_the_slowest_counts() -> None:
    """It is missed by one that takes too long."""
    table: Table = {name: {"median": 0.2} for name in processes.LIGHT}
    row = f"the slowest of {', '.join(processes.LIGHT)}"
    assert judged({"processes": table})[row] == {"target": "≤ 0.25 s", "found": "0.200 s", "": "met"}
    table[processes.LIGHT[1]] = {"median": 0.3}
    assert judged({"processes": table})[row][""] == "MISSED"
