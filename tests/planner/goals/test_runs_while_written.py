"""A plan runs while the model still writes it: what reads starts at once, what writes waits for the person's word."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from chatting import Endpoint

from infospace import Space
from planner import run_sync
from planner.goals.effects import tools_called
from planner.goals.session import GoalSession, do
from planner.journal.events import Event, RunStarted, Spoke, StepFinished, StepRanAhead
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay

FILLING = "These words only make the plan long. " * 20
READS: list[dict[str, Any]] = [
    {"type": "create-collection", "value": ["a", "b"], "out": "$letters"},
    {"type": "size", "target": "$letters", "out": "$n"},
]
KEEPS: list[dict[str, Any]] = [
    {"type": "create-note", "value": "$n", "name": "kept", "out": "$k"},
    {"type": "compute", "expression": "$n + 1", "out": "$m"},
]
LONG = {"steps": [*READS, {"type": "think", "value": FILLING}, *KEEPS], "result": "$m"}


class Heard:
    """The events of a run, and how much of the plan had arrived at each."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.written: list[int] = []
        self.drafted = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, Spoke) and event.kind == "draft":
            self.drafted += len(event.text)
        self.events.append(event)
        self.written.append(self.drafted)

    def ahead(self) -> list[str]:
        return [f"{one.row.position} {one.row.type}" for one in self.events if isinstance(one, StepRanAhead)]


def yes(session: GoalSession) -> list[str]:
    return tools_called(session.effects())


def reach(space: Space, heard: Heard, agree: Any = yes, **more: Any) -> RunResult:
    return asyncio.run(do(space, "count the letters", agree, emit=heard, **more))


def slowly(endpoint: Endpoint, *plans: Any) -> None:
    endpoint.gap, endpoint.pieces = 0.01, 20
    endpoint.say(*(plan if isinstance(plan, str) else json.dumps(plan) for plan in plans))


def positions(space: Space, result: RunResult) -> list[str]:
    with space.store.reading() as snapshot:
        rows = snapshot.steps(str(result.run))
    return [f"{row.position} {row.type} {row.status}" for row in sorted(rows, key=lambda row: row.sequence)]


def test_the_first_result_is_there_before_half_of_the_plan(space: Space, endpoint: Endpoint) -> None:
    slowly(endpoint, LONG)
    heard = Heard()
    result = reach(space, heard)
    assert (result.status, result.result and result.result.data) == ("success", 3)
    first = next(index for index, one in enumerate(heard.events) if isinstance(one, StepRanAhead))
    assert heard.written[first] < len(json.dumps(LONG)) / 2
    assert isinstance(heard.events[0], RunStarted)
    assert heard.ahead() == ["2 create-collection", "3 size"]


def test_the_journal_is_that_of_one_step_after_the_other(space: Space, endpoint: Endpoint) -> None:
    """What ran ahead is run once, and counts: its rows follow that of `write-plan`. A replay asks no model."""
    slowly(endpoint, LONG)
    heard = Heard()
    result = reach(space, heard)
    assert positions(space, result) == [
        "1 write-plan success",
        "2 create-collection success",
        "3 size success",
        "4 think success",
        "5 create-note success",
        "6 compute success",
        "7 bind success",
    ]
    made = [one.row.resource for one in heard.events if isinstance(one, StepRanAhead)]
    ended = {one.row.position: one.row.resource for one in heard.events if isinstance(one, StepFinished)}
    assert made == [ended["2"], ended["3"]]
    told = asyncio.run(replay(space, str(result.run))).result
    assert (told.status, told.result and told.result.data) == ("success", 3)
    assert len(endpoint.requests) == 1


def test_what_writes_waits_for_the_word(space: Space, endpoint: Endpoint) -> None:
    """What read before has ended when the person is asked; without the word nothing is written, and all is dropped."""
    slowly(endpoint, {"steps": [*READS, *KEEPS]})
    heard = Heard()
    seen: list[list[str]] = []

    def no(_session: GoalSession) -> None:
        seen.append(heard.ahead())
        with space.store.reading() as snapshot:
            assert snapshot.named("kept") is None

    result = reach(space, heard, no)
    assert (result.status, seen) == ("cancelled", [["2 create-collection", "3 size"]])
    assert positions(space, result) == ["1 write-plan success"]
    dropped = [one.row for one in heard.events if isinstance(one, StepFinished) and one.row.extra.get("ahead")]
    assert [(row.position, row.status) for row in dropped] == [("2", "skipped"), ("3", "skipped")]


def test_a_plan_that_is_mended_keeps_what_stays_of_it(space: Space, endpoint: Endpoint) -> None:
    """The wrong step came after those that ran ahead; the second answer begins with the same steps."""
    wrong = {"steps": [*READS, {"type": "think", "value": FILLING}, {"type": "size", "target": "$none", "out": "$m"}]}
    slowly(endpoint, wrong, LONG)
    heard = Heard()
    result = reach(space, heard)
    assert (result.status, heard.ahead()) == ("success", ["2 create-collection", "3 size"])
    assert [one.split()[0] for one in positions(space, result)] == ["1", "2", "3", "4", "5", "6", "7"]


def test_another_plan_drops_what_ran_ahead(space: Space, endpoint: Endpoint) -> None:
    """Its variables are bound no more, and its steps are told as skipped before others have their positions."""
    wrong = {"steps": [*READS, {"type": "think", "value": FILLING}, {"type": "size", "target": "$none", "out": "$m"}]}
    other = {"steps": [{"type": "create-note", "value": "x", "out": "$x"}], "result": "$x"}
    slowly(endpoint, wrong, other)
    heard = Heard()
    result = reach(space, heard)
    assert (result.status, result.result and result.result.data) == ("success", "x")
    assert set(result.bindings) == {"written_plan", "x"}
    ended = [(one.row.position, one.row.status) for one in heard.events if isinstance(one, StepFinished)]
    assert ended == [("1", "success"), ("2", "skipped"), ("3", "skipped"), ("2", "success"), ("3", "success")]


def test_thoughts_and_fences_before_the_plan_are_passed_over(space: Space, endpoint: Endpoint) -> None:
    slowly(endpoint, f"<think>Is {{x}} needed, or [y]?</think>Here it is:\n```json\n{json.dumps(LONG)}\n```")
    heard = Heard()
    assert reach(space, heard).status == "success"
    assert heard.ahead() == ["2 create-collection", "3 size"]


def test_inputs_are_bound_before_the_steps_that_read_them(space: Space, endpoint: Endpoint) -> None:
    plan = {
        "inputs": {"least": {"type": "integer"}},
        "steps": [
            {"type": "compute", "expression": "$least + 1", "out": "$n"},
            {"type": "think", "value": FILLING},
            {"type": "compute", "expression": "$n + 1", "out": "$m"},
        ],
        "result": "$m",
    }
    slowly(endpoint, plan)
    heard = Heard()
    result = reach(space, heard, inputs={"least": 40})
    assert (result.status, result.result and result.result.data) == ("success", 42)
    assert heard.ahead() == ["2 create-note", "3 compute"]
    assert [one.split()[0] for one in positions(space, result)] == ["1", "2", "3", "4", "5", "6"]


def test_a_step_that_fails_ahead_fails_the_plan_once(space: Space, endpoint: Endpoint) -> None:
    """The rest is written anew when the plan has arrived, and what ran well is not repeated."""
    fails = {"type": "compute", "expression": "1 / length('')", "out": "$x"}
    slowly(endpoint, {"steps": [*READS, fails, {"type": "think", "value": FILLING}]})
    endpoint.say(json.dumps({"steps": [{"type": "compute", "expression": "$n + 1", "out": "$m"}], "result": "$m"}))
    heard = Heard()
    result = reach(space, heard)
    assert (result.status, result.result and result.result.data) == ("success", 3)
    assert [one for one in positions(space, result) if "create-collection" in one] == ["2 create-collection success"]


def test_what_calls_or_asks_does_not_run_ahead(space: Space, endpoint: Endpoint) -> None:
    """Nor does anything after it."""
    asks = {"type": "generate-note", "prompt": "x", "out": "$text"}
    slowly(endpoint, {"steps": [READS[0], asks, READS[1], {"type": "think", "value": FILLING}], "result": "$n"})
    endpoint.say("a text")
    heard = Heard()
    assert reach(space, heard).status == "success"
    assert heard.ahead() == ["2 create-collection"]


def test_a_saved_plan_does_not_run_ahead(space: Space, endpoint: Endpoint) -> None:
    from planner.parse.saved_plans import save_plan

    save_plan(space, "pair", {"steps": READS, "result": "$n"})
    slowly(endpoint, {"steps": [READS[0], {"type": "plan:pair", "out": "$p"}, {"type": "think", "value": FILLING}]})
    heard = Heard()
    assert reach(space, heard).status == "success"
    assert heard.ahead() == ["2 create-collection"]


def test_notes_of_the_space_are_read_while_the_plan_arrives(space: Space, endpoint: Endpoint) -> None:
    run_sync(space, [{"type": "create-note", "value": "x", "name": "one"}])
    steps = [{"type": "load", "target": "one", "out": "$one"}, {"type": "think", "value": FILLING}]
    slowly(endpoint, {"steps": steps, "result": "$one"})
    heard = Heard()
    result = reach(space, heard)
    assert (heard.ahead(), result.result and result.result.data) == (["2 load"], "x")


def test_messages_of_anthropic_run_while_they_arrive_too(
    space: Space, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the other protocol the same plan has its first result as early."""
    monkeypatch.setenv("INFOSPACE_LLM_API", "anthropic")
    monkeypatch.setenv("INFOSPACE_LLM_URL", endpoint.url.removesuffix("/v1"))
    monkeypatch.setenv("INFOSPACE_LLM_KEY", "key")
    slowly(endpoint, LONG)
    heard = Heard()
    result = reach(space, heard)
    assert (result.status, heard.ahead()) == ("success", ["2 create-collection", "3 size"]), result.reason
    first = next(index for index, one in enumerate(heard.events) if isinstance(one, StepRanAhead))
    assert heard.written[first] < len(json.dumps(LONG)) / 2
