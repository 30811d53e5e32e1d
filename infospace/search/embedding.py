"""The space's embedding: which model, what is still to be embedded, and doing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from infospace.errors import ModelError
from infospace.memory.changes import Change, Embed, Stretch, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.memory.store import Store, Text
    from infospace.search.embedder import Embedder
    from infospace.search.model import ModelInfo
    from infospace.view import Listener

BATCH_CHARACTERS = 400_000
"""Text embedded between two commits: a few seconds' work, so that an interruption loses little."""


class Passages(NamedTuple):
    """Passages of some texts: whose (its place among the texts), from where to where, and their vectors, (n, d)."""

    owners: NDArray[np.int64]
    bounds: list[tuple[int, int]]
    vectors: NDArray[np.float32]


class Embedding:
    """Embeds Notes of one store with one model. What was embedded once is never embedded again."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @cached_property
    def info(self) -> ModelInfo:
        """Which weights are used; raises ModelError that says how to get them when there are none."""
        from infospace.search.model import find_model

        found = find_model()
        if found is None:
            raise ModelError(
                "there are no embedding weights on this machine, so nothing can be searched by meaning",
                hint="`infospace model get` fetches them; or INFOSPACE_MODEL_DIR names a folder that has them",
            )
        return found

    @cached_property
    def key(self) -> str:
        """The key of this model's vectors: model, file and passage policy."""
        from infospace.search.passages import POLICY

        return f"{self.info.key}/{POLICY}"

    @cached_property
    def _embedder(self) -> Embedder:
        from infospace.search.embedder import Embedder

        return Embedder(self.info)

    def query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query, float32 of shape (dimension,)."""
        return self._embedder.embed_query(text)

    def catch_up(self, listener: Listener) -> int:
        """Embed every pending Note; return how many passages were embedded. A space nobody can write to is left."""
        if not self._store.writable:
            return 0
        with self._store.reading() as snapshot:
            total, model = snapshot.pending_count(), snapshot.model()
        if model != self.key:
            self._store.use_model(self.key)
            with self._store.reading() as snapshot:
                total = snapshot.pending_count()
        done = embedded = 0
        while done < total:
            with self._store.reading() as snapshot:
                texts = snapshot.pending(limit=2_000)
            if not texts:
                break
            for batch in _batches(texts):
                embedded += self._embed(batch, _Share(listener, done, total))
                done += len(batch)
        return embedded

    def passages(self, texts: Sequence[str], listener: Listener) -> Passages:
        """Return the passages of any texts with their vectors; what was embedded once is not embedded again."""
        import numpy as np

        cut, found = self._cut(texts)
        with self._store.reading() as snapshot:
            known = snapshot.vectors(self.key, list(found))
        fresh = [digest for digest in found if digest not in known]
        if fresh:
            rows = self._embedder.embed([found[digest] for digest in fresh], _Share(listener, 0, len(fresh)))
            if self._store.writable:
                self._store.commit([Vectors(self.key, fresh, rows)])
            known |= dict(zip(fresh, rows, strict=True))
        owners = np.repeat(np.arange(len(texts)), [len(own) for own in cut])
        stretches = [stretch for own in cut for stretch in own]
        vectors = np.empty((len(stretches), self.info.dimension), np.float32)
        for at, stretch in enumerate(stretches):
            vectors[at] = known[stretch.digest]
        return Passages(owners, [(stretch.start, stretch.end) for stretch in stretches], vectors)

    def _cut(self, texts: Iterable[str]) -> tuple[list[list[Stretch]], dict[bytes, str]]:
        """The stretches of each text, and what stands in them by its digest."""
        from infospace.search.passages import split

        cut: list[list[Stretch]] = []
        found: dict[bytes, str] = {}
        for text in texts:
            own = []
            for passage in split(text, self._embedder.offsets, self.info.max_tokens):
                stretch = text[passage.start : passage.end]
                digest = sha256(stretch.encode()).digest()
                found[digest] = stretch
                own.append(Stretch(passage.start, passage.end, digest))
            cut.append(own)
        return cut, found

    def _embed(self, texts: Sequence[Text], progress: Callable[[int], None]) -> int:
        stretches, found = self._cut(text.text for text in texts)
        with self._store.reading() as snapshot:
            known = snapshot.known_vectors(self.key, list(found))
        fresh = [digest for digest in found if digest not in known]
        changes: list[Change] = []
        if fresh:
            share = len(texts) / len(fresh)
            rows = self._embedder.embed([found[digest] for digest in fresh], lambda at: progress(int(at * share)))
            changes.append(Vectors(self.key, fresh, rows))
        changes += [Embed(text.id, text.version, own) for text, own in zip(texts, stretches, strict=True)]
        self._store.commit(changes)
        progress(len(texts))
        return len(fresh)


def _batches(texts: Sequence[Text]) -> Iterator[list[Text]]:
    batch: list[Text] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text.text)
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Share:
    """Reports one batch's progress as part of the whole."""

    def __init__(self, listener: Listener, before: int, total: int) -> None:
        self._listener = listener
        self._before = before
        self._total = total

    def __call__(self, done: int) -> None:
        self._listener.progress(self._before + done, self._total, "embedding")
