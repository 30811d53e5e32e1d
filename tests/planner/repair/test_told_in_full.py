"""What the check tells of wrong plans, word for word: code, place, sentence, hint and fix, as `told.json` has it.

Where a text is changed on purpose, `INFOSPACE_TOLD=1` writes the file anew. The test fails then, since nobody has
looked at the difference yet.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from infospace import Space, open_space
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan, run_sync
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parents[1]))
from plangen.mistakes import HITS, HOPELESS, ITEMS, MENDED, NOTE, note, over, when

TOLD = Path(__file__).with_name("told.json")
SAVED = {
    "inputs": {"n": {"type": "integer"}, "from": {"kind": "Collection"}},
    "steps": [note("$n", "$m")],
    "result": "$m",
}
ASKED = {
    "type": "ask",
    "value": "Which?",
    "schema": {"type": "object", "properties": {"title": {"type": "string"}, "done": {"type": "boolean"}}},
    "out": "$q",
}


class Weather(BaseModel):
    """What the tool `weather` answers."""

    city: str
    degrees: float


def saved(**arguments: Any) -> dict[str, Any]:
    return {"type": "plan:saved", "arguments": arguments, "out": "$p"}


def call(**arguments: Any) -> dict[str, Any]:
    return {"type": "sky/weather", "arguments": arguments, "out": "$w"}


def where(text: Any) -> list[Any]:
    return [HITS, over("filter-structured", where=text)]


def asked(type_: str, target: Any, **fields: Any) -> dict[str, Any]:
    return when({"type": type_, "target": target, **fields}, {"type": "say", "value": 1})


MORE: dict[str, Any] = {
    "no such input, and what it reads is unbound": [ITEMS, saved(**{"n": 1, "nnn": "$nowhere", "from": "$c"})],
    "an input that is near": [ITEMS, saved(**{"N": 1, "from": "$c"})],
    "an input is missing": [saved()],
    "an input of another type": [ITEMS, saved(**{"n": "text", "from": "$c"})],
    "an input of another type, by reference": [ITEMS, note("a text"), saved(**{"n": "$x", "from": "$c"})],
    "an input of another kind": [NOTE, saved(**{"n": 1, "from": "$x"})],
    "two inputs that nothing takes": [saved(n=1, other=2, **{"from": "nobody"})],
    "asks whether a variable is bound that nothing binds": [asked("bound", "$nothing")],
    "asks whether a variable is bound that is nearly one": [NOTE, note(1, "$note"), asked("bound", "$notes")],
    "asks whether a number is bound": [asked("bound", 7)],
    "asks whether a name is bound that a variable has": [NOTE, asked("bound", "x")],
    "compares a list with a number": [note([1]), asked("greater_than", "$x", value=3)],
    "compares a text with a number": [note("a"), asked("less_than", "$x", value=3)],
    "looks into a number": [note(1), asked("contains", "$x", value=3)],
    "looks for a number in a text": [note("text"), asked("contains", "$x", value=3)],
    "a pattern of no pattern": [note("text"), asked("matches_pattern", "$x", pattern="(")],
    "a key that the schema does not name, near": [ASKED, note("$q.titel", "$y")],
    "a key that the schema does not name, in a text": [ASKED, note("is ${q.titel}", "$y")],
    "a key that the schema does not name, far": [ASKED, note("$q.zebra", "$y")],
    "a key of a number": [note(1), note("$x.title", "$y")],
    "a key of an object that has none": [note({}), note("$x.title", "$y")],
    "a key of a text in an object": [NOTE, note("$x.title.first", "$y")],
    "a key of a search result": [HITS, note("$hits[0].metadata.zebra", "$y")],
    "metadata forgotten": [HITS, note("$hits[0].score", "$y")],
    "an id that is not there": [NOTE, note(2, "$y"), {"type": "load", "target": "Note_999"}],
    "an id, and a later variable of another kind": [NOTE, ITEMS, {"type": "load", "target": "Note_999"}],
    "a variable in a text where a resource is wanted": [note("a"), {"type": "load", "target": "${x}"}],
    "an id, and nothing of its kind": [{"type": "load", "target": "Note_999"}],
    "a name that is not there, handled": [
        note(1, name="given"),
        {"type": "load", "target": "givn", "out": "$y", "on_fail": "continue"},
    ],
    "a name that some path gives": [
        NOTE,
        when({"type": "has_value", "target": "$x"}, note(1, "$y", name="perhaps")),
        {"type": "load", "target": "perhaps", "out": "$z"},
    ],
    "a text as a condition": where("text"),
    "an AND with nothing after it": where("metadata.score > 1 AND"),
    "an OR with nothing after it": where("metadata.score > 1 OR"),
    "an or with nothing after it": where("metadata.score > 1 or"),
    "a comma with nothing after it": where("metadata.score > 1,"),
    "a parenthesis that is open": where("(metadata.score > 1"),
    "a parenthesis that closes nothing": where("metadata.score > 1)"),
    "a where as of SQL": where("SELECT * FROM hits WHERE metadata.score > 1"),
    "a where as of C": where("metadata.score === 1 && text = 'a' || text = 'b'"),
    "a where as an object": where({"metadata.score": 1}),
    "a where as a list": where(["metadata.score > 1", "text = 'a'"]),
    "arrows": where("metadata.score => 1"),
    "shifted": where("metadata.score >> 1"),
    "an argument with an earlier name": [{"type": "say", "target": "hello"}],
    "an argument with an earlier name, beside the new one": [{"type": "say", "target": "hello", "value": "so"}],
    "an argument of earlier": [ITEMS, {"type": "index", "source": "$c", "index_type": "text"}],
    "a slice with a hyphen": [note([1]), {"type": "load", "target": "$x", "slice": "1-5", "out": "$y"}],
    "a slice with dots": [note([1]), {"type": "load", "target": "$x", "slice": "[1..5]", "out": "$y"}],
    "a slice from the end": [note([1]), {"type": "load", "target": "$x", "slice": "-3-5", "out": "$y"}],
    "a yes for certify": [{"type": "discover-notes", "query": "q", "certify": " Yes", "out": "$o"}],
    "a no for certify": [HITS, {"type": "discover-notes", "query": "q", "certify": "NO", "out": "$o"}],
    "a number as text": [ITEMS, over("head", "$c", count="2")],
    "a number below the least": [ITEMS, over("head", "$c", count=-1)],
    "a number with a fraction": [ITEMS, over("head", "$c", count=2.5)],
    "a number in a list": [ITEMS, over("head", "$c", count=[2])],
    "a number in an object": [ITEMS, over("head", "$c", count={"value": 2})],
    "a share in percent": [{"type": "discover-notes", "query": "q", "threshold": 30, "out": "$o"}],
    "a path that ends with a point": [HITS, over("pluck", field="metadata..score.")],
    "read before it is bound": [note("$late", "$y"), note(1, "$late")],
    "read in the next step of a block before it is bound": [
        NOTE,
        when({"type": "has_value", "target": "$x"}, note("$late", "$y"), note(1, "$late")),
    ],
    "read outside of the loop that binds it": [
        ITEMS,
        {"type": "for-each", "target": "$c", "do": [note("$item", "$in")]},
        note("$in", "$y"),
    ],
    "bound in two branches": [{"type": "parallel", "branches": [[note(1)], [note(2)]]}],
    "bound before, and in a branch": [NOTE, {"type": "parallel", "branches": [[note(1)], [note(2, "$y")]]}],
    "a loop that never ends": [NOTE, {"type": "while", "condition": {"type": "has_value", "target": "$x"}, "body": []}],
    "seconds in words": [{"type": "wait", "seconds": "five"}],
    "a question that is a number": [{"type": "ask", "value": 5, "out": "$q"}],
    "a format of a text that has none": [{"type": "discover-notes", "query": "a-1", "limit": "many", "out": "$o"}],
    "a list of steps without types": {"steps": [NOTE, {"value": 1}, note("$late", "$y"), note(1, "$late")]},
    "a name that is not there, and is there all the same": [
        when(
            {"type": "notbound", "target": "taken"},
            when({"type": "bound", "target": "taken"}, note(1, name="taken")),
        )
    ],
    "replace, and no name": [note(1, replace=True)],
    "a result that one path binds": {
        "steps": [NOTE, when({"type": "has_value", "target": "$x"}, note(1, "$y"))],
        "result": "$y",
    },
    "a tool's argument of another type": [call(city=1)],
    "a tool's argument of another type, by reference": [NOTE, call(city="$x.n")],
    "a tool's argument with a number as text": [call(city="Oslo", days="2")],
    "a tool's argument is missing": [call(days=2)],
    "a tool's argument that it has not": [call(city="Oslo", dyas=2)],
    "a tool's argument that is like none": [call(city="Oslo", zebra=2)],
    "a tool that is not there": [{"type": "sky/wether", "arguments": {"city": "Oslo"}, "out": "$w"}],
    "a field that a tool's answer has not": [call(city="Oslo"), note("$w.degree", "$y")],
    "a field that a mapped tool's answers have not": [
        ITEMS,
        over("map", "$c", operation={"type": "sky/weather", "arguments": {"city": "$item.title"}}),
        note("$o[0].degree", "$y"),
    ],
    "nothing to collect": [
        ITEMS,
        {"type": "for-each", "target": "$c", "do": [{"type": "say", "value": 1}], "out": "$o"},
    ],
    "a wrong argument of a mapped operation that takes the item": [
        ITEMS,
        over("map", "$c", operation={"type": "pluck", "field": "n", "feild": "n"}),
    ],
    "a wrong argument beside the name of a mapped operation": [
        ITEMS,
        over("map", "$c", operation="load", slice="1-5"),
    ],
    "a mapped operation whose wrong argument has a place of its own": [
        ITEMS,
        over("map", "$c", operation={"type": "load", "slice": "1-5"}),
    ],
    "a mapped operation of another kind": [ITEMS, over("map", "$c", operation="size")],
    "a map that gives one name to each item": [
        ITEMS,
        over("map", "$c", operation={"type": "name", "value": "one"}),
        note(1, name="one"),
    ],
    "a name that an earlier step had": [
        note(1, name="mine"),
        {"type": "remove", "target": "taken"},
        note(2, "$y", name="mine"),
    ],
    "a name that a Note had which was removed": [{"type": "remove", "target": "taken"}, note(2, name="taken")],
    "a name that an earlier step gives on some path": [
        NOTE,
        when({"type": "has_value", "target": "$x"}, note(1, "$y", name="mine")),
        note(2, "$z", name="mine"),
    ],
    "a name that each item of a loop gives": [
        {"type": "create-collection", "value": [1, 2], "out": "$c"},
        {"type": "for-each", "target": "$c", "do": [note("$item", "$y", name="mine")]},
    ],
    "a name that each item of a search gives": [
        HITS,
        {"type": "for-each", "target": "$hits", "do": [note("$item", "$y", name="mine")]},
    ],
    "a name that a beside branch gives": [
        {"type": "parallel", "branches": [[note(1, name="mine")], [note(2, "$y", name="mine")]]},
    ],
    "what a step that writes gives is not read": [
        NOTE,
        note("t", "$unread"),
        {"type": "update-note", "target": "$x", "value": 2, "out": "$y"},
    ],
    "an item of an object, and a field of it": [note({"k": {"t": {"u": 1}}}), note("$x.k[0].t.u", "$y")],
    "an item of an object at the top": [note({"k": {"t": 1}}), note("$x[0].k.t", "$y")],
    "an item of an object, and nothing further": [note({"k": {"t": 1}}), note("$x.k[0]", "$y")],
    "an item of an object, and a field that it has not": [note({"k": {"t": 1}}), note("$x.k[0].zebra", "$y")],
    "a field of a list in an object": [note({"k": [{"t": 1}]}), note("$x.k.t", "$y")],
    "looks for a text in a list of numbers": [note([1, 2]), asked("contains", "$x", value="a")],
    "looks for an object in a list of objects": [note([{"a": 1}]), asked("contains", "$x", value="a")],
    "looks for a number among the keys of an object": [note({"a": 1}), asked("contains", "$x", value=3)],
    "compares a number with a text": [note(1), asked("less_than", "$x", value="a")],
    "compares with an object": [note(1), asked("gte", "$x", value={"a": 1})],
    "collects what nothing binds, far from what is bound": [
        ITEMS,
        {"type": "for-each", "target": "$c", "do": [note(1, "$one")], "collect": "$zebra", "out": "$o"},
    ],
    "collects what is bound before the loop": [
        NOTE,
        ITEMS,
        {"type": "for-each", "target": "$c", "do": [note(1, "$one")], "collect": "$x", "out": "$o"},
    ],
    "reads what a handled step may not have bound": [
        {"type": "load", "target": "nobody", "out": "$y", "on_fail": "continue"},
        note("${y}", "$z"),
        when({"type": "equals", "target": "$y", "value": 1}, {"type": "say", "value": 1}),
    ],
    "reads what one branch binds, unguarded and guarded": [
        NOTE,
        when({"type": "has_value", "target": "$x"}, note(1, "$y")),
        when({"type": "bound", "target": "$y"}, {"type": "say", "value": "${y}"}),
        {"type": "say", "value": "${y}"},
    ],
    "reads what the else of a guard has not": [
        NOTE,
        when({"type": "has_value", "target": "$x"}, note(1, "$y")),
        {
            "type": "if",
            "condition": {"type": "or", "of": [{"type": "bound", "target": "$y"}, {"type": "empty", "target": "$x"}]},
            "then": [{"type": "say", "value": "${y}"}],
            "else": [{"type": "say", "value": "${y}"}],
        },
    ],
    "a primitive as a tool of infospace": [
        NOTE,
        {"type": "infospace/update-note", "arguments": {"target": "$x", "value": 2}, "out": "$y"},
    ],
    "a saved plan as a tool of infospace": [
        ITEMS,
        {"type": "infospace/plan:saved", "arguments": {"n": 1, "from": "$c"}, "out": "$p"},
    ],
    "a primitive as a tool of infospace, with what is not bound": [
        {"type": "infospace/create-note", "arguments": {"value": "$nobody"}, "out": "$y"},
    ],
    "a tool that is not there, with what is not bound": [
        {"type": "sky/unlike", "arguments": {"city": "$nobody", "deep": [{"a": "${nobody}"}]}, "out": "$w"},
    ],
    "a server that is not there": [{"type": "moon/weather", "arguments": {}, "out": "$w"}],
    "call-tool with a name that is none": [{"type": "call-tool", "tool": 5, "arguments": {}, "out": "$w"}],
    "call-tool with a name that is near": [
        {"type": "call-tool", "tool": "sky/wether", "arguments": {"city": "Oslo"}, "out": "$w"},
    ],
    "call-tool with a variable that is a number": [
        note(1),
        {"type": "call-tool", "tool": "$x", "arguments": {"city": "Oslo"}, "out": "$w"},
    ],
    "a condition on a tool that is not there": [
        when({"type": "tool_condition", "tool": "sky/wether", "arguments": {"city": "$nobody"}}),
    ],
    "a condition on a tool that says more than yes or no": [
        when({"type": "tool_condition", "tool": "sky/weather", "arguments": {"city": 1}}),
    ],
    "a condition on a tool that changes something": [when({"type": "tool_condition", "tool": "sky/rain"})],
    "a tool's argument that is a list": [call(city=["Oslo"])],
    "a tool's argument that is null": [call(city=None)],
    "a tool's argument in another case": [call(City="Oslo")],
    "a tool's arguments beside its type": [{"type": "sky/weather", "city": "Oslo", "out": "$w"}],
    "a tool's argument that is an object of a reference": [NOTE, call(city={"name": "$x"})],
    "a tool's argument in a text": [NOTE, call(city="${x.title}", days="${x.n}")],
    "a tool's answer as a Collection": [call(city="Oslo"), {"type": "size", "target": "$w", "out": "$n"}],
    "a mapped tool's argument is missing": [
        ITEMS,
        over("map", "$c", operation={"type": "sky/weather", "arguments": {"days": 1}}),
    ],
    "a map whose handler reads the error": [
        ITEMS,
        {
            **over("map", "$c", operation={"type": "load", "slice": "1-5"}),
            "on_fail": [note("${error.raeson}", "$o")],
        },
    ],
    "a handler that reads a field that an error has not": [
        {"type": "load", "target": "taken", "out": "$y", "on_fail": [note("${error.why}", "$y")]},
    ],
    "an error that is read outside of its handler": [
        {"type": "load", "target": "taken", "out": "$y", "on_fail": "continue"},
        note("${error.reason}", "$z"),
    ],
    "a while on what it does not change": [
        note(1),
        note(2, "$y"),
        {
            "type": "while",
            "condition": {"type": "less_than", "target": "$x", "value": 3},
            "body": [{"type": "say", "value": "${y}"}],
        },
    ],
    "a while on the clock": [
        {"type": "while", "condition": "now() < '2100'", "body": [{"type": "say", "value": "on"}]},
    ],
    "a step after a stop": [{"type": "stop", "value": "enough"}, note(1), note(2, "$y")],
    "a stop in both branches": [
        NOTE,
        {
            "type": "if",
            "condition": {"type": "has_value", "target": "$x"},
            "then": [{"type": "stop"}],
            "else": [{"type": "stop", "value": "${zebra}"}],
        },
        note(1, "$y"),
    ],
    "an input of which the default does not fit": {
        "inputs": {"n": {"type": "integer", "default": "many"}},
        "steps": [note("$n")],
    },
    "an input of an unknown kind": {"inputs": {"n": {"kind": "Table"}}, "steps": [note("$n")]},
    "an input of which the schema is none": {"inputs": {"n": {"type": "number!"}}, "steps": [note("$n")]},
    "an input that nothing reads": {"inputs": {"n": {"type": "integer"}}, "steps": [note(1)]},
    "an input that a step binds again": {"inputs": {"x": {"type": "integer"}}, "steps": [note("${x}")]},
    "a result that nothing binds": {"steps": [NOTE], "result": "$nothing"},
    "a result with a field that is not there": {"steps": [NOTE], "result": "$x.titel"},
    "a field after the note was updated": [
        NOTE,
        {"type": "update-note", "target": "$x", "value": {"name": 1}},
        note("$x.title", "$y"),
    ],
    "a field after what may be the note was updated": [
        NOTE,
        {"type": "create-collection", "value": ["$x"], "out": "$c"},
        {"type": "update-note", "target": "$c[0]", "value": {"name": 1}},
        note("$x.zebra", "$y"),
    ],
    "an item behind the last": [
        {"type": "create-collection", "value": [1, 2], "out": "$c"},
        note("$c[2]", "$y"),
        note("$c[-3]", "$z"),
    ],
    "an item of an empty Collection": [{"type": "create-collection", "value": [], "out": "$c"}, note("$c[0]", "$y")],
    "read after it was removed": [NOTE, {"type": "remove", "target": "$x"}, note("${x.title}", "$y")],
    "a field of a Collection": [ITEMS, note("$c.title", "$y")],
    "a field within a wrapper of a Collection": [ITEMS, note("$c.items[0].title", "$y")],
    "a sum of texts": [
        {"type": "create-collection", "value": [{"a": "x"}], "out": "$c"},
        over("group", "$c", by=["a"], aggregates={"s": "sum(a)"}),
    ],
    "a sort by what is not there": [ITEMS, over("sort", "$c", by="titel")],
    "a filter that compares two types": [ITEMS, over("filter-structured", "$c", where="n > 'a'")],
    "a projection of what is not there": [ITEMS, over("project", "$c", fields={"a": "titel", "b": "zebra"})],
    "a join on keys that are not there": [
        ITEMS,
        over("join", "$c", value="$c", left_key="titel", right_key="zebra"),
    ],
    "a query of a column that is not there": [ITEMS, {"type": "query", "sql": "SELECT titel FROM $c", "out": "$o"}],
    "a query of a table that is not there": [{"type": "query", "sql": "SELECT a FROM $nobody", "out": "$o"}],
    "a query that is none": [ITEMS, {"type": "query", "sql": "DELETE FROM $c", "out": "$o"}],
    "an expression over a text": [note("a"), {"type": "compute", "expression": "$x * 2", "out": "$o"}],
    "an expression with a bare name": [NOTE, {"type": "compute", "expression": "x.n + 1", "out": "$o"}],
    "an expression that is open": [NOTE, {"type": "compute", "expression": "($x.n + 1", "out": "$o"}],
    "a text that looks like a variable": [NOTE, {"type": "say", "value": "it is {x.title} or $x.title"}],
    "a text in capitals that looks like a variable": [NOTE, {"type": "load", "target": "$PATH", "out": "$y"}],
    "a type of earlier with what is not bound, and its result": [
        {"type": "search-notes", "query": "${nobody}", "zebra": 1, "out": "$y"},
        note("$y[0].zebra", "$z"),
        {"type": "evaluate", "expression": "$z +", "out": "$n"},
        {"type": "display", "value": "$n.zebra"},
    ],
    "a property that no note has": [{"type": "discover-notes", "where": "metadata.moood = 'calm'", "out": "$o"}],
    "a value that no note has": [{"type": "discover-notes", "where": "metadata.mood = 'wild'", "out": "$o"}],
    "a property that the plan itself gives": [
        note("t", name="n", metadata={"zeal": 1}),
        {"type": "discover-notes", "where": "metadata.zeal = 1", "out": "$o"},
        {"type": "size", "target": "$nobody", "out": "$n"},
    ],
    "a property that the plan itself gives by a variable": [
        ASKED,
        note("t", name="n", metadata="$q"),
        {"type": "discover-notes", "where": "metadata.done = TRUE", "out": "$o"},
        {"type": "size", "target": "$nobody", "out": "$n"},
    ],
    "a property that the plan itself sets by a variable": [
        ASKED,
        {"type": "set-metadata", "target": "taken", "value": "$q"},
        {"type": "discover-notes", "where": "metadata.done = TRUE", "out": "$o"},
        {"type": "size", "target": "$nobody", "out": "$n"},
    ],
}
PLANS = {
    **{f"mended: {name}": plan for name, (plan, _, _) in MENDED.items()},
    **{f"hopeless: {name}": plan for name, (plan, _, _) in HOPELESS.items()},
    **MORE,
}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A space with a Note named `taken`, a saved plan and a tool."""
    with open_space(tmp_path_factory.mktemp("told") / "space.db") as space:
        assert run_sync(space, [note("v", name="taken", metadata={"mood": "calm"})]).status == "success"
        save_plan(space, "saved", SAVED)
        sky = LocalTools("sky")

        @sky.tool(read_only=True)
        def weather(city: str, days: int = 1) -> Weather:
            """Say how warm it is."""
            return Weather(city=city, degrees=20.5 * days)

        @sky.tool(destructive=True)
        def rain() -> bool:
            """Let it rain."""
            return True

        space.tools.add(sky)
        yield space


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """What is to be told of each plan."""
    return dict(json.loads(TOLD.read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", PLANS)
def test_what_is_told_of_a_wrong_plan(known: Space, written: dict[str, Any], case: str) -> None:
    """Each problem with all that it says, in its order."""
    told = [problem.to_json() for problem in check_plan(known, PLANS[case])[1].found]
    if os.environ.get("INFOSPACE_TOLD") and written.get(case) != told:
        everything = json.loads(TOLD.read_text(encoding="utf-8"))
        everything[case] = told
        kept = {name: everything[name] for name in PLANS if name in everything}
        TOLD.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        pytest.fail("written anew: look at it, then run again without INFOSPACE_TOLD")
    assert told == written[case]


def test_nothing_is_written_of_a_plan_that_is_not_there(written: dict[str, Any]) -> None:
    """Each entry belongs to a plan, and each plan has problems."""
    assert list(written) == list(PLANS)
    assert [case for case, told in written.items() if not told] == []
