"""Names that steps give, and the rows that they leave in the journal."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.check.space_facts import SMALL
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare, run_sync


def note(value: Any, out: str = "$x", **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def test_a_name_keeps_the_result(run: Any, space: Space) -> None:
    """And is found by it in a later run."""
    made = run(note("v", name="n")).result.resource_id
    with space.store.reading() as snapshot:
        assert snapshot.get(made).kept
    assert run({"type": "load", "target": "n"}).result.resource_id == made


def test_a_taken_name_is_refused_by_the_check_with_its_holder(run: Any, errors: Any) -> None:
    """`replace` is a hint, since another name may be meant; an earlier step of the plan is a holder too."""
    made = run(note("v", name="n")).result.resource_id
    [problem] = errors([note("w", name="n")])
    assert (problem.code, problem.pointer) == ("name-taken", "/0/name")
    assert made in problem.message
    assert problem.fix is None
    assert '`"replace": true` takes it over' in (problem.hint or "")
    [problem] = errors([note("w", name="m"), note("v", "$y", name="m")])
    assert (problem.code, problem.pointer) == ("name-taken", "/1/name")


def test_two_branches_may_give_the_same_name(run: Any) -> None:
    """Only one of them runs."""
    step = {
        "type": "if",
        "condition": {"type": "notbound", "target": "$q"},
        "then": [note(1, name="n")],
        "else": [note(2, name="n")],
    }
    assert run(step, {"type": "load", "target": "n"}).result.data == 1


def test_a_name_given_on_one_path_only_is_a_warning(warnings: Any) -> None:
    """Loading it may fail."""
    branch = {"type": "if", "condition": {"type": "equals", "target": "$a", "value": 1}, "then": [note(1, name="n")]}
    found = warnings([note(1, "$a"), branch, {"type": "load", "target": "n"}])
    assert ("maybe-unnamed", "/2/target") in [(p.code, p.pointer) for p in found]


def test_a_name_that_is_given_where_an_item_fails_may_be_none(warnings: Any) -> None:
    """By the `on_fail` list of a `map`, which no item may need: it is known, and loading it may fail."""
    each = {
        "type": "map",
        "target": "$c",
        "operation": {"type": "coerce", "target": "$item", "coercion": "int"},
        "on_fail": [note(0, "$m", name="fallback", replace=True)],
        "out": "$m",
    }
    made = {"type": "create-collection", "value": ["1", "b"], "out": "$c"}
    found = warnings(
        [made, each, {"type": "load", "target": "fallback"}, {"type": "size", "target": "$m", "out": "$n"}]
    )
    assert [(p.code, p.pointer) for p in found] == [("maybe-unnamed", "/2/target")]


def test_a_name_that_is_taken_meanwhile_is_a_conflict_of_the_step(run: Any, space: Space) -> None:
    """The check could not know; nothing of the step is written, and `on_fail` may handle it."""
    plan = [{"type": "say", "value": "hi"}, note("late", name="n", on_fail=[note("other", "$x")])]
    prepared: Any = prepare(space, plan)
    assert isinstance(prepared, Prepared)
    run(note("early", name="n"))
    import asyncio

    result = asyncio.run(Run(space, prepared.plan, lambda _event: None).run({}))
    assert result.status == "success"
    row = result.steps[1]
    assert (row.status, row.error, row.resource) == ("failed", "conflict", None)
    assert result.result is not None
    assert result.result.data == "other"
    assert run({"type": "load", "target": "n"}).result.data == "early"


def test_replace_gives_the_holder_of_the_name_its_next_version(run: Any, space: Space) -> None:
    """It is what the step gives; its earlier version stays readable."""
    old = run(note("old", name="n")).result.resource_id
    new = run(note("new", name="n", replace=True)).result.resource_id
    with space.store.reading() as snapshot:
        assert snapshot.named("n") == new == old
        assert [snapshot.get(old, version).content for version in (1, 2)] == ["old", "new"]


def test_a_name_that_is_no_name_is_refused(errors: Any) -> None:
    """Shaped like an id, with a leading dollar, or empty."""
    for name in ("Note_3", "$$n", "", "a\nb"):
        assert [(p.code, p.pointer) for p in errors([note(1, name=name)])] == [("bad-name", "/0/name")], name


def test_a_name_is_computed_from_a_template(run: Any) -> None:
    """In a loop each item has its own."""
    made = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
    loop = {"type": "for-each", "target": "$c", "do": [note("$item", "$o", name="made from ${item}")]}
    assert run(made, loop).status == "success"
    assert run({"type": "load", "target": "made from b"}).result.data == "b"


# The journal


def test_rows_are_in_document_order_with_parents_first(run: Any, space: Space) -> None:
    """One for each execution, nested ones too, at their positions."""
    made = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    inner = {
        "type": "if",
        "condition": {"type": "equals", "target": "$item", "value": 2},
        "then": [note(2)],
        "else": [],
    }
    fails = {"type": "load", "target": "$c[0]", "slice": ":1", "on_fail": [note("h")], "id": "odd"}
    result = run(made, {"type": "for-each", "target": "$c", "do": [inner]}, fails)
    with space.store.reading() as snapshot:
        rows = snapshot.steps(result.run)
    assert [row.position for row in rows] == [
        "1",
        "2",
        "2.do[1].1",
        "2.do[2].1",
        "2.do[2].1.then.1",
        "odd",
        "odd.on_fail.1",
    ]
    assert [row.sequence for row in rows] == list(range(1, 8))
    assert [row.position for row in result.steps] == [row.position for row in rows]


def test_a_row_says_what_was_read_and_what_was_made(run: Any, space: Space) -> None:
    """Ids with versions; the resource knows its run and step."""
    result = run(note("a", "$a"), note("b", "$b"), note("${a} ${b}", "$c"))
    with space.store.reading() as snapshot:
        row = snapshot.steps(result.run)[2]
        made = snapshot.get(result.bindings["c"].id)
    assert {(use.id, use.version) for use in row.uses} == {(result.bindings[name].id, 1) for name in "ab"}
    assert (row.resource, row.version) == (made.id, 1)
    assert (made.created_by.run, made.created_by.step, made.created_by.by) == (result.run, "3", "create-note")


def test_the_digest_of_the_same_arguments_is_the_same(run: Any) -> None:
    """From run to run for values; other arguments have another one."""
    one, two, other = (run(note(value)).steps[0].digest for value in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}))
    assert one == two
    assert one != other
    assert len(one) == 32


def test_a_document_that_is_refused_leaves_no_run(space: Space) -> None:
    """Nothing happened."""
    assert run_sync(space, [{"type": "sise"}]).run is None
    with space.store.reading() as snapshot:
        assert snapshot.runs() == []


def test_a_name_given_in_a_loop_or_its_handler_may_be_taken_afterwards(warnings: Any) -> None:
    """Nobody knows whether an item ran, or failed."""
    made = {"type": "create-collection", "value": [1], "out": "$c"}
    fails = {"type": "load", "target": "$item", "slice": ":1", "out": "$s"}
    for body, handler in (([note(1, name="n")], []), ([fails], [note(1, "$s", name="n")])):
        loop = {"type": "for-each", "target": "$c", "do": body, "on_fail": handler}
        found = warnings([made, loop, note(2, "$y", name="n")])
        assert ("name-taken", "/2/name") in [(p.code, p.pointer) for p in found]


def test_the_warnings_of_the_check_are_with_the_outcome(run: Any) -> None:
    """Whoever runs a plan sees them too."""
    result = run(note(1), note(2, "$y"))
    assert (result.status, [p.code for p in result.problems]) == ("success", ["never-read"])


def test_an_item_that_is_not_there_is_refused_with_those_that_are(errors: Any) -> None:
    """From both ends; of an empty Collection there is none."""

    def hint(size: int, index: int) -> str | None:
        made = {"type": "create-collection", "value": list(range(size)), "out": "$c"}
        found = errors([made, {"type": "say", "value": f"${{c[{index}]}}"}])
        return found[0].hint if found else None

    assert hint(2, -3) == hint(2, 2) == "[0] to [1], or [-2] to [-1]"
    assert hint(2, -2) is hint(2, 1) is None
    assert hint(1, 1) == "[0] to [0], or [-1] to [-1]"
    assert hint(0, 0) == "`if` with the condition `empty`"


@pytest.mark.parametrize("above", [0, 1])
def test_of_a_long_note_of_the_space_the_check_knows_no_more_than_its_type(run: Any, errors: Any, above: int) -> None:
    """A field that a short one has not is known not to be there; a text has none in any case."""
    value = {"a": "x" * (SMALL - len(str({"a": ""})) + above)}
    assert len(str(value)) == SMALL + above
    run(note(value, name="fields"), note("x" * (SMALL + above), "$y", name="text"))
    for name, unknown in (("fields", not above), ("text", True)):
        found = errors([{"type": "load", "target": name, "out": "$n"}, {"type": "say", "value": "${n.b}"}])
        assert [problem.code for problem in found] == ["unknown-field"] * unknown


def test_what_replaces_by_name_is_who_had_the_name(run: Any, errors: Any) -> None:
    """Both variables are one Note: what changes it by one of them is known of the other."""
    steps = [
        note({"a": 1}, "$a", name="one"),
        note({"b": 2}, "$b", name="one", replace=True),
        {"type": "update-note", "target": "$b", "value": {"c": 3}},
    ]
    [problem] = errors([*steps, {"type": "say", "value": "${a.d}"}])
    assert (problem.code, problem.pointer) == ("unknown-field", "/3/value")
    assert errors([*steps, {"type": "say", "value": "${a.c}"}]) == []
    [problem] = errors([*steps, {"type": "remove", "target": "$b"}, {"type": "say", "value": "${a.c}"}])
    assert (problem.code, problem.pointer) == ("deleted", "/4/value")
    result = run(*steps, {"type": "say", "value": "${a.c}"})
    assert (result.status, result.reason) == ("success", None)


def test_of_two_that_may_have_had_the_name_neither_is_known_to_be_replaced(run: Any, errors: Any) -> None:
    """A branch may have taken the name over, or not: what the other steps read may be as it was."""
    run(note({"a": 1}, name="held"))
    steps = [
        note({"b": 1}, "$n"),
        note(False, "$take"),
        {
            "type": "if",
            "condition": {"type": "equals", "target": "$take", "value": True},
            "then": [{"type": "name", "target": "$n", "value": "held", "replace": True}],
        },
        note({"c": 1}, "$r", name="held", replace=True),
        {"type": "update-note", "target": "$r", "value": {"d": 1}},
        {"type": "say", "value": "${n.b}"},
        {"type": "remove", "target": "$r"},
        {"type": "say", "value": "${n.b}"},
    ]
    assert errors(steps) == []
    result = run(*steps)
    assert (result.status, result.reason) == ("success", None)


def test_who_is_given_its_own_name_again_has_it_still(run: Any, errors: Any) -> None:
    """Given another, it is no longer found by the one it had."""
    run(note({"a": 1}, name="mine"))
    load = {"type": "load", "target": "mine", "out": "$k"}

    def named(name: str) -> list[Any]:
        return [load, {"type": "name", "target": "$k", "value": name, "replace": True}, {**load, "out": "$again"}]

    assert errors(named("mine")) == []
    assert run(*named("mine")).status == "success"
    [problem] = errors(named("other"))
    assert problem.pointer == "/2/target"


def test_what_a_form_decided_is_journalled_once(run: Any, space: Space) -> None:
    """With the first step after it, whichever steps follow."""
    over = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    inner = [note("a", "$a"), note("b", "$b")]
    condition = {"type": "equals", "target": "$item", "value": 1}
    branch = {"type": "if", "condition": condition, "then": inner, "else": [note("d", "$a"), note("e", "$b")]}
    result = run(over, {"type": "for-each", "target": "$c", "do": [branch, note("f", "$f")]})
    assert result.status == "success"
    with space.store.reading() as snapshot:
        rows = snapshot.steps(str(result.run))
    decided = [position for row in rows for position in row.frames if not position.startswith("@")]
    assert decided == ["2", "2.do[1].1", "2.do[2].1"]
