"""Answers of models and of tools that only read, kept across runs beside the space on request.

A file each, named by the SHA-256 of all that the answer depends on: for a model its endpoint and name, the messages,
the schema and the limit of tokens; for a tool its name, what it says of itself, and the arguments. A model's answer
holds for good, a tool's for a time. Files are derived: whoever deletes them loses nothing but time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from infospace.core.json_types import JSON

AnswerKind: TypeAlias = Literal["llm", "tool"]

FOLDER = "answers"
TTL_S = 3_600.0
"""Seconds for which a tool's answer holds, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class CacheSize:
    """How many answers are kept, and their bytes."""

    models: int
    tools: int
    bytes: int


class AnswerCache:
    """The answers kept beside one space. `derived` is the folder of what is derived from it."""

    def __init__(self, derived: Path, ttl_s: float = TTL_S) -> None:
        self.folder = derived / FOLDER
        self.ttl_s = ttl_s

    def find(self, kind: AnswerKind, digest: bytes) -> JSON:
        """Return the answer that is kept under a digest; None where there is none, or it holds no longer."""
        try:
            stored: Any = json.loads(self._path(kind, digest).read_bytes())
            fresh = kind == "llm" or 0 <= time.time() - stored["at"] < self.ttl_s
            value: JSON = stored["answer"] if fresh else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return value

    def keep(self, kind: AnswerKind, digest: bytes, answer: JSON) -> None:
        """Keep an answer in the place of an earlier one. A full disk keeps none, and is no failure of the run."""
        path = self._path(kind, digest)
        text = json.dumps({"at": time.time(), "answer": answer}, ensure_ascii=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))
            Path(name).replace(path)
        except OSError:
            return

    def forget(self, kind: AnswerKind, digest: bytes) -> None:
        """Forget an answer that could not be used."""
        self._path(kind, digest).unlink(missing_ok=True)

    def size(self) -> CacheSize:
        """Return how much is kept."""
        counts = {kind: sum(1 for _ in self._files(kind)) for kind in ("llm", "tool")}
        size = sum(path.stat().st_size for kind in ("llm", "tool") for path in self._files(kind))
        return CacheSize(counts["llm"], counts["tool"], size)

    def purge(self) -> CacheSize:
        """Delete all answers; return what they were."""
        result = self.size()
        if self.folder.exists():
            shutil.rmtree(self.folder)
        return result

    def _files(self, kind: str) -> Iterator[Path]:
        folder = self.folder / kind
        return folder.glob("*.json") if folder.exists() else iter(())

    def _path(self, kind: AnswerKind, digest: bytes) -> Path:
        return self.folder / kind / f"{digest.hex()}.json"


def addressed(*parts: str | bytes) -> bytes:
    """Return the digest of several parts, none of which can be taken for a part of another."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part.encode() if isinstance(part, str) else part).digest())
    return whole.digest()
