"""Calls of tools that somebody is asked about first: by which step, in which order, and what an answer allows."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Conflict, Invalid, Space, open_space
from infospace.core.tool import NotCalled
from infospace.tools.approvals import list_approvals
from infospace.tools.local import LocalTools
from planner.execute.start import prepare, run_sync, stream
from planner.journal.result import RunResult
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.fork import fork
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan
from planner.sessions.session import Session


class Files:
    """A server of tools that take something away; it writes down what it was called with."""

    def __init__(self, space: Space, description: str = "Delete a file.") -> None:
        self.created_by: list[str] = []
        server = LocalTools("files")

        async def delete(path: str) -> str:
            self.created_by.append(path)
            if path == "none":
                raise NotCalled("there is no such file")
            return f"deleted {path}"

        delete.__doc__ = description
        server.tool(destructive=True)(delete)

        @server.tool(destructive=True, idempotent=True)
        async def empty(path: str) -> str:
            """Empty a folder."""
            self.created_by.append(f"empty {path}")
            if len(self.created_by) == 1:
                raise NotCalled("the disk was busy")
            return f"emptied {path}"

        space.tools.add(server)


@pytest.fixture
def files(space: Space) -> Files:
    """The server, in the space of the test."""
    return Files(space)


def delete(path: str, out: str | None = None, **fields: Any) -> dict[str, Any]:
    step = {"type": "files/delete", "arguments": {"path": path}, **fields}
    return step if out is None else {**step, "out": out}


def note(value: Any, out: str, **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def said(space: Space, result: RunResult, word: Any, step: str | None = None) -> RunResult:
    """Answer what is asked first, or a step, and go on."""
    asked = result.pending[0].step if step is None else step
    answer(space, str(result.run), asked, word)
    return asyncio.run(resume(space, str(result.run)))


def to_the_end(space: Space, result: RunResult, word: str = "once") -> RunResult:
    """Answer everything alike."""
    while result.status == "suspended":
        result = said(space, result, word)
    return result


LETTERS = {"type": "create-collection", "value": ["a", "b", "c"], "out": "$c"}


def test_a_call_is_asked_about_before_it_is_made(space: Space, files: Files) -> None:
    """The question names tool, server and arguments as they are resolved, and says what may be answered."""
    result = run_sync(space, [note("x.md", "$p"), delete("$p", "$d"), note("${d}!", "$e")])
    assert (result.status, files.created_by) == ("suspended", [])
    [asked] = result.to_json()["pending"]
    assert (asked["step"], asked["kind"]) == ("2", "approve")
    assert asked["question"].startswith("call the tool delete of the server files")
    assert '{"path":"x.md"}' in asked["question"]
    assert asked["schema"]["enum"] == ["once", "run", "always", "no"]
    ended = said(space, result, "once")
    assert ended.result is not None
    assert (ended.status, ended.result.data, files.created_by) == ("success", "deleted x.md!", ["x.md"])


def test_a_word_that_is_none_of_the_four_is_refused(space: Space, files: Files) -> None:
    """And nothing is called."""
    result = run_sync(space, [delete("a")])
    for word in ("yes", True, None, ["once"]):
        with pytest.raises(Invalid, match="does not fit"):
            answer(space, str(result.run), "1", word)
    assert said(space, result, "no").status == "failed"
    assert files.created_by == []


def test_no_fails_the_step_so_that_a_handler_can_do_something_else(space: Space, files: Files) -> None:
    """The reason says that somebody said so; it is not attempted again, though it might be."""
    plain = said(space, run_sync(space, [delete("a")]), "no")
    assert plain.reason == "step 1 (files/delete) failed: files/delete was not called: asked about it, somebody said no"
    handler = [note("kept, since ${error.reason}", "$d")]
    retry = {"attempts": 3, "wait_s": 0}
    step = {"type": "files/empty", "arguments": {"path": "a"}, "on_fail": handler, "retry": retry, "out": "$d"}
    handled = said(space, run_sync(space, [step, note("${d}", "$e")]), "no")
    assert handled.result is not None
    assert handled.result.data == "kept, since files/empty was not called: asked about it, somebody said no"
    assert [row.position for row in handled.steps] == ["1", "1.on_fail.1", "2"]
    assert files.created_by == []


def test_once_is_that_call_and_each_item_of_a_loop_asks_in_its_place(space: Space, files: Files) -> None:
    """In order; what was called is not called again."""
    each = {"type": "for-each", "target": "$c", "do": [delete("${item}", "$d")], "out": "$all"}
    mapped = {"type": "map", "target": "$c", "operation": {"type": "files/delete", "arguments": {"path": "$item"}}}
    result, asked = run_sync(space, [LETTERS, each, {**mapped, "out": "$m"}]), []
    while result.status == "suspended":
        asked += [one.step for one in result.pending]
        result = said(space, result, "once")
    assert asked == [*(f"2.do[{n}].1" for n in (1, 2, 3)), *(f"3[{n}]" for n in (1, 2, 3))]
    assert files.created_by == ["a", "b", "c"] * 2
    assert result.result is not None
    assert result.result.data == ["deleted a", "deleted b", "deleted c"]


def test_run_is_every_call_of_the_tool_in_this_run(space: Space, files: Files) -> None:
    """Not of another tool of the server, and not in another run."""
    each = {"type": "for-each", "target": "$c", "do": [delete("${item}")], "out": "$all"}
    other = {"type": "files/empty", "arguments": {"path": "d"}, "on_fail": "continue"}
    result = said(space, run_sync(space, [LETTERS, each, other, delete("z")]), "run")
    assert [one.step for one in result.pending] == ["3"]
    assert to_the_end(space, result).status == "success"
    assert files.created_by == ["a", "b", "c", "empty d", "z"]
    assert run_sync(space, [delete("q")]).status == "suspended"
    assert list_approvals(space.store) == []


def test_always_is_remembered_until_the_tool_says_something_else(tmp_path: Path) -> None:
    """By any process that has the space open."""
    with open_space(tmp_path / "space.db") as space:
        Files(space)
        assert said(space, run_sync(space, [delete("a")]), "always").status == "success"
    with open_space(tmp_path / "space.db") as space:
        Files(space)
        assert run_sync(space, [delete("b")]).status == "success"
    with open_space(tmp_path / "space.db") as space:
        changed = Files(space, "Delete a file. Also sends it to us.")
        assert run_sync(space, [delete("c")]).status == "suspended"
        assert changed.created_by == []


def test_branches_ask_side_by_side_and_saved_plans_in_their_place(space: Space, files: Files) -> None:
    """Each with its position; the answer is to that one."""
    branches = [[delete("a", "$a")], [delete("b", "$b")]]
    result = run_sync(space, [{"type": "parallel", "branches": branches}])
    assert {one.step for one in result.pending} == {"1.branches[1].1", "1.branches[2].1"}
    result = said(space, result, "no", "1.branches[2].1")
    result = to_the_end(space, result)
    assert "1.branches[2].1 (files/delete) failed" in str(result.reason)
    assert "b" not in files.created_by
    save_plan(space, "tidy", {"inputs": {"of": {"type": "string"}}, "steps": [delete("$of", "$d")]})
    result = run_sync(space, [{"type": "plan:tidy", "arguments": {"of": "x"}, "out": "$r"}])
    assert [one.step for one in result.pending] == ["1/1"]
    assert said(space, result, "once").status == "success"
    assert files.created_by[-1] == "x"


def test_an_attempt_that_is_made_again_is_not_asked_about_again(space: Space, files: Files) -> None:
    """It is the same call."""
    step = {"type": "files/empty", "arguments": {"path": "a"}, "retry": {"attempts": 3, "wait_s": 0}}
    assert said(space, run_sync(space, [step]), "once").status == "success"
    assert files.created_by == ["empty a"] * 2


def test_what_was_allowed_is_the_call_as_it_was_shown(space: Space, files: Files) -> None:
    """With other arguments, since what they are read from has changed, it is asked about anew."""
    run_sync(space, [note("mine.md", "$p", name="path")])
    load = {"type": "load", "target": "path", "out": "$p"}
    result = run_sync(space, [load, delete("$p")])
    answer(space, str(result.run), "2", "once")
    run_sync(space, [{"type": "update-note", "target": "path", "value": "yours.md"}])
    again = asyncio.run(resume(space, str(result.run)))
    assert (again.status, files.created_by) == ("suspended", [])
    assert "yours.md" in again.pending[0].question
    assert said(space, again, "once").status == "success"
    assert files.created_by == ["yours.md"]


def test_a_tool_that_has_changed_since_it_was_asked_about_is_asked_about_anew(tmp_path: Path) -> None:
    """An answer holds for what the tool said of itself then; `always` too."""
    for word in ("once", "run", "always"):
        with open_space(tmp_path / f"{word}.db") as space:
            Files(space)
            run = str(run_sync(space, [delete("a")]).run)
            answer(space, run, "1", word)
        with open_space(tmp_path / f"{word}.db") as space:
            changed = Files(space, "Delete everything.")
            assert asyncio.run(resume(space, run)).status == "suspended"
            assert changed.created_by == []


def test_approve_names_what_is_not_asked_about_and_is_kept_with_the_run(space: Space, files: Files) -> None:
    """`resume` honours it; it may add to it; another run has nothing of it."""
    ask = {"type": "ask", "value": "sure?", "out": "$yes"}
    steps = [delete("a"), ask, delete("b"), {"type": "files/empty", "arguments": {"path": "c"}, "on_fail": "continue"}]
    result = run_sync(space, steps, approve=["files/delete"])
    assert [one.kind for one in result.pending] == ["ask"]
    result = said(space, result, "yes")
    assert [one.step for one in result.pending] == ["4"]
    assert asyncio.run(resume(space, str(result.run), approve=["files/empty"])).status == "success"
    assert files.created_by == ["a", "b", "empty c"]
    assert run_sync(space, [delete("d")]).status == "suspended"
    assert run_sync(space, [delete("d")], approve=["files/*"]).status == "success"


def test_what_is_no_tools_name_is_refused_before_anything_runs(space: Space, files: Files) -> None:
    """By every door."""
    result = run_sync(space, [delete("a")])
    doors = [
        lambda: run_sync(space, [delete("a")], approve=["files"]),
        lambda: asyncio.run(resume(space, str(result.run), approve=["*"])),
        lambda: asyncio.run(fork(space, str(result.run), "1", [], approve=["/"])),
        lambda: Session(space, approve=["a/"]),
    ]
    for door in doors:
        with pytest.raises(Invalid, match="names no tool"):
            door()
    with space.store.reading() as snapshot:
        assert [(row.run, row.status) for row in snapshot.runs()] == [(result.run, "suspended")]


def test_a_stream_and_a_session_take_approvals(space: Space, files: Files) -> None:
    """As a run does."""
    prepared: Any = prepare(space, [delete("a")])

    async def events() -> list[Any]:
        return [event async for event in stream(space, prepared, approve=["files/*"])]

    assert asyncio.run(events())[-1].result.status == "success"
    session = Session(space, approve=["files/delete"])
    assert asyncio.run(session.play([delete("b")])).status == "success"
    assert asyncio.run(session.play([delete("c")])).status == "success"
    assert files.created_by == ["a", "b", "c"]


def test_a_session_asks_before_it_calls_and_remembers_what_was_said(space: Space, files: Files) -> None:
    """In its run: once for a call, for all of its later calls too, or no more than the step that failed."""
    session = Session(space, "s")
    asked = asyncio.run(session.play([delete("a", "$a"), note("${a}", "$n")]))
    assert [(one.step, one.kind) for one in asked.pending] == [("1", "approve")]
    with pytest.raises(Conflict, match=r"step 1 \(approve\).*`infospace answer run_1 1"):
        asyncio.run(session.play([delete("b")]))
    done = asyncio.run(session.answer("1", "once")).result
    assert done is not None
    assert done.data == "deleted a"
    assert asyncio.run(session.play([delete("b")])).status == "suspended"
    refused = asyncio.run(session.answer("3", "no"))
    assert (refused.status, files.created_by) == ("failed", ["a"])
    assert said(space, asyncio.run(session.play([delete("c")])), "run").status == "success"
    assert asyncio.run(session.play([delete("d")])).status == "success"
    assert asyncio.run(Session(space, "t", approve=["files/*"]).play([delete("e")])).status == "success"
    assert asyncio.run(Session(space, "t").play([delete("f")])).status == "success"
    assert asyncio.run(Session(space, "u").play([delete("g")])).status == "suspended"
    assert files.created_by == ["a", "c", "d", "e", "f"]


def test_a_replay_asks_nobody(space: Space, files: Files) -> None:
    """Answers come from the record; with `live`, a call of which nothing is recorded is not made unasked."""
    run_sync(space, [note("a", "$p", name="path")])
    load = {"type": "load", "target": "path", "out": "$p"}
    result = said(space, run_sync(space, [load, delete("$p", "$d")]), "once")
    again = asyncio.run(replay(space, str(result.run)))
    assert (again.result.status, again.difference.same) == ("success", True)
    refused = said(space, run_sync(space, [delete("z", on_fail="continue")]), "no")
    assert asyncio.run(replay(space, str(refused.run))).result.status == "success"
    run_sync(space, [{"type": "update-note", "target": "path", "value": "b"}])
    live = asyncio.run(replay(space, str(result.run), live=True))
    assert "nobody can be asked here" in str(live.result.reason)
    assert files.created_by == ["a"]


def test_a_replay_may_call_what_was_approved_in_its_run(space: Space, files: Files) -> None:
    """Of which nothing is recorded, since what it reads has changed."""
    run_sync(space, [note("a", "$p", name="path")])
    load = {"type": "load", "target": "path", "out": "$p"}
    result = run_sync(space, [load, delete("$p", "$d")], approve=["files/delete"])
    run_sync(space, [{"type": "update-note", "target": "path", "value": "b"}])
    live = asyncio.run(replay(space, str(result.run), live=True))
    assert (live.result.status, live.result.reason) == ("success", None)
    assert files.created_by == ["a", "b"]


def test_a_fork_asks_anew(space: Space, files: Files) -> None:
    """What was allowed in the run was allowed for it."""
    result = said(space, run_sync(space, [delete("a"), note(1, "$n")]), "run")
    forked = asyncio.run(fork(space, str(result.run), "1", []))
    assert [one.step for one in forked.pending] == ["1"]
    allowed = asyncio.run(fork(space, str(result.run), "1", [], approve=["files/delete"]))
    assert allowed.status == "success"


def test_a_blocked_tool_is_not_called_and_the_check_warns(space: Space, warnings: Any) -> None:
    """Whatever is approved."""
    from dataclasses import replace

    class Blocked(LocalTools):
        def tools(self) -> list[Any]:
            return [replace(tool, blocked=True) for tool in super().tools()]

    server = Blocked("files")

    @server.tool(read_only=True)
    def read(path: str) -> str:
        """Read a file."""
        raise AssertionError(path)

    space.tools.add(server)
    step = {"type": "files/read", "arguments": {"path": "a"}}
    [problem] = warnings([step])
    assert (problem.code, problem.message, problem.pointer) == ("blocked", "files/read is blocked", "/0/type")
    result = run_sync(space, [step], approve=["files/*"])
    assert "files/read is blocked, and was not called" in str(result.reason)
    prepared: Any = prepare(space, [step])
    dried = asyncio.run(dry_run(space, prepared)).result
    assert "files/read is blocked, and was not called" in str(dried.reason)


def test_the_first_answer_stands(space: Space, files: Files) -> None:
    """Of two who answer, one is told so."""
    result = run_sync(space, [delete("a")])
    answer(space, str(result.run), "1", "no")
    with pytest.raises(Conflict, match="answered already"):
        answer(space, str(result.run), "1", "always")
    assert list_approvals(space.store) == []


PATHS = st.sampled_from(["a", "b", "none"])
CALLS = st.builds(lambda path: delete(path, "$d", on_fail="continue"), PATHS)
LOOPS = st.builds(
    lambda calls: {"type": "for-each", "target": "$c", "do": calls, "out": "$l", "on_fail": "continue"},
    st.lists(CALLS, min_size=1, max_size=2),
)
MAPS = st.just(
    {
        "type": "map",
        "target": "$c",
        "operation": {"type": "files/delete", "arguments": {"path": "$item"}},
        "out": "$m",
        "on_fail": "continue",
    }
)
FORKS = st.builds(
    lambda one, other: {"type": "parallel", "branches": [[{**one, "out": "$x"}], [{**other, "out": "$y"}]]},
    CALLS,
    CALLS,
)
WORD: Any = st.sampled_from(["once", "run", "always"])


@pytest.mark.slow
@settings(max_examples=100 if os.environ.get("INFOSPACE_PROVE") == "1" else 30)
@given(steps=st.lists(st.one_of(CALLS, LOOPS, MAPS, FORKS), min_size=1, max_size=4), word=WORD)
def test_what_is_approved_before_comes_out_as_what_is_approved_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any], word: Literal["once", "run", "always"]
) -> None:
    """The same calls in the same order, the same steps with the same outcomes."""
    document = [LETTERS, *steps, note("done", "$end")]
    outcomes = []
    for approve in (["files/*"], []):
        with open_space(tmp_path_factory.mktemp("space") / "space.db") as space:
            files = Files(space)
            result = to_the_end(space, run_sync(space, document, approve=approve), word)
            outcomes.append(
                (told(result), files.created_by if "parallel" not in str(steps) else sorted(files.created_by))
            )
            assert space.store.check() == []
    assert outcomes[0] == outcomes[1]


def told(result: RunResult) -> Sequence[Any]:
    """Return how a run ended, with its steps in the order of the document."""
    rows = [(row.position, row.status, row.value, row.reason, row.out) for row in result.steps]
    return [result.status, None if result.result is None else result.result.data, sorted(rows)]
