"""A planner's context: what stands in it before the first turn, and what each turn writes into it and reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from infospace.core.json_types import JSON
from infospace.data.json_text import dump

FIXED = ("tools", "language")
"""The parts that stand in the context before there is a task."""


class Turn(NamedTuple):
    """What the model writes in one turn, and what it reads for it, in characters."""

    written: int
    read: int


@dataclass
class Conversation:
    """What passes through the context of one planner, in characters, each once."""

    parts: Counter[str] = field(default_factory=Counter)
    turns: list[Turn] = field(default_factory=list)

    def given(self, part: str, text: str) -> None:
        """Put a text into the context before the next turn: the request, the tools."""
        self.parts[part] += len(text)

    def turn(self, part: str, exchanges: Iterable[tuple[str, str]]) -> None:
        """Let the model write calls at once, and read what each answers."""
        written, read = (sum(map(len, side)) for side in zip(*exchanges, strict=True))
        self.parts[f"{part}, written"] += written
        self.parts[f"{part}, read"] += read
        self.turns.append(Turn(written, read))

    def answered(self, answer: JSON) -> None:
        """Let the model write its answer, which ends the conversation."""
        written = len(dump(answer))
        self.parts["answer"] += written
        self.turns.append(Turn(written, 0))

    @property
    def once(self) -> int:
        """All that passed through the context, each character once."""
        return sum(self.parts.values())

    @property
    def fixed(self) -> int:
        """What stood there whatever the task."""
        return sum(self.parts[part] for part in FIXED)


def sent(tasks: Iterable[Conversation]) -> int:
    """Return what is sent and written when the tasks are done one after another in one context, sent for each turn.

    What stands in it whatever the task, stands in it once.
    """
    context = total = 0
    for number, task in enumerate(tasks):
        moved = sum(turn.written + turn.read for turn in task.turns)
        context += task.once - moved - (task.fixed if number else 0)
        for turn in task.turns:
            total += context + turn.written
            context += turn.written + turn.read
    return total


def together(tasks: Iterable[Conversation]) -> int:
    """Return what passes through one context in which the tasks are done one after another, each character once."""
    every = list(tasks)
    return sum(task.once - task.fixed for task in every) + max(task.fixed for task in every)
