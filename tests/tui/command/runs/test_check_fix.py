"""`check --fix`: the mended plan as a diff, in its file, and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

WRONG = """{
  "goal": "longest",
  "steps": [
    {"type": "create-collection", "value": [{"a": 1}, {"a": 5}],   "output": "rows"},

    {"type": "sort", "target": "$rows", "by": "a", "descending": true, "out": "$sorted"}
  ]
}
"""
MENDED = WRONG.replace('"output": "rows"', '"out": "$rows"').replace('"descending": true', '"order": "desc"')
REFUSED = '{"steps": [{"type": "create-note", "value": 1, "output": "x"}, {"type": "say", "value": "$nothing"}]}'


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(WRONG, encoding="utf-8")
    return path


def test_the_mended_plan_is_shown_as_a_diff_and_the_file_stays(cli: Any, plan: Path) -> None:
    """The exit code is that of the mended plan."""
    said = cli("check", str(plan), "--fix")
    assert said.code == 0
    assert '+    {"type": "create-collection", "value": [{"a": 1}, {"a": 5}],   "out": "$rows"},' in said.out
    assert '-    {"type": "create-collection", "value": [{"a": 1}, {"a": 5}],   "output": "rows"},' in said.out
    assert "the fixed plan may run" in said.out
    assert "fixed at /steps/0/output" in said.err
    assert plan.read_text(encoding="utf-8") == WRONG


def test_write_keeps_it_and_what_is_not_mended_stays_as_it_was_written(cli: Any, plan: Path) -> None:
    """Blank lines and spaces, too; once more there is nothing to do."""
    assert cli("check", str(plan), "--fix", "--write").code == 0
    assert plan.read_text(encoding="utf-8") == MENDED
    again = cli("check", str(plan), "--fix", "--write")
    assert again.code == 0
    assert "the plan is fine: there is nothing to fix" in again.err
    assert "the plan may run" in again.out
    assert plan.read_text(encoding="utf-8") == MENDED


def test_a_plan_with_problems_that_nothing_fixes_is_not_called_fine(cli: Any, tmp_path: Path) -> None:
    """Neither one that is refused, nor one that may run with a warning."""
    path = tmp_path / "plan.json"
    for plan, code in (
        ([{"type": "size", "target": "$nothing"}], 3),
        ([{"type": "create-note", "value": 1, "out": "$x"}, {"type": "create-note", "value": 2, "out": "$x"}], 0),
    ):
        path.write_text(json.dumps(plan), encoding="utf-8")
        said = cli("check", str(path), "--fix")
        assert said.code == code
        assert "no fix applies" in said.err
        assert "fine" not in said.err + said.out


def test_json_has_the_mended_plan_what_was_fixed_and_what_is_left(cli: Any, plan: Path) -> None:
    """Of standard input as well."""
    for said in (cli("check", str(plan), "--fix", "--json"), cli("check", "-", "--fix", "--json", stdin=WRONG)):
        assert said.code == 0
        assert (said.json["ok"], said.json["problems"], said.json["written"]) == (True, [], False)
        assert said.json["plan"] == json.loads(MENDED)
        assert [one["pointer"] for one in said.json["fixed"]] == ["/steps/0/output", "/steps/1/descending"]


def test_what_no_fix_mends_is_told_of_the_mended_plan(cli: Any, tmp_path: Path) -> None:
    """It is refused, with exit code 3, and what was mended is kept."""
    path = tmp_path / "refused.json"
    path.write_text(REFUSED, encoding="utf-8")
    said = cli("check", str(path), "--fix", "--write", "--json")
    assert said.code == 3
    assert [one["code"] for one in said.json["problems"]] == ["unbound-variable"]
    assert said.json["written"]
    assert path.read_text(encoding="utf-8") == REFUSED.replace('"output": "x"', '"out": "$x"')


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["-", "--write"], WRONG, "--write needs --fix"),
        (["-", "--fix", "--write"], WRONG, "--write writes into a plan file"),
        (["-", "--fix"], '{"type": "say", "value": 1}\n{"type": "say", "value": 2}\n', "lines of a session"),
        (["nowhere.json", "--fix"], "", "there is no file 'nowhere.json'"),
    ],
)
def test_what_cannot_be_mended_or_written_is_told(cli: Any, arguments: list[str], stdin: str, message: str) -> None:
    """In a sentence, with exit code 2."""
    said = cli("check", *arguments, stdin=stdin)
    assert said.code == 2
    assert message in said.err


def test_what_is_no_json_is_refused(cli: Any) -> None:
    """With its place, as without --fix."""
    said = cli("check", "-", "--fix", "--json", stdin='{"steps": [')
    assert said.code == 3
    assert [one["code"] for one in said.json["problems"]] == ["unreadable"]
