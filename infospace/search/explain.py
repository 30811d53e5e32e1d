"""Why a hit has its score: which part of the Note is near the query, which words it has, and what each of them adds.

Told after a search of the hits alone, from the same vectors and the same full text, so that a search that is not
asked to explain does no more than before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from infospace.core.ids import Kind, number_of
from infospace.core.resources import Note, text_of
from infospace.search.best_passage import blank_json_escapes
from infospace.search.hybrid import BM25_PER_COSINE
from infospace.store.note_fields import FIELDS, field_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.core.json_types import JSON
    from infospace.core.listener import Listener
    from infospace.search.query import Hit, Mode
    from infospace.space import Space
    from infospace.store.note_fields import Field
    from infospace.store.protocol import Snapshot

PASSAGE: Final = "passage"
TEXT, PROPERTIES = "text", "properties"
EXPLANATION: Final = "explanation"
"""Under what a hit tells it."""


@dataclass(frozen=True, slots=True)
class WordShare:
    """A word of the query that a Note has: what it adds to its BM25; and where: `FIELDS`, text, properties."""

    word: str
    bm25: float
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of one Note: the best cosine of its passages and of each of its fields, as they count, best first; its words.

    `whole_title` is what is added to its BM25 in a search by words since the query is its title or an alias.
    """

    cosines: tuple[tuple[str, float], ...]
    words: tuple[WordShare, ...]
    whole_title: float = 0.0

    def to_json(self, mode: Mode) -> dict[str, JSON]:
        """Return both as JSON; `adds`, by both ways alone, is what each adds to the score."""
        results: dict[str, JSON] = {}
        if mode != "keyword":
            parts: list[JSON] = [{"part": part, "cosine": cosine} for part, cosine in self.cosines]
            results["meaning"] = parts
        if mode != "semantic":
            words: list[JSON] = []
            for share in self.words:
                adds: dict[str, JSON] = {"adds": round(share.bm25 / BM25_PER_COSINE, 6)} if mode == "hybrid" else {}
                words.append({"word": share.word, "bm25": share.bm25, **adds, "in": list(share.places)})
            results["words"] = words
        if mode == "keyword" and self.whole_title:
            results["whole_title"] = self.whole_title
        return results


def explain(space: Space, query: str, ids: Sequence[str], words: Sequence[str], mode: Mode) -> list[Explanation]:
    """Return what made the scores of some Notes, in their order; `words` are those that the search looked for.

    Cosines are of what is embedded with the model in use, none where nothing is. Embeds the query where it is not
    remembered; raises ModelError where it has to and there is no model.
    """
    vector = None if mode == "keyword" or not ids else space.embedding.queries([query])[0]
    with space.store.reading() as snapshot:
        numbers = [number_of(identifier) for identifier in ids]
        cosines = {} if vector is None else _cosines(snapshot, space.embedding.key, vector, numbers)
        shares = {} if mode == "semantic" else _shares(snapshot, words, numbers)
        matches = snapshot.keyword_matches(query) if mode == "keyword" else None
    bounds = {} if matches is None else dict.fromkeys(matches.titled, round(matches.bound, 6))
    return [Explanation(cosines.get(number, ()), shares.get(number, ()), bounds.get(number, 0.0)) for number in numbers]


def explained_hits(
    query: str, hits: Sequence[Hit], certificate: Mapping[str, Any], mode: Mode
) -> Callable[[Space, Listener], list[Hit]]:
    """Return a function that gives hits with their `explanation` beside the rest that is told of them."""

    def run(space: Space, listener: Listener) -> list[Hit]:
        del listener
        explained = explain(space, query, [hit.source for hit in hits], certificate.get("words", ()), mode)
        pairs = zip(hits, explained, strict=True)
        return [replace(hit, extra={**hit.extra, EXPLANATION: one.to_json(mode)}) for hit, one in pairs]

    return run


def _cosines(
    snapshot: Snapshot, model: str, vector: NDArray[np.float32], numbers: Sequence[int]
) -> dict[int, tuple[tuple[str, float], ...]]:
    rows = snapshot.rows(model, numbers)
    best: dict[int, dict[str, float]] = {}
    if len(rows.owners):
        cosines: NDArray[np.float64] = np.vecdot(rows.vectors.astype(np.float64), vector.astype(np.float64))
        cosines = np.round(cosines, 6)
        for number, start, cosine in zip(rows.owners.tolist(), rows.starts.tolist(), cosines.tolist(), strict=True):
            parts = best.setdefault(number, {})
            part = field_at(start) or PASSAGE
            parts[part] = max(cosine, parts.get(part, cosine))
    return {number: tuple(sorted(parts.items(), key=lambda one: -one[1])) for number, parts in best.items()}


def _shares(snapshot: Snapshot, words: Sequence[str], numbers: Sequence[int]) -> dict[int, tuple[WordShare, ...]]:
    fields = snapshot.fields(numbers)
    notes = snapshot.get_many([f"{Kind.NOTE}_{number}" for number in numbers])
    texts = {number_of(note.id): _words_of(note) for note in notes if isinstance(note, Note)}
    results: dict[int, list[WordShare]] = {number: [] for number in numbers}
    for word in words:
        matches = snapshot.keyword_matches(word)
        if matches is None:
            return {}
        scores = dict(zip(matches.numbers.tolist(), matches.scores.tolist(), strict=True))
        having = [number for number in numbers if number in scores]
        for number, places in zip(having, _places(snapshot, word, having, fields, texts), strict=True):
            results[number].append(WordShare(word, round(scores[number], 6), places))
    return {number: tuple(sorted(shares, key=lambda share: -share.bm25)) for number, shares in results.items()}


def _words_of(note: Note[JSON]) -> str:
    return blank_json_escapes(note.content, text_of(note.content))


def _places(
    snapshot: Snapshot, word: str, numbers: Sequence[int], fields: dict[int, list[Field]], texts: dict[int, str]
) -> list[tuple[str, ...]]:
    """Where Notes that have a word have it; in `properties` where it is neither in the text nor in a field."""
    asked: list[tuple[int, str, str]] = []
    for number in numbers:
        asked += [(number, field.kind, field.text) for field in fields.get(number, [])]
        asked.append((number, TEXT, texts.get(number, "")))
    scores = snapshot.words_in(word, [text for *_, text in asked]) or {}
    there = {asked[at][:2] for added in scores.values() for at in np.flatnonzero(added > 0).tolist()}
    return [tuple(kind for kind in (*FIELDS, TEXT) if (number, kind) in there) or (PROPERTIES,) for number in numbers]
