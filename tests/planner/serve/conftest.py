"""The servers of these tests begin with the packages loaded."""

from __future__ import annotations

import pytest

COLD = ("test_serve_stdio.py",)
"""Here servers are started as a client starts them."""


@pytest.fixture(scope="module", autouse=True)
def warm_servers(request: pytest.FixtureRequest) -> None:
    """Spare each server the second in which it imports what the others have imported."""
    if request.path.name not in COLD:
        request.getfixturevalue("warm_processes")
