"""Wrong plans, by seeded mutations of correct ones and by hand: each refused, at the right place, with its mending."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from planner.execute.start import check_plan
from planner.language.problems import Problem

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import furnish_whole
from plangen.mutating import Mistake, mistakes
from plangen.mutations import MUTATIONS
from rightplans import RIGHT

from planner.language.json_patch import apply_patch

EACH = 16
"""Mistakes of a kind, at most."""
ROUNDS = 3
"""Fixes that may follow one another where a mistake is told by several problems."""

FILE = Path(__file__).parents[2] / "plans" / "wrong" / "by_hand.json"
BY_HAND: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    with open_space(tmp_path_factory.mktemp("space") / "space.db") as space:
        furnish_whole(space)
        yield space


def errors(space: Space, plan: Any) -> list[Problem]:
    return [problem for problem in check_plan(space, plan)[1].found if problem.severity == "error"]


def mended(space: Space, plan: Any) -> tuple[bool, bool]:
    """Whether there is a fix for a plan's first problem; and whether the fixes, one after another, make it pass."""
    found = errors(space, plan)
    told = [problem for problem in found if problem.fix]
    for _ in range(ROUNDS):
        fixes = [problem.fix for problem in found if problem.fix]
        if not fixes:
            break
        plan = apply_patch(plan, fixes[0])
        found = errors(space, plan)
        if not found:
            return True, True
    return bool(told), False


def judged(space: Space, mistake: Mistake) -> tuple[bool, bool]:
    found = errors(space, mistake.plan)
    assert found, f"not refused: {json.dumps(mistake.plan)}"
    places = {problem.pointer for problem in found}
    assert places & set(mistake.pointers), (mistake.pointers, found, json.dumps(mistake.plan))
    return mended(space, mistake.plan)


@pytest.mark.parametrize("kind", MUTATIONS)
def test_a_mistake_is_refused_at_its_place(furnished: Space, kind: str) -> None:
    """In every plan into which it can be put."""
    found = mistakes(kind, RIGHT, 1, EACH)
    assert found
    for mistake in found:
        judged(furnished, mistake)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_mistake_that_models_make_is_refused_at_its_place(furnished: Space, name: str) -> None:
    """With the code and the pointer that tell it."""
    case = BY_HAND[name]
    found = errors(furnished, case["plan"])
    assert (case["code"], case["pointer"]) in [(problem.code, problem.pointer) for problem in found], found


def test_all_that_is_told_of_such_mistakes_stands_beside_them(furnished: Space) -> None:
    """Word for word, with hints and fixes; `INFOSPACE_TELL=1` writes it anew, to be read as a planner would."""
    told = {
        name: [one.to_json() for one in check_plan(furnished, case["plan"])[1].found if one.code != "no-model"]
        for name, case in BY_HAND.items()
    }
    if os.environ.get("INFOSPACE_TELL") and told != {name: case.get("problems") for name, case in BY_HAND.items()}:
        lines = (f" {json.dumps(name)}: {json.dumps({**BY_HAND[name], 'problems': told[name]})}" for name in BY_HAND)
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        pytest.fail("written anew: look at it, then run again without INFOSPACE_TELL")
    assert told == {name: case["problems"] for name, case in BY_HAND.items()}


GUESSED = frozenset(
    {
        "hallucinated_tool",
        "missing_argument",
        "invented_argument",
        "value_of_another_type",
        "kind_that_does_not_fit",
        "id_that_the_space_does_not_have",
        "condition_without_a_field",
        "broken_slice_path_or_aggregate",
        "broken_where",
        "condition_as_text",
        "wrong_common_field",
        "unknown_key_of_the_plan",
        "endless_loop",
        "name_that_is_taken",
        "bound_in_one_branch_only",
        "bound_in_two_branches",
        "outside_arguments_that_do_not_fit",
        "field_that_is_not_there",
    }
)
"""Mistakes of which it is not always plain what was meant."""


def test_mistakes_of_which_it_is_plain_what_was_meant_can_be_mended_by_the_fixes_that_are_told(
    furnished: Space,
) -> None:
    """At least 400 wrong plans; the figures are printed. Of a guess there is a hint."""
    told: Counter[str] = Counter()
    right: Counter[str] = Counter()
    count: Counter[str] = Counter()
    cases = [(kind, mistake) for kind in MUTATIONS for mistake in mistakes(kind, RIGHT, 1, EACH)]
    cases += [("by hand", Mistake(case["plan"], (case["pointer"],))) for case in BY_HAND.values()]
    for kind, mistake in cases:
        has, makes = mended(furnished, mistake.plan)
        count[kind] += 1
        told[kind] += has
        right[kind] += makes
    total = count.total()
    for kind in count:
        print(f"{kind:36} {count[kind]:4}  fix {told[kind]:4}  right after it {right[kind]:4}")  # noqa: T201
    print(f"{total} wrong plans of {len(MUTATIONS)} kinds: {told.total() / total:.0%} have a fix, ", end="")  # noqa: T201
    print(f"{right.total() / max(1, told.total()):.0%} of those are right after it")  # noqa: T201
    assert total >= 400
    assert len(MUTATIONS) >= 20
    plain = [kind for kind in MUTATIONS if kind not in GUESSED]
    assert sum(right[kind] for kind in plain) / sum(count[kind] for kind in plain) >= 0.9
    nowhere = ("missing_argument", "kind_that_does_not_fit", "id_that_the_space_does_not_have", "hallucinated_tool")
    for kind in (*nowhere, "name_that_is_taken"):
        assert right[kind] == 0, kind
