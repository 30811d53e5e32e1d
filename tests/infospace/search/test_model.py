"""Which weights are used, and what is noticed when they are not what they were."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infospace.core.errors import ModelError
from infospace.search.models.find import DEFAULT_KEY, ModelInfo, describe, find_model, get_model, verify_model
from infospace.search.models.package_download import installed_package

sys.path.insert(0, str(Path(__file__).parent))

from model_hub import serving
from tiny_model import make_model


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache of this test's own, and no folder named."""
    monkeypatch.setenv("INFOSPACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("INFOSPACE_MODEL_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def own(cache: Path, model: ModelInfo) -> ModelInfo:
    """The model in a cache of this test's own, as `get_model` leaves it."""
    shutil.copytree(model.folder, cache / "models" / model.folder.name)
    return get_model()


def changed_in_place(path: Path, keep_time: bool) -> None:
    """Change one byte, keep the size, and if asked the time of change."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(50_000)
        old = file.read(1)
        file.seek(50_000)
        file.write(bytes([old[0] ^ 1]))
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_an_empty_cache_has_no_model(cache: Path) -> None:
    """Looking for a model creates nothing."""
    assert find_model() is None
    assert not cache.exists()


def test_the_model_is_described(model: ModelInfo) -> None:
    """What the rest of the program relies on: vectors of 384, a window of 256, a threshold of 0.3."""
    assert model.name == "sentence-transformers/all-MiniLM-L6-v2"
    assert (model.dimension, model.max_tokens, model.threshold) == (384, 256, 0.3)
    assert (model.verified, model.key) == (True, DEFAULT_KEY)
    assert find_model() == model


def test_released_files_in_a_named_folder_are_used(cache: Path, release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network is needed where the two files are; the key is that of the release."""
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(release))
    assert find_model() is None
    made = get_model()
    assert made.folder.is_relative_to(cache)
    assert made.origin == f"the released files in {release.resolve()}"
    assert (made.verified, made.key) == (True, DEFAULT_KEY)
    assert find_model() == made


def test_a_named_folder_comes_before_the_cache(own: ModelInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's choice wins; a copied folder is verified once more before it is called verified."""
    copy = shutil.copytree(own.folder, tmp_path / "copy")
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(copy))
    found = find_model()
    assert found is not None
    assert (found.folder, found.verified, found.key) == (copy, False, DEFAULT_KEY)
    assert get_model().verified
    assert find_model() == get_model()


def test_a_folder_without_a_manifest_is_used_unverified(
    own: ModelInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its key comes from its contents: the same for a copy, another when a file differs."""
    keys = []
    for name in ("one", "two", "other"):
        folder = shutil.copytree(own.folder, tmp_path / name)
        (folder / "MANIFEST.json").unlink()
        if name == "other":
            changed_in_place(folder / "model.onnx.data", keep_time=False)
        monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(folder))
        found = get_model()
        assert (found.verified, found.dimension) == (False, 384)
        assert verify_model(found) == found
        keys.append(found.key)
    assert keys[0] == keys[1] != keys[2]
    assert DEFAULT_KEY not in keys
    changed_in_place(tmp_path / "other" / "model.onnx.data", keep_time=False)
    assert get_model().key == keys[0]


def test_a_named_folder_without_a_model_is_an_error(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong name is said and not passed over."""
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(ModelError, match=r"nowhere.*has no model"):
        find_model()


def test_a_truncated_file_in_the_cache_counts_as_no_model(
    own: ModelInfo, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size gives it away, and `get_model` makes the folder anew."""
    os.truncate(own.folder / "model.onnx.data", 80_000_000)
    assert find_model() is None
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(release))
    assert get_model().verified
    assert (own.folder / "model.onnx.data").stat().st_size > 90_000_000


def test_a_truncated_file_in_a_named_folder_is_named(own: ModelInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person is told which file of the chosen folder has the wrong size."""
    os.truncate(own.folder / "tokenizer.json", 5)
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(own.folder))
    with pytest.raises(ModelError, match=r"tokenizer\.json in .* has 5 bytes and should have 466247"):
        find_model()


def test_a_change_of_the_same_size_is_noticed_and_mended(
    own: ModelInfo, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later time of change takes `verified` away; the hash then names the file; `get_model` mends it."""
    changed_in_place(own.folder / "model.onnx.data", keep_time=False)
    found = find_model()
    assert found is not None
    assert not found.verified
    with pytest.raises(ModelError, match=r"^model\.onnx\.data in .* should be .* and is "):
        verify_model(found)
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(release))
    assert get_model() == find_model()
    assert get_model().verified


def test_finding_reads_no_weights_and_verifying_does(own: ModelInfo) -> None:
    """A change with size and time kept passes the quick look, and never the full one."""
    changed_in_place(own.folder / "model.onnx.data", keep_time=True)
    assert find_model() == own
    with pytest.raises(ModelError, match=r"^model\.onnx\.data"):
        verify_model(own)


def test_without_a_whole_manifest_there_is_no_model_in_the_cache(own: ModelInfo) -> None:
    """Half a manifest is none; and what has none was not written by us to the end."""
    manifest = own.folder / "MANIFEST.json"
    manifest.write_text(manifest.read_text()[:40])
    assert find_model() is None
    manifest.unlink()
    assert find_model() is None


def test_a_lost_or_damaged_memory_of_hashes_only_costs_hashing(own: ModelInfo) -> None:
    """`hashed.json` can be thrown away or be nonsense: the model is verified again."""
    memory = own.folder.parent / "hashed.json"
    no_path = {"/" + "x" * 300: [1, 2, "3"], "\0": [1, 2, "3"]}
    for nonsense in ("", "[]", json.dumps({str(own.folder / "model.onnx"): 3}), json.dumps(no_path)):
        memory.write_text(nonsense)
        found = find_model()
        assert found is not None
        assert not found.verified
        assert get_model().verified


def test_hashes_of_files_that_are_gone_are_not_kept(own: ModelInfo, tmp_path: Path) -> None:
    """What is read at each start does not grow with every model folder that ever was."""
    kept, gone = make_model(tmp_path / "kept"), make_model(tmp_path / "gone")
    assert describe(gone).key != own.key
    memory = own.folder.parent / "hashed.json"
    assert str(gone / "model.onnx") in json.loads(memory.read_text())
    shutil.rmtree(gone)
    describe(kept)
    found = json.loads(memory.read_text())
    assert {Path(path).parent for path in found} == {own.folder, kept}


def test_finding_a_model_imports_nothing_heavy(own: ModelInfo) -> None:
    """A command that only wants to know whether there is a model does not wait for an engine."""
    look = (
        "import sys; from infospace.search.models.find import find_model; assert find_model() is not None; "
        "print([m for m in ('numpy', 'onnx', 'onnxruntime', 'fastembed', 'tokenizers') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


@pytest.fixture
def hub(model: ModelInfo, tmp_path: Path) -> Iterator[str]:
    """The address of a hub on this machine, which has the model with its weights in one file."""
    import onnx

    folder = shutil.copytree(model.folder, tmp_path / "hub", ignore=lambda *_: ["model.onnx.data", "MANIFEST.json"])
    onnx.save(onnx.load(model.folder / "model.onnx"), folder / "model.onnx")
    with serving(folder, "Qdrant/all-MiniLM-L6-v2-onnx") as address:
        yield address


DOWNLOAD = """
from infospace.search.embedding.embedder import Embedder
from infospace.search.models.find import find_model, get_model
model = get_model(download=True)
assert find_model() == model, find_model()
print(model.origin, model.key, model.max_tokens, Embedder(model).embed_query("wind tunnel")[:3].tolist(), sep="|")
"""


def test_fastembeds_own_download_is_the_last_resort(cache: Path, hub: str, model: ModelInfo) -> None:
    """Where pip finds nothing and it is allowed, the same vectors come under a key of their own."""
    from infospace.search.embedding.embedder import Embedder

    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "HF_ENDPOINT": hub, "HF_HUB_OFFLINE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", DOWNLOAD], env=os.environ | offline, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    origin, key, window, vector = done.stdout.strip().split("|")
    assert (origin, window) == ("fastembed's own download", "256")
    assert key != DEFAULT_KEY
    assert json.loads(vector) == pytest.approx(Embedder(model).embed_query("wind tunnel")[:3].tolist(), abs=1e-6)
    assert sorted(path.name for path in (cache / "models").iterdir()) == ["all-MiniLM-L6-v2-fastembed-1", "hashed.json"]


def test_without_any_source_the_error_says_what_else_works(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither pip nor fastembed gets through: one sentence, a hint, and nothing left behind."""
    if installed_package() is not None:
        pytest.skip("the package with the weights is installed in this environment")
    for name, value in {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "HF_HUB_OFFLINE": "1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ModelError, match="pip could not download"):
        get_model()
    with pytest.raises(ModelError, match="fastembed could not download") as refusal:
        get_model(download=True)
    assert "INFOSPACE_MODEL_DIR" in str(refusal.value)
    assert list((cache / "models").iterdir()) == []
