"""JSON as a tree, and the items of a Collection as a table."""

from __future__ import annotations

from typing import Any

import pytest
from rich.text import Text

from infospace import Space
from infospace.core.resources import Collection, Note
from planner.execute.start import run_sync
from tui.tables.collection_table import ITEMS_PER_READ as READ_AT_ONCE
from tui.tables.collection_table import MOST_COLUMNS, WIDEST, cell, fields_of, rank, read_table
from tui.tables.json_tree import CHILDREN_PER_PAGE, JsonTree

VALUE: Any = {"name": "Ada", "tags": ["a", "b"], "none": {}, "born": 1815}


def seen(tree: JsonTree) -> list[str]:
    return [str(tree.cells(index, [])[0]) for index in range(len(tree))]


def test_a_tree_tells_keys_values_and_how_much_is_inside() -> None:
    assert seen(JsonTree(VALUE)) == [
        "▾ 4 fields",
        "  name: Ada",
        "  ▾ tags: 2 items",
        "    1. a",
        "    2. b",
        "  none: 0 fields",
        "  born: 1815",
    ]
    assert seen(JsonTree(["", {"x": None}, []])) == [
        "▾ 3 items",
        '  1. ""',
        "  ▾ 2. 1 field",
        "    x: null",
        "  3. 0 items",
    ]


def test_keys_and_values_are_told_apart_by_their_colours() -> None:
    """Numbers of elements stand back; without colours a key is bold."""
    tree = JsonTree({"n": 1, "list": ["a", None], "more": []})
    for colours, key, number in (({"primary": "blue", "accent": "red"}, "blue", "red"), ({}, "bold", "")):
        tree.colours = colours
        rows = [tree.cells(index, [])[0] for index in range(len(tree))]
        styles = [[str(span.style) for span in row.spans if span.style] for row in rows if isinstance(row, Text)]
        found = [*filter(None, [key, number])], [key, "dim"], ["dim"], [*filter(None, ["dim", number])], [key, "dim"]
        assert styles == [["dim"], *found]


def test_a_row_folds_and_the_cursor_goes_out_of_what_is_folded() -> None:
    tree = JsonTree(VALUE)
    assert tree.fold(3, unfold=False) == 2
    assert len(tree) == 7
    assert tree.fold(2, unfold=False) == 2
    assert len(tree) == 5
    assert tree.fold(2, unfold=False) == 0
    assert tree.fold(2, unfold=True) == 2
    assert len(tree) == 7
    assert tree.fold(2, unfold=True) == 2
    assert len(tree) == 7
    assert tree.fold(1, unfold=True) == 1
    assert tree.fold(0, unfold=False) == 0
    assert seen(tree) == ["▸ 4 fields"]
    assert tree.fold(0, unfold=False) == 0
    tree.toggle(0)
    assert len(tree) == 7
    tree.toggle(1)
    assert len(tree) == 7


def test_a_large_value_is_folded_as_deep_as_it_has_to_be() -> None:
    tree = JsonTree([[1] * 300, [2]])
    assert seen(tree) == ["▾ 2 items", "  ▸ 1. 300 items", "  ▸ 2. 1 item"]
    assert len(JsonTree([1] * 199)) == 200
    assert len(JsonTree([[1] * 198])) == 200


def test_a_long_list_shows_more_tenfold() -> None:
    tree = JsonTree(list(range(CHILDREN_PER_PAGE * 10 + 1)))
    tree.fold(0, unfold=True)
    assert seen(tree)[-1] == "  … 9,001 more: enter shows them"
    assert len(tree) == CHILDREN_PER_PAGE + 2
    tree.toggle(CHILDREN_PER_PAGE + 1)
    assert seen(tree)[-1] == "  … 1 more: enter shows them"
    tree.toggle(len(tree) - 1)
    assert seen(tree)[-1] == "  10001. 10000"


def test_a_row_is_copied_with_its_path() -> None:
    tree = JsonTree({"a": [{"b c": "x"}, 2], "d": "e"})
    assert [tree.format_row(index) for index in range(len(tree))] == ["", "a", "a[0]", "a[0].b c: x", "a[1]: 2", "d: e"]
    assert JsonTree("only").format_row(0) == "only"
    assert tree.key(3) == '["a", 0, "b c", false]'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (0.5, "0.5"),
        (1e9, "1e+09"),
        (3, "3"),
        ("a\nb", "a b"),
        ({"a": [1]}, '{"a": [1]}'),
    ],
)
def test_a_cell_is_a_line(value: Any, message: str) -> None:
    assert cell(value) == message


def test_values_are_sorted_numbers_first_and_nothing_last() -> None:
    values: list[Any] = [None, "b", "A", {"x": 1}, 10, 9.5, True, -1]
    assert sorted(values, key=rank) == [-1, True, 9.5, 10, "A", "b", {"x": 1}, None]


def note(content: Any, **metadata: Any) -> Note[Any]:
    return Note(id="Note_1", content=content, metadata=metadata)


def test_the_columns_are_the_fields_of_the_items() -> None:
    """All of their keys where every one is an object; else what they are in short."""
    assert fields_of([note({"a": 1}), note({"b": 2, "a": 3})]) == ["a", "b"]
    assert fields_of([note({"a": 1}), note("text")]) == ["content"]
    assert fields_of([note("text"), note("other", title="A title")]) == ["title", "content"]
    assert fields_of([note({"a": 1}), Collection(id="Collection_1")]) == ["content"]
    assert fields_of([]) == ["content"]
    assert len(fields_of([note({f"k{number}": 1 for number in range(30)})])) == MOST_COLUMNS
    hit = {"text": "t", "format": "f", "metadata": {}, "char_count": 1}
    assert fields_of([note(hit)]) == ["score", "title", "passage", "source"]
    assert fields_of([note(hit), note({"a": 1})]) == ["text", "format", "metadata", "char_count", "a"]


ROWS = [{"name": "b", "size": 10}, {"name": "a", "size": 9}, {"name": "c"}]


@pytest.fixture
def made(space: Space) -> tuple[Space, Any]:
    """A Collection of three objects, of which the second is deleted."""
    steps = [{"type": "create-note", "value": row, "out": f"$n{place}"} for place, row in enumerate(ROWS)]
    steps.append({"type": "create-collection", "value": ["$n0", "$n1", "$n2"], "out": "$all"})
    assert run_sync(space, steps).status == "success"
    return space, space.context().get("Collection_1")


def column(table: Any, place: int) -> list[str]:
    return [str(table.cells(index, [])[place]) for index in range(len(table))]


def test_a_table_has_columns_as_wide_as_their_values(made: tuple[Space, Any]) -> None:
    """Numbers stand at the right; the last of few columns takes what is left."""
    space, collection = made
    table = read_table(space.context(), collection)
    assert [(one.title, one.width, one.align) for one in table.columns] == [
        ("#", 3, "right"),
        ("id", 6, "left"),
        ("name", 6, "left"),
        ("size", None, "right"),
    ]
    assert column(table, 0) == ["1", "2", "3"]
    assert column(table, 2) == ["b", "a", "c"]
    assert column(table, 3) == ["10", "9", ""]
    assert (table.key(1), table.id_at(1)) == ("1:Note_2", "Note_2")
    assert not table.wanted
    assert not table.fetch()
    assert WIDEST == 40


def test_a_table_is_sorted_both_ways_and_back(made: tuple[Space, Any]) -> None:
    space, collection = made
    table = read_table(space.context(), collection)
    table.sort(3)
    assert column(table, 2) == ["a", "b", "c"]
    assert [one.title for one in table.titled()] == ["#", "id", "name", "size ▲"]
    table.sort(3)
    assert column(table, 2) == ["c", "b", "a"]
    assert table.titled()[3].title == "size ▼"
    assert table.copied().splitlines() == ["#\tid\tname\tsize", "3\tNote_3\tc\t", "1\tNote_1\tb\t10", "2\tNote_2\ta\t9"]
    table.sort(2)
    assert column(table, 2) == ["a", "b", "c"]
    table.sort(0)
    assert column(table, 0) == ["1", "2", "3"]
    table.sort(0)
    assert column(table, 0) == ["3", "2", "1"]
    table.sort(1)
    assert column(table, 0) == ["1", "2", "3"]


def test_items_that_are_gone_say_so_and_what_is_in_sight_is_read_in_parts(made: tuple[Space, Any]) -> None:
    space, collection = made
    table = read_table(space.context(), collection)
    table.merge([1], [None])
    assert column(table, 2) == ["b", "(not there any more)", "c"]
    table._read.clear()
    assert column(table, 1) == ["…", "…", "…"]
    assert table.wanted == {0, 1, 2}
    assert table.fetch()
    assert not table.wanted
    assert column(table, 2) == ["b", "a", "c"]
    assert READ_AT_ONCE == 100
