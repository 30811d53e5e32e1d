"""A plan for a goal without a language model, or that there is none.

The goal is parted; for each part the tools that search finds are tried as its last call, their arguments taken from
what the goal says literally or from what other tools give. What is made is held against the goal: every literal has to
be used, every word that tells tools apart has to be one of the tools', and no other chain may do as well. A wrong plan
is worse than none, so what is not sure is no plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.space import Space
from infospace.tools.search.ranking import PREFERRED
from infospace.tools.search.rules.forward_chaining import Outcome, RulesEndless, apply_rules
from planner.execute.start import check_plan
from planner.metatools.chaining.candidates import CANDIDATES, WORDS, rank_candidates, undone, without_spans
from planner.metatools.chaining.chain import Call, Chain, Chainer, Clause, Result
from planner.metatools.chaining.clauses import partings
from planner.metatools.chaining.fitting import FromInput
from planner.metatools.chaining.literals import GoalLiteral, literals, of_input, without_literals
from planner.metatools.chaining.score import STEP, ChainScorer, ScoredChain, doubt, is_deprecated, telling_stems
from planner.metatools.lookup import known_tools

CONFIDENT = 0.62
"""Confidence from which on a plan is given."""
MARGIN = 0.03
"""By how much it has to be above that of a plan with other tools."""
_LEFT_OUT = 0.6
"""What is left of the confidence in a plan for each part of the goal ("… and show its cast") that it leaves out."""
SURELY = 1 + MARGIN
"""Confidence in a chain whose last tool a rule selects: it goes before all that none selects."""
PARTINGS = 6


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


class GoalPlanner:
    """Plans for goals over the tools that a space lets be known."""

    def __init__(self, space: Space, tools: Sequence[Tool] | None = None) -> None:
        self._space = space
        every = known_tools(space) if tools is None else tools
        self.tools = [tool for tool in every if tool.kind == "tool" and tool.server != "infospace" and not tool.blocked]
        self._rules = None if space.finder.rules is None else space.finder.rules.rules()
        self._required = ""
        self.degraded: str | None = None if space.finder.rules is None else space.finder.rules.problem
        """What plans are made without, in a sentence; None for nothing."""
        self._chainer = Chainer(self.tools, space.finder.types)
        self._scorer = ChainScorer(self.tools)

    def plan(self, goal: str, inputs: Mapping[str, JSON] | None = None) -> ChainedPlan | NoPlan:
        """Return a plan that passes the check, or in a sentence why there is none. Raises Invalid for a blank goal."""
        if not goal.strip():
            raise Invalid("the goal is blank", hint="what is wanted, in plain words")
        if not self.tools:
            return NoPlan("there is no tool that a plan could call")
        given = [one for name, value in (inputs or {}).items() if (one := of_input(name, value)) is not None]
        if len(given) < len(inputs or {}):
            return NoPlan("an input that is neither a text nor a number is not an argument of a chained plan")
        results = [*literals(goal), *given]
        scored = self._ruled(goal, list(self._scored(goal, results)))
        if not scored:
            required = f", or rules require others: {self._required}" if self._required else ""
            return NoPlan(f"no tool can be given what it needs by what the goal says{required}")
        best = scored[0]
        if best.confidence < CONFIDENT:
            return NoPlan(doubt(best, goal), round(best.confidence, 3), best.chain.names)
        rivals = (one for one in scored if _differs(one.chain, best.chain))
        rival = next((one for one in rivals if not is_deprecated(one.chain) or is_deprecated(best.chain)), None)
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
        return ChainedPlan(document, best.chain, round(min(best.confidence, 1.0), 3), tuple(_reasons(best.chain)))

    def _ruled(self, goal: str, scored: Sequence[ScoredChain]) -> list[ScoredChain]:
        """Return chains, the surest first, as rules move them among those that are sure by themselves.

        A rule lifts none above `CONFIDENT`; one that avoids a tool may take a chain below it. `require` leaves those
        chains whose tools are all required, and of sure ones what `select` names goes first.
        """
        self._required = ""
        outcome = None
        if self._rules is not None and scored:
            tools = {call.tool.full_name: call.tool for one in scored for call in one.chain.calls}
            try:
                outcome = apply_rules(self._rules, goal, list(tools.values()), self._space.user)
            except RulesEndless as error:
                self.degraded = f"the rules for tools are not used: {error}"
        if outcome is not None:
            if outcome.required:
                self._required = ", ".join(sorted(outcome.required))
                scored = [one for one in scored if set(one.chain.names) <= outcome.required]
            scored = [_moved_by(outcome, one) for one in scored]
        return sorted(scored, key=lambda one: (-one.confidence, one.chain.names))

    def _scored(self, goal: str, literals: Sequence[GoalLiteral]) -> Iterator[ScoredChain]:
        typed_literals = [one for one in literals if not one.input]
        ways = list(islice(partings(goal, typed_literals), PARTINGS))
        asked = [_telling(goal, part, typed_literals) for part in ways[-1]] if ways else []
        for parts in ways:
            chain, confidence = Chain(()), 1.0
            unexplained: list[str] = []
            unused: list[str] = []
            options: list[ScoredChain] = []
            for start, end in parts:
                before = chain.calls
                options = self._of_part(goal[start:end], start, end, literals, before)
                if not options:
                    break
                best = options[0]
                if len(parts) > 1:
                    confidence = min(confidence, best.confidence)
                    unexplained += best.unexplained
                    unused += best.unused
                    chain = Chain((*chain.calls, *best.chain.calls), (*chain.flows, *best.chain.flows))
            if len(parts) == 1:
                yield from (_without_parts(one, asked) for one in options)
            elif options:
                yield ScoredChain(chain, confidence * STEP, tuple(unexplained), tuple(unused))

    def _of_part(
        self, text: str, start: int, end: int, literals: Sequence[GoalLiteral], before: tuple[Call, ...]
    ) -> list[ScoredChain]:
        """The chains for a part of a goal, the surest first."""
        within = {at for at, one in enumerate(literals) if not one.input and start <= one.start and one.end <= end}
        mine = [literals[at] for at in sorted(within)]
        # An input is for whichever part takes it, and once it is taken for that one alone.
        taken = {at for call in before for at in call.used}
        numbers = frozenset(within | {at for at, one in enumerate(literals) if one.input and at not in taken})
        spoken = without_spans(text, start, mine)
        clause = Clause(literals, numbers, WORDS.findall(undone(spoken)), before)
        question = undone(without_literals(text, [_moved(one, start) for one in mine]))
        if not question.strip():
            return []
        ranked = rank_candidates(self._space, self.tools, question).hits
        scored = [
            self._scorer.score(chain, clause, relevance)
            for tool, relevance in islice(((name, hit.score) for name, hit in ranked.items()), CANDIDATES)
            for chain in self._chainer.chains(self._tool(tool), clause)
        ]
        return sorted(scored, key=lambda one: (-one.confidence, one.chain.names))[:20]

    def _tool(self, name: str) -> Tool:
        return next(tool for tool in self.tools if tool.full_name == name)


def _moved_by(outcome: Outcome, one: ScoredChain) -> ScoredChain:
    """Return a chain whose confidence is what rules make of it; of a tool that they name twice it counts once."""
    names = set(one.chain.names)
    signs = [outcome.preference(name)[0] for name in names]
    confidence = one.confidence
    if confidence >= CONFIDENT:
        confidence = max(CONFIDENT, confidence + PREFERRED * (1 in signs))
        confidence = SURELY if one.chain.names[-1] in outcome.selected else confidence
    return replace(one, confidence=confidence - PREFERRED * (-1 in signs))


def _telling(goal: str, part: tuple[int, int], literals: Sequence[GoalLiteral]) -> frozenset[str]:
    """Return the stems of a part of a goal that tell tools apart."""
    start, end = part
    mine = [one for one in literals if start <= one.start and one.end <= end]
    return frozenset(telling_stems(WORDS.findall(undone(without_spans(goal[start:end], start, mine)))))


def _without_parts(one: ScoredChain, parts: Sequence[frozenset[str]]) -> ScoredChain:
    """Return a chain for a whole goal, which is less sure for each part of the goal of which it has no word."""
    lost = sum(1 for stems in parts if stems and stems <= set(one.unexplained))
    return replace(one, confidence=one.confidence * _LEFT_OUT**lost)


def _moved(one: GoalLiteral, start: int) -> GoalLiteral:
    return replace(one, start=one.start - start, end=one.end - start)


def _differs(one: Chain, other: Chain) -> bool:
    """Whether a chain does something else; one that calls all the same tools and more is no other."""
    return one.names != other.names and not set(other.names) < set(one.names)


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
