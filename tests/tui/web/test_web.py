"""`infospace tui --web` in a real Chromium, and to clients that are none of its own."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from browsing import PATIENCE, browser, chromium, screens, serving

from infospace import open_space
from planner.execute.start import run_sync
from planner.lifecycle.resume import answer
from tui.screen_registry import numbered
from tui.web.server import _number

needs_chromium = pytest.mark.skipif(chromium() is None, reason="there is no Chromium on this machine")

TOOLS = next(str(number) for number, entry in numbered() if entry.name == "tools")
"""The key of a place."""
SLOW = {
    "goal": "Wait for long",
    "steps": [{"type": "ask", "value": "Shall it go on?", "out": "$word"}, {"type": "wait", "seconds": 59}],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A space with a run."""
    path = tmp_path / "looked at.db"
    with open_space(path) as space:
        plan = {"goal": "Write it down", "steps": [{"type": "create-note", "value": "a word", "out": "$x"}]}
        assert run_sync(space, plan).status == "success"
    return path


def run_another(path: Path) -> None:
    """Run something, as another process would."""
    with open_space(path) as space:
        assert run_sync(space, {"goal": "Seen by both", "steps": [{"type": "say", "value": "x"}]}).status == "success"


def until(holds: Any) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@dataclass
class Got:
    """What the server answered."""

    status: int
    text: str
    headers: Mapping[str, str]


async def got(url: str) -> Got:
    """Ask for a page."""
    async with aiohttp.ClientSession() as client, client.get(url) as answer:
        return Got(answer.status, await answer.text(), answer.headers)


def play(story: Coroutine[Any, Any, None]) -> None:
    """Play a story."""
    asyncio.run(story)


@needs_chromium
@pytest.mark.slow
def test_a_browser_shows_the_screen_and_takes_keys_and_clicks(file: Path, tmp_path: Path) -> None:
    """Everything comes from the address itself; when all is over nothing is left."""

    async def story(url: str) -> None:
        async with browser(tmp_path) as opened:
            page = await opened(url)
            await page.sees("Write it down")
            await page.gives("document.fonts.check(\"16px 'Roboto Mono'\")")
            await page.paints(40)
            await page.press(TOOLS)
            await page.sees("infospace/compute")
            await page.click(100, 8)
            await page.sees("create-note → $x")
            assert page.complaints == []
            origin = urlsplit(url).netloc
            foreign = [one for one in page.asked if urlsplit(one).netloc != origin and not one.startswith("data:")]
            assert foreign == []
            assert any(one.startswith("ws://") for one in page.asked)
            await page.press(TOOLS)
            await page.press("]")
            await page.sees("The Collection that grows.")
            granted = ["clipboardReadWrite", "clipboardSanitizedWrite"]
            await page.tell("Browser.grantPermissions", origin=f"http://{origin}", permissions=granted)
            await page.press("y")
            await page.sees("Copied ")
            await page.gives("navigator.clipboard.readText().then(copied => copied.startsWith('takes\\n{'))")
            await page.press("?")
            await page.sees("Help: ")

    with serving(file) as (url, process):
        play(story(url))
        until(lambda: not screens(file))
    assert process.returncode == 0
    assert screens(file) == []


@needs_chromium
@pytest.mark.slow
def test_each_browser_has_a_screen_of_its_own_over_the_same_space(file: Path, tmp_path: Path) -> None:
    """What one does the other sees; leaving ends one; Ctrl-C ends all, and leaves nothing behind."""

    async def story(url: str, process: subprocess.Popen[str]) -> None:
        async with browser(tmp_path) as opened:
            first = await opened(url)
            await first.sees("Write it down")
            second = await opened(url)
            await second.sees("Write it down")
            assert len(screens(file)) == 2
            await asyncio.to_thread(run_another, file)
            await first.sees("Seen by both")
            await second.sees("Seen by both")
            await second.tell("Page.bringToFront")
            await second.gives("document.hasFocus()")
            await second.tell("Input.dispatchKeyEvent", type="keyDown", key="q", windowsVirtualKeyCode=81, modifiers=2)
            await second.until(lambda: len(screens(file)) == 1, "the end of one")
            await second.gives("document.body.classList.contains('-closed')")
            process.send_signal(signal.SIGINT)
            await asyncio.to_thread(process.wait, PATIENCE)
            assert screens(file) == []

    with serving(file) as (url, process):
        play(story(url, process))
    assert process.returncode == 0


def test_a_run_is_put_to_rest_when_its_browser_goes(file: Path) -> None:
    """It can be resumed; nothing is lost."""
    with open_space(file) as space:
        assert run_sync(space, SLOW).run == "run_2"
        answer(space, "run_2", "1", "yes")

    async def story(url: str) -> None:
        origin = f"http://{urlsplit(url).netloc}"
        async with aiohttp.ClientSession() as client, client.ws_connect(f"{url}ws", origin=origin) as socket:
            drawn = b""
            async with asyncio.timeout(PATIENCE):
                while b"Wait for long" not in drawn:
                    drawn += await socket.receive_bytes()
            await socket.send_json(["stdin", "r"])

            def running() -> bool:
                with open_space(file) as space, space.store.reading() as snapshot:
                    return any(run.status == "running" for run in snapshot.runs(limit=5))

            await asyncio.to_thread(until, running)
        await asyncio.to_thread(until, lambda: not screens(file))

    with serving(file) as (url, _):
        play(story(url))
        with open_space(file) as space, space.store.reading() as snapshot:
            assert [run.status for run in snapshot.runs(limit=1)] == ["suspended"]


def test_only_who_has_the_address_is_let_in(file: Path) -> None:
    """No page of somebody else, no other path; the address is on loopback."""

    async def refused(url: str, **given: Any) -> int:
        async with aiohttp.ClientSession() as client:
            with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
                await client.ws_connect(url, **given)
        return caught.value.status

    with serving(file) as (url, _):
        parts = urlsplit(url)
        assert parts.hostname == "127.0.0.1"
        base = f"http://{parts.netloc}"
        assert asyncio.run(refused(f"{url}ws")) == 403
        assert asyncio.run(refused(f"{url}ws", origin="http://example.org")) == 403
        assert asyncio.run(refused(f"{base}/ws", origin=base)) == 404
        for path in ("/", "/static/js/textual.js", "/guess/", f"{parts.path}nothing"):
            assert asyncio.run(got(f"{base}{path}")).status == 404, path
        assert asyncio.run(got(f"{url}static/")).status == 403
        answer = asyncio.run(got(f"{url}?fontsize=%22%3E"))
        page, policy = answer.text, answer.headers["Content-Security-Policy"]
        assert 'data-font-size="16"' in page
        assert "https://" not in page
        assert policy.startswith("default-src 'none'")
        assert screens(file) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *((None, 16), ("", 16), ("-5", 16), ("²", 16), ("123456", 16)),
        *(("7", 8), ("8", 8), ("20", 20), ("48", 48), ("49", 48), ("99999", 48)),
    ],
)
def test_a_number_of_a_browser_is_within_bounds(text: str | None, number: int) -> None:
    """What is none is the usual one."""
    assert _number(text, 16, 8, 48) == number


def test_a_server_that_is_killed_leaves_no_screen_behind(file: Path) -> None:
    """Each hears that nobody speaks with it any more."""

    async def story(url: str, process: subprocess.Popen[str]) -> None:
        origin = f"http://{urlsplit(url).netloc}"
        async with aiohttp.ClientSession() as client, client.ws_connect(f"{url}ws", origin=origin) as socket:
            await socket.receive_bytes(timeout=PATIENCE)
            assert len(screens(file)) == 1
            process.kill()
            await asyncio.to_thread(until, lambda: not screens(file))

    with serving(file) as (url, process):
        play(story(url, process))


def test_ports_are_told_in_a_sentence(file: Path) -> None:
    """One that is taken, one that is none, one without --web."""
    command = [sys.executable, "-m", "tui.command", "--space", str(file), "tui"]

    def said(*options: str) -> tuple[int, str]:
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    with serving(file) as (url, _):
        taken = urlsplit(url).port
        code, message = said("--web", "--port", str(taken))
        assert code == 2
        assert message.startswith(f"infospace: port {taken} of 127.0.0.1 cannot be had: ")
    assert said("--web", "--port", "70000") == (2, "infospace: 70000 is not a port (a whole number from 1 to 65535)\n")
    assert said("--port", "1") == (2, "infospace: --port is for --web (infospace tui --web --port 8000)\n")
