"""Lists of whole numbers as one value of a row: what many Notes are, without a row for each of them."""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import sub

BATCH = 256
"""Notes of one batch at most: whoever reads one of them reads them all."""

PIECE = 4_096
"""Numbers of one value at most: whoever asks after one of them unpacks no more."""

_FAST = 1
"""How hard zlib tries: of numbers that follow each other, the differences are all one, and nearly nothing is left."""


def follow(numbers: Sequence[int]) -> bool:
    """Whether each number is one more than that before it; of none, it is not."""
    if not numbers or numbers[-1] - numbers[0] != len(numbers) - 1:
        return False
    stretch = range(numbers[0], numbers[-1] + 1)
    return stretch == numbers if isinstance(numbers, range) else list(stretch) == list(numbers)


def pack(numbers: Sequence[int]) -> bytes:
    """Write numbers in their order: each as its difference from the one before, compressed."""
    differences = array("q", numbers[:1])
    if follow(numbers):
        differences.extend(array("q", [1]) * (len(numbers) - 1))
    else:
        differences.extend(map(sub, numbers[1:], numbers))
    if sys.byteorder == "big":
        differences.byteswap()
    return zlib.compress(differences.tobytes(), _FAST)


def unpack(packed: bytes) -> list[int]:
    """Read what `pack` wrote. Raises ValueError where it is damaged."""
    differences = array("q")
    try:
        differences.frombytes(zlib.decompress(packed))
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from error
    if sys.byteorder == "big":
        differences.byteswap()
    return list(accumulate(differences))


def pieces(numbers: Sequence[int]) -> Iterator[tuple[int, int, int, int, bytes]]:
    """Give the values that hold numbers: the place of the first, how many, the least, the most, and themselves."""
    for at in range(0, len(numbers), PIECE):
        part = numbers[at : at + PIECE]
        yield at, len(part), min(part), max(part), pack(part)
