"""The door to sessions for Python, used as a caller without an event loop does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from infospace import Collection, Conflict, InfospaceError, Invalid, Note, NotFound, Space, open_space
from infospace.tools.local import LocalTools
from planner.journal.events import Event, RunStarted, Spoke
from planner.lifecycle.resume import answer
from planner.parse.saved_plans import save_plan
from planner.sessions import open_session

NOTE = {"type": "create-note", "value": {"title": "one", "n": [1, 2]}, "out": "$x"}
LIST = {"type": "create-collection", "value": ["a", "b"], "out": "$hits"}
ASK = {"type": "ask", "value": "Which year?", "schema": {"type": "integer"}, "out": "$year"}


def status(space: Space, run: str | None) -> str:
    with space.store.reading() as snapshot:
        return snapshot.run(str(run)).status


def test_a_step_answers_with_its_data(space: Space) -> None:
    """One shape; what a later step reads is what an earlier one bound."""
    with open_session(space) as session:
        assert session.id is None
        answer = session.step(NOTE)
        assert (answer.status, answer.data, answer.resource_id) == ("success", NOTE["value"], session.bindings["x"].id)
        failed = session.step({"type": "load", "target": "$x", "slice": "${x}"})
        assert (failed.status, failed.data) == ("failed", None)
        assert "has no order to slice" in str(failed.reason)
        assert session.step({"type": "create-note", "value": "${x.title}!"}).data == "one!"
        assert session.step({"type": "stop", "value": "$x.n"}).data == [1, 2]
        with pytest.raises(Conflict, match="has ended already"):
            session.step(NOTE)


def test_a_refused_step_says_all_that_is_wrong_and_has_done_nothing(space: Space) -> None:
    """With the problems of the check; the session goes on."""
    with open_session(space, "s") as session:
        session.step(NOTE)
        answer = session.step({"type": "create-note", "value": "$z", "valeu": 1, "name": "kept"})
        assert (answer.status, answer.error) == ("failed", "refused")
        assert "$z is not bound before this step" in str(answer.reason)
        problems: Any = answer.extra["problems"]
        assert sorted(problem["code"] for problem in problems) == ["unbound-variable", "unknown-argument"]
        with pytest.raises(Invalid, match="cannot be written as JSON"):
            session.step({"type": "create-note", "value": {1, 2}})  # type: ignore[dict-item]
        assert session.step({"type": "say", "value": "${x.title}"}).status == "success"
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is None


def test_what_is_bound_is_read_by_its_variable(space: Space) -> None:
    """Items, texts, contents, sizes, and places in them; what is wrong is said with what is nearest."""
    with open_session(space) as session:
        with pytest.raises(NotFound, match="nothing is bound yet"):
            session.get_text("$x")
        session.step(NOTE)
        session.step(LIST)
        assert [item.content for item in session.get_items("$hits") if isinstance(item, Note)] == ["a", "b"]
        assert (session.size("$hits"), session.get_text("$hits"), session.get_json("$hits")) == (
            2,
            "a\n\nb",
            ["a", "b"],
        )
        assert (session.get_json("$x.n[-1]"), session.get_text("$x.title"), session.get_text("$hits[1]")) == (
            2,
            "one",
            "b",
        )
        assert isinstance(session.bindings["hits"], Collection)
        for wrong, said in (
            ("$hit", r"\$hit is not bound \(did you mean \$hits\?\)"),
            ("$zzz", r"\$zzz is not bound \(bound are \$x, \$hits\)"),
            ("hits", r"'hits' is not a variable \(did you mean '\$hits'\?\)"),
            ("$x y", "is not a variable"),
            ("$x.m", "m"),
        ):
            with pytest.raises(InfospaceError, match=said) as error:
                session.get_json(wrong)
            assert "Traceback" not in str(error.value)
        for many in (session.get_items, session.size):
            with pytest.raises(Invalid, match=r"\$x is a Note, and has no items"):
                many("$x")


def test_of_many_variables_some_are_named(space: Space) -> None:
    """Where one is not bound, and none is like it: the sentence stays short."""
    with open_session(space) as session:
        session.run([{"type": "create-note", "value": n, "out": f"$variable_{n:03}"} for n in range(60)])
        with pytest.raises(
            NotFound, match=r"^\$zzz is not bound \(bound are \$variable_000, \$variable_001, "
        ) as error:
            session.get_text("$zzz")
    assert str(error.value).endswith("… [cut: 898 characters in all])")


def test_a_step_that_the_budget_does_not_allow_has_failed(space: Space) -> None:
    """Though it was never begun, and there is no row of it."""
    with open_session(space, head={"budget": {"steps": 1}}) as session:
        assert session.step(NOTE).status == "success"
        told = session.step(LIST)
        assert (told.status, told.resource_id, told.data) == ("failed", None, None)
        assert told.reason == "step 2 (create-collection) failed: the budget of 1 step ran out"


def test_what_is_no_name_of_a_tool_is_refused_as_it_was_written(space: Space) -> None:
    """The space's own verbs are called by their names, with that of the space before them; tools by theirs."""
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    def shout(text: str) -> str:
        """Say it louder."""
        return f"{text}!"

    space.tools.add(outside)
    with open_session(space) as session:
        assert session.execute("outside/shout", {"text": "come"}).data == "come!"
        for name, message in (
            ("infospace/", "'infospace/'"),
            ("infospace/srot", "sort"),
            ("", "`type` is empty"),
            ("infospace/a/b", "'a/b'"),
        ):
            told = session.execute(name)
            assert (told.status, told.error) == ("failed", "refused")
            assert message in str(told.reason)
        assert session.execute("infospace/create-note", {"value": "by its full name"}).data == "by its full name"


def test_a_session_by_name_stays_open_and_another_process_goes_on(tmp_path: Path) -> None:
    """With what it bound; ended, its name is free."""
    with open_space(tmp_path / "space.db") as space, open_session(space, "research") as session:
        session.step(NOTE)
        run = session.id
    with open_space(tmp_path / "space.db") as space, open_session(space, "research") as session:
        assert session.step({"type": "create-note", "value": "${x.title}!", "out": "$y"}).data == "one!"
        assert session.id == run
        ended = session.end()
        assert ended.result is not None
        assert (ended.status, ended.result.data, status(space, run)) == ("success", "one!", "success")
        with pytest.raises(Conflict, match=rf"the session 'research' \({run}\) has ended already"):
            session.step(NOTE)
        with open_session(space, "research") as another:
            assert another.step(NOTE).status == "success"
            assert another.id != run


def test_a_session_that_ended_elsewhere_is_not_another_one_of_its_name(space: Space) -> None:
    """Nothing is done by whoever held it, whatever the call; what it bound is no more, and nobody else's is shown."""
    with open_session(space, "s") as session, open_session(space, "s") as elsewhere:
        session.step(NOTE)
        run = session.id
        elsewhere.step({"type": "stop"})
        with open_session(space, "s") as another:
            another.step({"type": "create-note", "value": "theirs", "out": "$x"})
            calls: list[Callable[[], object]] = [
                lambda: session.step(NOTE),
                lambda: session.run([NOTE]),
                lambda: session.answer("1", 5),
                session.resume,
                session.end,
                session.cancel,
                lambda: elsewhere.step(NOTE),
            ]
            for call in calls:
                with pytest.raises(Conflict, match=rf"'s' \({run}\) has ended already .*opened as 's' is another one"):
                    call()
            assert (session.bindings, session.pending, session.id) == ({}, (), run)
            assert another.get_text("$x") == "theirs"
            assert status(space, another.id) == "suspended"


def test_a_session_without_a_name_ends_with_its_block(space: Space) -> None:
    """Well, or cancelled where an error leaves the block; one that waits goes on waiting; one unused was never."""
    with open_session(space):
        pass
    with open_session(space) as session:
        session.step(NOTE)
    assert status(space, session.id) == "success"
    session = open_session(space)

    def breaks() -> None:
        with session:
            session.step(NOTE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        breaks()
    assert status(space, session.id) == "cancelled"
    with open_session(space) as session:
        assert session.step(ASK).status == "suspended"
    assert status(space, session.id) == "suspended"
    with space.store.reading() as snapshot:
        assert len(snapshot.runs()) == 3


def test_a_step_that_asks_is_answered(space: Space) -> None:
    """What waits is told; steps meanwhile are a Conflict, and the rest of its call goes on after the answer."""
    with open_session(space, "s") as session:
        asked = session.step(ASK)
        assert (asked.status, asked.value) == ("suspended", "Which year?")
        pending: Any = asked.extra["pending"]
        assert [one["step"] for one in pending] == [one.step for one in session.pending] == ["1"]
        with pytest.raises(Conflict, match="waits"):
            session.step(NOTE)
        with pytest.raises(Invalid, match="does not fit"):
            session.answer("1", "soon")
        assert session.answer("1", 1984).status == "success"
        assert (session.get_json("$year"), list(session.pending)) == (1984, [])
        plan = [{**ASK, "out": "$other"}, {"type": "create-note", "value": "${year}/${other}", "out": "$both"}]
        assert session.run(plan).status == "suspended"
        assert session.answer(session.pending[0].step, 1985).status == "success"
        assert session.get_text("$both") == "1984/1985"
        with pytest.raises(Conflict, match="at rest"):
            session.resume()


def test_a_session_without_a_name_goes_on_after_an_answer_that_was_kept(space: Space) -> None:
    """It stays open for who opened it."""
    with open_session(space) as session:
        session.run([ASK, NOTE])
        answer(space, str(session.id), "1", 7)
        with pytest.raises(Conflict, match="`infospace resume run_1`"):
            session.step(LIST)
        assert session.resume().status == "success"
        assert session.step({"type": "create-note", "value": "$year"}).data == 7


def test_a_plan_runs_in_a_session(space: Space) -> None:
    """As a document, or a saved one by its name."""
    save_plan(space, "greet", {"inputs": {"who": {"type": "string"}}, "steps": [NOTE], "result": "$who"})
    with open_session(space) as session:
        result = session.run("plan:greet", {"who": "$you"})
        assert result.result is not None
        assert (result.result.data, session.get_text("$who"), session.get_text("$x.title")) == ("$you", "$you", "one")
        with pytest.raises(NotFound, match="did you mean 'greet'"):
            session.run("plan:gret")
        assert session.run("no plan").status == "refused"
        assert session.run({"steps": [{"type": "size", "target": "$who"}]}).status == "refused"


def test_the_head_of_a_session_is_checked_when_it_is_opened(space: Space) -> None:
    """Its inputs are bound, and its result is that of the end; one that is wrong opens nothing."""
    head = {"goal": "find out", "inputs": {"n": {"type": "integer"}}, "result": "$n"}
    with pytest.raises(Invalid, match="the input 'n' is not given"):
        open_session(space, "s", head=head)
    with pytest.raises(Invalid, match="a session cannot be called"):
        open_session(space, "$s")
    with open_session(space, "s", head=head, inputs={"n": 4}) as session:
        assert session.step({"type": "create-note", "value": ["$n"]}).data == [4]
        ended = session.end()
        assert ended.result is not None
        assert ended.result.data == 4
    with open_session(space, "s") as session:
        session.step(NOTE)
    with pytest.raises(Invalid, match="is open already, and has a head"):
        open_session(space, "s", head={"goal": "another"})


def test_calls_from_several_threads_queue(space: Space) -> None:
    """Each sees what those before it bound; none is lost."""
    with open_session(space, "s") as session, ThreadPoolExecutor(8) as threads:
        session.step({"type": "create-collection", "value": [], "out": "$all"})

        def put(number: int) -> str:
            step = {"type": "add", "target": "$all", "value": f"$n{number}"}
            return session.run([{"type": "create-note", "value": number, "out": f"$n{number}"}, step]).status

        assert set(threads.map(put, range(40))) == {"success"}
        found: Any = session.get_json("$all")
        assert sorted(found) == list(range(40))


def test_a_session_without_a_name_waits_for_no_other_one(space: Space) -> None:
    """Each has calls of its own, which queue behind one another alone."""
    free, begun = threading.Event(), threading.Event()
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    def hold() -> bool:
        """Wait until the other session has come to its end."""
        begun.set()
        return free.wait(5)

    space.tools.add(outside)
    with open_session(space) as one, open_session(space) as other, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(one.step, {"type": "outside/hold"})
        assert begun.wait(30)
        assert other.step(NOTE).status == "success"
        free.set()
        assert waiting.result(30).data is True


def test_a_session_is_cancelled_while_a_step_runs(space: Space) -> None:
    """Whoever waits for the step is told; what was done stays."""
    begun = threading.Event()

    def heard(event: Event) -> None:
        if isinstance(event, Spoke):
            begun.set()

    with open_session(space, "s", emit=heard) as session, ThreadPoolExecutor(1) as threads:
        plan = [{**NOTE, "name": "kept"}, {"type": "say", "value": "now"}, {"type": "wait", "seconds": 60}]
        waiting = threads.submit(session.run, plan)
        assert begun.wait(30)
        assert session.cancel().status == "cancelled"
        with pytest.raises(Conflict, match=r"^the call was cancelled \(what it did stays\)$"):
            waiting.result(30)
        assert status(space, session.id) == "cancelled"
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is not None


def test_a_listener_cannot_call_the_session_that_it_listens_to(space: Space) -> None:
    """It would wait for itself."""
    said: list[str] = []

    def heard(event: Event) -> None:
        if isinstance(event, Spoke):
            try:
                session.step(NOTE)
            except Conflict as error:
                said.append(str(error))

    with open_session(space, emit=heard) as session:
        session.step({"type": "say", "value": "now"})
    assert said == ["a session cannot be called by what listens to it (call it after the call)"]


def test_a_saved_plan_that_was_changed_runs_and_is_kept_as_it_is_now(space: Space) -> None:
    """A later call of a session takes its newest version, and the journal says so."""
    with open_session(space, "talk") as session:
        for word in ("one", "two"):
            save_plan(space, "greet", {"steps": [{"type": "create-note", "value": word}]}, replace=True)
            assert session.step({"type": "plan:greet", "out": f"${word}"}).data == word
    with space.store.reading() as snapshot:
        [row] = [one for one in snapshot.runs() if one.kind == "session"]
    assert row.plans["greet"] == {"steps": [{"type": "create-note", "value": "two"}]}


def test_a_session_tells_its_goal_with_its_inputs_in_each_call(space: Space) -> None:
    """Also when it is gone on with by its name."""
    head = {"goal": "All notes on ${topic}", "inputs": {"topic": {"type": "string"}}}
    heard: list[str] = []

    def hear(event: object) -> None:
        if isinstance(event, RunStarted):
            heard.append(event.goal)

    with open_session(space, "talk", head=head, inputs={"topic": "tides"}, emit=hear) as session:
        session.step({"type": "say", "value": "$topic"})
    with open_session(space, "talk", emit=hear) as session:
        session.step({"type": "say", "value": "$topic"})
    assert set(heard) == {"All notes on tides"}
    with space.store.reading() as snapshot:
        assert [row.goal for row in snapshot.runs()] == ["All notes on tides"]
