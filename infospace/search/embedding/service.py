"""The space's embedding: which model, what is still to be embedded, and doing it."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from infospace.core.errors import Invalid
from infospace.search.embedding.backfill import ActiveModel, Deadline, EmbeddingBackfill, ScaledProgress
from infospace.store.changes import Query, Vectors
from infospace.store.note_fields import text_digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.core.listener import Listener
    from infospace.search.models.find import ModelInfo
    from infospace.store.protocol import Store

SECONDS = 10.0
"""How long a search embeds what is pending, unless INFOSPACE_EMBED_SECONDS says otherwise."""

TEXTS_PER_COMMIT = 128
"""Whole texts embedded between two commits: a few seconds' work at most."""


class Passages(NamedTuple):
    """Passages of some texts: whose (its place among the texts), from where to where, and their vectors, (n, d)."""

    owners: NDArray[np.int64]
    bounds: list[tuple[int, int]]
    vectors: NDArray[np.float32]


def seconds_in_search() -> float:
    """Return INFOSPACE_EMBED_SECONDS, 10 by default; `inf` is no bound, and with 0 a search embeds nothing.

    With any more, it embeds some 20,000 characters at least, so that search after search all gets done. Raises
    Invalid when it is something else.
    """
    result = os.environ.get("INFOSPACE_EMBED_SECONDS")
    if not result:
        return SECONDS
    try:
        seconds = float(result)
    except ValueError:
        seconds = -1.0
    if math.isnan(seconds) or seconds < 0:
        raise Invalid(f"INFOSPACE_EMBED_SECONDS is {result!r}", hint="a number from 0, or inf")
    return seconds


class Embedding:
    """Embeds Notes of one store with the model it uses. What was embedded once is never embedded again.

    `clock` gives seconds, and only ever more of them.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._taken: ActiveModel | None = None
        self._lock = threading.RLock()

    @property
    def info(self) -> ModelInfo:
        """Which weights are used; raises ModelError that says how to get them when there are none."""
        return self._current().info

    @property
    def key(self) -> str:
        """The key of this model's vectors: model, file and passage policy."""
        return self._current().key

    def _current(self) -> ActiveModel:
        """What was taken up last: model, key and embedder always belong together, whichever thread asks."""
        with self._lock:
            if self._taken is None:
                from infospace.search.embedding.embedder import Embedder
                from infospace.search.embedding.passages import POLICY
                from infospace.search.models.custom import model_of

                with self._store.reading() as snapshot:
                    chosen = snapshot.chosen()
                info = model_of(chosen)
                self._taken = ActiveModel(info, f"{info.key}/{POLICY}", Embedder(info), chosen)
            return self._taken

    @property
    def remembers(self) -> bool:
        """Whether what is embedded is kept."""
        return self._store.writable

    def follow(self) -> None:
        """Take up the model that the space has chosen, should another process have changed that."""
        with self._store.reading() as snapshot:
            chosen = snapshot.chosen()
        with self._lock:
            if self._taken is not None and self._taken.chosen != chosen:
                self._taken = None

    def _used(self) -> ActiveModel:
        self.follow()
        return self._current()

    def query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query, float32 of shape (dimension,)."""
        return self._current().embedder.embed_query(text)

    def unkept(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of some texts as of queries, (texts, dimension), which nobody will ask for again."""
        return self._current().embedder.embed_queries(texts)

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of some queries, float32 of shape (n, dimension); those that are remembered, as they were.

        The others are remembered from now on.
        """
        return self.some_queries(texts, len(texts))[0]

    def some_queries(self, texts: Sequence[str], most: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the vectors of some queries, and which of them there are.

        Of those that are not remembered so many are embedded, the first, and remembered; the others are 0.
        """
        import numpy as np

        used = self._current()
        digests = [text_digest(text) for text in texts]
        with self._store.reading() as snapshot:
            known = {digest: row for digest in digests if (row := snapshot.query(used.key, digest)) is not None}
        waiting = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        fresh = dict(islice(waiting.items(), most))
        if fresh:
            rows = used.embedder.embed_queries(list(fresh.values()))
            known |= dict(zip(fresh, rows, strict=True))
            if self._store.writable:
                self._store.commit([Query(used.key, digest, known[digest]) for digest in fresh])
        there = np.array([digest in known for digest in digests], bool)
        vectors = np.zeros((len(texts), used.info.dimension), np.float32)
        for at in np.flatnonzero(there).tolist():
            vectors[at] = known[digests[at]]
        return vectors, there

    def embed_whole_texts(
        self, policy: str, texts: Sequence[str], listener: Listener, seconds: float | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the vectors of whole texts, each cut off where the model's window ends, and which of them there are.

        They are kept under a key of their own, by `policy`: what was embedded once is not embedded again, and no
        purge of Notes' vectors takes them. After `seconds`, None for no bound, the rest has to wait, and is 0; a
        bound of 0 embeds nothing, any other at least one batch.
        """
        import numpy as np

        used = self._current()
        key = f"{used.info.key}/{policy}"
        digests = [text_digest(text) for text in texts]
        with self._store.reading() as snapshot:
            known = snapshot.vectors(key, list(dict.fromkeys(digests)))
        fresh = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        waiting = list(fresh)
        bound = Deadline(seconds, self._clock)
        over = bound.is_nothing
        while waiting and not over:
            some, waiting = waiting[:TEXTS_PER_COMMIT], waiting[TEXTS_PER_COMMIT:]
            rows = used.embedder.embed([fresh[digest] for digest in some])
            if self._store.writable:
                self._store.commit([Vectors(key, some, rows)])
            known |= dict(zip(some, rows, strict=True))
            listener.progress(len(fresh) - len(waiting), len(fresh), "embedding")
            over = bound.is_over()
        there = np.array([digest in known for digest in digests], bool)
        vectors = np.zeros((len(texts), used.info.dimension), np.float32)
        for at in np.flatnonzero(there).tolist():
            vectors[at] = known[digests[at]]
        return vectors, there

    def catch_up(self, listener: Listener, seconds: float | None = None, first: Sequence[int] = ()) -> int:
        """Embed what is pending; return how many passages were embedded. A space nobody can write to is left.

        After `seconds`, None for no bound, it ends with the stretch of text that it is at; 0 embeds nothing. Notes by
        the numbers in `first` come before others, but for those that are very long. When another process gives the
        space another model meanwhile, it goes on with that one.
        """
        if not self._store.writable:
            return 0
        return EmbeddingBackfill(self._store, self._used, listener, Deadline(seconds, self._clock), first).run()

    def passages(self, texts: Sequence[str], listener: Listener) -> Passages:
        """Return the passages of any texts with their vectors; what was embedded once is not embedded again."""
        import numpy as np

        used = self._current()
        cut, results = used.cut(texts)
        with self._store.reading() as snapshot:
            known = snapshot.vectors(used.key, list(results))
        fresh = [digest for digest in results if digest not in known]
        if fresh:
            rows = used.embedder.embed([results[digest] for digest in fresh], ScaledProgress(listener, 0, len(fresh)))
            if self._store.writable:
                self._store.commit([Vectors(used.key, fresh, rows)])
            known |= dict(zip(fresh, rows, strict=True))
        owners = np.repeat(np.arange(len(texts)), [len(own) for own in cut])
        stretches = [stretch for own in cut for stretch in own]
        vectors = np.empty((len(stretches), used.info.dimension), np.float32)
        for at, stretch in enumerate(stretches):
            vectors[at] = known[stretch.digest]
        return Passages(owners, [(stretch.start, stretch.end) for stretch in stretches], vectors)
