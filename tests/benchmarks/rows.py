"""Steps over 100,000 rows: processor time of the whole step with its journal, what is written, and what is held.

Seconds are of the process, so that other processes of the machine count for little.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from figures import Cell, Table, spread
from processes import interpreter, surroundings

from infospace import Space, open_space
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from planner.execute.run import Run
from planner.execute.start import Refused, prepare

ROWS, TURNS = 100_000, 3
ITEMS = 5_000
"""Rounds of the loop."""
FILE_MB = 64
"""MB of the table that a process reads."""
LOOP, HELD = f"for-each of create-note over {ITEMS:,} rows, µs an item", f"a table of {FILE_MB} MB, grouped"
SECONDS, BYTES = "seconds", "bytes an item beside its content"
STEPS: dict[str, dict[str, Any]] = {
    "project": {
        "type": "project",
        "target": "$rows",
        "fields": {
            "total": "round(price * quantity, 2)",
            "month": "substr(day, 1, 7)",
            "label": "upper(name) || ': ' || region",
        },
        "keep": True,
        "out": "$out",
    },
    "group": {
        "type": "group",
        "target": "$rows",
        "by": "region",
        "aggregates": {"n": "count", "total": "sum(price * quantity)", "best": "max(price)"},
        "out": "$out",
    },
    "filter-structured": {
        "type": "filter-structured",
        "target": "$rows",
        "where": "price >= 50 AND quantity > 3",
        "out": "$out",
    },
    "sort": {"type": "sort", "target": "$rows", "by": "price", "out": "$out"},
    "distinct": {"type": "distinct", "target": "$rows", "by": "name", "out": "$out"},
    "split": {"type": "split", "target": "$text", "delimiter": "line", "out": "$out"},
}
"""`project` has three expressions and keeps the fields; what each step does is in its row of the table."""


def made_rows(count: int) -> list[JSON]:
    """Make rows such as a shop's list of sales has them."""
    return [
        {
            "id": at,
            "name": f"name {at % 997}",
            "price": at * 7919 % 10_007 / 100,
            "quantity": at % 13,
            "day": f"2026-{at % 12 + 1:02}-{at % 28 + 1:02}",
            "region": f"region {at % 50}",
        }
        for at in range(count)
    ]


def run() -> dict[str, Table]:
    """Return the tables `rows` (seconds and bytes) and `rows of a loop and of a file`."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        table = {verb: _step(folder, verb) for verb in STEPS}
        return {"rows": table, "loop and file": {LOOP: _loop(folder), HELD: _file(folder)}}


def _step(folder: Path, verb: str) -> dict[str, Cell]:
    rows = made_rows(ROWS)
    text = "\n".join(f"line {at} of the text" for at in range(ROWS))
    inputs: dict[str, JSON] = {"text": text} if verb == "split" else {"rows": rows}
    declared = {"text": {"type": "string"}} if verb == "split" else {"rows": {"kind": "Collection"}}
    plan = {"inputs": declared, "steps": [STEPS[verb]]}
    taken, left = [], []
    for turn in range(TURNS):
        path = folder / f"{verb} {turn}.db"
        with open_space(path) as space:
            seconds, contents = _ran(space, plan, inputs)
            taken.append(seconds)
        items = len(contents) + (0 if verb == "split" else ROWS)
        characters = sum(len(dump(row).encode()) for row in ([text] if verb == "split" else rows))
        made = sum(len(dump(row).encode()) for row in contents) if verb in ("project", "split", "group") else 0
        left.append((path.stat().st_size - characters - made) / items)
    return {SECONDS: spread(taken), BYTES: statistics.median(left)}


def _ran(space: Space, plan: JSON, inputs: dict[str, JSON]) -> tuple[float, list[JSON]]:
    """Return how many seconds the step took, journal and all, and the contents that it gave."""
    prepared = prepare(space, plan, inputs)
    if isinstance(prepared, Refused):
        raise TypeError(prepared.problems)
    marks: dict[str, float] = {}

    def mark(event: object) -> None:
        marks.setdefault(type(event).__name__, time.process_time())

    done = asyncio.run(Run(space, prepared.plan, mark).run(prepared.bound))
    if done.status != "success" or done.result is None:
        raise RuntimeError(done.reason)
    data: Any = done.result.data
    return marks["StepFinished"] - marks["StepStarted"], data


def _loop(folder: Path) -> dict[str, Cell]:
    body = {"type": "create-note", "value": "item ${i.name}", "out": "$note"}
    plan = {
        "inputs": {"rows": {"kind": "Collection"}},
        "steps": [{"type": "for-each", "target": "$rows", "as": "$i", "do": [body], "out": "$out"}],
    }
    taken = []
    with open_space(folder / "loop.db") as space:
        for _ in range(TURNS):
            prepared = prepare(space, plan, {"rows": made_rows(ITEMS)})
            if isinstance(prepared, Refused):
                raise TypeError(prepared.problems)
            started = time.process_time()
            asyncio.run(Run(space, prepared.plan, lambda _event: None).run(prepared.bound))
            taken.append((time.process_time() - started) / ITEMS * 1e6)
    return {"processor": spread(taken)}


def _file(folder: Path) -> dict[str, Cell]:
    """How many MB a process holds at most that reads a table, and groups it."""
    path, plan = folder / "sales.csv", folder / "group.json"
    with path.open("w", encoding="utf-8") as file:
        file.write("id,customer,product,price,quantity,day,region,comment\n")
        at = 0
        while file.tell() < FILE_MB * 2**20:
            for number in range(at, at + 1_000):
                file.write(
                    f"{number},customer {number % 9973},product number {number % 4999},{number % 100_003 / 100},"
                    f"{number % 97},2026-{number % 12 + 1:02}-{number % 28 + 1:02},region {number % 50},"
                    f"a comment that says a few words {number * 7919 % 999_983}\n"
                )
            at += 1_000
    step = {**STEPS["group"], "aggregates": {"n": "count", "total": "sum(price)"}}
    items = {"properties": {"price": {"type": "number"}}}
    budget = {"characters": 400_000_000}
    document = {"inputs": {"rows": {"kind": "Collection", "items": items}}, "steps": [step], "budget": budget}
    plan.write_text(json.dumps(document), encoding="utf-8")
    script = "import resource, sys; from tui.command import main; code = main(sys.argv[1:]); "
    script += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    arguments = ["run", str(plan), "--input", f"rows=@{path}", "--json"]
    environment = surroundings(INFOSPACE_SPACE=str(folder / "file.db"))
    done = subprocess.run(
        [str(interpreter()), "-c", script, *arguments], env=environment, check=True, capture_output=True, text=True
    )
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is in bytes there, else in kilobytes
    return {"MB at most": int(done.stderr.split()[-1]) / unit, "rows": float(sum(1 for _ in path.open()) - 1)}


if __name__ == "__main__":
    from figures import lines

    for title, table in run().items():
        print(title, *lines(table), sep="\n")
