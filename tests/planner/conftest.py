"""Running and checking plans in a space of one's own, in few words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from planner.journal.result import RunResult
from planner.language.problems import Problem

sys.path.insert(0, str(Path(__file__).parent))
from timing import Limits

Run: TypeAlias = Callable[..., RunResult]
Check: TypeAlias = Callable[..., list[Problem]]


@pytest.fixture
def run(space: Space) -> Run:
    """Run steps (or one whole document) and return the outcome."""

    def run_it(*steps: Any, **inputs: Any) -> RunResult:
        document = steps[0] if len(steps) == 1 and not isinstance(steps[0], dict | str) else list(steps)
        if len(steps) == 1 and isinstance(steps[0], dict) and ("steps" in steps[0] or "plan" in steps[0]):
            document = steps[0]
        return run_sync(space, document, inputs)

    return run_it


@pytest.fixture
def errors(space: Space) -> Check:
    """Check a document and return its errors."""

    def check_it(document: Any) -> list[Problem]:
        return [problem for problem in check_plan(space, document)[1].found if problem.severity == "error"]

    return check_it


@pytest.fixture
def warnings(space: Space) -> Check:
    """Check a document without errors and return its warnings."""

    def check_it(document: Any) -> list[Problem]:
        _, problems = check_plan(space, document)
        assert problems.ok, problems.found
        return problems.found

    return check_it


@pytest.fixture
def model_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names a language model, which nobody asks."""
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "any")
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://localhost:1/v1")


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Limits:
    """Time limits that run out when they are told to."""
    return Limits(monkeypatch)
