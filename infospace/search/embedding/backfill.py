"""Embedding what is pending, a stretch of text at a time, so that it can end at any moment and go on later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from infospace.core.ids import number_of
from infospace.store.changes import Change, Embed, PassageSpan, Vectors
from infospace.store.note_fields import text_digest

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.search.embedding.embedder import Embedder
    from infospace.search.models.find import ModelInfo
    from infospace.store.note_fields import Field
    from infospace.store.protocol import Chosen, Store, Text

BATCH_CHARACTERS = 100_000
"""Text whose Notes are found from then on: about five seconds' work on two cores, so that what is wanted first soon is.

Texts are sorted by length within it: padding is 1.1 % of the tokens of abstracts and 2.3 % of those of mixed lengths,
and .1 and .2 % if all of 1,400 were sorted together.
"""

FIRST_CHARACTERS = 4_000
"""The same of the first batch where there is no bound; each that follows has twice as much, up to the whole.

What is wanted first is found after a fraction of a second's work, also on a machine that does other things besides:
with a whole batch at first, none of 2,000 abstracts was found after 20 s where 3.4 passages a second were embedded.
"""

BOUND_CHARACTERS = 20_000
"""The same where time is bounded, since the clock is looked at in between: about a second's work on two cores."""

SLICE_CHARACTERS = 100_000
"""Text whose vectors are written together, also of one long Note: a second or two of work."""

LONG = 400_000
"""A text of so many characters comes after all that are shorter."""

PAGE = 2_000
"""Notes read at a time, at most."""

PAGE_CHARACTERS = 20_000_000
"""Text read at a time, but for that of a single Note."""

PASSAGE_CHARACTERS = 800
"""About so much text has a passage, as long as nothing better is known."""


class ActiveModel(NamedTuple):
    """The model that a space uses, as one piece of work takes it up."""

    info: ModelInfo
    key: str
    embedder: Embedder
    chosen: Chosen | None

    def cut(
        self, texts: Iterable[str], progress: Callable[[int], None] | None = None
    ) -> tuple[list[list[PassageSpan]], dict[bytes, str]]:
        """Return the stretches of each text, and what stands in them by its digest.

        `progress` is told how many characters are done.
        """
        from infospace.search.embedding.passages import split

        cut: list[list[PassageSpan]] = []
        results: dict[bytes, str] = {}
        done = 0

        def offsets(piece: str) -> list[tuple[int, int]]:
            nonlocal done
            done += len(piece)
            if progress is not None:
                progress(done)
            return self.embedder.offsets(piece)

        for text in texts:
            own = []
            for passage in split(text, offsets, self.info.max_tokens):
                stretch = text[passage.start : passage.end]
                digest = text_digest(stretch)
                results[digest] = stretch
                own.append(PassageSpan(passage.start, passage.end, digest))
            cut.append(own)
        return cut, results


class Deadline:
    """So many seconds from now by a clock; None is no bound."""

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self.is_nothing = seconds == 0
        self.is_bound = seconds is not None
        self.characters = BATCH_CHARACTERS if seconds is None else BOUND_CHARACTERS

    def is_over(self) -> bool:
        """Whether the time has come."""
        return self._end is not None and self._clock() >= self._end


class EmbeddingBackfill:
    """Embeds the Notes that are pending when it begins. `used` says at any time which model the space uses.

    Those that are long come last, so that none has to wait for them. Those that are wanted `first`, by number, come
    before the others, in this order; where time is bounded, the newest follow, since what was just made is looked for
    more often than what lay there before. Progress is told in passages: those that are
    embedded, out of those and what is left by the length of the texts.
    """

    def __init__(
        self,
        store: Store,
        used: Callable[[], ActiveModel],
        listener: Listener,
        bound: Deadline,
        first: Sequence[int] = (),
    ) -> None:
        self._store = store
        self._used = used
        self._listener = listener
        self._bound = bound
        self._first = {number: place for place, number in enumerate(first)}
        self._batch_sizes = _batch_sizes(bound)
        self._embedded = 0
        self._expected = PassageEstimate()

    def run(self) -> int:
        """Do it; return how many passages were embedded."""
        used = self._used()
        left = self._begin(used)
        over = self._bound.is_nothing
        while left and not over:
            numbers = _page(left)
            with self._store.reading() as snapshot:
                places = {number: place for place, number in enumerate(numbers)}
                texts = sorted(snapshot.pending(among=list(numbers)), key=lambda text: places[number_of(text.id)])
            for number in numbers.keys() - {number_of(text.id) for text in texts}:
                self._expected.settle(numbers[number])  # somebody else has embedded it, or it is gone
            now_used = used
            for batch in _batches(texts, self._batch_sizes):
                over = not self._embed(used, batch)
                now_used = self._used()
                if over or now_used.chosen != used.chosen:
                    break
            for number in numbers:
                del left[number]
            if not over and now_used.chosen != used.chosen:
                used = now_used
                left = self._begin(used)
        return self._embedded

    def _begin(self, used: ActiveModel) -> dict[int, int]:
        """Have the space need the vectors of its model; return the size of what is pending then, in good order."""
        with self._store.reading() as snapshot:
            needed = snapshot.model()
        if needed != used.key:
            self._store.use_model(used.key, used.chosen)
        with self._store.reading() as snapshot:
            sizes = snapshot.pending_sizes()
        self._expected.begin([size for _, size in sizes])
        return dict(sorted(sizes, key=self._turn))

    def _turn(self, waiting: tuple[int, int]) -> tuple[int, int, int]:
        """What a Note that waits, by number and size, is sorted by."""
        number, size = waiting
        return (
            size if size >= LONG else 0,
            self._first.get(number, len(self._first)),
            -number if self._bound.is_bound else number,
        )

    def _embed(self, used: ActiveModel, texts: Sequence[Text]) -> bool:
        """Embed a batch, or as much of it as there is time for; say whether there is time for more.

        A Note's passages are written when all of them have vectors; vectors that were made stay.
        """
        self._embed_fields(used, texts)
        stretches, results = self._cut(used, texts)
        with self._store.reading() as snapshot:
            known = snapshot.known_vectors(used.key, list(results))
        fresh = {digest: text for digest, text in results.items() if digest not in known}
        passages: list[Change] = [
            Embed(text.id, text.version, [*own, *map(_span_of, text.fields)])
            for text, own in zip(texts, stretches, strict=True)
        ]
        for text, own in zip(texts, stretches, strict=True):
            self._expected.settle(len(text.text), len(own))
        ready = 0
        for digests in _slices(fresh, min(self._bound.characters, SLICE_CHARACTERS)):
            progress = ScaledProgress(
                self._listener, self._embedded, self._expected.total(self._embedded, len(fresh) - ready)
            )
            rows = used.embedder.embed([fresh[digest] for digest in digests], progress)
            ready += len(digests)
            vectors = Vectors(used.key, digests, rows)
            self._store.commit([vectors, *passages] if ready == len(fresh) else [vectors])
            self._embedded += len(digests)
            if self._bound.is_over():
                return False
        if not fresh:
            self._store.commit(passages)
        self._listener.progress(self._embedded, self._expected.total(self._embedded, 0), "embedding")
        return bool(fresh) or not self._bound.is_over()

    def _embed_fields(self, used: ActiveModel, texts: Sequence[Text]) -> None:
        """Embed the titles and other fields of a batch: short texts, which are not counted among the passages."""
        results = {text_digest(field.text): field.text for text in texts for field in text.fields}
        with self._store.reading() as snapshot:
            known = snapshot.known_vectors(used.key, list(results))
        fresh = {digest: text for digest, text in results.items() if digest not in known}
        for digests in _slices(fresh, SLICE_CHARACTERS):
            rows = used.embedder.embed([fresh[digest] for digest in digests], _ignore_progress)
            self._store.commit([Vectors(used.key, digests, rows)])

    def _cut(self, used: ActiveModel, texts: Sequence[Text]) -> tuple[list[list[PassageSpan]], dict[bytes, str]]:
        """Cut texts into passages; for a long one, that alone takes seconds, so it is told how far it is."""
        size = sum(len(text.text) for text in texts)
        if size < LONG:
            return used.cut(text.text for text in texts)
        total = self._expected.total(self._embedded, 0)

        def report_progress(done: int) -> None:
            what = f"embedding; cutting {size / 1e6:.1f} million characters into passages, {done * 100 // size} %"
            self._listener.progress(self._embedded, total, what)

        return used.cut((text.text for text in texts), report_progress)


def _span_of(field: Field) -> PassageSpan:
    return PassageSpan(*field.bounds, text_digest(field.text))


def _ignore_progress(done: int) -> None:
    """Take how much is done, which is not shown."""


class PassageEstimate:
    """How many passages there will be, by the length of the texts that are left and by what the others came to."""

    def __init__(self) -> None:
        self._left = 0.0
        self._guessed = 0.0
        self._found = 0

    def begin(self, sizes: Iterable[int]) -> None:
        """Take the lengths of all that is to be embedded."""
        self._left = float(sum(map(_guess, sizes)))

    def settle(self, size: int, passages: int | None = None) -> None:
        """Take a text of so many characters off what is left, and learn from its passages."""
        guess = _guess(size)
        self._left = max(0.0, self._left - guess)
        if passages is not None:
            self._guessed += guess
            self._found += passages

    def total(self, done: int, known: int) -> int:
        """Return how many there are in all: those done, those known to be left, and those of texts not yet cut."""
        scale = self._found / self._guessed if self._guessed else 1.0
        return done + known + round(self._left * scale)


def _guess(size: int) -> float:
    return max(1.0, size / PASSAGE_CHARACTERS)


def _page(left: Mapping[int, int]) -> dict[int, int]:
    """Return the first of what is left: as many as are read at a time, or a long one."""
    page: dict[int, int] = {}
    size = 0
    for number, one in left.items():
        if page and (len(page) == PAGE or size >= PAGE_CHARACTERS or one >= LONG):
            break
        page[number] = one
        size += one
    return page


def _batch_sizes(bound: Deadline) -> Iterator[int]:
    """Give how many characters each batch has at least: where there is no bound, few at first, then ever more."""
    size = bound.characters if bound.is_bound else min(FIRST_CHARACTERS, bound.characters)
    while True:
        yield size
        size = min(2 * size, bound.characters)


def _batches(texts: Sequence[Text], sizes: Iterator[int]) -> Iterator[list[Text]]:
    """Give the texts in their order, as many at a time as reach the next of the sizes."""
    batch: list[Text] = []
    left = next(sizes)
    for text in texts:
        batch.append(text)
        left -= len(text.text)
        if left <= 0:
            yield batch
            batch, left = [], next(sizes)
    if batch:
        yield batch


def _slices(results: Mapping[bytes, str], characters: int) -> Iterator[list[bytes]]:
    digests: list[bytes] = []
    size = 0
    for digest, text in results.items():
        digests.append(digest)
        size += len(text)
        if size >= characters:
            yield digests
            digests, size = [], 0
    if digests:
        yield digests


class ScaledProgress:
    """Reports the progress of a part as part of the whole."""

    def __init__(self, listener: Listener, before: int, total: int) -> None:
        self._listener = listener
        self._before = before
        self._total = total

    def __call__(self, done: int) -> None:
        """Take how much of the part is done."""
        self._listener.progress(self._before + done, self._total, "embedding")
