"""The vocabulary: what a plan can do.

Without names --markdown is the whole language in short, for a prompt; --full has every contract besides. --json is
the grammar of plans as JSON Schema, with the contracts.
"""

from __future__ import annotations

import argparse

from tui.text.output import Output

EXAMPLES = """examples:
  infospace primitives
  infospace primitives discover-notes
  infospace primitives --markdown > vocabulary.md
  infospace primitives size head --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these, in full")
    parser.add_argument("--markdown", action="store_true", help="as Markdown for a prompt: the language, in short")
    parser.add_argument("--full", action="store_true", help="with --markdown: every contract in full")


def execute(args: argparse.Namespace, out: Output) -> int:
    """List, or show the vocabulary."""
    from infospace.contract.catalogue import installed

    catalogue = installed()
    if out.json:
        from planner.parse.vocabulary import machine

        out.document(machine(catalogue, args.names))
        return 0
    if args.markdown or args.full or args.names:
        from planner.parse.vocabulary import full, short

        text = full(catalogue, args.names) if args.full or args.names else short(catalogue)
        out.text(text)
        out.talk(f"{len(text):,} characters", "dim")
        return 0
    width = max(len(entry.type) for entry in catalogue)
    for entry in catalogue:
        out.text(f"{entry.type:<{width}}  {entry.summary}", crop=True)
    return 0
