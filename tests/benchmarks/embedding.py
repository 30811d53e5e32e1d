"""How fast imported texts are embedded, beside fastembed's own default call on the same texts.

Both get the same weights, the same texts in the same order and all cores, and take turns in one process;
the figures are medians of three turns. `python tests/benchmarks/embedding.py [--data FOLDER]`, where FOLDER
has a `corpus.jsonl` of `title` and `text`, adds a row for that collection.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastembed import TextEmbedding
from numpy.typing import NDArray

from infospace.search.embedder import Embedder
from infospace.search.model import get_model

TURNS = 3
TEXTS = 256
SHORTEST, LONGEST = 5, 400
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


def short_texts(count: int = TEXTS, seed: int = 8) -> list[str]:
    """Make texts of 5 to 400 common words, half of them below 45: the logarithms of the lengths alike."""
    chance = np.random.default_rng(seed)
    return _texts(chance, np.exp(chance.uniform(np.log(SHORTEST), np.log(LONGEST), size=count)).astype(int))


def _texts(chance: np.random.Generator, lengths: NDArray[np.int64]) -> list[str]:
    return [" ".join(chance.choice(WORDS.split(), size=length)) for length in lengths]


def collection(folder: Path, count: int = TEXTS) -> list[str]:
    """Read the first documents of a collection, title and text joined."""
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        read = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
    return [f"{document['title']}\n\n{document['text']}" for document in read]


def compare(texts: Sequence[str], ours: Embedder, theirs: TextEmbedding) -> dict[str, float]:
    """Return texts a second of both (medians), their ratio, and the largest difference of any number."""

    def default_call() -> Any:
        return np.array(list(theirs.embed(list(texts))))

    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(TURNS):
        found = _timed(lambda: ours.embed(texts), times["ours"])
        expected = _timed(default_call, times["theirs"])
    rates = {side: len(texts) / statistics.median(seconds) for side, seconds in times.items()}
    return {
        "texts": len(texts),
        "ours": rates["ours"],
        "theirs": rates["theirs"],
        "ratio": rates["ours"] / rates["theirs"],
        "difference": float(np.abs(found - expected).max()),
    }


def run(data: Path | None = None) -> dict[str, dict[str, float]]:
    """Return the comparison of each set of texts, by its name."""
    model = get_model()
    ours = Embedder(model)
    theirs = TextEmbedding(model.name, specific_model_path=str(model.folder))
    sets = {"mixed": mixed_texts(), "mostly short": short_texts()}
    if data is not None:
        sets[data.name] = collection(data)
    for warm in (ours.embed, theirs.embed):
        list(warm(sets["mixed"][:8] * 8))
    return {name: compare(texts, ours, theirs) for name, texts in sets.items()}


def _timed(call: Callable[[], Any], times: list[float]) -> Any:
    start = time.perf_counter()
    result = call()
    times.append(time.perf_counter() - start)
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with corpus.jsonl")
    table = run(parser.parse_args().data)
    print(f"{'texts':>14} {'count':>6} {'infospace/s':>12} {'fastembed/s':>12} {'ratio':>6} {'difference':>11}")
    for name, row in table.items():
        rates = f"{row['ours']:12.1f} {row['theirs']:12.1f} {row['ratio']:6.2f} {row['difference']:11.1e}"
        print(f"{name:>14} {row['texts']:6.0f} {rates}")


if __name__ == "__main__":
    main()
