"""Models other than the default: found by name or folder, run, and refused in one sentence when they are not right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from infospace.core.errors import ModelError, NotFound
from infospace.search.embedding.embedder import Embedder
from infospace.search.models.custom import find_named, get_named, model_of, resolve
from infospace.search.models.find import DEFAULT_MODEL, ModelInfo, cache_folder, describe
from infospace.search.models.switch import inspect_model
from infospace.search.models.threshold import PAIRS, QUANTILE, measure_threshold

sys.path.insert(0, str(Path(__file__).parent))

from model_hub import serving
from tiny_model import WINDOW, make_model

TEXTS = ["sea ship", "moon over the harbour", "", "a storm, a sail, an anchor!", "island " * 60, "x"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of one's own with a model of 32 dimensions."""
    return make_model(tmp_path_factory.mktemp("models") / "mine")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A copy of it that may be changed."""
    return Path(shutil.copytree(folder, tmp_path / "mine"))


def by_hand(folder: Path, text: str, *, first: bool = False) -> NDArray[np.float64]:
    """The graph's states, averaged over the tokens or the first one's, brought to length 1."""
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(WINDOW)
    ids = np.array([tokenizer.encode(text).ids])
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    states = session.run(None, inputs)[0][0].astype(np.float64)
    vector: NDArray[np.float64] = states[0] if first else states.mean(0)
    return vector / np.linalg.norm(vector)


def pooled(folder: Path, **modes: bool) -> Path:
    """Say in a folder how its vectors are pooled."""
    (folder / "1_Pooling").mkdir(exist_ok=True)
    said = {"word_embedding_dimension": 32} | {f"pooling_mode_{mode}": on for mode, on in modes.items()}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(said))
    return folder


@pytest.mark.parametrize("first", [False, True])
def test_a_folder_gives_what_its_graph_gives(copy: Path, first: bool) -> None:
    """Pooled as the folder says, in any order and batch, as a text and as a query."""
    pooled(copy, cls_token=first, mean_tokens=not first)
    embedder = Embedder(get_named(str(copy)))
    assert embedder.model.name == str(copy)
    expected = np.array([by_hand(copy, text, first=first) for text in TEXTS])
    assert np.abs(embedder.embed(TEXTS) - expected).max() < 1e-5
    assert np.abs(np.array([embedder.embed_query(text) for text in TEXTS]) - expected).max() < 1e-5


def test_without_a_word_on_pooling_it_is_the_mean(folder: Path, copy: Path) -> None:
    """And another pooling is another key, since the vectors are others."""
    assert get_named(str(folder)).pooling == "MEAN"
    keys = {get_named(str(pooled(copy, cls_token=first, mean_tokens=not first))).key for first in (True, False)}
    assert len({*keys, get_named(str(folder)).key}) == 3


def test_the_key_is_of_the_files_and_not_of_the_place(folder: Path, tmp_path: Path) -> None:
    """A folder that was moved keeps its vectors; one whose graph is another does not."""
    moved = Path(shutil.copytree(folder, tmp_path / "elsewhere" / folder.name))
    other = make_model(tmp_path / "other" / folder.name, seed=2)
    assert get_named(str(moved)).key == get_named(str(folder)).key
    assert get_named(str(other)).key != get_named(str(folder)).key


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"dimension": 48, "max_tokens": 9}, (48, 9)),
        ({"dimension": 48}, (32, WINDOW)),
        ({"max_tokens": 9}, (32, WINDOW)),
        ({}, (32, WINDOW)),
    ],
    ids=str,
)
def test_a_manifest_that_tells_both_sizes_comes_before_the_models_own_files(
    copy: Path, told: dict[str, int], expected: tuple[int, int]
) -> None:
    """Dimension and window; one of them alone tells nothing."""
    manifest = {"model": "mine", "origin": "here", "release": "0123456789abcdef", "files": {}, **told}
    (copy / "MANIFEST.json").write_text(json.dumps(manifest))
    found = describe(copy)
    assert (found.dimension, found.max_tokens) == expected
    assert (found.name, found.origin, found.key) == ("mine", "here", "mine@0123456789ab")


def test_names_are_those_of_fastembed_in_any_case(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is one's own, by any path to it."""
    assert resolve("baai/BGE-small-en-V1.5") == "BAAI/bge-small-en-v1.5"
    assert resolve(DEFAULT_MODEL) == DEFAULT_MODEL
    monkeypatch.chdir(folder.parent)
    assert resolve("mine") == resolve("./mine") == resolve(str(folder)) == str(folder)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("BAAI/bge-smal-en-v1.5", "BAAI/bge-small-en-v1.5"),
        ("all-MiniLM-L6-v2", DEFAULT_MODEL),
        ("nomic-embed-text", "nomic-ai/nomic-embed-text-v1"),
        ("qqqq", "for example"),
        ("./nowhere", "a folder with model.onnx"),
    ],
)
def test_a_name_that_is_none_is_refused_with_those_near(name: str, near: str) -> None:
    """By the whole name, or the part behind the maker's."""
    with pytest.raises(NotFound, match="there is no") as refusal:
        resolve(name)
    assert repr(name) in refusal.value.message
    assert near in (refusal.value.hint or "")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json"])
def test_a_folder_without_one_of_its_files_is_no_model(copy: Path, file: str) -> None:
    """The sentence names the file."""
    (copy / file).unlink()
    with pytest.raises(ModelError, match=f"has no {file}") as refusal:
        find_named(str(copy))
    assert repr(str(copy)) in refusal.value.message


BROKEN = {
    "tokenizer.json": [b"no JSON", b"{}", b'{"version": "1.0"}', b"\xff\xfe"],
    "model.onnx": [b"no graph", b""],
    "model.onnx.data": [b""],
}


@pytest.mark.parametrize(("file", "content"), [(file, content) for file, many in BROKEN.items() for content in many])
def test_a_broken_file_is_one_sentence_that_names_it(copy: Path, file: str, content: bytes) -> None:
    """Whatever its library raises; with what mends it."""
    (copy / file).write_bytes(content)
    with pytest.raises(ModelError, match="cannot be loaded") as refusal:
        inspect_model(str(copy))
    assert str(copy) in refusal.value.message
    assert file.removesuffix(".data") in refusal.value.message
    assert "\n" not in refusal.value.message
    assert "infospace model use" in (refusal.value.hint or "")


@pytest.mark.parametrize("file", ["tokenizer.json", "model.onnx"])
def test_a_broken_file_in_our_cache_is_mended_by_getting_the_model(
    model: ModelInfo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str
) -> None:
    """The hint says so, for the default model too."""
    monkeypatch.setenv("INFOSPACE_CACHE", str(tmp_path))
    broken = Path(shutil.copytree(model.folder, cache_folder() / "models" / "broken"))
    (broken / file).write_bytes(b"no model")
    with pytest.raises(ModelError, match=f"{file} of the model .* cannot be loaded") as refusal:
        Embedder(replace(model, folder=broken)).embed_query("wind")
    assert "`infospace model get`" in (refusal.value.hint or "")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", '{"hidden_size": 48}', "gives vectors of 32 numbers, and says that it gives 48"),
        ("config.json", "[]", "should be a JSON object"),
        ("tokenizer_config.json", '{"model_max_length": 1e30}', "does not say how large it is"),
        ("tokenizer_config.json", f'{{"model_max_length": {WINDOW}}}', "cannot be loaded: Could not find a pad token"),
        ("special_tokens_map.json", "no JSON", "cannot be loaded"),
        ("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}', "asks for pooling_mode_max_tokens"),
        ("1_Pooling/config.json", "no JSON", "cannot be read"),
    ],
)
def test_settings_that_do_not_fit_are_one_sentence(copy: Path, file: str, content: str, message: str) -> None:
    """Found when the model is looked at, before any space has it."""
    (copy / "1_Pooling").mkdir()
    (copy / file).write_text(content)
    with pytest.raises(ModelError) as refusal:
        inspect_model(str(copy))
    assert message in refusal.value.message
    assert "\n" not in refusal.value.message


def test_a_tokenizer_of_another_model_is_found_out(copy: Path, model: ModelInfo) -> None:
    """Its tokens are beyond the graph's table."""
    shutil.copy(model.folder / "tokenizer.json", copy / "tokenizer.json")
    with pytest.raises(ModelError, match="cannot be run") as refusal:
        inspect_model(str(copy))
    assert "\n" not in refusal.value.message


def test_the_default_models_threshold_is_what_the_measure_gives(model: ModelInfo) -> None:
    """So another model's is the same measure of how much that is unrelated passes."""
    assert measure_threshold(Embedder(model)) == model.threshold == 0.3


def test_a_threshold_is_the_quantile_of_unrelated_cosines(folder: Path) -> None:
    """By a loop over all pairs of different subjects, each question against each other's sentence."""
    sentences = [by_hand(folder, sentence) for _, sentence in PAIRS]
    cosines = sorted(
        float(np.dot(question, sentence))
        for at, question in enumerate([by_hand(folder, question) for question, _ in PAIRS])
        for other, sentence in enumerate(sentences)
        if at != other
    )
    place = QUANTILE * (len(cosines) - 1)
    below = cosines[int(place)]
    expected = below + (place - int(place)) * (cosines[int(place) + 1] - below)
    looked = inspect_model(str(folder))
    assert looked.info.threshold == pytest.approx(expected, abs=0.0011)
    assert looked.chosen is not None
    assert looked.chosen.threshold == looked.info.threshold == inspect_model(str(folder)).info.threshold


def test_vectors_that_tell_nothing_apart_are_refused(copy: Path) -> None:
    """A graph of zeros has no threshold."""
    data = copy / "model.onnx.data"
    data.write_bytes(bytes(data.stat().st_size))
    with pytest.raises(ModelError, match=r"tell nothing apart"):
        inspect_model(str(copy))


def test_the_default_model_is_no_choice(model: ModelInfo) -> None:
    """A space that goes back to it is like one that never left."""
    looked = inspect_model(DEFAULT_MODEL)
    assert (looked.chosen, looked.info) == (None, model_of(None))


NAME = "BAAI/bge-small-en-v1.5"
USE = """
import json, sys
from infospace import open_space
from infospace.core.errors import ModelError
from infospace.search.models.switch import choose, inspect_model
from infospace.search.embedding.embedder import Embedder
from infospace.search.models.custom import get_named, model_of
looked = inspect_model("baai/BGE-small-en-v1.5")
with open_space(sys.argv[1]) as space:
    choose(space, looked)
    with space.store.reading() as snapshot:
        info = model_of(snapshot.chosen())
assert info == looked.info, info
vector = Embedder(info).embed_query("sea ship").tolist()
graph = info.folder / "model_optimized.onnx"
graph.write_bytes(graph.read_bytes()[:-1] + b"!")
again = get_named(looked.chosen.name)
assert again.verified and again.key == info.key
assert Embedder(again).embed_query("sea ship").tolist() == vector
graph.unlink()
try:
    model_of(looked.chosen)
except ModelError as error:
    print(json.dumps([info.name, info.origin, info.verified, info.dimension, info.max_tokens, vector, str(error)]))
"""


def test_a_model_that_fastembed_lists_is_downloaded_checked_and_mended(tmp_path: Path) -> None:
    """From a hub on this machine; as fastembed pools that name: the state of the first token."""
    import onnx

    made = make_model(tmp_path / "made", dimension=384)
    served = shutil.copytree(made, tmp_path / "hub", ignore=lambda *_: ["model.onnx", "model.onnx.data"])
    onnx.save(onnx.load(made / "model.onnx"), served / "model_optimized.onnx")
    with serving(served, "Qdrant/bge-small-en-v1.5-onnx-Q") as address:
        environment = os.environ | {"HF_ENDPOINT": address, "HF_HUB_OFFLINE": "0", "INFOSPACE_CACHE": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", USE, tmp_path / "space.db"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    name, origin, verified, dimension, tokens, vector, missing = json.loads(done.stdout)
    assert (name, origin, verified, dimension, tokens) == (NAME, "fastembed's own download", True, 384, WINDOW)
    assert vector == pytest.approx(by_hand(made, "sea ship", first=True).tolist(), abs=1e-5)
    assert NAME in missing
    assert "`infospace model get` fetches it" in missing


def test_a_model_that_cannot_be_downloaded_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is left behind."""
    monkeypatch.setenv("INFOSPACE_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=f"could not download {NAME}") as refusal:
        inspect_model(NAME)
    assert "infospace model use FOLDER" in (refusal.value.hint or "")
    assert list((tmp_path / "models").iterdir()) == []


def test_blanks_before_a_word_are_not_its_tokens(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokenizers that count them to the word place its cut where others do."""
    from infospace.search.embedding import embedder as module

    class Encoding:
        offsets = ((0, 0), (0, 3), (3, 8), (8, 9))

    class Whole:
        def encode(self, _text: str, **_: Any) -> Encoding:
            return Encoding()

    embedder = Embedder(get_named(str(folder)))
    monkeypatch.setattr(module._Loaded, "untruncated_tokenizer", Whole())
    assert embedder.offsets("sea ship ") == [(0, 3), (4, 8)]
