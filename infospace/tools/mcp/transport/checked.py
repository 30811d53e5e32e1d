"""HTTP to hosts whose addresses are looked at first: what was looked at is connected to, and no name is asked again.

Between a check of a name and a second look-up its owner may let it lead to this machine ("DNS rebinding"). So a name is
resolved here, its addresses are checked, and the connection goes to one of them; TLS and `Host` keep the name. Behind a
proxy of the environment it is the proxy that resolves and connects.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from ssl import SSLContext
from typing import Final

import httpx2

from infospace.tools.mcp.transport.hosts import is_private_name, is_public, must_be_public, resolve

HOLDS_S: Final = 60.0
"""Seconds for which the addresses of a host are used before it is resolved again."""


class HostCheck:
    """Says to which addresses of a host a connection may go.

    `public`: to none of this machine or a private network. Without it a host may be anything, but one that was public
    stays so: a name of the Internet that leads into a private network all at once is not followed there. `declared` are
    hosts that the user named: once one of them is public, so must all be that nobody but it has named.
    """

    def __init__(
        self,
        *,
        public: bool,
        declared: Collection[str] = (),
        resolve: Callable[[str], list[str]] = resolve,
        holds_s: float = HOLDS_S,
    ) -> None:
        self._public = public
        self._declared = frozenset(declared)
        self._resolve = resolve
        self._holds_s = holds_s
        self._known: dict[str, tuple[float, list[str]]] = {}
        self._were_public: set[str] = set()

    def addresses(self, host: str) -> list[str]:
        """Return the addresses. Raises Invalid for a host that has none, or one that is not asked."""
        known = self._known.get(host)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        led = host not in self._declared and not self._declared.isdisjoint(self._were_public)
        if self._public or led or host in self._were_public:
            results = must_be_public(host, self._resolve)
        else:
            results = ["127.0.0.1", "::1"] if host == "localhost" else self._resolve(host)
        if not is_private_name(host) and all(map(is_public, results)):
            self._were_public.add(host)
        self._known[host] = time.monotonic() + self._holds_s, results
        return results


class CheckedTransport(httpx2.BaseTransport):
    """Connects to checked addresses. Each host has connections of its own: none is used for another's name."""

    def __init__(self, check: HostCheck, verify: SSLContext | bool = True) -> None:
        self._check = check
        self._verify = verify
        self._inner: dict[str, httpx2.HTTPTransport] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises Invalid for a host that is not asked."""
        host = request.url.host
        proxy = proxy_for(request.url)
        addresses = self._check.addresses(host) if proxy is None else [host]
        if host not in self._inner:
            self._inner[host] = httpx2.HTTPTransport(verify=self._verify, proxy=proxy)
        inner = self._inner[host]
        for httptransport in _each(request, addresses):
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return inner.handle_request(httptransport)
        return inner.handle_request(_at(request, addresses[-1]))

    def close(self) -> None:
        """End all connections."""
        for one in self._inner.values():
            one.close()


class AsyncCheckedTransport(httpx2.AsyncBaseTransport):
    """The same, asynchronously."""

    def __init__(self, check: HostCheck, verify: SSLContext | bool = True) -> None:
        self._check = check
        self._verify = verify
        self._inner: dict[str, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises Invalid for a host that is not asked."""
        host = request.url.host
        proxy = proxy_for(request.url)
        addresses = [host] if proxy is not None else await asyncio.to_thread(self._check.addresses, host)
        if host not in self._inner:
            self._inner[host] = httpx2.AsyncHTTPTransport(verify=self._verify, proxy=proxy)
        inner = self._inner[host]
        for one in _each(request, addresses):
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await inner.handle_async_request(one)
        return await inner.handle_async_request(_at(request, addresses[-1]))

    async def aclose(self) -> None:
        """End all connections."""
        for one in self._inner.values():
            await one.aclose()


def proxy_for(url: httpx2.URL) -> str | None:
    """Return the proxy that the environment names for a URL."""
    proxies = urllib.request.getproxies()
    result = proxies.get(url.scheme) or proxies.get("all")
    if not result or urllib.request.proxy_bypass(url.netloc.decode("ascii")):
        return None
    return result if "://" in result else f"http://{result}"


def _each(request: httpx2.Request, addresses: list[str]) -> Iterator[httpx2.Request]:
    """Iterate over the request to each address but the last, whose failure is the answer."""
    return (_at(request, address) for address in addresses[:-1])


def _at(request: httpx2.Request, address: str) -> httpx2.Request:
    """Return a request that goes to an address; name, `Host` and body are the same."""
    host = request.url.host
    extensions = {**request.extensions, "sni_hostname": host} if address != host else request.extensions
    url = request.url.copy_with(host=address)
    return httpx2.Request(request.method, url, headers=request.headers, stream=request.stream, extensions=extensions)
