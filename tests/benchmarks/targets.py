"""What is aimed at, and whether a run of the benchmarks met it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import discovery
import embedding
import interpreter
import opening
import planning
import processes
import querying
import rows
import runtimes
import screen
import serving_speed
from context import measure as context
from figures import NOT_INSTALLED, NOT_MEASURED, Cell, Spread, Table, figure, ratio, written
from graphs import INFOSPACE
from others import DBOS_SQLITE, LANGGRAPH

Found: TypeAlias = Mapping[str, Table]
Read: TypeAlias = Callable[[Found], float | str]


class Target(NamedTuple):
    """A figure, and what it should be at least (`least`) or at most; `read` gives a word where there is none."""

    name: str
    bound: float
    least: bool
    read: Read
    unit: str = ""


def _cell(found: Found, table: str, row: str, column: str) -> Cell:
    cells = found.get(table, {}).get(row, {})
    return cells.get(column, NOT_INSTALLED if NOT_INSTALLED in cells.values() else NOT_MEASURED)


def _at(table: str, row: str, column: str) -> Read:
    def read(found: Found) -> float | str:
        cell = _cell(found, table, row, column)
        return cell.p50 if isinstance(cell, Spread) else cell

    return read


def _quotient(table: str, above: tuple[str, str], below: tuple[str, str]) -> Read:
    def read(found: Found) -> float | str:
        cells = [_cell(found, table, *above), _cell(found, table, *below)]
        words = [cell for cell in cells if isinstance(cell, str)]
        return words[0] if words else ratio(*cells)

    return read


def _most(table: str, column: str, rows: Callable[[str], bool]) -> Read:
    """Read the highest of the rows."""

    def read(found: Found) -> float | str:
        cells = [cells[column] for row, cells in found.get(table, {}).items() if rows(row)]
        return max(map(figure, cells), default=NOT_MEASURED)

    return read


def _least(table: str, column: str, rows: Callable[[str], bool]) -> Read:
    """Read the lowest of the rows, of those that have a number."""

    def read(found: Found) -> float | str:
        cells = [cells[column] for row, cells in found.get(table, {}).items() if rows(row) and column in cells]
        return min(map(figure, cells), default=NOT_MEASURED)

    return read


_SUMS = (context.APART, context.TOGETHER)
TEN, HUNDRED = "10,000 notes", "100,000 notes"

AIMS = {"project": 0.8, "group": 0.3, "filter-structured": 0.3, "split": 0.8, "sort": 0.8, "distinct": 0.8}
"""Seconds that a step may take over many rows: `project` computes three expressions and keeps the fields."""

TARGETS = (
    Target(
        "embedding, mixed lengths: infospace : fastembed's default call",
        2.0,
        True,
        _at("embedding", "infospace : fastembed", embedding.MIXED),
    ),
    Target(
        "embedding, abstracts: infospace : fastembed's default call",
        1.5,
        True,
        _at("embedding", "infospace : fastembed", embedding.ABSTRACTS),
    ),
    Target(
        "embedding, mixed lengths: largest difference from fastembed's vectors",
        1e-5,
        False,
        _at("embedding", "vectors differ from fastembed's by", embedding.MIXED),
    ),
    Target(
        "embedding, abstracts: infospace : sentence-transformers' default call",
        1.2,
        True,
        _at("embedding", "infospace : sentence-transformers", embedding.ABSTRACTS),
    ),
    Target(
        "sentence-transformers' embedding alone : discover-notes with a new query, 10,000 notes",
        2.0,
        True,
        _quotient("discovery", (discovery.ENCODED, TEN), (discovery.NEW, TEN)),
    ),
    Target("discover-notes without embedding, 10,000 notes", 2.0, False, _at("discovery", discovery.EXACT, TEN), "ms"),
    Target(
        "discover-notes without embedding, 100,000 notes, exact",
        15.0,
        False,
        _at("discovery", discovery.EXACT, HUNDRED),
        "ms",
    ),
    Target(
        "discover-notes without embedding, 100,000 notes, HNSW",
        2.0,
        False,
        _at("discovery", discovery.HNSW, HUNDRED),
        "ms",
    ),
    Target(
        "ten best with their texts, exact, 100,000 notes: sqlite-vec : discover-notes",
        3.0,
        True,
        _quotient("discovery", ("sqlite-vec, exact", HUNDRED), (discovery.EXACT, HUNDRED)),
    ),
    Target(processes.NEW, 0.9, False, _at("processes", processes.NEW, "median"), "s"),
    Target(processes.REPEATED, 0.35, False, _at("processes", processes.REPEATED, "median"), "s"),
    Target(
        f"the slowest of {', '.join(processes.LIGHT)}",
        0.25,
        False,
        _most("processes", "median", processes.LIGHT.__contains__),
        "s",
    ),
    Target(
        "a step with its journal, in the dearest of the plans",
        200.0,
        False,
        _most("interpreter", "run", lambda row: row not in (interpreter.FLOOR, *interpreter.OFF)),
        "µs",
    ),
    *(
        Target(f"`{verb}` over {rows.ROWS:,} rows", bound, False, _at("rows", verb, rows.SECONDS), "s")
        for verb, bound in AIMS.items()
    ),
    Target(
        "what the journal keeps of an item beside its content, at most of these",
        100.0,
        False,
        _most("rows", rows.BYTES, AIMS.__contains__),
        "bytes",
    ),
    *(
        Target(f"`query`, {name}: {querying.RATIO}", 3.0, False, _at("querying", name, querying.RATIO))
        for name in (querying.GROUPED, querying.TOP)
    ),
    Target(
        f"{LANGGRAPH} : infospace, a step of a chain of {runtimes.SHORT}",
        5.0,
        True,
        _at("runtimes", LANGGRAPH, runtimes.RATIO),
    ),
    Target(
        f"{DBOS_SQLITE} : infospace, a step of a chain of {runtimes.SHORT}",
        10.0,
        True,
        _at("runtimes", DBOS_SQLITE, runtimes.RATIO),
    ),
    Target(f"{runtimes.FAN}, in all", 150.0, False, _at("runtimes", INFOSPACE, runtimes.FAN), "ms"),
    Target(
        "memory, 100,000 notes open and searched, exact",
        600.0,
        False,
        _at("memory", opening.MODES["exact"], HUNDRED),
        "MB",
    ),
    Target(
        "memory, 100,000 notes open and searched, HNSW",
        600.0,
        False,
        _at("memory", opening.MODES["hnsw"], HUNDRED),
        "MB",
    ),
    Target(planning.PROMPT, 6_000, False, _at("planning", planning.PROMPT, planning.TOKENS), "tokens"),
    Target(planning.FIRST, 0.5, False, _at("planning", planning.FIRST, planning.SHARE)),
    *(
        Target(
            f"{serving_speed.CHECK}, at the client, {over}",
            10.0,
            False,
            _at("serving", f"{serving_speed.CHECK}, {over}", "p50"),
            "ms",
        )
        for over in (serving_speed.STDIO, serving_speed.HTTP)
    ),
    *(
        Target(
            f"{serving_speed.RUN}, at the client, {over}",
            15.0,
            False,
            _at("serving", f"{serving_speed.RUN}, {over}", "p50"),
            "ms",
        )
        for over in (serving_speed.STDIO, serving_speed.HTTP)
    ),
    Target(f"{serving_speed.MANY}: answers lost", 0.0, False, _at("serving", serving_speed.MANY, serving_speed.LOST)),
    Target("context: tool by tool : planned, all apart", 4.0, True, _at("context", context.APART, context.RATIO)),
    Target("context: the same in one conversation", 10.0, True, _at("context", context.TOGETHER, context.RATIO)),
    Target(
        "context: the same, the small task that gains least",
        2.0,
        True,
        _least("context", context.RATIO, context.SMALL_TASKS.__contains__),
    ),
    Target(
        "context: the same, the task with data that gains least",
        10.0,
        True,
        _least("context", context.RATIO, lambda row: row not in (*context.SMALL_TASKS, *_SUMS)),
    ),
    Target(f"screen: {screen.START}", 1.5, False, _at("screen", screen.START, "median"), "s"),
    Target("screen: lateness of a timer of 20 ms, p99", 100.0, False, _at("lateness", screen.IN_ALL, "p99"), "ms"),
)


def judged(found: Found) -> Table:
    """Return a row for each target: what it is, what was found, and whether that meets it."""
    return {target.name: _judged(target, target.read(found)) for target in TARGETS}


def _judged(target: Target, value: float | str) -> dict[str, Cell]:
    unit = f" {target.unit}" if target.unit else ""
    bound = f"{'≥' if target.least else '≤'} {target.bound:g}{unit}"
    if isinstance(value, str):
        return {"target": bound, "found": value, "": ""}
    met = value >= target.bound if target.least else value <= target.bound
    return {"target": bound, "found": f"{written(value)}{unit}", "": "met" if met else "MISSED"}
