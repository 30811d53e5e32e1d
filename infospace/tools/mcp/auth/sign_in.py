"""How a person signs in to a server: an address is shown or opened in a browser, and the answer is waited for."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass

WAIT_S = 300.0
"""Seconds for which somebody is waited for who is to sign in."""
ASKS = "asks for a sign-in"
"""What is said of a server that nobody has signed in to."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """A person who can sign in. `show` gets the server's name and the address; it runs in a thread."""

    show: Callable[[str, str], object]
    seconds: float = WAIT_S

    async def send(self, server: str, url: str) -> None:
        """Show the address to the person; what opens a browser may last as long as that is open."""
        task = asyncio.get_running_loop().run_in_executor(None, self.show, server, url)
        task.add_done_callback(lambda done: None if done.cancelled() else done.exception())


def open_in_browser(url: str) -> bool:
    """Open an address in the browser that `BROWSER` names, else in the system's; whether there is one."""
    return webbrowser.open(url)


def somebody_is_here() -> bool:
    """Whether a browser may be opened unasked by a command: at a terminal, or where `BROWSER` names one."""
    return bool(os.environ.get("BROWSER")) or (sys.stdin.isatty() and sys.stderr.isatty())
