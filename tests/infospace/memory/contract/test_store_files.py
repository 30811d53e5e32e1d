"""Imported files and the links in them are remembered."""

from __future__ import annotations

import pytest
from store_tools import collection, note, relation

from infospace.errors import Conflict, Invalid, NotFound
from infospace.memory.changes import Linked, SetLinks, Track, Untrack, Was
from infospace.memory.store import Store, Tracked


class TestFiles:
    """Imported files are remembered."""

    def test_a_file_is_known_by_root_and_path(self, store: Store) -> None:
        """Tracking again replaces; untracking twice is no error."""
        a, b = note(store), note(store)
        store.commit(
            [Track("/r", "b.md", a, b"1", 1), Track("/r", "a.md", b, b"2", 1), Track("/q", "z.md", b, b"3", 1)]
        )
        store.commit([Track("/r", "b.md", b, b"4", 2)])
        with store.reading() as snapshot:
            expected = [Tracked("/r", "a.md", b, 1, b"2"), Tracked("/r", "b.md", b, 2, b"4")]
            assert snapshot.tracked("/r") == expected
            assert snapshot.tracked() == [Tracked("/q", "z.md", b, 1, b"3"), *expected]
        store.commit([Untrack("/r", "b.md"), Untrack("/r", "b.md")])
        with store.reading() as snapshot:
            assert [file.path for file in snapshot.tracked("/r")] == ["a.md"]

    def test_a_file_belongs_to_a_note(self, store: Store) -> None:
        """That exists, and is one."""
        with pytest.raises(NotFound):
            store.commit([Track("/r", "a", "Note_99", b"", 1)])
        with pytest.raises(Invalid, match="not a Note"):
            store.commit([Track("/r", "a", collection(store, []), b"", 1)])

    def test_a_row_of_a_file_is_a_file_of_its_own(self, store: Store) -> None:
        """By its part, with what links may call it by; files come by root, path and part."""
        a, b = note(store), note(store)
        store.commit([Track("/r", "t.csv", b, b"2", 1, 10, "Ten"), Track("/r", "t.csv", a, b"1", 1, 9)])
        store.commit([Untrack("/r", "t.csv")])
        with store.reading() as snapshot:
            assert snapshot.tracked("/r") == [
                Tracked("/r", "t.csv", a, 1, b"1", 9),
                Tracked("/r", "t.csv", b, 1, b"2", 10, "Ten"),
            ]
            assert snapshot.tracked("/other") == []


class TestLinks:
    """Links are remembered as they were written, with where they lead."""

    def test_the_links_of_a_note_are_those_that_were_set_last(self, store: Store) -> None:
        """In order of target, each once."""
        a, b = note(store), note(store)
        arrow = relation(store, a, b)
        wiki, plain = Linked("b", wiki=True, to=b, relation=arrow), Linked("b", wiki=False)
        store.commit([Track("/r", "a.md", a, b"", 1), SetLinks(a, [Linked("old", wiki=False)])])
        store.commit([SetLinks(a, [wiki, Linked("a", wiki=False), plain, plain])])
        with store.reading() as snapshot:
            expected = {a: [Linked("a", wiki=False), plain, wiki]}
            assert snapshot.links(a) == snapshot.links() == expected
            assert snapshot.links(b) == {}
        store.commit([SetLinks(a, [])])
        with store.reading() as snapshot:
            assert snapshot.links() == {}

    def test_links_are_those_of_notes_with_a_file(self, store: Store) -> None:
        """Of all of them, or of the one that is asked for."""
        a, b = note(store), note(store)
        link = Linked("x", wiki=False)
        store.commit([Track("/r", "a.md", a, b"", 1), SetLinks(a, [link]), SetLinks(b, [link])])
        with store.reading() as snapshot:
            assert snapshot.links() == snapshot.links(a) == {a: [link]}
            assert snapshot.links(b) == {}
        store.commit([Untrack("/r", "a.md")])
        with store.reading() as snapshot:
            assert snapshot.links() == {}

    def test_who_has_links_must_exist(self, store: Store) -> None:
        """Where they lead need not."""
        with pytest.raises(NotFound):
            store.commit([SetLinks("Note_99", [])])


class TestMeanwhile:
    """What was read and has changed since is a Conflict, and nothing is written."""

    def test_a_place_that_is_not_as_it_was_is_a_conflict(self, store: Store) -> None:
        """To be tracked, or forgotten."""
        a, b = note(store), note(store)
        store.commit([Track("/r", "a.md", a, b"1", 1, was=Was())])
        store.commit([Track("/r", "a.md", a, b"2", 2, was=Was(a, 1))])
        for change in (
            Track("/r", "a.md", b, b"3", 1, was=Was()),
            Track("/r", "a.md", b, b"3", 1, was=Was(a, 1)),
            Track("/r", "b.md", b, b"3", 1, was=Was(b, 1)),
            Untrack("/r", "a.md", was=Was(a, 1)),
        ):
            with pytest.raises(Conflict):
                store.commit([change])
        with store.reading() as snapshot:
            assert snapshot.tracked() == [Tracked("/r", "a.md", a, 2, b"2")]
        store.commit([Untrack("/r", "a.md", was=Was(a, 2))])

    def test_a_file_that_is_known_below_another_root_is_not_new(self, store: Store) -> None:
        """Of two who import a folder and a folder in it at once, one gets the file; other files are anybody's."""
        a, b = note(store), note(store)
        store.commit([Track("/r/sub", "deep/a.md", a, b"1", 1)])
        for root, path in (("/r", "sub/deep/a.md"), ("/r/sub/deep", "a.md")):
            with pytest.raises(Conflict):
                store.commit([Track(root, path, b, b"2", 1, was=Was())])
            store.commit([Track(root, "b.md", b, b"2", 1, was=Was())])

    def test_links_that_are_not_as_they_were_are_a_conflict(self, store: Store) -> None:
        """In whatever order they are told."""
        a = note(store)
        one, two = Linked("one", wiki=False), Linked("two", wiki=True)
        store.commit([Track("/r", "a.md", a, b"", 1), SetLinks(a, [one, two], was=[])])
        with pytest.raises(Conflict):
            store.commit([SetLinks(a, [], was=[one])])
        store.commit([SetLinks(a, [one], was=[two, one])])
        with store.reading() as snapshot:
            assert snapshot.links() == {a: [one]}
