"""What a durable step costs in a database: infospace, DBOS and LangGraph on the same server, taking turns.

The server waits for its disk (fsync) at each commit. infospace is measured in a file as well, which also waits for its
disk (FULL). Steps that only compute it writes together; "each by itself" are steps that say that they read, which are
on the disk before the next one begins, as are those of DBOS, and of LangGraph but for `durability="async"`.

Others run in a Python of their own that has `dbos`, `langgraph` and `langgraph-checkpoint-postgres`:

    python tests/benchmarks/durable.py --peers VENV/bin/python
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import tallying
from graphs import chained

from infospace import Space
from infospace.contract.catalogue import PackageProvider
from infospace.store import postgres, sqlite
from infospace.store.protocol import Store
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare

sys.path.insert(0, str(Path(__file__).parents[1]))
from databases import DurableServer

Measure = Callable[[int], tuple[float, float]]
"""Runs a chain of so many steps; gives its seconds, and its seconds of CPU in the client."""


@contextmanager
def ours(store: Store, type_: str = "one-more") -> Iterator[Measure]:
    """A plan of so many steps, that is checked already."""
    with Space(store) as space:
        space.catalogue.add(PackageProvider("benchmarks", tallying))

        def measure(steps: int) -> tuple[float, float]:
            prepared = prepare(space, {**chained(steps, type_), "budget": {"steps": 100_000}})
            if not isinstance(prepared, Prepared):
                raise TypeError(prepared.problems)
            started, cpu = time.perf_counter(), time.process_time()
            done = asyncio.run(Run(space, prepared.plan, lambda _event: None).run(prepared.bound))
            if done.status != "success":
                raise RuntimeError(done.reason)
            return time.perf_counter() - started, time.process_time() - cpu

        yield measure


@contextmanager
def peer(python: str, name: str, address: str) -> Iterator[Measure]:
    """Another runtime, in a process of its own."""
    command = [python, str(Path(__file__).with_name("durable_peers.py")), name, address]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    given, answers = process.stdin, process.stdout
    while answers.readline().strip() != "ready":
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended")

    def measure(steps: int) -> tuple[float, float]:
        given.write(f"{steps}\n")
        given.flush()
        seconds, cpu = answers.readline().split()
        return float(seconds), float(cpu)

    try:
        yield measure
    finally:
        given.close()
        process.wait(30)


def main() -> None:
    """Take turns, and write a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", metavar="PYTHON", help="a Python that has the others")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-sync", action="store_true", help="no commit waits for a disk, in none of them")
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="infospace-durable-", ignore_cleanup_errors=True) as folder,
        ExitStack() as all_,
    ):
        server = DurableServer(Path(folder), waits=not args.no_sync)
        all_.callback(server.close)
        with psycopg.connect(server.address, autocommit=True) as session:
            for name in ("ours", "dbos", "langgraph", "langgraph_async"):
                session.execute(f"CREATE DATABASE {name}".encode())

        def of(name: str) -> str:
            return f"{server.address.rpartition('/')[0]}/{name}"

        file = str(Path(folder) / "space.db")
        measures = {
            "infospace, PostgreSQL": all_.enter_context(ours(postgres.open_store(of("ours"), create=True))),
            "infospace, file": all_.enter_context(
                ours(sqlite.open_store(file, create=True, synchronous="NORMAL" if args.no_sync else "FULL"))
            ),
            "infospace, PostgreSQL, each by itself": all_.enter_context(
                ours(postgres.open_store(of("ours"), create=True), "one-more-read")
            ),
            "infospace, file, each by itself": all_.enter_context(
                ours(
                    sqlite.open_store(file, create=True, synchronous="NORMAL" if args.no_sync else "FULL"),
                    "one-more-read",
                )
            ),
        }
        for name in ("dbos", "langgraph", "langgraph_async") if args.peers else ():
            measures[f"{name}, PostgreSQL"] = all_.enter_context(peer(args.peers, name, of(name)))
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in measures}
        for turn in range(args.rounds + 1):
            for name, measure in measures.items():
                took = measure(args.steps)
                if turn:  # the first one opens connections and imports
                    found[name].append(took)
        for name, times in found.items():
            wall = sorted(seconds * 1000 / args.steps for seconds, _ in times)
            cpu = statistics.median(seconds * 1000 / args.steps for _, seconds in times)
            line = (
                f"{name:<38} {statistics.median(wall):6.2f} ms a step ({wall[0]:.2f}-{wall[-1]:.2f}), {cpu:.2f} of CPU"
            )
            sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
