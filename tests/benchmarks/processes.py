"""Whole processes of the command, from start to exit, in seconds: medians, with the smallest and largest."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from made import made_space

TURNS = 9
NOTES = 10_000
PLAN = [
    {"type": "create-collection", "value": [3, 1, 2], "out": "$numbers"},
    {"type": "size", "target": "$numbers", "out": "$n"},
    {"type": "create-note", "value": "${n} numbers", "out": "$text"},
]


def run() -> dict[str, dict[str, float]]:
    """Return seconds by command."""
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space.db"
        made_space(space, NOTES).close()
        plan = Path(folder) / "plan.json"
        plan.write_text(json.dumps(PLAN))
        environment = {**os.environ, "INFOSPACE_SPACE": str(space)}
        calls = {
            "python -c pass": None,
            "infospace --help": ["--help"],
            "infospace primitives": ["primitives"],
            "infospace runs": ["runs"],
            f"infospace search, new query, {NOTES:,} notes": ["search", "question {turn} about something"],
            f"infospace search, repeated query, {NOTES:,} notes": ["search", "the same question"],
            "infospace run, three steps": ["run", str(plan), "--json"],
        }
        return {name: _measure(arguments, environment) for name, arguments in calls.items()}


def _measure(arguments: list[str] | None, environment: dict[str, str]) -> dict[str, float]:
    times = []
    for turn in range(TURNS + 1):
        command = [sys.executable, "-c", "pass"]
        if arguments is not None:
            command = [str(Path(sys.executable).parent / "infospace"), *(word.format(turn=turn) for word in arguments)]
        start = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    times = times[1:]
    return {"median": statistics.median(times), "least": min(times), "most": max(times)}
