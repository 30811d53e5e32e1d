"""Conditions that are written as expressions over variables: in `if`, `while`, `wait`, and inside and, or, not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from planner.language.problems import Problem
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.resume import resume


def note(name: str, value: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": f"${name}"}


GIVEN = [
    note("n", 7),
    note("half", 3.5),
    note("word", "Berlin"),
    note("h", {"status": "down", "load": 0.9, "tags": ["a", "b"], "gone": None}),
    note("list", [1, 2, 3]),
    note("yes", True),
]


def chosen(space: Space, condition: Any, *before: dict[str, Any]) -> str:
    """Return the branch that an `if` takes."""
    branches = {"then": [note("went", "then")], "else": [note("went", "else")]}
    result = run_sync(space, [*GIVEN, *before, {"type": "if", "condition": condition, **branches}])
    assert result.status == "success", (result.reason, result.problems)
    return str(space.context().content(result.bindings["went"]))


@pytest.mark.parametrize(
    "condition",
    [
        "$n > 3",
        "$n > 3 AND $h.status = 'down'",
        "$n > 100 OR $h.load BETWEEN 0.5 AND 1",
        "NOT $n = 3",
        "$word LIKE 'ber%'",
        "$n IN $list OR $n IN (1, 7)",
        "contains($h.tags, 'a')",
        "length($list) = 3",
        "$yes",
        "$h.gone IS NULL",
        "round($half) = 4 AND $n - $half > 3",
        "CASE WHEN $n > 5 THEN true ELSE false END",
        "today() = today() AND now() > '2020'",
        {"type": "and", "of": ["$n > 3", {"type": "bound", "target": "$word"}, "$word = 'Berlin'"]},
        {"type": "or", "of": ["$n > 30", "$n = 7"]},
        {"type": "not", "of": "$n > 30"},
        {"type": "not", "of": ["$n > 30"]},
        {"type": "and", "of": "$n = 7"},
    ],
)
def test_it_holds(space: Space, condition: Any) -> None:
    """In either form, alone or joined."""
    assert chosen(space, condition) == "then"


@pytest.mark.parametrize(
    "condition",
    ["$n > 30", "$n < 0 OR $word = 'Bonn'", "$h.gone = 'x'", "NOT $h.gone = 'x'", "$h.gone <> 1", "$n = $h.gone"],
)
def test_unknown_is_false(space: Space, condition: str) -> None:
    """Null compares as unknown, and NOT of unknown is unknown."""
    assert chosen(space, condition) == "else"


def test_not_as_an_object_turns_unknown_into_true(space: Space) -> None:
    """A text that is unknown is false, and of that `not` is true."""
    assert chosen(space, {"type": "not", "of": "$h.gone = 'x'"}) == "then"


def test_a_missing_place_is_null(space: Space) -> None:
    """Of a value whose places the check does not know."""
    read = {"type": "coerce", "target": "$text", "coercion": "json", "out": "$o"}
    before = [note("text", '{"a": 1}'), read]
    assert chosen(space, "$o.b IS NULL AND coalesce($o.b, 5) = 5", *before) == "then"
    assert chosen(space, "$o.b > 3 OR $o.a = 1", *before) == "then"
    assert chosen(space, "$o.b > 3", *before) == "else"


def test_a_wrong_type_fails_the_step_and_names_it(space: Space) -> None:
    """The reason says what was compared with what; nothing of the branches is done."""
    read = {"type": "coerce", "target": "$text", "coercion": "json", "out": "$o"}
    steps = [note("text", '{"a": "x"}'), read, {"type": "if", "condition": "$o.a > 3", "then": [note("went", 1)]}]
    result = run_sync(space, steps)
    assert (result.status, "went" in result.bindings) == ("failed", False)
    assert result.reason == (
        'step 3 (if) failed: `$o.a > 3` compares text with number: "x" and 3 (CAST(… AS number) makes a number of a '
        "text, CAST(… AS text) a text of a number)"
    )
    handled = {**steps[2], "on_fail": [note("why", "${error.kind}")]}
    result = run_sync(space, [*steps[:2], handled])
    assert space.context().content(result.bindings["why"]) == "mismatch"


def test_and_and_or_look_no_further_than_they_must(space: Space) -> None:
    """What would be of a wrong type is not evaluated where the part before decides."""
    read = {"type": "coerce", "target": "$text", "coercion": "json", "out": "$o"}
    before = [note("text", '{"a": "x"}'), read]
    assert chosen(space, "$n = 1 AND $o.a > 3", *before) == "else"
    assert chosen(space, {"type": "or", "of": ["$n = 7", "$o.a > 3"]}, *before) == "then"


def test_an_unbound_variable_skips_the_form(space: Space) -> None:
    """As with any condition but `bound` and `notbound`."""
    load = {"type": "load", "target": "nobody has it", "out": "$lost", "on_fail": "continue"}
    result = run_sync(space, [note("n", 1), load, {"type": "if", "condition": "$lost = 1", "then": [note("went", 1)]}])
    assert [row.status for row in result.steps] == ["success", "failed", "skipped"], result.reason


def test_a_loop_goes_on_until_it_is_false(space: Space) -> None:
    """Each round reads what the body bound."""
    grow = {"type": "compute", "expression": "$n * 2", "out": "$n"}
    loop = {"type": "while", "condition": "$n < 100 AND $n > 0", "body": [grow]}
    result = run_sync(space, [note("n", 3), loop])
    assert result.status == "success", result.reason
    assert space.context().content(result.bindings["n"]) == 192


def test_a_loop_over_items_ends_with_the_item_that_makes_it_true(space: Space) -> None:
    """`until` is read over what the body bound; a wrong type fails the step and names the item."""
    body = [{"type": "compute", "expression": "$item.n * 10", "out": "$m"}]
    loop = {"type": "for-each", "target": "$rows", "do": body, "until": "$m >= 20 AND $item.n > 0", "out": "$all"}
    rows = note("list", [{"n": 1}, {"n": 2}, {"n": 3}])
    split = {"type": "split", "target": "$list", "out": "$rows"}
    result = run_sync(space, [rows, split, loop])
    assert result.status == "success", (result.reason, result.problems)
    assert space.context().content(result.bindings["all"]) == [10, 20]
    read = {"type": "map", "target": "$texts", "operation": {"type": "coerce", "coercion": "json"}, "out": "$rows"}
    texts = {"type": "create-collection", "value": ['{"n": 1}', '{"n": "x"}'], "out": "$texts"}
    wrong = {**loop, "do": [{"type": "bind", "target": "$item", "out": "$m"}], "until": "$m.n > 5"}
    result = run_sync(space, [texts, read, wrong])
    assert result.status == "failed", result.problems
    assert "`until` after item 2 (Note_" in str(result.reason), result.reason
    assert "compares text with number" in str(result.reason), result.reason


def test_a_wait_waits_until_it_holds(space: Space) -> None:
    """It is evaluated again at each resume, with what the space then has."""
    task = {"type": "create-note", "value": {"status": "open"}, "name": "task", "out": "$task"}
    wait = {"type": "wait", "condition": "$task.status = 'done'"}
    result = run_sync(space, [task, wait, note("after", "over")])
    assert result.status == "suspended"
    assert asyncio.run(resume(space, str(result.run))).status == "suspended"
    run_sync(space, [{"type": "update-note", "target": "task", "value": {"status": "done"}}])
    result = asyncio.run(resume(space, str(result.run)))
    assert result.status == "success", result.reason


@pytest.mark.parametrize("joined", ["and", "or"])
def test_a_dry_run_shows_it_as_it_was_written(space: Space, joined: str) -> None:
    """Joined with objects, too."""
    from planner.execute.start import Prepared, prepare

    condition = {"type": joined, "of": ["$n > 9", {"type": "bound", "target": "$n"}]}
    prepared = prepare(space, [note("n", 1), {"type": "wait", "condition": condition}])
    assert isinstance(prepared, Prepared)
    steps = asyncio.run(dry_run(space, prepared)).document["steps"]
    assert steps[1]["would"]["arguments"] == {"condition": condition}


# The check


def problems(space: Space, *steps: Any, inputs: Any = None) -> list[Problem]:
    return list(check_plan(space, {"steps": list(steps), **({"inputs": inputs} if inputs else {})})[1].found)


def only(space: Space, condition: Any, *before: Any) -> Problem:
    """Return the one problem of an `if` with a condition, after the given notes."""
    said = {"type": "say", "value": "${n} ${half} ${word} ${h} ${list} ${yes}"}
    found = problems(space, *GIVEN, *before, said, {"type": "if", "condition": condition, "then": [said]})
    assert len(found) == 1, found
    return found[0]


PLACE = f"/steps/{len(GIVEN) + 1}/condition"


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        ("$n > 'x'", "`$n > 'x'` compares a number with text", None),
        (
            "status = 'down'",
            "`status` is a name, and there are no items here to have it",
            "a variable is written $name",
        ),
        ("word = 'x'", "`word` is a name, and there are no items here to have it", "did you mean $word?"),
        ("$n", "`$n` is used as a condition, and is a number", "compare it with a value"),
        ("$n > ", "the condition ends where a value was expected", None),
        ("lenght($word) > 3", "no function 'lenght'", "did you mean length?"),
        ("sum($n) > 3", "'sum' (character 0), which is made of many items", "`group` makes it"),
        ("$n > 3; DROP", "the condition", None),
        ("${n} > 3", "the condition", "$n"),
    ],
)
def test_the_check_says_what_makes_no_sense(space: Space, condition: str, message: str, hint: str | None) -> None:
    """With the code of expressions, at the condition."""
    found = only(space, condition)
    assert (found.code, found.pointer, found.severity) == ("bad-expression", PLACE, "error"), found
    assert message in found.message, found
    assert hint is None or hint in str(found.hint), found


def test_a_place_inside_a_join_is_named(space: Space) -> None:
    """The pointer is that of the text."""
    found = only(space, {"type": "and", "of": [{"type": "bound", "target": "$n"}, "$n > 'x'"]})
    assert found.pointer == f"{PLACE}/of/1"


def test_a_variable_that_is_not_bound_is_found(space: Space) -> None:
    """As in any other place, with the near one."""
    found = only(space, "$wrod = 'x'")
    assert (found.code, found.hint) == ("unbound-variable", "did you mean $word?")


def test_a_place_that_cannot_be_there_is_found_unless_it_is_asked_for(space: Space) -> None:
    """IS NULL, IS NOT NULL and `coalesce` ask whether it is there."""
    found = only(space, "$h.statsu = 'down'")
    assert (found.code, found.severity) == ("unknown-field", "error")
    assert "status" in str(found.hint)
    for condition in ("$h.statsu IS NOT NULL AND $h.statsu = 'down'", "coalesce($h.statsu, 'x') = 'x'"):
        assert only(space, condition).severity == "warning"


def test_a_text_in_other_words_has_a_fix(space: Space) -> None:
    """What it plainly says, as it did before there were texts."""
    for text, meant in (
        ("$list is empty", {"type": "empty", "target": "$list"}),
        ("not empty($list)", {"type": "not", "of": {"type": "empty", "target": "$list"}}),
        ("$list", {"type": "has_value", "target": "$list"}),
    ):
        found = only(space, text)
        assert found.fix is not None
        value = found.fix[0]["value"]
        assert value == meant, found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$list == 3;", 3),
        ('$list == "a b";', "a b"),
        ("$list == None;", None),
        ("$list == True;", True),
        ("$list == ;", ...),
        ("$list == '", ...),
        ("$list == 'a' + 'b';", ...),
        ("$list == NaN;", ...),
        (f"$list == {'[' * 100_000}", ...),
        (f"len($list) > {'1' * 5_000}", ...),
    ],
    ids=lambda text: str(text)[:22],
)
def test_what_is_compared_is_one_value_or_there_is_no_fix(space: Space, text: str, value: Any) -> None:
    """Whatever stands there, the check says what is wrong with it."""
    found = only(space, text)
    assert (found.code, found.pointer) == ("bad-expression", PLACE)
    meant = [{"op": "replace", "path": PLACE, "value": {"type": "equals", "target": "$list", "value": value}}]
    assert found.fix == (None if value is ... else meant)


def test_what_only_a_condition_reads_is_read(space: Space) -> None:
    """A variable is no surplus that a condition asks for."""
    assert problems(space, note("n", 1), {"type": "if", "condition": "$n > 3", "then": [note("a", 1)]}) == [
        *(one for one in problems(space, note("a", 1)) if one.code == "never-read")
    ]


def test_a_loop_that_changes_nothing_it_reads_is_refused(space: Space) -> None:
    """Neither a variable of the text, nor the clock."""
    body = [note("m", 1), {"type": "say", "value": "${m}"}]
    for condition, hint in (
        ("$n < 3", "bind a variable"),
        ("1 = 1", "bind a variable"),
        ("today() < '2099'", "`wait`"),
    ):
        found = problems(space, note("n", 1), {"type": "while", "condition": condition, "body": body})
        endless = [one for one in found if one.code == "endless-loop"]
        assert len(endless) == 1, found
        assert hint in str(endless[0].hint)
    waiting = [*body, {"type": "wait", "seconds": 1}]
    found = problems(space, {"type": "while", "condition": "now() < '2099'", "body": waiting})
    assert not [one for one in found if one.severity == "error"]
