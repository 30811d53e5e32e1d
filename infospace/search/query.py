"""What is asked of discovery, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from infospace.store.note_fields import field_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.contract.arguments import Bound
    from infospace.core.json_types import JSON
    from infospace.store.protocol import Snapshot

Mode: TypeAlias = Literal["semantic", "keyword", "hybrid"]


@dataclass(frozen=True, slots=True, eq=False)
class SearchQuery:
    """A search. `limit` None is "all", `threshold` None the model's own; `within` are numbers, ascending.

    Without a `query`, a text or None, the Notes that satisfy `where` and lie `within` are found, in order of id.
    """

    query: str | None
    limit: int | None = 5
    threshold: float | None = None
    mode: Mode = "semantic"
    where: Bound | None = None
    within: NDArray[np.int64] | None = None
    certify: bool = False
    seen: Callable[[Snapshot, NDArray[np.int64]], NDArray[np.int64]] | None = None
    """Gives those of the numbers of Notes that whoever asks may know of; None for all."""

    def among(self, snapshot: Snapshot) -> list[int] | None:
        """Return the numbers of the Notes that whoever asks may know of, None for all."""
        return None if self.seen is None else self.seen(snapshot, snapshot.discoverable()).tolist()

    @property
    def allows_approximate(self) -> bool:
        """Whether an index may answer that finds nearly all of the nearest and proves nothing."""
        plain = self.where is None and self.within is None and self.seen is None and not self.certify
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
    """Hits, best first, and the certificate of LANGUAGE.md for them; `hint` where the query seems mistaken.

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
