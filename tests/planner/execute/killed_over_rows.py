"""Runs a plan over many rows, and is killed at a call of its tool.

Arguments: the space, the file to which the tool writes each call, at which call it dies, and how many Notes are made
together at least. The plan and its inputs are read from standard input.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from infospace import Space, open_space
from infospace.core import batch_notes
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync


def with_look(space: Space, log: Path, dies_at: int | None = None) -> None:
    """Put a server into the space whose one tool looks, until a call at which its process is killed."""
    outside, calls = LocalTools("outside"), [0]

    @outside.tool(read_only=True)
    async def look(n: int) -> str:
        """Look at a number."""
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{n}\n")
        calls[0] += 1
        if calls[0] == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"looked at {n}"

    space.tools.add(outside)


def main() -> None:
    """Run, and die."""
    path, log, dies_at, many = sys.argv[1:]
    batch_notes.MANY = int(many)
    given = json.load(sys.stdin)
    with open_space(path) as space:
        with_look(space, Path(log), int(dies_at))
        run_sync(space, given["plan"], given["inputs"])


if __name__ == "__main__":
    main()
