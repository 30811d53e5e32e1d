"""`infospace model use`: a space gets another model, or stays as it was."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.search.models.find import DEFAULT_MODEL, get_model
from infospace.search.models.int8 import INT8_MODEL
from tui.help import page

sys.path.insert(0, str(Path(__file__).parents[3] / "infospace" / "search"))

from tiny_model import make_model

FIELDS = {"model", "folder", "origin", "verified", "dimension", "threshold"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model of 32 dimensions."""
    return make_model(tmp_path / "mine")


@pytest.fixture
def notes(cli: Any, tmp_path: Path, model: Any) -> Path:
    """A space of three notes, embedded with the default model; the folder they are from."""
    root = tmp_path / "notes"
    root.mkdir()
    for name in ("sea", "moon", "harbour"):
        (root / f"{name}.md").write_text(f"# {name}\n\nthe tide of the {name}\n")
    assert cli("add", str(root)).code == 0
    return root


def state(path: Path) -> dict[str, Any]:
    """What a space keeps of itself."""
    with sqlite3.connect(path) as connection:
        found = dict(connection.execute("SELECT key, value FROM state").fetchall())
    connection.close()
    return found


def test_a_space_gets_a_model_and_all_its_notes_are_embedded(cli: Any, notes: Path, folder: Path) -> None:
    """What it says is what `model` says from then on, whoever asks; another space is not concerned."""
    said = cli("model", "use", "./mine", "--json")
    assert said.code == 0
    assert set(said.json) == FIELDS | {"passages_embedded", "pending", "seconds"}
    assert (said.json["model"], said.json["dimension"]) == (str(folder), 32)
    assert (said.json["passages_embedded"] >= 3, said.json["pending"]) == (True, 0)
    shown = cli("model", "--json").json
    assert shown == {field: said.json[field] for field in FIELDS}
    assert 0.3 < shown["threshold"] < 1
    assert cli("model", "--json", "--space", "other.db").json["model"] == DEFAULT_MODEL
    assert not Path("other.db").exists()


def test_again_and_back_embed_nothing(cli: Any, notes: Path, folder: Path) -> None:
    """The vectors of both models are there."""
    assert "passages" in cli("model", "use", "mine").out
    assert cli("model", "use", "mine", "--json").json["passages_embedded"] == 0
    back = cli("model", "use", DEFAULT_MODEL, "--json").json
    assert (back["model"], back["threshold"], back["passages_embedded"], back["pending"]) == (DEFAULT_MODEL, 0.3, 0, 0)
    assert cli("model", "use", "mine", "--json").json["passages_embedded"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["use", "BAAI/bge-smal-en-v1.5"], 2, "did you mean 'BAAI/bge-small-en-v1.5'"),
        (["use", "./nothing"], 2, "there is no folder './nothing'"),
        (["use"], 2, "`model use` needs a model"),
        (["show", "mine"], 2, "`model show` takes no name"),
        (["use", "notes"], 1, "has no model.onnx"),
        (["use", "BAAI/bge-small-en-v1.5"], 1, "could not download BAAI/bge-small-en-v1.5"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_changes_nothing(
    cli: Any,
    notes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    """2 for what is called wrongly, 1 for what is not to be had; the space is as it was."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    before = state(tmp_path / "space.db")
    said = cli("model", *arguments)
    assert said.code == code
    assert message in said.err
    assert [line for line in said.err.splitlines() if line.startswith("infospace: ")] == said.err.splitlines()[-1:]
    assert state(tmp_path / "space.db") == before


def test_a_broken_model_changes_nothing(cli: Any, notes: Path, folder: Path, tmp_path: Path) -> None:
    """It is run before the space gets it."""
    before = state(tmp_path / "space.db")
    (folder / "tokenizer.json").write_text("{}")
    said = cli("model", "use", "mine", "--json")
    assert (said.code, said.json["kind"]) == (1, "model")
    assert "tokenizer.json of the model" in said.json["reason"]
    assert "infospace model use" in said.json["hint"]
    assert state(tmp_path / "space.db") == before


def of(answer: Any, what: str) -> list[dict[str, Any]]:
    """Return the findings about one thing."""
    return [finding for finding in answer.json["findings"] if finding["what"] == what]


def test_doctor_says_the_model_what_waits_and_what_to_do(
    cli: Any, notes: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Then what it advises is done, and nothing waits."""
    monkeypatch.delenv("INFOSPACE_EMBED_SECONDS")
    (before,) = of(cli("doctor", "--json"), "embedding model")
    assert before["message"].startswith(f"{DEFAULT_MODEL} (the default), threshold 0.3, verified")
    cli("model", "use", "mine")
    with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
        chosen = snapshot.chosen()
        space.store.choose_model("another", chosen)
    answer = cli("doctor", "--json")
    (used,), (waits,) = of(answer, "embedding model"), of(answer, "embedding")
    assert used["message"].startswith(f"{folder} (chosen for this space), threshold {chosen and chosen.threshold}")
    assert (waits["verdict"], waits["message"]) == ("weak", f"3 of 3 notes wait to be embedded with {folder}")
    assert waits["advice"] == (
        f"each search embeds some, for 10 seconds; `infospace model use {folder}` embeds them all"
    )
    assert cli("model", "use", str(folder), "--json").json["pending"] == 0
    assert of(cli("doctor", "--json"), "embedding") == []


def test_doctor_says_that_the_chosen_model_is_gone(cli: Any, notes: Path, folder: Path) -> None:
    """And with it what can be done."""
    cli("model", "use", "mine")
    (folder / "model.onnx").unlink()
    answer = cli("doctor", "--json")
    (found,) = of(answer, "embedding model")
    assert (answer.code, found["verdict"]) == (1, "bad")
    assert "has no model.onnx" in found["message"]


SLOWED = """
import sys
from infospace.search.embedding import backfill as catching
from infospace.search.embedding.embedder import Embedder

catching.BATCH_CHARACTERS = 1
embed = Embedder.embed

def slowed(self, texts, progress=None):
    if progress is not None:
        print("embedding", flush=True)
        sys.stdin.readline()
    return embed(self, texts, progress)

Embedder.embed = slowed
from tui.command import main
sys.exit(main(["model", "use", "mine", "--json"]))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_use_ends_with_130_and_goes_on_when_called_again(
    cli: Any, notes: Path, folder: Path, tmp_path: Path
) -> None:
    """What was embedded stays, and the document says how much waits."""
    environment = os.environ | {"INFOSPACE_SPACE": str(tmp_path / "space.db")}
    with subprocess.Popen(
        [sys.executable, "-c", SLOWED],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "embedding\n"
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "embedding\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate()
    said = json.loads(out)
    assert child.returncode == 130, err
    assert said["pending"] >= 1
    assert "the same command goes on from there" in err
    rest = cli("model", "use", "mine", "--json").json
    assert rest["pending"] == 0
    assert rest["passages_embedded"] >= said["pending"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that has the default model in a folder of its own, and takes what is made from it."""
    default = get_model()
    models = tmp_path / "cache" / "models"
    (models / default.folder.name).mkdir(parents=True)
    for path in default.folder.iterdir():
        (models / default.folder.name / path.name).symlink_to(path)
    monkeypatch.setenv("INFOSPACE_CACHE", str(models.parent))
    return models


def test_weights_of_8_bits_are_made_once_and_find_the_same(cli: Any, notes: Path, cache: Path) -> None:
    """As the page on searching has it; the model is a quarter as large, and another one for every vector."""
    (name,) = re.findall(r"infospace model use (\S+-int8)", page("searching"))
    asked = ("search", "lunar tide", "--threshold", "-1", "--json")
    before = cli(*asked).json["data"]
    (default,) = [path for path in cache.iterdir() if path.is_dir()]
    changed = default.stat().st_mtime_ns
    used = cli("model", "use", name, "--json")
    assert (used.code, used.json["model"], used.json["dimension"], used.json["pending"]) == (0, name, 384, 0)
    assert used.json["verified"] is True
    assert used.json["passages_embedded"] > 0
    assert default.stat().st_mtime_ns == changed  # other processes make it from the same folder
    [folder] = [path for path in cache.iterdir() if "int8" in path.name]
    assert sorted(path.name for path in folder.iterdir()) == [
        "MANIFEST.json",
        "config.json",
        "model.onnx",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    assert 15e6 < (folder / "model.onnx").stat().st_size < 30e6
    after = cli(*asked).json["data"]
    assert [hit["metadata"]["title"] for hit in after] == [hit["metadata"]["title"] for hit in before]
    assert [hit["metadata"]["score"] for hit in after] != [hit["metadata"]["score"] for hit in before]
    made = (folder / "model.onnx").stat()
    again = cli("model", "use", name.upper(), "--json")
    assert (again.code, again.json["passages_embedded"]) == (0, 0)
    assert (folder / "model.onnx").stat().st_mtime_ns == made.st_mtime_ns


def test_damaged_weights_of_8_bits_are_made_again(cli: Any, notes: Path, cache: Path) -> None:
    """By `model get`, as a damaged download is fetched again; until then the space says what to do."""
    assert cli("model", "use", INT8_MODEL, "--json").code == 0
    [folder] = [path for path in cache.iterdir() if "int8" in path.name]
    whole = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(whole[:1_000])
    broken = cli("search", "lunar tide")
    assert broken.code == 1
    assert "`infospace model get`" in broken.err
    assert cli("model", "get", "--json").json["verified"] is True
    assert (folder / "model.onnx").read_bytes() == whole
    assert cli("search", "lunar tide", "--json").code == 0


def test_without_onnx_weights_of_8_bits_are_one_sentence(
    cli: Any, notes: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the space keeps its model, and nothing is left in the cache."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    refused = cli("model", "use", INT8_MODEL)
    assert refused.code == 1
    assert "package onnx, which is not installed" in refused.err
    assert "pip install onnx" in refused.err
    assert "Traceback" not in refused.err
    assert not [path for path in cache.iterdir() if "int8" in path.name]
    assert cli("model", "--json").json["model"] == "sentence-transformers/all-MiniLM-L6-v2"
