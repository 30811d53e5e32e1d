"""The one tool that does what a request asks for, or none.

A list of tools may hold wrong ones beside the right one; a single tool may not. So relevance is not enough here: each
candidate is held against the words of the request, as a plan is that is made without a language model. One that leaves
out what is to be done, or the words that tell tools apart, is not named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from infospace.core.tool import Tool
from infospace.space import Space
from infospace.tools.builtin import SERVER
from infospace.tools.search.results import ToolHit
from infospace.tools.search.scoring import LISTED
from infospace.tools.search.tokenize import tokenize
from planner.metatools.chaining.actions import action_of, conflict, requested_action
from planner.metatools.chaining.candidates import WORDS, rank_candidates, undone, without_spans
from planner.metatools.chaining.chain import Call, Chain, Clause
from planner.metatools.chaining.literals import literals, without_literals
from planner.metatools.chaining.score import ChainScorer, ScoredChain, doubt, forms_of
from planner.metatools.chaining.synonyms import with_synonym

SELECTED = 0.6
"""Confidence from which on one tool is named."""
COVERED = 0.5
"""Share of the words that tell tools apart which a tool has to have: with less, it does something else."""
NAMED = 0.95
"""Confidence of search in a tool whose name the request is, or is plainly meant to be."""

_OTHER_DEED = 0.85
"""What is left of the confidence in a tool where the name of another says what is to be done, and its own does not."""
_OTHER_ACTION = 0.6
"""The same where a tool surely does something else: it shows what is to be made."""
_NOT_FOUND = 0.7
"""The same where search has another tool far before it: words alone say what may be meant by chance."""
_BEHIND = 0.15
"""Relevance by which it is far. One of our own primitives may not be behind at all: its name is a bare verb."""
_NAMED_BY_ANOTHER = 0.75
"""The same where it lacks a word of the request that the tool has in its name which search has first."""
_FOUND = 0.8
"""What the confidence of search counts where it alone speaks for a tool: .75 is enough to be named."""
_BY_SYNONYM = 0.95
"""What is left of the confidence in a tool that is named in other words."""
_LOOKED_AT = 3
"""Tools of which it is looked at whether they are."""
_AHEAD = 0.12
"""Relevance by which the first has to be before the next of those that do the same kind of thing."""
_NEAR = 0.1
"""Relevance within which two tools are equals."""
_AMBIGUOUS = 0.6
"""What is left of the confidence in one of them."""
_LACKING = 0.05
"""How much of its confidence a tool loses, against others alone, for each argument that it needs and is not given.

Of two tools that fit about as well, the one that a request gives enough for is meant: "what time is it" names no two
time zones. Chosen by hand: from .04 to .1 the requests of the tests have the same answers.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool, how near search finds it, and how sure it is that it does what is asked for; why not, if it is not."""

    hit: ToolHit
    confidence: float
    why_not: str | None = None


def judge_candidates(space: Space, query: str, tools: Sequence[Tool]) -> tuple[list[Candidate], str | None]:
    """Return the nearest of some tools, the surest first, and which leg of the search is down, None for none."""
    judge = _Judge(space, query, tools)
    judged = judge.judged()
    judged.sort(key=judge.order)
    return judged, judge.ranked.degraded


class _Judge:
    """Judges tools by the words of one request, by search, and by what kind of thing it wants done."""

    def __init__(self, space: Space, query: str, tools: Sequence[Tool]) -> None:
        self._query = query
        self._embed = space.embedding.unkept
        results = literals(query)
        question = undone(without_literals(query, results))
        spoken = undone(without_spans(query, 0, results))
        self._clause = Clause((), frozenset(), WORDS.findall(spoken))
        self._given = len(results)
        self._scorer = ChainScorer(tools)
        self._requested = requested_action(spoken)
        self.ranked = rank_candidates(space, tools, question if question.strip() else query)
        self._hits = sorted(self.ranked.hits.values(), key=lambda hit: (-hit.score, hit.tool.full_name))
        # A tool that does something else than what is wanted says nothing against one that search has after it.
        self._fitting = [hit for hit in self._hits if not conflict(self._requested.action, action_of(hit.tool))]
        self._named = {hit.tool.full_name for hit in self._hits if self._scorer.named_for(hit.tool, self._clause)}

    def judged(self) -> list[Candidate]:
        """Return all that search found, as it was found."""
        return [self._judged(hit) for hit in self._hits]

    def order(self, one: Candidate) -> tuple[float, float, str]:
        """Return by what the surest is first."""
        return _LACKING * self._lacking(one.hit.tool) - one.confidence, -one.hit.score, one.hit.tool.full_name

    def _judged(self, hit: ToolHit) -> Candidate:
        same = action_of(hit.tool) == self._requested.action
        meant = frozenset(tokenize(self._requested.verb)) if same else frozenset()
        chain = Chain((Call(hit.tool, {}, frozenset(), words=self._values(hit.tool)),))
        scored = self._scorer.score(chain, self._clause, hit.score, meant)
        confidence = self._by_words(hit, scored)
        if confidence < SELECTED and hit in self._nearest():
            clause = self._in_its_words(hit.tool, scored)
            if clause is not None:
                again = self._scorer.score(chain, clause, hit.score, meant)
                confidence = max(confidence, _BY_SYNONYM * self._by_words(hit, again))
        if self._is_found(hit):
            confidence = max(confidence, _FOUND * hit.confidence)
        if len(self._query.split()) == 1 and hit.confidence >= NAMED:
            confidence = hit.confidence
        rival = self._rival(hit) if confidence >= SELECTED else None
        if rival is not None:
            confidence *= _AMBIGUOUS
        confidence = _ruled(hit, confidence)
        why_not = None if confidence >= SELECTED else doubt(scored, self._query)
        if why_not is not None and rival is not None:
            why_not = f"it does not say whether {hit.tool.full_name} or {rival.full_name} is meant"
        return Candidate(hit, round(max(confidence, 0.0), 4), why_not)

    def _by_words(self, hit: ToolHit, scored: ScoredChain) -> float:
        """Return how sure a tool is by the words of the request, and by what speaks against it."""
        confidence = min(scored.confidence, 1.0)
        if scored.coverage < COVERED:
            confidence *= scored.coverage / COVERED
        if self._named and hit.tool.full_name not in self._named:
            confidence *= _OTHER_DEED
        if hit not in self._fitting:
            confidence *= _OTHER_ACTION
        elif self._fitting[0].score - hit.score > (_BEHIND if hit.tool.server != SERVER else 0.0):
            confidence *= _NOT_FOUND
        first = self._fitting[0] if self._fitting else hit
        if set(scored.unexplained) & self._scorer.names(first.tool):
            confidence *= _NAMED_BY_ANOTHER
        return confidence

    def _values(self, tool: Tool) -> frozenset[str]:
        """The stems of what stands before the name of an argument: `the red room` says which room."""
        names = {stem for name in tool.input_schema.get("properties", {}) for stem in tokenize(name)}
        pairs = pairwise(self._clause.words)
        return frozenset(stem for value, name in pairs if names & set(tokenize(name)) for stem in tokenize(value))

    def _nearest(self) -> list[ToolHit]:
        """The tools that may be meant in other words: the first that search has, of those that do what is wanted."""
        return [hit for hit in self._fitting if hit.tool.server != SERVER][:_LOOKED_AT]

    def _in_its_words(self, tool: Tool, scored: ScoredChain) -> Clause | None:
        """Return the request with the verb of a tool's name for its own, where they mean the same; else None.

        The tool has to be for a thing that the request names, in its own words: what is alike to it may be another
        thing (`reserve a flight` books no room). A verb that is in the name of another tool tells that one from this.
        Where search goes by words alone, so does this.
        """
        verb, *rest = self._clause.words or ("",)
        stem = next(iter(tokenize(verb)), "")
        if self.ranked.degraded is not None or stem not in scored.unexplained or not self._scorer.is_nameless(stem):
            return None
        said = {form for word in rest for own in tokenize(word) for form in forms_of(own)}
        if not said & self._scorer.names(tool):
            return None
        names = [name for name in tokenize(tool.name) if name not in said]
        other = with_synonym(" ".join(self._clause.words), verb, names, self._embed)
        return None if other is None else Clause((), frozenset(), (other, *rest))

    def _is_found(self, hit: ToolHit) -> bool:
        """Whether search alone is enough: it is plainly first, and does the kind of thing that is wanted."""
        if self._requested.action is None or hit is not self._hits[0] or action_of(hit.tool) != self._requested.action:
            return False
        rest = self._fitting[1:2]
        return not rest or hit.score - rest[0].score >= _AHEAD

    def _rival(self, hit: ToolHit) -> Tool | None:
        """Return a tool that does something else and fits as well, where the request does not say what to do."""
        if self._requested.action is not None:
            return None
        words = {form for word in self._clause.words for stem in tokenize(word) for form in forms_of(stem)}
        mine, action = words & self._scorer.names(hit.tool), action_of(hit.tool)
        near = [other.tool for other in self._hits if other is not hit and hit.score - other.score <= _NEAR]
        fitting = [other for other in near if mine <= self._scorer.names(other)]
        others = [other for other in fitting if conflict(action, action_of(other))]
        return next((other for other in others if self._lacking(other) <= self._lacking(hit.tool)), None)

    def _lacking(self, tool: Tool) -> int:
        """Count the arguments that a tool needs and that the request does not give."""
        needed = tool.input_schema.get("required")
        return max(0, len(needed) - self._given) if isinstance(needed, list) else 0


def _ruled(hit: ToolHit, confidence: float) -> float:
    """Return what rules make of it."""
    ruled = {adjustment.reason: adjustment.by for adjustment in hit.adjustments if adjustment.rule}
    if "selected" in ruled and hit.score >= LISTED:
        confidence = 1.0
    elif confidence >= SELECTED:  # a rule lifts nothing above the floor
        confidence = min(1.0, max(SELECTED, confidence + ruled.get("preferred", 0.0)))
    return confidence + ruled.get("avoided", 0.0)
