"""The interpreter's cost of one step with the journal on, in microseconds, medians over runs."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from infospace import open_space
from planner.start import check_plan, prepare, run_sync

TURNS = 7
STEPS = 1_000


def run() -> dict[str, dict[str, float]]:
    """Return microseconds a step for several plans, and for SQLite's own floor."""
    plans: dict[str, list[dict[str, Any]]] = {
        "bind": [_note("$x"), *({"type": "bind", "target": "$x", "out": f"$y{i}"} for i in range(STEPS))],
        "create-note": [_note(f"$x{i}") for i in range(STEPS)],
        "size": [_list("$c"), *({"type": "size", "target": "$c", "out": f"$n{i}"} for i in range(STEPS))],
        "create-note with a template": [_note("$x"), *(_template(i) for i in range(STEPS))],
        "for-each of create-note": [_list("$c", STEPS), _loop()],
        "map of create-note": [_list("$c", STEPS), _map()],
    }
    found = {"one SQLite transaction a step": {"run": _floor(), "check": 0.0}}
    for name, steps in plans.items():
        found[name] = {"run": _run(steps), "check": _check(steps)}
    return found


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


def _run(steps: list[dict[str, Any]]) -> float:
    with tempfile.TemporaryDirectory() as folder, open_space(Path(folder) / "space.db") as space:

        def once() -> None:
            status = run_sync(space, {"steps": steps, "budget": {"steps": 100_000}}).status
            if status != "success":
                raise RuntimeError(status)

        prepared = _median(lambda: prepare(space, {"steps": steps}))
        return (_median(once) - prepared) / STEPS


def _check(steps: list[dict[str, Any]]) -> float:
    with tempfile.TemporaryDirectory() as folder, open_space(Path(folder) / "space.db") as space:
        return _median(lambda: check_plan(space, steps)) / STEPS


def _floor() -> float:
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "floor.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE steps(n INTEGER PRIMARY KEY, text TEXT)")

        def once() -> None:
            for _ in range(STEPS):
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT INTO steps(text) VALUES ('x')")
                connection.execute("COMMIT")

        try:
            return _median(once) / STEPS
        finally:
            connection.close()


def _median(call: Callable[[], Any]) -> float:
    call()
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)
