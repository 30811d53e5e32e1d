"""What tests of finding share: a finder whose space has the vectors of the made tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infospace import open_space
from infospace.search.models.find import ModelInfo
from infospace.tools.search.finder import Finder
from infospace.tools.search.results import ToolQuery

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "search"))

from made_tools import made_tools


@pytest.fixture(scope="session")
def finder(model: ModelInfo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finder]:
    """A finder; tests may ask it for any tools."""
    assert model.dimension == 384
    with open_space(tmp_path_factory.mktemp("finding") / "space.db") as space:
        space.finder.find(made_tools(), ToolQuery("anything"))
        yield space.finder
