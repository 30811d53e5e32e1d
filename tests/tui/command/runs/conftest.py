"""Most commands of these tests begin with the packages loaded."""

from __future__ import annotations

import pytest

COLD = (
    "test_resume_and_answer.py",
    "test_interrupting.py",
)
"""Here commands are started as a shell starts them."""


@pytest.fixture(scope="module", autouse=True)
def warm_commands(request: pytest.FixtureRequest) -> None:
    """Spare each command the time in which it imports what the others have imported."""
    if request.path.name not in COLD:
        request.getfixturevalue("warm_processes")
