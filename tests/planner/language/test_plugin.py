"""A third party's package, really installed: its primitives are in the vocabulary, checked and run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[2] / "plugin"
TEXT = {"type": "create-note", "value": "to be or not to be", "out": "$t"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the package."""
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*pip, "--target", folder, PACKAGE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def infospace(site: Path, *words: str, given: Any = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "INFOSPACE_SPACE": str(site.parent / "space.db")}
    text = None if given is None else json.dumps(given)
    return subprocess.run(
        [sys.executable, "-c", "from tui.command import main; raise SystemExit(main())", *words],
        input=text,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_its_primitives_are_in_the_vocabulary(site: Path) -> None:
    """With contract and provider."""
    shown = json.loads(infospace(site, "primitives", "count-words", "--json").stdout)
    [entry] = shown["primitives"]
    assert (entry["provider"], entry["gives"], entry["effect"]) == ("words", "Note", "pure")


def test_a_plan_runs_them(site: Path) -> None:
    """Beside ours."""
    frequent = {"type": "frequent-words", "target": "$t", "limit": 2, "out": "$w"}
    done = infospace(site, "run", "-", "--json", given=[TEXT, frequent, {"type": "count-words", "target": "$t"}])
    result = json.loads(done.stdout)
    assert result["status"] == "success", done.stderr
    assert result["result"]["data"] == 6


def test_the_check_knows_what_they_take_and_give(site: Path) -> None:
    """Arguments, kinds and fields."""
    wrong = [
        TEXT,
        {"type": "frequent-words", "target": "$t", "limit": 0, "out": "$w"},
        {"type": "pluck", "target": "$w", "field": "wort", "out": "$p"},
        {"type": "count-word", "target": "$t", "out": "$n"},
    ]
    done = infospace(site, "check", "-", "--json", given=wrong)
    found = [(p["code"], p["pointer"]) for p in json.loads(done.stdout)["problems"] if p["severity"] == "error"]
    assert done.returncode == 3
    assert found == [("bad-argument", "/1/limit"), ("unknown-field", "/2/field"), ("unknown-type", "/3/type")]


def test_a_clash_with_ours_names_both(site: Path, tmp_path: Path) -> None:
    """One sentence, and no traceback."""
    clash = tmp_path / "clash"
    clash.mkdir()
    module = (PACKAGE / "infospace_words" / "count_words.py").read_text(encoding="utf-8")
    (clash / "clashing.py").write_text(module.replace("count_words", "size").replace("count-words", "size"))
    info = clash / "clashing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: clashing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[infospace.primitives]\nclashing = clashing\n")
    done = infospace(clash, "primitives")
    assert done.returncode == 1
    assert "'size' is offered by both 'infospace' and 'clashing'" in done.stderr
    assert "Traceback" not in done.stderr
