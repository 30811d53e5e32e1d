"""A plan that streams in and comes to nothing: refused, broken off, interrupted. What ran ahead of it is dropped."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Conflict, InvalidJSON, Space
from planner.execute.start import run_sync
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import RunStarted
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import resume
from planner.parse.text import read_plan

sys.path.insert(0, str(Path(__file__).parent))
from writing import KEEP, LIST, NOTE, SIZE, Written, kept, runs, steps, write

# Refusals


def test_a_refused_document_leaves_nothing_but_word_of_it(space: Space) -> None:
    """Its problems are those of the document at once; what ran ahead is told as skipped."""
    bad = {"type": "sya", "value": "${n}"}
    text = [LIST, SIZE, KEEP, bad, {"type": "size", "target": "$nobody"}]
    result, written = write(space, ("[" + steps(*text[:2]), 2), "," + steps(*text[2:]), "]")
    assert written.ahead == ["1", "2"]
    at_once = run_sync(space, text)
    assert (result.status, result.problems) == ("refused", at_once.problems)
    assert [(row.position, row.status, row.resource) for row in result.steps] == [
        ("1", "skipped", None),
        ("2", "skipped", None),
    ]
    assert {row.reason for row in result.steps} == {"the document was refused; what it had done ahead is dropped"}
    shown = result.to_json()
    assert {"result": shown["result"], "bindings": shown["bindings"]} == {"result": None, "bindings": {}}
    [run] = runs(space)
    assert (run.run, run.status, run.document) == (result.run, "refused", None)
    with space.store.reading() as snapshot:
        assert snapshot.steps(run.run) == result.steps
    assert kept(space) == []
    assert space.store.check() == []
    for door in (resume, replay):
        with pytest.raises(Conflict, match=f"the plan of {run.run} was refused: nothing of it was done") as raised:
            asyncio.run(door(space, run.run))  # type: ignore[operator]  # two functions of one shape
        assert raised.value.hint == "`infospace run` runs it again"


def test_a_document_is_refused_the_same_wherever_it_breaks_off(space: Space) -> None:
    """With the sentence that the text has when it is there at once, and nothing kept."""
    whole = json.dumps({"goal": "ä", "steps": [LIST, KEEP], "result": "$c"}, ensure_ascii=False).encode()
    for end in range(len(whole)):
        text = whole[:end]
        with pytest.raises(InvalidJSON) as expected:
            read_plan(text)
        middle = end // 2
        result, _ = write(space, text[:middle], text[middle:])
        [problem] = result.problems
        assert result.status == "refused"
        assert (problem.code, problem.message, problem.hint) == (
            "unreadable",
            expected.value.message,
            expected.value.hint,
        )
    assert kept(space) == []


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ('], "steps": []}', "unreadable"),
        ('], "plan": []}', "unknown-key"),
        ('], "goal": NaN}', "unreadable"),
        ('], "gaol": "x"}', "unknown-key"),
        ("]} []", "unreadable"),
        ("]}}", "unreadable"),
    ],
)
def test_what_stands_after_the_steps_may_refuse_all(space: Space, end: str, code: str) -> None:
    """Though the steps ran ahead."""
    result, written = write(space, ('{"steps": [' + steps(LIST), 1), end)
    assert written.ahead == ["1"]
    assert (result.status, [problem.code for problem in result.problems]) == ("refused", [code])


@pytest.mark.parametrize(
    ("end", "inputs", "code"),
    [
        ("," + steps({"type": "persist", "target": "Note_1"}) + "]}", {}, "unknown-id"),
        ('], "inputs": {"n": {"kind": "Note"}}}', {"n": "Note_1"}, "bad-input"),
    ],
)
def test_a_plan_cannot_name_what_it_has_made_ahead(space: Space, end: str, inputs: dict[str, Any], code: str) -> None:
    """An id that is given out while it arrives is unknown to the check, as it would be at once."""
    result, written = write(space, ('{"steps": [' + steps(LIST), 1), end, inputs=inputs)
    assert written.ahead == ["1"]
    assert result.status == "refused"
    assert [problem.code for problem in result.problems if problem.severity == "error"] == [code]


def test_a_prefix_with_an_error_runs_no_further(space: Space) -> None:
    """Nothing after the error is looked at before the whole is there."""
    wrong = {"type": "size", "target": "$nobody", "out": "$m"}
    result, written = write(space, ("[" + steps(LIST), 1), "," + steps(wrong, SIZE), "]")
    assert (written.begun, result.status) == (["1"], "refused")
    twice = {**LIST, "id": "same"}
    result, written = write(space, ("[" + steps(twice), 1), "," + steps({**SIZE, "id": "same"}, NOTE), "]")
    assert (written.begun, [problem.code for problem in result.problems]) == (["same"], ["duplicate-id"])
    _, written = write(space, '{"gaol": 1, "steps": [' + steps(LIST), "]}")
    assert written.begun == []


def test_a_failure_ahead_counts_when_the_whole_has_passed_and_not_before(space: Space) -> None:
    """A plan that is wrong further on is refused, not failed."""
    fails = {"type": "coerce", "target": "$t", "coercion": "${t}", "out": "$i"}
    text = {"type": "create-note", "value": "seven", "out": "$t"}
    begin = ("[" + steps(text, fails, LIST), 2)
    failed, written = write(space, begin, "," + steps(KEEP) + "]")
    assert (failed.status, (failed.reason or "")[:24]) == ("failed", "step 2 (coerce) failed: ")
    assert "2" in written.ahead
    refused, _ = write(space, begin, "," + steps({"type": "sya"}) + "]")
    assert refused.status == "refused"
    assert {row.status for row in refused.steps} == {"skipped"}
    assert kept(space) == []


def test_lines_of_a_session_are_no_document(space: Space) -> None:
    """They are refused at this door, with a sentence."""
    result, written = write(space, steps(LIST) + "\n", steps(SIZE) + "\n")
    assert (result.status, written.begun) == ("refused", [])
    assert result.problems[0].message == "these are the lines of a session, not the document of a plan"
    assert result.problems[0].hint == '{"steps": [ … ]}'


# Ends before the end


def test_a_halt_before_the_whole_is_there_cancels(space: Space) -> None:
    """There is nothing that could be gone on with; what ran ahead is dropped."""

    async def go() -> tuple[RunResult, Written]:
        halt = SuspendRequest()
        written = Written(space, halt=halt)

        async def interrupt() -> None:
            await written.until(lambda: bool(written.ahead))
            halt.set()

        interrupting = asyncio.create_task(interrupt())
        result = await written.run(("[" + steps(LIST), 99), "]")
        await interrupting
        return result, written

    result, _ = asyncio.run(go())
    assert result.status == "cancelled"
    assert result.reason == "interrupted before the document had arrived whole; nothing of it was done"
    [row] = result.steps
    assert (row.position, row.status) == ("1", "skipped")
    assert row.reason == "the document never arrived whole; what it had done ahead is dropped"
    assert result.run is not None
    for door in (resume, replay):
        with pytest.raises(Conflict, match="the plan of run_1 never arrived whole: nothing of it was done") as raised:
            asyncio.run(door(space, result.run))  # type: ignore[operator]  # two functions of one shape
        assert raised.value.hint == "`infospace run` runs it again"


def test_closing_the_stream_cancels(space: Space) -> None:
    """As that of any run."""
    from planner.streaming.run import stream_arriving

    async def go() -> None:
        async def pieces() -> Any:
            yield ("[" + steps(LIST)).encode()
            await asyncio.Event().wait()

        events = stream_arriving(space, pieces())
        async for event in events:
            if isinstance(event, RunStarted):
                break
        await events.aclose()  # type: ignore[attr-defined]  # it is a generator

    asyncio.run(go())
    assert [(run.status, run.reason) for run in runs(space)] == [("cancelled", "the run was cancelled")]


def test_a_source_that_breaks_ends_the_run(space: Space) -> None:
    """The error is told to whoever listens; no run stays open."""
    from planner.streaming.run import stream_arriving

    async def go() -> None:
        async def pieces() -> Any:
            yield ("[" + steps(LIST)).encode()
            raise OSError("the line is dead")

        async for _event in stream_arriving(space, pieces()):
            pass

    with pytest.raises(OSError, match="the line is dead"):
        asyncio.run(go())
    reason = "the document broke off: OSError: the line is dead"
    assert [(run.status, run.reason) for run in runs(space)] == [("cancelled", reason)]
