"""Remove deleted notes and old versions for good.

What a search result, a version of a collection, an imported file or an unfinished run refers to stays. Runs whose
earlier versions are gone cannot be undone any more. Without --yes it only says what would be removed.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from tui.command.output import Output
from tui.command.spaces import open_from

EXAMPLES = """examples:
  infospace prune
  infospace prune --yes"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--yes", action="store_true", help="really remove it")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Remove, or say what would be."""
    with open_from(args, create=False) as space:
        freed = space.store.purge(really=args.yes)
    if out.json:
        out.document({"pruned": args.yes, **asdict(freed)})
        return 0
    size = f"{freed.bytes / 1e6:,.1f} MB"
    says = (
        f"{freed.tombstones:,} deleted resources, {freed.versions:,} old versions, "
        f"{freed.vectors:,} vectors of texts that are gone: {size}"
    )
    out.text(f"removed {says}" if args.yes else f"would remove {says}")
    if not args.yes and (freed.tombstones or freed.versions or freed.vectors):
        out.talk("`infospace prune --yes` removes it; it cannot be undone", "dim")
    return 0
