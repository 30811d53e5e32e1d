"""Tools' names by their trigrams: what was probably meant where words find nothing, because of a typing error."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD_ALIKE = 0.4
"""Dice coefficient of the trigrams of a word and of one that stands in for it."""

LETTERS_ALIKE = 0.7
"""The share of letters that both have in the same order (Ratcliff, Obershelp): `help` is not `hello` mistyped."""

NAME_ALIKE = 0.4
"""As of a word, of a request none of whose words is known, and of a tool's name.

With one letter wrong in each word of the names of 100 tools, .77 are the first that is found, and .86 among five.
"""

TRIED = 20
"""Words, or names, that are looked at closer: those that share most trigrams."""

LEAST_LETTERS = 4
"""Letters of a word that another may stand in for."""


class Trigrams:
    """An index of texts by the trigrams of their words."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        results: defaultdict[str, list[int]] = defaultdict(list)
        sizes = []
        for at, words in enumerate(texts):
            trigrams = _trigrams(words)
            sizes.append(len(trigrams))
            for trigram in trigrams:
                results[trigram].append(at)
        self._having = {trigram: np.array(places) for trigram, places in results.items()}
        self._sizes = np.array(sizes, np.int64)

    def dice(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return how alike each text is: twice the trigrams it shares, by those of both; 0 to 1."""
        trigrams = _trigrams(words)
        shared = np.zeros(len(self._sizes))
        for trigram in trigrams & self._having.keys():
            shared[self._having[trigram]] += 1
        return 2 * shared / np.maximum(self._sizes + len(trigrams), 1)


class Names:
    """The names of tools, each given as its words."""

    def __init__(self, names: Sequence[Sequence[str]]) -> None:
        self._whole = Trigrams(names)
        self._names = [" ".join(words) for words in names]
        self._words = sorted({word for words in names for word in words if len(word) >= LEAST_LETTERS})
        self._single = Trigrams([word] for word in self._words)

    def closest_word(self, word: str) -> tuple[str, float] | None:
        """Return the word of a name that is most alike, of equals the first, and how much; None where none is."""
        if len(word) < LEAST_LETTERS or not self._words:
            return None
        alike = self._single.dice([word])
        best = next(_closer(word, self._words, alike, WORD_ALIKE), None)
        return None if best is None else (self._words[best], float(alike[best]))

    def likeness(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return how alike each whole name is to some words, 0 where not enough to be meant, and of all but a few."""
        alike, results = self._whole.dice(words), np.zeros(len(self._names))
        for at in _closer(" ".join(words), self._names, alike, NAME_ALIKE):
            results[at] = alike[at]
        return results


def _closer(text: str, texts: Sequence[str], alike: NDArray[np.float64], least: float) -> Iterator[int]:
    """Yield the places of the texts that share most trigrams with one, best first, and most letters in order too."""
    near = np.argsort(-alike, kind="stable")[:TRIED]
    letters = SequenceMatcher(b=text, autojunk=False)
    for at in near[alike[near] >= least].tolist():
        letters.set_seq1(texts[at])
        if letters.ratio() >= LETTERS_ALIKE:
            yield at


def _trigrams(words: Iterable[str]) -> set[str]:
    """The trigrams of words, each with two blanks before and one after it (as PostgreSQL's pg_trgm has them)."""
    padded = [f"  {word} " for word in words]
    return {word[at : at + 3] for word in padded for at in range(len(word) - 2)}
