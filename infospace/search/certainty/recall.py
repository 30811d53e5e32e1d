"""How much of what is right a search has found, estimated from a sample that somebody judges.

A certificate proves that every Note above the threshold is in the answer, and cannot say how many right ones lie below.
Notes are put in strata: the hits; those below, by rank, each stratum `GROWTH` times as large as the one above; and
those without a score. From each the same number is drawn by chance, without regard to their scores, and judged. A
stratum of N Notes of which n were judged and x are right has about N x / n right ones (Horvitz, Thompson 1952).

The interval follows Webber, "Approximate recall confidence intervals" (ACM TOIS 2013): the right ones among what was
not judged have a beta-binomial distribution, and recall is drawn from all strata together. Its prior, Beta(½, ½), takes
far too many for right where a stratum is large and hardly any is: 100 judged of 10,000, of which 44 lie below, held the
true recall in 11 of 100 cases. So it serves the lower end alone, and the upper one has the least that a stratum may
have, Beta(x, n - x + 1) as of Clopper and Pearson (1934): none where none was right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from infospace.core.errors import Invalid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.core.json_types import JSON

Place: TypeAlias = Literal["found", "below", "unscored"]

FIRST_STRATUM: Final = 20
"""Notes of the first stratum below the threshold, or as many as were found, where these are more."""

GROWTH: Final = 3
"""How many times as large as the one above it a stratum is."""

PRIOR: Final = 0.5
DRAWS: Final = 20_000
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Stratum:
    """Notes of about the same rank: `items` are the numbers of all of them, in an order of chance."""

    place: Place
    items: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A stratum after judging: how many Notes it has, how many of them were judged, and how many of these are right."""

    place: Place
    size: int
    judged: int
    right: int

    def to_json(self) -> dict[str, JSON]:
        """Return it as JSON."""
        return {"place": self.place, "notes": self.size, "judged": self.judged, "right": self.right}


@dataclass(frozen=True, slots=True)
class RecallEstimate:
    """Which share of the right Notes was found, with its 95 % interval; None where no judged Note is right.

    `right_found` and `right_missed` estimate how many right Notes were found and were not.
    """

    recall: float | None
    low: float
    high: float
    right_found: float
    right_missed: float
    strata: Sequence[Judged]

    def to_json(self) -> dict[str, JSON]:
        """Return it as JSON."""
        return {
            "recall": self.recall,
            "interval": [self.low, self.high],
            "right_found": self.right_found,
            "right_missed": self.right_missed,
            "strata": [judged.to_json() for judged in self.strata],
        }


def stratify(results: Sequence[int], below: Sequence[int], unscored: Sequence[int], seed: int) -> list[Stratum]:
    """Return the strata of numbers of Notes, those `below` being in order of rank, best first; none is empty."""
    rng = np.random.default_rng(seed)
    parts: list[tuple[Place, Sequence[int]]] = [("found", results)]
    size, start = max(FIRST_STRATUM, len(results)), 0
    while start < len(below):
        parts.append(("below", below[start : start + size]))
        start, size = start + size, size * GROWTH
    parts.append(("unscored", unscored))
    return [
        Stratum(place, tuple(rng.permutation(np.array(items, np.int64)).tolist())) for place, items in parts if items
    ]


def sample(strata: Sequence[Stratum], count: int | None) -> list[tuple[int, int]]:
    """Return which Notes are to be judged, `(stratum, number)`, a turn of all strata at a time; None for all of them.

    Whoever ends early has judged about the same number of each, which still are drawn by chance.
    """
    turns = max((len(stratum.items) for stratum in strata), default=0)
    order = [
        (which, one.items[turn]) for turn in range(turns) for which, one in enumerate(strata) if turn < len(one.items)
    ]
    return order[:count]


def estimate(strata: Sequence[Judged], seed: int = 0) -> RecallEstimate:
    """Estimate recall. Raises Invalid where a stratum has no judged Note: of it nothing is known."""
    unknown = sum(judged.size for judged in strata if not judged.judged)
    if unknown or not strata:
        raise Invalid(
            f"too few were judged: nothing is known of {unknown:,} notes",
            hint=f"judge at least {len(strata)}, one of each part of the ranking",
        )
    result, missed = (sum(judged.size * judged.right / judged.judged for judged in part) for part in _parts(strata))
    recall = result / (result + missed) if result + missed else None
    low, high = (0.0, 1.0) if recall is None else _interval(strata, np.random.default_rng(seed))
    return RecallEstimate(
        None if recall is None else round(recall, 4),
        round(low, 4),
        round(high, 4),
        round(result, 1),
        round(missed, 1),
        tuple(strata),
    )


def _parts(strata: Sequence[Judged]) -> tuple[list[Judged], list[Judged]]:
    return [judged for judged in strata if judged.place == "found"], [
        judged for judged in strata if judged.place != "found"
    ]


def _interval(strata: Sequence[Judged], rng: np.random.Generator) -> tuple[float, float]:
    inside, outside = _parts(strata)
    results = sum((_draw(judged, rng, PRIOR, PRIOR) for judged in inside), np.zeros(DRAWS))
    most = sum((_draw(judged, rng, PRIOR, PRIOR) for judged in outside), np.zeros(DRAWS))
    least = sum((_draw(judged, rng, 0, 1) for judged in outside), np.zeros(DRAWS))
    tail = (1 - LEVEL) / 2
    low = float(np.quantile(_shares(results, most), tail))
    return low, float(np.quantile(_shares(results, least), 1 - tail))


def _shares(results: NDArray[np.float64], missed: NDArray[np.float64]) -> NDArray[np.float64]:
    total = results + missed
    return np.divide(results, total, out=np.ones(DRAWS), where=total > 0)


def _draw(stratum: Judged, rng: np.random.Generator, right: float, wrong: float) -> NDArray[np.float64]:
    """Draw how many right Notes a stratum may have, `DRAWS` times, by a prior of Beta(right, wrong)."""
    if not stratum.right + right:
        return np.zeros(DRAWS)
    shares = rng.beta(stratum.right + right, stratum.judged - stratum.right + wrong, DRAWS)
    rest: NDArray[np.int64] = rng.binomial(stratum.size - stratum.judged, shares)
    return stratum.right + rest.astype(np.float64)
