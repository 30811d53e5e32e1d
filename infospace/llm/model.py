"""What a language model is to infospace: it is given messages, and answers with a text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from typing_extensions import TypedDict

from infospace.core.json_types import JSON
from infospace.schema.infer import Schema

CHARACTERS_PER_TOKEN = 4
"""What a token is taken for where the endpoint does not count."""


ANY_OBJECT: Schema = {"type": "object"}
"""The schema of any JSON object."""

OnText: TypeAlias = Callable[[str], None]
"""Takes the pieces of an answer as they come."""


class Message(TypedDict):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call: the messages, the JSON Schema (of an object) that the answer should fit, the most tokens of it.

    `strict` says that the schema keeps to what vendors' strict modes take (closed objects with all of their keys), or
    is that of any object; the model is not told of it in words. So plans are asked for.
    """

    messages: tuple[Message, ...]
    schema: Schema | None = None
    max_tokens: int | None = None
    strict: bool = False

    @property
    def any_object(self) -> bool:
        """Whether a JSON object is wanted, whatever its keys: what endpoints call their JSON mode."""
        return self.strict and self.schema == ANY_OBJECT

    def to_json(self) -> JSON:
        """Return what is asked as JSON: the messages, and what was wished of the answer."""
        report: dict[str, JSON] = {
            "messages": [{"role": message["role"], "content": message["content"]} for message in self.messages]
        }
        if self.schema is not None:
            report["schema"] = dict(self.schema)
        return report if self.max_tokens is None else {**report, "max_tokens": self.max_tokens}

    def digest(self, model: str) -> bytes:
        """Return the SHA-256 of all that an answer depends on, by which a record finds it again."""
        request = [model, self.messages, self.schema, self.max_tokens]
        text = json.dumps(request, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `tokens` are those of the messages and the answer together.

    `cached` says that an earlier run was answered so: nothing was asked, and nothing is paid.
    """

    text: str
    tokens: int
    cached: bool = False


class LanguageModel(Protocol):
    """Any model. `infospace.llm.client` has those that speak to endpoints."""

    @property
    def name(self) -> str:
        """What the model is called, for the record and for messages."""

    @property
    def context(self) -> int:
        """The most tokens that the messages of one call may have."""

    async def complete(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Answer. The schema is a wish: whoever asks validates. Raises LanguageModelError.

        With `on_text` the answer is streamed where the endpoint can: it is handed the text piece by piece.
        """


def estimate(messages: Sequence[Message], answer: str = "") -> int:
    """Return how many tokens messages and an answer are taken for: their characters / 4, rounded up."""
    characters = len(answer) + sum(len(message["content"]) for message in messages)
    return -(-characters // CHARACTERS_PER_TOKEN)
