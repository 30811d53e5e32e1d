"""What a command loads: nothing that it does not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("textual", "mcp", "openai", "fastembed", "onnxruntime", "hnswlib", "numpy", "jsonschema", "sqlglot")


def loaded_by(*arguments: str, folder: Path) -> set[str]:
    """Return the top-level modules that a call of the command loads, in a process of its own."""
    code = (
        "import sys, io, json\n"
        "from tui.command import main\n"
        "stdout, sys.stdout = sys.stdout, io.StringIO()\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit:\n"
        "    pass\n"
        "json.dump(sorted({name.partition('.')[0] for name in sys.modules}), stdout)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--space", str(folder / "space.db"), *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    return set(json.loads(done.stdout))


@pytest.fixture
def plan(tmp_path: Path) -> str:
    """A plan that neither searches nor filters."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps([{"type": "create-note", "value": "x", "out": "$x"}, {"type": "say", "value": "${x}"}]))
    return str(path)


def test_run_loads_no_screen_no_client_no_engine_that_it_does_not_need(tmp_path: Path, plan: str) -> None:
    assert loaded_by("run", plan, folder=tmp_path).isdisjoint(HEAVY)


def test_help_loads_not_even_pydantic(tmp_path: Path) -> None:
    assert loaded_by("--help", folder=tmp_path).isdisjoint({*HEAVY, "pydantic", "rich", "sqlite3"})


def test_a_search_loads_no_tables_where_it_shows_none(tmp_path: Path) -> None:
    assert "rich" not in loaded_by("search", "anything", folder=tmp_path)


@pytest.mark.parametrize("command", ["primitives", "runs", "notes", "stale"])
def test_looking_loads_no_engine(tmp_path: Path, command: str) -> None:
    assert loaded_by(command, folder=tmp_path).isdisjoint(HEAVY)
