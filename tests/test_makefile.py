"""`make` says what a machine lacks before it does anything slow."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in which nothing has been set up, in a folder with a space in its name."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call make there."""
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_without_a_compiler_it_names_the_package_to_install(checkout: Path) -> None:
    done = make(checkout, "run", "CXX=/nowhere/c++")
    assert done.returncode == 2
    assert "needs a C++ compiler" in done.stderr
    assert "apt-get install g++" in done.stderr
    assert not (checkout / ".venv").exists()


def test_without_a_new_enough_python_it_says_which_is_needed(checkout: Path, tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    done = make(checkout, "test", f"PYTHON={old}")
    assert done.returncode == 2
    assert "needs Python 3.11 or later" in done.stderr
    assert "Python 3.9.2" in done.stderr
    assert not (checkout / ".venv").exists()


def test_without_a_target_it_lists_them(checkout: Path) -> None:
    done = make(checkout)
    assert done.returncode == 0
    assert all(
        f"make {target}" in done.stdout for target in ("run", "test", "check", "bench", "prove", "mutate", "clean")
    )
