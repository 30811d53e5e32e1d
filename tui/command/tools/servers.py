"""Say which servers the space has: how each stands, when it was listed, how much it lists, what it failed with.

Nothing is started for it. Commands and URLs are shown as they are written in `mcp.json`, without what is secret in
them; `env` and `headers` never.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from infospace.data.result import truncate
from tui.command.common.open_space import open_from
from tui.text.output import Output

if TYPE_CHECKING:
    from infospace.tools.mcp.servers import Server

EXAMPLES = """examples:
  infospace tools servers
  infospace tools servers --json"""

MARKS = {"listed": "✓", "failed": "✗", "never listed": "?", "disabled": "-"}
MAX_DESCRIPTION_CHARACTERS = 160
"""Characters of a description that are shown."""
TAIL = 3
"""Lines of what a failed server said last."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: none of its own."""
    del parser


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show the servers and their states."""
    with open_from(args, create=False) as space:
        known = space.tools.servers
        assert known is not None  # noqa: S101 - a space's toolbox has them
        servers, problems = known.all(), known.problems
    if out.json:
        wrong = [
            {"server": problem.server, "file": problem.file, "message": problem.message, "hint": problem.hint}
            for problem in problems
        ]
        out.document({"servers": [_document(server) for server in servers], "problems": wrong})
        return 0
    for server in servers:
        for line in _lines(server):
            out.text(line, crop=True)
    for problem in problems:
        out.talk(
            f"{problem.server or problem.file}: {problem.message}{f' ({problem.hint})' if problem.hint else ''}",
            "yellow",
        )
    if not servers and not problems:
        out.talk("no servers; `infospace tools sync --mcp FILE` names an `mcp.json`")
    return 0


def _lines(server: Server) -> Iterator[str]:
    stored = server.kept
    listed = stored.listed[:16].replace("T", " ") if stored is not None and stored.listed else "-"
    about = truncate(" ".join(server.description.split()), MAX_DESCRIPTION_CHARACTERS)
    yield f"{MARKS[server.state]} {server.name:<20} {server.state:<13} {server.tools:>5,} tools  {listed:<16}  {about}"
    if stored is not None and stored.error:
        yield from (f"    {line}" for line in stored.error.splitlines())
    if stored is not None and stored.state == "failed":
        yield from (f"    | {line}" for line in stored.stderr.splitlines()[-TAIL:])


def _document(server: Server) -> dict[str, Any]:
    entry, stored = server.entry, server.kept
    return {
        "server": server.name,
        "state": server.state,
        "title": server.title,
        "description": server.description,
        "tools": server.tools,
        "prompts": server.prompts,
        "resources": server.resources,
        "listed": stored.listed if stored else None,
        "expires": stored.expires if stored else None,
        "tried": stored.tried if stored else None,
        "error": stored.error if stored else None,
        "stderr": stored.stderr if stored else "",
        "version": stored.version if stored else "",
        "file": entry.file,
        "command": entry.shown_command,
        "url": entry.shown_url,
        "trusted": entry.trusted,
        "blocked": entry.blocked,
        "tags": list(entry.tags),
        "category": entry.category,
    }
