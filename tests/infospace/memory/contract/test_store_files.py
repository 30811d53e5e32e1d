"""Imported files and the links in them are remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from store_tools import AT, collection, note, open_run, relation

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.resources import CreatedBy
from infospace.journal.rows import CloseRun
from infospace.store.changes import Change, Delete, ExpectedFile, ExpectLinks, Linked, Restore, SetLinks, Track, Untrack
from infospace.store.protocol import Store, TrackedFile


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
            expected = [TrackedFile("/r", "a.md", b, 1, b"2"), TrackedFile("/r", "b.md", b, 2, b"4")]
            assert snapshot.tracked("/r") == expected
            assert snapshot.tracked() == [TrackedFile("/q", "z.md", b, 1, b"3"), *expected]
        store.commit([Untrack("/r", "b.md"), Untrack("/r", "b.md")])
        with store.reading() as snapshot:
            assert [file.path for file in snapshot.tracked("/r")] == ["a.md"]

    def test_a_file_belongs_to_a_note(self, store: Store) -> None:
        """That exists, and is one."""
        with pytest.raises(NotFound, match="there is no Note"):
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
                TrackedFile("/r", "t.csv", a, 1, b"1", 9),
                TrackedFile("/r", "t.csv", b, 1, b"2", 10, "Ten"),
            ]
            assert snapshot.tracked("/other") == []

    def test_the_file_of_a_note_that_somebody_deleted_is_known_as_it_was(self, store: Store) -> None:
        """By hand or by a step of a run, latest last, until the Note is back; not what an import let go."""
        run = open_run(store)
        a, b, gone = note(store), note(store), note(store)
        files = [
            Track("/r", "a.md", a, b"1", 1, aliases=("A",)),
            Track("/r", "b.md", b, b"2", 1),
            Track("/r", "gone.md", gone, b"3", 1),
        ]
        store.commit(files)
        deleted = [
            Delete(b, CreatedBy(run, None, "rm")),
            Delete(a, CreatedBy(run, "1", "x")),
            Delete(gone, CreatedBy(run, None, "add")),
        ]
        store.commit(deleted, [CloseRun(run, "success", AT)])
        known = [TrackedFile("/r", "b.md", b, 1, b"2"), TrackedFile("/r", "a.md", a, 1, b"1", aliases=("A",))]
        with store.reading() as snapshot:
            assert snapshot.tracked() == []
            assert snapshot.removed_files() == known
        store.commit([Restore(b)])
        with store.reading() as snapshot:
            assert snapshot.removed_files() == known[1:]


class TestLinks:
    """Links are remembered as they were written, with where they lead."""

    def test_the_links_of_a_note_are_those_that_were_set_last(self, store: Store) -> None:
        """In order of target, each once."""
        a, b = note(store), note(store)
        arrow = relation(store, a, b)
        wiki, plain = Linked("b", wiki=True, to=b, relation=arrow), Linked("b", wiki=False)
        store.commit([Track("/r", "a.md", a, b"", 1), Track("/r", "b.md", b, b"", 1)])
        store.commit([SetLinks(a, [Linked("old", wiki=False)])])
        store.commit([SetLinks(a, [wiki, Linked("a", wiki=False), plain, plain])])
        with store.reading() as snapshot:
            expected = {a: [Linked("a", wiki=False), plain, wiki]}
            assert snapshot.links(a) == snapshot.links() == expected
            assert snapshot.links(b) == {}
        store.commit([SetLinks(a, [])])
        with store.reading() as snapshot:
            assert snapshot.links() == {}

    def test_links_are_those_of_notes_with_a_file(self, store: Store) -> None:
        """Unless those of one are asked for, which need have no file."""
        a, b, c = note(store), note(store), note(store)
        link = Linked("x", wiki=False)
        store.commit([Track("/r", "a.md", a, b"", 1), SetLinks(a, [link]), SetLinks(b, [link])])
        with store.reading() as snapshot:
            assert snapshot.links() == snapshot.links(a) == {a: [link]}
            assert snapshot.links(b) == {b: [link]}
            assert snapshot.links(c) == {}
        store.commit([Untrack("/r", "a.md")])
        with store.reading() as snapshot:
            assert snapshot.links() == {}

    def test_a_link_leads_to_a_row_of_a_table_as_to_a_file(self, store: Store) -> None:
        """What was a file may be a row now."""
        a, b = note(store), note(store)
        leads = Linked("b", wiki=True, to=b, relation=relation(store, a, b))
        store.commit([Track("/r", "a.md", a, b"", 1), Track("/r", "b.md", b, b"", 1), SetLinks(a, [leads])])
        store.commit([Untrack("/r", "b.md"), Track("/r", "t.csv", b, b"", 1, 3)])
        with store.reading() as snapshot:
            assert snapshot.links(a)[a] == [leads]

    def test_a_link_leads_nowhere_while_what_it_led_to_has_no_file(self, store: Store) -> None:
        """Deleted or forgotten; with its file it is what it was, also when others came meanwhile."""
        a, b = note(store), note(store)
        by, nowhere = relation(store, a, b), Linked("b", wiki=True)
        leads = Linked("b", wiki=True, to=b, relation=by)
        there, new = Track("/r", "b.md", b, b"", 1), Linked("c", wiki=False)
        store.commit([Track("/r", "a.md", a, b"", 1), there, SetLinks(a, [leads])])

        def links() -> list[Linked]:
            with store.reading() as snapshot:
                assert snapshot.links(a) == snapshot.links()
                return snapshot.links(a)[a]

        aways: list[list[Change]] = [[Untrack("/r", "b.md")], [Delete(b)]]
        for away in aways:
            assert links() == [leads]
            store.commit(away)
            assert links() == [nowhere]
            assert links()[0].lost == (b, by)
            store.commit([ExpectLinks(a, [nowhere]), SetLinks(a, [*links(), new])])
            assert links() == [nowhere, new]
            store.commit([*([Restore(b), Restore(by)] if away == [Delete(b)] else []), there])
            assert links() == [leads, new]
            store.commit([SetLinks(a, [leads])])

    def test_a_link_whose_relation_is_deleted_by_itself_leads_where_it_did_by_none(self, store: Store) -> None:
        """It is remembered as what the run did; a Relation that goes with one of its ends stays the link's."""
        run = open_run(store)
        a, b = note(store), note(store)
        first, second = relation(store, a, b), relation(store, a, b)
        kept, other = Linked("b", wiki=False, to=b, relation=first), Linked("b", wiki=True, to=b, relation=second)
        without = replace(other, relation=None)
        store.commit([Track("/r", "a.md", a, b"", 1), Track("/r", "b.md", b, b"", 1), SetLinks(a, [kept, other])])
        store.commit([Delete(second)], [CloseRun(run, "success", AT)])
        store.commit([Delete(first), Delete(b)])
        with store.reading() as snapshot:
            assert [link.lost for link in snapshot.links(a)[a]] == [(b, first), (b, None)]
            effect: Any = next(one for one in snapshot.effects(run) if one.what == "links")
        assert [Linked(**row) for row in effect.before] == [kept, other]
        assert [Linked(**row) for row in effect.after] == [kept, without]

    def test_a_link_that_is_set_to_lead_nowhere_forgets_what_has_its_file(self, store: Store) -> None:
        """Whatever goes and comes then."""
        a, b = note(store), note(store)
        there, nowhere = Track("/r", "b.md", b, b"", 1), [Linked("b", wiki=True)]
        store.commit([Track("/r", "a.md", a, b"", 1), there, SetLinks(a, [Linked("b", wiki=True, to=b)])])
        store.commit([SetLinks(a, nowhere)])
        store.commit([Untrack("/r", "b.md")])
        store.commit([there])
        with store.reading() as snapshot:
            assert snapshot.links() == {a: nowhere}

    def test_who_has_links_must_exist(self, store: Store) -> None:
        """Where they lead need not."""
        with pytest.raises(NotFound, match="there is no Note"):
            store.commit([SetLinks("Note_99", [])])


class TestMeanwhile:
    """What was read and has changed since is a Conflict, and nothing is written."""

    def test_a_place_that_is_not_as_it_was_is_a_conflict(self, store: Store) -> None:
        """To be tracked, or forgotten."""
        a, b = note(store), note(store)
        store.commit([Track("/r", "a.md", a, b"1", 1, was=ExpectedFile())])
        store.commit([Track("/r", "a.md", a, b"2", 2, was=ExpectedFile(a, 1))])
        for change in (
            Track("/r", "a.md", b, b"3", 1, was=ExpectedFile()),
            Track("/r", "a.md", b, b"3", 1, was=ExpectedFile(a, 1)),
            Track("/r", "b.md", b, b"3", 1, was=ExpectedFile(b, 1)),
            Untrack("/r", "a.md", was=ExpectedFile(a, 1)),
        ):
            with pytest.raises(Conflict, match="it was imported meanwhile"):
                store.commit([change])
        with store.reading() as snapshot:
            assert snapshot.tracked() == [TrackedFile("/r", "a.md", a, 2, b"2")]
        store.commit([Untrack("/r", "a.md", was=ExpectedFile(a, 2))])

    def test_a_file_that_is_known_below_another_root_is_not_new(self, store: Store) -> None:
        """Of two who import a folder and a folder in it at once, one gets the file; other files are anybody's."""
        a, b = note(store), note(store)
        store.commit([Track("/r/sub", "deep/a.md", a, b"1", 1)])
        for root, path in (("/r", "sub/deep/a.md"), ("/r/sub/deep", "a.md")):
            with pytest.raises(Conflict, match="it was imported meanwhile"):
                store.commit([Track(root, path, b, b"2", 1, was=ExpectedFile())])
            store.commit([Track(root, "b.md", b, b"2", 1, was=ExpectedFile())])

    def test_links_that_are_not_as_they_were_are_a_conflict(self, store: Store) -> None:
        """In whatever order they are told."""
        a = note(store)
        one, two = Linked("one", wiki=False), Linked("two", wiki=True)
        store.commit([Track("/r", "a.md", a, b"", 1), ExpectLinks(a, []), SetLinks(a, [one, two])])
        with pytest.raises(Conflict, match="were changed meanwhile"):
            store.commit([SetLinks(a, []), ExpectLinks(a, [one])])
        store.commit([ExpectLinks(a, [two, one]), SetLinks(a, [one])])
        with store.reading() as snapshot:
            assert snapshot.links() == {a: [one]}
