"""A planner at the server's door: real processes, the official client, and the length of every answer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client import stdio
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from infospace import Space
from planner.server.access import Access
from planner.server.operations import ANYBODY, Operations
from planner.server.protocol.mcp_server import make_server

sys.path.insert(0, str(Path(__file__).parent))
from shapes import misshapen

LONGEST = 20_000
"""Characters of any answer, the language itself apart."""
LANGUAGE = 25_000
"""Characters of the language in short."""
NOTE = {"type": "create-note", "value": 1, "out": "$x"}
SLOW = {"type": "wait", "seconds": 60}
TEXTS = ("describe_primitives", "find")
"""Tools that answer with text."""
PATIENT = dict.fromkeys(("run_plan", "run_steps", "answer_run"), 300)
"""Seconds that a planner waits for what it began, unless a scene says otherwise: all have ended by then."""
TOKEN = "a-token-for-the-tests-alone"  # noqa: S105 - it opens nothing but what a test serves

# The client kills a server that has not ended two seconds after it was told to, and the guards of that server's own
# servers outlive it by a moment then. What is looked at here is how it ends by itself, on a busy machine too.
stdio.PROCESS_TERMINATION_TIMEOUT = 60.0

_NOTING = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); os.execv(sys.argv[2], sys.argv[2:])"
"""Writes down the process's id, and becomes the server."""


@dataclass
class Planner:
    """Calls tools as a model does, looks at the shape of what they answer, and counts what it had to read."""

    client: Client
    read: list[tuple[str, int]] = field(default_factory=list)
    told: list[tuple[float, str | None]] = field(default_factory=list)
    heard: Callable[[], None] = lambda: None
    """Called at each word of progress."""

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Return what a tool answers: JSON, or text."""
        if tool in PATIENT:
            arguments = {"wait_s": PATIENT[tool], **arguments}
        answer = await self.client.call_tool(tool, arguments, progress_callback=self._progress)
        text = self._text(tool, answer)
        assert not answer.is_error, text
        assert answer.structured_content is None, "an answer is sent once"
        if tool in TEXTS:
            return text
        document = json.loads(text)
        assert misshapen(tool, document) is None, text
        return document

    async def wrong(self, tool: str, **arguments: Any) -> str:
        """Return the sentence by which a tool refuses."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, answer
        assert answer.structured_content is None
        return self._text(tool, answer)

    async def until_bound(self, run: str, name: str) -> Any:
        """Follow a run until it has bound a variable; return how far it is then."""
        answer = await self.call("get_run", run=run)
        while name not in answer["bindings"]:
            assert answer["status"] == "running", answer
            answer = await self.call("get_run", run=run, wait_s=0.1)
        return answer

    def _text(self, tool: str, answer: Any) -> str:
        [block] = answer.content
        text = text_of(block)
        self.read.append((tool, len(text)))
        assert len(text) <= (LANGUAGE if tool == "describe_primitives" else LONGEST), tool
        return text

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        self.told.append((progress, message))
        self.heard()

    def table(self) -> str:
        """Return how many characters each answer had."""
        rows = [f"{tool:<22}{size:>8,}" for tool, size in self.read]
        return "\n".join([*rows, f"{'in all':<22}{sum(size for _, size in self.read):>8,}"])


def text_of(block: object) -> str:
    """Return the text of a content block that is one."""
    assert isinstance(block, TextContent), block
    return block.text


def document_of(answer: Any) -> Any:
    """Return the JSON that a tool answered with."""
    return json.loads(text_of(answer.content[0]))


def command(file: Path, *arguments: str) -> list[str]:
    """Return the command that serves a space."""
    sets = () if "--tools" in arguments else ("--tools", "full")
    return [sys.executable, "-m", "tui.command", "--space", str(file), "serve", *sets, *arguments]


def raw_stdio(space: Path) -> subprocess.Popen[bytes]:
    """Return a server to which every byte is written by hand, once it has answered."""
    server = subprocess.Popen(
        command(space), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 1
    return server


@asynccontextmanager
async def over_stdio(
    file: Path, noted: Path | None = None, arguments: Sequence[str] = (), **client: Any
) -> AsyncIterator[Planner]:
    """A planner at a server of its own, whose process id is written to `noted`."""
    whole = command(file, *arguments)
    if noted is not None:
        whole = [sys.executable, "-c", _NOTING, str(noted), *whole]
    server = StdioServerParameters(command=whole[0], args=whole[1:], env=dict(os.environ))
    async with Client(server, **client) as made:
        yield Planner(made)


@dataclass
class Served:
    """A server over HTTP in a process of its own."""

    url: str
    process: subprocess.Popen[str]

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(300)


@contextmanager
def over_http(file: Path, *arguments: str, token: str | None = TOKEN) -> Iterator[Served]:
    """Serve over HTTP on a free port; afterwards the process is gone, whatever happens."""
    env = {key: value for key, value in os.environ.items() if key != "INFOSPACE_TOKEN"}
    if token is not None:
        env["INFOSPACE_TOKEN"] = token
    process = subprocess.Popen(
        command(file, "--http", "0", *arguments), stderr=subprocess.PIPE, text=True, env=env, start_new_session=True
    )
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
        assert first.startswith("serving on "), first + process.stderr.read()
        yield Served(first.split()[-1], process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(300)
        process.stderr.close()


@asynccontextmanager
async def planners(
    served: Served, modes: Sequence[str] = ("auto",), token: str = TOKEN, **client: Any
) -> AsyncIterator[list[Planner]]:
    """Planners at one server over HTTP, each with a connection of its own."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=90) as http,
        AsyncExitStack() as stack,
    ):
        made = [Client(streamable_http_client(served.url, http_client=http), mode=mode, **client) for mode in modes]
        yield [Planner(await stack.enter_async_context(one)) for one in made]


def is_alive(process: int) -> bool:
    """Whether there is such a process that is no zombie."""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@asynccontextmanager
async def at(space: Space, access: Access = ANYBODY, **client: Any) -> AsyncIterator[Planner]:
    """A planner at a server in this process; `client` is what its client is made with."""
    door = Operations(space, replace(access, tools=("full",)) if access.tools == ("core",) else access)
    try:
        async with Client(make_server(door), **client) as made:
            yield Planner(made)
    finally:
        await door.close()


def play(space: Space, scene: Callable[[Planner], Awaitable[Any]], access: Access = ANYBODY, **client: Any) -> Any:
    """Let a planner play a scene."""

    async def go() -> Any:
        async with at(space, access, **client) as planner:
            return await scene(planner)

    return asyncio.run(go())
