"""Runs: what a key does to the list and to the run at the cursor, where something else would be as easy to do."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from pathlib import Path

import pytest
from chatting import Endpoint
from furnishing import note
from holding import hold
from staging import PATIENCE, Show, Stage
from textual.widgets import Input, Static

from infospace import Space
from infospace.core.clock import later, now
from infospace.journal.rows import ClaimRun, OpenRun, RunHead
from infospace.store.sqlite.read.snapshot import SqliteSnapshot
from infospace.store.sqlite.store import SqliteStore
from infospace.tools.local import LocalTools
from planner.execute.start import Prepared, prepare, run_sync
from planner.goals.session import do
from planner.journal.lease import new_owner
from planner.language.problems import replace
from planner.lifecycle.resume import answer
from planner.sessions import open_session
from tui.dialogs.fork import ForkRequest
from tui.runtime.ui_state import UiState
from tui.screens.plan import Plan
from tui.screens.runs import Runs


def runs(stage: Stage) -> Runs:
    """Return the place."""
    found = stage.app.place
    assert isinstance(found, Runs)
    return found


def test_values_are_searched_from_the_second_letter_on(show: Show, furnished: Space) -> None:
    """One letter is in nearly everything."""

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        await stage.press("slash", "q")
        await stage.sees("0 of 5 runs")
        assert not any(worker.group == "bodies" for worker in runs(stage).workers)
        await stage.press("backspace")
        await stage.write("19")
        await stage.sees("1 of 5 runs, 1 by what is in them", "≈ Write down the year")

    show(story, on=furnished)


def test_what_was_searched_before_is_not_shown_once_the_field_is_empty(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer comes late."""
    held = hold(monkeypatch, SqliteSnapshot, "runs_containing")

    def saying(snapshot: SqliteSnapshot, text: str) -> set[str]:
        found: set[str] = held(snapshot, text)
        return found

    monkeypatch.setattr(SqliteSnapshot, "runs_containing", saying)

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        await stage.press("slash")
        await stage.write("19")
        await held.has_begun(stage)
        runs(stage).query_one(Input).value = ""
        await stage.until(lambda: "5 runs" in stage.text and "of 5" not in stage.text)
        await held.is_over(stage)
        assert "of 5 runs" not in stage.text

    show(story, on=furnished)


def test_escape_goes_to_the_list_and_then_takes_back_filter_and_marks(show: Show, furnished: Space) -> None:
    """One thing at a time."""

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        await stage.press("m")
        await stage.sees("●")
        await stage.press("slash")
        await stage.write("count")
        await stage.sees("of 5 runs")
        await stage.press("escape")
        assert "of 5 runs" in stage.text
        assert runs(stage)._runs.marked == ["run_5"]
        await stage.press("escape")
        await stage.loses("of 5 runs")
        assert runs(stage)._runs.marked == []
        assert "●" not in stage.text

    show(story, on=furnished)


def test_the_plan_of_a_session_is_not_written_on(show: Show, space: Space) -> None:
    """It has none; that is said."""
    with open_session(space, name="talk") as session:
        session.step(note("x", "$x"))

    async def story(stage: Stage) -> None:
        await stage.sees("session")
        await stage.press("o")
        await stage.until(lambda: any("has no plan to be written on" in one for one in stage.said()))
        assert any("(runs of plans have one)" in one for one in stage.said()), stage.said()
        await stage.press("f")
        await stage.until(lambda: any("runs of plans can be forked" in one for one in stage.said()))
        assert runs(stage).is_current

    show(story, (160, 50))


def test_a_run_is_deleted_only_when_that_is_confirmed(show: Show, furnished: Space) -> None:
    """And then for good."""

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        await stage.press("d")
        await stage.sees("Delete run_5 for good?")
        await stage.press("n")
        await stage.loses("for good?")
        await stage.press("down", "down", "down", "d")
        await stage.sees("Delete run_2 for good?", "2 steps")
        await stage.press("y")
        await stage.sees("4 runs")

    show(story, on=furnished)
    with furnished.store.reading() as snapshot:
        assert "run_2" not in [head.run for head in snapshot.run_heads()]
        assert "run_5" in [head.run for head in snapshot.run_heads()]


def test_a_run_that_waits_for_the_time_is_looked_at_again(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked anything: that is told, and no key answers it. Once it is time, it goes on."""
    waits = {"goal": "Later", "steps": [{"type": "wait", "seconds": 100_000}, note("x", "$x")]}
    assert run_sync(space, waits).status == "suspended"

    async def story(stage: Stage) -> None:
        await stage.sees("step 1 waits: ", "(r looks again)")
        assert not runs(stage).is_action_available("answer")
        await stage.open("run_1")
        await stage.sees("[r asks again]")
        assert not stage.app.place.is_action_available("answer")  # type: ignore[union-attr]
        monkeypatch.setattr("planner.execute.wait.now", lambda: later(200_000))
        await stage.press("r")
        await stage.sees("run_1 ✓ success")

    show(story)


def test_two_questions_at_once_are_counted_and_asked_one_after_the_other(show: Show, space: Space) -> None:
    """The run goes on when the last is answered, not before."""
    asks = [[{"type": "ask", "value": f"{word}?", "out": f"${word}"}] for word in ("left", "right")]
    assert (
        run_sync(space, [{"type": "parallel", "branches": asks}, note("${left} ${right}", "$both")]).status
        == "suspended"
    )

    async def story(stage: Stage) -> None:
        await stage.open("run_1")
        await stage.sees("(and 1 more)", "[a answers]")
        await stage.press("a")
        await stage.sees("run_1 asks, step 1.branches[1].1")
        await stage.write("one")
        await stage.press("enter")
        await stage.sees("run_1 asks, step 1.branches[2].1")
        assert not stage.app.runner.going
        await stage.write("two")
        await stage.press("enter")
        await stage.until(lambda: any("run_1 has ended well" in one for one in stage.said()))

    show(story)
    with space.store.reading() as snapshot:
        assert snapshot.get(str(snapshot.run("run_1").result)).content == "one two"


def test_going_on_with_a_run_that_asks_puts_its_question_first(show: Show, space: Space) -> None:
    """Also from the list; who gives no answer leaves it as it is."""
    assert run_sync(space, [{"type": "ask", "value": "Which?", "out": "$said"}]).status == "suspended"

    async def story(stage: Stage) -> None:
        await stage.sees("run_1")
        await stage.press("r")
        await stage.sees("run_1 asks, step 1")
        await stage.press("escape")
        await stage.loses("run_1 asks, step 1")
        assert not stage.app.runner.going
        await stage.press("r")
        await stage.sees("run_1 asks, step 1")
        await stage.write("this")
        await stage.press("enter")
        await stage.until(lambda: any("run_1 has ended well" in one for one in stage.said()))

    show(story)
    with space.store.reading() as snapshot:
        assert snapshot.get(str(snapshot.run("run_1").result)).content == "this"


def test_what_is_remembered_is_written_only_when_it_is_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a value of another type nothing is taken."""
    memory, written = UiState(tmp_path / "screen.json"), list[Path]()
    monkeypatch.setattr("tui.runtime.ui_state.write_atomically", lambda path, _data: written.append(path))
    memory.write()
    memory.set("theme", "nord")
    memory.write()
    memory.write()
    memory.set("theme", "nord")
    memory.write()
    assert len(written) == 1
    assert (memory.get("theme", ""), memory.get("theme", 0), memory.get("other", [1])) == ("nord", 0, [1])


async def says(stage: Stage, message: str, times: int = 1) -> None:
    """Wait until a message was said so often."""
    await stage.until(lambda: sum(message in one for one in stage.said()) == times, message)


def test_where_there_is_no_run_no_deed_does_anything(show: Show) -> None:
    """Each says so, but a mark, which is only one where there is something."""

    async def story(stage: Stage) -> None:
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "runs")
        for number, key in enumerate(("a", "r", "x", "f", "o", "p", "d"), 1):
            await stage.press(key)
            await says(stage, "There is no run here.", number)
        await stage.press("m")
        assert runs(stage)._runs.marked == []
        for action in ("answer", "resume", "stop", "fork", "edit", "replay", "delete", "open", "mark", "compare"):
            assert not runs(stage).is_action_available(action), action

    show(story)


def test_what_is_offered_is_what_can_be_done_with_the_run_at_the_cursor(show: Show, furnished: Space) -> None:
    """An answer only where that run asks; comparing where two are meant."""

    def offered(stage: Stage) -> set[str]:
        actions = ("answer", "resume", "stop", "fork", "edit", "replay", "delete", "open", "mark", "compare")
        return {action for action in actions if runs(stage).is_action_available(action)}

    always = {"fork", "edit", "replay", "delete", "open", "mark"}

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        assert offered(stage) == always
        await stage.press("m")
        assert offered(stage) == always
        await stage.press("down")
        await stage.until(lambda: "answer" in offered(stage))
        assert offered(stage) == always | {"answer", "resume", "stop", "compare"}
        await stage.press("m", "down", "m")
        await says(stage, "run_5 is not marked any more, run_4 and run_3 are")
        await stage.press("down")
        await stage.until(lambda: "answer" not in offered(stage))
        assert offered(stage) == always | {"compare"}

    show(story, on=furnished)


def test_the_earlier_of_two_marked_runs_is_compared_first(show: Show, space: Space) -> None:
    """By its number, in whichever order they were marked."""
    for number in range(10):
        assert run_sync(space, {"goal": f"Number {number}", "steps": [note(number, "$x")]}).status == "success"
    compared: list[tuple[str, ...]] = []

    async def story(stage: Stage) -> None:
        await stage.sees("10 runs")
        stage.app.compare = lambda *pair: compared.append(pair)  # type: ignore[method-assign]
        await stage.press("m", "down", "c")
        await stage.press("m", "c")
        await stage.press("up", "m", "down", "down", "c")

    show(story)
    assert compared == [("run_9", "run_10"), ("run_9", "run_10"), ("run_8", "run_9")]


@pytest.mark.parametrize("heard", [True, False], ids=["heard", "not heard yet"])
def test_a_run_that_goes_on_here_is_told_to_rest_and_then_ended(show: Show, space: Space, heard: bool) -> None:
    """Each time it is said which; the second time it does not wait for its step, nor for the first to be heard."""
    thread_may_go_on = threading.Event()
    gate = LocalTools("gate")

    @gate.tool(read_only=True)
    async def enter() -> None:
        """Enter once it is open, which it never is."""
        await asyncio.Event().wait()

    space.tools.add(gate)

    async def story(stage: Stage) -> None:
        await stage.sees("no runs yet")
        prepared = prepare(space, [{"type": "gate/enter"}, note("x", "$x")])
        assert isinstance(prepared, Prepared)
        stage.app.follow(stage.app.runner.start, prepared)
        await stage.sees("run_1")
        await stage.until(lambda: stage.app.runner.of("run_1") is not None)
        await stage.until(lambda: runs(stage).is_action_available("stop"))
        assert not runs(stage).is_action_available("delete")
        if not heard:
            stage.app.engine.call(thread_may_go_on.wait, PATIENCE)
        await stage.press("x")
        await says(stage, "run_1 finishes the steps under way; once more ends it at once.")
        await stage.press("x")
        await says(stage, "run_1 is broken off.")
        thread_may_go_on.set()
        await stage.until(lambda: stage.app.runner.of("run_1") is None)

    show(story)


def test_a_run_that_asks_nothing_is_not_answered_and_says_what_goes_on_with_it(show: Show, space: Space) -> None:
    """What waits for the time is looked at again; what has ended is only said to ask nothing."""
    assert run_sync(space, [{"type": "wait", "seconds": 100_000}]).status == "suspended"
    assert run_sync(space, [note("x", "$x")]).status == "success"

    async def story(stage: Stage) -> None:
        await stage.sees("2 runs")
        await stage.press("a")
        await says(stage, "run_2 asks nothing")
        assert not any("r resumes it" in one for one in stage.said())
        await stage.press("down", "a")
        await says(stage, "run_1 asks nothing")
        assert any("r resumes it" in one for one in stage.said())
        assert len(stage.app.screen_stack) == 1

    show(story)


TWO_QUESTIONS = [
    {
        "type": "parallel",
        "branches": [[{"type": "ask", "value": f"{at}?", "out": f"${at}"}] for at in ("left", "right")],
    },
    note("${left} ${right}", "$both"),
]


def test_what_a_run_asked_is_not_answered_once_it_is_run_elsewhere(show: Show, space: Space) -> None:
    """Its question stands in the journal still."""
    assert run_sync(space, TWO_QUESTIONS).status == "suspended"
    with space.store.reading() as snapshot:
        before = snapshot.run("run_1").owner
    space.store.commit([], [ClaimRun("run_1", new_owner(), before, now())])

    async def story(stage: Stage) -> None:
        await stage.sees("1 run", "running")
        await stage.press("a")
        await says(stage, "run_1 asks nothing")
        assert not any("r resumes it" in one for one in stage.said())
        assert len(stage.app.screen_stack) == 1

    show(story)


@pytest.mark.parametrize("key", ["a", "r"])
def test_a_question_that_was_answered_elsewhere_is_not_asked_again(show: Show, space: Space, key: str) -> None:
    """Only what is left is asked, whichever key goes on with the run."""
    assert run_sync(space, TWO_QUESTIONS).status == "suspended"
    answer(space, "run_1", "1.branches[1].1", "there")

    async def story(stage: Stage) -> None:
        await stage.sees("run_1")
        await stage.press(key)
        await stage.sees("run_1 asks, step 1.branches[2].1")
        await stage.write("here")
        await stage.press("enter")
        await stage.until(lambda: any("run_1 has ended well" in one for one in stage.said()))

    show(story)
    with space.store.reading() as snapshot:
        assert snapshot.get(str(snapshot.run("run_1").result)).content == "there here"


def test_a_run_whose_process_is_gone_is_ended_only_when_that_is_confirmed(show: Show, space: Space) -> None:
    """It could be resumed, as one that waits."""
    gone = f"{socket.gethostname()}:999999999:x"
    plan = {"goal": "left", "steps": [note("there", "$x")]}
    run = space.store.new_id("run")
    space.store.commit([], [OpenRun(run, "plan", "left", plan, {}, "2026-03-31T00:00:00.000Z", gone)])

    def status() -> str:
        with space.store.reading() as snapshot:
            return snapshot.run(run).status

    async def story(stage: Stage) -> None:
        await stage.sees("broken off")
        await stage.press("x")
        await stage.sees("End run_1 as cancelled?", "It cannot be resumed any more.")
        await stage.press("n")
        await stage.loses("End run_1 as cancelled?")
        assert status() == "running"
        await stage.press("x")
        await stage.sees("End run_1 as cancelled?")
        await stage.press("y")
        await stage.sees("× cancelled")

    show(story)
    assert status() == "cancelled"


def test_a_fork_that_is_refused_opens_its_plan_with_what_is_wrong(show: Show, space: Space) -> None:
    """The dialog hands over only what it found right; this is what it does where that has become wrong since."""
    named = [note("mine", "$x", name="mine"), note("${x}!", "$loud")]
    assert run_sync(space, {"goal": "Name it", "steps": named}).status == "success"

    async def story(stage: Stage) -> None:
        await stage.sees("1 run")
        request = ForkRequest("1", replace("/steps/1/value", "${y}!"))
        document = {"goal": "Name it", "steps": named}
        stage.app.follow(runs(stage)._forked, "run_1", request, document)
        await stage.until(lambda: isinstance(stage.app.place, Plan))
        await stage.sees("$y is not bound")

    show(story)


def test_a_replay_that_reads_otherwise_says_why(show: Show, space: Space) -> None:
    """The space has changed since: that is the last line of its report."""
    assert run_sync(space, [note("one", name="one")]).status == "success"
    count = [
        {"type": "discover-notes", "where": "@name IS NOT NULL", "out": "$all"},
        {"type": "size", "target": "$all", "out": "$n"},
    ]
    assert run_sync(space, {"goal": "Count", "steps": count}).status == "success"
    assert run_sync(space, [note("two", name="two")]).status == "success"

    async def story(stage: Stage) -> None:
        await stage.sees("3 runs")
        await stage.press("down", "p")
        await stage.sees("Replay of run_2", "step 1 (discover-notes) reads the space as it is now")

    show(story, (160, 50))


def line(stage: Stage, name: str) -> str:
    """Return what one of the lines around the list says."""
    return str(runs(stage).query_one(f"#{name}", Static).render())


def test_nothing_is_said_of_runs_before_they_are_read(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then their number, and not a word more."""
    held = hold(monkeypatch, SqliteSnapshot, "run_heads")

    def run_heads(snapshot: SqliteSnapshot) -> list[RunHead]:
        heads: list[RunHead] = held(snapshot)
        return heads

    monkeypatch.setattr(SqliteSnapshot, "run_heads", run_heads)

    async def story(stage: Stage) -> None:
        await held.has_begun(stage)
        assert (line(stage, "found"), line(stage, "about")) == ("", "")
        runs(stage)._next = 0.0
        runs(stage)._poll()
        assert sum(worker.group == "look" for worker in runs(stage).workers) == 1, "one look at a time"
        await held.is_over(stage)
        await stage.sees("5 runs")
        assert line(stage, "found") == "5 runs"

    show(story, on=furnished)


def test_a_goal_is_told_as_it_is_written(show: Show, space: Space) -> None:
    """Brackets in it are no colours."""
    assert run_sync(space, {"goal": "a [red]goal[/red] [b", "steps": [note("x", "$x")]}).status == "success"

    async def story(stage: Stage) -> None:
        await stage.sees("1 run")
        await stage.until(lambda: line(stage, "about") == "a [red]goal[/red] [b")

    show(story)


def test_runs_are_not_looked_at_while_another_place_is_open(show: Show, furnished: Space) -> None:
    """Though it is time for it; back here, they are."""

    def looks(place: Runs) -> bool:
        return any(worker.group == "look" and not worker.is_finished for worker in place.workers)

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        place = runs(stage)
        await stage.until(lambda: not looks(place))
        await stage.go("notes")
        place._next = 0.0
        place._poll()
        assert not looks(place)
        await stage.go("runs")
        await stage.until(lambda: not looks(place))
        place._next = 0.0
        place._poll()
        assert looks(place)

    show(story, on=furnished)


@pytest.mark.parametrize("what", ["filter", "mark"])
def test_escape_is_offered_where_it_takes_something_back(show: Show, furnished: Space, what: str) -> None:
    """A filter alone, or a mark alone; and in the field, from which it leads back to the list."""

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        assert not runs(stage).is_action_available("clear")
        await stage.press("slash")
        assert runs(stage).is_action_available("clear")
        if what == "filter":
            await stage.write("count")
        await stage.press("enter")
        if what == "mark":
            await stage.press("m")
        assert runs(stage).is_action_available("clear")
        await stage.press("escape")
        assert not runs(stage).is_action_available("clear")

    show(story, on=furnished)


def test_a_key_that_is_pressed_twice_asks_once(show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be deleted is still being counted when it comes again."""
    held = hold(monkeypatch, SqliteStore, "forget")

    def forget(store: SqliteStore, runs: list[str], *, really: bool) -> object:
        return held(store, runs, really=really)

    monkeypatch.setattr(SqliteStore, "forget", forget)

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        runs(stage).action_delete()
        await held.has_begun(stage)
        runs(stage).action_delete()
        held.release.set()
        await stage.sees("Delete run_5 for good?")
        await stage.press("n")
        await stage.loses("for good?")
        await stage.until(lambda: all(worker.is_finished for worker in stage.app.workers))
        assert len(stage.app.screen_stack) == 1

    show(story, on=furnished)


def test_the_run_of_a_goal_says_which_model_wrote_its_plan(show: Show, space: Space, endpoint: Endpoint) -> None:
    """It has ended, and waits for nothing."""
    endpoint.say(json.dumps({"steps": [note("x", "$x")]}))
    assert asyncio.run(do(space, "Write it", lambda _session: [])).status == "success"

    async def story(stage: Stage) -> None:
        await stage.sees("1 run")
        await stage.until(lambda: line(stage, "about").startswith("Write it (written by made"))

    show(story)
