"""Links that Notes say lead somewhere in the commit that writes them, or that brings what they call."""

from __future__ import annotations

import pytest
from store_tools import note, open_run

from infospace.core.errors import Conflict
from infospace.core.ids import Kind, number_of
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy
from infospace.expressions.query.preselect import ColumnTest
from infospace.store.changes import (
    Change,
    Delete,
    FreeName,
    GiveName,
    Linked,
    MakeNote,
    MakeRelation,
    Restore,
    Revise,
    SetLinks,
    SettleLinks,
    Track,
    Unkeep,
)
from infospace.store.protocol import Store


def all_links(store: Store, source: str) -> list[tuple[str, str | None]]:
    """Return what the links of a Note say, and where they lead."""
    with store.reading() as snapshot:
        table = snapshot.space_table("links", [ColumnTest("source", "=", (source,))], ())
        found = zip(table.column("target_text"), table.column("target"), strict=True)
        return [(str(text), None if target is None else str(target)) for text, target in found]


def links(store: Store, source: str) -> dict[str, str | None]:
    """Return where the links of a Note lead, by what they say."""
    return dict(all_links(store, source))


def relations(store: Store, source: str) -> set[tuple[str, str]]:
    """Return what a Note is related to, with the labels; each pair has one Relation, and nothing is inconsistent."""
    assert store.check() == []
    with store.reading() as snapshot:
        found = [snapshot.get(one) for one in snapshot.relations(source=source)]
    ends = [(one.target, one.relation) for one in found]  # type: ignore[union-attr]
    assert len(set(ends)) == len(ends)
    return set(ends)


def revise(store: Store, identifier: str, content: JSON = None, metadata: dict[str, JSON] | None = None) -> None:
    store.commit([Revise(identifier, content=content, metadata=metadata)])


def test_what_a_note_says_leads_there_in_its_commit(store: Store) -> None:
    """Text, task, label, heading, property; by title, alias, name, whatever the case."""
    titled = note(store, "A text", kept=True, title="Ada Löwe")
    by_alias = note(store, "Other", kept=True, title="Grace", aliases=["Amazing Grace"])
    begins = note(store, "# Roadmap\n\nMore.", kept=True)
    named = note(store, {"rows": 3}, kept=True)
    store.commit([GiveName(named, "figures")])
    source = note(
        store,
        "See [[ada löwe#Life|her]] and [[Nobody]].\n\n- [ ] ask [[Amazing Grace]]\n- depends on [[Roadmap]]\n",
        kept=True,
        data="[[Figures]]",
    )
    assert links(store, source) == {
        "ada löwe": titled, "Nobody": None, "Amazing Grace": by_alias, "Roadmap": begins, "Figures": named,
    }  # fmt: skip
    ends = relations(store, source)
    assert {to for to, _ in ends} == {titled, by_alias, begins, named}
    assert (begins, "depends on") in ends


def test_what_comes_later_is_led_to_then(store: Store) -> None:
    """And no more when it goes, or is called otherwise."""
    source = note(store, "[[Plan B]] [[Plan B|twice]]", kept=True)
    assert links(store, source) == {"Plan B": None}
    target = note(store, "x", kept=True, title="Plan B")
    assert links(store, source) == {"Plan B": target}
    assert len(relations(store, source)) == 1
    revise(store, target, metadata={"title": "Plan C"})
    assert (links(store, source), relations(store, source)) == ({"Plan B": None}, set())
    revise(store, target, metadata={"title": "plan b"})
    assert links(store, source) == {"Plan B": target}
    store.commit([Delete(target)])
    assert (links(store, source), relations(store, source)) == ({"Plan B": None}, set())
    store.commit([Restore(target)])
    assert links(store, source) == {"Plan B": target}
    assert len(relations(store, source)) == 1
    store.commit([Unkeep(target)])
    assert (links(store, source), relations(store, source)) == ({"Plan B": None}, set())


def test_a_text_that_changes_changes_its_links(store: Store) -> None:
    """What stays keeps its Relation; a link to the Note itself leads there by none."""
    a, b = note(store, "a", kept=True, title="A"), note(store, "b", kept=True, title="B")
    source = note(store, "[[A]] [[Me]]", kept=True, title="Me")
    assert links(store, source) == {"A": a, "Me": source}
    with store.reading() as snapshot:
        before = snapshot.relations(source=source)
    revise(store, source, content="[[A]] and now [[B]]")
    assert links(store, source) == {"A": a, "B": b}
    with store.reading() as snapshot:
        assert set(before) < set(snapshot.relations(source=source))
    revise(store, source, content="nothing")
    assert (links(store, source), relations(store, source)) == ({}, set())
    revise(store, source, content="[[B]]")
    store.commit([Delete(source)])
    assert store.check() == []
    store.commit([Restore(source)])
    assert relations(store, source) == {(b, "links-to")}


def test_both_in_one_commit_and_each_to_the_other(store: Store) -> None:
    """The order of the changes is no matter."""
    a, b = store.new_id(Kind.NOTE), store.new_id(Kind.NOTE)
    store.commit([MakeNote(a, "[[B]]", {"title": "A"}, True), MakeNote(b, "[[A]]", {"title": "B"}, True)])
    assert (links(store, a), links(store, b)) == ({"B": b}, {"A": a})
    with store.reading() as snapshot:
        to_b = snapshot.space_table("links", [ColumnTest("target", "=", (b,))], ())
        assert to_b.column("source") == [a]
        assert len(snapshot.space_table("links", (), [("target", {number_of(a)})])) == 1


def test_a_transient_note_leads_nowhere_until_it_is_kept(store: Store) -> None:
    """A search does not find it, and it has no rows."""
    note(store, "x", kept=True, title="X")
    source = note(store, "[[X]]")
    assert (links(store, source), relations(store, source)) == ({}, set())


def test_links_that_are_set_by_hand_are_not_overruled(store: Store) -> None:
    """In the commit that sets them, with a file or without: whoever sets them says where they lead."""
    there = note(store, "x", kept=True, title="There")
    source = store.new_id(Kind.NOTE)
    nowhere = Linked("There", wiki=True)
    store.commit([MakeNote(source, "[[There]]", {}, True), SetLinks(source, [nowhere])])
    assert relations(store, source) == set()
    with store.reading() as snapshot:
        assert snapshot.links(source) == {source: [nowhere]}
    filed = store.new_id(Kind.NOTE)
    store.commit([MakeNote(filed, "[[There]]", {}, True), Track("/r", "a.md", filed, b"", 1)])
    assert relations(store, filed) == set()
    revise(store, filed, content="Somebody writes [[There]]")
    assert relations(store, filed) == {(there, "links-to")}


def test_an_imported_text_that_is_written_leads_to_files_first(store: Store) -> None:
    """By path, by stem, from its folder; to a Note without a file only where no file fits."""
    one, two, source = note(store, "1", kept=True), note(store, "2", kept=True), note(store, "s", kept=True)
    tracked = [Track("/r", "p/Note.md", one, b"", 1), Track("/r", "q/Note.md", two, b"", 1)]
    store.commit([*tracked, Track("/r", "q/s.md", source, b"", 1)])
    loose = note(store, "3", kept=True, title="Note")
    other = note(store, "4", kept=True, title="Other")
    revise(store, source, content="[[Note]] [[p/Note]] [up](../p/Note.md) [[Other]]")
    assert links(store, source) == {"Note": two, "p/Note": one, "../p/Note.md": one, "Other": other}
    by_hand = Linked("Note", wiki=True, to=one)
    store.commit([SetLinks(source, [by_hand])])
    assert links(store, source)["Note"] == one
    assert loose not in {to for to, _ in relations(store, source)}


def test_the_relation_of_a_link_holds_nothing(store: Store) -> None:
    """What a link leads to can be deleted unless something else holds it; somebody's own Relation does."""
    run = open_run(store)
    target = note(store, "x", kept=True, title="X")
    source = note(store, "[[X]]", kept=True)
    store.commit([Delete(target, CreatedBy(run, "1", None), unless_held=True)])
    assert relations(store, source) == set()
    with store.reading() as snapshot:
        assert snapshot.holders([source]) == []


def test_a_relation_that_somebody_made_is_not_made_twice(store: Store) -> None:
    """And stays when the link goes."""
    from store_tools import relation

    target, source = note(store, "x", kept=True, title="X"), note(store, "y", kept=True)
    mine = relation(store, source, target, "links-to", kept=True)
    revise(store, source, content="[[X]]")
    assert relations(store, source) == {(target, "links-to")}
    revise(store, source, content="none")
    with store.reading() as snapshot:
        assert snapshot.relations(source=source) == [mine]
    with pytest.raises(Conflict, match="holds"):
        store.commit([Delete(target, unless_held=True)])


@pytest.mark.parametrize("name", ["é\u0301", "🦉 owl", "a/b", "..", "İ"])
def test_odd_names_are_no_trouble(store: Store, name: str) -> None:
    """A link to them leads there, with blanks around the name and out of a property, too."""
    target = note(store, "x", kept=True, title=name)
    source = note(store, f"[[{name}]] [[ {name} ]]", kept=True, up=f"[[{name}]]")
    assert all_links(store, source) == [(name, target)] * 3
    assert relations(store, source) == {(target, "links-to")}


@pytest.mark.parametrize(
    ("name", "led"),
    [("#", {}), ("x" * 400, {"x" * 400: False}), ("a\0b", {"a\ufffdb": False, "a\0b": True})],
    ids=["a heading of no name", "longer than any name", "NUL"],
)
def test_names_that_no_link_can_call_break_nothing(store: Store, name: str, led: dict[str, bool]) -> None:
    """Markdown has another sign for NUL, which a property keeps."""
    target = note(store, "x", kept=True, title=name)
    source = note(store, f"[[{name}]] [[ {name} ]]", kept=True, up=f"[[{name}]]")
    assert links(store, source) == {text: target if there else None for text, there in led.items()}
    assert relations(store, source) == ({(target, "links-to")} if any(led.values()) else set())


@pytest.mark.parametrize("named", [False, True])
def test_a_link_of_a_file_that_no_file_fits_leads_to_a_note_without_one(store: Store, named: bool) -> None:
    """Once its importer asks for it: the Note may come before or after, be renamed and deleted."""
    source, target = store.new_id(Kind.NOTE), store.new_id(Kind.NOTE)
    there = note(store, "x", kept=True)
    files = [Track("/r", "a.md", source, b"", 1), Track("/r", "There.md", there, b"", 1)]
    rows = [Linked("Ghost", wiki=True), Linked("There", wiki=True, to=there)]
    made: list[Change] = [MakeNote(target, "a ghost", {} if named else {"title": "Ghost"}, True)]
    made += [GiveName(target, "ghost")] if named else []
    if named:
        store.commit(made)
    store.commit([MakeNote(source, "[[Ghost]] [[There]]", {}, True), *files, SetLinks(source, rows)])
    assert links(store, source) == {"Ghost": None, "There": there}
    with store.reading() as snapshot:
        assert snapshot.unsettled_links([source, there]) == {source}
    store.commit([SettleLinks(source)])
    with store.reading() as snapshot:
        assert snapshot.unsettled_links([source, there]) == set()
    if not named:
        assert links(store, source) == {"Ghost": None, "There": there}
        store.commit(made)
    assert links(store, source) == {"Ghost": target, "There": there}
    assert relations(store, source) == {(target, "links-to")}
    store.commit([FreeName(target)] if named else [Revise(target, metadata={"title": "Other"})])
    assert links(store, source) == {"Ghost": None, "There": there}
    store.commit([GiveName(target, "ghost")])
    assert relations(store, source) == {(target, "links-to")}
    store.commit([Delete(target)])
    assert (links(store, source), relations(store, source)) == ({"Ghost": None, "There": there}, set())


def test_a_file_that_comes_later_goes_before_a_note_without_one(store: Store) -> None:
    """The link has one Relation, to the file."""
    source, loose = store.new_id(Kind.NOTE), note(store, "loose", kept=True, title="Ghost")
    imported = [MakeNote(source, "[[Ghost]]", {}, True), Track("/r", "a.md", source, b"", 1)]
    store.commit([*imported, SetLinks(source, [Linked("Ghost", wiki=True)]), SettleLinks(source)])
    assert links(store, source) == {"Ghost": loose}
    file = note(store, "file", kept=True)
    store.commit([Track("/r", "Ghost.md", file, b"", 1), SetLinks(source, [Linked("Ghost", wiki=True, to=file)])])
    assert links(store, source) == {"Ghost": file}
    assert loose not in {to for to, _ in relations(store, source)}


def test_the_relation_of_a_link_that_an_import_settled_goes_with_the_text(store: Store) -> None:
    """In the commit that takes it out; with the text it comes back, and what somebody made stays."""
    from store_tools import relation

    source, a, b = (note(store, "[[A]] [[B]]", kept=True) for _ in range(3))
    run = open_run(store)
    of_link, mine = store.new_id(Kind.RELATION), relation(store, source, b, "links-to", kept=True)
    rows = [Linked("A", wiki=True, to=a, relation=of_link), Linked("B", wiki=True, to=b, relation=mine)]
    tracked = [Track("/r", f"{name}.md", one, b"", 1) for name, one in (("s", source), ("A", a), ("B", b))]
    made = MakeRelation(of_link, source, a, "links-to", kept=True, created_by=CreatedBy(run, None, "add"))
    store.commit([made, *tracked, SetLinks(source, rows)])
    revise(store, source, content="only [[B]]")
    assert (links(store, source), relations(store, source)) == ({"B": b}, {(b, "links-to")})
    revise(store, source, content="nothing")
    assert links(store, source) == {}
    with store.reading() as snapshot:
        assert snapshot.relations(source=source) == [mine]
        assert snapshot.links(source) == {}
    revise(store, source, content="[[A]] again")
    assert relations(store, source) == {(a, "links-to"), (b, "links-to")}
