"""How fast 1, 2, 4 and 8 workers, a process each, run what waits in a queue: in a database that waits for its disk.

Each run is a chain of steps that sleep .05 s and add one. `python tests/benchmarks/working.py [--runs N] [--steps N]`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psycopg
from pydantic import Field

from infospace import Args, Context, Note, Space, open_space, primitive
from infospace.contract.catalogue import PackageProvider
from planner.execute.start import Prepared, enqueue, prepare
from planner.lifecycle.work import Worker

sys.path.insert(0, str(Path(__file__).parents[1]))
from databases import DurableServer

SECONDS = 0.05
"""How long a step sleeps."""

WORKERS = (1, 2, 4, 8)


class Nap(Args):
    """Arguments of `nap`."""

    value: int = Field(description="The number to begin with.")


@primitive(effect="pure", waits=True, examples=[{"type": "nap", "value": 1, "out": "$n"}])
async def nap(args: Nap, context: Context) -> Note[int]:
    """Sleep, and add one to a number."""
    await asyncio.sleep(SECONDS)
    return context.note(args.value + 1)


def with_naps(space: Space) -> Space:
    """Add the steps that sleep."""
    space.catalogue.add(PackageProvider("benchmarks", sys.modules[__name__]))
    return space


def work(address: str) -> None:
    """Be a worker: say when it is ready, begin when it is told to, end when nothing is due."""
    with with_naps(open_space(address)) as space:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        asyncio.run(Worker(space).work(once=True))


def measure(address: str, workers: int, runs: int, steps: int) -> tuple[float, list[int]]:
    """Let so many runs wait, and so many workers run them; return the seconds, and how many runs each worker had."""
    after = ({"type": "nap", "value": f"$x{number}", "out": f"$x{number + 1}"} for number in range(1, steps))
    plan = {"steps": [{"type": "nap", "value": 0, "out": "$x1"}, *after], "result": f"$x{steps}"}
    with with_naps(open_space(address)) as space:
        prepared = prepare(space, plan)
        if not isinstance(prepared, Prepared):
            raise TypeError(prepared.problems)
        waiting = [enqueue(space, prepared) for _ in range(runs)]
        command = [sys.executable, __file__, "--work", address]
        processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(workers)
        ]
        for process in processes:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise RuntimeError("a worker did not begin")
        started = time.perf_counter()
        for process in processes:
            _go(process)
        for process in processes:
            process.wait()
        seconds = time.perf_counter() - started
        with space.store.reading() as snapshot:
            rows = [snapshot.run(one) for one in waiting]
        if any(row.status != "success" or row.steps != steps for row in rows):
            raise RuntimeError("a run did not end as it should")
        owners = [str(row.owner).rpartition(":")[0] for row in rows]
        return seconds, sorted(owners.count(one) for one in set(owners))


def _go(process: subprocess.Popen[str]) -> None:
    if process.stdin is None:
        raise RuntimeError("a worker is not asked")
    process.stdin.write("go\n")
    process.stdin.flush()


def main() -> None:
    """Measure each number of workers in a space of its own, and write a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--work", metavar="ADDRESS", help="be a worker of a space")
    args = parser.parse_args()
    if args.work is not None:
        work(args.work)
        return
    with (
        tempfile.TemporaryDirectory(prefix="infospace-working-", ignore_cleanup_errors=True) as folder,
        closing(DurableServer(Path(folder))) as server,
    ):
        alone = 0.0
        for workers in WORKERS:
            with psycopg.connect(server.address, autocommit=True) as session:
                session.execute(f"CREATE DATABASE workers_{workers}".encode())
            address = f"{server.address.rpartition('/')[0]}/workers_{workers}"
            seconds, shares = measure(address, workers, args.runs, args.steps)
            alone = alone or seconds
            sys.stdout.write(
                f"{workers} workers: {seconds:.1f} s, {args.runs / seconds:.1f} runs a second,"
                f" {alone / seconds:.2f} times one; runs of each {shares}; load {os.getloadavg()[0]:.1f}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
