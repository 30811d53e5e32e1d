"""Running the corpus: each plan in a space with the server and the vault, each program as plain Python."""

from __future__ import annotations

import asyncio
import builtins
import csv
import datetime as dt
import io
import json
import shutil
import sys
import time
import types
from pathlib import Path
from typing import Any

from notes import FUNCTIONS
from reading import HERE, Goal
from tools import TOOLS

from infospace import Space, open_space
from infospace.core.listener import NullListener
from infospace.files.formats.tables import read_table
from infospace.files.import_files import import_paths
from infospace.tools.mcp.catalogue.sync import sync

NOW = dt.datetime(2026, 6, 15, 10, tzinfo=dt.UTC)


class StoppedClock:
    """The clock of the product, which stands at `NOW`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def time(self) -> float:
        """Return the moment in seconds since 1970."""
        return NOW.timestamp()


class Date(dt.date):
    """A date whose today is the corpus's."""

    @classmethod
    def today(cls) -> Date:
        """Return the day on which the corpus is run."""
        return cls(NOW.year, NOW.month, NOW.day)


DATETIME = types.ModuleType("datetime")
DATETIME.__dict__.update(vars(dt), date=Date)


def _imported(name: str, *more: Any, **named: Any) -> Any:
    return DATETIME if name == "datetime" else builtins.__import__(name, *more, **named)


def run_program(goal: Goal) -> Any:
    """Run the program of a goal in the current folder; return its answer, of one that writes a file the text."""
    names: dict[str, Any] = {name: function for name, (function, _) in TOOLS.items()}
    names |= {**FUNCTIONS, "__builtins__": {**vars(builtins), "__import__": _imported}}
    exec(compile(goal.function, goal.goal, "exec"), names)  # noqa: S102 - the program that is tried
    answer = names["program"]()
    if "out" in goal.options:
        return Path(goal.options["out"]).read_text(encoding="utf-8")
    return json.loads(json.dumps(answer))


def furnish(folder: Path) -> Space:
    """Open a space in a folder, with the server and the notes of the vault."""
    entry = {"command": sys.executable, "args": ["-I", "-S", str(HERE / "server.py")], "trusted": True}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"api": entry}}), encoding="utf-8")
    for path in (HERE / "files").iterdir():
        shutil.copy(path, folder)
    space = open_space(folder / "space.db")
    assert asyncio.run(sync(space)).failed == []
    import_paths(space, [HERE / "vault"], NullListener())
    return space


def inputs_of(goal: Goal) -> dict[str, Any]:
    """Return the rows of the files that a goal's plan takes."""
    document = goal.document
    return {
        name: read_table(HERE / "files" / file, document["inputs"][name].get("items"))
        for name, file in goal.options.items()
        if name in document.get("inputs", {})
    }


def written_alike(text: str, name: str) -> Any:
    """Return what a file of a table says: numbers of CSV as numbers, JSON as it is."""
    if name.endswith(".csv"):
        return [[_number(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)


def _number(cell: str) -> str | float:
    try:
        return float(cell)
    except ValueError:
        return cell


def ratio_of(goals: list[Goal]) -> float:
    """Return how many times the characters of the programs the plans have, the mean of all."""
    return sum(goal.plan_size / goal.program_size for goal in goals) / len(goals)


def sends_messages(goal: Goal) -> bool:
    """Whether the plan sends messages."""
    return "send_message" in json.dumps(goal.plan)
