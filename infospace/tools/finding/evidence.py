"""From what the legs say to one relevance.

Both legs are read as evidence, in the same unit: BM25 is a sum of logarithms of odds (Robertson, Spärck Jones 1976),
and so weighs more where a request has more words that few tools have; the cosine weighs the same for every request.
So the mixture follows the request and the catalogue, and has one constant for all of them. The evidence of the parts
of a request is joined as chances are: a tool is right when it is right for any of the parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BM25_PER_COSINE = 50.0
"""BM25 that weighs as much as a cosine of 1. NDCG@10 differs by .003 between 40 and 70."""

EVEN = 0.5
"""Evidence for which a tool is as likely right as not."""

UNIT = 0.15
"""Evidence that multiplies the odds by e. NDCG@10 differs by .004 between .05 and .3."""

WORDS_ALONE = 2.5
MEANING_ALONE = 1.25
"""What a leg's evidence is multiplied by where it is the only one, so that its relevance is on the same scale."""

LISTED = 0.05
"""Relevance below which a tool is not listed."""

NO_MATCH = 0.2
"""Relevance of the best tool below which none is said to fit."""


def evidence(
    cosines: NDArray[np.float64] | None, bm25: NDArray[np.float64] | None, remembered: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the evidence for every tool by every part of a request, (parts, tools), from what the legs give.

    At least one of the legs is there.
    """
    if cosines is None or bm25 is None:
        alone = MEANING_ALONE * cosines if cosines is not None else np.empty(0)
        found = WORDS_ALONE * bm25 / BM25_PER_COSINE if bm25 is not None else alone
    else:
        found = cosines + bm25 / BM25_PER_COSINE
    return found if remembered is None else found + remembered


def strength(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Join the evidence of all parts, (parts, tools): -log of the chance that a tool is right for none, (tools)."""
    odds = (found - EVEN) / UNIT
    total: NDArray[np.float64] = np.logaddexp(0, odds).sum(axis=0)
    return total


def relevance(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that a tool is right, 0 to 1, rounded to six decimals."""
    return np.round(-np.expm1(-strengths), 6)
