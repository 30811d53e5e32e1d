"""Tools made ready to be searched: their words counted, their vectors side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from infospace.core.tool import Tool
from infospace.data.misspelling import closest_spelling, words_of
from infospace.tools.search import scoring
from infospace.tools.search.confidence import NullScores, everyday_words
from infospace.tools.search.documents import Fields
from infospace.tools.search.lexical.bm25f import Bm25, TermCounts, Vocabulary
from infospace.tools.search.lexical.typos import Names
from infospace.tools.search.scoring import by_both
from infospace.tools.search.vectors import centred_vectors, dot_products

if TYPE_CHECKING:
    from numpy.typing import NDArray


LONGEST_NAME = 128
"""Characters of a request that may be a name with slips."""


@dataclass(slots=True, eq=False)
class IndexedTool:
    """A tool whose text was read. `vector` is None until there is one for the model of `key`."""

    tool: Tool
    fields: Fields
    counted: TermCounts
    texts: tuple[str, str]
    key: str = ""
    vector: NDArray[np.float32] | None = None


class Corpus:
    """Some tools, as they are compared with requests. The first to ask for a part of it makes it."""

    def __init__(self, tools: Sequence[IndexedTool], vocabulary: Vocabulary) -> None:
        self.tools = tools
        self._vocabulary = vocabulary
        self._matrix: NDArray[np.float32] | None = None
        self._whole: str | None = None
        """The model of which every tool has a vector in the matrix."""
        self._null: dict[tuple[str, bool], NullScores] = {}

    @cached_property
    def bm25(self) -> Bm25:
        """The index of words."""
        return Bm25([indexed.counted for indexed in self.tools], self._vocabulary, self.shares)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """What each tool counts where it is asked what all have in common: those of one text together count once."""
        texts = [indexed.texts[1] for indexed in self.tools]
        counts = Counter(texts)
        return np.array([1 / counts[text] if text else 1.0 for text in texts])

    @cached_property
    def names(self) -> Names:
        """The names, by their trigrams."""
        return Names([indexed.counted.name for indexed in self.tools])

    @cached_property
    def tools_by_name(self) -> dict[str, list[int]]:
        """The places of the tools that have a name or a full name, in small letters."""
        results: dict[str, list[int]] = {}
        for at, indexed in enumerate(self.tools):
            for name in (indexed.fields.name, indexed.tool.full_name):
                results.setdefault(name.casefold(), []).append(at)
        return results

    def misspelt_name(self, request: str) -> list[int]:
        """Return the places of the tools whose name a request is plainly meant to be that is one name of several words.

        A request of other words is none: `delte a file` speaks of what is to be done.
        """
        if " " in request or len(words_of(request)) < 2 or len(request) > LONGEST_NAME:
            return []
        names = [self.tools[places[0]].fields.name for places in self.tools_by_name.values()]
        near = closest_spelling(request.rpartition("/")[2], dict.fromkeys(names))
        return [] if near is None else [at for at, indexed in enumerate(self.tools) if indexed.fields.name == near]

    @cached_property
    def labelled(self) -> dict[str, list[int]]:
        """The places of the tools of a server, a category or a tag, in small letters."""
        results: dict[str, list[int]] = {}
        for at, indexed in enumerate(self.tools):
            tool = indexed.tool
            labels = (tool.server, tool.server_title, tool.category, *tool.tags)
            for label in {label.casefold() for label in labels if label}:
                results.setdefault(label, []).append(at)
        return results

    @cached_property
    def tools_by_phrase(self) -> dict[int, list[int]]:
        """The places of the tools that say something of themselves in just these words."""
        results: dict[int, list[int]] = {}
        for at, indexed in enumerate(self.tools):
            for said in indexed.counted.said:
                results.setdefault(said, []).append(at)
        return results

    @cached_property
    def servers(self) -> NDArray[np.int64]:
        """The number of each tool's server."""
        names = np.array([indexed.tool.server for indexed in self.tools])
        return np.asarray(np.unique(names, return_inverse=True)[1], np.int64)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The rank of each tool by full name: who comes first of equals."""
        names = [indexed.tool.full_name for indexed in self.tools]
        ranks = np.empty(len(names), np.int64)
        ranks[np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)] = np.arange(len(names))
        return ranks

    def fields_with(self, word: str, at: int) -> tuple[str, ...]:
        """Return the names of the fields in which the tool at a place has a word, in their order."""
        counted = self.tools[at].counted
        value = counted.fields[counted.words == self._vocabulary.find(word)]
        return tuple(Fields._fields[field] for field in sorted(set(value.tolist())))

    def without_vector(self, key: str) -> list[IndexedTool]:
        """Return the tools that have no vector of a model yet."""
        return [] if self._whole == key else [indexed for indexed in self.tools if indexed.key != key]

    def matrix(self, key: str, dimension: int) -> NDArray[np.float32]:
        """Return the vectors that requests are compared with, those of one model; 0 for a tool without one."""
        if self._matrix is None or self._whole != key:
            rows = np.zeros((len(self.tools), dimension), np.float32)
            for at, indexed in enumerate(self.tools):
                if indexed.key == key and indexed.vector is not None:
                    rows[at] = indexed.vector
            self._matrix = centred_vectors(rows, [indexed.tool.server for indexed in self.tools], self.shares)
            self._whole = None if self.without_vector(key) else key
        return self._matrix

    def null_scores(self, key: str, everyday: NDArray[np.float32], *, by_meaning: bool) -> NullScores:
        """Return what the tools answer to everyday requests, whose vectors these are, by both legs or by meaning.

        Made anew for as long as a tool has no vector: until then the matrix changes.
        """
        result = self._null.get((key, by_meaning))
        if result is None:
            cosines = dot_products(everyday, self.matrix(key, everyday.shape[1]))
            words = () if by_meaning else everyday_words()
            bm25 = np.array([self.bm25.scores(some) for some in words])
            result = NullScores.of(scoring.by_meaning(cosines) if by_meaning else by_both(cosines, bm25), cosines)
            if self._whole == key:
                self._null[key, by_meaning] = result
        return result


class CurrentTools:
    """Tools as they are now: their corpus, and what of their state ranking asks for."""

    def __init__(self, tools: list[Tool], corpus: Corpus) -> None:
        self.tools = tools
        self.corpus = corpus
        self.blocked = np.array([tool.blocked for tool in tools], bool)
        self.connected = np.array([tool.connected for tool in tools], bool)
        self.trusted = np.array([tool.trusted for tool in tools], bool)

    def are(self, tools: Sequence[Tool]) -> bool:
        """Whether these are the very same tools, which never change."""
        return len(self.tools) == len(tools) and all(map(is_, self.tools, tools))
