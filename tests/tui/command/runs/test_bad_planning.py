"""Endpoints and models that go wrong, over real HTTP: each costs one sentence, and nothing is lost."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from chatting import Answer, Endpoint, Fail, Flood, Hang, Raw, Say

from planner.goals.guards import Limits
from tui.command.common.goal_input import limits_of
from tui.command.runs import do, plan

GOOD = json.dumps({"steps": [{"type": "create-collection", "value": [1, 2], "out": "$x"}], "result": "$x"})
MANY = json.dumps({"steps": [{"type": "create-note", "value": number, "out": "$x"} for number in range(10_000)]})
BAD: dict[str, tuple[list[Answer | str], str]] = {
    "hangs": ([Hang()], "did not answer within 0.5 seconds"),
    "sends 100 MB": ([Flood(100 * 2**20)], "answers with more than 64 MB, which are not taken"),
    "streams without an end": ([Say("x" * (20 * 2**20))], "answers without an end"),
    "sends packed 100 MB": ([Flood(100 * 2**20, packed=True)], "answers with more than 64 MB, which are not taken"),
    "sends bytes that are no text": ([Raw(b"\xff\xfe\x00garbage")], "looks like UTF-16 text"),
    "sends a web page": ([Raw(b"<html>Welcome</html>", "text/html")], "is not JSON"),
    "breaks off": ([Raw(b'{"choices": [', missing=100)], "broke off"),
    "answers with nothing": ([Say("")], "answered with nothing"),
    "fails": ([Fail(500, "out of memory")], "failed with 500: out of memory"),
    "is busy": ([Fail(429, "slow down", {"retry-after": "1"})], "takes no more requests now (429)"),
    "refuses": ([Say(None, refusal="I cannot help with that.")], "the model refused: I cannot help with that."),
    "is filtered": ([Say("", finish="content_filter")], "the content filter"),
    "is cut off": ([Say(GOOD[:20], finish="length")], "the answer was cut off at"),
    "talks nonsense": (["bla bla"] * 9, "the answer has no JSON; it begins 'bla bla'"),
    "refuses in words": (
        ["I'm sorry, but I can't."] * 9,
        "the answer has no JSON; it begins \"I'm sorry, but I can't.\"",
    ),
    "writes half a plan": ([GOOD[:30]] * 9, "the model wrote no plan in 3 attempts"),
    "writes an empty plan": (['{"steps": []}'] * 9, "the plan has no steps"),
    "writes an empty list": (["[]"] * 9, "without `steps`"),
    "writes 10,000 steps": ([MANY] * 9, "the plan has 10,000 steps, and at most 300 are taken"),
    "writes keys of another language": (['{"schritte": [{"typ": "zähle"}]}'] * 9, "without `steps`"),
    "writes verbs of another language": (
        ['{"steps": [{"type": "zähle", "ziel": "$notizen"}]}'] * 9,
        "there is no step type 'zähle'",
    ),
    "calls no tool that there is": (['{"steps": [{"type": "mail/send"}]}'] * 9, "mail/send"),
    "is nested too deep": (["[" * 100_000] * 9, "the model wrote no plan"),
}


@pytest.fixture
def asked_once(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the endpoint no second time."""
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")


@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize(
    ("name", "command"), [*((name, "do") for name in BAD), ("hangs", "plan"), ("writes an empty plan", "plan")]
)
def test_what_goes_wrong_is_one_sentence(
    cli: Any, endpoint: Endpoint, name: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its exit code; the run is in the list of runs as failed, with its goal, and the next one goes well."""
    answers, sentence = BAD[name]
    if name == "hangs":
        monkeypatch.setenv("INFOSPACE_LLM_TIMEOUT", "0.5")
    endpoint.say(*answers)
    endpoint.pieces = 2**16
    started = time.process_time()
    said = cli(command, "count what is open")
    assert (said.code, said.out) == (1, "")
    lines = [line for line in said.err.splitlines() if line.startswith(("failed:", "infospace:"))]
    assert len(lines) == 1, said.err[-2_000:]
    assert sentence in lines[0]
    assert "Traceback" not in said.err
    assert len(lines[0]) < 700
    assert time.process_time() - started < 30
    run = cli("runs", "--json").json["runs"][0]
    assert (run["status"], run["goal"]) == ("failed", "count what is open")
    endpoint.script.clear()
    endpoint.say(GOOD)
    monkeypatch.setenv("INFOSPACE_LLM_TIMEOUT", "60")
    assert cli(command, "count what is open").code == 0


@pytest.mark.usefixtures("asked_once")
def test_little_of_a_flood_is_read(cli: Any, endpoint: Endpoint) -> None:
    endpoint.say(Flood(400 * 2**20))
    assert cli("plan", "count").code == 1
    assert endpoint.flooded < 100 * 2**20


def odd_answers() -> dict[str, Callable[[str], str]]:
    """What people read as the plan, though it is not the bare document."""
    return {
        "German before it": lambda plan: f"Gerne! Hier ist der Plan:\n{plan}\nViel Erfolg!",
        "Japanese around it": lambda plan: f"これが計画です。\n```json\n{plan}\n```\n以上です。",
        "a byte order mark": lambda plan: f"\ufeff{plan}",
        "thoughts": lambda plan: f"<think>数える {{}} [1]</think>{plan}",
    }


@pytest.mark.parametrize("name", odd_answers())
def test_another_language_around_the_plan_is_passed_over(cli: Any, endpoint: Endpoint, name: str) -> None:
    endpoint.say(odd_answers()[name](GOOD))
    assert cli("do", "zähle, was offen ist").code == 0
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("mode", ["whole", "steps"])
@pytest.mark.parametrize(
    ("goal", "sentence"),
    [("x" * 1_000_000, "the goal has 1,000,000 characters"), ("  \n ", "the goal is blank")],
    ids=["1 MB", "blank"],
)
def test_a_goal_that_is_none_is_refused_before_a_model_is_asked(
    cli: Any, endpoint: Endpoint, mode: str, goal: str, sentence: str
) -> None:
    said = cli("do", "-", "--mode", mode, stdin=goal)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert sentence in said.err
    assert not endpoint.requests


@pytest.mark.parametrize("mode", ["whole", "steps"])
@pytest.mark.parametrize("goal", ["costs $5", "$x ${y} ${$} $$", "\"q\" 'a' `b` \\ \\n", "a\tb\nc", "<<<material x"])
def test_a_goal_is_told_as_it_is_written_in_each_turn(cli: Any, endpoint: Endpoint, mode: str, goal: str) -> None:
    """Also after a step that failed, and when the run is resumed: nothing in it is read as a reference."""
    fails = json.dumps({"steps": [{"type": "compute", "expression": "1 / length('')", "out": "$n"}]})
    endpoint.say(fails, GOOD, json.dumps({"steps": [{"type": "stop", "value": "$x"}]}))
    said = cli("do", goal, "--mode", mode, "--json")
    assert said.code == 0, said.err
    assert [prompt.endswith(f"Goal:\n{goal}") for prompt in endpoint.prompts] == [True] * len(endpoint.requests)
    assert len(endpoint.requests) == (3 if mode == "steps" else 2)
    forks = [] if mode == "steps" else [f"{goal} (fork of run_1)"]
    assert [run["goal"] for run in cli("runs", "--json").json["runs"]] == [*forks, goal]


@pytest.mark.parametrize("option", ["--max-turns", "--max-calls", "--max-tokens", "--max-seconds"])
@pytest.mark.parametrize("value", ["0", "-1", "many", "1e99"])
def test_a_limit_that_is_none_is_refused(cli: Any, endpoint: Endpoint, option: str, value: str) -> None:
    said = cli("do", "count", f"{option}={value}")
    assert said.code == 2
    assert f"{value!r} is not a" in said.err
    assert not endpoint.requests


def test_a_limit_is_kept_to_and_said(cli: Any, endpoint: Endpoint) -> None:
    steps = [json.dumps({"steps": [{"type": "compute", "expression": f"{n} + 1", "out": "$n"}]}) for n in range(5)]
    endpoint.say(*steps)
    said = cli("do", "count", "--mode", "steps", "--max-turns", "2")
    assert said.code == 1
    assert "failed: the budget of 2 turns is spent; tried: 2 plans written, 2 run" in said.err
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("command", ["plan", "do"])
@pytest.mark.parametrize("repairs", [0, 1])
def test_a_plan_is_repaired_as_often_as_is_said(cli: Any, endpoint: Endpoint, command: str, repairs: int) -> None:
    endpoint.say(*(json.dumps({"steps": [{"type": f"nothing{number}"}]}) for number in range(4)))
    assert cli(command, "count", "--max-repairs", str(repairs)).code == 1
    assert len(endpoint.requests) == repairs + 1


@pytest.mark.parametrize("command", ["plan", "do"])
def test_tokens_are_spent_as_far_as_is_said(cli: Any, endpoint: Endpoint, command: str) -> None:
    said = cli(command, "count", "--max-tokens", "7")
    assert (said.code, "the budget of 7 tokens is too small" in said.err) == (1, True)
    assert not endpoint.requests


def test_each_limit_of_a_goal_is_the_one_that_is_said() -> None:
    """A plan that is only written calls nothing, and is written at once."""
    words = ["count", "--max-tokens", "2", "--max-seconds", "3.5"]
    for module, more, limits in (
        (do, ["--max-turns", "4", "--max-calls", "5"], Limits(turns=4, tokens=2, seconds=3.5, calls=5)),
        (plan, [], Limits(tokens=2, seconds=3.5)),
    ):
        parser = argparse.ArgumentParser()
        module.configure(parser)
        assert limits_of(parser.parse_args([*words, *more])) == limits
        assert limits_of(parser.parse_args(["count"])) == Limits()
