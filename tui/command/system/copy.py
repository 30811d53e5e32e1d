"""Copy a space to another place: from a file into a database, back, or into another of its kind.

The copy holds everything: notes and all of their versions, names, relations, runs, provenance, vectors. It is of the
moment in which the command begins; others may go on with the space. What was copied is read again and compared by
hashes, and only then the copy can be opened. A copy that was cut off is taken up by the same command. An
index of vectors is made anew: a file's at the first search, a database's by `infospace model index`.
"""

from __future__ import annotations

import argparse

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.plural import pluralize
from tui.text.output import Output, UsageError

EXAMPLES = """examples:
  infospace copy notes.db 'postgresql://ann@db.example.org/notes?space=team'
  infospace copy 'postgresql://ann@db.example.org/notes?space=team' home.db
  infospace copy notes.db /mnt/backup/notes.db"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="SRC", help="the space: a file, or postgresql://…?space=NAME")
    parser.add_argument("destination", metavar="DST", help="a place where nothing is, named in the same way")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Copy, and say what."""
    from infospace.store.copying.copy_space import copy_space
    from infospace.store.sqlite.schema import VERSION

    if args.space:
        raise UsageError("`copy` names both spaces itself", hint="leave --space away")
    try:
        with out.progress() as listener:
            copied = copy_space(args.source, args.destination, listener)
    except (NotFound, Conflict, Invalid) as error:
        raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        out.document(
            {
                "status": "success",
                "rows": copied.rows,
                "sha256": copied.sha256,
                "resumed_rows": copied.resumed_rows,
                "tables": VERSION,
            }
        )
        return 0
    total = sum(copied.rows.values())
    tables = pluralize(len(copied.rows), "table")
    out.text(f"copied {pluralize(total, 'row')} of {tables}, read again and compared: {copied.sha256}")
    if copied.resumed_rows:
        out.talk(f"{pluralize(copied.resumed_rows, 'row')} were there from before")
    return 0
