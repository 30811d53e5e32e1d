"""Reading what is long in pieces: each answer says where the next one begins, exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from infospace.context.context import Context
from infospace.core.errors import Invalid, NotFound
from infospace.core.ids import is_id, is_run_id
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Note, Relation, Resource
from infospace.data.json_text import dump
from infospace.data.paths import ABSENT, Path
from infospace.schema.projection import Selection
from infospace.space import Space
from infospace.store.called import notes_called, only_note_called
from planner.execute.arguments import Place, Resolver
from planner.execute.variables import Scope
from planner.language.references import whole_reference
from planner.server.run_json import find_run, recorded_run_json

_PLACE = re.compile(r"((?:Note|Collection|Relation)_[1-9][0-9]{0,17})([.\[].*)", re.DOTALL)
"""An id with a place in it: `Note_12.title`, `Collection_3[0]`."""
_AT_ONCE = 50
"""Items that are fetched at once."""

Fetch: TypeAlias = "Callable[[int, int], list[tuple[str, JSON]]]"
"""Gives the entries from one place to another, each with what it can be read by alone."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What to read: `ref` with perhaps a place in it, which part, which fields, and how many characters at most."""

    ref: str
    part: slice
    fields: Sequence[Path]
    most: int


def read_piece(space: Space, request: ReadRequest) -> dict[str, Any]:
    """Return a piece of a resource, of a place in one, or of a run's whole record.

    `of` says what `slice`, `next` and `total` count: characters (of the text, or of the compact JSON), elements, or
    items. `next` is the slice to go on with, null at the end. What alone is too long has a `ref` in its place.
    Raises NotFound, PathNotFound, Invalid.
    """
    if is_run_id(request.ref):
        row, steps = find_run(space, request.ref)
        document: JSON = recorded_run_json(space, row, steps, live=False)
        if request.fields:
            return {
                "ref": request.ref,
                **_value(_selected(_PlainValue(request.ref, document), request.fields), request),
            }
        return {"ref": request.ref, **_text(dump(document), request)}
    context = space.context()
    resource = _find(context, request.ref)
    if isinstance(resource, Place):
        return {"ref": request.ref, **_value(_of_place(resource.value, request), request)}
    head = {"ref": resource.id, "kind": str(resource.kind), "name": resource.name, "version": resource.version}
    if isinstance(resource, Collection):
        return {**head, **_items(context, resource, request)}
    if request.fields:
        return {**head, **_value(_selected(resource, request.fields), request, resource.id)}
    return {**head, **_value(resource.content, request, resource.id)}


def _find(context: Context, ref: str) -> Resource | Place:
    place = _PLACE.fullmatch(ref)
    if place is None:
        return _resource(context, ref)
    scope = Scope()
    scope.bind("it", place[1])
    reference = whole_reference(f"$it{place[2]}")
    if reference is None:
        raise Invalid(f"{ref!r:.80} is not a place in {place[1]}", hint=f"such as {place[1]}.title or {place[1]}[0]")
    return Resolver(context, scope).resolve_reference(reference)


def _resource(context: Context, ref: str) -> Resource:
    """Return a resource by its id or name, else the only Note that is called so. Raises NotFound."""
    return context.get(ref if is_id(ref) or context.has(ref) else _called(context, ref) or ref)


def without_place(ref: str) -> str:
    """Return a reference without the place in it: `Note_12` of `Note_12.title`. In a name there is no place."""
    place = _PLACE.fullmatch(ref)
    return ref if place is None else place[1]


def is_there(space: Space, ref: str) -> bool:
    """Whether a reference without a place leads to a run or to resources, as `read` has it, be they several."""
    context = space.context()
    try:
        if is_run_id(ref):
            find_run(space, ref)
        elif is_id(ref) or context.has(ref):
            context.get(ref)
        else:
            with space.store.reading() as snapshot:
                return bool(notes_called(snapshot, ref))
    except NotFound:
        return False
    return True


def _called(context: Context, ref: str) -> str | None:
    """Return the id of the only Note that has a path, a title or an alias, None where there is none."""
    with context.space.store.reading() as snapshot:
        return only_note_called(snapshot, ref)


@dataclass(frozen=True, slots=True)
class _PlainValue:
    """A value that is no resource, to be read like one."""

    id: str
    content: JSON
    name: str | None = None
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    created: str = ""
    updated: str = ""
    location: None = None


def _of_place(value: JSON, request: ReadRequest) -> JSON:
    """Return what is wanted of a value: the fields of an object, or of each element of a list, null of one without."""
    if not request.fields:
        return value
    if isinstance(value, list):
        selection = Selection(request.fields)
        read = (selection.read(_PlainValue(request.ref, element)) for element in value)
        return [None if one is ABSENT else one for one in read]
    return _selected(_PlainValue(request.ref, value), request.fields)


def _selected(resource: Note | Relation | _PlainValue, fields: Sequence[Path]) -> JSON:
    value = Selection(fields).read(resource)
    if value is ABSENT:
        missing = next(path for path in fields if Selection([path]).read(resource) is ABSENT)
        raise Invalid(f"{resource.id} has no `{missing}`", hint="leave it away, or read the whole without `fields`")
    return value


def _value(value: JSON, request: ReadRequest, ref: str = "") -> dict[str, Any]:
    if isinstance(value, str):
        return _text(value, request)
    if isinstance(value, list):
        elements: list[JSON] = value
        return _pieces(
            "elements",
            len(elements),
            request,
            lambda start, stop: [(f"{ref or request.ref}[{at}]", elements[at]) for at in range(start, stop)],
        )
    whole = dump(value)
    if request.part == slice(None) and len(whole) <= request.most:
        return {"of": "characters", "total": len(whole), "slice": f"0:{len(whole)}", "next": None, "data": value}
    return _text(whole, request)


def _text(text: str, request: ReadRequest) -> dict[str, Any]:
    start, stop = _range(request.part, len(text))
    end = min(stop, start + request.most)
    return {
        "of": "characters",
        "total": len(text),
        "slice": f"{start}:{end}",
        "next": f"{end}:{stop}" if end < stop else None,
        "data": text[start:end],
    }


def _items(context: Context, collection: Collection, request: ReadRequest) -> dict[str, Any]:
    """Return items as `{id, content}`; of one that misses one of the fields, `content` is left away."""
    selection = Selection(request.fields) if request.fields else None
    members = [member.id for member in collection.members]

    def fetch(start: int, stop: int) -> list[tuple[str, JSON]]:
        results: list[tuple[str, JSON]] = []
        for item in context.resources(members[start:stop]):
            content = context.content(item) if selection is None else selection.read(item)
            results.append((item.id, {"id": item.id} if content is ABSENT else {"id": item.id, "content": content}))
        return results

    return _pieces("items", len(members), request, fetch)


def _pieces(of: str, total: int, request: ReadRequest, fetch: Fetch) -> dict[str, Any]:
    """Return as many entries as fit, at least one; one that alone does not fit is null, and told with its `ref`."""
    start, stop = _range(request.part, total)
    shown: list[JSON] = []
    too_long: list[JSON] = []
    size = 0
    for ref, entry in _entries(fetch, start, stop):
        length = len(dump(entry))
        too_long_entry: JSON = None
        if length > request.most:
            too_long_entry = {"at": start + len(shown), "ref": ref, "characters": length}
            length = len(dump(too_long_entry))
        if shown and size + length > request.most:
            break
        size += length
        shown.append(entry if too_long_entry is None else None)
        too_long += [] if too_long_entry is None else [too_long_entry]
    end = start + len(shown)
    document = {
        "of": of,
        "total": total,
        "slice": f"{start}:{end}",
        "next": f"{end}:{stop}" if end < stop else None,
        "data": shown,
    }
    return {**document, "too_long": too_long} if too_long else document


def _entries(fetch: Fetch, start: int, stop: int) -> Iterator[tuple[str, JSON]]:
    for at in range(start, stop, _AT_ONCE):
        yield from fetch(at, min(stop, at + _AT_ONCE))


def _range(part: slice, total: int) -> tuple[int, int]:
    if part.step not in (None, 1):
        raise Invalid(f"a slice here has no step, and this has {part.step}", hint='such as "0:100" or "-20:"')
    start, stop, _ = part.indices(total)
    return start, max(start, stop)
