"""From what the legs say to one relevance.

Both legs are read as evidence, in the same unit: BM25 is a sum of logarithms of odds (Robertson, Spärck Jones 1976),
and so weighs more where a request has more words that few tools have; the cosine weighs the same for every request.
So the mixture follows the request and the catalogue, and has one constant for all of them. The evidence of the parts
of a request is joined as chances are: a tool is right when it is right for any of the parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from infospace.tools.search.results import FINEST, PartExplanation, ToolExplanation, WordShare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.tools.search.corpus import Corpus
    from infospace.tools.search.request import ParsedRequest
    from infospace.tools.search.results import Mode

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


def strength(results: NDArray[np.float64]) -> NDArray[np.float64]:
    """Join the evidence of all parts, (parts, tools): -log of the chance that a tool is right for none, (tools)."""
    odds = (results - EVEN) / UNIT
    total: NDArray[np.float64] = np.logaddexp(0.0, odds).sum(axis=0)
    return total


def relevance(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that a tool is right, 0 to 1, rounded to six decimals; next to 1 to `FINEST`."""
    coarse = np.round(-np.expm1(-strengths), 6)
    fine = np.round(-np.expm1(-np.round(strengths, 4)), FINEST)
    results: NDArray[np.float64] = np.where(strengths > NEXT_TO_1, fine, coarse)
    return results


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What the evidence for tools was added up from, so that it can be told of any of them.

    `cosines`, `quoted` and `past` are (parts, tools), `names` (tools). `cosines` is None where no meaning was looked
    for, NaN for a tool without a vector; `past` is None where nothing is remembered. `masses` is (parts, 1), None where
    no words were looked for.
    """

    asked: ParsedRequest
    mode: Mode
    cosines: NDArray[np.float64] | None
    masses: NDArray[np.float64] | None
    quoted: NDArray[np.bool_]
    names: NDArray[np.float64]
    past: NDArray[np.float64] | None
    exact: float
    """What it adds that a tool says just this of itself."""

    def of(self, corpus: Corpus, at: int) -> ToolExplanation:
        """Tell it of the tool at a place."""
        return ToolExplanation(tuple(self._part(corpus, at, part) for part in range(len(self.asked.parts))))

    def _part(self, corpus: Corpus, at: int, part: int) -> PartExplanation:
        cosine = None if self.cosines is None else float(self.cosines[part, at])
        is_known = cosine is not None and not np.isnan(cosine)
        meaning = 0.0 if cosine is None or not is_known else cosine * (1.0 if self.mode == "hybrid" else MEANING_ALONE)
        scale = 0.0
        if self.masses is not None and not is_known:
            scale = WORDS_ALONE / max(float(self.masses[part, 0]), 1e-9)
        elif self.masses is not None and self.mode == "hybrid":
            scale = 1 / BM25_PER_COSINE
        words = []
        for word in dict.fromkeys(self.asked.words[part]) if scale else ():
            suggestion, share = self.asked.similar.get(word, (word, 1.0))
            bm25 = share * corpus.bm25.score_at(suggestion, at)
            if bm25:
                fields = corpus.fields_with(suggestion, at)
                other = suggestion if suggestion != word else ""
                words.append(WordShare(word, round(bm25, 6), round(bm25 * scale, 6), fields, other))
        return PartExplanation(
            self.asked.parts[part],
            round(cosine, 6) if cosine is not None and is_known else None,
            meaning,
            tuple(sorted(words, key=lambda one: -one.adds)),
            self.exact * float(self.quoted[part, at]),
            float(self.names[at]),
            0.0 if self.past is None else float(self.past[part, at]),
        )
