"""Inputs that are Collections take rows: a list over any door, each held against the declared schema of a row."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Space
from infospace.core import bounds
from planner import check_plan, open_session, prepare, replay, run_sync
from planner.language.plan import OwnedRows
from planner.parse.saved_plans import save_plan
from planner.parse.schemas import row_violation

ITEMS = {
    "type": "object",
    "properties": {"region": {"type": "string"}, "price": {"type": "number"}},
    "required": ["region"],
    "additionalProperties": False,
}
PLAN: dict[str, Any] = {
    "goal": "Totals of ${rows}",
    "inputs": {"rows": {"kind": "Collection", "items": ITEMS}},
    "steps": [{"type": "group", "target": "$rows", "by": "region", "aggregates": {"t": "sum(price)"}, "out": "$r"}],
    "result": "$r",
}
ROWS = [{"region": "n", "price": 1.5}, {"region": "s"}, {"region": "n", "price": 2}]


def test_rows_are_a_collection_of_transient_notes(space: Space) -> None:
    """In their order; the goal says how many; a replay has the same."""
    result = run_sync(space, PLAN, {"rows": ROWS})
    assert result.status == "success", result.reason
    assert result.result is not None
    assert result.result.data == [{"region": "n", "t": 3.5}, {"region": "s", "t": None}]
    with space.store.reading() as snapshot:
        row = snapshot.run(str(result.run))
        assert row.goal == "Totals of 3 rows"
        rows: Any = snapshot.get(row.inputs["rows"])
        assert [item.content for item in snapshot.get_many([one.id for one in rows.members])] == ROWS  # type: ignore[union-attr]
        assert not rows.kept
    again = asyncio.run(replay(space, str(result.run)))
    assert (again.result.status, list(again.difference.steps)) == ("success", [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"region": 1}], "row 1: 1 is not text at `region`"),
        ([*ROWS, {"price": 1}], "row 4: "),
        ([{"region": "n", "prize": 1}], "row 1: "),
        ([{"region": "n", "price": True}], "row 1: "),
        (["n"], "row 1: "),
        (3, "is the id or name of a Collection, or a list, not 3"),
        ({"region": "n"}, "is the id or name of a Collection, or a list"),
    ],
)
def test_rows_that_do_not_fit_refuse_the_run(space: Space, given: Any, message: str) -> None:
    """At the place of the input, and with the number of the row."""
    result = run_sync(space, PLAN, {"rows": given})
    assert result.status == "refused"
    [problem] = result.problems
    assert (problem.code, problem.pointer) == ("bad-input", "/inputs/rows")
    assert message in problem.message


def test_a_collection_that_is_there_is_held_against_the_schema_too(space: Space) -> None:
    """By its name; as a list it would be refused for the same row."""
    for name, rows in (("good", ROWS), ("bad", [{"region": 3}])):
        run_sync(space, [{"type": "create-collection", "value": rows, "name": name}])
    assert run_sync(space, PLAN, {"rows": "good"}).status == "success"
    assert "row 1: 3 is not text" in run_sync(space, PLAN, {"rows": "bad"}).problems[0].message


def test_the_check_knows_the_columns(space: Space) -> None:
    """A field that no row can have is an error before anything is given."""
    steps = [{"type": "pluck", "target": "$rows", "field": "prise", "out": "$r"}]
    [problem] = [one for one in check_plan(space, {**PLAN, "steps": steps})[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer) == ("unknown-field", "/steps/0/field")
    assert problem.hint == "did you mean `price`?"


def test_a_default_is_rows_that_fit(space: Space) -> None:
    """What does not fit is said by the check."""
    spec = {"kind": "Collection", "items": ITEMS}
    assert run_sync(space, {**PLAN, "inputs": {"rows": {**spec, "default": ROWS}}}).status == "success"
    wrong = {**PLAN, "inputs": {"rows": {**spec, "default": [{"region": 1}]}}}
    [problem] = [one for one in check_plan(space, wrong)[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer) == ("bad-input", "/inputs/rows/default")


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "Note", "items": {}},
        {"kind": "Collection", "items": {"type": "nothing"}},
        {"kind": "Collection", "x": 1},
    ],
)
def test_a_declaration_that_is_wrong_says_so(space: Space, spec: Any) -> None:
    """Only a Collection has items, and these are described by a JSON Schema."""
    assert not check_plan(space, {**PLAN, "inputs": {"rows": spec}})[1].ok


def test_rows_without_a_schema_are_taken_as_they_are(space: Space) -> None:
    """Texts that look like ids stay texts."""
    plan = {
        **PLAN,
        "inputs": {"rows": {"kind": "Collection"}},
        "steps": [{"type": "tail", "target": "$rows", "count": 2, "out": "$r"}],
    }
    result = run_sync(space, plan, {"rows": ["Note_1", "$x", 3]})
    assert result.status == "success", result.problems
    assert result.result is not None
    assert result.result.data == ["$x", 3]


def test_a_session_takes_rows_and_goes_on_with_them(space: Space) -> None:
    """The plan's input is bound in the session as the Collection."""
    with open_session(space, "s") as session:
        assert session.run(PLAN, {"rows": ROWS}).status == "success"
        assert session.get_json("$rows") == ROWS
        assert (
            session.run(
                {
                    **PLAN,
                    "inputs": {"more": PLAN["inputs"]["rows"]},
                    "steps": [{"type": "size", "target": "$more", "out": "$r"}],
                },
                {"more": []},
            ).status
            == "success"
        )
        assert session.get_json("$more") == []


def test_a_saved_plan_takes_rows_of_a_list(space: Space) -> None:
    """As an argument of the step that runs it."""
    save_plan(space, "totals", {key: PLAN[key] for key in ("inputs", "steps", "result")})
    result = run_sync(
        space, [{"type": "plan:totals", "arguments": {"rows": [{"region": "n", "price": 4}]}, "out": "$t"}]
    )
    assert result.status == "success", result.problems
    assert result.result is not None
    assert result.result.data == [{"region": "n", "t": 4}]


def test_a_plan_may_take_a_hundred_thousand_steps(space: Space) -> None:
    """Unless its budget says fewer."""
    prepared: Any = prepare(space, {**PLAN, "goal": ""}, {"rows": ROWS})
    assert prepared.plan.budget.steps == 100_000


def test_the_budget_of_a_plan_lifts_the_bound_of_a_step_for_its_inputs(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where whoever runs it allows so much; the bound that holds without one is made small here."""
    monkeypatch.setattr(bounds.Bounds.__init__, "__defaults__", (3, 40))
    larger = {**PLAN, "budget": {"items": 10, "characters": 1_000}}
    assert run_sync(space, larger, {"rows": ROWS}).status == "success"
    with bounds.at_most(bounds.Bounds(3, 1_000)):
        [problem] = run_sync(space, larger, {"rows": ROWS}).problems
    assert "the budget of 3 items" in problem.message


@pytest.mark.parametrize(("limit", "needed"), [({"items": 3}, "4"), ({"characters": 40}, "7")])
def test_an_input_beyond_the_budget_refuses_the_run(space: Space, limit: dict[str, int], needed: str) -> None:
    """At its place, with the budget that would do; nothing is made."""
    result = run_sync(space, {**PLAN, "budget": limit}, {"rows": ROWS})
    assert (result.status, result.run) == ("refused", None)
    [problem] = result.problems
    assert (problem.code, problem.pointer) == ("bad-input", "/inputs/rows")
    [(key, most)] = limit.items()
    assert f"the budget of {most} {key} that one step may make is too small: it would make {needed}" in problem.message
    assert problem.hint is not None
    assert f'"budget": {{"{key}": {needed}' in problem.hint
    [(_, enough)] = {key: int(problem.hint.split("}")[0].rpartition(" ")[2])}.items()
    assert run_sync(space, {**PLAN, "budget": {key: enough}}, {"rows": ROWS}).status == "success"


def test_a_file_for_another_input_is_told_how_a_table_is_declared(space: Space) -> None:
    """Where `@FILE` does not fit; a text is a text."""
    plan = {"inputs": {"rows": {"type": "array"}}, "steps": [{"type": "create-note", "value": "$rows", "out": "$n"}]}
    refused = run_sync(space, plan, {"rows": "@data.csv"})
    [problem] = refused.problems
    assert (refused.status, problem.code, problem.pointer) == ("refused", "bad-input", "/inputs/rows")
    assert problem.hint == 'a table is read from a file for an input declared as {"kind": "Collection"}'
    assert run_sync(space, plan, {"rows": "other"}).problems[0].hint is None
    assert run_sync(space, {**plan, "inputs": {"rows": {"type": "string"}}}, {"rows": "@data.csv"}).status == "success"


def test_names_of_columns_count_once_among_the_characters_of_a_table(space: Space) -> None:
    """As in its file: a table of 100 MB is taken. What the cells hold counts whole."""
    rows = [{"a name that is long " * 3: "cell", "n": at} for at in range(400)]
    steps = [{"type": "size", "target": "$rows", "out": "$n"}]
    plan = {"inputs": {"rows": {"kind": "Collection"}}, "steps": steps, "budget": {"characters": 8_000}}
    assert run_sync(space, plan, {"rows": rows}).status == "success"
    few = {**plan, "budget": {"characters": 4_000}}
    refused = run_sync(space, few, {"rows": rows})
    assert (refused.status, refused.problems[0].pointer) == ("refused", "/inputs/rows")
    assert "the budget of 4,000 characters" in refused.problems[0].message
    listed = {**plan, "inputs": {"rows": {"type": "array"}}}
    assert run_sync(space, listed, {"rows": rows}).status == "refused"


def test_rows_that_are_handed_over_are_held_until_they_are_stored(space: Space) -> None:
    """A run takes them once; of a list that somebody else has, nothing is taken."""
    given = ROWS * 100
    result = run_sync(space, PLAN, {"rows": given})
    assert given == ROWS * 100
    rows = OwnedRows(given)
    handed = run_sync(space, PLAN, {"rows": rows})
    assert handed.result is not None
    assert result.result is not None
    assert (handed.result.data, rows) == (result.result.data, [])
    with space.store.reading() as snapshot:
        stored: Any = snapshot.get(snapshot.run(str(handed.run)).inputs["rows"])
        assert [item.content for item in snapshot.get_many([one.id for one in stored.members])] == given  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="another run"):
        run_sync(space, PLAN, {"rows": rows})


def test_a_schema_of_rows_need_not_say_that_they_are_objects() -> None:
    schema = {"properties": {"region": {"type": "string"}}, "required": ["region"]}
    assert row_violation([{"region": "n"}, "n", 3], schema) is None
    assert str(row_violation([{"region": "n"}, {"region": 1}], schema)).startswith("row 2: ")
    assert str(row_violation([{"region": "n"}, {}], schema)).startswith("row 2: ")
