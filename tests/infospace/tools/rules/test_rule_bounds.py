"""What rules know of tools, how terms are told apart, and how large a file of rules may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, InvalidJSON, NotFound
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


def test_a_file_of_rules_has_a_mebibyte_at_most(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text('{"rules": []}'.ljust(2**20))
    assert read_rules(path).rules == []
    path.write_text('{"rules": []}'.ljust(2**20 + 1))
    with pytest.raises(InvalidJSON) as large:
        read_rules(path)
    assert large.value.message == f"{str(path)!r} is longer than the 1,048,576 bytes that may be read"


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


GIVEN = {"name": "x", "then": {"prefer": "a/b"}}
TRIPLE = ["a", "b", "c"]
SAYS = "prefer, avoid, require, select a tool, or `assert` a fact"
FILE_OF_RULES = 'a file of rules is {"rules": [{"name": …, "when": […], "then": […]}]}'


def rule(**members: Any) -> dict[str, Any]:
    """Return a file of one rule."""
    return {"rules": [{**GIVEN, **members}]}


@pytest.mark.parametrize(
    ("root", "wrong"),
    [
        ([], [FILE_OF_RULES]),
        ({"rules": {}}, [FILE_OF_RULES]),
        (
            {"rules": [], "description": "d", "fcts": 1, "zzzzzz": 2},
            [
                "the file has 'fcts': did you mean 'facts'?",
                "the file has 'zzzzzz': there are rules, facts, description",
            ],
        ),
        ({"rules": [], "facts": 3}, ["`facts` is 3, not a list"]),
        (
            {"rules": [], "facts": [TRIPLE, ["a", True, 1.5], ["a", "b"], ["a", None, 1], ["a", "?b", "c"], 3]},
            [
                'facts[2] is ["a", "b"], not such as ["?tool", "server", "git"]',
                "facts[3] has null, which is neither a text nor a number nor true or false",
                "facts[4] has the variable '?b', and a fact has none",
                'facts[5] is 3, not such as ["?tool", "server", "git"]',
            ],
        ),
        ({"rules": [3] * 1_001}, ["it has 1,001 rules, more than 1,000"]),
        ({"rules": [3] * 5}, [f"rules[{at}] is 3, not an object" for at in range(5)]),
        ({"rules": [3, GIVEN, GIVEN]}, ["rules[0] is 3, not an object", "rules[2]: there is a rule 'x' already"]),
        (rule(name=3), ["rules[0].name is 3, not a short text"]),
        (rule(name=" "), ['rules[0].name is " ", not a short text']),
        (rule(name="a\n"), ['rules[0].name is "a\\n", not a short text']),
        (rule(name="n" * 101), [f'rules[0].name is "{"n" * 58}…, not a short text']),
        (rule(priority=1_000_001), ["rules[0].priority is 1000001, not a whole number"]),
        (rule(priority=-1_000_001), ["rules[0].priority is -1000001, not a whole number"]),
        (rule(priority=True), ["rules[0].priority is true, not a whole number"]),
        (rule(zzzzzz=1), ["rules[0] has 'zzzzzz': there are name, when, unless, then, priority"]),
        (rule(when=[TRIPLE] * 13), ["rules[0].when has 13 patterns, more than 12"]),
        (rule(when=3, unless=4), ["rules[0].when is 3, not a list", "rules[0].unless is 4, not a list"]),
        (
            rule(unless=[["?y", "b", "?"]], when=[["?x", "b", "c"]]),
            ["rules[0].unless has '?y', which no pattern of `when` has"],
        ),
        (rule(then=None), [f"rules[0].then says nothing: {SAYS}"]),
        (rule(then=[]), [f"rules[0].then says nothing: {SAYS}"]),
        (rule(then=[3]), ['rules[0].then[0] is 3, not such as {"prefer": "?tool"}']),
        (
            rule(then={"prefer": "a", "avoid": "b"}),
            ['rules[0].then is {"prefer": "a", "avoid": "b"}, not such as {"prefer": "?tool"}'],
        ),
        (rule(then={"prefer": ""}), ['rules[0].then.prefer is "", not a tool or a variable']),
        (rule(then={"select": 3}), ["rules[0].then.select is 3, not a tool or a variable"]),
        (rule(then={"zzzz": "a"}), ["rules[0].then has 'zzzz': there are prefer, avoid, require, select, assert"]),
        (rule(then={"asert": TRIPLE}), ["rules[0].then has 'asert': did you mean 'assert'?"]),
        (
            rule(then={"assert": ["a", "b"]}),
            ['rules[0].then.assert is ["a", "b"], not such as ["?tool", "server", "git"]'],
        ),
        (
            rule(then=[{"prefer": "a"}, {"assert": ["?x", "?y", "?"]}], when=[["?x", "b", "c"]]),
            [f"rules[0].then[1] has {name!r}, which no pattern of `when` has" for name in ("?y", "?")],
        ),
        (
            rule(then=[{"avoid": "?z"}, {"prefer": "a"}, 3]),
            [
                "rules[0].then[0] has '?z', which no pattern of `when` has",
                'rules[0].then[2] is 3, not such as {"prefer": "?tool"}',
            ],
        ),
    ],
)
def test_all_that_is_wrong_with_rules_is_told(tmp_path: Path, root: Any, wrong: list[str]) -> None:
    """In their order, each with its place and what would have fitted."""
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(root))
    with pytest.raises(Invalid) as refused:
        read_rules(path)
    assert refused.value.message == f"{str(path)!r}: {'; '.join(wrong)}"


def test_rules_may_say_as_much_as_is_read(tmp_path: Path) -> None:
    """A thousand of them, each of twelve patterns; of what is wrong five are told, and how many more."""
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"rules": [{**GIVEN, "name": f"r{at}"} for at in range(1_000)]}))
    assert len(read_rules(path).rules) == 1_000
    whole = {"name": "n" * 100, "when": [TRIPLE] * 12, "unless": [["?", "b", 1]], "priority": -1_000_000}
    then = [{"prefer": "a"}, {"avoid": "b"}, {"assert": TRIPLE}]
    path.write_text(json.dumps({**rule(**whole, then=then), "facts": [["a", True, 1.5]]}))
    triple = ("a", "b", "c")
    read = read_rules(path)
    assert (read.facts, read.rules) == (
        [("a", True, 1.5)],
        [
            Rule(
                "n" * 100,
                [triple] * 12,
                [("?", "b", 1)],
                [Conclusion("prefer", "a"), Conclusion("avoid", "b"), Conclusion(None, fact=triple)],
                -1_000_000,
            )
        ],
    )
    path.write_text(json.dumps({"rules": [3] * 6}))
    with pytest.raises(Invalid, match=r"rules\[4\] is 3, not an object, and 1 more$"):
        read_rules(path)
    path.unlink()
    for where, kind, told in (
        (path, NotFound, f"there is no file {str(path)!r}"),
        (tmp_path, InvalidJSON, f"{str(tmp_path)!r} cannot be read: Is a directory"),
    ):
        with pytest.raises(kind) as refused:
            read_rules(where)
        assert refused.value.message == told
    path.write_text("[")
    with pytest.raises(InvalidJSON) as cut:
        read_rules(path)
    assert cut.value.message.startswith(f"{str(path)!r} ends inside an array")
