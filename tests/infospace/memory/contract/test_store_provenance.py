"""Where versions came from, and what came of them, as every store tells it."""

from __future__ import annotations

import pytest
from store_tools import collection, get, note, open_run, relation, step

from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy, Member
from infospace.journal.origin import Origin, Product, Reading, Source
from infospace.journal.rows import Use
from infospace.store.changes import (
    AddMembers,
    Delete,
    Evidence,
    GiveName,
    Keep,
    MakeNote,
    RemoveMembers,
    Restore,
    Revise,
    Track,
)
from infospace.store.protocol import Store


def origin(store: Store, identifier: str, version: int = 1) -> Origin:
    """Return where a version came from."""
    with store.reading() as snapshot:
        return snapshot.origins([Use(identifier, version)])[0]


def test_an_origin_says_who_made_a_version_and_what_it_is_called(store: Store) -> None:
    """Its maker is its own; name, latest version and standing are the resource's as it is now."""
    run = open_run(store)
    one = store.new_id(Kind.NOTE)
    store.commit([MakeNote(one, "A line.\nAnother.", created_by=CreatedBy(run, "2", "split"))])
    store.commit([Revise(one, "new", created_by=CreatedBy(run, "3", "update-note")), GiveName(one, "it")])
    first, second = origin(store, one, 1), origin(store, one, 2)
    assert (first.created_by, first.latest_made) == (CreatedBy(run, "2", "split"), CreatedBy(run, "3", "update-note"))
    assert (first.since, first.latest, first.name, first.kept) == ("content", 2, "it", True)
    assert (second.since, second.carried, second.title) == (None, None, "it")
    assert "" not in (first.at, second.at)


def test_origins_come_in_the_order_asked_and_say_of_what_never_was_that_it_is_not_there(store: Store) -> None:
    """Also of a version that never was, and of one asked for twice."""
    one = note(store, "one")
    asked = [Use("Note_99", 1), Use(one, 1), Use(one, 7), Use(one, 1)]
    with store.reading() as snapshot:
        found = snapshot.origins(asked)
    assert [origin.of for origin in found] == asked
    assert [origin.there for origin in found] == [False, True, False, True]


def test_what_became_of_a_version_is_told(store: Store) -> None:
    """Metadata, members, deleted; and nothing where it was put back."""
    one, two = note(store, "one"), note(store, "two")
    both = collection(store, [one, two])
    assert origin(store, both).since is None
    store.commit([Revise(one, metadata={"k": 1})])
    assert (origin(store, one).since, origin(store, one, 2).carried) == ("metadata", 1)
    store.commit([Restore(one, 1)])
    assert origin(store, one).since is None
    store.commit([Delete(two)])
    assert origin(store, two).since == "deleted"
    assert (origin(store, two).gone or "").startswith("at ")
    assert (origin(store, both).since, origin(store, both, 2).carried) == ("members", 1)
    store.commit([Restore(two), Restore(both, 1, CreatedBy(None, None, "undo"))])
    assert origin(store, both).since is None
    assert origin(store, both, 3).carried == 1


def test_a_collection_that_lost_or_got_all_its_members_carries_on_the_one_before(store: Store) -> None:
    one = note(store, "one")
    both = collection(store, [one])
    store.commit([RemoveMembers(both, [one])])
    store.commit([AddMembers(both, [Member(one)])])
    assert [origin(store, both, version).carried for version in (1, 2, 3)] == [None, 1, 2]


def test_a_search_result_names_its_source_a_note_its_file_a_relation_its_ends(store: Store) -> None:
    """And nothing else does."""
    run = open_run(store)
    one, found = store.new_id(Kind.NOTE), store.new_id(Kind.NOTE)
    store.commit(
        [
            MakeNote(one, "text", {"title": "A title"}, kept=True, created_by=CreatedBy(run, None, "add")),
            Track("/r", "a/b.md", one, b"x", 1, part=2),
            MakeNote(found, Evidence(one, 1, 0.5, 0, 4)),
        ]
    )
    arrow = relation(store, one, one, "cites")
    assert (origin(store, one).file, origin(store, one).title) == ("/r/a/b.md#2", "A title")
    assert origin(store, found).source == Source(Use(one, 1), 0.5, 0, 4)
    assert (origin(store, found).evidence, origin(store, one).evidence) == (True, False)
    assert origin(store, arrow).ends == (one, "cites", one)
    with store.reading() as snapshot:
        assert snapshot.citing([one]) == [Use(found, 1)]
        assert snapshot.citing([found]) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("/B", "z.md", 2), ("/a", "a.md", 1)),
        (("/r", "B.md", 2), ("/r", "a.md", 1)),
        (("/r", "t.csv", 2), ("/r", "t.csv", 3)),
    ],
    ids=["root", "path", "part"],
)
@pytest.mark.parametrize("turned", [False, True], ids=["in order", "turned"])
def test_a_note_with_two_files_comes_from_the_first(
    store: Store, first: tuple[str, str, int], second: tuple[str, str, int], turned: bool
) -> None:
    """By root, then path, then part, whichever was remembered first; it is the place that the Note itself tells."""
    one = store.new_id(Kind.NOTE)
    tracks = [Track(root, path, one, b"x", 1, part=part) for root, path, part in (first, second)]
    store.commit([MakeNote(one, "x", created_by=CreatedBy(open_run(store), None, "add"))])
    store.commit(tracks[::-1] if turned else tracks)
    location = get(store, one).location
    assert origin(store, one).file == "{}/{}#{}".format(*first)
    assert location is not None
    assert (location.root, location.path, location.part) == first


def test_readings_and_products_are_those_of_the_journal(store: Store) -> None:
    """Every version that was read; every version that a run made, earlier ones too."""
    run, other = open_run(store), open_run(store)
    one, two = note(store, 1), note(store, 2)
    store.commit(
        [Revise(one, 2, created_by=CreatedBy(run, "1", "update-note"))], [step(run, uses=[Use(one, 1), Use(two, 1)])]
    )
    store.commit([Revise(one, 3, created_by=CreatedBy(other, "1", "update-note"))], [step(other, uses=[Use(one, 2)])])
    with store.reading() as snapshot:
        assert snapshot.readings([one]) == [Reading(Use(one, 1), run, 1), Reading(Use(one, 2), other, 1)]
        assert snapshot.readings([]) == []
        assert snapshot.products([run]) == [Product(Use(one, 2), CreatedBy(run, "1", "update-note"))]
        assert [product.of.version for product in snapshot.products([run, other])] == [2, 3]


def test_what_steps_made_is_what_is_kept_and_lives(store: Store) -> None:
    """No import, no search result, nothing transient or deleted; what anybody changed."""
    run = open_run(store)
    made = [store.new_id(Kind.NOTE) for _ in range(3)]
    store.commit([MakeNote(one, 1, created_by=CreatedBy(run, "1", "x")) for one in made])
    imported, changed, found = note(store, "a", kept=True), note(store, "b", kept=True), store.new_id(Kind.NOTE)
    store.commit([Keep(made[0]), Keep(made[1]), Delete(made[1]), Revise(changed, "c")])
    store.commit([MakeNote(found, Evidence(imported, 1, 0.5), kept=True, created_by=CreatedBy(run, "1", "x"))])
    with store.reading() as snapshot:
        assert snapshot.created_by_steps() == [Use(made[0], 1), Use(changed, 2)]
    assert get(store, changed).version == 2
