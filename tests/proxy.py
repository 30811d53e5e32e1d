"""A proxy before a PostgreSQL server that counts, delays and cuts what passes through it, as a bad network does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

SIZE = 65_536


class Proxy:
    """Listens on a free port of this machine, and connects each client with a server.

    `address`: of the server, by its socket or its port. `delay`: seconds that each piece waits in both directions.
    `up` and `down`: how many bytes came from clients and from the server; `pieces`: in how many times from clients.
    """

    def __init__(self, address: str, delay: float = 0.0) -> None:
        self._server = urlsplit(address)
        self.delay = delay
        self.up = self.down = self.pieces = 0
        self._cut: Callable[[bytes], bool] | None = None
        self._answered = False
        self.cut_piece = b""
        """What a client sent last before its connection was cut."""
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """Where clients are to connect to."""
        user = f"{self._server.username}@" if self._server.username else ""
        return f"postgresql://{user}127.0.0.1:{self._listener.getsockname()[1]}{self._server.path}"

    def cut_after(self, pieces: int, *, answered: bool) -> None:
        """Cut the connection of a client, once, at what it sends after so many pieces: a statement is one.

        The server does not get it; or it does, and its answer is lost.
        """
        left = iter(range(pieces))
        self._answered = answered
        self._cut = lambda _: next(left, None) is None

    def cut_at(self, text: bytes, *, answered: bool) -> None:
        """The same, at the first piece that has this text in it."""
        self._answered = answered
        self._cut = lambda data: text in data

    @property
    def has_cut(self) -> bool:
        """Whether what was to be cut is cut."""
        return self._cut is None

    def close(self) -> None:
        """Cut all."""
        self._wake.set()
        self._listener.close()
        with self._lock:
            left = list(self._open)
        for one in left:
            _shut(one)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    server = self._connected()
                except OSError:
                    _shut(client)
                    continue
                with self._lock:
                    self._open |= {client, server}
                dying = threading.Event()
                threading.Thread(target=self._pass, args=(client, server, dying, True), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, dying, False), daemon=True).start()

    def _connected(self) -> socket.socket:
        host = parse_qs(self._server.query).get("host", [self._server.hostname or "127.0.0.1"])[0]
        if not host.startswith("/"):
            return socket.create_connection((host, self._server.port or 5432))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{self._server.port or 5432}")
        return server

    def _pass(self, source: socket.socket, target: socket.socket, dying: threading.Event, is_client: bool) -> None:
        """Pass on what comes, until one side ends or the connection is to be cut."""
        with suppress(OSError):
            while data := source.recv(SIZE):
                if self.delay:
                    self._wake.wait(self.delay)
                if is_client and self._cut is not None and self._cut(data):
                    self._cut, self.cut_piece = None, data
                    if not self._answered:
                        break
                    dying.set()
                if not is_client and dying.is_set():
                    break  # the server has done what it was asked for, and nobody learns of it
                with self._lock:
                    if is_client:
                        self.up += len(data)
                        self.pieces += 1
                    else:
                        self.down += len(data)
                target.sendall(data)
        for one in (source, target):
            _shut(one)
        with self._lock:
            self._open -= {source, target}


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
