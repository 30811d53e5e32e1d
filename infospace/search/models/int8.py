"""The default model with weights of 8 bits, made from the default weights: half of the processor time, and a loss.

It is another model, of another key: its vectors are never mixed with those of the default one. Each output channel of
a weight has a scale of its own; with one scale for all of them NDCG@10 on Cranfield is .503 instead of .511.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infospace.core.errors import ModelError
from infospace.search.models import default_weights as weights
from infospace.search.models.find import (
    DEFAULT_MODEL,
    ModelInfo,
    cache_folder,
    describe,
    find_model,
    get_model,
    verified_or_aside,
)
from infospace.search.models.onnx_graph import DATA_FILE, GRAPH_FILE

if TYPE_CHECKING:
    from infospace.search.models.default_weights import Progress

INT8_MODEL: Final = f"{DEFAULT_MODEL}-int8"
"""Its name for `infospace model use`."""

_COPIED: Final = (weights.TOKENIZER_FILE, "tokenizer_config.json", "config.json")


def find_int8() -> ModelInfo | None:
    """Return the model as it was made on this machine from the default one; None where it was not, or is damaged."""
    default = find_model()
    if default is None:
        return None
    folder = _folder(default)
    with suppress(ModelError):
        if weights.read_manifest(folder) is not None:
            return _described(folder)
    return None


def get_int8(progress: Progress | None = None) -> ModelInfo:
    """Return the model, made if need be from the default one, which is fetched if need be; its hashes are checked.

    Raises ModelError where the package `onnx` is missing, which makes it, or the default model cannot be had.
    """
    model_info = find_int8()
    model_info = model_info and verified_or_aside(model_info)
    if model_info is not None:
        return model_info
    default = get_model(progress)
    folder = _folder(default)
    try:
        with weights.working_folder(folder.parent, folder.name) as work:
            if progress is not None:
                progress("making weights of 8 bits")
            _quantize(default.folder, work)
            for name in _COPIED:
                shutil.copyfile(default.folder / name, work / name)
            release = weights.sha256_of(work / GRAPH_FILE)
            weights.write_manifest(
                work,
                INT8_MODEL,
                f"made from {default.key}",
                release,
                dimension=default.dimension,
                max_tokens=default.max_tokens,
            )
            weights.into_place(work, folder)
    except OSError as error:
        raise weights.unwritable(folder, error) from error
    made = verified_or_aside(_described(folder))
    if made is None:
        raise ModelError(f"{str(folder)!r} was changed while it was being checked", hint="try again")
    return made


def _quantize(folder: Path, work: Path) -> None:
    try:
        import onnx  # type: ignore[import-not-found,import-untyped,unused-ignore]  # installed by who wants such weights
    except ModuleNotFoundError as error:
        raise ModelError(
            "weights of 8 bits are made with the package onnx, which is not installed",
            hint="`pip install onnx`, then the same command; it is not needed afterwards",
        ) from error
    del onnx
    from onnxruntime.quantization import quantize_dynamic  # type: ignore[import-untyped]  # it has no types

    # Its shapes are inferred into a file beside the graph that is read. The folder of the default model belongs to
    # every process: two that make these weights at once would take that file from each other, and one that is killed
    # would leave it there.
    with tempfile.TemporaryDirectory(dir=work) as own:
        for name in (GRAPH_FILE, DATA_FILE):
            if (folder / name).exists():
                shutil.copyfile(folder / name, Path(own, name))
        quantize_dynamic(Path(own, GRAPH_FILE), work / GRAPH_FILE, per_channel=True)


def _folder(default: ModelInfo) -> Path:
    release = default.key.rpartition("@")[2]
    return cache_folder() / "models" / f"all-MiniLM-L6-v2-int8-{release}-{weights.LAYOUT}"


def _described(folder: Path) -> ModelInfo:
    """The model in a folder; fastembed does not know it by its name, so its pooling is told."""
    return replace(describe(folder), pooling="MEAN")
