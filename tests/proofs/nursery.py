"""Processes that are started, watched and killed, at a hundredth of a second each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class Nursery:
    """Starts processes that work, and ends them."""

    def __init__(self) -> None:
        script = str(Path(__file__).parent / "worker.py")
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def start(self, job: dict[str, Any]) -> int:
        """Start a process that does a job; return its id."""
        return self._ask(job | {"log": str(self._log(job))})["pid"]

    def wait(self, pid: int) -> int:
        """Return how a process ended."""
        return self._ask({"wait": pid})["code"]

    def told(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what a process said, without a last line that was cut off."""
        log = self._log(job)
        text = log.read_text() if log.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def _log(self, job: dict[str, Any]) -> Path:
        return Path(f"{job['path']} {job['mark']}.log")

    def _ask(self, order: dict[str, Any]) -> dict[str, int]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, int] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End it."""
        self._process.communicate()
