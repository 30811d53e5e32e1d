"""What the check lets pass does not fail at run time for a reason that the check claims to cover."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, Space, open_space
from infospace.contract.catalogue import installed
from infospace.journal.external_call import CANCELLED
from planner.execute.start import Prepared, Refused, check_plan, prepare
from planner.goals.prompt import ANSWER
from planner.journal.result import RunResult
from planner.language.json_patch import apply_patch
from planner.parse.conditions import JOINS, TESTS
from planner.parse.control_flow import FORMS
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parents[1]))
from chatting import fitting
from furnished import files
from plangen.corners import misjudged_marks, runs_itself, to_be_saved, unwritable
from plangen.forms import Plans
from plangen.judging import foreseeable, overlooked
from plangen.outside import odd, to_the_end
from plangen.positions import SAVED, written
from plangen.shapes import misjudged, told
from plangen.supplied import outlines, supply
from plangen.things import Thing

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
HALF = 10_000 if PROVE else 450
"""Plans of each half; halves may run side by side."""
SHARED = 50
"""Plans that run in one space, one after another, before it is made anew."""
CORNERED = 10
"""Of the plans that run in one space, how many stand in corners; these come first, since they know what is there."""
OFTEN = 3 if PROVE else 1
"""How often at least every primitive, form and condition is run to a good end, in each half."""
RARE = (961, 1050)
"""Seeds that are run besides: their plans call the saved plan that asks, and end well."""

TEXT = "a condition as text"
PLAN = '{"goal": "notes", "steps": [{"type": "discover-notes", "query": "ranking", "out": "$n"}], "result": "$n"}'
"""What the model answers where it is asked for a plan."""


@dataclass
class Tally:
    """What came of many plans."""

    outcomes: Counter[str] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)
    """Steps, operations of `map` and conditions that ended well, by type."""
    bad: Counter[str] = field(default_factory=Counter)
    """Steps that did not."""
    refusals: Counter[str] = field(default_factory=Counter)
    """Errors of refused plans by code."""
    fixes: int = 0

    def report(self) -> None:
        """Print the counts."""
        total = self.outcomes.total()
        print(f"\n{total:,} plans: " + ", ".join(f"{n:,} {word}" for word, n in self.outcomes.most_common()))  # noqa: T201
        print("ended well, and not: ", end="")  # noqa: T201
        print(", ".join(f"{one} {self.good[one]:,}/{self.bad[one]:,}" for one in sorted({*self.good, *self.bad})))  # noqa: T201
        print("refused for: " + ", ".join(f"{code} {n:,}" for code, n in self.refusals.most_common()))  # noqa: T201
        print(f"{self.fixes:,} fixes tried")  # noqa: T201


class Spaces:
    """A space for plans, made anew now and then so that what they keep does not pile up."""

    def __init__(self, folder: Path) -> None:
        self._made, self._used = folder / "made.db", folder / "used.db"
        self._space: Space | None = None
        with open_space(self._made) as space:
            supply(space)
            self.kept: dict[str, Thing] = outlines(space)

    def fresh(self) -> Space:
        """Return a space in which no plan has run yet."""
        self.close()
        shutil.copy(self._made, self._used)
        self._space = open_space(self._used)
        self._space.tools.add(files())
        self._space.tools.add(odd())
        return self._space

    def close(self) -> None:
        """Close the space that was made last."""
        if self._space is not None:
            self._space.close()


def asks_for_a_plan(request: dict[str, Any]) -> bool:
    """Whether a request is one of `write-plan`."""
    return ANSWER in request["messages"][0]["content"]


@pytest.fixture
def spaces(tmp_path: Path, endpoint: Any) -> Iterator[Spaces]:
    """Spaces, and a language model that answers all that is asked with what fits."""
    endpoint.answers = lambda request: PLAN if asks_for_a_plan(request) else fitting(request)
    made = Spaces(tmp_path)
    yield made
    made.close()


def count(tally: Tally, document: Any, result: RunResult) -> None:
    """Count the steps of a run, and the conditions that they asked."""
    for row in result.steps:
        (tally.good if row.status == "success" else tally.bad)[row.type] += 1
        if row.status == "success" and row.type in {"if", "while"}:
            tally.good.update(conditions(written(document, row.position)["condition"]))
        if row.status == "success" and row.type == "map":
            operation = written(document, row.position)["operation"]
            tally.good[f"map of {operation['type'] if isinstance(operation, dict) else operation}"] += 1


def conditions(raw: Any) -> Iterator[str]:
    if isinstance(raw, str):
        yield TEXT
        return
    yield raw["type"]
    of = raw.get("of", [])
    for inner in of if isinstance(of, list) else [of]:
        yield from conditions(inner)


def faults(space: Space, document: Any, prepared: Prepared, tally: Tally) -> Iterator[str]:
    """Run a plan that the check accepts; say what the check should have said."""
    known = told(space, prepared.plan)
    result = asyncio.run(to_the_end(space, prepared))
    tally.outcomes[result.status] += 1
    count(tally, document, result)
    codes = {problem.code for problem in prepared.warnings}
    warned = "maybe-unbound" in codes
    for row in result.steps:
        failed = row.status == "failed" and row.error != CANCELLED
        reason = foreseeable(document, row, codes) if failed else None
        reason = overlooked(document, row) if row.status == "success" else reason
        if reason:
            yield f"{row.position} {row.type}: {reason}"
        unbound = row.status == "skipped" and row.error == "unbound"
        if unbound and not (warned and row.extra.get("cause")):
            yield f"{row.position} {row.type} is skipped, without a cause or a warning: {row.reason}"
    if "cannot be given" in (result.reason or "") and "is not bound" in (result.reason or "") and not warned:
        yield f"no warning that there may be no result: {result.reason}"
    if result.status == "success":
        yield from misjudged(space, known, result)


def idle_fixes(space: Space, document: Any, refused: Refused, tally: Tally) -> Iterator[str]:
    """Say which fixes of a refused plan do not take the error away that they are for, or lead to others elsewhere.

    What is wrong within something that a fix moves was wrong before; what is wrong with its new place has a fix.
    """
    _, told_ = check_plan(space, document)
    errors = [problem for problem in told_.found if problem.severity == "error"]
    tally.refusals.update(problem.code for problem in errors)
    for problem in errors:
        if problem.fix is None:
            continue
        tally.fixes += 1
        left = [p for p in check_plan(space, apply_patch(document, problem.fix))[1].found if p.severity == "error"]
        same = any((p.code, p.pointer, p.message) == (problem.code, problem.pointer, problem.message) for p in left)
        moved = [operation["path"] for operation in problem.fix if operation["op"] == "move"]
        within = {p.pointer for p in left if any(f"{p.pointer}/".startswith(f"{place}/") for place in moved)}
        mendable = {p.pointer for p in left if p.pointer in within and (p.fix or p.pointer not in moved)}
        known = {(p.code, p.pointer) for p in errors}
        elsewhere = {(p.code, p.pointer) for p in left if p.pointer not in mendable} - known
        if same or (len(left) >= len(errors) and elsewhere):
            yield f"{problem.fix} mends nothing of {problem.code} at {problem.pointer}"


def cornered(space: Space, document: Any, tally: Tally) -> list[str]:
    """Run or refuse a plan whose steps are marked; say what the check judged otherwise than they are marked."""
    prepared = prepare(space, document, {})
    if isinstance(prepared, Refused):
        tally.outcomes["refused"] += 1
        told_ = [(problem.severity, problem.pointer) for problem in prepared.problems]
        return [*misjudged_marks(document, told_, ()), *idle_fixes(space, document, prepared, tally)]
    result = asyncio.run(to_the_end(space, prepared))
    tally.outcomes[result.status] += 1
    count(tally, document, result)
    ended = [(written(document, row.position), row.status, row.reason) for row in result.steps]
    return misjudged_marks(document, [("warning", one.pointer) for one in prepared.warnings], ended)


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1] if PROVE else [0])
def test_an_accepted_plan_fails_for_no_reason_that_the_check_claims_to_cover(spaces: Spaces, half: int) -> None:
    """Of random plans, right and wrong, those that pass run: no step fails for what the check should have said.

    Nor is a step skipped, or the result unbound, of which there was no warning; and the variables of a plan that ends
    well hold what the check said of them. Of a plan that is refused, every fix takes its error away, and leads to none
    elsewhere.
    """
    tally = Tally()
    space = spaces.fresh()
    seeds = [half * HALF + index for index in range(HALF)]
    for index, seed in enumerate([*seeds, *(() if PROVE else RARE)]):
        if (index and index % SHARED == 0) or index >= HALF:
            space = spaces.fresh()
        if index < HALF and index % SHARED < CORNERED:
            document, given = Plans(seed, spaces.kept).corner(), {}
            found = cornered(space, document, tally)
        else:
            document, given = Plans(seed, spaces.kept).plan()
            prepared = prepare(space, document, given)
            if isinstance(prepared, Refused):
                tally.outcomes["refused"] += 1
                found = list(idle_fixes(space, document, prepared, tally))
            else:
                found = list(faults(space, document, prepared, tally))
        assert not found, (seed, found, document)
    tally.report()
    assert min(tally.outcomes[word] for word in ("success", "failed", "stopped", "refused")) > HALF / 50, tally.outcomes
    assert tally.outcomes["success"] > HALF / 4
    assert min(tally.bad[word] for word in ("odd/refuse", "odd/at_last", "odd/sleep")) >= OFTEN
    every = {*installed().types(), *FORMS, *TESTS, *JOINS, TEXT, "odd/at_last", "plan:asking"}
    every |= {f"map of {type_}" for type_ in installed().types()} if PROVE else set()
    assert [type_ for type_ in sorted(every) if tally.good[type_] < OFTEN] == []


def test_a_plan_is_saved_if_it_does_not_come_to_run_itself(spaces: Spaces) -> None:
    """Whatever it is to replace, and wherever in it others are run."""
    space, refused = spaces.fresh(), 0
    for seed in range(HALF // 5):
        name, document, called = to_be_saved(random.Random(seed))  # noqa: S311 - not for secrets
        endless = runs_itself(name, called, SAVED)
        try:
            save_plan(space, name, document, replace=True)
        except Invalid as error:
            said = str(error)
        else:
            said = ""
            if name in SAVED:
                save_plan(space, name, SAVED[name], replace=True)
        assert ("saved plans that run one another never end" in said) is endless, (seed, name, document, said)
        refused += endless
    assert HALF / 50 < refused < HALF / 5


def test_what_json_cannot_hold_is_a_problem_wherever_it_stands(spaces: Spaces) -> None:
    """Lone surrogates, numbers that are none, integers of thousands of digits: the plan is refused, nothing raises."""
    space = spaces.fresh()
    for seed in range(HALF // 5):
        document, given = deepcopy(Plans(seed, spaces.kept).plan())  # what is in it other plans have, too
        unwritable(document, random.Random(seed))  # noqa: S311 - not for secrets
        prepared = prepare(space, document, given)
        assert isinstance(prepared, Refused), seed
        assert "not-json" in {problem.code for problem in prepared.problems}, (seed, prepared.problems)
