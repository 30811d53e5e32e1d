"""`replace: true`: create or update by name in one step, and nothing stale is left to be found."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Collection, Note
from infospace.editing.undo import undo
from infospace.journal.rows import Use
from infospace.lineage.trace import trace
from planner.execute.start import prepare, run_sync
from planner.inspect.diff import diff
from planner.journal.result import RunResult
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.fork import fork
from planner.lifecycle.replay import replay


def report(text: Any, **more: Any) -> dict[str, Any]:
    """A step that writes the report."""
    return {"type": "create-note", "value": text, "name": "report", "replace": True, "out": "$r", **more}


def ran(space: Space, *steps: Any) -> RunResult:
    """Run steps that end well."""
    result = run_sync(space, list(steps))
    assert result.status == "success", result.reason or result.problems
    return result


def found(space: Space, query: str, mode: str) -> list[Any]:
    """Return the texts that a search finds, in order."""
    step = {"type": "discover-notes", "query": query, "mode": mode, "limit": "all", "threshold": -1, "out": "$hits"}
    if mode == "keyword":
        del step["threshold"]
    hits = ran(space, step).result
    assert hits is not None
    return [hit["text"] for hit in hits.data]  # type: ignore[union-attr,index,call-overload]


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_a_nightly_report_never_finds_its_earlier_selves(space: Space, mode: str) -> None:
    """Whether the name is on the step that makes it, on one that keeps it, or a step of its own."""
    made = [{"type": "create-note", "value": "night ${n}: the harvest", "out": "$r"}]
    ways: list[list[dict[str, Any]]] = [
        [report("night ${n}: the harvest")],
        [*made, {"type": "persist", "target": "$r", "name": "report", "replace": True}],
        [*made, {"type": "name", "target": "$r", "value": "report", "replace": True}],
        [
            *made,
            {"type": "persist", "target": "$r"},
            {"type": "name", "target": "$r", "value": "report", "replace": True},
        ],
    ]
    ids = set()
    for night, way in enumerate(ways, 1):
        result = ran(space, {"type": "create-note", "value": night, "out": "$n"}, *way)
        assert result.result is not None
        ids.add(result.result.resource_id)
        assert found(space, "harvest", mode) == [f"night {night}: the harvest"]
    assert len(ids) == 1
    [identifier] = ids
    with space.store.reading() as snapshot:
        texts = [getattr(snapshot.get(str(identifier), at), "content", None) for at in range(1, 5)]
        assert snapshot.named("report") == identifier
        assert len(snapshot.rows(str(snapshot.model()), None).owners) == (0 if mode == "keyword" else 1)
    assert texts == [f"night {night}: the harvest" for night in range(1, 5)]
    assert space.store.check() == []


def test_metadata_goes_with_the_content_and_nothing_is_made_twice(space: Space) -> None:
    """The next version has the result's metadata alone, and no copy of it lies about."""
    ran(space, report({"a": 1}, metadata={"x": 1, "y": 2}))
    ran(space, report(None, metadata={"z": 3}))
    note = space.context().get("report")
    assert (note.content, dict(note.metadata), note.version) == (None, {"z": 3}, 2)
    with space.store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE, kept=None) == 1


def test_a_collection_gets_the_members_of_the_result(space: Space) -> None:
    """Of a search, of a `map`; its metadata too; what was in it before is in its earlier version."""
    first = ran(space, {"type": "create-collection", "value": ["a", "b"], "name": "list", "out": "$c"})
    note = {"type": "create-note", "value": "c", "out": "$n"}
    again = {"type": "create-collection", "value": ["$n", "$n"], "name": "list", "replace": True, "out": "$c"}
    second = ran(space, note, again, {"type": "size", "target": "$c"})
    assert second.result is not None
    assert second.result.data == 2
    assert second.bindings["c"].id == first.bindings["c"].id
    third = ran(
        space,
        note,
        {"type": "map", "target": "list", "operation": "load", "out": "$c", "name": "list", "replace": True},
    )
    group = third.bindings["c"]
    assert isinstance(group, Collection)
    assert (group.id, group.version, len(group.members)) == (first.bindings["c"].id, 3, 2)
    assert [member.info for member in group.members if member.info] != []
    with space.store.reading() as snapshot:
        sizes = [len(snapshot.get(group.id, at).members) for at in (1, 2, 3)]  # type: ignore[union-attr]
        graph = trace(snapshot, [Use(group.id, 2)])
    assert sizes == [2, 2, 2]
    assert Use(group.id, 1) not in graph.nodes
    assert space.store.check() == []


def test_of_another_kind_the_name_moves_and_what_nothing_holds_is_let_go(space: Space) -> None:
    """It is transient, and no longer found; what a kept Collection holds stays."""
    old = ran(space, report("a note of old")).bindings["r"]
    ran(space, {"type": "create-collection", "value": ["x"], "name": "report", "replace": True, "out": "$c"})
    assert (space.store.get(old.id).kept, found(space, "old", "keyword")) == (False, [])
    group = space.context().get("report")
    ran(space, report("back"))
    assert not space.store.get(group.id).kept
    held = space.context().get("report")
    ran(
        space,
        {"type": "load", "target": "report", "out": "$held"},
        {"type": "create-collection", "value": ["$held"], "name": "box"},
        {
            "type": "create-relation",
            "source": "$held",
            "target": "$held",
            "relation": "is",
            "name": "report",
            "replace": True,
        },
    )
    assert (space.store.get(held.id).kept, space.store.get(held.id).name) == (True, None)
    assert space.context().get("report").kind is Kind.RELATION
    assert space.store.check() == []


def test_what_was_bound_to_the_holder_shows_what_it_is_now(space: Space) -> None:
    """Relations and Collections have it still; the journal says which version each step gave."""
    ran(space, report("one"), {"type": "create-collection", "value": ["$r"], "name": "box"})
    result = ran(
        space,
        {"type": "load", "target": "report", "out": "$old"},
        {"type": "create-relation", "source": "$old", "target": "box", "relation": "in", "out": "$rel"},
        report("two"),
        {"type": "create-collection", "value": ["$old", "$r"], "out": "$both"},
        {"type": "load", "target": "box", "out": "$box"},
        {"type": "related", "target": "$r", "relation": "in", "out": "$related"},
    )
    shown = {row["step"]: row for row in result.to_json(space)["steps"]}
    assert (shown["1"]["data"], shown["3"]["data"]) == ("one", "two")
    assert (shown["4"]["data"], shown["5"]["data"]) == (["two", "two"], ["two"])
    assert result.bindings["old"].id == result.bindings["r"].id
    assert [row.version for row in result.steps if row.position in ("1", "3")] == [1, 2]
    assert len(shown["6"]["data"]) == 1


def test_it_is_undone_to_the_version_before(space: Space) -> None:
    """A first one goes; a name that moved comes back to whom it was taken from, kept as before."""
    first = ran(space, report("one"))
    second = ran(space, report("two"))
    moved = ran(space, {"type": "create-collection", "value": [], "name": "report", "replace": True})
    undo(space.store, str(moved.run))
    note = space.context().get("report")
    assert (note.content, note.kept) == ("two", True)
    undo(space.store, str(second.run))
    assert space.context().get("report").content == "one"
    undo(space.store, str(first.run))
    with space.store.reading() as snapshot:
        assert (snapshot.names(), snapshot.discoverable().tolist()) == ([], [])
    assert space.store.check() == []


def test_a_replay_a_dry_run_and_a_fork_are_as_the_run(space: Space) -> None:
    """Nothing of the first two stays; a fork writes over what its run wrote, and is found in its place."""
    ran(space, report("zero"))
    result = ran(space, {"type": "create-note", "value": 1, "out": "$n"}, report("one of ${n}"))
    again = asyncio.run(replay(space, str(result.run)))
    assert again.result.status == "success"
    assert list(again.difference.steps) == []
    prepared: Any = prepare(space, [report("dry")])
    assert [row.status for row in asyncio.run(dry_run(space, prepared)).result.steps] == ["success"]
    assert space.context().get("report").content == "one of 1"
    change = {"op": "replace", "path": "/1/value", "value": "two of ${n}"}
    forked = asyncio.run(fork(space, str(result.run), "2", [change]))
    assert forked.status == "success", forked.reason
    assert found(space, "of", "keyword") == ["two of 1"]
    with space.store.reading() as snapshot:
        assert diff(snapshot, str(result.run), str(forked.run)).steps


def test_in_branches_and_loops_the_last_one_stays(space: Space) -> None:
    """In the order of the document, whatever is ready first."""
    branches = [[report("left")], [report("right", out="$s")]]
    ran(space, {"type": "parallel", "branches": branches})
    assert space.context().get("report").content == "right"
    loop = {"type": "for-each", "target": "$c", "do": [report("item ${item}")]}
    each = {"type": "split", "target": "$l", "out": "$c"}
    ran(space, {"type": "create-note", "value": [1, 2, 3], "out": "$l"}, each, loop)
    assert space.context().get("report").content == "item 3"
    assert space.store.check() == []


def test_several_at_once_never_fail_and_leave_one(space: Space) -> None:
    """Threads with a store each: whoever is last, one Note has the name, and nothing else is found."""
    address = space.store.address
    failed: list[object] = []

    def write(number: int) -> None:
        with open_space(address) as own:
            for night in range(5):
                result = run_sync(own, [report(f"writer {number} night {night}")])
                if result.status != "success":
                    failed.append(result.reason)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(found(space, "writer", "keyword")) == 1
    assert space.store.check() == []


def test_vectors_follow(space: Space) -> None:
    """What is embedded is the next version's text, at that version."""
    ran(space, report("apples"))
    space.embedding.catch_up(NullListener())
    ran(space, report("pears and plums"))
    space.embedding.catch_up(NullListener())
    with space.store.reading() as snapshot:
        rows = snapshot.rows(str(snapshot.model()))
        assert rows.versions.tolist() == [2]
    note = space.context().get("report")
    assert isinstance(note, Note)
    with contextlib.closing(open_space(space.store.address)) as again:
        assert found(again, "plums", "semantic") == ["pears and plums"]
