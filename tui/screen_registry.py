"""The places of the screen, in their order. A place is a line here and a file of its name in `tui/screens/`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.base_screen import BaseScreen


FOLDERS = ("notes", "tools", "compose")
"""The places that are folders, because they have many parts."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A place: its file, which has a class of the same name as the title, and what it is for."""

    name: str
    title: str
    summary: str

    @property
    def module(self) -> str:
        """The module of its class: a file of its name, in a folder of its name where it has more than one."""
        return f"tui.screens.{self.name}" + (f".{self.name}" if self.name in FOLDERS else "")

    def load(self) -> type[BaseScreen]:
        """Return the class of the place; its file is imported now."""
        result: type[BaseScreen] = getattr(importlib.import_module(self.module), self.title)
        return result


PLACES = (
    Entry("runs", "Runs", "all runs, live: search, open, resume, replay, fork, compare, delete"),
    Entry("plan", "Plan", "the steps of the run that is open, as a tree and over time"),
    Entry("step", "Step", "one step: its arguments, its result, its calls"),
    Entry("variables", "Variables", "what every variable was bound to at any moment of the run"),
    Entry("notes", "Notes", "browse and search notes, Collections and Relations: edit, versions, provenance"),
    Entry("tools", "Tools", "servers and tools: search, describe, try a call, metrics; what a client would see"),
    Entry("compose", "Compose", "write a plan: checked, fixed and completed as you type; run it, step by step too"),
    Entry("compare", "Compare", "two runs side by side: arguments, outcomes, what came and went, time and cost"),
)


FIRST = 2
"""The number of the first place. F1 is the help everywhere; so a place has the same number as its F key."""


def numbered() -> Iterator[tuple[int, Entry]]:
    """Give the places with their numbers: `F2` goes to number 2 from anywhere, `2` where nothing is being written."""
    return enumerate(PLACES, start=FIRST)


def key_of(name: str) -> str:
    """Return the key that goes to a place from anywhere, such as `F8`."""
    return next(f"F{number}" for number, entry in numbered() if entry.name == name)


def entry_of(name: str) -> Entry | None:
    """Return the place of a name, None where there is none."""
    return next((entry for entry in PLACES if entry.name == name), None)
