"""Sentences for a planner at a door: what a command line or another set of tools does is said by the door's own tools.

Errors and hints are written once for all who read them, and kept in the journal. What they advise stands in them as a
command, `infospace COMMAND …` between backticks, or as the name of a tool of `full`: either is read here, and written
anew for the set that the planner has. What only a person at a command line can do is said to be that person's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Final, Literal, TypeAlias

Audience: TypeAlias = Literal["core", "meta", "full"]
"""Who reads: a planner that has the set of this name."""

OPERATOR: Final = "whoever runs this server"
"""Who does what no tool of the planner's does."""

COMMANDS: Final[Mapping[str, Mapping[Audience, str]]] = {
    "answer": {"core": "`follow` with `step` and `value`", "full": "answer_run"},
    "cancel": {"core": '`follow` with "do": "cancel"', "full": "cancel_run"},
    "plans": {"core": '`find` with "kind": "plan"', "full": "search_tools"},
    "primitives": {"core": '`find` with "names": ["language"]', "full": "describe_primitives"},
    "resume": {"core": '`follow` with "do": "resume"', "full": "answer_run"},
    "run": {"core": "`run`", "full": "run_plan"},
    "run - --session": {"core": "`step`", "full": "run_steps"},
    "runs": {"core": "`follow` without a run", "full": "the list of resources"},
    "show": {"core": "`read`", "full": "read"},
    "add": {},
    "copy": {},
    "doctor": {},
    "export": {},
    "help": {},
    "members": {},
    "model": {},
    "plans remembered": {},
    "plans save": {},
    "schedule": {},
    "tools connect": {},
    "tools registry refresh": {},
    "tools sync": {},
    "undo": {},
    "work": {},
}
"""What does what a command does, by its first words, for each audience; without one the operator does it."""

TOOLS: Final[Mapping[str, str]] = {
    "answer_run": "follow",
    "cancel_run": '`follow` with "do": "cancel"',
    "check_plan": "run",
    "describe_primitives": "find",
    "describe_tool": "find",
    "discover_notes": "find",
    "get_run": "follow",
    "list_tools": "find",
    "run_plan": "run",
    "run_steps": "step",
    "search_tools": "find",
}
"""What does in `core` what a tool of another set does."""

_COMMAND: Final = re.compile(r"`infospace ([^`]*)`")
_TWICE: Final = re.compile(
    r"(?P<command>`infospace [^`]*`)(?:, or (?P<tool>[a-z]+_[a-z]+),(?P<then> goes on with it)"
    r"|(?P<goes> goes on), and so does (?P<call>[a-z]+_[a-z]+\([^)]*\)))"
)
"""A command, and the tool that does the same beside it: a planner has one of them."""
_TOOL: Final = re.compile(rf"(?<![\w'\"/$.])(?:{'|'.join(TOOLS)})(?: one)?(?![\w'\"/])")
"""The name of a tool, unless it is quoted, or part of another name, as what a plan says is."""


def plain(text: str, audience: Audience = "core") -> str:
    """Return a sentence without commands, and with the names of an audience's tools."""
    if "infospace " not in text and "_" not in text and "--" not in text:
        return text
    text = _TWICE.sub(partial(_one_of_two, audience=audience), text)
    text = _COMMAND.sub(lambda found: _instead(found[1], audience), text)
    if audience == "core":
        text = _TOOL.sub(_of_core, text)
    return text.replace("`--replace`", '"replace": true')


def command_of(words: str) -> str | None:
    """Return the entry of `COMMANDS` that a command has, the longest that fits; None where there is none."""
    fits = [one for one in COMMANDS if words == one or words.startswith(f"{one} ")]
    return max(fits, key=len, default=None)


def _one_of_two(match: re.Match[str], audience: Audience) -> str:
    """Return the command, or where the planner has the tool beside it, that tool with its arguments."""
    does = match["call"] or match["tool"] if audience == "full" else match["command"]
    return f"{does}{match['then'] or match['goes']}"


def _instead(words: str, audience: Audience) -> str:
    """Return what does what a command does. With the space's address it is written for people to type, and stays."""
    if words.startswith("--space ") and audience == "full":
        return f"`infospace {words}`"
    known = command_of(words)
    tool = None if known is None else COMMANDS[known].get(audience)
    if tool is None:
        return OPERATOR
    run = re.search(r"\brun_\d+\b", words)
    return f"{tool} of {run[0]}" if known == "show" and run else tool


def _of_core(match: re.Match[str]) -> str:
    name, one, _ = match[0].partition(" one")
    if one and name == "cancel_run":
        return f"cancel one with {TOOLS[name]}"
    return TOOLS[name] + one
