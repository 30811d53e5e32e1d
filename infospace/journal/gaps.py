"""The numbers that are missing among those of runs, and why."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.ids import number_of
from infospace.journal.rows import MISSING

NAMED = 5
"""How many missing runs a sentence names."""


def gaps_in(runs: Sequence[str]) -> list[str]:
    """Return the runs that are missing between the first and the last of some, latest first."""
    numbers = {number_of(run) for run in runs}
    between = range(max(numbers, default=0), min(numbers, default=0), -1)
    return [f"run_{number}" for number in between if number not in numbers]


def format_gaps(gaps: Sequence[str]) -> str:
    """Say which runs are missing."""
    more = f" and {len(gaps) - NAMED:,} more" if len(gaps) > NAMED else ""
    return f"no {', '.join(gaps[:NAMED])}{more}, {MISSING if len(gaps) == 1 else MISSING.replace('was', 'were', 1)}"
