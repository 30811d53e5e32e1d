"""A request as it is compared with tools: its parts, their words, and what mistyped words were meant to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from infospace.tools.search.lexical.values import without_values
from infospace.tools.search.tokenize import literal, split_request, tokenize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.tools.search.corpus import Corpus


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A request. `alike` has for words that no tool has the word of a tool's name that stands in, and how alike."""

    parts: Sequence[str]
    words: Sequence[Sequence[str]]
    similar: Mapping[str, tuple[str, float]]

    @classmethod
    def of(cls, request: str, corpus: Corpus) -> ParsedRequest:
        """Read a request; where it has values, what it asks without them is a part more.

        Where no word of it is known and half of them are like known ones, these are put right.
        """
        bare = without_values(request)
        parts = [*split_request(request), *([bare] if bare != request else [])]
        words = [tokenize(part) for part in parts]
        every = list(dict.fromkeys(word for some in words for word in some))
        missing = [word for word in every if not corpus.bm25.has(word)]
        result = ((word, corpus.names.closest_word(word)) for word in missing)
        alike = {word: near for word, near in result if near is not None}
        if 2 * len(alike) >= len(every) and len(missing) == len(every):
            parts = [" ".join(alike[word][0] if word in alike else word for word in some) or request for some in words]
        return cls(parts, words, alike)

    def bm25(self, corpus: Corpus) -> NDArray[np.float64]:
        """Return the BM25 of every tool by parts, (parts, tools)."""
        return np.array([corpus.bm25.scores(words, self.similar) for words in self.words])

    def masses(self, corpus: Corpus) -> NDArray[np.float64]:
        """Return by parts about what a tool scores that has all of their words, (parts, 1)."""
        return np.array([[corpus.bm25.mass(words)] for words in self.words])

    def named(self, corpus: Corpus) -> NDArray[np.float64]:
        """Return how alike the name of every tool is to the request as a whole, 0 where not enough to be meant."""
        return corpus.names.likeness([word for words in self.words for word in words])

    def quoted(self, corpus: Corpus) -> NDArray[np.bool_]:
        """Return which tools say of themselves just what a part of the request says, (parts, tools)."""
        results = np.zeros((len(self.parts), len(corpus.tools)), bool)
        for part, text in enumerate(self.parts):
            results[part, corpus.tools_by_phrase.get(literal(text), [])] = True
        return results

    def guessed(self, corpus: Corpus) -> NDArray[np.bool_]:
        """Return which tools have a word that stands in for one of the request."""
        results: NDArray[np.bool_] = corpus.bm25.scores([word for word, _ in self.similar.values()]) > 0
        return results
