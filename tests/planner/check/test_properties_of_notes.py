"""What the check knows of the properties of notes: names that none has, values and types that none has there."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space, open_space
from infospace.store.changes import Delete, MakeNote
from infospace.store.scoped_store import Visibility
from infospace.tools.scope import EVERYTHING
from infospace.tools.scoped_space import ScopedSpace
from planner.execute.start import check_plan, run_sync

NOTES: list[dict[str, Any]] = [
    {"status": "open", "priority": 1, "due": "2026-11-24", "labels": ["a", "b"]},
    {"status": "done", "priority": 2, "due": "2026-12-01", "labels": ["a"], "created": "long ago"},
    {"status": ["open", "late"], "priority": None, "author": "Ada"},
]


@pytest.fixture
def notes(space: Space) -> Space:
    """A space of three notes."""
    space.store.commit([MakeNote(space.store.new_id("Note"), "text", metadata, kept=True) for metadata in NOTES])
    return space


def doubts(space: Space, *steps: Any) -> list[tuple[str, str, str | None]]:
    """The warnings of a plan but for what is never read, none of which has a fix."""
    found = [one for one in check_plan(space, list(steps))[1].found if one.code != "never-read"]
    assert all(one.severity == "warning" and one.fix is None for one in found), found
    return [(one.code, one.message, one.hint) for one in found]


CASES = [
    ("{}statsu = 'open'", "unknown-property", "no note has a property `statsu`", "did you mean `status`?"),
    ("{}nowhere > 1", "unknown-property", "no note has a property `nowhere`", "priority, status, due, labels"),
    ("{}status = 'opne'", "unknown-value", 'no note has "opne" as `status`', 'did you mean "open"?'),
    ("{}status IN ('open', 'zzz')", "unknown-value", 'it is "open", "done" or "late"', None),
    ("{}priority = '1'", "unknown-value", 'compared with "1", and it is a number in 2 notes, null in 1', None),
    ("{}due < 20261124", "unknown-value", "compared with 20261124, and it is a date in 2 notes", None),
    ("contains({}labels, 'c')", "unknown-value", 'no note has "c" as `labels`: it is "a" or "b"', None),
]


@pytest.mark.parametrize(("where", "code", "message", "hint"), CASES)
@pytest.mark.parametrize("door", ["where", "query"])
def test_what_no_note_has_is_a_warning(
    notes: Space, door: str, where: str, code: str, message: str, hint: str | None
) -> None:
    """In the condition of a search, and in a query over notes."""
    if door == "where":
        step = {"type": "discover-notes", "query": "x", "where": where.format("metadata."), "out": "$x"}
    else:
        sql = f"SELECT title FROM notes WHERE {where.format('')}"  # noqa: S608
        step = {"type": "query", "sql": sql, "out": "$x"}
    [(told, sentence, offered)] = doubts(notes, step)
    assert told == code
    assert message in sentence
    assert (offered or "").startswith(hint or "")
    assert (offered is None) == (hint is None)


@pytest.mark.parametrize(
    "where",
    [
        "metadata.status = 'late' AND metadata.priority < 9 AND metadata.due < '2026'",
        "contains(metadata.labels, 'a') AND contains(metadata.status, 'op') AND metadata.author = 'Ada'",
        "metadata.status IS NULL OR title = 'x' OR content = 'y'",
    ],
)
def test_what_some_note_has_is_none(notes: Space, where: str) -> None:
    assert doubts(notes, {"type": "discover-notes", "query": "x", "where": where, "out": "$x"}) == []


def test_a_window_function_is_no_property(notes: Space) -> None:
    sql = "SELECT title, sum(priority) OVER () AS whole, row_number() OVER (ORDER BY title) AS place FROM notes"
    assert doubts(notes, {"type": "query", "sql": sql, "out": "$x"}) == []


def test_a_property_with_more_than_twenty_values_may_have_any(space: Space) -> None:
    space.store.commit(
        [MakeNote(space.store.new_id("Note"), "", {"n": number}, kept=True) for number in range(21)],
    )
    assert doubts(space, {"type": "query", "sql": "SELECT title FROM notes WHERE n = 99", "out": "$x"}) == []


def test_what_the_plan_itself_writes_counts_as_there(notes: Space) -> None:
    """Names and values that it gives, and any where it gives what only the run knows."""
    read = {"type": "query", "sql": "SELECT title FROM notes WHERE statsu = 'new'", "out": "$x"}
    value = {"type": "query", "sql": "SELECT title FROM notes WHERE status = 'new'", "out": "$y"}
    create = {"type": "create-note", "value": "a", "name": "a"}
    made = [{**create, "metadata": {"statsu": "new"}}]
    assert doubts(notes, *made, read, value) == []
    other = [{**create, "metadata": {"status": "else"}}]
    assert [code for code, *_ in doubts(notes, *other, read, value)] == ["unknown-property", "unknown-value"]
    inputs = {"m": {"type": "object"}}
    unknown = {"inputs": inputs, "steps": [{**create, "metadata": "$m"}, read, value]}
    assert [one for one in check_plan(notes, unknown)[1].found if one.code.startswith("unknown")] == []


def test_a_column_hides_the_property_of_its_name(notes: Space) -> None:
    [(code, message, hint)] = doubts(notes, {"type": "query", "sql": "SELECT created FROM notes", "out": "$x"})
    assert (code, hint) == ("hidden-property", "the property is metadata.created")
    assert message == "`created` is the column of every note, and a property of 1 note"
    assert doubts(notes, {"type": "query", "sql": "SELECT metadata.created FROM notes", "out": "$x"}) == []


def test_nothing_is_said_of_a_space_without_properties(space: Space) -> None:
    assert doubts(space, {"type": "query", "sql": "SELECT any FROM notes", "out": "$x"}) == []


def test_a_token_learns_of_the_notes_alone_that_it_may_read(notes: Space) -> None:
    """Of the others neither the names of properties, nor their values, nor how many there are."""
    seen = ScopedSpace(notes, EVERYTHING, sight=Visibility(notes="metadata.priority = 1"))
    with seen.store.reading() as snapshot:
        found = snapshot.properties()
    assert {name: (one.notes, one.values) for name, one in found.items()} == {
        "due": (1, ("2026-11-24",)),
        "labels": (1, ("a", "b")),
        "priority": (1, (1,)),
        "status": (1, ("open",)),
    }
    step = {"type": "query", "sql": "SELECT title FROM notes WHERE status = 'done' AND author = 'Ada'", "out": "$x"}
    assert [message for _, message, _ in doubts(seen, step)] == [
        'no note has "done" as `status`: it is "open"',
        "no note has a property `author`",
    ]
    with ScopedSpace(notes, EVERYTHING, sight=Visibility(notes="none")).store.reading() as snapshot:
        assert snapshot.properties() == {}


def test_properties_are_followed_from_commit_to_commit(notes: Space) -> None:
    """What is kept of them is what a space that is opened anew has."""
    run = [
        {"type": "create-note", "value": "a", "metadata": {"status": "waiting", "many": True}, "name": "a"},
        {"type": "set-metadata", "target": "a", "value": {"status": "over"}},
        {"type": "remove", "target": "Note_1"},
    ]
    for step in run:
        assert run_sync(notes, [step]).status == "success"
        with (
            notes.store.reading() as snapshot,
            open_space(notes.store.address) as anew,
            anew.store.reading() as fresh,
        ):
            assert snapshot.properties() == fresh.properties()
    with notes.store.reading() as snapshot:
        found = snapshot.properties()
    assert found["status"].values == ("done", "late", "open", "over")
    assert found["many"].types == {"boolean": 1}


def test_a_property_that_had_many_values_is_counted_anew_when_it_may_have_few(space: Space) -> None:
    """No more than a thousand are followed; notes that go may leave few."""
    ids = [space.store.new_id("Note") for _ in range(1_100)]
    space.store.commit([MakeNote(one, "", {"n": place}, kept=True) for place, one in enumerate(ids)])
    with space.store.reading() as snapshot:
        assert snapshot.properties()["n"].values is None
    space.store.commit([Delete(one) for one in ids[3:]])
    with space.store.reading() as snapshot:
        assert snapshot.properties()["n"].values == (0, 1, 2)


def test_an_id_without_its_sign_is_offered_with_it(notes: Space) -> None:
    """`id` is what others call it: a join with `items` would find nothing."""
    sql = "SELECT n.title, i.text FROM items i JOIN notes n ON n.id = i.note"
    found = doubts(notes, {"type": "query", "sql": sql, "out": "$r"})
    assert found == [("unknown-property", "no note has a property `id`", "did you mean `@id`?")]
