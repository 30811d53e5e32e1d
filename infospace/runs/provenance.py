"""Why something is here, and what came of it: versions of resources, and the steps between them.

An edge leads from a version to what it was made of. What a step read is what it made things of, as far as the
journal knows: all of it, but for `map`, whose items are told apart; of a search result, only its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from infospace.errors import NotFound
from infospace.ids import Kind, kind_of
from infospace.resources import Collection, Member
from infospace.runs.journal import RunRow, StepRow, Use
from infospace.runs.ledger import Ledger
from infospace.runs.origin import Origin

if TYPE_CHECKING:
    from infospace.memory.store import Snapshot

How = Literal["used", "found", "before", "holds"]
"""Read by the step; the source of a search result; its own earlier version; an item that the same step made."""

_ITEM = re.compile(r"\[(\d+)\]$")
_RESULT = re.compile(r"\$([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Edge:
    """From a version to one that it was made of, as which variable. Read the other way round in `Graph.outputs`."""

    to: Use
    how: How
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A version, the step that made it (None: a person, an import, an input, or a run that was pruned), and of what."""

    origin: Origin
    step: StepRow | None = None
    inputs: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Versions and what they were made of. `outputs` says what was made of each, None where nobody asked for it."""

    roots: tuple[Use, ...]
    nodes: dict[Use, Node]
    runs: dict[str, RunRow | None]
    outputs: dict[Use, list[Edge]] | None = None


def versions_of(snapshot: Snapshot, identifier: str) -> list[Use]:
    """Return all versions of a resource that are there, latest first; NotFound where there never was one."""
    return [Use(identifier, version) for version, _ in reversed(snapshot.versions(identifier))]


def trace(snapshot: Snapshot, roots: Sequence[Use]) -> Graph:
    """Follow versions back to their sources."""
    tracer = Tracer(snapshot)
    frontier = list(dict.fromkeys(roots))
    while frontier:
        ahead = (edge.to for node in tracer.read(frontier) for edge in node.inputs)
        frontier = [of for of in dict.fromkeys(ahead) if of not in tracer.nodes]
    return Graph(tuple(roots), tracer.nodes, tracer.ledger.runs)


def reach(snapshot: Snapshot, roots: Sequence[Use]) -> Graph:
    """Follow versions forward, to all that was made of them, directly or through others."""
    tracer = Tracer(snapshot)
    nodes = {node.origin.of: node for node in tracer.read(list(dict.fromkeys(roots)))}
    outputs: dict[Use, list[Edge]] = {}
    frontier = set(nodes)
    while frontier:
        following = set()
        for node in tracer.read(tracer.candidates(frontier)):
            of = node.origin.of
            for edge in node.inputs:
                if edge.to in frontier:
                    outputs.setdefault(edge.to, []).append(Edge(of, edge.how, edge.variable))
                    if of not in nodes:
                        following.add(of)
        nodes |= {of: tracer.nodes[of] for of in following}
        frontier = following
    runs = {node.origin.made.run for node in nodes.values()}
    known = {run: row for run, row in tracer.ledger.runs.items() if run in runs}
    return Graph(tuple(roots), nodes, known, outputs)


class Tracer:
    """Reads versions with what they were made of, many at once, and each once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.ledger = Ledger(snapshot)
        self.nodes: dict[Use, Node] = {}
        self._products: dict[str, dict[int | None, list[Use]]] = {}

    def read(self, versions: Sequence[Use]) -> list[Node]:
        """Return the nodes of versions."""
        unread = [of for of in versions if of not in self.nodes]
        for origin in self._snapshot.origins(unread):
            made = origin.made
            if made.run is not None:
                self.ledger.run(made.run)
            step = self.ledger.step(made, origin.of) if origin.there else None
            self.nodes[origin.of] = Node(origin, step, tuple(dict.fromkeys(self._edges(origin, step))))
        return [self.nodes[of] for of in versions]

    def candidates(self, versions: set[Use]) -> list[Use]:
        """Return what may have been made of versions: whoever of them was, has an edge to one."""
        identifiers = {of.id for of in versions}
        read = [one for one in self._snapshot.readings(identifiers) if one.of in versions]
        steps = {(one.run, one.sequence) for one in read}
        for of in versions:
            step = self.nodes[of].step
            if step is not None:
                steps.add((step.run, step.sequence))
        runs = {run for run, _ in steps}
        self._learn(runs - self._products.keys())
        found = [Use(of.id, of.version + 1) for of in versions if of.version < self.nodes[of].origin.latest]
        found += self._snapshot.citing(identifiers)
        for run in runs:
            found += self._products[run].get(None, ())
        for run, sequence in steps:
            found += self._products[run].get(sequence, ())
        return list(dict.fromkeys(found))

    def _learn(self, runs: set[str]) -> None:
        for run in runs:
            self._products[run] = {}
        for product in self._snapshot.products(runs) if runs else ():
            step = self.ledger.step(product.made, product.of)
            steps = self._products[product.made.run or ""]
            steps.setdefault(None if step is None else step.sequence, []).append(product.of)

    def _edges(self, origin: Origin, step: StepRow | None) -> Iterator[Edge]:
        of = origin.of
        if origin.source is not None:
            yield Edge(origin.source.of, "found")
            return
        if step is None:
            yield from self._of_result(origin)
        else:
            others = self._others(origin, step)
            for use in step.uses:
                if use.id == of.id:
                    if use.version < of.version:
                        yield Edge(use, "before")
                elif use.id not in others:
                    yield Edge(use, "used", self.ledger.variable(step.run, use.id, step.sequence))
            if kind_of(of.id) is Kind.COLLECTION:
                yield from self._held(origin, step)
        if origin.carried is not None:
            yield Edge(Use(of.id, origin.carried), "before")

    def _of_result(self, origin: Origin) -> Iterator[Edge]:
        """What a place in a variable, made a Note as the result of a run, was taken of."""
        made = origin.made
        row = self.ledger.run(made.run) if made.run is not None and made.by == "result" else None
        written = row.document.get("result") if row is not None and isinstance(row.document, dict) else None
        name = _RESULT.match(written) if isinstance(written, str) else None
        if row is None or name is None:
            return
        bound = self.ledger.last_bound(row.run, name[1])
        if bound is not None and bound.resource is not None:
            yield Edge(Use(bound.resource, bound.version or 1), "used", name[1])
        elif name[1] in row.inputs:
            yield Edge(Use(row.inputs[name[1]], 1), "used", name[1])

    def _held(self, origin: Origin, step: StepRow) -> Iterator[Edge]:
        """The items that the step made apart: search results, and what `map` gave for each."""
        members = self._members(origin.of)
        for item in self._snapshot.origins([Use(member.id, 1) for member in members]):
            apart = item.evidence or _ITEM.search(item.made.step or "") is not None
            if apart and item.made.run == step.run and self.ledger.step(item.made) is step:
                yield Edge(item.of, "holds")

    def _others(self, origin: Origin, step: StepRow) -> set[str]:
        """What the step read for other items, where the version was made for one of a `map`."""
        item = _ITEM.search(origin.made.step or "")
        if item is None or origin.made.step == step.position or step.resource is None:
            return set()
        given = [member.info for member in self._members(Use(step.resource, step.version or 1)) if member.info]
        failed = step.extra.get("failed")
        given += [one for one in failed if isinstance(one, dict)] if isinstance(failed, list) else []
        own = {str(info["item"]) for info in given if info.get("index") == int(item[1]) - 1 and "item" in info}
        others = {str(info["item"]) for info in given if "item" in info} - own
        return others | self._sources(others) - self._sources(own) if own else set()

    def _sources(self, identifiers: Iterable[str]) -> set[str]:
        origins = self._snapshot.origins([Use(identifier, 1) for identifier in identifiers])
        return {origin.source.of.id for origin in origins if origin.source is not None}

    def _members(self, of: Use) -> Sequence[Member]:
        """The members of a Collection at a version; of one that was removed for good, none."""
        try:
            found = self._snapshot.get(of.id, of.version)
        except NotFound:
            return ()
        return found.members if isinstance(found, Collection) else ()
