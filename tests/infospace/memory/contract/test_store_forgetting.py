"""Removing runs for good: the journal's rows and what nobody kept go, what something is made of stays."""

from __future__ import annotations

import pytest
from store_tools import AT, collection, get, note, open_run, relation, step

from infospace.core.errors import Conflict, NotFound
from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy, Member
from infospace.journal.rows import AddLines, AnswerRow, Approve, CallRow, CloseRun, OpenRun, Use
from infospace.store.changes import Change, Evidence, Keep, MakeCollection, MakeNote, RemoveMembers, Revise, Unkeep
from infospace.store.protocol import DeletedRuns, Store


def made(store: Store, run: str, content: object = "text", *, kept: bool = False) -> str:
    """Make a Note in a run."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, content, kept=kept, created_by=CreatedBy(run, "1", "x"))])  # type: ignore[arg-type]
    return identifier


def ended(store: Store, run: str) -> str:
    """End a run."""
    store.commit([], [CloseRun(run, "success", AT)])
    return run


def there(store: Store, *identifiers: str) -> list[bool]:
    """Whether resources are there."""
    found = []
    for identifier in identifiers:
        try:
            get(store, identifier)
            found.append(True)
        except NotFound:
            found.append(False)
    return found


def test_a_run_goes_with_its_rows_and_what_nobody_kept(store: Store) -> None:
    """Counted before as it is counted after; other runs and what is kept are as they were."""
    run, other = open_run(store), open_run(store)
    loose, kept, theirs = made(store, run), made(store, run, kept=True), made(store, other)
    call = CallRow(run, 1, "1", "llm", "m", b"d", "success", AT, answer="yes")
    store.commit([], [step(run, uses=[Use(kept, 1)]), step(other), call])
    ended(store, run), ended(store, other)
    foretold = store.forget([run], really=False)
    assert there(store, loose, kept, theirs) == [True, True, True]
    assert store.forget([run], really=True) == foretold
    assert (foretold.runs, foretold.steps, foretold.calls, foretold.resources, foretold.needed) == (1, 1, 1, 1, 0)
    assert there(store, loose, kept, theirs) == [False, True, True]
    assert get(store, kept).created_by == CreatedBy(run, "1", "x")
    with store.reading() as snapshot:
        assert [row.run for row in snapshot.runs()] == [other]
        assert snapshot.readings([kept]) == []
        for ask in (snapshot.run, snapshot.steps, snapshot.calls):
            with pytest.raises(NotFound, match=run):
                ask(run)
        assert len(snapshot.steps(other)) == 1


def test_all_that_was_written_of_a_run_goes_with_it(store: Store) -> None:
    """Answers, approvals and the lines of a session: the check of the space finds none without its run."""
    run, session = open_run(store), store.new_id("run")
    store.commit([], [AnswerRow(run, "1", "yes", AT), Approve("files/write", None, AT, run)])
    store.commit([], [OpenRun(session, "session", "", {}, {}, AT, "me"), AddLines(session, [{"type": "size"}])])
    found = store.forget([ended(store, run), ended(store, session)], really=True)
    assert (found.runs, store.check()) == (2, [])


def test_an_id_that_went_is_not_given_again(store: Store) -> None:
    """Neither a resource's nor a run's."""
    run = open_run(store)
    loose = made(store, run)
    store.forget([ended(store, run)], really=True)
    assert store.new_id(Kind.NOTE) != loose
    assert store.new_id("run") != run


def test_a_run_that_goes_on_or_never_was_is_refused_and_nothing_goes(store: Store) -> None:
    """Not even the other runs that were named with it."""
    run, running = ended(store, open_run(store)), open_run(store)
    with pytest.raises(Conflict, match=f"{running} has not ended"):
        store.forget([run, running], really=True)
    store.commit([], [CloseRun(running, "suspended", AT)])
    with pytest.raises(Conflict, match="suspended"):
        store.forget([running], really=True)
    with pytest.raises(NotFound, match="run_99"):
        store.forget([run, "run_99"], really=True)
    with store.reading() as snapshot:
        assert len(snapshot.runs()) == 2


def test_the_source_of_a_kept_search_result_stays(store: Store) -> None:
    """It reads its text from there; the source of one that goes goes with it."""
    run = open_run(store)
    source, other = made(store, run, "the whole text"), made(store, run)
    kept, loose = store.new_id(Kind.NOTE), store.new_id(Kind.NOTE)
    store.commit(
        [
            MakeNote(kept, Evidence(source, 1, 0.5, 4, 9), kept=True, created_by=CreatedBy(run, "2", "x")),
            MakeNote(loose, Evidence(other, 1, 0.5), created_by=CreatedBy(run, "2", "x")),
        ]
    )
    found = store.forget([ended(store, run)], really=True)
    assert (found.resources, found.needed) == (2, 1)
    assert get(store, kept).content["metadata"]["passage"]["text"] == "whole"
    assert there(store, other, loose) == [False, False]


def test_what_something_that_stays_holds_stays_with_all_that_it_is_made_of(store: Store) -> None:
    """A member of an earlier version of a kept Collection, a search result in it, and its source."""
    run, own = open_run(store), open_run(store)
    source, end = made(store, run), made(store, run)
    found = store.new_id(Kind.NOTE)
    changes: list[Change] = [MakeNote(found, Evidence(source, 1, 0.5), created_by=CreatedBy(run, "2", "x"))]
    store.commit(changes)
    holding = collection(store, [found], kept=True)
    store.commit([RemoveMembers(holding, [found])])
    store.commit([Unkeep(found)])
    arrow = relation(store, end, end)
    theirs = store.new_id(Kind.COLLECTION)
    store.commit([MakeCollection(theirs, [Member(end)], created_by=CreatedBy(own, "1", "x"))])
    ended(store, run)
    assert store.forget([run], really=True).resources == 0
    assert there(store, source, found, end, arrow, theirs) == [True] * 5


@pytest.mark.parametrize("rests", [False, True])
def test_what_an_unfinished_run_was_given_or_used_stays(store: Store, *, rests: bool) -> None:
    """By its inputs, its steps' uses, or their results; and what another run or a person changed too."""
    run, later = open_run(store), store.new_id("run")
    given, used, result, changed, loose = (made(store, run) for _ in range(5))
    store.commit([], [OpenRun(later, "plan", "", [], {"x": given}, AT, "me")])
    store.commit([], [step(later, uses=[Use(used, 1)], resource=result, version=1)])
    store.commit([Revise(changed, "by somebody")], [CloseRun(later, "suspended", AT)] if rests else [])
    ended(store, run)
    assert store.forget([run], really=True).resources == 1
    assert there(store, given, used, result, changed, loose) == [True] * 4 + [False]


def test_what_left_discovery_before_is_not_found_by_who_comes_late(store: Store) -> None:
    """A reader that stands before the removal is told that it must read all again."""
    run = open_run(store)
    one = made(store, run, kept=True)
    with store.reading() as snapshot:
        before = snapshot.generation
    store.commit([Unkeep(one)])
    store.forget([ended(store, run)], really=True)
    with store.reading() as snapshot:
        assert not snapshot.moved(before).complete


def test_nothing_named_removes_nothing(store: Store) -> None:
    one = note(store, "text")
    store.commit([Keep(one)])
    assert store.forget([], really=True) == DeletedRuns(0, 0, 0, 0, 0, 0)
    assert there(store, one) == [True]
