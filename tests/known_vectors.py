"""What the model computed for one test is not computed for another one, whichever process plays it."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infospace.search.embedding.embedder import Embedder
    from infospace.search.models.find import ModelInfo


class KnownVectors:
    """Vectors that the model gave in this run of the tests, by the model's key and the text: one file for each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, bytes] = {}

    def get(self, key: str, text: str) -> bytes | None:
        """Return the bytes of a vector, which this process or another one had computed."""
        path = self._path(key, text)
        if path.name not in self._read:
            try:
                self._read[path.name] = path.read_bytes()
            except FileNotFoundError:
                return None
        return self._read[path.name]

    def put(self, key: str, text: str, vector: bytes) -> None:
        """Keep a vector; nobody reads half of one."""
        path = self._path(key, text)
        self._read[path.name] = vector
        half = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        half.write_bytes(vector)
        half.replace(path)

    def _path(self, key: str, text: str) -> Path:
        return self.folder / hashlib.sha256(f"{key}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()

    def methods(self) -> dict[str, Callable[..., Any]]:
        """Return the methods of an Embedder that give the vectors of texts, by name: each computes what is missing."""
        from infospace.search.embedding.embedder import Embedder

        compute, ask, ask_each = Embedder.embed, Embedder.embed_query, Embedder.embed_queries

        def embed(self_: Embedder, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Any:
            def computed(missing: list[str], known: int) -> Any:
                if known and progress is not None:
                    progress(known)
                return compute(self_, missing, progress and (lambda done: progress(known + done))) if missing else []

            return self._kept(self_.model, texts, "", computed)

        def embed_query(self_: Embedder, text: str) -> Any:
            return self._kept(
                self_.model, [text], " of a query", lambda missing, _: [ask(self_, one) for one in missing]
            )[0]

        def embed_queries(self_: Embedder, texts: Sequence[str]) -> Any:
            return self._kept(
                self_.model, texts, " of queries", lambda missing, _: ask_each(self_, missing) if missing else []
            )

        return {"embed": embed, "embed_query": embed_query, "embed_queries": embed_queries}

    def _kept(
        self, model: ModelInfo, texts: Sequence[str], asked: str, computed: Callable[[list[str], int], Any]
    ) -> Any:
        """Return the rows of texts; `computed` gives those of some texts, where so many others are known."""
        import numpy as np

        key = f"{model.key}{asked}"
        found = [self.get(key, text) for text in texts]
        missing = [at for at, vector in enumerate(found) if vector is None]
        rows = computed([texts[at] for at in missing], len(texts) - len(missing))
        for at, row in zip(missing, rows, strict=True):
            found[at] = np.asarray(row, np.float32).tobytes()
            self.put(key, texts[at], found[at])
        return np.frombuffer(b"".join(found), np.float32).reshape(len(texts), model.dimension).copy()
