"""Tools as vectors: what each is about, beside what all of them have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME_SHARE = 0.4
"""What the name's vector adds to the description's: .727 against .712 without (MetaTool), .954 against .947 (Seal)."""

SERVER_SHARE = 0.2
"""What the mean of a server's tools adds to each of them: on 290 tools of 22 real servers the right tool is among
the first five in .776 of the cases, in .750 without."""

TOOLS_TO_TELL = 50
"""As many tools have to be known until half of their mean is taken for what all tools have in common."""


def tool_vectors(names: NDArray[np.float32], descriptions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a vector for each tool of that of its name and that of what is said of it; one that is 0 is left out."""
    return _unit(descriptions + np.float32(NAME_SHARE) * names)


def centred_vectors(
    vectors: NDArray[np.float32], servers: Sequence[str], shares: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Return what requests are compared with; a row of 0 is of a tool without a vector, and stays so.

    What all tools have in common tells none from another, and is taken away, each counted by its share, (tools); what
    a server's tools have in common says what the server is for, and is added to each of its tools.
    """
    there = np.asarray(vectors.any(axis=1), np.bool_)
    count = float(shares[there].sum())
    if not count:
        return vectors
    common = np.average(vectors[there], axis=0, weights=shares[there]) * (count / (count + TOOLS_TO_TELL))
    rows = _unit(np.where(there[:, None], vectors - common.astype(np.float32), 0))
    _, places, sizes = np.unique(np.array(servers), return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        return rows
    sums = np.zeros((len(sizes), rows.shape[1]), np.float32)
    np.add.at(sums, places, rows)
    own = np.where((there & (sizes[places] > 1))[:, None], _unit(sums)[places], 0)
    return np.ascontiguousarray(rows + np.float32(SERVER_SHARE) * own, np.float32)


def dot_products(some: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the product of each of some vectors with each of others, (some, others).

    By `vecdot`, a row at a time: a product of matrices spreads over threads, which wait for each other where cores
    are busy (30 ms instead of 1, at 5,000 tools), and rounds otherwise when there are more rows.
    """
    return np.array([np.vecdot(others, one) for one in some], np.float64)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return unit
