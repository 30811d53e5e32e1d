"""A resource at a version, with what there is to know of it: its versions, what it is tied to, where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from infospace.core.errors import NotFound
from infospace.core.ids import number_of
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.resources import Collection, Note, Relation, Resource
from infospace.journal.origin import Origin
from infospace.journal.rows import Use
from tui.tables.notes_query import existing_summaries, label_of, path_of, with_titles
from tui.tables.task_rows import Task, tasks_of
from tui.text.format import Colours, count, format_time, json_as_prose, single_line

if TYPE_CHECKING:
    from infospace.lineage.graph import Graph
    from infospace.store.protocol import ResourceSummary, Snapshot

DEEPEST = 60
"""Levels of a tree of provenance."""
WIDEST = 100
"""Branches of each of its nodes."""


@dataclass(frozen=True, slots=True)
class Link:
    """Something that a resource is tied to: how, and as what."""

    how: str
    id: str
    title: str
    version: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ResourceDetail:
    """A resource as it is now or was at a version, and everything around it. `gone` says how it was deleted."""

    resource: Resource
    brief: ResourceSummary
    versions: tuple[tuple[int, str, Origin], ...]
    ties: tuple[Link, ...]
    unresolved: tuple[str, ...]
    gone: str | None
    tasks: tuple[Task, ...] = ()

    @property
    def origin(self) -> Origin:
        """Where the version came from."""
        return next(origin for number, _, origin in self.versions if number == self.resource.version)

    @property
    def latest(self) -> int:
        return self.brief.version

    @property
    def stamp(self) -> tuple[object, ...]:
        """Changes whenever something is to be drawn anew."""
        brief = self.brief
        version = self.resource.version
        return (brief.id, brief.version, brief.name, brief.kept, brief.alive, version, self.ties, self.unresolved)


def unresolved_links(snapshot: Snapshot, identifier: str) -> list[str]:
    """Return what the links of a Note call that lead nowhere, each once, in their order."""
    table = snapshot.space_table("links", (), [("source", {number_of(identifier)})])
    ends = zip(table.column("target_text"), table.column("target"), strict=True)
    return list(dict.fromkeys(str(text) for text, target in ends if target is None))


def read_around(snapshot: Snapshot, identifier: str, version: int | None = None) -> ResourceDetail:
    """Read a resource with everything around it; of a deleted one its last version. For a thread.

    Raises NotFound for what never was, or was removed for good.
    """
    brief = snapshot.briefs([identifier])[0]
    expected = brief.version if version is None and not brief.alive else version
    resource = snapshot.get(identifier, expected)
    is_current = brief.alive and resource.version == brief.version
    versions = snapshot.versions(identifier)
    origins = snapshot.origins([Use(identifier, number) for number, _ in versions])
    unresolved = unresolved_links(snapshot, identifier) if isinstance(resource, Note) and brief.alive else []
    return ResourceDetail(
        resource,
        with_titles(snapshot, [brief])[0],
        tuple((number, at, origin) for (number, at), origin in zip(versions, origins, strict=True)),
        tuple(_ties(snapshot, resource)),
        tuple(unresolved),
        None if brief.alive else origins[-1].gone,
        tuple(tasks_of(snapshot, (number_of(identifier),))) if isinstance(resource, Note) and is_current else (),
    )


def stamp_of(snapshot: Snapshot, identifier: str) -> tuple[object, ...] | None:
    """Return what tells whether a resource has changed, without reading its content; None where it is not there."""
    try:
        brief = snapshot.briefs([identifier])[0]
    except NotFound:
        return None
    tied = len(snapshot.holders([identifier]))
    return brief.version, brief.name, brief.kept, brief.alive, tied


def _ties(snapshot: Snapshot, resource: Resource) -> Iterator[Link]:
    """What a resource is tied to: the ends of a Relation, the source of a search result, then links and Collections."""
    results: list[tuple[str, str, int | None]] = []
    if isinstance(resource, Relation):
        results += [("from", resource.source, None), (f"{resource.relation} →", resource.target, None)]
    brief = snapshot.briefs([resource.id])[0]
    if brief.source is not None:
        results.append(("found in", *brief.source))
    out = snapshot.briefs(snapshot.relations(source=resource.id))
    into = snapshot.briefs(snapshot.relations(target=resource.id))
    results += [(f"{summary.ends[1]} →", summary.ends[2], None) for summary in out if summary.ends is not None]
    results += [(f"← {one.ends[1]}", one.ends[0], None) for one in into if one.ends is not None]
    relations = {summary.id for summary in (*out, *into)}
    results += [("in", holder, None) for _, holder in snapshot.holders([resource.id]) if holder not in relations]
    titles = {
        summary.id: label_of(summary)
        for summary in existing_summaries(snapshot, sorted({end for _, end, _ in results}))
    }
    for how, end, version in dict.fromkeys(results):
        yield Link(how, end, titles.get(end, "(removed for good)"), version)


# Told


def render_about(around: ResourceDetail, colours: Colours, result: str = "") -> Text:
    """Say what a resource is: why a search `result` it, its properties, and the rest."""
    resource, brief, origin = around.resource, around.brief, around.origin
    size = pluralize(len(resource), "item") if isinstance(resource, Collection) else f"{count(brief.size)} characters"
    kept_text = "yes, and searches find it" if brief.kept else "no: of its run, and not found by searches (p keeps it)"
    rows = [("id", resource.id), ("name", brief.name or "none (n gives one)"), ("kept", kept_text), ("size", size)]
    rows.append(("created", format_time(resource.created)))
    rows.append(
        ("version", f"{resource.version} of {around.latest}, {format_time(resource.updated)}, {format_origin(origin)}")
    )
    location = brief.location
    if location is not None:
        rows += [("path", path_of(brief)), ("folder", location.folder or "(the root)"), ("root", location.root)]
        rows += [("modified", format_time(location.modified))] if location.modified else []
    elif origin.file is not None:
        rows.append(("file", origin.file))
    text = Text()
    if result:
        text.append(f"{'found':<9}", "dim").append(f"{single_line(result)}\n\n")
    text.append("properties\n" if resource.metadata else "no properties\n", "underline" if resource.metadata else "dim")
    for key, field in resource.metadata.items():
        text.append(f"{single_line(key)}: ", colours.get("primary", "bold"))
        text.append(json_as_prose(field)).append(f"  {_type_of(field)}\n", "dim")
    text.append("\n")
    for name, value in rows:
        text.append(f"{name:<9}", "dim").append(f"{single_line(value)}\n")
    return text


def _type_of(value: JSON) -> str:
    """Return the type of a property, as a query has it; nothing of a text, which is to be seen."""
    from infospace.data.properties import type_of

    result = type_of(value)
    return "" if result == "text" else result


def format_origin(origin: Origin) -> str:
    """Say who made a version."""
    created_by = origin.created_by
    if created_by.run is None:
        return "outside of any run"
    step = f" step {created_by.step}" if created_by.step else ""
    return f"by {created_by.run}{step} {created_by.by or ''}".rstrip()


def head_of(around: ResourceDetail, colours: Colours) -> Text:
    """Say on a line what is shown."""
    resource = around.resource
    text = Text(no_wrap=True, overflow="ellipsis").append(f"{resource.id} ", "bold")
    if around.gone is not None:
        text.append("deleted ", colours.get("error", "bold"))
    if resource.version != around.latest:
        text.append(f"version {resource.version} of {around.latest} ", colours.get("warning", "bold"))
    elif around.latest > 1:
        text.append(f"version {around.latest} ", "dim")
    if not around.brief.kept:
        text.append("transient ", "italic")
    if around.brief.name:
        text.append(f"{single_line(around.brief.name)!r} ", colours.get("secondary", ""))
    if isinstance(resource, Collection):
        text.append(f"{pluralize(len(resource), 'item')} ", "dim")
    if around.brief.location is not None:
        text.append(f"{single_line(path_of(around.brief))} ", colours.get("primary", ""))
    label = label_of(around.brief)
    return text if label == around.brief.name else text.append(label)


def graph_of(snapshot: Snapshot, roots: Sequence[Use], *, forward: bool) -> Graph:
    """Follow where a resource came from, or what came of it. For a thread."""
    from infospace.lineage.trace import trace, trace_forward, versions_of

    if forward:
        return trace_forward(snapshot, [of for root in roots for of in versions_of(snapshot, root.id)])
    return trace(snapshot, roots)
