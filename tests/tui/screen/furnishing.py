"""Runs to be looked at, of every kind there is; made with a clock that only goes when it is asked."""

from __future__ import annotations

import time
from typing import Any

import pytest

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.journal.result import RunResult

BEGINNING = 1_775_000_000.0
"""31 March 2026, 23:33:20 UTC."""


def note(value: Any, out: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a step that makes a Note."""
    step = {"type": "create-note", "value": value, **fields}
    return step if out is None else {**step, "out": out}


WAIT = {"type": "wait", "seconds": 3_000}
"""A step that goes on until somebody halts its run, where the fixture `patient` lets it."""
ASK = {"type": "ask", "value": "Which year was it?", "schema": {"enum": [1984, 1985, "another"]}, "out": "$year"}
YEAR: dict[str, Any] = {
    "goal": "Write down the year",
    "steps": [note("in ", "$in"), ASK, note("${in}${year}", "$when")],
}
NUMBER = {"type": "ask", "value": "How many were there?", "schema": {"type": "integer"}, "out": "$count"}
COUNT = {"goal": "Count them", "steps": [NUMBER, note("${count}!", "$said")]}
ITEMS = {"type": "create-collection", "value": ["one", "two", "three"], "out": "$items"}
LOUD = {
    "type": "for-each",
    "target": "$items",
    "do": [note("${item}!", "$loud"), {"type": "say", "value": "${loud}"}],
    "out": "$all",
}
CHOICE = {
    "type": "if",
    "condition": {"type": "equals", "target": "$n", "value": 3},
    "then": [note("three", "$word")],
    "else": [note("other", "$word")],
}
EVERY = {
    "goal": "Say every item aloud, and count them",
    "steps": [ITEMS, LOUD, {"type": "size", "target": "$all", "out": "$n"}, CHOICE, note("${n}: ${word}", "$answer")],
    "result": "$answer",
}
WRONG = {
    "goal": "Read a number out of a text that has none",
    "inputs": {"word": {"type": "string", "default": "none"}},
    "steps": [note("${word}", "$text"), {"type": "coerce", "target": "$text", "coercion": "int", "out": "$number"}],
}
BRANCHES = [
    [{"type": "web/fetch", "arguments": {"url": page}, "out": f"${page}"}, note(f"read ${{{page}}}", f"$r{page}")]
    for page in ("a", "b")
]
BESIDE = {
    "goal": "Fetch two pages side by side",
    "steps": [{"type": "parallel", "branches": BRANCHES}, note("${ra} ${rb}", "$both")],
}
REFUSED = {"goal": "Nothing like it", "steps": [note("x", "$x"), {"type": "size", "target": "$x", "out": "$n"}]}


def web() -> LocalTools:
    """Return a server of one tool that reads."""
    server = LocalTools("web")

    @server.tool(read_only=True)
    async def fetch(url: str) -> str:
        """Fetch a page."""
        return f"the page of {url}"

    return server


def furnish(space: Space, monkeypatch: pytest.MonkeyPatch) -> list[RunResult]:
    """Make a run of each kind, at times that are always the same; return how they ended."""
    space.tools.add(web())
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", Ticking(BEGINNING, 0.001))
        patched.setattr(time, "perf_counter", Ticking(0.0, 0.0005))
        return [run_sync(space, plan) for plan in (EVERY, WRONG, YEAR, COUNT, BESIDE)]


class Ticking:
    """A clock that goes on by so many seconds each time it is asked."""

    def __init__(self, at: float, by: float) -> None:
        self._at = at
        self._by = by

    def __call__(self) -> float:
        self._at += self._by
        return self._at
