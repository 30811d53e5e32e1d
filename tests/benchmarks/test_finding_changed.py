"""What the what-if tables change is still there, under the names they have."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from finding_changed import CHANGES, changed


@pytest.mark.parametrize("what", CHANGES)
def test_every_change_finds_its_place(what: str) -> None:
    """A module or a number that was renamed would end the benchmark midway."""
    with changed(CHANGES[what]):
        pass
