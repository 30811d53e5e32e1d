"""Whether the best tool stands out: the one that is asked for does, and where none is, many are as near.

How much evidence there is for the right tool differs from catalogue to catalogue more than between right and wrong:
5 in 100 of the right ones have less than .32 on 199 tools that say little of themselves (metatool-dev), and less than
1.0 on 4,076 that say much (sealtools-dev). What they have above others, as a share of what they have, does not: less
than .25 and .29 of it. So that is what is looked at, and what does the same as the best is no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.tools.search.corpus import Corpus

NEXT = 9
"""Tools that the best is compared with: the next ones that are neither like it nor of its family."""

LOOKED_AT = 60
"""Tools among which those are looked for."""

LIKE = 0.7
"""Cosine from which on a tool may do for another."""

FAMILY = 100
"""Tools of a server up to which they are taken for a family, about one thing, of which many are near to a request.

On the 110 tools of five real servers and infospace's own, a request in sixty would be lost without it.
"""

SHARE, ALLOWED = 0.35, 0.06
"""What the best has above the mean of the next is at least this share of its evidence, less this much.

Chosen on the odd requests of metatool-dev and sealtools-dev so that, with the floor of relevance, at most 1 in 20 is
lost in both. A logistic model of 23 such numbers does no better (tests/benchmarks/finding.py).
"""


def is_confident(evidence: NDArray[np.float64], best: int, places: NDArray[np.int64], corpus: Corpus) -> bool:
    """Whether the tool at `best` stands out of those at `places`, by the evidence (parts, tools) of both legs.

    Looked at is the part of the request that there is most evidence by for it. Others of its family, and what is like
    it, count as little as itself.
    """
    row = evidence[int(np.argmax(evidence[:, best]))]
    others = places[places != best]
    servers = corpus.servers
    if int((servers[places] == servers[best]).sum()) <= FAMILY:
        others = others[servers[others] != servers[best]]
    if len(others) > LOOKED_AT:
        others = others[np.argpartition(-row[others], LOOKED_AT)[:LOOKED_AT]]
    own = corpus.tools[best].vector
    vectors = [corpus.tools[at].vector for at in others.tolist()]
    unlike = [own is None or one is None or float(np.vecdot(one, own)) < LIKE for one in vectors]
    beside = np.sort(row[others[np.array(unlike, bool)]])[-NEXT:]
    above = row[best] - (beside.mean() if len(beside) else 0.0)
    return bool(above >= SHARE * row[best] - ALLOWED)
