"""Some places of a resource as one value: what is taken keeps its nesting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.paths import ABSENT, OWN, Absent, Part, Path, Readable, reader, show_parts
from infospace.schema.combine import closed_object, list_of
from infospace.schema.shapes import NoSuchPath, Schema, Shape, place_in


@dataclass(slots=True)
class _Node:
    """A place in what is made: which of the values stands there, or what is inside, as it was named."""

    value: int | None = None
    inside: dict[Part, _Node] = field(default_factory=dict)


class Selection:
    """What is made of the places of some paths, all of which have to exist.

    `metadata.score` stands under `metadata`. An `@` is left away, since a path with it would mean what is
    made: `@id` stands under `id`. An index keeps the list, with just the elements that are named.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """Raise Invalid where two of the paths cannot stand side by side."""
        self._paths = tuple(paths)
        self._root = _Node()
        self._readers = [reader(path) for path in paths]
        for index in range(len(self._paths)):
            self._place(index)

    def read(self, resource: Readable) -> JSON | Absent:
        """Return what is made of a resource; `ABSENT` where it misses one of the places."""
        values: list[JSON] = []
        for find in self._readers:
            value = find(resource)
            if value is ABSENT:
                return ABSENT
            values.append(value)
        return _filled(self._root, values)

    def schema(self, item: Shape) -> Schema | None:
        """Return the schema of what is made of a resource of this shape; None, not known, where a path is ruled out."""
        places = [place_in(item, path.parts) for path in self._paths]
        known = [place for place in places if not isinstance(place, NoSuchPath)]
        return _schema(self._root, known) if len(known) == len(places) else None

    def _place(self, index: int) -> None:
        path = self._paths[index]
        parts = (str(path.parts[0])[1:], *path.parts[1:]) if _is_own(path) else path.parts
        node = self._root
        for depth, part in enumerate(parts):
            if node.value is not None:
                break
            if any(isinstance(part, int) is not isinstance(other, int) for other in node.inside):
                what = f"`{show_parts(parts[:depth])}`" if depth else "the item"
                message = f"{what} is {_a(part)} in `{path}`, and {_a(next(iter(node.inside)))} in another field"
                raise Invalid(message, hint="no item can have both")
            node = node.inside.setdefault(part, _Node())
        for other in _values(node):
            if _is_own(self._paths[other]) is not _is_own(path):
                message = f"`{self._paths[other]}` and `{path}` would stand in one place"
                raise Invalid(message, hint="an `@` is left away in what is made, so only one of them can be taken")
        node.value, node.inside = index if node.value is None else node.value, {}


def _is_own(path: Path) -> bool:
    return path.parts[0] in OWN


def _a(part: Part) -> str:
    return "a list" if isinstance(part, int) else "an object"


def _values(node: _Node) -> list[int]:
    return [node.value] if node.value is not None else [at for inner in node.inside.values() for at in _values(inner)]


def _is_list(node: _Node) -> bool:
    return any(isinstance(part, int) for part in node.inside)


def _filled(node: _Node, values: Sequence[JSON]) -> JSON:
    if node.value is not None:
        return values[node.value]
    if _is_list(node):
        return [_filled(inner, values) for inner in node.inside.values()]
    return {str(part): _filled(inner, values) for part, inner in node.inside.items()}


def _schema(node: _Node, schemas: Sequence[Schema | None]) -> Schema | None:
    if node.value is not None:
        return schemas[node.value]
    if not _is_list(node):
        return closed_object({str(part): _schema(inner, schemas) for part, inner in node.inside.items()})
    first, *others = [_schema(inner, schemas) for inner in node.inside.values()]
    return list_of(first if all(other == first for other in others) else None)
