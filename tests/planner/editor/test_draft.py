"""The text of a plan: each problem stands where it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infospace import Space
from planner.editor.draft import check_draft
from planner.editor.text_patch import patch_text


def marked(space: Space, text: str) -> list[tuple[str, str]]:
    """Return codes, each with the text that it stands at."""
    return [(mark.problem.code, text[mark.start : mark.end]) for mark in check_draft(space, text).marks]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('[{"type": "create-not", "value": 1}]', "unknown-type", '"create-not"'),
        ('[{"type": "create-note", "valu": 1}]', "unknown-argument", '"valu"'),
        ('[{"type": "create-note"}]', "missing-argument", '"type": "create-note"'),
        ('{"goal": "x", "stesp": []}', "unknown-key", '"stesp"'),
        ('[{"type": "size",\n  "target": "$x"}]', "unbound-variable", '"$x"'),
        ('[\n  {"value": 1}\n]', "missing-type", '{"value": 1}'),
        ('[{"type": "say", "value": "a"},]', "unreadable", "]"),
        ('[{"type": "say", "value": "a"\n', "unreadable", '"'),
        ("```json\n[{'type': 1}]\n```", "unreadable", "'"),
        ('[{"type": "say", "type": "say", "value": "x"}]', "unreadable", '"say"'),
        ('{"type": "say", "value": "a"}\n{"type": "siz", "target": "$x"}\n', "unknown-type", '"siz"'),
    ],
)
def test_a_problem_is_marked_at_its_place(space: Space, text: str, code: str, place: str) -> None:
    """A key, a value, what tells a step; where the syntax breaks, there."""
    assert (code, place) in marked(space, text)


def test_the_head_of_a_session_may_stand_alone(space: Space) -> None:
    """Its steps are still to be written: nothing of it is marked."""
    draft = check_draft(space, '{"goal": "x"}')
    assert (draft.lines, draft.errors, list(draft.marks)) == (True, 0, [])


def test_a_fix_mends_the_text(space: Space) -> None:
    """And nothing else in it."""
    text = '{"goal": "g",\n "steps": [\n   {"type": "create-not",   "value": "x"}\n ]}'
    [mark] = [mark for mark in check_draft(space, text).marks if mark.problem.fix]
    mended = patch_text(text, mark.problem.fix or [])
    assert mended == text.replace("create-not", "create-note")
    assert check_draft(space, mended).errors == 0


def test_steps_are_found_by_their_place(space: Space) -> None:
    """The innermost, else the one before."""
    then = [{"type": "say", "value": "x"}]
    plan: Any = [{"type": "if", "condition": {"type": "bound", "target": "$x"}, "then": then}, *then]
    text = json.dumps(plan, indent=2) + "\n\n"
    draft = check_draft(space, text)
    assert [one.step.pointer for one in draft.steps] == ["/0", "/0/then/0", "/1"]
    for needle, pointer in [("condition", "/0"), ('"say"', "/0/then/0")]:
        found = draft.step_at(text.index(needle))
        assert found is not None
        assert found.step.pointer == pointer
    assert (last := draft.step_at(len(text))) is not None
    assert last.step.pointer == "/1"
    assert draft.step_at(0) is None
    assert draft.of("/1") == last


def test_nothing_is_wrong_with_an_empty_text(space: Space) -> None:
    """There is just nothing to run."""
    draft = check_draft(space, " \n")
    assert (draft.plan, draft.errors, list(draft.marks)) == (None, 0, [])
