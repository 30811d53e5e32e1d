"""The embedded store does what every store must, in a file and in memory."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infospace.memory.sqlite import open_store
from infospace.memory.store import Store

sys.path.insert(0, str(Path(__file__).parent))
SUITES = (
    "store_suite",
    *(f"store_suite_{part}" for part in ("keeping", "discovery", "evidence", "journal", "properties")),
)
pytest.register_assert_rewrite(*SUITES)
resources, keeping, discovery, evidence, journal, properties = map(importlib.import_module, SUITES)


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store, which must be consistent at the end of each test."""
    opened = open_store(tmp_path / "space" if request.param == "file" else ":memory:", create=True)
    yield opened
    assert opened.check() == []
    opened.close()


@pytest.fixture(params=["file", "memory"])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens an empty store, as often as it is called."""
    opened: list[Store] = []

    def another() -> Store:
        if opened:
            opened.pop().close()
        address = tmp_path / f"space {next(count)}" if request.param == "file" else ":memory:"
        opened.append(open_store(address, create=True))
        return opened[-1]

    count = itertools.count()
    yield another
    for store in opened:
        store.close()


class TestMaking(resources.Making): ...


class TestRevising(resources.Revising): ...


class TestDeleting(keeping.Deleting): ...


class TestNaming(keeping.Naming): ...


class TestKeeping(keeping.Keeping): ...


class TestSearched(discovery.Searched): ...


class TestEmbedding(discovery.Embedding): ...


class TestGenerations(discovery.Generations): ...


class TestEvidence(evidence.EvidenceReading): ...


class TestFiles(evidence.Files): ...


class TestRuns(journal.Runs): ...


class TestSteps(journal.Steps): ...


class TestProperties(properties.Properties): ...
