"""BERT in plain NumPy, to hold the embedder against; a process of its own, in which BLAS has one thread.

The threads of BLAS wait for each other by spinning: on a machine whose cores are busy, some two thousand products
take minutes instead of seconds. How many threads there are is settled when NumPy is imported.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ALONE = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "VECLIB", "BLIS")}
"""Whatever BLAS this NumPy was built with: one thread."""

STEPS = 10_000
ERF = np.array([math.erf(step / STEPS) for step in range(-6 * STEPS, 6 * STEPS + 2)])


def erf(x: Array) -> Array:
    """math.erf at steps of 1e-4, linear between them: the error is below 2e-9."""
    place = np.clip(x, -6, 6) * STEPS + 6 * STEPS
    step = place.astype(np.int64)
    between: Array = ERF[step] + (ERF[step + 1] - ERF[step]) * (place - step)
    return between


class Reference:
    """BERT and its pooling in float64 NumPy, after Devlin et al. 2018, from the released weights alone."""

    def __init__(self, release: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self.weights = {k: v.astype(np.float64) for k, v in load_file(release / "model.safetensors").items()}
        self.tokenizer = Tokenizer.from_file(str(release / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def linear(self, x: Array, name: str) -> Array:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def normalise(self, x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        result: Array = scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return result

    def layer(self, x: Array, name: str) -> Array:
        n = len(x)
        parts = [self.linear(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value")]
        q, k, v = (part.reshape(n, 12, 32).swapaxes(0, 1) for part in parts)
        scores = q @ k.swapaxes(1, 2) / math.sqrt(32)
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        context = (chances / chances.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(n, 384)
        attended = self.linear(context, f"{name}.attention.output.dense")
        x = self.normalise(attended + x, f"{name}.attention.output.LayerNorm")
        wide = self.linear(x, f"{name}.intermediate.dense")
        gelu = wide * (1 + erf(wide / math.sqrt(2))) / 2
        return self.normalise(self.linear(gelu, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")

    def vector(self, text: str) -> Array:
        ids = self.tokenizer.encode(text).ids
        tables = [self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
        x = self.normalise(tables[0][ids] + tables[1][: len(ids)] + tables[2][0], "embeddings.LayerNorm")
        for index in range(6):
            x = self.layer(x, f"encoder.layer.{index}")
        mean = x.mean(0)
        result: Array = mean / np.linalg.norm(mean)
        return result


def reference_vectors(release: Path, texts: Sequence[str], work: Path) -> Array:
    """Return the vectors of texts, shape (len(texts), 384); `work` is a folder to write them to in between."""
    written = work / "reference.npy"
    command = [sys.executable, __file__, str(release), str(written)]
    subprocess.run(command, input=json.dumps(list(texts)), text=True, check=True, env=os.environ | ALONE)
    vectors: Array = np.load(written)
    return vectors


if __name__ == "__main__":
    reference = Reference(Path(sys.argv[1]))
    np.save(sys.argv[2], np.array([reference.vector(text) for text in json.load(sys.stdin)]))
