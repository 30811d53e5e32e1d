"""Show a note, a collection, a relation or a run.

By id, by name, or for an imported note by its path.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from infospace.ids import is_run_id
from infospace.resources import Collection, Note, Relation, Resource
from tui.command.output import Output
from tui.command.spaces import find, open_from

if TYPE_CHECKING:
    from infospace.space import Space

EXAMPLES = """examples:
  infospace show Note_12
  infospace show 'reading list' --json
  infospace show retrieval/bm25.md
  infospace show run_3"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("reference", metavar="ID|NAME|PATH", help="what to show; also a run's id")
    parser.add_argument("--version", type=int, metavar="N", dest="at", help="an earlier version of a note")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show."""
    if is_run_id(args.reference):
        from tui.command.runs import show_run

        return show_run(args, out)
    with open_from(args, create=False) as space:
        with space.store.reading() as snapshot:
            resource = snapshot.get(find(snapshot, args.reference), args.at)
            versions = snapshot.versions(resource.id)
        document = describe(space, resource)
    if out.json:
        out.document(document)
        return 0
    _show(document, versions, out)
    return 0


def describe(space: Space, resource: Resource) -> dict[str, Any]:
    """Return the documented object of a resource."""
    content: dict[str, Any]
    match resource:
        case Collection():
            items = space.view().items(resource)
            rows = zip(items, resource.members, strict=True)
            content = {
                "items": [
                    {"id": item.id, "kind": str(item.kind), "content": item.content, "membership": member.info}
                    for item, member in rows
                ]
            }
        case Relation() | Note():
            content = {"content": resource.content}
    made = resource.made
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
        "provenance": {"run": made.run, "step": made.step, "by": made.by},
    }


def _show(document: dict[str, Any], versions: list[tuple[int, str]], out: Output) -> None:
    from tui.command.render import content_text, hits_table, is_hit, items_table

    made = document["provenance"]
    where = "".join(part for part in (made["run"] or "", f" step {made['step']}" if made["step"] else "") if part)
    name = f"  {document['name']!r}" if document["name"] else ""
    by = f", made by {made['by']}{f' in {where}' if where else ''}" if made["by"] else ""
    kept = "" if document["kept"] else ", transient"
    out.talk(
        f"{document['id']}{name}  version {document['version']} of {len(versions)}, {document['updated']}{by}{kept}",
        "dim",
    )
    for key, value in document["metadata"].items():
        out.talk(f"  {key}: {value if isinstance(value, str) else content_text(value)}", "dim")
    if "items" not in document:
        out.text(content_text(document["content"]))
        return
    contents = [item["content"] for item in document["items"]]
    if contents:
        out.result.print(
            hits_table(contents) if all(is_hit(content) for content in contents) else items_table(contents)
        )
    else:
        out.talk("an empty collection")
