"""What the person behind a client is asked: as the form that the client shows, and the answer taken from it.

A form has fields of text, of numbers, of yes or no, and of choices, and nothing inside of them (elicitation in MCP);
what else an answer may be is written as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.data.paths import ABSENT, Absent
from infospace.data.result import truncate
from infospace.tools.approvals import APPROVAL_CHOICES
from planner.journal.suspension import Pending, read_answer

ANSWER, MORE = "answer", "more"
"""The fields of a form; that of an `ask` for an object has those of the object."""
SHOWN: Final = 500
"""Characters of a schema that a form shows."""

OR_DECLINED: Final = ["object", "string"]
"""The type of an answer that is a form, or `decline`: what the server of a tool asks."""
_DOUBTS: Final[Mapping[str, str]] = {
    "repeat": "make the call again",
    "result": "it had its effect, and answered what stands below, if that is known",
    "failed": "it had no effect, for the reason below",
}
"""What may be said of a call in doubt."""

_TOLD: Final = ("title", "description", "default")
_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset(("minLength", "maxLength", "format")),
    "integer": frozenset(("minimum", "maximum")),
    "number": frozenset(("minimum", "maximum")),
    "boolean": frozenset(),
}
"""The types that a field may have, and what else a form may say of each."""
_FORMATS: Final = ("email", "uri", "date", "date-time")


@dataclass(frozen=True, slots=True)
class Question:
    """A question that a call of a door ended with, for the person behind the client."""

    run: str
    pending: Pending

    @property
    def key(self) -> str:
        """What tells it from other questions, also of the same step."""
        return f"{self.run}:{self.pending.answer_key}"

    @property
    def tool(self) -> str | None:
        """The tool that it is about, None where it is about none."""
        return None if self.pending.about is None else self.pending.about.get("tool")

    @property
    def is_of_server(self) -> bool:
        """Whether the server of a tool asks, which takes a refusal as an answer."""
        return self.pending.kind == "ask" and self.tool is not None

    @property
    def message(self) -> str:
        """The question, and which run and step it is of."""
        return f"{self.pending.question} ({self.run}, step {self.pending.step})"

    @property
    def form(self) -> dict[str, Any]:
        """What the client shows: a JSON Schema of an object."""
        match self.pending.kind:
            case "approve":
                return _form(
                    {
                        ANSWER: {
                            "type": "string",
                            "title": "May it be called?",
                            **_choices(dict(APPROVAL_CHOICES.items())),
                        }
                    }
                )
            case "doubt":
                field = {"type": "string", "title": "Did it have its effect?", **_choices(_DOUBTS)}
                more = {"type": "string", "title": "What it answered, or why it failed"}
                return _form({ANSWER: field, MORE: more}, required=(ANSWER,))
        schema = self.pending.schema
        fields = None if schema is None else _fields(schema)
        if schema is not None and fields is not None:
            return _form(fields, required=[name for name in schema.get("required", ()) if name in fields])
        return _form({ANSWER: _field(schema)})

    def answer(self, content: Mapping[str, Any]) -> JSON | Absent:
        """Return the answer that a form has, as the run takes it; ABSENT where it has none."""
        values: dict[str, Any] = {name: value for name, value in content.items() if value is not None}
        answer: JSON | Absent = values.get(ANSWER, ABSENT)
        match self.pending.kind:
            case "approve":
                return answer if isinstance(answer, str) and answer in APPROVAL_CHOICES else ABSENT
            case "doubt":
                return _of_doubt(answer, str(values.get(MORE, "")))
        return _of_ask(self.pending.schema, values)


def _of_ask(schema: Mapping[str, Any] | None, values: Mapping[str, Any]) -> JSON | Absent:
    if schema is not None and _fields(schema) is not None:
        return values
    answer: JSON | Absent = values.get(ANSWER, ABSENT)
    listed = None if schema is None else _listed(schema)
    if listed is not None:
        return next((value for value in listed if _label(value) == answer), ABSENT)
    return read_answer(answer, schema) if isinstance(answer, str) else answer


def _of_doubt(answer: JSON | Absent, more: str) -> JSON | Absent:
    match answer:
        case "repeat":
            return "repeat"
        case "result":
            return {"result": read_answer(more, None) if more.strip() else None}
        case "failed":
            return {"failed": more.strip() or "somebody said that it had no effect"}
    return ABSENT


def _form(fields: Mapping[str, Any], required: list[str] | tuple[str, ...] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": dict(fields), "required": list(fields if required is None else required)}


def _choices(document: Mapping[str, str]) -> dict[str, Any]:
    return {
        "description": "; ".join(f"{word}: {meaning}" for word, meaning in document.items()),
        "enum": list(document),
    }


def _fields(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of an object that is a form itself, None for anything else."""
    properties = schema.get("properties")
    if schema.get("type") not in ("object", OR_DECLINED) or not isinstance(properties, Mapping) or not properties:
        return None
    if any(name not in properties for name in schema.get("required", ())):
        return None
    fields = {name: _plain(part) for name, part in properties.items()}
    return {name: field for name, field in fields.items() if field is not None} if all(fields.values()) else None


def _plain(schema: Any) -> dict[str, Any] | None:
    """Return the field that takes just what a schema does, as far as a form says; None where none does."""
    if not isinstance(schema, Mapping) or any(key in schema for key in ("oneOf", "anyOf", "allOf", "$ref", "const")):
        return None
    kept_keys = {key: schema[key] for key in _TOLD if key in schema}
    if "enum" in schema:
        texts = all(isinstance(value, str) for value in schema["enum"])
        return {**kept_keys, "type": "string", "enum": list(schema["enum"])} if texts else None
    type_ = schema.get("type")
    if not isinstance(type_, str) or type_ not in _KEYWORDS:
        return None
    bounds = {key: schema[key] for key in _KEYWORDS[type_] & schema.keys()}
    if bounds.get("format") not in (None, *_FORMATS):
        del bounds["format"]
    return {**kept_keys, "type": type_, **dict(sorted(bounds.items()))}


def _field(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the one field of an answer that is no object."""
    title = {"title": "Your answer"}
    if not schema:
        return {**title, "type": "string"}
    listed = _listed(schema)
    if listed is not None:
        kept_keys = {key: schema[key] for key in _TOLD[:2] if key in schema}
        return {**title, **kept_keys, "type": "string", "enum": [_label(value) for value in listed]}
    plain = _plain(schema)
    if plain is not None:
        return {**title, **plain}
    return {**title, "type": "string", "description": f"JSON that fits {truncate(dump(dict(schema)), SHOWN)}"}


def _listed(schema: Mapping[str, Any]) -> list[JSON] | None:
    """Return the values that a schema lists, None where it lists none."""
    values = schema.get("enum")
    return (
        list(values) if isinstance(values, list) and len({_label(value) for value in values}) == len(values) else None
    )


def _label(value: JSON) -> str:
    return value if isinstance(value, str) else dump(value)
