"""The disk of a database fills up: nothing that was acknowledged is lost, and it goes on when there is room again."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from databases import DurableServer

from infospace.core.errors import StoreError
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from infospace.store.postgres import open_store
from infospace.store.protocol import Store

MEGABYTES = 160
ROOM = 32
"""Megabytes of a file that stands on the disk beside the database."""


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


def fill(store: Store, acknowledged: list[MakeNote]) -> None:
    """Commit Notes until that fails."""
    while True:
        notes = [MakeNote(store.new_id(Kind.NOTE), os.urandom(10_000).hex(), kept=True) for _ in range(20)]
        store.commit(notes)
        acknowledged += notes


@pytest.mark.slow
def test_what_was_acknowledged_is_there_when_the_disk_is_full(disk: Path) -> None:
    """Who writes is told of the disk, who reads goes on; with room again everything goes on, and all is sound."""
    data = disk / "data"
    data.mkdir()
    server = DurableServer(data)
    try:
        with psycopg.connect(server.address, autocommit=True) as session:
            session.execute("ALTER SYSTEM SET max_wal_size = '32MB'")
            session.execute("SELECT pg_reload_conf()")
        store = open_store(server.address, create=True)
        beside = disk / "beside"
        beside.write_bytes(bytes(ROOM * 1_000_000))
        acknowledged: list[MakeNote] = []
        with pytest.raises(StoreError, match="has no room") as full:
            fill(store, acknowledged)
        assert server.address.rpartition("/")[0].rpartition("@")[2] in full.value.message
        assert full.value.hint
        assert len(acknowledged) > 200
        with store.reading() as snapshot:
            assert snapshot.get(acknowledged[-1].id).content == acknowledged[-1].content
        beside.unlink()
        later = MakeNote(store.new_id(Kind.NOTE), "there is room again", kept=True)
        store.commit([later])
        with store.reading() as snapshot:
            for note in (*acknowledged, later):
                assert snapshot.get(note.id).content == note.content
            assert snapshot.count(Kind.NOTE) == len(acknowledged) + 1
        assert store.check() == []
        store.close()
    finally:
        server.close()
