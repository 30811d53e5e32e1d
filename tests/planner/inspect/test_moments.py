"""What variables were bound to, told from the journal, is what they were bound to."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Collection, Space, open_space
from infospace.tools.local import LocalTools
from planner.execute.start import Prepared, prepare, run_sync
from planner.inspect.step_arguments import step_arguments
from planner.inspect.variable_history import Binding, VariableHistory, scope_of
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, plan_of
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import files
from plangen.forms import Plans
from plangen.supplied import outlines, supply

COUNT = 60


def note(value: Any, out: str, **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def moments_of(space: Space, run: str) -> VariableHistory:
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(run), snapshot.steps(run)

    def members(identifier: str, version: int) -> list[str]:
        with space.store.reading() as snapshot:
            found = snapshot.get(identifier, version)
        assert isinstance(found, Collection)
        return [member.id for member in found.members]

    return VariableHistory(plan_of(row), row, rows, members)


def names(bindings: list[Binding]) -> dict[str, str]:
    return {binding.name: binding.id for binding in bindings}


def ended(space: Space, *steps: Any, **inputs: Any) -> tuple[RunResult, VariableHistory]:
    document = steps[0] if len(steps) == 1 and "steps" in steps[0] else {"steps": list(steps)}
    result = run_sync(space, document, inputs)
    return result, moments_of(space, str(result.run))


@pytest.fixture
def origin(tmp_path: Path, endpoint: Any) -> Path:
    """A supplied space to be copied, and a language model that answers what fits."""
    del endpoint
    path = tmp_path / "origin.db"
    with open_space(path) as space:
        supply(space)
    return path


def test_at_the_end_of_a_run_the_bindings_are_those_of_the_run(origin: Path, tmp_path: Path) -> None:
    """Over generated plans with all forms; what failed, was skipped or went on inside of a form does not count."""
    ran = bound = 0
    for seed in range(COUNT):
        path = tmp_path / f"{seed}.db"
        shutil.copy(origin, path)
        with open_space(path) as space:
            space.tools.add(files())
            plan, given = Plans(seed, outlines(space)).plan()
            if not isinstance(prepare(space, plan, given), Prepared):
                continue
            result = run_sync(space, plan, given)
            if result.status == "suspended":
                continue  # it is not at its end, and may wait within a saved plan, which has variables of its own
            moments = moments_of(space, str(result.run))
            own = {one.name: one.id for one in moments.after(len(moments)) if one.scope == ""}
            found = {name: resource.id for name, resource in result.bindings.items()}
            assert {name: own.get(name) for name in found} == found, (seed, plan, result.reason)
            others = {name: one for name, one in own.items() if name not in found}
            assert not any(map(space.context().has, others.values())), (seed, plan, others, result.reason)
            ran, bound = ran + 1, bound + len(found)
    assert ran > COUNT / 4, ran
    assert bound > ran, "plans that bind nothing show nothing"


def test_a_step_saw_what_was_bound_before_it(space: Space) -> None:
    """And not what came later under the same name."""
    result, moments = ended(space, note(1, "$x"), note(2, "$y"), note(3, "$x"))
    first, second, third = (str(row.resource) for row in result.steps)
    assert [names(moments.after(at)) for at in range(4)] == [
        {},
        {"x": first},
        {"x": first, "y": second},
        {"x": third, "y": second},
    ]
    assert names(moments.before("3")) == {"x": first, "y": second}
    assert names(moments.after(2)) == {"x": first, "y": second}, "going back is as going on"


def test_an_item_and_what_a_body_binds_are_seen_in_the_body_alone(space: Space) -> None:
    """Each round its own."""
    items = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
    each = {"type": "for-each", "target": "$c", "as": "$one", "do": [note("${one}!", "$loud")], "out": "$all"}
    result, moments = ended(space, items, each)
    seen = names(moments.after(moments.moment_of("2.do[2].1")))
    assert set(seen) == {"c", "one", "loud"}
    assert space.context().get(seen["one"]).content == "b"
    assert space.context().get(seen["loud"]).content == "b!"
    assert set(names(moments.after(len(moments)))) == {"c", "all"}
    assert [row.position for row in moments.ended] == ["1", "2.do[1].1", "2.do[2].1", "2"]
    assert names(moments.before("2")) == {"c": str(result.steps[0].resource)}


def test_branches_bind_for_what_comes_after_them(space: Space) -> None:
    """While they go on, each sees its own."""
    parallel = {"type": "parallel", "branches": [[note(1, "$x")], [note(2, "$y"), note(3, "$z")]]}
    _, moments = ended(space, parallel, note("${x}${z}", "$both"))
    assert set(names(moments.after(moments.moment_of("1.branches[2].2")))) == {"y", "z"}
    assert set(names(moments.after(moments.moment_of("1")))) == {"x", "y", "z"}


def test_a_saved_plan_sees_its_inputs_alone(space: Space) -> None:
    """And what it binds is not seen outside."""
    save_plan(space, "twice", {"inputs": {"of": {"type": "string"}}, "steps": [note("${of}${of}", "$r")]})
    _, moments = ended(space, note("x", "$a"), {"type": "plan:twice", "arguments": {"of": "$a"}, "out": "$b"})
    inside = names(moments.after(moments.moment_of("2/1")))
    assert set(inside) == {"of", "r"}
    assert space.context().get(inside["of"]).content == "x"
    assert set(names(moments.after(len(moments)))) == {"a", "b"}


def test_a_handler_sees_the_error(space: Space) -> None:
    """Only there."""
    lost = {"type": "coerce", "target": "$t", "coercion": "int", "out": "$n", "on_fail": [note("${error.kind}", "$n")]}
    _, moments = ended(space, note("none", "$t"), lost, note("${n}", "$m"))
    handled = moments.after(moments.moment_of("2.on_fail.1"))
    assert set(names(handled)) == {"t", "n", "error"}
    assert "error" not in names(moments.after(len(moments)))


def test_a_step_of_a_handler_makes_the_error_another_one_up_to_the_end_of_the_list(space: Space) -> None:
    """A saved plan that the list runs sees no error."""
    save_plan(space, "twice", {"inputs": {"of": {"type": "string"}}, "steps": [note("${of}${of}", "$r")]})
    called = {"type": "plan:twice", "arguments": {"of": "${error.kind}"}, "out": "$n"}
    handler = [called, note("other", "$error"), note("${error}!", "$m")]
    lost = {"type": "coerce", "target": "$t", "coercion": "int", "out": "$n", "on_fail": handler}
    result, moments = ended(space, note("none", "$t"), lost)
    made = {row.position: str(row.resource) for row in result.steps}
    assert set(names(moments.after(moments.moment_of("2.on_fail.1/1")))) == {"of", "r"}
    assert names(moments.before("2.on_fail.2"))["error"] not in made.values()
    assert names(moments.before("2.on_fail.3"))["error"] == made["2.on_fail.2"]
    assert names(moments.after(len(moments))) == {
        "t": made["1"],
        "n": made["2.on_fail.1"],
        "m": made["2.on_fail.3"],
    }


def test_what_the_error_became_is_seen_on_in_the_round_that_it_became_so(space: Space) -> None:
    """Where nothing else was bound in the round before."""
    items = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
    handler = [note("other ${item}", "$error"), note("x", "$x"), note("${error}!", "$y")]
    lost = {"type": "coerce", "target": "$item", "coercion": "int", "out": "$n", "on_fail": handler}
    _, moments = ended(space, items, {"type": "for-each", "target": "$c", "do": [lost], "out": "$all"})
    for item, text in ((1, "a"), (2, "b")):
        error = names(moments.before(f"2.do[{item}].1.on_fail.3"))["error"]
        assert space.context().get(error).content == f"other {text}"


@pytest.mark.parametrize(
    "form",
    [
        {"type": "map", "operation": {"type": "coerce", "coercion": "int"}},
        {
            "type": "for-each",
            "do": [note("${item}?", "$item"), {"type": "coerce", "target": "$c[0]", "coercion": "int"}],
        },
    ],
    ids=lambda form: str(form["type"]),
)
def test_the_handler_of_an_item_binds_for_that_item_alone(space: Space, form: dict[str, Any]) -> None:
    """It sees the item as the failure left it; the handler of the next item sees nothing of it."""
    items = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
    each = {**form, "target": "$c", "out": "$all", "on_fail": [note("${item}!", "$one"), note("${one}!", "$all")]}
    _, moments = ended(space, items, each)
    for item, text in ((1, "a"), (2, "b")):
        seen = names(moments.before(f"2[{item}].on_fail.1"))
        assert set(seen) == {"c", "item", "error"}
        assert space.context().get(seen["item"]).content == (text if form["type"] == "map" else f"{text}?")
        assert set(names(moments.after(moments.moment_of(f"2[{item}].on_fail.1")))) == {"c", "item", "error", "one"}
    assert set(names(moments.after(len(moments)))) == {"c", "all"}


def test_inputs_are_there_from_the_beginning(space: Space) -> None:
    """With the step that they are of."""
    plan = {"inputs": {"of": {"type": "string"}}, "steps": [note("${of}", "$x")]}
    _, moments = ended(space, plan, of="me")
    [binding] = moments.after(0)
    assert (binding.name, binding.step, binding.scope) == ("of", "input", "")


def test_arguments_are_told_as_they_were(space: Space) -> None:
    """What was changed since is read at the version that the step read."""
    steps = [note("old", "$x", name="x"), note("${x}!", "$y"), {"type": "size", "target": ["$x"], "out": "$n"}]
    steps[2] = {"type": "update-note", "target": "$x", "value": "new ${y}"}
    result, moments = ended(space, *steps)
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(str(result.run)), snapshot.steps(str(result.run))
    [value] = step_arguments(space, row, rows[1], moments.before("2"))
    assert (value.name, value.written, value.value) == ("value", "${x}!", "old!")
    assert [(one.written, one.binding and one.binding.step) for one in value.referred] == [("$x", "1")]
    target, value = step_arguments(space, row, rows[2], moments.before("3"))
    assert target.resource is not None
    assert (target.resource.version, target.resource.content) == (1, "old")
    assert value.value == "new old!"


def test_the_page_of_each_call_is_no_argument_of_pages(space: Space) -> None:
    """It stands as it is written; what the other arguments were is told."""
    server = LocalTools("s")

    @server.tool(read_only=True)
    def listed(page: int, of: str) -> list[str]:
        """List."""
        return [of] if page == 1 else []

    space.tools.add(server)
    given = {"page": "$page", "of": "$x"}
    pages: dict[str, Any] = {"type": "pages", "tool": "s/listed", "arguments": given, "first": 1, "out": "$all"}
    result, moments = ended(space, note("old", "$x"), pages)
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(str(result.run)), snapshot.steps(str(result.run))
    tool, arguments, first = step_arguments(space, row, rows[1], moments.before("2"))
    assert (tool.value, first.value) == ("s/listed", 1)
    assert (arguments.written, arguments.value, arguments.fault) == (given, {"page": "$page", "of": "old"}, None)
    assert [one.written for one in arguments.referred] == ["$x"]


def test_an_expression_is_told_as_it_was_written(space: Space) -> None:
    """With what its parameters were bound to: of a SELECT, an expression, a condition as text and one of an object."""
    steps = [
        {"type": "create-collection", "value": [{"a": 1}, {"a": 2}], "out": "$rows"},
        note(1, "$least"),
        {"type": "query", "sql": "SELECT a FROM $rows WHERE a > $least", "out": "$found"},
        {"type": "filter-structured", "target": "$rows", "where": "a > $least", "out": "$kept"},
        {
            "type": "for-each",
            "target": "$kept",
            "do": [{"type": "compute", "expression": "$item.a + $least", "out": "$n"}],
            "until": "$n > 2 AND $least = 1",
            "out": "$all",
        },
        {"type": "if", "condition": {"type": "has_value", "target": "$kept"}, "then": []},
    ]
    result, moments = ended(space, *steps)
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(str(result.run)), {one.position: one for one in snapshot.steps(str(result.run))}

    def told(position: str, name: str) -> list[Any]:
        given = step_arguments(space, row, rows[position], moments.before(position))
        [found] = [one for one in given if one.name == name]
        assert (found.fault, found.value) == (None, found.written)
        return [found.written, *((one.written, one.binding and one.binding.step) for one in found.referred)]

    assert told("3", "sql") == ["SELECT a FROM $rows WHERE a > $least", ("$rows", "1"), ("$least", "2")]
    assert told("4", "where") == ["a > $least", ("$least", "2")]
    assert told("5", "until") == ["$n > 2 AND $least = 1", ("$n", None), ("$least", "2")]
    assert told("6", "condition") == [{"type": "has_value", "target": "$kept"}, ("$kept", "4")]


def test_an_argument_that_was_not_bound_says_so(space: Space) -> None:
    """Of a step that was skipped for it."""
    lost = {"type": "coerce", "target": "$t", "coercion": "int", "out": "$n", "on_fail": "continue"}
    result, moments = ended(space, note("none", "$t"), lost, note("${n}", "$m"))
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(str(result.run)), snapshot.steps(str(result.run))
    [value] = step_arguments(space, row, rows[2], moments.before("3"))
    assert value.referred[0].binding is None
    assert value.fault == "$n is not bound"


def test_a_long_run_goes_back_and_forth_as_it_went(space: Space) -> None:
    """Also over more moments than are kept."""
    count = 600
    items = {"type": "create-collection", "value": list(range(count)), "out": "$c"}
    each = {"type": "for-each", "target": "$c", "do": [note("${item}", "$x")], "out": "$all"}
    _, moments = ended(space, items, each)
    on = [names(moments.after(at)) for at in range(len(moments) + 1)]
    back = [names(moments.after(at)) for at in range(len(moments), -1, -1)]
    assert on == back[::-1]
    assert len({seen["x"] for seen in on if "x" in seen}) == count


def test_what_waits_binds_nothing_yet(space: Space) -> None:
    """Its answer does."""
    ask = {"type": "ask", "value": "what?", "out": "$said"}
    result, moments = ended(space, ask, note("${said}", "$x"))
    assert names(moments.after(len(moments))) == {}
    answer(space, str(result.run), "1", "so")
    import asyncio

    from planner.lifecycle.resume import resume

    asyncio.run(resume(space, str(result.run)))
    assert set(names(moments_of(space, str(result.run)).after(2))) == {"said", "x"}


def test_scopes_are_those_of_loops_branches_and_saved_plans() -> None:
    """An `if`, a `while` and a handler bind where they stand; the handler of an item binds where that does."""
    scopes = {
        "4": "",
        "4.then.1": "",
        "4.body[3].1.on_fail.2": "",
        "4.do[3].2": "4.do[3]",
        "4.do[3].2.then.1": "4.do[3]",
        "4[2].on_fail.1": "4.do[2]",
        "4.do[3].2.on_fail.1": "4.do[3]",
        "4.branches[2].1#2.body[1].1": "4.branches[2]",
        "4/2": "4/",
        "4.do[1].2/1.then.3": "4.do[1].2/",
    }
    assert {position: scope_of(position) for position in scopes} == scopes
