"""Embedding models small enough to be made in a test: BERT with random weights, and a tokenizer of letters.

Their vectors mean nothing, and are always the same; all about them but their size is the real thing.
"""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from infospace.search.models import onnx_graph as onnxgraph

WORDS = ["sea", "ship", "sail", "salt", "moon", "tide", "harbour", "storm", "anchor", "island"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = [*SPECIAL, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS), *".,!?#-"]
WINDOW = 24


def make_model(folder: Path, dimension: int = 32, seed: int = 1) -> Path:
    """Write a model of one layer and two heads into a new folder; return it."""
    folder.mkdir(parents=True)
    weights = folder / "weights.safetensors"
    _write_weights(weights, dimension, seed)
    with mock.patch.multiple(onnxgraph, HIDDEN=dimension, HEADS=2, LAYERS=1):
        onnxgraph.write_graph(weights, folder)
    weights.unlink()
    _write_tokenizer(folder / "tokenizer.json")
    (folder / "config.json").write_text(json.dumps({"hidden_size": dimension, "pad_token_id": 0}))
    settings = {"model_max_length": WINDOW, "pad_token": "[PAD]", "tokenizer_class": "BertTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def _write_weights(path: Path, dimension: int, seed: int) -> None:
    from safetensors.numpy import save_file

    chance = np.random.default_rng(seed)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return (chance.normal(size=shape) * 0.3).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": drawn(len(VOCABULARY), dimension) * 4,
        "embeddings.position_embeddings.weight": drawn(WINDOW, dimension),
        "embeddings.token_type_embeddings.weight": drawn(2, dimension),
    }
    layer = "encoder.layer.0."
    shapes = {f"{layer}attention.self.{part}": (dimension, dimension) for part in ("query", "key", "value")}
    shapes |= {
        f"{layer}attention.output.dense": (dimension, dimension),
        f"{layer}intermediate.dense": (2 * dimension, dimension),
        f"{layer}output.dense": (dimension, 2 * dimension),
    }
    for name, shape in shapes.items():
        tensors |= {f"{name}.weight": drawn(*shape), f"{name}.bias": drawn(shape[0])}
    for name in ("embeddings.LayerNorm", f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"):
        tensors |= {f"{name}.weight": np.ones(dimension, np.float32), f"{name}.bias": drawn(dimension)}
    save_file(tensors, path)


def _write_tokenizer(path: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {token: at for at, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 - a token of words
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.save(str(path))
