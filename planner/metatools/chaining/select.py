"""The one tool that does what a request asks for, or none.

A list of tools may hold wrong ones beside the right one; a single tool may not. So relevance is not enough here: each
candidate is held against the words of the request, as a plan is that is made without a language model. One that leaves
out what is to be done, or the words that tell tools apart, is not named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infospace.core.tool import Tool
from infospace.space import Space
from infospace.tools.search.results import ToolHit
from infospace.tools.search.scoring import LISTED
from planner.metatools.chaining.candidates import WORDS, rank_candidates, undone, without_spans
from planner.metatools.chaining.chain import Call, Chain, Clause
from planner.metatools.chaining.literals import literals, without_literals
from planner.metatools.chaining.score import ChainScorer, doubt

SELECTED = 0.6
"""Confidence from which on one tool is named."""
COVERED = 0.5
"""Share of the words that tell tools apart which a tool has to have: with less, it does something else."""
NAMED = 0.95
"""Confidence of search in a tool whose name the request is, or is plainly meant to be."""

_OTHER_DEED = 0.85
"""What is left of the confidence in a tool where the name of another says what is to be done, and its own does not."""
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
    results = literals(query)
    question = undone(without_literals(query, results))
    spoken = undone(without_spans(query, 0, results))
    clause = Clause((), frozenset(), WORDS.findall(spoken))
    scorer = ChainScorer(tools)
    is_name = len(query.split()) == 1
    ranked = rank_candidates(space, tools, question if question.strip() else query)
    hits = ranked.hits.values()
    named = [hit.tool for hit in hits if scorer.named_for(hit.tool, clause)]
    judged: list[Candidate] = []
    for hit in hits:
        scored = scorer.score(Chain((Call(hit.tool, {}, frozenset()),)), clause, hit.score)
        confidence = min(scored.confidence, 1.0)
        if scored.coverage < COVERED:
            confidence *= scored.coverage / COVERED
        if named and hit.tool not in named:
            confidence *= _OTHER_DEED
        if is_name and hit.confidence >= NAMED:
            confidence = hit.confidence
        ruled = {one.reason: one.by for one in hit.adjustments if one.rule}
        if "selected" in ruled and hit.score >= LISTED:
            confidence = 1.0
        elif confidence >= SELECTED:  # a rule lifts nothing above the floor
            confidence = min(1.0, max(SELECTED, confidence + ruled.get("preferred", 0.0)))
        confidence += ruled.get("avoided", 0.0)
        why_not = None if confidence >= SELECTED else doubt(scored, query)
        judged.append(Candidate(hit, round(max(confidence, 0.0), 4), why_not))
    given = len(results)

    def order(one: Candidate) -> tuple[float, float, str]:
        needed = one.hit.tool.input_schema.get("required")
        lacking = max(0, len(needed) - given) if isinstance(needed, list) else 0
        return _LACKING * lacking - one.confidence, -one.hit.score, one.hit.tool.full_name

    judged.sort(key=order)
    return judged, ranked.degraded
