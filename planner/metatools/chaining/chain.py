"""Chains of calls: a tool whose arguments are what a goal says literally, or what calls before it give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeAlias

from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.tools.search.tokenize import tokenize
from infospace.tools.search.types import Parameter, ToolTypes
from planner.metatools.chaining.data_flow import CONTENTS, Flow, flows_between
from planner.metatools.chaining.fitting import CUED, MIN_FIT, Nature, fit, named_value, nature_of, value_of
from planner.metatools.chaining.literals import GoalLiteral

DEEPEST = 2
"""Calls before a call that give what it takes, one before the other."""
ASSIGNMENTS = 6
"""Ways to give literals to the arguments of one tool that are looked at, the best first."""
SOURCES = 12
"""Tools that may give one argument that are looked at, the best first."""
CHAINS = 40
"""Chains that end in one tool."""
_ONE_OF_MANY = 0.6
"""What a literal loses that is the only one of a list: a tool that takes one of them is nearer."""
PRONOUNS: Final = frozenset(
    {"it", "its", "that", "them", "this", "result", "results", "content", "contents", "output", "text"}
)
"""Words for what was done before."""
_ASKS: Final = frozenset(
    {
        "show",
        "what",
        "which",
        "who",
        "when",
        "where",
        "how",
        "get",
        "list",
        "read",
        "tell",
        "display",
        "is",
        "are",
        "view",
    }
)
"""Words by which a goal begins that only asks for something."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a call of a chain gives, at a place; `call` counts from 0."""

    call: int
    path: str


CarriedArgument: TypeAlias = "JSON | Result"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. `fits` says how well the literals fit its arguments, at most 1 each."""

    tool: Tool
    arguments: Mapping[str, Any]
    used: frozenset[int]
    fits: tuple[float, ...] = ()
    words: frozenset[str] = frozenset()
    """Words of the goal that say which value of a list an argument has."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Calls in running order, the last of which does what is asked for."""

    calls: tuple[Call, ...]
    flows: tuple[float, ...] = ()
    """How surely each result is what the argument takes."""

    @property
    def used(self) -> frozenset[int]:
        """The literals that are arguments."""
        return frozenset(at for call in self.calls for at in call.used)

    @property
    def last(self) -> Call:
        """The call that it is for."""
        return self.calls[-1]

    @property
    def names(self) -> tuple[str, ...]:
        """The full names of its tools."""
        return tuple(call.tool.full_name for call in self.calls)


@dataclass(frozen=True)
class Clause:
    """A part of a goal: its literals by number, its words, and the calls made for the parts before it."""

    literals: Sequence[GoalLiteral]
    numbers: frozenset[int]
    words: Sequence[str]
    before: tuple[Call, ...] = ()

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its words as search reads them."""
        return frozenset(stem for word in self.words for stem in tokenize(word))

    @property
    def only_asks(self) -> bool:
        """Whether it asks for something and lets nothing be done."""
        first = next((word.lower() for word in self.words), "")
        return first in _ASKS

    @cached_property
    def verbs(self) -> frozenset[str]:
        """What it says is to be done, as stems: its first word, and those after words that join sentences."""
        words = [word.lower() for word in self.words]
        starts = [0, *(at + 1 for at, word in enumerate(words) if word in ("and", "then"))]
        return frozenset(stem for at in starts if at < len(words) for stem in tokenize(words[at])[:1])

    @property
    def points_back(self) -> bool:
        """Whether it speaks of what was done before."""
        return bool(PRONOUNS & {word.lower() for word in self.words})


@dataclass
class Chainer:
    """Makes chains of the tools of one catalogue."""

    tools: Sequence[Tool]
    types: ToolTypes
    _sources: dict[str, Sequence[Flow]] = field(default_factory=dict)

    def chains(self, tool: Tool, clause: Clause) -> list[Chain]:
        """Return chains that end in a tool, with what a clause says literally; none where an argument is left open."""
        return list(islice(self._filled(tool, clause, clause.numbers, DEEPEST), CHAINS))

    def _filled(self, tool: Tool, clause: Clause, free: frozenset[int], depth: int) -> Iterator[Chain]:
        parameters = self.types.parameters(tool)
        natures = {parameter.name: nature_of(parameter) for parameter in parameters}
        for taken, used, fits in _assignments(clause.literals, free, parameters, natures):
            arguments, words = dict(taken), frozenset[str]()
            for parameter in parameters:
                nature = natures[parameter.name]
                if parameter.name in arguments or nature is None or not nature.values or not parameter.required:
                    continue
                value = named_value(nature, clause.words)
                if value is not None:
                    arguments[parameter.name] = value
                    words |= frozenset(tokenize(str(value)))
            call = Call(tool, arguments, used, fits, words)
            missing = [parameter for parameter in parameters if parameter.required and parameter.name not in arguments]
            yield from self._completed(call, missing, clause, free - used, depth)

    def _completed(
        self, call: Call, missing: Sequence[Parameter], clause: Clause, free: frozenset[int], depth: int
    ) -> Iterator[Chain]:
        """Chains in which what a call lacks comes from the calls before it, or from calls made for it."""
        chain = Chain((call,))
        if not missing:
            yield chain
            return
        carried, rest, flows = {}, [], []
        for parameter in missing:
            known = _carried(call.tool, parameter, clause)
            if known is None:
                rest.append(parameter)
            else:
                carried[parameter.name], surely = known
                flows.append(surely)
        call = replace(call, arguments={**call.arguments, **carried})
        if not rest:
            yield Chain((call,), tuple(flows))
        elif len(rest) == 1 and depth > 0:
            yield from self._from_others(call, rest[0], clause, free, depth, tuple(flows))

    def _from_others(
        self, call: Call, lacking: Parameter, clause: Clause, free: frozenset[int], depth: int, flows: tuple[float, ...]
    ) -> Iterator[Chain]:
        for flow in self._giving(call.tool, lacking.name, clause):
            for chain in islice(self._filled(flow.source, clause, free, depth - 1), ASSIGNMENTS):
                if call.tool.full_name in chain.names:
                    continue
                at = len(clause.before) + len(chain.calls) - 1
                wired = replace(call, arguments={**call.arguments, lacking.name: Result(at, flow.place.path)})
                yield Chain((*chain.calls, wired), (*chain.flows, *flows, flow.score))

    def _giving(self, tool: Tool, parameter: str, clause: Clause) -> Sequence[Flow]:
        """The flows into an argument, those from tools of which the clause speaks first."""
        if tool.full_name not in self._sources:
            sources = (one for one in self.tools if one.kind == "tool" and not one.destructive and one is not tool)
            results = [flow for one in sources for flow in flows_between(self.types, one, tool)]
            self._sources[tool.full_name] = results
        flows = [
            flow
            for flow in self._sources[tool.full_name]
            if flow.parameter == parameter and not self._needs(flow.source, parameter)
        ]
        flows.sort(
            key=lambda flow: (-len(words_of_tool(flow.source) & clause.stems), -flow.score, flow.source.full_name)
        )
        return flows[:SOURCES]

    def _needs(self, tool: Tool, parameter: str) -> bool:
        """Whether a tool needs what it would be called for."""
        return any(one.required and one.name == parameter for one in self.types.parameters(tool))


def words_of_tool(tool: Tool) -> frozenset[str]:
    """Return the words of a tool's name and title."""
    return frozenset(tokenize(f"{tool.name} {tool.title}"))


def _carried(tool: Tool, lacking: Parameter, clause: Clause) -> tuple[CarriedArgument, float] | None:
    """What an argument has from the calls before: that of the same name, or the text of the last one."""
    for at in range(len(clause.before) - 1, -1, -1):
        earlier = clause.before[at]
        if earlier.tool.server == tool.server and lacking.name in earlier.arguments:
            return earlier.arguments[lacking.name], 0.95
    name = tokenize(lacking.name)
    if clause.before and clause.points_back and name and name[-1] in CONTENTS:
        return Result(len(clause.before) - 1, text_place(clause.before[-1].tool)), 0.9
    return None


def text_place(tool: Tool) -> str:
    """Return the place of the text in what a tool gives: its only text, or the whole."""
    schema = tool.output_schema or {}
    properties = schema.get("properties", {})
    texts = [name for name, one in properties.items() if isinstance(one, dict) and one.get("type") == "string"]
    return f".{texts[0]}" if len(texts) == 1 and len(properties) == 1 and texts[0] != "result" else ""


def _assignments(
    literals: Sequence[GoalLiteral],
    free: frozenset[int],
    parameters: Sequence[Parameter],
    natures: Mapping[str, Nature | None],
) -> list[tuple[dict[str, Any], frozenset[int], tuple[float, ...]]]:
    """The best ways to give free literals to arguments; some literals may be left for other calls."""
    options: dict[int, list[tuple[float, str]]] = {}
    for at in sorted(free):
        fitting = []
        for one in parameters:
            nature = natures[one.name]
            if nature is None:
                continue
            score = fit(literals[at], nature)
            if score >= (MIN_FIT if one.required else CUED):
                fitting.append((score, one.name))
        options[at] = sorted(fitting, key=lambda one: (-one[0], one[1]))[:4]
    results: list[tuple[float, dict[str, list[int]]]] = []

    def assign(left: list[int], used: dict[str, list[int]], score: float) -> None:
        if not left:
            results.append((score, {name: list(numbers) for name, numbers in used.items()}))
            return
        at, rest = left[0], left[1:]
        for good, name in options[at]:
            nature = natures[name]
            if name not in used or (nature is not None and nature.many):
                used.setdefault(name, []).append(at)
                assign(rest, used, score + good)
                used[name].pop()
                if not used[name]:
                    del used[name]
        assign(rest, used, score)

    assign([at for at in sorted(free) if options[at]][:6], {}, 0.0)
    results.sort(key=lambda one: -one[0])
    return [_literal_arguments(literals, used, natures) for _, used in results[:ASSIGNMENTS]]


def _literal_arguments(
    literals: Sequence[GoalLiteral], used: Mapping[str, Sequence[int]], natures: Mapping[str, Nature | None]
) -> tuple[dict[str, Any], frozenset[int], tuple[float, ...]]:
    arguments: dict[str, Any] = {}
    fits: list[float] = []
    for name, numbers in used.items():
        nature = natures[name]
        if nature is None:
            continue
        values = [value_of(literals[at], nature) for at in numbers]
        arguments[name] = values if nature.many else values[0]
        alone = _ONE_OF_MANY if nature.many and len(numbers) == 1 else 1.0
        fits += [min(fit(literals[at], nature), 1.0) * alone for at in numbers]
    return arguments, frozenset(at for numbers in used.values() for at in numbers), tuple(fits)
