"""What `gives` says of a result holds of every result: each Note fits the schema that was foretold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import reduce
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from infospace import Collection, Context, InfospaceError, Invalid, Note, Space, open_space
from infospace.schema.shapes import CollectionShape, NoteShape, Shape, Unknown, schema_of_value, union
from primitives.coerce import coerce
from primitives.group import group
from primitives.join import join
from primitives.project import project
from primitives.split import split

LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, "", "a", "1", "[1]", '{"a": 1}'])
VALUES = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.sampled_from("ab"), LEAVES, max_size=2)
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "metadata"]), VALUES, max_size=3)
ROWS = st.lists(OBJECTS, min_size=1, max_size=4)
PATHS = st.sampled_from(
    ["a", "b", "a.a", "a[0]", "a[-1]", "b[-1]", "metadata", "metadata.a", "@id", "@name", "@metadata.a"]
)
AGGREGATES = st.sampled_from(["count", "count(a)", "count_distinct(b)", "sum(a)", "avg(a.a)", "min(b)", "max(b[0])"])

ALIKE = st.lists(
    st.fixed_dictionaries(
        {
            "b": st.integers(0, 1),
            "whole": st.integers(-2, 2),
            "number": st.sampled_from([0.5, 0.75, 1, 2]),
            "text": st.sampled_from(["", "a", "1"]),
            "truth": st.booleans(),
        }
    ),
    min_size=1,
    max_size=4,
)
"""Rows of which each field has values of one sort, so that there is always something to compute."""
COMPUTED = [
    *(f"{function}({field})" for function in ("sum", "avg", "median") for field in ("whole", "number")),
    *(f"{function}({field})" for function in ("min", "max") for field in ("whole", "number", "text")),
    *(f"{function}(text)" for function in ("count", "count_distinct", "first", "list")),
    *("quantile(whole, 0.5)", "quantile(number, 0.9)", "bool_or(truth)", "bool_and(truth)"),
]


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """One space for many small calls, of which nothing is kept."""
    with open_space(tmp_path_factory.mktemp("foretold") / "space.db") as opened:
        yield opened


def table(view: Context, rows: list[Any], *, known: bool) -> tuple[Collection, Shape]:
    """A Collection of Notes with metadata of their own, and what is known of it: their very schemas, or nothing."""
    notes = [view.note(row, metadata={"a": 1}) for row in rows]
    shapes: list[Shape] = [NoteShape(schema_of_value(row), schema_of_value({"a": 1})) for row in rows]
    return view.collection(notes), CollectionShape(reduce(union, shapes) if known else Unknown())


def holds(view: Context, entry: Any, arguments: dict[str, Any], shapes: dict[str, Shape]) -> None:
    """Call a primitive, and hold what it gives against what it foretells; it fails where that was foretold."""
    args = entry.validate(arguments)
    try:
        foretold = entry.gives({name: getattr(args, name) for name in entry.arguments}, shapes)
    except Invalid:
        with pytest.raises(Invalid, match=r"cuts a text, and this is|has no parts|is not a|is neither true nor false"):
            asyncio.run(entry.call(args, view))
        return
    try:
        made = asyncio.run(entry.call(args, view))
    except InfospaceError:
        return
    fits(view, made, foretold)


def fits(view: Context, made: Any, shape: Shape) -> None:
    """Assert that a resource is of a shape."""
    assert made.kind in shape.kinds
    if isinstance(shape, CollectionShape):
        for item in view.items(made):
            fits(view, item, shape.item)
    elif isinstance(shape, NoteShape):
        assert isinstance(made, Note)
        for value, schema in ((made.content, shape.content), (dict(made.metadata), shape.metadata)):
            assert schema is None or not list(Draft202012Validator(schema).iter_errors(value)), (value, schema)


many = settings(max_examples=200, deadline=None)


@many
@given(rows=ROWS, fields=st.lists(PATHS, min_size=1, max_size=3), known=st.booleans())
def test_project_gives_what_it_foretells(space: Space, rows: list[Any], fields: list[str], known: bool) -> None:
    """A closed object of the fields, nesting kept."""
    view = space.context(scratch=True)
    target, shape = table(view, rows, known=known)
    try:
        project.validate({"target": target, "fields": fields})
    except InfospaceError:
        return
    holds(view, project, {"target": target, "fields": fields}, {"target": shape})


@many
@given(
    rows=ROWS,
    by=PATHS | st.lists(PATHS, min_size=1, max_size=2),
    aggregates=st.dictionaries(st.sampled_from("xyz"), AGGREGATES | st.just("list(a)")),
    known=st.booleans(),
)
def test_group_gives_what_it_foretells(space: Space, rows: list[Any], by: Any, aggregates: Any, known: bool) -> None:
    """The paths as written, then the aggregates, each of its type."""
    view = space.context(scratch=True)
    target, shape = table(view, rows, known=known)
    holds(view, group, {"target": target, "by": by, "aggregates": aggregates}, {"target": shape})


@many
@given(
    rows=ALIKE,
    by=st.sampled_from([None, "b"]),
    computed=st.lists(st.sampled_from(COMPUTED), min_size=1, max_size=6, unique=True),
    known=st.booleans(),
)
@example(rows=[{"whole": 1, "number": 0.5, "text": "a", "truth": True}], by=None, computed=COMPUTED, known=True)
def test_what_group_computes_of_values_of_one_sort_is_as_foretold(
    space: Space, rows: list[Any], by: str | None, computed: list[str], known: bool
) -> None:
    """Each aggregate has a value, and it is of its type."""
    view = space.context(scratch=True)
    target, shape = table(view, rows, known=known)
    args = group.validate({"target": target, "by": by, "aggregates": {one: one for one in computed}})
    made: Any = asyncio.run(group.call(args, view))
    fits(view, made, group.gives({name: getattr(args, name) for name in group.arguments}, {"target": shape}))
    results: Any = view.content(made)
    assert results
    assert all(result[one] is not None for result in results for one in computed)


@many
@given(
    left=ROWS,
    right=ROWS,
    on=st.sampled_from(["a", "b", "@metadata.a"]),
    how=st.sampled_from(["inner", "left", "right", "outer"]),
    known=st.sampled_from([(True, True), (True, True), (True, False), (False, True)]),
)
def test_join_gives_what_it_foretells(
    space: Space, left: list[Any], right: list[Any], on: str, how: str, known: tuple[bool, bool]
) -> None:
    """Merged objects, of which the type of the join says what is always there."""
    view = space.context(scratch=True)
    one, first = table(view, left, known=known[0])
    two, second = table(view, right, known=known[1])
    arguments = {"target": one, "value": two, "on": on, "join_type": how}
    holds(view, join, arguments, {"target": first, "value": second})


@many
@given(value=VALUES | OBJECTS, field=st.none() | PATHS, delimiter=st.sampled_from(["auto", "line", "sentence", ","]))
def test_split_gives_what_it_foretells(space: Space, value: Any, field: str | None, delimiter: str) -> None:
    """The schema of the list's elements where it is known, texts where it is text that is cut."""
    view = space.context(scratch=True)
    target = view.note(value)
    shape = NoteShape(schema_of_value(value), schema_of_value({}))
    holds(view, split, {"target": target, "field": field, "delimiter": delimiter}, {"target": shape})


@many
@given(value=VALUES, coercion=st.sampled_from(["string", "int", "float", "bool", "json", "list"]))
def test_coerce_gives_what_it_foretells(space: Space, value: Any, coercion: str) -> None:
    """Really of that type."""
    view = space.context(scratch=True)
    shape = NoteShape(schema_of_value(value), schema_of_value({}))
    holds(view, coerce, {"target": view.note(value), "coercion": coercion}, {"target": shape})


def test_what_does_not_fit_is_noticed(space: Space) -> None:
    """The tests above can fail."""
    view = space.context(scratch=True)
    with pytest.raises(AssertionError, match="additionalProperties"):
        fits(view, view.note({"a": 1}), NoteShape(schema_of_value({"b": 1})))
