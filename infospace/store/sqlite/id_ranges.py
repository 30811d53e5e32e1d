"""Giving out ids: a process reserves a range durably, and then gives its numbers without asking."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from infospace.core.ids import Kind

Counted: TypeAlias = "Kind | Literal['run']"

COUNTED: tuple[Counted, ...] = (*Kind, "run")

MAX_RANGE = 64
"""The largest range: a crash loses at most so many numbers of a kind. Runs are seen by number: theirs are of one."""


@dataclass(slots=True)
class IdRange:
    """A reserved range: the number that comes next, the end (excluded), and how large the next range will be."""

    next: int = 1
    end: int = 1
    size: int = 1


class IdRanges:
    """The ranges of one process. `reserve(kind, size)` takes a range for good and returns its first number."""

    def __init__(self, reserve: Callable[[str, int], int]) -> None:
        self._reserve = reserve
        self._spans = {kind: IdRange() for kind in COUNTED}
        self._lock = threading.Lock()

    def new(self, kind: Counted) -> str:
        """Return an id that was not given out before."""
        with self._lock:
            span = self._spans[kind]
            if span.next == span.end:
                span.next = self._reserve(kind, span.size)
                span.end = span.next + span.size
                span.size = 1 if kind == "run" else min(span.size * 2, MAX_RANGE)
            number = span.next
            span.next = number + 1
        return f"{kind}_{number}"

    def block(self, kind: Counted, count: int) -> int:
        """Return the first of so many numbers that follow each other, and that were not given out before.

        What is left of a range that is too small is dropped: of one process a later id has a higher number.
        """
        with self._lock:
            span = self._spans[kind]
            if span.end - span.next < count:
                span.next = self._reserve(kind, count)
                span.end = span.next + count
            first = span.next
            span.next += count
        return first

    def reserved(self, kind: Counted) -> tuple[int, int]:
        """Return this process's range that is not given out yet, end excluded."""
        span = self._spans[kind]
        return span.next, span.end

    def remaining(self) -> list[tuple[str, int, int]]:
        """Return kind, next number and end of each range with numbers left, and give no more out of them."""
        with self._lock:
            rest = [(str(kind), span.next, span.end) for kind, span in self._spans.items() if span.next < span.end]
            for span in self._spans.values():
                span.end = span.next
        return rest
