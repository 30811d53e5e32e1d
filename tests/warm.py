"""Processes of tests that begin with the packages loaded, as forks of one process that has imported them.

A child is a process like any other: its parent is the test's process, it has its own id, environment, folder,
descriptors and session, ends by signals and has an exit code. Only the second that each one would take to import the
same packages again is spared. Where the import itself is what is tried, processes are started as usual.
"""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("warmserver.py")
TESTS = Path(__file__).parent
READ_AT_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "OPENBLAS_", "OMP_", "TEXTUAL", "PYDANTIC_", "HF_")
"""Variables that Python or a package reads once: a process with others than the tests have is started as usual."""
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2): what a child of ours leaves behind becomes our child."""

_cold = subprocess.Popen


class WarmServer:
    """The process that the others are forks of, started when the first one is asked for."""

    vectors: Path
    """The folder of vectors that are known, which the processes share with the tests."""
    environment: Mapping[str, str]
    """With what it begins. It must not be what a test has changed: no process of another test would fit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Whether a process with this environment would have begun as the server did."""
        return _read_at_start(environment) == _read_at_start(self.environment)

    def fork(self, job: Mapping[str, Any], descriptors: list[int]) -> int:
        """Begin a process with those descriptors as its first three; return its id."""
        prctl = ctypes.CDLL(None).prctl
        with self._lock:
            connection = self._socket or self._begin()
            prctl(_SUBREAPER, 1, 0, 0, 0)
            try:
                data = json.dumps(job).encode()
                socket.send_fds(connection, [len(data).to_bytes(8, "big")], descriptors)
                connection.sendall(data)
                answer = connection.recv(8, socket.MSG_WAITALL)
            finally:
                prctl(_SUBREAPER, 0, 0, 0, 0)
        assert len(answer) == 8, "the process that others are forks of has ended"
        return int.from_bytes(answer, "big")

    def close(self) -> None:
        """End it."""
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait(60)
        self._socket = self._process = None

    def _begin(self) -> socket.socket:
        ours, its = socket.socketpair()
        with its:
            self._process = _cold(
                [sys.executable, str(SERVER), str(its.fileno()), str(self.vectors)],
                stdin=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                cwd=TESTS.parent,
                env={**self.environment, "OPENBLAS_NUM_THREADS": "1"},
            )
        self._socket = ours
        return ours


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_START)}


SERVING = WarmServer()


class WarmPopen(subprocess.Popen[Any]):
    """Starts `python -m tui.command …`, `python -c …` and tests' scripts by the server, anything else as usual."""

    def _execute_child(self, *arguments: Any) -> None:
        begin = super()._execute_child
        asked = inspect.signature(begin).bind(*arguments).arguments
        environment = dict(asked["env"] or os.environ)
        words = asked["args"]
        if not _is_ours(words) or asked["preexec_fn"] or asked["pass_fds"] or not SERVING.fits(environment):
            begin(*arguments)
            return
        job = {
            "words": [os.fspath(word) for word in words[1:]],
            "environment": environment,
            "folder": os.fspath(asked["cwd"] or Path.cwd()),
            "session": asked["start_new_session"],
        }
        own = [asked["p2cread"], asked["c2pwrite"], asked["errwrite"]]
        self.pid = SERVING.fork(job, [number if one == -1 else one for number, one in enumerate(own)])
        self._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(asked[name] for name in pipes))


def _is_ours(words: object) -> bool:
    if not isinstance(words, list | tuple) or len(words) < 2 or words[0] != sys.executable:
        return False
    if words[1] == "-m":
        return words[2:3] == type(words)(["tui.command"])
    if words[1] == "-c":
        return len(words) > 2
    return str(words[1]).endswith(".py") and TESTS in Path(words[1]).parents
