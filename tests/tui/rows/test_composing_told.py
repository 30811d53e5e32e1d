"""What stands beside a draft: its problems, its values, where it stops; how a plan is laid out, and a fix told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infospace import Space
from infospace.data.json_text import read_json
from planner.editor.draft import Mark, check_draft
from planner.language.problems import Problem
from tui.screens.compose.tables import BreakpointRows, ProblemRows, ValueRow, ValueRows
from tui.text.fix_text import format_fix
from tui.text.format_plan import WIDE, format_plan, plan_document

COLOURS = {name: name for name in ("error", "warning", "accent", "primary")}


def styled(cells: Any) -> list[tuple[str, str]]:
    return [(str(cell), str(getattr(cell, "style", ""))) for cell in cells]


def test_problems_tell_their_line_and_whether_a_key_mends_them() -> None:
    fix = [{"op": "remove", "path": "/a"}]
    marks = [
        Mark(Problem("bad", "/a", "it is\nbad", fix=fix), 0, 1),
        Mark(Problem("odd", "/b", "it is odd", severity="warning"), 2, 3),
    ]
    rows = ProblemRows(marks, [4, 5], COLOURS)
    assert styled(rows.cells(0, [])) == [("✗", "error"), ("4", ""), ("it is bad", ""), ("⚒ ^f", "accent")]
    assert styled(rows.cells(1, [])) == [("!", "warning"), ("5", ""), ("it is odd", ""), ("", "")]
    assert (len(rows), rows.key(0), rows.key(1)) == (2, "/a bad it is\nbad", "/b odd it is odd")


def test_values_tell_what_is_bound_and_which_was_last() -> None:
    rows = ValueRows([ValueRow("a", "Note_1", "one\ntwo", "1"), ValueRow("b", "Note_2", "x", "2")], "b", COLOURS)
    assert styled(rows.cells(0, []))[0] == ("$a", "primary")
    assert [text for text, _ in styled(rows.cells(1, []))] == ["$b", "x", "Note_2", "2"]
    assert styled(rows.cells(1, []))[0] == ("$b", "accent")
    assert (len(rows), rows.key(1)) == (2, "b")


def test_stops_tell_where_a_run_rests() -> None:
    rows = BreakpointRows([("step 4", "line 2"), ("when 0", "when $x is\nempty")], COLOURS)
    assert styled(rows.cells(1, [])) == [("●", "error"), ("when $x is empty", "")]
    assert (len(rows), rows.key(0)) == (2, "step 4")


def test_a_plan_is_laid_out_a_step_a_line_where_it_is_short() -> None:
    """Else a field a line; what is empty stays on its line, and all of it reads the same."""
    short: dict[str, Any] = {"type": "say", "value": "x"}
    long = {"type": "say", "value": "x" * WIDE}
    plan = {"goal": "ü", "inputs": {}, "steps": [short, long, {"do": [short, long]}]}
    text = format_plan(plan)
    assert read_json(text) == plan
    assert text.startswith(
        '{\n  "goal": "ü",\n  "inputs": {},\n  "steps": [\n    {"type": "say", "value": "x"},\n    {\n'
    )
    assert text.endswith("\n")
    assert f'      "value": "{"x" * WIDE}"\n    }},\n' in text
    assert format_plan([short]) == '[\n  {"type": "say", "value": "x"}\n]\n'
    assert format_plan([]) == "[]\n"


@pytest.mark.parametrize(("room", "lines"), [(0, 3), (1, 5)])
def test_a_line_is_so_wide_at_most(room: int, lines: int) -> None:
    """Its indentation counts."""
    step = {"v": "x" * (WIDE - 2 - len(json.dumps({"v": ""})) + room)}
    assert len(format_plan([step]).splitlines()) == lines


def test_lines_of_a_session_become_a_document(space: Space) -> None:
    """With a head where they have one."""
    head, step = {"goal": "g"}, {"type": "stop"}
    lines = [json.dumps(one) for one in (head, step, step)]
    assert plan_document(check_draft(space, "\n".join(lines))) == {"goal": "g", "steps": [step, step]}
    assert plan_document(check_draft(space, "\n".join(lines[1:]))) == {"steps": [step, step]}
    assert plan_document(check_draft(space, json.dumps([step]))) == [step]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "replace", "path": "/steps/0/type", "value": "size"}, 'make it "size"'),
        ({"op": "add", "path": "/steps/0/out", "value": "$x"}, 'add "out": "$x"'),
        ({"op": "add", "path": "/steps/0", "value": {}}, "put in {}"),
        ({"op": "remove", "path": "/steps/0/out"}, 'take "out" away'),
        ({"op": "remove", "path": ""}, 'take "the plan" away'),
        ({"op": "move", "from": "/steps/0/traget", "path": "/steps/0/target"}, 'call "traget" "target"'),
        ({"op": "move", "from": "/steps/0/a", "path": "/steps/1/a"}, 'move "a"'),
        ({"op": "move", "from": "/steps/0", "path": "/steps/1"}, 'move "0"'),
    ],
)
def test_a_fix_is_told_in_words(operation: dict[str, Any], message: str) -> None:
    assert format_fix([operation]) == message
    assert format_fix([operation, operation]) == f"{message}; {message}"
