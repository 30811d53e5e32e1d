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
        ours: asyncio.StreamWriter | None = None
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            theirs, ours = await asyncio.open_connection("127.0.0.1", self._port)
            ours.write(self._with_token(head, writer.get_extra_info("sockname")[1]))
            going = [asyncio.create_task(_pipe(reader, ours)), asyncio.create_task(_pipe(theirs, writer))]
            try:
                await asyncio.wait([going[1]])
            finally:
                for task in going:
                    task.cancel()
                await asyncio.gather(*going, return_exceptions=True)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            return
        finally:
            for one in (writer, ours):
                if one is not None:
                    one.close()
                    with suppress(OSError):
                        await one.wait_closed()

    def _with_token(self, head: bytes, own: int) -> bytes:
        """Return the head of a request with the token, and the server's port in the place of ours.

        Any other host stays: the suite looks what becomes of it.
        """
        lines = [line for line in head[:-4].split(b"\r\n") if not line.lower().startswith(b"connection:")]
        mine, theirs = f":{own}".encode(), f":{self._port}".encode()
        lines = [
            line.replace(mine, theirs) if line.lower().startswith((b"host:", b"origin:")) else line for line in lines
        ]
        lines += [b"Authorization: Bearer " + self._token.encode(), b"Connection: close"]
        return b"\r\n".join(lines) + b"\r\n\r\n"

    async def close(self, server: asyncio.Server) -> None:
        """Break off what is handed on."""
        server.close()
        tasks = [task for task in self._tasks if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
        asyncio.run_coroutine_threadsafe(door.close(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
