"""Goes on with a run whose tool is killed with its process, just after it has had its effect.

Arguments: the space, the file to which the tool writes each call.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from infospace import Space, open_space
from infospace.tools.local import LocalTools
from planner.lifecycle.resume import resume


def with_drop(space: Space, log: Path, *, dies: bool) -> None:
    """Put a server into the space whose one tool drops things."""
    outside = LocalTools("outside")

    @outside.tool(destructive=True)
    async def drop(text: str) -> str:
        """Drop a text."""
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"dropped {text}"

    space.tools.add(outside)


def main() -> None:
    """Go on, and die."""
    with open_space(sys.argv[1]) as space:
        with_drop(space, Path(sys.argv[2]), dies=True)
        asyncio.run(resume(space, "run_1"))


if __name__ == "__main__":
    main()
