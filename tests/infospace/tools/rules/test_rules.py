"""Rules for tools: read and checked, applied to a fixed point, and used by every search."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "finding"))
from made_tools import made_tools

from infospace import Invalid, NotFound, Space
from infospace.core.errors import InvalidJSON
from infospace.core.tool import Tool
from infospace.tools.search.results import ToolQuery, ToolResults
from infospace.tools.search.rules.forward_chaining import MOST_TRACED, Outcome, RulesEndless, apply_rules, query_facts
from infospace.tools.search.rules.language import Conclusion, Fact, Rule, RuleSet
from infospace.tools.search.rules.rule_file import read_rules
from infospace.tools.search.rules.source import FILE
from planner.execute.start import run_sync
from planner.metatools.arguments import SearchTools
from planner.metatools.search_tools import search_tools
from planner.server.config import read_config
from planner.server.operations import Operations

TOOLS = made_tools()


def written(folder: Path, rules: Any, **more: Any) -> Path:
    path = folder / FILE
    path.write_text(json.dumps({"rules": rules, **more}) if not isinstance(rules, str) else rules)
    return path


def applied(folder: Path, request: str, rules: Any, tools: Sequence[Tool] = TOOLS, **more: Any) -> Outcome:
    return apply_rules(read_rules(written(folder, rules, **more)), request, tools)


def test_facts_that_rules_add_lead_to_further_rules(tmp_path: Path) -> None:
    """Round by round, whatever the order in the file; the trace says which rule did what, for which values."""
    rules = [
        {"name": "last", "when": [["query", "needs", "?s"], ["?t", "server", "?s"]], "then": {"prefer": "?t"}},
        {"name": "second", "when": [["query", "topic", "packages"]], "then": {"assert": ["query", "needs", "brew"]}},
        {"name": "first", "when": [["query", "word", "install"]], "then": {"assert": ["query", "topic", "packages"]}},
    ]
    for order in (rules, rules[::-1]):
        found = applied(tmp_path, "Install imagemagick!", order)
        assert sorted(found.deeds["prefer"]) == [f"brew/{name}_package" for name in ("install", "uninstall")] + [
            "brew/upgrade_packages"
        ]
        steps = [(one.round, one.rule, one.did) for one in found.trace]
        assert steps[:2] == [(1, "first", "query topic packages"), (2, "second", "query needs brew")]
        assert {step[:2] for step in steps[2:]} == {(3, "last")}
        assert found.trace[2].bindings["?s"] == "brew"
        assert found.rounds == 3
    assert applied(tmp_path, "read a file", rules).deeds == {}


def test_the_higher_priority_decides_and_of_equals_what_avoids(tmp_path: Path) -> None:
    def preference(prefer: int, avoid: int) -> int:
        when = [["?t", "name", "search_code"]]
        rules = [
            {"name": "for", "priority": prefer, "when": when, "then": {"prefer": "?t"}},
            {"name": "against", "priority": avoid, "when": when, "then": {"avoid": "?t"}},
        ]
        return applied(tmp_path, "x", rules).preference("github/search_code")[0]

    assert (preference(2, 1), preference(1, 2), preference(1, 1)) == (1, -1, -1)
    rules = [
        {"name": f"r{at}", "priority": at, "when": [["?t", "name", name]], "then": {"select": "?t"}}
        for at, name in enumerate(["search_code", "read_file"])
    ]
    assert applied(tmp_path, "x", rules).selected == {"filesystem/read_file"}


def test_variables_join_and_unless_looks_at_what_was_known_before(tmp_path: Path) -> None:
    """A variable that stands twice has one value; a fact that a rule adds excludes nothing."""
    facts = [["user", "likes", "github"], ["user", "hates", "brew"]]
    rules = [
        {"name": "like", "when": [["user", "likes", "?s"], ["?t", "server", "?s"]], "then": {"prefer": "?t"}},
        {
            "name": "add",
            "when": [],
            "then": [{"assert": ["user", "hates", "filesystem"]}, {"assert": ["user", "is", "asked"]}],
        },
        {
            "name": "known",
            "when": [["?t", "server", "?s"], ["user", "is", "asked"]],
            "unless": [["user", "hates", "?s"]],
            "then": {"require": "?t"},
        },
    ]
    found = applied(tmp_path, "x", rules, facts=facts)
    assert {tool.partition("/")[0] for tool in found.deeds["prefer"]} == {"github"}
    assert {tool.partition("/")[0] for tool in found.required} == {"github", "filesystem"}


terms = st.sampled_from(["a", "b", "c"])
patterns = st.tuples(*[st.sampled_from(["a", "b", "c", "?x", "?y", "?"])] * 3)
facts_drawn = st.lists(st.tuples(terms, terms, terms), max_size=6)


@given(facts_drawn, st.lists(st.tuples(st.lists(patterns, min_size=1, max_size=3), st.integers(0, 2)), max_size=4))
def test_what_follows_is_what_follows_by_trying_everything(
    facts: list[Fact], drawn: list[tuple[list[Any], int]]
) -> None:
    """The fixed point is that of the plain method, which tries every rule with every fact in each round."""
    rules = []
    for number, (when, at) in enumerate(drawn):
        variables = [term for pattern in when for term in pattern if term.startswith("?") and term != "?"]
        head = tuple((variables or ["a"])[(at + place) % max(len(variables), 1)] for place in range(3))
        rules.append(Rule(f"r{number}", when, (), [Conclusion(None, fact=head)]))
    outcome = apply_rules(RuleSet(rules, facts), "-", [])
    added = {one.did for one in outcome.trace}
    known: set[Any] = {*facts, *query_facts("-")}
    before = set(known)

    def ways(when: Sequence[Any], bound: dict[str, Any]) -> Any:
        if not when:
            yield bound
            return
        for fact in list(known):
            now = dict(bound)
            if all(
                now.setdefault(term, value) == value if term.startswith("?") and term != "?" else term in ("?", value)
                for term, value in zip(when[0], fact, strict=True)
            ):
                yield from ways(when[1:], now)

    while True:
        new = {tuple(b.get(t, t) for t in rule.then[0].fact or ()) for rule in rules for b in ways(rule.when, {})}
        if new <= known:
            break
        known |= new
    follows = {" ".join(map(str, fact)) for fact in known - before}
    assert added == follows if len(follows) < MOST_TRACED else added < follows


WRONG = [
    ('{"rules": [', "cut off"),
    ("[]", 'a file of rules is {"rules":'),
    ('{"rules": {}}', 'a file of rules is {"rules":'),
    ([7], "rules[0] is 7, not an object"),
    ([{"name": "x", "then": {"prefer": "a/b"}, "wen": []}], "rules[0] has 'wen': did you mean 'when'?"),
    ([{"name": "", "then": {"prefer": "a/b"}}], 'rules[0].name is "", not a short text'),
    ([{"name": "x", "then": {"prefer": "a/b"}, "priority": "1"}], 'rules[0].priority is "1", not a whole number'),
    ([{"name": "x"}], "rules[0].then says nothing"),
    ([{"name": "x", "then": {"preffer": "a/b"}}], "rules[0].then has 'preffer': did you mean 'prefer'?"),
    ([{"name": "x", "then": {"prefer": "?t"}}], "rules[0].then has '?t', which no pattern of `when` has"),
    ([{"name": "x", "when": [["a", "b"]], "then": {"prefer": "a/b"}}], "rules[0].when[0] is"),
    ([{"name": "x", "when": "a", "then": {"prefer": "a/b"}}], 'rules[0].when is "a", not a list'),
    ([{"name": "x", "when": [["a", "b", None]], "then": {"prefer": "a/b"}}], "which is neither a text nor a number"),
    ([{"name": "x", "unless": [["?t", "b", 1]], "then": {"prefer": "a/b"}}], "rules[0].unless has '?t'"),
    ([{"name": "x", "then": {"assert": ["?q", "b", "c"]}}], "rules[0].then has '?q'"),
    ([{"name": "x", "then": {"prefer": "a/b"}}] * 2, "rules[1]: there is a rule 'x' already"),
]


@pytest.mark.parametrize(("rules", "sentence"), WRONG)
def test_what_is_wrong_in_a_file_is_said_with_its_place(tmp_path: Path, rules: Any, sentence: str) -> None:
    with pytest.raises((Invalid, InvalidJSON)) as refused:
        read_rules(written(tmp_path, rules))
    assert sentence in refused.value.message + (refused.value.hint or "")


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    """Of many the first five; of a file that is not there, that."""
    with pytest.raises(Invalid, match=r"rules\[0\].*rules\[4\].*, and 2 more"):
        read_rules(written(tmp_path, [7] * 7))
    with pytest.raises(Invalid, match=r"facts\[0\] has the variable '\?a'"):
        read_rules(written(tmp_path, [], facts=[["?a", "b", "c"]]))
    with pytest.raises(NotFound, match="there is no file"):
        read_rules(tmp_path / "none.json")


def test_rules_that_hold_in_too_many_ways_end(tmp_path: Path) -> None:
    """With a sentence; a search goes on without them."""
    when = [["?a", "?b", "?c"], ["?d", "?e", "?f"], ["?g", "?h", "?i"]]
    rules = [{"name": "boom", "when": when, "then": {"assert": ["?a", "?e", "?i"]}}]
    with pytest.raises(RulesEndless, match="the rule 'boom' holds in too many ways"):
        applied(tmp_path, "x", rules)


def found(space: Space, request: str, **asked: Any) -> ToolResults:
    return space.finder.find(TOOLS, ToolQuery(request, **asked))


def rules_of(space: Space, rules: Any) -> None:
    assert space.store.derived is not None
    written(space.store.derived.parent, rules)


def test_a_search_follows_the_rules_beside_the_space(space: Space) -> None:
    """As they are now: preferred and avoided tools move, a selected one is first, required ones are alone."""
    request = "find files that match a pattern"
    plain = [hit.tool.full_name for hit in found(space, request).hits]
    assert len(plain) > 2
    last = plain[-1]
    rules_of(space, [{"name": "pick", "when": [["query", "word", "files"]], "then": {"select": last}}])
    picked = found(space, request, limit=1)
    assert [hit.tool.full_name for hit in picked.hits] == [last]
    assert picked.hits[0].to_json()["rules"] == {"selected": "pick"}
    assert [one["did"] for one in picked.rules] == [f"select {last}"]
    rules_of(space, [{"name": "not that", "when": [], "then": {"avoid": plain[0]}}])
    (moved,) = [hit for hit in found(space, request).hits if hit.tool.full_name == plain[0]]
    assert moved.ranked == pytest.approx(moved.score + 0.1 + 0.02 - 0.15)
    assert moved.to_json()["rules"] == {"avoided": "not that"}
    rules_of(space, [{"name": "rather", "when": [], "then": {"prefer": plain[0]}}])
    (moved,) = [hit for hit in found(space, request).hits if hit.tool.full_name == plain[0]]
    assert moved.to_json()["rules"] == {"preferred": "rather"}
    rules_of(space, [{"name": "only", "when": [["?t", "name", "read_file"]], "then": {"require": "?t"}}])
    only = found(space, request)
    assert [hit.tool.name for hit in only.hits] == ["read_file"]
    rules_of(space, [{"name": "all", "when": [["?t", "kind", "tool"]], "then": {"prefer": "?t"}}])
    assert found(space, "roast a goose with red cabbage").no_match


def test_a_file_that_cannot_be_used_is_told_and_the_search_goes_on(space: Space, tmp_path: Path) -> None:
    """Until it is mended, or gone."""
    before = [hit.tool.full_name for hit in found(space, "read a file").hits]
    rules_of(space, '{"rules": [')
    wrong = found(space, "read a file")
    assert [hit.tool.full_name for hit in wrong.hits] == before
    assert "the rules for tools are not used: " in str(wrong.degraded)
    rules_of(space, [])
    assert found(space, "read a file").degraded is None


def test_answers_say_what_rules_did(space: Space) -> None:
    """`search_tools` and `discover-tools`, over what the space itself can do."""
    rules_of(space, [{"name": "sort", "when": [["query", "word", "order"]], "then": {"select": "infospace/sort"}}])
    answer = asyncio.run(search_tools(space, SearchTools(query="put items in order")))
    assert (answer["tools"][0]["tool_name"], answer["tools"][0]["rules"]) == ("infospace/sort", {"selected": "sort"})
    assert answer["rules"] == [{"rule": "sort", "round": 1, "bindings": {}, "did": "select infospace/sort"}]
    step = run_sync(space, [{"type": "discover-tools", "query": "put items in order", "out": "$tools"}]).steps[0]
    assert step.extra["rules"] == answer["rules"]


def test_rules_know_who_asks_by_a_token(space: Space, tmp_path: Path) -> None:
    """By name, team, whether it is an admin, and what the file says; in searches, and in what plans discover."""
    tokens: list[dict[str, Any]] = [
        {"name": "ann", "sha256": "0" * 64, "scope": "team", "about": {"role": "reviewer", "level": 3}},
        {"name": "ops", "sha256": "1" * 64, "admin": True},
    ]
    config = tmp_path / "serve.json"
    config.write_text(json.dumps({"scopes": {"team": {"teams": ["search"]}}, "tokens": tokens}))
    ann, ops = (Operations(space, token.access) for token in read_config(config, {}).tokens)
    when = [["user", "role", "reviewer"], ["user", "team", "search"], ["user", "level", 3], ["user", "admin", False]]
    request = "put items in order"
    plain = [one["tool_name"] for one in asyncio.run(search_tools(space, SearchTools(query=request)))["tools"]]
    picked, other = plain[-1], plain[-2]
    admin = [["user", "name", "ops"], ["user", "admin", True]]
    rules_of(
        space,
        [
            {"name": "reviewers", "when": when, "then": {"select": picked}},
            {"name": "ops", "when": admin, "then": {"select": other}},
        ],
    )

    def first(asked: Space) -> str:
        name: str = asyncio.run(search_tools(asked, SearchTools(query=request)))["tools"][0]["tool_name"]
        (step,) = run_sync(asked, [{"type": "discover-tools", "query": request, "out": "$t"}]).steps
        assert step.extra["ranking"][0]["tool"] == name
        return name

    assert (first(ann.space), first(ops.space), first(space)) == (picked, other, plain[0])
