"""What a function takes that is called with JSON by name: its schema, and every fault of a call at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from infospace.contract.argument_errors import ArgumentsInvalid, argument_errors
from infospace.contract.arguments import Args, ParseMode
from infospace.contract.decorator import Argument
from infospace.data.json_text import dump


@dataclass(frozen=True)
class Signature:
    """The name of such a function, and the model of its arguments."""

    name: str
    description: str
    model: type[Args]

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, closed."""
        return untitled({key: value for key, value in self.model.model_json_schema().items() if key != "description"})

    @cached_property
    def brief(self) -> dict[str, Any]:
        """The same schema in few words, for whoever writes a call: what may be left out is not said to be null."""
        return briefly(self.schema)

    @cached_property
    def _arguments(self) -> Mapping[str, Argument]:
        results = {}
        for name, info in self.model.model_fields.items():
            schema = {**self.schema["properties"][name], "$defs": self.schema.get("$defs", {})}
            required = info.is_required()
            default = None if required else info.get_default(call_default_factory=True, validated_data={})
            description = info.description or ""
            results[name] = Argument(name, ParseMode.VALUE, frozenset(), schema, required, default, description)
        return results

    def validate(self, values: Mapping[str, Any]) -> Any:
        """Return the arguments as the model has them; raises ArgumentsInvalid with every fault."""
        try:
            return self.model.model_validate(dict(values))
        except ValidationError as error:
            details = error.errors(include_url=False)
        raise ArgumentsInvalid(argument_errors(self.name, details, values, self._arguments))


def untitled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without the titles that only say the names of its fields again."""
    return {key: _untitled(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}


def _untitled(part: Any) -> Any:
    if isinstance(part, list):
        return [_untitled(item) for item in part]
    return untitled(part) if isinstance(part, dict) else part


def briefly(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in few words: definitions where they are used, no null beside what may be left out.

    Nothing fits it that the schema does not let pass. A definition that refers to itself stays one.
    """
    whole: dict[str, Any] = _brief(schema, schema.get("$defs", {}), ())
    definitions = whole.pop("$defs", {})
    left = {name: part for name, part in definitions.items() if f'"#/$defs/{name}"' in dump(whole)}
    return {**whole, "$defs": left} if left else whole


def _brief(part: Any, definitions: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(part, list):
        return [_brief(item, definitions, within) for item in part]
    if not isinstance(part, Mapping):
        return part
    name = str(part.get("$ref", "")).removeprefix("#/$defs/")
    if name in definitions and name not in within:
        meaningful = {key: value for key, value in part.items() if key != "$ref"}
        return _brief({**definitions[name], **meaningful}, definitions, (*within, name))
    options = part.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options and part.get("default", 0) is None:
        some = [option for option in options if option != {"type": "null"}]
        rest = {key: value for key, value in part.items() if key not in ("anyOf", "default")}
        return _brief({**some[0], **rest} if len(some) == 1 else {"anyOf": some, **rest}, definitions, within)
    meaningful = {key: value for key, value in part.items() if (key, value) not in _SAY_NOTHING}
    return {key: _brief(value, definitions, within) for key, value in meaningful.items()}


def tersely(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a brief schema with names, types, choices and what has to be given alone.

    Descriptions, defaults and bounds are left to the tool's own description, and to the sentence that refuses a call.
    """
    terse: dict[str, Any] = _terse(briefly(schema))
    return terse


def _terse(part: Any) -> Any:
    if isinstance(part, list):
        return [_terse(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    terse = {key: _terse(value) for key, value in part.items() if key not in _UNTOLD and key != "properties"}
    if "properties" in part:
        terse["properties"] = {name: _terse(field) for name, field in part["properties"].items()}
    return terse


_UNTOLD = frozenset(
    {"additionalProperties", "default", "description", "maximum", "maxItems", "minimum", "minItems", "minLength"}
    | {"maxLength", "pattern"}
)


_SAY_NOTHING: Sequence[tuple[str, Any]] = (
    *(("default", []), ("default", {}), ("additionalProperties", True)),
    *(("format", "where"), ("format", "expression"), ("format", "path"), ("format", "slice")),
)


def format_errors(error: Exception) -> str:
    """Say what is wrong: of arguments all of it, a sentence each."""
    if not isinstance(error, ArgumentsInvalid):
        return str(error)
    return "; ".join(f"{fault.message} ({fault.hint})" if fault.hint else fault.message for fault in error.faults)
