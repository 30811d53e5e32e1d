"""What the check lets pass does not fail at run time for a reason that the check claims to cover."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from planner.start import check_plan, run_sync

sys.path.insert(0, str(Path(__file__).parent))
from plangen import Plans

PROOF = os.environ.get("INFOSPACE_PROVE") == "1"
COUNT = 5_000 if PROOF else 300

COVERED = re.compile(
    r"is not bound(?!:)|nothing here has the name|there is no (Note|Collection|Relation)_|needs '|has no argument"
    r"|, not a (Note|Collection|Relation)|`where` "
)
"""Sentences of failures that a check could have foreseen, where they do not begin with `unchecked:`."""


@pytest.fixture
def furnished(tmp_path: Path) -> Any:
    """A small space with a kept Note and a kept Collection."""
    with open_space(tmp_path / "space.db") as space:
        steps = [
            {
                "type": "create-note",
                "value": {"title": "kept", "n": 1, "tags": ["x"]},
                "name": "kept note",
                "out": "$k",
            },
            {"type": "create-collection", "value": ["$k", "other"], "name": "kept list"},
        ]
        assert run_sync(space, steps).status == "success"
        yield space


def _faults(space: Space, plan: Any) -> tuple[str, list[str]]:
    _, problems = check_plan(space, plan)
    if not problems.ok:
        return "refused", []
    result = run_sync(space, plan)
    warned = any(problem.code == "maybe-unbound" for problem in problems.found)
    assert result.status in ("success", "failed"), result
    found = []
    for row in result.steps:
        reason = row.reason or ""
        assert row.error != "bug", (plan, row.trace)
        own = row.status == "failed" and row.type not in ("if", "for-each")
        if own and COVERED.search(reason) and "unchecked:" not in reason:
            found.append(f"{row.position} {row.type}: {reason}")
        if row.status == "skipped" and not row.extra.get("cause"):
            found.append(f"{row.position} {row.type} skipped without a cause: {reason}")
        if row.status == "skipped" and not warned:
            found.append(f"{row.position} {row.type} skipped without a warning: {reason}")
    if "cannot be given: $" in (result.reason or "") and not warned:
        found.append(f"no warning that the result may be unbound: {result.reason}")
    return result.status, found


@pytest.mark.slow
def test_an_accepted_plan_fails_for_no_reason_that_the_check_claims_to_cover(furnished: Space) -> None:
    """Of random plans, right and wrong, those that pass run; none fails for what the check should have said.

    Nor is a step skipped, or the result unbound, of which there was no warning.
    """
    outcomes: dict[str, int] = {}
    for seed in range(COUNT):
        plan = Plans(seed).plan()
        status, faults = _faults(furnished, plan)
        assert not faults, (seed, faults, plan)
        outcomes[status] = outcomes.get(status, 0) + 1
    assert outcomes["success"] > COUNT / 15, f"too few plans pass to prove anything: {outcomes}"
    assert outcomes["refused"] > COUNT / 15
