"""Steps that only compute are written to the journal together; nobody is told of one that is not in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from infospace import Args, Context, Note, Ref, Space, open_space, primitive
from infospace.contract.catalogue import PackageProvider
from infospace.core.bounds import Stop, check_time, stopped_by
from infospace.core.clock import now
from infospace.core.errors import LeaseLost, StoreError
from infospace.core.resources import Note as ReadNote
from infospace.journal.rows import ClaimRun, StepRow
from planner.execute import run as running
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare
from planner.journal.events import Event, RunFinished, StepFinished, StepStarted
from planner.journal.result import RunResult
from planner.journal.unwritten import MAX_BRACKETS, MAX_CHARACTERS, MAX_STEPS

OTHER: list[Space] = []
"""The same space, opened once more."""
HEARD: list[Event] = []
"""What a listener was told."""
STOP = Stop()
"""Ends what computes."""


class OneMore(Args):
    """Arguments of the primitives here."""

    value: Any


class OfNote(Args):
    """Arguments of a primitive that takes a Note."""

    target: Ref[Note]


@primitive(effect="pure", waits=False, examples=[{"type": "one-more", "value": 1, "out": "$x"}])
async def one_more(args: OneMore, context: Context) -> Note[Any]:
    """Add one to a number."""
    return context.note(args.value + 1)


@primitive(effect="pure", waits=False, examples=[{"type": "make-text", "value": "x", "out": "$x"}])
async def make_text(args: OneMore, context: Context) -> Note[Any]:
    """Make what a store refuses, or might."""
    deep: Any = []
    for _ in range(MAX_BRACKETS):
        deep = [deep]
    return context.note({"lone": "\ud800", "long": "x" * (MAX_CHARACTERS + 1), "deep": deep}[args.value])


@primitive(effect="pure", waits=False, examples=[{"type": "lose-lease", "value": "x", "out": "$x"}])
async def lose_lease(args: OneMore, context: Context) -> Note[Any]:
    """Have another process take the run over."""
    run = str(context.created_by.run)
    with OTHER[0].store.reading() as snapshot:
        owner = snapshot.run(run).owner
    OTHER[0].store.commit([], [ClaimRun(run, "somebody else", owner, now())])
    return context.note(args.value)


@primitive(effect="pure", waits=False, examples=[{"type": "never-end", "value": "x", "out": "$x"}])
async def never_end(args: OneMore, context: Context) -> Note[Any]:
    """Compute until the time is over, or somebody stops it."""
    STOP.now = args.value == "stop"
    while True:
        check_time()


@primitive(effect="pure", waits=False, examples=[{"type": "sort-it", "target": "$x", "out": "$y"}])
async def sort_it(args: OfNote, context: Context) -> Note[Any]:
    """Sort a list in its place, which is not asked for: a step has no say in what earlier ones made."""
    args.target.content.sort()
    args.target.metadata["sorted"] = True  # type: ignore[index]
    return context.note(args.target.content)


@primitive(effect="pure", waits=False, examples=[{"type": "take-long", "value": "x", "out": "$x"}])
async def take_long(args: OneMore, context: Context) -> Note[Any]:
    """Tell how far it has come; return what those who listen have heard by then."""
    context.progress(1, 2, "numbers")
    return context.note([type(event).__name__ for event in HEARD])


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Space]:
    """A space whose runs let others go on once in an hour, and the same one beside it."""
    monkeypatch.setattr(running, "EVENT_LOOP_YIELD_SECONDS", 3_600.0)
    module = ModuleType("computing")
    for one in (one_more, make_text, lose_lease, never_end, sort_it, take_long):
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


@pytest.mark.parametrize("value", ["long", "deep"])
def test_what_a_store_might_refuse_is_written_with_its_own_step(
    space: Space, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    sizes = counted(space, monkeypatch)
    steps = [*chain(3), {"type": "make-text", "value": value, "out": "$t"}, *chain(8, first=8)]
    result = run_of(space, steps)
    # What was unwritten goes with it, and what comes after does not.
    assert sizes in ([1, 5, 2, 2], [1, 2, 4, 2, 2])
    assert len(rows_beside(str(result.run))) == 5


def test_a_commit_that_fails_once_leaves_the_steps_in_their_order(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks, or breaks off, in between never finds a step without those before it."""
    written: list[str] = []
    commit, refused = space.store.commit, list[int]()

    def refusing(changes: Any, entries: Any = ()) -> int:
        places = [entry.position for entry in entries if isinstance(entry, StepRow)]
        if len(places) > 1 and "4" in places and not refused:
            refused.append(1)
            raise StoreError("the space is locked by another process")
        generation = commit(changes, entries)
        written.extend(places)
        return generation

    monkeypatch.setattr(space.store, "commit", refusing)
    result = run_of(space, [*chain(3), {"type": "make-text", "value": "long", "out": "$t"}, *chain(8, first=8)])
    assert (result.status, refused) == ("success", [1])
    assert written == ["1", "2", "3", "4", "5"]


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


def run_told(space: Space, document: dict[str, Any], listen: Callable[[Event], None]) -> tuple[Run, list[str]]:
    """Run a plan to its end; return the run, and what the loop was told of that nobody handled."""
    unhandled: list[str] = []
    prepared = prepare(space, document)
    assert isinstance(prepared, Prepared), prepared.problems
    run = Run(space, prepared.plan, listen)

    async def all_of_it() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: unhandled.append(repr(context)))
        await run.run(prepared.bound)

    asyncio.run(all_of_it())
    return run, unhandled


def status_beside(run: str) -> tuple[str, str | None]:
    with OTHER[0].store.reading() as snapshot:
        row = snapshot.run(run)
    return row.status, row.reason


def test_what_is_unwritten_when_the_budget_of_seconds_ends_is_written(space: Space) -> None:
    document = {"steps": [*chain(3), {"type": "never-end", "value": "x"}], "budget": {"seconds": 0.3}}
    run, unhandled = run_told(space, document, lambda _event: None)
    assert status_beside(run.id) == ("failed", "step 4 (never-end) failed: the budget of 0.3 seconds ran out")
    assert [status for _, status in rows_beside(run.id)] == ["success"] * 3 + ["failed"]
    assert unhandled == []


@pytest.mark.parametrize("count", [1, 3])
def test_what_is_unwritten_when_the_time_of_a_loop_ends_is_written(space: Space, count: int) -> None:
    do = [*chain(count), {"type": "never-end", "value": "x"}]
    loop = {"type": "for-each", "target": ["a"], "as": "$item", "do": do, "timeout_s": 0.3}
    began = time.monotonic()
    run, unhandled = run_told(space, {"steps": [loop]}, lambda _event: None)
    assert time.monotonic() - began < 20
    reason = "step 1 (for-each) failed: it took longer than its `timeout_s` of 0.3 s"
    assert status_beside(run.id) == ("failed", reason)
    inner = [(f"1.do[1].{number + 1}", "success") for number in range(count)]
    rows = [*inner, (f"1.do[1].{count + 1}", "failed"), ("1", "failed")]
    assert sorted(rows_beside(run.id)) == sorted(rows)
    assert unhandled == []


def test_what_is_unwritten_when_a_run_is_stopped_is_written(space: Space) -> None:
    prepared = prepare(space, {"steps": [*chain(3), {"type": "never-end", "value": "stop"}]})
    assert isinstance(prepared, Prepared)
    run = Run(space, prepared.plan, lambda _event: None)

    async def stopped() -> None:
        stopped_by(STOP)
        task = asyncio.create_task(run.run(prepared.bound))
        await asyncio.sleep(0.05)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
    assert status_beside(run.id)[0] == "cancelled"
    assert [status for _, status in rows_beside(run.id)] == ["success"] * 3 + ["failed"]


class GoneError(Exception):
    """Whoever listened is gone."""


@pytest.mark.parametrize(("yields", "halts"), [(3_600.0, False), (0.0, False), (0.0, True)])
def test_a_listener_that_fails_breaks_the_run_off_and_nothing_that_was_written_is_untold(
    space: Space, monkeypatch: pytest.MonkeyPatch, yields: float, halts: bool
) -> None:
    monkeypatch.setattr(running, "EVENT_LOOP_YIELD_SECONDS", yields)
    told: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, StepFinished):
            told.append(event.row.position)
            if event.row.position == "3":
                if halts:
                    run.halt.set()
                raise GoneError(event.row.position)

    prepared = prepare(space, {"steps": chain(9)})
    assert isinstance(prepared, Prepared)
    run = Run(space, prepared.plan, listen)
    with pytest.raises(GoneError, match=r"^3$"):
        asyncio.run(run.run(prepared.bound))
    assert status_beside(run.id) == ("failed", "the run broke off: GoneError: 3")
    assert told == [position for position, _ in rows_beside(run.id)]


def test_a_step_without_extra_has_an_empty_one_whether_it_is_written_or_not(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [*chain(2), {"type": "create-note", "value": {"all": "$x2.@extra"}, "out": "$n"}]
    for yields in (3_600.0, 0.0):
        monkeypatch.setattr(running, "EVENT_LOOP_YIELD_SECONDS", yields)
        result = run_of(space, steps)
        assert (result.status, result.reason) == ("success", None)
        assert result.result is not None
        assert result.result.data == {"all": {}}


def test_a_step_that_changes_in_place_what_it_was_given_changes_nothing_that_is_stored(space: Space) -> None:
    steps = [
        *chain(2),
        {"type": "create-note", "value": [3, 1, 2], "out": "$list"},
        {"type": "sort-it", "target": "$list", "out": "$sorted"},
        {"type": "create-note", "value": "$list", "out": "$after"},
    ]
    result = run_of(space, steps)
    assert result.status == "success", result.reason
    contents = {name: result.bindings[name].content for name in ("list", "sorted", "after")}  # type: ignore[union-attr]
    assert contents == {"list": [3, 1, 2], "sorted": [1, 2, 3], "after": [3, 1, 2]}
    assert result.bindings["list"].metadata == {}


def test_who_listens_hears_at_once_how_far_a_long_step_has_come(space: Space) -> None:
    HEARD.clear()
    run, _ = run_told(space, {"steps": [*chain(3), {"type": "take-long", "value": "x", "out": "$h"}]}, HEARD.append)
    heard = run.bindings()["h"].content  # type: ignore[union-attr]
    assert heard == ["RunStarted", *["StepStarted", "StepFinished"] * 3, "StepStarted", "Progressed"]
