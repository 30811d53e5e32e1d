"""Notes, collections and runs as resources of MCP: listed page by page, read where they are not too long."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from infospace.core.errors import Invalid, NotFound
from infospace.core.ids import Kind, is_run_id, number_of
from infospace.core.resources import Collection, Note
from infospace.data.json_text import dump
from infospace.data.result import display_name
from infospace.space import Space
from infospace.store.protocol import Snapshot
from planner.server.run_json import find_run, recorded_run_json

SCHEME = "infospace"
PAGE = 50
"""Resources on one page of the list."""
MAX_RESOURCE_CHARACTERS = 100_000
"""Characters of a resource that is read whole; longer ones are for the tool `read`."""
TEMPLATES = {
    "note": "A note's content, by id (Note_12) or name.",
    "collection": "A collection's items with their contents, by id (Collection_3) or name.",
    "run": "A run's record, by id (run_7).",
}
"""What there is under `infospace://KIND/ID`."""
JSON_TYPE, TEXT_TYPE = "application/json", "text/plain"


@dataclass(frozen=True, slots=True)
class ListedResource:
    """A resource in the list."""

    uri: str
    name: str
    title: str


def list_resources(space: Space, cursor: str | None) -> tuple[list[ListedResource], str | None]:
    """Return one page of the kept collections and notes by number, then of the runs, latest first; and the next cursor.

    Raises Invalid for a cursor that this did not give.
    """
    results: list[ListedResource] = []
    following: str | None = cursor or "collection:0"
    with space.store.reading() as snapshot:
        while following is not None and len(results) < PAGE:
            more, following = _listed(snapshot, following, PAGE - len(results))
            results += more
    return results, following


def _listed(snapshot: Snapshot, cursor: str, most: int) -> tuple[list[ListedResource], str | None]:
    """Return at most so many resources from a cursor on, all of one kind."""
    part, _, after = cursor.partition(":")
    if part not in TEMPLATES or not (after.isdecimal() or (part == "run" and not after)):
        raise Invalid(f"{cursor!r:.60} is not a cursor of this list", hint="begin without one")
    if part == "run":
        runs = snapshot.runs(limit=most, before=int(after) if after else None)
        listing = [
            ListedResource(_uri(part, run.run), run.run, f"{run.kind} {run.status} {run.goal}".strip()) for run in runs
        ]
        return listing, f"run:{number_of(runs[-1].run)}" if len(runs) == most else None
    kind = Kind.COLLECTION if part == "collection" else Kind.NOTE
    resources = list(snapshot.listing(kind, after=int(after), limit=most))
    listing = [
        ListedResource(_uri(part, resource.id), resource.name or resource.id, display_name(resource))
        for resource in resources
        if not (resource.name or "").startswith("_")
    ]
    if len(resources) == most:
        return listing, f"{part}:{number_of(resources[-1].id)}"
    return listing, "note:0" if part == "collection" else "run:"


def _uri(part: str, name: str) -> str:
    return f"{SCHEME}://{part}/{quote(name, safe='')}"


def name_in(uri: str) -> str:
    """Return the name or id in the address of a resource, "" where there is none."""
    return unquote(uri.partition("://")[2].partition("/")[2])


def read_uri(space: Space, uri: str) -> tuple[str, str]:
    """Return the MIME type and text of a resource. Raises NotFound for one that is not there, Invalid if too long."""
    scheme, _, rest = uri.partition("://")
    part, _, _ = rest.partition("/")
    name = name_in(uri)
    if scheme != SCHEME or part not in TEMPLATES or not name:
        raise NotFound(f"there is no resource {uri!r:.200}", hint=f"such as {SCHEME}://note/Note_12")
    mime, text = _run(space, name) if part == "run" else _resource(space, part, name)
    if len(text) > MAX_RESOURCE_CHARACTERS:
        message = f"{uri} has {len(text):,} characters, and a resource is read up to {MAX_RESOURCE_CHARACTERS:,}"
        raise Invalid(message, hint=f"the tool `read` gives {name!r} in pieces")
    return mime, text


def _run(space: Space, name: str) -> tuple[str, str]:
    if not is_run_id(name):
        raise NotFound(f"{name!r} is not the id of a run", hint="such as run_7")
    row, steps = find_run(space, name)
    return JSON_TYPE, dump(recorded_run_json(space, row, steps, live=False))


def _resource(space: Space, part: str, name: str) -> tuple[str, str]:
    context = space.context()
    resource = context.get(name)
    if part == "note" and isinstance(resource, Note):
        return (
            (TEXT_TYPE, resource.content) if isinstance(resource.content, str) else (JSON_TYPE, dump(resource.content))
        )
    if part == "collection" and isinstance(resource, Collection):
        return JSON_TYPE, dump([{"id": item.id, "content": context.content(item)} for item in context.items(resource)])
    raise NotFound(f"{name!r} is a {resource.kind}, not a {part}")
