"""The README is true: its plan runs with the output it shows, and its commands and pages exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
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


def test_the_python_shown_runs(tmp_path: Path) -> None:
    code = next(block for block in blocks("python") if "open_space" in block)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "success re\n"


def test_every_command_named_exists() -> None:
    from tui.command import COMMANDS

    named = set(re.findall(r"^infospace (\w+)", README, re.MULTILINE)) | set(re.findall(r"`infospace (\w+)", README))
    assert named <= COMMANDS.keys()
    assert {"add", "search", "tui", "run"} <= named


def test_every_page_named_exists_and_each_page_is_named() -> None:
    named = set(re.findall(r"\]\(tui/help/([a-z-]+)\.md\)", README))
    there = {path.stem for path in (ROOT / "tui" / "help").glob("*.md")}
    assert named <= there
    assert there - named == {"journal-order", "parallel-is-serial", "streaming"}, "pages that architecture leads to"


def test_it_is_about_a_hundred_lines() -> None:
    assert 80 <= len(README.splitlines()) <= 120
