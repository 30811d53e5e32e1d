"""The client of Anthropic's Messages, over the official `anthropic` package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from infospace.core.errors import BadResponse
from infospace.llm.endpoint import Endpoint, Learnt, certificates
from infospace.llm.messages_response import StreamedMessage, read_message
from infospace.llm.model import OnText, Reply, Request
from infospace.llm.response import read_body
from infospace.llm.settings import Settings

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

MAX_TOKENS = 16_384
"""Tokens of an answer where none are said: Messages wants a number, and the client streams beyond 21,333."""
FORMS = ("output_config", "tool", "text")
"""Ways to ask for a structured answer, the strictest first."""
TOOL = "answer"
"""The tool whose arguments are the answer, where the endpoint has no `output_config`."""
_ALLOWED = re.compile(r"max_tokens\D*\d+\s*>\s*(\d+)")


@dataclass(frozen=True, slots=True)
class MessagesQuirks:
    """What a model takes: the form, as an index into `FORMS`, and the most tokens of an answer."""

    form: int = 0
    max_tokens: int = MAX_TOKENS

    def milder(self, request: Request, message: str) -> MessagesQuirks | None:
        """Return what to try after these were refused with a sentence, None when nothing is left."""
        allowed = _ALLOWED.search(message)
        if allowed and int(allowed[1]) < self.max_tokens and request.max_tokens is None:
            return replace(self, max_tokens=int(allowed[1]))
        form = self.form_of(request)
        return None if form == "text" else replace(self, form=FORMS.index(form) + 1)

    def form_of(self, request: Request) -> str:
        """Return the form that a request is sent in. Messages has no JSON mode: any object is asked for in words."""
        return "text" if request.schema is None or request.any_object else FORMS[self.form]


_LEARNT: Learnt[MessagesQuirks] = {}


class AnthropicModel:
    """Implements `LanguageModel`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._endpoint: Endpoint[AsyncAnthropic] = Endpoint(settings, self._connected)

    @property
    def name(self) -> str:
        """The model's name, as its endpoint calls it."""
        return self.settings.model

    @property
    def context(self) -> int:
        """The most tokens that the messages of one call may have."""
        return self.settings.context

    async def complete(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Answer. Calls that found the endpoint busy, failing or silent are repeated with growing waits.

        A `Retry-After` of up to two minutes is kept to.
        """
        import anthropic

        return await self._endpoint.complete(
            anthropic,
            request,
            _LEARNT,
            MessagesQuirks(),
            lambda client, quirks: self._exchange(client, request, quirks, on_text),
        )

    async def _exchange(
        self, client: AsyncAnthropic, request: Request, quirks: MessagesQuirks, on_text: OnText | None
    ) -> Reply:
        body, url = _body(self.settings.model, request, quirks), self._endpoint.url
        if on_text is None:
            raw = await client.messages.with_raw_response.create(**body)
            value = read_body(raw.http_response.content, url, self.settings.secrets)
            return read_message(value, request, url, self.settings.secrets)
        return await self._streamed(client, body, request, on_text)

    async def _streamed(self, client: AsyncAnthropic, body: dict[str, Any], request: Request, on_text: OnText) -> Reply:
        """Ask for a stream of events, and read it as the message that it adds up to."""
        import anthropic

        message, url = StreamedMessage(url=self._endpoint.url), self._endpoint.url
        async with client.messages.with_streaming_response.create(**body, stream=True) as response:
            if "event-stream" not in response.headers.get("content-type", ""):
                value = read_body(await response.read(), url, self.settings.secrets)
                whole = read_message(value, request, url, self.settings.secrets)
                on_text(whole.text)
                return whole
            async for event in self._endpoint.events(aiter(await response.parse()), anthropic.APIError):
                text = message.add(event.model_dump())
                if text:
                    on_text(text)
        if message.stop_reason is None:
            raise BadResponse(f"the answer of {url} broke off", hint="ask again")
        return read_message(message.to_json(), request, url, self.settings.secrets)

    def _connected(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        from infospace.llm.bounds import bound, refuse_long_wait

        return AsyncAnthropic(
            base_url=self.settings.url,
            api_key=self.settings.key,
            timeout=self.settings.timeout,
            max_retries=self.settings.retries,
            default_headers={"Accept-Encoding": "identity"},
            http_client=DefaultAsyncHttpxClient(
                verify=certificates(), event_hooks={"response": [bound, refuse_long_wait]}
            ),
        )


def _body(model: str, request: Request, quirks: MessagesQuirks) -> dict[str, Any]:
    """Return the request as Messages has it: the system's words apart, the roles of the others in turn."""
    system = "\n\n".join(message["content"] for message in request.messages if message["role"] == "system")
    turns = [
        {"role": message["role"], "content": message["content"]}
        for message in request.messages
        if message["role"] != "system"
    ]
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens or quirks.max_tokens,
        "messages": turns,
    }
    if system:
        body["system"] = system
    form = quirks.form_of(request)
    if form == "output_config":
        body["output_config"] = {"format": {"type": "json_schema", "schema": _plain(request.schema)}}
    elif form == "tool":
        tool = {"name": TOOL, "description": "Give the answer.", "input_schema": _plain(request.schema)}
        body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
    return body


def _plain(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    return dict(schema or {})
