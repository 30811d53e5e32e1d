"""Questions with answers that can be relied on: read, held against their schema here, mended once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from infospace.core.errors import BadResponse, Invalid, InvalidJSON, RequestRejected
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy
from infospace.data.json_text import dump, read_json
from infospace.llm.meter import Meter
from infospace.llm.model import LanguageModel, Message, OnText, Reply, Request, estimate
from infospace.schema.infer import Schema
from infospace.schema.validate import DATA, schema_errors, validate

Check: TypeAlias = Callable[[Any], Sequence[str]]
"""From an answer to what is wrong with it, a sentence each."""

KEY = "value"
"""Under it stands an answer that is no object, since endpoints give only objects."""


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The form of an answer: its own schema, and the object's schema that is asked for."""

    schema: Schema
    asked: Schema

    @property
    def wrapped(self) -> bool:
        """Whether the answer stands under `KEY` of an object."""
        return self.asked is not self.schema

    def read(self, text: str) -> tuple[JSON, list[str]]:
        """Return the answer in a text, and in what it does not fit."""
        try:
            value = _json_in(text)
        except InvalidJSON as error:
            return None, [str(error)]
        if self.wrapped and isinstance(value, Mapping) and set(value) == {KEY}:
            value = value[KEY]
        return value, validate(value, self.schema)


def form_of(schema: Schema) -> OutputSchema:
    """Return the form of answers to a schema. Raises Invalid for what is no JSON Schema."""
    for fault in schema_errors(schema):
        raise Invalid(fault.message, hint=fault.hint)
    if schema.get("type") == "object":
        return OutputSchema(schema, schema)
    inner = _moved(schema, f"#/properties/{KEY}")
    wrapped = {"type": "object", "properties": {KEY: inner}, "required": [KEY], "additionalProperties": False}
    return OutputSchema(schema, wrapped)


def _moved(part: Any, to: str) -> Any:
    """A schema with its `$ref`s as they are where it stands inside another one."""
    if isinstance(part, list):
        return [_moved(item, to) for item in part]
    if not isinstance(part, Mapping) or "$id" in part:
        return part
    moved = {}
    for key, value in part.items():
        if key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            moved[key] = to + value[1:]
        else:
            moved[key] = value if key in DATA else _moved(value, to)
    return moved


def _json_in(text: str) -> JSON:
    """Read JSON that may stand in a code fence, or in an object among other words. Raises InvalidJSON."""
    try:
        return read_json(text, what="the answer")
    except InvalidJSON as error:
        first, last = text.find("{"), text.rfind("}")
        if not 0 <= first < last:
            raise
        try:
            return read_json(text[first : last + 1], what="the answer")
        except InvalidJSON:
            raise error from None


@dataclass(slots=True)
class StructuredClient:
    """Asks a model in the name of a step; counts the calls that were answered, and their tokens."""

    model: LanguageModel
    meter: Meter
    created_by: CreatedBy
    on_text: OnText | None = None
    calls: int = 0
    tokens: int = 0
    cached: int = 0
    """How many answers were kept by an earlier run."""

    async def ask(
        self,
        messages: Sequence[Message],
        schema: Schema | None = None,
        max_tokens: int | None = None,
        check: Check | None = None,
    ) -> JSON:
        """Return a text, or with a schema a value that fits it. What is wrong is told to the model once.

        Raises BadResponse where the second answer is wrong too, and what `Meter.call` raises.
        """
        form = None if schema is None else form_of(schema)
        if form is not None:
            messages = _with_schema(messages, form)
        request = Request(tuple(messages), None if form is None else form.asked, max_tokens)
        reply = await self._call(request)
        value, faults = _judged(reply, form, check)
        if not faults:
            return value
        again = replace(request, messages=(*request.messages, *_complaint(reply, faults, form)))
        value, left = _judged(await self._call(again), form, check)
        if not left:
            return value
        for asked in (request, again):
            self.meter.forget(self.model, asked)
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        raise BadResponse(
            f"the model's answer is wrong, and was after it was told: {left[0]}{more}",
            hint="a simpler schema or instruction, or another model",
        )

    async def ask_freely(self, messages: Sequence[Message], schema: Schema) -> str:
        """Return the text of an answer that the endpoint may hold to a schema.

        The schema keeps to what strict modes take. It is neither told in words nor checked: whoever asks reads the
        answer with more understanding. Raises what `Meter.call` raises.
        """
        return (await self._call(Request(tuple(messages), schema, strict=True))).text.strip()

    async def _call(self, request: Request) -> Reply:
        tokens, most = estimate(request.messages), self.model.context
        if tokens > most:
            raise RequestRejected(
                f"the messages have about {tokens:,} tokens, and {self.model.name} is given at most {most:,}",
                hint="take less of it (`load` with a slice, `head`, `search-within-collection`), go over parts with"
                " `map`, or set INFOSPACE_LLM_CONTEXT; nothing is cut",
            )
        reply, paid = await self.meter.call(self.model, request, self.created_by, self.on_text)
        self.cached += reply.cached
        if paid:
            self.calls += 1
            self.tokens += reply.tokens
        return reply


def _judged(reply: Reply, form: OutputSchema | None, check: Check | None) -> tuple[JSON, list[str]]:
    value, faults = (reply.text.strip(), []) if form is None else form.read(reply.text)
    return value, faults or (list(check(value)) if check is not None else [])


def _with_schema(messages: Sequence[Message], form: OutputSchema) -> list[Message]:
    """The messages with the schema told in words: not every endpoint that takes a schema shows it to the model."""
    message = f"Answer with one JSON object that fits this JSON Schema, and with nothing else:\n{dump(form.asked)}"
    first = messages[0] if messages else None
    if first is None or first["role"] != "system":
        return [{"role": "system", "content": message}, *messages]
    return [{"role": "system", "content": f"{first['content']}\n\n{message}"}, *messages[1:]]


def _complaint(reply: Reply, faults: Sequence[str], form: OutputSchema | None) -> tuple[Message, Message]:
    listed = "\n".join(f"- {fault}" for fault in faults)
    how = "" if form is None else ", as one JSON object and nothing else"
    message = f"This answer cannot be used:\n{listed}\nAnswer again, the whole of it{how}."
    return {"role": "assistant", "content": reply.text}, {"role": "user", "content": message}
