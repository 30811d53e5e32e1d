"""The interpreter's cost of one step, in microseconds: of running and of checking several plans, which take turns.

There is no run without a journal. What it costs is seen beside a space in memory, whose journal reaches no disk, and
beside runs that no command offers, whose steps leave no row.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from figures import Call, Cell, Table, interleaved, ratio, spread

from infospace import Space, open_space
from infospace.store.sqlite.store import MEMORY
from infospace.tools.local import LocalTools
from planner.execute.frame import Frame
from planner.execute.run import Run
from planner.execute.start import Refused, check_plan, prepare
from planner.journal.commit_order import FinishedStep, JournalWriter

TURNS = 7
STEPS, FEW = 1_000, 100
FLOOR, CREATE, LOOP = "one SQLite transaction a step", "create-note", "for-each of create-note, an item"
OFF = ("create-note, in memory", "create-note, without rows", "bind, in memory", "bind, without rows")
"""Runs whose journal is in memory, or leaves the rows of its steps out."""
Steps = list[dict[str, Any]]


def run() -> dict[str, Table]:
    """Return the tables `interpreter` and `growth`: microseconds a step of running, and of checking."""
    with TemporaryDirectory() as name:
        return {"interpreter": _plans(Path(name)), "growth": _growth(Path(name))}


def _plans(folder: Path) -> Table:
    plans: dict[str, Steps] = {
        "bind": [_note("$x"), *({"type": "bind", "target": "$x", "out": f"$y{i}"} for i in range(STEPS))],
        CREATE: [_note(f"$x{i}") for i in range(STEPS)],
        "size": [_list("$c"), *({"type": "size", "target": "$c", "out": f"$n{i}"} for i in range(STEPS))],
        "create-note with a template": [_note("$x"), *(_template(i) for i in range(STEPS))],
        LOOP: [_list("$c", STEPS), _loop()],
        "map of create-note, an item": [_list("$c", STEPS), _map()],
    }
    with ExitStack() as open_:
        ran: dict[str, Call] = {FLOOR: open_.enter_context(closing(_Floor(folder))).run}
        checked: dict[str, Call] = {}
        for number, (plan, steps) in enumerate(plans.items()):
            space = open_.enter_context(open_space(folder / f"{number}.db"))
            ran[plan], checked[plan] = _running(space, steps), _checking(space, steps)
        for off in OFF:
            plan, _, how = off.partition(", ")
            in_memory = how == "in memory"
            space = open_.enter_context(open_space(MEMORY if in_memory else folder / f"{off}.db"))
            ran[off] = _running(space, plans[plan], Run if in_memory else _unwritten)
        times = {column: interleaved(calls, TURNS) for column, calls in (("run", ran), ("check", checked))}
    return {row: _cells(row, times, STEPS) for row in (FLOOR, *plans, *OFF)}


def _growth(folder: Path) -> Table:
    """Plans of a hundred steps and of a thousand; a step of the longer ones costs so many times as much."""
    kinds: dict[str, Callable[[int], Steps]] = {
        "a chain of create-note": _chain,
        "calls of a tool, side by side": lambda count: [{"type": "bench/look", "out": f"$x{i}"} for i in range(count)],
    }
    table: Table = {}
    with ExitStack() as open_:
        for kind, made in kinds.items():
            space = open_.enter_context(open_space(folder / f"{kind}.db"))
            space.tools.add(_looks())
            for does, calling in (("check", _checking), ("run", _running)):
                times = interleaved({str(count): calling(space, made(count)) for count in (FEW, STEPS)}, TURNS)
                few, many = (spread([one * 1000 / count for one in times[str(count)]]) for count in (FEW, STEPS))
                columns = {f"{FEW} steps": few, f"{STEPS:,} steps": many, "growth": ratio(many, few)}
                table[f"{kind}: {does}"] = columns
    return table


def _cells(row: str, times: dict[str, dict[str, list[float]]], steps: int) -> dict[str, Cell]:
    return {
        column: spread([taken * 1000 / steps for taken in found[row]])
        for column, found in times.items()
        if row in found
    }


def _note(out: str) -> dict[str, Any]:
    return {"type": "create-note", "value": {"n": 1}, "out": out}


def _chain(count: int) -> Steps:
    after = ({"type": "create-note", "value": {"n": f"$x{i}.n"}, "out": f"$x{i + 1}"} for i in range(1, count))
    return [_note("$x1"), *after]


def _looks() -> LocalTools:
    server = LocalTools("bench")

    @server.tool(read_only=True)
    async def look() -> bool:
        """Look, and see at once."""
        return True

    return server


def _template(index: int) -> dict[str, Any]:
    return {"type": "create-note", "value": "the number is ${x.n}", "out": f"$t{index}"}


def _list(out: str, count: int = 5) -> dict[str, Any]:
    return {"type": "create-collection", "value": list(range(count)), "out": out}


def _loop() -> dict[str, Any]:
    body = [{"type": "create-note", "value": "item ${i}", "out": "$y"}]
    return {"type": "for-each", "target": "$c", "as": "$i", "do": body, "out": "$ys"}


def _map() -> dict[str, Any]:
    return {"type": "map", "target": "$c", "operation": {"type": "create-note", "value": "item ${item}"}, "out": "$ys"}


def _running(space: Space, steps: Steps, begin: Callable[..., Run] = Run) -> Call:
    """What runs a plan that is checked already."""
    prepared = prepare(space, {"steps": steps, "budget": {"steps": 100_000, "tool_calls": 100_000}})
    if isinstance(prepared, Refused):
        raise TypeError(prepared.problems)

    def call(_: int) -> None:
        done = asyncio.run(begin(space, prepared.plan, lambda _event: None).run(prepared.bound))
        if done.status != "success":
            raise RuntimeError(done.reason)

    return call


def _unwritten(*arguments: Any) -> Run:
    """Begin a run whose steps leave no row; what they make is stored all the same."""
    run_ = Run(*arguments)
    run_.journal = _Unwritten(run_.space.store, run_.plan.budget.steps, run_.on_step_journalled)
    run_.frame = Frame(run_.scope, run_.journal)
    return run_


class _Unwritten(JournalWriter):
    def end(self, commit: FinishedStep) -> None:
        if commit.changes:
            self._store.commit(commit.changes)
        self._ended(replace(commit.row, sequence=commit.started.sequence), commit.nesting)


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
