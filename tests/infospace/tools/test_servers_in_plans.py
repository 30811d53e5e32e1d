"""What the check and the run hold tools of servers to: their schemas, whatever these look like."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from served import odd, synced, write

from infospace import Space
from planner.execute.start import check_plan, run_sync

PROMISE = {"type": "s/promise", "arguments": {"n": 3}, "out": "$p"}


@pytest.fixture
def known(space: Space) -> Space:
    """A space with a server that says what it takes and gives."""
    write(Path(space.store.address).parent, s=odd("promises", trusted=True))
    assert synced(space).failed == []
    return space


@pytest.mark.parametrize(
    ("arguments", "code", "pointer"),
    [
        ({"n": "3"}, "bad-argument", "/0/arguments/n"),
        ({"m": 3}, "unknown-argument", "/0/arguments/m"),
        ({"n": [1]}, "bad-argument", "/0/arguments/n"),
    ],
)
def test_arguments_are_held_against_the_listed_schema_before_anything_runs(
    known: Space, arguments: Any, code: str, pointer: str
) -> None:
    """In plans, in `map`, and by `call-tool`; no server is started for it."""
    for plan, place in (
        ([{**PROMISE, "arguments": arguments}], pointer),
        ([{"type": "call-tool", "tool": "s/promise", "arguments": arguments}], pointer),
        (
            [
                {"type": "create-collection", "value": [1], "out": "$c"},
                {
                    "type": "map",
                    "target": "$c",
                    "operation": {"type": "s/promise", "arguments": arguments},
                    "out": "$m",
                },
            ],
            pointer.replace("/0/", "/1/operation/"),
        ),
    ):
        [problem] = [one for one in check_plan(known, plan)[1].found if one.severity == "error"]
        assert (problem.code, problem.pointer) == (code, place)
        assert run_sync(known, plan).status == "refused"
    with known.store.reading() as snapshot:
        assert snapshot.tool_uses() == []


def test_what_a_server_promises_is_known_to_later_steps(known: Space) -> None:
    """Fields and their types; through project and into the arguments of another call."""
    right = [PROMISE, {**PROMISE, "arguments": {"n": "$p.n"}, "out": "$q"}]
    result = run_sync(known, right)
    assert result.result is not None
    assert (result.status, result.result.data) == ("success", {"n": 3})
    rows = {"type": "create-collection", "value": ["$p"], "out": "$c"}
    for wrong, code in (
        ([PROMISE, {"type": "say", "value": "${p.nn}"}], "unknown-field"),
        ([PROMISE, {**PROMISE, "arguments": {"n": "$p"}, "out": "$q"}], "bad-argument"),
        ([PROMISE, rows, {"type": "pluck", "target": "$c", "field": "m", "out": "$m"}], "unknown-field"),
    ):
        assert [one.code for one in check_plan(known, wrong)[1].found if one.severity == "error"] == [code]


def test_a_promise_that_is_not_kept_is_told_and_kept(known: Space) -> None:
    """The value stays; where it then does not fit, the step that takes it fails before the call, and says so."""
    broken = {**PROMISE, "arguments": {}}
    result = run_sync(known, [broken])
    assert result.status == "success"
    assert result.steps[0].extra["misfits"] == ['"three" is not a whole number at `n`']
    result = run_sync(known, [broken, {**PROMISE, "arguments": {"n": "$p.n"}, "out": "$q"}])
    assert result.status == "failed"
    assert "unchecked: the arguments of s/promise do not fit its schema" in str(result.reason)


def test_an_argument_of_which_an_open_schema_says_nothing_is_a_warning(space: Space) -> None:
    """The call may be made; beside an argument that is missing it is told as what was meant for that."""
    write(Path(space.store.address).parent, one=odd("plain", trusted=True))
    assert synced(space).failed == []

    def found(**arguments: Any) -> list[tuple[str, str, str, str | None]]:
        plan = [{"type": "one/echo", "arguments": arguments}]
        problems = check_plan(space, plan)[1].found
        return [(one.severity, one.code, one.pointer, one.hint) for one in problems]

    assert found(text="x", txt="y") == [("warning", "unknown-argument", "/0/arguments/txt", "it takes text")]
    assert found(txt="y") == [("error", "missing-argument", "/0/arguments", "is 'txt' meant for it?")]
    assert found(text="x") == []
    assert run_sync(space, [{"type": "one/echo", "arguments": {"text": "x", "txt": "y"}}]).status == "success"


def test_keys_that_a_pattern_allows_are_not_unknown(space: Space) -> None:
    """Only the others are."""
    write(Path(space.store.address).parent, s=odd("schemas", trusted=True))
    assert synced(space).failed == []
    found = check_plan(space, [{"type": "s/keys", "arguments": {"x_1": 1, "y": 2, "x_2": "two"}}])[1].found
    assert sorted((one.code, one.pointer) for one in found) == [
        ("bad-argument", "/0/arguments/x_2"),
        ("unknown-argument", "/0/arguments/y"),
    ]
