"""Say which tools are always called without asking, since somebody answered so, and take that back."""

from __future__ import annotations

import argparse

from tui.command.common.open_space import open_from
from tui.text.output import Output

EXAMPLES = """examples:
  infospace tools approvals
  infospace tools approvals --forget files/write
  infospace tools approvals --forget 'files/*' --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--forget", metavar="SERVER/TOOL", help="ask again about this tool; SERVER/* is all of a server"
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show them, or forget some."""
    from infospace.tools.approvals import list_approvals, revoke_approval

    with open_from(args, create=False) as space:
        gone = list(revoke_approval(space.store, args.forget)) if args.forget is not None else []
        rows = []
        for approval in list_approvals(space.store):
            tool = space.tools.find(approval.tool)
            changed = approval.digest is not None and tool is not None and tool.digest != approval.digest
            rows.append({"tool": approval.tool, "at": approval.at, "known": tool is not None, "changed": changed})
    if out.json:
        out.document({"approvals": rows, "forgotten": gone})
        return 0
    for name in gone:
        out.text(f"{name} is asked about again")
    for row in rows:
        marks = "  has changed since, and is asked about again" if row["changed"] else ""
        marks = marks or ("" if row["known"] else "  is not there now")
        out.text(f"{row['tool']:<36}  {str(row['at'])[:16].replace('T', ' ')}{marks}")
    if not rows:
        out.talk("no tool is always called without asking", "dim")
    return 0
