"""`infospace plans`: a plan is kept in the space by its name, listed, shown and removed."""

from __future__ import annotations

import json
from typing import Any

GREET = {
    "goal": "Say hello",
    "inputs": {"name": {"type": "string"}, "often": {"type": "integer", "default": 1}},
    "steps": [{"type": "say", "value": "hello ${name}"}],
}
SAYS = [{"type": "say", "value": "x"}]


def test_a_plan_is_saved_listed_shown_and_removed(cli: Any) -> None:
    """For a person and as JSON; a bare list of steps becomes a document."""
    assert cli("plans").err.startswith("no plan is saved yet; ")
    assert cli("plans", "list", "--json").json == []
    assert cli("plans", "save", "greet", "-", stdin=json.dumps(GREET)).out == "saved plan:greet  (Note_1)\n"
    assert cli("plans", "save", "bare", "-", "--json", stdin=json.dumps(SAYS)).json == {"name": "bare", "id": "Note_2"}
    assert sorted(cli("plans").out.splitlines()) == ["plan:bare", "plan:greet (name, often)  Say hello"]
    listed = {one["name"]: (one["goal"], one["inputs"]) for one in cli("plans", "--json").json}
    assert listed == {"bare": ("", []), "greet": ("Say hello", ["name", "often"])}
    assert cli("plans", "show", "bare", "--json").json == {"steps": SAYS}
    assert json.loads(cli("plans", "show", "greet").out) == GREET
    assert cli("plans", "rm", "greet").out.startswith("removed plan:greet  (Note_1); `infospace undo` of its run")
    assert cli("plans", "rm", "bare", "--json").json == {"name": "bare", "id": "Note_2"}
    gone = cli("plans", "show", "bare")
    assert (gone.code, "there is no saved plan 'bare'" in gone.err) == (1, True)


def test_a_plan_of_a_name_that_is_taken_is_saved_as_its_next_version_on_request(cli: Any) -> None:
    cli("plans", "save", "greet", "-", stdin=json.dumps(GREET))
    again = cli("plans", "save", "greet", "-", stdin=json.dumps(SAYS))
    assert (again.code, again.out) == (1, "")
    assert cli("plans", "show", "greet", "--json").json == GREET
    assert cli("plans", "save", "greet", "-", "--replace", "--json", stdin=json.dumps(SAYS)).json["id"] == "Note_1"
    assert cli("plans", "show", "greet", "--json").json == {"steps": SAYS}
    assert cli("show", "Note_1", "--json").json["version"] == 2


def test_what_is_no_plan_that_may_run_is_not_saved(cli: Any) -> None:
    """Each with its code; as JSON with its problems."""
    wrong = json.dumps([{"type": "sai"}])
    refused = cli("plans", "save", "x", "-", stdin=wrong)
    assert (refused.code, refused.out) == (3, "the plan is refused, and not saved\n")
    assert "there is no step type 'sai'" in refused.err
    told = cli("plans", "save", "x", "-", "--json", stdin=wrong)
    assert (told.code, told.json["ok"], "/0/type" in [one["pointer"] for one in told.json["problems"]]) == (
        3,
        False,
        True,
    )
    broken = cli("plans", "save", "x", "-", stdin="[{")
    assert (broken.code, "it seems cut off" in broken.err) == (3, True)
    lines = cli("plans", "save", "x", "-", stdin='{"type": "say", "value": 1}\n{"type": "say", "value": 2}\n')
    assert (lines.code, "a session in JSON Lines cannot be saved" in lines.err) == (2, True)
    assert cli("plans", "--json").json == []


def test_a_session_has_no_dry_run(cli: Any) -> None:
    """Neither its lines nor the steps of a plan in it."""
    lines = cli("run", "-", "--dry-run", stdin='{"type": "say", "value": 1}\n{"type": "say", "value": 2}\n')
    assert (lines.code, "the lines of a session have no dry run" in lines.err) == (2, True)
    steps = cli("run", "-", "--dry-run", "--session", "s", stdin=json.dumps(SAYS))
    assert (steps.code, "steps in a session have no dry run" in steps.err) == (2, True)
    assert cli("runs", "--json").json["runs"] == []
