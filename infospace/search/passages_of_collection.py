"""Search among the passages of one Collection's items.

Nothing is kept of it but vectors by the digest of their text, so that nothing can be out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from infospace.core.errors import Invalid, NotFound
from infospace.core.ids import is_id, number_of
from infospace.core.resources import Collection, Note, Resource, text_of
from infospace.search.best_passage import blank_json_escapes
from infospace.search.chance import chance_of_rows
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.search.explain import EXPLANATION, PASSAGE, TEXT, Explanation, WordShare
from infospace.search.hybrid import BM25_PER_COSINE, BY_MEANING, BY_WORDS, saturate_bm25
from infospace.search.note_filter import source_of
from infospace.search.query import Cut, Hit, Mode, SearchQuery, SearchResults, Threshold, certificate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.core.json_types import JSON
    from infospace.core.listener import Listener
    from infospace.search.embedding.service import Passages
    from infospace.space import Space
    from infospace.store.protocol import Snapshot

SearchFunction = Callable[["Space", "Listener"], SearchResults]


class Text(NamedTuple):
    """A text to be searched, whose it is at which version, and as it is searched by words: of the same length."""

    source: str
    version: int
    text: str
    words: str


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """A search among passages. `limit` None is all, `threshold` None the model's own.

    With `explain` each hit says what its score is made of.
    """

    query: str
    limit: int | None
    threshold: Threshold | None
    mode: Mode = "semantic"
    explain: bool = False

    @property
    def scoring(self) -> SearchQuery:
        """The same as a search among Notes."""
        return SearchQuery(self.query, self.limit, self.threshold, self.mode)

    @property
    def is_auto(self) -> bool:
        """Whether the threshold is `auto`, and counts."""
        return self.scoring.is_auto and self.mode != "keyword"


def search_passages_of(query: PassageQuery, items: Sequence[Resource]) -> SearchFunction:
    """Return the search for passages of Notes, of the sources of search results, and of what Collections hold."""

    def run(space: Space, listener: Listener) -> SearchResults:
        with space.store.reading() as snapshot:
            notes, left_out = _gather(snapshot, items)
            generation = snapshot.generation
        texts = [_text(note) for note in notes.values()]
        results = _search(space, listener, query, texts, generation)
        return SearchResults(results.hits, results.certificate | {"items": len(texts), "left_out": left_out})

    return run


def _text(note: Note[Any]) -> Text:
    text = text_of(note.content)
    return Text(note.id, note.version, text, blank_json_escapes(note.content, text))


def counted_passages(items: Sequence[Resource]) -> SearchFunction:
    """Return a function that embeds what `search_passages_of` searches; its certificate has their number."""

    def look(space: Space, listener: Listener) -> SearchResults:
        with space.store.reading() as snapshot:
            notes, left_out = _gather(snapshot, items)
        texts = [text_of(note.content) for note in notes.values()]
        there = any(text.strip() for text in texts)
        count = len(space.embedding.passages(texts, listener).bounds) if there else 0
        return SearchResults([], {"passages": count, "items": len(texts), "left_out": left_out})

    return look


def _gather(snapshot: Snapshot, items: Sequence[Resource]) -> tuple[dict[str, Note[Any]], int]:
    """Return the Notes to be searched, each once, in order, and how many other items have no text to be searched.

    A Collection is entered once, so that one that contains itself has an end.
    """
    notes: dict[str, Note[Any]] = {}
    entered: set[str] = set()
    left_out: set[str] = set()
    waiting = list(reversed(items))
    while waiting:
        item = waiting.pop()
        if isinstance(item, Collection):
            if item.id not in entered:
                entered.add(item.id)
                waiting += reversed(snapshot.get_many([member.id for member in item.members]))
        elif not isinstance(item, Note):
            left_out.add(item.id)
        elif (source := source_of(item)) != item.id and is_id(source):
            try:
                waiting.append(snapshot.get(source))
            except NotFound:
                left_out.add(source)
        else:
            notes.setdefault(item.id, item)
    return notes, len(left_out)


def _search(
    space: Space, listener: Listener, query: PassageQuery, texts: Sequence[Text], generation: int
) -> SearchResults:
    if not any(text.text.strip() for text in texts):
        return _nothing(space, query, generation)
    embedding = space.embedding
    embedding.follow()
    passages = embedding.passages([text.text for text in texts], listener)
    cosines = np.zeros(len(passages.owners)) if query.mode == "keyword" else _cosines(space, query, passages)
    cut = query.scoring.cut(embedding.info.threshold, _chance(space, passages) if query.is_auto else None)
    threshold = cut.at(max(cosines.tolist(), default=None))
    words = {} if query.mode == "semantic" else _words(space, query, texts, passages)
    bm25 = sum(words.values(), np.zeros(len(cosines)))
    near = (cosines >= threshold) & (query.mode != "keyword")
    matched = near | (bm25 > 0)
    scores = saturate_bm25(bm25) if query.mode == "keyword" else np.round(cosines + bm25 / BM25_PER_COSINE, 6)
    numbers = np.array([number_of(texts[owner].source) for owner in passages.owners.tolist()], np.int64)
    starts = np.array([start for start, _ in passages.bounds], np.int64)
    order = np.lexsort((starts, numbers, -scores))
    hits = order[matched[order]]
    below = cosines[order][~matched[order]]
    proved = certificate(
        matched=len(hits),
        returned=len(hits[: query.limit]),
        scored=len(order),
        notes=len(order),
        max_below=None if query.mode == "keyword" or not len(below) else float(below.max()),
        threshold=None if query.mode == "keyword" else threshold,
        model=None if query.mode == "keyword" else embedding.info.name,
        generation=generation,
    )

    def hit(at: int) -> Hit:
        text = texts[int(passages.owners[at])]
        start, end = passages.bounds[at]
        legs = {BY_MEANING: near[at], BY_WORDS: bm25[at] > 0}
        by: list[JSON] = [leg for leg, has in legs.items() if has]
        both: dict[str, JSON] = {"cosine": float(cosines[at]), "bm25": round(float(bm25[at]), 6), "matched_by": by}
        extra = both if query.mode == "hybrid" else {}
        if query.explain:
            extra = {**extra, EXPLANATION: _explanation(float(cosines[at]), words, at).to_json(query.mode)}
        return Hit(text.source, text.version, float(scores[at]), start, end, extra, passage=True)

    return SearchResults(
        [hit(at) for at in hits[: query.limit].tolist()], _renamed(proved) | _cut_certificate(query, cut)
    )


def _cut_certificate(query: PassageQuery, cut: Cut) -> dict[str, Any]:
    return query.scoring.certificate_of(cut) if query.is_auto else {}


def _chance(space: Space, passages: Passages) -> float | None:
    """What everyday requests find among the passages."""
    return chance_of_rows(passages.owners, passages.vectors, space.embedding.queries(EVERYDAY))


def _cosines(space: Space, passage_query: PassageQuery, passages: Passages) -> NDArray[np.float64]:
    vector = space.embedding.query(str(passage_query.query)).astype(np.float64)
    cosines: NDArray[np.float64] = np.vecdot(passages.vectors.astype(np.float64), vector)
    return np.round(cosines, 6)


def _words(
    space: Space, query: PassageQuery, texts: Sequence[Text], passages: Passages
) -> dict[str, NDArray[np.float64]]:
    """What each word of the query adds to the BM25 of the passages, (passages)."""
    pairs = zip(passages.owners.tolist(), passages.bounds, strict=True)
    with space.store.reading() as snapshot:
        results = snapshot.words_in(str(query.query), [texts[owner].words[start:end] for owner, (start, end) in pairs])
    if results is None:
        raise Invalid("this space's store does not search by words", hint='search by meaning: `"mode": "semantic"`')
    return results


def _explanation(cosine: float, words: Mapping[str, NDArray[np.float64]], at: int) -> Explanation:
    """What the score of one passage is made of."""
    shares = [WordShare(word, round(float(added[at]), 6), (TEXT,)) for word, added in words.items() if added[at] > 0]
    return Explanation(((PASSAGE, cosine),), tuple(sorted(shares, key=lambda share: -share.bm25)))


def _nothing(space: Space, query: PassageQuery, generation: int) -> SearchResults:
    """What is found where there is no text; no model is needed for that."""
    from infospace.search.models.custom import model_name_and_threshold

    with space.store.reading() as snapshot:
        name, least = model_name_and_threshold(snapshot.chosen())
    cut = query.scoring.cut(least, None)
    proved = certificate(
        matched=0,
        returned=0,
        scored=0,
        notes=0,
        threshold=None if query.mode == "keyword" else cut.fixed,
        model=None if query.mode == "keyword" else name,
        generation=generation,
    )
    return SearchResults([], _renamed(proved) | _cut_certificate(query, cut))


def _renamed(proved: dict[str, Any]) -> dict[str, Any]:
    """The certificate, whose counts are of passages here."""
    return {"passages" if name == "notes" else name: value for name, value in proved.items()}
