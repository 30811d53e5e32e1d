"""The command in a process of its own, with tools, at a terminal or without one."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).with_name("tooled.py")
PATIENCE = 60.0
"""Seconds after which something is taken not to come."""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of a command: a space and a log of calls in a folder."""
    own = {"INFOSPACE_SPACE": str(folder / "space.db"), "LOG": str(folder / "log"), "NO_COLOR": "1", "COLUMNS": "200"}
    return {**os.environ, **own, **more}


def command(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command without a terminal."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE * 2,
        env=environment(folder, **more),
    )


def calls(folder: Path) -> list[str]:
    """Return what the tool was called with."""
    log = folder / "log"
    return log.read_text(encoding="utf-8").split() if log.exists() else []


class Terminal:
    """What a person sees and types at a terminal where the command runs."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.seen = ""
        self._master = master

    def until(self, words: str, times: int = 1) -> str:
        """Read until something was shown so many times; return all that was shown."""
        end = time.monotonic() + PATIENCE
        while self.seen.count(words) < times:
            assert self._read(end - time.monotonic()), f"{words!r} did not come: {self.seen}"
        return self.seen

    def types(self, line: str) -> None:
        """Type a line."""
        self.types_raw(f"{line}\n".encode())

    def types_raw(self, typed: bytes) -> None:
        """Type bytes, which need not be text."""
        os.write(self._master, typed)

    def ended(self) -> int:
        """Read to the end; return the exit code."""
        end = time.monotonic() + PATIENCE
        while self._read(end - time.monotonic()):
            pass
        return self.process.wait(PATIENCE)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        try:
            read = os.read(self._master, 65_536) if ready else b""
        except OSError:
            return False
        self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read.decode(errors="replace").replace("\r", ""))
        return bool(read)


@contextmanager
def terminal(folder: Path, *words: str, **more: str) -> Iterator[Terminal]:
    """Run the command at a terminal of its own; afterwards the process is gone."""
    with program_at_terminal([sys.executable, str(SCRIPT), *words], environment(folder, **more)) as opened:
        yield opened


@contextmanager
def program_at_terminal(program: Sequence[str], environment: Mapping[str, str]) -> Iterator[Terminal]:
    """Run any program at a terminal of its own; afterwards the process is gone."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        program, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)
