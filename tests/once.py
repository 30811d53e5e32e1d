"""What is dear to make is made once for all processes that test side by side."""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that is filled once for all processes that test side by side. Copy what is in it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            make(folder)
            (folder / "made").touch()
    return folder


class KnownVectors:
    """Vectors that the model gave in this run of the tests, by the model's key and the text: one file for each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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
        return self._folder / hashlib.sha256(f"{key}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
