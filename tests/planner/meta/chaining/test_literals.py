"""What a goal says literally, in which parts it comes, and which arguments of a tool that becomes."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.tool import Tool
from infospace.tools.search.types import ToolTypes
from planner.metatools.chaining.candidates import WORDS, undone, without_spans
from planner.metatools.chaining.chain import Chainer, Clause
from planner.metatools.chaining.clauses import partings
from planner.metatools.chaining.literals import GoalLiteral, literals, of_input, without_literals


@pytest.mark.parametrize(
    ("goal", "found", "searched"),
    [
        (
            "rename 'report.doc' to old.doc",
            [("report.doc", {"path", "quoted"}), ("old.doc", {"path"})],
            "rename file to file",
        ),
        ('say "a b" and `c d`', [("a b", {"quoted"}), ("c d", {"quoted"})], "say and"),
        ("compare „so“ and “so”", [("so", {"quoted"}), ("so", {"quoted"})], "compare and"),
        (
            "fetch https://a.org/x?y=1, then mail ann@x.org",
            [("https://a.org/x?y=1", {"url"}), ("ann@x.org", {"email"})],
            "fetch URL, then mail",
        ),
        (
            "what time is it in Europe/Berlin at 14:30 on 2026-01-02?",
            [("Europe/Berlin", {"timezone"}), ("14:30", {"time"}), ("2026-01-02", {"date"})],
            "what time is it in timezone at time on date?",
        ),
        ("add 17 and 25.5 or -3.", [(17, {"number"}), (25.5, {"number"}), (-3, {"number"})], "add and or ."),
        ("list *.py in ./src/app", [("*.py", {"glob"}), ("./src/app", {"path"})], "list files in"),
        ("play Abbey Road of The Beatles", [("Abbey Road of The Beatles", {"name"})], "play Abbey Road of The Beatles"),
        ("ask NASA for v1.2 of it's file", [], "ask NASA for v1.2 of it's file"),
        ("show spotify:track:4uLU6hMCjM", [("spotify:track:4uLU6hMCjM", {"uri"})], "show"),
        ("read /etc/hosts and ~/x.txt", [("/etc/hosts", {"path"}), ("~/x.txt", {"path"})], "read and file"),
        (f"add {'1' * 5_000} and {'1' * 301}.5", [], f"add {'1' * 5_000} and {'1' * 301}.5"),
        (f"add {'9' * 300}", [(int("9" * 300), {"number"})], "add"),
    ],
)
def test_a_goal_says_texts_numbers_and_names(goal: str, found: list[tuple[Any, set[str]]], searched: str) -> None:
    """A search reads words in their places, and a number that no plan could hold is a word as any other."""
    every = literals(goal)
    assert [(one.value(), one.kinds) for one in every] == found
    assert [goal[one.start : one.end].strip("'\"`„“”") for one in every] == [one.text for one in every]
    assert without_literals(goal, every) == searched


def test_the_words_around_a_literal_go_with_it() -> None:
    """Four before it and two after it, in small letters."""
    [one] = literals("Please show ME the last 5 commits of it")
    assert (one.before, one.after) == (("show", "me", "the", "last"), ("commits", "of"))
    [one] = literals("Show 5 of it")
    assert (one.before, one.after) == (("show",), ("of", "it"))


def test_an_input_is_as_if_the_goal_said_it_by_its_name() -> None:
    assert of_input("repo_path", "/srv/x") == GoalLiteral(
        "/srv/x", frozenset({"path", "quoted"}), -1, -1, ("repo", "path"), (), "repo_path"
    )
    number = of_input("count", 2.5)
    assert number is not None
    assert (number.kinds, number.value()) == ({"number"}, 2.5)
    assert [of_input("x", value) for value in (True, None, [1])] == [None] * 3


@pytest.mark.parametrize(
    ("goal", "parts"),
    [
        ("show the log and its cast", ["show the log and its cast"]),
        ("read the file; delete it. list all", ["read the file|delete it|list all"]),
        (
            "stage a.txt, commit it and then push",
            ["stage a.txt, commit it|push", "stage a.txt|commit it|push"],
        ),
        ("find x, y, and z", ["find x, y, and z", "find x|y, and z", "find x, y|z", "find x|y|z"]),
        ("say 'one, then two' and 'three'", ["say 'one, then two' and 'three'"]),
        ("add a.txt and b.txt", ["add a.txt and b.txt"]),
        ("do a then b then c then d", []),
    ],
)
def test_a_goal_is_parted_where_something_else_is_to_be_done(goal: str, parts: list[str]) -> None:
    """Always at what stands only there, and into three parts at most; not within a literal, nor before one."""
    found = list(partings(goal, literals(goal)))
    assert ["|".join(goal[start:end] for start, end in ways) for ways in found] == parts


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def tool(name: str, *optional: str, **takes: Any) -> Tool:
    required = [key for key in takes if key not in optional]
    return Tool("s", name, f"Does {name}.", {"type": "object", "properties": takes, "required": required})


MOVE = tool("move_file", source=TEXT, destination=TEXT)
CONVERT = tool("convert_time", source_timezone=TEXT, time=TEXT, target_timezone=TEXT)
LOG = tool("git_log", "max_count", repo_path=TEXT, max_count=WHOLE)
TAIL = tool("show_lines", "tail", "head", path=TEXT, tail=WHOLE, head=WHOLE)
ROOM = tool("book_room", room={"enum": ["red", "blue"]}, hours=WHOLE)


@pytest.mark.parametrize(
    ("called", "goal", "arguments"),
    [
        (MOVE, "rename 'a.txt' to b.txt", {"source": "a.txt", "destination": "b.txt"}),
        (MOVE, "move to b.txt the file a.txt", {"source": "a.txt", "destination": "b.txt"}),
        (
            CONVERT,
            "convert 14:30 from Europe/Berlin to Asia/Tokyo",
            {"time": "14:30", "source_timezone": "Europe/Berlin", "target_timezone": "Asia/Tokyo"},
        ),
        (LOG, "show the last 5 commits of /srv/app", {"repo_path": "/srv/app", "max_count": 5}),
        (LOG, "show 5 commits of /srv/app", {"repo_path": "/srv/app"}),
        (LOG, "show the log of readme.txt", None),
        (TAIL, "show the first 3 lines of a.txt", {"path": "a.txt", "head": 3}),
        (TAIL, "show the last 3 lines of a.txt", {"path": "a.txt", "tail": 3}),
        (
            tool("add_files", files={"type": "array", "items": TEXT}),
            "add a.txt and b.txt",
            {"files": ["a.txt", "b.txt"]},
        ),
        (tool("get_sum", a={"type": "number"}, b={"type": "number"}), "add 17 and 25.5", {"a": 17, "b": 25.5}),
        (tool("count", n=WHOLE), "count to 2.5", None),
        (tool("find", pattern=TEXT, path=TEXT), "find *.py in ./src", {"pattern": "*.py", "path": "./src"}),
        (tool("fetch", url=TEXT), "fetch https://a.org/x", {"url": "https://a.org/x"}),
        (tool("fetch", url=TEXT), "fetch 'page'", None),
        (ROOM, "book the Red room for 2 hours", {"room": "red", "hours": 2}),
        (ROOM, "book the red or blue room for 2 hours", None),
    ],
)
def test_literals_become_the_arguments_that_they_fit(called: Tool, goal: str, arguments: Any) -> None:
    """By what they are, by the names of the arguments and the words beside them; none is made up."""
    every = literals(goal)
    clause = Clause(every, frozenset(range(len(every))), WORDS.findall(undone(without_spans(goal, 0, every))))
    chains = Chainer([called], ToolTypes()).chains(called, clause)
    assert (chains[0].last.arguments if chains else None) == arguments
