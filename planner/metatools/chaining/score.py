"""How sure a chain of calls is that it does what a request asks for, by the words of both."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from infospace.core.tool import Tool
from infospace.tools.search.tokenize import tokenize
from planner.metatools.chaining.chain import Call, Chain, Clause
from planner.metatools.chaining.literals import GoalLiteral

_CHANGES = 0.6
"""What is left of the confidence where a tool changes something and the goal only asks."""
_UNDONE = 0.7
"""The same for each thing to do of which no tool speaks."""
_WEAK = 0.7
"""A flow below this is of a text that anything may give: the goal has to say what gives it."""
STEP = 0.97
"""What a plan loses by each step more: the shorter of equals is right."""
_SHORTEST = 4
"""Letters of a verb without its ending: `string` is not one of `str`."""
_DEPRECATED: Final = re.compile(r"\bdeprecated\b", re.IGNORECASE)
_SAYS_NOTHING: Final = frozenset(
    {
        *(
            "show",
            "tell",
            "give",
            "get",
            "list",
            "find",
            "display",
            "fetch",
            "want",
            "need",
            "please",
            "let",
            "see",
            "me",
        ),
        *("know", "look", "like", "somebody", "someone", "one", "yet", "use", "using", "call", "called", "named", "id"),
        *("another", "other", "anything", "everything", "something"),
        *("new", "entire", "whole", "take", "put", "do", "retrieve", "return", "result", "content"),
    }
)
"""Words of goals that tell no tools apart."""
MEANS: Final[Mapping[str, tuple[str, ...]]] = {
    "folder": ("directory",),
    "show": ("serie",),
    "save": ("write",),
    "store": ("write",),
    "copy": ("write",),
    "make": ("create",),
    "start": ("create",),
    "open": ("read",),
    "remove": ("delete",),
    "rename": ("move",),
    "compare": ("diff", "difference"),
    "switch": ("checkout",),
    "stage": ("add", "staging"),
    "unstage": ("reset",),
    "song": ("track",),
    "film": ("movie",),
    "change": ("diff",),
    "history": ("log",),
    "repository": ("repo",),
    "photo": ("image",),
    "picture": ("image",),
}
"""What people call by other words than tools do, as stems."""


@dataclass(frozen=True, slots=True)
class ScoredChain:
    """A chain, how sure it is, and what of the request it leaves out: words, and what is said literally."""

    chain: Chain
    confidence: float
    unexplained: tuple[str, ...]
    unused: tuple[str, ...]
    coverage: float = 1.0
    """Share of the words that tell tools apart which the tools have, each by its weight."""


class ChainScorer:
    """Scores chains of the tools of one catalogue."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._count = len(tools)
        self._words = {tool.full_name: _words_of(tool) for tool in tools}
        self._counts = Counter(
            word for names, description_words in self._words.values() for word in names | description_words
        )

    def score(self, chain: Chain, clause: Clause, relevance: float, meant: frozenset[str] = frozenset()) -> ScoredChain:
        """Say how sure a chain is: by search, by words that are explained, by names, and by how arguments fit.

        `meant` are stems of the goal that the chain is known to explain in other words.
        """
        goal = telling_stems(clause.words)
        joined = _joined(clause.words)
        explained: dict[str, float] = {}
        for number, call in enumerate(chain.calls):
            names, description_words = self._words[call.tool.full_name]
            share = 1.0 if number == len(chain.calls) - 1 else 0.9
            for stem in goal:
                forms = (*forms_of(stem), *joined.get(stem, ()))
                value = 0.0
                if any(form in names for form in forms) or stem in call.words:
                    value = share
                elif stem in meant or any(form in description_words for form in forms):
                    value = 0.75 * share
                explained[stem] = max(explained.get(stem, 0.0), value)
        weights = {stem: self._weight(stem) for stem in goal}
        total = sum(weights.values())
        coverage = sum(weights[stem] * explained[stem] for stem in goal) / total if total else 0.5
        missing = tuple(stem for stem in goal if not explained[stem])
        precision = self._precision(chain, [*goal, *sorted(clause.stems)])
        unused = clause.numbers - chain.used
        fits = [*chain.flows, *(one for call in chain.calls for one in call.fits)]
        arguments = sum(fits) / len(fits) if fits else 1.0
        idle = sum(1 for call in chain.calls[:-1] if not call.used and not self._adds(call, chain, goal))
        confidence = 0.3 * relevance + 0.4 * coverage + 0.2 * precision + 0.1 * arguments
        against = sum(1 for call in chain.calls[:-1] for at in call.used if _leads_on(clause.literals[at]))
        old = sum(1 for call in chain.calls if _DEPRECATED.search(call.tool.description))
        for call, surely in zip(chain.calls[:-1], chain.flows, strict=False):
            if surely < _WEAK:
                confidence *= 0.4 + 0.6 * self._share(call, goal)
        if clause.only_asks and any(call.tool.annotated and not call.tool.read_only for call in chain.calls):
            confidence *= _CHANGES
        confidence *= _UNDONE ** len(clause.verbs & set(missing))
        confidence *= 0.7**against * 0.9**old
        confidence *= STEP ** (len(chain.calls) - 1) * 0.5 ** len(unused) * 0.4**idle
        return ScoredChain(
            chain, confidence, missing, tuple(clause.literals[at].text for at in sorted(unused)), coverage
        )

    def names(self, tool: Tool) -> frozenset[str]:
        """Return the stems of a tool's name and title."""
        return self._words[tool.full_name][0]

    def is_nameless(self, stem: str) -> bool:
        """Whether no tool has a word in its name."""
        return all(stem not in names for names, _ in self._words.values())

    def named_for(self, tool: Tool, clause: Clause) -> bool:
        """Whether the name of a tool says what a clause wants to be done."""
        names = self._words[tool.full_name][0]
        verbs = clause.verbs - _SAYS_NOTHING
        return any(form in names for verb in verbs for form in forms_of(verb))

    def _adds(self, call: Call, chain: Chain, goal: Sequence[str]) -> bool:
        """Whether a call has a word of the goal in its name that the last one has not."""
        mine, last = self._words[call.tool.full_name][0], self._words[chain.last.tool.full_name][0]
        return any(stem in mine and stem not in last for stem in goal)

    def _precision(self, chain: Chain, goal: Sequence[str]) -> float:
        """How much of what the tools' names say the goal says as well."""
        shares = [self._share(call, goal) for call in chain.calls]
        return (shares[-1] + sum(shares) / len(shares)) / 2

    def _share(self, call: Call, goal: Sequence[str]) -> float:
        """How much of what the name of one tool says the goal says as well."""
        goal_words = {form for stem in goal for form in forms_of(stem)}
        arguments = {word for name in call.arguments for word in tokenize(name)}
        generic = {"get", "list", "detail", "id", "search"} | set(tokenize(call.tool.server)) | arguments
        own = [word for word in frozenset(tokenize(call.tool.name)) if word not in generic]
        weights = {word: self._weight(word) for word in own}
        has = sum(weights[word] for word in own if word in goal_words or word in call.words)
        return has / sum(weights.values()) if own else 1.0

    def _weight(self, stem: str) -> float:
        """How much a word tells tools apart; one that no tool has tells most."""
        return math.log(1 + (self._count + 1) / (self._counts[stem] + 0.5))


def telling_stems(words: Sequence[str]) -> list[str]:
    """Return the stems of words that tell tools apart, in order."""
    stems = [stem for word in words if word.lower() not in _SAYS_NOTHING for stem in tokenize(word)]
    return [stem for stem in dict.fromkeys(stems) if stem not in _SAYS_NOTHING]


@lru_cache(maxsize=10_000)
def forms_of(stem: str) -> tuple[str, ...]:
    """Return what tools may say for a stem: itself, its verb without an ending (`committed`), and other words."""
    plain = [stem]
    for ending in ("ed", "ing"):
        bare = stem.removesuffix(ending)
        if bare != stem and len(bare) >= _SHORTEST:
            plain += [bare, f"{bare}e", *([bare[:-1]] if bare[-1] == bare[-2] else [])]
    return tuple(dict.fromkeys(form for one in plain for form in (one, *MEANS.get(one, ()))))


def _words_of(tool: Tool) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a tool's name and title, and of what else it says of itself."""
    names = frozenset(tokenize(f"{tool.name} {tool.title}"))
    parameters: Any = tool.input_schema.get("properties", {})
    message = " ".join(
        f"{name} {one.get('description', '')}" for name, one in parameters.items() if isinstance(one, Mapping)
    )
    return names, frozenset(tokenize(f"{tool.description} {message} {tool.server} {tool.server_description}"))


def _joined(words: Sequence[str]) -> dict[str, list[str]]:
    """Return what words are with the next one or the one before as one word: `time zone` as `timezone`."""
    results: dict[str, list[str]] = {}
    for first, second in pairwise(words):
        for whole in tokenize(f"{first}{second}") if first.isalpha() and second.isalpha() else ():
            for stem in (*tokenize(first), *tokenize(second)):
                results.setdefault(stem, []).append(whole)
    return results


def _leads_on(literal: GoalLiteral) -> bool:
    """Whether a literal is where something is to go, which is said of the last call."""
    ways = [word for word in literal.before if word in ("to", "into", "of", "from", "in")]
    return bool(ways) and ways[-1] in ("to", "into")


def is_deprecated(chain: Chain) -> bool:
    """Whether a tool of a chain says that it is deprecated."""
    return any(_DEPRECATED.search(call.tool.description) for call in chain.calls)


def doubt(best: ScoredChain, goal: str) -> str:
    """Say why a chain is not sure."""
    if best.unused:
        return f"no tool takes {', '.join(map(repr, best.unused[:3]))} beside the rest of the goal"
    if best.unexplained:
        value = {stem: word for word in reversed(re.findall(r"\w+", goal)) for stem in tokenize(word)}
        words = [repr(value.get(stem, stem)) for stem in best.unexplained[:3]]
        return f"no tool speaks of {', '.join(words)} as the goal does"
    return "no tool is near enough to what the goal asks for"
