"""Tools in plans: steps, `call-tool`, `map`, `tool_condition`; what the check knows of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jsonpatch
import pytest
from pydantic import BaseModel

from infospace import InfospaceError, Space
from infospace.core.tool import Tool, ToolFailed
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan
from planner.parse.saved_plans import save_plan


class Weather(BaseModel):
    """What the tool `weather` answers."""

    city: str
    degrees: float


@pytest.fixture
def calls(space: Space) -> list[str]:
    """A server `sky` in the space; the list grows with each call."""
    made: list[str] = []
    sky = LocalTools("sky")

    @sky.tool(read_only=True)
    def weather(city: str, days: int = 1) -> Weather:
        """Say how warm it is."""
        made.append(f"weather {city} {days}")
        if city == "Atlantis":
            raise InfospaceError("there is no such city")
        return Weather(city=city, degrees=20.5)

    @sky.tool(read_only=True)
    async def is_day() -> bool:
        """Say whether it is day."""
        made.append("is_day")
        return True

    @sky.tool()
    def launch(rocket: str) -> str:
        """Launch a rocket."""
        made.append(f"launch {rocket}")
        raise ToolFailed("the line went dead")

    space.tools.add(sky)
    return made


CITY = {"type": "create-note", "value": {"name": "Oslo"}, "out": "$c"}
WARM = {"type": "sky/weather", "arguments": {"city": "$c.name"}, "out": "$w"}


def test_a_step_of_a_tools_name_calls_it(calls: list[str], run: Any) -> None:
    """The Note is its structured content; arguments are values."""
    result = run(CITY, WARM)
    assert result.result.data == {"city": "Oslo", "degrees": 20.5}
    assert calls == ["weather Oslo 1"]


def test_call_tool_calls_a_tool_that_the_run_names(calls: list[str], run: Any) -> None:
    """By its full name, literal or read from a Note."""
    name = {"type": "create-note", "value": "sky/weather", "out": "$t"}
    assert run(name, {"type": "call-tool", "tool": "$t", "arguments": {"city": "Rome"}}).status == "success"
    assert run({"type": "call-tool", "tool": "sky/is_day", "out": "$d"}).result.data is True
    assert calls == ["weather Rome 1", "is_day"]


def test_a_name_that_only_the_run_knows_is_checked_there(calls: list[str], run: Any) -> None:
    """An unknown one fails the step; arguments that do not fit are told, and nothing is called."""
    name = {"type": "create-note", "value": "sky/weathr", "out": "$t"}
    assert "did you mean 'sky/weather'?" in run(name, {"type": "call-tool", "tool": "$t"}).reason
    right = {**name, "value": "sky/weather"}
    assert '"city" is missing' in run(right, {"type": "call-tool", "tool": "$t"}).reason
    assert calls == []


def test_map_calls_a_tool_for_each_item(calls: list[str], run: Any) -> None:
    """With `$item` in its arguments."""
    cities = {"type": "create-collection", "value": ["Oslo", "Rome"], "out": "$c"}
    operation = {"type": "sky/weather", "arguments": {"city": "$item"}}
    result = run(cities, {"type": "map", "target": "$c", "operation": operation, "out": "$w"})
    assert [item["city"] for item in result.result.data] == ["Oslo", "Rome"]


def test_a_tool_condition_asks_a_tool_that_only_reads(calls: list[str], run: Any, errors: Any) -> None:
    """Another is refused, and so is one whose answer cannot be true or false."""
    then = [{"type": "create-note", "value": "day", "out": "$x"}]
    ask = {"type": "if", "condition": {"type": "tool_condition", "tool": "sky/is_day"}, "then": then}
    assert run(ask).result.data == "day"
    launch = {**ask, "condition": {"type": "tool_condition", "tool": "sky/launch", "arguments": {"rocket": "x"}}}
    assert [problem.code for problem in errors([launch])] == ["tool-not-read-only", "bad-condition"]
    warm = {**ask, "condition": {"type": "tool_condition", "tool": "sky/weather", "arguments": {"city": "x"}}}
    [problem] = errors([warm])
    assert (problem.code, problem.pointer) == ("bad-condition", "/0/condition/tool")


def test_an_answer_that_is_neither_true_nor_false_decides_nothing(space: Space, run: Any) -> None:
    """Where the check could not know it, the step fails, and neither branch is run."""
    oracle = LocalTools("oracle")

    @oracle.tool(read_only=True)
    def will_it() -> Any:
        """Say whether it will."""
        return "perhaps"

    space.tools.add(oracle)
    made = {"type": "create-note", "value": "x", "out": "$x"}
    condition = {"type": "tool_condition", "tool": "oracle/will_it"}
    result = run({"type": "if", "condition": condition, "then": [made], "else": [{**made, "out": "$y"}]})
    assert result.status == "failed"
    assert result.reason == 'step 1 (if) failed: unchecked: oracle/will_it answers "perhaps", not true or false'
    assert [row.position for row in result.steps] == ["1"]


def test_a_loop_may_ask_a_tool(calls: list[str], errors: Any) -> None:
    """What a tool says may change without anything in the body."""
    loop = {"type": "while", "condition": {"type": "tool_condition", "tool": "sky/is_day"}, "body": []}
    assert errors([loop]) == []


@pytest.mark.parametrize(
    ("arguments", "code", "place"),
    [
        ({}, "missing-argument", ""),
        ({"city": 3}, "bad-argument", "/city"),
        ({"city": "$c"}, "bad-argument", "/city"),
        ({"city": "x", "days": "2"}, "bad-argument", "/days"),
        ({"citi": "x"}, "unknown-argument", "/citi"),
        ({"city": "$c.nam"}, "unknown-field", "/city"),
        ({"city": "x", "far": 1}, "unknown-argument", "/far"),
    ],
)
def test_arguments_are_held_against_the_tools_schema(
    calls: list[str], errors: Any, arguments: Any, code: str, place: str
) -> None:
    """Before anything runs, at their places."""
    [problem] = errors([CITY, {**WARM, "arguments": arguments}])
    assert (problem.code, problem.pointer) == (code, f"/1/arguments{place}")


def test_all_that_is_wrong_with_arguments_is_told_at_once(calls: list[str], errors: Any) -> None:
    """Not the first alone."""
    found = errors([{**WARM, "arguments": {"days": "x", "far": 1}}])
    assert sorted(problem.code for problem in found) == ["bad-argument", "missing-argument", "unknown-argument"]


def test_an_unknown_tool_is_refused_with_the_nearest(calls: list[str], errors: Any) -> None:
    """A fix names it; in a space without tools there is none to name."""
    [problem] = errors([CITY, {**WARM, "type": "sky/wether"}])
    assert (problem.code, problem.pointer) == ("unknown-tool", "/1/type")
    assert problem.fix == [{"op": "replace", "path": "/1/type", "value": "sky/weather"}]
    [problem] = errors([CITY, {**WARM, "type": "heaven/weather"}])
    assert problem.hint == "did you mean 'sky/weather'?"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"city": "$c.name", "days": 2}, "these arguments fit sky/weather"),
        ({"rocket": "V"}, "these arguments fit sky/launch"),
        ({"city": 5}, "there are sky/weather, sky/is_day, sky/launch"),
        ({"days": 2}, "there are sky/weather, sky/is_day, sky/launch"),
        ({"city": "$c.name", "far": True}, "there are sky/weather, sky/is_day, sky/launch"),
        ({}, "there are sky/weather, sky/is_day, sky/launch"),
    ],
)
@pytest.mark.parametrize("form", ["step", "map", "call-tool"])
def test_where_a_tool_is_missing_those_are_proposed_that_take_the_arguments(
    calls: list[str], errors: Any, arguments: dict[str, Any], hint: str, form: str
) -> None:
    """By names and types; whatever it is called by."""
    called = {"type": "heavens/forecast", "arguments": arguments}
    forms = {
        "step": {**called, "out": "$w"},
        "map": {"type": "map", "target": [1], "operation": called, "out": "$w"},
        "call-tool": {"type": "call-tool", "tool": "heavens/forecast", "arguments": arguments, "out": "$w"},
    }
    [problem] = errors([CITY, forms[form]])
    assert (problem.code, problem.hint, problem.fix) == ("unknown-tool", hint, None)


def test_of_several_that_take_the_arguments_the_likest_is_named_first(space: Space, errors: Any) -> None:
    """An argument that is called otherwise is told."""
    server = LocalTools("docs")
    arguments = {"move": "path", "show_page": "page_path", "wipe": "path", "drop": "path", "zap": "path"}
    made = [
        Tool("docs", name, "", {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]})
        for name, key in arguments.items()
    ]
    server.tools = lambda: made  # type: ignore[method-assign]
    space.tools.add(server)
    step = {"type": "web/show", "arguments": {"path": "a"}, "out": "$w"}
    [problem] = errors([step])
    first = "these arguments fit docs/show_page (as page_path), docs/drop, docs/move"
    assert problem.hint == f"{first}, docs/wipe or one of 1 more"
    made.pop()
    [problem] = errors([step])
    assert problem.hint == f"{first} or docs/wipe"


def test_a_tool_that_takes_the_arguments_and_whose_server_is_down_is_told_as_such_and_last(
    space: Space, errors: Any
) -> None:
    """Also where it is called likest."""
    server = LocalTools("docs")
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    made = [Tool("docs", name, "", schema, connected=name != "page") for name in ("page", "drop")]
    server.tools = lambda: made  # type: ignore[method-assign]
    space.tools.add(server)
    step = {"type": "web/page_text", "arguments": {"path": "a"}, "out": "$w"}
    [problem] = errors([step])
    assert problem.hint == "these arguments fit docs/drop or docs/page (its server is down)"


def test_a_space_without_tools_says_so(errors: Any) -> None:
    """In the hint."""
    [problem] = errors([{"type": "any/tool"}])
    assert (problem.code, problem.hint) == ("unknown-tool", "no tools in this space")


def test_what_a_tool_gives_is_known_to_later_steps(calls: list[str], errors: Any) -> None:
    """By its output schema."""
    assert errors([CITY, WARM, {"type": "say", "value": "${w.degrees}"}]) == []
    [problem] = errors([CITY, WARM, {"type": "size", "target": "$w", "out": "$n"}])
    assert problem.code == "wrong-kind"


def test_a_tool_that_says_it_failed_fails_the_step(calls: list[str], run: Any) -> None:
    """In the tool's words; an `on_fail` may handle it."""
    atlantis = {"type": "sky/weather", "arguments": {"city": "Atlantis"}, "out": "$w"}
    assert "there is no such city" in run(atlantis).reason
    assert run({**atlantis, "on_fail": "continue"}).status == "success"


def test_a_call_that_may_have_had_its_effect_is_never_made_again(calls: list[str], run: Any) -> None:
    """A tool that only reads is asked again."""
    retry = {"attempts": 3, "wait_s": 0}
    run({"type": "sky/launch", "arguments": {"rocket": "one"}, "retry": retry})
    assert calls == ["launch one"]
    run({"type": "sky/weather", "arguments": {"city": "Atlantis"}, "retry": retry})
    assert calls[1:] == ["weather Atlantis 1"] * 3


def test_a_misspelt_argument_of_an_open_schema_is_still_missing(space: Space, run: Any) -> None:
    """Servers seldom close their schemas: the wrong name alone is no error there."""
    sky = LocalTools("open")

    @sky.tool(read_only=True)
    def look(where_to: str) -> str:
        """Look somewhere."""
        return where_to

    schema = {"type": "object", "properties": {"where_to": {"type": "string"}}, "required": ["where_to"]}
    tools = [replace(tool, input_schema=schema) for tool in sky.tools()]
    sky.tools = lambda: tools  # type: ignore[method-assign]
    space.tools.add(sky)
    result = run({"type": "open/look", "arguments": {"where_too": "up"}})
    (problem,) = result.problems
    assert (problem.code, problem.hint) == ("missing-argument", "is 'where_too' meant for it?")
    assert problem.fix == [{"op": "move", "from": "/0/arguments/where_too", "path": "/0/arguments/where_to"}]


def test_what_the_space_itself_can_do_is_no_call_of_a_tool(space: Space, errors: Any) -> None:
    """Written by the name it is found by, a patch makes a step of it; of a name that nothing has it is unknown."""
    steps = [{"type": "infospace/create-note", "arguments": {"value": 1, "metadata": {}}, "out": "$x"}]
    [problem] = errors(steps)
    assert (problem.code, problem.pointer) == ("unknown-tool", "/0/type")
    assert problem.hint == 'what the space itself can do is a step of its own: {"type": "create-note", …}'
    assert jsonpatch.apply_patch(steps, problem.fix) == [
        {"type": "create-note", "value": 1, "metadata": {}, "out": "$x"}
    ]
    inputs = {"n": {"type": "integer"}}
    save_plan(space, "week", {"goal": "Tell", "inputs": inputs, "steps": [{"type": "say", "value": "$n"}]})
    plan = [{"type": "infospace/plan:week", "arguments": {"n": 1}}]
    [problem] = errors(plan)
    assert jsonpatch.apply_patch(plan, problem.fix) == [{"type": "plan:week", "arguments": {"n": 1}}]
    [problem] = errors([{"type": "infospace/nothing"}])
    assert (problem.code, problem.fix) == ("unknown-tool", None)


@pytest.mark.parametrize(
    ("written", "hint", "meant"),
    [
        ("$w.degres", "did you mean `degrees`?", "$w.degrees"),
        ("$w.wind", "there is city, degrees, metadata", None),
        ("it has ${w.degres}", "did you mean `degrees`?", "it has ${w.degrees}"),
    ],
)
@pytest.mark.usefixtures("calls")
def test_a_field_that_a_tool_does_not_list_is_an_error(
    space: Space, written: str, hint: str, meant: str | None
) -> None:
    """Its schema lists its fields and says nothing of others."""
    plan = [CITY, WARM, {"type": "create-note", "value": written, "out": "$n"}]
    [wrong] = [problem for problem in check_plan(space, plan)[1].found if problem.code == "unknown-field"]
    assert (wrong.severity, wrong.pointer, wrong.hint) == ("error", "/2/value", hint)
    assert "in what its tool lists" in wrong.message
    assert wrong.fix == (None if meant is None else [{"op": "replace", "path": "/2/value", "value": meant}])


class Page(BaseModel):
    """A page of what the tool `defined` answers."""

    next: str


class Book(BaseModel):
    """What it answers: its pages are of a definition beside it."""

    page: Page | None
    pages: list[Page]


NEXT = {"type": "object", "properties": {"next": {"type": "string"}}}
INLINE = {
    "page": {"anyOf": [NEXT, {"type": "null"}]},
    "pages": {"type": "array", "items": NEXT},
    "by_word": {"type": "object", "additionalProperties": NEXT},
}


class Books(LocalTools):
    """Tools that answer such pages, of which one schema says all in its place."""

    def tools(self) -> list[Tool]:
        return [
            Tool(self.server, name, "Open.", {"type": "object"}, output, read_only=True)
            for name, output in {
                "defined": Book.model_json_schema(),
                "inline": {"type": "object", "properties": INLINE},
            }.items()
        ]


@pytest.mark.parametrize(
    ("tool", "place"),
    [
        ("defined", "page"),
        ("defined", "pages[0]"),
        ("inline", "page"),
        ("inline", "pages[0]"),
        ("inline", "by_word.any"),
    ],
)
def test_a_field_inside_a_field_that_a_tool_does_not_list_is_an_error(space: Space, tool: str, place: str) -> None:
    """Also where the schema refers to a definition, names alternatives, or says it of each item."""
    space.tools.add(Books("book"))
    steps = [{"type": f"book/{tool}", "arguments": {}, "out": "$o"}]
    [wrong] = check_plan(space, [*steps, {"type": "say", "value": f"${{o.{place}.nxet}}"}])[1].found
    assert (wrong.code, wrong.severity, wrong.pointer) == ("unknown-field", "error", "/1/value")
    assert wrong.hint == f"did you mean `{place}.next`?"
    assert wrong.fix == [{"op": "replace", "path": "/1/value", "value": f"${{o.{place}.next}}"}]
    assert check_plan(space, [*steps, {"type": "say", "value": f"${{o.{place}.next}}"}])[1].found == []


WIND = {"type": "say", "value": "${w.wind}"}
COLLECTED = {"type": "create-collection", "value": ["$w"], "out": "$all"}


@pytest.mark.parametrize(
    ("steps", "severities"),
    [
        ([WIND], ["error"]),
        ([{"type": "if", "condition": {"type": "bound", "target": "$w.wind"}, "then": [WIND]}], ["warning"]),
        ([{"type": "if", "condition": {"type": "has_value", "target": "$w.wind"}, "then": [WIND]}], ["warning"]),
        (
            [{"type": "if", "condition": {"type": "empty", "target": "$w.wind"}, "then": [], "else": [WIND]}],
            ["warning"],
        ),
        (
            [{"type": "if", "condition": {"type": "bound", "target": "$w.wind"}, "then": [], "else": [WIND]}],
            ["warning", "error"],
        ),
        ([{"type": "if", "condition": {"type": "bound", "target": "$w.rain"}, "then": [WIND]}], ["warning", "error"]),
        ([{"type": "if", "condition": "$w.wind IS NOT NULL AND $w.wind > 3", "then": [WIND]}], ["warning"]),
        ([{"type": "if", "condition": "$w.wind IS NULL", "then": [], "else": [WIND]}], ["warning"]),
        ([{"type": "if", "condition": "NOT ($w.wind IS NULL OR 1 = 2)", "then": [WIND]}], ["warning"]),
        ([{"type": "if", "condition": "$w.wind IS NOT NULL OR 1 = 1", "then": [WIND]}], ["warning", "error"]),
        ([{"type": "if", "condition": "$w.wind > 3", "then": []}], ["warning"]),
        ([{**WIND, "on_fail": "continue"}], ["warning"]),
        ([{"type": "compute", "expression": "coalesce($w.wind, 0) + 1", "out": "$n"}], ["warning"]),
        ([{"type": "compute", "expression": "$w.wind + 1", "out": "$n"}], ["error"]),
        ([COLLECTED, {"type": "filter-structured", "target": "$all", "where": "wind > 1", "out": "$f"}], ["error"]),
        (
            [COLLECTED, {"type": "filter-structured", "target": "$all", "where": "coalesce(wind, 0) > 1", "out": "$f"}],
            [],
        ),
        (
            [COLLECTED, {"type": "pluck", "target": "$all", "field": "wind", "out": "$f", "on_fail": "continue"}],
            ["warning"],
        ),
        (
            [
                {
                    "type": "map",
                    "target": ["a"],
                    "operation": {"type": "sky/weather", "arguments": {"city": "$item"}},
                    "out": "$all",
                },
                {"type": "say", "value": "${all[0].wind}"},
            ],
            ["error"],
        ),
        ([{"type": "call-tool", "tool": "sky/weather", "arguments": {"city": "a"}, "out": "$w"}, WIND], ["error"]),
    ],
)
@pytest.mark.usefixtures("calls")
def test_a_field_that_a_tool_does_not_list_may_be_asked_for(space: Space, steps: Any, severities: list[str]) -> None:
    """`bound`, `has_value`, `coalesce` and `on_fail` guard it."""
    found = check_plan(space, [CITY, WARM, *steps])[1].found
    assert [problem.severity for problem in found if problem.code == "unknown-field"] == severities, found
    assert {problem.code for problem in found if problem.severity == "error"} <= {"unknown-field"}


@pytest.mark.parametrize(
    "beside",
    [
        {"additionalProperties": True},
        {"additionalProperties": {"type": "integer"}},
        {"patternProperties": {"^w": {"type": "integer"}}},
        {"unevaluatedProperties": True},
        {"anyOf": [{"required": ["degrees"]}, {"required": ["wind"]}]},
        {"allOf": [{"properties": {"wind": {"type": "integer"}}}]},
        {"$ref": "#/$defs/more", "$defs": {"more": {}}},
    ],
)
def test_a_tool_whose_schema_says_something_of_other_fields_may_have_them(space: Space, beside: Any) -> None:
    """By an open schema, or by one beside the fields."""

    class Open(LocalTools):
        def tools(self) -> list[Tool]:
            fields = {"type": "object", "properties": {"degrees": {"type": "integer"}}}
            return [Tool("sky", "weather", "", {"type": "object"}, {**fields, **beside}, read_only=True)]

    space.tools.add(Open("sky"))
    found = check_plan(space, [{"type": "sky/weather", "arguments": {}, "out": "$w"}, WIND])[1].found
    assert [problem for problem in found if problem.severity == "error"] == []


class Corner(BaseModel):
    """One corner of a box."""

    x: int


class Box(BaseModel):
    """A box on a map."""

    corner: Corner
    names: list[str] = []


def test_what_a_variable_has_is_held_against_its_own_place_in_a_tools_schema(space: Space, errors: Any) -> None:
    """Each place of a pair, of an object within one, of a list: what is wanted there, and what this is."""
    maps = LocalTools("maps")

    @maps.tool(read_only=True)
    def mark(point: tuple[str, int], box: Box) -> str:
        """Mark a place."""
        return f"{point} {box}"

    space.tools.add(maps)
    city = {"type": "create-note", "value": {"name": "Oslo", "n": 3}, "out": "$c"}

    def found(point: list[Any], box: dict[str, Any]) -> list[tuple[str, str]]:
        step = {"type": "maps/mark", "arguments": {"point": point, "box": box}, "out": "$m"}
        return [(problem.pointer, problem.message) for problem in errors([city, step])]

    assert found(["$c.name", "$c.n"], {"corner": {"x": "$c.n"}, "names": ["a", "$c.name"]}) == []
    place, tool = "/1/arguments", "in maps/mark"
    text, number = "`$c.n` is a whole number, and text is wanted", "`$c.name` is text, and a whole number is wanted"
    assert found(["$c.n", "$c.name"], {"corner": {"x": "$c.name"}, "names": ["$c.name", "$c.n"]}) == [
        (f"{place}/point/0", f"`point[0]` {tool}: {text}"),
        (f"{place}/point/1", f"`point[1]` {tool}: {number}"),
        (f"{place}/box/corner/x", f"`box.corner.x` {tool}: {number}"),
        (f"{place}/box/names/1", f"`box.names[1]` {tool}: {text}"),
    ]
