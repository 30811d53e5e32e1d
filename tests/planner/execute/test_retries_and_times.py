"""`retry` and `timeout_s`: attempts, their positions, and what a step has time for."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import InfospaceError, Space
from infospace.tools.local import LocalTools
from planner.execute.retry import retry_delay
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare, run_sync
from planner.journal.events import Event, StepFinished
from planner.journal.result import RunResult
from planner.language.plan import Retry
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import Limits

SEVEN = {"type": "create-note", "value": 7, "out": "$n"}
CUT = {"type": "coerce", "target": "$n", "coercion": "${n}", "out": "$m"}


def test_each_attempt_is_a_row_of_its_own(run: Any) -> None:
    """`2`, `2#2`, `2#3`; the last failure is the step's."""
    result = run(SEVEN, {**CUT, "retry": {"attempts": 3, "wait_s": 0}})
    assert result.status == "failed"
    assert [row.position for row in result.steps] == ["1", "2", "2#2", "2#3"]
    again = {"retried": True, "handled": True}
    assert [row.extra for row in result.steps[1:]] == [again, again, {}]


def test_without_a_wait_nothing_is_multiplied(run: Any) -> None:
    """However large the factor is."""
    result = run(SEVEN, {**CUT, "retry": {"attempts": 4, "wait_s": 0, "backoff": 1e200}})
    assert [row.position for row in result.steps] == ["1", "2", "2#2", "2#3", "2#4"]


def test_a_handler_runs_after_the_last_attempt_alone(run: Any) -> None:
    """Attempts that are followed by another are no failure to handle."""
    handler = [{"type": "create-note", "value": "${error.step}", "out": "$m"}]
    result = run(SEVEN, {**CUT, "retry": {"attempts": 2, "wait_s": 0}, "on_fail": handler})
    assert (result.status, result.result.data) == ("success", "2#2")


def test_a_call_that_succeeds_is_made_once(run: Any) -> None:
    """`retry` changes nothing then."""
    result = run({**SEVEN, "retry": {"attempts": 5}})
    assert [row.position for row in result.steps] == ["1"]


def test_map_attempts_each_item_again(run: Any) -> None:
    """Its items fail after their last attempt."""
    each = {
        "type": "map",
        "target": "$c",
        "operation": {"type": "load", "slice": "0:1"},
        "out": "$r",
        "on_fail": "continue",
        "retry": {"attempts": 2, "wait_s": 0},
    }
    result = run({"type": "create-collection", "value": [[1], 7], "out": "$c"}, each)
    assert result.result.data == [[1]]


def test_bad_retries_and_times_are_refused(errors: Any) -> None:
    """At their places, with the nearest key."""
    found = errors([{**SEVEN, "retry": {"attempt": 2, "wait_s": -1}, "timeout_s": 0}, {"type": "say", "value": "${n}"}])
    assert {(problem.code, problem.pointer) for problem in found} == {
        ("unknown-key", "/0/retry/attempt"),
        ("bad-value", "/0/retry/wait_s"),
        ("bad-value", "/0/timeout_s"),
    }
    block = {"type": "if", "condition": {"type": "bound", "target": "$n"}, "then": [], "retry": {"attempts": 2}}
    [problem] = errors([SEVEN, block])
    assert (problem.code, problem.pointer) == ("bad-value", "/1/retry")


@pytest.mark.parametrize(
    ("key", "value", "least"),
    [
        ("attempts", 0, "a whole number from 1"),
        ("attempts", 2.5, "a whole number from 1"),
        ("attempts", True, "a whole number from 1"),
        ("wait_s", -0.5, "a number from 0"),
        ("backoff", 0.5, "a number from 1"),
        ("backoff", False, "a number from 1"),
    ],
)
def test_a_number_of_a_retry_that_is_too_small_or_none_is_refused(
    errors: Any, key: str, value: Any, least: str
) -> None:
    """The least that each may be is taken, and no less."""
    say = {"type": "say", "value": "${n}"}
    [problem] = errors([{**SEVEN, "retry": {key: value}}, say])
    assert (problem.code, problem.pointer) == ("bad-value", f"/0/retry/{key}")
    assert least in problem.message
    assert errors([{**SEVEN, "retry": {"attempts": 1, "wait_s": 0, "backoff": 1}}, say]) == []
    assert errors([{**SEVEN, "retry": {"wait_s": 0.5, "backoff": 1.5}}, say]) == []


def test_a_step_that_takes_longer_fails_with_a_timeout(run: Any) -> None:
    """An `on_fail` may handle it."""
    slow = {"type": "if", "condition": {"type": "bound", "target": "$n"}, "then": [{"type": "wait", "seconds": 30}]}
    result = run(SEVEN, {**slow, "timeout_s": 0.01})
    assert result.status == "failed"
    assert "timeout_s" in result.reason
    handled = run(SEVEN, {**slow, "timeout_s": 0.01, "on_fail": [{"type": "say", "value": "${error.kind}"}]})
    assert handled.status == "success"
    assert next(row for row in handled.steps if row.type == "say").value == "timeout"


@pytest.fixture
def made(space: Space, limits: Limits) -> list[str]:
    """The calls of a server's tools: `send` may not be repeated, `look` may; both fail for what is no letter."""
    made: list[str] = []
    outside = LocalTools("outside")

    async def called(what: str) -> str:
        made.append(what)
        if not what.isalpha():
            raise InfospaceError(f"{what} is not a letter")
        return what

    @outside.tool()
    async def send(what: str) -> str:
        """Send a letter."""
        return await called(what)

    @outside.tool(read_only=True)
    async def look(what: str) -> str:
        """Look at a letter."""
        return await called(what)

    @outside.tool()
    async def drop(what: str) -> str:
        """Send a letter that never comes, until all time is over."""
        made.append(what)
        limits.run_out()
        await asyncio.Event().wait()
        return what

    space.tools.add(outside)
    return made


def test_what_stands_in_a_step_that_takes_longer_is_broken_off(run: Any, made: list[str]) -> None:
    """The journal says so."""
    drop = {"type": "outside/drop", "arguments": {"what": "a"}}
    slow = {"type": "if", "condition": {"type": "bound", "target": "$n"}, "then": [drop], "timeout_s": 0.01}
    result = run(SEVEN, slow)
    assert (result.status, made) == ("failed", ["a"])
    assert "`timeout_s` of 0.01 s" in result.reason
    assert next(row for row in result.steps if row.type == "outside/drop").error == "cancelled"


def over(space: Space, items: list[Any], operation: dict[str, Any], **fields: Any) -> RunResult:
    each = {"type": "map", "target": "$c", "operation": operation, "out": "$r"}
    retry = {"attempts": 3, "wait_s": 0}
    return run_sync(
        space, [{"type": "create-collection", "value": items, "out": "$c"}, {**each, "retry": retry, **fields}]
    )


@pytest.mark.parametrize(
    "operation",
    [
        {"type": "outside/send", "arguments": {"what": "$item"}},
        {"type": "call-tool", "tool": "outside/send", "arguments": {"what": "$item"}},
    ],
)
def test_a_map_repeats_no_call_that_may_have_had_its_effect(space: Space, made: list[str], operation: Any) -> None:
    """Neither the one that failed nor those of the items before it."""
    result = over(space, ["a", "b", "3", "d"], operation)
    assert (result.status, made) == ("failed", ["a", "b", "3"])
    assert [row.position for row in result.steps] == ["1", "2"]


def test_a_map_attempts_each_item_as_often_as_it_says(space: Space, made: list[str]) -> None:
    """The attempts of a failing item are not multiplied by those of the step."""
    assert over(space, ["1"], {"type": "outside/look", "arguments": {"what": "$item"}}).status == "failed"
    assert made == ["1"] * 3


def test_each_item_of_a_map_that_is_tried_again_is_told_by_its_place(
    space: Space, made: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The first is done, and the second is what fails."""
    with caplog.at_level("INFO", "planner.execute.retry"):
        over(space, ["a", "1"], {"type": "outside/look", "arguments": {"what": "$item"}})
    assert caplog.messages == [f"step 2[2] failed at attempt {at}; it is tried again in 0.0 s" for at in (1, 2)]
    assert made == ["a", "1", "1", "1"]


def test_a_map_that_runs_out_of_time_is_not_repeated(space: Space, made: list[str]) -> None:
    """The calls under way may have had their effect."""
    operation = {"type": "outside/drop", "arguments": {"what": "$item"}}
    result = over(space, ["a", "b"], operation, timeout_s=0.05)
    assert "`timeout_s`" in str(result.reason)
    assert made == ["a"]


def test_a_saved_plan_is_not_repeated_as_a_whole(space: Space, errors: Any) -> None:
    """Its steps may have had their effect; `retry` stands on them."""
    save_plan(space, "g", {"steps": [SEVEN]})
    [problem] = errors([{"type": "plan:g", "retry": {"attempts": 3}}])
    assert (problem.code, problem.pointer) == ("bad-value", "/0/retry")
    assert "a saved plan of several steps" in problem.message


def test_the_wait_between_two_attempts_ends_by_itself(run: Any) -> None:
    """Then the next attempt is made."""
    result = run(SEVEN, {**CUT, "retry": {"attempts": 2, "wait_s": 0.01}})
    assert [(row.position, row.error) for row in result.steps[1:]] == [("2", "invalid"), ("2#2", "invalid")]


@pytest.mark.parametrize("budget", [{}, {"seconds": 3600}])
def test_a_time_out_of_whoever_listens_is_not_that_of_the_budget(space: Space, budget: dict[str, int]) -> None:
    """It breaks the run off as any other failure of theirs does, and is told as what it is."""

    def listen(event: Event) -> None:
        if isinstance(event, StepFinished):
            raise TimeoutError("nobody takes what is told")

    prepared = prepare(space, {"steps": [{**SEVEN, "name": "seven"}], "budget": budget})
    assert isinstance(prepared, Prepared)
    run = Run(space, prepared.plan, listen)
    with pytest.raises(TimeoutError, match="nobody takes what is told"):
        asyncio.run(run.run(prepared.bound))
    with space.store.reading() as snapshot:
        row = snapshot.run(run.id)
    assert (row.status, row.reason) == ("failed", "the run broke off: TimeoutError: nobody takes what is told")


@pytest.mark.parametrize(("attempt", "seconds"), [(1, "2.0"), (2, "6.0"), (3, "18.0"), (20, "3600.0")])
def test_each_wait_is_longer_by_the_backoff_and_none_longer_than_an_hour(
    caplog: pytest.LogCaptureFixture, attempt: int, seconds: str
) -> None:
    """The first is `wait_s` itself. It ends at once where the run is to rest."""

    async def wait() -> None:
        halted = asyncio.Event()
        halted.set()
        await asyncio.wait_for(retry_delay(Retry(attempts=30, wait_s=2, backoff=3), attempt, halted, "4"), 60)

    with caplog.at_level("INFO", "planner.execute.retry"):
        asyncio.run(wait())
    assert caplog.messages == [f"step 4 failed at attempt {attempt}; it is tried again in {seconds} s"]


def test_a_tool_that_failed_is_called_again_where_that_is_safe(space: Space) -> None:
    """One that only reads, or may be called twice; another only where it was not reached."""
    outside, called = LocalTools("outside"), list[str]()

    @outside.tool(read_only=True)
    def look() -> str:
        """Look."""
        called.append("look")
        raise InfospaceError("not yet")

    @outside.tool(idempotent=True)
    def put() -> str:
        """Put something where it may be already."""
        called.append("put")
        raise InfospaceError("not yet")

    @outside.tool()
    def send(at: int) -> str:
        """Send something."""
        called.append("send")
        raise InfospaceError("not yet")

    @outside.tool(read_only=True)
    def give() -> Any:
        """Give something that is no number."""
        return "soon"

    space.tools.add(outside)
    retry = {"retry": {"attempts": 3, "wait_s": 0}}
    for step, times in (
        ({"type": "outside/look"}, 3),
        ({"type": "outside/put"}, 3),
        ({"type": "outside/send", "arguments": {"at": 1}}, 1),
    ):
        called.clear()
        result = run_sync(space, [{**step, **retry}])
        assert (result.status, len(called), len(result.steps)) == ("failed", times, times)
    called.clear()
    result = run_sync(
        space, [{"type": "outside/give", "out": "$g"}, {"type": "outside/send", "arguments": {"at": "$g"}, **retry}]
    )
    assert (result.status, called) == ("failed", [])
    assert [row.position for row in result.steps] == ["1", "2", "2#2", "2#3"]
    assert result.steps[-1].error == "invalid"
