"""A disk without room for the files that SQLite keeps beside a space: it is read all the same."""

from __future__ import annotations

import contextlib
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from infospace import open_space
from infospace.core.errors import StoreError
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store
from planner.execute.start import run_sync

ROOM = 16 * 1024
"""Bytes that a file may grow to: less than the index of a log has at least."""


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    """Let no file of this process grow beyond some bytes, as on a disk that is almost full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def make(store: Store, text: str) -> None:
    """Make a kept Note."""
    store.commit([MakeNote(store.new_id(Kind.NOTE), text, kept=True)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A space with a Note, closed."""
    path = tmp_path / "space.db"
    with contextlib.closing(open_store(path, create=True)) as store:
        make(store, "a zebra")
    return path


def test_it_can_be_read_and_searched(path: Path) -> None:
    """And says what is wrong to whoever writes."""
    with no_room(), open_space(path) as space:
        assert space.context().get("Note_1").content == "a zebra"
        step = {"type": "discover-notes", "query": "zebra", "mode": "keyword", "out": "$hits"}
        assert not space.store.writable
        assert space.store.check() == []
        with pytest.raises(StoreError, match="has no room left on its disk: nothing of this change was stored"):
            make(space.store, "lost")
        with pytest.raises(StoreError, match="has no room left on its disk"):
            run_sync(space, {"steps": [step]})
    with open_space(path) as space:
        make(space.store, "there is room again")
        assert space.store.check() == []


def test_what_lies_in_the_log_is_read_too(path: Path, tmp_path: Path) -> None:
    """As a process that was killed leaves it: the file, and a log that is not in it yet."""
    left = tmp_path / "left" / "space.db"
    left.parent.mkdir()
    with contextlib.closing(open_store(path, create=False)) as store:
        make(store, "in the log")
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{left}{suffix}")
    with no_room(), contextlib.closing(open_store(left, create=False)) as store, store.reading() as snapshot:
        assert [note.content for note in snapshot.listing(Kind.NOTE)] == ["a zebra", "in the log"]  # type: ignore[union-attr]
    with contextlib.closing(open_store(left, create=False)) as store, store.reading() as snapshot:
        assert len(list(snapshot.listing(Kind.NOTE))) == 2
        assert store.check() == []


def test_a_space_that_is_open_goes_on_reading(path: Path) -> None:
    """Room that it had when it was opened, it has."""
    with contextlib.closing(open_store(path, create=False)) as store:
        make(store, "before")
        with no_room():
            assert store.get("Note_2").content == "before"  # type: ignore[union-attr]
            with contextlib.closing(open_store(path, create=False)) as other:
                assert other.get("Note_2").content == "before"  # type: ignore[union-attr]
