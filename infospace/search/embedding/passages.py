"""Notes to passages: stretches of a text that fit the model's window.

A text that fits is one passage. A longer one is cut where its author cut it: before a heading, between
paragraphs, at a line's end, after a sentence, between words, in this order, as near as can be to equal parts.
Passages do not overlap and are as long as the window allows: on the Cranfield abstracts (NDCG@10, best
passage a note) 254 tokens give .519, 192 .516, 128 .500, 96 .508, 64 .481, and an overlap of 32 changes
254 by .001.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from infospace.core.errors import ModelError

Offsets = Callable[[str], Sequence[tuple[int, int]]]

POLICY = "stretches-1"
"""Name and version of how texts are cut; part of every vector's key, so any other cut needs another."""

SPECIAL_TOKENS = 2
"""[CLS] and [SEP], which the model sees around every text."""

LEAST_SHARE = 0.5
"""A passage is at least this share of an even part long, however fine the break that comes before."""

PIECE = 1 << 16
"""Characters tokenised at a time; bounds the memory that offsets take."""

INSIDE, BETWEEN, WORD, SENTENCE, LINE, PARAGRAPH, HEADING = range(7)
_SENTENCE_END = frozenset(".!?\u2026")
_CJK_SENTENCE_END = frozenset("\u3002\uff01\uff1f")
_CLOSING = frozenset("\"')]}\u2019\u201d\u00bb")


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text, in characters: `text[start:end]` is what is embedded."""

    start: int
    end: int


def split(text: str, offsets_of: Offsets, max_tokens: int) -> list[Passage]:
    """Cut a text into passages of at most `max_tokens` tokens, in order, special tokens counted in.

    `offsets_of` gives start and end of every token of a text, in characters, without special tokens. Every
    non-blank character is in a passage, no passage begins or ends with a blank, and a text without
    non-blank characters has none. Takes time linear in the text. Raises ModelError when `max_tokens` leaves
    no room for a token.
    """
    room = max_tokens - SPECIAL_TOKENS
    if room < 1:
        raise ModelError(f"a window of {max_tokens} tokens has no room for text", hint="3 or more")
    starts, ends = _tokens(text, offsets_of)
    passages = []
    begin = 0
    for cut in _cuts(text, starts, ends, room):
        passages.append(_trimmed(text, begin, cut))
        begin = cut
    passages.append(_trimmed(text, begin, len(text)))
    return [passage for passage in passages if passage.start < passage.end]


def _trimmed(text: str, start: int, end: int) -> Passage:
    stretch = text[start:end]
    blank = len(stretch) - len(stretch.lstrip())
    return Passage(start + blank, max(start + blank, start + len(stretch.rstrip())))


def _tokens(text: str, offsets_of: Offsets) -> tuple[array[int], array[int]]:
    starts, ends = array("q"), array("q")
    for begin, end in _pieces(text):
        for start, stop in offsets_of(text[begin:end]):
            starts.append(begin + start)
            ends.append(begin + stop)
    return starts, ends


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Give stretches to tokenise, cut at a blank if there is one, else inside of a very long word."""
    begin = 0
    while begin < len(text):
        end = min(begin + PIECE, len(text))
        if end < len(text):
            blank = max(text.rfind(mark, begin, end) for mark in " \n\t")
            end = blank if blank > begin else end
        yield begin, end
        begin = end


def _cuts(text: str, starts: array[int], ends: array[int], room: int) -> Iterator[int]:
    """Give the characters at which passages after the first begin."""
    begin, count = 0, len(starts)
    while count - begin > room:
        even = (count - begin) / -(-(count - begin) // room)
        first = begin + max(1, int(even * LEAST_SHARE))
        best = _best(text, starts, ends, range(first, begin + room + 1), begin + even)
        yield starts[best]
        begin = best


def _best(text: str, starts: array[int], ends: array[int], places: range, expected: float) -> int:
    """Return the token before which to cut: the strongest break, of equals the nearest to `expected`."""
    best, rank = places[-1], (-1, 0.0)
    for place in places:
        if starts[place] < ends[place - 1]:
            continue  # both tokens come from one character
        results = (_strength(text, ends[place - 1], starts[place]), -abs(place - expected))
        if results > rank:
            best, rank = place, results
    return best


def _strength(text: str, end: int, start: int) -> int:
    """Say how strong a break lies between a token that ends at `end` and the next, from `start`."""
    gap = text[end:start]
    lines = gap.count("\n")
    if lines and text[start] == "#":
        return HEADING
    if lines > 1:
        return PARAGRAPH
    if lines:
        return LINE
    last = text[end - 1]
    if last in _CJK_SENTENCE_END:
        return SENTENCE
    if not any(map(str.isspace, gap)):
        return BETWEEN if _stands_alone(last) or _stands_alone(text[start]) else INSIDE
    if last in _CLOSING and end > 1:
        last = text[end - 2]
    return SENTENCE if last in _SENTENCE_END else WORD


def _stands_alone(character: str) -> bool:
    """Say whether BERT's tokenizer never joins the character to a word: punctuation and ideographs."""
    code = ord(character)
    if code < 0x80:
        return not character.isalnum()
    ideograph = 0x3400 <= code <= 0x4DBF or 0x4E00 <= code <= 0x9FFF or 0x20000 <= code <= 0x2FA1F
    return ideograph or 0xF900 <= code <= 0xFAFF or unicodedata.category(character).startswith("P")
