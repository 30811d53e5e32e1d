"""Correct plans that use every primitive, form, condition and style of reference: the check refuses none of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.contract.catalogue import installed
from planner.execute.start import check_plan
from planner.parse.conditions import JOINS, TESTS
from planner.parse.control_flow import FORMS

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import furnish_whole
from rightplans import RIGHT

STYLES = (
    "[-1]",
    '["any key"]',
    ".@id",
    "@metadata",
    "$$name",
    "${$}{x}",
    "${c}",
    "plan:",
    "$item",
    "$5",
    "${error",
    "\\d+$",
)


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    with open_space(tmp_path_factory.mktemp("space") / "space.db") as space:
        furnish_whole(space)
        yield space


def everywhere(value: Any, key: str) -> Iterator[str]:
    """All texts under a key, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get(key), str):
            yield value[key]
        for inner in value.values():
            yield from everywhere(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from everywhere(inner, key)


@pytest.mark.usefixtures("model_named")
@pytest.mark.parametrize("name", RIGHT)
def test_a_correct_plan_is_not_refused(furnished: Space, name: str) -> None:
    """No error is found in it."""
    found = check_plan(furnished, RIGHT[name])[1].found
    assert [problem for problem in found if problem.severity == "error"] == []


def test_the_plans_use_all_of_the_language() -> None:
    """At least 120; every type of step and condition, and every style of reference."""
    print(f"{len(RIGHT)} correct plans")  # noqa: T201
    assert len(RIGHT) >= 120
    types = {type_ for plan in RIGHT.values() for type_ in everywhere(plan, "type")}
    types |= {type_ for plan in RIGHT.values() for type_ in everywhere(plan, "operation")}
    assert set(installed().types()) - types == set()
    assert {*FORMS, *TESTS, *JOINS} - types == set()
    text = "\n".join(json.dumps(plan, ensure_ascii=False).replace("\\", "") for plan in RIGHT.values())
    assert [style for style in STYLES if style.replace("\\", "") not in text] == []
