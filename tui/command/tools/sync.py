"""List the servers of `mcp.json` files, and keep what they list in the space.

A server is started only where it was never listed, failed the last time, its entry changed, or its list holds no
longer; --restart lists all. What is wrong with a server is told of that one alone, and the others are kept. Exit
codes: 0; 1 where a server failed; 2 where a file could not be read.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from infospace.core.errors import InvalidJSON, NotFound
from tui.command.common.open_space import open_from
from tui.command.common.sign_in import offer_sign_in
from tui.text.output import Output, UsageError
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.tools.mcp.catalogue.sync import SyncReport

EXAMPLES = """examples:
  infospace tools sync
  infospace tools sync --mcp ~/project/mcp.json
  infospace tools sync --forget ~/project/mcp.json
  infospace tools sync --restart --json"""

SHOWN = 12
"""Names of tools that are shown of each sort."""
FAILED, USAGE = 1, 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--mcp", metavar="FILE", help="read this `mcp.json` too, now and at each later opening")
    parser.add_argument("--forget", metavar="FILE", help="read this `mcp.json` no more")
    parser.add_argument("--restart", action="store_true", help="start and list every server, whatever is known of it")


def execute(args: argparse.Namespace, out: Output) -> int:
    """List the servers' tools anew, and report what changed."""
    from infospace.tools.mcp.catalogue.sync import sync

    mcp, forget = (None if path is None else path_of(path) for path in (args.mcp, args.forget))
    with open_from(args, create=True) as space, out.progress() as listener:
        offer_sign_in(space, out)
        try:
            done = asyncio.run(sync(space, mcp=mcp, forget=forget, restart=args.restart, listener=listener))
        except (NotFound, InvalidJSON) as error:
            raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        out.document(done.to_json())
    else:
        _show(done, out)
    if done.unreadable:
        return USAGE
    return FAILED if done.failed else 0


def _show(done: SyncReport, out: Output) -> None:
    if not done.files:
        out.talk("there is no `mcp.json` beside the space; `infospace tools sync --mcp FILE` names one")
    for problem in done.warnings:
        out.talk(f"{problem.server}: {problem.message}{f' ({problem.hint})' if problem.hint else ''}", "yellow")
    for failed in done.failed:
        hint = f" ({failed.hint})" if failed.hint else ""
        out.text(f"✗ {failed.server or failed.file}  {failed.reason}{hint}", "red")
    for name in done.listed:
        out.text(f"✓ {name}  listed")
        for refused in (one for one in done.refused if one.server == name):
            out.text(f"  ✗ {refused.message}", "yellow")
    for name in done.unchanged:
        out.text(f"· {name}  as it was", "dim")
    for word, names in (("added", done.added), ("changed", done.changed), ("removed", done.removed)):
        if names:
            more = f", … and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
            out.text(f"{len(names):,} {word}: {', '.join(names[:SHOWN])}{more}")
    if done.files and not (done.added or done.changed or done.removed or done.failed):
        out.text("nothing new")
