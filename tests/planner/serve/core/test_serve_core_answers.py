"""What the small door answers to runs, steps and checks: the result once, shapes, and what went wrong."""

from __future__ import annotations

import asyncio
import copy
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.data.json_source_map import parts_of
from infospace.data.json_text import dump
from planner.execute.start import run_sync
from planner.language.json_patch import apply_patch
from planner.parse.saved_plans import save_plan
from planner.server.core.answers import BOUND, FAILED, PROBLEMS, RESULT, STEP_RESULT, show_fix

sys.path.insert(0, str(Path(__file__).parent))
from smalldoor import ROWS, Door, Words, play

ONE = {"type": "create-note", "value": 1}


def six_steps(result: str = "$done") -> dict[str, Any]:
    """A plan of six steps over 300 rows."""
    return {
        "steps": [
            {"type": "create-collection", "value": ROWS, "out": "$rows"},
            {"type": "filter-structured", "target": "$rows", "where": "price > 10", "out": "$some"},
            {"type": "group", "target": "$some", "by": ["who"], "aggregates": {"n": "count"}, "out": "$groups"},
            {"type": "sort", "target": "$groups", "by": ["n desc", "who"], "out": "$sorted"},
            {"type": "head", "target": "$sorted", "count": 2, "out": "$done"},
            {"type": "size", "target": "$rows", "out": "$n"},
        ],
        "result": result,
    }


def test_a_run_answers_its_result_once_and_little_else(space: Space) -> None:
    async def scene(door: Door) -> tuple[str, str, str]:
        one = await door.text("run", plan=[{"type": "compute", "expression": "1 + 1", "out": "$x"}])
        return one, await door.text("run", plan=six_steps()), await door.text("run", plan=six_steps("$rows"))

    one, six, long = play(space, scene)
    assert len(one) - len("2") <= 250
    assert json.loads(one)["result"] == 2
    assert len(six) <= 500
    assert [row["n"] for row in json.loads(six)["result"]] == [42, 42]
    told = json.loads(long)
    assert len(long) <= 500
    assert "result" not in told
    assert told["shape"] == "list of 300: {who: text, price: integer, note: text}"
    assert told["example"] == ROWS[0]
    assert told["ref"].startswith("Collection_")
    assert "never-read" not in one + six + long


def test_a_plan_is_run_and_checked_with_the_inputs_that_it_is_given(space: Space) -> None:
    plan = {"inputs": {"n": {"type": "integer"}}, "steps": [{"type": "compute", "expression": "$n * 10", "out": "$x"}]}

    async def scene(door: Door) -> list[Any]:
        return [
            await door.call("run", plan=plan, inputs={"n": 4}),
            await door.call("run", plan=plan, check=True),
            await door.call("run", plan=plan, inputs={"n": "x"}, check=True),
        ]

    done, checked, wrong = play(space, scene)
    assert (done["status"], done["result"]) == ("success", 40)
    assert checked == {"ok": True}
    unfit = "the input 'n' does not fit: \"x\" is not a whole number"
    assert wrong == {"ok": False, "problems": [{"at": "/inputs/n", "problem": unfit}]}


def test_a_refused_plan_with_four_errors_says_all_in_few_characters(space: Space) -> None:
    plan = [
        {"type": "discover-note", "query": "x", "out": "$x"},
        {"type": "sort", "target": "$y", "by": "a"},
        {"type": "head", "target": "$x", "cont": 3},
        {"type": "pluk", "target": "$x", "field": "text"},
    ]
    text = play(space, lambda door: door.text("run", plan=plan))
    told = json.loads(text)
    assert (told["status"], len(told["problems"])) == ("refused", 4)
    assert len(text) <= 700
    assert told["problems"][0]["put"] == "discover-notes"
    checked = play(space, lambda door: door.call("run", plan=plan, check=True))
    assert checked == {"ok": False, "problems": told["problems"]}


def test_a_refused_plan_in_the_words_of_other_systems_says_in_a_word_what_mends_it(space: Space) -> None:
    space.tools.add(Words())
    plan = [
        {"type": "words/wrapped", "city": "Oslo", "n": 3, "out": "$w"},
        {"type": "filter-structured", "target": "$w", "condition": "n > 1", "output": "f"},
        {"type": "sort", "args": {"target": "$f", "by": "n desc"}, "out": "$s"},
        {"type": "head", "target": "$s", "n": 2, "out": "$top"},
        {"type": "create-note", "value": "$topp", "depends_on": ["top"]},
    ]
    text = play(space, lambda door: door.text("run", plan=plan))
    mends = [{key: one[key] for key in one.keys() - {"at", "problem"}} for one in json.loads(text)["problems"]]
    assert mends == [
        {"move": ["city", "n"], "into": "arguments"},
        {"rename": "where"},
        {"rename": "out", "put": "$f"},
        {"unwrap": True},
        {"rename": "count"},
        {"put": "$top"},
        {"remove": True},
    ]
    assert len(text) <= 760


def test_an_argument_that_a_server_would_pass_over_is_told(space: Space) -> None:
    """Its schema lets others pass: what is another spelling of one that it has is a mistake, others are told."""
    space.tools.add(Words())

    async def scene(door: Door) -> list[Any]:
        called = [{"zebra": 1}, {"City": "Oslo"}, {"City": 3}, {"City": "Oslo", "city": "Bergen"}]
        plans = [[{"type": "words/plain", "arguments": one, "out": "$x"}] for one in called]
        return [await door.call("run", plan=plan) for plan in plans]

    other, spelt, unfit, both = play(space, scene)
    told = "words/plain says nothing of 'City', and may pass over it"
    assert other["problems"] == [
        {
            "at": "/0/arguments/zebra",
            "problem": "words/plain says nothing of 'zebra', and may pass over it",
            "warning": True,
            "hint": "it takes n, city",
        }
    ]
    assert spelt == {
        "status": "refused",
        "problems": [{"at": "/0/arguments/City", "problem": told, "rename": "city"}],
    }
    for one in (unfit, both):
        assert one["status"] == "success"
        assert [(problem["problem"], problem["warning"]) for problem in one["problems"]] == [(told, True)]


def mend(plan: Any, place: str, told: dict[str, Any]) -> Any:
    """Do what a fix in a word says, as whoever reads it does."""
    plan = copy.deepcopy(plan)
    *way, last = parts_of(place)
    holder = plan
    for part in way:
        holder = holder[int(part) if isinstance(holder, list) else part]
    if "patch" in told:
        return apply_patch(plan, told["patch"])
    key: Any = int(last) if isinstance(holder, list) else last
    if "move" in told:
        inner = holder.setdefault(told["into"], {})
        inner.update({name: holder.pop(name) for name in told["move"]})
    elif "remove" in told:
        del holder[key]
    elif "unwrap" in told:
        holder.update(holder.pop(key))
    else:
        key = told.get("rename", key)
        if "rename" in told:
            holder[key] = holder.pop(last)
        if "put" in told:
            holder[key] = told["put"]
    return plan


def test_a_fix_in_a_word_makes_the_plan_that_its_patch_makes() -> None:
    """Of each problem that is written down in the tests of wrong plans."""
    words = set()
    for file in sorted((Path(__file__).parents[2] / "repair" / "wrong").glob("*.jsonl")):
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            for problem in line["problems"]:
                if problem["fix"] and problem["pointer"]:
                    told = show_fix(problem["pointer"], problem["fix"])
                    words |= told.keys()
                    meant = apply_patch(line["plan"], problem["fix"])
                    assert mend(line["plan"], problem["pointer"], told) == meant, (told, problem)
    assert words >= {"put", "rename", "move", "into"}


@pytest.mark.parametrize(
    "fix",
    [
        [{"op": "move", "from": "/0/a", "path": "/1/a"}],
        [{"op": "move", "from": "/0/a", "path": "/0/b/a"}, {"op": "move", "from": "/1/a", "path": "/0/b/c"}],
        [{"op": "move", "from": "/0/a", "path": "/0/b"}, {"op": "add", "path": "/0/c", "value": 1}],
        [{"op": "move", "from": "/0/a/x", "path": "/0/y"}, {"op": "remove", "path": "/0/a"}],
        [{"op": "remove", "path": "/0/b"}],
        [{"op": "add", "path": "/0/a", "value": 1}],
    ],
)
def test_a_fix_that_has_no_word_is_a_patch(fix: Any) -> None:
    assert show_fix("/0/a", fix) == {"patch": fix}


def test_a_failed_step_is_told_once_with_what_failed_in_it(space: Space) -> None:
    plan = [
        {"type": "create-collection", "value": [{"a": 1}, {"a": "x"}], "out": "$c"},
        {
            "type": "for-each",
            "target": "$c",
            "as": "$i",
            "do": [{"type": "compute", "expression": "$i.a + 1", "out": "$n"}],
        },
    ]
    text = play(space, lambda door: door.text("run", plan=plan))
    told = json.loads(text)
    assert told["status"] == "failed"
    [failed] = told["failed"]
    assert failed["step"] == "2.do[2].1"
    assert text.count("computes with text and number") == 1
    assert "reason" not in told


def test_a_step_that_fails_in_a_saved_plan_is_told_once(space: Space) -> None:
    """As one in a `do` is: the step that runs the plan failed by it."""
    add = {"type": "compute", "expression": "$i.a + 1", "out": "$n"}
    rows = {"type": "create-collection", "value": [{"a": 1}, {"a": "x"}], "out": "$c"}
    save_plan(space, "adds", [rows, {"type": "for-each", "target": "$c", "as": "$i", "do": [add]}])
    told = play(space, lambda door: door.call("run", plan=[{"type": "plan:adds"}]))
    assert [one["step"] for one in told["failed"]] == ["1/2.do[2].1"]


@pytest.mark.parametrize(
    ("step", "out", "bound"),
    [
        ({"type": "plan:two", "out": "$r"}, "$r", []),
        ({"type": "if", "condition": "1 = 1", "then": [{**ONE, "out": "$a"}, {**ONE, "out": "$b"}]}, "$b", ["$a"]),
        ({"type": "parallel", "branches": [[{**ONE, "out": "$a"}], [{**ONE, "out": "$b"}]]}, "$b", ["$a"]),
        ({"type": "for-each", "target": "$l", "as": "$i", "do": [{**ONE, "out": "$x"}], "out": "$y"}, "$y", []),
    ],
    ids=["plan", "if", "parallel", "for-each"],
)
def test_a_session_tells_the_variables_that_later_steps_can_use_and_no_others(
    space: Space, step: dict[str, Any], out: str, bound: list[str]
) -> None:
    """What a saved plan binds is its own; what a `then` or a branch binds is the session's."""
    save_plan(space, "two", [{**ONE, "out": "$a"}, {**ONE, "out": "$b"}])

    async def scene(door: Door) -> tuple[Any, Any]:
        await door.call("step", session="s", steps=[{"type": "create-collection", "value": [1, 2], "out": "$l"}])
        return await door.call("step", session="s", steps=[step]), await door.call("step", session="s")

    told, all_bound = play(space, scene)
    assert (told["status"], told.get("out"), [*told.get("bound", {})]) == ("success", out, bound)
    assert all_bound["bound"].keys() == {"$l", out, *bound}


def test_a_variable_that_is_bound_again_is_told_as_the_latest(space: Space) -> None:
    again = {"type": "bind", "target": "$y", "out": "$x"}
    steps = [{**ONE, "out": "$x"}, {**ONE, "out": "$y"}, again]
    told = play(space, lambda door: door.call("step", session="s", steps=steps))
    assert told["out"] == "$x"


def test_steps_say_what_they_bound_anew_and_give_the_result_once(space: Space) -> None:
    async def scene(door: Door) -> list[Any]:
        first = [{"type": "create-collection", "value": ROWS, "out": "$rows"}]
        second = [
            {"type": "group", "target": "$rows", "by": ["who"], "out": "$groups"},
            {"type": "size", "target": "$groups", "out": "$n"},
        ]
        return [
            await door.call("step", session="s", steps=first),
            await door.call("step", session="s", steps=second),
            await door.call("step", session="s"),
        ]

    one, two, bound = play(space, scene)
    assert one["out"] == "$rows"
    assert one["shape"].startswith("list of 300: {")
    assert "bound" not in one
    assert (two["result"], two["out"]) == (7, "$n")
    assert two["bound"] == {"$groups": "Collection of 7: {who: text, n: integer}"}
    assert bound["run"] == one["run"] == two["run"]
    rows, groups, number = bound["bound"].items()
    assert (rows[0], groups[0]) == ("$rows", "$groups")
    assert rows[1].startswith(f'{one["ref"]} Collection: 300 items: {{"who":"person 0","price":0,')
    assert re.match(r'Collection_\d+ Collection: 7 notes: {"who":"person 0","n":43}; ', groups[1])
    assert number == ("$n", f"{two['ref']} Note: 7")


def test_of_many_variables_that_steps_bound_the_latest_are_told(space: Space) -> None:
    """The last of all is the result; one whose resource the same steps removed is told to be gone."""
    many = [{"type": "create-note", "value": number, "out": f"$n{number}"} for number in range(BOUND + 3)]
    removing = [{**many[0], "out": "$gone"}, {"type": "remove", "target": "$gone"}, {**many[1], "out": "$kept"}]

    async def scene(door: Door) -> tuple[Any, Any]:
        return await door.call("step", session="a", steps=many), await door.call("step", session="b", steps=removing)

    told, gone = play(space, scene)
    assert (told["out"], told["result"]) == (f"$n{BOUND + 2}", BOUND + 2)
    assert told["bound"] == {f"$n{number}": "integer" for number in range(2, BOUND + 2)}
    assert (gone["out"], gone["bound"]) == ("$kept", {"$gone": "removed"})


@pytest.mark.parametrize(("tool", "most"), [("run", RESULT), ("step", STEP_RESULT)])
def test_a_result_is_whole_up_to_a_bound_which_is_lower_in_a_session(space: Space, tool: str, most: int) -> None:
    """What is passed on to the next step need not be read. The result counts as it stands, with its quotes."""
    fits = "x" * (most - len('""'))

    async def scene(door: Door) -> list[Any]:
        plans = [[{"type": "create-note", "value": text, "out": "$x"}] for text in (fits, fits + "x")]
        return [
            await door.call(tool, **({"plan": one} if tool == "run" else {"session": "s", "steps": one}))
            for one in plans
        ]

    whole, longer = play(space, scene)
    assert (whole["result"], "begins" in whole) == (fits, False)
    assert ("result" in longer, longer["shape"]) == (False, f"text of {most - 1:,} characters")
    assert fits.startswith(longer["begins"].rstrip("…"))


def test_steps_that_still_run_give_nothing_of_what_was_bound_before_them(space: Space) -> None:
    """Neither is the result of the steps before them theirs."""

    async def scene(door: Door) -> list[Any]:
        await door.call("step", session="s", steps=[{**ONE, "out": "$a"}, {**ONE, "out": "$b"}])
        begun = await door.call("step", session="s", steps=[{"type": "wait", "seconds": 60}], wait_s=0)
        return [begun, await door.call("follow", run=begun["run"])]

    begun, followed = play(space, scene)
    assert begun == {"status": "running", "run": begun["run"]}
    assert not {"ref", "result"} & followed.keys()


def test_a_session_says_how_many_of_its_variables_it_leaves_out(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.server.truncate.BINDINGS", 2)

    async def scene(door: Door) -> list[Any]:
        steps = [{**ONE, "out": f"$n{number}"} for number in range(3)]
        await door.call("step", session="s", steps=steps[:2])
        whole = await door.call("step", session="s")
        await door.call("step", session="s", steps=steps[2:])
        return [whole, await door.call("step", session="s")]

    whole, cut = play(space, scene)
    assert (whole["bound"].keys(), "left_out" in whole) == ({"$n0", "$n1"}, False)
    assert (cut["bound"].keys(), cut["left_out"]) == ({"$n0", "$n1"}, 1)


def test_what_is_cut_says_how_to_go_on(space: Space) -> None:
    text = "word " * 3_000

    async def scene(door: Door) -> tuple[Any, Any]:
        told = await door.call("run", plan=[{"type": "create-note", "value": text, "out": "$t"}])
        return told, await door.call("read", ref=told["ref"])

    told, piece = play(space, scene)
    assert told["shape"] == "text of 15,000 characters"
    assert text.startswith(told["begins"].rstrip("…"))
    assert piece["next"] == "4000:15000"


@pytest.mark.parametrize("more", [0, 3])
def test_of_many_problems_and_failed_steps_the_first_are_told_and_how_many_more_there_are(
    space: Space, more: int
) -> None:
    """In a run that fails one step fails; so those of a session are looked at, which goes on after each."""
    wrong = [{"type": "create-note", "value": f"$no{number}"} for number in range(PROBLEMS + more)]
    mixed = [{"type": "create-note", "value": {"rows": [{"a": 1}, {"a": "x"}]}, "out": "$c"}]

    async def scene(door: Door) -> tuple[Any, Any]:
        refused = await door.call("run", plan=wrong)
        run = (await door.call("step", session="s", steps=mixed))["run"]
        for number in range(FAILED + more):
            failing = {"type": "compute", "expression": f"$c.rows[1].a + {number}", "out": "$n"}
            await door.call("step", session="s", steps=[failing])
        return refused, await door.call("follow", run=run)

    refused, told = play(space, scene)
    assert [one["at"] for one in refused["problems"]] == [f"/{number}/value" for number in range(PROBLEMS)]
    assert [one["step"] for one in told["failed"]] == [f"{number + 2}" for number in range(FAILED)]
    assert refused.get("more_problems") == told.get("more_failed") == (more or None)


def test_json_in_a_text_and_values_that_a_server_wraps_are_read_and_said_to_be(space: Space) -> None:
    """The check knows of the wrapping, and a replay reads the same."""
    from planner.lifecycle.replay import replay

    space.tools.add(Words())
    plan = [
        {"type": "words/written", "out": "$a"},
        {"type": "sort", "target": "$a.rows", "by": "n desc", "out": "$rows"},
        {"type": "words/wrapped", "out": "$b"},
        {"type": "pluck", "target": "$b", "field": "n", "out": "$numbers"},
        {"type": "words/plain", "out": "$c"},
        {"type": "words/broken", "out": "$d"},
        {
            "type": "if",
            "condition": "$b[0].n = 1 AND $c = 'one\ntwo'",
            "then": [
                {"type": "create-note", "value": {"rows": "$rows", "numbers": "$numbers", "d": "$d"}, "out": "$all"}
            ],
        },
    ]

    async def scene(door: Door) -> tuple[Any, Any]:
        done = await door.call("run", plan=plan)
        return done, await door.call("read", ref=done["run"], fields=["steps"], max_chars=50_000)

    done, record = play(space, scene)
    assert done["result"] == {"rows": [{"n": 2}, {"n": 1}], "numbers": [1, 2], "d": "{no json"}
    extras = [step["extra"] for step in record["data"]["steps"]]
    assert [one.get("read_as") or one.get("unwrapped") for one in extras[:6:2]] == ["json", "result", None]
    again = asyncio.run(replay(space, done["run"]))
    assert again.result.result is not None
    assert again.result.result.data == done["result"]
    refused = play(
        space,
        lambda door: door.call(
            "run",
            plan=[{"type": "words/wrapped", "out": "$b"}, {"type": "compute", "expression": "$b.result", "out": "$x"}],
        ),
    )
    assert refused["status"] == "refused"


def test_json_that_a_tool_answers_as_a_text_in_an_object_is_told_by_its_shape(space: Space) -> None:
    """So the step that reads it as JSON, and the one after it, can be written without looking at it."""
    text = dump(ROWS)
    steps = [{"type": "create-note", "value": {"content": text}, "out": "$file"}]

    async def scene(door: Door) -> tuple[Any, Any]:
        first = await door.call(
            "step", session="s", steps=[*steps, {"type": "create-note", "value": {"content": "[" * 999}}]
        )
        return first, await door.call("run", plan=steps)

    first, told = play(space, scene)
    shape = "{content: JSON text, list of 300: {who: text, price: integer, note: text}}"
    assert first["bound"] == {"$file": shape}
    assert told["shape"] == shape
    assert told["begins"]["content"].startswith('[{"who":')
    assert len(dump(told)) < 350


def test_a_name_that_no_note_has_is_told_beside_the_empty_answer(space: Space) -> None:
    """Else a misspelt property looks like an answer without hits."""
    note = {"type": "create-note", "value": "x", "metadata": {"status": "open"}, "name": "a"}
    assert run_sync(space, [note]).status == "success"
    plan = {"steps": [{"type": "query", "sql": "SELECT statsu FROM notes", "out": "$q"}], "result": "$q"}

    async def scene(door: Door) -> tuple[Any, Any]:
        answer = await door.call("run", plan=plan)
        return answer, await door.call("follow", run=answer["run"])

    answer, followed = play(space, scene)
    assert answer["status"] == "success"
    assert followed == answer
    (doubt,) = answer["problems"]
    assert doubt["warning"] is True
    assert "statsu" in doubt["problem"]
