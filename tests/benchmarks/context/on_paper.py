"""The tasks through code execution, on paper: what a model would write and read if its programs could call the tools.

The programs in `programs` are as short as they are honestly written, and were not run: there is no sandbox here, and
each server's answers are taken to be parsed as its tools say. Counted are the tool that runs code, what the search
for tools reads, as planned (a line for each tool stands for the stub that a model reads), the program, what it prints,
and the answer. A try of what a tool answers, where planned there is one, is counted as planned.
"""

from __future__ import annotations

from pathlib import Path

from context.conversation import Conversation
from context.planned import Task

PROGRAMS = Path(__file__).parent / "programs"
RUNNER = (
    '{"name":"run_code","description":"Run Python in a sandbox; what it prints is the answer. tools.find(query) lists '
    "functions that fit, tools.SERVER.NAME(**arguments) calls one and gives its JSON, or its text. Variables do not "
    'stay.","input_schema":{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}}'
)
"""What a model would be given in place of tools and language."""


def characters(task: Task, by_plan: Conversation) -> int:
    """Return the characters that would pass through the model once, the tool that runs code among them."""
    program = (PROGRAMS / f"{task.name}.txt").read_text(encoding="utf-8")
    as_planned = sum(by_plan.parts[f"{part}, {way}"] for part in ("finding", "tries") for way in ("written", "read"))
    # The answer is printed, and then written to the user.
    return len(RUNNER) + len(task.request) + as_planned + len(program) + 2 * by_plan.parts["answer"]
