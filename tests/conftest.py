"""What tests of every room share: the real embedding model, and a space of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from infospace import Space
    from infospace.search.model import ModelInfo


@pytest.fixture(scope="session")
def model() -> ModelInfo:
    """The default weights, fetched once for the machine."""
    from infospace.search.model import get_model

    return get_model()


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Space]:
    """An empty space in a file."""
    from infospace import open_space

    with open_space(tmp_path / "space.db") as opened:
        yield opened
