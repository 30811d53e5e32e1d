"""Why something is here, and what came of it: versions of resources, and the steps between them.

An edge leads from a version to what it was made of. What a step read is what it made things of, as far as the
journal knows: all of it, but for `map`, whose items are told apart; of a search result, only its source. Steps that
read much and made much are no more than they are: what they read is told once, for all that they made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infospace.core.errors import NotFound
from infospace.core.ids import Kind, kind_of, number_of
from infospace.core.position import item_of
from infospace.core.resources import Collection, Member
from infospace.journal.origin import Origin
from infospace.journal.rows import StepRow, Use
from infospace.lineage.graph import Edge, Graph, Node, Read
from infospace.lineage.journal_reader import JournalReader

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot

_RESULT = re.compile(r"\$([A-Za-z_]\w*)")


def versions_of(snapshot: Snapshot, identifier: str) -> list[Use]:
    """Return all versions of a resource that are there, latest first; NotFound where there never was one."""
    return [Use(identifier, version) for version, _ in reversed(snapshot.versions(identifier))]


def trace(snapshot: Snapshot, roots: Sequence[Use]) -> Graph:
    """Follow versions back to their sources."""
    tracer = Tracer(snapshot)
    frontier = list(dict.fromkeys(roots))
    seen_reads: set[Read] = set()
    while frontier:
        ahead: dict[Use, None] = {}
        for node in tracer.read(frontier):
            ahead.update((edge.to, None) for edge in node.own)
            if node.read is not None and node.read not in seen_reads:
                seen_reads.add(node.read)
                ahead.update((edge.to, None) for edge in node.read.edges)
        frontier = [of for of in ahead if of not in tracer.nodes]
    return Graph(roots, tracer.nodes, tracer.ledger.runs)


def tools_behind(snapshot: Snapshot, roots: Sequence[Use]) -> frozenset[str]:
    """Return the full names of the tools whose answers versions were made of, directly or through others."""
    steps = {(node.step.run, node.step.position) for node in trace(snapshot, roots).nodes.values() if node.step}
    calls = [call for run in sorted({run for run, _ in steps}) for call in snapshot.calls(run) if call.kind == "tool"]
    return frozenset(
        call.target for call in calls if any((call.run, place) in steps for place in _enclosing(call.position))
    )


def _enclosing(position: str) -> Iterator[str]:
    """The position of a call, and those of the steps that it is a part of, the innermost first."""
    yield position
    for end in range(len(position) - 1, 0, -1):
        if not position[end].isalnum():
            yield position[:end]


def trace_forward(snapshot: Snapshot, roots: Sequence[Use]) -> Graph:
    """Follow versions forward, to all that was made of them, directly or through others."""
    tracer = Tracer(snapshot)
    nodes = {node.origin.of: node for node in tracer.read(list(dict.fromkeys(roots)))}
    frontier = set(nodes)
    while frontier:
        touching: dict[Read, bool] = {}
        following = set()
        for node in tracer.read(tracer.candidates(frontier)):
            read = node.read
            if read is not None and read not in touching:
                touching[read] = any(edge.to in frontier for edge in read.edges)
            touches = (read is not None and touching[read]) or any(edge.to in frontier for edge in node.own)
            if touches and node.origin.of not in nodes:
                following.add(node.origin.of)
        nodes |= {of: tracer.nodes[of] for of in sorted(following, key=_by_number)}
        frontier = following
    runs = {node.origin.created_by.run for node in nodes.values()}
    known = {run: row for run, row in tracer.ledger.runs.items() if run in runs}
    return Graph(roots, nodes, known, forward=True)


def _by_number(of: Use) -> tuple[str, int, int]:
    return kind_of(of.id), number_of(of.id), of.version


@dataclass(frozen=True, slots=True)
class _Reads:
    """What a step read: in all; for each item of a `map`; for one of them, by its number from 1 on."""

    all: Read
    each: Read
    items: dict[int, list[Edge]]
    identifiers: frozenset[str]


class Tracer:
    """Reads versions with what they were made of, many at once, and each once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.ledger = JournalReader(snapshot)
        self.nodes: dict[Use, Node] = {}
        self._products: dict[str, dict[int | None, list[Use]]] = {}
        self._reads: dict[tuple[str, int], _Reads] = {}

    def read(self, versions: Sequence[Use]) -> list[Node]:
        """Return the nodes of versions."""
        unread = [of for of in versions if of not in self.nodes]
        for origin in self._snapshot.origins(unread):
            created_by = origin.created_by
            if created_by.run is not None:
                self.ledger.run(created_by.run)
            step = self.ledger.step(created_by, origin.of) if origin.there else None
            self.nodes[origin.of] = self._node(origin, step)
        return [self.nodes[of] for of in versions]

    def candidates(self, versions: set[Use]) -> list[Use]:
        """Return what may have been made of versions: whoever of them was, has an edge to one."""
        identifiers = {of.id for of in versions}
        read = [reading for reading in self._snapshot.readings(identifiers) if reading.of in versions]
        steps = {(reading.run, reading.sequence) for reading in read}
        for of in versions:
            step = self.nodes[of].step
            if step is not None:
                steps.add((step.run, step.sequence))
        runs = {run for run, _ in steps}
        self._load_products(runs - self._products.keys())
        results = [Use(of.id, of.version + 1) for of in versions if of.version < self.nodes[of].origin.latest]
        results += self._snapshot.citing(identifiers)
        for run in runs:
            results += self._products[run].get(None, ())
        for run, sequence in steps:
            results += self._products[run].get(sequence, ())
        return list(dict.fromkeys(results))

    def _load_products(self, runs: set[str]) -> None:
        for run in runs:
            self._products[run] = {}
        for product in self._snapshot.products(runs) if runs else ():
            step = self.ledger.step(product.created_by, product.of)
            steps = self._products[product.created_by.run or ""]
            steps.setdefault(None if step is None else step.sequence, []).append(product.of)

    def _node(self, origin: Origin, step: StepRow | None) -> Node:
        """Tell what a version was made of, with what it shares with others of its step apart."""
        of = origin.of
        own: list[Edge] = []
        if origin.source is not None:
            return Node(origin, step, (Edge(origin.source.of, "found"),))
        read = None
        if step is None:
            own += self._of_result(origin)
        else:
            reads = self._reads_of(step)
            item = item_of(origin.created_by.step) if origin.created_by.step != step.position else None
            read = reads.all
            if item is not None and item in reads.items:
                read, own = reads.each, list(reads.items[item])
            if of.id in reads.identifiers:
                own += [edge for edge in read.edges if edge not in own]
                own = [self._itself(edge, of) for edge in own if edge.to.id != of.id or edge.to.version < of.version]
                read = None
            if kind_of(of.id) is Kind.COLLECTION:
                own += self._member_edges(origin, step)
        if origin.carried is not None:
            own.append(Edge(Use(of.id, origin.carried), "before"))
        return Node(origin, step, tuple(dict.fromkeys(own)), read)

    def _itself(self, edge: Edge, of: Use) -> Edge:
        return Edge(edge.to, "before") if edge.to.id == of.id else edge

    def _reads_of(self, step: StepRow) -> _Reads:
        key = (step.run, step.sequence)
        if key not in self._reads:
            edges = tuple(Edge(use, "used", self.ledger.variable(step.run, use.id, step.sequence)) for use in step.uses)
            self._reads[key] = self._reads_by_item(step, edges)
        return self._reads[key]

    def _reads_by_item(self, step: StepRow, edges: tuple[Edge, ...]) -> _Reads:
        """Tell apart what a `map` read for each item: the item, and the source of one that is a search result."""
        given = (
            []
            if step.resource is None
            else [member.info for member in self._members(Use(step.resource, step.version or 1)) if member.info]
        )
        failed = step.extra.get("failed")
        given += [one for one in failed if isinstance(one, dict)] if isinstance(failed, list) else []
        item_of = {int(str(info["index"])) + 1: str(info["item"]) for info in given if {"index", "item"} <= info.keys()}
        sources = {
            origin.of.id: origin.source.of.id
            for origin in self._snapshot.origins([Use(item, 1) for item in set(item_of.values())])
            if origin.source is not None
        }
        belongs: dict[str, list[Edge]] = {}
        for edge in edges:
            belongs.setdefault(edge.to.id, []).append(edge)
        apart = {*item_of.values(), *sources.values()}
        return _Reads(
            all=Read(step, edges),
            each=Read(step, tuple(edge for edge in edges if edge.to.id not in apart), each=True),
            items={
                place: [*belongs.get(item, ()), *belongs.get(sources.get(item, ""), ())]
                for place, item in item_of.items()
            },
            identifiers=frozenset(belongs),
        )

    def _of_result(self, origin: Origin) -> Iterator[Edge]:
        """What a place in a variable, made a Note as the result of a run, was taken of."""
        created_by = origin.created_by
        row = self.ledger.run(created_by.run) if created_by.run is not None and created_by.by == "result" else None
        value = row.document.get("result") if row is not None and isinstance(row.document, dict) else None
        name = _RESULT.match(value) if isinstance(value, str) else None
        if row is None or name is None:
            return
        bound = self.ledger.last_bound(row.run, name[1])
        if bound is not None and bound.resource is not None:
            yield Edge(Use(bound.resource, bound.version or 1), "used", name[1])
        elif name[1] in row.inputs:
            yield Edge(Use(row.inputs[name[1]], 1), "used", name[1])

    def _member_edges(self, origin: Origin, step: StepRow) -> Iterator[Edge]:
        """The items that the step made apart: search results, and what `map` gave for each."""
        members = self._members(origin.of)
        for item in self._snapshot.origins([Use(member.id, 1) for member in members]):
            apart = item.evidence or item_of(item.created_by.step) is not None
            if apart and item.created_by.run == step.run and self.ledger.step(item.created_by) is step:
                yield Edge(item.of, "holds")

    def _members(self, of: Use) -> Sequence[Member]:
        """The members of a Collection at a version; of one that was removed for good, none."""
        try:
            resource = self._snapshot.get(of.id, of.version)
        except NotFound:
            return ()
        return resource.members if isinstance(resource, Collection) else ()
