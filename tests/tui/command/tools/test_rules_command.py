"""`infospace tools rules`: a file is checked, and what it does for a request is shown step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RULES = [
    {"name": "order", "when": [["query", "word", "order"]], "then": {"assert": ["query", "topic", "sorting"]}},
    {"name": "sort", "priority": 2, "when": [["query", "topic", "sorting"]], "then": {"select": "infospace/sort"}},
]


def test_rules_are_checked_and_traced(cli: Any, tmp_path: Path) -> None:
    """Those of the space, or of a file that is named; without any that is said."""
    cli("add", str(tmp_path))
    assert "no rules: there is no" in cli("tools", "rules").err
    (tmp_path / "tool-rules.json").write_text(json.dumps({"rules": RULES}))
    said = cli("tools", "rules", "--query", "put items in order")
    assert said.code == 0
    assert said.out.splitlines() == [
        "✓ sort  priority 2",
        "✓ order  priority 0",
        "1. order: query topic sorting",
        "2. sort: select infospace/sort",
    ]
    found = cli("tools", "rules", "--query", "put items in order", "--json").json
    assert [one["name"] for one in found["rules"]] == ["order", "sort"]
    assert [one["round"] for one in found["trace"]] == [1, 2]
    assert "rule sort: select infospace/sort" in cli("tools", "search", "put items in order").err
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"rules": [{"name": "x", "then": {"preffer": "a/b"}}]}')
    said = cli("tools", "rules", str(wrong))
    assert (said.code, "rules[0].then has 'preffer': did you mean 'prefer'?" in said.err) == (2, True)
    assert cli("tools", "rules", str(tmp_path / "none.json")).code == 2


def test_the_environment_may_name_the_file(cli: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """One that is not there is said, with the search that goes on without it."""
    cli("add", str(tmp_path))
    monkeypatch.setenv("INFOSPACE_TOOL_RULES", str(tmp_path / "none.json"))
    assert "there is no file" in cli("tools", "rules").err
    said = cli("tools", "search", "put items in order")
    assert (said.code, "the rules for tools are not used: there is no file" in said.err) == (0, True)
