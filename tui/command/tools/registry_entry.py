"""Writing the entry of a registry's server into `mcp.json`, after showing it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.store.tool_records import AddSource
from tui.command.common.ctrl_c import read_line
from tui.text.output import Output, UsageError
from tui.text.paths import path_of

if TYPE_CHECKING:
    import argparse

    from infospace.space import Space
    from infospace.tools.mcp.registries.connect import Checked, Proposal

NOT_WRITTEN = 1


def is_listed(space: Space, name: str) -> bool:
    """Whether a registry lists a server of this name; several are, too."""
    from infospace.tools.mcp.registries.connect import find_listed

    try:
        find_listed(space.store, name)
    except NotFound:
        return False
    except Invalid:
        return True
    return True


def connect_listed(space: Space, args: argparse.Namespace, out: Output) -> int:
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
            _show(checked, out)
        agreed = args.yes or _agreed(out)
        if agreed:
            checked.write(write_atomically)
    except (NotFound, Conflict, Invalid) as error:
        raise UsageError(error.message, hint=error.hint) from error
    read = sources_of(space.store)
    if agreed and proposal.file not in read:
        # The file beside the space is read while none is remembered: from now on it has to be, too.
        space.store.commit([AddSource(str(path)) for path in (*read, proposal.file)])
    missing = [one.name for one in proposal.missing(os.environ)]
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


def _show(checked: Checked, out: Output) -> None:
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
