"""Side by side or one after the other: the outcome of a plan is the same, up to the numbers of new ids."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from planner.order import Group, Order
from planner.plan import Block
from planner.run import Run
from planner.start import Prepared, prepare

sys.path.insert(0, str(Path(__file__).parent))
from furnished import files
from outcomes import told
from plangen.forms import Plans
from plangen.supplied import outlines, supply

COUNT = 4_000 if os.environ.get("INFOSPACE_PROVE") == "1" else 250


class OneByOne(Order):
    """An order in which nothing runs side by side."""

    def groups(self, steps: Block) -> tuple[Group, ...]:
        """Return the same groups without what may overlap."""
        return tuple(Group(group.units) for group in super().groups(steps))

    def apart(self, steps: Block, handler: Block = ()) -> bool:
        """No items overlap."""
        del steps, handler
        return False


@pytest.fixture
def origin(tmp_path: Path, endpoint: Any) -> Path:
    """A supplied space to be copied, and a language model that answers what fits."""
    del endpoint
    path = tmp_path / "origin.db"
    with open_space(path) as space:
        supply(space)
    return path


def outcome(space: Space, prepared: Prepared, seed: int, *, serial: bool) -> Any:
    """Run a plan; return all that it came to, by content and not by id.

    Side by side every step counts as one that waits, and gives way to others a random number of times.
    """
    run = Run(space, prepared.plan, lambda _event: None, prepared.warnings)
    chance = random.Random(seed)  # noqa: S311 - not for secrets

    async def give_way() -> None:
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)

    order = OneByOne(space.catalogue, run.plans) if serial else run.order
    unit = order.unit
    order.unit = lambda step: replace(unit(step), waits=not serial)  # type: ignore[method-assign]
    run.order, run.breathe = order, give_way  # type: ignore[method-assign]
    return told(space, asyncio.run(run.all(prepared.bound))), _overlaps(order, prepared)


def _broken(said: Any) -> bool:
    """Whether a `parallel` failed: of its other branches, as much was done as had been begun by then."""
    return any((type_, status) == ("parallel", "failed") for _, type_, status, _, _ in said[-1])


def _overlaps(order: Order, prepared: Prepared) -> bool:
    return any(group.side_by_side for group in order.groups(prepared.plan.steps))


@pytest.mark.slow
def test_the_outcome_is_that_of_one_after_the_other(origin: Path, tmp_path: Path) -> None:
    """Of generated plans with failures, handlers, retries and branches: status, answer, bindings, names and steps."""
    ran, overlapped = 0, 0
    for seed in range(COUNT):
        found = []
        for serial in (False, True):
            path = tmp_path / f"{serial}.db"
            shutil.copy(origin, path)
            with open_space(path) as space:
                space.tools.add(files())
                plan, given = Plans(seed, outlines(space)).plan()
                prepared = prepare(space, plan, given)
                if not isinstance(prepared, Prepared):
                    break
                found.append(outcome(space, prepared, seed, serial=serial))
            for left in tmp_path.glob(f"{serial}.db*"):
                left.unlink()
        if len(found) == 2 and not any(_broken(one) for one, _ in found):
            assert found[0][0] == found[1][0], (seed, plan)
            ran += 1
            overlapped += found[0][1]
    print(f"{ran:,} plans ran twice, {overlapped:,} of them with steps side by side")  # noqa: T201
    assert overlapped > COUNT / 5
