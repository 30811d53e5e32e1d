"""Runs and steps, and that writes and their rows are one transaction."""

from __future__ import annotations

from dataclasses import replace

import pytest
from store_tools import (
    AT,
    LATER,
    note,
    open_run,
    step,
)

from infospace.core.errors import Conflict, Invalid, LeaseLost, NotFound
from infospace.core.ids import Kind
from infospace.journal.rows import (
    FINISHED,
    AddLines,
    AnswerRow,
    CallRow,
    ClaimRun,
    CloseRun,
    Heartbeat,
    OpenRun,
    OwnerGuard,
    RunRow,
    RunStatus,
    SetDocument,
    Use,
    broken_off,
)
from infospace.store.changes import (
    MakeNote,
)
from infospace.store.protocol import Store


class TestRuns:
    """Runs open, go on, and end."""

    def test_a_run_reads_as_it_was_opened_and_closed(self, store: Store) -> None:
        """With the number of its steps, and what it spent."""
        run = open_run(store)
        with store.reading() as snapshot:
            assert snapshot.run(run) == RunRow(
                run,
                "plan",
                "find out",
                "running",
                AT,
                None,
                0,
                {"steps": [{"type": "size"}]},
                {"topic": "Note_1"},
                None,
                None,
                "me",
                AT,
            )
        entries = [step(run), step(run, 2), CloseRun(run, "success", LATER, "Note_1", "done", {"seconds": 1.5})]
        store.commit([], entries)
        with store.reading() as snapshot:
            found = snapshot.run(run)
        assert (found.status, found.ended, found.steps, found.result) == ("success", LATER, 2, "Note_1")
        assert (found.reason, found.spent) == ("done", {"seconds": 1.5})

    def test_a_run_keeps_its_scope_which_lines_of_a_session_change(self, store: Store) -> None:
        """None is everything."""
        narrow, other = {"include_servers": ["time"]}, {"exclude_tags": ["x"]}
        plan, session = (store.new_id("run") for _ in range(2))
        store.commit([], [OpenRun(plan, "plan", "", {}, {}, AT, "me", scope=narrow)])
        store.commit([], [OpenRun(session, "session", "", {}, {}, AT, "me")])
        kept = []
        for scope in (other, None):
            store.commit([], [AddLines(session, [{"type": "size"}], scope=scope)])
            with store.reading() as snapshot:
                kept.append(snapshot.run(session).scope)
        with store.reading() as snapshot:
            assert [snapshot.run(plan).scope, *kept] == [narrow, other, None]

    def test_a_fork_tells_of_which_run_it_is_one(self, store: Store) -> None:
        """Others tell of none."""
        run, fork = open_run(store), store.new_id("run")
        store.commit([], [OpenRun(fork, "plan", "", {}, {}, AT, "me", forked=run)])
        with store.reading() as snapshot:
            assert [row.forked for row in snapshot.runs()] == [run, None]

    def test_runs_come_latest_first(self, store: Store) -> None:
        """All, some, or those before one."""
        made = [open_run(store) for _ in range(5)]
        with store.reading() as snapshot:
            assert [run.run for run in snapshot.runs()] == made[::-1]
            assert [run.run for run in snapshot.runs(limit=2)] == made[:2:-1]
            assert [run.run for run in snapshot.runs(limit=2, before=3)] == made[1::-1]

    def test_a_run_is_opened_once_and_ended_once(self, store: Store) -> None:
        """A suspended one can go on; an ended one cannot be touched."""
        run = open_run(store)
        with pytest.raises(Conflict, match="exists already"):
            store.commit([], [OpenRun(run, "plan", "", {}, {}, AT, "me")])
        with pytest.raises(Invalid, match="not given out"):
            store.commit([], [OpenRun("run_400", "plan", "", {}, {}, AT, "me")])
        store.commit([], [CloseRun(run, "suspended", AT)])
        store.commit([], [CloseRun(run, "failed", LATER, reason="why")])
        for entry in (CloseRun(run, "success", LATER), Heartbeat(run, "me", LATER), ClaimRun(run, "you", "me", LATER)):
            with pytest.raises(Conflict, match="ended already, with failed"):
                store.commit([], [entry])

    def test_what_a_step_told_besides_is_that_of_its_latest_success(self, store: Store) -> None:
        """By run and position; a failure tells nothing, nor does a run that is not there."""
        run, other = open_run(store), open_run(store)
        rows = [
            step(run, 1, position="4", status="failed", extra={"n": 1}),
            step(run, 2, position="4", extra={"n": 2}),
            step(run, 3, position="4", extra={"n": {"deep": [3]}}),
            step(run, 4, position="4", status="skipped", extra={"n": 4}),
            step(run, 5, position="5"),
            step(other, 1, position="4", extra={"n": 6}),
        ]
        store.commit([], rows)
        with store.reading() as snapshot:
            asked = [(run, "4"), (other, "4"), (run, "5"), (run, "6"), ("run_99", "4")]
            found = [snapshot.step_extra(*one) for one in asked]
        assert found == [{"n": {"deep": [3]}}, {"n": 6}, {}, None, None]

    @pytest.mark.parametrize("ending", sorted(FINISHED))
    def test_what_waits_when_a_run_ends_is_broken_off(self, store: Store, ending: RunStatus) -> None:
        """However it ends, and whoever ends it; what had ended stays as it was, and a suspended run waits on."""
        run, other = open_run(store), open_run(store)
        asks = step(run, 2, status="suspended", value="how many?", extra={"pending": {"step": "2"}, "n": 1})
        rows = [step(run), asks, step(run, 3, status="started"), step(other, status="suspended")]
        store.commit([], [*rows, CloseRun(run, "suspended", AT), CloseRun(other, "suspended", AT)])
        with store.reading() as snapshot:
            assert [*snapshot.steps(run), *snapshot.steps(other)] == rows
        store.commit([], [CloseRun(run, ending, LATER)])
        with store.reading() as snapshot:
            assert [*snapshot.steps(run), *snapshot.steps(other)] == [*map(broken_off, rows[:3]), rows[3]]
            found = snapshot.steps(run)[1]
        assert (found.status, found.error, found.value, found.extra) == ("failed", "cancelled", "", {"n": 1})

    def test_one_owner_at_a_time(self, store: Store) -> None:
        """Of two who take a run over, one gets it; the earlier owner's heart beats no more, nor after the end."""
        run = open_run(store)
        store.commit([], [Heartbeat(run, "me", LATER), CloseRun(run, "suspended", LATER)])
        store.commit([], [ClaimRun(run, "you", "me", LATER)])
        with store.reading() as snapshot:
            found = snapshot.run(run)
        assert (found.owner, found.status, found.heartbeat, found.ended) == ("you", "running", LATER, None)
        with pytest.raises(Conflict, match="belongs to 'you'"):
            store.commit([], [ClaimRun(run, "third", "me", LATER)])
        for end in ([], [CloseRun(run, "success", LATER)]):
            store.commit([], end)
            with pytest.raises(LeaseLost, match="belongs to 'you'"):
                store.commit([], [Heartbeat(run, "me", LATER)])

    def test_a_former_owner_writes_nothing_more(self, store: Store) -> None:
        """No step, no call, no end of either, and no write; whether the run goes on, rests or has ended."""
        run, made = open_run(store), store.new_id(Kind.NOTE)
        mine, yours = OwnerGuard(run, "me"), OwnerGuard(run, "you")
        begun = [step(run, status="suspended"), call(run)]
        store.commit([], [mine, *begun])
        store.commit([], [ClaimRun(run, "you", "me", LATER), yours, step(run, 2)])
        late = [step(run, 3), step(run), step(run, 2), call(run, 2), call(run, status="success")]
        for end in (None, CloseRun(run, "suspended", LATER), CloseRun(run, "success", LATER)):
            for entry in (*late, CloseRun(run, "failed", LATER)):
                with pytest.raises(LeaseLost, match="another process has taken"):
                    store.commit([MakeNote(made, "x")], [mine, entry])
            if end is not None:
                store.commit([], [yours, end])
        with store.reading() as snapshot:
            assert [row.status for row in snapshot.steps(run)] == ["failed", "success"]
            assert [row.status for row in snapshot.calls(run)] == ["started"]
            assert snapshot.run(run).status == "success"
            with pytest.raises(NotFound, match="there is no Note"):
                snapshot.get(made)
        with pytest.raises(NotFound, match="there is no run"):
            store.commit([], [OwnerGuard("run_99", "me"), step("run_99")])

    def test_what_a_run_spent_is_kept_with_its_heartbeat(self, store: Store) -> None:
        """A beat that says nothing of it leaves it as it was."""
        run = open_run(store)
        store.commit([], [Heartbeat(run, "me", LATER, {"seconds": 1.5})])
        store.commit([], [Heartbeat(run, "me", LATER)])
        with store.reading() as snapshot:
            assert snapshot.run(run).spent == {"seconds": 1.5}

    @pytest.mark.parametrize("run", ["run_99", "Note_1", "run_0", ""])
    def test_an_unknown_run_is_not_found(self, store: Store, run: str) -> None:
        """By no door."""
        for entry in (step(run), CloseRun(run, "success", AT), Heartbeat(run, "me", AT), ClaimRun(run, "a", None, AT)):
            with pytest.raises(NotFound, match=run or "''"):
                store.commit([], [entry])
        with store.reading() as snapshot:
            for read in (snapshot.run, snapshot.steps):
                with pytest.raises(NotFound, match=run or "''"):
                    read(run)


class TestDocuments:
    """What a run is of may come after its beginning."""

    def test_the_lines_of_a_session_are_its_steps(self, store: Store) -> None:
        """In their order, with the saved plans that they name; an ended session takes no more."""
        run = store.new_id("run")
        store.commit([], [OpenRun(run, "session", "", {"goal": "find out"}, {}, AT, "me", {"a": {"steps": []}})])
        store.commit([], [AddLines(run, [{"type": "size"}, {"type": "head"}])])
        store.commit([], [AddLines(run, [{"type": "tail"}], {"b": {"steps": []}})])
        with store.reading() as snapshot:
            found = snapshot.run(run)
            assert snapshot.runs() == [found]
        steps = [{"type": "size"}, {"type": "head"}, {"type": "tail"}]
        assert found.document == {"goal": "find out", "steps": steps}
        assert set(found.plans) == {"a", "b"}
        store.commit([], [AddLines(run, [], {"b": {"steps": [{"type": "size"}]}})])
        with store.reading() as snapshot:
            assert snapshot.run(run).plans == {"a": {"steps": []}, "b": {"steps": [{"type": "size"}]}}
        store.commit([], [CloseRun(run, "success", LATER)])
        with pytest.raises(Conflict, match="ended already"):
            store.commit([], [AddLines(run, [{"type": "size"}])])

    def test_a_document_that_came_later_is_the_run_s(self, store: Store) -> None:
        """With its goal and inputs."""
        run = open_run(store)
        store.commit([], [SetDocument(run, "another", {"steps": []}, {"x": "Note_2"}, {"b": {"steps": []}})])
        with store.reading() as snapshot:
            found = snapshot.run(run)
        assert (found.goal, found.document, found.inputs) == ("another", {"steps": []}, {"x": "Note_2"})
        assert found.plans == {"b": {"steps": []}}
        store.commit([], [CloseRun(run, "refused", LATER)])
        with pytest.raises(Conflict, match="ended already"):
            store.commit([], [SetDocument(run, "", {}, {})])


class TestSteps:
    """Steps and their writes are one transaction."""

    def test_a_step_reads_as_it_was_written(self, store: Store) -> None:
        """Every field, with what it used, in the order of sequence."""
        run, a, b = open_run(store), note(store), note(store)
        bare = step(run, 2, status="failed")
        full = step(
            run,
            1,
            attempt=2,
            out="$x",
            resource=a,
            version=1,
            value="a number",
            reason="r",
            error="bug",
            extra={"item_count": 2},
            expect="some",
            uses=(Use(a, 1), Use(b, 1)),
            digest=b"\x00\xff",
            trace="Traceback",
        )
        store.commit([], [bare, full])
        with store.reading() as snapshot:
            assert snapshot.steps(run) == [full, bare]

    def test_a_write_and_its_row_stand_or_fall_together(self, store: Store) -> None:
        """A row that does not fit takes the write with it."""
        run, made = open_run(store), store.new_id(Kind.NOTE)
        with pytest.raises(NotFound, match="there is no run"):
            store.commit([MakeNote(made, "x")], [step(run, resource=made), step("run_99")])
        with store.reading() as snapshot:
            assert snapshot.steps(run) == []
            with pytest.raises(NotFound, match="there is no Note"):
                snapshot.get(made)

    def test_a_begun_step_is_replaced_by_its_end_and_an_ended_one_never(self, store: Store) -> None:
        """An outside call writes two rows of one sequence; the second takes the place of the first."""
        run, a, b = open_run(store), note(store), note(store)
        store.commit([], [step(run, status="started", uses=(Use(a, 1),))])
        store.commit([], [step(run, status="suspended")])
        end = step(run, uses=(Use(b, 1),))
        store.commit([], [end])
        with pytest.raises(Conflict, match=f"step execution 1 of {run} has ended already, with success"):
            store.commit([], [step(run, status="failed")])
        with store.reading() as snapshot:
            assert snapshot.steps(run) == [end]

    def test_a_use_named_twice_is_one(self, store: Store) -> None:
        """A step that reads a resource twice used it."""
        run, a = open_run(store), note(store)
        store.commit([], [step(run, uses=(Use(a, 1), Use(a, 1)))])
        with store.reading() as snapshot:
            assert snapshot.steps(run)[0].uses == (Use(a, 1),)


def call(run: str, sequence: int = 1, **fields: object) -> CallRow:
    """Return a call that has begun."""
    return replace(CallRow(run, sequence, "1", "tool", "files/read", b"\x00d", "started", AT), **fields)  # type: ignore[arg-type]


class TestCalls:
    """Calls of what is outside are written before their effect, and again when they ended."""

    def test_a_call_reads_as_it_was_written_last(self, store: Store) -> None:
        """By sequence; the end takes the place of the beginning."""
        run = open_run(store)
        said = {"answer": {"a": None}, "request": {"path": "x"}}
        begun, ended = call(run, 2), call(run, 1, status="success", duration_ms=2.5, tokens=7, **said)
        store.commit([], [begun, call(run, 1)])
        lost = call(run, 2, status="failed", duration_ms=9.0, error="unreachable", reason="nobody is there")
        store.commit([], [ended])
        with store.reading() as snapshot:
            assert snapshot.calls(run) == [ended, begun]
        store.commit([], [lost])
        with store.reading() as snapshot:
            assert snapshot.calls(run) == [ended, lost]
            with pytest.raises(NotFound, match="there is no run"):
                snapshot.calls("run_99")

    def test_a_call_ends_once_and_as_what_it_began(self, store: Store) -> None:
        """Another one under its number, or a second end, is a Conflict; of an unknown run, NotFound."""
        run = open_run(store)
        store.commit([], [call(run)])
        with pytest.raises(Conflict, match="is another one, or has ended already, with"):
            store.commit([], [call(run, digest=b"another", status="success")])
        store.commit([], [call(run, status="failed", reason="no")])
        with pytest.raises(Conflict, match="failed"):
            store.commit([], [call(run, status="success")])
        with pytest.raises(NotFound, match="there is no run"):
            store.commit([], [call("run_99")])


class TestAnswers:
    """What people answer to the steps of a run is kept, once each."""

    def test_the_first_answer_stands(self, store: Store) -> None:
        """A second one is a Conflict; of an unknown run, NotFound."""
        run = open_run(store)
        store.commit([], [AnswerRow(run, "2.do[1].1", {"yes": [None, "é"]}, AT), AnswerRow(run, "3", False, AT)])
        with pytest.raises(Conflict, match="answered already"):
            store.commit([], [AnswerRow(run, "3", True, AT)])
        with pytest.raises(NotFound, match="there is no run"):
            store.commit([], [AnswerRow("run_99", "1", 1, AT)])
        with store.reading() as snapshot:
            assert snapshot.answers(run) == {"2.do[1].1": {"yes": [None, "é"]}, "3": False}
            with pytest.raises(NotFound, match="there is no run"):
                snapshot.answers("run_99")

    def test_what_forms_decided_reads_as_it_was_written(self, store: Store) -> None:
        """With the step that it was told with."""
        run = open_run(store)
        store.commit([], [step(run, frames={"2": "then", "2.then.1": ["Collection_1", 3]})])
        with store.reading() as snapshot:
            assert snapshot.steps(run)[0].frames == {"2": "then", "2.then.1": ["Collection_1", 3]}
