"""Vectors: the right ones, in the right order, whatever the batch, the runner and the text."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core.errors import ModelError
from infospace.search.embedding import embedder as module
from infospace.search.embedding import runtimes as runners
from infospace.search.embedding.embedder import Embedder
from infospace.search.models.default_weights import write_model
from infospace.search.models.find import ModelInfo

sys.path.insert(0, str(Path(__file__).parent))

from reference_bert import reference_vectors

WORDS = """
wind tunnel wing the of and to in experiment pressure supersonic boundary layer heat Reynolds number naïve
theory; flow, body. plate? 3.14 (shock) invoice garden Zürich unbelievably 東京 antidisestablishmentarianism
"""


@pytest.fixture(scope="module")
def embedder(model: ModelInfo, release: Path, tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """The default model, its folder written anew by the code under test."""
    written = write_model(release, tmp_path_factory.mktemp("models") / "model", "a test")
    return Embedder(replace(model, folder=written))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Twenty-four seeded texts of 1 to 400 words, in no order of length."""
    chance = np.random.default_rng(11)
    lengths = [1, 2, 400, *chance.integers(1, 400, size=21)]
    return [" ".join(chance.choice(WORDS.split(), size=length)) for length in lengths]


@pytest.fixture(scope="module")
def rows(embedder: Embedder, texts: list[str]) -> Any:
    """The vectors of the texts."""
    return embedder.embed(texts)


@pytest.mark.slow
def test_vectors_equal_an_independent_forward_pass(rows: Any, release: Path, texts: list[str], tmp_path: Path) -> None:
    """Graph, tokenizer, truncation at 256, pooling and normalisation, all at once, against plain NumPy."""
    assert rows.shape == (24, 384)
    assert rows.dtype == np.float32
    some = [0, 1, 2, *range(3, 24, 4)]
    expected = reference_vectors(release, [texts[at] for at in some], tmp_path)
    assert np.sum(rows[some] * expected, axis=1).min() > 0.999999
    assert np.abs(rows[some] - expected).max() < 1e-5
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6


def test_the_window_is_256_tokens(embedder: Embedder) -> None:
    """254 words and the two special tokens count; what comes after changes nothing."""
    words = ["wind"] * 253
    within, at, beyond = (" ".join([*words, *more]) for more in (["tunnel"], ["garden"], ["tunnel", "garden"]))
    assert np.array_equal(embedder.embed_query(within), embedder.embed_query(beyond))
    assert not np.array_equal(embedder.embed_query(within), embedder.embed_query(at))


def test_a_batch_gives_the_vectors_of_one_by_one_in_the_given_order(
    embedder: Embedder, rows: Any, texts: list[str]
) -> None:
    """Sorting by length and padding leave no trace."""
    alone = np.array([embedder.embed_query(text) for text in texts])
    assert np.sum(rows * alone, axis=1).min() > 0.999999
    assert np.argmax(rows @ alone.T, axis=1).tolist() == list(range(len(texts)))


def test_both_runners_give_the_same_vectors(model: ModelInfo, texts: list[str]) -> None:
    """What a short command embeds is what an import embeds, to 1e-6 and with padding too."""
    loaded = module._Loaded(model)
    direct, fastembed = runners.Direct(model, loaded.cut), runners.FastEmbed(model)
    for batch in ([texts[0]], [""], texts[3:11], ["", *texts[:2]]):
        assert np.abs(direct.vectors(batch) - fastembed.vectors(batch)).max() < 1e-6


def test_little_work_goes_direct_and_much_goes_to_fastembed(model: ModelInfo) -> None:
    """Once fastembed is there all texts go to it; other weights never go past it."""
    loaded = module._Loaded(model)
    assert isinstance(loaded.for_texts(module.DIRECT_TOKENS), runners.Direct)
    assert isinstance(loaded.for_texts(module.DIRECT_TOKENS + 1), runners.FastEmbed)
    assert isinstance(loaded.for_texts(1), runners.FastEmbed)
    assert isinstance(loaded.for_query(), runners.Direct)
    other = module._Loaded(replace(model, key="other"))
    assert other.for_query() is other.for_texts(1)
    assert isinstance(other.for_query(), runners.FastEmbed)


def test_one_query_does_not_import_fastembed(model: ModelInfo) -> None:
    """The half second that the import takes is saved where it would be most of the command."""
    ask = (
        "import sys; from infospace.search.models.find import find_model; "
        "from infospace.search.embedding.embedder import Embedder; model = find_model(); "
        "assert Embedder(model).embed_query('wind').shape == (384,); "
        "print([m for m in ('fastembed', 'onnx', 'requests', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_no_batch_waits_for_a_second_thread(model: ModelInfo) -> None:
    """A query costs no more where the cores are busy; several batches are computed side by side."""
    loaded = module._Loaded(model)
    direct, fastembed = runners.Direct(model, loaded.cut), runners.FastEmbed(model)
    assert direct._session.get_session_options().intra_op_num_threads == 1
    assert fastembed._embedding.model.model.get_session_options().intra_op_num_threads == 1


def test_progress_counts_up_to_all(embedder: Embedder, texts: list[str]) -> None:
    """It rises after every batch and ends with the number of texts."""
    told: list[int] = []
    embedder.embed(texts, told.append)
    assert told == sorted(set(told))
    assert told[-1] == 24
    assert len(told) > 3


@given(st.lists(st.integers(2, 600), max_size=300))
def test_batches_hold_every_text_once_within_the_budget(lengths: list[int]) -> None:
    """Padded to its longest text, no batch of several is over the budget; like lengths go together."""
    batches = module._batches(lengths)
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    padded = [max(lengths[at] for at in batch) * len(batch) for batch in batches]
    assert all(size <= module.TOKENS_PER_BATCH or len(batch) == 1 for size, batch in zip(padded, batches, strict=True))
    longest = [max(lengths[at] for at in batch) for batch in batches]
    assert longest == sorted(longest, reverse=True)


def test_work_stops_when_progress_raises(embedder: Embedder, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches can interrupt: what is not begun is not computed."""
    told: list[int] = []

    def interrupt(done: int) -> None:
        told.append(done)
        raise KeyboardInterrupt

    computed: list[int] = []
    vectors = runners.FastEmbed.vectors

    def counting(self: runners.FastEmbed, batch: list[str]) -> Any:
        computed.append(len(batch))
        return vectors(self, batch)

    monkeypatch.setattr(runners.FastEmbed, "vectors", counting)
    monkeypatch.setattr(runners, "threads", lambda: 2)
    many = texts * 40
    with pytest.raises(KeyboardInterrupt):
        embedder.embed(many, interrupt)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("embedding")]
    assert len(told) == 1
    batches = module._batches(module._loaded(embedder.model).lengths(many))
    assert len(batches) > 250
    assert 1 <= len(computed) < len(batches) / 2


def test_one_batch_is_computed_where_it_is_asked_for(
    model: ModelInfo, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread is started, and waited for, for what one alone does; several batches have as many as help."""
    runner = runners.FastEmbed(model)
    own = runner.vectors(texts[:2])
    where: list[str] = []
    vectors = runners.FastEmbed.vectors

    def watching(self: runners.FastEmbed, batch: list[str]) -> Any:
        where.append(threading.current_thread().name)
        return vectors(self, batch)

    monkeypatch.setattr(runners.FastEmbed, "vectors", watching)
    monkeypatch.setattr(runners, "threads", lambda: 2)
    (alone,) = runner.each([texts[:2]])
    assert where == [threading.current_thread().name]
    assert np.array_equal(alone, own)
    first, _ = runner.each([texts[:2], texts[2:4]])
    assert all(name.startswith("embedding") for name in where[1:])
    assert np.array_equal(first, own)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    """An empty sequence is no special case for the caller."""
    told: list[int] = []
    assert embedder.embed([], told.append).shape == (0, 384)
    assert told == []


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("", " \n\t"),
        ("\x00", ""),
        ("wind\x00 tunnel\x07", "wind tunnel"),
        ("wind \ud800tunnel\udfff", "wind tunnel"),
        ("Wind TUNNEL naïve", "wind tunnel naive"),
    ],
)
def test_odd_characters_are_as_if_they_were_not_there(embedder: Embedder, text: str, same: str) -> None:
    """Blank, NUL, control characters and lone surrogates have no token; case and accents do not count."""
    rows = embedder.embed([text, same])
    assert np.array_equal(rows[0], rows[1])
    assert np.isfinite(rows).all()


LONG_TEXTS = {
    "words": "wind tunnel " * 20_000,
    "one word": "a" * 200_000,
    "blanks": " " * 200_000 + "wind",
    "blanks between": "wind " * 100 + " " * 100_000 + "tunnel " * 14_000,
    "a word across the end of what is looked at": ("wind " * 252).ljust(module.LOOK_CHARACTERS - 7) + "experiment s",
    "no spaces": "東京" * 100_000,
    "dots": "wing." * 40_000,
}


@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS.keys())
def test_a_long_text_has_the_vector_of_its_first_tokens(embedder: Embedder, text: str) -> None:
    """Whatever it is made of, looking at a beginning only gives what looking at all of it gives."""
    whole = module._loaded(embedder.model).cut.encode(text).ids
    start = module._loaded(embedder.model).cut.encode(module._loaded(embedder.model).window(text)).ids
    assert start == whole
    assert embedder.embed_query(text).shape == (384,)


def test_tokens_are_counted_and_placed_without_limit(embedder: Embedder) -> None:
    """Offsets are characters of the text as given, also behind what the tokenizer drops."""
    text = "\ud800Naïve  wing\x00s 東 " + "wind " * 500
    offsets = embedder.offsets(text)
    assert len(offsets) > 500
    assert [text[start:end] for start, end in offsets[:4]] == ["Naïve", "wing\x00s", "東", "wind"]
    assert embedder.offsets("") == []


def test_threads_share_one_loaded_model(model: ModelInfo, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight threads that ask at once, nothing loaded yet, load one session and get the same vectors."""
    expected = Embedder(model).embed(texts[:4])
    monkeypatch.setattr(module, "_LOADED", {})
    found: list[Any] = []
    runners = set()

    def ask() -> None:
        runners.add(module._loaded(model).for_query())
        found.append(Embedder(model).embed(texts[:4]))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(np.array_equal(rows, expected) for rows in found)
    assert (len(module._LOADED), len(runners)) == (1, 1)


@pytest.mark.parametrize("work", ["query", "import"])
def test_a_graph_that_cannot_be_loaded_is_named(model: ModelInfo, tmp_path: Path, work: str) -> None:
    """Both runners say which folder it is, in one line."""
    import shutil

    folder = shutil.copytree(model.folder, tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"no graph")
    broken = Embedder(replace(model, folder=folder))
    with pytest.raises(ModelError, match="cannot be loaded") as refusal:
        broken.embed_query("wind") if work == "query" else broken.embed(["wind " * 300] * 20)
    assert str(folder) in refusal.value.message
    assert "\n" not in refusal.value.message


def test_a_number_of_threads_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """INFOSPACE_THREADS is a whole number from 1 or an error that names it."""
    monkeypatch.setenv("INFOSPACE_THREADS", "3")
    assert runners.threads() == 3
    monkeypatch.setenv("INFOSPACE_THREADS", "many")
    with pytest.raises(ModelError, match="INFOSPACE_THREADS is 'many'"):
        runners.threads()


@pytest.mark.parametrize("missing", ["fastembed", "onnxruntime", "tokenizers"])
def test_in_a_broken_installation_the_error_says_what_is_missing(model: ModelInfo, missing: str) -> None:
    """Each of the libraries is missed in the same words."""
    ask = (
        "import json, sys; sys.modules[sys.argv[1]] = None\n"
        "from infospace.core.errors import ModelError\n"
        "from infospace.search.models.find import find_model\n"
        "from infospace.search.embedding.embedder import Embedder\n"
        "embedder = Embedder(find_model())\n"
        "try: embedder.embed_query('wind'); embedder.embed(['wind ' * 300] * 20)\n"
        "except ModelError as error: print(json.dumps([error.message, error.hint]))"
    )
    done = subprocess.run([sys.executable, "-c", ask, missing], capture_output=True, text=True, check=True)
    message, hint = json.loads(done.stdout)
    assert message == f"texts cannot be embedded without {missing}"
    assert hint == "the installation is not whole: install infospace again, as you did"


def test_processors_that_share_a_core_count_once(tmp_path: Path) -> None:
    """As Linux tells of them; one of which nothing is told counts for itself."""
    for number, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    assert runners.physical_cores({0, 1, 2, 3}, tmp_path) == 2
    assert runners.physical_cores({0, 2}, tmp_path) == 1
    assert runners.physical_cores({0, 1, 9}, tmp_path) == 3
