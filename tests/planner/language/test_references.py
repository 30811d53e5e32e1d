"""The section "References" of the language, sentence by sentence."""

from __future__ import annotations

import doctest
import re
import sys
from types import FrameType
from typing import Any

import pytest

from infospace import Space
from infospace.core.bounds import OutOfTime, ending
from planner.execute.arguments import Resolver
from planner.execute.start import run_sync
from planner.execute.variables import Scope
from planner.language import references


def note(value: Any, out: str = "$x", **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def collection(value: Any, out: str = "$c") -> dict[str, Any]:
    return {"type": "create-collection", "value": value, "out": out}


def data(result: Any) -> Any:
    assert result.status == "success", (result.reason, result.problems)
    return None if result.result is None else result.result.data


# Resources and values


def test_as_a_resource_a_variable_means_the_thing(run: Any) -> None:
    """`bind` gives the same resource, not a copy."""
    result = run(note(1), {"type": "bind", "target": "$x", "out": "$y"})
    assert result.bindings["x"].id == result.bindings["y"].id


def test_as_a_resource_an_item_means_the_item(run: Any) -> None:
    """`$c[0]` is the Note itself."""
    result = run(note(1), collection(["$x"]), {"type": "bind", "target": "$c[0]", "out": "$y"})
    assert result.bindings["x"].id == result.bindings["y"].id


def test_as_a_resource_an_id_means_the_thing(run: Any) -> None:
    """What an earlier run made is reached by its id."""
    made = run(note("kept")).result.resource_id
    assert data(run({"type": "load", "target": made})) == "kept"


def test_as_a_resource_a_name_means_the_thing(run: Any) -> None:
    """A name stands where an id could."""
    run(note("kept", name="the name"))
    assert data(run({"type": "load", "target": "the name"})) == "kept"


def test_as_a_resource_a_place_makes_a_transient_note_of_it(run: Any, space: Space) -> None:
    """`$x.title` becomes a Note of its own, which nobody keeps."""
    result = run(note({"title": "T"}), {"type": "bind", "target": "$x.title", "out": "$t"})
    assert data(result) == "T"
    with space.store.reading() as snapshot:
        made = snapshot.get(result.bindings["t"].id)
    assert made.id != result.bindings["x"].id
    assert not made.kept


def test_a_transient_note_of_a_place_has_no_metadata(run: Any) -> None:
    """Nothing of the resource goes along."""
    steps = note({"title": "T"}, metadata={"k": 1}), {"type": "bind", "target": "$x.title", "out": "$t"}
    assert data(run(*steps, note("$t.@metadata", "$m"))) == {}


def test_as_a_value_a_variable_is_the_notes_json(run: Any) -> None:
    """Type and structure are kept."""
    assert data(run(note({"a": [1, None, True]}), note({"b": "$x"}, "$y"))) == {"b": {"a": [1, None, True]}}


def test_as_a_value_a_collection_is_the_list_of_its_contents(run: Any) -> None:
    """Collections in Collections too."""
    steps = collection([1, {"a": 2}]), collection(["$c", "t"], "$d"), note("$d", "$v")
    assert data(run(*steps)) == [[1, {"a": 2}], "t"]


def test_a_value_must_already_have_the_wanted_type(errors: Any) -> None:
    """Nothing is converted: text is no count."""
    plan = [note("3"), collection([1]), {"type": "head", "target": "$c", "count": "$x", "out": "$h"}]
    assert [(p.code, p.pointer) for p in errors(plan)] == [("bad-argument", "/2/count")]


def test_a_value_of_unknown_type_is_validated_when_the_step_starts(run: Any) -> None:
    """The reason begins with `unchecked:`."""
    plan = {
        "inputs": {"n": {}},
        "steps": [collection([1]), {"type": "head", "target": "$c", "count": "$n", "out": "$h"}],
    }
    result = run(plan, n="many")
    assert result.status == "failed"
    assert result.steps[1].reason.startswith("unchecked: ")
    assert data(run(plan, n=1)) == [1]


def test_ids_and_names_are_plain_text_in_values(run: Any) -> None:
    """A text that is an id, or a name, is that text."""
    made = run(note("kept", name="the name")).result.resource_id
    assert data(run(note({"id": made, "name": "the name"}))) == {"id": made, "name": "the name"}


# Paths


def test_a_path_goes_through_keys_odd_keys_and_positions(run: Any) -> None:
    """`.key`, `["any key"]`, `[3]`, `[-1]`."""
    value = {"a": {"odd key": [{"z": 1}, {"z": 2}]}}
    assert data(run(note(value), note(['$x.a["odd key"][0].z', '$x.a["odd key"][-1].z'], "$y"))) == [1, 2]


def test_a_position_after_a_collection_is_an_item_and_after_content_an_element(run: Any) -> None:
    """The same brackets for both, one after the other."""
    assert data(run(collection([[7, 8], [9]]), note("$c[0][-1]"))) == 8


def test_the_first_key_is_a_content_key(run: Any) -> None:
    """Even when it is called metadata."""
    assert data(run(note({"metadata": {"k": "content"}}, metadata={"k": "own"}), note("$x.metadata.k"))) == "content"


def test_metadata_is_the_notes_own_when_the_content_has_no_such_key(run: Any) -> None:
    """That is so for text, too."""
    assert data(run(note("text", metadata={"k": "own"}), note("$x.metadata.k"))) == "own"


def test_a_key_with_an_at_always_means_the_resource(run: Any) -> None:
    """`@metadata`, `@id`, `@name`, `@created`, `@updated`."""
    value = {"metadata": {"k": "content"}}
    paths = ["$x.@metadata.k", "$x.@id", "$x.@name", "$x.@created", "$x.@updated"]
    result = run(note(value, metadata={"k": "own"}, name="n"), note(paths, "$y"))
    found = data(result)
    assert found[:3] == ["own", result.bindings["x"].id, "n"]
    assert all(time.endswith("Z") for time in found[3:])


def test_content_is_a_text_notes_text(run: Any) -> None:
    """And only a text Note's."""
    assert data(run(note("abc"), note("$x.content"))) == "abc"


def test_there_is_no_other_fall_back(errors: Any) -> None:
    """A key of the metadata is no key of the content; the hint says where it is."""
    [problem] = errors([note({"a": 1}, metadata={"title": "T"}), note("$x.title", "$y")])
    assert (problem.code, problem.pointer, problem.hint) == (
        "unknown-field",
        "/1/value",
        "did you mean `metadata.title`?",
    )
    assert problem.fix == [{"op": "replace", "path": "/1/value", "value": "$x.metadata.title"}]


# What does not exist


def test_a_missing_key_fails_the_step_and_says_which_there_are(run: Any) -> None:
    """Where the schema is not known before, the run says it."""
    plan = {"inputs": {"o": {"type": "object"}}, "steps": [note("$o.titel", "$y")]}
    result = run(plan, o={"title": 1, "n": 2})
    assert result.status == "failed"
    assert "has no key 'titel'" in result.steps[0].reason
    assert "title" in result.steps[0].reason
    assert "n" in result.steps[0].reason


def test_an_index_out_of_range_fails_the_step_and_says_how_many_there_are(run: Any) -> None:
    """Of a list and of a Collection that the check does not know."""
    result = run(
        note("[1, 2]", "$t"), {"type": "coerce", "target": "$t", "coercion": "json", "out": "$x"}, note("$x[2]", "$y")
    )
    assert "2 items" in result.reason
    result = run(collection([1]), {"type": "head", "target": "$c", "out": "$d"}, note("$d[1]", "$y"))
    assert "has 1 item" in result.reason


def test_json_null_exists(run: Any) -> None:
    """A null is a value, `bound` and not missing."""
    steps = (
        note({"a": None}),
        {"type": "if", "condition": {"type": "bound", "target": "$x.a"}, "then": [note("$x.a", "$y")]},
    )
    result = run(*steps)
    assert result.status == "success"
    assert result.result.data is None
    assert result.result.resource_id is not None


# Templates


@pytest.mark.parametrize(
    ("value", "text"),
    [("plain", "plain"), (3, "3"), (None, "null"), (True, "true"), ({"a": [1, "é"]}, '{"a":[1,"é"]}'), ([], "[]")],
)
def test_a_template_gives_text_as_is_and_other_json_compactly(run: Any, value: Any, text: str) -> None:
    """No quotes around text, no spaces in JSON."""
    assert data(run(note({"v": value}), note("<${x.v}>", "$y"))) == f"<{text}>"


def test_a_collection_in_a_template_is_its_items_joined_by_a_blank_line(run: Any) -> None:
    """Each item by its own text."""
    assert data(run(collection(["a", 1, {"k": 2}]), note("${c}", "$y"))) == 'a\n\n1\n\n{"k":2}'


def test_substituted_text_is_not_read_again(run: Any) -> None:
    """A text with a reference in it stays that text."""
    assert data(run(note("$$x and ${$}{y}"), note("<${x}>", "$y"))) == "<$x and ${y}>"


def test_a_string_that_is_exactly_a_template_is_text(run: Any) -> None:
    """`${x}` of 3 is "3"."""
    assert data(run(note(3), note("${x}", "$y"))) == "3"


def test_a_string_that_is_exactly_a_variable_is_the_value(run: Any) -> None:
    """`$x` of 3 is 3."""
    assert data(run(note(3), note("$x", "$y"))) == 3


def test_references_are_resolved_at_any_depth(run: Any) -> None:
    """In lists and objects, with the rest left as it is."""
    value = {"a": [{"b": ["$x", "${x}!", 5]}]}
    assert data(run(note(3), note(value, "$y"))) == {"a": [{"b": [3, "3!", 5]}]}


def test_keys_are_literal(run: Any) -> None:
    """A key may look like a reference."""
    assert data(run(note(3), note({"$x": 1, "${x}": 2}, "$y"))) == {"$x": 1, "${x}": 2}


# The dollar


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("$$name", "$name"),
        ("$${x}", "$3"),
        ("costs $${x}, not $$x", "costs $3, not $x"),
        ("$$${x}", "$$3"),
        ("${$}", "$"),
        ("${$}{x}", "${x}"),
        ("${$}${x}", "$3"),
        ("Pa$$w0rd", "Pa$$w0rd"),
        ("US$x", "US$x"),
        ("é$x 1$x", "é$x 1$x"),
        ("$$name$x", "$name$x"),
        ("US${x}", "US3"),
        ("costs $5", "costs $5"),
        (r"^\d+$", r"^\d+$"),
        ("$", "$"),
        ("$ x", "$ x"),
        ("a$$b ${x}", "a$$b 3"),
        ("$$$x", "$$$x"),
        ("$é", "$é"),
    ],
)
def test_a_dollar_before_anything_but_a_name_is_itself(run: Any, written: str, text: str) -> None:
    """And two dollars that begin a word are one; after a letter, a digit or a dollar one is itself."""
    assert data(run(note(3), note(written, "$y"))) == text


@pytest.mark.parametrize("written", ["it is $x", "$x is it", "$x and $$y", "Total: $x EUR", "${x}, so $x, too"])
def test_a_bare_variable_in_a_longer_string_is_an_error_that_offers_both_ways(errors: Any, written: str) -> None:
    """The hint has `${x}` for its text and `$$x` for the text `$x`; the fix writes the first."""
    [problem] = errors([note(3), note(written, "$y")])
    assert (problem.code, problem.pointer) == ("bare-variable", "/1/value")
    assert "`${x}`" in problem.hint
    assert "`$$x`" in problem.hint
    assert problem.fix[0]["value"] == re.sub(r"(?<!\$)\$x", "${x}", written, count=1)


@pytest.mark.parametrize(
    "written",
    ["$x + 1", "2 * $x", "{{$x}}", "<$x>", "[$x]", "len($x)", "`$x`", "$x|trim", "$x.", "$x$x", "_$x", "$x - 1"],
)
def test_a_computation_or_a_decoration_does_not_become_text(errors: Any, written: str) -> None:
    """Nobody wants to read what stands around the variable: both ways are hints, and neither is a fix."""
    [problem] = errors([note(3), note(written, "$y")])
    assert (problem.code, problem.fix) == ("bare-variable", None)
    assert "`${x}`" in problem.hint


@pytest.mark.parametrize("written", ["${}", "${1}", "${x", "${x y}", "${x.}", "$x[", "$x[a]"])
def test_a_reference_that_is_not_well_formed_is_an_error(errors: Any, written: str) -> None:
    """There is no guessing what was meant."""
    assert [p.code for p in errors([note(3), note(written, "$y")])] == ["bad-reference"]


def test_an_unbound_variable_is_an_error_before_anything_runs(run: Any) -> None:
    """At any depth; nothing is run."""
    result = run(note(3), note({"deep": ["${zzz}"]}, "$y"))
    assert result.status == "refused"
    assert result.run is None
    assert [(p.code, p.pointer) for p in result.problems] == [("unbound-variable", "/1/value/deep/0")]


# What is literal


def test_goal_expect_and_id_are_literal(run: Any) -> None:
    """A dollar means nothing there."""
    plan = {"goal": "$x ${y}", "steps": [{"type": "say", "value": "hi", "expect": "$zz ${x", "id": "a-b"}]}
    result = run(plan)
    assert result.status == "success"
    assert (result.steps[0].expect, result.steps[0].position) == ("$zz ${x", "a-b")


def test_inputs_are_literal(run: Any) -> None:
    """A default that looks like a reference is that text."""
    plan = {"inputs": {"t": {"type": "string", "default": "$t"}}, "steps": [note("$t", "$y")]}
    assert data(run(plan)) == "$t"
    assert data(run(plan, t="${t}")) == "${t}"


def test_schema_and_pattern_are_literal(run: Any) -> None:
    """`$` is an anchor in a pattern; `const` may be a dollar name."""
    for condition in (
        {"type": "matches_pattern", "target": "$x", "pattern": "^abc$"},
        {"type": "validates", "target": "$d", "schema": {"const": "$zz"}},
    ):
        steps = note("abc"), note("$$zz", "$d"), {"type": "if", "condition": condition, "then": [note("yes", "$y")]}
        assert data(run(*steps)) == "yes"


def test_out_as_and_collect_hold_one_variable_and_are_not_read(errors: Any) -> None:
    """A path, a template or a bare word there is an error; of a word the fix is known."""
    for written in ("x", "$x.a", "${x}", "$1", ""):
        problems = errors([note(1, written)])
        assert [(p.code, p.pointer) for p in problems] == [("bad-variable", "/0/out")], written
    [problem] = errors([note(1, "x")])
    assert problem.fix == [{"op": "replace", "path": "/0/out", "value": "$x"}]
    body = [note("$item", "$t")]
    problems = errors([collection([1]), {"type": "for-each", "target": "$c", "as": "item", "do": body, "collect": "t"}])
    assert {p.pointer for p in problems} == {"/1/as", "/1/collect"}


# In `where`


def test_a_variable_in_where_is_a_typed_parameter(run: Any) -> None:
    """A text with quotes in it is compared, not pasted; a number is a number."""
    steps = [note({"t": "it's", "n": 2}), collection([{"t": "it's", "n": 2}, {"t": "its", "n": "2"}])]
    for where in ("t = $x.t", "n = $x.n", "t = $x.t AND n = $x.n"):
        result = run(*steps, {"type": "filter-structured", "target": "$c", "where": where})
        assert data(result) == [{"t": "it's", "n": 2}]


def test_a_template_in_where_is_an_error_whose_hint_says_the_variable(errors: Any) -> None:
    """Pasting into SQL is not offered."""
    plan = [note(1), collection([{"n": 1}]), {"type": "filter-structured", "target": "$c", "where": "n = ${x}"}]
    [problem] = errors(plan)
    assert (problem.code, problem.pointer) == ("bad-where", "/2/where")
    assert "$x" in f"{problem.message} {problem.hint}"


def test_a_parameter_of_where_that_is_not_bound_is_an_error(errors: Any) -> None:
    """As anywhere else."""
    plan = [collection([{"n": 1}]), {"type": "filter-structured", "target": "$c", "where": "n = $zz"}]
    assert [(p.code, p.pointer) for p in errors(plan)] == [("unbound-variable", "/1/where")]


# Search results


def test_a_search_result_in_a_template_is_its_text(space: Space) -> None:
    """As a value it is its whole content; its metadata is its content's."""
    assert run_sync(space, [note("Cats purr.", name="cats", metadata={"title": "Cats"})]).status == "success"
    steps = [
        {"type": "discover-notes", "query": "purring cats", "out": "$hits"},
        note(
            {"t": "${hits[0]}", "c": "$hits[0].metadata.title", "s": "$hits[0].text", "o": "$hits[0].@metadata"}, "$y"
        ),
    ]
    assert data(run_sync(space, steps)) == {"t": "Cats purr.", "c": "Cats", "s": "Cats purr.", "o": {}}


def test_the_examples_run() -> None:
    ran = doctest.testmod(references)
    assert (ran.failed, ran.attempted > 0) == (0, True)


def test_each_value_is_looked_at_once_however_deep_it_stands() -> None:
    """Strings 150 deep take few calls each, and are told in their order, with their places."""
    deep: Any = {"b": [f"text {index}" for index in range(100)], "a": "last"}
    for _ in range(150):
        deep = [[], deep, {}]
    calls = 0

    def counted(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        found = list(references.strings(deep))
    finally:
        sys.setprofile(None)
    inside = (1,) * 150
    assert found == [*(((*inside, "b", index), f"text {index}") for index in range(100)), ((*inside, "a"), "last")]
    assert calls < 8_000


def test_what_is_read_into_a_list_ends_with_its_time(space: Space) -> None:
    """Each reference in a list looks at the clock before it is read, as each may mean much content."""
    view = space.context()
    scope = Scope()
    scope.bind("x", view.note("read").id)
    resolver = Resolver(view, scope)
    assert resolver.value(["$x", {"k": "$x"}]) == ["read", {"k": "read"}]
    with ending(0.0), pytest.raises(OutOfTime):
        resolver.value(["$x", {"k": "$x"}])
