"""The space's own tables: rows of kept Notes, chosen by tests, by numbers, and by what is seen."""

from __future__ import annotations

import pytest
from store_tools import note

from infospace.core.ids import number_of
from infospace.expressions.query.preselect import ColumnTest
from infospace.store.protocol import Store
from infospace.store.sqlite.read import tables


def test_rows_are_chosen_by_what_can_be_tested(store: Store) -> None:
    """By an id, by a time, among numbers, and of what is seen alone; a transient Note has no row."""
    first, second = note(store, "one", kept=True, area="north"), note(store, "two", kept=True)
    note(store, "three")
    with store.reading() as snapshot:
        assert {"@id", "@created"} <= snapshot.testable("notes")
        assert "content" not in snapshot.testable("notes")
        assert snapshot.testable("nowhere") == frozenset()
        whole = snapshot.space_table("notes", (), ())
        assert not whole.is_filtered
        assert whole.column("@id") == [first, second]
        assert whole.column("content") == ["one", "two"]
        assert whole.versions() == {first: 1, second: 1}
        by_id = snapshot.space_table("notes", [ColumnTest("@id", "=", (second,))], ())
        assert by_id.is_filtered
        assert by_id.column("content") == ["two"]
        assert len(snapshot.space_table("notes", [ColumnTest("@created", "<", ("2000",))], ())) == 0
        among = snapshot.space_table("notes", (), [("@id", {number_of(first)})])
        assert list(among.numbers) == [number_of(first)]
        assert snapshot.space_table("notes", (), (), {number_of(second)}).column("@id") == [second]


@pytest.mark.parametrize("name", ["items", "links"])
def test_a_table_without_rows_is_empty(store: Store, name: str) -> None:
    """As is one of Notes that have none of what it lists."""
    note(store, "plain", kept=True)
    with store.reading() as snapshot:
        assert len(snapshot.space_table(name, (), ())) == 0


def test_rows_are_chosen_by_a_tag_that_is_one_of_theirs(store: Store) -> None:
    """A whole tag, or one above it; a part of a word is none."""
    first = note(store, "- [ ] call #a/b", kept=True, tags=['north "x"', "wärme"])
    note(store, "- [ ] walk #ab", kept=True)
    note(store, "plain", kept=True)
    with store.reading() as snapshot:
        for tag, found in {"a": [first], "a/b": [first], 'north "x"': [first], "wärme": [first], "b": []}.items():
            rows = snapshot.space_table("notes", [ColumnTest("tags", "has", (tag,))], ())
            assert rows.column("@id") == found, tag
        assert len(snapshot.space_table("items", [ColumnTest("tags", "has", ("a",))], ())) == 1


@pytest.mark.parametrize("few", [0, 1, 10_000])
def test_columns_are_those_of_the_rows_that_were_chosen(
    store: Store, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many Notes these are of, and with other rows of the same Notes that were not chosen."""
    monkeypatch.setattr(tables, "_FEW", few)
    first = note(store, "- [ ] call #a\n- [x] walk\n\n[[one]] [[two]]", kept=True)
    second = note(store, "- [ ] swim #a\n\n[[one]]", kept=True)
    note(store, "- [ ] read\n\n[[two]]", kept=True)
    with store.reading() as snapshot:
        items = snapshot.space_table("items", [ColumnTest("tags", "has", ("a",))], ())
        assert (items.column("note"), items.column("text")) == ([first, second], ["call #a", "swim #a"])
        assert items.column("done") == [False, False]
        links = snapshot.space_table("links", [ColumnTest("target_text", "=", ("one",))], ())
        assert (links.column("source"), links.column("target_text")) == ([first, second], ["one", "one"])
        notes = snapshot.space_table("notes", [ColumnTest("tags", "has", ("a",))], ())
        assert (notes.column("@id"), notes.property("absent")) == ([first, second], [None, None])
