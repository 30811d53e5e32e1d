"""`infospace diff`: two runs side by side, with an exit code as that of `diff`."""

from __future__ import annotations

import json
from typing import Any

import pytest


def plan(*values: str, separator: str = "\n") -> str:
    """A plan that joins values, as text."""
    steps = [
        {"type": "create-collection", "value": [*values], "out": "$c"},
        {"type": "flatten", "target": "$c", "separator": separator, "out": "$t"},
    ]
    return json.dumps(steps)


@pytest.fixture
def runs(cli: Any) -> None:
    """run_1 and run_2 are the same, run_3 has one text more and one less."""
    for values in (("a", "b"), ("a", "b"), ("b", "c")):
        assert cli("run", "-", stdin=plan(*values)).code == 0


def test_the_same_is_nothing_and_code_0(cli: Any, runs: None) -> None:
    said = cli("diff", "run_1", "run_2")
    assert said.code == 0
    assert len(said.out.splitlines()) == 1
    assert "the same: 2 steps alike" in said.err


def test_what_is_different_is_code_1_and_told(cli: Any, runs: None) -> None:
    said = cli("diff", "run_1", "run_3")
    assert said.code == 1
    lines = said.out.splitlines()
    assert lines[0].startswith("run_1 → run_3  success  ")
    assert lines[1:5] == [
        "~ 1 create-collection → $c  (arguments)",
        "    - Note_1  a",
        "    + Note_8  c",
        "~ 2 flatten → $t  (inputs)",
    ]
    assert {"    - a", "    + c"} <= set(lines)


def test_the_same_as_json(cli: Any, runs: None) -> None:
    same = cli("diff", "run_1", "run_2", "--json")
    assert (same.code, same.json["same"], same.json["steps"], same.json["steps_alike"]) == (0, True, [], 2)
    other = cli("diff", "run_1", "run_3", "--json")
    assert (other.code, other.json["same"], other.json["plan_changed"]) == (1, False, True)
    first, second = other.json["steps"]
    assert (first["step"], first["changes"], first["only"]) == ("1", ["arguments", "outcome"], None)
    assert [item["title"] for item in first["outcome"]["came"]] == ["c"]
    assert [item["title"] for item in first["outcome"]["went"]] == ["a"]
    assert second["outcome"] == {"what": "content", "before": "a\nb", "after": "b\nc"}
    assert other.json["result"] == second["outcome"]
    assert other.json["before"]["duration_ms"] > 0


def test_a_step_of_one_run_alone_is_told(cli: Any, runs: None) -> None:
    shorter = json.dumps(json.loads(plan("a", "b"))[:1])
    cli("run", "-", stdin=shorter)
    assert "- 2 flatten → $t" in cli("diff", "run_1", "run_4").out
    assert "+ 2 flatten → $t" in cli("diff", "run_4", "run_1").out
    for pair, only in ((("run_1", "run_4"), "before"), (("run_4", "run_1"), "after")):
        [step] = cli("diff", *pair, "--json").json["steps"]
        assert (step["step"], step["only"], step[only]["type"]) == ("2", only, "flatten")


def test_a_run_that_failed_is_told_with_both_reasons(cli: Any, runs: None) -> None:
    failing = {
        "inputs": {"word": {"type": "string", "default": "six"}},
        "steps": [
            *json.loads(plan("a", "b"))[:1],
            {"type": "coerce", "target": "$word", "coercion": "int", "out": "$t"},
        ],
    }
    assert cli("run", "-", stdin=json.dumps(failing)).code == 1
    said = cli("diff", "run_1", "run_4").out
    assert "success → failed" in said
    assert '+ step 2 (coerce) failed: "six" is not a whole number' in said


def test_much_is_cut_and_counted(cli: Any) -> None:
    for first in (0, 40):
        cli("run", "-", stdin=plan(*(str(number) for number in range(first, first + 30))))
    said = cli("diff", "run_1", "run_2").out
    assert "- … and 20 more" in said
    assert "more lines" in said


def test_what_cannot_be_compared_is_code_2(cli: Any, runs: None) -> None:
    """As trouble is with `diff`; 1 says that they differ."""
    said = cli("diff", "run_1", "run_9")
    assert (said.code, "there is no run_9" in said.err) == (2, True)
    assert cli("diff", "run_1", "Note_1").code == 2
