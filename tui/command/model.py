"""The embedding model: which weights, from where, verified or not, and the folder they lie in.

`infospace model get` fetches them when they are not there.
"""

from __future__ import annotations

import argparse

from infospace.errors import ModelError
from tui.command.output import Output

EXAMPLES = """examples:
  infospace model
  infospace model get
  infospace model verify --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=["show", "get", "verify"],
        default="show",
        help="get: fetch when missing; verify: check every hash again",
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show, fetch or verify the weights."""
    from infospace.search.model import find_model, get_model, verify_model

    if args.action == "get":
        found = get_model(out.talk)
    else:
        maybe = find_model()
        if maybe is None:
            raise ModelError(
                "there are no embedding weights on this machine", hint="`infospace model get` fetches them"
            )
        found = verify_model(maybe) if args.action == "verify" else maybe
    if out.json:
        out.document(
            {
                "model": found.name,
                "folder": str(found.folder),
                "origin": found.origin,
                "verified": found.verified,
                "dimension": found.dimension,
                "threshold": found.threshold,
            }
        )
        return 0
    out.text(found.name)
    out.text(f"  folder     {found.folder}")
    out.text(f"  origin     {found.origin}")
    out.text(f"  verified   {'yes' if found.verified else 'no'}")
    out.text(
        f"  dimension  {found.dimension}, at most {found.max_tokens} tokens a passage, threshold {found.threshold}"
    )
    return 0
