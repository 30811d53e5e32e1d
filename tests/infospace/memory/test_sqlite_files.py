"""Opening and closing SQLite files: good ones, bad ones, and those of others."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from infospace.errors import InfospaceError, Invalid, NotFound, StoreError
from infospace.ids import Kind
from infospace.memory.changes import (
    Delete,
    Embed,
    Evidence,
    Keep,
    MakeCollection,
    MakeNote,
    MakeRelation,
    Query,
    Revise,
    Stretch,
    Track,
    Vectors,
)
from infospace.memory.sqlite import open_store
from infospace.memory.sqlite.engine import connect
from infospace.memory.sqlite.schema import APPLICATION_ID, VERSION, is_empty
from infospace.memory.store import Store
from infospace.resources import Member
from infospace.runs.journal import OpenRun, StepRow, Use

AT = "2026-04-01T09:30:00.123Z"


def note(store: Store, content: str = "text", *, kept: bool = False) -> str:
    """Make a Note; return its id."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, content, kept=kept)])
    return identifier


def fill(path: Path) -> None:
    """Make a space that has something in every table."""
    with contextlib.closing(open_store(path, create=True)) as store:
        notes = [store.new_id(Kind.NOTE) for _ in range(60)]
        group, arrow, run = store.new_id(Kind.COLLECTION), store.new_id(Kind.RELATION), store.new_id("run")
        store.use_model("m")
        vectors = np.ones((60, 384), np.float32)
        digests = [bytes([index]) * 32 for index in range(60)]
        store.commit(
            [
                *(MakeNote(identifier, f"{identifier} " * 100, {"n": 1}, kept=True) for identifier in notes[:-1]),
                MakeNote(notes[-1], Evidence(notes[0], 1, 0.5)),
                MakeCollection(group, [Member(identifier) for identifier in notes], kept=True),
                MakeRelation(arrow, notes[0], notes[1], "cites", kept=True),
                Vectors("m", digests, vectors),
                *(Embed(identifier, 1, [Stretch(0, 5, digests[at])]) for at, identifier in enumerate(notes[:-2])),
                Query("m", b"q", vectors[0]),
                Track("/root", "a.md", notes[0], b"d", 1),
                Revise(notes[1], "new"),
                Delete(notes[2]),
            ],
            [
                OpenRun(run, "plan", "goal", {}, {}, AT, "me"),
                *(StepRow(run, at, "1", "size", "success", AT, 1, uses=(Use(notes[0], 1),)) for at in range(1, 40)),
            ],
        )


def read_everything(store: Store) -> None:
    """Read all there is by every door."""
    with store.reading() as snapshot:
        for kind in Kind:
            for found in snapshot.listing(kind, kept=None):
                for version, _ in snapshot.versions(found.id):
                    snapshot.get(found.id, version)
        for run in snapshot.runs():
            snapshot.steps(run.run)
        snapshot.rows("m")
        snapshot.rows("m", range(1, 60))
        snapshot.known_vectors("m", [bytes([7]) * 32])
        snapshot.query("m", b"q")
        snapshot.pending()
        snapshot.moved(0)
        snapshot.discoverable()
        snapshot.names()
        snapshot.relations()
        snapshot.tracked()


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
        assert is_empty(engine) in (True, False)
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
        ("address", "says"),
        [
            ("{}", "is a folder"),
            ("/dev/null", "is not a file"),
            ("{}/file/below", "cannot be opened: Not a directory"),
            ("{}/nul\0", "cannot be opened"),
            ("{}/" + "x" * 300, "cannot be opened: File name too long"),
            ("/proc/self/x.db", "cannot be opened .its folder must exist"),
        ],
    )
    def test_a_place_that_cannot_hold_a_file_is_an_error(self, tmp_path: Path, address: str, says: str) -> None:
        """One sentence says why."""
        (tmp_path / "file").write_text("x")
        with pytest.raises(StoreError, match=says):
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

    def test_closing_is_final_and_may_be_repeated(self, tmp_path: Path) -> None:
        """Everything after is a StoreError, in a file and in memory; a snapshot that is open stays good."""
        for address in (tmp_path / "x", ":memory:"):
            store = open_store(address, create=True)
            identifier = note(store)
            with store.reading() as snapshot:
                store.close()
                store.close()
                assert snapshot.get(identifier).content == "text"
            with pytest.raises(StoreError, match="is closed"):
                store.commit([Keep(identifier)])
            with pytest.raises(StoreError, match="is closed"), store.reading():
                pass
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


class TestDamage:
    """Files that were hurt."""

    def test_every_damaged_page_is_a_store_error_or_was_not_needed(self, tmp_path: Path) -> None:
        """Whatever page is overwritten, reading says in one sentence that the space is damaged; so does `check`."""
        fill(tmp_path / "good")
        data = (tmp_path / "good").read_bytes()
        seen = 0
        for start in range(0, len(data), 4_096):
            path = tmp_path / f"bad {start}"
            path.write_bytes(data[:start] + b"\xff" * 4_096 + data[start + 4_096 :])
            try:
                with contextlib.closing(open_store(path, create=False)) as store:
                    assert "damaged" in store.check()[0]
                    read_everything(store)
            except StoreError as error:
                seen += "damaged" in str(error)
        assert seen > 20

    def test_flipped_bytes_never_end_in_anything_but_an_error_of_ours(self, tmp_path: Path) -> None:
        """A byte here and there may go unnoticed, or be an error that says so; never a bug."""
        fill(tmp_path / "good")
        data = (tmp_path / "good").read_bytes()
        chance = random.Random(5)  # noqa: S311
        for round_ in range(60):
            bad = bytearray(data)
            for _ in range(20):
                bad[chance.randrange(100, len(bad))] ^= 1 << chance.randrange(8)
            path = tmp_path / f"bad {round_}"
            path.write_bytes(bad)
            with (
                contextlib.suppress(InfospaceError),
                contextlib.closing(open_store(path, create=False)) as store,
            ):
                store.check()
                read_everything(store)

    @pytest.mark.parametrize("left", [50, 4_096, 20_000, 100_000])
    def test_a_truncated_file_is_a_store_error(self, tmp_path: Path, left: int) -> None:
        """At whatever length it was cut."""
        path = tmp_path / "x"
        fill(path)
        path.write_bytes(path.read_bytes()[:left])
        with pytest.raises(StoreError, match=r"is damaged|is not an SQLite database"):
            open_store(path, create=True)

    def test_a_damaged_header_is_a_store_error(self, tmp_path: Path) -> None:
        """Page size, format versions: nothing of it is believed."""
        path = tmp_path / "x"
        fill(path)
        data = path.read_bytes()
        for start, end in ((16, 18), (18, 24), (0, 16)):
            path.write_bytes(data[:start] + b"\xee" * (end - start) + data[end:])
            with pytest.raises(StoreError):
                open_store(path, create=True)


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
            store.commit([Keep(stored[0])])
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


def note_as_root(store: Store) -> str:
    """Make a Note with the rights that the store was opened with."""
    user = os.geteuid()
    os.seteuid(0)
    try:
        return note(store)
    finally:
        os.seteuid(user)


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


DAMAGES = {
    "UPDATE resources SET found = 1 - found WHERE key = 4": "Note_1 is wrongly marked",
    "INSERT INTO members VALUES (5, 900, 4000, 1, NULL, NULL)": "Note_1000 is a member of Collection_1",
    "INSERT INTO members VALUES (4, 0, 4, 1, NULL, NULL)": "Note_1 has members and is no Collection",
    "UPDATE members SET since = 9 WHERE position = 3": "Collection_1 has a member of versions",
    "DELETE FROM relations": "Relation_1 is a Relation without ends",
    "INSERT INTO relations VALUES (4002, 4, 4, 'x')": "Relation_1000 has ends and does not exist",
    "UPDATE relations SET target = 4000": "Relation_1 is a Relation with an end that does not exist",
    "UPDATE relations SET target = 12": "Relation_1 is a Relation with an end",
    "UPDATE passages SET note = 60 WHERE note = 5": "Note_60 has passages and is not searched",
    "INSERT INTO pending VALUES (60)": "Note_60 waits to be embedded and is not searched",
    "INSERT INTO pending VALUES (5)": "Note_5 waits to be embedded and has passages",
    "DELETE FROM passages WHERE note = 5": "Note_5 is searched, and has neither passages",
    "UPDATE passages SET version = 2 WHERE note = 5": "Note_5 has passages of another version",
    "UPDATE passages SET sequence = 1 WHERE note = 5": "Note_5 has passages with a gap",
    "DELETE FROM vectors WHERE digest = (SELECT digest FROM passages WHERE note = 5)": (
        "Note_5 has a passage without a vector"
    ),
    "DELETE FROM history": "Note_2 has a history that does not lead up",
    "INSERT INTO history SELECT 4000, 1, form, updated, run, step, made_by, hash, metadata, content FROM history": (
        "Note_1000 has a history and does not exist"
    ),
    "UPDATE resources SET name = 'n' WHERE key = 12": "Note_3 was deleted and still has a name",
    "UPDATE resources SET name = 'n', kept = 0 WHERE key = 240": "Note_60 has a name and is not kept",
    "UPDATE resources SET name = 'Note_9' WHERE key = 4": "Note_1 has a name that is none",
    "UPDATE resources SET name = 'e' || char(769) WHERE key = 4": "Note_1 has the name 'e\u0301', which is not in NFC",
    "UPDATE resources SET generation = 999 WHERE key = 4": "Note_1 was changed in a generation",
    "UPDATE resources SET kept = 0 WHERE key = 240": "Note_60 is in the kept Collection_1",
    "UPDATE resources SET kept = 0 WHERE key = 4": "Note_1 is an end of the kept Relation_1",
    "UPDATE files SET note = 1000": "Note_1000 is remembered as a file",
    "DELETE FROM runs": "run_1 has steps and was never opened",
    "DELETE FROM steps WHERE sequence = 7": "run_1 has a step that used something",
    "UPDATE counters SET next = 1 WHERE kind = 'Note'": "the next Note would be Note_1, and Note_60 exists",
    "UPDATE counters SET next = 1 WHERE kind = 'run'": "the next run would be run_1, and run_1 exists",
    "UPDATE resources SET content = '{' WHERE key = 4": "Note_1 holds a value that is not JSON",
    "UPDATE resources SET content = '1' WHERE key = 4": "Note_1 has content that its hash does not fit",
    "UPDATE resources SET content = '[4,7,0.5,null,null,{}]' WHERE key = 240": "Note_60 refers to version 7 of Note_1",
}


class TestCheck:
    """`check` knows what must hold."""

    def test_a_sound_space_has_no_problems(self, tmp_path: Path) -> None:
        """With something in every table."""
        fill(tmp_path / "x")
        with contextlib.closing(open_store(tmp_path / "x", create=False)) as store:
            assert store.check() == []

    @pytest.mark.parametrize("damage", DAMAGES, ids=str)
    def test_each_inconsistency_is_found(self, tmp_path: Path, damage: str) -> None:
        """In a sentence that names what is concerned."""
        fill(tmp_path / "x")
        with contextlib.closing(sqlite3.connect(tmp_path / "x")) as other, other:
            other.execute(damage)
        with contextlib.closing(open_store(tmp_path / "x", create=False)) as store:
            problems = store.check()
        assert [problem for problem in problems if problem.startswith(DAMAGES[damage])], problems

    def test_many_problems_of_one_kind_are_summed_up(self, tmp_path: Path) -> None:
        """Twenty are told, and how many more there are."""
        fill(tmp_path / "x")
        with contextlib.closing(sqlite3.connect(tmp_path / "x")) as other, other:
            other.execute("UPDATE passages SET version = 7")
        with contextlib.closing(open_store(tmp_path / "x", create=False)) as store:
            problems = store.check()
        assert len(problems) < 30
        assert any("more" in problem for problem in problems)
