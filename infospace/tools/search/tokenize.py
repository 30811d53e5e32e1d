"""Texts to words: what a request and a tool are compared by, and how a request is parted."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from infospace.data.cjk import parts, word_pattern
from infospace.data.stopwords import STOP
from infospace.tools.search.documents import edged

_ASCII_WORD = re.compile(r"[a-z0-9]+")

_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")

_BREAK = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
"""Where one sentence ends and the next begins."""

LEAST_WORDS = 3
"""Words of a sentence that asks for something by itself; one with fewer belongs to the one before."""

_LITERAL = re.compile(r"\w+")

NAME_LENGTH = 64
"""Characters of a text that may be a name, whose words are remembered."""

MOST_PARTS = 8
"""Parts that a request is taken in: each costs an embedding of about 2 ms."""


def tokenize(text: str) -> list[str]:
    """Return the words of a text, in order: names split, in small letters, without stop words, plurals and accents.

    Scripts without spaces between words give pairs of characters.
    """
    return [*_words_of_name(text)] if len(text) <= NAME_LENGTH else _words(text)


@lru_cache(maxsize=20_000)
def _words_of_name(name: str) -> tuple[str, ...]:
    """The words of a short text: which arguments and results are called alike is asked of each pair of tools."""
    return tuple(_words(name))


def _words(text: str) -> list[str]:
    if not text:
        return []
    if text.isascii():
        results = _ASCII_WORD.findall(edged(text).lower())
    else:
        plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        results = word_pattern().findall(edged(unicodedata.normalize("NFC", plain)).casefold())
    return [word for answer in results if answer not in STOP for word in _stems(answer)]


@lru_cache(maxsize=50_000)
def _stems(word: str) -> tuple[str, ...]:
    return (_singular(word),) if word.isascii() else tuple(_singular(part) for part in parts(word))


def _singular(word: str) -> str:
    """Take the ending of a plural away (Harman's S stemmer, 1991)."""
    if len(word) < 4:
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    kept = ("aes", "ees", "oes") if word.endswith("es") else ("us", "ss")
    return word[:-1] if word.endswith("s") and not word.endswith(kept) else word


def split_request(request: str) -> list[str]:
    """Return what a request asks for: its sentences, and where there are several, also all of it.

    A long request asks for several things, each of which is done by another tool; whole, it is near to none of them.
    """
    sentences: list[str] = []
    for piece in (piece.strip() for piece in _BREAK.split(request)):
        if not piece:
            continue
        if sentences and _is_short(piece):
            sentences[-1] += f" {piece}"
        else:
            sentences.append(piece)
    if len(sentences) > 1 and _is_short(sentences[0]):
        sentences[:2] = [f"{sentences[0]} {sentences[1]}"]
    if len(sentences) < 2:
        return [request.strip()]
    most = MOST_PARTS - 1
    if len(sentences) > most:
        size = -(-len(sentences) // most)
        sentences = [" ".join(sentences[at : at + size]) for at in range(0, len(sentences), size)]
    return [*sentences, request.strip()]


def literal(text: str) -> int:
    """Return by what one text is told from another word by word: by all its words in order, in small letters.

    0 is that of no words. It is another number in another process.
    """
    words = _LITERAL.findall(text.casefold())
    return hash(" ".join(words)) or 1 if words else 0


def phrase_ids(description: str) -> frozenset[int]:
    """Return what a tool says of itself, `literal`: the whole, and its sentences, parted as those of a request."""
    return frozenset(map(literal, split_request(description))) - {0}


def _is_short(piece: str) -> bool:
    return piece.isascii() and len(piece.split()) < LEAST_WORDS
