"""Provenance as JSON: versions as `Note_12@3`, steps as `run_4/2` (run and sequence), what leads where."""

from __future__ import annotations

from typing import Any

from infospace.core.ids import kind_of
from infospace.journal.origin import Origin
from infospace.journal.rows import RunRow, StepRow, Use
from infospace.lineage.graph import Edge, Graph, Node


def at(of: Use) -> str:
    """Return a version of a resource in one word."""
    return f"{of.id}@{of.version}"


def graph_json(graph: Graph) -> dict[str, Any]:
    """Return a graph as `versions`, `steps` and `runs`.

    A version is made of what stands under its own `from`, and of what its step `by_step` read: all of it where
    `reads` is `used`, where it is `used_for_each` that alone (a `map` tells its items apart), and nothing of it
    where it is null.
    """
    steps: dict[str, dict[str, Any]] = {}
    for node in graph.nodes.values():
        if node.step is not None:
            steps.setdefault(_key(node.step), _step(node.step))
    for read in graph.products_by_read:
        edges = (edge for edge in read.edges if not graph.forward or edge.to in graph.nodes)
        steps[_key(read.step)]["used_for_each" if read.each else "used"] = [_edge(edge) for edge in edges]
    return {
        "roots": [at(of) for of in graph.roots],
        "versions": {at(of): _version(graph, node) for of, node in graph.nodes.items()},
        "steps": steps,
        "runs": {run: _run(row) for run, row in graph.runs.items()},
    }


def origin_json(origin: Origin) -> dict[str, Any]:
    """Return what is known of a version: how it was made, and how it stands now."""
    created_by = origin.created_by
    source = origin.source
    passage = None if source is None or source.start is None else {"start": source.start, "end": source.end}
    return {
        "id": origin.of.id,
        "version": origin.of.version,
        "kind": str(kind_of(origin.of.id)),
        "there": origin.there,
        "name": origin.name,
        "title": _line(origin.title),
        "kept": origin.kept,
        "made": {"at": origin.at or None, "run": created_by.run, "step": created_by.step, "by": created_by.by},
        "latest": origin.latest or None,
        "changed_since": origin.since,
        "source": None if source is None else {"version": at(source.of), "score": source.score, "passage": passage},
        "file": origin.file,
        "ends": None if origin.ends is None else dict(zip(("source", "relation", "target"), origin.ends, strict=True)),
    }


def _key(row: StepRow) -> str:
    return f"{row.run}/{row.sequence}"


def _version(graph: Graph, node: Node) -> dict[str, Any]:
    reads = None if node.read is None else "used_for_each" if node.read.each else "used"
    return {
        **origin_json(node.origin),
        "by_step": None if node.step is None else _key(node.step),
        "reads": reads,
        "from": [_edge(edge) for edge in node.own if not graph.forward or edge.to in graph.nodes],
    }


def _edge(edge: Edge) -> dict[str, Any]:
    return {"version": at(edge.to), "how": edge.how, "variable": None if edge.variable is None else f"${edge.variable}"}


def _step(row: StepRow) -> dict[str, Any]:
    return {
        "run": row.run,
        "step": row.position,
        "type": row.type,
        "status": row.status,
        "started": row.started,
        "duration_ms": row.duration_ms,
        "out": None if row.out is None else f"${row.out}",
        "used": [],
        "used_for_each": [],
    }


def _run(row: RunRow | None) -> dict[str, Any]:
    if row is None:
        return {"pruned": True}
    return {"pruned": False, "kind": row.kind, "goal": row.goal, "status": row.status, "started": row.started}


def _line(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())
