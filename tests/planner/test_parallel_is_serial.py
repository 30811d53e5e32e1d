"""Side by side or one after the other: the outcome of a plan is the same, up to the numbers of new ids."""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infospace import Collection, Note, Relation, Space, open_space
from planner.order import Order
from planner.outcome import RunResult
from planner.run import Run
from planner.start import Prepared, prepare

sys.path.insert(0, str(Path(__file__).parent))
from furnished import files
from onebyone import OneByOne
from plangen.forms import Plans
from plangen.supplied import outlines, supply

COUNT = 4_000 if os.environ.get("INFOSPACE_PROVE") == "1" else 250
IDS = re.compile(r"\b(Note|Collection|Relation)_\d+")

TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


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


def told(space: Space, result: RunResult) -> Any:
    view = space.view()

    def content(identifier: str, depth: int = 0) -> Any:
        resource = view.get(identifier)
        match resource:
            case Note():
                return without_ids([resource.content, dict(resource.metadata)])
            case Collection():
                return [content(member.id, depth + 1) for member in resource.members] if depth < 4 else "…"
            case Relation():
                return [content(resource.source, 4), content(resource.target, 4), resource.relation]

    with space.store.reading() as snapshot:
        names = {name: content(str(snapshot.named(name))) for name in snapshot.names()}
    steps = [
        (row.position, row.type, row.status, without_ids(row.reason), bool(row.extra.get("handled")))
        for row in result.steps
        if not row.extra.get("ahead")
    ]
    answer = None if result.result is None else without_ids(result.result.data)
    bindings = {name: content(resource.id) for name, resource in result.bindings.items()}
    return result.status, without_ids(result.reason), answer, bindings, names, steps


def without_ids(value: Any) -> Any:
    """Return JSON in which every id is only its kind, and no time is told."""
    if isinstance(value, str):
        return TIMES.sub("then", IDS.sub(r"\1_", value))
    if isinstance(value, list):
        return [without_ids(item) for item in value]
    if isinstance(value, dict):
        return {without_ids(key): without_ids(item) for key, item in value.items()}
    return value


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
