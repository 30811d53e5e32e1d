"""The README is true: its plan runs with the output it shows, its table is the catalogue."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace.contract.catalogue import installed
from infospace.contract.docs import effect_label

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the README's code blocks in a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def shown_plan() -> Any:
    """The plan that the README shows."""
    return json.loads(blocks("json")[0])


@pytest.mark.slow
def test_the_plan_shown_prints_the_output_shown(cli: Any, sample_file: Path, tmp_path: Path, shown_plan: Any) -> None:
    shutil.copy(sample_file, tmp_path / "space.db")
    (tmp_path / "plan.json").write_text(json.dumps(shown_plan))
    said = cli("run", "plan.json")
    talk = re.sub(r"  \d+\.\d s", "", said.err)
    talk = re.sub(r"^run_\d+", "run_1", talk)
    assert said.code == 0
    assert (talk + said.out).splitlines() == blocks("text")[0].splitlines()


def test_the_mistake_shown_is_refused_as_shown(cli: Any, shown_plan: Any) -> None:
    shown_plan["steps"][1]["field"] = "metadata.titel"
    said = cli("run", "-", stdin=json.dumps(shown_plan))
    assert said.code == 3
    assert said.err == blocks("text")[1]


def test_the_table_of_primitives_is_the_catalogue() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \| ([^|]+) \| ([^|]+) \|$", README, re.MULTILINE)
    assert rows == [(e.type, effect_label(e), e.returns, e.summary) for e in installed()]


def test_the_python_shown_runs(tmp_path: Path) -> None:
    code = next(block for block in blocks("python") if "open_space" in block)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "success re\n"


def test_the_primitive_shown_is_a_primitive() -> None:
    code = next(block for block in blocks("python") if "@primitive" in block)
    names: dict[str, Any] = {"__name__": "shown"}
    exec(code, names)  # noqa: S102 - the README's own text
    assert names["shout"].type == "shout"
    assert names["shout"].returns == "Note"


def test_every_command_named_exists() -> None:
    from tui.command import COMMANDS

    named = set(re.findall(r"^infospace (\w+)", README, re.MULTILINE)) | set(re.findall(r"`infospace (\w+)", README))
    assert named <= COMMANDS.keys()
    assert {"add", "search", "tui", "run"} <= named


def test_it_is_about_a_hundred_lines() -> None:
    """The vocabulary apart, which grows."""
    assert 80 <= len([line for line in README.splitlines() if not line.startswith("| `")]) <= 120
