"""Embedding what is pending, a stretch of text at a time, so that it can end at any moment and go on later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from infospace.memory.changes import Change, Embed, Stretch, Vectors

if TYPE_CHECKING:
    from infospace.memory.store import Chosen, Store, Text
    from infospace.search.embedder import Embedder
    from infospace.search.model import ModelInfo
    from infospace.view import Listener

BATCH_CHARACTERS = 400_000
"""Text embedded between two commits: a few seconds' work, so that an interruption loses little."""

BOUND_CHARACTERS = 20_000
"""The same where time is bounded, since the clock is looked at in between: about a second's work on two cores."""

PAGE = 2_000
"""Notes read at a time."""


def digest_of(text: str) -> bytes:
    """Return the SHA-256 of a text's UTF-8; of lone surrogates too, which have no proper one."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


class Used(NamedTuple):
    """The model that a space uses, as one piece of work takes it up."""

    info: ModelInfo
    key: str
    embedder: Embedder
    chosen: Chosen | None

    def cut(self, texts: Iterable[str]) -> tuple[list[list[Stretch]], dict[bytes, str]]:
        """Return the stretches of each text, and what stands in them by its digest."""
        from infospace.search.passages import split

        cut: list[list[Stretch]] = []
        found: dict[bytes, str] = {}
        for text in texts:
            own = []
            for passage in split(text, self.embedder.offsets, self.info.max_tokens):
                stretch = text[passage.start : passage.end]
                digest = digest_of(stretch)
                found[digest] = stretch
                own.append(Stretch(passage.start, passage.end, digest))
            cut.append(own)
        return cut, found


class Bound:
    """So many seconds from now by a clock; None is no bound."""

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self.is_nothing = seconds == 0
        self.characters = BATCH_CHARACTERS if seconds is None else BOUND_CHARACTERS

    def is_over(self) -> bool:
        """Whether the time has come."""
        return self._end is not None and self._clock() >= self._end


class CatchingUp:
    """Embeds the Notes that are pending when it begins. `used` says at any time which model the space uses."""

    def __init__(self, store: Store, used: Callable[[], Used], listener: Listener, bound: Bound) -> None:
        self._store = store
        self._used = used
        self._listener = listener
        self._bound = bound
        self._embedded = 0
        self._done = 0
        self._left = 0

    def run(self) -> int:
        """Do it; return how many passages were embedded."""
        used = self._begin()
        over = self._bound.is_nothing
        while self._left > 0 and not over:
            with self._store.reading() as snapshot:
                texts = snapshot.pending(limit=PAGE)
            if not texts:
                break
            for batch in _batches(texts, self._bound.characters):
                over = not self._embed(used, batch)
                if over:
                    break
                self._done += len(batch)
                self._left -= len(batch)
                if self._used().chosen != used.chosen:
                    used = self._begin()
                    break
        return self._embedded

    def _begin(self) -> Used:
        """Have the space need the vectors of its model, and count what is pending then."""
        used = self._used()
        with self._store.reading() as snapshot:
            needed, self._left = snapshot.model(), snapshot.pending_count()
        if needed != used.key:
            self._store.use_model(used.key, used.chosen)
            with self._store.reading() as snapshot:
                self._left = snapshot.pending_count()
        return used

    def _embed(self, used: Used, texts: Sequence[Text]) -> bool:
        """Embed a batch, or as much of it as there is time for; say whether there is time for more.

        A Note's passages are written when all of them have vectors; vectors that were made stay.
        """
        stretches, found = used.cut(text.text for text in texts)
        with self._store.reading() as snapshot:
            known = snapshot.known_vectors(used.key, list(found))
        fresh = {digest: text for digest, text in found.items() if digest not in known}
        passages: list[Change] = [Embed(text.id, text.version, own) for text, own in zip(texts, stretches, strict=True)]
        total, scale = self._done + self._left, len(texts) / max(1, len(fresh))
        ready = 0
        for digests in _slices(fresh, self._bound.characters):
            progress = Share(self._listener, self._done + ready * scale, total, scale)
            rows = used.embedder.embed([fresh[digest] for digest in digests], progress)
            ready += len(digests)
            vectors = Vectors(used.key, digests, rows)
            self._store.commit([vectors, *passages] if ready == len(fresh) else [vectors])
            self._embedded += len(digests)
            if self._bound.is_over():
                return False
        if not fresh:
            self._store.commit(passages)
        Share(self._listener, self._done, total)(len(texts))
        return bool(fresh) or not self._bound.is_over()


def _batches(texts: Sequence[Text], characters: int) -> Iterator[list[Text]]:
    batch: list[Text] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text.text)
        if size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _slices(found: Mapping[bytes, str], characters: int) -> Iterator[list[bytes]]:
    digests: list[bytes] = []
    size = 0
    for digest, text in found.items():
        digests.append(digest)
        size += len(text)
        if size >= characters:
            yield digests
            digests, size = [], 0
    if digests:
        yield digests


class Share:
    """Reports the progress of a part as part of the whole; one thing done of the part is `scale` of the whole's."""

    def __init__(self, listener: Listener, before: float, total: int, scale: float = 1) -> None:
        self._listener = listener
        self._before = before
        self._total = total
        self._scale = scale

    def __call__(self, done: int) -> None:
        """Take how much of the part is done."""
        self._listener.progress(int(self._before + done * self._scale), self._total, "embedding")
