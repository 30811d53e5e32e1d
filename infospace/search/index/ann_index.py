"""When hnswlib answers instead of the matrix, and how its index comes to be and keeps up.

Building takes a thread of its own, and so does reading a file back; until it is there, search is exact. It is
begun at the second search, so that a process for one search does nothing in vain. The setting `hnsw`
(INFOSPACE_INDEX) waits for it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np

from infospace.core.errors import Invalid
from infospace.search.index.derived_files import DerivedFiles, Draft, Head, digest
from infospace.search.index.hnsw import PROBES, Hnsw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.search.index.vector_matrix import Matrix
    from infospace.store.protocol import Snapshot

Setting: TypeAlias = Literal["auto", "exact", "hnsw"]

find_spec = PathFinder.find_spec
"""That of `importlib.util` raises ValueError for a module that another thread is just importing, as ours does."""

NAME = "hnsw"

CROSSOVER = 50_000
"""Passages from which the index is used: exact search then takes about as long as a query's embedding, 6 ms."""

MAX_INSERTED_BY_SEARCH = 100
"""Passages that a search puts into the index itself, at about 0.4 ms each; more of them wait for a thread."""

ROUNDS = 3
"""Steps to an index: read back, found too old and built anew, brought up to date."""

REBUILD_FRACTION = 4
"""The index is built anew when one in so many of its passages is out of date."""


class BuildResult(NamedTuple):
    """What a thread came back with: an index, or of how many passages none was fit; the head of a new file."""

    found: Hnsw | None = None
    head: Head | None = None
    unfit: int = 0


def setting() -> Setting:
    """Return INFOSPACE_INDEX, `auto` by default; Invalid when it is something else."""
    result = os.environ.get("INFOSPACE_INDEX") or "auto"
    if result not in get_args(Setting):
        raise Invalid(f"INFOSPACE_INDEX is {result!r}", hint="auto, exact or hnsw")
    return cast("Setting", result)


class Index:
    """The index of one space, for the thread that holds the search's lock."""

    def __init__(self, shelf: DerivedFiles) -> None:
        self._shelf = shelf
        self._model = ""
        self._found: Hnsw | None = None
        self._thread: threading.Thread | None = None
        self._made = BuildResult()
        self._asked = False
        self._size = 0
        self._unfit = 0

    def ready(self, matrix: Matrix, snapshot: Snapshot) -> Hnsw | None:
        """Return the index at the matrix's generation; None where search is to be exact."""
        how = setting()
        size = len(matrix.owners)
        if how == "exact" or not size or (how == "auto" and size < CROSSOVER) or find_spec("hnswlib") is None:
            return None
        if how == "auto" and not self._asked:
            self._asked = True
            return None
        if self._thread is not None:
            if how == "auto" and self._thread.is_alive():
                return None
            self._adopt_build(self._thread)
        if matrix.model != self._model:
            self._found, self._model, self._unfit = None, matrix.model, 0
        for _ in range(ROUNDS):
            if (self._found is not None and self._found.generation == matrix.generation) or size <= 2 * self._unfit:
                break
            task = self._next(matrix, snapshot, at_once=how == "hnsw")
            if task is None:
                continue
            self._size = size
            thread = self._start(task)
            if how == "auto":
                return None
            self._adopt_build(thread)
        return self._found if self._found is not None and self._found.generation == matrix.generation else None

    def _next(self, matrix: Matrix, snapshot: Snapshot, *, at_once: bool) -> Callable[[], BuildResult] | None:
        """Come nearer to the matrix, or return what a thread is to do for that."""
        index, rows = self._found, _Rows.of(matrix, snapshot.queries(matrix.model, PROBES))
        if index is None:
            results = self._shelf.find(NAME, matrix.model, snapshot)
            results = results if results and _serves(results[0], matrix) else None
            return lambda: (results and loaded(*results)) or self._built(rows)
        moved = snapshot.moved(index.generation)
        if not moved.complete or (index.dead + len(moved.touched)) * REBUILD_FRACTION > index.live:
            self._found = None
            return lambda: self._built(rows)
        touched = np.array(sorted(moved.touched), np.int64)
        which = np.flatnonzero(np.isin(rows.owners, touched))
        some = (touched.tolist(), rows.owners[which], rows.vectors[which], matrix.generation)
        if at_once or len(which) <= MAX_INSERTED_BY_SEARCH:
            index.change(*some)
            return None
        return lambda: _changed(index, *some)

    def _start(self, task: Callable[[], BuildResult]) -> threading.Thread:
        # The thread writes `_made` alone, and `_made` is read after the thread was joined. It reads arrays that nobody
        # writes to, and it may change an index in place: `ready` gives none away while the thread lives.
        def run() -> None:
            self._made = BuildResult()
            self._made = task()

        self._thread = threading.Thread(target=run, name="infospace-index")
        self._thread.start()
        return self._thread

    def _adopt_build(self, thread: threading.Thread) -> None:
        """Take over what the thread made, when it is done."""
        thread.join()
        self._thread = None
        self._found = self._made.found
        self._unfit = 0 if self._found is not None else self._made.unfit or self._size
        if self._made.head is not None:
            self._shelf.vouch(NAME, self._made.head)

    def _built(self, rows: _Rows) -> BuildResult:
        main = threading.main_thread()
        index = Hnsw.built(rows.owners, rows.vectors, rows.generation, main.is_alive, rows.asked)
        if index is None and not main.is_alive():
            return BuildResult()
        return BuildResult(index, self._saved(index, rows), 0 if index else len(rows.owners))

    def _saved(self, index: Hnsw | None, rows: _Rows) -> Head | None:
        """Write an index, or an empty file that says that none was fit: so it is not tried at each start."""

        def fill(path: Path) -> str:
            if index is None:
                path.write_bytes(b"")
            else:
                index.save(path)
            return digest(path)

        size = rows.vectors.shape
        more = [0, 0] if index is None else [index.ef, index.dead]
        draft = Draft(rows.model, rows.generation, size[1], size[0], more, fill)
        return self._shelf.write(NAME, draft)


class _Rows(NamedTuple):
    """A matrix as it was: its arrays are never written to."""

    model: str
    generation: int
    owners: NDArray[np.int64]
    vectors: NDArray[np.float32]
    asked: NDArray[np.float32]

    @classmethod
    def of(cls, matrix: Matrix, queries: NDArray[np.float32]) -> _Rows:
        return cls(matrix.model, matrix.generation, matrix.owners, matrix.vectors, queries)


def _serves(head: Head, matrix: Matrix) -> bool:
    """Whether a file is of vectors like the matrix's, and, if it says that no index was fit, of as many."""
    unfit = not any(head.more)
    return head.dimension == matrix.vectors.shape[1] and not (unfit and len(matrix.owners) > 2 * head.count)


def loaded(head: Head, body: Path) -> BuildResult | None:
    """Read an index back; None when its file is not whole. hnswlib itself crashes on damaged files."""
    try:
        if digest(body) != head.checksum:
            return None
        ef, dead = head.more
        if not ef:
            return BuildResult(unfit=head.count)
        return BuildResult(Hnsw.loaded(body, head.dimension, head.generation, ef, dead))
    except (OSError, RuntimeError, ValueError):
        return None


def _changed(
    index: Hnsw, touched: list[int], owners: NDArray[np.int64], vectors: NDArray[np.float32], generation: int
) -> BuildResult:
    index.change(touched, owners, vectors, generation)
    return BuildResult(index)
