"""A process that reaches a goal whose first plan fails, and kills itself before a commit.

`python killed_fork.py SPACE NUMBER`, counted from 1; never with 0.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from infospace import open_space
from infospace.store.sqlite.store import SqliteStore
from planner.goals.effects import tools_called
from planner.goals.session import do


def main(path: Path, number: int) -> int:
    """Reach the goal; return how many commits that took."""
    count, commit = 0, SqliteStore.commit

    def counted(self: SqliteStore, *args: Any, **more: Any) -> int:
        nonlocal count
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return commit(self, *args, **more)

    SqliteStore.commit = counted  # type: ignore[method-assign]
    with open_space(path) as space:
        asyncio.run(do(space, "reach it", lambda session: tools_called(session.effects())))
    return count


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), int(sys.argv[2])))  # noqa: T201 - read by the test
