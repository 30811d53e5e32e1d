"""The conversation of a step with the server of a tool that it calls: its questions are questions of the run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from infospace.core.errors import InfospaceError, InputRequired
from infospace.core.json_types import JSON
from infospace.core.position import first_attempt
from infospace.core.tool import Tool
from infospace.data.result import truncate
from infospace.tools.approvals import APPROVAL_SCHEMA
from infospace.tools.mcp.dialogue.conversation import (
    SamplingRefused,
    SamplingRequest,
    ServerAnswer,
    ServerQuestion,
)

if TYPE_CHECKING:
    from infospace.context.context import Context
    from infospace.tools.journalled_calls import ToolCalls

DECLINE = "decline"
"""The answer that is none."""
URL_WORDS: Mapping[str, JSON] = {
    "enum": ["done", DECLINE],
    "description": "done: you have been there; decline: you will not go there",
}
SAMPLING = "sampling/createMessage"
"""The name under which it is allowed that a server asks the language model."""
SHOWN = 400
"""Characters of a text that a question shows."""


class StepConversation:
    """Implements `Conversation` for one call of one step: `calls` knows what was answered, and what is allowed."""

    def __init__(self, context: Context, tool: Tool, call: bytes, calls: ToolCalls) -> None:
        self._context = context
        self._tool = tool
        self._calls = calls
        self._position = context.created_by.step or ""
        self._about = hashlib.sha256(tool.digest + call).hexdigest()[:8]

    @property
    def key(self) -> str:
        """What tells this call from others."""
        return f"{self._context.created_by.run}:{first_attempt(self._position)}:{self._about}"

    def answer(self, question: ServerQuestion) -> ServerAnswer | None:
        """Return what was answered; None where somebody is to be asked."""
        if question.schema is not None and not _is_form(question.schema):
            return ServerAnswer("cancel")
        is_known, value = self._calls.answer_to(self._key(question.digest))
        if not is_known:
            return None if self._calls.can_ask else ServerAnswer("cancel")
        if value == DECLINE:
            return ServerAnswer("decline")
        if question.schema is None:
            return ServerAnswer("accept")
        return ServerAnswer("accept", {**_defaults(question.schema), **(value if isinstance(value, dict) else {})})

    def may_sample(self, request: SamplingRequest) -> bool | None:
        """Whether a language model may answer; None where somebody is to be asked. Raises SamplingRefused."""
        try:
            self._context.space.model_for()
        except InfospaceError as error:
            raise SamplingRefused(f"no language model answers here: {error.message}") from error
        if self._calls.allows(self._sampling):
            return True
        is_known, answer = self._calls.answer_to(self._key(_digest_of(request)))
        if is_known:
            return answer != "no"
        return None if self._calls.can_ask else False

    async def sample(self, request: SamplingRequest) -> tuple[str, str]:
        """Return the answer of the configured language model, within the budget, and its name."""
        messages: Any = [{"role": role, "content": text} for role, text in request.messages]
        try:
            text = await self._context.ask_model(messages, max_tokens=request.max_tokens)
        except InfospaceError as error:
            raise SamplingRefused(f"the language model did not answer: {error.message}") from error
        return str(text), str(self._context.extra["llm"]["model"])

    def on_log(self, level: str, text: str) -> None:
        """Hand on a message for a log."""
        self._context.log(f"{self._tool.server} ({level}): {text}")

    def on_progress(self, done: float, total: float | None, text: str) -> None:
        """Hand on how far the call has come."""
        self._context.progress(int(done), int(total or 0), text or self._tool.full_name)

    def required(self, question: ServerQuestion | SamplingRequest) -> InputRequired:
        """Return what the run waits for."""
        name, position = self._tool.full_name, self._position
        if isinstance(question, SamplingRequest):
            message = truncate(" ".join(text for _, text in question.messages), SHOWN)
            asked = f"let the server {self._tool.server} ask the language model: {message}?"
            about = {"tool": self._sampling.full_name, "digest": self._sampling.digest.hex()}
            return InputRequired(
                position, "approve", asked, APPROVAL_SCHEMA, key=self._key(_digest_of(question)), about=about
            )
        key, about = self._key(question.digest), {"tool": name}
        if question.schema is None:
            asked = f"{name} asks: {question.message}; go to {question.url}, which is not opened for you"
            return InputRequired(position, "ask", asked, dict(URL_WORDS), key=key, about=about)
        return InputRequired(
            position, "ask", f"{name} asks: {question.message}", _answer_schema(question.schema), key=key, about=about
        )

    @property
    def _sampling(self) -> Tool:
        """What is allowed or not, as if it were a tool of the server."""
        return Tool(self._tool.server, SAMPLING, "", {}, annotated=False, trusted=False)

    def _key(self, digest: str) -> str:
        return f"{first_attempt(self._position)}?asked-{self._about}-{digest}"


def _digest_of(request: SamplingRequest) -> str:
    return hashlib.sha256(repr((request.messages, request.max_tokens)).encode()).hexdigest()[:16]


def _is_form(schema: Mapping[str, JSON]) -> bool:
    """Whether a schema is one of an object that can be answered."""
    from infospace.schema.validate import schema_errors

    return schema.get("type") == "object" and not list(schema_errors(schema))


def _defaults(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the values that a form begins with, by its fields."""
    fields = schema.get("properties")
    parts = fields.items() if isinstance(fields, dict) else ()
    return {name: part["default"] for name, part in parts if isinstance(part, dict) and "default" in part}


def _answer_schema(schema: Mapping[str, JSON]) -> dict[str, Any]:
    """Return what an answer has to fit: the form, without the need to repeat its defaults, or `decline`."""
    needed = schema.get("required")
    kept = [name for name in needed if name not in _defaults(schema)] if isinstance(needed, list) else []
    return {**schema, "type": ["object", "string"], "required": kept, "pattern": f"^{DECLINE}$"}
