"""LIKE: `%` any text, `_` one character, in time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from infospace.core.errors import Invalid

_SHORT = 64
"""Up to this many characters, a piece with `_` is left to `re`, which may look at a character this often."""


class _Piece(Protocol):
    """A stretch of pattern without `%`: it fits texts of one length only."""

    size: int

    def at(self, text: str, start: int) -> bool:
        """Say whether it fits at `start`."""

    def find(self, text: str, start: int, end: int) -> int:
        """Give the first place between `start` and `end` where it fits, or -1."""


class _Plain:
    """A piece without `_`."""

    def __init__(self, letters: str) -> None:
        self.size = len(letters)
        self._letters = letters

    def at(self, text: str, start: int) -> bool:
        return text.startswith(self._letters, start)

    def find(self, text: str, start: int, end: int) -> int:
        return text.find(self._letters, start, end)


class _Short:
    """A short piece with `_`, as a regular expression without repetition."""

    def __init__(self, letters: list[str | None]) -> None:
        self.size = len(letters)
        self._pattern = re.compile("".join("." if c is None else re.escape(c) for c in letters), re.DOTALL)

    def at(self, text: str, start: int) -> bool:
        return self._pattern.match(text, start) is not None

    def find(self, text: str, start: int, end: int) -> int:
        match = self._pattern.search(text, start, end)
        return match.start() if match else -1


class _Long:
    """A long piece with `_`: Shift-And (Baeza-Yates and Gonnet, 1992), one bit for each character."""

    def __init__(self, letters: list[str | None]) -> None:
        self.size = len(letters)
        self._any = sum(1 << place for place, c in enumerate(letters) if c is None)
        self._masks: dict[str, int] = {}
        for place, c in enumerate(letters):
            if c is not None:
                self._masks[c] = self._masks.get(c, self._any) | (1 << place)

    def at(self, text: str, start: int) -> bool:
        return self.find(text, start, start + self.size) == start

    def find(self, text: str, start: int, end: int) -> int:
        fits, last = 0, 1 << (self.size - 1)
        for place in range(start, min(end, len(text))):
            fits = ((fits << 1) | 1) & self._masks.get(text[place], self._any)
            if fits & last:
                return place - self.size + 1
        return -1


def fold(text: str) -> str:
    """Take the case out of `text`, character by character: the length stays."""
    folded = text.casefold()
    return folded if len(folded) == len(text) else "".join(map(_fold_one, text))


def _fold_one(character: str) -> str:
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character


@lru_cache(maxsize=256)
def like(pattern: str, escape: str | None) -> Callable[[str], bool]:
    """Make the test of a text against `pattern`; `escape` makes the character after it stand for itself.

    Raises `Invalid` when the pattern ends with its escape character.
    """
    pieces = [_piece(letters) for letters in _cut(pattern, escape)]
    first, last, between = pieces[0], pieces[-1], [piece for piece in pieces[1:-1] if piece.size]
    if len(pieces) == 1:
        return lambda text: len(text) == first.size and first.at(fold(text), 0)

    def fits(text: str) -> bool:
        start, end = first.size, len(text) - last.size
        if start > end:
            return False
        folded = fold(text)
        if not (first.at(folded, 0) and last.at(folded, end)):
            return False
        for piece in between:
            start = piece.find(folded, start, end)
            if start < 0:
                return False
            start += piece.size
        return True

    return fits


def _cut(pattern: str, escape: str | None) -> list[list[str | None]]:
    pieces: list[list[str | None]] = [[]]
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            literal = next(characters, None)
            if literal is None:
                message = f"the LIKE pattern {pattern[-40:]!r} ends with its escape character"
                raise Invalid(message, hint=f"{escape}{escape} is the character itself")
            pieces[-1].append(fold(literal))
        elif character == "%":
            pieces.append([])
        else:
            pieces[-1].append(None if character == "_" else fold(character))
    return pieces


def _piece(letters: list[str | None]) -> _Piece:
    plain = [letter for letter in letters if letter is not None]
    if len(plain) == len(letters):
        return _Plain("".join(plain))
    return _Short(letters) if len(letters) <= _SHORT else _Long(letters)
