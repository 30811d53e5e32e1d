"""A dry run computes and reads, shows what it would write and call, and leaves nothing."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from infospace import InfospaceError, Primitive, Space, open_space
from infospace.journal.rows import StepRow
from infospace.tools.local import LocalTools
from planner.execute.start import Prepared, prepare, run_sync
from planner.journal.events import RunFinished, RunStarted
from planner.lifecycle.dry_run import DryRun, dry_run
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import files, furnish_whole
from rightplans import RIGHT


@pytest.fixture
def calls(space: Space) -> list[str]:
    """A server `sky` in the space; the list grows with each call, and a dry run makes none."""
    made: list[str] = []
    sky = LocalTools("sky")

    @sky.tool(read_only=True)
    def is_day() -> bool:
        """Say whether it is day."""
        made.append("is_day")
        return True

    @sky.tool(destructive=True)
    def launch(rocket: str) -> str:
        """Launch a rocket."""
        made.append(rocket)
        return f"launched {rocket}"

    space.tools.add(sky)
    return made


def dry(space: Space, *steps: Any, result: str | None = None, approve: tuple[str, ...] = (), **inputs: Any) -> DryRun:
    document: dict[str, Any] = {"steps": list(steps)}
    if inputs:
        document["inputs"] = {name: {} for name in inputs}
    prepared: Any = prepare(space, document if result is None else {**document, "result": result}, inputs)
    assert isinstance(prepared, Prepared), prepared.problems
    return asyncio.run(dry_run(space, prepared, approve=approve))


def by_step(ran: DryRun) -> dict[str, dict[str, Any]]:
    return {step["step"]: step for step in ran.document["steps"]}


def note(value: Any, out: str | None = None, **fields: Any) -> dict[str, Any]:
    step = {"type": "create-note", "value": value, **fields}
    return step if out is None else {**step, "out": out}


def launch(rocket: str, out: str | None = None, **fields: Any) -> dict[str, Any]:
    step = {"type": "sky/launch", "arguments": {"rocket": rocket}, **fields}
    return step if out is None else {**step, "out": out}


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as database:
        return list(database.iterdump())


def test_what_computes_is_run_and_what_writes_is_read_later(space: Space) -> None:
    """Each write is shown with what it is given."""
    steps = [
        note({"n": 1}, "$a", name="one"),
        {"type": "update-note", "target": "$a", "value": {"n": 2}},
        {"type": "load", "target": "one", "out": "$b"},
        note("n is ${b.n}", "$c"),
    ]
    ran = dry(space, *steps)
    assert ran.document["result"]["data"] == "n is 2"
    assert (ran.document["run"], ran.document["dry_run"], ran.document["status"]) == (None, True, "success")
    found = by_step(ran)
    assert found["1"]["would"] == {"effect": "writes", "arguments": {"value": {"n": 1}}, "name": "one"}
    would = found["2"]["would"]
    assert (would["effect"], would["arguments"]["value"]) == ("writes", {"n": 2})
    assert would["arguments"]["target"]["value"] == '{"n":1}'
    assert all("would" not in found[step] for step in ("3", "4"))


def test_nothing_of_it_stays(tmp_path: Path) -> None:
    """No run, no note, no id: the tables of the file are as they were; a file that is not there is not made."""
    path = tmp_path / "space.db"
    with open_space(path) as space:
        run_sync(space, [note("kept", name="old")])
    before = dump(path)
    steps = [note("x", "$x", name="new"), {"type": "remove", "target": "old"}, note("y", name="x")]
    with open_space(path, create=False) as space:
        assert dry(space, *steps).result.status == "success"
    assert dump(path) == before
    with open_space(tmp_path / "none.db", create=False) as space:
        assert dry(space, note("x", name="new")).result.status == "success"
    assert not (tmp_path / "none.db").exists()


@pytest.mark.usefixtures("model_named")
def test_calls_are_shown_and_not_made(space: Space, calls: list[str]) -> None:
    """Tools, the language model, and what is said to people, with resolved arguments; nothing waits."""
    steps = [
        note("moon", "$to"),
        launch("${to} 1", "$l"),
        {"type": "call-tool", "tool": "sky/is_day", "out": "$d"},
        {"type": "generate-note", "prompt": "praise ${to}", "out": "$g"},
        {"type": "say", "value": "to the ${to}"},
        {"type": "think", "value": "hm"},
        {"type": "ask", "value": "to the ${to}?", "schema": {"type": "boolean"}, "out": "$y"},
        {"type": "wait", "seconds": 3600},
        {"type": "wait", "condition": {"type": "not", "of": {"type": "equals", "target": "$to", "value": "mars"}}},
    ]
    ran = dry(space, *steps)
    found = by_step(ran)
    would = {step: found[step]["would"] for step in map(str, range(2, 10))}
    assert {one["effect"] for one in would.values()} == {"calls"}
    assert {step: one["arguments"] for step, one in would.items()} == {
        "2": {"rocket": "moon 1"},
        "3": {"tool": "sky/is_day"},
        "4": {"prompt": "praise moon"},
        "5": {"value": "to the moon"},
        "6": {"value": "hm"},
        "7": {"value": "to the moon?", "schema": {"type": "boolean"}},
        "8": {"seconds": 3600},
        "9": {"condition": {"type": "not", "of": steps[8]["condition"]["of"]}},
    }
    assert [step for step, one in would.items() if one.get("asks")] == ["2"]
    assert {found[step]["status"] for step in would} == {"skipped"}
    assert (ran.result.status, calls) == ("success", [])


def test_a_call_that_is_approved_would_not_ask(space: Space, calls: list[str]) -> None:
    """As it would not in the run."""
    assert "asks" not in by_step(dry(space, launch("x"), approve=("sky/*",)))["1"]["would"]


def test_what_needs_an_unknown_value_is_not_run_and_says_why(space: Space, calls: list[str]) -> None:
    """Whatever needs that in turn neither; what does not is."""
    ran = dry(
        space, launch("x", "$l"), note("${l}!", "$m"), {"type": "split", "target": "$m", "out": "$s"}, note(1, "$n")
    )
    found = by_step(ran)
    why = "what step 1 (sky/launch) gives is not known, since a dry run does not call it"
    for step in ("2", "3"):
        assert (found[step]["status"], found[step]["reason"]) == ("skipped", f"not run: {why}")
        assert found[step]["extra"]["cause"] == "1"
    assert found["4"]["status"] == "success"
    assert ran.document["bindings"].keys() == {"n"}


def test_a_result_that_is_not_known_is_none(space: Space, calls: list[str]) -> None:
    """Neither an earlier value, nor a failure that the plan does not name."""
    first, stop = [note("early", "$a"), launch("x", "$l")], {"type": "stop", "value": "$l"}
    for status, ran in (
        ("success", dry(space, *first)),
        ("success", dry(space, *first, result="$l")),
        ("stopped", dry(space, *first, stop, note("after", "$b"))),
        ("failed", dry(space, *first, {**stop, "status": "failed"})),
    ):
        assert (ran.document["result"], ran.document["status"]) == (None, status)
        assert "not known" in ran.document["reason"]
    assert dry(space, launch("x"), note("late", "$a")).document["result"]["data"] == "late"
    ran = dry(space, launch("x", "$l"), note("late", "$a"), {"type": "say", "value": "${l}"})
    assert ran.document["result"]["data"] == "late"


def test_a_condition_that_is_not_known_decides_nothing(space: Space, calls: list[str]) -> None:
    """Not even whether something is bound; what its branches bind or change is not known after it."""
    change = {"type": "update-note", "target": "$a", "value": "changed"}
    unknown: list[Any] = [
        {"type": "equals", "target": "$l", "value": "x"},
        {"type": "bound", "target": "$l"},
        {"type": "notbound", "target": "$l"},
        {"type": "tool_condition", "tool": "sky/is_day"},
    ]
    for condition in unknown:
        first = [note("was", "$a"), launch("x", "$l")]
        branch = {"type": "if", "condition": condition, "then": [change, note("b", "$b")], "else": [note("c", "$b")]}
        found = by_step(dry(space, *first, branch, note("${a}", "$d"), note("${b}", "$e")))
        assert {step: found[step]["status"] for step in found if int(step[0]) > 2} == dict.fromkeys("345", "skipped")
        loop = {"type": "while", "condition": condition, "body": [change]}
        if condition["type"] in ("equals", "tool_condition"):
            assert by_step(dry(space, *first, loop, note("${a}", "$d")))["4"]["status"] == "skipped"
    assert calls == []


def test_a_loop_shows_what_it_would_call_for_each_item(space: Space, calls: list[str]) -> None:
    """And what it gives is not known, rather than empty."""
    items = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
    each = {"type": "for-each", "target": "$c", "do": [launch("${item}", "$r")], "out": "$all"}
    mapped = {"type": "map", "target": "$c", "operation": {"type": "sky/launch", "arguments": {"rocket": "$item"}}}
    size = {"type": "size", "target": "$all", "out": "$n"}
    found = by_step(
        dry(space, items, each, size, {**mapped, "out": "$m"}, {"type": "size", "target": "$m", "out": "$o"})
    )
    assert [found[f"2.do[{n}].1"]["would"]["arguments"] for n in (1, 2)] == [{"rocket": "a"}, {"rocket": "b"}]
    assert found["4"]["would"] == {"effect": "calls", "arguments": [{"rocket": "a"}, {"rocket": "b"}], "asks": True}
    assert {found[step]["status"] for step in ("2", "3", "4", "5")} == {"skipped"}
    kept = {"type": "for-each", "target": "$c", "do": [note("<${item}>", "$r"), launch("${item}")], "out": "$all"}
    assert by_step(dry(space, items, {**kept, "collect": "$r"}, size))["3"]["value"] == "2"


def test_a_map_that_only_reads_is_run(space: Space) -> None:
    """As the step itself is that it does for each item."""
    texts = {"type": "create-collection", "value": ["one", "two"], "out": "$c"}
    mapped = {"type": "map", "target": "$c", "operation": {"type": "load", "slice": "0:1"}, "out": "$m"}
    ran = dry(space, texts, mapped)
    step = by_step(ran)["2"]
    assert (step["status"], "would" in step) == ("success", False)
    assert ran.document["result"]["data"] == ["o", "t"]


def test_what_a_step_that_was_not_run_would_have_changed_is_not_known(space: Space, calls: list[str]) -> None:
    """Nor is a name that it would have given, a Collection that it would have filled, an item that it went over."""
    first = [
        note("was", "$a", name="a"),
        {"type": "create-collection", "value": ["$a"], "out": "$c"},
        launch("x", "$l"),
    ]

    def statuses(*steps: Any) -> list[str]:
        found = by_step(dry(space, *first, *steps))
        return [found[str(number)]["status"] for number in range(4, 4 + len(steps))]

    update = {"type": "update-note", "target": "$a", "value": "$l"}
    assert statuses(update, note("${a}", "$x"), {"type": "load", "target": "a", "out": "$y"}) == ["skipped"] * 3
    assert statuses(update, {"type": "flatten", "target": "$c", "out": "$x"}) == ["skipped"] * 2
    named = note("${l}", "$b", name="b")
    assert statuses(named, {"type": "load", "target": "b", "out": "$x"}) == ["skipped"] * 2
    taken, by_name = note("${l}", "$b", name="a", replace=True), {"type": "load", "target": "a", "out": "$x"}
    assert statuses(taken, by_name, note("${a}", "$y")) == ["skipped", "skipped", "success"]
    moved = {"type": "name", "target": "$l", "value": "a", "replace": True}
    assert statuses(moved, by_name) == ["skipped", "skipped"]
    again = note("is", "$z", name="a", replace=True)
    assert statuses(taken, again, by_name) == ["skipped", "success", "success"]
    save_plan(space, "keep", {"inputs": {"to": {}}, "steps": [note("${to}", name="b")]})
    kept = [{"type": "plan:keep", "arguments": {"to": "$l"}}, note("b", "$w")]
    assert statuses(*kept, {"type": "load", "target": "${w}", "out": "$x"}) == ["skipped", "success", "skipped"]
    add = {"type": "add", "target": "$c", "value": "$l"}
    assert statuses(add, {"type": "size", "target": "$c", "out": "$n"}) == ["skipped"] * 2
    over = {"type": "for-each", "target": "$c", "do": [{"type": "update-note", "target": "$item", "value": "$l"}]}
    assert statuses(over, note("${a}", "$x"))[1] == "skipped"
    each = {"type": "map", "target": "$c", "operation": {"type": "update-note", "value": "$l"}}
    assert statuses(each, note("${a}", "$x")) == ["skipped"] * 2
    other = {"type": "create-collection", "value": [1], "out": "$d"}
    into = {"type": "map", "target": "$c", "operation": {"type": "add", "target": "$d", "value": "$l"}}
    size = {"type": "size", "target": "$d", "out": "$n"}
    assert statuses(other, into, size) == ["success", "skipped", "skipped"]
    assert statuses({"type": "say", "value": "$l"}, note("${a}", "$x")) == ["skipped", "success"]


def test_what_is_read_after_a_write_that_was_not_run_says_so(space: Space, calls: list[str]) -> None:
    """A search is real, but without what would be there."""
    search = {"type": "discover-notes", "query": "moon", "mode": "keyword", "limit": "all", "out": "$hits"}
    run_sync(space, [note("the moon", name="there")])
    found = by_step(dry(space, search, launch("x", "$l"), note("moon ${l}", name="m"), {**search, "out": "$again"}))
    assert "without" not in found["1"]["extra"]
    assert found["4"]["extra"]["without"] == ["3"]


def test_a_saved_plan_and_branches_are_run_as_far_as_they_are_known(space: Space, calls: list[str]) -> None:
    """The result of a saved plan that ends with a call is not known, rather than null."""
    save_plan(space, "go", {"inputs": {"to": {}}, "steps": [note("${to}", "$t"), launch("$t", "$l")]})
    save_plan(space, "halt", {"steps": [launch("z", "$l"), {"type": "stop", "value": "$l"}]})
    before = [row.run for row in runs(space)]
    steps = [
        {"type": "plan:go", "arguments": {"to": "mars"}, "out": "$a"},
        {"type": "plan:halt", "out": "$b"},
        note("${a}${b}", "$c"),
        {"type": "parallel", "branches": [[launch("p", "$p")], [note("q", "$q")]]},
        note("${q}", "$r"),
        note("${p}", "$s"),
    ]
    found = by_step(dry(space, *steps))
    assert found["1/2"]["would"]["arguments"] == {"rocket": "mars"}
    statuses = {step: found[step]["status"] for step in "12356"}
    assert statuses == {"1": "skipped", "2": "skipped", "3": "skipped", "5": "success", "6": "skipped"}
    assert [row.run for row in runs(space)] == before


def runs(space: Space) -> list[Any]:
    with space.store.reading() as snapshot:
        return snapshot.runs()


def test_a_failure_is_a_failure(space: Space, calls: list[str]) -> None:
    """What could run and did not end well; arguments that a tool would not take, too."""
    failed = dry(space, note("x", "$x"), failed_step())
    assert (failed.result.status, failed.document["steps"][-1]["status"]) == ("failed", "failed")
    wrong = dry(space, launch("$of"), of=3)
    assert "3 is not text at `rocket`" in str(wrong.result.reason)
    by_name = dry(space, {"type": "call-tool", "tool": "sky/launch", "arguments": {"rocket": "$of"}}, of=3)
    assert by_name.result.status == "failed"
    assert str(by_name.result.reason).partition(" failed: ")[2] == str(wrong.result.reason).partition(" failed: ")[2]
    handled = dry(space, note("x", "$x"), {**failed_step(), "on_fail": [note(7, "$n")]}, note("${n}", "$m"))
    assert handled.document["result"]["data"] == "7"


@pytest.mark.parametrize(
    ("step", "of", "reason"),
    [
        ({"type": "ask", "value": "$of"}, 3, "unchecked: the question is text, not 3"),
        (
            {"type": "wait", "seconds": "$of"},
            -1,
            "unchecked: `seconds` is a number from 0 to 315,360,000 (ten years), not -1",
        ),
    ],
)
def test_what_cannot_be_asked_or_waited_for_fails_as_in_a_run(space: Space, step: Any, of: Any, reason: str) -> None:
    dried = dry(space, step, of=of).result
    done = run_sync(space, {"steps": [step], "inputs": {"of": {}}}, {"of": of})
    assert [told(row) for row in dried.steps] == [told(row) for row in done.steps]
    assert [(row.status, row.reason) for row in done.steps] == [("failed", reason)]


def test_a_step_that_fails_gives_no_name(space: Space) -> None:
    """So it is not told as one that would."""
    step = by_step(dry(space, note("x", "$x"), {**failed_step(), "name": "n"}))["2"]
    assert step["status"] == "failed"
    assert "would" not in step


def failed_step() -> dict[str, Any]:
    return {"type": "coerce", "target": "$x", "coercion": "${x}", "out": "$n"}


def test_inputs_and_events_are_those_of_a_run(space: Space) -> None:
    """The run has no id, since it is nowhere."""
    heard: list[Any] = []
    prepared: Any = prepare(space, {"inputs": {"of": {}}, "steps": [note("${of}!", "$x")], "goal": "try"}, {"of": "it"})
    ran = asyncio.run(dry_run(space, prepared, heard.append, data=True))
    assert ran.document["steps"][0]["data"] == "it!"
    assert heard[0] == RunStarted("dry run", "try")
    assert isinstance(heard[-1], RunFinished)


def test_a_primitive_that_calls_though_it_says_that_it_reads_calls_nothing(space: Space, endpoint: Any) -> None:
    """The language model is not asked by anybody."""
    guess = replace(space.catalogue.get("generate-note"), type="guess", effect="reads", asks=False, provider="other")

    class Other:
        name = "other"

        def types(self) -> list[str]:
            return [guess.type]

        def describe(self, type_: str) -> Primitive:
            assert type_ == guess.type
            return guess

    space.catalogue.add(Other())
    ran = dry(space, {"type": "guess", "prompt": "x", "out": "$x"}, note("${x}", "$y"))
    assert {step["status"] for step in ran.document["steps"]} == {"skipped"}
    assert endpoint.requests == []


def test_a_name_that_is_no_tools_is_refused(space: Space) -> None:
    """As a run refuses it."""
    with pytest.raises(InfospaceError, match="names no tool"):
        dry(space, note(1), approve=("x",))


CONTAINERS = ("if", "while", "for-each", "parallel")
"""Their own row stands before those of the steps in them, which may be unknown."""


INPUTS: dict[str, dict[str, Any]] = {
    "finding: search_with_a_parameter": {"status": "open"},
    "references: inputs_of_all_sorts": {"text": "a", "note": "Note_1"},
}
"""Of the plans whose inputs have no default."""

CALLING: dict[str, str] = {
    "input_collection": "3",
    "nothing_to_answer": "1",
    "say_hello": "1",
    "search_empty_branch": "3",
    "collections: sets": "5",
    "collections: change_a_note": "5",
    "collections: relations": "6",
    "collections: metadata_of_all": "3",
    "finding: search_by_words": "2",
    "finding: best_hit_whole": "3",
    "forms: branch_and_join": "3",
    "forms: branch_with_guard": "3.else.1",
    "forms: condition_as_text": "2.then.1",
    "forms: loop_with_a_text": "3",
    "forms: wait_with_a_text": "2",
    "forms: guard_in_and": "2",
    "forms: all_conditions": "2.then.1",
    "forms: for_each_until": "3",
    "forms: ask_and_use": "1",
    "forms: wait_for_it": "1",
    "forms: handled": "2",
    "forms: rebind_in_loop": "3",
    "outside: tool_by_name": "1",
    "outside: tool_with_references": "2",
    "outside: tool_mapped": "2",
    "outside: tool_page_by_page": "1",
    "outside: tool_that_is_found": "2",
    "outside: prompt_filled_in": "1",
    "outside: resource_read": "1",
    "outside: tool_called_by_name": "1",
    "outside: tool_condition": "1",
    "outside: tool_loop": "1",
    "outside: saved_plan": "2",
    "records: one SELECT": "4",
    "records: an expression over variables": "4",
    "records: project_and_sort": "4",
    "references: dollars_as_text": "1",
    "references: exact_text_and_value": "3",
    "references: index_of_collection": "4",
    "references: collection_as_value": "3",
    "references: metadata_rules": "2",
    "references: plan_key": "1",
}
"""Of the plans that call something, say or ask, the first step that does: all others are run to their ends."""

ASKING = [f"outside: {name}" for name in ("generate", "model_on_lists", "model_with_schema", "model_mapped")]
"""Plans that ask a language model: there is none here, so nothing of them is run."""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space that the correct plans speak of, at rest."""
    path = tmp_path_factory.mktemp("space") / "space.db"
    with open_space(path) as space:
        furnish_whole(space)
    return path


@pytest.mark.parametrize("name", [name for name in RIGHT if name not in ASKING])
def test_what_a_dry_run_says_is_what_the_run_does(furnished: Path, tmp_path: Path, name: str) -> None:
    """Each step ends as in the run, with the same value, up to the first that calls something."""
    path = tmp_path / "space.db"
    shutil.copy(furnished, path)
    with open_space(path) as space:
        space.tools.add(files())
        prepared = prepare(space, RIGHT[name], INPUTS.get(name, {}))
        assert isinstance(prepared, Prepared), prepared.problems
        before = dump(path)
        dried = asyncio.run(dry_run(space, prepared))
        assert dump(path) == before
        done = run_sync(space, RIGHT[name], INPUTS.get(name, {}))
    rows = [row for row in dried.result.steps if row.type not in CONTAINERS]
    unknown = [row.position for row in (*rows, *dried.result.steps) if row.error == "dry-run"]
    assert next(iter(unknown), None) == CALLING.get(name)
    known = list(takewhile(lambda row: row.error != "dry-run", rows))
    ran = [row for row in done.steps if row.type not in CONTAINERS]
    assert [told(row) for row in known] == [told(row) for row in ran[: len(known)]]
    if unknown:
        if done.status in ("success", "stopped"):
            assert dried.result.status == done.status
        return
    assert [told(row) for row in dried.result.steps] == [told(row) for row in done.steps]
    assert (dried.result.status, dried.result.reason) == (done.status, done.reason)
    assert getattr(dried.result.result, "data", None) == getattr(done.result, "data", None)


def told(row: StepRow) -> Any:
    return row.position, row.status, row.value, row.reason, row.out
