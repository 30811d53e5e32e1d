"""`plan` and `do`: a goal in words becomes a plan that one sees first, and is run after one question."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint, Hang

from infospace import open_space
from infospace.journal.answer_cache import TTL_S
from tui.command.common.cache_option import use_cache
from tui.command.common.goal_input import PLANS_ACTIONS
from tui.command.runs import plans

READS = {
    "goal": "x",
    "steps": [
        {"type": "discover-notes", "query": "ranking", "limit": "all", "out": "$hits"},
        {"type": "size", "target": "$hits", "out": "$n"},
    ],
    "result": "$n",
}
WRITES = {"steps": [{"type": "create-note", "value": "all of it", "name": "weekly", "out": "$note"}], "result": "$note"}
FAILS = {
    "steps": [
        {"type": "create-note", "value": [], "out": "$list"},
        {"type": "compute", "expression": "1 / length('')", "out": "$x"},
    ],
    "result": "$x",
}
WRONG = json.dumps(READS).replace("$hits", "$found", 1)


def test_without_a_model_one_sentence_says_how_to_set_one(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INFOSPACE_LLM_MODEL", "INFOSPACE_LLM_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for command in ("plan", "do"):
        said = cli(command, "count the notes")
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith("infospace: no language model is configured: set INFOSPACE_LLM_MODEL")
        assert said.err.count("\n") == 1


def test_without_a_model_a_plan_is_chained_of_tools(cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is shown, kept and run as one that a model wrote; where nothing is sure, why there is none is said."""
    for name in ("INFOSPACE_LLM_MODEL", "INFOSPACE_LLM_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    program = str(Path(sys.executable).parent / "mcp-server-time")
    entry = {"command": program, "args": ["--local-timezone", "UTC"]}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"time": entry}}))
    assert cli("tools", "sync", "--mcp", "mcp.json").code == 0
    said = cli("plan", "what time is it now in Europe/Berlin?", "--out", "time.json")
    assert said.code == 0, said.err
    assert "It calls: time/get_current_time" in said.err
    assert "No language model is configured: the plan is chained of tools that fit" in said.err
    document = json.loads((tmp_path / "time.json").read_text())
    assert document["steps"][0]["arguments"] == {"timezone": "Europe/Berlin"}
    assert cli("run", "time.json", "--approve", "time/get_current_time").code == 0
    none = cli("plan", "roast a goose with red cabbage")
    assert (none.code, none.out) == (2, "")
    assert "without one there is no plan: " in none.err


def test_a_plan_is_shown_as_sentences_with_what_it_would_do(cli: Any, endpoint: Endpoint) -> None:
    endpoint.say(json.dumps(WRITES))
    said = cli("plan", "keep a note called weekly")
    assert said.code == 0
    assert said.out == '1. write a note: "all of it", as $note, kept as "weekly"\n'
    assert "It writes: weekly\n" in said.err
    assert cli("show", "weekly").code == 1


def test_what_an_input_is_without_another_value_is_shown(cli: Any, endpoint: Endpoint) -> None:
    """Who agrees to a plan reads what its inputs are."""
    steps = [{"type": "create-note", "value": "about ${topic}", "out": "$note"}]
    endpoint.say(json.dumps({"inputs": {"topic": {"type": "string", "default": "tea"}}, "steps": steps}))
    said = cli("plan", "write a note about a topic", "--input", "topic=tea")
    assert said.code == 0
    assert '$topic is "tea", unless --input gives another value\n' in said.err


def test_a_plan_is_written_to_a_file_and_kept_by_name(cli: Any, endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answers = lambda _request: json.dumps(READS)
    assert cli("plan", "count notes", "--out", "count.json").code == 0
    assert json.loads((tmp_path / "count.json").read_text()) == {**READS, "goal": "count notes"}
    assert cli("run", "count.json", "--print", "result").out == "0\n"
    assert cli("plan", "count notes", "--save", "count").code == 0
    assert cli("run", "plan:count", "--print", "result").out == "0\n"
    again = cli("plan", "count them again", "--save", "count")
    assert (again.code, "--replace" in again.err) == (1, True), again.err
    assert cli("plan", "count them again", "--save", "count", "--replace").code == 0
    assert cli("plans", "show", "count", "--json").json["goal"] == "count them again"


def test_a_goal_takes_inputs_and_its_run_remembers_what_it_may_call(cli: Any, endpoint: Endpoint) -> None:
    """The model is told of the inputs, whether the plan is run or shown."""
    steps = [{"type": "create-note", "value": "about ${topic}", "out": "$note"}]
    endpoint.answers = lambda _request: json.dumps({"inputs": {"topic": {"type": "string"}}, "steps": steps})
    given = ("--input", "topic=tea", "--no-memory")
    said = cli("do", "write about it", *given, "--yes", "--approve", "files/write")
    assert (said.code, said.out.splitlines()[-1]) == (0, "about tea"), said.err
    assert cli("plan", "write about it", *given).code == 0
    assert ["topic" in prompt for prompt in endpoint.prompts] == [True, True]
    with open_space("space.db") as space, space.store.reading() as snapshot:
        assert [one.tool for one in snapshot.approvals("run_1")] == ["files/write"]


def test_the_document_of_plan_has_the_plan_its_effects_and_what_was_tried(cli: Any, endpoint: Endpoint) -> None:
    endpoint.say(WRONG, json.dumps(WRITES))
    said = cli("plan", "keep a note", "--json")
    document = said.json
    assert document["plan"] == {**WRITES, "goal": "keep a note"}
    assert document["effects"] == [{"pointer": "/steps/0", "kind": "writes", "what": "weekly", "read_only": False}]
    assert [len(attempt["errors"]) for attempt in document["attempts"]] == [1, 0]
    assert document["llm"]["calls"] == 2
    assert document["llm"]["model"] == "made"


def test_a_goal_comes_from_standard_input(cli: Any, endpoint: Endpoint) -> None:
    endpoint.say(json.dumps(READS))
    assert cli("plan", "-", stdin="count\nthe notes\n").code == 0
    assert endpoint.prompts[0].endswith("Goal:\ncount\nthe notes")


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        ("", "the goal is blank"),
        (" \n", "the goal is blank"),
        ("x" * 1_000_000, "the goal has 1,000,000 characters, and at most 20,000 are taken"),
    ],
)
def test_a_goal_that_is_none_is_refused_in_a_sentence(cli: Any, endpoint: Endpoint, goal: str, sentence: str) -> None:
    said = cli("do", "-", stdin=goal)
    assert said.code == 2
    assert said.err.startswith(f"infospace: {sentence}")
    assert not endpoint.requests


@pytest.mark.parametrize(
    "goal", ["costs $5", "what is $x and ${y}?", "\"quoted\" 'and' `so`", "zähle die Notizen 数える"]
)
def test_a_goal_is_taken_as_it_is_written(cli: Any, endpoint: Endpoint, goal: str) -> None:
    endpoint.say(json.dumps(READS))
    said = cli("do", goal, "--json")
    assert said.code == 0
    assert endpoint.prompts[0].endswith(f"Goal:\n{goal}")
    assert cli("runs", "--json").json["runs"][0]["goal"] == goal


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("list", "'list' is not a goal (did you mean `infospace plans list`?"),
        ("lsit", "'lsit' is not a goal (did you mean `infospace plans list`?"),
        ("plan.json", "'plan.json' is a file, and no goal (`infospace run plan.json` runs the plan in it"),
    ],
)
def test_a_slip_is_no_goal_and_asks_no_model(
    cli: Any, endpoint: Endpoint, tmp_path: Path, word: str, sentence: str
) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(READS))
    for command in ("plan", "do"):
        said = cli(command, word)
        assert said.code == 2
        assert said.err.startswith(f"infospace: {sentence}")
    assert not endpoint.requests


def test_a_goal_without_quotes_is_told_to_have_some(cli: Any, endpoint: Endpoint) -> None:
    for command in ("plan", "do"):
        said = cli(command, "count", "Ann's", "notes")
        assert said.code == 2
        quoted = shlex.quote("count Ann's notes")
        assert said.err == f"infospace: a goal of several words stands in quotes: infospace {command} {quoted}\n"
    assert not endpoint.requests


def test_the_actions_of_plans_that_are_no_goals_are_all_of_them() -> None:
    parser = argparse.ArgumentParser()
    plans.configure(parser)
    [actions] = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    assert tuple(actions.choices) == PLANS_ACTIONS


def test_a_command_that_is_mistyped_is_no_goal(cli: Any, endpoint: Endpoint) -> None:
    said = cli("plnas", "list")
    assert said.code == 2
    assert "there is no command 'plnas'; did you mean 'plans'?" in said.err
    assert not endpoint.requests


def test_what_only_reads_is_run_at_once(cli: Any, endpoint: Endpoint) -> None:
    endpoint.say(json.dumps(READS))
    said = cli("do", "count the notes")
    assert said.code == 0
    assert said.out.endswith("0\n")
    assert "expected: " not in said.err


def test_what_writes_wants_a_yes(cli: Any, endpoint: Endpoint) -> None:
    """Where nobody can be asked nothing is run, and the run does not stay open."""
    endpoint.say(json.dumps(WRITES), json.dumps(WRITES))
    refused = cli("do", "keep a note")
    assert refused.code == 2
    assert "the plan writes or calls, and nobody can be asked here (--yes agrees" in refused.err
    assert cli("show", "weekly").code == 1
    assert [run["status"] for run in cli("runs", "--json").json["runs"]] == ["cancelled"]
    agreed = cli("do", "keep a note", "--yes")
    assert agreed.code == 0
    assert cli("show", "weekly").code == 0


def test_one_run_holds_the_model_and_the_steps(cli: Any, endpoint: Endpoint) -> None:
    endpoint.say(WRONG, json.dumps(READS))
    document = cli("do", "count", "--json").json
    assert [step["type"] for step in document["steps"]] == ["write-plan", "discover-notes", "size", "bind"]
    assert document["steps"][0]["extra"]["llm"]["calls"] == 2
    shown = cli("show", document["run"], "--json").json
    assert (shown["goal"], shown["status"]) == ("count", "success")


def test_a_replay_of_it_asks_no_model(cli: Any, endpoint: Endpoint) -> None:
    endpoint.say(json.dumps(READS))
    run = cli("do", "count", "--json").json["run"]
    asked = len(endpoint.requests)
    said = cli("replay", run)
    assert said.code == 0, said.err
    assert len(endpoint.requests) == asked


def test_where_a_step_fails_the_rest_is_written_anew(cli: Any, endpoint: Endpoint) -> None:
    """The model is told what was done, by id and variable, and on what it failed; done steps are not done again."""
    going_on = {"steps": [{"type": "size", "target": "$list", "out": "$n"}], "result": "$n"}
    endpoint.say(json.dumps(FAILS), json.dumps(going_on))
    said = cli("do", "divide", "--json")
    document = said.json
    assert (said.code, document["status"], document["result"]["data"]) == (0, "success", 0)
    assert re.search(r"gave Note_\d+, bound as \$list", endpoint.prompts[1])
    assert "divides by zero" in endpoint.prompts[1]
    assert [step["type"] for step in document["steps"]].count("create-note") == 1


def test_a_plan_that_fails_again_and_again_ends(cli: Any, endpoint: Endpoint) -> None:
    endpoint.say(*[json.dumps(FAILS)] * 10)
    said = cli("do", "divide")
    assert said.code == 1
    assert "divides by zero" in said.err
    assert len(endpoint.requests) <= 3


def test_a_killed_do_is_resumed_without_a_second_bill(cli: Any, endpoint: Endpoint, tmp_path: Path) -> None:
    """The first answer was journalled when the process was killed while it waited for the second; the plan runs."""
    endpoint.say(WRONG, Hang())
    process = subprocess.Popen(
        [sys.executable, "-m", "tui.command", "do", "count"], cwd=tmp_path, stderr=subprocess.DEVNULL, env=os.environ
    )
    deadline = time.monotonic() + 100
    while len(endpoint.requests) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    endpoint.say(json.dumps(READS))
    said = cli("resume", "run_1", "--json")
    assert said.code == 0, said.err
    assert len(endpoint.requests) == 3
    assert "The check refuses this plan" in endpoint.prompts[2]
    assert said.json["result"]["data"] == 0
    assert [step["type"] for step in said.json["steps"]] == ["write-plan", "discover-notes", "size", "bind"]


def test_eval_shows_what_a_model_reached_and_compares_two(cli: Any, endpoint: Endpoint, tmp_path: Path) -> None:
    """The table, the document, the exit code, and what only one of two models reached."""
    suite = [
        {"id": "two", "goal": "add one and one", "answer": 2},
        {"id": "three", "goal": "add one and two", "answer": 3},
    ]
    (tmp_path / "suite.jsonl").write_text("\n".join(map(json.dumps, suite)))
    two = json.dumps({"steps": [{"type": "compute", "expression": "1 + 1", "out": "$x"}], "result": "$x"})
    three = two.replace("1 + 1", "1 + 2")
    endpoint.say(two, three)
    good = cli("eval", "suite.jsonl", "--json", "--price", "2")
    assert good.code == 0
    assert {key: good.json[key] for key in ("model", "count", "right", "at_once", "repairs")} == {
        "model": "made",
        "count": 2,
        "right": 2,
        "at_once": 2,
        "repairs": 0,
    }
    assert good.json["cost"] == pytest.approx(good.json["tokens"] * 2 / 1e6, abs=1e-4)
    (tmp_path / "good.json").write_text(good.out)
    endpoint.say(two, two)
    bad = cli("eval", "suite.jsonl", "--compare", "good.json")
    assert bad.code == 1
    assert "✗ three" in bad.err
    assert "the answer is another one" in bad.err
    assert "three: reached there alone\n" in bad.out
    lines = {line[:32].strip(): line[32:].split() for line in bad.out.splitlines()}
    assert lines["reached"] == ["1", "2"]
    endpoint.say(two, two)
    (tmp_path / "bad.json").write_text(cli("eval", "suite.jsonl", "--json").out)
    asked = len(endpoint.requests)
    both = cli("eval", "--compare", "good.json", "bad.json")
    assert both.code == 0
    assert "three: reached here alone\n" in both.out
    assert {line[:32].strip(): line[32:].split() for line in both.out.splitlines()}["reached"] == ["2", "1"]
    assert [one["right"] for one in cli("eval", "--compare", "good.json", "bad.json", "--json").json] == [2, 1]
    assert cli("eval", "suite.jsonl", "--compare", "good.json", "bad.json").code == 2
    assert len(endpoint.requests) == asked
    (tmp_path / "none.json").write_text('{"model": "none", "right": 0, "goals": []}')
    endpoint.say(two.replace("$x", "$y", 1))
    first = cli("eval", "suite.jsonl", "--limit", "1", "--max-repairs", "0", "--compare", "none.json")
    assert (first.code, "alone" in first.out, len(endpoint.requests)) == (1, False, asked + 1)
    assert {line[:32].strip(): line[32:].split() for line in first.out.splitlines()}["goals"] == ["1"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.jsonl"], "none.jsonl"),
        (["suite.jsonl", "--limit", "0"], "--limit is 0"),
        (["--format", "nestools"], "--format nestools needs a file"),
        (["suite.jsonl", "--compare", "suite.jsonl"], "suite.jsonl"),
        (["suite.jsonl"], "line 1 of 'suite.jsonl' does not fit"),
    ],
)
def test_eval_refuses_what_is_no_suite_in_a_sentence(
    cli: Any, endpoint: Endpoint, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "suite.jsonl").write_text('{"id": "a"}')
    said = cli("eval", *arguments)
    assert said.code == 2
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert not endpoint.requests


def test_plans_that_went_well_are_listed_forgotten_and_switched_off(cli: Any, endpoint: Endpoint) -> None:
    endpoint.answers = lambda _request: json.dumps(READS)
    assert cli("plans", "remembered").out == ""
    assert cli("do", "count the notes").code == 0
    again = cli("do", "count the notes")
    assert again.code == 0
    assert "It went well before, in run_1" in again.err
    shown = cli("plan", "count the notes", "--json").json
    assert (shown["remembered"], shown["attempts"]) == (True, [])
    assert len(endpoint.requests) == 1
    assert cli("plan", "count the notes", "--no-memory", "--json").json["remembered"] is False
    assert cli("do", "count the notes", "--no-memory").code == 0
    assert len(endpoint.requests) == 3
    (kept,) = cli("plans", "remembered", "--json").json
    assert (kept["goal"], kept["run"]) == ("count the notes", "run_1")
    assert f"{kept['id']}  count the notes  run_1\n" in cli("plans", "remembered").out
    wrong = cli("plans", "forget")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    missing = cli("plans", "forget", "Note_99")
    assert "no plan 'Note_99' is remembered" in missing.err
    assert cli("plans", "memory", "off").out == "plans that go well are not remembered\n"
    assert cli("do", "count the notes").code == 0
    assert len(endpoint.requests) == 4
    assert cli("plans", "memory", "on").code == 0
    assert cli("plans", "forget", kept["id"]).out == "forgot 1 plan\n"
    assert cli("plans", "forget", "--all", "--json").json == {"forgotten": []}


def test_a_replay_asks_no_model_also_where_the_space_holds_more_now(cli: Any, endpoint: Endpoint) -> None:
    """What asked for the plan told what the space held then; the answer of that turn is taken."""
    computes = {"steps": [{"type": "compute", "expression": "1 + 1", "out": "$x"}], "result": "$x"}
    endpoint.say(json.dumps(computes), json.dumps(WRITES))
    run = cli("do", "add one and one", "--json").json["run"]
    assert cli("do", "keep a note", "--yes").code == 0
    said = cli("replay", run)
    assert said.code == 0, said.err
    assert len(endpoint.requests) == 2


def test_a_replay_of_what_gave_a_name_checks_its_plan_as_before_it(cli: Any, endpoint: Endpoint) -> None:
    """Only within the replay: afterwards the note has its name."""
    endpoint.say(json.dumps(WRITES))
    run = cli("do", "keep a note", "--yes", "--json").json["run"]
    said = cli("replay", run)
    assert said.code == 0, said.err
    assert len(endpoint.requests) == 1
    assert cli("show", "weekly", "--json").json["content"] == "all of it"


def test_what_goes_on_takes_and_keeps_answers_too(cli: Any, endpoint: Endpoint, tmp_path: Path) -> None:
    """A run that is answered or resumed, a fork, and a session; an evaluation measures, and refuses."""
    letter = {"type": "generate-note", "prompt": "Write: ${a}", "out": "$b"}
    plan = {"steps": [{"type": "ask", "value": "What?", "out": "$a"}, letter]}
    line = json.dumps({**letter, "prompt": "Write: yes"})
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    runs = [cli("run", "plan.json", "--json").json["run"] for _ in range(3)]
    assert "cached" not in cli("answer", runs[0], "1", "yes", "--cache").err
    assert len(endpoint.requests) == 1
    assert "cached" in cli("answer", runs[1], "1", "yes", "--cache").err
    cli("answer", runs[2], "1", "yes", "--only")
    assert "cached" in cli("resume", runs[2], "--cache").err
    assert "cached" in cli("fork", runs[2], "2", "--cache").err
    assert "cached" in cli("run", "-", "--session", "mail", "--cache", stdin=line).err
    assert len(endpoint.requests) == 1
    assert cli("resume", runs[0], "--cache-ttl", "5").code == 2
    refused = cli("eval", "--cache")
    assert refused.code == 2
    assert "eval takes no --cache: kept answers cost no tokens and no time" in refused.err
    assert len(endpoint.requests) == 1


def test_answers_are_kept_on_request_shown_as_cached_and_purged(cli: Any, endpoint: Endpoint, tmp_path: Path) -> None:
    plan = {"steps": [{"type": "generate-note", "prompt": "a title", "out": "$x"}], "result": "$x"}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    endpoint.say("One", "Two", "Three")
    assert "cached" not in cli("run", "plan.json", "--cache").err
    again = cli("run", "plan.json", "--cache")
    assert "cached" in again.err
    assert len(endpoint.requests) == 1
    assert cli("run", "plan.json").code == 0
    assert len(endpoint.requests) == 2
    assert cli("prune", "--cache").out.startswith("would remove 1 answer of models, 0 of tools: ")
    assert cli("prune", "--cache", "--yes", "--json").json["models"] == 1
    assert cli("run", "plan.json", "--cache").code == 0
    assert len(endpoint.requests) == 3
    for arguments in (["--cache-ttl", "5"], ["--cache", "--cache-ttl", "0"], ["--cache", "--cache-ttl", "nan"]):
        refused = cli("run", "plan.json", *arguments)
        assert (refused.code, refused.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(("given", "holds"), [(None, TTL_S), (5.0, 5.0)])
def test_answers_of_tools_hold_as_long_as_is_said(tmp_path: Path, given: float | None, holds: float) -> None:
    with open_space(tmp_path / "space.db") as space:
        use_cache(argparse.Namespace(cache=True, cache_ttl=given), space)
        assert space.answers is not None
        assert space.answers.ttl_s == holds
