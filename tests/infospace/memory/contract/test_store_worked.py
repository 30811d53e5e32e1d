"""Calls of tools that went well are remembered, as long as their run is there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from store_tools import AT, open_run

from infospace.core.json_types import JSON
from infospace.journal.rows import CallRow, CallStatus, CloseRun, OpenRun
from infospace.store.protocol import Store

CALL = CallRow("run_1", 1, "1", "tool", "files/read", b"\x00d", "started", AT)
WELL: JSON = {"blocks": [], "is_error": False}


def run_for(store: Store, goal: str) -> str:
    """Return a run that has a goal."""
    run = store.new_id("run")
    store.commit([], [OpenRun(run, "plan", goal, {"steps": []}, {}, AT, "me")])
    return run


def make(
    store: Store,
    run: str,
    sequence: int,
    request: JSON,
    answer: JSON = WELL,
    target: str = "files/read",
    status: CallStatus = "success",
) -> None:
    """Have a run make a call."""
    begun = replace(CALL, run=run, sequence=sequence, request=request, target=target)
    store.commit([], [begun])
    store.commit([], [replace(begun, status=status, answer=answer)])


def known(store: Store) -> list[tuple[str, str, object]]:
    with store.reading() as snapshot:
        return [(one.goal, one.tool, one.arguments) for one in snapshot.successful_calls(100)]


def test_what_went_well_is_remembered_with_its_goal(store: Store) -> None:
    """The latest first, the same arguments once, or none; a failure, an answered error, and a model are not."""
    first, second = run_for(store, "one"), run_for(store, "two")
    make(store, first, 1, {"path": "a", "n": [1, None]})
    make(store, first, 2, {"path": "b"})
    make(store, second, 1, {"path": "a", "n": [1, None]})
    before = known(store)
    assert before == [("two", "files/read", {"path": "a", "n": [1, None]}), ("one", "files/read", {"path": "b"})]
    make(store, second, 2, {"path": "c"}, status="failed", answer=None)
    make(store, second, 3, {"path": "d"}, answer={"blocks": [], "is_error": True})
    store.commit([], [replace(CALL, run=second, sequence=5), replace(CALL, run=second, sequence=6, kind="llm")])
    store.commit([], [replace(CALL, run=second, sequence=6, kind="llm", status="success", request={"path": "e"})])
    assert known(store) == before
    make(store, second, 7, {})
    assert known(store) == [("two", "files/read", {}), *before]


def test_few_and_short_ones_are_remembered_of_each_tool(store: Store) -> None:
    """The latest; what is long is content, and no example."""
    run = open_run(store)
    for sequence in range(1, 10):
        make(store, run, sequence, {"path": str(sequence)})
    make(store, run, 10, {"path": "x" * 1_000})
    make(store, run, 11, {"q": "y"}, target="web/find")
    assert [arguments for *_, arguments in known(store)] == [{"q": "y"}, *({"path": p} for p in "98765")]
    with store.reading() as snapshot:
        assert len(snapshot.successful_calls(2)) == 2


@pytest.mark.parametrize("size", [500, 501])
def test_arguments_of_five_hundred_characters_are_remembered(store: Store, size: int) -> None:
    """As JSON; one more is too long."""
    long = {"path": "x" * (size - len('{"path":""}'))}
    make(store, open_run(store), 1, long)
    assert [arguments for *_, arguments in known(store)] == ([long] if size == 500 else [])


@pytest.mark.parametrize("count", [5, 6])
def test_five_calls_of_a_tool_are_remembered_and_of_these_the_latest(store: Store, count: int) -> None:
    """Whatever other tools were called between."""
    run = open_run(store)
    for sequence in range(1, count + 1):
        make(store, run, 2 * sequence, {"path": str(sequence)})
        make(store, run, 2 * sequence + 1, {"q": "same"}, target="web/find")
    mine = [arguments["path"] for _, tool, arguments in known(store) if tool != "web/find"]
    assert mine == [str(number) for number in range(count, count - 5, -1)]
    assert [tool for _, tool, _ in known(store)].count("web/find") == 1


def test_what_is_removed_with_its_run_is_forgotten(store: Store) -> None:
    """And whoever remembers it is told by a number that is another one."""
    run = open_run(store)
    numbers = []
    for act in (lambda: None, lambda: make(store, run, 1, {"path": "a"}), lambda: remove(store, run)):
        act()
        with store.reading() as snapshot:
            numbers.append(snapshot.successful_calls_generation())
    assert len(set(numbers)) == 3
    assert known(store) == []
    assert store.check() == []


def remove(store: Store, run: str) -> None:
    store.commit([], [CloseRun(run, "success", AT)])
    store.forget([run], really=True)
