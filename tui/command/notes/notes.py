"""List the kept notes, latest last."""

from __future__ import annotations

import argparse
from typing import Any

from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError, counted, escape_controls

EXAMPLES = """examples:
  infospace notes
  infospace notes --limit all --where "has(metadata.tags, 'release')"
  infospace notes --where "@folder = 'projects'"
  infospace notes --all --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--limit", default="50", metavar="N|all", help="at most this many, the latest (50)")
    parser.add_argument("--where", metavar="SQL", help="only notes that satisfy this condition")
    parser.add_argument("--all", action="store_true", help="transient notes of runs too")


def execute(args: argparse.Namespace, out: Output) -> int:
    """List the kept notes, or all of them."""
    from infospace.contract.arguments import Bound as BoundWhere
    from infospace.core.ids import Kind
    from infospace.data.result import display_name
    from infospace.expressions import ItemMismatches, parse_where
    from tui.text.render import location_json

    limit = None if args.limit == "all" else _limit(args.limit)
    where = parse_where(args.where) if args.where is not None else None
    if where is not None and where.parameters:
        raise UsageError(f"there is no ${where.parameters[0]} outside of a plan", hint="write the value itself")
    tally = ItemMismatches()
    judge = None if where is None else BoundWhere(where).judge(tally)
    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        chosen = [
            note
            for note in snapshot.listing(Kind.NOTE, kept=None if args.all else True)
            if judge is None or judge(note)
        ]
        hint = None
        if where is not None and not chosen:
            from infospace.search.note_filter import misplaced_in

            every = list(snapshot.listing(Kind.NOTE, kept=None if args.all else True))
            hint = misplaced_in(BoundWhere(where, {}), every, "note")
    shown = chosen if limit is None else chosen[-limit:]
    rows: list[dict[str, Any]] = [
        {
            "id": note.id,
            "name": note.name,
            "title": display_name(note),
            **location_json(note.location),
            "tags": note.metadata.get("tags", []),
            "kept": note.kept,
            "version": note.version,
            "updated": note.updated,
        }
        for note in shown
    ]
    if out.json:
        remarks = {"mismatched": str(tally), "hint": hint}
        out.document({"notes": rows, "total": len(chosen), **{key: text for key, text in remarks.items() if text}})
        return 0
    _show(rows, out)
    for told in (str(tally), hint):
        if told:
            out.talk(told)
    out.talk(
        f"{len(rows):,} of {len(chosen):,} notes" if len(rows) < len(chosen) else counted(len(rows), "note"), "dim"
    )
    return 0


def _limit(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise UsageError(f"{text!r} is not a limit", hint='a whole number from 1, or "all"')


def _show(rows: list[dict[str, Any]], out: Output) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), header_style="dim")
    for column in ("id", "title", "path", "folder", "root", "tags", "updated"):
        table.add_column(column, no_wrap=column in ("id", "tags", "updated"))
    for row in rows:
        tags = ", ".join(str(tag) for tag in row["tags"][:3]) if isinstance(row["tags"], list) else str(row["tags"])
        place = (Text(escape_controls(row[key] or ""), style="dim") for key in ("path", "folder", "root"))
        table.add_row(
            row["id"],
            Text(escape_controls(row["title"])),
            *place,
            Text(escape_controls(tags), style="dim"),
            Text(row["updated"][:10], style="dim"),
        )
    if rows:
        out.result.print(table)
