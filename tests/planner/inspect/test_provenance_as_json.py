"""Where things came from, as `why --json` tells it: each field, back and forward."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infospace import Space
from infospace.journal.origin import Origin, Source
from infospace.journal.rows import RunRow, StepRow, Use, broken_off
from infospace.lineage.graph import Edge, Graph, Node, Read
from infospace.lineage.graph_json import graph_json
from infospace.lineage.trace import trace, trace_forward, versions_of
from planner.execute.start import run_sync
from planner.journal.result import RunResult

NOTES: list[dict[str, Any]] = [
    {"type": "create-note", "value": n, "name": name} for n, name in enumerate("abc", start=1)
]


def ran(space: Space, *steps: Any, goal: str = "") -> RunResult:
    found = run_sync(space, {"goal": goal, "steps": list(steps)})
    assert found.status == "success", (found.reason, found.problems)
    return found


def journal(space: Space, run: str | None) -> tuple[RunRow, list[StepRow]]:
    with space.store.reading() as snapshot:
        return snapshot.run(str(run)), snapshot.steps(str(run))


def told(space: Space, identifier: str, *, forward: bool = False) -> dict[str, Any]:
    with space.store.reading() as snapshot:
        roots = versions_of(snapshot, identifier)
        return graph_json(trace_forward(snapshot, roots) if forward else trace(snapshot, roots))


def edge(version: str, how: str = "used", variable: str | None = None) -> dict[str, Any]:
    return {"version": version, "how": how, "variable": variable}


def version(space: Space, identifier: str, step: StepRow, **fields: Any) -> dict[str, Any]:
    """The first version of what a step made, which nothing changed since."""
    with space.store.reading() as snapshot:
        [(_, made_at)] = snapshot.versions(identifier)
    return {
        "id": identifier,
        "version": 1,
        "kind": identifier.partition("_")[0],
        "there": True,
        "name": None,
        "title": None,
        "kept": False,
        "made": {"at": made_at, "run": step.run, "step": step.position, "by": step.type},
        "latest": 1,
        "changed_since": None,
        "source": None,
        "file": None,
        "ends": None,
        "by_step": f"{step.run}/{step.sequence}",
        "reads": "used",
        "from": [],
        **fields,
    }


def step_of(row: StepRow, *used: dict[str, Any], each: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {
        "run": row.run,
        "step": row.position,
        "type": row.type,
        "status": "success",
        "started": row.started,
        "duration_ms": row.duration_ms,
        "out": None if row.out is None else f"${row.out}",
        "used": list(used),
        "used_for_each": list(each),
    }


def run_of(row: RunRow, goal: str = "") -> dict[str, Any]:
    return {"pruned": False, "kind": "plan", "goal": goal, "status": "success", "started": row.started}


def test_a_relation_leads_back_to_its_ends(space: Space) -> None:
    """All that is told of it, of its ends, of the steps and of their runs."""
    one = ran(space, *NOTES)
    relate = {"type": "create-relation", "source": "Note_1", "target": "$n", "relation": "cites", "out": "$r"}
    two = ran(space, {"type": "create-note", "value": "two\n lines", "out": "$n"}, relate, goal="find out")
    (first, [kept, *_]), (second, [made, related]) = journal(space, one.run), journal(space, two.run)
    ends = {"source": "Note_1", "relation": "cites", "target": "Note_4"}
    assert told(space, "Relation_1") == {
        "roots": ["Relation_1@1"],
        "versions": {
            "Relation_1@1": version(space, "Relation_1", related, ends=ends),
            "Note_1@1": version(space, "Note_1", kept, name="a", title="a", kept=True),
            "Note_4@1": version(space, "Note_4", made, title="two"),
        },
        "steps": {
            f"{second.run}/2": step_of(related, edge("Note_1@1"), edge("Note_4@1", variable="$n")),
            f"{first.run}/1": step_of(kept),
            f"{second.run}/1": step_of(made),
        },
        "runs": {first.run: run_of(first), second.run: run_of(second, "find out")},
    }


def test_what_a_map_read_for_each_item_is_told_apart(space: Space) -> None:
    """And what it gave holds what it gave for each."""
    text = {"type": "coerce", "coercion": "string"}
    found = ran(
        space,
        {"type": "create-collection", "value": ["x", "y"], "out": "$c"},
        {"type": "map", "target": "$c", "operation": text, "out": "$texts"},
    )
    document = told(space, "Collection_2")
    both, mapped = edge("Collection_1@1", variable="$c"), document["versions"]["Collection_2@1"]
    assert (mapped["reads"], mapped["from"]) == ("used", [edge("Note_3@1", "holds"), edge("Note_4@1", "holds")])
    for item, source in (("Note_3@1", "Note_1@1"), ("Note_4@1", "Note_2@1")):
        told_of = document["versions"][item]
        assert (told_of["reads"], told_of["from"]) == ("used_for_each", [edge(source)])
    step = document["steps"][f"{found.run}/2"]
    assert step["used_for_each"] == [both]
    used = sorted(step["used"], key=lambda one: str(one["version"]))
    assert used == [both, edge("Note_1@1"), edge("Note_2@1")]


def test_what_came_of_a_note_is_told_without_what_else_that_was_made_of(space: Space) -> None:
    """Back from what was made, all that it was made of is told; forward from one source, that source alone."""
    ran(space, *NOTES)
    ran(
        space,
        {"type": "create-collection", "value": ["Note_1", "Note_2"], "out": "$both"},
        {"type": "add", "target": "$both", "value": "Note_3", "out": "$all"},
    )

    def edges(document: Any) -> set[str]:
        used = [edge["version"] for step in document["steps"].values() for edge in step["used"]]
        return {*used, *(edge["version"] for version in document["versions"].values() for edge in version["from"])}

    grown, notes = {"Collection_1@1", "Collection_1@2"}, {"Note_1@1", "Note_2@1", "Note_3@1"}
    back = told(space, "Collection_1")
    assert (back["roots"], back["versions"].keys()) == (["Collection_1@2", "Collection_1@1"], grown | notes)
    assert edges(back) == {"Collection_1@1"} | notes
    forward = told(space, "Note_1", forward=True)
    assert (forward["roots"], forward["versions"].keys()) == (["Note_1@1"], grown | {"Note_1@1"})
    assert edges(forward) == {"Collection_1@1", "Note_1@1"}
    assert forward["versions"]["Collection_1@1"]["changed_since"] == "members"
    assert forward["versions"]["Collection_1@1"]["latest"] == 2


def test_a_run_that_read_a_note_and_made_nothing_of_it_did_not_come_of_it(space: Space) -> None:
    """Though it made something else beside it."""
    kept = ran(space, *NOTES)
    read = [{"type": "load", "target": "Note_1", "out": "$n"}, {"type": "say", "value": "${n}"}]
    ran(space, *read, {"type": "create-note", "value": "of nothing"})
    document = told(space, "Note_1", forward=True)
    assert (list(document["versions"]), list(document["runs"])) == (["Note_1@1"], [kept.run])


def test_what_nobody_knows_of_a_version_is_null() -> None:
    """One that no step made, a search result of a whole note, and one of a passage."""
    note, hit, part = Use("Note_1", 2), Use("Note_2", 1), Use("Note_3", 1)
    origins = [
        Origin(note, title="a  long\n title", file="a.md"),
        Origin(hit, source=Source(note, 0.5)),
        Origin(part, source=Source(note, None, 3, 7), ends=("Note_1", "cites", "Note_2")),
    ]
    found = graph_json(Graph([note], {origin.of: Node(origin) for origin in origins}, {"run_1": None}))
    assert (found["roots"], found["steps"], found["runs"]) == (["Note_1@2"], {}, {"run_1": {"pruned": True}})
    first, second, third = found["versions"].values()
    assert first == {
        "id": "Note_1",
        "version": 2,
        "kind": "Note",
        "there": True,
        "name": None,
        "title": "a long title",
        "kept": False,
        "made": {"at": None, "run": None, "step": None, "by": None},
        "latest": None,
        "changed_since": None,
        "source": None,
        "file": "a.md",
        "ends": None,
        "by_step": None,
        "reads": None,
        "from": [],
    }
    assert second["source"] == {"version": "Note_1@2", "score": 0.5, "passage": None}
    assert third["source"] == {"version": "Note_1@2", "score": None, "passage": {"start": 3, "end": 7}}
    assert third["ends"] == {"source": "Note_1", "relation": "cites", "target": "Note_2"}


@pytest.mark.parametrize(
    ("status", "settles"), [("started", True), ("suspended", True), ("success", False), ("failed", False)]
)
def test_what_was_under_way_when_its_run_ended_was_broken_off(status: Any, settles: bool) -> None:
    """It asks no more; what it said besides stays."""
    extra: dict[str, Any] = {"pending": {"kind": "ask"}, "tool": "a/b"}
    row = StepRow("run_1", 1, "1", "ask", status, "", 0.0, value="Which?", extra=extra)
    settled = replace(
        row,
        status="failed",
        value="",
        reason="the step was broken off",
        error="cancelled",
        extra={"tool": "a/b"},
    )
    assert broken_off(row) == (settled if settles else row)


def test_what_was_made_of_a_version_keeps_how_it_was_read() -> None:
    """By the version itself, and by what its step read for all that it made."""
    note, one, two = Use("Note_1", 1), Use("Note_2", 1), Use("Note_3", 1)
    step = StepRow("run_1", 1, "1", "split", "success", "", 0.0)
    read = Read(step, (Edge(note, "used", "x"),))
    nodes = [
        Node(Origin(note)),
        Node(Origin(one), step, (Edge(note, "found"),), read),
        Node(Origin(two), step, (Edge(one, "holds", "y"),), read),
    ]
    graph = Graph([note], {node.origin.of: node for node in nodes}, {}, forward=True)
    assert graph.after(note) == [Edge(one, "found"), Edge(one, "used", "x"), Edge(two, "used", "x")]
    assert (graph.after(one), graph.after(two)) == ([Edge(two, "holds", "y")], [])
    assert nodes[1].inputs == (Edge(note, "used", "x"), Edge(note, "found"))
