"""One browser that looks: its process of the screen, begun, spoken with and ended."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from tui.web import DRIVER

ENDING_S = 15.0
"""Seconds that a screen has to put its runs to rest."""


class Session(AppService):
    """A process of the screen, in a session of its own: what ends it is its browser, or the server."""

    def __init__(
        self,
        command: Sequence[str],
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[object]],
    ) -> None:
        async def closed() -> None:
            await close()

        super().__init__(
            "",
            write_bytes=write_bytes,
            write_str=write_str,
            close=closed,
            download_manager=DownloadManager(),
        )
        self._arguments = list(command)
        self._ending: asyncio.Task[None] | None = None

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        return {**super()._build_environment(width, height), "TEXTUAL_DRIVER": DRIVER}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        environment = self._build_environment(width, height)
        self._process = process = await asyncio.create_subprocess_exec(
            *self._arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
        )
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Pass on what it draws until it ends; then nobody looks at it any more."""
        try:
            await super().run()
        finally:
            with suppress(ConnectionError):
                await self.remote_close()

    async def on_data(self, payload: bytes) -> None:
        """Pass on what it draws; a browser that is gone does not keep it from drawing, and so from ending."""
        with suppress(ConnectionError):
            await super().on_data(payload)

    async def on_meta(self, data: bytes) -> None:
        """Pass on what it says besides."""
        with suppress(ConnectionError):
            await super().on_meta(data)

    async def end(self) -> None:
        """Have it end, after its runs are at rest; one that does not is killed. It is gone afterwards."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        try:
            async with asyncio.timeout(ENDING_S):
                await self.stop()
                if self._process is not None:
                    await self._process.wait()
        except TimeoutError:
            pass
        finally:
            await self._kill()

    async def _kill(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
