"""From what the legs say to one relevance.

Both legs are read as evidence, in the same unit: BM25 is a sum of logarithms of odds (Robertson, Spärck Jones 1976),
and so weighs more where a request has more words that few tools have; the cosine weighs the same for every request.
So the mixture follows the request and the catalogue, and has one constant for all of them. The evidence of the parts
of a request is joined as chances are: a tool is right when it is right for any of the parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from infospace.tools.search.results import FINEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

BM25_PER_COSINE = 50.0
"""BM25 that weighs as much as a cosine of 1. NDCG@10 differs by .003 between 40 and 70."""

EVEN = 0.5
"""Evidence for which a tool is as likely right as not."""

UNIT = 0.15
"""Evidence that multiplies the odds by e. NDCG@10 differs by .004 between .05 and .3."""

WORDS_ALONE = 1.0
"""Evidence of words for a tool that has about all that is asked for, where its meaning is not known."""

MEANING_ALONE = 1.25
"""What a cosine of 1 weighs where words are not looked for, so that relevance is on the same scale."""

NEXT_TO_1 = 7.0
"""Strength, by four decimals, from which on six of the relevance tell too little: there it is .9991."""

LISTED = 0.05
"""Relevance below which a tool is not listed; lower than that of the best, since it is listed beside better ones."""


def by_both(cosines: NDArray[np.float64], bm25: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the evidence of both legs, whatever their shape."""
    return cosines + bm25 / BM25_PER_COSINE


def by_meaning(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the evidence of cosines alone."""
    return MEANING_ALONE * cosines


def keyword_evidence(bm25: NDArray[np.float64], masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the evidence of words alone, (parts, tools): BM25 as a share of what there is to score, (parts, 1)."""
    return WORDS_ALONE * bm25 / np.maximum(masses, 1e-9)


def strength(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Join the evidence of all parts, (parts, tools): -log of the chance that a tool is right for none, (tools)."""
    odds = (found - EVEN) / UNIT
    total: NDArray[np.float64] = np.logaddexp(0.0, odds).sum(axis=0)
    return total


def relevance(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that a tool is right, 0 to 1, rounded to six decimals; next to 1 to `FINEST`."""
    coarse = np.round(-np.expm1(-strengths), 6)
    fine = np.round(-np.expm1(-np.round(strengths, 4)), FINEST)
    found: NDArray[np.float64] = np.where(strengths > NEXT_TO_1, fine, coarse)
    return found
