"""Side by side or one after the other: the outcome of a plan is the same, up to the numbers of new ids."""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.journal.rows import RunRow, StepRow
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare
from planner.journal.events import Event, StepFinished
from planner.order.dependencies import DependencyAnalysis
from planner.parse.control_flow import FORMS

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import files
from onebyone import OneByOne
from outcomes import told, without_ids
from plangen.forms import Plans
from plangen.outside import Begin, odd, to_the_end
from plangen.supplied import outlines, supply

_BRANCH = re.compile(r".*\.branches\[\d+\]")
PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
COUNT = 4_000 if PROVE else 80
SEEDS = range(COUNT) if PROVE else (*range(COUNT), 111, 115, 142, 1050)
"""Of the plans; the last ones have what is rare."""


@pytest.fixture
def origin(tmp_path: Path, endpoint: Any) -> Path:
    """A supplied space to be copied, and a language model that answers what fits."""
    del endpoint
    path = tmp_path / "origin.db"
    with open_space(path) as space:
        supply(space)
    return path


def orders(serial: bool, chance: random.Random) -> Begin:
    """Return what begins runs whose steps stand one by one, or all count as steps that wait.

    These give way to others a random number of times.
    """

    async def give_way() -> None:
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)

    def begin(*arguments: Any) -> Run:
        run = Run(*arguments)
        order = OneByOne(run.space.catalogue, run.plans) if serial else run.order
        unit = order.unit
        order.unit = lambda step: replace(unit(step), waits=not serial)  # type: ignore[method-assign]
        run.order, run.yield_to_loop = order, give_way  # type: ignore[method-assign]
        return run

    return begin


def outcome(space: Space, prepared: Prepared, seed: int, *, serial: bool) -> Any:
    """Run a plan to the end; return all that it came to, by content and not by id, and whether steps overlapped."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    begin = orders(serial, chance)
    result = asyncio.run(to_the_end(space, prepared, begin))
    return told(space, result), _overlaps(begin(space, prepared.plan, print).order, prepared)


def _broken(said: Any) -> bool:
    """Whether a `parallel` failed: of its other branches, as much was done as had been begun by then."""
    return any((type_, status) == ("parallel", "failed") for _, type_, status, _, _ in said[-1])


def _overlaps(order: DependencyAnalysis, prepared: Prepared) -> bool:
    return any(group.side_by_side for group in order.groups(prepared.plan.steps))


def prepared_in(path: Path, origin: Path, seed: int) -> Iterator[tuple[Space, Prepared, Any]]:
    """A copy of the space and the plan of a seed, if the check lets it pass; afterwards the copy is gone."""
    shutil.copy(origin, path)
    with open_space(path) as space:
        space.tools.add(files())
        space.tools.add(odd())
        plan, given = Plans(seed, outlines(space)).plan()
        prepared = prepare(space, plan, given)
        if isinstance(prepared, Prepared):
            yield space, prepared, plan
    for left in path.parent.glob(f"{path.name}*"):
        left.unlink()


@pytest.mark.slow
def test_the_outcome_is_that_of_one_after_the_other(origin: Path, tmp_path: Path) -> None:
    """Of generated plans with failures, handlers, retries, questions and branches.

    Status, answer, bindings, names and steps.
    """
    ran, overlapped, seen = 0, 0, Counter[str]()
    for seed in SEEDS:
        found = []
        for serial in (False, True):
            for space, prepared, plan in prepared_in(tmp_path / f"{serial}.db", origin, seed):
                found.append((*outcome(space, prepared, seed, serial=serial), plan))
        if len(found) == 2 and not any(_broken(one) for one, *_ in found):
            assert found[0][0] == found[1][0], (seed, found[0][2])
            ran += 1
            overlapped += found[0][1]
            seen.update(_had(found[0][0]))
    print(f"{ran:,} plans ran twice, {overlapped:,} of them with steps side by side")  # noqa: T201
    print(", ".join(f"{what} {times:,}" for what, times in seen.most_common()))  # noqa: T201
    assert overlapped > COUNT / 5
    assert [what for what in (*HAD, *(RARE if PROVE else ())) if not seen[what]] == []


HAD = (
    *("parallel", "ask", "stop", "wait", "map", "for-each", "pages", "plan:count", "plan:asking"),
    *("odd/sleep", "odd/at_last", "another attempt", "handled", "failed", "stopped", "success"),
)
"""What at least one of the plans that ran twice had."""
RARE = ("suspended",)
"""What one of thousands has: `test_suspending.py` has it in written plans."""


def _had(said: Any) -> Iterator[str]:
    yield said[0]
    for position, type_, _, _, handled in said[-1]:
        yield type_
        yield from ["handled"] if handled else []
        yield from ["another attempt"] if "#" in position else []


@pytest.mark.slow
def test_a_run_that_is_cancelled_has_done_the_first_of_what_the_whole_one_does(origin: Path, tmp_path: Path) -> None:
    """Wherever it is: no step stays begun, and before one that ended well none is missing, in its branch or outside."""
    cancelled = 0
    for seed in range(COUNT // 2):
        chance = random.Random(seed)  # noqa: S311 - not for secrets
        whole: list[StepRow] = []
        for space, prepared, _ in prepared_in(tmp_path / "whole.db", origin, seed):
            whole = rows_of(space, prepared, chance, None)
        broken = any((row.type, row.status) == ("parallel", "failed") for row in whole)
        for space, prepared, plan in prepared_in(tmp_path / "part.db", origin, seed):
            part = rows_of(space, prepared, chance, chance.randint(1, max(1, len(whole) - 1)))
            [run] = runs_of(space)
            cancelled += run.status == "cancelled"
            assert run.status != "running", (seed, plan)
            assert space.store.check() == [], (seed, plan)
            assert {row.status for row in part} <= {"success", "failed", "skipped", "suspended"}, (seed, plan)
            done, ends = by_branch(leaves(part)), by_branch(leaves(whole))
            for branch, well in () if broken else done.items():
                assert well == ends.get(branch, [])[: len(well)], (seed, branch, plan)
    print(f"{cancelled:,} runs were cancelled under way")  # noqa: T201
    assert cancelled > COUNT / 10


def by_branch(steps: list[Any]) -> dict[str, list[Any]]:
    """Steps by the branch of a `parallel` in which they stand; those outside of any under ""."""
    found: dict[str, list[Any]] = {}
    for step in steps:
        around = _BRANCH.match(step[0])
        found.setdefault(around[0] if around else "", []).append(step)
    return found


def rows_of(space: Space, prepared: Prepared, chance: random.Random, after: int | None) -> list[StepRow]:
    """Run a plan side by side, cancelled once so many steps have ended; return its rows as the journal has them."""
    ended = 0

    async def play() -> None:
        def hear(event: Event) -> None:
            nonlocal ended
            ended += isinstance(event, StepFinished)
            if ended == after:
                task.cancel()

        begun = orders(False, chance)(space, prepared.plan, hear)
        task = asyncio.create_task(begun.run(prepared.bound))
        await asyncio.wait([task])

    asyncio.run(play())
    with space.store.reading() as snapshot:
        return snapshot.steps(snapshot.runs(limit=1)[0].run)


def runs_of(space: Space) -> list[RunRow]:
    with space.store.reading() as snapshot:
        return list(snapshot.runs(limit=1))


def leaves(rows: list[StepRow]) -> Any:
    """Return what the steps that hold no others did and ended well, without ids."""
    return [
        (row.position, row.type, row.out, without_ids(row.value))
        for row in rows
        if row.status == "success" and row.type not in FORMS and not row.type.startswith("plan:")
    ]
