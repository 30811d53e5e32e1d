"""A search whose recall is estimated: which Notes are to be judged, and what the judgements say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid, ModelError
from infospace.core.ids import Kind, number_of
from infospace.core.resources import Note, text_of
from infospace.search.certainty.recall import Judged, RecallEstimate, Stratum, estimate, sample, stratify
from infospace.search.query import Hit, SearchQuery
from infospace.store.note_fields import text_digest

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.search.search import Search
    from infospace.store.protocol import Snapshot


@dataclass(frozen=True, slots=True)
class DrawnNote:
    """A Note that was drawn, to be shown to whoever judges it; `title` is empty where it has none.

    `passage` is the part of its text that is nearest to the query; the whole text where no part is known.
    """

    id: str
    version: int
    title: str
    text: str
    passage: str


@dataclass(eq=False)
class RecallSample:
    """Notes drawn from a search's hits and from all others, which are judged one by one, in any order.

    `certificate` is that of the search; `passages` has the hits of Notes by number, with their best passage.
    """

    certificate: Mapping[str, Any]
    strata: Sequence[Stratum]
    order: Sequence[tuple[int, int]]
    passages: Mapping[int, Hit]
    seed: int
    _told: dict[int, bool] = field(default_factory=dict)

    @property
    def waiting(self) -> list[str]:
        """The ids of the Notes that are still to be judged, in the order in which they should be."""
        return [f"{Kind.NOTE}_{number}" for _, number in self.order if number not in self._told]

    @property
    def judged(self) -> int:
        """How many were judged."""
        return len(self._told)

    def read(self, snapshot: Snapshot, note: str) -> DrawnNote:
        """Return a Note as it is now. Raises NotFound where it was deleted meanwhile."""
        resource = snapshot.get(note)
        (brief,) = snapshot.briefs([note])
        text = text_of(resource.content) if isinstance(resource, Note) else ""
        hit = self.passages.get(number_of(note))
        is_cut = hit is not None and hit.start is not None and hit.version == resource.version
        passage = text[hit.start : hit.end] if hit is not None and is_cut else text
        return DrawnNote(note, resource.version, brief.title or "", text, passage)

    def tell(self, note: str, *, right: bool) -> None:
        """Say of a Note that was drawn whether it is right."""
        number = number_of(note)
        if not any(number == drawn for _, drawn in self.order):
            raise Invalid(f"{note} is not among the notes that were drawn to be judged")
        self._told[number] = right

    def estimate(self) -> RecallEstimate:
        """Estimate recall by what was told so far. Raises Invalid where that is too little."""
        counted = [[0, 0] for _ in self.strata]
        for which, number in self.order:
            if number in self._told:
                counted[which][0] += 1
                counted[which][1] += self._told[number]
        return estimate(
            [
                Judged(one.place, len(one.items), judged, right)
                for one, (judged, right) in zip(self.strata, counted, strict=True)
            ],
            self.seed,
        )


def draw_sample(search: Search, query: SearchQuery, count: int | None, listener: Listener) -> RecallSample:
    """Search, and draw `count` Notes to be judged, None for all; the same query draws the same in the same space.

    All that match are taken as found, whatever the limit. The others are ranked by meaning; those without a vector are
    a part of their own, and so are all where there is no model. Raises Invalid without a query, and what
    `Search.find` raises.
    """
    if query.query is None:
        raise Invalid("without a query nothing is left out that could be right", hint="say what to look for")
    whole = replace(query, limit=None, certify=True)
    answer = search.find(whole, listener)
    results = [number_of(hit.source) for hit in answer.hits]
    every = search.find(replace(whole, query=None, threshold=None, mode="semantic"), listener)
    try:
        ranked = search.find(replace(whole, threshold=-1.0, mode="semantic"), listener).hits
    except ModelError:
        ranked = []
    known = {number_of(hit.source): hit for hit in ranked} | {number_of(hit.source): hit for hit in answer.hits}
    taken = set(results)
    below = [number for hit in ranked if (number := number_of(hit.source)) not in taken]
    taken.update(below)
    unscored = [number for hit in every.hits if (number := number_of(hit.source)) not in taken]
    seed = int.from_bytes(text_digest(query.query)[:8], "big")
    strata = stratify(results, below, unscored, seed)
    return RecallSample(answer.certificate, strata, sample(strata, count), known, seed)
