"""From relevance to a ranking: filters, the floor, what is preferred among what is relevant."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from infospace.core.tool import Tool
from infospace.tools.scope import NO_FILTERS
from infospace.tools.search.confidence import PROBABLE, PROBABLE_NARROWED
from infospace.tools.search.corpus import CurrentTools
from infospace.tools.search.results import FINEST, Adjustment, Leg, ToolHit, ToolQuery, ToolResults
from infospace.tools.search.rules.forward_chaining import Outcome, apply_rules
from infospace.tools.search.scoring import LISTED, relevance
from infospace.tools.search.types import ANY_TYPES, ToolTypes, TypeFit, TypeMatcher, has_output_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.tools.search.rules.language import RuleSet

CONNECTED = 0.1
"""Relevance by which a tool that can be reached goes before one that cannot: .85 before .92, .60 after."""

TRUSTED = 0.02
"""The same of one whose server is trusted."""

PREFERRED = 0.15
"""What a rule adds for a tool that it prefers, and takes from one that it avoids: more than `CONNECTED`."""

SELECTED = 2.0
"""What a rule adds for a tool that it selects: it goes before all others."""

RULED = 200
"""Relevant tools that rules look at, those that would come first."""

MEANT = 0.05
"""Cosine from which on a tool is said to be matched by its meaning."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What is known of every tool: joined, (tools), and by legs, (parts, tools), None of a leg that was not asked.

    `names` says whose name was probably meant, (tools). `confidences` are the probabilities that a tool does what is
    asked for, (tools).
    """

    strengths: NDArray[np.float64]
    words: NDArray[np.float64] | None
    cosines: NDArray[np.float64] | None
    names: NDArray[np.bool_]
    remembered: NDArray[np.float64] | None
    degraded: str | None
    confidences: NDArray[np.float64]


def rank_tools(
    present: CurrentTools,
    legs: Scores,
    query: ToolQuery,
    called: Container[str] = (),
    types: ToolTypes | None = None,
    rules: RuleSet | None = None,
) -> ToolResults:
    """Rank the tools that are wanted and relevant; blocked ones are not. `called` have examples of their calls.

    What they are to take and to give is looked up in `types`, read anew where it is None. `rules` act among the
    `RULED` relevant tools that would come first: they lift none above the floor.

    Of equals, names decide. None fits where in none of them there is confidence enough; whoever filters has said more
    of what is wanted than the request, so there it takes less. With `min_score` that alone counts.
    """
    filters, tools = query.filters, present.tools
    places, fits, untyped = _candidates(present, query, called, types)
    filtered = filters.model_copy(update={"min_score": None}) != NO_FILTERS or query.types != ANY_TYPES
    if not len(places):
        return ToolResults([], 0, len(tools), degraded=legs.degraded, untyped=untyped)
    names, strengths = present.corpus.order[places], legs.strengths[places]
    scores = relevance(strengths)
    preferred = np.round(scores + CONNECTED * present.connected[places] + TRUSTED * present.trusted[places], FINEST)
    least = LISTED if filters.min_score is None else filters.min_score
    relevant = np.flatnonzero(scores >= least)
    matched = len(relevant)
    if filters.min_score is None:
        probable = legs.confidences[places[relevant]] >= (PROBABLE_NARROWED if filtered else PROBABLE)
        matched = int(probable.sum())
        relevant = relevant if matched else relevant[:0]
    outcome = None
    if rules is not None and len(relevant):
        near = relevant[np.lexsort((names[relevant], -preferred[relevant]))][:RULED]
        outcome = apply_rules(rules, query.request, [tools[at] for at in places[near].tolist()], query.user)
        required = outcome.required
        if required:
            relevant = near[[tools[at].full_name in required for at in places[near].tolist()]]
            matched = min(matched, len(relevant))
        preferred = preferred + 0.0
        for at in near.tolist():
            preferred[at] += sum(adjustment.by for adjustment in _ruled(outcome, tools[places[at]].full_name))
        preferred = np.round(preferred, FINEST)
    if query.limit is not None and len(relevant) > query.limit:
        # Sorting is dear where thousands are relevant: what is below the last that is wanted cannot be among them.
        relevant = relevant[preferred[relevant] >= np.partition(preferred[relevant], -query.limit)[-query.limit]]
    relevant = relevant[np.lexsort((names[relevant], -preferred[relevant]))]
    strongest = np.flatnonzero(strengths == strengths.max())
    nearest = strongest[np.argmin(names[strongest])]
    hits = [
        _hit(tools[places[at]], float(scores[at]), legs, int(places[at]), fits.get(int(places[at])), outcome)
        for at in (*relevant[: query.limit].tolist(), nearest)
    ]
    best, guess = hits[:-1], hits[-1]
    shown = {hit.tool.full_name for hit in best} | {""}
    trace = () if outcome is None else [firing.to_json() for firing in outcome.trace if firing.tool in shown]
    return ToolResults(best, matched, len(tools), None if best else guess, legs.degraded, untyped, trace)


def _candidates(
    present: CurrentTools, query: ToolQuery, called: Container[str], types: ToolTypes | None
) -> tuple[NDArray[np.intp], Mapping[int, TypeFit], int]:
    """Return the places of the tools that filters and types admit, how each fits, and how many tell no output."""
    filters, tools = query.filters, present.tools
    places = np.flatnonzero(~present.blocked)
    if filters.model_copy(update={"min_score": None}) != NO_FILTERS:
        places = places[[filters.admits(tools[at], called) for at in places.tolist()]]
    if query.types == ANY_TYPES:
        return places, {}, 0
    untyped = 0
    if query.types.output is not None:
        untyped = sum(not has_output_schema(tools[at]) for at in places.tolist())
    matcher = TypeMatcher(types or ToolTypes(), query.types)
    fits = {at: fit for at in places.tolist() if (fit := matcher.fit(tools[at])) is not None}
    return places[[at in fits for at in places.tolist()]], fits, untyped


def _ruled(outcome: Outcome, tool: str) -> tuple[Adjustment, ...]:
    """Return what rules add to the relevance of a tool."""
    results: list[Adjustment] = []
    sign, rule = outcome.preference(tool)
    if sign:
        results.append(Adjustment("preferred" if sign > 0 else "avoided", sign * PREFERRED, rule))
    if tool in outcome.selected:
        results.append(Adjustment("selected", SELECTED, outcome.deeds["select"][tool][1]))
    return tuple(results)


def _hit(tool: Tool, score: float, legs: Scores, at: int, types: TypeFit | None, outcome: Outcome | None) -> ToolHit:
    results: dict[Leg, bool] = {
        "words": legs.words is not None and bool((legs.words[:, at] > 0).any()),
        "meaning": legs.cosines is not None and bool((legs.cosines[:, at] >= MEANT).any()),
        "name": bool(legs.names[at]),
        "remembered": legs.remembered is not None and bool((legs.remembered[:, at] > 0).any()),
    }
    adjustments = (
        *((Adjustment("connected", CONNECTED),) if tool.connected else ()),
        *((Adjustment("trusted", TRUSTED),) if tool.trusted else ()),
        *(() if outcome is None else _ruled(outcome, tool.full_name)),
    )
    matched_by = tuple(leg for leg, has in results.items() if has)
    return ToolHit(tool, score, matched_by, adjustments, round(float(legs.confidences[at]), 4), types)
