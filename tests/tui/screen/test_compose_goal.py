"""A goal in words in Compose: the plan arrives as a model writes it, is changed, run, and told in Runs and Step."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from chatting import Endpoint, Hang, Say
from drafts import compose
from staging import BOTH, PATIENCE, SIZES, Show, Stage, gate
from textual.widgets import Input, Static

from infospace import Space
from infospace.journal.rows import RunRow
from planner.goals.effects import Effect
from planner.goals.session import GoalSession
from tui.screens.compose.compose import Compose

GOAL = "Keep how many items there are, as weekly"
ITEMS = {"type": "create-collection", "value": ["one", "two", "three"], "out": "$items"}
COUNT = {"type": "size", "target": "$items", "out": "$n"}
KEEP = {"type": "create-note", "value": "${n} of them", "name": "weekly", "out": "$kept"}
PLAN: dict[str, Any] = {"goal": GOAL, "steps": [ITEMS, COUNT, KEEP], "result": "$kept"}
WRONG = json.dumps({**PLAN, "steps": [ITEMS, {**COUNT, "target": "$item_list_of_old"}, KEEP]})


async def asked(stage: Stage, goal: str = GOAL) -> Compose:
    """Say what is wanted, and press enter."""
    place = await compose(stage)
    await stage.press("alt+g")
    await stage.until(lambda: place.query_one("#goal", Input).has_focus)
    await stage.write(goal)
    await stage.press("enter")
    return place


def told(stage: Stage) -> str:
    """What the tab Run says."""
    return str(stage.app.screen.query_one("#told", Static).content)


def runs(space: Space) -> list[RunRow]:
    with space.store.reading() as snapshot:
        return snapshot.runs()


@pytest.fixture(params=["openai", "anthropic"])
def api(request: pytest.FixtureRequest, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> str:
    """The protocol that the endpoint is asked in."""
    monkeypatch.setenv("INFOSPACE_LLM_API", request.param)
    if request.param == "anthropic":
        monkeypatch.setenv("INFOSPACE_LLM_URL", endpoint.url.removesuffix("/v1"))
        monkeypatch.setenv("INFOSPACE_LLM_KEY", "key")
    return str(request.param)


def asked_in(endpoint: Endpoint) -> set[str]:
    """The protocols of the requests: Messages always say how long an answer may be, and have their system apart."""
    return {"anthropic" if "system" in one and "max_tokens" in one else "openai" for one in endpoint.requests}


def test_the_plan_arrives_as_it_is_written_and_is_checked_meanwhile(
    show: Show, space: Space, endpoint: Endpoint, api: str
) -> None:
    """What is wrong is marked before the answer is whole; what may only be missing yet is not."""
    endpoint.say(WRONG, json.dumps(PLAN))
    endpoint.holds_before, endpoint.pieces = '"weekly"', 10

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.writes and '"create-collection"' in place.text)
        assert place.editor.read_only
        await stage.until(lambda: place.goal.writes and place.draft.errors == 1 and '"weekly"' not in place.text)
        assert "item_list_of_old" in place.draft.marks[0].problem.message
        endpoint.goes_on.release()
        await stage.until(lambda: "attempt 2" in told(stage), "the second attempt")
        endpoint.goes_on.release()
        await stage.until(lambda: not place.goal.writes and place.draft.text == place.text)
        assert json.loads(place.text) == PLAN
        assert place.draft.errors == 0
        await stage.until(lambda: "It writes weekly" in told(stage), "what it would do")
        assert "made, 2 attempts, " in told(stage)
        assert not place.editor.read_only
        assert place.editor.has_focus

    show(story, on=space)
    assert asked_in(endpoint) == {api}


@pytest.mark.usefixtures("api")
def test_where_a_step_fails_the_rest_is_written_and_run_in_a_fork(show: Show, space: Space, endpoint: Endpoint) -> None:
    """Runs has both: that which failed, and its fork."""
    fails = {"type": "compute", "expression": "1 / length('')", "out": "$x"}
    endpoint.say(json.dumps({"steps": [ITEMS, fails], "result": "$x"}))
    endpoint.say(json.dumps({"steps": [COUNT], "result": "$n"}))

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.run_id == "run_1")
        await stage.press("ctrl+r")
        await stage.until(lambda: any(run.status == "success" for run in runs(space)))

    show(story, on=space)
    assert [(run.run, run.status, run.forked) for run in runs(space)] == [
        ("run_2", "success", "run_1"),
        ("run_1", "failed", None),
    ]


def test_what_only_makes_runs_while_the_plan_arrives(show: Show, space: Space, endpoint: Endpoint) -> None:
    """Its result is told at once, and counts when the plan is run: it is not done again."""
    endpoint.say(json.dumps(PLAN))
    endpoint.holds_before, endpoint.pieces = '"$items", "out": "$n"', 10

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.writes and "create-collection gave" in told(stage))
        endpoint.goes_on.release()
        await stage.until(lambda: place.goal.run_id == "run_1" and place.draft.text == place.text)
        await stage.press("ctrl+r")
        await stage.sees("run_1 ✓ success", "3 of them")

    show(story, on=space)
    with space.store.reading() as snapshot:
        rows = [(row.type, row.status) for row in snapshot.steps("run_1")]
    assert rows.count(("create-collection", "success")) == 1
    assert all(status == "success" for _, status in rows)


def test_a_word_is_changed_and_one_run_has_the_goal_the_model_and_the_steps(
    show: Show, space: Space, endpoint: Endpoint
) -> None:
    """Runs and Step tell the model, its attempts and their tokens."""
    endpoint.say(WRONG, json.dumps(PLAN))

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.run_id == "run_1" and place.draft.text == place.text)
        place.editor.become(place.text.replace("weekly", "monthly", 2).replace("of them", "items"))
        await stage.until(lambda: place.draft.text == place.text)
        await stage.press("ctrl+r")
        await stage.sees("run_1 ✓ success", "3 items")
        assert place.goal.run_id is None
        await stage.press("f2")
        await stage.sees("2 llm calls", "written by made, 2 attempts, ")
        await stage.open("run_1", place="step")
        await stage.sees("what the model wrote", "attempt 1: 1 error", "attempt 2: may run", "token")

    show(story, (160, 50), space)
    [run] = runs(space)
    assert (run.goal, run.status) == (GOAL, "success")
    with space.store.reading() as snapshot:
        assert snapshot.named("monthly") is not None
        assert snapshot.named("weekly") is None


def test_without_a_model_one_sentence_says_how_to_set_one(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty Compose says it, and so does enter; an example and a file are offered all the same."""
    for name in ("INFOSPACE_LLM_MODEL", "INFOSPACE_LLM_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: any("no language model is configured: set INFOSPACE_LLM" in s for s in stage.said()))
        assert not place.goal.writes
        await stage.sees("alt+g: no language model is configured", "^o: opens an example, a file")

    show(story, (160, 50), space)
    assert not runs(space)


def test_a_model_that_hangs_is_stopped_and_what_was_written_before_comes_back(
    show: Show, space: Space, endpoint: Endpoint
) -> None:
    endpoint.say(Hang())

    async def story(stage: Stage) -> None:
        place = await compose(stage, '{"steps": []}')
        await stage.press("alt+g")
        await stage.write(GOAL)
        await stage.press("enter")
        await stage.until(lambda: place.goal.writes and bool(endpoint.requests))
        await stage.press("alt+x")
        await stage.until(lambda: not place.goal.writes, "the end")
        await stage.until(lambda: any("cancelled" in one for one in stage.said()))
        place.editor.focus()
        await stage.press("ctrl+z")
        await stage.until(lambda: place.text == '{"steps": []}')

    show(story, on=space)
    assert [run.status for run in runs(space)] == ["cancelled"]


def test_what_is_no_plan_is_told_in_a_sentence(show: Show, space: Space, endpoint: Endpoint) -> None:
    """The run has failed, and says what was tried."""
    endpoint.say(*["I would rather not."] * 4)

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: any("the model wrote no plan in" in one for one in stage.said()))
        assert "no plan: " in told(stage)
        assert place.goal.run_id is None

    show(story, on=space)
    assert [run.status for run in runs(space)] == ["failed"]


def test_a_plan_that_is_left_ends_its_run(show: Show, space: Space, endpoint: Endpoint) -> None:
    """Nothing of it was done."""
    endpoint.say(json.dumps(PLAN))

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.run_id == "run_1")
        place.files.open_text("", "[]")
        await stage.until(lambda: runs(space)[0].status == "cancelled")

    show(story, on=space)


def test_a_plan_that_waits_is_run_from_runs_after_one_question(show: Show, space: Space, endpoint: Endpoint) -> None:
    """It says what the plan writes; no leaves it as it is."""
    endpoint.say(json.dumps(PLAN))

    async def written(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.run_id == "run_1")

    async def story(stage: Stage) -> None:
        await stage.sees("run_1", "suspended")
        await stage.press("r")
        await stage.sees("Run the plan that the model wrote?", "It writes weekly")
        await stage.press("n")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        assert runs(space)[0].status == "suspended"
        await stage.press("r")
        await stage.sees("It writes weekly")
        await stage.press("y")
        await stage.until(lambda: runs(space)[0].status == "success")

    show(written, on=space)
    show(story, on=space)


@pytest.mark.parametrize("then", ["run", "another text"])
def test_what_a_plan_would_do_is_not_told_over_what_came_since(
    show: Show, space: Space, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    """It is found out in a thread, which may end when the plan has run, or another text is here."""
    endpoint.say(json.dumps(PLAN))
    opened, left = gate(), threading.Event()
    effects_of = GoalSession.effects

    def held(self: GoalSession) -> Sequence[Effect]:
        opened.wait(PATIENCE)
        try:
            return effects_of(self)
        finally:
            left.set()

    monkeypatch.setattr(GoalSession, "effects", held)

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: told(stage).startswith("run_1 written by made, 1 attempt"))
        if then == "run":
            await stage.press("ctrl+r")
            await stage.sees("run_1 ✓ success")
        else:
            place.files.open_text("", "[]")
            await stage.until(lambda: runs(space)[0].status == "cancelled")
        before = told(stage)
        opened.set()
        await stage.until(left.is_set)
        await stage.until(lambda: all(worker.is_finished for worker in stage.app.workers))
        assert told(stage) == before

    show(story, on=space)


def test_another_text_stops_the_model(show: Show, space: Space, endpoint: Endpoint) -> None:
    """What it wrote does not take the place of that text."""
    endpoint.say(json.dumps(PLAN))
    endpoint.holds_before = '"steps"'

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.writes and '"goal"' in place.text)
        place.files.open_text("", "[]")
        await stage.until(lambda: not place.goal.writes, "the end")
        await stage.until(lambda: runs(space)[0].status == "cancelled")
        assert place.text == "[]"
        assert place.goal.run_id is None

    show(story, on=space)


def test_another_plan_is_another_run(show: Show, space: Space, endpoint: Endpoint) -> None:
    endpoint.say(json.dumps(PLAN))

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.run_id == "run_1" and place.draft.text == place.text)
        other = {"goal": "Something else", "steps": [{"type": "say", "value": "hello"}]}
        place.editor.become(json.dumps(other))
        await stage.until(lambda: place.draft.text == place.text)
        await stage.press("ctrl+r")
        await stage.sees("run_2 ✓ success")

    show(story, on=space)
    assert {run.run: (run.goal, run.status) for run in runs(space)} == {
        "run_1": (GOAL, "cancelled"),
        "run_2": ("Something else", "success"),
    }


def test_step_by_step_it_is_a_run_of_its_own(show: Show, space: Space, endpoint: Endpoint) -> None:
    """Where runs stop there is a run that can rest."""
    endpoint.say(json.dumps(PLAN))

    async def story(stage: Stage) -> None:
        place = await asked(stage)
        await stage.until(lambda: place.goal.run_id == "run_1" and place.draft.text == place.text)
        await stage.press("ctrl+l")
        await stage.sees("paused before step 2")
        await stage.until(lambda: {run.run: run.status for run in runs(space)}["run_1"] == "cancelled")

    show(story, on=space)


class TestPictures:
    """What is on the screen is what is in the picture."""

    @BOTH
    def test_written(self, show: Show, space: Space, endpoint: Endpoint, size: str) -> None:
        """A plan that a model wrote."""
        used = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}
        endpoint.say(Say(WRONG, usage=used), Say(json.dumps(PLAN), usage=used))

        async def story(stage: Stage) -> None:
            place = await asked(stage)
            await stage.until(lambda: place.goal.run_id == "run_1" and place.draft.text == place.text)
            await stage.is_as(f"compose-goal-{size}")

        show(story, SIZES[size], space)

    @BOTH
    @pytest.mark.usefixtures("endpoint")
    def test_empty(self, show: Show, space: Space, size: str) -> None:
        """What an empty place offers."""

        async def story(stage: Stage) -> None:
            await compose(stage)
            await stage.sees("alt+g: say what you want", "^o: opens an example")
            await stage.is_as(f"compose-empty-{size}")

        show(story, SIZES[size], space)
