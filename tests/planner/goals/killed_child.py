"""A process that reaches a goal, to be killed: `python killed_child.py SPACE SENT`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from infospace import Space, open_space
from infospace.tools.local import LocalTools
from planner.goals.effects import tools_called
from planner.goals.session import GoalSession, do

PLAN = {
    "steps": [
        {"type": "create-collection", "value": ["ann", "bob"], "out": "$names"},
        {"type": "create-note", "value": "first", "name": "first", "out": "$a"},
        {"type": "mail/send", "arguments": {"to": "ann"}, "out": "$m"},
        {"type": "generate-note", "prompt": "Write a letter.", "name": "letter", "out": "$b"},
        {"type": "mail/send", "arguments": {"to": "bob"}, "out": "$n"},
        {"type": "create-collection", "value": ["$a", "$b"], "name": "both", "out": "$both"},
    ],
    "result": "$both",
}


def connect(space: Space, sent: Path) -> None:
    """Add a server that writes down what it sends."""
    server = LocalTools("mail")

    @server.tool()
    async def send(to: str) -> str:
        """Send a mail."""
        with sent.open("a", encoding="utf-8") as file:
            file.write(f"{to}\n")
        await asyncio.sleep(0.5 if to == "bob" else 0.05)  # the last: whoever kills before it has time to
        return f"sent to {to}"

    space.tools.add(server)


def yes(session: GoalSession) -> list[str]:
    """Agree to all."""
    return tools_called(session.effects())


def main(path: Path, sent: Path) -> None:
    """Reach the goal."""
    with open_space(path) as space:
        connect(space, sent)
        asyncio.run(do(space, "send letters", yes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
