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
from infospace.store.called import notes_called
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


def read_piece(space: Space, wanted: ReadRequest) -> dict[str, Any]:
    """Return a piece of a resource, of a place in one, or of a run's whole record.

    `of` says what `slice`, `next` and `total` count: characters (of the text, or of the compact JSON), elements, or
    items. `next` is the slice to go on with, null at the end. What alone is too long has a `ref` in its place.
    Raises NotFound, PathNotFound, Invalid.
    """
    if is_run_id(wanted.ref):
        row, steps = find_run(space, wanted.ref)
        document: JSON = recorded_run_json(space, row, steps, live=False)
        if wanted.fields:
            return {"ref": wanted.ref, **_value(_selected(_PlainValue(wanted.ref, document), wanted.fields), wanted)}
        return {"ref": wanted.ref, **_text(dump(document), wanted)}
    view = space.view()
    found = _find(view, wanted.ref)
    if isinstance(found, Place):
        return {"ref": wanted.ref, **_value(_of_place(found.value, wanted), wanted)}
    head = {"ref": found.id, "kind": str(found.kind), "name": found.name, "version": found.version}
    if isinstance(found, Collection):
        return {**head, **_items(view, found, wanted)}
    if wanted.fields:
        return {**head, **_value(_selected(found, wanted.fields), wanted, found.id)}
    return {**head, **_value(found.content, wanted, found.id)}


def _find(view: Context, ref: str) -> Resource | Place:
    place = _PLACE.fullmatch(ref)
    if place is None:
        return view.get(ref if is_id(ref) or view.has(ref) else _called(view, ref) or ref)
    scope = Scope()
    scope.bind("it", place[1])
    reference = whole_reference(f"$it{place[2]}")
    if reference is None:
        raise Invalid(f"{ref!r:.80} is not a place in {place[1]}", hint=f"such as {place[1]}.title or {place[1]}[0]")
    return Resolver(view, scope).thing(reference)


def _called(view: Context, ref: str) -> str | None:
    """Return the id of the only Note that has a path, a title or an alias, None where there is none."""
    with view.space.store.reading() as snapshot:
        found = notes_called(snapshot, ref)
    if len(found) > 1:
        listed = ", ".join(found[:8])
        raise NotFound(f"{ref!r:.80} is the path or title of {len(found)} notes: {listed}", hint="give the id")
    return found[0] if found else None


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


def _of_place(value: JSON, wanted: ReadRequest) -> JSON:
    """Return what is wanted of a value: the fields of an object, or of each element of a list, null of one without."""
    if not wanted.fields:
        return value
    if isinstance(value, list):
        selection = Selection(wanted.fields)
        read = (selection.read(_PlainValue(wanted.ref, element)) for element in value)
        return [None if one is ABSENT else one for one in read]
    return _selected(_PlainValue(wanted.ref, value), wanted.fields)


def _selected(resource: Note | Relation | _PlainValue, fields: Sequence[Path]) -> JSON:
    found = Selection(fields).read(resource)
    if found is ABSENT:
        missing = next(path for path in fields if Selection([path]).read(resource) is ABSENT)
        raise Invalid(f"{resource.id} has no `{missing}`", hint="leave it away, or read the whole without `fields`")
    return found


def _value(value: JSON, wanted: ReadRequest, ref: str = "") -> dict[str, Any]:
    if isinstance(value, str):
        return _text(value, wanted)
    if isinstance(value, list):
        elements: list[JSON] = value
        return _pieces(
            "elements",
            len(elements),
            wanted,
            lambda start, stop: [(f"{ref or wanted.ref}[{at}]", elements[at]) for at in range(start, stop)],
        )
    whole = dump(value)
    if wanted.part == slice(None) and len(whole) <= wanted.most:
        return {"of": "characters", "total": len(whole), "slice": f"0:{len(whole)}", "next": None, "data": value}
    return _text(whole, wanted)


def _text(text: str, wanted: ReadRequest) -> dict[str, Any]:
    start, stop = _range(wanted.part, len(text))
    end = min(stop, start + wanted.most)
    return {
        "of": "characters",
        "total": len(text),
        "slice": f"{start}:{end}",
        "next": f"{end}:{stop}" if end < stop else None,
        "data": text[start:end],
    }


def _items(view: Context, collection: Collection, wanted: ReadRequest) -> dict[str, Any]:
    """Return items as `{id, content}`; of one that misses one of the fields, `content` is left away."""
    selection = Selection(wanted.fields) if wanted.fields else None
    members = [member.id for member in collection.members]

    def fetch(start: int, stop: int) -> list[tuple[str, JSON]]:
        found: list[tuple[str, JSON]] = []
        for item in view.resources(members[start:stop]):
            content = view.content(item) if selection is None else selection.read(item)
            found.append((item.id, {"id": item.id} if content is ABSENT else {"id": item.id, "content": content}))
        return found

    return _pieces("items", len(members), wanted, fetch)


def _pieces(of: str, total: int, wanted: ReadRequest, fetch: Fetch) -> dict[str, Any]:
    """Return as many entries as fit, at least one; one that alone does not fit is null, and told with its `ref`."""
    start, stop = _range(wanted.part, total)
    shown: list[JSON] = []
    too_long: list[JSON] = []
    size = 0
    for ref, entry in _entries(fetch, start, stop):
        length = len(dump(entry))
        told: JSON = None
        if length > wanted.most:
            told = {"at": start + len(shown), "ref": ref, "characters": length}
            length = len(dump(told))
        if shown and size + length > wanted.most:
            break
        size += length
        shown.append(entry if told is None else None)
        too_long += [] if told is None else [told]
    end = start + len(shown)
    answer = {
        "of": of,
        "total": total,
        "slice": f"{start}:{end}",
        "next": f"{end}:{stop}" if end < stop else None,
        "data": shown,
    }
    return {**answer, "too_long": too_long} if too_long else answer


def _entries(fetch: Fetch, start: int, stop: int) -> Iterator[tuple[str, JSON]]:
    for at in range(start, stop, _AT_ONCE):
        yield from fetch(at, min(stop, at + _AT_ONCE))


def _range(part: slice, total: int) -> tuple[int, int]:
    if part.step not in (None, 1):
        raise Invalid(f"a slice here has no step, and this has {part.step}", hint='such as "0:100" or "-20:"')
    start, stop, _ = part.indices(total)
    return start, max(start, stop)
