"""Say who called what through `infospace serve` and `tools call`, and what was refused; latest first.

Never with what it was called: that stands in the journal of the run, if at all.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError

EXAMPLES = """examples:
  infospace tools audit
  infospace tools audit --limit 500 --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most this many (50)")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show the latest entries of the audit."""
    if args.limit < 1:
        raise UsageError(f"--limit {args.limit} is too low", hint="a whole number from 1")
    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        rows = snapshot.audit(args.limit)
    if out.json:
        out.document({"audit": [asdict(row) for row in rows]})
        return 0
    for row in rows:
        what = f"{row.action} {row.target}".strip()
        why = "; ".join(part for part in (row.run, row.reason) if part)
        out.text(
            f"{row.at[:19].replace('T', ' ')}  {row.caller:<12}  {row.outcome:<9}  {what}  {why}".rstrip(), crop=True
        )
    if not rows:
        out.talk("nothing was called yet by `infospace serve` or `tools call`", "dim")
    return 0
