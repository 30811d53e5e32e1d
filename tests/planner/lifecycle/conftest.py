"""A space for several worker processes, in a file and in a database."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import place_in_database

from infospace import open_space
from infospace.tools.local import LocalTools

sys.path.insert(0, str(Path(__file__).parent))

from teams import Team


@pytest.fixture(params=["file", "database"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Team]:
    """A space with the tools that the workers have; its checks hold at the end."""
    address = str(tmp_path / "space.db") if request.param == "file" else place_in_database(tmp_path)
    outside = LocalTools("outside")

    @outside.tool(destructive=True)
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        raise AssertionError(to)

    @outside.tool(read_only=True)
    async def look() -> str:
        """Look at something."""
        raise AssertionError

    with open_space(address) as space:
        space.tools.add(outside)
        yield Team(address, space, tmp_path / "ledger")
        assert space.store.check() == []
