"""The process that tests' processes are forks of. It is told what to begin over a socket: see warm.py."""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import socket
import sys
import types
from pathlib import Path
from typing import Any

import primitives

PACKAGES = (
    "anyio._backends._asyncio",
    "infospace.llm.openai_client",
    "infospace.schema.validator",
    "infospace.search.embedding.embedder",
    "infospace.store.postgres",
    "infospace.store.sqlite",
    "infospace.tools.mcp.connection",
    "infospace.tools.search.finder",
    "openai",
    "planner.goals.write_plan_step",
    "planner.lifecycle.schedules",
    "planner.server.protocol.http",
    "planner.server.protocol.stdio",
    "psycopg",
    "tui.command.runs.answer",
    "tui.command.runs.resume",
    "tui.command.runs.run",
    "tui.command.runs.runs",
    "tui.command.runs.work",
    "tui.command.system.serve",
    *(f"primitives.{module.name}" for module in pkgutil.iter_modules(primitives.__path__)),
)
"""What is loaded for those that are forked, with all that it needs."""


def jobs(connection: socket.socket) -> dict[str, Any]:
    """Begin a process for each job that comes; return it in the process itself. Ends where nobody asks any more."""
    while True:
        size, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
        if not size:
            raise SystemExit
        job = json.loads(connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
        ids, tell_id = os.pipe()
        starts, start = os.pipe()
        between = os.fork()
        if between:
            os.close(tell_id)
            os.close(starts)
            for one in descriptors:
                os.close(one)
            # Only where the process in between is gone has its child become that of whoever asked.
            os.waitpid(between, 0)
            os.write(start, b"1")
            connection.send(os.read(ids, 8))
            os.close(ids)
            os.close(start)
            continue
        os.close(ids)
        os.close(start)
        if child := os.fork():
            os.write(tell_id, child.to_bytes(8, "big"))
            os._exit(0)
        os.close(tell_id)
        os.read(starts, 1)
        os.close(starts)
        connection.close()
        for number, one in enumerate(descriptors):
            os.dup2(one, number)
        for one in descriptors:
            os.close(one)
        return job


def share_vectors(folder: Path) -> None:
    """Have vectors that the tests know taken from there, and others put there."""
    from known_vectors import KnownVectors

    from infospace.search.embedding.embedder import Embedder

    for name, method in KnownVectors(folder).methods().items():
        setattr(Embedder, name, method)


def become(job: dict[str, Any]) -> None:
    """Make this process the one that was asked for."""
    if job["session"]:
        os.setsid()
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.stdin = sys.__stdin__ = _opened(0, "r", sys.stdin)
    sys.stdout = sys.__stdout__ = _opened(1, "w", sys.stdout)
    sys.stderr = sys.__stderr__ = _opened(2, "w", sys.stderr, line_buffering=True)


def _opened(number: int, mode: str, before: Any, *, line_buffering: bool = False) -> io.TextIOWrapper:
    stream = os.fdopen(number, f"{mode}b", closefd=False)
    newline = None if mode == "r" else "\n"
    lines = line_buffering or stream.isatty()
    text = io.TextIOWrapper(stream, before.encoding, before.errors, newline=newline, line_buffering=lines)
    text.mode = mode
    return text


def play(words: list[str]) -> None:
    """Run a module, a text or a script as `python` does."""
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        sys.path[0] = ""
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(words[1], "<string>", "exec"), main.__dict__)
    else:
        sys.argv = words
        sys.path[0] = str(Path(words[0]).absolute().parent)
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    for package in PACKAGES:
        importlib.import_module(package)
    share_vectors(Path(sys.argv[2]))
    gc.collect()
    gc.freeze()
    job = jobs(socket.socket(fileno=int(sys.argv[1])))
    become(job)
    play(job["words"])
