"""Whole processes of the command, from start to exit, in seconds. They take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from figures import Table, interleaved, spread
from made import space_file

TURNS = 9
NOTES = 10_000
PLAN = [
    {"type": "create-collection", "value": [3, 1, 2], "out": "$numbers"},
    {"type": "size", "target": "$numbers", "out": "$n"},
    {"type": "create-note", "value": "${n} numbers", "out": "$text"},
]
NEW, REPEATED = f"infospace search, new query, {NOTES:,} notes", f"infospace search, repeated query, {NOTES:,} notes"
LIGHT = ("infospace --help", "infospace primitives", "infospace runs", "infospace notes")


def run(folder: Path) -> dict[str, Table]:
    """Return the table `processes`, in seconds."""
    plan = folder / "plan.json"
    plan.write_text(json.dumps(PLAN))
    environment = surroundings(INFOSPACE_SPACE=str(space_file(folder, NOTES)))
    commands = {
        "python -c pass": None,
        **{name: name.split()[1:] for name in LIGHT},
        NEW: ["search", "question {turn} about something"],
        REPEATED: ["search", "the same question"],
        "infospace run, three steps": ["run", str(plan), "--json"],
    }
    calls = {name: _process(arguments, environment) for name, arguments in commands.items()}
    times = interleaved(calls, TURNS)
    return {
        "processes": {
            name: {"median": spread(taken).p50 / 1000, "least": min(taken) / 1000, "most": max(taken) / 1000}
            for name, taken in times.items()
        }
    }


def _process(arguments: list[str] | None, environment: dict[str, str]) -> Callable[[int], object]:
    python = interpreter()

    def call(turn: int) -> object:
        command = [str(python), "-c", "pass"]
        if arguments is not None:
            command = [str(python.with_name("infospace")), *(word.format(turn=turn) for word in arguments)]
        return subprocess.run(command, env=environment, check=True, capture_output=True)

    return call


def surroundings(**more: str) -> dict[str, str]:
    """Return the environment of a measured process: modules are compiled once, and not each time anew."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | more


def interpreter() -> Path:
    """Return the Python of the environment that infospace runs in: the peers' packages would slow its start."""
    own = Path(__file__).parents[2] / ".venv" / "bin" / "python"
    return own if own.exists() else Path(sys.executable)
