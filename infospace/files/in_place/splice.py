"""Putting pieces into a text whose line ends may be of several kinds; what no edit touches stays as it is.

Edits are found in the text as it is read, with line feeds for all line ends, and are brought into the text as it
is written: what is put in takes the line end of the place where it comes to stand.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")

MOST_COMPARED = 4_000_000
"""How many pairs of lines are compared at most for a diff; of more, all between the first and the last that differ
is one piece, which says the same with fewer of its line ends as they were."""


class Edit(NamedTuple):
    """Put `text` in the place of the characters from `start` to `end`."""

    start: int
    end: int
    text: str


class WrittenText:
    """A text as it is written; `read` is the same with line feeds."""

    def __init__(self, text: str) -> None:
        self.written = text
        self.read = _LINE_END.sub("\n", text)
        self._ends = [match.span() for match in _LINE_END.finditer(text)]
        doubled = [start for start, end in self._ends if end - start == 2]
        self._doubled = [start - before for before, start in enumerate(doubled)]

    def spliced(self, edits: Sequence[Edit]) -> str:
        """Return the text with the edits in it, which do not overlap; at one place they stand in the order given."""
        parts, done = [], 0
        for edit in sorted(edits, key=lambda one: one.start):
            start, end = self._place(edit.start), self._place(edit.end)
            parts += [self.written[done:start], edit.text.replace("\n", self._end_at(start))]
            done = end
        return "".join([*parts, self.written[done:]])

    def _place(self, offset: int) -> int:
        """Return where an offset in what is read is in what is written."""
        return offset + bisect_left(self._doubled, offset)

    def _end_at(self, place: int) -> str:
        """Return the line end of the line of a place; where it has none, that of the line before."""
        if not self._ends:
            return "\n"
        at = min(bisect_left(self._ends, (place, 0)), len(self._ends) - 1)
        start, end = self._ends[at]
        return self.written[start:end]


def line_edits(before: str, after: str, offset: int) -> list[Edit]:
    """Return edits that make the text `after` of `before`, by whole lines; `offset` is where `before` begins."""
    old, new = _lines(before), _lines(after)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    olds, news = old[head : len(old) - tail], new[head : len(new) - tail]
    starts = [offset + sum(map(len, old[:head]))]
    for line in olds:
        starts.append(starts[-1] + len(line))
    if len(olds) * len(news) > MOST_COMPARED:
        return [Edit(starts[0], starts[-1], "".join(news))]
    matcher = SequenceMatcher(None, olds, news, autojunk=False)
    pieces = [one for one in matcher.get_opcodes() if one[0] != "equal"]
    return [Edit(starts[first], starts[last], "".join(news[start:end])) for _, first, last, start, end in pieces]


def _lines(text: str) -> list[str]:
    """Split after each line feed and nowhere else."""
    return [line for line in re.split(r"(?<=\n)", text) if line]
