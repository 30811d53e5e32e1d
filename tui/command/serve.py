"""Serve the space to planner models over MCP: on standard input and output, or with --http on loopback.

Over HTTP a client shows the bearer token: --token, else INFOSPACE_TOKEN, else one that is made and printed. Needs the
extra `serve`. SIGINT and SIGTERM end it; what runs then is cancelled, and journalled.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal

from infospace.errors import Invalid
from tui.command.output import Output, UsageError
from tui.command.spaces import open_from

EXAMPLES = """examples:
  infospace serve
  infospace serve --http
  INFOSPACE_TOKEN="$(openssl rand -hex 32)" infospace serve --http 127.0.0.1:8765"""

PORT = 8765
CANCELLED = 130


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--http",
        nargs="?",
        const=str(PORT),
        metavar="[HOST:]PORT",
        help=f"over HTTP on loopback, on this port ({PORT}); 0 is any that is free",
    )
    parser.add_argument("--token", metavar="TOKEN", help="what clients over HTTP show; else INFOSPACE_TOKEN, else made")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Serve until the client goes, or a signal comes."""
    try:
        import mcp.server  # noqa: F401
    except ImportError as error:
        raise UsageError("serving needs the package `mcp`", hint="pip install 'infospace[serve]'") from error
    if args.token is not None and args.http is None:
        raise UsageError("a token is for --http", hint="over standard input and output there is none")
    number = _http(args, out) if args.http is not None else _stdio(args)
    return CANCELLED if number == signal.SIGINT else 0


def _stdio(args: argparse.Namespace) -> int | None:
    from planner.serve.stdio import serve_stdio

    with open_from(args, create=True) as space:
        return asyncio.run(serve_stdio(space))


def _http(args: argparse.Namespace, out: Output) -> int | None:
    from planner.serve.http import PATH, bound, checked_token, made_token, serve_http

    host, port = _address(args.http)
    given = args.token if args.token is not None else os.environ.get("INFOSPACE_TOKEN")
    try:
        token = made_token() if given is None else checked_token(given)
        listening = bound(host, port)
    except Invalid as error:
        raise UsageError(error.says, hint=error.hint) from error
    with listening, open_from(args, create=True) as space:
        out.talk(f"serving on http://{host}:{listening.getsockname()[1]}{PATH}")
        if given is None:
            out.talk(f"token: {token}")
        return asyncio.run(serve_http(space, listening, token))


def _address(text: str) -> tuple[str, int]:
    from planner.serve.http import HOST

    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"{text!r} is not a port", hint=f"--http {PORT}, or --http {HOST}:{PORT}")
    return (host if colon else HOST), int(port)
