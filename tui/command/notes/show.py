"""Show a note, a collection, a relation or a run.

By id, by name, by title, or by the path of an imported file; with what links to it, and what it links to. Of a table
that was imported, its rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from infospace.core.errors import NotFound
from infospace.core.ids import is_run_id
from infospace.core.plural import pluralize
from infospace.core.resources import Collection, Note, Relation, Resource
from tui.command.common.open_space import find, find_rows, open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.space import Space
    from infospace.store.protocol import Snapshot, TrackedFile

EXAMPLES = """examples:
  infospace show Note_12
  infospace show Note_12 --version 1
  infospace show 'reading list' --json
  infospace show retrieval/bm25.md
  infospace show run_3"""

SHOWN = 100
"""Items of a Collection that are shown for reading."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("reference", metavar="ID|NAME|PATH|TITLE", help="what to show; also a run's id")
    parser.add_argument(
        "--version", type=int, metavar="N", dest="at", help="an earlier version; also of what was deleted"
    )
    parser.add_argument(
        "--all", action="store_true", help="of a run, every round of its loops; else the first 10 of each"
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show a resource at a version, or a run with its steps."""
    if is_run_id(args.reference):
        from tui.command.runs.runs import show_run

        if args.at is not None:
            raise UsageError(f"{args.reference} is a run, which has no versions", hint="name a resource")
        return show_run(args, out)
    with open_from(args, create=False) as space:
        with space.store.reading() as snapshot:
            if args.at is None and (rows := find_rows(snapshot, args.reference)):
                _show_rows(snapshot, rows, out)
                return 0
            resource = _get(snapshot, find(snapshot, args.reference), args.at)
            around = _around(snapshot, resource)
        document = {**describe(space, resource, None if out.json else SHOWN), **around}
    if out.json:
        out.document(document)
        return 0
    _show(document, out)
    if isinstance(resource, Collection) and len(resource) > SHOWN:
        out.talk(f"and {len(resource) - SHOWN:,} more; --json gives all {len(resource):,}", "dim")
    return 0


def _show_rows(snapshot: Snapshot, rows: Sequence[TrackedFile], out: Output) -> None:
    """Show a file whose rows are notes."""
    from tui.text.render import items_table

    file = f"{rows[0].root}/{rows[0].path}"
    shown = rows if out.json else rows[:SHOWN]
    notes = [(one, snapshot.get(one.note)) for one in shown]
    items = [{"id": note.id, "row": one.part, "content": note.content} for one, note in notes if isinstance(note, Note)]
    if out.json:
        out.document({"kind": "File", "file": file, "size": len(rows), "rows": items})
        return
    out.talk(f"{file}: {pluralize(len(rows), 'row')}, each a note")
    out.result.print(items_table([{"id": item["id"], **_columns(item["content"])} for item in items]))
    if len(rows) > SHOWN:
        out.talk(f"and {len(rows) - SHOWN:,} more; --json gives all {len(rows):,}", "dim")


def _columns(content: Any) -> dict[str, Any]:
    return content if isinstance(content, dict) else {"content": content}


def _get(snapshot: Snapshot, identifier: str, version: int | None) -> Resource:
    """Return a resource; of one that was deleted, say how what it was can still be seen."""
    try:
        return snapshot.get(identifier, version)
    except NotFound as error:
        if version is not None or "deleted" not in error.message:
            raise
        latest = snapshot.versions(identifier)[-1][0]
        hint = f"`infospace show {identifier} --version {latest}` shows what it was"
        raise NotFound(error.message, hint=hint) from None


def _around(snapshot: Snapshot, resource: Resource) -> dict[str, Any]:
    """Return what is known of a resource beside itself: versions, its file, and links from and to it."""
    from infospace.data.result import display_name
    from tui.tables.resource_context import unresolved_links

    versions = [{"version": number, "updated": updated} for number, updated in snapshot.versions(resource.id)]
    around: dict[str, Any] = {"versions": versions}
    if isinstance(resource, Relation):
        return around
    ends: dict[str, list[dict[str, Any]]] = {"links": [], "backlinks": []}
    for relation in snapshot.relations(source=resource.id) + snapshot.relations(target=resource.id):
        arrow: Any = snapshot.get(relation)
        for key, end in (("links", arrow.target), ("backlinks", arrow.source)):
            if (arrow.source if key == "links" else arrow.target) == resource.id:
                one = {"id": end, "title": display_name(snapshot.get(end)), "relation": arrow.relation}
                if one not in ends[key]:
                    ends[key].append(one)
    around |= ends
    file = next((file for file in snapshot.tracked() if file.note == resource.id), None)
    if file is not None:
        around["file"] = f"{file.root}/{file.path}" + (f"#{file.part}" if file.part else "")
        around["unresolved_links"] = unresolved_links(snapshot, resource.id)
    return around


def describe(space: Space, resource: Resource, most: int | None = None) -> dict[str, Any]:
    """Return the documented object of a resource; of a Collection with its first `most` items, None for all."""
    content: dict[str, Any]
    match resource:
        case Collection():
            members = resource.members[:most]
            context = space.context()
            items = context.resources([member.id for member in members])
            rows = zip(items, members, strict=True)
            content = {
                "items": [
                    {"id": item.id, "kind": str(item.kind), "content": context.content(item), "membership": member.info}
                    for item, member in rows
                ]
            }
        case Relation() | Note():
            content = {"content": resource.content}
    created_by = resource.created_by
    return {
        "kind": str(resource.kind),
        "id": resource.id,
        "name": resource.name,
        **content,
        "metadata": dict(resource.metadata),
        "version": resource.version,
        "kept": resource.kept,
        "created": resource.created,
        "updated": resource.updated,
        "provenance": {"run": created_by.run, "step": created_by.step, "by": created_by.by},
    }


def _show(document: dict[str, Any], out: Output) -> None:
    from tui.command.common.paging import show_text
    from tui.text.render import content_text, hits_table, is_hit, items_table

    _show_head(document, out)
    if "items" not in document:
        show_text(content_text(document["content"]), out)
    else:
        contents = [item["content"] for item in document["items"]]
        if contents:
            hits = all(is_hit(content) for content in contents)
            out.result.print(hits_table(contents) if hits else items_table(contents))
        else:
            out.talk("an empty collection")
    for mark, key in (("→", "links"), ("←", "backlinks")):
        for end in document.get(key, ()):
            out.talk(f"  {mark} {end['relation']}  {end['id']}  {end['title']}", "dim")
    for target in document.get("unresolved_links", ()):
        out.talk(f"  → {target}: no such note yet", "dim")


def _show_head(document: dict[str, Any], out: Output) -> None:
    from infospace.data.json_text import dump

    result = document["provenance"]
    where = "".join(part for part in (result["run"] or "", f" step {result['step']}" if result["step"] else "") if part)
    name = f"  {document['name']!r}" if document["name"] else ""
    by = f", made by {result['by']}{f' in {where}' if where else ''}" if result["by"] else ""
    transient = "" if document["kept"] else ", transient"
    versions = document["versions"]
    version = f"version {document['version']} of {versions[-1]['version']}"
    out.talk(f"{document['id']}{name}  {version}, {document['updated']}{by}{transient}", "dim")
    for one in versions if len(versions) > 1 else ():
        mark = "*" if one["version"] == document["version"] else " "
        out.talk(f" {mark} version {one['version']}  {one['updated'][:19].replace('T', ' ')}", "dim")
    if "file" in document:
        out.talk(f"  {document['file']}", "dim")
    for key, value in document["metadata"].items():
        out.talk(f"  {key}: {value if isinstance(value, str) else dump(value)}", "dim")
