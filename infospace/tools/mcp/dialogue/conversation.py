"""What a tool's server asks back while one of its tools is called, and who answers."""

from __future__ import annotations

import hashlib
import json
from asyncio import AbstractEventLoop
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from infospace.core.json_types import JSON

Reaction: TypeAlias = Literal["accept", "decline", "cancel"]
"""What a person did with a question: answered it, refused to, or left it."""


@dataclass(frozen=True, slots=True)
class ServerQuestion:
    """A question that a server asks while a tool is called. `schema` is that of an object; None with a `url`.

    `number` counts the equal questions of one call, from 0.
    """

    message: str
    schema: Mapping[str, JSON] | None = None
    url: str | None = None
    number: int = 0

    @property
    def digest(self) -> str:
        """What tells it from other questions of the same call."""
        parts = [self.message, self.schema, self.number]
        text = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What is answered to a question; `content` where it was accepted."""

    reaction: Reaction
    content: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """What a server would have a language model answer."""

    messages: Sequence[tuple[Literal["system", "user", "assistant"], str]]
    max_tokens: int


class ToolInputRequired(Exception):
    """A call that waits for an answer: it stays open, and goes on when it is made again with what was answered."""

    def __init__(self, question: ServerQuestion | SamplingRequest) -> None:
        super().__init__("the tool asks")
        self.question = question


class SamplingRefused(Exception):
    """Why no language model answers a server, in a sentence."""


class Conversation(Protocol):
    """Who answers a server while a tool is called. Any thread may call `on_log` and `on_progress`."""

    @property
    def key(self) -> str:
        """What tells this call from others of the same server: who makes it again goes on with it."""

    def answer(self, question: ServerQuestion) -> ServerAnswer | None:
        """Return what was answered; None where somebody is to be asked."""

    def may_sample(self, request: SamplingRequest) -> bool | None:
        """Whether a language model may answer; None where somebody is to be asked. Raises SamplingRefused."""

    async def sample(self, request: SamplingRequest) -> tuple[str, str]:
        """Return the answer of the configured language model, and its name. Raises SamplingRefused."""

    def on_log(self, level: str, text: str) -> None:
        """Take a message for a log."""

    def on_progress(self, done: float, total: float | None, text: str) -> None:
        """Take how far the call has come."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation, and the event loop where it is at home; with None nobody answers."""

    conversation: Conversation | None
    loop: AbstractEventLoop


CONVERSATION: ContextVar[Conversation | None] = ContextVar("conversation", default=None)
"""That of the call that is being made; None where nobody answers."""
