"""Look at a space on a screen: its runs as they go, their plans, steps and variables, its notes and tools.

F1 or `?` explains each place; ctrl+q leaves. --web serves the same screen in a browser, on this
machine alone, and needs the extra `web`; each browser has a screen of its own; Ctrl-C ends all of them.
"""

from __future__ import annotations

import argparse
import os
import sys

from infospace.core.errors import Conflict, InfospaceError
from infospace.core.installation import REINSTALL, install_hint
from tui.command.common.embedding_model import fetch_or_tell
from tui.command.common.open_space import address_of, open_from
from tui.text.output import Output, UsageError
from tui.web import DRIVER

EXAMPLES = """examples:
  infospace tui
  infospace tui --space notes.db
  infospace tui --web --port 8000"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--web", action="store_true", help="serve the screen in a browser, at an address on loopback")
    parser.add_argument("--port", type=int, metavar="N", help="the port for --web (any free one)")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show the screen until somebody leaves; or serve it until somebody ends that."""
    if args.web:
        return _serve(args, out)
    if args.port is not None:
        raise UsageError("--port is for --web", hint="infospace tui --web --port 8000")
    if os.environ.get("TEXTUAL_DRIVER") != DRIVER:
        _must_have_terminal()
    return _show(args, out)


def _must_have_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the screen needs a terminal", hint="`infospace runs` and `infospace show` print instead")
    if not sys.stderr.isatty():
        message = "the screen is drawn on standard error, and that leads to a file or a pipe"
        raise UsageError(message, hint="leave out `2>`")


def _show(args: argparse.Namespace, out: Output) -> int:
    try:
        from tui.app import InfospaceApp
    except ModuleNotFoundError as error:
        raise UsageError("the screen is not installed", hint=REINSTALL) from error
    from tui.runtime.ui_state import UiState, usual_path

    with open_from(args, create=True) as space:
        fetch_or_tell(space, out)
        app = InfospaceApp(space, UiState(usual_path()))
        app.run()
    try:
        app.memory.write()
    except InfospaceError as error:
        out.talk(str(error), "yellow")
    return app.return_code or 0


def _serve(args: argparse.Namespace, out: Output) -> int:
    """Serve the screen in browsers."""
    import asyncio

    port = args.port or 0
    if not 0 <= port < 65_536:
        raise UsageError(f"{port} is not a port", hint="a whole number from 1 to 65535")
    try:
        from tui.web.server import WebScreen
    except ModuleNotFoundError as error:
        raise UsageError("the screen for browsers is not installed", hint=install_hint("web")) from error
    address = address_of(args)
    open_from(args, create=True).close()

    def ready(url: str) -> None:
        if out.json:
            out.document({"url": url})
        else:
            out.text(url)
        sys.stdout.flush()
        out.talk("open this address in a browser on this machine; Ctrl-C ends it", "dim")

    command = [sys.executable, "-m", "tui.command", "--space", address, "tui"]
    try:
        asyncio.run(WebScreen(command, address).serve(port, ready))
    except Conflict as error:
        raise UsageError(error.message, hint=error.hint) from error
    return 0
