"""Two runs beside each other: which rows there are, and what each tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from infospace import Space
from planner.execute.start import run_sync
from tui.tables.run_diff import Comparison, DiffRows, compare, format_run_duration, format_summary, render_run

COLOURS = {name: name for name in ("success", "error", "warning", "secondary")}


def note(value: str, out: str, **more: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **more}


def plan(word: str, *more: dict[str, Any], goal: str = "Compare") -> dict[str, Any]:
    items = {"type": "create-collection", "value": ["$a", "$b"], "out": "$all"}
    return {"goal": goal, "steps": [note("same", "$a"), note(word, "$b"), items, *more], "result": "$all"}


def compared(space: Space, before: Any, after: Any) -> Comparison:
    runs = [str(run_sync(space, document).run) for document in (before, after)]
    with space.store.reading() as snapshot:
        return compare(snapshot, *runs)


def cells(rows: DiffRows, index: int) -> list[str]:
    """What a row tells, but for the times."""
    return [str(cell) for cell in rows.cells(index, [])][:3]


def test_rows_are_what_differs_or_everything(space: Space) -> None:
    """The runs come first, and the result last."""
    found = compared(space, plan("one"), plan("two", note("more", "$c")))
    rows = DiffRows(found, COLOURS, everything=False)
    assert [cells(rows, index) for index in range(len(rows))] == [
        ["=", "the runs", ""],
        ["~", "2 create-note → $b", "content, arguments"],
        ["~", "3 create-collection → $all", "items +1 −1, inputs"],
        ["+", "4 create-note → $c", "only after"],
        ["~", "result", "items +1 −1"],
    ]
    assert [rows.key(index) for index in range(2)] == ["runs", "1:2"]
    every = DiffRows(found, COLOURS, everything=True)
    assert len(every) == len(rows) + 1
    assert cells(every, 1) == ["=", "1 create-note → $a", ""]
    assert format_summary(found) == "3 steps differ, 1 alike; the plans differ"


def test_the_other_way_round_what_came_has_gone(space: Space) -> None:
    found = compared(space, plan("one", note("more", "$c")), plan("one"))
    rows = DiffRows(found, COLOURS, everything=False)
    assert cells(rows, 1) == ["−", "4 create-note → $c", "only before"]
    times = [str(cell) for cell in rows.cells(1, [])][3:]
    assert times[0].endswith("ms")
    assert times[1] == ""
    assert format_summary(found) == "1 step differs, 3 alike; the plans differ"


def test_runs_that_are_alike_show_all_their_steps(space: Space) -> None:
    """There is nothing else to show."""
    found = compared(space, plan("one"), plan("one", goal="Otherwise"))
    assert found.found.same
    assert len(DiffRows(found, COLOURS, everything=False)) == 4
    assert format_summary(found) == "the same: 3 steps alike; the plans differ"
    again = compared(space, plan("one"), plan("one"))
    assert format_summary(again) == "the same: 3 steps alike"


def test_runs_that_ended_otherwise_say_in_what(space: Space) -> None:
    """Their status, else the reason."""
    stop = {"type": "stop", "value": "now"}
    found = compared(space, plan("one"), plan("one", stop))
    assert cells(DiffRows(found, COLOURS, everything=False), 0) == ["~", "the runs", "status"]


def test_inputs_that_differ_have_a_row(space: Space) -> None:
    document = {
        "goal": "g",
        "inputs": {"word": {"type": "string"}},
        "steps": [note("${word}", "$a")],
    }
    runs = [str(run_sync(space, document, {"word": word}).run) for word in ("one", "two")]
    with space.store.reading() as snapshot:
        found = compare(snapshot, *runs)
    rows = DiffRows(found, COLOURS, everything=False)
    assert cells(rows, 1)[:2] == ["~", "input $word"]
    assert found.pairs[1].position is None
    assert found.pairs[1].differs


def test_a_run_says_on_a_line_what_it_was_and_took(space: Space) -> None:
    found = compared(space, plan("one"), plan("two"))
    before, _ = found.runs
    said = str(render_run(before, found.run_stats[0], COLOURS))
    assert said.startswith("run_1 ✓ success  ")
    assert [str(span.style) for span in render_run(before, None, COLOURS).spans] == ["bold", "success", "dim"]
    assert said.endswith("ms  Compare")
    assert format_run_duration(before).endswith("ms")
    wait = {"goal": "w", "steps": [{"type": "ask", "value": "?", "out": "$x"}]}
    asked = str(run_sync(space, wait).run)
    with space.store.reading() as snapshot:
        row = snapshot.run(asked)
    going = replace(row, status="running", spent={}, ended=None)
    assert str(render_run(going, None, COLOURS)) == "run_3 ▶ running  not ended  w"
    assert format_run_duration(going) == ""
