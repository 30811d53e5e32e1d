"""The command, in a space that has a server of tools, which writes each call to the file that LOG names.

SHORT says how many seconds a `wait` may last without suspending its run; the command looks around often.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

import planner.execute.wait
import tui.command.common.follow_run
from infospace.space import Space
from infospace.tools.local import LocalTools
from infospace.tools.toolbox import Toolbox
from tui.command import main


def files() -> LocalTools:
    """Return a server whose one tool takes something away."""
    server = LocalTools("files")

    @server.tool(destructive=True)
    def delete(path: str) -> str:
        """Delete a file."""
        with Path(os.environ["LOG"]).open("a", encoding="utf-8") as log:
            log.write(f"{path}\n")
        return f"deleted {path}"

    return server


def tools(_space: Space) -> Toolbox:
    """Return what can be called."""
    found = Toolbox()
    found.add(files())
    return found


def run() -> int:
    """Run the command."""
    planner.execute.wait.LONGEST_SLEEP = float(os.environ.get("SHORT", "60"))  # type: ignore[assignment] - less than 1
    tui.command.common.follow_run.POLL_SECONDS = tui.command.common.follow_run.FIRST = 0.1
    tooled: cached_property[Toolbox] = cached_property(tools)
    tooled.__set_name__(Space, "tools")
    Space.tools = tooled  # type: ignore[method-assign] - the servers of a space are these
    return main()


if __name__ == "__main__":
    raise SystemExit(run())
