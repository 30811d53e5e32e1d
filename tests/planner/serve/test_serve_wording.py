"""What a sentence advises is something that its reader has: a tool of the set that a planner was given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.server.core.tools import CORE
from planner.server.core.wording import COMMANDS, OPERATOR, TOOLS, Audience, command_of, plain
from planner.server.tools import DISCOVER_NOTES
from planner.server.tools import TOOLS as FULL

ROOT = Path(__file__).parents[3]
COMMAND = re.compile(r"`infospace ([a-z][^`]*)`")


def test_every_command_that_a_sentence_of_the_code_names_has_a_counterpart_at_the_door() -> None:
    """A new hint that names a new command is found here, before a planner reads it."""
    named = {words for text in _texts() for words in COMMAND.findall(text)}
    assert len(named) > 25
    assert {words for words in named if command_of(words) is None} <= {"do", "serve --config", "x"}
    assert {*COMMANDS} == {command_of(words) for words in (*named, *COMMANDS)} - {None}


def _texts() -> Iterator[str]:
    for package in ("infospace", "planner", "primitives"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    yield "".join(one.value if isinstance(one, ast.Constant) else "x" for one in node.values)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def test_the_tools_that_are_named_in_place_of_others_are_there() -> None:
    assert {*TOOLS} <= {*FULL, DISCOVER_NOTES, "list_tools", "describe_tool", "search_tools"}
    for audiences in COMMANDS.values():
        core, full = audiences.get("core", "`find`"), audiences.get("full", "read")
        assert {*re.findall(r"`(\w+)`", core)} <= {*CORE, "step", "value"}
        assert full in {*FULL, "search_tools", "the list of resources"}
    for said in TOOLS.values():
        assert {*re.findall(r"`(\w+)`", said)} | {*re.findall(r"^\w+$", said)} <= {*CORE}


@pytest.mark.parametrize(
    ("audience", "sentence", "told"),
    [
        ("core", "there is no run_9 (`infospace runs` lists the runs of a space)", "`follow` without a run lists the"),
        ("full", "there is no run_9 (`infospace runs` lists the runs of a space)", "the list of resources lists the"),
        ("meta", "there is no run_9 (`infospace runs` lists the runs of a space)", f"{OPERATOR} lists the"),
        ("core", "`infospace show run_7 --json` has the plan", "`read` of run_7 has the plan"),
        ("core", "`infospace plans save NAME PLAN` can save one", f"{OPERATOR} can save one"),
        ("core", "`infospace run - --session s` gives it steps", "`step` gives it steps"),
        (
            "core",
            "gone; `infospace resume`, or answer_run, goes on with it",
            '`follow` with "do": "resume" goes on with',
        ),
        ("full", "gone; `infospace resume`, or answer_run, goes on with it", "gone; answer_run goes on with it"),
        ("core", "`infospace answer run_7 2 …` goes on, and so does answer_run('run_7', '2', …)", "`value` goes on"),
        ("core", "wait for one with get_run, or cancel_run one", 'with follow, or cancel one with `follow` with "do"'),
        ("core", "a name that is new to the space: `infospace surprise`", f"space: {OPERATOR}"),
    ],
)
def test_what_is_advised_is_said_in_the_words_of_who_reads(audience: Audience, sentence: str, told: str) -> None:
    said = plain(sentence, audience)
    assert told in said
    assert "infospace " not in said


@pytest.mark.parametrize("word", ["'run_plan'", '"get_run"', "git/get_run", "get_run/x", "my_get_run", "$run_plan"])
def test_what_a_plan_says_itself_is_not_said_anew(word: str) -> None:
    sentence = f"there is no step type {word} here"
    assert plain(sentence) == sentence
