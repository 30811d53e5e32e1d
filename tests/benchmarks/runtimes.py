"""The two graphs in infospace and in other runtimes: microseconds a step of a chain, milliseconds side by side.

All take turns in one process. A ratio is of medians, to infospace in a file where each step is kept, else in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from figures import NOT_INSTALLED, Call, Cell, Table, interleaved, ratio, spread
from graphs import IN_MEMORY, INFOSPACE, OURS, SECONDS, WIDTH, Graphs
from others import OTHERS, installed

SHORT, LONG = 100, 1_000
TURNS, TURNS_OF_LONG = 9, 3
RUNTIMES = OURS | OTHERS
CHAIN, LONG_CHAIN = f"chain of {SHORT}, a step", f"chain of {LONG:,}, a step"
FAN = f"{WIDTH} steps of {SECONDS * 1000:.0f} ms"
RATIO, FAN_RATIO = "as many times infospace's", "as many times as long"


def run() -> dict[str, Table]:
    """Return the table `runtimes`."""
    with TemporaryDirectory(prefix="infospace-runtimes-") as name, ExitStack() as open_:
        there = {
            runtime: open_.enter_context(made.begin(Path(name)))
            for runtime, made in RUNTIMES.items()
            if installed(made.needs)
        }
        chains = _timed(there, lambda graphs: _counting(graphs, SHORT), TURNS, 1000 / SHORT)
        longs = _timed(there, lambda graphs: _counting(graphs, LONG), TURNS_OF_LONG, 1000 / LONG)
        fans = _timed(there, lambda graphs: _turn(graphs.fan(WIDTH)), TURNS, 1)
    table: Table = {}
    for runtime in RUNTIMES:
        if runtime in there:
            table[runtime] = _row(runtime, chains, longs, fans)
        else:
            table[runtime] = dict.fromkeys((CHAIN, FAN), NOT_INSTALLED)
    return {"runtimes": table}


def _row(
    runtime: str, chains: Mapping[str, Cell], longs: Mapping[str, Cell], fans: Mapping[str, Cell]
) -> dict[str, Cell]:
    beside = INFOSPACE if RUNTIMES[runtime].durable else IN_MEMORY
    return {
        "keeps each step": "yes" if RUNTIMES[runtime].durable else "no",
        CHAIN: chains[runtime],
        RATIO: ratio(chains[runtime], chains[beside]),
        LONG_CHAIN: longs[runtime],
        "growth": ratio(longs[runtime], chains[runtime]),
        FAN: fans[runtime],
        FAN_RATIO: ratio(fans[runtime], fans[beside]),
    }


def _timed(there: Mapping[str, Graphs], build: Callable[[Graphs], Call], turns: int, scale: float) -> dict[str, Cell]:
    """Run what is built of each; return the spread of the milliseconds that took, times `scale`."""
    calls = {runtime: build(graphs) for runtime, graphs in there.items()}
    return {name: spread([one * scale for one in times]) for name, times in interleaved(calls, turns).items()}


def _counting(graphs: Graphs, steps: int) -> Call:
    """What runs a chain; RuntimeError where it does not come to the number of its steps."""
    chain = graphs.chain(steps)

    def call(_: int) -> None:
        found = chain()
        if found != steps:
            raise RuntimeError(f"a chain of {steps} steps came to {found!r}")

    return call


def _turn(call: Callable[[], object]) -> Call:
    return lambda _: call()
