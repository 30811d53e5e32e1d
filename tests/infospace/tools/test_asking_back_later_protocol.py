"""The later protocol answers a call with what is to be asked: a space of ours behind another one asks its person so."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from infospace import Space
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare
from planner.journal.result import RunResult
from planner.language.references import literal
from planner.lifecycle.resume import answer, resume

sys.path.insert(0, str(Path(__file__).parent))
from served import synced, write


def played(space: Space, plan: Any) -> RunResult:
    """Have the space behind run a plan."""
    arguments = literal({"plan": plan, "wait_s": 60})
    step = {"type": "inner/run_plan", "arguments": arguments, "out": "$told"}
    prepared = prepare(space, {"steps": [step]})
    assert isinstance(prepared, Prepared), prepared
    return asyncio.run(Run(space, prepared.plan, lambda _: None, prepared.warnings).run(prepared.bound))


def answered(space: Space, result: RunResult, value: Any) -> RunResult:
    """Answer what a run waits for, and go on."""
    answer(space, str(result.run), result.pending[0].step, value)
    return asyncio.run(resume(space, str(result.run)))


def test_a_question_of_a_space_behind_is_a_question_of_the_run(space: Space, tmp_path: Path) -> None:
    inner = [sys.executable, "-m", "tui.command", "--space", str(tmp_path / "inner.db"), "serve", "--tools", "full"]
    entry = {"command": inner[0], "args": inner[1:], "trusted": True, "autoApprove": True, "timeout_s": 120}
    assert synced(space, mcp=write(tmp_path, inner=entry)).failed == []
    asks = [
        {"type": "ask", "value": "Who comes?", "schema": {"type": "string", "minLength": 2}, "out": "$who"},
        {"type": "ask", "value": "How many?", "schema": {"type": "integer"}, "out": "$count"},
    ]
    first = played(space, asks)
    assert first.status == "suspended", first.to_json()
    assert space.tools.servers is not None
    spoken = space.tools.servers.pool._connections["inner"]._client
    assert spoken is not None
    assert spoken.protocol_version in MODERN_PROTOCOL_VERSIONS
    assert first.pending[0].question.startswith("inner/run_plan asks: Who comes?")
    second = answered(space, first, {"answer": "Ann"})
    assert second.pending[0].question.startswith("inner/run_plan asks: How many?"), second.to_json()
    result = answered(space, second, {"answer": 3})
    assert result.status == "success", result.to_json()
    view = space.context()
    told: Any = view.content(view.get(result.bindings["told"].id))
    assert told["status"] == "success"
    assert "Ann" in str(told)
    space.close()
