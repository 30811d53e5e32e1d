"""Resources of MCP, page by page, whatever lies at the end of one; and each read by its address."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.server.subscriptions import InMemorySubscriptionBus

from infospace import Invalid, NotFound, Space
from infospace.core.ids import Kind
from infospace.core.resources import Member
from infospace.store.changes import GiveName, MakeCollection, MakeNote, Revise
from planner.execute.start import run_sync
from planner.server.protocol.resources import MAX_RESOURCE_CHARACTERS, PAGE, list_resources, read_uri
from planner.server.protocol.subscriptions import ResourceSubscriptions


def notes(space: Space, *names: str | None, content: Any = "x") -> list[str]:
    """Keep Notes of some names; return their ids."""
    made = [MakeNote(space.store.new_id(Kind.NOTE), content, kept=True) for _ in names]
    named = [GiveName(note.id, name) for note, name in zip(made, names, strict=True) if name is not None]
    space.store.commit([*made, *named])
    return [note.id for note in made]


def pages(space: Space) -> list[list[str]]:
    """The addresses on each page."""
    found: list[list[str]] = []
    cursor: str | None = None
    while cursor is not None or not found:
        page, cursor = list_resources(space, cursor)
        found.append([one.uri for one in page])
    return found


def test_an_empty_space_has_one_empty_page(space: Space) -> None:
    assert pages(space) == [[]]


def test_collections_come_first_then_notes_then_the_latest_run(space: Space) -> None:
    """By number; those whose names begin with `_`, and what is not kept, are not listed."""
    first, _hidden, second = notes(space, "hello world", "_hidden", None)
    collection = MakeCollection(space.store.new_id(Kind.COLLECTION), (Member(first),), kept=True)
    space.store.commit([collection, MakeNote(space.store.new_id(Kind.NOTE), "not kept")])
    runs = [
        run_sync(space, {"goal": goal, "steps": [{"type": "load", "target": first, "out": "$x"}]}).run
        for goal in ("first", "last")
    ]
    page, cursor = list_resources(space, None)
    assert cursor is None
    assert [(one.uri, one.name) for one in page] == [
        (f"infospace://collection/{collection.id}", collection.id),
        (f"infospace://note/{first}", "hello world"),
        (f"infospace://note/{second}", second),
        *((f"infospace://run/{run}", run) for run in reversed(runs)),
    ]
    assert [one.title for one in page[-2:]] == ["plan success last", "plan success first"]


@pytest.mark.parametrize("count", [PAGE - 1, PAGE, PAGE + 1, 2 * PAGE])
def test_each_is_on_one_page_wherever_that_ends(space: Space, count: int) -> None:
    """A page is full before the next begins; runs fill up the last page of notes."""
    ids = notes(space, *[None] * count)
    for _ in range(3):
        run_sync(space, [{"type": "load", "target": ids[0], "out": "$x"}])
    found = pages(space)
    every = [*(f"infospace://note/{one}" for one in ids), *(f"infospace://run/run_{number}" for number in (3, 2, 1))]
    assert [uri for page in found for uri in page] == every
    assert all(len(page) == PAGE for page in found[:-1])


def test_hidden_notes_are_passed_over_at_the_end_of_a_page_too(space: Space) -> None:
    ids = notes(space, *[None] * (PAGE - 1), "_a", "_b", None)
    assert [uri for page in pages(space) for uri in page] == [
        f"infospace://note/{one}" for one in (*ids[: PAGE - 1], ids[-1])
    ]


@pytest.mark.parametrize("cursor", ["x", "note", "note:x", "collection:", "relation:0", "note:-1"])
def test_a_cursor_that_this_did_not_give_is_refused(space: Space, cursor: str) -> None:
    with pytest.raises(Invalid, match=f"{cursor!r} is not a cursor of this list"):
        list_resources(space, cursor)


def test_each_is_read_as_what_it_is(space: Space) -> None:
    """Text as text, everything else as JSON."""
    text, data = *notes(space, "a/b ä"), *notes(space, None, content={"n": 1})
    collection = MakeCollection(space.store.new_id(Kind.COLLECTION), (Member(text), Member(data)), kept=True)
    space.store.commit([collection])
    assert read_uri(space, "infospace://note/a%2Fb%20%C3%A4") == ("text/plain", "x")
    assert read_uri(space, f"infospace://note/{text}") == ("text/plain", "x")
    assert read_uri(space, f"infospace://note/{data}") == ("application/json", '{"n":1}')
    mime, items = read_uri(space, f"infospace://collection/{collection.id}")
    assert (mime, json.loads(items)) == (
        "application/json",
        [{"id": text, "content": "x"}, {"id": data, "content": {"n": 1}}],
    )
    run = run_sync(space, [{"type": "load", "target": text, "out": "$x"}]).run
    mime, record = read_uri(space, f"infospace://run/{run}")
    assert (mime, json.loads(record)["run"], json.loads(record)["status"]) == ("application/json", run, "success")
    for uri, message in (
        (f"infospace://collection/{text}", "is a Note, not a collection"),
        (f"infospace://note/{collection.id}", "is a Collection, not a note"),
        ("infospace://note/", "there is no resource"),
        ("infospace://relation/Relation_1", "there is no resource"),
        (f"file://note/{text}", "there is no resource"),
        (f"infospace://run/{text}", "is not the id of a run"),
        ("infospace://run/run_99", "run_99"),
    ):
        with pytest.raises(NotFound, match=message) as refused:
            read_uri(space, uri)
        assert message != "is not the id of a run" or refused.value.hint == "such as run_7"


def test_what_is_too_long_is_left_to_reading_in_pieces(space: Space) -> None:
    """To the character."""
    [just] = notes(space, None, content="x" * MAX_RESOURCE_CHARACTERS)
    [longer] = notes(space, None, content="x" * (MAX_RESOURCE_CHARACTERS + 1))
    assert read_uri(space, f"infospace://note/{just}")[1] == "x" * MAX_RESOURCE_CHARACTERS
    with pytest.raises(Invalid, match=f"has 100,001 characters.*the tool `read` gives '{longer}' in pieces"):
        read_uri(space, f"infospace://note/{longer}")


def test_what_has_changed_is_told_once_and_by_address(space: Space) -> None:
    """Of those that somebody looks at: not the others, and not what was so before."""
    ids = notes(space, *[None] * 8)
    watched = [f"infospace://note/{one}" for one in ids[1:]]
    resources = ResourceSubscriptions(space, InMemorySubscriptionBus())
    with resources.listening(watched):
        assert resources.changed() == []
        space.store.commit([Revise(one, "y") for one in ids])
        assert resources.changed() == sorted(watched)
        assert resources.changed() == []
    space.store.commit([Revise(one, "z") for one in ids])
    assert resources.changed() == []
