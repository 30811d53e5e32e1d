"""An endpoint of models as both clients have it: its open connections, and its errors as sentences."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeAlias, TypeVar

from infospace.core.errors import BadResponse, LanguageModelError, RequestRejected, Unreachable
from infospace.core.plural import pluralize
from infospace.core.redaction import hidden, shown_url
from infospace.llm.model import Reply, Request
from infospace.llm.response import error_text
from infospace.llm.settings import Settings

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx2

DOUBTFUL = (400, 415, 422, 501)
"""Statuses by which endpoints say that they do not know a parameter, or a value of it."""


class Closable(Protocol):
    """A client of a vendor's SDK."""

    async def close(self) -> None:
        """Close its connections."""


class StatusError(Protocol):
    """An error of a vendor's SDK that tells an answer with a status of 400 or more."""

    status_code: int
    body: object

    @property
    def response(self) -> httpx2.Response:
        """What the endpoint answered, with its headers."""


class Quirks(Protocol):
    """What an endpoint was found to take of a request."""

    def milder(self, request: Request, message: str) -> Self | None:
        """Return what to try after these were refused with a sentence, None when nothing is left."""


ClientT = TypeVar("ClientT", bound=Closable)
QuirksT = TypeVar("QuirksT", bound=Quirks)

Learnt: TypeAlias = "MutableMapping[tuple[str, str], QuirksT]"
"""What endpoints were found to take in this process, by URL and model."""


@dataclass(slots=True)
class _Pooled(Generic[ClientT]):
    """An open client of one event loop, and how many calls use it."""

    client: ClientT
    calls: int = 0


class Endpoint(Generic[ClientT]):
    """Connections are shared by calls that run at once, and closed after the last."""

    def __init__(self, settings: Settings, connected: Callable[[], ClientT]) -> None:
        self.settings = settings
        self._connected = connected
        self._pool: dict[asyncio.AbstractEventLoop, _Pooled[ClientT]] = {}

    @asynccontextmanager
    async def client(self) -> AsyncIterator[ClientT]:
        """Open a client of the running loop, or share the one that is open."""
        loop = asyncio.get_running_loop()
        pooled = self._pool.get(loop)
        if pooled is None:
            pooled = self._pool[loop] = _Pooled(self._connected())
        pooled.calls += 1
        try:
            yield pooled.client
        finally:
            pooled.calls -= 1
            if not pooled.calls:
                del self._pool[loop]
                await _run_to_completion(pooled.client.close())

    async def complete(
        self,
        sdk: ModuleType,
        request: Request,
        learnt: Learnt[QuirksT],
        usual: QuirksT,
        exchange: Callable[[ClientT, QuirksT], Awaitable[Reply]],
    ) -> Reply:
        """Make an exchange, again in a milder form where the endpoint does not know the one that was tried.

        `sdk` is the vendor's package, which repeats calls that found the endpoint busy, failing or silent, as
        `Retry-After` says; its errors become ours. What the endpoint takes is kept in `learnt`, `usual` stands before
        anything is known. What breaks off while it is read is an error of the transport, which no vendor's package
        translates. Raises LanguageModelError.
        """
        import httpx2

        place = (self.settings.url, self.settings.model)
        first = quirks = learnt.get(place, usual)
        async with self.client() as client:
            while True:
                try:
                    reply = await exchange(client, quirks)
                except sdk.APIStatusError as error:
                    milder = self._milder(error, request, quirks)
                    if milder is None:
                        raise self.refused(error) from error
                    quirks = milder
                    continue
                except sdk.APITimeoutError as error:
                    raise self.timed_out() from error
                except httpx2.TimeoutException as error:
                    raise self.timed_out() from error
                except (sdk.APIConnectionError, httpx2.TransportError, httpx2.StreamError) as error:
                    raise self.unreachable(error) from error
                if quirks is not first:
                    learnt[place] = quirks
                return reply

    def _milder(self, error: StatusError, request: Request, quirks: QuirksT) -> QuirksT | None:
        """Return the form to try after a refusal; None where the refusal is not about the form of the request."""
        if error.status_code not in DOUBTFUL or getattr(error, "code", None) == "context_length_exceeded":
            return None
        return quirks.milder(request, self.error_message(error))

    @property
    def url(self) -> str:
        """The endpoint's URL without what is secret in it."""
        return shown_url(self.settings.url)

    async def events(self, stream: AsyncIterator[Any], failed: type[Exception]) -> AsyncIterator[Any]:
        """Yield the events of a stream, models of the vendor's SDK; `failed` is its error for one that tells an error.

        Raises Unreachable where it tells an error, BadResponse for what is no event, and what `complete` translates.
        """
        while True:
            try:
                event = await anext(stream)
            except StopAsyncIteration:
                return
            except ValueError as error:
                raise self._no_event() from error
            except failed as error:
                if type(error) is not failed:  # one of a status, or of the connection, is told by `complete`
                    raise
                message = f"{self.url} broke the answer off: {self._plain(' '.join(str(error).split()))}"
                raise Unreachable(message[:300], hint="ask again") from error
            if not hasattr(event, "model_dump"):
                raise self._no_event()
            yield event

    def _no_event(self) -> BadResponse:
        return BadResponse(f"{self.url} streams what is not a part of an answer", hint="ask another model")

    def timed_out(self) -> Unreachable:
        """Return what is said of an endpoint that was silent for too long."""
        message = f"{self.url} did not answer within {self.settings.timeout:g} seconds{self._attempts()}"
        return Unreachable(message, hint="INFOSPACE_LLM_TIMEOUT sets how long to wait")

    def unreachable(self, error: BaseException) -> Unreachable:
        """Return what is said of an endpoint that cannot be reached, or broke off."""
        cause = error.__cause__ or error
        reason = self._plain(f"{type(cause).__name__}: {cause}")
        message = f"{self.url} cannot be reached, or broke off: {reason}"
        return Unreachable(f"{message[:300]}{self._attempts()}", hint="does the endpoint run?")

    def refused(self, error: StatusError) -> LanguageModelError:
        """Return what an error's status means."""
        status, url, message = error.status_code, self.url, self.error_message(error)
        if status == 429:
            wait = error.response.headers.get("retry-after")
            question = f", and asks to wait {self._plain(_format_wait(wait))[:50]}" if wait else ""
            return Unreachable(f"{url} takes no more requests now (429){question}: {message}{self._attempts()}")
        if status >= 500:
            return Unreachable(f"{url} failed with {status}: {message}{self._attempts()}")
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

    def error_message(self, error: StatusError) -> str:
        """Return what the endpoint says is wrong, in one short line."""
        return error_text(error.body if error.body is not None else error.response.text, self.settings.secrets)

    def _plain(self, text: str) -> str:
        """Return what was said without the key, also where it quotes that."""
        return hidden(text, self.settings.secrets)

    def _attempts(self) -> str:
        return f" ({pluralize(self.settings.retries + 1, 'attempt')})" if self.settings.retries else ""


def _format_wait(text: str) -> str:
    """Return how long a `Retry-After` asks to wait, which is a number of seconds or a date."""
    return f"{text} s" if text.replace(".", "", 1).isdecimal() else f"until {text}"


@cache
def certificates() -> SSLContext:
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
