"""A door before a server that wants a token: the suite has none, so each request gets one on its way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

LONGEST_HEAD = 65_536


class TokenProxy:
    """Hands each request on with the token; one request a connection, so that no further one is missed."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token
        self._tasks: set[asyncio.Task[None] | None] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand on what a client sends, and what is answered, until either ends."""
        self._tasks.add(asyncio.current_task())
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = await reader.readuntil(b"\r\n\r\n")
            lines = [line for line in head[:-4].split(b"\r\n") if not line.lower().startswith(b"connection:")]
            own = f":{writer.get_extra_info('sockname')[1]}".encode()
            # The server knows itself by its own port; any other host stays, since the suite looks what becomes of it.
            lines = [
                line.replace(own, f":{self._port}".encode())
                if line.lower().startswith((b"host:", b"origin:"))
                else line
                for line in lines
            ]
            lines += [b"Authorization: Bearer " + self._token.encode(), b"Connection: close"]
            theirs, ours = await asyncio.open_connection("127.0.0.1", self._port)
            ours.write(b"\r\n".join(lines) + b"\r\n\r\n")
            going = [asyncio.create_task(_pipe(reader, ours)), asyncio.create_task(_pipe(theirs, writer))]
            await asyncio.wait([going[1]])
            going[0].cancel()
            await asyncio.gather(*going, return_exceptions=True)
            ours.close()
        writer.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()


@contextmanager
def with_token(port: int, token: str) -> Iterator[int]:
    """Run the door in a thread; yields its port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    door = TokenProxy(port, token)
    opening = asyncio.start_server(door.serve, "127.0.0.1", 0, limit=LONGEST_HEAD)
    server = asyncio.run_coroutine_threadsafe(opening, loop).result()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
