"""The space's own tables in SQLite: how much is looked at to read them."""

from __future__ import annotations

import contextlib
from pathlib import Path

from infospace.core.ids import Kind
from infospace.core.resources import Member
from infospace.expressions.query.preselect import ColumnTest
from infospace.store.changes import Change, MakeCollection, MakeNote
from infospace.store.sqlite import open_store
from infospace.store.sqlite.connection import connect
from infospace.store.sqlite.read.snapshot import SqliteSnapshot
from infospace.store.sqlite.write.nesting import loops


def test_a_column_of_few_rows_is_read_without_looking_at_all(tmp_path: Path) -> None:
    """By the engine's steps: what chose the rows may have no index, and does so once for all columns."""
    looked = 0

    def look() -> None:
        nonlocal looked
        looked += 1

    with contextlib.closing(open_store(tmp_path / "space.db", create=True)) as store:
        ids = [store.new_id(Kind.NOTE) for _ in range(2_000)]
        made: list[Change] = [MakeNote(one, f"- [ ] do it #t{place}", {}, kept=True) for place, one in enumerate(ids)]
        store.commit(made)
        with store.reading() as snapshot:
            assert isinstance(snapshot, SqliteSnapshot)
            snapshot._connection.connection.set_progress_handler(look, 10)
            for name in ("notes", "items"):
                rows, looked = snapshot.space_table(name, [ColumnTest("tags", "has", ("t7",))], ()), 0
                assert len(rows) == 1
                choosing, looked = looked, 0
                assert rows.column("tags") == [["t7"]]
                assert looked * 10 < choosing


def test_the_check_looks_at_nested_collections_in_proportion_to_how_many_there_are(tmp_path: Path) -> None:
    """Those at the bottom of many have all the others above them, and are looked at once all the same."""

    def steps(count: int) -> int:
        with contextlib.closing(open_store(tmp_path / f"{count}.db", create=True)) as store:
            made = [store.new_id(Kind.COLLECTION) for _ in range(count)]
            inside = [(), *([Member(inner)] for inner in made)]
            store.commit([MakeCollection(one, members) for one, members in zip(made, inside, strict=False)])
            connection = connect((tmp_path / f"{count}.db").as_uri(), str(count), wait=1)
            taken = 0

            def count_steps() -> int:
                nonlocal taken
                taken += 1
                return 0

            connection.connection.set_progress_handler(count_steps, 10)
            assert list(loops(connection)) == []
            connection.close()
        return taken

    assert steps(400) < 3 * steps(200)
