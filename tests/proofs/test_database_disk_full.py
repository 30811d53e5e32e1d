"""The disk of a database fills up: nothing that was acknowledged is lost, and it goes on when there is room again."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from databases import DurableServer

from infospace.core.errors import StoreError
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from infospace.store.postgres import open_store
from infospace.store.protocol import Store

MEGABYTES = 192
LEFT = {"apart": 16, "on the same disk": 64}
"""Megabytes that a file beside the database leaves to it, by where its log is: that takes 32 MB and more."""


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder on a small disk of its own."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root of a Linux machine makes a disk")
    with tempfile.TemporaryDirectory(prefix="infospace-disk-") as folder:
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=755", "tmpfs", folder], check=False
        )
        if made.returncode:
            pytest.skip("no disk can be made here")
        yield Path(folder)
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder on another disk, into which another user may go."""
    with tempfile.TemporaryDirectory(prefix="infospace-log-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def fill(store: Store, acknowledged: list[MakeNote]) -> None:
    """Commit Notes until that fails."""
    while True:
        notes = [MakeNote(store.new_id(Kind.NOTE), os.urandom(10_000).hex(), kept=True) for _ in range(20)]
        store.commit(notes)
        acknowledged += notes


def once_it_has_recovered(go_on: Callable[[], None]) -> None:
    """Do something until nothing ends it: a server that could not write its log may be about to end."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with suppress(StoreError):
            go_on()
            return
        time.sleep(0.2)
    go_on()


@pytest.mark.slow
@pytest.mark.parametrize("log", ["apart", "on the same disk"])
def test_what_was_acknowledged_is_there_when_the_disk_is_full(disk: Path, elsewhere: Path, log: str) -> None:
    """Who writes is told; with room again everything goes on, and all is sound.

    Where the log has room, who reads goes on meanwhile. Else the server itself may end, recover and let nobody in.
    """
    data = disk / "data"
    data.mkdir()
    server = DurableServer(data)
    try:
        with psycopg.connect(server.address, autocommit=True) as session:
            session.execute("ALTER SYSTEM SET max_wal_size = '32MB'")
            session.execute("SELECT pg_reload_conf()")
        if log == "apart":
            server.put_log_apart(elsewhere)
        store = open_store(server.address, create=True)
        with store.reading() as snapshot:
            assert snapshot.count(Kind.NOTE) == 0
        beside = disk / "beside"
        there = os.statvfs(disk)
        beside.write_bytes(bytes(there.f_bavail * there.f_frsize - LEFT[log] * 1_000_000))
        acknowledged: list[MakeNote] = []
        told = "has no room" if log == "apart" else "has no room|cannot be reached"
        with pytest.raises(StoreError, match=told) as full:
            fill(store, acknowledged)
        assert server.address.rpartition("/")[0].rpartition("@")[2] in full.value.message
        assert full.value.hint
        assert len(acknowledged) > 200
        if log == "apart":
            with store.reading() as snapshot:
                assert snapshot.get(acknowledged[-1].id).content == acknowledged[-1].content
        beside.unlink()
        if not server.is_running:
            server.start()
        tried: list[MakeNote] = []

        def go_on() -> None:
            tried.append(MakeNote(store.new_id(Kind.NOTE), "there is room again", kept=True))
            store.commit(tried[-1:])
            with store.reading() as snapshot:
                for note in (*acknowledged, tried[-1]):
                    assert snapshot.get(note.id).content == note.content
                assert 1 <= snapshot.count(Kind.NOTE) - len(acknowledged) <= len(tried)
            assert store.check() == []

        if log == "apart":
            go_on()
        else:
            once_it_has_recovered(go_on)
        store.close()
    finally:
        server.close()
