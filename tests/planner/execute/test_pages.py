"""`pages`: a tool called until it has no more; each call is one of the run's, and all items are one Collection."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.tools.local import LocalTools
from infospace.tools.mcp.catalogue.sync import sync
from planner.execute.run import Run
from planner.execute.start import Prepared, check_plan, prepare, run_sync
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import StepStarted
from planner.journal.result import RunResult
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, resume

pytestmark = pytest.mark.usefixtures("warm_processes")

SERVER = Path(__file__).parent / "paged_server.py"
ISSUES: dict[str, Any] = {
    "type": "pages",
    "tool": "s/issues",
    "arguments": {"project": "infospace", "cursor": "$page"},
    "items": "issues",
    "next": "page_info.end_cursor",
    "out": "$all",
}
ROWS: dict[str, Any] = {"type": "pages", "tool": "s/rows", "arguments": {"page": "$page"}, "first": 1, "out": "$all"}
TITLES = [f"issue {page}.{one}" for page in (1, 2, 3) for one in (1, 2)]


class Paged:
    """A space with the server of pages, and what was called."""

    def __init__(self, space: Space, log: Path) -> None:
        self.space = space
        self._log = log

    @property
    def calls(self) -> list[str]:
        return self._log.read_text(encoding="utf-8").splitlines()

    def run(self, *steps: Any, **more: Any) -> RunResult:
        return run_sync(self.space, {"steps": list(steps), **more})

    def errors(self, *steps: Any) -> list[tuple[str, str]]:
        problems = check_plan(self.space, list(steps))[1].found
        return [(one.code, one.pointer) for one in problems if one.severity == "error"]


def serve(folder: Path) -> Path:
    """Write the servers of the space in a folder; return the log of the calls."""
    log = folder / "calls.log"
    log.touch()
    entry = {"command": sys.executable, "args": ["-I", "-S", str(SERVER), str(log)], "trusted": True}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"s": entry}}), encoding="utf-8")
    return log


@pytest.fixture
def paged(space: Space) -> Paged:
    """A space with the server."""
    log = serve(Path(space.store.address).parent)
    assert asyncio.run(sync(space)).failed == []
    return Paged(space, log)


def data(result: RunResult) -> Any:
    assert result.result is not None, result.reason
    return result.result.data


def test_cursors_are_followed_to_the_last_page(paged: Paged) -> None:
    """The first call is without the argument that is exactly `$page`; the others have the cursor before."""
    result = paged.run(ISSUES)
    assert [item["title"] for item in data(result)] == TITLES
    assert paged.calls == [
        'issues {"project": "infospace"}',
        'issues {"project": "infospace", "cursor": "c2"}',
        'issues {"project": "infospace", "cursor": "c3"}',
    ]
    [row] = result.steps
    assert (row.extra["pages"], row.extra["item_count"]) == (3, 6)
    assert paged.space.store.check() == []


def test_with_first_the_first_call_has_it(paged: Paged) -> None:
    """A cursor to begin with, from a variable as well."""
    result = paged.run({"type": "create-note", "value": "c2", "out": "$c"}, {**ISSUES, "first": "$c"})
    assert [item["title"] for item in data(result)] == TITLES[2:]
    assert paged.calls[0] == 'issues {"project": "infospace", "cursor": "c2"}'


def test_pages_of_numbers_end_at_an_empty_one(paged: Paged) -> None:
    """An answer that is JSON text is read as JSON, and without `items` is the list itself."""
    result = paged.run(ROWS)
    assert data(result) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [row.extra["pages"] for row in result.steps] == [4]
    assert paged.calls == [f'rows {{"page": {number}}}' for number in (1, 2, 3, 4)]


def test_numbers_begin_and_go_on_as_the_plan_says(paged: Paged) -> None:
    """`first` and `step` may be of variables."""
    start = {"type": "create-note", "value": {"at": 0, "by": 2}, "out": "$from"}
    result = paged.run(start, {**ROWS, "first": "$from.at", "step": "$from.by"})
    assert data(result) == [{"n": 0}, {"n": 2}]
    assert paged.calls[-1] == 'rows {"page": 4}'


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ({"at": True, "by": 1}, "unchecked: `first` is a whole number, not true"),
        ({"at": 1.5, "by": 1}, "unchecked: `first` is a whole number, not 1.5"),
        ({"at": "one", "by": 1}, 'unchecked: `first` is a whole number, not "one"'),
        ({"at": -1, "by": 0}, "unchecked: `step` is a whole number from 1, not 0"),
        ({"at": -1, "by": True}, "unchecked: `step` is a whole number from 1, not true"),
    ],
)
def test_a_number_of_a_page_that_only_the_run_knows_is_looked_at_there(
    paged: Paged, start: dict[str, Any], reason: str
) -> None:
    """No call is made."""
    ask = {"type": "ask", "value": "From where?", "out": "$from"}
    waiting = paged.run(ask, {**ROWS, "first": "$from.at", "step": "$from.by"})
    answer(paged.space, str(waiting.run), "1", start)
    result = asyncio.run(resume(paged.space, str(waiting.run)))
    assert [row.reason for row in result.steps] == [None, reason]
    assert paged.calls == []


@pytest.mark.parametrize(("end", "items"), [("null", [1, 2]), ("false", [1, 2]), ('""', [1, 2]), ("absent", [1])])
def test_a_cursor_that_is_none_ends_the_pages(paged: Paged, end: str, items: list[int]) -> None:
    """Null, false, the empty text, and none at all; `items` that are null are none."""
    step = {"type": "pages", "tool": "s/ends", "arguments": {"cursor": "$page"}, "items": "items", "next": "next"}
    assert data(paged.run({**step, "first": end, "out": "$all"})) == items
    assert len(paged.calls) == 2


def test_a_cursor_that_came_before_fails_the_step(paged: Paged) -> None:
    """The pages would never end."""
    step = {"type": "pages", "tool": "s/round_about", "arguments": {"cursor": "$page"}, "items": "issues"}
    result = paged.run({**step, "next": "next", "out": "$all"})
    assert result.status == "failed"
    assert 'page 3: the cursor "c2" came before, so the pages would never end' in str(result.reason)
    result = paged.run({**step, "next": "next", "first": "c1", "out": "$all"})
    assert 'page 2: the cursor "c1" came before' in str(result.reason)


def test_needing_more_pages_than_allowed_is_a_failure(paged: Paged) -> None:
    """Which says so; no more calls are made, and nothing of the items stays."""
    step = {"type": "pages", "tool": "s/endless", "arguments": {"page": "$page"}, "first": 1, "items": "rows"}
    result = paged.run({**step, "max_pages": 5, "out": "$all"})
    assert result.status == "failed"
    assert "there are more pages than the 5 that `max_pages` allows" in str(result.reason)
    assert [(row.status, row.error) for row in result.steps] == [("failed", "pages")]
    assert len(paged.calls) == 5
    assert data(paged.run({**ISSUES, "max_pages": 3}))
    assert "more pages than the 2" in str(paged.run({**ISSUES, "max_pages": 2}).reason)


def test_a_call_that_fails_is_made_again_alone(paged: Paged) -> None:
    """`retry` counts each page; without it the failure names the page, and `on_fail` handles the step."""
    step = {**ROWS, "tool": "s/flaky"}
    result = paged.run({**step, "retry": {"attempts": 2, "wait_s": 0}})
    assert data(result) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [json.loads(call.removeprefix("flaky "))["page"] for call in paged.calls] == [1, 2, 3, 3, 4]


def test_a_failing_page_fails_the_step_and_is_named(paged: Paged) -> None:
    """`on_fail` handles the whole step."""
    handler = [{"type": "create-note", "value": "${error.reason}", "out": "$all"}]
    step = {**ROWS, "tool": "s/flaky"}
    result = paged.run({**step, "on_fail": handler})
    assert data(result).startswith("page 3: ")
    assert "too busy" in data(result)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"tool": "s/prose"}, "page 3: the answer of s/prose"),
        ({"tool": "s/odd", "items": "rows"}, 'page 2: unchecked: `rows` is {"n": 1}, not a list of items'),
        ({"tool": "s/odd"}, 'page 1: unchecked: the answer is {"rows": [1]}, not a list of items'),
        ({"items": "rows"}, "page 1: `rows` does not exist"),
        ({"tool": "s/endless", "items": "rowz"}, "page 1: `rowz` does not exist"),
    ],
)
def test_an_answer_without_a_list_fails_the_step(paged: Paged, step: dict[str, Any], reason: str) -> None:
    """It says which page, and what was there."""
    result = paged.run({**ROWS, **step})
    assert (result.status, [row.status for row in result.steps]) == ("failed", ["failed"])
    assert reason in str(result.reason)


def test_each_call_counts_and_is_journalled_at_its_page(paged: Paged) -> None:
    """Positions `1[1]`, `1[2]`, …; the budget of tool calls ends it; each item knows its call."""
    result = paged.run(ISSUES)
    with paged.space.store.reading() as snapshot:
        assert [call.position for call in snapshot.calls(str(result.run))] == ["1[1]", "1[2]", "1[3]"]
        found = snapshot.get(str(result.steps[0].resource))
        items = snapshot.get_many([member.id for member in getattr(found, "members", ())])
    assert [item.created_by.step for item in items] == ["1[1]", "1[1]", "1[2]", "1[2]", "1[3]", "1[3]"]
    result = paged.run(ISSUES, budget={"tool_calls": 2})
    assert "page 3: the budget of 2 tool_calls is spent" in str(result.reason)


def test_approval_is_asked_for_a_call_and_goes_on_there(paged: Paged) -> None:
    """What was called before the question is not called again."""
    step = {**ROWS, "tool": "s/draw"}
    result = paged.run(step)
    asked = []
    while result.status == "suspended":
        [pending] = result.pending
        asked.append(pending.step)
        answer(paged.space, str(result.run), pending.step, "once")
        result = asyncio.run(resume(paged.space, str(result.run)))
    assert asked == ["1[1]", "1[2]", "1[3]", "1[4]"]
    assert data(result) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert len(paged.calls) == 4


def test_a_replay_takes_the_calls_from_the_record(paged: Paged) -> None:
    """Nothing is called, and the outcome is the same."""
    first = paged.run(ISSUES, {"type": "pluck", "target": "$all", "field": "title", "out": "$t"})
    again = asyncio.run(replay(paged.space, str(first.run)))
    assert (again.result.status, data(again.result)) == ("success", data(first))
    assert len(paged.calls) == 3


def test_a_dry_run_shows_the_first_call(paged: Paged) -> None:
    """Nothing is called, and what would come of it is not known."""
    prepared = prepare(paged.space, [ISSUES, {"type": "size", "target": "$all", "out": "$n"}], {})
    assert isinstance(prepared, Prepared)
    ran = asyncio.run(dry_run(paged.space, prepared))
    shown = [(step["step"], step["status"]) for step in ran.document["steps"]]
    assert shown == [("1", "skipped"), ("2", "skipped")]
    would = ran.document["steps"][0]["would"]
    assert would == {"effect": "calls", "arguments": {"project": "infospace"}, "tool": "s/issues", "at_most": 100}
    assert paged.calls == []


RUNS = """
import sys
from infospace import open_space
from planner.execute.start import run_sync
import json
with open_space(sys.argv[1]) as space:
    run_sync(space, json.loads(sys.argv[2]))
"""


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_after_sigkill_the_pages_before_are_not_asked_for_again(tmp_path: Path) -> None:
    """The call that was under way only reads, so it is made once more."""
    log = serve(tmp_path)
    with open_space(tmp_path / "space.db") as space:
        assert asyncio.run(sync(space)).failed == []
    hold = log.with_suffix(".hold")
    hold.touch()
    command = [sys.executable, "-c", RUNS, str(tmp_path / "space.db"), json.dumps([ISSUES])]
    process = subprocess.Popen(command)
    try:
        _until(lambda: len(log.read_text(encoding="utf-8").splitlines()) == 3)
    finally:
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
    hold.unlink()
    with open_space(tmp_path / "space.db") as space:
        with space.store.reading() as snapshot:
            [run] = [row.run for row in snapshot.runs()]
        result = asyncio.run(resume(space, run))
        assert [item["title"] for item in data(result)] == TITLES
        assert space.store.check() == []
    cursors = [json.loads(line.removeprefix("issues ")).get("cursor") for line in log.read_text("utf-8").splitlines()]
    assert cursors == [None, "c2", "c3", "c3"]


# The check


def test_the_items_of_pages_are_known(paged: Paged) -> None:
    """By the tool's output schema, followed through `items`."""
    right = {"type": "filter-structured", "target": "$all", "where": "votes > 1", "out": "$some"}
    assert paged.errors(ISSUES, right) == []
    wrong = {**right, "where": "votez > 1"}
    assert paged.errors(ISSUES, wrong) == [("unknown-field", "/1/where")]
    assert paged.errors(ISSUES, {**right, "where": "title > 1"}) == [("bad-where", "/1/where")]


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        ({"tool": "s/isues"}, "unknown-tool", "/tool"),
        ({"tool": "$t"}, "bad-value", "/tool"),
        ({"items": "issuez"}, "unknown-field", "/items"),
        ({"items": "page_info"}, "wrong-kind", "/items"),
        ({"items": None}, "wrong-kind", ""),
        ({"items": "@id"}, "bad-value", "/items"),
        ({"items": "a b"}, "bad-value", "/items"),
        ({"next": "page_info.cursor"}, "unknown-field", "/next"),
        ({"next": 3}, "bad-value", "/next"),
        ({"next": None}, "missing-argument", ""),
        ({"step": 2}, "bad-value", "/step"),
        ({"next": None, "first": "one"}, "bad-value", "/first"),
        ({"next": None, "first": 1}, "bad-argument", "/arguments/cursor"),
        ({"first": 1}, "bad-argument", "/arguments/cursor"),
        ({"first": ""}, None, ""),
        ({"max_pages": 0}, "bad-value", "/max_pages"),
        ({"arguments": {"project": "x"}}, "endless-loop", "/arguments"),
        ({"arguments": {"project": "p ${page}", "cursor": "$page"}}, "unbound-variable", "/arguments/project"),
        ({"arguments": {"projet": "x", "cursor": "$page"}}, "unknown-argument", "/arguments/projet"),
        ({"arguments": {"project": "$nothing", "cursor": "$page"}}, "unbound-variable", "/arguments/project"),
        ({"arguments": [1]}, "bad-value", "/arguments"),
        ({"tool": "s/rows", "next": "x", "items": None, "arguments": {"page": "$page"}}, "missing-argument", None),
        ({"project": "x"}, "unknown-argument", "/project"),
        ({"retry": {"attempts": 2}}, None, ""),
        ({"as": "$cursor", "arguments": {"cursor": "$cursor"}}, None, ""),
    ],
)
def test_what_is_wrong_with_pages_is_told_before_anything_runs(
    paged: Paged, change: dict[str, Any], code: str | None, place: str | None
) -> None:
    """At its place; None takes a field away."""
    step = {key: value for key, value in {**ISSUES, **change}.items() if value is not None}
    place = "/arguments/page" if place is None else place
    assert paged.errors(step) == ([] if code is None else [(code, f"/0{place}")])
    assert paged.calls == []


def test_pages_stand_alone_where_their_tool_may_change_something(paged: Paged) -> None:
    """And side by side with others where it only reads."""
    from planner.order.dependencies import DependencyAnalysis

    plan = check_plan(paged.space, [ISSUES, {**ROWS, "tool": "s/draw", "out": "$d"}])[0]
    order = DependencyAnalysis(paged.space.catalogue, {})
    assert [order.unit(step).alone for step in plan.steps] == [False, True]


def test_the_time_of_the_step_is_that_of_all_its_pages(paged: Paged, tmp_path: Path) -> None:
    """The pages before stay with the calls; nothing of them is made."""
    (tmp_path / "calls.hold").touch()
    result = paged.run({**ISSUES, "timeout_s": 5})
    assert result.status == "failed"
    assert "it took longer than its `timeout_s` of 5 s" in str(result.reason)
    assert len(paged.calls) == 3
    assert result.bindings == {}


@pytest.mark.parametrize(("at", "words"), [(1, "interrupted after 1 page"), (2, "interrupted after 2 pages")])
def test_pages_rest_between_calls_when_the_run_is_put_to_rest(space: Space, at: int, words: str) -> None:
    """The call under way ends, no other begins; gone on with, each page is asked for once."""
    halt, server, made = SuspendRequest(), LocalTools("s"), list[int]()

    @server.tool(read_only=True)
    def listed(page: int) -> list[int]:
        """List; one of the pages puts the run to rest."""
        made.append(page)
        if page == at:
            halt.set()
        return [page] if page < 4 else []

    space.tools.add(server)
    prepared = prepare(space, [{**ROWS, "tool": "s/listed"}], {})
    assert isinstance(prepared, Prepared)
    run = Run(space, prepared.plan, lambda _event: None)
    run.halt = halt
    result = asyncio.run(run.run(prepared.bound))
    assert (result.status, made) == ("suspended", [*range(1, at + 1)])
    assert [(row.status, row.value) for row in result.steps] == [("suspended", words)]
    result = asyncio.run(resume(space, str(result.run)))
    assert (data(result), made) == ([1, 2, 3], [1, 2, 3, 4])
    assert [row.status for row in result.steps] == ["success"]


def test_a_text_that_is_json_is_read_as_that(space: Space) -> None:
    """A page may be as large as a Note."""
    server = LocalTools("s")

    @server.tool(read_only=True)
    def listed(page: int) -> str:
        """List, as text."""
        return f'["{"ö" * 400}"]' if page == 1 else "[]"

    space.tools.add(server)
    step = {**ROWS, "tool": "s/listed"}
    assert data(run_sync(space, {"steps": [step], "budget": {"characters": 500}})) == ["ö" * 400]


def test_pages_that_are_put_to_rest_before_the_first_call_make_none(space: Space) -> None:
    """Gone on with, they begin with it."""
    halt, server, made = SuspendRequest(), LocalTools("s"), list[int]()

    @server.tool(read_only=True)
    def listed(page: int) -> list[int]:
        """List."""
        made.append(page)
        return [page] if page < 3 else []

    space.tools.add(server)
    prepared = prepare(space, [{**ROWS, "tool": "s/listed"}], {})
    assert isinstance(prepared, Prepared)
    run = Run(space, prepared.plan, lambda event: halt.set() if isinstance(event, StepStarted) else None)
    run.halt = halt
    result = asyncio.run(run.run(prepared.bound))
    assert [(row.status, row.value) for row in result.steps] == [("suspended", "interrupted after 0 pages")]
    assert made == []
    assert data(asyncio.run(resume(space, str(result.run)))) == [1, 2]


def test_pages_that_only_read_run_beside_other_steps(space: Space) -> None:
    """Two readers of pages wait for their tools at the same time."""
    server, together = LocalTools("s"), asyncio.Barrier(2)

    @server.tool(read_only=True)
    async def listed(page: int) -> list[int]:
        """List, once both have come."""
        await asyncio.wait_for(together.wait(), 60)
        return [page] if page == 1 else []

    space.tools.add(server)
    step = {**ROWS, "tool": "s/listed"}
    result = run_sync(space, [step, {**step, "out": "$more"}])
    assert (result.status, data(result)) == ("success", [1])


def test_the_items_lead_back_to_their_call(paged: Paged) -> None:
    """A step after it made of an item knows the Collection, and that its step."""
    result = paged.run(ISSUES, {"type": "create-note", "value": "${all[2].title}", "out": "$n"})
    told = result.to_json()["bindings"]["n"]["id"]
    with paged.space.store.reading() as snapshot:
        found = snapshot.get(str(result.steps[0].resource))
        item = snapshot.get(found.members[2].id)  # type: ignore[union-attr]
    assert (item.created_by.step, item.created_by.run, item.created_by.by) == ("1[2]", result.run, "s/issues")
    assert any(use.id == item.id for use in result.steps[1].uses), told
