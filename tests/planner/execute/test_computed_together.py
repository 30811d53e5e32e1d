"""Steps that only compute are written to the journal together; nobody is told of one that is not in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from infospace import Args, Context, Note, Space, open_space, primitive
from infospace.contract.catalogue import PackageProvider
from infospace.core.clock import now
from infospace.core.errors import LeaseLost
from infospace.core.resources import Note as ReadNote
from infospace.journal.rows import ClaimRun
from planner.execute import run as running
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare
from planner.journal.events import Event, RunFinished, StepFinished, StepStarted
from planner.journal.result import RunResult
from planner.journal.unwritten import MAX_CHARACTERS, MAX_STEPS

OTHER: list[Space] = []
"""The same space, opened once more."""


class OneMore(Args):
    """Arguments of the primitives here."""

    value: Any


@primitive(effect="pure", waits=False, examples=[{"type": "one-more", "value": 1, "out": "$x"}])
async def one_more(args: OneMore, context: Context) -> Note[Any]:
    """Add one to a number."""
    return context.note(args.value + 1)


@primitive(effect="pure", waits=False, examples=[{"type": "make-text", "value": "x", "out": "$x"}])
async def make_text(args: OneMore, context: Context) -> Note[Any]:
    """Make a text from an expression of Python."""
    return context.note({"lone": "\ud800", "long": "x" * (MAX_CHARACTERS + 1)}[args.value])


@primitive(effect="pure", waits=False, examples=[{"type": "lose-lease", "value": "x", "out": "$x"}])
async def lose_lease(args: OneMore, context: Context) -> Note[Any]:
    """Have another process take the run over."""
    run = str(context.created_by.run)
    with OTHER[0].store.reading() as snapshot:
        owner = snapshot.run(run).owner
    OTHER[0].store.commit([], [ClaimRun(run, "somebody else", owner, now())])
    return context.note(args.value)


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Space]:
    """A space whose runs let others go on once in an hour, and the same one beside it."""
    monkeypatch.setattr(running, "EVENT_LOOP_YIELD_SECONDS", 3_600.0)
    module = ModuleType("computing")
    for one in (one_more, make_text, lose_lease):
        setattr(module, one.call.__name__, one)
    with open_space(tmp_path / "space.db") as opened, open_space(tmp_path / "space.db") as other:
        opened.catalogue.add(PackageProvider("computing", module))
        OTHER[:] = [other]
        yield opened


def chain(count: int, first: int = 1) -> list[dict[str, Any]]:
    steps = ({"type": "one-more", "value": f"$x{number}", "out": f"$x{number + 1}"} for number in range(first, count))
    return [{"type": "one-more", "value": 0, "out": f"$x{first}"}, *steps]


def run_of(space: Space, steps: list[dict[str, Any]]) -> RunResult:
    prepared = prepare(space, {"steps": steps})
    assert isinstance(prepared, Prepared), prepared.problems
    return asyncio.run(Run(space, prepared.plan, lambda _event: None).run(prepared.bound))


def counted(space: Space, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the commits of a space: how many entries each of them has."""
    sizes: list[int] = []
    commit = space.store.commit

    def counting(changes: Any, entries: Any = ()) -> int:
        sizes.append(len(entries))
        return commit(changes, entries)

    monkeypatch.setattr(space.store, "commit", counting)
    return sizes


def rows_beside(run: str) -> list[tuple[str, str]]:
    with OTHER[0].store.reading() as snapshot:
        return [(row.position, row.status) for row in snapshot.steps(run)]


def test_a_chain_that_computes_is_one_commit_between_its_beginning_and_its_end(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = counted(space, monkeypatch)
    result = run_of(space, chain(40))
    # The first step lets others go on, and is written by itself then.
    assert sizes in ([1, 41, 2], [1, 2, 40, 2])
    assert result.result is not None
    assert result.result.data == 40
    assert [status for _, status in rows_beside(str(result.run))] == ["success"] * 40


def test_no_more_steps_wait_than_may(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = counted(space, monkeypatch)
    result = run_of(space, chain(3 * MAX_STEPS))
    assert max(sizes) == MAX_STEPS + 2
    assert len(rows_beside(str(result.run))) == 3 * MAX_STEPS


def test_who_is_told_of_a_step_finds_it_in_the_journal(space: Space) -> None:
    heard: list[tuple[str, bool]] = []
    order: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, StepFinished):
            with OTHER[0].store.reading() as snapshot:
                there = [row.position for row in snapshot.steps(event.row.run)]
                content = snapshot.get(str(event.row.resource))
            assert isinstance(content, ReadNote)
            heard.append((event.row.position, event.row.position in there))
        if isinstance(event, StepStarted | StepFinished):
            order.append(
                f"{type(event).__name__} {event.position if isinstance(event, StepStarted) else event.row.position}"
            )

    prepared = prepare(space, {"steps": chain(5)})
    assert isinstance(prepared, Prepared)
    asyncio.run(Run(space, prepared.plan, listen).run(prepared.bound))
    assert heard == [(str(number), True) for number in range(1, 6)]
    assert order == [f"{what} {number}" for number in range(1, 6) for what in ("StepStarted", "StepFinished")]


def test_a_run_that_is_taken_over_writes_nothing_of_what_it_computed_since(space: Space) -> None:
    prepared = prepare(space, {"steps": [*chain(3), {"type": "lose-lease", "value": "$x3", "out": "$y"}]})
    assert isinstance(prepared, Prepared)
    told: list[str] = []
    run = Run(space, prepared.plan, lambda event: told.append(type(event).__name__))
    with pytest.raises(LeaseLost, match="somebody else"):
        asyncio.run(run.run(prepared.bound))
    assert told.count("StepFinished") == len(rows_beside(run.id)) <= 1
    assert RunFinished.__name__ not in told


def test_what_cannot_be_stored_fails_its_own_step_and_none_before_it(space: Space) -> None:
    lone = {"type": "make-text", "value": "lone", "out": "$t", "on_fail": "continue"}
    result = run_of(space, [*chain(3), lone, *chain(9, first=7)])
    statuses = ["success", "success", "success", "failed", "success", "success", "success"]
    assert [row.status for row in result.steps] == statuses
    assert [status for _, status in rows_beside(str(result.run))] == statuses
    assert "lone surrogate" in str(result.steps[3].reason)


def test_a_long_text_is_written_with_its_own_step(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = counted(space, monkeypatch)
    long = {"type": "make-text", "value": "long", "out": "$t"}
    result = run_of(space, [*chain(3), long])
    # What was unwritten goes with it; nothing is left for the end but that of the run.
    assert sizes in ([1, 5, 2], [1, 2, 4, 2])
    assert len(rows_beside(str(result.run))) == 4


def test_what_was_made_before_it_is_written_is_read_as_it_is_stored(space: Space) -> None:
    steps = [
        {"type": "create-note", "value": {"b": [1.0, "é"], "a": None}, "out": "$n"},
        {"type": "compute", "expression": "$n.b[0]", "out": "$one"},
        {"type": "create-note", "value": "${one} ${n.b[1]}", "out": "$t"},
        {"type": "create-collection", "value": ["$n", "$t"], "out": "$c"},
        {"type": "size", "target": "$c", "out": "$size"},
    ]
    result = run_of(space, steps)
    assert result.status == "success", result.reason
    with OTHER[0].store.reading() as snapshot:
        rows = {row.position: row for row in snapshot.steps(str(result.run))}
        note = snapshot.get(str(rows["1"].resource))
        text = snapshot.get(str(rows["3"].resource))
    assert isinstance(note, ReadNote)
    assert isinstance(text, ReadNote)
    assert note.content == {"b": [1.0, "é"], "a": None}
    assert text.content == "1.0 é"
    assert {use.id for use in rows["3"].uses} == {rows["1"].resource, rows["2"].resource}
    assert result.bindings["n"].created == note.created
