"""Say how the servers are connected, or connect one: sign in to it where it asks for that, or write its entry.

A server that a registry lists has no entry in `mcp.json` yet: it is shown what would stand there, and written once you
agree. Its package is held against the checksum before, where one is given.

The address to sign in at is opened in your browser (the one that BROWSER names, else the system's) and printed as
well. The tokens go into the keyring of the operating system; without one into a file that only you can read, and then
that is said. Exit codes: 0; 1 where it is not connected, or no entry is written.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from infospace.core.errors import Invalid, NotFound
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.tools.mcp.connections import ConnectionState
    from infospace.tools.mcp.servers import Servers

EXAMPLES = """examples:
  infospace tools connect
  infospace tools connect mail
  infospace tools connect mail --no-browser
  infospace tools connect mail --forget
  infospace tools connect io.github.ann/weather
  infospace tools connect io.github.ann/weather --yes --mcp ~/project/mcp.json --as weather"""

MARKS = {"connected": "✓", "not_required": "✓", "disconnected": "?", "expired": "✗", "error": "✗"}
WELL = ("connected", "not_required")
LONGEST_S = 3600.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("server", nargs="?", metavar="SERVER", help="the server; without it, all are shown")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")
    parser.add_argument("--forget", action="store_true", help="drop its tokens")
    parser.add_argument("--yes", action="store_true", help="write the entry of a registry's server without asking")
    parser.add_argument("--mcp", metavar="FILE", help="the `mcp.json` to write it in (the space's first)")
    parser.add_argument("--as", dest="rename", metavar="NAME", help="what the server is called there")
    parser.add_argument(
        "--seconds", type=float, default=300.0, metavar="N", help="how long you are waited for (300; at most 3600)"
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show the connections, make one, or drop its tokens."""
    from infospace.tools.mcp.connections import connection_states

    if not 0 < args.seconds <= LONGEST_S:
        raise UsageError(f"--seconds is above 0 and at most {LONGEST_S:g}")
    if args.server is None and (args.forget or args.no_browser):
        raise UsageError("--forget and --no-browser go with a server", hint="`infospace tools connect SERVER`")
    to_write = args.yes or args.mcp is not None or args.rename is not None
    if args.server is None and to_write:
        raise UsageError(
            "--yes, --mcp and --as go with a server of a registry", hint="`infospace tools connect SERVER`"
        )
    with open_from(args, create=args.server is not None) as space:
        known = space.tools.servers
        assert known is not None  # noqa: S101 - a space's toolbox has them
        if args.server is None:
            states = connection_states(known)
            if out.json:
                out.document({"connections": [state.to_json() for state in states]})
            for state in () if out.json else states:
                _show(state, out)
            if not states and not known.problems:
                out.talk("no servers; `infospace tools sync --mcp FILE` names an `mcp.json`")
            for one in known.problems:
                if one.severity == "error":
                    out.talk(f"{one.server or one.file}: {one.message}{f' ({one.hint})' if one.hint else ''}", "yellow")
            return 0
        from tui.command.tools.registry_entry import connect_listed, is_listed

        if args.server not in known.entries and not args.forget and is_listed(space, args.server):
            return connect_listed(space, args, out)
        if to_write:
            raise UsageError(f"no registry lists {args.server!r}", hint="`infospace tools search` finds servers")
        try:
            state = _forget(known, args, out) if args.forget else _connect(known, args, out)
        except (NotFound, Invalid) as error:
            raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        out.document(state.to_json())
    else:
        _show(state, out)
    return 0 if state.status in WELL or args.forget else 1


def _forget(servers: Servers, args: argparse.Namespace, out: Output) -> ConnectionState:
    from infospace.tools.mcp.connections import forget, state_of

    had = forget(servers, args.server)
    out.talk(f"{args.server}: its tokens are dropped" if had else f"{args.server} has no tokens")
    return state_of(next(one for one in servers.all() if one.name == args.server))


def _connect(servers: Servers, args: argparse.Namespace, out: Output) -> ConnectionState:
    from infospace.tools.mcp.connections import connect

    def show_state(state: ConnectionState) -> None:
        out.talk(f"{state.server} asks you to sign in, at\n{state.connect_url}")

    return asyncio.run(connect(servers, args.server, show_state, browser=not args.no_browser, seconds=args.seconds))


def _show(state: ConnectionState, out: Output) -> None:
    out.text(f"{MARKS[state.status]} {state.server:<20} {state.status:<13} {state.message}", crop=False)
    if state.kept == "file":
        out.talk("    there is no keyring here, so its tokens are in a file that only you can read", "dim")
