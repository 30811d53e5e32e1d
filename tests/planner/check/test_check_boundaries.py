"""Boundaries of what the check knows: a plan in which nothing is wrong, and one beside it in which something is.

What is said of the wrong one stands word for word in `boundaries/told.json`, as does what is said of plans in the words
of other systems. Where a text is changed on purpose, `INFOSPACE_TOLD=1` writes it anew. The test fails then, since
nobody has looked at the difference yet.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.tool import Tool
from infospace.tools.local import LocalTools
from planner.editor.apply_fixes import apply_fixes
from planner.execute.start import check_plan, run_sync
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parent))
from boundaries import PAIRS, RESPELT, WARNED
from plangen.mistakes import note

TOLD = Path(__file__).parent / "boundaries" / "told.json"
BOTH = {"warned": WARNED, "respelt": RESPELT}
PLANS = {
    **{name: wrong for name, (_, wrong) in PAIRS.items()},
    **{
        f"{room}: {name}, {side}": plan
        for room, pairs in BOTH.items()
        for name, pair in pairs.items()
        for side, plan in zip(("one", "other"), pair, strict=True)
    },
}
"""Plans of which is written what is said of them."""


def holding(*required: str, closed: bool = True, **properties: Any) -> dict[str, Any]:
    """A schema of an object."""
    more = {"additionalProperties": False} if closed else {}
    return {"type": "object", "properties": properties, "required": [*required], **more}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
DEEP = holding(
    "city",
    city=TEXT,
    at={"type": "array", "items": WHOLE},
    unit={"enum": ["metric", "imperial"]},
    level={"type": "integer", "minimum": 1, "maximum": 3},
)
CITY = holding("city", city={**TEXT, "description": "Where."}, days={"type": "integer", "default": 1})
WEATHER = holding("city", "degrees", city=TEXT, degrees={"type": "number"})
INNER = holding(deep=WHOLE, closed=False)
PAGE = holding("rows", rows={"type": "array", "items": holding("id", id=WHOLE)}, next={"type": ["string", "null"]})
SCHEMAS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # what a tool takes, and what it answers
    "weather": (CITY, WEATHER),
    "listed": (CITY, holding("city", city=TEXT, closed=False)),
    "open": (holding(), holding(city=TEXT, inner=INNER, closed=False)),
    "dry": (CITY, {"type": "boolean"}),
    "deep": (holding("where", where=DEEP), WEATHER),
    "only": (holding("version", version={"const": "v1"}), TEXT),
    "loose": (holding("city", city=TEXT, days=WHOLE, mail={**TEXT, "format": "email"}, closed=False), TEXT),
    "list": (holding(cursor=TEXT), PAGE),
    "needing": (holding("cursor", cursor=TEXT), PAGE),
    "numbered": (holding("page", page=WHOLE), PAGE),
}


class Sky(LocalTools):
    """A server that nobody vouches for, of whose tools one changes something."""

    def tools(self) -> list[Tool]:
        """Return them in their order."""
        read = [
            Tool(self.server, name, "Say it.", takes, answers, read_only=True, trusted=False)
            for name, (takes, answers) in SCHEMAS.items()
        ]
        return [*read, Tool(self.server, "send", "Send it.", holding("text", text=TEXT), None, trusted=False)]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A space with a Note named `taken`, saved plans and tools."""
    with open_space(tmp_path_factory.mktemp("boundaries") / "space.db") as space:
        assert run_sync(space, [note("v", name="taken", metadata={"mood": "calm"})]).status == "success"
        save_plan(
            space,
            "saved",
            {
                "inputs": {"n": {"type": "integer"}, "from": {"kind": "Collection"}},
                "steps": [note("$n", "$m"), {"type": "say", "value": "${from}"}],
                "result": "$m",
            },
        )
        save_plan(
            space, "one", {"inputs": {"item": {"type": "integer"}}, "steps": [note("$item", "$m")], "result": "$m"}
        )
        save_plan(space, "naming", {"steps": [note(1, "$m", name="by plan")]})
        space.tools.add(Sky("sky"))
        yield space


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """What is to be told of each plan."""
    return dict(json.loads(TOLD.read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", PLANS)
def test_what_is_said_of_a_plan(known: Space, written: dict[str, Any], case: str) -> None:
    """Each problem with its place, its hint and its fix."""
    told = [problem.to_json() for problem in check_plan(known, PLANS[case])[1].found]
    if os.environ.get("INFOSPACE_TOLD") and written.get(case) != told:
        everything = {**json.loads(TOLD.read_text(encoding="utf-8")), case: told}
        kept = {name: everything[name] for name in PLANS if name in everything}
        TOLD.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        pytest.fail("written anew: look at it, then run again without INFOSPACE_TOLD")
    assert told == written[case]


@pytest.mark.parametrize("case", PAIRS)
def test_nothing_is_said_of_the_plan_beside_a_wrong_one(known: Space, case: str) -> None:
    """But for what nothing reads."""
    found = check_plan(known, PAIRS[case][0])[1].found
    assert [str(problem) for problem in found if problem.code != "never-read"] == []


def test_something_is_said_of_each_wrong_plan(written: dict[str, Any]) -> None:
    """Each entry belongs to a plan."""
    assert [*written] == [*PLANS]
    assert [case for case in PAIRS if not written[case]] == []


@pytest.mark.parametrize("case", RESPELT)
def test_of_two_plans_in_other_words_one_is_plain(known: Space, case: str) -> None:
    """Its fixes make it right; those of the other do not, since they would have to guess."""
    right, wrong = (
        apply_fixes(json.dumps(plan), lambda one: check_plan(known, one)[1].found) for plan in RESPELT[case]
    )
    assert right.fixed
    assert [str(problem) for problem in right.left if problem.severity == "error"] == []
    assert [problem.code for problem in wrong.left if problem.severity == "error"] != []
