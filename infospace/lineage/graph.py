"""What was made of what, as values: versions of resources, and the edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from infospace.journal.origin import Origin
from infospace.journal.rows import RunRow, StepRow, Use

How = Literal["used", "found", "before", "holds"]
"""Read by the step; the source of a search result; its own earlier version; an item that the same step made."""


@dataclass(frozen=True, slots=True)
class Edge:
    """From a version to one that it was made of, as which variable. `Graph.after` gives it the other way round."""

    to: Use
    how: How
    variable: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """What a step read for all that it made; with `each`, for each item of a `map`, which also has its own."""

    step: StepRow
    edges: tuple[Edge, ...]
    each: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """A version, the step that made it (None: a person, an import, an input, or a run that was pruned), and of what.

    `own` are edges of this version alone; `read` is what it shares with others of its step.
    """

    origin: Origin
    step: StepRow | None = None
    own: tuple[Edge, ...] = ()
    read: Read | None = None

    @property
    def inputs(self) -> tuple[Edge, ...]:
        """All that it was made of."""
        return self.own if self.read is None else (*self.read.edges, *self.own)


class Graph:
    """Versions and what they were made of; `forward` when it was followed from the roots to what was made of them."""

    def __init__(
        self, roots: Sequence[Use], nodes: dict[Use, Node], runs: dict[str, RunRow | None], *, forward: bool = False
    ) -> None:
        self.roots = tuple(roots)
        self.nodes = nodes
        self.runs = runs
        self.forward = forward

    @cached_property
    def products_by_read(self) -> dict[Read, list[Use]]:
        """What was made of each reading."""
        results: dict[Read, list[Use]] = {}
        for of, node in self.nodes.items():
            if node.read is not None:
                results.setdefault(node.read, []).append(of)
        return results

    def after(self, of: Use) -> list[Edge]:
        """Return what was made of a version, as far as the graph goes."""
        results = list(self._edges_after.get(of, ()))
        for read, edge in self._readers.get(of, ()):
            results += [Edge(product, edge.how, edge.variable) for product in self.products_by_read[read]]
        return results

    @cached_property
    def _edges_after(self) -> dict[Use, list[Edge]]:
        results: dict[Use, list[Edge]] = {}
        for of, node in self.nodes.items():
            for edge in node.own:
                results.setdefault(edge.to, []).append(Edge(of, edge.how, edge.variable))
        return results

    @cached_property
    def _readers(self) -> dict[Use, list[tuple[Read, Edge]]]:
        results: dict[Use, list[tuple[Read, Edge]]] = {}
        for read in self.products_by_read:
            for edge in read.edges:
                results.setdefault(edge.to, []).append((read, edge))
        return results
