"""What the verbs over rows cost: milliseconds of one step over 100,000 rows, from its start to its journal row."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from figures import Table, spread

from infospace import open_space
from planner.execute.start import run_sync

ROWS = 100_000
TURNS = 3
NAME = "rows over verbs"

STEPS: dict[str, dict[str, Any]] = {
    "filter-structured": {"where": "price > 50 AND status = 'open'"},
    "group": {"by": "status", "aggregates": {"n": "count", "total": "sum(price)", "mean": "avg(stock)"}},
    "project": {
        "fields": {"total": "round(price * stock, 2)", "month": "substr(due, 1, 7)", "loud": "upper(status)"},
        "keep": True,
    },
    "sort": {"by": ["price desc", "title"]},
    "distinct": {"by": "title"},
    "split": {"field": "rows"},
}
"""Each verb with its arguments, but for `target`."""


def made_rows(count: int) -> list[dict[str, Any]]:
    """Make rows such as a table of goods has them."""
    states = ("open", "late", "closed")
    return [
        {
            "title": f"Report {number % 5_000}",
            "status": states[number % 3],
            "price": 0.5 + number % 97,
            "stock": number % 23,
            "due": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
        }
        for number in range(count)
    ]


def run(rows: int = ROWS, turns: int = TURNS) -> dict[str, Table]:
    """Return the table: milliseconds a step."""
    times: dict[str, list[float]] = {type_: [] for type_ in STEPS}
    head = {"inputs": {"table": {"type": "object"}}, "budget": {"seconds": 600}}
    split = {"type": "split", "target": "$table", "field": "rows", "out": "$rows"}
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as folder, open_space(Path(folder) / "space.db") as space:
            steps = [split, *({"type": type_, "target": "$rows", **with_} for type_, with_ in STEPS.items())][:-1]
            steps = [{**step, "out": f"$x{place}"} if place else step for place, step in enumerate(steps)]
            result = run_sync(space, {**head, "steps": steps}, {"table": {"rows": made_rows(rows)}})
            assert result.status == "success", result.reason
            for step in result.steps:
                times[step.type].append(float(step.duration_ms or 0))
    return {NAME: {type_: {"a step": spread(found)} for type_, found in times.items()}}
