"""Registries: lists of servers that are not connected. Their servers are found by what they say that they are for.

A registry is the URL or the file of a list of the MCP registry, of documents of a search of npm, or of one
`server.json` (also the address of a repository on GitHub that has one). What is wrong with an entry is told of that
entry alone. `infospace tools connect NAME` connects a server that was found. Exit codes: 0; 1 where a registry could
not be read again; 2 for wrong usage, or a registry that cannot be read when it is added.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.plural import pluralize
from tui.command.common.open_space import open_from
from tui.text.format import single_line
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from infospace.core.listener import Listener
    from infospace.space import Space
    from infospace.tools.mcp.registries.saved import Registry

EXAMPLES = """examples:
  infospace tools registry add https://registry.example
  infospace tools registry add ./servers.json --name ours
  infospace tools registry add https://github.com/ann/weather-server
  infospace tools registry list
  infospace tools registry refresh
  infospace tools registry remove ours"""

ACTIONS = ("add", "list", "remove", "refresh")
FAILED = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("do", choices=ACTIONS, help="add, list, remove, or read again")
    parser.add_argument(
        "what", nargs="?", metavar="FILE", help="add: a URL or a file; remove: a name; refresh: a name, or none for all"
    )
    parser.add_argument("--name", metavar="NAME", help="what the added registry is called (else its host or file)")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Add, list, remove or read registries."""
    if args.what is None and args.do in ("add", "remove"):
        needed = "the URL or the file of a registry" if args.do == "add" else "the name of a registry"
        raise UsageError(f"`registry {args.do}` needs {needed}")
    if args.what is not None and args.do == "list":
        raise UsageError("`registry list` lists all of them, and takes no name")
    if args.name is not None and args.do != "add":
        raise UsageError("--name goes with `registry add`")
    with open_from(args, create=args.do == "add") as space, out.progress() as listener:
        try:
            registries = _DO[args.do](space, args, listener)
        except (NotFound, Conflict, Invalid) as error:
            raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        out.document({"registries": [registry.to_json() for registry in registries]})
    else:
        _show(registries, args.do, out)
    return FAILED if args.do == "refresh" and any(registry.error for registry in registries) else 0


def _show(registries: list[Registry], done: str, out: Output) -> None:
    for registry in registries:
        if done == "remove":
            out.text(f"{registry.name} is removed")
            continue
        read = "never read" if registry.read is None else f"read {registry.read[:16].replace('T', ' ')}"
        mark = "✗" if registry.error else "✓"
        out.text(
            f"{mark} {registry.name:<24} {pluralize(len(registry.servers), 'server'):>14}  {registry.form}, {read}",
            crop=False,
        )
        out.talk(f"    {registry.to_json()['address']}", "dim")
        if registry.error:
            out.text(f"    {single_line(registry.error)}", "red", crop=False)
        for sentence in registry.left_out:
            out.talk(f"    ✗ {single_line(sentence)}", "yellow")
    if not registries:
        out.talk("no registries; `infospace tools registry add URL` adds one")


def _add(space: Space, args: argparse.Namespace, listener: Listener) -> list[Registry]:
    from infospace.tools.mcp.registries.update import add

    result = add(space.store, args.what, args.name, _progress(listener))
    _embed(space, listener)
    return [result]


def _refresh(space: Space, args: argparse.Namespace, listener: Listener) -> list[Registry]:
    from infospace.tools.mcp.registries.saved import registries
    from infospace.tools.mcp.registries.update import refresh

    names = [registry.name for registry in registries(space.store)] if args.what is None else [args.what]
    results = [refresh(space.store, name, _progress(listener)) for name in names]
    _embed(space, listener)
    return results


def _list(space: Space, _args: argparse.Namespace, _listener: Listener) -> list[Registry]:
    from infospace.tools.mcp.registries.saved import registries

    return registries(space.store)


def _remove(space: Space, args: argparse.Namespace, _listener: Listener) -> list[Registry]:
    from infospace.tools.mcp.registries.saved import registry, remove

    result = registry(space.store, args.what)
    remove(space.store, args.what)
    return [result]


_DO: dict[str, Callable[[Space, argparse.Namespace, Listener], list[Registry]]] = {
    "add": _add,
    "list": _list,
    "remove": _remove,
    "refresh": _refresh,
}


def _progress(listener: Listener) -> Callable[[int], object]:
    return lambda count: listener.progress(count, count, "servers read")


def _embed(space: Space, listener: Listener) -> None:
    """Embed what is new, with progress, so that no later search waits for that; say why where that cannot be."""
    from infospace.tools.builtin import searched

    why_not = space.finder.embed(searched(space, others=True), listener)
    if why_not is not None:
        listener.message("say", why_not)
