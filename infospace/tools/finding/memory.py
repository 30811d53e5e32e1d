"""What was asked before, and which tool did it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from infospace.tools.finding.corpus import Corpus
from infospace.tools.finding.found import Remembered
from infospace.tools.finding.meaning import products

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIKE = 0.5
"""Cosine of two requests from which on one says something about the other."""

SHARE = 1.0
"""Evidence for a tool that was called for the very same request, in all."""


def recalled(
    corpus: Corpus,
    parts: NDArray[np.float32],
    asked: NDArray[np.float32],
    remembered: Sequence[Remembered],
) -> NDArray[np.float64]:
    """Return the evidence for every tool by every part of a request, (parts, tools), from requests like it."""
    places = {known.tool.full_name: at for at, known in enumerate(corpus.tools)}
    rows = [(at, places[one.tool]) for at, one in enumerate(remembered) if one.tool in places]
    found = np.zeros((len(parts), len(corpus.tools)))
    if rows:
        which, whose = np.array(rows).T
        near = np.maximum(products(parts, asked[which]) - ALIKE, 0) * (SHARE / (1 - ALIKE))
        for part, evidence in zip(found, near, strict=True):
            np.maximum.at(part, whose, evidence)
    return found
