"""What computes a batch of texts: fastembed, or for the released weights onnxruntime alone."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from infospace.core.errors import ModelError
from infospace.core.installation import REINSTALL
from infospace.search.models.default_weights import TOKENIZER_FILE
from infospace.search.models.find import ModelInfo, cache_folder
from infospace.search.models.onnx_graph import GRAPH_FILE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MAX_THREADS = 8
"""Batches of this size do not keep more cores busy; INFOSPACE_THREADS goes beyond."""

TOPOLOGY = Path("/sys/devices/system/cpu")

_REGISTRY_LOCK = threading.Lock()


class Runner(Protocol):
    """A loaded model: vectors float32, of length 1, shape (texts, dimension), of a query (dimension,)."""

    def query(self, text: str) -> Vectors:
        """Return the vector of a query, which some models make otherwise than that of a text."""

    def vectors(self, texts: list[str]) -> Vectors:
        """Return the vectors of one batch."""

    def each(self, batches: list[list[str]]) -> Generator[Vectors, None, None]:
        """Give the vectors of each batch in order; what is not asked for any more is not computed."""


class FastEmbed:
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
        tokenizer_of(model)  # fastembed raises a bare Exception for one that cannot be read
        self._model = model
        # Static models have no graph. The arena grows with the largest batch and is never given back.
        options: dict[str, Any] = {"threads": 1, "enable_cpu_mem_arena": False} if _graph(model) else {}
        with _loading(model):
            self._embedding = TextEmbedding(
                model.name if model.pooling is None else _registered(model),
                cache_dir=str(cache_folder() / "fastembed"),
                specific_model_path=str(model.folder),
                **options,
            )

    def query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        import numpy as np

        with _running(self._model):
            return np.array(next(iter(self._embedding.query_embed(text))), dtype=np.float32)

    def vectors(self, texts: list[str]) -> Vectors:
        """Return the vectors of one batch."""
        import numpy as np

        with _running(self._model):
            return np.array(list(self._embedding.embed(texts, batch_size=len(texts))), dtype=np.float32)

    def each(self, batches: list[list[str]]) -> Generator[Vectors, None, None]:
        """Give the vectors of each batch in order."""
        yield from _side_by_side(self.vectors, batches)


class Direct:
    """The released weights by onnxruntime alone: mean of the tokens' states, brought to length 1.

    A batch is computed on one core, as by `FastEmbed`. A request of 21 tokens, the median of what tools are looked for
    with, takes 4.0 ms so and 4.7 on two, and on a busy machine 8.9 and 11.7; from 128 tokens on two are as fast.
    """

    def __init__(self, model: ModelInfo, tokenizer: Any) -> None:
        try:
            import onnxruntime  # type: ignore[import-untyped]  # it has no types
        except ModuleNotFoundError as error:
            raise _missing(error) from error
        self._model = model
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        with _loading(model):
            self._session = onnxruntime.InferenceSession(
                str(model.folder / GRAPH_FILE), options, providers=["CPUExecutionProvider"]
            )
        self._tokenizer = tokenizer

    def query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        row: Vectors = self.vectors([text])[0]
        return row

    def vectors(self, texts: list[str]) -> Vectors:
        """Return the vectors of one batch."""
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
        with _running(self._model):
            states = self._session.run(None, inputs)[0]
        means = np.sum(states, axis=1, where=mask[:, :, None], dtype=np.float64) / lengths[:, None]
        rows: Vectors = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
        return rows

    def each(self, batches: list[list[str]]) -> Generator[Vectors, None, None]:
        """Give the vectors of each batch in order."""
        yield from _side_by_side(self.vectors, batches)


def _side_by_side(vectors: Callable[[list[str]], Vectors], batches: list[list[str]]) -> Generator[Vectors, None, None]:
    """Give the vectors of each batch in order; one alone is computed in this thread, which waits for no other."""
    from concurrent.futures import ThreadPoolExecutor

    count = min(threads(), len(batches))
    if count < 2:
        yield from map(vectors, batches)
        return
    with ThreadPoolExecutor(count, thread_name_prefix="embedding") as pool:
        yield from pool.map(vectors, batches)  # when closed early, it cancels what has not begun


def tokenizer_of(model: ModelInfo) -> Any:
    """Read the model's tokenizer, without the truncation and padding that its file carries.

    Raises ModelError, naming the file, when it cannot be read.
    """
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    path = model.folder / TOKENIZER_FILE
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _unloadable(model, path, error) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def threads() -> int:
    """Return INFOSPACE_THREADS, or the physical cores that this process may use, at most MAX_THREADS."""
    name = os.environ.get("INFOSPACE_THREADS")
    if name:
        if not name.isdecimal() or int(name) < 1:
            raise ModelError(f"INFOSPACE_THREADS is {name!r}", hint="a number from 1")
        return int(name)
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    return max(1, min(physical_cores(usable), _quota(), MAX_THREADS))


def physical_cores(processors: Collection[int], folder: Path = TOPOLOGY) -> int:
    """Return how many cores some processors are; those that share one compute no matrix product faster than it.

    `folder` has what Linux tells of processors (sysfs, thread_siblings_list); a processor of which nothing is told
    counts as a core.
    """
    cores = set()
    for number in processors:
        try:
            message = (
                (folder / f"cpu{number}" / "topology" / "thread_siblings_list").read_text(encoding="ascii").strip()
            )
        except (OSError, ValueError):
            message = ""
        cores.add(message or f"{number}")
    return len(cores)


def _quota() -> int:
    """Cores that a container may use by its control group (cgroup v2, cpu.max: quota and period)."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return MAX_THREADS if quota == "max" else math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        return MAX_THREADS


def _registered(model: ModelInfo) -> str:
    """Tell fastembed of a folder of one's own; return the name that it has there."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"{model.key}/{model.pooling}/{model.dimension}"
    with _REGISTRY_LOCK:
        if all(known["model"] != name for known in TextEmbedding.list_supported_models()):
            TextEmbedding.add_custom_model(
                model=name,
                pooling=PoolingType[model.pooling or "MEAN"],
                normalization=True,
                sources=ModelSource(url="file:"),  # never looked at: the folder is named when it is loaded
                dim=model.dimension,
                model_file=GRAPH_FILE,
            )
    return name


def _graph(model: ModelInfo) -> Path | None:
    """Return the model's graph, wherever in its folder it lies."""
    return next(iter(sorted(model.folder.rglob("*.onnx"))), None)


def _run_errors() -> tuple[type[Exception], ...]:
    return (ValueError, *_engine_errors())


def _engine_errors() -> tuple[type[Exception], ...]:
    """Give what onnxruntime raises; its classes have no base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as engine  # type: ignore[import-untyped]  # it has no types

    return tuple(item for item in vars(engine).values() if isinstance(item, type) and issubclass(item, Exception))


@contextmanager
def _loading(model: ModelInfo) -> Iterator[None]:
    """Say in one sentence which file of a model cannot be loaded."""
    graph = _graph(model) or model.folder
    try:
        yield
    except _engine_errors() as error:
        raise _unloadable(model, graph, error) from error
    except (ValueError, OSError, TypeError, LookupError, AttributeError) as error:  # its JSON files
        raise _unloadable(model, model.folder, error) from error


@contextmanager
def _running(model: ModelInfo) -> Iterator[None]:
    """Say in one sentence that a graph does not take what its tokenizer gives."""
    try:
        yield
    except _run_errors() as error:
        text = _first_line(error)
        raise ModelError(f"the model in {str(model.folder)!r} cannot be run: {text}", hint=_remedy(model)) from error


def _missing(error: ModuleNotFoundError) -> ModelError:
    return ModelError(f"texts cannot be embedded without {error.name}", hint=REINSTALL)


def _unloadable(model: ModelInfo, path: Path, error: Exception) -> ModelError:
    what = "the model" if path == model.folder else f"{path.relative_to(model.folder)} of the model"
    return ModelError(f"{what} in {str(model.folder)!r} cannot be loaded: {_first_line(error)}", hint=_remedy(model))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _remedy(model: ModelInfo) -> str:
    if model.folder.is_relative_to(cache_folder()):
        return "`infospace model get` checks its files and fetches it again"
    return "put the folder right; or `infospace model use` takes another model"
