"""A goal in words: how large the prompt for a plan is, and how soon a first result of a slow plan is there.

The model is an endpoint on loopback that streams a plan of some 1,200 characters over three seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from figures import Table

from infospace import Space, open_space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.llm.model import estimate
from infospace.tools.local import LocalTools
from planner.goals.prompt import planning_request
from planner.goals.session import do
from planner.journal.events import Event, Spoke, StepRanAhead

sys.path.append(str(Path(__file__).parents[1]))
from chatting import Endpoint, serving

TOOLS = 500
PROMPT = f"prompt for a plan, {TOOLS} tools connected, the largest of the goals"
FIRST = "share of a slow plan that had arrived at its first result"
TOKENS, SHARE = "tokens", "median"
NOTES = Path(__file__).parents[2] / "tui" / "sample" / "notes"
GOALS = (
    "which orders are overdue, by customer?",
    "keep a report of all notes about ranking as weekly",
    "join the tables of orders and customers, and sum up by month",
    "send each customer a mail with the open orders",
)
PLAN = {
    "goal": "find the notes about ranking, count them, and keep the number",
    "steps": [
        {"type": "discover-notes", "query": "ranking", "limit": 10, "out": "$hits"},
        {"type": "size", "target": "$hits", "out": "$n"},
        *({"type": "compute", "expression": f"$n + {number}", "out": f"$m{number}"} for number in range(14)),
        {"type": "create-note", "value": "$n", "name": "count", "out": "$kept"},
    ],
    "result": "$kept",
}
PIECE, SECONDS = 12, 3.0
RUNS = 5


def run() -> dict[str, Table]:
    """Measure both, and return the table."""
    with (
        tempfile.TemporaryDirectory(prefix="infospace-planning-") as name,
        open_space(Path(name) / "space.db") as space,
        serving() as endpoint,
    ):
        import_paths(space, [NOTES], NullListener())
        space.embedding.catch_up(NullListener())
        named = {"INFOSPACE_LLM_URL": endpoint.url, "INFOSPACE_LLM_MODEL": "made", "NO_PROXY": "127.0.0.1"}
        with patch.dict(os.environ, named):
            shares = [_first_share(space, endpoint, number) for number in range(RUNS)]
        connect(space)
        tokens = max(estimate(planning_request(space, goal).messages) for goal in GOALS)
    return {"planning": {PROMPT: {TOKENS: float(tokens)}, FIRST: {SHARE: statistics.median(shares)}}}


def connect(space: Space) -> None:
    """Connect tools with long descriptions that are much alike."""
    for place in range(0, TOOLS, 50):
        server = LocalTools(f"server{place}")
        for number in range(place, place + 50):

            def tool(customer: str, month: int = 1, limit: int = 10, order_by: str = "date") -> list[str]:
                raise NotImplementedError

            tool.__name__ = f"orders_of_{number}"
            tool.__doc__ = f"List the orders of region {number}. " + "All open orders of a customer by month. " * 12
            server.tool(read_only=True)(tool)
        space.tools.add(server)


def _first_share(space: Space, endpoint: Endpoint, number: int) -> float:
    """Return which share of the plan had arrived when a first step of it had a result."""
    text = json.dumps(PLAN)
    drafted, share = 0, 1.0

    def watch(event: Event) -> None:
        nonlocal drafted, share
        if isinstance(event, Spoke) and event.kind == "draft":
            drafted += len(event.text)
        elif isinstance(event, StepRanAhead):
            share = min(share, drafted / len(text))

    endpoint.pieces, endpoint.gap = PIECE, SECONDS * PIECE / len(text)
    endpoint.say(text)
    result = asyncio.run(do(space, f"count the notes about ranking, {number}", lambda _session: None, emit=watch))
    if result.status != "cancelled":
        raise RuntimeError(f"the plan was not written: {result.reason}")
    return share


if __name__ == "__main__":
    from figures import lines

    print("\n".join(lines(run()["planning"])))
