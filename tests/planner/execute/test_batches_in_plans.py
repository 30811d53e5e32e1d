"""A plan over many rows is killed, resumed, replayed, forked, undone and exported as if each row were by itself.

Each test does one thing to two spaces: in one of them Notes that are made at once are stored together, in the other
each has a row. What can be seen of both is the same: answers, journal, ids, provenance and files.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from killed_over_rows import with_look

from infospace import Collection, Space, open_space
from infospace.core import batch_notes
from infospace.core.batch_notes import identifiers_of
from infospace.core.ids import Kind, number_of
from infospace.core.resources import Resource
from infospace.editing.undo import undo
from infospace.files.export import export
from infospace.lineage.graph_json import graph_json
from infospace.lineage.trace import trace, versions_of
from planner.execute.start import run_sync
from planner.journal.result import RunResult
from planner.lifecycle.fork import fork
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import resume

COUNT = 600

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("warm_processes")]

TOGETHER = 64
"""So many Notes that are made at once have one row: a quarter of what it takes by default, and of the rows here."""
ONE_BY_ONE = 10**9
"""So many Notes are never made at once: each has a row."""
ROWS = [
    {"id": at, "area": f"area {at % 31}", "price": at * 7919 % 10_007 / 100, "quantity": at % 13 or None}
    for at in range(COUNT)
]
STEPS: list[dict[str, Any]] = [
    {
        "type": "project",
        "target": "$rows",
        "fields": {"total": "round(price * quantity, 2)", "label": "area || ' ' || id"},
        "keep": True,
        "out": "$priced",
    },
    {"type": "filter-structured", "target": "$priced", "where": "total > 40 AND area <> 'area 7'", "out": "$some"},
    {"type": "sort", "target": "$some", "by": ["total desc", "id"], "out": "$sorted"},
    {
        "type": "group",
        "target": "$sorted",
        "by": "area",
        "aggregates": {"n": "count", "total": "sum(total)", "best": "first(label)"},
        "out": "$areas",
    },
    {"type": "head", "target": "$sorted", "count": 60, "out": "$top"},
    {"type": "create-note", "value": {"last": None}, "out": "$seen_last"},
    {
        "type": "for-each",
        "target": "$top",
        "as": "$i",
        "do": [
            {"type": "outside/look", "arguments": {"n": "$i.id"}, "out": "$seen"},
            {"type": "create-note", "value": {"id": "$i.id", "seen": "$seen", "total": "$i.total"}, "out": "$told"},
            # One after the other: each changes the same Note.
            {"type": "update-note", "target": "$seen_last", "value": {"last": "$told.id"}},
        ],
        "out": "$looks",
    },
    {"type": "join", "target": "$sorted", "value": "$areas", "on": "area", "out": "$joined"},
    {"type": "pluck", "target": "$joined", "field": "label", "out": "$labels"},
    {"type": "update-note", "target": "$sorted[0]", "value": {"first": True}, "merge": True, "out": "$first"},
    {"type": "set-metadata", "target": "$sorted[1]", "value": {"place": 2}},
    {"type": "persist", "target": "$top", "name": "top"},
    {"type": "persist", "target": "$first", "name": "first"},
    {"type": "persist", "target": "$areas", "name": "areas"},
]
PLAN = {
    "inputs": {"rows": {"kind": "Collection"}},
    "steps": STEPS,
    "result": "$labels",
}
"""Made, chosen, ordered, grouped, looked at one by one, joined, and some of it changed, named and kept."""


@contextmanager
def living(path: Path, many: int) -> Iterator[Space]:
    """Open a space in which so many Notes that are made at once are stored together."""
    before, batch_notes.MANY = batch_notes.MANY, many
    try:
        with open_space(path) as space:
            with_look(space, path.with_suffix(".log"))
            yield space
    finally:
        batch_notes.MANY = before


def killed(path: Path, many: int, dies_at: int) -> None:
    """Run the plan in a process of its own, which is killed at a call of the tool."""
    script = Path(__file__).with_name("killed_over_rows.py")
    arguments = [str(path), str(path.with_suffix(".log")), str(dies_at), str(many)]
    given = json.dumps({"plan": PLAN, "inputs": {"rows": ROWS}})
    ended = subprocess.run(
        [sys.executable, str(script), *arguments], input=given, text=True, capture_output=True, timeout=120, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stdout + ended.stderr


def seen(space: Space, result: RunResult) -> dict[str, Any]:
    """What can be seen of a run: its answer, what its variables hold, its journal, and where all of it came from."""
    view, run = space.context(), str(result.run)
    with space.store.reading() as snapshot:
        steps = [
            (
                *(row.sequence, row.position, row.type, row.status, row.resource, row.version, row.value, row.extra),
                *(row.reason, sorted(((use.id, use.version) for use in row.uses), key=by_kind)),
            )
            for row in snapshot.steps(run)
        ]
    held = {name: view.content(resource) for name, resource in sorted(result.bindings.items())}
    items = {
        name: [
            (item.id, item.version, item.kept, item.created_by.step, item.created_by.by) for item in view.items(found)
        ]
        for name, found in sorted(result.bindings.items())
        if isinstance(found, Collection)
    }
    data = None if result.result is None else result.result.data
    return {"status": result.status, "data": data, "steps": steps, "held": held, "items": items}


def everything(space: Space) -> dict[str, Any]:
    """All that is in a space and its own, without times."""
    with space.store.reading() as snapshot:
        return {
            one.id: (one.content, dict(one.metadata), one.name, one.version, one.kept, one.created_by, members_of(one))
            for kind in (Kind.NOTE, Kind.COLLECTION)
            for kept in (True, False)
            for one in snapshot.listing(kind, kept=kept)
        }


def members_of(one: Resource) -> list[str]:
    return identifiers_of(one.members) if isinstance(one, Collection) else []


def edges_of(step: dict[str, Any]) -> list[dict[str, Any]]:
    return [*(step.get("used") or ()), *(step.get("used_for_each") or ())]


def by_kind(use: tuple[str, int]) -> tuple[str, int]:
    return use[0].partition("_")[0], number_of(use[0])


def batches_in(space: Space) -> int:
    with space.store.reading() as snapshot:
        return int(snapshot._connection.value("SELECT count(*) FROM batches"))


def both(tmp_path: Path, tell: Callable[[Path, int], dict[str, Any]]) -> dict[str, Any]:
    """Return what is told of a space whose Notes are stored together, which is what is told of the other one.

    Numbers of ids are not compared, but which ids are the same: a process takes many at once.
    """
    together, alone = (tell(tmp_path / f"{many}.db", many) for many in (TOGETHER, ONE_BY_ONE))
    one, other = canonical(together), canonical(alone)
    if one != other:
        at = next(place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
        raise AssertionError(f"{one[max(0, at - 300) : at + 100]}\n\n{other[max(0, at - 300) : at + 100]}")
    return together


def canonical(told: dict[str, Any]) -> str:
    """Write all that is told, with ids numbered in the order in which they are met."""
    met: dict[str, str] = {}
    return re.sub(
        r"(Note|Collection)_\d+", lambda found: met.setdefault(found[0], f"{found[1]} {len(met)}"), repr(told)
    )


def ran(space: Space, plan: Any = PLAN) -> RunResult:
    result = run_sync(space, plan, {"rows": ROWS})
    assert result.status == "success", result.reason
    return result


@dataclass(frozen=True)
class Finished:
    """Runs of the plan that have ended, in a space of each kind: every test of what comes after has a copy."""

    folder: Path
    results: dict[int, RunResult]

    @contextmanager
    def living(self, path: Path, many: int) -> Iterator[tuple[Space, RunResult]]:
        """Open a copy of the space in which so many Notes that are made at once are stored together."""
        for suffix in (".db", ".log"):
            shutil.copyfile(self.folder / f"{many}{suffix}", path.with_suffix(suffix))
        with living(path, many) as space:
            yield space, self.results[many]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The plan, run once in both spaces."""
    folder = tmp_path_factory.mktemp("finished")
    results: dict[int, RunResult] = {}
    for many in (TOGETHER, ONE_BY_ONE):
        with living(folder / f"{many}.db", many) as space:
            results[many] = ran(space)
    return Finished(folder, results)


def test_a_run_over_many_rows_is_that_of_its_rows(tmp_path: Path, finished: Finished) -> None:
    """Answers, journal, ids and provenance; only one of both spaces has batches."""

    def tell(path: Path, many: int) -> dict[str, Any]:
        with finished.living(path, many) as (space, result):
            assert (batches_in(space) > 5) is (many == TOGETHER)
            assert space.store.check() == []
            view = space.context()
            chosen = [view.items(result.bindings[name])[5].id for name in ("priced", "joined", "labels", "areas")]
            with space.store.reading() as snapshot:
                graphs = [graph_json(trace(snapshot, versions_of(snapshot, one)))["steps"] for one in chosen]
            traced = [
                sorted((key, edge["how"], edge["version"]) for key, step in steps.items() for edge in edges_of(step))
                for steps in graphs
            ]
            return {**seen(space, result), "traced": traced, "space": everything(space)}

    told = both(tmp_path, tell)
    assert len(told["items"]["priced"]) == COUNT
    assert len(told["items"]["top"]) == 60
    assert len(told["data"]) == len(told["items"]["sorted"]) > TOGETHER


@pytest.mark.parametrize("dies_at", [1, 30, 60])
def test_a_killed_run_goes_on_as_if_nothing_had_been(tmp_path: Path, finished: Finished, dies_at: int) -> None:
    """Killed by SIGKILL at a call; nothing is made twice, and it ends as a run that was never killed."""

    def tell(path: Path, many: int) -> dict[str, Any]:
        killed(path, many, dies_at)
        with living(path, many) as space:
            assert (batches_in(space) > 5) is (many == TOGETHER)
            result = asyncio.run(resume(space, "run_1"))
            assert result.status == "success", result.reason
            assert space.store.check() == []
            calls = path.with_suffix(".log").read_text(encoding="utf-8").splitlines()
            return {**seen(space, result), "calls": calls, "space": everything(space)}

    told = both(tmp_path, tell)
    assert len(told["calls"]) == 61
    assert len(set(told["calls"])) == 60
    with finished.living(tmp_path / "never killed.db", TOGETHER) as (space, result):
        unharmed = seen(space, result)
    assert unharmed["held"] == told["held"]
    assert unharmed["data"] == told["data"]


def test_a_replay_gives_the_same_and_leaves_nothing(tmp_path: Path, finished: Finished) -> None:
    """The calls come from the record."""

    def tell(path: Path, many: int) -> dict[str, Any]:
        with finished.living(path, many) as (space, first):
            before, calls = everything(space), path.with_suffix(".log").read_text(encoding="utf-8")
            again = asyncio.run(replay(space, str(first.run)))
            assert again.result.status == "success", again.result.reason
            assert again.result.result is not None
            assert first.result is not None
            assert again.result.result.data == first.result.data
            assert everything(space) == before
            assert path.with_suffix(".log").read_text(encoding="utf-8") == calls
            return {"data": again.result.result.data}

    both(tmp_path, tell)


def test_a_fork_takes_the_rows_as_they_were(tmp_path: Path, finished: Finished) -> None:
    """From the filter on with another condition, though a row has been changed since: as a new run with it gives."""
    where = "total > 900 OR total IS NULL"

    def tell(path: Path, many: int) -> dict[str, Any]:
        with finished.living(path, many) as (space, first):
            forked = asyncio.run(
                fork(space, str(first.run), "2", [{"op": "replace", "path": "/steps/1/where", "value": where}])
            )
            assert forked.status == "success", forked.reason
            assert space.store.check() == []
            return {**seen(space, forked), "space": everything(space)}

    told = both(tmp_path, tell)
    changed = {**PLAN, "steps": [STEPS[0], {**STEPS[1], "where": where}, *STEPS[2:]]}
    with living(tmp_path / "anew.db", TOGETHER) as space:
        anew = ran(space, changed)
        assert anew.result is not None
        assert anew.result.data == told["data"]


def test_an_undone_run_leaves_what_was_kept(tmp_path: Path) -> None:
    """What was named and persisted is gone, and there again when that is undone."""

    def kept(space: Space) -> dict[str, Any]:
        return {one: told for one, told in everything(space).items() if told[4]}

    def tell(path: Path, many: int) -> dict[str, Any]:
        with living(path, many) as space:
            run_sync(space, [{"type": "create-note", "value": "before", "name": "before"}])
            before = kept(space)
            run = str(ran(space).run)
            after = kept(space)
            undone = undo(space.store, run)
            assert kept(space) == before
            undo(space.store, undone.run)
            assert kept(space) == after
            assert space.store.check() == []
            return {"before": before, "after": after}

    told = both(tmp_path, tell)
    assert len(told["after"]) > 90


def test_what_was_kept_of_the_rows_is_exported(tmp_path: Path, finished: Finished) -> None:
    """The same files, byte for byte but for times."""

    def tell(path: Path, many: int) -> dict[str, Any]:
        with finished.living(path, many) as (space, _):
            folder = path.with_suffix("")
            assert export(space.store, folder).failed == []
            files = {
                str(one.relative_to(folder)): _without_times(one.read_text(encoding="utf-8"))
                for one in sorted(folder.rglob("*"))
                if one.suffix == ".json" and not one.name.startswith(".")
            }
            return {"files": files}

    told = both(tmp_path, tell)
    assert len(told["files"]) > 90


def _without_times(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith(("created:", "updated:", "modified:")))
