"""All figures, in tables, with JSON and a plot beside them: `make bench`.

`python tests/benchmarks/all.py [--sizes N …] [--data FOLDER] [--out FOLDER] [NAME …]`; the data folder holds
collections, of which `cranfield` is used where it is there. A cell `a / b` is the median and the 95th percentile.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from figures import Spread, lines, plain
from plot import loglog

if TYPE_CHECKING:
    from figures import Table

BENCHMARKS = (
    "opening",
    "discovery",
    "searching",
    "database",
    "memory",
    "processes",
    "importing",
    "interpreter",
    "evaluating",
    "rows",
    "querying",
    "runtimes",
    "embedding",
    "context",
    "serving",
    "mending",
    "planning",
    "screen",
)
SIZES = (1_000, 10_000, 100_000)
UNITS = {
    "opening": "milliseconds from a process's first line to its first answer",
    "discovery": "milliseconds; ten best of made queries among made vectors",
    "recall": "share of the ten best found",
    "filling": "seconds",
    "searching": "milliseconds; a plan of 50 searches",
    "database": "a space in PostgreSQL; seconds, MB",
    "searches of a database": "milliseconds; MB that came from the server for all of a row, the first among them",
    "memory": "MB at most, of a process that opened the space and searched",
    "processes": "seconds, whole processes",
    "importing": "notes or MB a second",
    "embedding": "texts a second",
    "interpreter": "microseconds a step",
    "growth": "microseconds a step",
    "evaluating": "microseconds an item, and a reading of the text",
    "rows": "seconds of the processor, a step over 100,000 rows with its journal; bytes",
    "loop and file": "microseconds; MB of a process that reads a table of 64 MB",
    "querying": "milliseconds; the engine without the conversion of rows, and DuckDB on tables of its own",
    "runtimes": "microseconds a step; milliseconds in all of steps that sleep",
    "context": "characters through a planner's context, each once; answers are right and the same",
    "context of the tasks alone": "characters, without the tools and the language that stand there for every task",
    "context sent each turn": "characters, where the whole context is sent for each turn",
    "context in parts": "characters, over all tasks",
    "context in other words": "the same tasks in three wordings each, planned; characters each once, seconds of calls",
    "context by other ways": "characters, each once, through FastMCP's search and by programs; seconds of calls",
    "serving": "milliseconds from a client's call to its answer; `lost` is a count",
    "mending": "wrong plans in the words of other systems, by what fixes make of them; a guess is to stay refused",
    "planted": "mistakes planted into public plans, by what fixes make of them; a guess is to stay refused",
    "context in turns": "turns of the model, its answer the last; seconds that the calls took",
    "planning": "tokens (characters / 4); a share of the characters of the plan",
    "screen": "seconds from a process's start",
    "lateness": "milliseconds that a timer of 20 ms fires late",
    "targets": "two figures closer than a half are not told apart",
}
_TORCH = (
    "sentence-transformers is measured where it is: the PyTorch that PyPI has for Linux requires CUDA's libraries, "
    "some gigabytes, so that `make bench` does not install it"
)
NOTES = {
    "discovery": _TORCH,
    "embedding": _TORCH,
    "context": "tool by tool: names, descriptions and input schemas of all servers' tools, each call and each result; "
    "calls that can be made at once are one turn. Planned: the same of infospace's own doors, the language, what is "
    "found of tools in a line each, a try where one does not say what it answers, one plan. Both ways the request, "
    "and the answer as it is written to the user. Doors and language are 5,000 characters whatever the task: a task "
    "gains ten times only where its tools answer some 60,000, and the column `ratio if the plan were empty` says what "
    "could be gained at most",
    "context in other words": "no model is asked: the words are those that somebody might look for tools with, and "
    "names in the plan. It shows whether the search finds the tools by them, and what that costs; it does not show "
    "whether a model would write the plan. Where the words do not find a tool, those of the first wording are used "
    "next, and count",
    "context by other ways": "FastMCP's search by BM25 is two tools, search_tools and call_tool, before the same "
    "servers, with the same words; it spares descriptions, and each result passes through the model; a tool that the "
    "words do not find is looked for by its name, and called where that fails, too. Code execution is counted on "
    "paper: a tool that runs code, the same "
    "lines of the tools, the program, what it prints. A model needs no page for Python; what that does not have is a "
    "check before anything happens, questions, approval, a journal, resuming and provenance",
    "mending": "right: the calls and the answer are those of the plan that was meant; passes: the check lets through "
    "the plan as written, which does something else (references of other systems are text, and a warning)",
    "interpreter": "no command runs without a journal: in memory it reaches no disk; without rows is for this table",
    "runtimes": "SqliteSaver and DBOS wait for the disk at each step, as infospace does with FULL and not by default; "
    "none of the others checks a step's arguments or keeps provenance, and Haystack keeps nothing",
}
"""What one has to know to read a table."""
CURVES = {
    "discover-notes, exact": "discover-notes, exact",
    "discover-notes, HNSW": "discover-notes, HNSW",
    "sqlite-vec, exact": "sqlite-vec, exact",
    "chromadb, HNSW": "chromadb, HNSW",
}
"""Rows of `discovery` that are drawn, and their names."""


def main() -> None:
    """Run the benchmarks, print the tables, write them and the plot."""
    args = _arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    cranfield = args.data / "cranfield" if args.data and (args.data / "cranfield").is_dir() else None
    found: dict[str, Table] = {}
    before = os.getloadavg()[0]
    with TemporaryDirectory(prefix="infospace-bench-") as name:
        for benchmark, run in _runs(Path(name), args.sizes, cranfield, args.data).items():
            if benchmark in (args.names or BENCHMARKS):
                started = time.perf_counter()
                tables = run()
                for table, rows in tables.items():
                    _print(table, rows, time.perf_counter() - started)
                found |= tables
    from targets import judged

    found["targets"] = judged(found)
    _print("targets", found["targets"])
    _write(args.out, found, args.sizes, before)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these of {', '.join(BENCHMARKS)}")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="N", help="how many notes")
    parser.add_argument("--data", type=Path, help="a folder of collections")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="where the files go (build/bench)")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    if min(args.sizes) < 100:
        parser.error("there is little to say of fewer than 100 notes")
    return args


def _runs(
    folder: Path, sizes: Sequence[int], cranfield: Path | None, data: Path | None
) -> dict[str, Callable[[], dict[str, Table]]]:
    """What each benchmark calls; nothing is imported before it is its turn."""

    def of(module: str, *arguments: object, function: str = "run") -> Callable[[], dict[str, Table]]:
        return lambda: getattr(importlib.import_module(module), function)(*arguments)

    return {
        # in files of its own: it asks real questions of made vectors, which an index is then tried with, and unfit for
        "opening": of("opening", folder / "opening", sizes),
        "discovery": of("discovery", folder, sizes),
        "searching": of("searching", folder, sizes),
        "database": of("database", folder, sizes),
        "memory": of("opening", folder, sizes, function="run_memory"),
        "processes": of("processes", folder),
        "importing": of("importing"),
        "interpreter": of("interpreter"),
        "evaluating": of("evaluating"),
        "rows": of("rows"),
        "querying": of("querying"),
        "runtimes": of("runtimes"),
        "embedding": of("embedding", cranfield),
        "context": of("context.measure", folder / "context"),
        "serving": of("serving_speed", folder / "serving"),
        "mending": of("mending", data),
        "planning": of("planning"),
        "screen": of("screen", folder / "screen", sizes),
    }


def _print(name: str, table: Table, seconds: float | None = None) -> None:
    took = "" if seconds is None else f"; measured in {seconds:.0f} s"
    print(f"\n{name} ({UNITS[name]}{took})")
    print("\n".join(lines(table)))
    if name in NOTES:
        print(f"({NOTES[name]})")
    sys.stdout.flush()


def _write(folder: Path, found: dict[str, Table], sizes: Sequence[int], load: float) -> None:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    machine += f"; processes that wanted to run before, and at the end: {load:.1f}, {os.getloadavg()[0]:.1f}"
    notes = {name: NOTES[name] for name in found if name in NOTES}
    whole = {"machine": machine, "notes": notes, **plain(found)}
    paths = [folder / "bench.json"]
    paths[0].write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    curves = {name: _points(found.get("discovery", {}).get(row, {}), sizes) for row, name in CURVES.items()}
    if len(sizes) > 1 and any(curves.values()):
        paths.append(folder / "growth.svg")
        title = "The ten best of a query whose vector is known, median"
        paths[1].write_text(loglog(title, "notes", "ms", curves), encoding="utf-8")
    print(f"\n{machine}; written: {', '.join(str(path.resolve()) for path in paths)}")


def _points(row: Mapping[str, object], sizes: Sequence[int]) -> list[tuple[float, float]]:
    cells = {size: row.get(f"{size:,} notes") for size in sizes}
    return [(size, cell.p50) for size, cell in cells.items() if isinstance(cell, Spread)]


if __name__ == "__main__":
    main()
