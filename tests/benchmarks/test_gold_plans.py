"""The count of gold plans is right: those that pass, those that are left out, and those that are wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from gold_plans import run


def test_gold_plans_are_counted(tmp_path: Path) -> None:
    """One of NesTools whose required argument is missing is refused by the check, and so counted as wrong."""
    api = {
        "api_name": "find",
        "api_description": "Find.",
        "parameters": {"title": {"type": "str"}},
        "required": ["title"],
        "responses": {"isbn": {"type": "str"}},
    }

    def task(number: int, parameters: dict[str, Any]) -> str:
        call = {"api_name": "find", "parameters": parameters, "responses": ["API_call_0"]}
        return json.dumps({"test_id": number, "api": [api], "task": "find it", "call": [call]})

    (tmp_path / "nestools-dev").mkdir()
    lines = [task(1, {"title": "A costs $5"}), task(2, {})]
    (tmp_path / "nestools-dev" / "tasks.jsonl").write_text("\n".join(lines))
    (tmp_path / "nestful").mkdir()
    spec = [{"name": "A", "query_parameters": {"n": {"type": "integer"}}, "output_parameters": {}}]
    tasks = [
        {"input": "do", "output": [{"name": name, "arguments": {"n": 1}, "label": "var1"}]} for name in ("A", "missing")
    ]
    (tmp_path / "nestful" / "x-data.json").write_text(json.dumps(tasks))
    (tmp_path / "nestful" / "x-spec.json").write_text(json.dumps(spec))
    found = run(tmp_path)
    assert {name: (one.tasks, one.kept, one.right) for name, one in found.items()} == {
        "nestools": (2, 2, 1),
        "x": (2, 1, 1),
    }
    assert "title" in found["nestools"].wrong[0]
