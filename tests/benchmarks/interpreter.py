"""The interpreter's cost of one step with the journal on, in microseconds. Plans and other runtimes take turns."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from durable import DBOS_SQLITE, LANGGRAPH, RUNTIMES, installed
from durable import STEPS as THEIR_STEPS
from figures import NOT_INSTALLED, Call, Cell, Table, interleaved, spread

from infospace import Space, open_space
from planner.run import Run
from planner.start import Refused, check_plan, prepare

TURNS = 7
STEPS = 1_000
FLOOR, CREATE, LOOP = "one SQLite transaction a step", "create-note", "for-each of create-note, an item"
Steps = list[dict[str, Any]]


def run() -> dict[str, Table]:
    """Return the table `interpreter`: microseconds a step of running, and of checking, several plans."""
    plans: dict[str, Steps] = {
        "bind": [_note("$x"), *({"type": "bind", "target": "$x", "out": f"$y{i}"} for i in range(STEPS))],
        CREATE: [_note(f"$x{i}") for i in range(STEPS)],
        "size": [_list("$c"), *({"type": "size", "target": "$c", "out": f"$n{i}"} for i in range(STEPS))],
        "create-note with a template": [_note("$x"), *(_template(i) for i in range(STEPS))],
        LOOP: [_list("$c", STEPS), _loop()],
        "map of create-note, an item": [_list("$c", STEPS), _map()],
    }
    with TemporaryDirectory() as name, ExitStack() as open_:
        folder = Path(name)
        ran: dict[str, Call] = {FLOOR: open_.enter_context(closing(_Floor(folder))).run}
        checked: dict[str, Call] = {}
        for number, (plan, steps) in enumerate(plans.items()):
            space = open_.enter_context(open_space(folder / f"{number}.db"))
            ran[plan], checked[plan] = _running(space, steps), _checking(space, steps)
        for runtime, (modules, begin) in RUNTIMES.items():
            if installed(modules):
                ran[runtime] = open_.enter_context(begin(folder))
        times = {column: interleaved(calls, TURNS) for column, calls in (("run", ran), ("check", checked))}
    return {"interpreter": {plan: _cells(plan, times) for plan in (FLOOR, *plans, LANGGRAPH, DBOS_SQLITE)}}


def _cells(plan: str, times: dict[str, dict[str, list[float]]]) -> dict[str, Cell]:
    if plan in RUNTIMES and plan not in times["run"]:
        return {"run": NOT_INSTALLED}
    steps = THEIR_STEPS if plan in RUNTIMES else STEPS
    return {
        column: spread([taken * 1000 / steps for taken in found[plan]])
        for column, found in times.items()
        if plan in found
    }


def _note(out: str) -> dict[str, Any]:
    return {"type": "create-note", "value": {"n": 1}, "out": out}


def _template(index: int) -> dict[str, Any]:
    return {"type": "create-note", "value": "the number is ${x.n}", "out": f"$t{index}"}


def _list(out: str, count: int = 5) -> dict[str, Any]:
    return {"type": "create-collection", "value": list(range(count)), "out": out}


def _loop() -> dict[str, Any]:
    body = [{"type": "create-note", "value": "item ${i}", "out": "$y"}]
    return {"type": "for-each", "target": "$c", "as": "$i", "do": body, "out": "$ys"}


def _map() -> dict[str, Any]:
    return {"type": "map", "target": "$c", "operation": {"type": "create-note", "value": "item ${item}"}, "out": "$ys"}


def _running(space: Space, steps: Steps) -> Call:
    """What runs a plan that is checked already."""
    prepared = prepare(space, {"steps": steps, "budget": {"steps": 100_000}})
    if isinstance(prepared, Refused):
        raise TypeError(prepared.problems)

    def call(_: int) -> None:
        done = asyncio.run(Run(space, prepared.plan, lambda _event: None).all(prepared.bound))
        if done.status != "success":
            raise RuntimeError(done.reason)

    return call


def _checking(space: Space, steps: Steps) -> Call:
    return lambda _: check_plan(space, steps)


class _Floor:
    """What SQLite itself needs, with a write-ahead log and `synchronous=NORMAL`."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("CREATE TABLE steps(n INTEGER PRIMARY KEY, text TEXT)")

    def run(self, _: int) -> None:
        """Commit a row a step."""
        for _ in range(STEPS):
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("INSERT INTO steps(text) VALUES ('x')")
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
