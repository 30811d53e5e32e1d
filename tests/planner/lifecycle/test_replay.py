"""Replaying a run: what was outside comes from its record, and nothing of it stays."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Conflict, Space
from infospace.editing.edit import remove
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.journal.events import Event, RunStarted
from planner.journal.result import RunResult
from planner.lifecycle.fork import fork
from planner.lifecycle.replay import _free_names, replay
from planner.lifecycle.resume import answer, pending_of, resume


@pytest.fixture
def sent(space: Space) -> list[str]:
    """A server whose one tool sends; the list grows with each call."""
    made: list[str] = []
    outside = LocalTools("outside")

    @outside.tool()
    async def send(text: str) -> str:
        """Send a text."""
        made.append(text)
        return f"sent {len(made)}"

    space.tools.add(outside)
    return made


SEND = {"type": "outside/send", "arguments": {"text": "hello"}, "out": "$s"}
KEEP = {"type": "create-note", "value": "kept ${s}", "name": "letter", "replace": True, "out": "$n"}
ASK = {"type": "ask", "value": "sure?", "out": "$yes"}


def ran(space: Space, *steps: Any, **answers: Any) -> RunResult:
    result = run_sync(space, list(steps))
    for step, value in answers.items():
        answer(space, str(result.run), step.removeprefix("_"), value)
        result = asyncio.run(resume(space, str(result.run)))
    assert result.status == "success", result.reason
    return result


def test_a_replay_calls_nothing_and_leaves_nothing(space: Space, sent: list[str]) -> None:
    """Answers of tools and of people come from the record."""
    result = ran(space, SEND, ASK, KEEP, _2="yes")
    before = space.store.check(), [row.run for row in runs(space)]
    replayed = asyncio.run(replay(space, str(result.run)))
    assert (replayed.result.status, replayed.document["result"]["data"]) == ("success", "kept sent 1")
    assert replayed.difference.same
    assert (replayed.document["run"], replayed.document["of"]) == (None, result.run)
    runs_compared = replayed.difference.before.run, replayed.difference.after.run
    assert runs_compared == (result.run, f"replay of {result.run}")
    assert sent == ["hello"]
    assert (space.store.check(), [row.run for row in runs(space)]) == before


def test_a_replay_over_a_table_that_was_given_is_the_same(space: Space) -> None:
    """Its rows are those that the run made of the table: one that is read again has neither gone nor come."""
    rows = {"kind": "Collection", "items": {"type": "object"}}
    plan = {
        "inputs": {"rows": rows, "least": {"type": "number"}},
        "steps": [
            {"type": "filter-structured", "target": "$rows", "where": "price > $least", "out": "$dear"},
            {"type": "head", "target": "$dear", "count": 1, "out": "$first"},
        ],
        "result": "$first",
    }
    result = run_sync(space, plan, {"rows": [{"price": 1}, {"price": 3}, {"price": 4}], "least": 2})
    assert result.status == "success", result.reason
    replayed = asyncio.run(replay(space, str(result.run)))
    assert replayed.document["result"]["data"] == [{"price": 3}]
    assert (replayed.difference.same, replayed.difference.alike) == (True, 2)


def runs(space: Space) -> list[Any]:
    with space.store.reading() as snapshot:
        return snapshot.runs()


def test_reads_are_made_on_the_space_as_it_is_now(space: Space) -> None:
    """The difference says what came; with `recorded` there is none."""
    note = {"type": "create-note", "value": "attention is a mechanism", "name": "one"}
    search = {"type": "discover-notes", "query": "attention", "mode": "keyword", "limit": "all", "out": "$hits"}
    ran(space, note)
    result = ran(space, search)
    ran(space, {**note, "value": "attention is scarce", "name": "two"})
    now = asyncio.run(replay(space, str(result.run)))
    assert not now.difference.same
    assert len(now.document["result"]["data"]) == 2
    then = asyncio.run(replay(space, str(result.run), recorded=True))
    assert then.difference.same


def test_a_read_is_taken_from_the_record_with_what_was_said_of_it(space: Space) -> None:
    """One that failed then has nothing to take, and is made."""
    ran(space, {"type": "create-note", "value": "hello", "name": "what"})
    ran(space, {"type": "create-note", "value": 7, "name": "a number"})
    steps = [
        {"type": "create-note", "value": "number", "out": "$name"},
        {"type": "load", "target": "a ${name}", "slice": "0:1", "out": "$lost", "on_fail": "continue"},
        {"type": "load", "target": "what", "out": "$w"},
    ]
    result = ran(space, *steps)
    again = asyncio.run(replay(space, str(result.run), recorded=True))
    assert again.difference.same
    rows = [(row.status, row.value, row.reason) for row in result.steps]
    assert [(row.status, row.value, row.reason) for row in again.result.steps] == rows
    assert [row[0] for row in rows] == ["success", "failed", "success"]


def test_what_was_read_is_as_it_was_then(space: Space) -> None:
    """Notes and items of Collections that were changed or removed since, and what the run itself wrote over."""
    ran(space, {"type": "create-note", "value": "before", "name": "changed"})
    ran(space, {"type": "create-note", "value": "also before", "name": "removed"})
    ran(space, {"type": "create-collection", "value": [1, 2], "name": "both"})
    run = ran(
        space,
        {"type": "load", "target": "changed", "out": "$changed"},
        {"type": "load", "target": "removed", "out": "$removed"},
        {"type": "load", "target": "both", "out": "$both"},
        {"type": "update-note", "target": "$changed", "value": "${changed}, and after"},
        {"type": "for-each", "target": "$both", "do": [{"type": "create-note", "value": "$item", "out": "$copy"}]},
        {"type": "create-note", "value": "${changed}; ${removed}; ${both}", "out": "$all"},
    )
    assert run.result is not None
    assert run.result.data == "before, and after; also before; 1\n\n2"
    ran(space, {"type": "update-note", "target": "changed", "value": "other"})
    ran(space, {"type": "remove", "target": "removed"})
    remove(space.store, [space.context().get("both").members[0].id], "one of both")
    again = asyncio.run(replay(space, str(run.run), recorded=True))
    assert again.result.reason is None, again.result.steps
    assert again.document["result"]["data"] == run.result.data
    assert again.difference.same
    assert space.context().get("changed").content == "other"


def test_what_the_run_itself_has_changed_is_read_as_the_replay_changes_it(space: Space) -> None:
    run = ran(
        space,
        {"type": "create-note", "value": "before", "name": "n"},
        {"type": "load", "target": "n", "out": "$first"},
        {"type": "create-note", "value": "${first}", "out": "$was"},
        {"type": "update-note", "target": "n", "value": "after"},
        {"type": "load", "target": "n", "out": "$then"},
        {"type": "create-collection", "value": [1], "name": "log"},
        {"type": "add", "target": "log", "value": "$was"},
        {"type": "load", "target": "log", "out": "$log"},
        {"type": "create-note", "value": "${was}, ${then}, ${log}", "out": "$all"},
    )
    for recorded in (False, True):
        again = asyncio.run(replay(space, str(run.run), recorded=recorded))
        assert again.document["result"]["data"] == "before, after, 1\n\nbefore"
        assert again.difference.same


def test_a_replay_says_why_it_reads_otherwise(space: Space) -> None:
    """Where the space has changed since, by the run itself too; not where what it read is from the record."""
    ran(space, {"type": "create-note", "value": "before", "name": "before"})
    counted = [
        {"type": "discover-notes", "where": "@name IS NOT NULL", "out": "$all"},
        {"type": "size", "target": "$all", "out": "$n"},
        {"type": "create-note", "value": "$n", "name": "after", "replace": True},
    ]
    run = ran(space, *counted).run or ""
    again = asyncio.run(replay(space, run))
    assert not again.difference.same
    assert again.why == (
        f"step 1 (discover-notes) reads the space as it is now, which has changed since {run} began, "
        "by its own writes too; --recorded takes what it read from the record"
    )
    recorded = asyncio.run(replay(space, run, recorded=True))
    assert (recorded.difference.same, recorded.why) == (True, None)
    alone = ran(space, {"type": "create-note", "value": 1, "out": "$x"}).run or ""
    assert asyncio.run(replay(space, alone)).why is None


def test_a_call_without_a_record_fails_unless_it_may_be_made(space: Space, sent: list[str]) -> None:
    """The arguments are others than then, since what they are read from has changed."""
    ran(space, {"type": "create-note", "value": "hello", "name": "what"})
    load = {"type": "load", "target": "what", "out": "$w"}
    result = ran(space, load, {**SEND, "arguments": {"text": "$w"}})
    ran(space, {"type": "update-note", "target": "what", "value": "goodbye"})
    replayed = asyncio.run(replay(space, str(result.run)))
    assert replayed.result.status == "failed"
    assert "did not call outside/send so here" in str(replayed.result.reason)
    live = asyncio.run(replay(space, str(result.run), live=True))
    assert live.result.status == "success"
    assert sent == ["hello", "goodbye"]


def test_a_long_wait_is_over_in_a_replay(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing sleeps."""
    result = ran(space, {"type": "wait", "seconds": 0.01})
    monkeypatch.setattr("planner.execute.wait.LONGEST_SLEEP", 0)
    assert asyncio.run(replay(space, str(result.run))).result.status == "success"


def test_names_of_what_a_run_only_changed_stay_for_the_plan_that_is_checked_again(space: Space) -> None:
    """Those that it gave itself are free: the plan that a model wrote for it was right before they were taken."""
    ran(space, {"type": "create-note", "value": "old", "name": "theirs", "out": "$n"})
    change = {"type": "update-note", "target": "$n", "value": "new"}
    result = ran(space, {"type": "load", "target": "theirs", "out": "$n"}, change, {**KEEP, "value": "own"})
    with space.store.overlay() as copy:
        with copy.reading() as snapshot:
            products = snapshot.products([str(result.run)])
        _free_names(copy, products)
        with copy.reading() as snapshot:
            assert list(snapshot.names()) == ["theirs"]


def test_only_runs_of_plans_are_replayed(space: Space) -> None:
    """An import has no plan."""
    from planner.parse.saved_plans import save_plan

    save_plan(space, "x", {"steps": []})
    with pytest.raises(Conflict, match="not a run of a plan"):
        asyncio.run(replay(space, "run_1"))


def test_a_run_that_gave_a_name_is_replayed_with_it(space: Space) -> None:
    """The name is held by what the run itself made, or by now by something else."""
    result = ran(space, {"type": "create-note", "value": 1, "name": "once", "out": "$n"})
    assert asyncio.run(replay(space, str(result.run))).difference.same
    run_sync(space, [{"type": "create-note", "value": 2, "name": "once", "replace": True}])
    assert asyncio.run(replay(space, str(result.run))).difference.same
    assert space.context().get("once").content == 2


def test_a_replay_of_a_fork_takes_what_it_took_over_from_the_run_before(space: Space, sent: list[str]) -> None:
    """Calls and answers of steps that the fork did not run again."""
    result = ran(space, SEND, ASK, KEEP, _2="yes")
    patch = [{"op": "replace", "path": "/2/value", "value": "${yes}: ${s}"}]
    forked = asyncio.run(fork(space, str(result.run), "3", patch))
    assert forked.status == "success", forked.reason
    replayed = asyncio.run(replay(space, str(forked.run)))
    assert (replayed.result.status, replayed.document["result"]["data"]) == ("success", "yes: sent 1")
    assert replayed.difference.same
    assert sent == ["hello"]


def test_the_events_of_a_replay_name_the_run_that_is_replayed(space: Space) -> None:
    """Its own id is nowhere any more when it has ended."""
    run = ran(space, {"type": "create-note", "value": 1, "out": "$x"}).run or ""
    events: list[Event] = []
    asyncio.run(replay(space, run, events.append))
    assert [event.run for event in events if isinstance(event, RunStarted)] == [f"replay of {run}"]


def test_what_a_run_waits_for_is_read_from_its_journal_as_it_was_told(space: Space) -> None:
    """The time, too, until which it waits."""
    result = run_sync(space, [{"type": "wait", "seconds": 100_000}])
    with space.store.reading() as snapshot:
        kept = pending_of(snapshot.steps(str(result.run)))
    assert [one.kind for one in kept] == ["wait"]
    assert kept[0].until is not None
    assert kept == list(result.pending)
