"""What a function takes that is called with JSON by name: its schema, and every fault of a call at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from infospace.argument import Args, Reading
from infospace.contract import Argument
from infospace.faults import ArgumentsInvalid, faults_of


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
    def _arguments(self) -> Mapping[str, Argument]:
        found = {}
        for name, info in self.model.model_fields.items():
            schema = {**self.schema["properties"][name], "$defs": self.schema.get("$defs", {})}
            required = info.is_required()
            default = None if required else info.get_default(call_default_factory=True, validated_data={})
            description = info.description or ""
            found[name] = Argument(name, Reading.VALUE, frozenset(), schema, required, default, description)
        return found

    def validate(self, given: Mapping[str, Any]) -> Any:
        """Return the arguments as the model has them; raises ArgumentsInvalid with every fault."""
        try:
            return self.model.model_validate(dict(given))
        except ValidationError as error:
            details = error.errors(include_url=False)
        raise ArgumentsInvalid(faults_of(self.name, details, given, self._arguments))


def untitled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without the titles that only say the names of its fields again."""
    return {key: _untitled(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}


def _untitled(part: Any) -> Any:
    if isinstance(part, list):
        return [_untitled(item) for item in part]
    return untitled(part) if isinstance(part, dict) else part


def every_fault(error: Exception) -> str:
    """Say what is wrong: of arguments all of it, a sentence each."""
    if not isinstance(error, ArgumentsInvalid):
        return str(error)
    return "; ".join(f"{fault.says} ({fault.hint})" if fault.hint else fault.says for fault in error.faults)
