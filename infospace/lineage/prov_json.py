"""Provenance as PROV-JSON, the W3C member submission of 24 April 2013 (https://www.w3.org/submissions/prov-json/).

Versions of resources are entities, runs and steps are activities, the runtime and the packages that primitives come
from are agents. Identifiers: `space:Note_12@3`, `space:run_4`, `space:run_4/2` (a step by its sequence).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID

from infospace.core.ids import Kind, kind_of
from infospace.journal.rows import RunRow, StepRow, Use
from infospace.lineage.graph import Edge, Graph, Node, Read
from infospace.lineage.graph_json import at

TERMS = "urn:x-infospace:terms:"
"""The namespace of the attributes that PROV has no word for."""

RUNTIME = "infospace:runtime"


def prov_json(graph: Graph, identity: str, package: Callable[[str], str | None]) -> dict[str, Any]:
    """Return a graph that was traced back, as a PROV-JSON document.

    `identity` is the space's, 32 hexadecimal digits; `package` gives the package of a step's type, None for what
    the runtime does itself.
    """
    document = _Document(package)
    document.put("agent", RUNTIME, {"prov:type": _name("prov:SoftwareAgent"), "prov:label": "infospace"})
    for run, row in graph.runs.items():
        document.run(run, row)
    for node in graph.nodes.values():
        document.version(node)
    for read, uses in graph.products_by_read.items():
        document.reading(read, uses)
    prefixes = {"space": f"{UUID(identity).urn}#", "infospace": TERMS}
    return {"prefix": prefixes, **{kind: records for kind, records in document.records.items() if records}}


class _Document:
    """Records by what they are and their identifiers; those of relations are blank."""

    def __init__(self, package: Callable[[str], str | None]) -> None:
        self.records: dict[str, dict[str, dict[str, Any]]] = {}
        self._package = package
        self._steps: set[tuple[str, int]] = set()
        self._related: set[tuple[str, str]] = set()

    def put(self, kind: str, identifier: str, attributes: Mapping[str, Any]) -> None:
        """Put an entity, activity or agent in; attributes that are None are left out."""
        values = {key: value for key, value in attributes.items() if value is not None}
        self.records.setdefault(kind, {}).setdefault(identifier, values)

    def relate(self, kind: str, **attributes: Any) -> None:
        """Put a relation in, once, under a blank identifier."""
        records = self.records.setdefault(kind, {})
        values = {_PROV[key]: value for key, value in attributes.items() if value is not None}
        key = (kind, repr(values))
        if key not in self._related:
            self._related.add(key)
            records[f"_:{kind}{len(records) + 1}"] = values

    def run(self, run: str, row: RunRow | None) -> None:
        """Put a run in, with the document that it followed."""
        identifier = f"space:{run}"
        if row is None:
            self.put("activity", identifier, {"prov:label": run, "infospace:pruned": True})
            return
        words = {"infospace:kind": row.kind, "infospace:status": row.status, "infospace:goal": row.goal or None}
        times = {"prov:startTime": row.started, "prov:endTime": row.ended}
        self.put("activity", identifier, {"prov:label": run, **times, **words})
        plan = None
        if row.kind == "plan":
            plan = f"{identifier}/plan"
            self.put("entity", plan, {"prov:type": _name("prov:Plan"), "prov:label": row.goal or f"the plan of {run}"})
        self.relate("wasAssociatedWith", activity=identifier, agent=RUNTIME, plan=plan)

    def version(self, node: Node) -> None:
        """Put a version in, with what made it, and of what."""
        origin = node.origin
        entity = f"space:{at(origin.of)}"
        kind = kind_of(origin.of.id)
        self.put(
            "entity",
            entity,
            {
                "prov:label": origin.name or origin.of.id,
                "prov:type": _name("prov:Collection") if kind is Kind.COLLECTION else None,
                "infospace:kind": str(kind),
                "infospace:version": origin.of.version,
                "infospace:score": None if origin.source is None else origin.source.score,
                "infospace:purged": None if origin.there else True,
            },
        )
        activity = self._activity(node)
        if activity is not None:
            self.relate("wasGeneratedBy", entity=entity, activity=activity, time=origin.at or None)
        if origin.file is not None:
            self._read(entity, activity, origin.file)
        for edge in node.own:
            self._edge(entity, activity, edge)

    def reading(self, read: Read, uses: Sequence[Use]) -> None:
        """Put in what a step read. What it made of it is known only where it made one thing of it."""
        activity = self._step(read.step)
        for edge in read.edges:
            self._used(activity, edge)
            for of in uses if len(uses) == 1 else ():
                self.relate(
                    "wasDerivedFrom", generated=f"space:{at(of)}", source=f"space:{at(edge.to)}", activity=activity
                )

    def _activity(self, node: Node) -> str | None:
        if node.step is not None:
            return self._step(node.step)
        run = node.origin.created_by.run
        return None if run is None else f"space:{run}"

    def _step(self, row: StepRow) -> str:
        identifier, run = f"space:{row.run}/{row.sequence}", f"space:{row.run}"
        if (row.run, row.sequence) in self._steps:
            return identifier
        self._steps.add((row.run, row.sequence))
        words = {"infospace:step": row.position, "infospace:type": row.type, "infospace:status": row.status}
        times = {"prov:startTime": row.started, "prov:endTime": _later(row.started, row.duration_ms)}
        self.put("activity", identifier, {"prov:label": f"{row.position} {row.type}", **times, **words})
        self.relate("wasStartedBy", activity=identifier, starter=run)
        package = self._package(row.type)
        agent = RUNTIME
        if package is not None:
            agent = f"infospace:package/{quote(package, safe='/')}"
            self.put("agent", agent, {"prov:type": _name("prov:SoftwareAgent"), "prov:label": package})
            self.relate("actedOnBehalfOf", delegate=agent, responsible=RUNTIME, activity=identifier)
        self.relate("wasAssociatedWith", activity=identifier, agent=agent)
        return identifier

    def _read(self, entity: str, activity: str | None, file: str) -> None:
        """A file, of which nothing is known but where it was."""
        source = f"infospace:file/{quote(file.lstrip('/'), safe='/')}"
        self.put("entity", source, {"prov:label": file, "prov:location": file})
        if activity is not None:
            self.relate("used", activity=activity, entity=source)
        self.relate("wasDerivedFrom", generated=entity, source=source, activity=activity)

    def _edge(self, entity: str, activity: str | None, edge: Edge) -> None:
        other = f"space:{at(edge.to)}"
        if edge.how == "holds":
            self.relate("hadMember", collection=entity, entity=other)
            return
        if activity is not None:
            self._used(activity, edge)
        kind = {"before": "prov:Revision", "found": "prov:Quotation"}.get(edge.how)
        type_ = None if kind is None else _name(kind)
        self.relate("wasDerivedFrom", generated=entity, source=other, activity=activity, type=type_)

    def _used(self, activity: str, edge: Edge) -> None:
        role = None if edge.variable is None else f"${edge.variable}"
        self.relate("used", activity=activity, entity=f"space:{at(edge.to)}", role=role)


_PROV = {
    "activity": "prov:activity",
    "agent": "prov:agent",
    "collection": "prov:collection",
    "delegate": "prov:delegate",
    "entity": "prov:entity",
    "generated": "prov:generatedEntity",
    "plan": "prov:plan",
    "responsible": "prov:responsible",
    "role": "prov:role",
    "source": "prov:usedEntity",
    "starter": "prov:starter",
    "time": "prov:time",
    "type": "prov:type",
}


def _name(name: str) -> dict[str, str]:
    """A qualified name as a value."""
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def _later(started: str, milliseconds: float) -> str:
    ended = datetime.fromisoformat(started) + timedelta(milliseconds=milliseconds)
    return ended.isoformat(timespec="milliseconds").replace("+00:00", "Z")
