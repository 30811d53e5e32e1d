"""What every store must do, tried with every store there is.

A new implementation of `infospace.store.protocol.Store` is one more entry in `IMPLEMENTATIONS`; it is done when
all tests of this folder pass, or skip where the protocol lets a store answer that it cannot.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from infospace.store.postgres import open_store as open_postgres
from infospace.store.postgres.vector_index import build_index
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store as open_sqlite

sys.path.insert(0, str(Path(__file__).parent))

from databases import place_in_database
from ranking_store import open_ranking

pytest.register_assert_rewrite("store_tools")


@dataclass(frozen=True)
class Implementation:
    """A store to be tried. `place` turns a path where nothing is into the address of a space to be."""

    name: str
    open: Callable[[str], Store]
    place: Callable[[Path], str] = str
    index: Callable[[str], object] = bool
    """Makes the index of the vectors of the space at an address, where the engine needs to be asked for it."""
    alone: bool = False
    """Whether nobody else can open the space that a store has open."""


IMPLEMENTATIONS = [
    Implementation("sqlite", lambda address: open_sqlite(address, create=True)),
    Implementation("memory", lambda address: open_sqlite(address, create=True), lambda _path: ":memory:", alone=True),
    Implementation("ranking", open_ranking),
    Implementation("postgresql", lambda address: open_postgres(address, create=True), place_in_database, build_index),
]


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda implementation: implementation.name)
def implementation(request: pytest.FixtureRequest) -> Implementation:
    """Each implementation in turn."""
    found: Implementation = request.param
    return found


@pytest.fixture
def open_store(implementation: Implementation, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the space of this test, each time once more; it must be consistent at the end."""
    address = implementation.place(tmp_path / "space")
    opened: list[Store] = []

    def once_more() -> Store:
        if opened and implementation.alone:
            pytest.skip("a space of this kind is its store's alone")
        opened.append(implementation.open(address))
        return opened[-1]

    yield once_more
    for store in opened:
        store.close()
    if opened and not implementation.alone:
        last = implementation.open(address)
        assert last.check() == []
        last.close()


@pytest.fixture
def store(open_store: Callable[[], Store], implementation: Implementation) -> Iterator[Store]:
    """An empty store, which must be consistent at the end of each test: one that can be opened anew is looked at so."""
    opened = open_store()
    yield opened
    if implementation.alone:
        assert opened.check() == []


@pytest.fixture
def fresh(implementation: Implementation, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens an empty store, as often as it is called, and closes the one before."""
    opened: list[Store] = []

    def another() -> Store:
        if opened:
            opened[-1].close()
        opened.append(implementation.open(implementation.place(tmp_path / f"space {len(opened)}")))
        return opened[-1]

    yield another
    for store in opened:
        store.close()
