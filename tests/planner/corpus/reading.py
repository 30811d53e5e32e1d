"""The goals of the corpus as its files have them, one file a kind."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KINDS = ("data", "pages", "texts", "dates", "tables", "notes")


@dataclass(frozen=True)
class Goal:
    """A goal with its plan, its program (the body of a function) and its answer.

    `options` are the lines between the goal and the plan: `rows: FILE` for an input that is a table, `out: FILE` where
    the answer is written to a file and is text, `trick: WHY` where the plan says something in a roundabout way.
    """

    kind: str
    goal: str
    options: Mapping[str, str]
    plan: Any
    program: str
    answer: Any

    @property
    def document(self) -> dict[str, Any]:
        """The plan as a document with its goal."""
        plan = self.plan if isinstance(self.plan, dict) else {"steps": self.plan}
        return {"goal": self.goal, **plan}

    @property
    def plan_size(self) -> int:
        """Characters of the plan as compact JSON, without the goal."""
        return len(json.dumps(self.plan, separators=(",", ":"), ensure_ascii=False))

    @property
    def program_size(self) -> int:
        """Characters of the program without comments and blank lines."""
        lines = (re.sub(r"(^|  )# .*", "", line).rstrip() for line in self.program.splitlines())
        return len("\n".join(line for line in lines if line))

    @property
    def function(self) -> str:
        """The program as a function `program`."""
        return "def program():\n" + textwrap.indent(self.program, "    ")


BLOCK = re.compile(r"```(json|python|answer)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPTION = re.compile(r"^(\w+): (.+)$", re.MULTILINE)


def goals(kind: str) -> list[Goal]:
    """Read the goals of a kind."""
    text = (HERE / f"{kind}.md").read_text(encoding="utf-8")
    read = []
    for part in text.split("\n## ")[1:]:
        goal, _, rest = part.partition("\n")
        options = dict(OPTION.findall(rest.split("```", 1)[0]))
        blocks = dict(BLOCK.findall(rest))
        answer = blocks["answer"] if "out" in options else json.loads(blocks["answer"])
        read.append(Goal(kind, goal, options, json.loads(blocks["json"]), blocks["python"], answer))
    return read
