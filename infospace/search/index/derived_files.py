"""Files made from a space that lie beside it: each has a head of our own, and is believed only if all of it fits.

A file's body is written under a new name and synced, then its head; then the space itself notes the token of
the file (`Derived`). So a file of another space, of another past of this one (a copy that was put back), or
one that was cut off or damaged, is not taken for good. Whatever goes wrong here, nothing is derived.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from infospace.core.errors import InfospaceError
from infospace.store.changes import Derived
from infospace.store.protocol import Snapshot, Store

FORMAT = 1
"""Version of what is written; files of any other are not read."""

LANES = 1_021
"""Sums that run beside each other in `folded`; a prime, so that blocks that changed places are noticed."""

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Head:
    """What a file was made from, and what it must be: rows, numbers of its own, bytes and checksum of its body."""

    token: str
    space: str
    model: str
    generation: int
    dimension: int
    count: int
    more: list[int]
    size: int
    checksum: str
    format: int = FORMAT


class DerivedFiles:
    """The derived files of one space, by name."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = store.derived
        self._space = store.identity if self._folder else ""

    @property
    def writable(self) -> bool:
        """Whether files may be written."""
        return self._folder is not None and self._store.writable

    def find(self, name: str, model: str, snapshot: Snapshot) -> tuple[Head, Path] | None:
        """Return the head and body of a file that is of this space's past, if its body has the right size."""
        if self._folder is None:
            return None
        try:
            head = _read(self._folder / f"{name}.head")
            body = self._folder / f"{name}-{head.token}"
            fits = (head.space, head.model, head.format) == (self._space, model, FORMAT)
            if fits and head.generation <= snapshot.generation and body.stat().st_size == head.size:
                return (head, body) if snapshot.derived(name) == head.token else None
        except (OSError, ValueError, TypeError):
            return None
        return None

    def write(self, name: str, result: Draft) -> Head | None:
        """Write a file; None when there is no place for it. It counts once `vouch` was called with the head."""
        if not self.writable or self._folder is None or not self._is_there():
            return None
        # The token ties head, body and space together. Of two processes that write at once one head stays; whichever
        # token the space notes last, a file whose three tokens differ is not used, and is made again later.
        token = uuid4().hex
        body, head_file = self._folder / f"{name}-{token}", self._folder / f"{name}.head"
        fresh = self._folder / f"{name}-{token}.new"
        try:
            self._folder.mkdir(exist_ok=True)
            checksum = result.fill(fresh)
            size = _sync(fresh)
            fresh.replace(body)
            parts = (token, self._space, result.model, result.generation, result.dimension, result.count, result.more)
            head = Head(*parts, size, checksum)
            fresh.write_bytes(_written(head))
            _sync(fresh)
            fresh.replace(head_file)
        except (OSError, RuntimeError):
            for left in (fresh, body):
                with suppress(OSError):
                    left.unlink(missing_ok=True)
            return None
        self._tidy(name, body)
        return head

    def _is_there(self) -> bool:
        """Whether the space still is where its folder lies: another one's files are not touched."""
        try:
            with self._store.reading():
                return True
        except InfospaceError:
            return False

    def vouch(self, name: str, head: Head) -> None:
        """Have the space note that a file is of its past."""
        with suppress(InfospaceError):
            self._store.commit([Derived(name, head.token)])

    def _tidy(self, name: str, keep: Path) -> None:
        if self._folder is not None:
            for old in self._folder.glob(f"{name}-*"):
                if old != keep:
                    with suppress(OSError):
                        old.unlink()


@dataclass(frozen=True, slots=True)
class Draft:
    """A file to be written: `fill` writes the body to a path and returns its checksum."""

    model: str
    generation: int
    dimension: int
    count: int
    more: list[int]
    fill: Callable[[Path], str]


def _written(head: Head) -> bytes:
    line = json.dumps(asdict(head), sort_keys=True).encode()
    return line + b"\n" + sha256(line).hexdigest().encode()


def _read(path: Path) -> Head:
    """Read a head; ValueError, TypeError when it is not whole."""
    line, _, checksum = path.read_bytes().partition(b"\n")
    if sha256(line).hexdigest().encode() != checksum:
        raise ValueError(path)
    value = json.loads(line)
    return Head(**{field.name: value[field.name] for field in fields(Head) if field.name in value})


def _sync(path: Path) -> int:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        return file.seek(0, os.SEEK_END)


def checksum_array(data: Any) -> str:
    """Return a checksum of an array of uint64 at the speed of memory: sums in lanes, of which SHA-256.

    Every changed bit changes a sum. For damage, not for malice.
    """
    import numpy as np

    whole = len(data) // LANES * LANES
    sums = np.add.reduce(data[:whole].reshape(-1, LANES), axis=0)
    return sha256(sums.tobytes() + data[whole:].tobytes() + str(len(data)).encode()).hexdigest()


def digest(path: Path) -> str:
    """Return a checksum of a file."""
    result = blake2b(digest_size=32)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            result.update(block)
    return result.hexdigest()
