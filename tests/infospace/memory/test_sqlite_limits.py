"""Full disks, locks, rights; and ids, which survive all that."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from infospace.errors import NotFound, StoreError
from infospace.ids import Kind
from infospace.memory.changes import Delete, Keep, MakeNote, Query
from infospace.memory.sqlite import open_store
from infospace.memory.store import Store

sys.path.insert(0, str(Path(__file__).parent))

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
                store.commit([MakeNote(store.new_id(Kind.NOTE), "small"), MakeNote(tried[-1], "x" * 9_000)])

        with contextlib.closing(open_store(path, create=True, page_limit=80)) as store:
            with pytest.raises(StoreError, match="no room left on its disk: nothing of this change was stored"):
                write_for_ever()
            *stored, lost = tried
            assert len(stored) > 10
            assert store.check() == []
            with store.reading() as snapshot:
                assert len(snapshot.many(stored)) == len(stored)
                with pytest.raises(NotFound):
                    snapshot.get(lost)
            store.commit([Delete(stored[0])])
        with contextlib.closing(open_store(path, create=True)) as store:
            assert note(store, "x" * 9_000) not in tried
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
        monkeypatch.setattr("infospace.memory.sqlite.discovery.QUERIES_KEPT", 3)
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


class TestIds:
    """Ids are dense where nothing went wrong, and never given twice where it did."""

    def test_ids_go_on_where_a_closed_store_left_off(self, tmp_path: Path) -> None:
        """Nothing is lost of what was reserved, for any kind."""
        for opening in range(3):
            with contextlib.closing(open_store(tmp_path / "x", create=True)) as store:
                for kind in (*Kind, "run"):
                    given = [store.new_id(kind) for _ in range(5)]  # type: ignore[arg-type]
                    assert given == [f"{kind}_{opening * 5 + index}" for index in range(1, 6)]

    def test_an_id_of_a_commit_that_failed_is_not_given_again(self, tmp_path: Path) -> None:
        """Neither at once nor after reopening."""
        with contextlib.closing(open_store(tmp_path / "x", create=True)) as store:
            lost = store.new_id(Kind.NOTE)
            with pytest.raises(NotFound):
                store.commit([MakeNote(lost, 1), Keep("Note_99")])
            assert store.new_id(Kind.NOTE) != lost
        with contextlib.closing(open_store(tmp_path / "x", create=True)) as store:
            assert store.new_id(Kind.NOTE) == "Note_3"

    def test_two_stores_never_give_the_same_id(self, tmp_path: Path) -> None:
        """What one gives back is not what another has taken after it."""
        one, two = (open_store(tmp_path / "x", create=True) for _ in range(2))
        given = [store.new_id(Kind.NOTE) for _ in range(60) for store in (one, two)]
        one.close()
        given += [two.new_id(Kind.NOTE) for _ in range(100)]
        two.close()
        with contextlib.closing(open_store(tmp_path / "x", create=True)) as store:
            given += [store.new_id(Kind.NOTE) for _ in range(100)]
            store.commit([MakeNote(identifier, 1) for identifier in given])
            assert store.check() == []
        assert len(set(given)) == len(given)

    def test_threads_share_a_store(self, tmp_path: Path) -> None:
        """Ids are distinct, commits all there, and each thread reads what it wrote."""
        with contextlib.closing(open_store(tmp_path / "x", create=True)) as store:
            given: list[str] = []
            failed: list[BaseException] = []

            def work() -> None:
                try:
                    for _ in range(50):
                        identifier = note(store)
                        with store.reading() as snapshot:
                            given.append(snapshot.get(identifier).id)
                except BaseException as error:
                    failed.append(error)
                    raise

            threads = [threading.Thread(target=work) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert failed == []
            assert len(set(given)) == 300
            assert store.check() == []
