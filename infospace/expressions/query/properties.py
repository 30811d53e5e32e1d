"""What expressions over the space's Notes say of properties: names that no Note has, and values that none has there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.paths import OWN, Path, kind_of, nearest
from infospace.data.properties import Property, PropertyType
from infospace.expressions.expression import walk
from infospace.expressions.tree import Call, Compare, Constant, Expression, Field, In
from infospace.schema.value_text import listed, shown

_NOUNS: Final[Mapping[str, str]] = {
    "text": "text",
    "date": "a date",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list",
    "object": "an object",
    "null": "null",
}
_KINDS: Final[Mapping[PropertyType, str]] = {"text": "string", "date": "string"}
"""What `kind_of` calls the values of a type that it calls otherwise."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """What no Note fits now: the code of a problem, a sentence, a hint."""

    code: str
    message: str
    hint: str | None = None


@dataclass(slots=True)
class AssignedMetadata:
    """Names and values that a plan itself may give to the metadata of Notes before an expression reads it."""

    names: set[str] = field(default_factory=set)
    values: list[JSON] = field(default_factory=list)
    any_name: bool = False
    any_value: bool = False

    def add(self, raw: JSON) -> None:
        """Take what an argument of something that writes is, as the plan has it."""
        match raw:
            case dict():
                self.names.update(raw)
                for value in raw.values():
                    self.add(value)
            case list():
                for value in raw:
                    self.add(value)
            case str() if "$" in raw:
                self.any_value = True
                self.any_name |= raw.startswith("$")
            case _:
                self.values.append(raw)


NOTHING_GIVEN: Final = AssignedMetadata()


def doubts(
    tree: Expression,
    property_of: Callable[[Path], str | None],
    properties: Mapping[str, Property],
    assigned: AssignedMetadata = NOTHING_GIVEN,
) -> Iterator[Doubt]:
    """Iterate over what in an expression no Note fits; `property_of` names the property that a path means, if any.

    Of a space without any property nothing is said.
    """
    names: set[str] = set()
    for node in walk(tree) if properties else ():
        for path, literals, equal in _read(node):
            name = property_of(path)
            if name is None:
                continue
            result = properties.get(name)
            if result is None:
                if name not in names and not assigned.any_name and name not in assigned.names:
                    names.add(name)
                    yield _unknown(name, properties)
            elif not assigned.any_value:
                raw = [literal for literal in literals if not any(same(literal, value) for value in assigned.values)]
                yield from _unfit(path, name, result, raw, equal=equal)


def _read(node: Expression) -> Iterator[tuple[Path, list[JSON], bool]]:
    """Iterate over the places that a node reads with what it compares them with, and whether for being the same."""
    match node:
        case Field(path):
            yield path, [], False
        case Compare(by, Field(path), Constant(value)) | Compare(by, Constant(value), Field(path)):
            yield path, [value], by in ("=", "!=")
        case In(Field(path), items):
            yield path, [item.value for item in items if isinstance(item, Constant)], True
        case Call("contains" | "has", (Field(path), Constant(value))):
            yield path, [[value]], True


def _unknown(name: str, properties: Mapping[str, Property]) -> Doubt:
    near = f"@{name}" if f"@{name}" in OWN else nearest(name, properties)
    some = ", ".join(list(properties)[:12])
    return Doubt("unknown-property", f"no note has a property `{name}`", f"did you mean `{near}`?" if near else some)


def describe_types(property_type: Property) -> str:
    """Return the types of a property as words: `text in 41 notes, a list in 2`."""
    first, *rest = property_type.types.items()
    count = first[1]
    texts = [f"{_NOUNS[first[0]]} in {count:,} note{'s' * (count != 1)}"]
    return ", ".join([*texts, *(f"{_NOUNS[type_]} in {times:,}" for type_, times in rest)])


def _unfit(path: Path, name: str, property_type: Property, literals: list[JSON], *, equal: bool) -> Iterator[Doubt]:
    types = [type_ for type_ in property_type.types if type_ != "null"]
    kinds = {_KINDS.get(type_, type_) for type_ in types}
    for literal in literals:
        element = isinstance(literal, list)
        if literal is None or (element and kinds != {"list"}):
            continue
        value = literal[0] if isinstance(literal, list) else literal
        if not element and kind_of(value) not in kinds:
            yield Doubt(
                "unknown-value", f"`{path}` is compared with {shown(value)}, and it is {describe_types(property_type)}"
            )
            continue
        values = property_type.values
        if not equal or values is None or any(same(value, one) for one in values):
            continue
        alike = [one for one in values if isinstance(one, str)]
        near = nearest(value, alike) if isinstance(value, str) else None
        message = f"no note has {shown(value)} as `{name}`: it is {listed([*values])}"
        yield Doubt("unknown-value", message, f"did you mean {shown(near)}?" if near else None)
