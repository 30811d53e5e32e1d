"""The vocabulary: what a plan can do."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tui.command.output import Output

if TYPE_CHECKING:
    from infospace.contract import Primitive

EXAMPLES = """examples:
  infospace primitives
  infospace primitives discover-notes
  infospace primitives --markdown > vocabulary.md
  infospace primitives size head --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these, in full")
    parser.add_argument("--markdown", action="store_true", help="contracts in full, as Markdown for a prompt")


def execute(args: argparse.Namespace, out: Output) -> int:
    """List, or show contracts."""
    from infospace.catalogue import installed
    from infospace.contracts import to_json, to_markdown

    catalogue = installed()
    entries: list[Primitive] = [catalogue.get(name) for name in args.names] or list(catalogue)
    if out.json:
        out.document({"primitives": [to_json(entry) for entry in entries]})
    elif args.markdown or args.names:
        out.text("\n\n".join(to_markdown(entry) for entry in entries))
    else:
        width = max(len(entry.type) for entry in entries)
        for entry in entries:
            out.text(f"{entry.type:<{width}}  {entry.summary}")
    return 0
