"""From opening a space to the first answer in milliseconds, and the memory of a process that searches, in MB.

"Dropped": before the process began the system was told to drop the space, what lies beside it and the weights
from its cache (`posix_fadvise`; they stay in file systems in memory, and where there is no such call); Python and
the libraries are in it always. "Cached": all of it was just read. What a fresh process measures is told at
`first_answer.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Cell, Table, spread
from made import space_file
from processes import interpreter, surroundings

from infospace.search.models.find import get_model

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 5
KNOWN = "a question asked before"
ASKED = 30
"""Queries of the process whose memory is measured."""

CHILD = Path(__file__).with_name("first_answer.py")
MODES = {"exact": "exact search, with the model", "hnsw": "HNSW, with the model"}


def run(folder: Path, sizes: Sequence[int]) -> dict[str, Table]:
    """Return the table `opening`, in milliseconds."""
    table: Table = {}
    for size in sizes:
        for row, cell in _measure(space_file(folder, size)).items():
            table.setdefault(row, {})[f"{size:,} notes"] = cell
    return {"opening": table}


def run_memory(folder: Path, sizes: Sequence[int]) -> dict[str, Table]:
    """Return the table `memory`, in MB: the peak of a process that has answered new queries.

    The HNSW index is read back where the space has one already, and built otherwise.
    """
    table: Table = {}
    for mode, row in MODES.items():
        for size in sizes:
            found = _fresh(space_file(folder, size), f"is this new, {mode}?", ASKED, mode)
            table.setdefault(row, {})[f"{size:,} notes"] = found["peak"]
    return {"memory": table}


def _measure(path: Path) -> dict[str, Cell]:
    first = _fresh(path, KNOWN)["first"]
    weights = get_model().folder
    times: dict[str, list[float]] = {}
    for turn in range(TURNS):
        for query, kind in ((KNOWN, "query known"), (f"is this {{}}, turn {turn}?", "new query, model loaded")):
            drop([*_files(path), *weights.iterdir()])
            dropped = _fresh(path, query.format("dropped"))
            cached = _fresh(path, query.format("cached"))
            rows = {
                "fresh process, files dropped": dropped["first"],
                "fresh process, files cached": cached["first"],
                "the same process, opened again": cached["opened again"],
                "the same process, next answer": cached["next"],
            }
            for row, taken in rows.items():
                times.setdefault(f"{row}; {kind}", []).append(taken)
    spreads: dict[str, Cell] = {row: spread(times[row]) for row in sorted(times)}
    return {"fresh process, the first search that the space ever had": first} | spreads


def _fresh(path: Path, query: str, more: int = 0, index: str = "auto") -> dict[str, float]:
    command = [str(interpreter()), str(CHILD), str(path), query, str(more)]
    environment = surroundings(INFOSPACE_INDEX=index)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _files(path: Path) -> Iterator[Path]:
    """The space, and what lies beside it."""
    yield path
    for beside in path.parent.glob(f"{path.name}?*"):
        yield from beside.iterdir() if beside.is_dir() else [beside]


def drop(files: Sequence[Path]) -> None:
    """Tell the system to drop what it has of files in its cache, where it can be told."""
    advise: Callable[[int, int, int, int], None] | None = getattr(os, "posix_fadvise", None)
    for file in files:
        with file.open("rb") as opened:
            if advise is not None:
                os.fsync(opened.fileno())
                advise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
