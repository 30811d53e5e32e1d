"""What a plan would do outside of itself, told before anything of it is done."""

from __future__ import annotations

from typing import Any

import pytest
from furnished import mail_server

from infospace import Space
from planner.execute.start import check_plan
from planner.goals.effects import Effect, effects_of, needs_consent, tools_called
from planner.parse.saved_plans import save_plan


@pytest.fixture
def mail(space: Space) -> Space:
    """A space with a tool that only reads, one that changes something, and a saved plan that calls both."""
    space.tools.add(mail_server())
    calls = [{"type": "mail/send", "arguments": {"to": "ann"}}, {"type": "mail/inbox"}]
    save_plan(space, "both", {"steps": [{"type": "create-note", "value": 1, "name": "made"}, *calls]})
    return space


def effects(space: Space, *steps: Any) -> list[Effect]:
    return effects_of(check_plan(space, {"steps": list(steps)})[0], space.catalogue)


NOTE = {"type": "create-note", "value": 1, "out": "$n"}


@pytest.mark.parametrize(
    ("step", "kind", "what", "asked"),
    [
        ({"type": "ask", "value": "which?"}, "asks-person", "ask", False),
        ({"type": "assess", "target": "$n", "predicate": "it is"}, "asks-model", "assess", False),
        ({"type": "map", "target": ["$n"], "operation": {"type": "remove"}}, "writes", "remove", True),
        ({"type": "create-note", "value": 2, "name": "two"}, "writes", "two", True),
        ({"type": "mail/send", "arguments": {"to": "ann"}}, "calls", "mail/send", True),
        ({"type": "map", "target": ["$n"], "operation": {"type": "mail/inbox"}}, "calls", "mail/inbox", True),
        (
            {"type": "pages", "tool": "mail/inbox", "arguments": {"page": "$page"}, "first": 1},
            "calls",
            "mail/inbox",
            True,
        ),
        ({"type": "call-tool", "tool": "mail/send", "arguments": {"to": "ann"}}, "calls", "mail/send", True),
        ({"type": "say", "value": "hello"}, "calls", "say", True),
    ],
    ids=lambda part: str(part.get("type")) if isinstance(part, dict) else "",
)
def test_what_a_step_does_is_told_wherever_it_stands(mail: Space, step: Any, kind: Any, what: str, asked: bool) -> None:
    """Alone, in a block and in a handler; a person agrees to what is written and called."""
    for within, pointer in (
        (step, "/steps/1"),
        ({"type": "if", "condition": "$n = 1", "then": [step]}, "/steps/1/then/0"),
        ({"type": "load", "target": "$n", "on_fail": [step]}, "/steps/1/on_fail/0"),
    ):
        found = effects(mail, NOTE, within)
        read_only = what == "mail/inbox"
        assert [one.to_json() for one in found] == [
            {"pointer": pointer, "kind": kind, "what": what, "read_only": read_only}
        ]
        assert needs_consent(found) is asked


def test_what_only_computes_has_no_effects(mail: Space) -> None:
    assert effects(mail, NOTE, {"type": "load", "target": "$n", "out": "$m"}) == []
    assert not needs_consent([])


def test_a_saved_plan_does_what_its_steps_do(mail: Space) -> None:
    """Also as the operation of a `map`; each tool is named once, and one that nobody knows is no tool to allow."""
    plan = {"type": "plan:both"}
    unknown = {"type": "mail/none", "arguments": {}}
    found = effects(mail, NOTE, plan, {"type": "map", "target": ["$n"], "operation": "plan:both"}, unknown)
    assert [(one.kind, one.what) for one in found] == [
        *[("writes", "made"), ("calls", "mail/send"), ("calls", "mail/inbox")] * 2,
        ("calls", "mail/none"),
    ]
    assert [one.known for one in found] == [True] * 6 + [False]
    assert tools_called(found) == ["mail/send", "mail/inbox"]
