"""Loops over many items: what they compute themselves, and what they leave to the closure of the expression."""

from __future__ import annotations

import time

import pytest

from infospace import Note
from infospace.core.bounds import OutOfTime, ending
from infospace.core.errors import PathNotFound
from infospace.core.json_types import JSON
from infospace.data.paths import Readable
from infospace.expressions import Evaluation, TypeMismatches, parse_expression, parse_where
from infospace.expressions.columns import HOLE, MIN_COMPILED_ITEMS, Chosen, column, contents_of
from infospace.expressions.evaluate import compile_condition, compile_expression
from infospace.expressions.tree import Expression

ROWS: tuple[JSON, ...] = (
    {"n": 3, "x": 1.5, "t": "abc", "b": True, "l": ["a", "b"], "o": {"k": 2, "l": [7, 8]}, "d": "2026-02-28"},
    {"n": -7, "x": -0.5, "t": "Ab", "b": False, "l": [], "o": {"k": None, "l": []}, "d": "2024-02-29"},
    {"n": 0, "x": 2.0, "t": "", "b": True, "l": ["c"], "o": {"l": [1]}, "d": "1999-12-31"},
    {"n": None, "x": None, "t": None, "b": None, "l": None, "o": None, "d": None},
    {},
)
FITTING = (
    "n + x * 2 - 1",
    "n % 4",
    "-n",
    "t || 'x'",
    "t || n",
    "upper(t)",
    "substr(t, 1, 1)",
    "length(l)",
    "round(x, 1)",
    "coalesce(n, x, 0)",
    "coalesce(o.k, n)",
    "concat_ws('-', t, n, b)",
    "CASE WHEN n > 0 THEN 'more' WHEN n < 0 THEN 'less' ELSE 'none' END",
    "CAST(n AS text)",
    "TRY_CAST(t AS number)",
    "l[0]",
    "l[-1]",
    "o.k",
    "o.l[1]",
    "year(d)",
    "days(d, '2026-03-01')",
    "greatest(n, x)",
    "contains(l, 'a')",
    "today()",
    "$p + n",
    "content",
    "n IS NULL",
)
"""Expressions of which a loop computes all: of every row a value or null, and no hole."""
CONDITIONS = (
    "n > 0",
    "0 > n",
    "n = x",
    "t = 'Ab'",
    "b = true",
    "b",
    "NOT b",
    "n > 0 AND x > 0",
    "n > 0 OR x > 0",
    "n BETWEEN -7 AND 0",
    "t IN ('abc', 'x')",
    "n IN (3, null)",
    "n NOT IN (3, 0)",
    "t LIKE 'a%'",
    "t IS NOT NULL",
    "n IN $some",
    "t IN $texts",
    "t IN $none",
    "t < 'b' AND NOT (n = 3)",
)
GIVEN: dict[str, JSON | PathNotFound] = {
    "p": 5,
    "some": [3, None],
    "texts": ["abc", ""],
    "none": [],
    "absent": PathNotFound("it is not there"),
}


def given() -> Evaluation:
    return Evaluation(GIVEN, TypeMismatches(), lambda: ("2026-11-25", "2026-11-25T00:00:00Z"))


def notes(rows: tuple[JSON, ...], times: int = 20) -> list[Note]:
    return [Note(id=f"Note_{place}", content=row) for place, row in enumerate(rows * times)]


def alike(found: list[object], wanted: list[object]) -> bool:
    """Whether they are the same values of the same types: 1 is not 1.0, and not true."""
    return list(map(repr, found)) == list(map(repr, wanted))


@pytest.mark.parametrize("text", FITTING)
def test_a_loop_gives_what_the_closure_gives(text: str) -> None:
    """Of every item, without asking the closure of any whose content is an object."""
    tree = parse_expression(text).tree
    items = notes(ROWS)
    found = column(tree, items, given())
    get = compile_expression(tree)
    assert HOLE not in found
    assert alike(found, [get(item, given()) for item in items])


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_loop_judges_as_the_closure_judges(text: str) -> None:
    """True, false and unknown; an empty list holds nothing, not even null."""
    tree = parse_where(text).tree
    items = notes(ROWS)
    found = column(tree, items, given(), condition=True)
    judge = compile_condition(tree)
    judged = [judge(item, given()) for item in items]
    assert alike([verdict if one is HOLE else one for one, verdict in zip(found, judged, strict=True)], judged)
    if "$none" not in text:
        assert HOLE not in found


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("n + 1", {"n": "3"}),
        ("n + 1", {"n": True}),
        ("n + 1", "text"),
        ("1 / n", {"n": 0}),
        ("n * n", {"n": 1e200}),
        ("-n", {"n": "3"}),
        ("t || 'x'", {"t": ["a"]}),
        ("upper(t)", {"t": 3}),
        ("l[0]", {"l": "abc"}),
        ("o.k", {"o": "text"}),
        ("o.l[0]", {"o": {"l": "text"}}),
        ("CAST(t AS number)", {"t": "one"}),
        ("n > 3", {"n": "3"}),
        ("b = true", {"b": 1}),
        ("n = x", {"n": 1, "x": "1"}),
        ("t LIKE 'a%'", {"t": 3}),
        ("n IN (1, 2)", {"n": "1"}),
        ("n IN $some", {"n": "3"}),
        ("CASE WHEN n THEN 1 ELSE 2 END", {"n": 1}),
        ("concat_ws(n, t)", {"n": 1, "t": "a"}),
        ("year(d)", {"d": "soon"}),
    ],
)
def test_what_has_no_result_is_left_to_the_closure(text: str, row: JSON) -> None:
    """That item alone: those before and after it have their values."""
    tree = parse_expression(text).tree
    found = column(tree, [*notes(ROWS), *notes((row,), 1), *notes(ROWS, 1)], given())
    places = [place for place, value in enumerate(found) if value is HOLE]
    assert 100 in places
    assert not [place for place in places if place > 100 and found[place - 101] is not HOLE]
    assert any(value is not HOLE for value in found)


@pytest.mark.parametrize(
    "text",
    [
        "n > $absent",
        "n > $never",
        "t LIKE n",
        "n IN (1, 'a')",
        "n IN (1, x)",
        "n > null",
        "complete(n, x)",
        " + ".join(["n"] * 401),
        "coalesce(n, " * 17 + "1" + ")" * 17,
    ],
)
def test_an_expression_without_a_loop_is_all_holes(text: str) -> None:
    """The closure decides of every item."""
    assert set(map(repr, column(parse_expression(text).tree, notes(ROWS), given()))) == {"HOLE"}


def test_few_items_are_left_to_the_closure() -> None:
    """From `FEW` on a loop is worth its writing."""
    tree = parse_expression("n + 1").tree
    items = notes(ROWS[:1], MIN_COMPILED_ITEMS)
    assert column(tree, items[1:], given()) == [HOLE] * (MIN_COMPILED_ITEMS - 1)
    assert column(tree, items, given()) == [4] * MIN_COMPILED_ITEMS


def test_trees_that_compare_equal_have_loops_of_their_own() -> None:
    """1, 1.0 and true are equal in Python, and no such values here."""
    texts = ("coalesce(missing, 1)", "coalesce(missing, 1.0)", "coalesce(missing, true)")
    found = [column(parse_expression(text).tree, notes(ROWS), given())[0] for text in texts]
    assert list(map(repr, found)) == ["1", "1.0", "True"]


def test_a_loop_is_for_the_parameters_that_have_values() -> None:
    """The same tree without the value is all holes, and computed again with it."""
    tree, items = parse_expression("$p + n").tree, notes(ROWS)
    without = Evaluation({"p": PathNotFound("gone")}, TypeMismatches(), given().present)
    assert column(tree, items, given())[0] == 8
    assert set(map(repr, column(tree, items, without))) == {"HOLE"}
    assert column(tree, items, Evaluation({"p": 1}, TypeMismatches(), given().present))[0] == 4


def test_words_of_the_resource_are_read_of_the_item() -> None:
    """An id, the metadata where the content has none, and a content that is text."""
    items = [Note(id=f"Note_{at}", content=f"text {at}", metadata={"k": at}) for at in range(MIN_COMPILED_ITEMS)]
    for text, fourth in (("@id", "Note_3"), ("metadata.k", 3), ("content", "text 3")):
        tree = parse_expression(text).tree
        get = compile_expression(tree)
        assert column(tree, items, given()) == [get(item, given()) for item in items], text
        assert column(tree, items, given())[3] == fourth


def test_a_loop_ends_when_its_time_is_over() -> None:
    """That is no hole."""
    with ending(time.monotonic() - 1), pytest.raises(OutOfTime):
        column(parse_expression("n + 1").tree, notes(ROWS), given())


class Asked:
    """The closure of an expression, which counts how often it is asked."""

    def __init__(self, tree: Expression) -> None:
        self.get, self.count = compile_expression(tree), 0

    def __call__(self, item: Readable, given: Evaluation) -> JSON:
        self.count += 1
        return self.get(item, given)


def test_parts_of_items_share_what_was_computed_of_all() -> None:
    """The closure is asked for the holes of a part alone, and null is left out."""
    tree = parse_expression("n + 1").tree
    items = [*notes(ROWS), Note(id="Note_900", content={"n": 1})]
    items[7] = Note(id="Note_901", content="text")
    chosen, get = Chosen(items, range(len(items))), Asked(tree)
    assert chosen.part([0, 3, 1, 100]).values(get, tree, given()) == [4, -6, 2]
    assert get.count == 0
    assert chosen.part([7, 0]).values(get, tree, given()) == [4]
    assert get.count == 1
    assert [len(chosen), chosen[100].id, [item.id for item in chosen[99:]]] == [
        101,
        "Note_900",
        ["Note_99", "Note_900"],
    ]


def test_contents_are_taken_together_where_they_are_read_together() -> None:
    """A batch has them; of other items each is asked."""

    class Batch(list[Note]):
        contents = ("all", "of", "them")

    assert contents_of(Batch()) == ("all", "of", "them")
    assert contents_of(notes(("a", "b"), 1)) == ["a", "b"]
