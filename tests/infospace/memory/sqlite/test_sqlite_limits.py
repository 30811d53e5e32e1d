"""Full disks, locks and rights."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from infospace.core.errors import NotFound, StoreError
from infospace.core.ids import Kind
from infospace.store.changes import Delete, Keep, MakeNote, Query
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlite_space import fill, note, read_everything


@contextlib.contextmanager
def as_nobody(folder: Path) -> Iterator[None]:
    """Act as a user who may read a folder and not write to it, also where the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    for place in (folder, *folder.parents):
        if place.stat().st_mode & 0o055 != 0o055:
            place.chmod(place.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def note_as_root(store: Store) -> str:
    """Make a Note with the rights that the store was opened with."""
    user = os.geteuid()
    os.seteuid(0)
    try:
        return note(store)
    finally:
        os.seteuid(user)


class TestLimits:
    """Full disks, locks and rights."""

    def test_a_full_disk_loses_nothing_that_was_stored(self, tmp_path: Path) -> None:
        """The commit that does not fit is not there at all; what was there is, and can be used."""
        path = tmp_path / "x"
        tried: list[str] = []

        def write_for_ever() -> None:
            while True:
                tried.append(store.new_id(Kind.NOTE))
                store.commit([MakeNote(store.new_id(Kind.NOTE), "small"), MakeNote(tried[-1], "x" * 100_000)])

        with contextlib.closing(open_store(path, create=True, page_limit=600)) as store:
            with pytest.raises(StoreError, match="no room left on its disk: nothing of this change was stored"):
                write_for_ever()
            *stored, lost = tried
            assert len(stored) > 10
            assert store.check() == []
            with store.reading() as snapshot:
                assert len(snapshot.get_many(stored)) == len(stored)
                with pytest.raises(NotFound, match="there is no Note"):
                    snapshot.get(lost)
        with contextlib.closing(open_store(path, create=True)) as store:
            store.commit([Delete(stored[0])])
            assert note(store, "x" * 30_000) not in tried
            assert store.check() == []

    def test_a_lock_that_is_held_for_too_long_is_a_store_error(self, tmp_path: Path) -> None:
        """Reading goes on meanwhile, and once it is free so does writing."""
        path = tmp_path / "x"
        with (
            contextlib.closing(open_store(path, create=True, wait=0.05)) as store,
            contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
        ):
            identifier = note(store)
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="is locked by another process"):
                store.commit([Keep(identifier)])
            with store.reading() as snapshot:
                assert not snapshot.get(identifier).kept
            other.execute("ROLLBACK")
            store.commit([Keep(identifier)])

    def test_only_the_latest_queries_are_remembered(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """One that is asked again counts as late; with a smaller number than the real one."""
        monkeypatch.setattr("infospace.store.sqlite.write.embeddings.QUERIES_KEPT", 3)
        row = np.ones(2, np.float32)
        with contextlib.closing(open_store(tmp_path / "x", create=True)) as store:
            for digest in (b"a", b"b", b"c", b"a", b"d"):
                store.commit([Query("m", digest, row)])
            with store.reading() as snapshot:
                known = [digest for digest in (b"a", b"b", b"c", b"d") if snapshot.query("m", digest) is not None]
        assert known == [b"a", b"c", b"d"]

    def test_a_space_that_may_only_be_read_can_be_read(self, tmp_path: Path) -> None:
        """In a folder without rights, as on a read-only medium; a commit is a StoreError."""
        folder = tmp_path / "medium"
        folder.mkdir()
        fill(folder / "x")
        (folder / "x").chmod(0o444)
        folder.chmod(0o555)
        with as_nobody(folder):
            with contextlib.closing(open_store(folder / "x", create=True)) as store:
                assert not store.writable
                assert store.check() == []
                read_everything(store)
                assert store.new_id(Kind.NOTE) == "Note_61"
                for attempt in (lambda: store.commit([Keep("Note_1")]), lambda: store.use_model("n")):
                    with pytest.raises(StoreError, match="can be read and not written"):
                        attempt()
            with pytest.raises(StoreError, match="cannot be opened"):
                open_store(folder / "new", create=True)
        folder.chmod(0o755)
        assert [file.name for file in folder.iterdir()] == ["x"]

    def test_a_space_in_use_can_be_read_by_who_may_not_write(self, tmp_path: Path) -> None:
        """A reader without rights sees what the writer commits."""
        folder = tmp_path / "shared"
        folder.mkdir()
        with contextlib.closing(open_store(folder / "x", create=True)) as writer:
            note(writer)
            for file in folder.iterdir():
                file.chmod(0o644)
            with as_nobody(folder), contextlib.closing(open_store(folder / "x", create=False)) as reader:
                if reader.writable:
                    pytest.skip("the folder's owner may always write")
                identifier = note_as_root(writer) if os.geteuid() != os.getuid() else note(writer)
                with reader.reading() as snapshot:
                    assert snapshot.get(identifier).content == "text"

    def test_a_space_that_may_not_be_read_is_a_store_error(self, tmp_path: Path) -> None:
        """The sentence names the reason."""
        path = tmp_path / "x"
        fill(path)
        path.chmod(0)
        with as_nobody(tmp_path), pytest.raises(StoreError, match="Permission denied"):
            open_store(path, create=False)
