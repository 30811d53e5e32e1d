"""The arguments of a tool as fields of a form: what each takes, what it begins with, and what was written in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json
from infospace.schema.infer import Schema, types_of
from infospace.schema.messages import spell
from infospace.schema.references import resolved
from infospace.schema.validate import validate_ignoring
from infospace.schema.value_text import describe_schema

Shape = Literal["choice", "switch", "text", "scalar", "json"]
"""`text` is taken as it is written, `scalar` is a number or null, `json` anything else."""

NOTHING: Final = object()
"""No value: the argument is not given."""

_BEGINNINGS: Final = ("{", "[", '"')
"""What JSON begins with that was meant to be some."""

_SCALARS: Final = frozenset({"integer", "number", "null"})


@dataclass(frozen=True, slots=True)
class Field:
    """An argument. `fits` says in words what it takes; `options` are all of its values where the schema lists them."""

    name: str
    shape: Shape
    required: bool
    fits: str
    about: str = ""
    options: Sequence[JSON] = ()
    begins: Any = NOTHING
    """What it has where nobody says otherwise: the default, else an example of its own."""
    hint: str = ""
    """An example, to be shown where nothing is written."""
    texts: bool = False
    """Whether a text fits as well: what is no JSON is one."""


@dataclass(frozen=True, slots=True)
class FieldErrors:
    """What is wrong with arguments: sentences by the name of the argument, and those about all of them."""

    fields: Mapping[str, Sequence[str]]
    others: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.fields or self.others)


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """Return the fields for a tool's schema, required ones first, else in its order."""
    whole = resolved(schema, schema)
    properties = whole.get("properties")
    if not isinstance(properties, Mapping):
        return []
    needed = whole.get("required")
    required = set(needed) if isinstance(needed, list) else set()
    fields = [_field(name, part, schema, name in required) for name, part in properties.items()]
    return sorted(fields, key=lambda field: not field.required)


def _field(name: str, part: Any, root: Schema, required: bool) -> Field:
    own = part if isinstance(part, Mapping) else {}
    schema = resolved(own, root)
    about = own.get("description") or schema.get("description")
    examples = own.get("examples") or schema.get("examples")
    example: Any = examples[0] if isinstance(examples, list) and examples else NOTHING
    default = own.get("default", schema.get("default", NOTHING))
    begins = default if default is not NOTHING and default is not None else NOTHING
    options = _options(schema)
    types = types_of({**schema, **({"$defs": root["$defs"]} if "$defs" in root else {})})
    return Field(
        name,
        _shape(types, options),
        required,
        describe_schema(schema, root) or "any JSON",
        " ".join(about.split()) if isinstance(about, str) else "",
        options,
        example if begins is NOTHING and required else begins,
        "" if example is NOTHING else written(example),
        "string" in types,
    )


def _shape(types: frozenset[str], options: Sequence[JSON]) -> Shape:
    some = types - {"null"}
    if some == {"boolean"} and "null" not in types:
        return "switch"
    if options:
        return "choice"
    if some == {"string"}:
        return "text"
    return "scalar" if some and some <= _SCALARS else "json"


def _options(schema: Schema) -> list[JSON]:
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])
    if "const" in schema:
        return [schema["const"]]
    return [True, False, None] if types_of(schema) == {"boolean", "null"} else []


def written(value: JSON) -> str:
    """Return a value as one writes it in a field."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=None)


def value_of(field: Field, text: str) -> Any:
    """Return the value that was written in a field, NOTHING for an empty one. Raises InvalidJSON."""
    if field.shape == "text":
        return text or NOTHING
    if not text.strip():
        return NOTHING
    try:
        return read_json(text, what="this")
    except InvalidJSON:
        if field.shape == "scalar" or (field.texts and text.lstrip()[:1] not in _BEGINNINGS):
            return text
        raise


def field_errors(schema: Mapping[str, Any], arguments: Mapping[str, JSON], names: Sequence[str]) -> FieldErrors:
    """Return everything in which arguments do not fit a schema; `names` are those that have a field."""
    fields: dict[str, list[str]] = {}
    others: list[str] = []
    for name, message in _violations(schema, arguments):
        messages = fields.setdefault(name, []) if name in names else others
        if message not in messages:
            messages.append(message)
    return FieldErrors(fields, others)


def _violations(schema: Mapping[str, Any], arguments: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    for one in validate_ignoring(dict(arguments), schema, NOTHING):
        if one.keyword == "required" and not one.place:
            yield from ((name, "this is needed") for name in one.wanted if name not in arguments)
        elif one.place:
            deeper = spell(one.place[1:])
            yield str(one.place[0]), f"{one.message} at {deeper}" if deeper else one.message
        else:
            yield "", one.message
