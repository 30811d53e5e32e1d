"""Two graphs that every runtime is given: a chain of steps, and steps side by side. Here, how infospace runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import tallying

from infospace import Space
from infospace.contract.catalogue import PackageProvider
from infospace.store.sqlite import open_store
from infospace.store.sqlite.store import MEMORY
from infospace.tools.local import LocalTools
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare

WIDTH, SECONDS = 10, 0.1
"""Steps side by side, and how long each of them sleeps."""

Build: TypeAlias = Callable[[int], Callable[[], object]]
"""Builds a graph of so many steps; what it gives runs it once."""


class Graphs(NamedTuple):
    """What a runtime makes of the two graphs.

    `chain`: each step takes the number that the one before gave, from 0, and gives it plus one; running it returns
    the last number. `fan`: steps that need nothing of one another, each asleep for SECONDS.
    """

    chain: Build
    fan: Build


class Runtime(NamedTuple):
    """How a runtime is begun in an empty folder, and the modules that it needs.

    `durable`: what each step gave is kept in SQLite, so that a run that was killed goes on after it.
    """

    durable: bool
    needs: tuple[str, ...]
    begin: Callable[[Path], AbstractContextManager[Graphs]]


INFOSPACE, ON_DISK, IN_MEMORY = "infospace", "infospace, each step on the disk (FULL)", "infospace, in memory"


def chained(steps: int, type_: str = "one-more") -> dict[str, Any]:
    """Return a chain as a plan, of steps of a type."""
    after = ({"type": type_, "value": f"$x{number}", "out": f"$x{number + 1}"} for number in range(1, steps))
    return {"steps": [{"type": type_, "value": 0, "out": "$x1"}, *after], "result": f"$x{steps}"}


def fanned(width: int) -> dict[str, Any]:
    """Return steps side by side as a plan."""
    return {"steps": [{"type": "bench/nap", "out": f"$x{number}"} for number in range(width)]}


def _naps() -> LocalTools:
    server = LocalTools("bench")

    @server.tool(read_only=True)
    async def nap() -> bool:
        """Sleep."""
        await asyncio.sleep(SECONDS)
        return True

    return server


@contextmanager
def infospace(file: Path | str, synchronous: Literal["NORMAL", "FULL"] = "NORMAL") -> Iterator[Graphs]:
    """A space in a file, or in memory. Its journal is written wherever it is."""
    with Space(open_store(file, create=True, synchronous=synchronous)) as space:
        space.catalogue.add(PackageProvider("benchmarks", tallying))
        space.tools.add(_naps())
        yield Graphs(lambda steps: _running(space, chained(steps)), lambda width: _running(space, fanned(width)))


def _running(space: Space, plan: Mapping[str, Any]) -> Callable[[], object]:
    """What runs a plan that is checked already."""
    prepared = prepare(space, {**plan, "budget": {"steps": 100_000}})
    if not isinstance(prepared, Prepared):
        raise TypeError(prepared.problems)

    def call() -> object:
        done = asyncio.run(Run(space, prepared.plan, lambda _event: None).run(prepared.bound))
        if done.status != "success" or done.result is None:
            raise RuntimeError(done.reason)
        return done.result.data

    return call


OURS = {
    INFOSPACE: Runtime(True, (), lambda folder: infospace(folder / "normal.db")),
    ON_DISK: Runtime(True, (), lambda folder: infospace(folder / "full.db", "FULL")),
    IN_MEMORY: Runtime(False, (), lambda _folder: infospace(MEMORY)),
}
