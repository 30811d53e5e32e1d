"""Figures: taking turns, medians and percentiles, and tables of them as text.

A table is `{row: {column: cell}}`; a cell is a number, a `Spread`, or a word for why there is no number.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

Call: TypeAlias = Callable[[int], object]

NOT_INSTALLED = "not installed"
NOT_MEASURED = "not measured"


class Spread(NamedTuple):
    """Half of the times are at or below `p50`, 95 of 100 at or below `p95`."""

    p50: float
    p95: float


Cell: TypeAlias = float | str | Spread
Table: TypeAlias = dict[str, dict[str, Cell]]


def percentile(times: Sequence[float], share: float) -> float:
    """Return the smallest of the times that `share` (0 to 1) of them do not exceed: the nearest rank."""
    ordered = sorted(times)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def spread(times: Sequence[float]) -> Spread:
    """Return the median and the 95th percentile."""
    return Spread(statistics.median(times), percentile(times, 0.95))


def once(call: Callable[[], object]) -> float:
    """Call, and return how many milliseconds it took."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def interleaved(calls: Mapping[str, Call], turns: int, *, warm: int = 1, pause: float = 0.0) -> dict[str, list[float]]:
    """Time the calls in milliseconds, each once a turn and one after another, so that all meet the same weather.

    Each is given the number of the turn; the first `warm` turns have negative numbers and do not count. Every
    turn begins with another call. Before each call there is a pause of so many seconds.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for turn in range(-warm, turns):
        at = turn % len(names)
        for name in names[at:] + names[:at]:
            time.sleep(pause)
            call = calls[name]
            start = time.perf_counter()
            call(turn)
            taken = (time.perf_counter() - start) * 1000
            if turn >= 0:
                times[name].append(taken)
    return times


def ratio(above: Cell, below: Cell) -> float:
    """Return the quotient of two figures, of spreads by their medians."""
    return figure(above) / figure(below)


def figure(cell: Cell) -> float:
    """Return a cell's number, of a spread the median; ValueError where it is a word."""
    return cell.p50 if isinstance(cell, Spread) else float(cell)


def written(cell: Cell) -> str:
    """Return a cell as it stands in a table."""
    if isinstance(cell, Spread):
        return f"{_short(cell.p50)} / {_short(cell.p95)}"
    return cell if isinstance(cell, str) else _short(cell)


def _short(number: float) -> str:
    if number == 0 or abs(number) >= 1_000:
        return f"{number:,.0f}"
    if abs(number) < 0.001:
        return f"{number:.1e}"
    return f"{number:.{max(2 - math.floor(math.log10(abs(number))), 0)}f}"


def lines(table: Table) -> list[str]:
    """Return the lines of a table, columns aligned; a cell that a row does not have is empty."""
    columns = list(dict.fromkeys(column for cells in table.values() for column in cells))
    texts = {row: [written(cells.get(column, "")) for column in columns] for row, cells in table.items()}
    widths = [max(len(column), *(len(cells[at]) for cells in texts.values())) for at, column in enumerate(columns)]
    first = max(map(len, table))
    rows = {"": columns, **texts}
    return [
        "  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))]).rstrip()
        for name, cells in rows.items()
    ]


def plain(value: Any) -> Any:
    """Return tables as JSON: spreads become objects."""
    if isinstance(value, Spread):
        return value._asdict()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return value
