"""The client of any OpenAI-compatible endpoint, over the official `openai` package."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from infospace.core.errors import LanguageModelError, RequestRejected, Unreachable
from infospace.core.redaction import hidden, shown_url
from infospace.llm.model import Reply, Request
from infospace.llm.response import error_text, read_reply
from infospace.llm.settings import Settings, configured, installed

if TYPE_CHECKING:
    from ssl import SSLContext

    from openai import APIStatusError, AsyncOpenAI

FORMS = ("json_schema", "json_object", "text")
"""Ways to ask for a structured answer, the strictest first."""

DOUBTFUL = (400, 415, 422, 501)
"""Statuses by which endpoints say that they do not know a parameter, or a value of it."""


@dataclass(frozen=True, slots=True)
class EndpointQuirks:
    """What an endpoint takes: the form, as an index into `FORMS`, and the name of the limit."""

    form: int = 0
    limit: str = "max_tokens"

    def milder(self, request: Request, message: str) -> EndpointQuirks | None:
        """Return what to try after these were refused with a sentence, None when nothing is left."""
        if request.max_tokens is not None and self.limit == "max_tokens" and "max_completion_tokens" in message:
            return replace(self, limit="max_completion_tokens")
        if request.schema is not None and self.form < len(FORMS) - 1:
            return replace(self, form=self.form + 1)
        return None


_LEARNT: dict[tuple[str, str], EndpointQuirks] = {}
"""What endpoints were found to take in this process, by URL and model."""


@dataclass(slots=True)
class _PooledClient:
    """An open client of one event loop, and how many calls use it."""

    client: AsyncOpenAI
    calls: int = 0


@dataclass(slots=True)
class OpenAICompatibleModel:
    """Implements `LanguageModel`. Connections are shared by calls that run at once, and closed after the last."""

    settings: Settings
    _lines: dict[asyncio.AbstractEventLoop, _PooledClient] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model's name, as its endpoint calls it."""
        return self.settings.model

    @property
    def context(self) -> int:
        """The most tokens that the messages of one call may have."""
        return self.settings.context

    async def complete(self, request: Request) -> Reply:
        """Answer. Calls that found the endpoint busy, failing or silent are repeated with growing waits.

        A `Retry-After` of up to two minutes is kept to. A form of answer that the endpoint does not know is not
        tried again in this process.
        """
        async with self._client() as client:
            body = await self._exchange(client, request)
        return read_reply(body, request, self._url, self.settings.secrets)

    async def _exchange(self, client: AsyncOpenAI, request: Request) -> bytes:
        import openai

        place = (self.settings.url, self.settings.model)
        first = habits = _LEARNT.get(place, EndpointQuirks())
        while True:
            try:
                raw = await client.chat.completions.with_raw_response.create(**self._body(request, habits))
            except openai.APIStatusError as error:
                milder = habits.milder(request, self._error_message(error)) if error.status_code in DOUBTFUL else None
                if milder is None or error.code == "context_length_exceeded":
                    raise self._refused(error) from error
                habits = milder
                continue
            except openai.APITimeoutError as error:
                message = f"{self._url} did not answer within {self.settings.timeout:g} seconds{self._times()}"
                raise Unreachable(message, hint="INFOSPACE_LLM_TIMEOUT sets how long to wait") from error
            except openai.APIConnectionError as error:
                cause = error.__cause__ or error
                told = self._plain(f"{type(cause).__name__}: {cause}")
                message = f"{self._url} cannot be reached, or broke off: {told}"
                raise Unreachable(f"{message[:300]}{self._times()}", hint="does the endpoint run?") from error
            if habits is not first:
                _LEARNT[place] = habits
            body: bytes = raw.http_response.content
            return body

    def _body(self, request: Request, habits: EndpointQuirks) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.settings.model, "messages": list(request.messages)}
        if request.max_tokens is not None:
            body[habits.limit] = request.max_tokens
        if request.schema is not None and FORMS[habits.form] == "json_schema":
            described = {"name": "answer", "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": described}
        elif request.schema is not None and FORMS[habits.form] == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _refused(self, error: APIStatusError) -> LanguageModelError:
        """Say what a status means."""
        status, url, message = error.status_code, self._url, self._error_message(error)
        if status == 429:
            wait = error.response.headers.get("retry-after")
            asked = f", and asks to wait {self._plain(wait)[:40]} seconds" if wait else ""
            return Unreachable(f"{url} takes no more requests now (429){asked}: {message}{self._times()}")
        if status >= 500:
            return Unreachable(f"{url} failed with {status}: {message}{self._times()}")
        if status in (401, 403):
            return RequestRejected(
                f"{url} does not take the key ({status}): {message}", hint="INFOSPACE_LLM_KEY is the key"
            )
        if status == 404:
            hint = "INFOSPACE_LLM_MODEL names the model; INFOSPACE_LLM_URL mostly ends in /v1"
            return RequestRejected(
                f"{url} has no such model or path, for {self.settings.model!r} (404): {message}", hint=hint
            )
        return RequestRejected(f"{url} does not take the request ({status}): {message}")

    @property
    def _url(self) -> str:
        return shown_url(self.settings.url)

    def _plain(self, text: str) -> str:
        """Return what was said without the key, also where it quotes that."""
        return hidden(text, self.settings.secrets)

    def _error_message(self, error: APIStatusError) -> str:
        return error_text(error.body if error.body is not None else error.response.text, self.settings.secrets)

    def _times(self) -> str:
        return f" ({self.settings.retries + 1} attempts)" if self.settings.retries else ""

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[AsyncOpenAI]:
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            line = self._lines[loop] = _PooledClient(self._connected())
        line.calls += 1
        try:
            yield line.client
        finally:
            line.calls -= 1
            if not line.calls:
                del self._lines[loop]
                await _run_to_completion(line.client.close())

    def _connected(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAsyncHttpx2Client

        from infospace.llm.bounds import bound

        return AsyncOpenAI(
            base_url=self.settings.url,
            api_key=self.settings.key,
            timeout=self.settings.timeout,
            max_retries=self.settings.retries,
            default_headers={"Accept-Encoding": "identity"},
            http_client=DefaultAsyncHttpx2Client(verify=_certificates(), event_hooks={"response": [bound]}),
        )


@cache
def _certificates() -> SSLContext:
    """Return whom to trust; reading it takes ten times as long as all else that a client needs."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


async def _run_to_completion(work: Coroutine[Any, Any, None]) -> None:
    """Do work to its end, also where whoever waits for it is cancelled meanwhile."""
    task = asyncio.create_task(work)
    cancelled = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def connect() -> OpenAICompatibleModel:
    """Return the model that the environment names. Raises NotConfigured, Invalid."""
    settings = configured()
    installed()
    return OpenAICompatibleModel(settings)
