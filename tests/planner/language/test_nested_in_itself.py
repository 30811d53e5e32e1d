"""A Collection that contains itself: no plan makes one, and one that stands in a file is told and survived."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.ids import number_of
from infospace.lineage.trace import trace, trace_forward, versions_of
from planner.execute.start import run_sync
from planner.lifecycle.fork import fork
from planner.lifecycle.resume import answer, resume
from planner.server.protocol.resources import read_uri
from planner.server.read import ReadRequest, read_piece

LOOPS = [
    [{"type": "add", "target": "$one", "value": "$two"}],
    [
        {"type": "create-collection", "value": ["$two"], "out": "$three"},
        {"type": "add", "target": "$one", "value": "$three"},
    ],
    [{"type": "map", "target": "$two", "operation": {"type": "add", "target": "$item", "value": "$two"}}],
    [{"type": "for-each", "target": "$two", "do": [{"type": "add", "target": "$one", "value": "$two"}]}],
]
BOTH = [
    {"type": "create-note", "value": "a note on loops", "out": "$note"},
    {"type": "create-collection", "value": ["$note"], "out": "$one", "name": "one"},
    {"type": "create-collection", "value": ["$one"], "out": "$two", "name": "two"},
]


@pytest.mark.parametrize("steps", LOOPS)
def test_a_step_that_would_make_one_fails_with_a_sentence(space: Space, steps: list[Any]) -> None:
    """It changes nothing, and the run tells which Collection it is."""
    result = run_sync(space, [*BOTH, *steps])
    assert result.status == "failed"
    assert "would contain itself" in (result.reason or "")
    one = space.store.get(result.bindings["one"].id)
    assert [member.id for member in getattr(one, "members", ())] == [result.bindings["note"].id]


@pytest.fixture
def looped(tmp_path: Path) -> Any:
    """A space with a Collection `one` that holds a Note and `two`, which holds `one`; and the run that made them."""
    path = tmp_path / "looped.db"
    with open_space(path) as space:
        made = run_sync(
            space, [*BOTH, {"type": "ask", "value": "Go on?", "out": "$said"}, {"type": "flatten", "target": "$one"}]
        )
        ids = {name: made.bindings[name].id for name in ("note", "one", "two")}
    with sqlite3.connect(path) as file:
        one, two = (number_of(ids[name]) * 4 + 1 for name in ("one", "two"))
        file.execute("INSERT INTO members VALUES (?, 1, ?, 1, NULL, NULL)", (one, two))
    file.close()
    with open_space(path) as space:
        yield space, ids, made.run


def test_one_that_stands_in_the_file_is_named_by_the_check_of_the_space(looped: Any) -> None:
    """Both of a pair are in a loop."""
    space, ids, _ = looped
    told = space.store.check()
    assert f"{ids['one']} contains itself, through {ids['two']}" in told
    assert f"{ids['two']} contains itself, through {ids['one']}" in told


def test_all_that_walks_collections_survives_it(looped: Any) -> None:
    """Content, text, flatten, say, persist, the answer, conditions, sets: a sentence ends each."""
    space, ids, _ = looped
    view = space.context()
    one = view.get("one")
    stands = f"({ids['one']}, which contains itself)"
    assert view.content(one) == ["a note on loops", [stands]]
    assert view.text(one) == f"a note on loops\n\n{stands}"
    steps: list[dict[str, Any]] = [
        {"type": "flatten", "target": "one", "out": "$text"},
        {"type": "flatten", "target": "one", "separator": None, "out": "$flat"},
        {"type": "say", "value": "$text"},
        {"type": "load", "target": "one", "out": "$loaded"},
        {"type": "say", "value": "$loaded"},
        {"type": "say", "value": "It is ${loaded}."},
        {"type": "persist", "target": "$loaded", "name": "again"},
        {"type": "union", "target": "$loaded", "value": "two", "out": "$both"},
        {"type": "size", "target": "$both"},
        {
            "type": "if",
            "condition": {"type": "contains", "target": "$loaded", "value": "two"},
            "then": [{"type": "bind", "target": "$both"}],
        },
        {"type": "search-within-collection", "target": "$loaded", "query": "loops", "mode": "keyword", "out": "$hits"},
        {"type": "discover-notes", "query": "loops", "mode": "keyword", "within": "$loaded", "out": "$found"},
        {"type": "discover-collections", "query": "loops", "out": "$groups"},
        {"type": "bind", "target": "$loaded"},
    ]
    result = run_sync(space, steps)
    assert result.status == "success", result.reason
    assert result.result is not None
    assert result.result.data == ["a note on loops", [stands]]
    assert [row.status for row in result.steps if row.type == "search-within-collection"] == ["success"]
    assert len(view.get(result.bindings["hits"].id).members) == 1
    assert result.to_json(space)["steps"][-1]["data"] == ["a note on loops", [stands]]


def test_resume_fork_why_and_the_server_survive_it(looped: Any) -> None:
    """And it can be taken apart."""
    space, ids, run = looped
    answer(space, run, "4", "yes")
    assert asyncio.run(resume(space, run)).status == "success"
    forked = asyncio.run(fork(space, run, "5", []))
    assert forked.status == "success", forked.reason
    with space.store.reading() as snapshot:
        roots = versions_of(snapshot, ids["one"])
        assert trace(snapshot, roots).nodes.keys() >= set(roots)
        assert trace_forward(snapshot, roots).nodes
    assert read_piece(space, ReadRequest(ids["one"], slice(None), (), 9_000))["total"] == 2
    assert "which contains itself" in read_uri(space, f"infospace://collection/{ids['one']}")[1]
    mended = run_sync(
        space, [{"type": "remove", "target": "one", "value": "two"}, {"type": "flatten", "target": "one"}]
    )
    assert mended.status == "success", mended.reason
    assert not [message for message in space.store.check() if "contains itself" in message]
