"""What is asked of discovery, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from infospace.store.note_fields import field_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.contract.arguments import BoundCondition
    from infospace.core.json_types import JSON
    from infospace.store.protocol import Snapshot

Mode: TypeAlias = Literal["semantic", "keyword", "hybrid"]

AUTO: Final = "auto"
"""The threshold that follows from the space and the best hit, see `chance`."""

Threshold: TypeAlias = float | Literal["auto"]

AUTO_THRESHOLD_FRACTION: Final = 0.7
"""How far from chance to the best hit the threshold `auto` lies."""

DEFAULT_JUDGEMENTS: Final = 40
"""Notes that are judged at a time to estimate recall."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where hits end: at `fixed`; or, where `chance` is known, between it and the best hit."""

    fixed: float
    chance: float | None = None

    def at(self, best: float | None) -> float:
        """Return the lowest cosine that counts, `best` being the highest that there is, None for none."""
        if self.chance is None or best is None:
            return self.fixed
        return round(self.chance + AUTO_THRESHOLD_FRACTION * max(best - self.chance, 0.0), 6)


@dataclass(frozen=True, slots=True, eq=False)
class SearchQuery:
    """A search. `limit` None is "all", `threshold` None the model's own; `within` are numbers, ascending.

    Without a `query`, a text or None, the Notes that satisfy `where` and lie `within` are found, in order of id.
    """

    query: str | None
    limit: int | None = 5
    threshold: Threshold | None = None
    mode: Mode = "semantic"
    where: BoundCondition | None = None
    within: NDArray[np.int64] | None = None
    certify: bool = False
    seen: Callable[[Snapshot, NDArray[np.int64]], NDArray[np.int64]] | None = None
    """Gives those of the numbers of Notes that whoever asks may know of; None for all."""

    def among(self, snapshot: Snapshot) -> list[int] | None:
        """Return the numbers of the Notes that whoever asks may know of, None for all."""
        return None if self.seen is None else self.seen(snapshot, snapshot.discoverable()).tolist()

    @property
    def is_auto(self) -> bool:
        """Whether the threshold follows from the space and the best hit."""
        return self.threshold == AUTO

    def cut(self, least: float, chance: float | None) -> Cut:
        """Return where hits end, `least` being the model's own threshold, and `chance` None where it is not known."""
        if isinstance(self.threshold, str) or self.threshold is None:
            return Cut(least, chance if self.is_auto else None)
        return Cut(self.threshold)

    @property
    def wants_proposal(self) -> bool:
        """Whether the certificate says which threshold `auto` would have been: with `certify`, by meaning alone."""
        return self.certify and self.mode == "semantic" and not self.is_auto

    def certificate_of(self, cut: Cut) -> dict[str, Any]:
        """Return what the certificate says besides of where hits ended."""
        return {"chance": cut.chance} if self.is_auto else {}

    def proposal(self, least: float, chance: float | None, results: SearchResults) -> dict[str, Any]:
        """Return what the certificate proposes: the threshold that `auto` would have been, None where nothing has one.

        `least` is the model's own threshold. The best Note is the first hit, or the best that is none.
        """
        best = results.hits[0].score if results.hits else results.certificate["max_below"]
        return {"chance": chance, "proposed_threshold": None if best is None else Cut(least, chance).at(best)}

    @property
    def is_restricted(self) -> bool:
        """Whether some Notes are searched, and not all."""
        return self.where is not None or self.within is not None or self.seen is not None

    @property
    def allows_approximate(self) -> bool:
        """Whether an index may answer that finds nearly all of the nearest and proves nothing."""
        plain = not self.is_restricted and not self.certify
        return plain and self.mode == "semantic" and self.limit is not None


@dataclass(frozen=True, slots=True)
class Hit:
    """One resource found: its id and version, score rounded to six decimals, and its best passage's bounds.

    Where nothing was looked for, there is neither score nor passage. `passage`: that passage is what was found, and
    another one of the same resource is another hit.
    """

    source: str
    version: int
    score: float | None
    start: int | None
    end: int | None
    extra: Mapping[str, JSON] = field(default_factory=dict)
    passage: bool = False


def bounds_of(start: int, end: int) -> tuple[int, int] | tuple[None, None]:
    """Return a passage's first character and its end; None for a field, which lies nowhere in the text."""
    return (start, end) if field_at(start) is None else (None, None)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """Hits, best first, and the certificate for them; `hint` where the query seems mistaken.

    `mismatches` counts what had no result in the condition, for another type, and `mismatched` says of how many Notes.
    """

    hits: list[Hit]
    certificate: dict[str, Any]
    hint: str | None = None
    mismatches: int = 0
    mismatched: str = ""


def certificate(
    *,
    matched: int | None,
    returned: int,
    scored: int,
    notes: int,
    unembedded: int = 0,
    max_below: float | None = None,
    method: Literal["exact", "hnsw", "filter"] = "exact",
    threshold: float | None,
    model: str | None,
    generation: int,
) -> dict[str, Any]:
    """Return what a search proved; all counts are of Notes at one generation."""
    return {
        "matched": matched,
        "returned": returned,
        "exhaustive": returned == matched and unembedded == 0,
        "scored": scored,
        "notes": notes,
        "unembedded": unembedded,
        "max_below": max_below,
        "method": method,
        "threshold": threshold,
        "model": model,
        "generation": generation,
    }
