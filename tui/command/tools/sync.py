"""List the servers of `mcp.json` files, and keep what they list in the space.

A server is started only where it was never listed, failed the last time, its entry changed, or its list holds no
longer; --restart lists all. What is wrong with a server is told of that one alone, under `failed`, and the others are
kept. Exit codes: 0 where the files could be read, also where a server failed; 2 where a file could not be read.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from infospace.core.errors import InvalidJSON, NotFound
from tui.command.common.open_space import open_from
from tui.command.common.sign_in import offer_sign_in
from tui.text.format import single_line
from tui.text.output import Output, UsageError
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.tools.mcp.catalogue.sync import SyncedServer, SyncReport

EXAMPLES = """examples:
  infospace tools sync
  infospace tools sync --mcp ~/project/mcp.json
  infospace tools sync --forget ~/project/mcp.json
  infospace tools sync --restart --json"""

SHOWN = 12
"""Names of tools that are shown of each sort."""
USAGE = 2


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
            shown = _Shown(out, listener)
            report = asyncio.run(
                sync(
                    space, mcp=mcp, forget=forget, restart=args.restart, listener=listener, heard=shown.show, embed=True
                )
            )
        except (NotFound, InvalidJSON) as error:
            raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        out.document(report.to_json())
    else:
        _show(report, out, shown.servers)
    return USAGE if report.unreadable else 0


class _Shown:
    """Shows each server when it is done: above the bar on a terminal, else as a line of the output."""

    def __init__(self, out: Output, listener: Listener) -> None:
        self._out = out
        self._listener = listener
        self.servers: set[str] = set()
        """Those that need not be shown again."""

    def show(self, one: SyncedServer) -> None:
        """Show a server."""
        if self._out.json:
            return
        drawn = sys.stderr.isatty()
        for line, style in _lines(one):
            if drawn:
                self._listener.message("say", line)
            else:
                self._out.text(line, style)
        if not drawn or sys.stdout.isatty():
            self.servers.add(one.server)


def _lines(one: SyncedServer) -> Iterator[tuple[str, str]]:
    """Return the lines of a server, each with its style."""
    if one.failed is not None:
        hint = f" ({one.failed.hint})" if one.failed.hint else ""
        yield f"✗ {single_line(one.server or one.failed.file)}  {one.failed.reason}{hint}", "red"
        return
    yield f"✓ {one.server}  listed", ""
    for refused in one.refused:
        yield f"  ✗ {refused.message}", "yellow"


def _show(report: SyncReport, out: Output, shown: Collection[str]) -> None:
    if not report.files:
        out.talk("there is no `mcp.json` beside the space; `infospace tools sync --mcp FILE` names one")
    for problem in report.warnings:
        out.talk(f"{problem.server}: {problem.message}{f' ({problem.hint})' if problem.hint else ''}", "yellow")
    from infospace.tools.mcp.catalogue.sync import SyncedServer

    servers = [SyncedServer(failed.server, failed) for failed in report.failed]
    servers += [
        SyncedServer(name, refused=tuple(refused for refused in report.refused if refused.server == name))
        for name in report.listed
    ]
    for line, style in (pair for server in servers if server.server not in shown for pair in _lines(server)):
        out.text(line, style)
    for name in report.unchanged:
        out.text(f"· {name}  as it was", "dim")
    for label, names in (("added", report.added), ("changed", report.changed), ("removed", report.removed)):
        if names:
            more = f", … and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
            out.text(f"{len(names):,} {label}: {', '.join(names[:SHOWN])}{more}")
    if report.by_words is not None and report.files:
        out.talk(report.by_words, "dim")
    if report.files and not (report.added or report.changed or report.removed or report.failed):
        out.text("nothing new")
