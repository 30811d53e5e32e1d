"""How content is laid out: Markdown in pieces, JSON as a tree."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from tui.tables.json_tree import CHILDREN_PER_PAGE, JsonTree
from tui.widgets import markdown_view as paper
from tui.widgets.markdown_view import MarkdownView, pieces, rendered

LINES = st.sampled_from(
    ["# Head", "text", "", "", "- item", "  goes on", "```", "~~~~", "1. one", "| a | b |", "    code", "> quoted"]
)


@given(st.lists(LINES, max_size=60))
def test_pieces_are_the_whole_text(lines: list[str]) -> None:
    """In its order, none of it left out but empty ends; no fence is cut."""
    text = "\n".join(lines)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(paper, "PIECE", 20)
        found = list(pieces(text))
    assert "\n".join(found).rstrip("\n") == text.rstrip("\n") or not text.strip()
    assert all(piece.strip() for piece in found)
    for piece in found[:-1]:
        assert not _open(piece.split("\n"))


def _open(lines: list[str]) -> str:
    fence = ""
    for line in lines:
        fence = paper._fence(line, fence)
    return fence


def test_what_links_refer_to_is_in_every_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever in the text it stands; not what only looks like it in a fence."""
    monkeypatch.setattr(paper, "PIECE", 10)
    found = list(pieces("See [it][a], and more.\n\nThen [it][a].\n\n```\n[b]: /no\n```\n\n[a]: /there\n"))
    assert len(found) >= 2
    assert all("[a]: /there" in piece for piece in found)
    assert sum("[b]: /no" in piece for piece in found) == 1


def test_markdown_becomes_lines_without_what_commands_a_terminal() -> None:
    """Headings at the left, marks gone, control characters shown as such."""
    text = next(pieces("# Head\n\nSome **bold** \x1b]0;title\x07 words.\n\n- one\n"))
    lines = [strip.text.rstrip() for strip in rendered(text, 40, {"primary": "#ff0000"}, dark=True)]
    assert lines[0] == "Head"
    assert r"Some bold \x1b]0;title\x07 words." in lines
    assert " • one" in lines


def test_what_is_in_sight_stays_there_when_the_width_changes() -> None:
    """Far down in a long text, and whichever way its lines wrap."""

    class Reading(App[None]):
        colours: ClassVar[dict[str, str]] = {}

        def compose(self) -> ComposeResult:
            yield MarkdownView()

    async def story() -> None:
        app = Reading()
        async with app.run_test(size=(60, 40)) as pilot:
            view = app.query_one(MarkdownView)

            def first() -> int:
                texts = (view.render_line(y).text for y in range(20))
                return next(int(text.split()[1]) for text in texts if text.startswith("paragraph"))

            view.read("\n\n".join(f"paragraph {place} " + "word " * 25 for place in range(800)))
            while view._whole or not view._lines:
                await pilot.pause()
            while first() < 500:
                view.scroll_to(y=view.max_scroll_y, animate=False)
                await pilot.pause()
            before = first()
            for width in (90, 45, 60):
                lines = view._lines
                await pilot.resize_terminal(width, 40)
                while view._lines is lines or view._width != view.scrollable_content_region.width:
                    await pilot.pause()
                await pilot.pause()
                assert abs(first() - before) <= 3, width

    asyncio.run(story())


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["toggle", "fold", "unfold"])), max_size=12))
def test_a_tree_folds_and_unfolds(value: Any, actions: list[tuple[int, str]]) -> None:
    """Whatever is done: each row is once there, above what is in it, and the root stays."""
    tree = JsonTree(value)
    for place, action in actions:
        index = place % len(tree)
        if action == "toggle":
            tree.toggle(index)
        else:
            assert 0 <= tree.fold(index, unfold=action == "unfold") < len(tree)
        keys = [tree.key(row) for row in range(len(tree))]
        assert len(set(keys)) == len(keys)
        shown = {branch.path for branch in tree.branches}
        assert all(branch.path[:-1] in shown for branch in tree.branches)
        assert tree.branches[0].path == ()


def test_a_long_list_is_shown_in_parts() -> None:
    """Its last row shows more."""
    tree = JsonTree({"all": list(range(CHILDREN_PER_PAGE * 3))})
    while len(tree) < CHILDREN_PER_PAGE:
        tree.toggle(next(place for place, branch in enumerate(tree.branches) if branch.path == ("all",)))
    assert tree.branches[-1].more == CHILDREN_PER_PAGE * 2
    tree.toggle(len(tree) - 1)
    assert len(tree) == CHILDREN_PER_PAGE * 3 + 2
    assert tree.format_row(len(tree) - 1) == f"all[{CHILDREN_PER_PAGE * 3 - 1}]: {CHILDREN_PER_PAGE * 3 - 1}"
