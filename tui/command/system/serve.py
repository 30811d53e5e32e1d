"""Serve the space to planner models over MCP: on standard input and output, or with --http on loopback.

Over HTTP a client sends a bearer token: one of --config, else --token, else INFOSPACE_TOKEN, else a new one, which is
printed. The file of --config gives each token a scope: the tools it sees, and how often it may call.
{"scopes": {"NAME": {"include_servers": […], "exclude_tags": […], "rate_per_minute": 60, "approvals": "planner"}},
"tokens": [{"name": …, "token": "${VARIABLE}", "scope": "NAME", "admin": true}]}. A client over standard input and
output has the scope `stdio`, else `default`. A scope may also limit the notes, runs and sessions that it sees:
"notes": "read", "none" or {"where": …}, "runs": "own", "sessions": "own". Without these it sees all of them.

SIGINT, SIGTERM and SIGHUP end the server; it cancels its runs, and their record says so.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid, NotFound
from infospace.core.installation import REINSTALL
from tui.command.common.embedding_model import fetch_in_background
from tui.command.common.open_space import open_from
from tui.command.common.whole_number import whole_number
from tui.text.output import Output, UsageError
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.space import Space
    from planner.server.config import Config, Token

EXAMPLES = """examples:
  infospace serve
  infospace serve --http
  infospace serve --http --config serve.json
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
        help=f"serve over HTTP on loopback, at this port ({PORT}); 0 takes any free port",
    )
    parser.add_argument("--config", metavar="FILE", help="a JSON file of scopes and tokens")
    parser.add_argument(
        "--tools",
        nargs="+",
        action="extend",
        choices=["core", "meta", "full", "compat"],
        metavar="SET",
        help="which tools clients see, one or more of: core (five small tools, the default), meta (the six tools about "
        "tools), full (every operation as a tool), compat (the doors of other systems: discover, plan_tools …)",
    )
    parser.add_argument(
        "--approvals",
        choices=["people", "planner"],
        default="people",
        help="who answers the questions of runs. people: the client's user if the client can ask, else `infospace "
        "answer` or the screen; the model answers only `ask` steps that its user was not shown. planner: the model may "
        "answer all",
    )
    parser.add_argument(
        "--token", metavar="TOKEN", help="the bearer token for HTTP; else INFOSPACE_TOKEN, else a new one"
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """Serve until the client goes, or a signal comes."""
    try:
        import mcp.server  # noqa: F401 - only to see that it is there
    except ImportError as error:
        raise UsageError("serving needs the package `mcp`", hint=REINSTALL) from error
    if args.token is not None and args.http is None:
        raise UsageError("a token is for --http", hint="over standard input and output there is none")
    sets = tuple(dict.fromkeys(args.tools or ["core"]))
    try:
        from planner.server.config import Config, read_config

        config = Config({}, approvals=args.approvals, tools=sets)
        if args.config is not None:
            config = read_config(path_of(args.config), os.environ, args.approvals).listing(sets)
    except (Invalid, NotFound) as error:
        raise UsageError(error.message, hint=error.hint) from error
    number = _http(args, config, out) if args.http is not None else _stdio(args, config, out)
    return CANCELLED if number == signal.SIGINT else 0


def _stdio(args: argparse.Namespace, config: Config, out: Output) -> int | None:
    from planner.server.protocol.stdio import serve_stdio

    with open_from(args, create=True) as space:
        _print_warnings(config, space, out)
        fetch_in_background(space, out)
        return _until_closed(space, serve_stdio(space, config))


def _http(args: argparse.Namespace, config: Config, out: Output) -> int | None:
    from planner.server.protocol.http import bound, serve_http
    from planner.server.protocol.http_app import PATH

    host, port = _address(args.http)
    if config.tokens and args.token is not None:
        raise UsageError("the tokens are those of the configuration", hint="leave --token out")
    try:
        text, tokens = _tokens(args, config)
        listening = bound(host, port)
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error
    with listening, open_from(args, create=True) as space:
        _print_warnings(config, space, out)
        out.talk(f"serving on http://{host}:{listening.getsockname()[1]}{PATH}")
        if text is not None:
            out.talk(f"token: {text}")
        fetch_in_background(space, out)
        return _until_closed(space, serve_http(space, listening, tokens))


def _until_closed(space: Space, serving: Coroutine[Any, Any, int | None]) -> int | None:
    """Serve; then close the space, whatever signals come meanwhile."""
    from planner.server.protocol.shutdown import ignoring_signals

    try:
        return asyncio.run(serving)
    finally:
        with ignoring_signals():
            space.close()


def _tokens(args: argparse.Namespace, config: Config) -> tuple[str | None, Sequence[Token]]:
    """Return the token that was made, if one was, and all that are let in; raises Invalid."""
    from planner.server.config import Token, checked_token, digest_of
    from planner.server.protocol.http import create_token

    if config.tokens:
        return None, config.tokens
    value = args.token if args.token is not None else os.environ.get("INFOSPACE_TOKEN")
    token = create_token() if value is None else checked_token(value)
    # The one token there is belongs to whoever started the server.
    access = replace(config.access("http"), admin=True)
    return (token if value is None else None), [Token(digest_of(token), access)]


def _print_warnings(config: Config, space: Space, out: Output) -> None:
    from infospace.tools.builtin import SERVER
    from planner.server.config import config_warnings

    servers = space.tools.servers
    known = [SERVER, *(servers.entries if servers is not None else ())]
    for message in config_warnings(
        config, known, space.tools if any(scope_entry.approve for scope_entry in config.scopes.values()) else ()
    ):
        out.talk(message, "yellow")


def _address(text: str) -> tuple[str, int]:
    from planner.server.protocol.http import HOST

    host, colon, port = text.rpartition(":")
    number = whole_number(port)
    if number is None or not 0 <= number <= 65_535:
        raise UsageError(f"{text!r:.60} is not a port", hint=f"--http {PORT}, or --http {HOST}:{PORT}")
    return (host if colon else HOST), number
