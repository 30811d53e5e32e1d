"""Which kept resources were made from versions that are no longer current, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infospace.journal.origin import Origin, Since
from infospace.journal.rows import Use
from infospace.lineage.graph import Edge, Graph, Node, Read
from infospace.lineage.trace import trace

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An input that changed since it was read: `what` of it, and `through` which versions it came, nearest first."""

    origin: Origin
    what: Since
    through: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class StaleResource:
    """A resource, and the inputs that are not any more what it was made of."""

    origin: Origin
    changed: tuple[ChangedInput, ...]


@dataclass(frozen=True, slots=True)
class StalenessReport:
    """What was found: the stale ones by id, and those of which too little is known, since their run was pruned."""

    checked: int
    stale: tuple[StaleResource, ...]
    unknown: tuple[str, ...]


def staleness(snapshot: Snapshot, identifiers: Sequence[str] | None = None) -> StalenessReport:
    """Look at some resources, or at all kept ones that a step made or anybody changed.

    An input counts as changed when its content, metadata or members are others than those that were read, or when
    it was deleted; one that was put back is as it was. A resource's own earlier version counts only where its
    content was taken over from it. Nothing is said of what a search would find today.

    Raises NotFound for an id that was never given.
    """
    if identifiers is None:
        roots = snapshot.created_by_steps()
    else:
        roots = [Use(one, snapshot.versions(one)[-1][0]) for one in dict.fromkeys(identifiers)]
    graph = trace(snapshot, roots)
    leading = _standing_on(graph, (of for of, node in graph.nodes.items() if node.origin.since is not None))
    results = []
    for root in roots:
        changed = list(_changed(graph, root, leading))
        if changed:
            results.append(StaleResource(graph.nodes[root].origin, _causes(changed)))
    lost = _standing_on(graph, (of for of, node in graph.nodes.items() if _is_lost(graph, node)))
    return StalenessReport(len(roots), tuple(results), tuple(root.id for root in roots if root in lost))


def _own(node: Node) -> Iterator[Edge]:
    """What a version stands on by itself: not on its own earlier one, unless its content was carried over."""
    of, carried = node.origin.of, node.origin.carried
    return (edge for edge in node.own if edge.how != "before" or edge.to == Use(of.id, carried or 0))


def _standing_on(graph: Graph, seeds: Iterable[Use]) -> set[Use | Read]:
    """Return versions, and all that stand on one of them, with the readings in between."""
    above: dict[Use | Read, list[Use | Read]] = {}
    for of, node in graph.nodes.items():
        for edge in _own(node):
            above.setdefault(edge.to, []).append(of)
    for read, uses in graph.products_by_read.items():
        above[read] = [*uses]
        for edge in read.edges:
            above.setdefault(edge.to, []).append(read)
    frontier: list[Use | Read] = list(seeds)
    results = set(frontier)
    while frontier:
        frontier = list({one for of in frontier for one in above.get(of, ())} - results)
        results.update(frontier)
    return results


def _changed(graph: Graph, root: Use, leading: set[Use | Read]) -> Iterator[ChangedInput]:
    """Walk from a resource to the nearest of its inputs that changed."""
    seen: set[Use | Read] = {root}
    frontier: list[tuple[Use, tuple[Use, ...]]] = [(root, ())]
    for of, through in frontier:
        node = graph.nodes[of]
        edges = list(_own(node))
        if node.read in leading and node.read not in seen:
            seen.add(node.read)
            edges = [*node.read.edges, *edges]
        for edge in edges:
            if edge.to in seen or edge.to not in leading:
                continue
            seen.add(edge.to)
            origin = graph.nodes[edge.to].origin
            if origin.since is not None and edge.to.id != of.id:
                yield ChangedInput(origin, origin.since, through)
            else:
                frontier.append((edge.to, (*through, edge.to)))


def _causes(changed: Sequence[ChangedInput]) -> tuple[ChangedInput, ...]:
    """Leave out Collections that changed only because a deletion, which is told too, took something out of them."""
    deleters = {change.origin.latest_made for change in changed if change.what == "deleted"}
    return tuple(change for change in changed if change.what != "members" or change.origin.latest_made not in deleters)


def _is_lost(graph: Graph, node: Node) -> bool:
    """Whether a version was removed for good, or the step that made it is not in the journal any more."""
    created_by = node.origin.created_by
    pruned = created_by.step is not None and created_by.run is not None and graph.runs.get(created_by.run) is None
    return pruned or not node.origin.there
