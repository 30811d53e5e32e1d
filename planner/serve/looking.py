"""What a planner can look at: pieces of resources, the vocabulary, and notes by what they are about."""

from __future__ import annotations

from typing import Any

from infospace.argument import Reading
from infospace.errors import InfospaceError
from infospace.perform import answer
from planner.forms import FORMS
from planner.serve import arguments
from planner.serve.door import Door
from planner.serve.live import Tell
from planner.serve.reading import Wanted, read_piece
from planner.serve.trimming import trimmed_hits
from planner.vocabulary import form_line, full, short

DISCOVER = "discover-notes"
"""The primitive that answers `discover_notes`."""


async def read(door: Door, args: arguments.Read, tell: Tell) -> dict[str, Any]:
    """Return a piece of what is long."""
    del tell
    part = args.slice or slice(None)
    return read_piece(door.space, Wanted(args.ref, part, args.fields or (), args.max_chars))


async def describe_primitives(door: Door, args: arguments.DescribePrimitives, tell: Tell) -> str:
    """Return the language in short, or contracts in full."""
    del tell
    catalogue = door.space.catalogue
    if not args.names:
        return short(catalogue)
    wanted = dict.fromkeys(args.names)
    forms = [form_line(name) for name in wanted if name in FORMS]
    names = [name for name in wanted if name not in FORMS]
    return "\n\n".join([*forms, *([full(catalogue, names)] if names else [])])


async def discover_notes(door: Door, given: dict[str, Any]) -> dict[str, Any]:
    """Search, and return the answer of the primitive. Raises what is wrong with the arguments, all at once."""
    entry = door.space.catalogue.get(DISCOVER)
    view = door.space.view(scratch=True)
    resolved = dict(given)
    for name, argument in entry.arguments.items():
        if argument.reading is Reading.RESOURCE and isinstance(given.get(name), str):
            resolved[name] = view.get(given[name])
    entry.validate(resolved)
    found = await answer(entry, resolved, view)
    if found.status != "success":
        raise InfospaceError(found.reason or "the search failed")
    return trimmed_hits(found.to_json())
