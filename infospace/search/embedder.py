"""Texts to vectors: batches of like length, run by fastembed.

The released weights have a second runner, `_Direct`. Importing fastembed takes half a second, because it
imports its image, sparse and late-interaction models and a downloader with it, and there is no way round
that within fastembed; a command that embeds one query would spend most of its time there. `_Direct` does
for these weights what fastembed does (same files, same pooling) with onnxruntime and tokenizers, which
fastembed itself stands on. It serves queries, and work that is over before fastembed would be imported;
everything else, and every other model, goes through fastembed.
"""

from __future__ import annotations

import math
import os
import re
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from infospace.errors import ModelError
from infospace.search.model import DEFAULT_KEY, ModelInfo, cache_folder
from infospace.search.onnxgraph import GRAPH_FILE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

TOKENS_PER_BATCH = 512
"""Padded tokens of one batch. Measured: from 256 to 768 a token costs the same, at 1,024 a twentieth more,
at 2,048 a fifth more, where what passes between the layers outgrows the caches."""

DIRECT_TOKENS = 4096
"""Tokens that `_Direct` takes at most: a quarter of a second's work, half of fastembed's import."""

TEXTS_PER_LOOK = 2048
"""Texts tokenised at a time to learn their lengths; bounds the memory for them."""

MAX_THREADS = 8
"""Batches of this size do not keep more cores busy; INFOSPACE_THREADS goes beyond."""

LOOK_CHARACTERS = 16_000
"""Text looked at first for the tokens of a window; all of it when that much has not enough of them."""

WORD_TOKENS = 100
"""WordPiece gives a word of more than 100 characters one token, any other at most one a character."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class _Runner(Protocol):
    def vectors(self, texts: list[str]) -> Vectors:
        """Return the vectors of one batch."""

    def each(self, batches: list[list[str]]) -> Generator[Vectors, None, None]:
        """Give the vectors of each batch in order; what is not asked for any more is not computed."""


class Embedder:
    """Vectors of texts by one model; loads it when first needed, once in a process, safe between threads.

    A text beyond the window counts with its first `max_tokens` tokens. An empty text has the vector of no
    words. Lone surrogates, NUL and other control characters are as if they were not there. All methods
    raise ModelError when the `search` extra is missing or the model cannot be loaded.
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
                rows[batch] = vectors
                done += len(batch)
                if progress is not None:
                    progress(done)
        return rows

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of one text, float32 of shape (dimension,)."""
        loaded = _loaded(self.model)
        row: Vectors = loaded.for_query().vectors([loaded.window(text)])[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in all of the text, without the two special ones."""
        return len(_loaded(self.model).whole.encode(_clean(text), add_special_tokens=False))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return start and end of every token in all of the text, in characters, without the special ones."""
        encoding = _loaded(self.model).whole.encode(_clean(text), add_special_tokens=False)
        offsets: list[tuple[int, int]] = encoding.offsets
        return offsets


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


class _Loaded:
    """What one model needs in this process; each part is made when first asked for."""

    def __init__(self, model: ModelInfo) -> None:
        self._model = model
        self._lock = threading.RLock()
        self._whole: Any = None
        self._cut: Any = None
        self._direct: _Runner | None = None
        self._fastembed: _Runner | None = None

    @property
    def whole(self) -> Any:
        """The tokenizer without limit."""
        with self._lock:
            if self._whole is None:
                self._whole = _tokenizer(self._model.folder)
            return self._whole

    @property
    def cut(self) -> Any:
        """The tokenizer that stops at the window."""
        with self._lock:
            if self._cut is None:
                tokenizer = _tokenizer(self._model.folder)
                tokenizer.enable_truncation(self._model.max_tokens)
                self._cut = tokenizer
            return self._cut

    def for_query(self) -> _Runner:
        """Return the runner that has one text's vector soonest."""
        with self._lock:
            if self._model.key != DEFAULT_KEY:
                return self.for_texts(0)
            self._direct = self._direct or _Direct(self._model, self.cut)
            return self._direct

    def for_texts(self, tokens: int) -> _Runner:
        """Return the runner for texts of so many tokens: fastembed, unless its import would take longer."""
        with self._lock:
            if self._fastembed is None and self._model.key == DEFAULT_KEY and tokens <= DIRECT_TOKENS:
                return self.for_query()
            self._fastembed = self._fastembed or _FastEmbed(self._model)
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
            if len(self.whole.encode(start)) >= self._model.max_tokens + WORD_TOKENS:
                return start
        return _clean(text)


_LOADED: dict[tuple[Path, str], _Loaded] = {}
_LOADED_LOCK = threading.Lock()


def _loaded(model: ModelInfo) -> _Loaded:
    with _LOADED_LOCK:
        return _LOADED.setdefault((model.folder, model.key), _Loaded(model))


class _FastEmbed:
    """fastembed over the model's folder; it tokenises, pools and normalises as the model's name says.

    One model computes a batch on one core, and as many batches side by side as there are cores. On an idle
    machine that is as fast as one batch on all cores; on a busy one it is 1.5 to 2 times as fast, because
    the cores do not wait for each other after every operator.
    """

    def __init__(self, model: ModelInfo) -> None:
        try:
            from fastembed import TextEmbedding
        except ModuleNotFoundError as error:
            raise _missing(error) from error
        load_errors = _load_errors()
        try:
            self._embedding = TextEmbedding(
                model.name,
                cache_dir=str(cache_folder() / "fastembed"),
                threads=1,
                specific_model_path=str(model.folder),
                enable_cpu_mem_arena=False,  # it grows with the largest batch and is never given back
            )
        except load_errors as error:
            raise _unloadable(model, error) from error

    def vectors(self, texts: list[str]) -> Vectors:
        import numpy as np

        return np.array(list(self._embedding.embed(texts, batch_size=len(texts))), dtype=np.float32)

    def each(self, batches: list[list[str]]) -> Generator[Vectors, None, None]:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(_threads(), thread_name_prefix="embedding") as pool:
            yield from pool.map(self.vectors, batches)  # when closed early, it cancels what has not begun


class _Direct:
    """The released weights by onnxruntime alone: mean of the tokens' states, brought to length 1."""

    def __init__(self, model: ModelInfo, tokenizer: Any) -> None:
        try:
            import onnxruntime  # type: ignore[import-untyped]
        except ModuleNotFoundError as error:
            raise _missing(error) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = _threads()
        options.enable_cpu_mem_arena = False
        load_errors = _load_errors()
        try:
            self._session = onnxruntime.InferenceSession(
                str(model.folder / GRAPH_FILE), options, providers=["CPUExecutionProvider"]
            )
        except load_errors as error:
            raise _unloadable(model, error) from error
        self._tokenizer = tokenizer

    def vectors(self, texts: list[str]) -> Vectors:
        import numpy as np

        encoded = self._tokenizer.encode_batch_fast(texts)
        lengths = np.array([len(encoding) for encoding in encoded])
        mask = np.arange(lengths.max()) < lengths[:, None]
        ids = np.zeros(mask.shape, dtype=np.int64)  # 0 is [PAD]
        ids[mask] = np.concatenate([encoding.ids for encoding in encoded])
        inputs = {
            "input_ids": ids,
            "attention_mask": mask.astype(np.int64),
            "token_type_ids": np.zeros_like(ids),
        }
        states = self._session.run(None, inputs)[0]
        means = np.sum(states, axis=1, where=mask[:, :, None], dtype=np.float64) / lengths[:, None]
        rows: Vectors = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
        return rows

    def each(self, batches: list[list[str]]) -> Generator[Vectors, None, None]:
        yield from map(self.vectors, batches)


def _tokenizer(folder: Path) -> Any:
    """Read the model's tokenizer, without the truncation and padding that its file carries."""
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _threads() -> int:
    """INFOSPACE_THREADS, or the cores that this process may use, at most MAX_THREADS."""
    named = os.environ.get("INFOSPACE_THREADS")
    if named:
        if not named.isdecimal() or int(named) < 1:
            raise ModelError(f"INFOSPACE_THREADS is {named!r}", hint="a number from 1")
        return int(named)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _quota(), MAX_THREADS))


def _quota() -> int:
    """Cores that a container may use by its control group (cgroup v2, cpu.max: quota and period)."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return MAX_THREADS if quota == "max" else math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        return MAX_THREADS


def _load_errors() -> tuple[type[Exception], ...]:
    """Give what loading a model raises; the classes of onnxruntime have no base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as engine  # type: ignore[import-untyped]

    kinds = [item for item in vars(engine).values() if isinstance(item, type) and issubclass(item, Exception)]
    return (ValueError, OSError, *kinds)


def _missing(error: ModuleNotFoundError) -> ModelError:
    return ModelError(f"texts cannot be embedded without {error.name}", hint='pip install "infospace[search]"')


def _unloadable(model: ModelInfo, error: Exception) -> ModelError:
    said = str(error).strip().splitlines() or [type(error).__name__]
    return ModelError(f"the model in {str(model.folder)!r} cannot be loaded: {said[0]}")
