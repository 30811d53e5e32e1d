"""How probable it is that a tool does what a request asks for, and whether any does.

How much evidence there is for the right tool differs from catalogue to catalogue more than between right and wrong.
So evidence is read beside what the catalogue at hand answers to requests that mean nothing to it, `EVERYDAY`: a
logistic model has four numbers of each tool, all of them relative to that or to the request's own words. It was
learnt on the odd requests of six collections, among many small catalogues drawn from them, and learnt on all but one
it holds for the one left out (tests/benchmarks/finding_confidence.py makes it again). The gap to the next tools, what
nobody covers, and answers to shuffled words of the catalogue itself were tried, and add less than .005 of AUROC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.tools.search.tokenize import tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from infospace.tools.search.corpus import Corpus


class Model(NamedTuple):
    """What the four numbers of a tool add to the log of its odds, see `features`, and what that is without them."""

    coefficients: tuple[float, float, float, float]
    intercept: float


BY_BOTH = Model((0.3, 2.37, 0.19, 0.33), -4.89)
BY_MEANING = Model((0.31, 0.0, 0.0, 0.5), -4.67)
BY_WORDS = Model((0.0, 5.3, 0.83, 0.0), -2.97)
"""For tools of which both legs, or one of them, say something."""

BY_PAST_CALLS = (8.5, -5.0)
"""What the cosine of two requests adds to the log of the odds that a tool for one is one for the other, and what that
is without it: of the likest pairs of odd requests (700 of metatool-dev, 350 of sealtools-dev), .38 are from .5 to .6,
.69 from .6 to .7, .77 from .7 to .8, .82 from .8 to .9.
"""

COST = 12.0
"""How many listings of tools that do not fit are as bad as one "nothing fits" where one does.

Whoever is told that nothing fits gives up; who is told of tools that do not fit reads them.
"""

PROBABLE = 1 / (1 + COST)
"""Confidence from which on a tool is worth telling of: below it, "nothing fits" costs less than telling of it."""

SURE = 0.999
"""Confidence in a tool that the request names, or quotes."""

MAX_FEATURE = 50.0
"""Beyond this a number of `features` tells no more."""

PROBABLE_NARROWED = 1 / (1 + 4 * COST)
"""The same where tools are filtered: whoever filters has said more of what is wanted than the request."""


@dataclass(frozen=True, slots=True, eq=False)
class NullScores:
    """What a catalogue answers to requests that mean nothing to it.

    `best` is the median of the evidence that the best tool has, `spread` half of the distance between the 16th and the
    84th percentile of it; `means` and `spreads`, (tools), are those of each tool's cosines, mean and deviation.
    """

    best: float
    spread: float
    means: NDArray[np.float64]
    spreads: NDArray[np.float64]

    @classmethod
    def of(cls, evidence: NDArray[np.float64], cosines: NDArray[np.float64]) -> NullScores:
        """Read what `EVERYDAY` has for evidence and cosines, (requests, tools)."""
        low, median, high = np.quantile(evidence.max(axis=1), (0.16, 0.5, 0.84))
        spreads = np.maximum(cosines.std(axis=0), 1e-6)
        return cls(float(median), max(float(high - low) / 2, 1e-6), cosines.mean(axis=0), spreads)


def everyday_words() -> list[list[str]]:
    """Return the words of the requests that mean nothing to a catalogue."""
    return [tokenize(text) for text in EVERYDAY]


def features(
    corpus: Corpus,
    words: Sequence[Sequence[str]],
    evidence: NDArray[np.float64],
    cosines: NDArray[np.float64] | None,
    null: NullScores | None,
) -> NDArray[np.float64]:
    """Return four numbers of each tool by each part of a request, (4, parts, tools).

    How far its evidence is above what the best has by chance, in spreads. Which share of the part's words it has,
    each by its weight, where a word that no tool has weighs as much as one that a single tool has. How much that is,
    in such words. How far its cosine is above those that it has by chance, in deviations. The first and the last are
    NaN for a tool without a cosine.
    """
    covered = [corpus.bm25.coverage(some) for some in words]
    having = np.array([has for has, _, _ in covered])
    totals = np.array([[max(total, 1e-9)] for _, total, _ in covered])
    rarest = np.array([[heaviest] for _, _, heaviest in covered])
    above, near = np.full(having.shape, np.nan), np.full(having.shape, np.nan)
    if cosines is not None and null is not None:
        near = np.clip((cosines - null.means) / null.spreads, -MAX_FEATURE, MAX_FEATURE)
        above = np.where(
            np.isnan(near), np.nan, np.clip((evidence - null.best) / null.spread, -MAX_FEATURE, MAX_FEATURE)
        )
    return np.array([above, having / totals, having / rarest, near])


def log_odds(numbers: NDArray[np.float64], model: Model) -> NDArray[np.float64]:
    """Return the log of each tool's odds by each part of a request, (parts, tools), by its `features`."""
    whole = _weighted(model.coefficients, numbers) + model.intercept
    alone = _weighted(BY_WORDS.coefficients[1:3], numbers[1:3]) + BY_WORDS.intercept
    results: NDArray[np.float64] = np.where(np.isnan(whole), alone, whole)
    return results


def _weighted(coefficients: Sequence[float], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of numbers by their coefficients, over the first axis, without BLAS and its threads."""
    results: NDArray[np.float64] = (np.array(coefficients)[:, None, None] * numbers).sum(axis=0)
    return results


def probabilities(odds: NDArray[np.float64], nearest: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the confidence in each tool, (tools): that for the part which it fits best.

    `nearest`, (parts, tools), is the cosine of the likest request that a tool was called for, NaN for none: it is as
    probable by that as by all else, whichever is more.
    """
    if nearest is not None:
        slope, intercept = BY_PAST_CALLS
        odds = np.fmax(odds, slope * nearest + intercept)
    results: NDArray[np.float64] = 1 / (1 + np.exp(-odds.max(axis=0)))
    return results
