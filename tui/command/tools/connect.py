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
import json
import os
import shlex
import sys
from typing import TYPE_CHECKING

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.store.tool_records import AddSource
from tui.command.common.ctrl_c import read_line
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.space import Space
    from infospace.tools.mcp.connections import ConnectionState
    from infospace.tools.mcp.registries.connect import Checked, Proposal
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
NOT_WRITTEN = 1


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
            for problem in known.problems:
                if problem.severity == "error":
                    hint = f" ({problem.hint})" if problem.hint else ""
                    out.talk(f"{problem.server or problem.file}: {problem.message}{hint}", "yellow")
            return 0
        if args.server not in known.entries and not args.forget and _is_listed(space, args.server):
            return _connect_listed(space, args, out)
        if to_write and args.server in known.entries:
            raise UsageError(f"{known.entries[args.server].file!r} has a server {args.server!r} already")
        near = None if args.server in known.entries else _nearest_listed(space, args.server)
        if to_write or near is not None:
            raise UsageError(
                f"no registry lists {args.server!r}", hint=near or "`infospace tools search` finds servers"
            )
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
    return state_of(next(server for server in servers.all() if server.name == args.server))


def _connect(servers: Servers, args: argparse.Namespace, out: Output) -> ConnectionState:
    from infospace.tools.mcp.connections import connect

    def show_state(state: ConnectionState) -> None:
        out.talk(f"{state.server} asks you to sign in, at\n{state.connect_url}")

    return asyncio.run(connect(servers, args.server, show_state, browser=not args.no_browser, seconds=args.seconds))


def _show(state: ConnectionState, out: Output) -> None:
    out.text(f"{MARKS[state.status]} {state.server:<20} {state.status:<13} {state.message}", crop=False)
    if state.kept == "file":
        out.talk("    there is no keyring here, so its tokens are in a file that only you can read", "dim")


def _is_listed(space: Space, name: str) -> bool:
    """Whether a registry lists a server of this name; several are, too."""
    from infospace.tools.mcp.registries.connect import find_listed

    try:
        find_listed(space.store, name)
    except NotFound:
        return False
    except Invalid:
        return True
    return True


def _nearest_listed(space: Space, name: str) -> str | None:
    """Return the name of a registry's server that was probably meant, as a hint; None where none is near."""
    from infospace.data.paths import nearest
    from infospace.tools.mcp.registries.saved import registries

    known_names = [server.name for registry in registries(space.store) for server in registry.servers]
    near = nearest(name, known_names)
    return None if near is None else f"did you mean {near!r}?"


def _connect_listed(space: Space, args: argparse.Namespace, out: Output) -> int:
    """Show the entry of a registry's server, ask, and write it; return the exit code."""
    from infospace.files.atomic_write import write_atomically
    from infospace.tools.mcp.registries.connect import check_package, propose
    from infospace.tools.mcp.servers import sources_of

    servers = space.tools.servers
    assert servers is not None  # noqa: S101 - a space's toolbox has them
    file = None if args.mcp is None else path_of(args.mcp)
    try:
        proposal = propose(servers, space.store, args.server, file=file, rename=args.rename)
        if proposal.server.checksum is not None:
            out.talk("fetching its package, to hold it against its checksum", "dim")
        checked = check_package(proposal)
        if not out.json:
            _show_entry(checked, out)
        agreed = args.yes or _agreed(out)
        if agreed:
            checked.write(write_atomically)
    except (NotFound, Conflict, Invalid) as error:
        raise UsageError(error.message, hint=error.hint) from error
    read = sources_of(space.store)
    if agreed and proposal.file not in read:
        # The file beside the space is read while none is remembered: from now on it has to be, too.
        space.store.commit([AddSource(str(path)) for path in (*read, proposal.file)])
    missing = [variable.name for variable in proposal.missing(os.environ)]
    if out.json:
        out.document({**proposal.to_json(), "entry": dict(checked.entry), "missing": missing, "written": agreed})
    elif agreed:
        out.text(f"✓ {proposal.name} stands in {proposal.file}", crop=False)
        if missing:
            out.talk(f"set {', '.join(missing)} in the environment first", "yellow")
        out.talk("`infospace tools sync` lists its tools", "dim")
    else:
        out.talk("nothing is written")
    return 0 if agreed else NOT_WRITTEN


def _agreed(out: Output) -> bool:
    if not sys.stdin.isatty() or out.json:
        out.talk("--yes writes it; nobody can be asked here")
        return False
    return read_line("Write it? [y/N] ").strip().lower() in ("y", "yes")


def _show_entry(checked: Checked, out: Output) -> None:
    proposal: Proposal = checked.proposal
    server, entry = proposal.server, checked.entry
    version = f" {server.version}" if server.version else ""
    out.text(f"{server.name}{version}, listed by {proposal.registry.name}", crop=False)
    if server.description:
        out.talk(f"what its publisher says of it: {server.description}")
    line = str(entry["url"]) if "url" in entry else shlex.join([entry["command"], *entry.get("args", ())])
    out.text(f"{'asks' if 'url' in entry else 'runs'}      {line}", crop=False)
    for variable in server.variables:
        about = f": {variable.description}" if variable.description else ""
        there = "set" if variable.name in os.environ else "not set"
        out.text(f"needs     {variable.label}, {there}{about}", crop=False)
    if server.optional:
        out.text(f"may have  {', '.join(one.label for one in server.optional)}", crop=False)
    checksum = server.checksum
    out.text("checksum  none is given" if checksum is None else "checksum  its package fits it", crop=False)
    out.text(f"entry of {proposal.name!r} in {proposal.file}:", crop=False)
    for row in json.dumps(entry, ensure_ascii=False, indent=2).splitlines():
        out.text(f"  {row}", crop=False)
