"""One process of the proof of resuming: runs a plan, or goes on with it, and kills itself at a write of the journal.

Arguments: the space, the plan's file, the write at which to die (0 for none), `before` or `after` it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from infospace import Space, open_space
from infospace.store.sqlite import store as sqlite_store
from infospace.tools.local import LocalTools
from planner.execute.start import run as start
from planner.lifecycle.resume import answer, pending_of, resume


def with_tools(space: Space, log: Path) -> None:
    """Put a server of tools into the space that writes each call it gets to a file, outside of the space."""
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    async def look(name: str) -> str:
        """Look at something."""
        return f"saw {name}"

    @outside.tool()
    async def send(text: str) -> str:
        """Send a text."""
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        return f"sent {text}"

    @outside.tool(destructive=True)
    async def drop(text: str) -> str:
        """Drop a text."""
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        return f"sent {text}"

    space.tools.add(outside)


class Deaths:
    """Kills this process at a commit, just before it or just after; counts them."""

    def __init__(self, number: int, when: str) -> None:
        self.count = 0
        commit = sqlite_store.SqliteStore.commit

        def counted(store: Any, *args: Any, **kwargs: Any) -> Any:
            self.count += 1
            if self.count == number and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            done = commit(store, *args, **kwargs)
            if self.count == number and when == "after":
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        sqlite_store.SqliteStore.commit = counted  # type: ignore[method-assign]


def said(document: Any, step: str, kind: str, log: Path) -> Any:
    """Answer as a person does who looks outside whether a text was sent."""
    if kind != "doubt":
        return "yes" if kind == "ask" else "once"
    text = document["steps"][int(step) - 1]["arguments"]["text"]
    sent = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {"result": f"sent {text}"} if text in sent else "repeat"


async def to_the_end(space: Space, document: Any, log: Path) -> Any:
    """Run the plan, or go on with the run that is there; answer what it asks."""
    with space.store.reading() as snapshot:
        runs = [row for row in snapshot.runs() if row.goal == document["goal"]]
    ended = runs and runs[0].status not in ("running", "suspended")
    if ended:
        return None
    result = await resume(space, runs[0].run) if runs else await start(space, document)
    while result.status == "suspended" and result.run is not None:
        with space.store.reading() as snapshot:
            asked, known = pending_of(snapshot.steps(result.run)), snapshot.answers(result.run)
        for one in asked:
            if one.answer_key not in known:
                answer(space, result.run, one.step, said(document, one.step, one.kind, log))
        result = await resume(space, result.run)
    return result


def main() -> None:
    """Run, and print how it ended."""
    path, plan, number, when = sys.argv[1:5]
    log, document = Path(path).with_suffix(".log"), json.loads(Path(plan).read_text(encoding="utf-8"))
    with open_space(path) as space:
        with_tools(space, log)
        deaths = Deaths(int(number), when)
        result = asyncio.run(to_the_end(space, document, log))
        print(json.dumps({"status": result.status, "reason": result.reason, "commits": deaths.count}))


if __name__ == "__main__":
    main()
