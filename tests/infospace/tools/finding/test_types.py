"""Finding tools by what they take and give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.core.errors import Invalid
from infospace.core.tool import Tool
from infospace.schema.validate import validate
from infospace.tools.scope import Filters
from infospace.tools.search.finder import Finder
from infospace.tools.search.results import ToolQuery
from infospace.tools.search.types import ToolTypes, TypeFit, TypeMatcher, TypeQuery, callable_with, read_type

TEXT = {"type": "string"}
ROWS = {"type": "array", "items": {"type": "object"}}


def tool(name: str, takes: dict[str, Any], gives: dict[str, Any] | None = None, needs: list[str] | None = None) -> Tool:
    """Return a tool; it needs all that it takes unless `needs` says what."""
    schema = {"type": "object", "properties": takes, "required": list(takes) if needs is None else needs}
    return Tool("files", name, f"Does {name}.", schema, gives)


READ_ROWS = tool("read_rows", {"file_path": TEXT}, {"type": "object", "properties": {"result": ROWS}})
COUNT = tool("count_rows", {"path": TEXT}, {"type": "object", "properties": {"total": {"type": "integer"}}})
WRITE = tool("write_rows", {"path": TEXT, "rows": ROWS})
WEATHER = tool(
    "weather",
    {"city": TEXT, "days": {"type": "integer"}},
    {
        "type": "object",
        "properties": {"current": {"type": "object", "properties": {"celsius": {"type": "number"}}, "required": []}},
    },
    needs=["city"],
)
TOOLS = [READ_ROWS, COUNT, WRITE, WEATHER]


def fit(one: Tool, **wanted: Any) -> TypeFit | None:
    return TypeMatcher(ToolTypes(), TypeQuery(**wanted)).fit(one)


def fitting(**wanted: Any) -> set[str]:
    """Return the names of the tools that fit."""
    return {one.name for one in TOOLS if fit(one, **wanted) is not None}


def keyed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (keyed(path=TEXT), {"read_rows", "count_rows", "write_rows"}),
        ({"properties": {"path": TEXT}}, {"read_rows", "count_rows", "write_rows"}),
        (keyed(path={}), {"read_rows", "count_rows", "write_rows"}),
        (keyed(file_path=TEXT), {"read_rows"}),
        (keyed(path={"type": "integer"}), set()),
        (keyed(path=TEXT, rows=ROWS), {"write_rows"}),
        (keyed(city=TEXT), {"weather"}),
        (keyed(town=TEXT), set()),
        ({"type": "integer"}, {"weather"}),
        (ROWS, {"write_rows"}),
        ({"type": "boolean"}, set()),
        ({}, {"read_rows", "count_rows", "write_rows", "weather"}),
    ],
)
def test_what_is_at_hand_is_a_value_or_arguments_by_name(schema: dict[str, Any], names: set[str]) -> None:
    assert fitting(input=schema) == names


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (ROWS, {"read_rows"}),
        ({"type": "array"}, {"read_rows"}),
        ({"type": "integer"}, {"count_rows", "weather"}),
        ({"type": "number"}, {"count_rows", "weather"}),
        (keyed(celsius={"type": "number"}), {"weather"}),
        ({"properties": {"celsius": {}}}, {"weather"}),
        (keyed(celsius=TEXT), set()),
        (keyed(fahrenheit={"type": "number"}), set()),
        (keyed(fahrenheit={}), set()),
        (keyed(current={}), {"weather"}),
        (keyed(current=keyed(celsius={})), {"weather"}),
        (keyed(current=keyed(kelvin={})), set()),
        (keyed(current={}, celsius={}), set()),
        ({"type": "array", "items": keyed(price={})}, set()),
        ({}, {"read_rows", "count_rows", "weather"}),
        (TEXT, set()),
    ],
)
def test_what_is_wanted_stands_at_the_top_or_below_keys(schema: dict[str, Any], names: set[str]) -> None:
    """A key that is wanted has to be told of; a tool that says nothing of what it gives never fits."""
    assert fitting(output=schema) == names


def test_how_a_tool_fits_is_told() -> None:
    found = fit(WEATHER, input={"type": "integer"}, output={"type": "number"})
    assert found is not None
    assert found.to_json() == {
        "input": {
            "score": 1.0,
            "reason": "every value that is given fits what is wanted",
            "arguments": ["days"],
            "needs": ["city"],
        },
        "output": {
            "score": 1.0,
            "reason": "every value that is given fits what is wanted",
            "place": "current.celsius",
        },
    }
    doubtful = fit(tool("sort", {"order": {"enum": ["asc", "desc"]}}), input=keyed(order=TEXT))
    assert doubtful is not None
    assert doubtful.input is not None
    assert (doubtful.input.score, doubtful.input.arguments) == (0.6, ("order",))
    assert doubtful.input.reason == 'what is given is text, and "asc" or "desc" is wanted'


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        (keyed(path=TEXT), "count", ["count_rows", "read_rows"]),
        (keyed(file_path=TEXT), "read", ["read_rows"]),
        (keyed(path=TEXT, rows=ROWS), "save", ["write_rows"]),
        (keyed(city=TEXT), "x", ["weather"]),
        (keyed(city={"type": "integer"}), "weather", []),
        ({}, "weather", []),
    ],
)
def test_what_can_be_called_with_arguments_as_they_are_is_told(
    values: dict[str, Any], name: str, expected: list[str]
) -> None:
    """Those first that are named alike; none that needs more, takes less, or takes another type."""
    found = callable_with(ToolTypes(), TOOLS, values, name)
    assert [one.name for one, _ in found] == expected
    blocked = [replace(one, blocked=True) for one in TOOLS] + [replace(one, kind="prompt") for one in TOOLS]
    assert callable_with(ToolTypes(), blocked, values, name) == []


def test_two_names_are_never_one_argument() -> None:
    one = tool("copy", {"source_path": TEXT, "target": TEXT})
    assert fit(one, input=keyed(path=TEXT, source=TEXT)) is None
    both = fit(one, input=keyed(path=TEXT, target=TEXT))
    assert both is not None
    assert both.input is not None
    assert set(both.input.arguments) == {"source_path", "target"}


def test_an_object_may_be_the_value_of_one_argument_that_tells_of_its_keys() -> None:
    person = keyed(name=TEXT, age={"type": "integer"})
    assert fit(tool("save", {"person": person}), input=person) is not None
    assert fit(tool("save", {"person": keyed(name=TEXT)}), input=person) is None
    assert fit(tool("save", {"person": {}}), input=person) is None
    deep, wanted = keyed(name=keyed(first=TEXT)), keyed(name=keyed(first=TEXT))
    assert fit(tool("save", {"person": deep}), input=wanted) is not None
    for says_less in (keyed(name={}), keyed(name=keyed(last=TEXT)), keyed(other={}, name={}), keyed(other={})):
        assert fit(tool("save", {"person": says_less}), input=wanted) is None
    assert fit(tool("save", {"person": keyed(other={})}), input=keyed(name={})) is None


def test_what_is_at_hand_may_lack_a_key_that_it_does_not_require() -> None:
    """A tool that needs the key fits so far; wholly only where the key is required. What is wanted has to be there."""
    person = {**keyed(name=TEXT), "required": ["name"]}
    save, load = tool("save", {"person": person}), tool("load", {"id": TEXT}, keyed(name=TEXT))
    maybe = fit(save, input=keyed(person=keyed(name=TEXT)))
    assert maybe is not None
    assert maybe.input is not None
    assert (maybe.input.score, maybe.input.reason) == (0.6, 'what is given need not have "name", which is needed')
    surely = fit(save, input=keyed(person=person))
    assert surely is not None
    assert surely.input is not None
    assert surely.input.score == 1
    gives = fit(load, output=keyed(name=TEXT))
    assert gives is not None
    assert gives.output is not None
    assert (gives.output.score, gives.output.reason) == (0.6, 'what is given need not have "name", which is needed')


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"$defs": {"node": keyed(next={"$ref": "#/$defs/node"})}}
    tree = {**node, "$ref": "#/$defs/node"}
    walk = Tool("files", "walk", "Walks.", {**node, **keyed(start={"$ref": "#/$defs/node"})}, tree)
    assert fit(walk, input=tree, output=tree) is not None
    assert fit(walk, input=keyed(start=TEXT)) is None


def test_types_act_before_the_best_are_taken(finder: Finder) -> None:
    """The one place goes to a tool that fits, though others are nearer to the request."""
    crowd = [tool(f"count_rows_{at}", {"path": TEXT}, COUNT.output_schema) for at in range(60)]
    wanted = ToolQuery("count the rows of a table", 1, Filters(min_score=0), types=TypeQuery(output=ROWS))
    found = finder.find([*crowd, *TOOLS], wanted)
    assert [hit.tool.name for hit in found.hits] == ["read_rows"]
    assert (found.matched, found.untyped) == (1, 1)
    assert found.hits[0].to_json()["types"]["output"]["place"] == ""  # type: ignore[index,call-overload]
    none = finder.find(TOOLS, replace(wanted, types=TypeQuery(output={"type": "boolean"})))
    assert (none.hits, none.matched, none.untyped) == ([], 0, 1)
    assert finder.find(TOOLS, replace(wanted, types=TypeQuery(input=keyed(path=TEXT)))).untyped == 0
    nearer = finder.find([*crowd, *TOOLS], replace(wanted, types=TypeQuery()))
    assert nearer.hits[0].tool.name.startswith("count_rows")
    assert (nearer.untyped, nearer.hits[0].types) == (0, None)
    none = finder.find([WRITE], wanted)
    assert (none.hits, none.untyped) == ([], 1)


def test_a_tool_that_changes_is_read_again() -> None:
    types = ToolTypes()
    assert TypeMatcher(types, TypeQuery(input={"type": "integer"})).fit(COUNT) is None
    changed = replace(COUNT, input_schema=keyed(rows={"type": "integer"}))
    assert TypeMatcher(types, TypeQuery(input={"type": "integer"})).fit(changed) is not None
    again = replace(changed, description="Counts.")
    assert types.parameters(again) is types.parameters(changed)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["k", "l"]), inner, max_size=2),
    max_leaves=5,
)
SIMPLE = st.sampled_from(
    [TEXT, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"enum": ["a", 1]}, ROWS, keyed(k=TEXT)]
)


@settings(max_examples=200, deadline=None)
@given(value=VALUES, given_=SIMPLE, taken=SIMPLE)
def test_what_fits_wholly_is_never_refused_by_the_tool(value: Any, given_: Any, taken: Any) -> None:
    """A score of 1 is a promise: each value of the one schema is valid by the other."""
    found = fit(tool("take", {"value": taken}), input=keyed(value=given_))
    if found is not None and found.input is not None and found.input.score == 1 and not validate(value, given_):
        assert not validate(value, taken)


def test_the_arguments_of_a_tool_are_told_with_what_is_said_of_them() -> None:
    """Those first that it needs; what is no text is written as one."""
    takes = {"a": {"description": "First."}, "b": {"description": 3}, "c": True, "d": {}}
    one = Tool("s", "t", input_schema={"type": "object", "properties": takes, "required": ["d", "b"]})
    told = [(each.name, each.description, each.required) for each in ToolTypes().parameters(one)]
    assert told == [("b", "3", True), ("d", "", True), ("a", "First.", False), ("c", "", False)]
    assert ToolTypes().parameters(Tool("s", "t", input_schema={"type": "object"})) == []
    assert ToolTypes().parameters(Tool("s", "t", input_schema={"type": "string"})) == []


def test_the_places_of_a_result_are_told_to_a_depth_and_a_number() -> None:
    """The outer before the inner; a key that no plan can read is passed over, and so is what is not a tool."""
    deep = keyed(a=keyed(b=keyed(c=keyed(d=keyed(e=TEXT)))), **{"not one": TEXT})
    one = Tool("s", "t", output_schema=deep)
    assert [place.path for place in ToolTypes().places(one)] == ["", ".a", ".a.b", ".a.b.c", ".a.b.c.d"]
    assert [(place.name, place.names) for place in ToolTypes().places(one)][:3] == [
        ("", ()),
        ("a", ("a",)),
        ("b", ("a", "b")),
    ]
    rows = Tool("s", "t", output_schema=keyed(rows={"type": "array", "items": keyed(id=TEXT)}))
    assert [(place.path, place.in_list) for place in ToolTypes().places(rows)] == [
        ("", False),
        (".rows", False),
        (".rows[0]", True),
        (".rows[0].id", True),
    ]
    wide = Tool("s", "t", output_schema=keyed(**{f"k{number}": TEXT for number in range(130)}))
    assert [place.path for place in ToolTypes().places(wide)] == ["", *(f".k{number}" for number in range(119))]
    assert ToolTypes().places(replace(wide, kind="prompt")) == []
    assert [place.path for place in ToolTypes().places(Tool("s", "t"))] == [""]


@pytest.mark.parametrize(
    ("items", "fits"),
    [
        (keyed(price={}), True),
        (keyed(price={}, name={}), True),
        (keyed(name={}), False),
        ({}, False),
        (None, False),
    ],
)
def test_a_list_is_wanted_with_the_keys_of_its_items(items: dict[str, Any] | None, fits: bool) -> None:
    """Of a list of anything nothing is known."""
    listed = {"type": "array", **({} if items is None else {"items": items})}
    wanted = {"type": "array", "items": keyed(price={})}
    gives = tool("list", {}, keyed(all={**listed}))
    assert (fit(gives, output=wanted) is not None) is fits
    assert fit(gives, output={"type": "array", "items": {}}) is not None


def test_of_arguments_that_fit_alike_the_one_that_is_needed_is_taken() -> None:
    """Else the first; what is needed besides is told."""
    found = fit(tool("t", {"a": TEXT, "b": TEXT, "c": TEXT}, needs=["b", "c"]), input=TEXT)
    assert found is not None
    assert found.input is not None
    assert (found.input.arguments, found.input.needs) == (("b",), ("c",))
    better = fit(tool("t", {"a": TEXT, "b": {"enum": ["x"]}}, needs=["b"]), input=TEXT)
    assert better is not None
    assert better.input is not None
    assert (better.input.arguments, better.input.needs) == (("a",), ("b",))


NAMES = "string, number, integer, boolean, array, object, null"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "{",
            "the input ends inside an object opened at line 1, column 1: it seems cut off",
            f"the input is a JSON Schema, or one of {NAMES}",
        ),
        ("[1]", f"the input is a JSON Schema, an object, or one of {NAMES}; not '[1]'", None),
        ('{"type": "strin"}', None, None),
    ],
)
def test_a_type_that_is_none_says_what_would_be_one(text: str, message: str | None, hint: str | None) -> None:
    with pytest.raises(Invalid) as refused:
        read_type(text, "the input")
    if message is None:
        assert refused.value.message.startswith("the input: ")
        assert refused.value.message.endswith(" at ['type']")
    else:
        assert (refused.value.message, refused.value.hint) == (message, hint)


def test_a_type_is_a_name_or_a_schema() -> None:
    for name in NAMES.split(", "):
        assert read_type(name, "it") == {"type": name}
    assert read_type('{"enum": [1]}', "it") == {"enum": [1]}
