"""What a plan does outside is warned of: budgets, connections, and text from outside that may do harm."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.core.tool import Tool
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan, run_sync

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import files, save_plan

READ = {"type": "files/read", "arguments": {"path": "x"}, "out": "$text"}
WRITE = {"type": "files/write", "arguments": {"path": "y", "text": "$text"}}
FOUND = {"type": "files/search", "arguments": {"query": "x"}, "out": "$found"}
ROWS = {"type": "split", "target": "$found", "out": "$rows"}


class Untrusted:
    """A server of tools that nobody vouches for."""

    def __init__(self, server: LocalTools, **fields: Any) -> None:
        self.server, self._fields = server.server, {"trusted": False, **fields}
        self._of = server

    def tools(self) -> list[Tool]:
        return [replace(tool, server=self.server, **self._fields) for tool in self._of.tools()]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    def find(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools() if tool.name == name), None)


@pytest.fixture
def told(space: Space, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the warnings of a right plan, by code and pointer; a language model is configured."""
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "any")
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://localhost:1/v1")
    space.tools.add(Untrusted(files()))

    def check(*steps: Any, **head: Any) -> list[tuple[str, str]]:
        _, problems = check_plan(space, {**head, "steps": list(steps)})
        assert problems.ok, problems.found
        return [(problem.code, problem.pointer) for problem in problems.found if problem.code != "never-read"]

    return check


def test_text_from_outside_that_reaches_a_destructive_tool_is_warned_of(told: Any) -> None:
    """Also through other steps; not where a person was asked before."""
    assert told(READ, WRITE) == [("outside-text", "/steps/1")]
    passed_on = {"type": "create-note", "value": "see ${text}", "out": "$report"}
    later = {"type": "files/write", "arguments": {"path": "y", "text": "${report}"}}
    assert told(READ, passed_on, later) == [("outside-text", "/steps/2")]
    ask = {"type": "ask", "value": "write it?", "out": "$yes"}
    assert told(READ, ask, WRITE) == []


def test_what_a_loop_goes_over_comes_from_outside_too(told: Any) -> None:
    """Its items, by their own variable, also where one of them failed; so it is in `map`."""
    write = {**WRITE, "arguments": {"path": "y", "text": "${item}"}}
    assert told(FOUND, ROWS, {"type": "for-each", "target": "$rows", "do": [write]}) == [
        ("outside-text", "/steps/2/do/0")
    ]
    failing = {"type": "for-each", "target": "$rows", "do": [{"type": "say", "value": "$item"}], "on_fail": [write]}
    assert told(FOUND, ROWS, failing) == [("outside-text", "/steps/2/on_fail/0")]
    put = {"type": "files/write", "arguments": {"path": "y", "text": "$item.text"}}
    assert told(FOUND, ROWS, {"type": "map", "target": "$rows", "operation": put}) == [("outside-text", "/steps/2")]


def test_what_a_loop_collects_from_outside_comes_from_outside(told: Any) -> None:
    """Though what it goes over does not."""
    rows = {"type": "create-collection", "value": ["a"], "out": "$rows"}
    each = {"type": "for-each", "target": "$rows", "do": [READ], "collect": "$text", "out": "$all"}
    write = {**WRITE, "arguments": {"path": "y", "text": "${all}"}}
    assert told(rows, each, write) == [("outside-text", "/steps/2")]


def test_what_runs_where_a_step_failed_is_followed_too(told: Any) -> None:
    handled = {"type": "load", "target": "page", "on_fail": [WRITE]}
    assert told(READ, handled) == [("outside-text", "/steps/1/on_fail/0")]


COUNT = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "ok": {"type": "boolean"},
        "sizes": {"type": "array", "items": {"type": "number"}},
    },
    "required": ["n", "ok", "sizes"],
}


MAYBE = {"anyOf": [{"type": "object", "properties": {"t": {"type": "string"}}}, {"type": "null"}]}


class Counting(LocalTools):
    """A server of tools that only read, by their outputs, and of one that changes something and takes nothing away."""

    outputs: Mapping[str, Any] = {
        "count": COUNT,
        "maybe": MAYBE,
        "open": {"type": "object"},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        "by-word": {
            "type": "object",
            "patternProperties": {"^n": {"type": "integer"}, "^t": {"type": "string"}},
            "additionalProperties": False,
        },
        "numbers": {"type": "object", "additionalProperties": {"type": "number"}},
    }

    def tools(self) -> list[Tool]:
        """Return all of them."""
        reading = [
            Tool(self.server, name, "Read.", {"type": "object"}, output, read_only=True, trusted=False)
            for name, output in self.outputs.items()
        ]
        return [*reading, Tool(self.server, "put", "Put.", {"type": "object"}, None, destructive=False)]


def test_numbers_and_booleans_from_outside_are_no_text(told: Any, space: Space) -> None:
    """Of a place, of a list of them, of a length; nor does a condition on one decide by text."""
    space.tools.add(Counting("far"))
    count = {"type": "far/count", "arguments": {}, "out": "$c"}

    def put(value: Any) -> Any:
        return {"type": "far/put", "arguments": {"v": value}}

    assert told(count, put({"a": ["$c.n", "$c.ok", "${c.n}"], "b": "$c.sizes"})) == []
    size = {"type": "compute", "expression": "length($text)", "out": "$n"}
    assert told(READ, size, put("$n")) == []
    condition = {"type": "equals", "target": "$c.ok", "value": True}
    assert told(count, {"type": "if", "condition": condition, "then": [put(1)]}) == []
    assert told(READ, put("$text")) == [("outside-text", "/steps/1")]
    each = {"type": "map", "target": "$c.sizes", "operation": {"type": "far/put", "arguments": {"v": "$item"}}}
    assert told(count, each) == []


@pytest.mark.parametrize(
    ("tool", "is_text"),
    [
        ("maybe", True),
        ("open", True),
        ("count", False),
        ("pair", True),
        ("by-word", True),
        ("numbers", False),
    ],
)
def test_a_whole_answer_may_hold_text_where_its_schema_lets_it(
    told: Any, space: Space, tool: str, is_text: bool
) -> None:
    """In one of its alternatives, or in any field; where fields are listed there are no others."""
    space.tools.add(Counting("far"))
    put = {"type": "far/put", "arguments": {"v": "$m"}}
    expected = [("outside-text", "/steps/1")] if is_text else []
    assert told({"type": f"far/{tool}", "arguments": {}, "out": "$m"}, put) == expected


def test_text_from_outside_is_warned_of_once_a_plan(told: Any) -> None:
    """Where it first reaches a tool."""
    assert told(READ, WRITE, WRITE) == [("outside-text", "/steps/1")]


def test_text_of_a_trusted_server_is_not_from_outside(space: Space) -> None:
    """Though it reaches a tool of one that is not; what passes through it is."""
    own, far = files(), files()
    far.server = "far"
    space.tools.add(own)
    space.tools.add(Untrusted(far))

    def told(*steps: Any) -> list[str]:
        return [one.pointer for one in check_plan(space, list(steps))[1].found if one.code == "outside-text"]

    write = {"type": "far/write", "arguments": WRITE["arguments"]}
    assert told(READ, write) == []
    found = {"type": "far/read", "arguments": {"path": "x"}, "out": "$path"}
    assert told(found, {**READ, "arguments": {"path": "$path"}}, write) == ["/2"]


def test_what_is_kept_under_a_name_still_comes_from_outside(told: Any) -> None:
    """By `persist`, by the step's own name, by `name`; and what it was added to."""
    load = {"type": "load", "target": "page", "out": "$again"}
    write = {**WRITE, "arguments": {"path": "y", "text": "${again}"}}
    assert told(READ, {"type": "persist", "target": "$text", "name": "page"}, load, write) == [
        ("outside-text", "/steps/3")
    ]
    assert told({**READ, "name": "page"}, load, write) == [("outside-text", "/steps/2")]
    assert told(READ, {"type": "name", "target": "$text", "value": "page"}, load, write) == [
        ("outside-text", "/steps/3")
    ]
    mine = {"type": "create-note", "value": "mine", "name": "page"}
    assert told(READ, {"type": "say", "value": "$text"}, mine, load, write) == []
    rows = {"type": "create-collection", "value": ["a"], "out": "$rows"}
    add = {"type": "add", "target": "$rows", "value": "$text"}
    write = {**WRITE, "arguments": {"path": "y", "text": "${rows}"}}
    assert told(READ, rows, add, write) == [("outside-text", "/steps/3")]
    query = {"type": "query", "sql": "SELECT text FROM pages", "out": "$rows"}
    assert told(FOUND, {**ROWS, "name": "pages", "out": "$pages"}, query, write) == [("outside-text", "/steps/3")]


def test_the_plans_own_text_is_not_from_outside(told: Any) -> None:
    """Nor what a plan only reads."""
    own = {"type": "create-note", "value": "mine", "out": "$text"}
    assert told(own, WRITE) == []
    assert told(READ, {"type": "say", "value": "$text"}) == []


def test_more_calls_than_the_budget_allows_are_warned_of(told: Any) -> None:
    """Of tools and of the language model, each step once."""
    write = {"type": "generate-note", "prompt": "a line", "out": "$line"}
    assert told(READ, READ, budget={"tool_calls": 1}) == [
        ("over-budget", "/budget/tool_calls"),
        ("rebound", "/steps/1/out"),
    ]
    assert told(write, budget={"llm_calls": 0}) == [("over-budget", "/budget/llm_calls")]
    assert told(write, READ, budget={"llm_calls": 1, "tool_calls": 1}) == []


def test_pages_count_as_the_calls_that_they_may_make(told: Any) -> None:
    """At most `max_pages`."""
    pages = {"type": "pages", "tool": READ["type"], "arguments": {"path": "$page"}, "next": "cursor"}
    pages |= {"first": "a", "max_pages": 5}
    found = told({**pages, "out": "$all"}, budget={"tool_calls": 4})
    assert ("over-budget", "/budget/tool_calls") in found
    assert ("over-budget", "/budget/tool_calls") not in told({**pages, "out": "$all"}, budget={"tool_calls": 5})


def test_a_tool_that_is_not_connected_is_warned_of(space: Space) -> None:
    """The plan may run all the same."""
    server = files()
    tools: list[Tool] = [replace(tool, connected=False) for tool in server.tools()]
    server.tools = lambda: tools  # type: ignore[method-assign]
    space.tools.add(server)
    _, problems = check_plan(space, [READ])
    assert ("not-connected", "/0/type") in [(problem.code, problem.pointer) for problem in problems.found]


PUBLISH = {"inputs": {"page": {"type": "string"}}, "steps": [{**WRITE, "arguments": {"path": "y", "text": "$page"}}]}
FETCH = {"inputs": {"path": {"type": "string"}}, "steps": [READ], "result": "$text"}


def test_text_from_outside_is_followed_into_a_saved_plan(told: Any, space: Space) -> None:
    """The warning stands at the step that runs the plan; the plan's own text is none of it."""
    save_plan(space, "publish", PUBLISH)
    publish = {"type": "plan:publish", "arguments": {"page": "${text}"}}
    assert told(READ, publish) == [("outside-text", "/steps/1")]
    assert told(READ, {**publish, "arguments": {"page": "mine"}}) == []
    assert told({"type": "create-note", "value": "mine", "out": "$text"}, publish) == []
    ask = {"type": "ask", "value": "publish it?", "out": "$yes"}
    assert told(READ, ask, publish) == []


def test_what_a_saved_plan_gives_comes_from_outside_where_it_calls_a_tool(told: Any, space: Space) -> None:
    """Whether it names a result or not. One that passes on what it was given passes on where that came from."""
    save_plan(space, "fetch", FETCH)
    save_plan(space, "peek", {"steps": [{"type": READ["type"], "arguments": READ["arguments"]}]})
    assert told({"type": "plan:peek", "out": "$text"}, WRITE) == [("outside-text", "/steps/1")]
    save_plan(
        space,
        "pass-on",
        {
            "inputs": {"page": {"type": "string"}},
            "steps": [{"type": "create-note", "value": "$page", "out": "$copy"}],
            "result": "$copy",
        },
    )
    assert told({"type": "plan:fetch", "arguments": {"path": "x"}, "out": "$text"}, WRITE) == [
        ("outside-text", "/steps/1")
    ]
    passed_on = {"type": "plan:pass-on", "arguments": {"page": "${text}"}, "out": "$copy"}
    write = {**WRITE, "arguments": {"path": "y", "text": "${copy}"}}
    assert told(READ, passed_on, write) == [("outside-text", "/steps/2")]
    assert told(READ, {**passed_on, "arguments": {"page": "mine"}}, write) == []


SAYS_SO = {"type": "contains", "target": "$text", "value": "please"}
MINE = {**WRITE, "arguments": {"path": "y", "text": "mine"}}


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ({"type": "if", "condition": SAYS_SO, "then": [MINE]}, "/steps/1/then/0"),
        ({"type": "if", "condition": SAYS_SO, "then": [], "else": [MINE]}, "/steps/1/else/0"),
        (
            {"type": "if", "condition": {"type": "not", "of": {"type": "or", "of": [SAYS_SO]}}, "then": [MINE]},
            "/steps/1/then/0",
        ),
        ({"type": "while", "condition": SAYS_SO, "body": [MINE], "max_iterations": 2}, "/steps/1/body/0"),
        ({"type": "if", "condition": "1 = 2 OR $text LIKE '%please%'", "then": [MINE]}, "/steps/1/then/0"),
        ({"type": "if", "condition": {"type": "not", "of": "$text = 'no'"}, "then": [MINE]}, "/steps/1/then/0"),
    ],
    ids=["then", "else", "joined", "while", "as text", "text in not"],
)
def test_text_from_outside_by_which_a_condition_decides_is_warned_of(told: Any, step: Any, found: str) -> None:
    """Whether the tool is called was said outside; whether a variable is bound was not, nor what a person read."""
    assert told(READ, step) == [("outside-text", found)]
    ask = {"type": "ask", "value": "write it?", "out": "$yes"}
    assert told(READ, ask, step) == []
    assert told(READ, {**step, "condition": {"type": "notbound", "target": "a name"}}) == []


def test_text_from_outside_by_which_a_loop_ends_is_warned_of(told: Any) -> None:
    """From the second round on it decides whether there is one; so does that of an item."""
    rows = {"type": "create-collection", "value": ["a", "b"], "out": "$rows"}
    each = {"type": "for-each", "target": "$rows", "do": [MINE]}
    assert told(READ, rows, {**each, "until": SAYS_SO}) == [("outside-text", "/steps/2/do/0")]
    until = {"type": "contains", "target": "$item.text", "value": "b"}
    assert told(FOUND, ROWS, {**each, "until": until}) == [("outside-text", "/steps/2/do/0")]
    assert told(READ, rows, {**each, "until": {"type": "equals", "target": "$item", "value": "b"}}) == []


def test_a_condition_decides_for_a_saved_plan_too(told: Any, space: Space) -> None:
    save_plan(space, "publish", PUBLISH)
    publish = {"type": "plan:publish", "arguments": {"page": "mine"}}
    assert told(READ, publish) == []
    assert told(READ, {"type": "if", "condition": SAYS_SO, "then": [publish]}) == [("outside-text", "/steps/1/then/0")]


def test_what_a_where_selects_by_text_from_outside_comes_from_outside(told: Any) -> None:
    """Which of them there are was said outside."""
    rows = {"type": "create-collection", "value": ["a", "b"], "out": "$rows"}
    kept = {"type": "filter-structured", "target": "$rows", "where": "content = $text", "out": "$kept"}
    each = {"type": "for-each", "target": "$kept", "do": [{**WRITE, "arguments": {"path": "y", "text": "${item}"}}]}
    assert told(READ, rows, kept, each) == [("outside-text", "/steps/3/do/0")]


def test_what_a_person_answers_does_not_come_from_outside(told: Any) -> None:
    """Also where the question quotes what does."""
    ask = {"type": "ask", "value": "write ${text}?", "out": "$said"}
    each = {"type": "for-each", "target": "$rows", "do": [ask], "out": "$answers"}
    rows = {"type": "create-collection", "value": ["a", "b"], "out": "$rows"}
    write = {**WRITE, "arguments": {"path": "y", "text": "${answers}"}}
    assert told(READ, rows, each, write) == []


def test_the_warning_says_which_text_reaches_which_tool(space: Space, told: Any) -> None:
    """By the names of the variables, in order; in a saved plan, by its name; or what the text decides."""
    save_plan(space, "publish", PUBLISH)
    again = {**READ, "out": "$again"}
    both = {**WRITE, "arguments": {"path": "${text}", "text": "${again}"}}
    publish = {"type": "plan:publish", "arguments": {"page": "${text}"}}
    decides = {"type": "if", "condition": SAYS_SO, "then": [MINE]}
    danger, ask = "which may change something", "put an `ask` before it"
    for steps, sentence in (
        ([READ, again, both], f"text from outside ($again, $text) reaches files/write, {danger}"),
        ([READ, publish], f"text from outside ($page) reaches files/write in plan:publish, {danger}"),
        ([READ, decides], f"text from outside ($text) decides whether to call files/write, {danger}"),
    ):
        assert told(*steps)
        [found] = [one for one in check_plan(space, steps)[1].found if one.code == "outside-text"]
        assert (found.message, found.hint) == (sentence, ask)


def test_a_tool_that_changes_something_is_warned_of_though_it_destroys_nothing(space: Space) -> None:
    """By what its server says; one that only reads is not."""
    space.tools.add(Untrusted(files(), destructive=False))
    read = {"type": "files/read", "arguments": {"path": "${text}"}}
    found = check_plan(space, [READ, read, WRITE])[1].found
    assert [problem.pointer for problem in found if problem.code == "outside-text"] == ["/2"]


def test_a_tool_that_only_reads_is_not_warned_of(told: Any) -> None:
    """Whatever reaches it."""
    assert told(READ, {"type": "files/read", "arguments": {"path": "${text}"}}) == []


def test_in_a_loop_text_from_outside_reaches_what_stands_before_it(told: Any) -> None:
    """In the second round."""
    mine = {"type": "create-note", "value": "mine", "out": "$text"}
    loop = {"type": "while", "condition": {"type": "bound", "target": "$text"}, "max_iterations": 2}
    found = told(mine, {**loop, "body": [WRITE, READ]})
    assert [one for one in found if one[0] == "outside-text"] == [("outside-text", "/steps/1/body/0")]


def test_what_an_earlier_run_kept_still_comes_from_outside(space: Space) -> None:
    """By its name, its title and its id, also through other steps; not of a trusted server, no number.

    Nor does what has its name now. The tool of a server that is gone is nobody's word.
    """
    own, far = files(), files()
    far.server = "far"
    space.tools.add(own)
    space.tools.add(Untrusted(far))

    def told(*steps: Any) -> list[str]:
        return [one.pointer for one in check_plan(space, list(steps))[1].found if one.code == "outside-text"]

    def keep(server: str, name: str) -> str:
        read = {"type": f"{server}/read", "arguments": {"path": "a"}, "out": "$text"}
        metadata = {"title": f"The {name}"}
        note = {"type": "create-note", "value": "see ${text}", "metadata": metadata, "name": name, "out": "$kept"}
        run = run_sync(space, [read, note], approve=["far/read", "files/read"])
        assert run.status == "success", run.reason
        return str(run.bindings["kept"].id)

    page = keep("far", "page")
    keep("files", "mine")
    write = {**WRITE, "arguments": {"path": "y", "text": "${text}"}}

    def load(target: str) -> Any:
        return {"type": "load", "target": target, "out": "$text"}

    assert told(load("page"), write) == ["/1"]
    assert told(load(page), write, write) == ["/1"]
    assert told(load("The page"), write) == ["/1"]
    assert told(load("mine"), write) == told(load("The mine"), write) == []
    length = {"type": "compute", "expression": "length($text)", "out": "$n"}
    assert told(load("page"), length, {**WRITE, "arguments": {"path": "y", "text": "$n"}}) == []
    own_page = {"type": "create-note", "value": "own", "name": "page", "replace": True}
    assert told({"type": "create-collection", "value": ["page"], "name": "pages"}, load("mine"), write) == []
    assert run_sync(space, [{"type": "create-collection", "value": [page], "name": "pages"}]).status == "success"
    assert told(load("pages"), {**write, "arguments": {"path": "y", "text": "${text}"}}) == ["/1"]
    assert run_sync(space, [own_page]).status == "success"
    assert told(load("page"), write) == []
