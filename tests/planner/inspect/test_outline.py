"""A run as a tree: where everything stands, and how far it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.core.position import Position
from infospace.journal.rows import StepRow
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan, run_sync
from planner.inspect.summaries import format_effect, format_size
from planner.inspect.tree import PAGE, RunTree, TreeNode, outline
from planner.language.plan import Plan
from planner.language.problems import Problems
from planner.lifecycle.resume import plan_of
from planner.parse.document import parse_plan
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parents[2] / "infospace"))
from counting import calls


def note(value: Any, out: str | None = None, **fields: Any) -> dict[str, Any]:
    step = {"type": "create-note", "value": value, **fields}
    return step if out is None else {**step, "out": out}


def plan(*steps: Any) -> Plan:
    return parse_plan({"steps": list(steps)}, Problems())


def ran(space: Space, *steps: Any) -> RunTree:
    result = run_sync(space, {"steps": list(steps)})
    assert result.run is not None, result.problems
    with space.store.reading() as snapshot:
        run, rows = snapshot.run(str(result.run)), snapshot.steps(str(result.run))
    return outline(plan_of(run), rows)


def unfolded(tree: RunTree) -> list[str]:
    """Return the keys of all nodes, in the order in which they are seen."""

    def keys(nodes: list[TreeNode]) -> list[str]:
        return [key for node in nodes for key in (node.key, *keys(tree.children(node)))]

    return keys(tree.top())


ITEMS = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
EACH = {"type": "for-each", "target": "$c", "do": [note("${item}", "$x")], "out": "$all"}
IS_A = {"type": "equals", "target": "$item", "value": "a"}


def test_a_plan_that_was_not_run_shows_its_blocks() -> None:
    """A loop has one round, an `if` both ways."""
    choice = {"type": "if", "condition": IS_A, "then": [note(1)], "else": [note(2)]}
    tree = outline(plan(ITEMS, EACH, choice))
    assert unfolded(tree) == ["1", "2", "2.do[1]", "2.do[1].1", "3", "3.then", "3.then.1", "3.else", "3.else.1"]
    assert {tree.state(key) for key in unfolded(tree)} == {""}


def test_what_ran_stands_where_it_ran(space: Space) -> None:
    """Every row is in the tree once; the way that was not taken is not."""
    save_plan(space, "two", {"steps": [note(1, "$x"), note(2, "$y")]})
    lost = {"type": "coerce", "target": "$x", "coercion": "int", "out": "$n", "on_fail": [note(0, "$n")]}
    choice = {"type": "if", "condition": IS_A, "then": [note("is a")], "else": [note("${item}", "$x"), lost]}
    twice = {"type": "while", "condition": {"type": "bound", "target": "$c"}, "body": [ITEMS], "max_iterations": 2}
    both = {"type": "parallel", "branches": [[note(1, "$p")], [note(2, "$q"), {"type": "plan:two", "out": "$r"}]]}
    tree = ran(space, ITEMS, {**EACH, "do": [choice]}, both, {**twice, "on_fail": "continue"})
    keys = unfolded(tree)
    assert [key for key in keys if key in tree.rows] == [
        "1",
        "2",
        "2.do[1].1",
        "2.do[1].1.then.1",
        "2.do[2].1",
        "2.do[2].1.else.1",
        "2.do[2].1.else.2",
        "2.do[2].1.else.2.on_fail.1",
        "3",
        "3.branches[1].1",
        "3.branches[2].1",
        "3.branches[2].2",
        "3.branches[2].2/1",
        "3.branches[2].2/2",
        "4",
        "4.body[1].1",
        "4.body[2].1",
    ]
    assert set(tree.rows) <= set(keys)
    assert len(keys) == len(set(keys))
    assert "2.do[1].1.else" not in keys
    assert tree.path_to("2.do[2].1.else.2.on_fail.1") == [
        "2",
        "2.do[2]",
        "2.do[2].1",
        "2.do[2].1.else",
        "2.do[2].1.else.2",
        "2.do[2].1.else.2.on_fail",
    ]


def test_attempts_stand_beside_one_another(space: Space) -> None:
    """Each with how it ended."""
    again = {"type": "coerce", "target": "$t", "coercion": "${t}", "out": "$n", "retry": {"attempts": 3, "wait_s": 0}}
    tree = ran(space, note("none", "$t"), again)
    assert unfolded(tree) == ["1", "2", "2#2", "2#3"]
    assert [tree.state(key) for key in unfolded(tree)] == ["success", "failed", "failed", "failed"]


def test_parts_know_how_it_went_in_them(space: Space) -> None:
    """A failure that was handled is none."""
    lost = {"type": "coerce", "target": "$item", "coercion": "int", "out": "$n"}
    tree = ran(space, {**ITEMS, "value": ["1", "x"]}, {**EACH, "do": [lost], "on_fail": "continue"})
    assert [tree.state(f"2.do[{item}]") for item in (1, 2)] == ["success", "failed"]
    handled = ran(space, {**ITEMS, "value": ["1", "x"]}, {**EACH, "do": [{**lost, "on_fail": "continue"}]})
    assert handled.state("2.do[2]") == "success"
    assert handled.spans["2.do[2]"].executions == 1


def test_what_goes_on_is_told_as_it_goes() -> None:
    """Also before anything has ended; what was begun twice is one."""
    tree = outline(plan(ITEMS, EACH))
    assert tree.begin is None
    tree.began("1", 100.0)
    assert (tree.state("1"), tree.begin) == ("started", 100.0)
    tree.ended(StepRow("run_1", 1, "1", "create-collection", "success", "1970-01-01T00:01:40.000Z", 500.0))
    tree.began("2", 101.0)
    tree.began("2.do[1].1", 101.5)
    tree.began("2.do[1].1", 101.6)
    assert [tree.state(key) for key in ("1", "2", "2.do[1]", "2.do[1].1")] == ["success", *["started"] * 3]
    tree.ended(StepRow("run_1", 3, "2.do[1].1", "create-note", "failed", "1970-01-01T00:01:41.500Z", 250.0))
    assert tree.state("2.do[1]") == "failed"
    assert (tree.spans["2.do[1]"].begin, tree.spans["2.do[1]"].end) == (101.5, 101.75)


def row(position: str, status: Any = "success", started: str = "1970-01-01T00:01:40.000Z", **more: Any) -> StepRow:
    """An execution that took a millisecond."""
    return StepRow("run_1", 1, position, "create-note", status, started, 1.0, **more)


def _loop_of(count: int, form: dict[str, Any] = EACH, block: str = "do") -> tuple[RunTree, list[TreeNode]]:
    """Read the rows of a long loop; return the tree and the pages of the loop."""
    tree = outline(plan(ITEMS, form))
    for number in range(1, count + 1):
        tree.ended(row(f"2.{block}[{number}].1"))
    return tree, tree.children(tree.top()[1])


def test_a_part_waits_before_it_failed_and_a_step_that_rested_waits_no_more(space: Space) -> None:
    """When all of it ran is from the first that began to the last that ended, in whatever order they came."""
    tree = outline(plan(ITEMS, EACH))
    tree.ended(row("2.do[1].1", "failed", "1970-01-01T00:01:42.000Z"))
    tree.ended(row("2.do[1].2", "suspended", "1970-01-01T00:01:41.000Z"))
    assert (tree.state("2.do[1]"), tree.begin, tree.end) == ("suspended", 101.0, 102.001)
    tree.ended(row("1"))
    assert (tree.begin, tree.end) == (100.0, 102.001)
    tree.ended(row("2.do[1].2", "success", "1970-01-01T00:01:43.000Z"))
    assert (tree.state("2.do[1]"), tree.begin, tree.end) == ("failed", 100.0, 103.001)
    assert tree.spans["2.do[1]"].executions == 2


def test_a_loop_has_pages_from_two_hundred_and_one_on() -> None:
    """Of a `while` they are of rounds; the last is told as if it were full."""
    tree, parts = _loop_of(2 * PAGE)
    assert [parts[0].kind, len(parts)] == ["part", 2 * PAGE]
    assert tree.path_to("2.do[150].1") == ["2", "2.do[150]"]
    again = {"type": "while", "condition": IS_A, "body": [note(1)]}
    tree, pages = _loop_of(2 * PAGE + 1, again, "body")
    assert [page.title for page in pages] == ["rounds 1 to 100", "rounds 101 to 200", "rounds 201 to 300"]
    assert [part.title for part in tree.children(pages[2])] == ["round 201"]


def test_a_handler_of_an_item_says_of_which(space: Space) -> None:
    lost = {"type": "coerce", "target": "$item", "coercion": "int", "out": "$n"}
    tree = ran(space, ITEMS, {**EACH, "do": [lost], "on_fail": [note(0, "$n")], "collect": "$n"})
    assert [part.title for part in tree.children(tree.top()[1])] == [
        "item 1",
        "item 2",
        "on_fail of item 1",
        "on_fail of item 2",
    ]


def test_a_loop_of_very_many_has_pages_of_a_hundred() -> None:
    """Each with a title, and on the way to its items."""
    count = 20_000
    tree, pages = _loop_of(count)
    assert [page.kind for page in pages] == ["page"] * (count // PAGE)
    assert pages[1].title == "items 101 to 200"
    items = tree.children(pages[1])
    assert [items[0].key, items[-1].key] == ["2.do[101]", "2.do[200]"]
    assert tree.path_to("2.do[150].1") == ["2", "2.do[101-200]", "2.do[150]"]


def test_the_work_grows_with_the_rows_and_not_with_their_square() -> None:
    """Four times the rows of a loop take less than five times the calls."""
    assert calls(lambda: _loop_of(4_000)) < 5 * calls(lambda: _loop_of(1_000))


def test_problems_stand_at_their_steps(space: Space) -> None:
    """Those of the plan as a whole on top."""
    wrong = {"goals": 1, "steps": [note("x", "$x"), {"type": "if", "condition": IS_A, "then": [{"type": "siz"}]}]}
    read, problems = check_plan(space, wrong)
    tree = outline(read, (), problems.found)
    assert [node.problem.code for node in tree.top() if node.problem] == ["unknown-key"]
    keys = unfolded(tree)
    assert "2.then.1!0" in keys
    assert keys.index("2.then.1!0") == keys.index("2.then.1") + 1


@pytest.mark.parametrize(
    ("position", "part", "holder"),
    [
        ("4", "", None),
        ("4#2", "", None),
        ("4.do[3].2", "4.do[3]", "4"),
        ("4/2", "4/", "4"),
        ("4[2].on_fail.1", "4[2].on_fail", "4"),
        ("4.do[1].2/3.then.my-id#2", "4.do[1].2/3.then", "4.do[1].2/3"),
        ("4.branches[2].1.on_fail.1", "4.branches[2].1.on_fail", "4.branches[2].1"),
    ],
)
def test_positions_are_taken_apart(position: str, part: str, holder: str | None) -> None:
    """The innermost part, and the step that it belongs to."""
    step = Position.parse(position)
    assert (step.part.text if step.part else "") == part
    assert (step.parent.text if step.parent else None) == holder


def test_sizes_and_effects_are_told(space: Space) -> None:
    """As far as the journal and the catalogue know them."""
    tree = ran(space, ITEMS, note("x" * 700, "$long"), {"type": "size", "target": "$c", "out": "$n"}, EACH)
    said = [format_size(tree.rows[key]) for key in ("1", "2", "3", "4")]
    assert said == ["Collection (2)", "Note (700)", "Note (1)", "Collection (2)"]
    steps = plan(ITEMS, note("x", name="n"), {"type": "ask", "value": "?", "out": "$a"}, {"type": "no-such"}).steps
    assert [format_effect(step, space.catalogue) for step in steps] == ["", "names", "asks", ""]


def test_what_a_step_does_outside_is_told_by_what_its_tool_says(space: Space) -> None:
    """Also as the operation of a `map`; of a primitive by its contract."""
    server = LocalTools("s")
    for name, hints in (("look", {"read_only": True}), ("put", {}), ("drop", {"destructive": True})):

        def tool() -> None:
            """Do it."""

        tool.__name__ = name
        server.tool(**hints)(tool)
    space.tools.add(server)
    calls: list[Any] = [{"type": f"s/{name}"} for name in ("look", "put", "drop")]
    calls += [{"type": "map", "target": "$c", "operation": {"type": "s/drop"}}, {"type": "wait", "seconds": 1}]
    judge = {"type": "assess", "predicate": "it is"}
    calls += [{"type": "stop"}, {"type": "map", "target": "$c", "operation": judge}, {"type": "size", "target": "$c"}]
    assert [format_effect(step, space.catalogue) for step in plan(*calls).steps] == [
        *("reads outside", "changes outside", "may destroy", "may destroy", "waits", "ends", "asks the model", ""),
    ]


@pytest.mark.parametrize(
    ("fields", "size"),
    [
        ({"resource": "Collection_1", "value": "7 notes: a", "extra": {"item_count": 1_234}}, "Collection (1,234)"),
        ({"resource": "Collection_1", "value": "1,007 notes: a"}, "Collection (1,007)"),
        ({"resource": "Collection_1", "value": "nothing"}, "Collection"),
        ({"resource": "Relation_1", "value": "a cites b"}, "Relation"),
        ({"resource": "Note_1", "value": "x" * 1_001}, "Note (1,001)"),
        ({"resource": "Note_1", "value": "x… [cut: 70,000 characters in all]"}, "Note (70,000)"),
        ({"resource": "gone", "value": "x"}, ""),
        ({"value": "x"}, ""),
    ],
)
def test_a_size_is_told_as_far_as_the_journal_has_it(fields: dict[str, Any], size: str) -> None:
    assert format_size(row("1", **fields)) == size
