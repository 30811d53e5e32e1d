"""What a planner can look at: pieces of resources, the vocabulary, and notes by what they are about."""

from __future__ import annotations

from typing import Any

from infospace.context.invoke import call_directly
from infospace.contract.arguments import ParseMode
from infospace.core.errors import InfospaceError
from planner.parse.control_flow import FORMS
from planner.parse.vocabulary import form_line, full, short
from planner.server import arguments
from planner.server.live_runs import Tell
from planner.server.operations import Operations
from planner.server.read import ReadRequest, read_piece
from planner.server.truncate import truncate_hits

DISCOVER = "discover-notes"
"""The primitive that answers `discover_notes`."""


async def read(operations: Operations, args: arguments.Read, tell: Tell) -> dict[str, Any]:
    """Return a piece of what is long."""
    del tell
    part = args.slice or slice(None)
    return read_piece(operations.space, ReadRequest(args.ref, part, args.fields or (), args.max_chars))


async def describe_primitives(operations: Operations, args: arguments.DescribePrimitives, tell: Tell) -> str:
    """Return the language in short, or contracts in full."""
    del tell
    catalogue = operations.space.catalogue
    if not args.names:
        return short(catalogue)
    wanted = dict.fromkeys(args.names)
    forms = [form_line(name) for name in wanted if name in FORMS]
    names = [name for name in wanted if name not in FORMS]
    return "\n\n".join([*forms, *([full(catalogue, names)] if names else [])])


async def discover_notes(operations: Operations, given: dict[str, Any]) -> dict[str, Any]:
    """Search, and return the answer of the primitive. Raises what is wrong with the arguments, all at once."""
    entry = operations.space.catalogue.get(DISCOVER)
    view = operations.space.view(scratch=True)
    resolved = dict(given)
    for name, argument in entry.arguments.items():
        if argument.reading is ParseMode.RESOURCE and isinstance(given.get(name), str):
            resolved[name] = view.get(given[name])
    entry.validate(resolved)
    found = await call_directly(entry, resolved, view)
    if found.status != "success":
        raise InfospaceError(found.reason or "the search failed")
    return truncate_hits(found.to_json())
