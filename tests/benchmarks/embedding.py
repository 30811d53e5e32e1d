"""How fast imported texts are embedded, beside fastembed's and sentence-transformers' own default calls.

All get the same weights, the same texts in the same order and all cores, and take turns in one process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastembed import TextEmbedding
from figures import NOT_INSTALLED, Cell, Table, interleaved, spread
from numpy.typing import NDArray
from peers import sentence_transformer

from infospace.search.embedding.embedder import Embedder
from infospace.search.models.find import get_model

TURNS = 3
TEXTS = 256
SHORTEST, LONGEST = 5, 400
MIDDLE, BREADTH = 5.34, 0.50
"""Logarithms of the tokens of Cranfield's 1,400 abstracts: their mean (208 tokens) and standard deviation."""

QUIET = 0.25
"""Seconds before a call: so long the threads of numeric libraries may go on spinning after one."""

MIXED, ABSTRACTS = "mixed lengths, made", "abstracts, made"
WORDS = """
the of and to a in is that for it as was with be by on not he this are or his from at which but have an had
they you were their one all we can her has there been if more when will would who so no out up into river
garden paper window letter morning engine bridge water winter market teacher music doctor village question
answer reason method result number picture journey mountain harbour library kitchen station plan meeting
budget deadline recipe invoice experiment pressure velocity boundary surface measurement theory
"""


def mixed_texts(count: int = TEXTS, seed: int = 7) -> list[str]:
    """Make texts of 5 to 400 common words, one token each, all lengths alike."""
    chance = np.random.default_rng(seed)
    return _texts(chance, chance.integers(SHORTEST, LONGEST, size=count, endpoint=True))


def abstracts(count: int = TEXTS, seed: int = 8) -> list[str]:
    """Make texts of common words as long as abstracts are: the logarithms of the lengths are normal."""
    chance = np.random.default_rng(seed)
    return _texts(chance, np.exp(chance.normal(MIDDLE, BREADTH, size=count)).astype(int))


def _texts(chance: np.random.Generator, lengths: NDArray[np.int64]) -> list[str]:
    return [" ".join(chance.choice(WORDS.split(), size=length)) for length in lengths]


def collection(folder: Path, count: int = TEXTS) -> list[str]:
    """Read the first documents of a collection, title and text joined."""
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        read = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
    return [f"{document['title']}\n\n{document['text']}" for document in read]


def run(data: Path | None = None) -> dict[str, Table]:
    """Return the table `embedding`: rates of each set of texts, ratios, and the largest difference of any number.

    `data` is a folder with a `corpus.jsonl` of `title` and `text`, a set more.
    """
    model = get_model()
    fastembed = TextEmbedding(model.name, specific_model_path=str(model.folder))
    encoder = sentence_transformer(model.folder)
    calls: dict[str, Callable[[list[str]], Any]] = {
        "infospace": Embedder(model).embed,
        "fastembed": lambda texts: np.array(list(fastembed.embed(texts))),
    }
    if encoder is not None:
        calls["sentence-transformers"] = lambda texts: encoder.encode(texts, show_progress_bar=False)
    sets = {MIXED: mixed_texts(), ABSTRACTS: abstracts()}
    if data is not None:
        sets[data.name] = collection(data)
    for call in calls.values():
        call(sets[MIXED][:8] * 8)
    table: Table = {}
    for name, texts in sets.items():
        for row, cell in _compared(texts, calls).items():
            table.setdefault(row, {})[name] = cell
    return {"embedding": table}


def _compared(texts: Sequence[str], calls: dict[str, Callable[[list[str]], Any]]) -> dict[str, Cell]:
    found: dict[str, Any] = {}

    def keeping(name: str) -> Callable[[int], None]:
        def call(_: int) -> None:
            found[name] = calls[name](list(texts))

        return call

    times = interleaved({name: keeping(name) for name in calls}, TURNS, warm=0, pause=QUIET)
    rates = {name: len(texts) / (spread(taken).p50 / 1000) for name, taken in times.items()}
    cells: dict[str, Cell] = {"texts": float(len(texts)), "infospace, texts/s": rates["infospace"]}
    for name in ("fastembed", "sentence-transformers"):
        there = name in rates
        cells[f"{name}, texts/s"] = rates[name] if there else NOT_INSTALLED
        cells[f"infospace : {name}"] = rates["infospace"] / rates[name] if there else NOT_INSTALLED
        away = float(np.abs(found["infospace"] - found[name]).max()) if there else NOT_INSTALLED
        cells[f"vectors differ from {name}'s by"] = away
    return cells
