"""Runs a plan of three calls of a tool that writes each down; within the second it waits for a word in a pipe.

Arguments: the space, the file that the tool writes to, the pipe. Says the error that ended the run.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from infospace import InfospaceError, open_space
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync

CALLS = [{"type": "outside/write", "arguments": {"text": text}, "out": f"${text}"} for text in ("a", "b", "c")]


def writing(log: Path, until: Path | None = None) -> LocalTools:
    """Return a server with that one tool."""
    outside = LocalTools("outside")

    @outside.tool()
    async def write(text: str) -> str:
        """Write a text down."""
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        if text == "b" and until is not None:
            await asyncio.to_thread(until.read_text)
        return f"wrote {text}"

    return outside


def main() -> None:
    """Run it."""
    with open_space(sys.argv[1]) as space:
        space.tools.add(writing(Path(sys.argv[2]), Path(sys.argv[3])))
        try:
            run_sync(space, CALLS, approve=["outside/*"])
        except InfospaceError as error:
            print(error.message)


if __name__ == "__main__":
    main()
