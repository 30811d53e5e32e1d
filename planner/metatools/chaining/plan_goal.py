"""A plan for a goal without a language model, or that there is none.

The goal is parted; for each part the tools that search finds are tried as its last call, their arguments taken from
what the goal says literally or from what other tools give. What is made is held against the goal: every literal has to
be used, every word that tells tools apart has to be one of the tools', and no other chain may do as well. A wrong plan
is worse than none, so what is not sure is no plan.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.space import Space
from infospace.tools.scope import Filters
from infospace.tools.search.results import ToolQuery
from infospace.tools.search.tokenize import tokenize
from planner.execute.start import check_plan
from planner.metatools.chaining.chain import Call, Chain, Chainer, Clause, Result
from planner.metatools.chaining.clauses import partings
from planner.metatools.chaining.fitting import FromInput
from planner.metatools.chaining.literals import GoalLiteral, literals, of_input, without_literals
from planner.metatools.lookup import known_tools
from planner.metatools.search_tools import find_among

CONFIDENT = 0.62
"""Confidence from which on a plan is given."""
MARGIN = 0.03
"""By how much it has to be above that of a plan with other tools."""
CANDIDATES = 14
"""Tools that are tried as the last call of a part."""
PARTINGS = 6
_CHANGES = 0.6
"""What is left of the confidence where a tool changes something and the goal only asks."""
_UNDONE = 0.7
"""The same for each thing to do of which no tool speaks."""
_WEAK = 0.7
"""A flow below this is of a text that anything may give: the goal has to say what gives it."""
STEP = 0.97
"""What a plan loses by each step more: the shorter of equals is right."""
_DEPRECATED: Final = re.compile(r"\bdeprecated\b", re.IGNORECASE)
_NOT_DONE: Final = re.compile(r"\bnot\s+(?:yet\s+|been\s+)?(\w+ed)\b", re.IGNORECASE)
_TEXT: Final = re.compile(r"[A-Za-z][\w'’-]*")
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
        *("new", "entire", "whole", "take", "put", "do", "retrieve", "return", "result", "content"),
    }
)
"""Words of goals that tell no tools apart."""
_MEANS: Final[Mapping[str, tuple[str, ...]]] = {
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
}
"""What people call by other words than tools do, as stems."""


@dataclass(frozen=True, slots=True)
class ChainedPlan:
    """A plan: its document, the calls, how sure it is from 0 to 1, and why each call is there."""

    document: JSON
    chain: Chain
    confidence: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoPlan:
    """That there is no plan, in a sentence why; `nearest` are the tools of the one that was nearest to be given."""

    reason: str
    confidence: float = 0.0
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Scored:
    chain: Chain
    confidence: float
    unexplained: tuple[str, ...]
    unused: tuple[str, ...]


class GoalPlanner:
    """Plans for goals over the tools that a space lets be known."""

    def __init__(self, space: Space, tools: Sequence[Tool] | None = None) -> None:
        self._space = space
        every = known_tools(space) if tools is None else tools
        self.tools = [tool for tool in every if tool.kind == "tool" and tool.server != "infospace" and not tool.blocked]
        self._chainer = Chainer(self.tools, space.finder.types)
        self._words = {tool.full_name: _words_of(tool) for tool in self.tools}
        self._counts = Counter(word for named, said in self._words.values() for word in named | said)

    def plan(self, goal: str, inputs: Mapping[str, JSON] | None = None) -> ChainedPlan | NoPlan:
        """Return a plan that passes the check, or in a sentence why there is none. Raises Invalid for a blank goal."""
        if not goal.strip():
            raise Invalid("the goal is blank", hint="what is wanted, in plain words")
        if not self.tools:
            return NoPlan("there is no tool that a plan could call")
        given = [one for name, value in (inputs or {}).items() if (one := of_input(name, value)) is not None]
        if len(given) < len(inputs or {}):
            return NoPlan("an input that is neither a text nor a number is not an argument of a chained plan")
        found = [*literals(goal), *given]
        scored = sorted(self._scored(goal, found), key=lambda one: (-one.confidence, one.chain.names))
        if not scored:
            return NoPlan("no tool can be given what it needs by what the goal says")
        best = scored[0]
        if best.confidence < CONFIDENT:
            return NoPlan(_doubt(best, goal), round(best.confidence, 3), best.chain.names)
        rivals = (one for one in scored if _differs(one.chain, best.chain))
        rival = next((one for one in rivals if not _is_deprecated(one.chain) or _is_deprecated(best.chain)), None)
        if rival is not None and best.confidence - rival.confidence < MARGIN:
            other = ", ".join(rival.chain.names)
            return NoPlan(
                f"{', '.join(best.chain.names)} and {other} would do as well",
                round(best.confidence, 3),
                best.chain.names,
            )
        document = document_of(goal, best.chain, inputs or {})
        problems = check_plan(self._space, document)[1]
        wrong = [problem for problem in problems.found if problem.severity == "error"]
        if wrong:
            return NoPlan(f"the plan does not pass the check: {wrong[0].message}", 0.0, best.chain.names)
        return ChainedPlan(document, best.chain, round(best.confidence, 3), tuple(_reasons(best.chain)))

    def _scored(self, goal: str, found: Sequence[GoalLiteral]) -> Iterator[_Scored]:
        for parts in islice(partings(goal, [one for one in found if not one.input]), PARTINGS):
            chain, confidence = Chain(()), 1.0
            unexplained: list[str] = []
            unused: list[str] = []
            options: list[_Scored] = []
            for start, end in parts:
                before = chain.calls
                options = self._of_part(goal[start:end], start, end, found, before)
                if not options:
                    break
                best = options[0]
                if len(parts) > 1:
                    confidence = min(confidence, best.confidence)
                    unexplained += best.unexplained
                    unused += best.unused
                    chain = Chain((*chain.calls, *best.chain.calls), (*chain.flows, *best.chain.flows))
            if len(parts) == 1:
                yield from options
            elif options:
                yield _Scored(chain, confidence * STEP, tuple(unexplained), tuple(unused))

    def _of_part(
        self, text: str, start: int, end: int, found: Sequence[GoalLiteral], before: tuple[Call, ...]
    ) -> list[_Scored]:
        """The chains for a part of a goal, the surest first."""
        within = {at for at, one in enumerate(found) if not one.input and start <= one.start and one.end <= end}
        mine = [found[at] for at in sorted(within)]
        # An input is for whichever part takes it, and once it is taken for that one alone.
        taken = {at for call in before for at in call.used}
        numbers = frozenset(within | {at for at, one in enumerate(found) if one.input and at not in taken})
        spoken = _without(text, start, mine)
        clause = Clause(found, numbers, _TEXT.findall(undone(spoken)), before)
        asked = undone(without_literals(text, [_moved(one, start) for one in mine]))
        if not asked.strip():
            return []
        ranked = self._ranked(asked)
        scored = [
            self._score(chain, clause, relevance)
            for tool, relevance in islice(ranked.items(), CANDIDATES)
            for chain in self._chainer.chains(self._tool(tool), clause)
        ]
        return sorted(scored, key=lambda one: (-one.confidence, one.chain.names))[:20]

    def _tool(self, name: str) -> Tool:
        return next(tool for tool in self.tools if tool.full_name == name)

    def _ranked(self, asked: str) -> dict[str, float]:
        """Tools by relevance: to what is asked for, and to the same in the words that tools have for it."""
        others = [_MEANS.get(stem, (word,))[0] for word in asked.split() for stem in tokenize(word)[:1] or [word]]
        found: dict[str, float] = {}
        for text in dict.fromkeys((asked, " ".join(others))):
            wanted = ToolQuery(text, CANDIDATES, Filters(min_score=0.0))
            for hit in find_among(self._space, self.tools, wanted).hits:
                found[hit.tool.full_name] = max(found.get(hit.tool.full_name, 0.0), hit.score)
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))

    def _score(self, chain: Chain, clause: Clause, relevance: float) -> _Scored:
        """Say how sure a chain is: by search, by words that are explained, by names, and by how arguments fit."""
        goal = [stem for word in clause.words if word.lower() not in _SAYS_NOTHING for stem in tokenize(word)]
        goal = [stem for stem in dict.fromkeys(goal) if stem not in _SAYS_NOTHING]
        explained: dict[str, float] = {}
        for number, call in enumerate(chain.calls):
            named, said = self._words[call.tool.full_name]
            share = 1.0 if number == len(chain.calls) - 1 else 0.9
            for stem in goal:
                forms = (stem, *_MEANS.get(stem, ()))
                value = 0.0
                if any(form in named for form in forms) or stem in call.words:
                    value = share
                elif any(form in said for form in forms):
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
        return _Scored(chain, confidence, missing, tuple(clause.literals[at].text for at in sorted(unused)))

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
        said = {form for stem in goal for form in (stem, *_MEANS.get(stem, ()))}
        arguments = {word for name in call.arguments for word in tokenize(name)}
        generic = {"get", "list", "detail", "id", "search"} | set(tokenize(call.tool.server)) | arguments
        own = [word for word in frozenset(tokenize(call.tool.name)) if word not in generic]
        weights = {word: self._weight(word) for word in own}
        has = sum(weights[word] for word in own if word in said or word in call.words)
        return has / sum(weights.values()) if own else 1.0

    def _weight(self, stem: str) -> float:
        """How much a word tells tools apart; one that no tool has tells most."""
        return math.log(1 + (len(self.tools) + 1) / (self._counts[stem] + 0.5))


def _words_of(tool: Tool) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a tool's name and title, and of what else it says of itself."""
    named = frozenset(tokenize(f"{tool.name} {tool.title}"))
    parameters: Any = tool.input_schema.get("properties", {})
    told = " ".join(
        f"{name} {one.get('description', '')}" for name, one in parameters.items() if isinstance(one, Mapping)
    )
    return named, frozenset(tokenize(f"{tool.description} {told} {tool.server} {tool.server_description}"))


def _without(text: str, start: int, mine: Sequence[GoalLiteral]) -> str:
    """A part of a goal without its literals."""
    parts, at = [], 0
    for one in mine:
        parts.append(text[at : one.start - start])
        at = one.end - start
    return " ".join((*parts, text[at:]))


def undone(text: str) -> str:
    """Return a text in which what is not done is one word: `not staged yet` as `unstaged yet`."""
    return _NOT_DONE.sub(r"un\1", text)


def _moved(one: GoalLiteral, start: int) -> GoalLiteral:
    return replace(one, start=one.start - start, end=one.end - start)


def _differs(one: Chain, other: Chain) -> bool:
    """Whether a chain does something else; one that calls all the same tools and more is no other."""
    return one.names != other.names and not set(other.names) < set(one.names)


def _leads_on(literal: GoalLiteral) -> bool:
    """Whether a literal is where something is to go, which is said of the last call."""
    ways = [word for word in literal.before if word in ("to", "into", "of", "from", "in")]
    return bool(ways) and ways[-1] in ("to", "into")


def _is_deprecated(chain: Chain) -> bool:
    return any(_DEPRECATED.search(call.tool.description) for call in chain.calls)


def _doubt(best: _Scored, goal: str) -> str:
    if best.unused:
        return f"no tool takes {', '.join(map(repr, best.unused[:3]))} beside the rest of the goal"
    if best.unexplained:
        written = {stem: word for word in reversed(re.findall(r"\w+", goal)) for stem in tokenize(word)}
        words = [repr(written.get(stem, stem)) for stem in best.unexplained[:3]]
        return f"no tool speaks of {', '.join(words)} as the goal does"
    return "no tool is near enough to what the goal asks for"


def document_of(goal: str, chain: Chain, inputs: Mapping[str, JSON]) -> dict[str, Any]:
    """Return the plan that makes the calls of a chain."""
    names = [f"$step_{number}" for number in range(1, len(chain.calls) + 1)]
    steps = [
        {
            "type": call.tool.full_name,
            **(
                {"arguments": {name: _written(value, names) for name, value in call.arguments.items()}}
                if call.arguments
                else {}
            ),
            "out": names[at],
        }
        for at, call in enumerate(chain.calls)
    ]
    declared = {name: {"type": _TYPES[type(value)], "default": value} for name, value in inputs.items()}
    return {"goal": goal, **({"inputs": declared} if declared else {}), "steps": steps, "result": names[-1]}


_TYPES: Final = {str: "string", int: "integer", float: "number"}


def _written(value: Any, names: Sequence[str]) -> JSON:
    if isinstance(value, Result):
        # A whole result may be anything, and what takes one takes its text.
        return f"{names[value.call]}{value.path}" if value.path else f"${{{names[value.call][1:]}}}"
    if isinstance(value, FromInput):
        return f"${value.name}"
    if isinstance(value, str):
        return value.replace("$", "${$}")
    return [_written(one, names) for one in value] if isinstance(value, list) else value


def _reasons(chain: Chain) -> Iterator[str]:
    for call in chain.calls:
        wired = [
            f"{name} from step {value.call + 1}" for name, value in call.arguments.items() if isinstance(value, Result)
        ]
        yield f"{call.tool.full_name}{': ' + ', '.join(wired) if wired else ''}"
