"""How probable it is that the first hit of a search by meaning is about the question.

A cosine alone does not tell it: in a space of one subject the nearest of many Notes has a high one whatever is asked.
So the best is read beside the `NEIGHBOURS` next ones, which are what this space has where it has no answer:

    log odds = INTERCEPT + BEST * best + LEAD * (best - mean of the next)

Learnt on odd ones of the first 400 questions of Cranfield, MetaTool and Seal-Tools, whole and in drawn spaces of 12
to 400 texts; with their answers, without them, and with everyday requests. tests/benchmarks/first_hit.py learns it from
Notes in the same way: by Cranfield and MetaTool alone it gives -5.19, 4.77, 13.07. Questions whose answers were taken
away are told from the others by an AUROC of .75, .63 and .77 only, right first hits by .87, .78 and .85. Of
the even ones of confidence .0 to .1, .2 to .3, .5 to .6, .8 to .9 the first was right in .05, .17, .71, .94. Learnt on
two collections it is as good on the third. More cosines add nothing. Words (BM25, its lead, what is covered) add .12 of
AUROC on Seal-Tools, .03 to .05 on Cranfield, and lose on MetaTool where that was not learnt from; what
gains on all three was learnt on each by itself. tests/benchmarks/first_hit.py has the table, and what bounds it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEIGHBOURS: Final = 20
"""Notes after the best that it is compared with."""

FEWEST: Final = 10
"""Fewer than so many others say too little of what a space has to offer."""

INTERCEPT: Final = -6.15
BEST: Final = 6.12
LEAD: Final = 10.86

KNOWN_MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2@"
"""How the keys of vectors begin for which this was learnt: cosines of another model lie elsewhere."""


def first_hit_confidence(model: str, highest: NDArray[np.float64]) -> float | None:
    """Return the probability, rounded to two decimals; None where nothing is known of the model, or of too few Notes.

    `highest` are the best cosines of Notes in a space, descending, whether they are hits or not; those behind the first
    `NEIGHBOURS` + 1 are not looked at. `model` is the key of their vectors.
    """
    others = highest[1 : NEIGHBOURS + 1]
    if not model.startswith(KNOWN_MODEL) or len(others) < FEWEST:
        return None
    best = float(highest[0])
    odds = INTERCEPT + BEST * best + LEAD * (best - float(others.mean()))
    return round(1 / (1 + math.exp(-odds)), 2)
