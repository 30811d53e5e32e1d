"""What the fixes of a wrong plan make of it: mended, it is run beside the plan that was meant."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from infospace import Space, open_space
from infospace.tools.mcp.catalogue.sync import sync
from planner.execute.start import check_plan, run
from planner.language.json_patch import apply_patch

ROUNDS = 3
"""Times that all the fixes of a plan are applied, one after another."""
Verdict: TypeAlias = Literal["right", "changed", "not fixed", "passes"]
"""Mended and calls the same; mended and calls something else; refused after all fixes; was never refused."""


@dataclass(frozen=True)
class Outcome:
    """What a run did: its status, the calls that reached the server, its answer, what it said."""

    status: str
    calls: tuple[str, ...]
    answer: str


class Workshop:
    """A space with the recording server, in a folder."""

    def __init__(self, folder: Path, tools: Sequence[Mapping[str, Any]], server: str = "gold") -> None:
        self.log = folder / "calls.log"
        self.log.touch()
        listed = folder / "tools.json"
        listed.write_text(json.dumps(list(tools)), encoding="utf-8")
        here = Path(__file__).parent / "recorder.py"
        entry = {
            "command": sys.executable,
            "args": ["-I", "-S", str(here), str(listed), str(self.log)],
            "trusted": True,
        }
        (folder / "mcp.json").write_text(json.dumps({"mcpServers": {server: entry}}), encoding="utf-8")
        self.space: Space = open_space(folder / "space.db").__enter__()
        self._loop = asyncio.new_event_loop()
        assert self._loop.run_until_complete(sync(self.space)).failed == []
        self._known: dict[str, Outcome] = {}

    def close(self) -> None:
        """Let the server and the space go."""
        self.space.tools.close()
        self._loop.close()
        self.space.close()

    def errors(self, plan: Any) -> list[Any]:
        return [problem for problem in check_plan(self.space, plan)[1].found if problem.severity == "error"]

    def mend(self, plan: Any) -> tuple[Any, bool]:
        """Apply the fixes that are offered for a plan's problems; return it and whether it passes then."""
        for _ in range(ROUNDS):
            found = check_plan(self.space, plan)[1].found
            if not any(problem.severity == "error" for problem in found):
                return plan, True
            fixes = [problem.fix for problem in found if problem.severity == "error" and problem.fix]
            if not fixes:
                return plan, False
            plan = applied(plan, fixes)
        return plan, not self.errors(plan)

    def outcome(self, plan: Any) -> Outcome:
        """Run a plan and return what came of it."""
        key = json.dumps(plan)
        if key not in self._known:
            before = self.log.stat().st_size
            result = self._loop.run_until_complete(run(self.space, plan))
            with self.log.open(encoding="utf-8") as log:
                log.seek(before)
                calls = tuple(log.read().splitlines())
            data = None if result.result is None else result.result.data
            self._known[key] = Outcome(result.status, calls, json.dumps(data, sort_keys=True, default=str))
        return self._known[key]

    def judge(self, wrong: Any, meant: Any) -> Verdict:
        """Say what fixes make of a wrong plan, which was meant to be another."""
        if not self.errors(wrong):
            return "passes" if self.outcome(wrong) != self.outcome(meant) else "right"
        mended, passes = self.mend(wrong)
        if not passes:
            return "not fixed"
        return "right" if self.outcome(mended) == self.outcome(meant) else "changed"


def applied(plan: Any, fixes: Sequence[Any]) -> Any:
    """Apply patches one after another, leaving out those whose places are gone."""
    for fix in fixes:
        try:
            plan = apply_patch(plan, fix)
        except (KeyError, IndexError, TypeError):
            continue
    return plan
