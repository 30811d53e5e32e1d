"""A fork without a change differs in nothing from its run, wherever it begins and whatever became of things since."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Space
from infospace.core.ids import Kind
from infospace.store.changes import Delete, Revise
from planner.execute.start import run_sync
from planner.inspect.diff import ContentDiff, diff
from planner.journal.result import RunResult
from planner.lifecycle.fork import fork

PLANS: dict[str, list[dict[str, Any]]] = {
    "a note that is changed again and again": [
        {"type": "create-note", "value": "one", "out": "$c"},
        {"type": "update-note", "target": "$c", "value": "two", "out": "$d"},
        {"type": "update-note", "target": "$c", "value": None},
        {"type": "create-note", "value": "it is ${c}", "out": "$said"},
        {"type": "update-note", "target": "$c", "value": "four", "metadata": {"n": 4}},
        {"type": "load", "target": "$c", "out": "$l"},
    ],
    "a collection that grows and shrinks": [
        {"type": "create-collection", "value": ["x", "y", "z"], "out": "$c"},
        {"type": "head", "target": "$c", "count": 2, "out": "$two"},
        {"type": "add", "target": "$c", "value": "$two[0]", "out": "$same"},
        {"type": "size", "target": "$c", "out": "$three"},
        {"type": "add", "target": "$c", "value": "$three", "out": "$four"},
        {"type": "remove", "target": "$c", "value": "$two[0]", "out": "$less"},
        {"type": "size", "target": "$less", "out": "$n"},
        {"type": "add", "target": "$c", "value": "$n", "out": "$last"},
        {"type": "flatten", "target": "$last", "out": "$text"},
    ],
    "a collection whose item is changed": [
        {"type": "create-note", "value": {"n": 0}, "out": "$c"},
        {"type": "create-collection", "value": ["$c", {"n": 9}], "out": "$all"},
        {"type": "create-collection", "value": ["$all"], "out": "$outer"},
        {"type": "set-metadata", "target": "$c", "value": {"m": 1}},
        {"type": "update-note", "target": "$c", "value": {"n": 1}},
        {"type": "pluck", "target": "$all", "field": "n", "out": "$ns"},
        {"type": "update-note", "target": "$c", "value": {"n": 2}},
        {"type": "pluck", "target": "$outer[0]", "field": "n", "out": "$ms"},
    ],
    "a collection that is given": [
        {"type": "size", "target": "$given", "out": "$n"},
        {"type": "add", "target": "$given", "value": "$n", "out": "$more"},
        {"type": "size", "target": "$given", "out": "$m"},
        {"type": "add", "target": "$given", "value": "$m"},
        {"type": "flatten", "target": "$given", "out": "$text"},
    ],
}


@pytest.fixture(autouse=True, params=["a clock that goes", "a clock that stands still"])
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run may take less than the millisecond that times tell apart: all that happens then has one time."""
    if "still" in request.param:
        monkeypatch.setattr("infospace.core.clock._written", lambda _moment: "2026-04-01T09:30:00.123Z")


def forked(space: Space, result: RunResult, step: int) -> RunResult:
    again = asyncio.run(fork(space, str(result.run), str(step), []))
    assert again.status == "success", again.reason or again.problems
    return again


def alike(space: Space, one: RunResult, other: RunResult) -> None:
    """See that two runs differ in nothing, either way round."""
    with space.store.reading() as snapshot:
        for pair in ((one, other), (other, one)):
            found = diff(snapshot, *(str(run.run) for run in pair))
            assert found.same, [(step.position, step.changes, step.outcome) for step in found.steps]


@pytest.mark.parametrize("plan", PLANS)
def test_a_fork_without_a_change_is_the_same_run(space: Space, plan: str) -> None:
    """From each of its steps on; and so is a fork of the fork."""
    steps, given = PLANS[plan], {"given": {"kind": "Collection"}} if "given" in plan else {}
    for step in range(1, len(steps) + 1):
        made = run_sync(space, [{"type": "create-collection", "value": ["x", "y"], "out": "$c"}])
        inputs: Any = {"given": made.bindings["c"].id} if given else {}
        result = run_sync(space, {"inputs": given, "steps": steps}, inputs)
        assert result.status == "success", result.reason or result.problems
        first = forked(space, result, step)
        alike(space, result, first)
        second = forked(space, first, min(step + 1, len(steps)))
        alike(space, first, second)
        assert space.store.check() == []


def test_what_somebody_elses_was_is_compared_by_what_it_was(space: Space) -> None:
    """A note that the run read, and changed, and that others changed since."""
    steps: list[Any] = [
        {"type": "load", "target": "given", "out": "$g"},
        {"type": "update-note", "target": "$g", "value": "mine"},
        {"type": "create-note", "value": "was ${g}", "out": "$a"},
        {"type": "update-note", "target": "$g", "value": "mine again"},
        {"type": "create-note", "value": "was ${g}", "out": "$b"},
    ]
    run_sync(space, [{"type": "create-note", "value": "given", "name": "given"}])
    for step in range(2, len(steps) + 1):
        result = run_sync(space, steps)
        identifier = space.context().get("given").id
        space.store.commit([Revise(identifier, f"theirs {step}")])
        again = forked(space, result, step)
        alike(space, result, again)
        assert again.bindings["b"].content == "was mine again"
        assert space.context().get("given").content == f"theirs {step}"


def test_a_fork_with_a_change_differs_in_that_alone(space: Space) -> None:
    """And in what follows from it."""
    result = run_sync(space, PLANS["a note that is changed again and again"])
    patch: Any = [{"op": "replace", "path": "/3/value", "value": "it was ${c}"}]
    again = asyncio.run(fork(space, str(result.run), "4", patch))
    with space.store.reading() as snapshot:
        found = diff(snapshot, str(result.run), str(again.run))
    assert {step.position: step.outcome for step in found.steps} == {"4": ContentDiff("it is null", "it was null")}


def test_an_item_that_was_deleted_since_is_missing_from_earlier_versions_alone(space: Space) -> None:
    """The fork goes on with what the Collection had when it begins."""
    steps: list[Any] = [
        {"type": "create-collection", "value": ["x", "y"], "out": "$c"},
        {"type": "remove", "target": "$c", "value": "$c[0]", "out": "$d"},
        {"type": "add", "target": "$c", "value": "$d[0]"},
        {"type": "flatten", "target": "$c", "out": "$text"},
    ]
    result = run_sync(space, steps)
    with space.store.reading() as snapshot:
        first = next(iter(snapshot.listing(Kind.NOTE, kept=None)))
    space.store.commit([Revise(result.bindings["c"].id, metadata={"theirs": True}), Delete(first.id)])
    again = forked(space, result, 4)
    assert again.result is not None
    assert again.result.data == "y"
    with space.store.reading() as snapshot:
        rows = [snapshot.get(str(row.resource), row.version) for row in again.steps[:2]]
    assert [len(getattr(group, "members", ())) for group in rows] == [1, 1]


def test_an_item_that_no_step_read_is_as_it_was_at_the_step(space: Space) -> None:
    """It had versions before the run, and has others since: the fork has the one that was there, and no more."""
    made = run_sync(space, [{"type": "create-collection", "value": ["first"], "out": "$c"}])
    with space.store.reading() as snapshot:
        [item] = snapshot.listing(Kind.NOTE, kept=None)
    space.store.commit([Revise(item.id, "second")])
    steps: list[Any] = [
        {"type": "size", "target": "$given", "out": "$n"},
        {"type": "flatten", "target": "$given", "out": "$text"},
    ]
    plan = {"inputs": {"given": {"kind": "Collection"}}, "steps": steps, "result": "$text"}
    result = run_sync(space, plan, {"given": made.bindings["c"].id})
    assert result.result is not None
    assert result.result.data == "second"
    space.store.commit([Revise(item.id, "third")])
    again = forked(space, result, 2)
    assert again.result is not None
    assert again.result.data == "second"
    [copy] = [member.id for member in getattr(again.bindings["given"], "members", ())]
    with space.store.reading() as snapshot:
        assert [snapshot.get(copy, number).content for number, _ in snapshot.versions(copy)] == ["second"]
