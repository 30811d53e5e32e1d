"""Variables, and the places in what they are bound to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.data.paths import EXTRA, KEY, OWN, Part, parse_suffix
from infospace.schema.references import resolved
from infospace.schema.shapes import (
    CollectionShape,
    NoSuchPath,
    NoteShape,
    Schema,
    Shape,
    Unknown,
    describe,
    disjoint,
    format_types,
    subschema_at,
    types_of,
)
from planner.check.environment import Environment, Variable
from planner.check.references.values import content_schema
from planner.editor.offers import Offer

_AT = re.compile(
    r"\$(?P<brace>\{?)(?P<name>[A-Za-z_]\w*)?"
    r"(?P<path>(?:\.@?[\w-]+(?=[.\[])|\[[^\]]*\])*)(?P<last>\.@?[\w-]*|\[[^\]]*)?$"
)
_PATH = re.compile(r"(?P<path>(?:(?:^|\.)@?[\w-]+(?=[.\[])|\[[^\]]*\])*)(?P<last>(?:^|\.)@?[\w-]*|\[[^\]]*)?$")
_WORD = re.compile(r"[A-Za-z_]*$")
_REST = re.compile(r"[\w-]*")
_ITSELF = re.compile(r"(?:[^\W_]|\$)$")
"""What is before a `$` that is itself."""

OWN_ABOUT = {
    "@metadata": "the resource's own metadata",
    "@id": "its id",
    "@name": "its name, or null",
    "@created": "when it was made",
    "@updated": "when it was last changed",
    "@path": "of an imported Note: the path of its file under the root",
    "@folder": "of an imported Note: the folder of its file under the root",
    "@file": "of an imported Note: the name of its file",
    "@root": "of an imported Note: the folder that was imported",
    "@title": "what a Note is called",
    "@tags": "the tags of a Note; of `a/b` also `a`",
    "@modified": "when its file was last changed, or the resource",
    EXTRA: "what its step has besides: `certificate` of a search",
}


@dataclass(frozen=True, slots=True)
class PartialReference:
    """A reference, or a path, that ends at the cursor: `length` characters of it are to be replaced."""

    name: str | None
    brace: bool
    path: str
    last: str | None

    @property
    def length(self) -> int:
        """Characters before the cursor that an offer replaces."""
        if self.last is not None:
            return len(self.last)
        return len(self.path) + len(self.name or "") + 1 + self.brace


def reference_before(text: str) -> PartialReference | None:
    """Return the reference that a text ends with, as far as it is written."""
    match = _AT.search(text)
    if match is None or (not match["brace"] and _ITSELF.search(text[: match.start()])):
        return None
    return PartialReference(
        match["name"], bool(match["brace"]), match["path"], match["last"] if match["name"] else None
    )


def path_before(text: str) -> PartialReference:
    """Return the path that a text ends with, as far as it is written."""
    match = _PATH.search(text)
    return PartialReference(None, False, match["path"] if match else "", match["last"] if match else "")


def word_before(text: str) -> str:
    """Return the word that a text ends with, as far as it is written."""
    return _WORD.search(text)[0]  # type: ignore[index]


def word_end(text: str, offset: int) -> int:
    """Return where the word ends that a place lies in."""
    match = _REST.match(text, offset)
    return offset if match is None else match.end()


def variables(
    env: Environment,
    kinds: frozenset[Kind] | None = None,
    schema: Schema | None = None,
    *,
    brace: bool = False,
) -> Iterator[Offer]:
    """Offer variables, the latest first; those of other kinds, or whose content cannot fit, do not fit."""
    for name, variable in reversed(env.variables.items()):
        fits = True
        if kinds is not None:
            fits = bool(variable.shape.kinds & kinds)
        elif schema is not None:
            fits = not disjoint(content_schema(variable.shape), schema)
        about = "" if variable.unbound_reason is None else f"may be unbound: {variable.unbound_reason}"
        text = f"${{{name}}}" if brace else f"${name}"
        yield Offer(f"${name}", text, describe(variable.shape), about, fits=fits and variable.unbound_reason is None)


def places(shape: Shape, path: str, *, first: bool = False) -> Iterator[Offer]:
    """Offer the keys in what a path leads to; `first`, without a dot before them."""
    try:
        parts = parse_suffix(path, 0)[0].parts if path else ()
    except Invalid:
        return
    yield from _keys_at(shape, parts, first=first)


def variable_places(variable: Variable, path: str) -> Iterator[Offer]:
    """Offer the keys in what a path behind a variable leads to."""
    try:
        parts = parse_suffix(path, 0)[0].parts if path else ()
    except Invalid:
        return
    if EXTRA in parts:
        subschema = subschema_at(variable.extra, parts[parts.index(EXTRA) + 1 :])
        if subschema is not None and not isinstance(subschema, NoSuchPath):
            yield from _keys(subschema, ".")
        return
    yield from _keys_at(variable.shape, parts, first=False)
    if all(isinstance(part, int) for part in parts):
        yield Offer(f".{EXTRA}", f".{EXTRA}", "object", OWN_ABOUT[EXTRA], again=True)


def item_places(shapes: Sequence[Shape], path: str) -> Iterator[Offer]:
    """Offer the paths that the items of some Collections have, each once."""
    dotted = path if not path or path.startswith("[") else f".{path}"
    results: dict[str, Offer] = {}
    for shape in shapes:
        for offer in places(shape, dotted, first=not path):
            results.setdefault(offer.label, offer)
    yield from results.values()


def _keys_at(shape: Shape, parts: tuple[Part, ...], *, first: bool) -> Iterator[Offer]:
    while parts and isinstance(parts[0], int) and not isinstance(shape, NoteShape):
        shape, parts = (shape.item if isinstance(shape, CollectionShape) else Unknown()), parts[1:]
    dot = "" if first else "."
    if isinstance(shape, CollectionShape) and not parts:
        yield Offer("[0]", "[0]", describe(shape.item), "the first item", again=True)
    if isinstance(shape, NoteShape):
        yield from _content_keys(shape, parts, dot, first=first)
    if not parts:
        yield Offer(f"{dot}metadata", f"{dot}metadata", "object", "its own metadata", again=True)
        for own in OWN:
            yield Offer(f"{dot}{own}", f"{dot}{own}", about=OWN_ABOUT[own])


def _content_keys(shape: NoteShape, parts: tuple[Part, ...], dot: str, *, first: bool) -> Iterator[Offer]:
    schema: Schema | NoSuchPath | None
    if parts[:1] == ("@metadata",):
        schema = subschema_at(shape.metadata, parts[1:])
    else:
        schema = subschema_at(shape.content, parts)
        if isinstance(schema, NoSuchPath) and parts[:1] == ("metadata",):
            schema = subschema_at(shape.metadata, parts[1:])
    if schema is None or isinstance(schema, NoSuchPath):
        return
    if "array" in types_of(schema) and not first and types_of(schema) != types_of(None):
        yield Offer("[0]", "[0]", about="the first element", again=True)
    yield from _keys(schema, dot)


def _keys(schema: Schema, dot: str) -> Iterator[Offer]:
    for key, inner in properties(schema):
        plain = KEY.fullmatch(key)
        quoted = key.replace("'", "''")
        label = f"{dot}{key}" if plain else f"['{quoted}']"
        yield Offer(label, label, format_types(inner), str(inner.get("description", "")))


def properties(schema: Schema) -> Iterable[tuple[str, Schema]]:
    """Return the keys that an object of a schema may have, each with its schema."""
    results: dict[str, Schema] = {}
    for one in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        own = resolved(one, schema)
        for key, inner in own.get("properties", {}).items():
            results.setdefault(key, resolved(inner, schema) if isinstance(inner, dict) else {})
    return results.items()
