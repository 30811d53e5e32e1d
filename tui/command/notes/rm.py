"""Delete notes, collections or relations.

A tombstone stays, so that what was found earlier can still be read. A file that a note came from is left alone. The
next `add` of its folder leaves the file out until it changes; then, or when the file itself is added, the same note
comes back with its versions.
"""

from __future__ import annotations

import argparse

from tui.command.common.open_space import find, open_from
from tui.text.output import Output

EXAMPLES = """examples:
  infospace rm Note_12
  infospace rm drafts/idea.md 'reading list'"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("references", nargs="+", metavar="ID|NAME|PATH", help="what to delete")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Delete all of them, or none when one is not there."""
    from infospace.data.result import display_name
    from infospace.editing.edit import remove

    with open_from(args, create=False) as space:
        with space.store.reading() as snapshot:
            identifiers = list(dict.fromkeys(find(snapshot, reference) for reference in args.references))
            resources = snapshot.get_many(identifiers)
        run = remove(space.store, identifiers, "rm " + " ".join(args.references))
    if out.json:
        out.document({"run": run, "removed": [resource.id for resource in resources]})
    for resource in resources if not out.json else ():
        out.text(f"removed {resource.id}  {display_name(resource)}")
    return 0
