"""Runs and resources at a glance, for lists of many."""

from __future__ import annotations

from dataclasses import replace

import pytest
from store_tools import AT, LATER, collection, note, open_run, relation, step

from infospace.core.errors import NotFound
from infospace.core.ids import Kind, number_of
from infospace.journal.rows import AddLines, CallRow, CloseRun, OpenRun, RunHead, RunStats
from infospace.store.changes import Delete, Evidence, GiveName, MakeNote
from infospace.store.protocol import Store


def call(run: str, sequence: int, kind: str, tokens: int = 0) -> CallRow:
    return CallRow(run, sequence, "1", "llm" if kind == "llm" else "tool", "m", b"d", "started", AT, tokens=tokens)


def test_heads_are_all_runs_latest_first_without_plans(store: Store) -> None:
    """What they spent is there once they have ended."""
    first, second = open_run(store), open_run(store)
    store.commit([], [CloseRun(first, "failed", LATER, None, "no", {"seconds": 1.5})])
    with store.reading() as snapshot:
        heads = snapshot.run_heads()
    assert heads == [
        RunHead(second, "plan", "find out", "running", AT, None, None, "me", AT, {}),
        RunHead(first, "plan", "find out", "failed", AT, LATER, "no", "me", AT, {"seconds": 1.5}),
    ]


def test_tallies_count_the_plans_own_steps_apart_from_executions(store: Store) -> None:
    """What stands inside of a step, and attempts that are repeated, are no further steps."""
    run = open_run(store)
    rows = [
        replace(step(run, number), position=position, status=status)
        for number, (position, status) in enumerate(
            [("1", "success"), ("2.do[1].1", "success"), ("2", "failed"), ("2#2", "success"), ("3", "suspended")], 1
        )
    ]
    store.commit([], [*rows, call(run, 1, "llm", 30), call(run, 2, "tool")])
    with store.reading() as snapshot:
        found = snapshot.run_stats([run, "run_999"])
    assert found == {run: RunStats(5, 2, 1, 1, 1, 30)}


def test_tallies_know_plans_in_every_form(store: Store) -> None:
    """A bare list, `steps`, `plan`, and the lines of a session."""
    documents = ([{"type": "a"}, {"type": "b"}], {"steps": [1, 2, 3]}, {"plan": [1]}, {"goal": "none"})
    runs = [store.new_id("run") for _ in documents]
    store.commit([], [OpenRun(run, "plan", "", doc, {}, AT, "me") for run, doc in zip(runs, documents, strict=True)])
    session = store.new_id("run")
    store.commit([], [OpenRun(session, "session", "", {"steps": []}, {}, AT, "me"), AddLines(session, [{}, {}])])
    with store.reading() as snapshot:
        found = snapshot.run_stats([*runs, session])
    assert [found[run].steps for run in (*runs, session)] == [2, 3, 1, 0, 2]


def test_runs_are_found_by_what_is_said_in_them(store: Store) -> None:
    """Whatever signs the text has."""
    run, other, third = open_run(store), open_run(store), open_run(store)
    store.commit([], [replace(step(run), value='100% of "a_b"'), replace(step(other), value="100 of axb")])
    store.commit([], [CloseRun(third, "failed", LATER, None, "Straße\nzu")])
    with store.reading() as snapshot:
        assert snapshot.runs_containing("100% OF") == {run}
        assert snapshot.runs_containing('"a_b"') == {run}
        assert snapshot.runs_containing("100") == {run, other}
        assert snapshot.runs_containing("Straße\nzu") == {third}
        assert snapshot.runs_containing("SIZE") == snapshot.runs_containing("find") == {run, other, third}
        assert snapshot.runs_containing("nowhere") == set()


def test_numbers_are_those_of_the_listing(store: Store) -> None:
    """Kept ones, the others, or all; what was deleted is left out."""
    first, second, third = note(store, kept=True), note(store), note(store, kept=True)
    many = collection(store, [first], kept=True)
    store.commit([Delete(third)])
    with store.reading() as snapshot:
        for kept in (True, False, None):
            for kind in Kind:
                listed = [number_of(one.id) for one in snapshot.listing(kind, kept=kept)]
                assert snapshot.numbers(kind, kept=kept).tolist() == listed
        assert snapshot.numbers(Kind.NOTE).tolist() == [number_of(first)]
        assert snapshot.numbers(Kind.NOTE, kept=None).tolist() == [number_of(first), number_of(second)]
        assert snapshot.numbers(Kind.COLLECTION).tolist() == [number_of(many)]


def test_briefs_tell_how_resources_begin(store: Store) -> None:
    """In the order that was asked for; deleted ones too, and search results by what they refer to."""
    text, data = note(store, 'He said "so" ' + "\u00e9" * 5000, kept=True, title="Said"), note(store, {"a": [1, 2]})
    both, link = collection(store, [text, data, text]), relation(store, text, data)
    hit = store.new_id(Kind.NOTE)
    store.commit([GiveName(data, "data"), MakeNote(hit, Evidence(text, 1, 0.5, 0, 4)), Delete(both)])
    with store.reading() as snapshot:
        found = snapshot.briefs([link, both, hit, data, text])
        whole = [snapshot.get(one.id, one.version) for one in found]
    for brief, resource in zip(found, whole, strict=True):
        same = (resource.id, resource.version, resource.name, resource.kept, resource.created, resource.updated)
        assert (brief.id, brief.version, brief.name, brief.kept, brief.created, brief.updated) == same
        assert brief.metadata == resource.metadata
    assert found[0].ends == (text, "cites", data)
    assert (found[1].alive, found[1].size) == (False, 3)
    assert (found[2].evidence, found[2].source, found[2].score) == (True, (text, 1), 0.5)
    assert (found[3].begins, found[3].size, found[3].name) == ('{"a":[1,2]}', 11, "data")
    assert found[4].begins.startswith('He said "so" \u00e9\u00e9')
    assert len(found[4].begins) < 400 < found[4].size


@pytest.mark.parametrize("sign", ["\\", '"', "\n", "\x00", "😀", "ab"])
def test_a_beginning_is_cut_between_signs(store: Store, sign: str) -> None:
    """However they are stored."""
    for length in (1, 99, 149, 150, 151, 298, 299, 300, 301, 1000):
        text = "x" * (length % 3) + sign * length
        identifier = note(store, text)
        with store.reading() as snapshot:
            begins = snapshot.briefs([identifier])[0].begins
        assert text.startswith(begins)
        assert begins


def test_briefs_of_what_never_was_are_refused(store: Store) -> None:
    """As everywhere."""
    with store.reading() as snapshot, pytest.raises(NotFound, match="Note_99"):
        snapshot.briefs(["Note_99"])
