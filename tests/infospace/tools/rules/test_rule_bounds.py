"""What rules know of tools, how terms are told apart, and how large a file of rules may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid
from infospace.core.tool import Tool
from infospace.tools.search.rules.forward_chaining import Outcome, apply_rules, query_facts, tool_facts
from infospace.tools.search.rules.language import Conclusion, Rule, RuleSet
from infospace.tools.search.rules.rule_file import read_rules


def test_what_rules_know_of_a_tool() -> None:
    """What is empty is not known; what is false is."""
    tool = Tool(
        "files",
        "read_file",
        title="Read it",
        tags=("io", "safe"),
        category="Disk",
        connected=False,
        destructive=False,
        read_only=True,
        trusted=True,
    )
    name = "files/read_file"
    assert list(tool_facts(tool)) == [
        (name, "kind", "tool"),
        (name, "server", "files"),
        (name, "name", "read_file"),
        (name, "category", "Disk"),
        (name, "integration", tool.integration),
        (name, "visibility", "public"),
        (name, "connected", False),
        (name, "trusted", True),
        (name, "read_only", True),
        (name, "destructive", False),
        (name, "tag", "io"),
        (name, "tag", "safe"),
        (name, "word", "read"),
        (name, "word", "file"),
    ]


def test_what_rules_know_of_a_request() -> None:
    """Its text, and each word once: as it stands without signs around it, then as a search reads it."""
    assert list(query_facts(" Send 'Files', send (files)! ")) == [
        ("query", "text", "Send 'Files', send (files)!"),
        ("query", "word", "send"),
        ("query", "word", "files"),
        ("query", "word", "file"),
    ]


@pytest.mark.parametrize(
    ("term", "fact", "holds"),
    [(1, 1, True), (True, True, True), (1, True, False), (True, 1, False), (1, 1.0, False), ("1", 1, False)],
)
def test_terms_are_equal_with_their_types(term: Any, fact: Any, holds: bool) -> None:
    """In a pattern, and in two places of a variable."""
    picks = [Conclusion(None, fact=("it", "holds", "now"))]
    written = Rule("written", [("user", "level", term)], (), picks)
    assert [one.did for one in apply_rules(RuleSet([written], [("user", "level", fact)]), "x", []).trace] == (
        ["it holds now"] if holds else []
    )
    joined = Rule("joined", [("a", "b", "?x"), ("c", "d", "?x")], (), picks)
    found = apply_rules(RuleSet([joined], [("a", "b", term), ("c", "d", fact)]), "x", [])
    assert bool(found.trace) is holds
    twice = Rule("twice", [("?x", "of", "?x")], (), picks)
    assert bool(apply_rules(RuleSet([twice], [(term, "of", fact)]), "x", []).trace) is holds


def test_the_highest_of_two_rules_has_the_tool_and_equals_go_by_name() -> None:
    """One that says the same with less is not told; a tool that is not searched is none."""
    tool = Tool("a", "b")

    def outcome(*rules: tuple[str, int]) -> Outcome:
        made = [
            Rule(name, [], (), [Conclusion("select", "a/b"), Conclusion("select", "a/c")], at) for name, at in rules
        ]
        return apply_rules(RuleSet(made, []), "x", [tool])

    for found in (outcome(("low", -1), ("high", 0)), outcome(("high", 0), ("low", -1))):
        assert (found.deeds, [one.rule for one in found.trace]) == ({"select": {"a/b": (0, "high")}}, ["high"])
    assert outcome(("z", 0), ("a", 0)).deeds == {"select": {"a/b": (0, "a")}}
    below = outcome(("low", -1))
    assert (below.selected, below.required, below.rounds) == (frozenset({"a/b"}), frozenset(), 1)


THEN = {"prefer": "a/b"}
PATTERN = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("fits", "wrong", "message"),
    [
        ({"when": [PATTERN] * 12}, {"when": [PATTERN] * 13}, "rules[0].when has 13 patterns, more than 12"),
        ({"unless": [PATTERN] * 12}, {"unless": [PATTERN] * 13}, "rules[0].unless has 13 patterns, more than 12"),
        ({"priority": 1_000_000}, {"priority": 1_000_001}, "rules[0].priority is 1000001, not a whole number"),
        ({"priority": -1_000_000}, {"priority": -1_000_001}, "rules[0].priority is -1000001, not a whole number"),
        ({"priority": 0}, {"priority": False}, "rules[0].priority is false, not a whole number"),
        ({"priority": 1}, {"priority": 1.0}, "rules[0].priority is 1.0, not a whole number"),
        ({"name": "n" * 100}, {"name": "a\nb"}, 'rules[0].name is "a\\nb", not a short text'),
        ({"name": "n"}, {"name": " "}, 'rules[0].name is " ", not a short text'),
        ({"when": [["?t", "b", "?"]]}, {"then": {"prefer": "?"}}, "rules[0].then has '?', which no pattern of"),
        ({"unless": [["?", "b", "?"]]}, {"unless": "a"}, 'rules[0].unless is "a", not a list'),
        ({"then": [THEN, {"assert": PATTERN}]}, {"then": []}, "rules[0].then says nothing: "),
        ({"then": [THEN]}, {"then": [{"prefer": ""}]}, 'rules[0].then[0].prefer is "", not a tool or a variable'),
        ({"then": THEN}, {"then": {**THEN, "avoid": "a/b"}}, "rules[0].then is {"),
        ({"when": [["a", True, 1.5]]}, {"when": [["a", "b", "c", "d"]]}, "rules[0].when[0] is "),
    ],
)
def test_a_rule_fits_up_to_its_bounds(tmp_path: Path, fits: Any, wrong: Any, message: str) -> None:
    """One more is told in a sentence with its place."""
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"rules": [{"name": "r", "then": THEN, **fits}], "description": "x"}))
    (rule,) = read_rules(path).rules
    assert rule.priority == fits.get("priority", 0)
    path.write_text(json.dumps({"rules": [{"name": "r", "then": THEN, **wrong}]}))
    with pytest.raises(Invalid) as refused:
        read_rules(path)
    assert refused.value.message.startswith(f"{str(path)!r}: {message}")


def test_a_file_has_a_thousand_rules_at_most(tmp_path: Path) -> None:
    """And keys that it knows alone."""
    path = tmp_path / "rules.json"
    rules = [{"name": f"r{number}", "then": THEN} for number in range(1_001)]
    path.write_text(json.dumps({"rules": rules[:-1]}))
    assert len(read_rules(path).rules) == 1_000
    path.write_text(json.dumps({"rules": rules}))
    with pytest.raises(Invalid, match=r"it has 1,001 rules, more than 1,000$"):
        read_rules(path)
    path.write_text(json.dumps({"rules": [], "fact": [], "facts": {}}))
    with pytest.raises(Invalid) as refused:
        read_rules(path)
    assert (
        refused.value.message
        == f"{str(path)!r}: the file has 'fact': did you mean 'facts'?; `facts` is {{}}, not a list"
    )
