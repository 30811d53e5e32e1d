"""`infospace copy`: the same space in another place, from and to files and databases, whole or not to be opened."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from databases import place_in_database, server_address

from infospace.core.errors import Conflict, NotFound, StoreError
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from infospace.store.copying.copy_space import copy_space
from infospace.store.copying.rows import MADE_ANEW, chunks, tables
from infospace.store.open import open_store
from infospace.store.sqlite.store import SqliteStore
from tui.command import main

sys.path.insert(0, str(Path(__file__).parent))

from sqlite_space import fill

pytestmark = pytest.mark.usefixtures("warm_processes")

COPIES = """
import sys, time
from infospace.core.listener import NullListener
from infospace.store.copying.copy_space import copy_space

class Pausing(NullListener):
    def progress(self, done, total, what):
        if done >= int(sys.argv[3]):
            print("here", flush=True)
            time.sleep(600)

copy_space(sys.argv[1], sys.argv[2], Pausing())
"""
"""Copies until so many rows are there, says so, and waits to be killed."""

Row = tuple[Any, ...]


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A file with something in every table, and with tables of several chunks."""
    path = tmp_path / "source.db"
    fill(path)
    with contextlib.closing(open_store(path, create=False)) as store:
        first = store.new_numbers(Kind.NOTE, 520)
        store.commit([MakeNote(f"Note_{first + at}", f"heron\0\x01 {at}", kept=True) for at in range(520)])
    return str(path)


@pytest.fixture
def places(tmp_path: Path) -> Any:
    """Gives addresses where nothing is."""
    names = iter(range(100))
    schemas: list[str] = []
    base = place_in_database(tmp_path)

    def place(kind: str) -> str:
        if kind == "file":
            return str(tmp_path / f"copy{next(names)}.db")
        schemas.append(f"{base}&space=copy{next(names)}")
        return schemas[-1]

    return place


def contents(address: str) -> dict[str, list[Row]]:
    """Return all rows of a space by table."""
    with contextlib.closing(open_store(address, create=False)) as store:
        assert isinstance(store, SqliteStore)
        with store.rows() as engine:
            return {table.name: [tuple(row) for rows in chunks(engine, table) for row in rows] for table in tables()}


def killed_at(rows: int, source: str, destination: str) -> None:
    """Kill a process that copies, once so many rows are there."""
    with subprocess.Popen(
        [sys.executable, "-c", COPIES, source, destination, str(rows)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)


def test_every_table_is_copied_or_made_anew(source: str) -> None:
    """So a table that comes later cannot be forgotten."""
    with contextlib.closing(sqlite3.connect(source)) as file:
        names = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {name for name in names if not name.startswith("words")} == {table.name for table in tables()} | MADE_ANEW


def test_which_tables_there_are_is_looked_up_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables.cache_clear()
    assert tables()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("way", ["file file", "file database database file"])
def test_a_copy_has_all_that_the_space_has(source: str, places: Any, way: str) -> None:
    """Row for row, in both directions; it is consistent, and can be written to."""
    expected, address, hashes = contents(source), source, set()
    for kind in way.split()[1:]:
        following = places(kind)
        hashes.add(copy_space(address, following).sha256)
        address = following
        assert contents(address) == expected
        with contextlib.closing(open_store(address, create=False)) as store:
            assert store.check() == []
            with store.reading() as snapshot:
                found = snapshot.keyword_matches("heron")
                assert found is not None
                assert len(found.numbers) == 520
    assert len(hashes) == 1
    with contextlib.closing(open_store(address, create=False)) as store:
        identifier = store.new_id(Kind.NOTE)
        store.commit([MakeNote(identifier, "made in the copy", kept=True)])
        assert store.check() == []
    assert contents(source) == expected


@pytest.mark.parametrize(("kind", "rows"), [("file", 0), ("file", 700), ("database", 900)])
def test_a_copy_that_was_killed_is_not_opened_and_is_taken_up(source: str, places: Any, kind: str, rows: int) -> None:
    destination = places(kind)
    killed_at(rows, source, destination)
    for create in (False, True):
        with pytest.raises(StoreError, match="is a copy that is not whole"):
            open_store(destination, create=create)
    copied = copy_space(source, destination)
    assert copied.resumed_rows >= rows
    assert contents(destination) == contents(source)
    assert copied.sha256 == copy_space(source, places("file")).sha256


@pytest.mark.parametrize("kind", ["file", "database"])
def test_what_changed_in_between_is_in_the_copy(source: str, places: Any, kind: str) -> None:
    destination = places(kind)
    killed_at(900, source, destination)
    with contextlib.closing(open_store(source, create=False)) as store:
        identifier = store.new_id(Kind.NOTE)
        store.commit([MakeNote(identifier, "late", kept=True)])
    copy_space(source, destination)
    assert contents(destination) == contents(source)


@pytest.mark.parametrize("kind", ["file", "database"])
def test_what_holds_something_is_not_copied_into(source: str, places: Any, kind: str) -> None:
    destination = places(kind)
    copy_space(source, destination)
    before = contents(destination)
    with pytest.raises(Conflict, match="holds something already"):
        copy_space(source, destination)
    assert contents(destination) == before


@pytest.mark.parametrize("kind", ["file", "database"])
def test_a_copy_of_another_space_is_not_taken_up(source: str, places: Any, kind: str, tmp_path: Path) -> None:
    destination = places(kind)
    killed_at(700, source, destination)
    fill(tmp_path / "other.db")
    with pytest.raises(Conflict, match="holds an unfinished copy of another space"):
        copy_space(str(tmp_path / "other.db"), destination)


def test_two_processes_do_not_copy_into_one_place(source: str, places: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infospace.store.copying.copy_space.WAIT", 0.1)
    for kind, message in (("file", "is locked by another process"), ("database", "another process copies into")):
        destination = places(kind)
        with subprocess.Popen(
            [sys.executable, "-c", COPIES, source, destination, "700"], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "here\n"
            with pytest.raises((Conflict, StoreError), match=message):
                copy_space(source, destination)
            process.kill()


def test_a_copy_that_its_disk_changed_is_not_finished(source: str, places: Any) -> None:
    """All of it is read again before it may be opened."""
    destination = places("file")
    killed_at(900, source, destination)
    with contextlib.closing(sqlite3.connect(destination)) as file, file:
        assert file.execute("UPDATE resources SET content = 'x' WHERE key = 4").rowcount == 1
    with pytest.raises(StoreError, match="is not what was read there again"):
        copy_space(source, destination)
    with pytest.raises(StoreError, match="is a copy that is not whole"):
        open_store(destination, create=False)


def test_the_command_says_what_was_copied(
    source: str, places: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As a sentence or as JSON; wrong use is told with code 2, and no password is shown."""
    destination = places("database")
    assert main(["copy", source, destination, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == {name: len(rows) for name, rows in contents(source).items()}
    assert main(["copy", destination, str(tmp_path / "back.db")]) == 0
    assert document["sha256"] in capsys.readouterr().out
    for words, message in (
        ([source, destination], "holds something already"),
        ([str(tmp_path / "none.db"), places("file")], "there is no space"),
        ([f"{server_address()}&space=none&password=secret", places("file")], "there is no space at"),
        ([source, "redis://x"], "nothing can be copied to redis://"),
        ([source, ":memory:"], "a copy in memory is gone"),
        ([source, places("file"), "--space", "x.db"], "`copy` names both spaces itself"),
    ):
        assert main(["copy", *words]) == 2
        said = capsys.readouterr()
        assert message in said.err
        assert "secret" not in said.err + said.out


def test_a_missing_space_is_no_empty_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no space"):
        copy_space(str(tmp_path / "none.db"), str(tmp_path / "copy.db"))
    assert list(tmp_path.iterdir()) == []
