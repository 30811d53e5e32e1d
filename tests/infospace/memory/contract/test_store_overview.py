"""Runs at a glance, for lists of many."""

from __future__ import annotations

from dataclasses import replace

from store_tools import AT, LATER, open_run, step

from infospace.memory.store import Store
from infospace.runs.journal import AddLines, CallRow, CloseRun, OpenRun, RunHead, Tally


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
        found = snapshot.tallies([run, "run_999"])
    assert found == {run: Tally(5, 2, 1, 1, 1, 30)}


def test_tallies_know_plans_in_every_form(store: Store) -> None:
    """A bare list, `steps`, `plan`, and the lines of a session."""
    documents = ([{"type": "a"}, {"type": "b"}], {"steps": [1, 2, 3]}, {"plan": [1]}, {"goal": "none"})
    runs = [store.new_id("run") for _ in documents]
    store.commit([], [OpenRun(run, "plan", "", doc, {}, AT, "me") for run, doc in zip(runs, documents, strict=True)])
    session = store.new_id("run")
    store.commit([], [OpenRun(session, "session", "", {"steps": []}, {}, AT, "me"), AddLines(session, [{}, {}])])
    with store.reading() as snapshot:
        found = snapshot.tallies([*runs, session])
    assert [found[run].steps for run in (*runs, session)] == [2, 3, 1, 0, 2]


def test_runs_are_found_by_what_is_said_in_them(store: Store) -> None:
    """Whatever signs the text has."""
    run, other, third = open_run(store), open_run(store), open_run(store)
    store.commit([], [replace(step(run), value='100% of "a_b"'), replace(step(other), value="100 of axb")])
    store.commit([], [CloseRun(third, "failed", LATER, None, "Straße\nzu")])
    with store.reading() as snapshot:
        assert snapshot.runs_saying("100% OF") == {run}
        assert snapshot.runs_saying('"a_b"') == {run}
        assert snapshot.runs_saying("100") == {run, other}
        assert snapshot.runs_saying("Straße\nzu") == {third}
        assert snapshot.runs_saying("SIZE") == snapshot.runs_saying("find") == {run, other, third}
        assert snapshot.runs_saying("nowhere") == set()
