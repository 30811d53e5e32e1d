"""A real Chromium without a window, spoken with over the DevTools protocol; and the screen that it looks at."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

PATIENCE = 90
"""Seconds after which what was waited for will not come."""
SIGNS = re.compile(r"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])")
"""What commands a terminal, and is not to be seen."""


def chromium() -> str | None:
    """Return where Chromium is, None where it is not."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next(filter(None, found), None)


@contextmanager
def serving(space: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve the screen of a space; give its address, and the process."""
    command = [sys.executable, "-m", "tui.command", "--space", str(space), "tui", "--web", *options]
    environment = {**os.environ, "XDG_STATE_HOME": str(space.parent / "state")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)


def screens(space: Path) -> list[int]:
    """Return the processes of the screens of a space."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(space).encode() in words and b"tui" in words and b"--web" not in words:
            found.append(int(path.parent.name))
    return found


class Page:
    """A page in Chromium: what it asked for, what its socket said, what it complained of."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self._drawn = ""

    async def listen(self) -> None:
        """Take what Chromium tells."""
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told)
            else:
                self._take(told["method"], told["params"])

    def _take(self, method: str, said: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.asked.append(said["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.asked.append(said["url"])
        elif method == "Network.webSocketFrameReceived" and said["response"]["opcode"] == 2:
            self._drawn += base64.b64decode(said["response"]["payloadData"]).decode("utf-8", "replace")
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.complaints.append(said["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(said["exceptionDetails"]))

    @property
    def text(self) -> str:
        """All that was drawn so far, as text."""
        return SIGNS.sub("", self._drawn)

    async def tell(self, method: str, **params: Any) -> Any:
        """Tell Chromium something; return what it answers."""
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        told = await asyncio.wait_for(answer, PATIENCE)
        assert "error" not in told, told
        return told["result"]

    async def evaluate(self, script: str) -> Any:
        """Return what a script in the page gives."""
        given = {"expression": script, "returnByValue": True, "awaitPromise": True}
        return (await self.tell("Runtime.evaluate", **given))["result"].get("value")

    async def gives(self, script: str) -> None:
        """Wait until a script in the page gives what is true."""
        end = time.monotonic() + PATIENCE
        while not await self.evaluate(script):
            assert time.monotonic() < end, f"waited for {script} in vain; {self.complaints}"
            await asyncio.sleep(0.02)

    async def press(self, key: str, code: int = 0) -> None:
        """Press a key."""
        typed = {"text": key} if len(key) == 1 else {}
        number = code or ord(key.upper())
        await self.tell("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=number, **typed)
        await self.tell("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=number)

    async def click(self, x: float, y: float) -> None:
        """Click a place."""
        for kind in ("mousePressed", "mouseReleased"):
            await self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait until something holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"waited for {what} in vain; {self.complaints}; drawn:\n{self.text[-3000:]}"
            await asyncio.sleep(0.02)

    async def sees(self, text: str) -> None:
        """Wait until a text was drawn."""
        await self.until(lambda: text in self.text, repr(text))

    async def paints(self, shades: int) -> None:
        """Wait until a picture of the page has more shades than so many."""
        end = time.monotonic() + PATIENCE
        while (found := await self.shades()) <= shades:
            assert time.monotonic() < end, f"{found} shades; {self.complaints}"
            await asyncio.sleep(0.02)

    async def shades(self) -> int:
        """Return how many values there are in the bytes of a picture of the page: few where it is blank."""
        picture = base64.b64decode((await self.tell("Page.captureScreenshot", format="png"))["data"])
        at, data = 8, b""
        while at < len(picture):
            length, kind = int.from_bytes(picture[at : at + 4], "big"), picture[at + 4 : at + 8]
            data += picture[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
            at += 12 + length
        return len(set(zlib.decompress(data)))


@contextmanager
def _started(folder: Path) -> Iterator[str]:
    """Start a Chromium that reaches nothing but loopback; give the address of its DevTools."""
    found = chromium()
    assert found is not None
    profile = folder / "chromium"
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    command = [found, *options, rules, f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
    with (folder / "chromium.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        file = profile / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE
        while not (file.exists() and file.read_text().count("\n")):
            told = (folder / "chromium.log").read_text()[-2000:]
            assert process.poll() is None, told
            assert time.monotonic() < end, told
            time.sleep(0.05)
        yield f"http://127.0.0.1:{file.read_text().split()[0]}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Callable[[str], Any]]:
    """Start a Chromium; give what opens a page in it."""
    listening: list[asyncio.Task[None]] = []
    with _started(folder) as address:
        async with aiohttp.ClientSession() as client:

            async def opened(url: str) -> Page:
                async with client.put(f"{address}/json/new?about:blank") as answer:
                    target = (await answer.json())["webSocketDebuggerUrl"]
                page = Page(await client.ws_connect(target, max_msg_size=0))
                listening.append(asyncio.create_task(page.listen()))
                for domain in ("Network", "Page", "Log", "Runtime"):
                    await page.tell(f"{domain}.enable")
                await page.tell("Page.bringToFront")
                await page.tell("Page.navigate", url=url)
                return page

            yield opened
            for task in listening:
                task.cancel()
