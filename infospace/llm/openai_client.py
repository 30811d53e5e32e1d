"""The client of any OpenAI-compatible endpoint, over the official `openai` package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from infospace.core.errors import BadResponse
from infospace.llm.endpoint import Endpoint, Learnt, certificates
from infospace.llm.model import OnText, Reply, Request
from infospace.llm.response import MAX_CHARACTERS, read_completion, read_reply
from infospace.llm.settings import Settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

FORMS = ("strict", "json_schema", "json_object", "text")
"""Ways to ask for a structured answer, the strictest first."""


@dataclass(frozen=True, slots=True)
class EndpointQuirks:
    """What an endpoint takes: the form, as an index into `FORMS`, the name of the limit, whether it counts a stream.

    `json_mode` is apart from the form: endpoints that take schemas may have no JSON mode.
    """

    form: int = 0
    limit: str = "max_tokens"
    stream_options: bool = True
    json_mode: bool = True

    def form_of(self, request: Request) -> str:
        """Return the form that a request is sent in: none stricter than its schema allows."""
        if request.schema is None:
            return "text"
        if request.any_object:
            return "json_object" if self.json_mode else "text"
        return FORMS[max(self.form, 0 if request.strict else 1)]

    def milder(self, request: Request, message: str) -> EndpointQuirks | None:
        """Return what to try after these were refused with a sentence, None when nothing is left."""
        if request.max_tokens is not None and self.limit == "max_tokens" and "max_completion_tokens" in message:
            return replace(self, limit="max_completion_tokens")
        if self.stream_options and "stream_options" in message:
            return replace(self, stream_options=False)
        form = self.form_of(request)
        if form == "text":
            return None
        if request.any_object:
            return replace(self, json_mode=False)
        return replace(self, form=FORMS.index(form) + 1)


_LEARNT: Learnt[EndpointQuirks] = {}


class OpenAICompatibleModel:
    """Implements `LanguageModel`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._endpoint: Endpoint[AsyncOpenAI] = Endpoint(settings, self._connected)

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

        A `Retry-After` of up to two minutes is kept to. A form of answer that the endpoint does not know is not
        tried again in this process.
        """
        import openai

        return await self._endpoint.complete(
            openai,
            request,
            _LEARNT,
            EndpointQuirks(),
            lambda client, quirks: self._exchange(client, request, quirks, on_text),
        )

    async def _exchange(
        self, client: AsyncOpenAI, request: Request, quirks: EndpointQuirks, on_text: OnText | None
    ) -> Reply:
        body = self._body(request, quirks)
        if on_text is not None:
            return await self._streamed(client, body, request, quirks, on_text)
        raw = await client.chat.completions.with_raw_response.create(**body)
        return read_reply(raw.http_response.content, request, self._endpoint.url, self.settings.secrets)

    async def _streamed(
        self, client: AsyncOpenAI, body: dict[str, Any], request: Request, quirks: EndpointQuirks, on_text: OnText
    ) -> Reply:
        """Ask for a stream, and read it as the completion that it adds up to.

        An endpoint that knows no streams answers with one completion.
        """
        import openai

        counted: dict[str, Any] = {"stream_options": {"include_usage": True}} if quirks.stream_options else {}
        parts: list[str] = []
        refusal, finish, usage, length = "", None, None, 0
        async with client.chat.completions.with_streaming_response.create(**body, stream=True, **counted) as response:
            if "event-stream" not in response.headers.get("content-type", ""):
                whole = read_reply(await response.read(), request, self._endpoint.url, self.settings.secrets)
                on_text(whole.text)
                return whole
            async for chunk in self._endpoint.events(aiter(await response.parse()), openai.APIError):
                usage = _plain(chunk.usage) or usage
                for choice in chunk.choices or ():
                    finish = choice.finish_reason or finish
                    refusal += (choice.delta.refusal or "") if choice.delta else ""
                    text = (choice.delta.content or "") if choice.delta else ""
                    length += len(text)
                    if length > MAX_CHARACTERS:
                        raise BadResponse(f"{self._endpoint.url} answers without an end", hint="ask another model")
                    if text:
                        parts.append(text)
                        on_text(text)
        if finish is None:
            raise BadResponse(f"the answer of {self._endpoint.url} broke off", hint="ask again")
        message = {"content": "".join(parts), "refusal": refusal or None}
        results = {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}
        return read_completion(results, request, self._endpoint.url, self.settings.secrets)

    def _body(self, request: Request, quirks: EndpointQuirks) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.settings.model, "messages": list(request.messages)}
        if request.max_tokens is not None:
            body[quirks.limit] = request.max_tokens
        form = quirks.form_of(request)
        if form in ("strict", "json_schema"):
            described = {"name": "answer", "schema": dict(request.schema or {})}
            strict = {"strict": True} if form == "strict" else {}
            body["response_format"] = {"type": "json_schema", "json_schema": {**described, **strict}}
        elif form == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _connected(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAsyncHttpx2Client

        from infospace.llm.bounds import bound

        return AsyncOpenAI(
            base_url=self.settings.url,
            api_key=self.settings.key,
            timeout=self.settings.timeout,
            max_retries=self.settings.retries,
            default_headers={"Accept-Encoding": "identity"},
            http_client=DefaultAsyncHttpx2Client(verify=certificates(), event_hooks={"response": [bound]}),
        )


def _plain(usage: Any) -> dict[str, Any] | None:
    return None if usage is None else dict(usage.model_dump())
