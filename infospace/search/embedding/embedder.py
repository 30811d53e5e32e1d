"""Texts to vectors: batches of like length, run by fastembed.

The released weights have a second runner, `Direct`. Importing fastembed takes half a second, because it
imports its image, sparse and late-interaction models and a downloader with it, and there is no way round
that within fastembed; a command that embeds one query would spend most of its time there. `Direct` does
for these weights what fastembed does (same files, same pooling) with onnxruntime and tokenizers, which
fastembed itself stands on. It serves queries, and work that is over before fastembed would be imported;
everything else, and every other model, goes through fastembed.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infospace.core.errors import ModelError
from infospace.search.embedding.runtimes import Direct, FastEmbed, Runner, tokenizer_of
from infospace.search.models.find import DEFAULT_KEY, ModelInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

TOKENS_PER_BATCH = 512
"""Padded tokens of one batch. Measured: from 256 to 768 a token costs the same, at 1,024 a twentieth more,
at 2,048 a fifth more, where what passes between the layers outgrows the caches."""

DIRECT_TOKENS = 4096
"""Tokens that `Direct` takes at most: a quarter of a second's work, half of fastembed's import."""

TEXTS_PER_LOOK = 2048
"""Texts tokenised at a time to learn their lengths; bounds the memory for them."""

LOOK_CHARACTERS = 16_000
"""Text looked at first for the tokens of a window; all of it when that much has not enough of them."""

WORD_TOKENS = 100
"""WordPiece gives a word of more than 100 characters one token, any other at most one a character."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Embedder:
    """Vectors of texts by one model; loads it when first needed, once in a process, safe between threads.

    A text beyond the window counts with its first `max_tokens` tokens. An empty text has the vector of no
    words. Lone surrogates, NUL and other control characters are as if they were not there. All methods
    raise ModelError when the `search` extra is missing or the model cannot be loaded or run.
    """

    def __init__(self, model: ModelInfo) -> None:
        self.model = model

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Return the vectors, float32 of shape (len(texts), dimension), each of length 1, in the given order.

        `progress` is told after each batch how many texts are done.
        """
        import numpy as np

        loaded = _loaded(self.model)
        rows = np.empty((len(texts), self.model.dimension), dtype=np.float32)
        windows = [loaded.window(text) for text in texts]
        lengths = loaded.lengths(windows)
        batches = _batches(lengths)
        runner = loaded.for_texts(sum(lengths))
        done = 0
        with closing(runner.each([[windows[at] for at in batch] for batch in batches])) as results:
            for batch, vectors in zip(batches, results, strict=True):
                rows[batch] = self._of_size(vectors)
                done += len(batch)
                if progress is not None:
                    progress(done)
        return rows

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of one text, float32 of shape (dimension,)."""
        loaded = _loaded(self.model)
        return self._of_size(loaded.for_query().query(loaded.window(text)))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of some texts as of queries, float32 of shape (len(texts), dimension)."""
        import numpy as np

        loaded = _loaded(self.model)
        runner = loaded.for_query()
        windows = [loaded.window(text) for text in texts]
        rows = np.empty((len(texts), self.model.dimension), dtype=np.float32)
        if self.model.key != DEFAULT_KEY:
            for at, window in enumerate(windows):
                rows[at] = self._of_size(runner.query(window))
            return rows
        batches = _alike(loaded.lengths(windows))
        with closing(runner.each([[windows[at] for at in batch] for batch in batches])) as results:
            for batch, vectors in zip(batches, results, strict=True):
                rows[batch] = self._of_size(vectors)
        return rows

    def _of_size(self, vectors: Vectors) -> Vectors:
        if vectors.shape[-1] != self.model.dimension:
            raise ModelError(
                f"the model in {str(self.model.folder)!r} gives vectors of {vectors.shape[-1]} numbers, "
                f"and says that it gives {self.model.dimension}",
                hint="hidden_size in config.json should be the first number",
            )
        return vectors

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return start and end of every token in all of the text, in characters, without the special ones."""
        encoding = _loaded(self.model).untruncated_tokenizer.encode(_clean(text), add_special_tokens=False)
        offsets: list[tuple[int, int]] = encoding.offsets
        return offsets if self.model.key == DEFAULT_KEY else _trimmed(text, offsets)


def _trimmed(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Take the blanks before a word from its token, where a tokenizer counts them to it; drop empty tokens."""
    places = []
    for start, end in offsets:
        begin = start
        while begin < end and text[begin].isspace():
            begin += 1
        if begin < end:
            places.append((begin, end))
    return places


def _clean(text: str) -> str:
    """Character for character what the tokenizer can read: no lone surrogates."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Give the places of the texts, longest first, in batches within the budget of padded tokens."""
    batches: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= TOKENS_PER_BATCH:
            batches[-1].append(at)
        else:
            batches.append([at])
    return batches


def _alike(lengths: Sequence[int]) -> list[list[int]]:
    """Give the places of a few texts, longest first, in batches of which little is padding."""
    batches: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batches and 2 * lengths[at] > lengths[batches[-1][0]]:
            batches[-1].append(at)
        else:
            batches.append([at])
    return batches


class _Loaded:
    """What one model needs in this process; each part is made when first asked for."""

    def __init__(self, model: ModelInfo) -> None:
        self._model = model
        self._lock = threading.RLock()
        self._whole: Any = None
        self._cut: Any = None
        self._direct: Runner | None = None
        self._fastembed: Runner | None = None

    @property
    def untruncated_tokenizer(self) -> Any:
        """The tokenizer without limit."""
        with self._lock:
            if self._whole is None:
                self._whole = tokenizer_of(self._model)
            return self._whole

    @property
    def cut(self) -> Any:
        """The tokenizer that stops at the window."""
        with self._lock:
            if self._cut is None:
                tokenizer = tokenizer_of(self._model)
                tokenizer.enable_truncation(self._model.max_tokens)
                self._cut = tokenizer
            return self._cut

    def for_query(self) -> Runner:
        """Return the runner that has one text's vector soonest."""
        with self._lock:
            if self._model.key != DEFAULT_KEY:
                return self.for_texts(0)
            self._direct = self._direct or Direct(self._model, self.cut)
            return self._direct

    def for_texts(self, tokens: int) -> Runner:
        """Return the runner for texts of so many tokens: fastembed, unless its import would take longer."""
        with self._lock:
            if self._fastembed is None and self._model.key == DEFAULT_KEY and tokens <= DIRECT_TOKENS:
                return self.for_query()
            self._fastembed = self._fastembed or FastEmbed(self._model)
            return self._fastembed

    def lengths(self, windows: Sequence[str]) -> list[int]:
        """Count the tokens of each text that the model sees, special ones included."""
        counts: list[int] = []
        for at in range(0, len(windows), TEXTS_PER_LOOK):
            some = list(windows[at : at + TEXTS_PER_LOOK])
            counts += [len(encoding) for encoding in self.cut.encode_batch_fast(some)]
        return counts

    def window(self, text: str) -> str:
        """Return the text, or of a very long one a beginning that has the same first `max_tokens` tokens."""
        if len(text) > LOOK_CHARACTERS:
            start = _clean(text[:LOOK_CHARACTERS])
            if len(self.untruncated_tokenizer.encode(start)) >= self._model.max_tokens + WORD_TOKENS:
                return start
        return _clean(text)


_LOADED: dict[tuple[Path, str], _Loaded] = {}
_LOADED_LOCK = threading.Lock()


def _loaded(model: ModelInfo) -> _Loaded:
    with _LOADED_LOCK:
        return _LOADED.setdefault((model.folder, model.key), _Loaded(model))
