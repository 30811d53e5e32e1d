"""What is often written for something else is told with what would have fitted: one mistake, one problem."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan
from planner.repair.where_text import suggest_where

sys.path.insert(0, str(Path(__file__).parents[1]))
from plangen.mistakes import note

R = note({"total": 3, "items": [{"id": "a", "n": {"k": 1}}, {"id": "b", "n": {"k": 2}}], "tags": ["a"]}, "$r")
ROWS = {"type": "create-collection", "value": [{"id": "a"}, {"id": "b"}], "out": "$rows"}
INDEX = "[0] is the first item, [-1] the last; `pluck` takes a field of all"
PLUCK = '{"type": "pluck", "target": "$r.items", "field": "id", "out": "$all"}'


@pytest.mark.parametrize(
    ("written", "code", "hint"),
    [
        ("$r.items.id", "unknown-field", f"`$r.items[0].id` is that of the first; of all: {PLUCK}"),
        ("${r.items.id}", "unknown-field", f"`$r.items[0].id` is that of the first; of all: {PLUCK}"),
        (
            "$r.items.n.k",
            "unknown-field",
            f"`$r.items[0].n.k` is that of the first; of all: {PLUCK.replace('id', 'n.k')}",
        ),
        ("$r.items[*].id", "bad-reference", INDEX),
        ("${r.items[].id}", "bad-reference", INDEX),
        ("$rows[*].id", "bad-reference", INDEX),
        ("$r.items[0:2]", "bad-reference", '`load` takes a slice of items: "slice": "0:2"'),
        ("$r.items.length", "unknown-field", '`size` counts: {"type": "size", "target": "$r.items", "out": "$n"}'),
        ("$rows.length", "unknown-field", '`size` counts: {"type": "size", "target": "$rows", "out": "$n"}'),
        ("$rows.id", "unknown-field", "an item is $rows[0]; all of a field: `pluck`"),
        ("$r[0].total", "unknown-field", "$r is not a list: write `$r.total`"),
        ("$AAPL", "unbound-variable", "bound here: $r, $rows; `$$AAPL` is the text `$AAPL`"),
    ],
)
def test_a_place_that_is_written_as_elsewhere_is_told_with_how_it_is_written_here(
    space: Space, written: str, code: str, hint: str
) -> None:
    """One error."""
    steps = [R, ROWS, {"type": "say", "value": written}]
    [problem] = [one for one in check_plan(space, steps)[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer, problem.hint, problem.fix) == (code, "/2/value", hint, None)


WEATHER = LocalTools("sky")
"""A server whose tool takes a text."""


@WEATHER.tool(read_only=True)
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return city


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ({"title": "Oslo", "n": 1}, "write `$x.title`: no other field of $x fits"),
        ({"title": "Oslo", "name": "o", "n": 1}, "its fields that fit: `$x.title`, `$x.name`"),
        ({"title": "Oslo", "name": "o", "of": "n", "n": 1}, "its fields that fit: `$x.title`, `$x.name`, `$x.of`"),
    ],
)
def test_an_object_where_a_text_is_wanted_is_told_with_its_texts(space: Space, value: Any, hint: str) -> None:
    """With a fix where there is but one."""
    space.tools.add(WEATHER)
    steps = [note(value, "$x"), {"type": "sky/weather", "arguments": {"city": "$x"}, "out": "$w"}]
    [problem] = check_plan(space, steps)[1].found
    assert (problem.code, problem.hint, problem.fix is None) == ("bad-argument", hint, len(value) > 2)


LISTS = "a list stands after IN, in parentheses: IN ('a', 'b'); elsewhere it is a variable, or split('a,b', ',')"


@pytest.mark.parametrize(
    ("step", "code", "hint"),
    [
        ({"type": "filter-structured", "target": "$rows", "where": 'id = ["Oslo"]'}, "unknown-field", '["Oslo"]'),
        ({"type": "filter-structured", "target": "$rows", "where": "id = ['Oslo']"}, "unknown-field", "['Oslo']"),
        ({"type": "project", "target": "$rows", "fields": {"v": '["Oslo"]'}}, "unknown-field", '["Oslo"]'),
        ({"type": "compute", "expression": '["Oslo"]'}, "bad-expression", '["Oslo"]'),
        ({"type": "wait", "condition": 'contains(["Oslo"], $r.total)'}, "bad-expression", '["Oslo"]'),
    ],
)
def test_a_list_of_one_text_in_an_expression_is_told_to_be_a_key(
    space: Space, step: dict[str, Any], code: str, hint: str
) -> None:
    """And how a list is written."""
    [problem] = [one for one in check_plan(space, [R, ROWS, step])[1].found if one.severity == "error"]
    assert (problem.code, problem.hint, problem.fix) == (code, f"{hint} is the key 'Oslo' of an item; {LISTS}", None)


def test_a_path_of_a_known_key_in_brackets_is_no_list(space: Space) -> None:
    """Neither is a wrong key further in, which keeps its own hint."""
    right = {"type": "filter-structured", "target": "$rows", "where": "[\"id\"] = 'a'"}
    wrong = {"type": "filter-structured", "target": "$rows", "where": "id[\"Oslo\"] = 'a'"}
    assert not [one for one in check_plan(space, [R, ROWS, right])[1].found if one.severity == "error"]
    [problem] = [one for one in check_plan(space, [R, ROWS, wrong])[1].found if one.severity == "error"]
    assert LISTS not in (problem.hint or "")


def _if(**condition: Any) -> dict[str, Any]:
    return {"type": "if", "condition": condition, "then": [note("yes", "$y")], "else": [note("no", "$y")]}


@pytest.mark.parametrize(
    ("target", "value", "outcome"),
    [
        ("$r", "total", "yes"),
        ("$r", "none", "no"),
        ("$r.tags", "a", "yes"),
        ("$r.items", {"id": "a", "n": {"k": 1}}, "yes"),
        ("$r.items", {"id": "a"}, "no"),
        ("$rows", {"id": "a"}, "yes"),
        ("$rows", "$rows[0]", "yes"),
    ],
)
def test_contains_looks_for_a_key_an_equal_element_or_an_item(run: Any, target: str, value: Any, outcome: str) -> None:
    """By what the target is."""
    done = run(R, ROWS, _if(type="contains", target=target, value=value))
    assert done.result.data == outcome


@pytest.mark.parametrize(
    ("target", "value", "place", "sentence"),
    [
        ("$r.total", "a", "target", "contains looks into a text, a list, an object or a Collection, and this is none"),
    ],
)
def test_contains_of_anything_else_is_an_error_where_that_is_known_and_fails_where_not(
    space: Space, run: Any, target: str, value: Any, place: str, sentence: str
) -> None:
    """The check says so; where nothing is known, the step fails."""
    steps = [R, _if(type="contains", target=target, value=value)]
    [problem] = [one for one in check_plan(space, steps)[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer, problem.message) == ("bad-condition", f"/1/condition/{place}", sentence)
    plan = {"inputs": {"r": {}}, "steps": [_if(type="contains", target=target, value=value)]}
    done = run(plan, r={"total": 3})
    assert done.status == "failed"
    assert "contains looks" in done.steps[0].reason


@pytest.mark.parametrize("target", ["$r", "$r.items", "$r.items[0]", "$rows"])
def test_a_pattern_is_looked_for_in_text_alone(space: Space, run: Any, target: str) -> None:
    """Of an object, a list, a Collection: an error where it is known, a failure where not."""
    condition = _if(type="matches_pattern", target=target, pattern="a")
    [problem] = [one for one in check_plan(space, [R, ROWS, condition])[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer) == ("bad-condition", "/2/condition/target")
    done = run({"inputs": {"r": {}, "rows": {}}, "steps": [condition]}, r={"items": [{"id": "a"}]}, rows=[{"id": "a"}])
    assert done.status == "failed"
    assert "matches_pattern looks into a text" in done.steps[0].reason


def test_a_text_that_no_element_of_a_list_of_objects_can_equal_is_doubted(space: Space) -> None:
    """A warning: the condition has an answer, which is no."""
    for target in ("$r.items", "$rows"):
        steps = [R, ROWS, _if(type="contains", target=target, value="a")]
        [doubt] = [one for one in check_plan(space, steps)[1].found if one.code == "bad-condition"]
        assert (doubt.severity, doubt.pointer) == ("warning", "/2/condition/value")
        assert doubt.message == "contains looks for an equal element: each is an object, and this is text"
        assert doubt.hint == "`pluck` makes a list of one field of them"


@pytest.mark.parametrize(
    ("where", "hint", "meant"),
    [
        ("id IN ($list)", "`id IN $list` asks whether the list has it", "id IN $list"),
        ("id < CURRENT_DATE", "it is written today(); a field of that name is written `CURRENT_DATE`", "id < today()"),
        ("id < today", "`today()` is a function", None),
        ("id = open", "there is id, metadata", None),
    ],
)
def test_a_condition_on_items_that_can_find_nothing_is_an_error(
    space: Space, where: str, hint: str, meant: str | None
) -> None:
    """A list in brackets, a word of SQL, a bare word that no item has."""
    filter_ = {"type": "filter-structured", "target": "$rows", "where": where, "out": "$f"}
    steps = [ROWS, note(["a"], "$list"), filter_]
    [problem] = [one for one in check_plan(space, steps)[1].found if one.severity == "error"]
    assert (problem.pointer, problem.hint) == ("/2/where", hint)
    assert (problem.fix and problem.fix[0]["value"]) == meant


@pytest.mark.parametrize(
    ("where", "meant"),
    [
        # references in quotes
        ("id = '${x}'", "id = $x"),
        ('id = "${ x }" AND id != ${x}', "id = $x AND id != $x"),
        ("id LIKE '%${x}%'", "id LIKE '%' || $x || '%'"),
        ("id LIKE 'it''s ${x}${x}.' ESCAPE '!'", "id LIKE 'it''s ' || $x || $x || '.' ESCAPE '!'"),
        ('id = "$x ${x}"', 'id = "$x " || $x'),
        # signs
        ("id = 'R&&D' && id > 'a  ||  b'", "id = 'R&&D' AND id > 'a  ||  b'"),
        ("id === 'a===b'&&id = 'b'", "id = 'a===b' AND id = 'b'"),
        ("id = 'a' || id = 'b' && id > \"'||'\"", "id = 'a' OR id = 'b' AND id > \"'||'\""),
        ("id || '-' || id = 'a-a' && id = 'a'", "id || '-' || id = 'a-a' AND id = 'a'"),
        ("id || 'x' = 'ax' && id = 'a'", None),
        ("id => 'a=>b' AND id =< '=<'", "id >= 'a=>b' AND id <= '=<'"),
        # parentheses
        ("(id = ':)' OR id = 'a'", None),
        ("lower(id) = lower(':) and :)'", "lower(id) = lower(':) and :)')"),
        ("lower(id)) = '(('", "(lower(id)) = '(('"),
    ],
)
def test_a_condition_on_items_that_is_written_as_elsewhere_is_mended_outside_of_its_quotes(
    space: Space, where: str, meant: str | None
) -> None:
    """What is quoted says what it said; where two things may be meant, there is no fix."""
    filter_ = {"type": "filter-structured", "target": "$rows", "where": where, "out": "$f"}
    steps = [ROWS, note("a", "$x"), filter_]
    [problem] = [one for one in check_plan(space, steps)[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer) == ("bad-where", "/2/where")
    assert problem.fix == (None if meant is None else [{"op": "replace", "path": "/2/where", "value": meant}])


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("$x = 'R  && D' && $x > 'a'", "$x = 'R  && D' AND $x > 'a'"),
        ("$x = 'a||b' || $x === '===' && $x > 'a'", "$x = 'a||b' OR $x = '===' AND $x > 'a'"),
        ("$x || '-' || $x = 'a-a' && $x = 'a'", "$x || '-' || $x = 'a-a' AND $x = 'a'"),
        ("$x || 'x' = 'ax' && $x = 'a'", None),
    ],
)
def test_a_condition_with_signs_of_other_languages_is_mended_outside_of_its_quotes(
    space: Space, condition: str, meant: str | None
) -> None:
    """As a `where` is."""
    steps = [note("a", "$x"), {"type": "if", "condition": condition, "then": [{"type": "say", "value": "yes"}]}]
    [problem] = [one for one in check_plan(space, steps)[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer) == ("bad-expression", "/1/condition")
    assert problem.fix == (None if meant is None else [{"op": "replace", "path": "/1/condition", "value": meant}])


@pytest.mark.parametrize(
    ("type_", "by", "content"),
    [
        ("intersection", "content", ["b", "c"]),
        ("intersection", None, []),
        ("difference", "content", ["a"]),
        ("difference", None, ["a", "b", "c"]),
        ("union", "content", ["a", "b", "c", "d"]),
    ],
)
def test_sets_of_split_lists_go_by_identity_or_by_content(run: Any, type_: str, by: str | None, content: Any) -> None:
    """`split` makes new Notes each time; lists that stand there are compared by content."""
    one, other = note(["a", "b", "c"], "$x"), note(["b", "c", "d"], "$z")
    splits = [{"type": "split", "target": f"${name}", "out": f"${name}s"} for name in "xz"]
    extra = {} if by is None else {"by": by}
    done = run(one, other, *splits, {"type": type_, "target": "$xs", "value": "$zs", "out": "$o", **extra})
    assert done.result.data == content
    if by == "content":
        done = run(one, other, {"type": type_, "target": "$x", "value": "$z", "out": "$o"})
        assert done.result.data == content


def test_distinct_of_a_split_list_goes_by_identity_or_by_content(run: Any) -> None:
    """Of one that stands there by content."""
    split = {"type": "split", "target": "$x", "out": "$xs"}
    made = note(["a", "a", "b"], "$x")
    assert run(made, split, {"type": "distinct", "target": "$xs", "out": "$o"}).result.data == ["a", "a", "b"]
    by = {"type": "distinct", "target": "$xs", "by": "content", "out": "$o"}
    assert run(made, split, by).result.data == ["a", "b"]
    assert run(made, {"type": "distinct", "target": "$x", "out": "$o"}).result.data == ["a", "b"]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("query", '"arguments": {"query": …}'),
        ("retri", "did you mean 'retry'?"),
        ("max_page", "did you mean 'max_pages'?"),
    ],
)
def test_an_argument_of_a_tool_beside_pages_is_no_field_that_sounds_like_it(space: Space, key: str, hint: str) -> None:
    """Only a letter or two make it a field of the form."""
    step = {"type": "pages", "tool": "a/b", "arguments": {"cursor": "$page"}, "next": "n", "out": "$all", key: "x"}
    problems = check_plan(space, [step])[1].found
    assert [problem.hint for problem in problems if problem.pointer == f"/0/{key}"] == [hint]


@pytest.mark.parametrize(
    ("length", "hint"),
    [(3, '{"arguments":{"path":"xxx","mode":"r"}}'), (200, '"arguments": {"path": …, "mode": …}')],
)
def test_arguments_beside_a_tool_are_shown_where_they_stand_and_long_ones_by_their_keys(
    space: Space, length: int, hint: str
) -> None:
    step = {"type": "files/read", "path": "x" * length, "mode": "r", "out": "$t"}
    problems = check_plan(space, [step])[1].found
    assert [problem.hint for problem in problems if problem.pointer == "/0/path"] == [hint]


HOURS = {"type": "create-collection", "value": [{"who": "ann", "hours": 2}], "out": "$r"}
DESCRIBED = {"type": "create-collection", "value": [{"who": "ann", "desc": "x"}], "out": "$r"}
TABLE = {"inputs": {"r": {"kind": "Collection"}}}


@pytest.mark.parametrize(
    ("first", "fields", "severity", "hint", "meant"),
    [
        (HOURS, {"by": ["who", "desc"]}, "error", '["who desc"]', ["who desc"]),
        (
            HOURS,
            {"by": ["who", "DESC", "hours", "asc"]},
            "error",
            '["who desc","hours asc"]',
            ["who desc", "hours asc"],
        ),
        (HOURS, {"by": ["who", "hours", "desc"]}, "error", '"hours desc"', None),
        (HOURS, {"by": ["desc", "who"]}, "error", '"who desc"', None),
        (HOURS, {"by": ["who", "desc"], "order": "asc"}, "error", '"who desc"', None),
        (HOURS, {"by": ["who asc", "desc"]}, "error", '"who asc"', None),
        (None, {"by": ["who", "desc"]}, "warning", '["who desc"]', None),
        (DESCRIBED, {"by": ["who", "desc"]}, None, None, None),
    ],
)
def test_an_order_that_stands_as_a_key_of_its_own_is_fixed_where_it_is_no_field(
    space: Space, first: Any, fields: Any, severity: str | None, hint: str | None, meant: Any
) -> None:
    """Of items that are not known it is a doubt, and a field of that name is one."""
    steps = [{"type": "sort", "target": "$r", "out": "$s", **fields}, {"type": "say", "value": "$s"}]
    found = check_plan(space, {"steps": [first, *steps]} if first else {**TABLE, "steps": steps})[1].found
    if severity is None:
        assert found == []
        return
    [problem] = found
    assert (problem.severity, problem.code) == (severity, "unknown-field")
    assert str(problem.hint).endswith(f"of its key: {hint}")
    place = "/steps/1/by" if first else "/steps/0/by"
    word = next(at for at, key in enumerate(fields["by"]) if key.lower() in ("asc", "desc", "ascending", "descending"))
    assert problem.pointer == f"{place}/{word}"
    assert problem.fix == (None if meant is None else [{"op": "replace", "path": place, "value": meant}])


def told(space: Space, plan: Any, **more: Any) -> list[tuple[str, str, str | None, Any]]:
    """Return the errors of a plan: code, place, hint and fix."""
    found = check_plan(space, plan, **more)[1].found
    return [(one.code, one.pointer, one.hint, one.fix) for one in found if one.severity == "error"]


@pytest.mark.parametrize(("word", "orders"), [("ascending", [False, True]), ("descending", [True, False])])
def test_an_order_for_each_key_is_written_behind_the_keys(space: Space, word: str, orders: list[bool]) -> None:
    sort = {"type": "sort", "target": "$rows", "by": ["a", "b"], word: orders, "out": "$sorted"}
    rows = {"type": "create-collection", "value": [{"a": 1, "b": 2}], "out": "$rows"}
    fix = [{"op": "remove", "path": f"/1/{word}"}, {"op": "replace", "path": "/1/by", "value": ["a desc", "b asc"]}]
    assert told(space, [rows, sort]) == [
        ("unknown-argument", f"/1/{word}", "the last word of a key is its own order", fix)
    ]
    [(_, _, _, fix)] = told(space, [rows, sort | {"by": ["a", "b", "a"]}])
    assert fix is None, "not one order for each of the keys"
    [(_, _, _, fix)] = told(space, [rows, sort | {"by": ["a desc", "b"]}])
    assert fix is None, "a key has an order of its own"


def test_a_saved_plan_that_runs_itself_is_told_what_repeats_steps(space: Space) -> None:
    [(code, pointer, hint, _)] = told(space, {"steps": [{"type": "plan:new"}]}, saved_as="new")
    assert (code, pointer, hint) == ("plan-cycle", "/steps/0/type", "`while` and `for-each` repeat steps")


def test_a_label_that_is_also_an_input_is_no_missing_variable(space: Space) -> None:
    """`$n` is read, and is the input; without it, the label was meant to bind."""
    steps = [{"type": "create-note", "value": "x", "id": "n"}, {"type": "say", "value": "$n"}]
    assert told(space, {"inputs": {"n": {"type": "string"}}, "steps": steps}) == []
    fix = [{"op": "add", "path": "/steps/0/out", "value": "$n"}]
    assert told(space, {"steps": steps}) == [("missing-out", "/steps/0/id", '"out": "$n"', fix)]


@pytest.mark.parametrize("holder", ["server", "server_name", "mcp_server"])
def test_a_tool_that_is_named_beside_its_server_is_a_type(space: Space, holder: str) -> None:
    """In whichever field other systems name the server, it says which of two is meant, and goes with the fix."""

    async def fetch(url: str) -> str:
        """Fetch a page."""
        return url

    for name in ("files", "web"):
        server = LocalTools(name)
        server.tool(read_only=True)(fetch)
        space.tools.add(server)
    [(code, pointer, hint, fix)] = told(space, [{holder: "web", "tool": "fetch", "arguments": {"url": "u"}}])
    assert (code, pointer, hint) == ("missing-type", "/0", '"type": "web/fetch", not "tool"')
    assert {"op": "remove", "path": f"/0/{holder}"} in fix
    assert {"op": "replace", "path": "/0/type", "value": "web/fetch"} in fix


def test_variables_are_looked_for_in_what_a_verb_of_earlier_plans_has_no_argument_for(space: Space) -> None:
    """Its new name is the one thing to mend first; a variable that is not bound is told all the same."""
    found = told(space, [{"type": "search-notes", "query": "x", "other": "$nope", "out": "$hits"}])
    assert {(code, pointer) for code, pointer, _, _ in found} == {
        ("unknown-type", "/0/type"),
        ("unbound-variable", "/0/other"),
    }


def test_long_runs_of_spaces_are_looked_through_once() -> None:
    """Else these would take minutes."""
    blank = " " * 20_000
    assert suggest_where(f"a = ${{{blank}x{blank}}}") == "a = $x"
    assert suggest_where(f"a = 1{blank}&&{blank}b = 2") == "a = 1 AND b = 2"
    assert suggest_where(f"a = 1{blank}| |{blank}b = 2") is None


@pytest.mark.parametrize(
    ("step", "fix"),
    [
        ({"query": "gardens", "limit": 3}, None),
        ({"query": "selected works"}, None),
        ({"query": "select title from notes"}, "sql"),
        ({"query": "\n WITH n AS (SELECT title FROM notes) SELECT title FROM n"}, "sql"),
        ({"query": {"sql": "SELECT title FROM notes"}}, "sql"),
    ],
)
def test_a_step_of_a_query_is_one_of_sql_where_that_is_what_it_holds(
    space: Space, step: dict[str, Any], fix: str | None
) -> None:
    """Words to search for are not: several primitives search, and which was meant nobody knows."""
    [problem] = [one for one in check_plan(space, [{**step, "out": "$a"}])[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer) == ("missing-type", "/0")
    assert (problem.fix is not None and any(one["path"].endswith(f"/{fix}") for one in problem.fix)) == (
        fix is not None
    )
    assert problem.hint == ("the name of a primitive or a control form" if fix is None else '"type": "query"')
