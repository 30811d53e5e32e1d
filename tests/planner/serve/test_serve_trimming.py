"""What of a long answer is left out, to the character, and where it is said to be read."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.data.json_text import dump
from infospace.data.result import truncate
from planner.server.truncate import (
    BINDINGS,
    DATA,
    EXTRA,
    PART,
    PROBLEMS,
    QUESTION,
    REASON,
    SHORT_PART,
    STEPS,
    VALUE,
    truncate_bindings,
    truncate_check,
    truncate_hits,
    truncate_run,
    truncate_tools,
)

IMAGE = {"type": "image", "data": "iVBOR"}
TEXT = {"type": "text", "text": "hello"}


def step(position: str = "1", **fields: Any) -> dict[str, Any]:
    """A step as a run's JSON has it."""
    return {"step": position, "status": "success", "value": "1", "extra": {}, "reason": None, **fields}


def steps(*positions: str) -> list[dict[str, Any]]:
    return [step(position) for position in positions]


def document(**fields: Any) -> dict[str, Any]:
    """A run's JSON."""
    return {
        "run": "run_7",
        "status": "success",
        "result": None,
        "bindings": {},
        "steps": [],
        "pending": [],
        "problems": [],
        "reason": None,
        **fields,
    }


def result(data: Any, **fields: Any) -> dict[str, Any]:
    return {"status": "success", "resource_id": "Note_3", "value": "1", "data": data, "extra": {}, **fields}


def shown_steps(found: dict[str, Any]) -> list[str]:
    return [one["step"] for one in found["steps"]]


def sized(length: int, **fields: Any) -> dict[str, Any]:
    """An object of so many characters as JSON."""
    made = {"message": "", **fields}
    return {**made, "message": "x" * (length - len(dump(made)))}


def test_a_short_run_is_told_as_it_is() -> None:
    """Nothing is said to be left out."""
    whole = document(
        result=result({"n": 1}),
        bindings={"x": {"id": "Note_3"}},
        steps=[step(extra={"item_count": 3}, expect="a number")],
        pending=[{"step": "2", "question": "Which?", "schema": {"type": "string"}}],
        problems=[{"pointer": "/0", "message": "no", "hint": None, "fix": [{"op": "remove"}]}],
        reason="because",
    )
    assert truncate_run(whole) == whole


@pytest.mark.parametrize(
    ("count", "first", "found", "message"),
    [
        (STEPS, None, range(1, STEPS + 1), None),
        (STEPS + 1, None, range(1, STEPS + 1), "1 of 31; get_run with first_step=30"),
        (STEPS + 1, 0, range(1, STEPS + 1), "1 of 31; get_run with first_step=30"),
        (STEPS + 9, 4, range(5, STEPS + 5), "5 of 39; get_run with first_step=34"),
        (STEPS + 9, STEPS + 9, range(0), None),
    ],
)
def test_steps_are_told_from_where_one_asks(count: int, first: int | None, found: range, message: str | None) -> None:
    """As many as one answer shows; and where the next begin."""
    told = truncate_run(document(steps=steps(*map(str, range(1, count + 1)))), first)
    assert shown_steps(told) == [str(number) for number in found]
    assert told.get("left_out", {}).get("steps") == message


def test_rounds_that_went_well_are_left_out_until_they_are_asked_for() -> None:
    """Of loops by `do` and by `body`; a round that did not end well, and what is around, is told."""
    rounds = [*steps("1", "2.do[1].1", "2.body[12].3"), step("2.do[2].1", status="failed"), step("3")]
    told = truncate_run(document(steps=rounds))
    assert shown_steps(told) == ["1", "2.do[2].1", "3"]
    assert told["left_out"]["steps"] == "2 of 5, such as rounds of loops that went well; get_run with first_step=0"
    assert truncate_run(document(steps=rounds), 0) == document(steps=rounds)


def test_long_steps_are_told_as_far_as_there_is_room() -> None:
    """The first however long it is; what has just room is told."""
    half = [sized(PART // 2, **step(str(number))) for number in (1, 2, 3)]
    assert shown_steps(truncate_run(document(steps=half))) == ["1", "2"]
    half[1]["message"] += "x"
    assert shown_steps(truncate_run(document(steps=half))) == ["1"]
    half[0]["message"] *= 9
    assert shown_steps(truncate_run(document(steps=half))) == ["1"]


@pytest.mark.parametrize("status", ["success", "failed"])
@pytest.mark.parametrize("blocks", [[TEXT, TEXT], [TEXT, IMAGE], "hello", ["hello"]])
def test_texts_of_a_tool_that_its_result_has_are_not_told_again(status: str, blocks: Any) -> None:
    """Those of a call that failed are, and what is no text."""
    extra = {"content": blocks, "item_count": 1}
    told = truncate_run(document(steps=[step(status=status, extra=extra)]))
    gone = status == "success" and blocks == [TEXT, TEXT]
    assert told["steps"][0]["extra"] == ({"item_count": 1} if gone else extra)
    assert told["steps"][0].get("left_out") == (["content"] if gone else None)
    assert told.get("left_out") == ({"extra": "of some steps; read run_7"} if gone else None)


def test_what_is_long_besides_is_left_out_by_name_and_what_is_short_stays() -> None:
    """Only where all together are too long."""
    just = {"a": "x" * (EXTRA - len(dump({"a": "", "b": 1}))), "b": 1}
    assert truncate_run(document(steps=[step(extra=just)]))["steps"][0]["extra"] == just
    extra = {"long": "x" * EXTRA, "b": 1, "also": "x" * (EXTRA // 4 - 1), "just": "x" * (EXTRA // 4 - 2)}
    [told] = truncate_run(document(steps=[step(extra=extra)]))["steps"]
    assert told["extra"] == {"b": 1, "just": extra["just"]}
    assert told["left_out"] == ["also", "long"]
    assert truncate_run(document(result=result(1, extra=extra)))["result"]["extra"] == {"b": 1, "just": extra["just"]}


def test_a_long_result_is_named_and_a_short_one_told() -> None:
    """To the character; how it looks is cut."""
    long = "long " * 100
    whole = "x" * (DATA - 2)
    told = truncate_run(document(result=result(whole, value=long)))["result"]
    assert (told["data"], told["value"], "data_omitted" in told) == (whole, truncate(long, VALUE), False)
    told = truncate_run(document(result=result(whole + "x")))["result"]
    assert ("data" in told, told["data_omitted"]) == (False, {"characters": DATA + 1, "read": "Note_3"})


def test_reasons_values_and_what_was_expected_are_cut() -> None:
    """Each at its own length."""
    long = "long " * 400
    told = truncate_run(document(reason=long, steps=[step(reason=long, value=long, expect=long)]))
    assert told["reason"] == truncate(long, REASON)
    [one] = told["steps"]
    assert (one["reason"], one["value"], one["expect"]) == (
        truncate(long, REASON),
        truncate(long, VALUE),
        truncate(long, VALUE),
    )


def test_of_questions_the_schema_is_whole_or_left_away() -> None:
    """And the question is cut; it is said where all stands."""
    just = {"type": "x" * (QUESTION - len(dump({"type": ""})))}
    asked = {"step": "1", "question": "Which?", "schema": just}
    assert truncate_run(document(pending=[asked])) == document(pending=[asked])
    long = {**asked, "question": "why " * QUESTION, "schema": {"type": just["type"] + "x"}}
    told = truncate_run(document(pending=[long]))
    assert told["pending"] == [{"step": "1", "question": truncate(long["question"], QUESTION)}]
    assert told["left_out"] == {"pending": "some of what it waits for; read run_7"}
    many = [{**asked, "step": str(number)} for number in range(9)]
    told = truncate_run(document(pending=many))
    assert len(told["pending"]) == SHORT_PART // len(dump(many[0]))


def test_bindings_are_told_as_far_as_there_is_room() -> None:
    """A short one has room behind one that has none; never more than so many."""
    size = len(dump({"b": "xx"}))
    bindings = {"a": "x", "b": "xx", "c": "y"}
    assert truncate_bindings(bindings, 3 * size) == (bindings, 0)
    assert truncate_bindings(bindings, size) == ({"a": "x"}, 2)
    assert truncate_bindings(bindings, 2 * size - 2) == ({"a": "x", "c": "y"}, 1)
    assert truncate_bindings({"b": "xx"}, size) == ({"b": "xx"}, 0)
    assert truncate_bindings({"b": "xx"}, size - 1) == ({}, 1)
    many = {f"v{number}": 1 for number in range(BINDINGS + 3)}
    shown, left_out = truncate_bindings(many, 10**9)
    assert (list(shown), left_out) == (list(many)[:BINDINGS], 3)
    told = truncate_run(document(bindings=many))
    assert told["left_out"] == {"bindings": "3 of 103; read run_7"}


def test_problems_are_told_as_many_as_one_can_mend() -> None:
    """A fix is whole, or there is none; a pointer that is too long is that of the place around."""
    many = [{"pointer": f"/{number}", "message": "no", "hint": None, "fix": None} for number in range(PROBLEMS + 1)]
    assert truncate_check(ok=False, problems=many[:-1]) == {"ok": False, "problems": many[:-1]}
    told = truncate_check(ok=False, problems=many)
    assert told == {"ok": False, "problems": many[:-1], "left_out": {"problems": "1 of 21; fix these first"}}
    assert truncate_run(document(problems=many))["left_out"] == told["left_out"]
    fix = [{"op": "x" * (DATA - len(dump([{"op": ""}])))}]
    problem = {"pointer": f"/a/{'b' * REASON}/c", "message": "s" * DATA, "hint": "h" * DATA, "fix": fix}
    [short] = truncate_check(ok=False, problems=[problem])["problems"]
    assert short == {
        "pointer": "/a",
        "message": truncate("s" * DATA, REASON),
        "hint": truncate("h" * DATA, REASON),
        "fix": fix,
    }
    fix[0]["op"] += "x"
    assert truncate_check(ok=False, problems=[problem])["problems"][0]["fix"] is None
    just = {"pointer": f"/{'a' * (REASON - 1)}", "message": "s" * DATA, "hint": None, "fix": None}
    [short] = truncate_check(ok=False, problems=[just])["problems"]
    assert (short["pointer"], short["hint"]) == (just["pointer"], None)
    whole = sized(DATA, pointer="/a", hint=None, fix=None)
    assert truncate_check(ok=True, problems=[whole]) == {"ok": True, "problems": [whole]}


def test_hits_lose_their_texts_and_then_the_last_of_them() -> None:
    """Where they are long; one hit is told however long it is."""
    hit = {"text": "x", "metadata": {"source_id": "Note_1"}}
    room = DATA - len(dump([hit])) + 1
    just = {"data": [{**hit, "text": "x" * room}], "extra": {}}
    assert len(dump(just["data"])) == DATA
    assert truncate_hits(just) == just
    more = {"data": [{**hit, "text": "x" * (room + 1)}], "extra": {}}
    left_out = {"text": "read the `source_id` of a hit for its whole text"}
    assert truncate_hits(more) == {"data": [{"metadata": hit["metadata"]}], "extra": {}, "left_out": left_out}
    third = [sized(DATA, metadata={"source_id": f"Note_{number}"}) for number in range(5)]
    told = truncate_hits({"data": third})
    assert (told["data"], told["left_out"]["text"]) == (third[:3], left_out["text"])
    assert told["left_out"]["hits"].startswith("2 of 5; ask for fewer")
    assert truncate_hits({"data": [sized(4 * DATA)]})["data"] == [sized(4 * DATA)]
    assert truncate_hits({"data": "x" * 2 * DATA}) == {"data": "x" * 2 * DATA}


def test_of_tools_what_says_nothing_is_left_away() -> None:
    """What is not as usual is told; schemas without titles and `$schema`."""
    schema = {"$schema": "https://json-schema.org", "title": "T", "properties": {"title": {"title": "N", "type": "x"}}}
    usual = {"name": "a", "title": "", "kind": "tool", "integration_type": "MCP", "untrusted": False}
    odd = {"name": "b", "title": "B", "kind": "prompt", "integration_type": "plan", "untrusted": True}
    told = truncate_tools({"tools": [{**usual, "input_schema": schema, "output_schema": None}, odd], "total": 2})
    properties = {"properties": {"title": {"type": "x"}}}
    assert told == {"tools": [{"name": "a", "input_schema": properties, "output_schema": None}, odd], "total": 2}
    assert truncate_tools({"tools": [], "guess": usual}) == {"tools": [], "guess": {"name": "a"}}
    assert truncate_tools({"tools": [], "guess": None}) == {"tools": [], "guess": None}


def test_problems_and_reasons_are_told_in_the_words_of_the_set() -> None:
    """What a command line would do is done there by a tool, or by whoever runs the server."""
    problem = {
        "code": "unknown-plan",
        "severity": "error",
        "pointer": "/steps/0",
        "message": "there is no plan 'x'",
        "hint": "`infospace plans` lists them; `infospace plans save x PLAN` can save one",
        "fix": None,
    }
    [told] = truncate_check(False, [problem])["problems"]
    assert told["hint"] == "search_tools lists them; whoever runs this server can save one"
    again = truncate_run(document(problems=[problem], reason="gone; `infospace runs` lists them"))
    assert again["problems"] == [told]
    assert again["reason"] == "gone; the list of resources lists them"


def test_what_is_left_out_is_told_in_the_order_of_the_alphabet() -> None:
    """The same each time, for whoever compares answers."""
    names = [f"{letter}-long" for letter in "hgfedcba"]
    told = truncate_run(document(steps=[step(extra=dict.fromkeys(names, "x" * EXTRA))]))
    assert told["steps"][0]["left_out"] == names[::-1]
