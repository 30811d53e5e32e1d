"""What a step asks of the language model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infospace.core.ids import is_id
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Made, Note, Resource

if TYPE_CHECKING:
    from infospace.llm.meter import Meter
    from infospace.llm.model import Message
    from infospace.llm.prompts import Material
    from infospace.llm.structured_output import Check
    from infospace.schema.infer import Schema
    from infospace.space import Space


class Asking(ABC):
    """The part of a view that asks."""

    space: Space
    made: Made
    extra: dict[str, Any]
    meter: Meter | None = None
    """Whoever runs several steps gives them one: what is asked again is not paid again. Else a view has its own."""

    @abstractmethod
    def items(self, collection: Collection[Any]) -> list[Resource]:
        """Return a Collection's items as they are now, in order."""

    @abstractmethod
    def text(self, resource: Resource) -> str:
        """Return a resource's text."""

    def material(self, resource: Resource) -> list[Material]:
        """Return a resource as material for a prompt: id and whole text; of a Collection those of each item, once.

        A search result has the id of its source, which stays; one with content of its own has its own.
        """
        if isinstance(resource, Collection):
            return list(dict.fromkeys((_cited(item), self.text(item)) for item in self.items(resource)))
        return [(_cited(resource), self.text(resource))]

    async def ask_model(
        self,
        prompt: str | Sequence[Message],
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        check: Check | None = None,
    ) -> JSON:
        """Ask the language model: one message, or a conversation. Returns a text, or with `schema` JSON that fits it.

        `max_tokens` bounds the answer, which is never cut: a longer one is a failure. `check` says in sentences what
        else is wrong with an answer; a wrong one is asked for once more, with what is wrong. Equal questions of one
        run are asked once. `extra.llm` counts the calls and tokens of this step, and names the model.

        Raises NotConfigured, Unreachable, Declined, BadAnswer (LanguageModelError all), BudgetSpent, and Invalid
        where `schema` is none.
        """
        from infospace.llm.meter import Meter
        from infospace.llm.structured_output import StructuredClient

        if self.meter is None:
            self.meter = Meter()
        messages: Sequence[Message] = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        questions = StructuredClient(self.space.language_model, self.meter, self.made)
        try:
            return await questions.ask(messages, schema, max_tokens, check)
        finally:
            told = self.extra.setdefault("llm", {"model": questions.model.name, "calls": 0, "tokens": 0})
            told["calls"] += questions.calls
            told["tokens"] += questions.tokens


def _cited(resource: Resource) -> str:
    if isinstance(resource, Note) and resource.evidence and isinstance(resource.content, Mapping):
        metadata = resource.content.get("metadata")
        source = metadata.get("source_id") if isinstance(metadata, Mapping) else None
        if isinstance(source, str) and is_id(source):
            return source
    return resource.id
