"""Forward chaining: rules are applied to facts until nothing new follows, on fresh memory for each request.

Facts are only ever added, and every fact is made of terms that are there already, so it comes to an end; how many facts
and matches it may take is bounded. Semi-naive: from the second round on a rule is looked at only with what is new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from infospace.core.errors import Invalid
from infospace.core.tool import Tool
from infospace.tools.search.rules.language import (
    QUERY,
    Conclusion,
    Deed,
    Fact,
    Pattern,
    Rule,
    RuleSet,
    Term,
    is_variable,
)
from infospace.tools.search.tokenize import tokenize

MOST_FACTS: Final = 100_000
MOST_MATCHES: Final = 200_000
MOST_TRACED: Final = 200

Bindings: TypeAlias = dict[str, Term]


class RulesEndless(Invalid):
    """Rules that hold in too many ways, or add too much."""

    kind = "rules"


@dataclass(frozen=True, slots=True)
class Firing:
    """That a rule held: in which round, for which values of its variables, and what it did that was new."""

    rule: str
    priority: int
    round: int
    bindings: Mapping[str, Term]
    did: str
    tool: str = ""
    """The tool that it did something with, by its full name; empty where it added a fact."""

    def to_json(self) -> dict[str, Any]:
        """Return it as answers have it."""
        return {"rule": self.rule, "round": self.round, "bindings": dict(self.bindings), "did": self.did}


@dataclass(slots=True)
class Outcome:
    """What rules say of tools: for each deed the tools by full name, each with the highest priority and its rule."""

    deeds: dict[Deed, dict[str, tuple[int, str]]] = field(default_factory=dict)
    trace: list[Firing] = field(default_factory=list)
    rounds: int = 0

    def add(self, deed: Deed, tool: str, rule: Rule) -> bool:
        """Note what a rule does with a tool; whether that is new."""
        known = self.deeds.setdefault(deed, {})
        if tool in known and known[tool][0] >= rule.priority:
            return False
        known[tool] = rule.priority, rule.name
        return True

    def preference(self, tool: str) -> tuple[int, str]:
        """Return 1 where a tool is preferred, -1 where it is avoided, 0 where neither, and by which rule.

        The higher priority decides, and of equal ones that it is avoided.
        """
        nothing = (-(10**9), "")
        for_it = self.deeds.get("prefer", {}).get(tool, nothing)
        against = self.deeds.get("avoid", {}).get(tool, nothing)
        if for_it == against == nothing:
            return 0, ""
        return (1, for_it[1]) if for_it[0] > against[0] else (-1, against[1])

    @property
    def required(self) -> frozenset[str]:
        """The tools to which an answer is confined: those that rules of the highest priority require."""
        return self._highest("require")

    @property
    def selected(self) -> frozenset[str]:
        """The tools that go first: those that rules of the highest priority select."""
        return self._highest("select")

    def _highest(self, deed: Deed) -> frozenset[str]:
        known = self.deeds.get(deed, {})
        best = max((priority for priority, _ in known.values()), default=0)
        return frozenset(tool for tool, (priority, _) in known.items() if priority == best)


def query_facts(request: str) -> Iterator[Fact]:
    """Iterate over what is known of a request: its text, and its words as they stand and as search reads them."""
    yield QUERY, "text", request.strip()
    words = [word.strip(".,;:!?\"'()").casefold() for word in request.split()]
    for word in dict.fromkeys((*filter(None, words), *tokenize(request))):
        yield QUERY, "word", word


def tool_facts(tool: Tool) -> Iterator[Fact]:
    """Iterate over what is known of a tool."""
    name = tool.full_name
    plain: dict[str, Term] = {
        "kind": tool.kind,
        "server": tool.server,
        "name": tool.name,
        "category": tool.category,
        "integration": tool.integration,
        "visibility": tool.visibility,
        "team": tool.team,
        "connected": tool.connected,
        "trusted": tool.trusted,
        "read_only": tool.read_only,
        "destructive": tool.destructive,
    }
    yield from ((name, key, value) for key, value in plain.items() if value != "")
    yield from ((name, "tag", tag) for tag in tool.tags)
    yield from ((name, "word", word) for word in dict.fromkeys(tokenize(f"{tool.name} {tool.title}")))


def apply_rules(rules: RuleSet, request: str, tools: Sequence[Tool], user: Sequence[Fact] = ()) -> Outcome:
    """Apply rules to a request, some tools and what is known of whoever asks, to a fixed point.

    Raises RulesEndless where that takes too much.
    """
    memory = _Memory()
    for fact in (*rules.facts, *user, *query_facts(request), *(fact for tool in tools for fact in tool_facts(tool))):
        memory.add(fact)
    given = memory.copy()
    names = {tool.full_name for tool in tools}
    outcome, matches = Outcome(), 0
    ordered = sorted(rules.rules, key=lambda rule: (-rule.priority, rule.name))
    fresh = memory.facts.copy()
    while fresh or not outcome.rounds:
        outcome.rounds += 1
        new: dict[Fact, None] = {}
        for rule in ordered:
            for bindings in _matches(rule, memory, fresh if outcome.rounds > 1 else None):
                matches += 1
                if matches > MOST_MATCHES:
                    raise RulesEndless(
                        f"the rule {rule.name!r} holds in too many ways: rules have {MOST_MATCHES:,} together"
                    )
                if any(given.has(_filled(pattern, bindings)) for pattern in rule.unless):
                    continue
                for conclusion in rule.then:
                    _conclude(rule, conclusion, bindings, outcome, memory, new, names)
        for fact in new:
            memory.add(fact)
        if len(memory.facts) > MOST_FACTS:
            raise RulesEndless(f"rules add more than {MOST_FACTS:,} facts")
        fresh = dict(new)
    return outcome


def _conclude(
    rule: Rule,
    conclusion: Conclusion,
    bindings: Bindings,
    outcome: Outcome,
    memory: _Memory,
    new: dict[Fact, None],
    names: set[str],
) -> None:
    if conclusion.fact is not None:
        fact = _filled(conclusion.fact, bindings)
        if fact in memory.facts or fact in new:
            return
        new[fact] = None
        did, about = f"{fact[0]} {fact[1]} {fact[2]}", ""
    else:
        tool = str(_value(conclusion.tool, bindings))
        if conclusion.deed is None or tool not in names or not outcome.add(conclusion.deed, tool, rule):
            return
        did, about = f"{conclusion.deed} {tool}", tool
    if len(outcome.trace) < MOST_TRACED:
        outcome.trace.append(Firing(rule.name, rule.priority, outcome.rounds, dict(bindings), did, about))


class _Memory:
    """Facts, by their terms."""

    def __init__(self) -> None:
        self.facts: dict[Fact, None] = {}
        self._by: defaultdict[tuple[int, Term, type], dict[Fact, None]] = defaultdict(dict)

    def copy(self) -> _Memory:
        result = _Memory()
        for fact in self.facts:
            result.add(fact)
        return result

    def add(self, fact: Fact) -> None:
        if fact in self.facts:
            return
        self.facts[fact] = None
        for at, term in enumerate(fact):
            self._by[at, term, type(term)][fact] = None

    def candidates(self, pattern: Pattern) -> Mapping[Fact, None]:
        """Return the facts that may fit: those of the rarest term that is no variable."""
        fixed = [self._by.get((at, term, type(term)), {}) for at, term in enumerate(pattern) if not is_variable(term)]
        return min(fixed, key=len) if fixed else self.facts

    def has(self, pattern: Pattern) -> bool:
        return any(_unify(pattern, fact, {}) is not None for fact in self.candidates(pattern))


def _matches(rule: Rule, memory: _Memory, fresh: Mapping[Fact, None] | None) -> Iterator[Bindings]:
    """Iterate over the ways in which a rule holds; with `fresh` only over those that need one of these facts."""
    if fresh is None or not rule.when:
        if fresh is None:
            yield from _join(rule.when, memory, {})
        return
    for at, pattern in enumerate(rule.when):
        rest = [*rule.when[:at], *rule.when[at + 1 :]]
        for fact in fresh:
            bindings = _unify(pattern, fact, {})
            if bindings is not None:
                yield from _join(rest, memory, bindings)


def _join(patterns: Sequence[Pattern], memory: _Memory, bindings: Bindings) -> Iterator[Bindings]:
    if not patterns:
        yield bindings
        return
    filled = [_filled(pattern, bindings) for pattern in patterns]
    # The pattern that the fewest facts may fit comes first.
    at = min(range(len(filled)), key=lambda number: len(memory.candidates(filled[number])))
    rest = [*patterns[:at], *patterns[at + 1 :]]
    for fact in list(memory.candidates(filled[at])):
        results = _unify(filled[at], fact, bindings)
        if results is not None:
            yield from _join(rest, memory, results)


def _unify(pattern: Pattern, fact: Fact, bindings: Bindings) -> Bindings | None:
    results = bindings
    for expected, term in zip(pattern, fact, strict=True):
        if not is_variable(expected):
            if expected != term or type(expected) is not type(term):
                return None
        elif expected != "?":
            name = str(expected)
            if name not in results:
                results = {**results, name: term}
            elif results[name] != term or type(results[name]) is not type(term):
                return None
    return results


def _filled(pattern: Pattern, bindings: Bindings) -> Pattern:
    return _value(pattern[0], bindings), _value(pattern[1], bindings), _value(pattern[2], bindings)


def _value(term: Term, bindings: Bindings) -> Term:
    return bindings.get(term, term) if isinstance(term, str) else term
