"""A plan of 50 searches that need nothing of one another, in milliseconds: side by side, and one after the other.

Among made vectors, with real queries. A new query is embedded by the real model; of one that was asked before the
space has the vector. Both orders take turns in one process.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from figures import Call, Table, interleaved, ratio, spread
from made import space_file

from infospace import Space, open_space
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare

sys.path.insert(0, str(Path(__file__).parents[1] / "planner"))
from onebyone import OneByOne

SEARCHES = 50
TURNS = 7
QUIET = 0.25
"""Seconds before a call that runs a model: so long the threads of numeric libraries may go on spinning after one."""

MOST = 10_000
"""Notes, at most: in larger spaces the search itself is what takes the time, and `discovery` has its figures."""

NEW, KEPT = "queries embedded", "query vectors kept"
SERIAL, ABREAST, RATIO = "one after the other", "side by side", "times as fast side by side"


def run(folder: Path, sizes: Sequence[int]) -> dict[str, Table]:
    """Return the table `searching`."""
    table: Table = {}
    for size in [size for size in sizes if size <= MOST] or [min(sizes)]:
        with ExitStack() as open_:
            # a space each: what one order had embedded, the other would find kept
            spaces = {
                order: open_.enter_context(open_space(space_file(folder / order, size))) for order in (SERIAL, ABREAST)
            }
            for queries, questions in ((NEW, _new), (KEPT, _kept)):
                calls = {order: _searching(space, questions, order) for order, space in spaces.items()}
                times = interleaved(calls, TURNS, pause=QUIET)
                cells = {order: spread(taken) for order, taken in times.items()}
                table[f"{size:,} notes, {queries}"] = {**cells, RATIO: ratio(cells[SERIAL], cells[ABREAST])}
    return {"searching": table}


def _new(turn: int) -> list[str]:
    return [f"what was decided about matter {number} in meeting {turn}" for number in range(SEARCHES)]


def _kept(_: int) -> list[str]:
    return _new(0)


def _searching(space: Space, questions: Callable[[int], list[str]], order: str) -> Call:
    def call(turn: int) -> None:
        plan = [
            {"type": "discover-notes", "query": query, "threshold": -1, "out": f"$x{number}"}
            for number, query in enumerate(questions(turn))
        ]
        prepared = prepare(space, plan)
        if not isinstance(prepared, Prepared):
            raise TypeError(prepared.problems)
        run_ = Run(space, prepared.plan, lambda _event: None)
        if order == SERIAL:
            run_.order = OneByOne(space.catalogue, run_.plans)
        done = asyncio.run(run_.run(prepared.bound))
        if done.status != "success":
            raise RuntimeError(done.reason)

    return call
