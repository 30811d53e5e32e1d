"""Where things came from, or what came of them, as a tree of lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from infospace.core.ids import Kind, kind_of
from infospace.data.result import truncate
from infospace.journal.origin import Origin
from infospace.journal.rows import Use
from infospace.lineage.graph import Edge, Graph, Node
from infospace.lineage.graph_json import at
from planner.parse.positions import written_step
from tui.text.render import snippet

DEEPEST = 100
"""Levels that are shown at most, whatever is asked for."""

TITLE = 60
"""Characters of a title."""

Line = tuple[str, str | None, Use | None]
"""A line, its style, and the version that it tells of."""


def ancestry(graph: Graph, *, depth: int, width: int) -> Iterator[Line]:
    """Give the lines of a tree for each root: at most so many levels, so many branches of each.

    What was shown before is named again, and not told again.
    """
    tree = _Tree(graph, min(depth, DEEPEST), width)
    for root in graph.roots:
        yield from tree.root(root)


class _Tree:
    def __init__(self, graph: Graph, depth: int, width: int) -> None:
        self._graph = graph
        self._depth = depth
        self._width = width
        self._shown: set[Use] = set()

    def root(self, of: Use) -> Iterator[Line]:
        if of in self._shown:
            return
        self._shown.add(of)
        yield self._format_node(self._graph.nodes[of]), "bold", of
        yield from self._below(of, "", 1)

    def _below(self, of: Use, indent: str, level: int) -> Iterator[Line]:
        edges = self._edges(of)
        if not edges:
            if self._graph.forward and level == 1:
                yield "└─ nothing was made of it", "dim", None
            return
        if level > self._depth:
            yield f"{indent}└─ … and what is behind it: `--depth` shows more", "dim", None
            return
        given = hidden = shown_count = 0
        for place, edge in enumerate(edges, start=1):
            if self._is_repeated(edge):
                shown_count += 1
            elif given == self._width:
                hidden += 1
            else:
                given += 1
                yield from self._branch(edge, indent, level, last=place == len(edges) and not shown_count)
        if hidden or shown_count:
            words = [f"{hidden:,} more"] if hidden else []
            words += [f"{shown_count:,} shown above"] if shown_count else []
            yield f"{indent}└─ … and {', '.join(words)}", "dim", None

    def _is_repeated(self, edge: Edge) -> bool:
        """Whether a branch would only name what was told before, and not even by a variable."""
        return edge.to in self._shown and edge.variable is None and edge.how != "before"

    def _branch(self, edge: Edge, indent: str, level: int, *, last: bool) -> Iterator[Line]:
        node = self._graph.nodes[edge.to]
        line = f"{indent}{'└─' if last else '├─'} {_role(edge, forward=self._graph.forward)}"
        if edge.to in self._shown:
            yield f"{line}{format_origin_name(node.origin)}  (shown above)", "dim", edge.to
            return
        if edge.how == "before" and edge.to in self._graph.roots:
            yield f"{line}{at(edge.to)}  (shown below)", "dim", edge.to
            return
        self._shown.add(edge.to)
        yield f"{line}{self._format_node(node)}", None, edge.to
        yield from self._below(edge.to, f"{indent}{'   ' if last else '│  '}", level + 1)

    def _edges(self, of: Use) -> Sequence[Edge]:
        """What has a variable first, then Collections, whose items are told below them."""
        edges = self._graph.after(of) if self._graph.forward else self._graph.nodes[of].inputs
        return sorted(edges, key=lambda e: (e.how == "before", e.variable is None, kind_of(e.to.id) is Kind.NOTE))

    def _format_node(self, node: Node) -> str:
        """Say of a version what it is, how it was made, and what became of it."""
        origin = node.origin
        if not origin.there:
            return f"{at(origin.of)}  removed for good"
        words = [format_origin_name(origin), _preview(node), self._format_origin(node)]
        if origin.since == "deleted":
            words.append(f"deleted {origin.gone}")
        elif origin.since is not None:
            words.append(f"its {origin.since} changed since: now version {origin.latest}")
        return "  ".join(word for word in words if word)

    def _format_origin(self, node: Node) -> str:
        origin = node.origin
        created_by = origin.created_by
        if created_by.run is None:
            return "made outside of any run"
        if node.step is not None:
            where = f"{created_by.run} step {created_by.step} {created_by.by}{self._query(node)}"
            score = None if origin.source is None else origin.source.score
            return f"by {where}" if score is None else f"found with {score:.3f} by {where}"
        run = self._graph.runs.get(created_by.run)
        if run is None:
            step = f" step {created_by.step}" if created_by.step else ""
            return f"by {created_by.run}{step} {created_by.by}: the run is pruned"
        if created_by.by == "input":
            name = next((name for name, text in run.inputs.items() if text == origin.of.id), None)
            return f"given to {created_by.run} as ${name}" if name else f"given to {created_by.run}"
        if created_by.by == "result":
            return f"the result of {created_by.run}"
        return (
            f"from {origin.file} by {created_by.run} {created_by.by}"
            if origin.file
            else f"by {created_by.run} {run.goal or created_by.by}"
        )

    def _query(self, node: Node) -> str:
        """What a search looked for, as it is written in the plan."""
        step = node.step
        run = None if step is None else self._graph.runs.get(step.run)
        value = None if step is None or run is None else written_step(run, step.position)
        query = None if value is None else value.get("query")
        return f" {truncate(query, TITLE)!r}" if isinstance(query, str) else ""


def format_origin_name(origin: Origin) -> str:
    """Return a version with its name and title, for a person."""
    name = "" if origin.name is None else f" {origin.name!r}"
    if origin.ends is not None:
        return f"{at(origin.of)}{name}  {' '.join(origin.ends)}"
    title = "" if origin.title in (None, origin.name) else f"  “{snippet(origin.title or '', TITLE)}”"
    return f"{at(origin.of)}{name}{title}"


def _preview(node: Node) -> str:
    """What the step said of a Collection that it gave."""
    step, of = node.step, node.origin.of
    given = step is not None and step.resource == of.id and kind_of(of.id) is Kind.COLLECTION
    return snippet(step.value, TITLE) if step is not None and given else ""


def _role(edge: Edge, *, forward: bool) -> str:
    if edge.how == "used" and edge.variable is not None:
        return f"as ${edge.variable} in " if forward else f"${edge.variable} = "
    if edge.how == "before":
        return "later: " if forward else "before: "
    return ""
