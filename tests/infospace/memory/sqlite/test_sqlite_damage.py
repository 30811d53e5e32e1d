"""SQLite files that were hurt, and spaces that contradict themselves."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

from infospace.core.errors import InfospaceError, StoreError
from infospace.store.changes import Embed, PassageSpan, Vectors
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlite_space import fill, note, read_everything


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
            with pytest.raises(StoreError, match="name another file, or restore a copy"):
                open_store(path, create=True)


DAMAGES = {
    "UPDATE resources SET found = 1 - found WHERE key = 4": "Note_1 is wrongly marked",
    "INSERT INTO members VALUES (5, 900, 4000, 1, NULL, NULL)": "Note_1000 is a member of Collection_1",
    "INSERT INTO members VALUES (4, 0, 4, 1, NULL, NULL)": "Note_1 has members and is not a Collection",
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
    "INSERT INTO history (key, version, form, updated) VALUES (4000, 1, 0, '')": (
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
    "UPDATE files SET note = 3": "Note_3 is remembered as a file and was deleted",
    "INSERT INTO files (root, path, part, note, version, digest) VALUES ('/', 'root/a.md', 0, 4, 1, x'00')": (
        "Note_4 is the same file as Note_1"
    ),
    "DELETE FROM runs": "run_1 has steps and was never opened",
    "INSERT INTO calls VALUES (99, 1, '1', 'llm', 'm', x'00', 'started', 't', 0, 0, NULL, NULL, NULL, NULL)": (
        "run_99 has calls and was never opened"
    ),
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


def test_a_vector_of_another_length_is_noticed_and_is_no_bug(tmp_path: Path) -> None:
    """`check` names the Note, and reading the vectors is a StoreError."""
    path = tmp_path / "x"
    with contextlib.closing(open_store(path, create=True)) as store:
        store.use_model("made")
        for index in range(2):
            identifier, digest = note(store, f"text {index}", kept=True), bytes([index])
            rows = np.ones((1, 8), np.float32)
            store.commit([Vectors("made", [digest], rows), Embed(identifier, 1, [PassageSpan(0, 4, digest)])])
        assert store.check() == []
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE vectors SET vector = substr(vector, 1, 16) WHERE digest = x'00'")
    with contextlib.closing(open_store(path, create=False)) as store:
        assert any("Note_1 is found by a vector of another length" in found for found in store.check())
        with store.reading() as snapshot, pytest.raises(StoreError, match="wrong length"):
            snapshot.rows("made")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE vectors SET vector = hex(zeroblob(16)) WHERE digest = x'00'", "a vector in it has the wrong length"),
        ("UPDATE vectors SET vector = zeroblob(31)", "a vector in it has the wrong length"),
        ("UPDATE passages SET start = 'nowhere' WHERE note = 1", "where a passage in it stands is no number"),
    ],
)
def test_what_is_no_vector_and_no_number_is_an_error_of_ours(tmp_path: Path, damage: str, sentence: str) -> None:
    """As a bit that flips in the header of a row makes a text of a blob, of as many bytes."""
    path = tmp_path / "x"
    with contextlib.closing(open_store(path, create=True)) as store:
        store.use_model("made")
        identifier, digest = note(store, "text", kept=True), b"\0"
        spans = [PassageSpan(0, 4, digest)]
        store.commit([Vectors("made", [digest], np.ones((1, 8), np.float32)), Embed(identifier, 1, spans)])
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(damage).rowcount == 1
    with (
        contextlib.closing(open_store(path, create=False)) as store,
        store.reading() as snapshot,
        pytest.raises(StoreError, match=f"is damaged: {sentence}"),
    ):
        snapshot.rows("made")
