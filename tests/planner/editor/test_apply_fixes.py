"""All fixes of a plan, applied together where they leave one another alone; each of the checks here is a few lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.editor.apply_fixes import ROUNDS, apply_fixes
from planner.language.problems import Problem, replace


def problem(pointer: str, fix: Any, severity: Any = "error") -> Problem:
    return Problem("bad", pointer, "it is wrong", severity=severity, fix=fix)


def test_fixes_of_one_round_are_applied_together_and_the_text_keeps_its_layout() -> None:
    """What they come to is checked once more; what has no fix is left."""
    checked: list[Any] = []

    def check(document: Any) -> list[Problem]:
        checked.append(document)
        wrong = [problem(f"/{key}", replace(f"/{key}", 0)) for key in document if document[key] == 1]
        return [*wrong, problem("", None, "warning")]

    found = apply_fixes('{"a":  1,\n "b": 1, "c": 2}', check)
    assert found.text == '{"a":  0,\n "b": 0, "c": 2}'
    assert found.document == json.loads(found.text) == checked[-1]
    assert ([one.pointer for one in found.fixed], [one.severity for one in found.left]) == (["/a", "/b"], ["warning"])
    assert len(checked) == 2


def test_where_all_together_are_worse_the_first_is_applied_alone() -> None:
    def check(document: Any) -> list[Problem]:
        if document == {}:
            return [problem("", None)] * 3
        return (
            [problem(f"/{key}", [{"op": "remove", "path": f"/{key}"}]) for key in document] if len(document) > 1 else []
        )

    found = apply_fixes('{"a": 1, "b": 2}', check)
    assert (found.document, [one.pointer for one in found.fixed], found.left) == ({"b": 2}, ["/a"], ())


def test_a_fix_that_only_makes_it_worse_is_not_applied() -> None:
    def check(document: Any) -> list[Problem]:
        return [problem("/a", replace("/a", 2))] * document["a"]

    found = apply_fixes('{"a": 1}', check)
    assert (found.text, found.fixed, len(found.left)) == ('{"a": 1}', (), 1)


@pytest.mark.parametrize(
    "moves",
    [
        [{"op": "remove", "path": "/0"}],
        [{"op": "move", "from": "/0", "path": "/2/moved"}],
        [{"op": "remove", "path": "/0"}, {"op": "add", "path": "/2/moved", "value": 1}],
    ],
)
def test_a_fix_that_moves_steps_is_applied_after_those_that_leave_them(moves: Any) -> None:
    """Else those would be applied to other steps than they are of."""

    def check(document: Any) -> list[Problem]:
        first = [problem("/0", moves)] if document[0] == 1 else []
        return first + [problem(f"/{at}", replace(f"/{at}", "two")) for at, item in enumerate(document) if item == 2]

    found = apply_fixes("[1, 2, 3, {}]", check)
    assert found.document[:2] == ["two", 3]
    assert [one.pointer for one in found.fixed] == ["/1", "/0"]


def test_fixes_that_never_come_to_an_end_are_given_up() -> None:
    found = apply_fixes("0", lambda document: [problem("", replace("", document + 1))])
    assert (found.document, len(found.fixed), len(found.left)) == (ROUNDS, ROUNDS, 1)
