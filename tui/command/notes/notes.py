"""List the kept notes, the latest one last."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infospace.core.plural import pluralize
from tui.command.common.open_space import open_from
from tui.command.common.whole_number import whole_number
from tui.text.output import Output, UsageError, escape_controls

if TYPE_CHECKING:
    from infospace.core.resources import Note
    from infospace.data.properties import Property
    from infospace.expressions import ItemMismatches, Where

EXAMPLES = """examples:
  infospace notes
  infospace notes --folder projects --tag release --sort "modified desc"
  infospace notes --columns title,status,due --where "metadata.status = 'open'"
  infospace notes --limit all --where "@file LIKE '2026-%'"
  infospace notes --properties"""

COLUMNS = ("id", "title", "path", "folder", "root", "tags", "updated")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--limit", default="50", metavar="N|all", help="at most this many (50): the latest; with --sort the first"
    )
    parser.add_argument("--where", metavar="SQL", help="only notes that satisfy this condition")
    parser.add_argument(
        "--folder",
        metavar="PATH",
        help="only notes of files in this folder and those below it; `.`: right in the folder that was added",
    )
    parser.add_argument("--tag", metavar="TAG", help="only notes with this tag, or one below it")
    parser.add_argument(
        "--sort", metavar="COLUMN", help='sort by a column or a property: "modified desc", or -modified'
    )
    parser.add_argument(
        "--columns", metavar="A,B,…", help="show these: properties, or columns of `notes` in `infospace query`"
    )
    parser.add_argument("--properties", action="store_true", help="list these notes' properties, with their types")
    parser.add_argument(
        "--all",
        action="store_true",
        help="also notes that runs made and did not keep, and those whose names begin with _",
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """List the kept notes, or all of them; or their properties."""
    limit = None if args.limit == "all" else _limit(args.limit)
    from infospace.core.ids import Kind
    from infospace.core.resources import Note as NoteKind
    from infospace.data.properties import PropertyCounts

    kept_only = None if args.all else True
    conditions = _Conditions(args)
    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        if args.properties and not conditions.any and not args.all:
            return _list_properties(snapshot.properties(), out)
        listed = (one for one in snapshot.listing(Kind.NOTE, kept=kept_only) if isinstance(one, NoteKind))
        every = [one for one in listed if args.all or not (one.name or "").startswith("_")]
        chosen = [note for note in every if conditions.match(note)]
        hint = None if chosen else conditions.hint(every)
        columns = _columns(args.columns, every)
    if args.properties:
        counts = PropertyCounts()
        for note in chosen:
            counts.add(note.metadata)
        if hint and not out.json:
            out.talk(hint)
        return _list_properties(counts.properties(), out)
    if args.sort:
        chosen = _sorted(chosen, args.sort, every)
    shown = chosen if limit is None else chosen[:limit] if args.sort else chosen[-limit:]
    rows = [_row(note, columns) for note in shown]
    if out.json:
        remarks = {"mismatched": conditions.mismatches, "hint": hint}
        out.document({"notes": rows, "total": len(chosen), **{key: text for key, text in remarks.items() if text}})
        return 0
    if rows:
        _show(rows, [*columns] or _telling(rows), out)
    for message in (conditions.mismatches, hint):
        if message:
            out.talk(message)
    out.talk(
        f"{len(rows):,} of {len(chosen):,} notes" if len(rows) < len(chosen) else pluralize(len(rows), "note"), "dim"
    )
    return 0


class _Conditions:
    """Which notes are listed."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.tally: ItemMismatches | None = None
        self._where: Where | None = None
        self._judge: Callable[[Note[Any]], bool | None] | None = None
        if args.where is not None:
            self._read_where(args.where)
        self._folder = None if args.folder is None else args.folder.strip("/").removeprefix("./")
        self._tag = None if args.tag is None else args.tag.removeprefix("#")

    def _read_where(self, text: str) -> None:
        from infospace.contract.arguments import BoundCondition as BoundWhere
        from infospace.expressions import ItemMismatches, parse_where

        self._where, self.tally = parse_where(text), ItemMismatches()
        if self._where.parameters:
            message = f"there is no ${self._where.parameters[0]} outside of a plan"
            raise UsageError(message, hint="write the value itself")
        self._judge = BoundWhere(self._where).judge(self.tally)

    @property
    def mismatches(self) -> str:
        """What had no result, as a person reads it; empty where nothing was without one."""
        return "" if self.tally is None else str(self.tally)

    @property
    def any(self) -> bool:
        """Whether not all notes are listed."""
        return any(one is not None for one in (self._where, self._folder, self._tag))

    def match(self, note: Note[Any]) -> bool:
        """Whether a note is listed."""
        if self._folder is not None and not self._is_in_folder(note):
            return False
        if self._tag is not None and self._tag not in (_value(note, "tags") or ()):
            return False
        return self._judge is None or self._judge(note) is True

    def _is_in_folder(self, note: Note[Any]) -> bool:
        location = note.location
        if location is None or self._folder in ("", "."):
            return location is not None and not location.folder
        return f"{location.folder}/".startswith(f"{self._folder}/")

    def hint(self, every: Sequence[Note[Any]]) -> str | None:
        """Return why none is listed, where that can be said."""
        if self._folder is not None and not any(map(self._is_in_folder, every)):
            return _no_such(
                "folder", self._folder, {note.location.folder for note in every if note.location is not None}
            )
        tags = {tag for note in every for tag in _value(note, "tags") or ()}
        if self._tag is not None and self._tag not in tags:
            return _no_such("tag", self._tag, tags)
        if self._where is None:
            return None
        from infospace.contract.arguments import BoundCondition as BoundWhere
        from infospace.search.note_filter import misplaced_in

        return misplaced_in(BoundWhere(self._where, {}), every, "note")


def _no_such(what: str, name: str, known_names: set[str]) -> str:
    from infospace.data.paths import nearest

    near = nearest(name, sorted(known_names))
    return f"no note has the {what} {name!r}" + (f"; did you mean {near!r}?" if near else "")


def _value(note: Note[Any], column: str) -> Any:
    """Return a column of `notes`, as a query has it; else a property by its name."""
    from infospace.data.paths import ABSENT, Path, find
    from infospace.data.titles import aliases_of

    location = note.location
    special: Mapping[str, Callable[[], Any]] = {
        "created": lambda: (None if location is None else location.created) or note.created,
        "aliases": lambda: list(aliases_of(note.metadata)) or None,
        "words": lambda: len(note.content.split()) if isinstance(note.content, str) else None,
        "kept": lambda: note.kept,
        "version": lambda: note.version,
    }
    if column in special:
        return special[column]()
    value = find(note, Path((f"@{column}",))) if column in _OWN else note.metadata.get(column, ABSENT)
    return None if value is ABSENT else value


_OWN = ("id", "name", "title", "path", "folder", "file", "root", "tags", "modified", "updated")
_OTHERS = ("created", "aliases", "words", "kept", "version")


def _columns(text: str | None, every: Sequence[Note[Any]]) -> list[str]:
    """Read the columns to be shown; those that no note can have are refused."""
    if text is None:
        return []
    columns = [column.strip().removeprefix("@").removeprefix("metadata.") for column in text.split(",")]
    for column in columns:
        _require_known(column, every)
    return columns


def _require_known(column: str, every: Sequence[Note[Any]]) -> None:
    if column in _OWN or column in _OTHERS or any(column in note.metadata for note in every):
        return
    from infospace.data.paths import nearest

    known_names = [*_OWN, *_OTHERS, *dict.fromkeys(key for note in every for key in note.metadata)]
    near = nearest(column, known_names)
    raise UsageError(
        f"no note has a column or property {column!r}",
        hint=f"did you mean {near!r}?" if near else f"there is {', '.join(known_names[:20])}",
    )


def _sorted(notes: list[Note[Any]], text: str, every: Sequence[Note[Any]]) -> list[Note[Any]]:
    """Sort by a column, ascending unless it says `desc` or begins with `-`; notes without it come last."""
    from infospace.data.order import order_key

    column, _, order = text.strip().rpartition(" ")
    if order.lower() not in ("asc", "desc") or not column:
        column, order = (text.strip()[1:], "desc") if text.strip().startswith("-") else (text.strip(), "asc")
    [column] = _columns(column, every)
    values = {note.id: _value(note, column) for note in notes}
    have = [note for note in notes if values[note.id] is not None]
    have.sort(key=lambda note: order_key(values[note.id]), reverse=order.lower() == "desc")
    return [*have, *(note for note in notes if values[note.id] is None)]


def _row(note: Note[Any], columns: Sequence[str]) -> dict[str, Any]:
    if columns:
        return {column: _value(note, column) for column in columns}
    from infospace.data.result import display_name
    from tui.text.render import location_json

    return {
        "id": note.id,
        "name": note.name,
        "title": display_name(note),
        **location_json(note.location),
        "tags": note.metadata.get("tags", []),
        "kept": note.kept,
        "version": note.version,
        "updated": note.updated,
    }


def _list_properties(results: Mapping[str, Property], out: Output) -> int:
    """List properties: in how many notes, of which types, and their values where these are few."""
    rows: list[dict[str, Any]] = [
        {
            "property": name,
            "notes": one.notes,
            "types": dict(one.types),
            "values": None if one.values is None else list(one.values),
        }
        for name, one in results.items()
    ]
    if out.json:
        out.document({"properties": rows})
        return 0
    shown = [
        {
            **row,
            "types": ", ".join(f"{type_} in {count:,}" for type_, count in row["types"].items()),
            "values": "" if row["values"] is None else ", ".join(map(_plain, row["values"][:8])),
        }
        for row in rows
    ]
    if shown:
        _show(shown, ["property", "notes", "types", "values"], out)
    out.talk(f"{len(rows):,} properties" if len(rows) != 1 else "1 property", "dim")
    return 0


def _telling(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that tell something: no folder, which the path has, nor what is the same in all or empty."""
    idle = {"folder", *(("root",) if len({row["root"] for row in rows} - {None}) < 2 else ())}
    return [column for column in COLUMNS if column not in idle and any(row[column] for row in rows)]


def _limit(text: str) -> int:
    number = whole_number(text)
    if number is not None and number > 0:
        return number
    raise UsageError(f"{text!r:.60} is not a limit", hint='a whole number from 1, or "all"')


def _plain(value: Any) -> str:
    from infospace.data.json_text import dump

    return "" if value is None else value if isinstance(value, str) else dump(value)


def _show(rows: list[dict[str, Any]], columns: Sequence[str], out: Output) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), header_style="dim")
    for column in columns:
        table.add_column(column, no_wrap=column in ("id", "tags", "updated", "modified", "created"))
    for row in rows:
        table.add_row(*(Text(escape_controls(_cell(column, row[column]))) for column in columns))
    out.result.print(table)


def _cell(column: str, value: Any) -> str:
    if column in ("updated", "modified", "created") and isinstance(value, str):
        return value[:10]
    if isinstance(value, list):
        return ", ".join(_plain(one) for one in value[:3])
    return _plain(value)
