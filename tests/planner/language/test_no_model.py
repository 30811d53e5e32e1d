"""What needs a language model where none is configured is refused, unless a failure of it is handled."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from planner.language.problems import Problem
from planner.parse.saved_plans import save_plan
from planner.sessions.lines import check_lines

ASK = {"type": "generate-note", "prompt": "write"}
LIST = {"type": "create-collection", "value": ["a"], "out": "$c"}
MAP = {"type": "map", "target": "$c", "operation": {"type": "refine", "instruction": "shorter"}}
EACH = {"type": "for-each", "target": "$c", "do": [ASK]}
ALONE = {"type": "parallel", "branches": [[ASK], []]}


@pytest.fixture(autouse=True)
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names no model."""
    for name in ("INFOSPACE_LLM_MODEL", "INFOSPACE_LLM_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def told(space: Space, *steps: Any) -> list[tuple[str, str]]:
    return [(p.severity, p.pointer) for p in check_plan(space, list(steps))[1].found if p.code == "no-model"]


@pytest.mark.parametrize(
    ("step", "place"),
    [
        (ASK, "/1/type"),
        (MAP, "/1/operation/type"),
        ({**MAP, "operation": "assess"}, "/1/operation"),
        (EACH, "/1/do/0/type"),
        (ALONE, "/1/branches/0/0/type"),
        ({"type": "if", "condition": {"type": "empty", "target": "$c"}, "then": [ASK]}, "/1/then/0/type"),
        ({"type": "size", "target": "$c", "on_fail": [ASK]}, "/1/on_fail/0/type"),
        ({**EACH, "do": [], "on_fail": [ASK]}, "/1/on_fail/0/type"),
    ],
)
def test_it_is_an_error_at_the_step_that_asks(space: Space, step: Any, place: str) -> None:
    """However deep that stands; in a handler, which nothing handles, too."""
    assert told(space, LIST, step) == [("error", place)]


@pytest.mark.parametrize("on_fail", ["continue", [{"type": "say", "value": "none"}]])
@pytest.mark.parametrize("step", [ASK, MAP, EACH, ALONE])
def test_it_is_a_warning_where_a_failure_is_handled(space: Space, step: Any, on_fail: Any) -> None:
    """By the step or by what is around it; and the run ends well."""
    plan = [LIST, {**step, "on_fail": on_fail}]
    assert [severity for severity, _ in told(space, *plan)] == ["warning"]
    assert run_sync(space, plan).status == "success"


def test_what_comes_after_a_handled_step_is_not_handled(space: Space) -> None:
    """Each step by itself."""
    assert told(space, {**ASK, "on_fail": "continue"}, ASK) == [("warning", "/0/type"), ("error", "/1/type")]


def test_a_saved_plan_that_asks_is_refused_where_it_is_called(space: Space) -> None:
    """Unless the call handles it; mapped, too."""
    save_plan(space, "ask", {"inputs": {"x": {"kind": "Note"}}, "steps": [ASK]})
    save_plan(space, "outer", {"steps": [LIST, {"type": "plan:ask", "arguments": {"x": "$c[0]"}}]})
    call = {"type": "plan:outer"}
    assert told(space, call) == [("error", "/0/type")]
    assert told(space, {**call, "on_fail": "continue"}) == []
    assert told(space, LIST, {"type": "map", "target": "$c", "operation": "plan:ask"}) == [("error", "/1/operation")]


def test_the_problem_says_how_a_model_is_set(space: Space) -> None:
    """In the sentence and its hint; in a session, too; with a model there is no problem."""

    def of(found: list[Problem]) -> list[Problem]:
        return [one for one in found if one.code == "no-model"]

    for problem in (*of(check_plan(space, [ASK])[1].found), *of(check_lines(space, [ASK]))):
        assert "INFOSPACE_LLM_MODEL" in problem.message
        assert "http://localhost:11434/v1" in (problem.hint or "")
    assert of(check_lines(space, [ASK]))


def test_a_configured_model_is_enough(space: Space, model_named: None) -> None:
    """Whether it answers is for the run to see."""
    del model_named
    assert told(space, ASK) == []
