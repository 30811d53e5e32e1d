"""What was changed in the file past infospace is noticed: rows, bits on the disk, and what does not belong to it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.core.ids import Kind
from infospace.store.changes import (
    Delete,
    Linked,
    MakeNote,
    MakeRelation,
    Revise,
    SetLinks,
    Track,
)
from infospace.store.sqlite import open_store, schema
from infospace.store.sqlite import store as sqlite_store
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.write import notes, outlines
from planner.execute.start import run_sync


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space with something in every table that has sums; closed, so that all of it is in the file."""
    path = tmp_path_factory.mktemp("sums") / "space.db"
    with open_space(path) as space:
        store = space.store
        a, b, c = (store.new_id(Kind.NOTE) for _ in range(3))
        arrow = store.new_id(Kind.RELATION)
        notes = [MakeNote(one, f"text of {one}", {"title": "zebra crossing"}, kept=True) for one in (a, b, c)]
        store.commit([*notes, MakeRelation(arrow, a, b, "likes", metadata={"how": "very"}, kept=True)])
        store.commit([Revise(a, "revised text", metadata={"title": "heron"}), Delete(c)])
        store.commit([Track("/root", "a.md", a, b"digest", 2, title="filed"), SetLinks(a, [Linked("b.md", wiki=True)])])
        steps: list[dict[str, Any]] = [
            {"type": "create-note", "value": "stepping", "name": "walrus", "expect": "a walrus", "out": "$x"},
            {"type": "set-metadata", "target": "$x", "value": {"colour": "brown"}},
            {"type": "discover-notes", "query": "revised", "mode": "keyword", "name": "found", "out": "$hits"},
            {"type": "load", "target": "Note_2", "out": "$y"},
            {"type": "add", "target": "$hits", "value": "$y"},
        ]
        result = run_sync(space, {"goal": "walk the heron", "steps": steps})
        assert result.status == "success", (result.reason, result.problems)
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(made, tmp_path / "space.db"))


def wrong(path: Path) -> list[str]:
    """What the store says is wrong."""
    with contextlib.closing(open_store(path, create=False)) as store:
        return store.check()


def test_what_infospace_writes_is_as_it_was_written(path: Path) -> None:
    """Also after it was changed, undone, removed and purged."""
    assert wrong(path) == []
    with contextlib.closing(open_store(path, create=False)) as store:
        store.commit([Revise("Note_2", "again"), Delete("Note_1")])
        assert store.check() == []
        store.purge(really=True)
        assert store.check() == []
        store.forget(["run_1"], really=True)
        assert store.check() == []


def test_who_is_interrupted_in_the_first_write_may_write_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps the sums was made by then, and is not made again."""
    with contextlib.closing(open_store(path, create=False)) as store:
        run, interrupted = Connection.run, list[str]()

        def interrupting(connection: Connection, sql: str, values: Sequence[object] = ()) -> int:
            result = run(connection, sql, values)
            if sql == "COMMIT" and not interrupted:
                interrupted.append(sql)
                raise KeyboardInterrupt
            return result

        with monkeypatch.context() as patch:
            patch.setattr(Connection, "run", interrupting)
            with pytest.raises(KeyboardInterrupt):
                store.commit([Revise("Note_2", "not written")])
        store.commit([Revise("Note_2", "again")])
        assert store.check() == []


CHANGES = [
    ("UPDATE resources SET metadata = replace(metadata, 'heron', 'hexon') WHERE key = 4", "Note_1"),
    ("UPDATE resources SET created = '2020' WHERE key = 4", "Note_1"),
    ("UPDATE resources SET made_by = 'somebody' WHERE key = 8", "Note_2"),
    ("UPDATE resources SET name = 'wallrus' WHERE name = 'walrus'", "Note_4"),
    ("UPDATE resources SET deleted = '2020' WHERE key = 12", "Note_3"),
    ("UPDATE resources SET content = replace(content, '0.', '1.') WHERE form = 1", "Note_"),
    ("UPDATE history SET metadata = replace(metadata, 'zebra', 'zebta') WHERE key = 4", "Note_1"),
    ("UPDATE history SET updated = '2020'", "Note_1"),
    ("UPDATE members SET item = 8 WHERE position = 0", "Collection_1"),
    ("UPDATE relations SET relation = 'hates'", "Relation_1"),
    ("UPDATE files SET title = 'fired'", "Note_1"),
    ("UPDATE links SET target = 'c.md'", "Note_1"),
    ("UPDATE effects SET before = before || ' '", "Note_"),
    ("UPDATE runs SET goal = 'walk the herons'", "run_1"),
    ("UPDATE runs SET result = NULL", "run_1"),
    ("UPDATE steps SET value = value || '!' WHERE sequence = 2", "run_1"),
    ("UPDATE steps SET extra = replace(extra, '1', '2') WHERE type = 'discover-notes'", "run_1"),
    ("DELETE FROM steps WHERE sequence = 3", "run_1"),
    ("UPDATE uses SET version = version + 1", "run_1"),
]


@pytest.mark.parametrize(("sql", "called"), CHANGES)
def test_a_row_that_another_program_changed_is_named(path: Path, sql: str, called: str) -> None:
    """By the thing that it belongs to."""
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("DROP TRIGGER resources_changed")
        assert other.execute(sql).rowcount > 0
    assert [message for message in wrong(path) if message.startswith(called)], wrong(path)


def test_earlier_content_that_was_changed_is_noticed(path: Path) -> None:
    """By its hash, as the present one."""
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE history SET content = replace(content, 'text of', 'tixt of') WHERE key = 4")
    assert "Note_1 has content of version 1 that its hash does not fit" in wrong(path)


@pytest.mark.parametrize(
    "word",
    [
        "zebra crossing", "heron", "revised text", "likes", "very", "filed", "stepping", "walrus", "a walrus", "brown",
        "walk the heron", "a.md", "b.md", "/root", "set-metadata", "text of Note_2",
    ],
)  # fmt: skip
@pytest.mark.parametrize("bit", [0, 4])
def test_a_bit_that_flips_on_the_disk_is_noticed(path: Path, word: str, bit: int) -> None:
    """Wherever the text stands in the file, each of its copies."""
    whole = path.read_bytes()
    at = -1
    noticed = 0
    while (at := whole.find(word.encode(), at + 1)) >= 0:
        changed = bytearray(whole)
        changed[at + len(word) // 2] ^= 1 << bit
        path.write_bytes(changed)
        with open_space(path) as space:
            from infospace.core.listener import NullListener
            from infospace.search.index.consistency import disagreements

            if space.store.check() or disagreements(space, NullListener()):
                noticed += 1
            else:
                page = at // 4096
                with contextlib.closing(sqlite3.connect(path)) as other:
                    tables = {
                        name for (name,) in other.execute("SELECT name FROM dbstat WHERE pageno = ?", (page + 1,))
                    }
                assert tables <= {"words_data"}, tables
    assert noticed


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "CREATE TRIGGER evil AFTER INSERT ON resources BEGIN DELETE FROM pending; END",
            "the file has the trigger 'evil', which infospace did not make",
        ),
        ("CREATE VIEW seen AS SELECT 1", "the file has the view 'seen', which infospace did not make"),
        ("CREATE TABLE more (a)", "the file has the table 'more', which infospace did not make"),
        ("CREATE INDEX quick ON runs (goal)", "the file has the index 'quick', which infospace did not make"),
        ("DROP INDEX uses_resource", "the file lacks the index 'uses_resource'"),
        ("DROP TRIGGER resources_removed", "the file lacks the trigger 'resources_removed'"),
    ],
)
def test_what_does_not_belong_to_a_space_is_noticed(path: Path, sql: str, message: str) -> None:
    """And what is missing."""
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute(sql)
    assert wrong(path) == [message]


def test_a_space_of_before_gets_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is in it then; what is changed from then on is noticed."""
    path = tmp_path / "old.db"
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:7])
        earlier.setattr(schema, "VERSION", 7)
        earlier.setattr(outlines, "index", lambda *_: None)
        earlier.setattr(sqlite_store, "settle_links", lambda *_: None)
        earlier.setattr(batches, "spans", lambda *_: [])
        earlier.setattr(notes, "_MAKE_ONE_HERE", notes.MAKE)
        with contextlib.closing(open_store(path, create=True)) as store:
            store.commit([MakeNote(store.new_id(Kind.NOTE), "old", {"a": "b"}, kept=True)])
    assert wrong(path) == []
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE resources SET metadata = replace(metadata, 'b', 'c')")
    assert wrong(path) == ["Note_1 is not as infospace has written it (table `resources`)"]
