"""Run what waits in the queues of the space: runs of `run --detach`, and suspended ones whose time has come.

Any number of workers may look at once, on a database from any machines. Those that are due go by priority, then by
time. A run whose worker was killed stays in its queue and is gone on with: what had ended is not done again, and a
call that may have had its effect is asked about. A run at one place of which three workers were killed in a row is
set aside. With --retain, runs that ended long ago are removed as by `infospace prune`, each hour. SIGTERM, or
Ctrl-C, lets the steps under way end, gives the runs back, and ends the worker.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from infospace.core.errors import InfospaceError, Invalid
from infospace.core.plural import pluralize
from tui.command.common.cache_option import add_cache, use_cache
from tui.command.common.open_space import open_from
from tui.command.common.whole_number import whole_number
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from datetime import timedelta

    from planner.journal.commit_order import SuspendRequest
    from planner.journal.result import RunResult
    from planner.lifecycle.work import Worker

EXAMPLES = """examples:
  infospace work
  infospace work --queue nightly --queue reports
  infospace work --jobs 8
  infospace work --retain 90d
  infospace work --once
  infospace work --limit nightly=2 --once"""

MOST_JOBS = 64
"""Runs that one process may run at once: its steps share one interpreter."""

STOPS = (signal.SIGTERM, signal.SIGINT)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--queue", action="append", default=[], metavar="NAME", help="only this queue; may be repeated")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run so many at once in this process (1)")
    parser.add_argument(
        "--retain", metavar="AGE", help="remove runs of plans and sessions that ended longer ago: 36h, 30d, 8w"
    )
    parser.add_argument("--once", action="store_true", help="end when nothing is due any more")
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=N",
        help="at most N runs of this queue at once, over all workers, from now on; NAME=none lifts that",
    )
    add_cache(parser)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Work until told to end, and say what became of each run."""
    from infospace.journal.queue_rows import LimitQueue

    if not 1 <= args.jobs <= MOST_JOBS:
        raise UsageError(f"--jobs is 1 to {MOST_JOBS}, not {args.jobs}", hint="more workers take more")
    retain = None if args.retain is None else _age(args.retain)
    limits = [LimitQueue(*_limit(value)) for value in args.limit]
    with open_from(args, create=True) as space:
        use_cache(args, space)
        if limits:
            space.store.commit([], limits)
        from planner.lifecycle.work import Worker

        worker = Worker(
            space,
            args.queue,
            finished=lambda result: _show_result(result, out),
            failed=_Failures(out),
            jobs=args.jobs,
            retain=retain,
        )
        taken = asyncio.run(_work(worker, once=args.once))
    if not out.json:
        out.talk(f"{pluralize(taken, 'run')} taken", "dim")
    return 0


async def _work(worker: Worker, *, once: bool) -> int:
    with stopping(worker.stop):
        return await worker.work(once=once)


@contextmanager
def stopping(stop: SuspendRequest) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C set what is given."""
    loop = asyncio.get_running_loop()

    def hear(*_: object) -> None:
        stop.now = True
        loop.call_soon_threadsafe(stop.set)

    before = [(signals, signal.signal(signals, hear)) for signals in STOPS]
    try:
        yield
    finally:
        for one, handler in before:
            signal.signal(one, handler)


def _age(text: str) -> timedelta:
    from infospace.journal.prune import read_age

    try:
        return read_age(text)
    except Invalid as error:
        raise UsageError(f"--retain {error.message}", hint=error.hint) from error


def _limit(text: str) -> tuple[str, int | None]:
    name, is_one, number = text.rpartition("=")
    if is_one and name and number == "none":
        return name, None
    count = whole_number(number)
    if not is_one or not name or count is None or not 1 <= count < 2**31:
        raise UsageError(f"--limit {text!r:.60} is not NAME=N", hint="a queue and 1 or more, or NAME=none")
    return name, count


def _show_result(result: RunResult, out: Output) -> None:
    if out.json:
        line = {"run": result.run, "status": result.status, "reason": result.reason}
        sys.stdout.write(f"{json.dumps(line, ensure_ascii=False)}\n")
        sys.stdout.flush()
        return
    out.text(f"{result.run}  {result.status}" + (f"  {result.reason}" if result.reason else ""))


class _Failures:
    """Says of a run, or of the database, that it cannot be gone on with; the same sentence once in a row."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._last = ""

    def __call__(self, run: str, error: InfospaceError) -> None:
        sentence = f"{run}: {error}" if run else str(error)
        if sentence != self._last:
            self._out.talk(sentence, "yellow")
        self._last = sentence
