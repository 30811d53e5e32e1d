"""The steps of a plan as rows: what is folded, what each tells, and the bars over time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from rich.text import Text

from infospace.journal.rows import StepRow
from planner.inspect.tree import PAGED, outline
from planner.language.problems import Problem, Problems
from planner.parse.document import parse_plan
from tui.tables.steps_table import StepTree

COLOURS = {name: name for name in ("success", "error", "warning", "accent", "primary")}
LOOP: dict[str, Any] = {
    "steps": [
        {"type": "create-collection", "value": ["a", "b"], "out": "$items"},
        {
            "type": "for-each",
            "target": "$items",
            "do": [{"type": "create-note", "value": "${item}!", "out": "$loud"}, {"type": "say", "value": "$loud"}],
            "out": "$all",
        },
        {"type": "size", "target": "$all", "out": "$n"},
    ]
}
WIDTHS = (40, 24, 15, 9, 20)


def at(seconds: float) -> str:
    return f"2026-03-31T23:33:{20 + seconds:06.3f}Z"


def row(position: str, begin: float = 0, took: float = 1000, status: Any = "success", **fields: Any) -> StepRow:
    return StepRow("run_1", 1, position, fields.pop("type", "create-note"), status, at(begin), took, **fields)


def tree(*rows: StepRow, plan: Any = LOOP, problems: tuple[Problem, ...] = (), **going: float) -> StepTree:
    """A tree with all its columns; `going` are steps under way."""
    found = StepTree(lambda step: f"effect of {step.type}")
    found.colours, found.columns = COLOURS, StepTree.ALL
    drawn = outline(parse_plan(plan, Problems()), rows, problems)
    for position, begin in going.items():
        drawn.began(position.lstrip("_"), begin)
    found.update(drawn, afresh=True)
    return found


def keys(found: StepTree) -> list[str]:
    return [found.key(index) for index in range(len(found))]


def cells(found: StepTree, key: str) -> list[str]:
    return [str(cell) for cell in found.cells(keys(found).index(key), WIDTHS)]


LOOPED = (
    row("1", 0, 1000, type="create-collection", resource="Collection_1", value="2 notes: a; b", out="items"),
    row("2.do[1].1", 1, 1000, resource="Note_1", value="a!", out="loud"),
    row("2.do[1].2", 2, 1000, type="say", value="a!\nit is"),
    row("2.do[2].1", 3, 1000, "failed", error="bad", reason="no"),
)


def test_a_short_run_is_unfolded_at_first_and_folds_by_steps() -> None:
    found = tree(*LOOPED)
    every = keys(found)
    assert every == ["1", "2", "2.do[1]", "2.do[1].1", "2.do[1].2", "2.do[2]", "2.do[2].1", "2.do[2].2", "3"]
    found.fold("2.do[1]", unfolded=False)
    assert keys(found) == ["1", "2", "2.do[1]", "2.do[2]", "2.do[2].1", "2.do[2].2", "3"]
    found.fold("2", unfolded=False)
    assert keys(found) == ["1", "2", "3"]
    found.fold("2", unfolded=True)
    assert keys(found) == ["1", "2", "2.do[1]", "2.do[2]", "2.do[2].1", "2.do[2].2", "3"]
    found.fold_all()
    assert keys(found) == ["1", "2", "3"]
    found.unfold_all()
    assert keys(found) == every


def test_only_so_much_is_unfolded_at_once() -> None:
    found = tree(*LOOPED)
    found.fold_all()
    found.unfold_all(most=2)
    assert keys(found) == ["1", "2", "2.do[1]", "2.do[2]", "3"]
    found.fold_all()
    found.unfold_all(most=1)
    assert keys(found) == ["1", "2", "3"]
    found.unfold_all(most=4)
    assert keys(found) == ["1", "2", "2.do[1]", "2.do[1].1", "2.do[1].2", "2.do[2]", "3"]


def test_a_long_run_is_folded_at_first_but_for_what_went_wrong() -> None:
    """The first that failed, or waits."""
    rows = [row(f"2.do[{number}].1") for number in range(1, 70)]
    rows += [row("2.do[70].1", status="suspended"), row("2.do[71].1", status="failed")]
    found = tree(*rows)
    assert found.is_open("2.do[70]")
    assert not found.is_open("2.do[71]")
    assert not found.is_open("2.do[1]")
    assert keys(tree(*rows[:69])) == ["1", "2", "3"]


def test_a_place_is_unfolded_to_and_what_is_followed_only_meanwhile() -> None:
    found = tree(*LOOPED)
    found.fold_all()
    found.follow("2.do[1].2")
    assert "2.do[1].2" in keys(found)
    found.follow("2.do[2].1")
    assert "2.do[2].1" in keys(found)
    assert "2.do[1].2" not in keys(found)
    found.follow("1")
    assert keys(found) == ["1", "2", "3"]
    found.unfold_to("2.do[1].2")
    found.follow("1")
    assert "2.do[1].2" in keys(found)
    found.follow("2.do[2].1")
    found.fold("2.do[2]", unfolded=False)
    assert "2.do[2].1" not in keys(found)


def test_another_plan_is_unfolded_anew_and_the_same_stays_as_it_is() -> None:
    found = tree(*LOOPED)
    found.fold_all()
    drawn = found.outline
    assert drawn is not None
    found.update(drawn, afresh=False)
    assert keys(found) == ["1", "2", "3"]
    found.update(drawn, afresh=True)
    assert len(keys(found)) == 9


def test_a_step_tells_its_state_what_it_gave_its_effect_and_its_time() -> None:
    found = tree(*LOOPED)
    assert cells(found, "1")[:4] == [
        "  ✓ 1 create-collection → $items",
        "Collection, 2 items",
        "effect of create-collection",
        "1.0 s",
    ]
    assert cells(found, "2")[:4] == ["▾ ○ 2 for-each → $all", "", "effect of for-each", ""]
    assert cells(found, "2.do[1]")[0].startswith("  ▾ ✓ ")
    assert cells(found, "2.do[1].2")[1] == "a! it is"
    assert cells(found, "2.do[2].1")[:2] == ["      ✗ 1 create-note → $loud", ""]
    assert cells(found, "2.do[2].2")[0] == "      ○ 2 say"
    assert cells(found, "3")[:4] == ["  ○ 3 size → $n", "", "effect of size", ""]
    found.fold("2.do[1]", unfolded=False)
    assert cells(found, "2.do[1]")[0].startswith("  ▸ ✓ ")


def test_problems_of_the_check_stand_below_their_step_over_all_columns() -> None:
    wrong = (Problem("bad", "/steps/1/do/0/value", "it is wrong"), Problem("odd", "", "it is odd", severity="warning"))
    found = tree(problems=wrong)
    told = [str(found.cells(index, WIDTHS)[0]) for index in range(len(found)) if len(found.cells(index, WIDTHS)) == 1]
    assert [text.strip() for text in told] == ["! it is odd", "✗ it is wrong"]
    assert found.is_open("2")
    assert not found.is_open("1")


def test_the_bars_of_a_run_of_moments_fill_the_width_too() -> None:
    """The shortest as the longest."""
    found = tree(row("1", 0, 2, type="create-collection"), row("3", 0.002, 2, type="size"))
    assert [cells(found, key)[4] for key in ("1", "3")] == ["█" * 10, " " * 10 + "█" * 10]


def test_what_a_step_binds_stands_out_and_a_page_of_a_loop_has_no_sign() -> None:
    """It is no step, and so neither waits nor is done."""
    items = [row(f"2.do[{number}].1", number / 100, 1, out="loud") for number in range(1, PAGED + 2)]
    found = tree(row("1", 0, 1, type="create-collection"), *items)
    found.fold("2", unfolded=True)
    pages = [str(found.cells(index, WIDTHS)[0]) for index, node in enumerate(found.nodes) if node.kind == "page"]
    assert pages
    assert all(page.strip().startswith(("▸", "▾")) and "✓" not in page and "○" not in page for page in pages)
    first = found.cells(0, WIDTHS)[0]
    assert isinstance(first, Text)
    assert str(first.spans[-1].style) == "primary"


def test_bars_stand_where_the_step_ran_in_the_time_of_the_whole_run() -> None:
    """A short one is seen too, and all end within the column."""
    short = row("3", 3.99, 10, type="size", resource="Note_9", value="2")
    found = tree(*LOOPED[:3], row("2.do[2].1", 3, 1000), short)
    bars = {key: cells(found, key)[4] for key in ("1", "2.do[1].1", "2.do[2].1", "3")}
    assert bars["1"] == "█████"
    assert bars["2.do[1].1"] == " " * 5 + "█████"
    assert bars["2.do[2].1"] == " " * 15 + "█████"
    assert bars["3"] == " " * 19 + "▌"
    assert cells(found, "2.do[1]")[4] == " " * 5 + "██████████"


@pytest.mark.parametrize(
    ("status", "colour"),
    [("success", "primary"), ("failed", "error"), ("suspended", "warning"), ("skipped", "warning")],
)
def test_a_bar_has_the_colour_of_its_state(status: str, colour: str) -> None:
    found = tree(row("1", 0, 1000, status, type="create-collection"))
    bar = found.cells(0, WIDTHS)[4]
    assert colour in str(bar.spans[0].style)  # type: ignore[union-attr]


def test_what_goes_on_lasts_until_now() -> None:
    found = tree(plan=LOOP, _1=time.time() - 30)
    assert cells(found, "1")[3].startswith("30.")
    assert cells(found, "1")[4] == "█" * 20
    assert cells(found, "1")[0].startswith("  ▶ 1")


def test_a_loop_lasts_from_its_first_step_to_its_last() -> None:
    found = tree(*LOOPED)
    assert cells(found, "2.do[1]")[3] == "2.0 s"
    assert cells(found, "2.do[2]")[3] == "1.0 s"


def test_without_a_plan_nothing_is_shown() -> None:
    empty = StepTree(lambda _: "")
    empty.unfold_all()
    empty.follow("1")
    empty.unfold_to("1")
    empty.lay_out()
    assert len(empty) == 0


def test_columns_are_told_by_what_is_shown() -> None:
    found = tree(*LOOPED)
    found.columns = (StepTree.TOOK, StepTree.STEPS)
    assert [str(cell) for cell in found.cells(0, (9, 40))] == ["1.0 s", "  ✓ 1 create-collection → $items"]
