"""Opening and closing SQLite files, good ones and those of others."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from infospace.core.errors import Invalid, StoreError
from infospace.core.ids import Kind
from infospace.journal.rows import CloseRun, OpenRun, StepRow, broken_off
from infospace.store.changes import Delete, Linked, MakeNote, MakeRelation, SetLinks, Track
from infospace.store.sqlite import open_store, schema
from infospace.store.sqlite import store as sqlite_store
from infospace.store.sqlite.connection import connect
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.schema import APPLICATION_ID, VERSION, is_empty
from infospace.store.sqlite.write import notes, outlines

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlite_space import fill, note


class TestOpening:
    """What becomes of an address."""

    def test_a_missing_file_is_an_empty_space_that_leaves_nothing_behind(self, tmp_path: Path) -> None:
        """Without `create` it can be looked at, and even written to, in memory alone."""
        with contextlib.closing(open_store(tmp_path / "a" / "b", create=False)) as store:
            assert not store.writable
            assert store.check() == []
            assert note(store) == "Note_1"
        assert list(tmp_path.iterdir()) == []

    def test_a_missing_file_is_made_with_its_folders(self, tmp_path: Path) -> None:
        """What is stored is there when it is opened again, by text or path; only one file is left."""
        path = tmp_path / "a" / "ü b?#%" / "x.db"
        with contextlib.closing(open_store(str(path), create=True)) as store:
            assert store.writable
            assert store.address == str(path)
            identifier = note(store, "hello")
        assert [file.name for file in path.parent.iterdir()] == ["x.db"]
        with contextlib.closing(open_store(path, create=False)) as store, store.reading() as snapshot:
            assert snapshot.get(identifier).content == "hello"

    def test_a_file_is_marked_as_a_space(self, tmp_path: Path) -> None:
        """By application id and version, and it keeps a write-ahead log."""
        fill(tmp_path / "x")
        with contextlib.closing(sqlite3.connect(tmp_path / "x")) as other:
            (application,), (version,), (mode,) = (
                other.execute(f"PRAGMA {name}").fetchone()
                for name in ("application_id", "user_version", "journal_mode")
            )
        assert (application, version, mode) == (APPLICATION_ID, VERSION, "wal")

    def test_a_space_in_memory_is_by_itself(self) -> None:
        """`:memory:` names no file, and no two of them share anything."""
        with (
            contextlib.closing(open_store(":memory:", create=False)) as one,
            contextlib.closing(open_store(":memory:", create=True)) as two,
        ):
            assert one.writable
            note(one)
            with two.reading() as snapshot:
                assert snapshot.count(Kind.NOTE, kept=None) == 0
        assert not Path(":memory:").exists()

    def test_an_empty_file_is_a_space_to_be(self, tmp_path: Path) -> None:
        """It is as if it were missing; so is a database without anything in it."""
        empty, bare = tmp_path / "empty", tmp_path / "bare"
        empty.touch()
        with contextlib.closing(sqlite3.connect(bare)) as other:
            other.execute("PRAGMA journal_mode = WAL")
        for path in (empty, bare):
            before = path.read_bytes()
            open_store(path, create=False).close()
            assert path.read_bytes() == before
            with contextlib.closing(open_store(path, create=True)) as store:
                note(store)
            with contextlib.closing(open_store(path, create=False)) as store:
                assert store.check() == []
                assert store.writable

    @pytest.mark.parametrize("moment", range(6))
    def test_a_space_that_another_makes_meanwhile_is_not_taken_for_a_strangers(
        self, tmp_path: Path, moment: int
    ) -> None:
        """At whatever moment of the look at the file its tables come into being."""
        path = tmp_path / "x"
        path.touch()
        moments = iter(range(100))

        def meanwhile(_statement: str) -> None:
            if next(moments) == moment:
                with contextlib.suppress(StoreError):
                    open_store(path, create=True, wait=0).close()

        engine = connect(path.as_uri(), "x", wait=1)
        engine.connection.set_trace_callback(meanwhile)
        is_empty(engine)
        engine.connection.set_trace_callback(None)
        other = connect(path.as_uri(), "x", wait=1)
        assert is_empty(engine) is is_empty(other)
        other.close()
        engine.close()

    def test_a_link_leads_to_the_space(self, tmp_path: Path) -> None:
        """Both addresses are one space, also at the same time."""
        (tmp_path / "link").symlink_to(tmp_path / "real" / "x")
        with (
            contextlib.closing(open_store(tmp_path / "link", create=True)) as one,
            contextlib.closing(open_store(tmp_path / "real" / "x", create=True)) as two,
        ):
            identifier = note(one)
            with two.reading() as snapshot:
                assert snapshot.get(identifier).content == "text"

    @pytest.mark.parametrize(
        ("address", "message"),
        [
            ("{}", "is a folder"),
            ("/dev/null", "is not a file"),
            ("{}/file/below", "cannot be opened: Not a directory"),
            ("{}/nul\0", "cannot be opened"),
            ("{}/" + "x" * 300, "cannot be opened: File name too long"),
            ("/proc/self/x.db", "cannot be opened .its folder must exist"),
        ],
    )
    def test_a_place_that_cannot_hold_a_file_is_an_error(self, tmp_path: Path, address: str, message: str) -> None:
        """One sentence says why."""
        (tmp_path / "file").write_text("x")
        with pytest.raises(StoreError, match=message):
            open_store(address.format(tmp_path), create=True)

    def test_the_setting_for_power_cuts_is_taken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """From the argument, else the environment, else NORMAL."""

        def level(**arguments: str) -> int:
            with contextlib.closing(open_store(tmp_path / "x", create=True, **arguments)) as store:  # type: ignore[arg-type]
                found: int = store._pool.writing().value("PRAGMA synchronous")
                return found

        monkeypatch.delenv("INFOSPACE_SYNCHRONOUS", raising=False)
        assert level() == 1
        monkeypatch.setenv("INFOSPACE_SYNCHRONOUS", "FULL")
        assert (level(), level(synchronous="NORMAL")) == (2, 1)
        monkeypatch.setenv("INFOSPACE_SYNCHRONOUS", "OFF")
        with pytest.raises(Invalid, match=r"INFOSPACE_SYNCHRONOUS is 'OFF' \(NORMAL or FULL\)"):
            level()

    def test_a_closed_space_is_one_file(self, tmp_path: Path) -> None:
        """Also where a snapshot was still open: whoever ends last takes SQLite's other files away."""
        store = open_store(tmp_path / "x", create=True)
        identifier = note(store)
        with store.reading() as snapshot:
            store.close()
            assert snapshot.get(identifier).content == "text"
        assert [file.name for file in tmp_path.iterdir()] == ["x"]


class TestStrangers:
    """Files that are not ours."""

    def test_a_file_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        """Text, or the bare beginning of a database."""
        path = tmp_path / "x"
        for data in (b"Dear diary", b"SQLite format 3\0", bytes(5_000)):
            path.write_bytes(data)
            with pytest.raises(StoreError, match="is not an SQLite database"):
                open_store(path, create=True)
            assert path.read_bytes() == data

    @pytest.mark.parametrize("mode", ["DELETE", "WAL"])
    @pytest.mark.parametrize("mark", ["PRAGMA application_id = 7", "PRAGMA user_version = 3", "CREATE TABLE notes (a)"])
    def test_another_programs_database_is_not_touched(self, tmp_path: Path, mode: str, mark: str) -> None:
        """Whether it is marked, versioned, or only has tables; not a byte, nor a file beside it."""
        path = tmp_path / "x"
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute(f"PRAGMA journal_mode = {mode}")
            other.execute(mark)
        before = path.read_bytes()
        for create in (True, False):
            with pytest.raises(StoreError, match="database of another program"):
                open_store(path, create=create)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_another_programs_database_in_use_is_not_touched(self, tmp_path: Path) -> None:
        """Also while what marks it is still in its write-ahead log."""
        path = tmp_path / "x"
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA journal_mode = WAL")
            other.execute("CREATE TABLE notes (a)")
            log = path.with_name("x-wal")
            before = path.read_bytes(), log.read_bytes()
            with pytest.raises(StoreError, match="database of another program"):
                open_store(path, create=True)
            assert (path.read_bytes(), log.read_bytes()) == before

    def test_a_space_of_a_later_version_says_so(self, tmp_path: Path) -> None:
        """With both versions, and what to do; it is not touched."""
        path = tmp_path / "x"
        fill(path)
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA user_version = 99")
        with pytest.raises(StoreError, match=rf"version 99, .* up to {VERSION} \(upgrade infospace\)"):
            open_store(path, create=True)


def as_of_version(connection: sqlite3.Connection, version: int) -> None:
    """Make a file as one of versions 4 or 5 was, so that later changes of tables are made anew."""
    connection.execute("ALTER TABLE runs DROP COLUMN scope")
    for table in (
        "batches",
        "packed_members",
        "packed_uses",
        "outlines",
        "items",
        "mentions",
        "queue",
        "queue_limits",
        "schedules",
        "link_names",
        "settled_links",
    ):
        connection.execute(f"DROP TABLE {table}")
    for index in ("files_folder", "links_leads"):
        connection.execute(f"DROP INDEX {index}")
    for column in ("folder", "created", "modified", "aliases", "lines", "reader"):
        connection.execute(f"ALTER TABLE files DROP COLUMN {column}")
    connection.execute(f"PRAGMA user_version = {version}")


def test_every_space_has_an_identity_of_its_own_for_good(tmp_path: Path) -> None:
    """What is derived from one space is not taken for another's at the same address."""
    path = tmp_path / "space.db"
    with contextlib.closing(open_store(path, create=True)) as store:
        first = store.identity
    with contextlib.closing(open_store(path, create=False)) as store:
        assert store.identity == first
    path.unlink()
    with contextlib.closing(open_store(path, create=True)) as store:
        assert store.identity != first


def test_a_space_that_is_made_after_another_one_is_as_the_migrations_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thing for thing and row for row, but for what tells it from others: it is made in another way."""
    monkeypatch.setattr(schema, "_FILLED", set())
    found = []
    for path in (tmp_path / "first.db", tmp_path / "next.db", tmp_path / "last.db"):
        with contextlib.closing(open_store(path, create=True)) as store:
            identity = store.identity
            assert store.check() == []
        with contextlib.closing(sqlite3.connect(path)) as other:
            marks = [other.execute(f"PRAGMA {mark}").fetchone() for mark in ("application_id", "user_version")]
            found.append((identity, marks, [line.replace(identity, "identity") for line in other.iterdump()]))
    identities, marks_of, made = zip(*found, strict=True)
    assert made[1] == made[2] == made[0]
    assert marks_of[1] == marks_of[2] == marks_of[0]
    assert len(set(identities)) == 3
    assert {len(identity) for identity in identities} == {32}


@pytest.mark.parametrize("version", range(1, VERSION))
def test_a_space_of_an_earlier_version_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """What it holds stays, and it has the tables and columns of a new one."""
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
        earlier.setattr(schema, "VERSION", version)
        earlier.setattr(batches, "spans", lambda *_: [])
        earlier.setattr(notes, "_MAKE_ONE_HERE", notes.MAKE)
        earlier.setattr(sqlite_store, "settle_links", lambda *_: None)
        if version < 9:
            earlier.setattr(outlines, "index", lambda *_: None)
        with contextlib.closing(open_store(old, create=True)) as store:
            note = store.new_id(Kind.NOTE)
            store.commit([MakeNote(note, "from then", kept=True)])
    fill(new)
    with contextlib.closing(open_store(old, create=False)) as store:
        assert store.get(note).content == "from then"
        assert store.check() == []
    shapes = []
    for path in (old, new):
        with contextlib.closing(sqlite3.connect(path)) as other:
            names = [
                name for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            ]
            columns = {name: other.execute(f"PRAGMA table_info('{name}')").fetchall() for name in names}
            shapes.append((columns, other.execute("PRAGMA user_version").fetchone()))
    assert shapes[0] == shapes[1]


def test_links_of_an_earlier_version_whose_relation_was_deleted_lead_on_by_none(tmp_path: Path) -> None:
    """Where the Relation went with what it led to, it stays the link's, and comes back with that."""
    path = tmp_path / "old.db"
    with contextlib.closing(open_store(path, create=True)) as store:
        a, b, c = (store.new_id(Kind.NOTE) for _ in range(3))
        to_b, to_c = (store.new_id(Kind.RELATION) for _ in range(2))
        links = [Linked("b", wiki=True, to=b, relation=to_b), Linked("c", wiki=True, to=c, relation=to_c)]
        store.commit([MakeNote(one, "", kept=True) for one in (a, b, c)])
        store.commit([MakeRelation(to_b, a, b, "links-to"), MakeRelation(to_c, a, c, "links-to")])
        store.commit([Delete(to_b), Delete(c)])
        store.commit([*(Track("/r", f"{one}.md", one, b"", 1) for one in (a, b)), SetLinks(a, links)])
        assert store.check() == [f"{a} links to {b} by {to_b}, which was deleted"]
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        as_of_version(other, 4)
    with contextlib.closing(open_store(path, create=False)) as store:
        assert store.check() == []
        with store.reading() as snapshot:
            assert snapshot.links(a)[a] == [Linked("b", wiki=True, to=b), Linked("c", wiki=True)]
            assert snapshot.links(a)[a][1].lost == (c, to_c)


def test_steps_of_an_earlier_version_that_wait_in_a_run_that_has_ended_wait_no_more(tmp_path: Path) -> None:
    """Those of a run that waits do."""
    path = tmp_path / "old.db"
    asked = {"pending": {"step": "1"}, "n": 1}
    with contextlib.closing(open_store(path, create=True)) as store:
        runs = [store.new_id("run") for _ in range(2)]
        for run in runs:
            opened = OpenRun(run, "plan", "", {}, {}, "2026", "me")
            row = StepRow(run, 1, "1", "ask", "suspended", "2026", 0.0, value="how many?", extra=asked)
            store.commit([], [opened, row, CloseRun(run, "suspended", "2026")])
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE runs SET status = 'cancelled' WHERE number = 1")
        as_of_version(other, 5)
    with contextlib.closing(open_store(path, create=False)) as store, store.reading() as snapshot:
        ended, waits = (snapshot.steps(run)[0] for run in runs)
    assert ended == broken_off(replace(waits, run=runs[0]))
    assert (waits.status, waits.extra) == ("suspended", asked)
    assert (ended.status, ended.extra) == ("failed", {"n": 1})
