"""Fetching over HTTP what a registry has: bounded, from the host that was named or, for a bundle, where it sends on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from ssl import SSLContext
from typing import Final
from urllib.parse import urljoin

import httpx2

from infospace.core.errors import Invalid
from infospace.core.redaction import shown_url
from infospace.tools.mcp.transport.checked import CheckedTransport, HostCheck
from infospace.tools.mcp.transport.hosts import LARGEST, is_loopback, origin, resolve, split_url

LONGEST_S: Final = 60.0
"""Seconds that one answer may take."""
CONNECT_S: Final = 15.0
REDIRECTS: Final = 5


class Fetcher:
    """Fetches from one host. A host that nobody named (`trusted` false) may not be this machine or a private one."""

    def __init__(
        self,
        url: str,
        *,
        trusted: bool,
        resolve: Callable[[str], list[str]] = resolve,
        verify: SSLContext | bool = True,
    ) -> None:
        """Raises Invalid for a host that is not asked."""
        self._origin = origin(url)
        self._named = HostCheck(public=not trusted, resolve=resolve)
        self._local = trusted and is_loopback(url)
        if not trusted:
            self._named.addresses(split_url(url).hostname or "")
        self._client = _client(self._named, verify)
        self._elsewhere = _client(HostCheck(public=True, resolve=resolve), verify)

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._elsewhere.close()

    def fetch(
        self, url: str, params: Mapping[str, str] | None = None, *, largest: int = LARGEST, elsewhere: bool = False
    ) -> bytes:
        """Return the body of an answer. Raises Invalid with one sentence where there is none, or too much.

        `elsewhere`: the host may send on to others, as GitHub does with the files of a release. They are asked over
        HTTPS and at public addresses alone, but of a host of this machine at this machine's too. What comes from there
        is known by nothing but its checksum.
        """
        target = _url(url, "")
        if params:
            target = target.copy_merge_params(dict(params))
        for _ in range(REDIRECTS + 1):
            there = self._get(self._client_for(url, str(target), elsewhere=elsewhere), str(target), largest)
            if isinstance(there, bytes):
                return there
            target = _url(str(target), there)
        raise Invalid(f"{shown_url(url)} leads on and on")

    def _client_for(self, url: str, target: str, *, elsewhere: bool) -> httpx2.Client:
        """Return by whom a URL is asked that `url` led to. Raises Invalid where it is not asked."""
        if origin(target) == self._origin or (elsewhere and self._local and is_loopback(target)):
            return self._client
        if elsewhere and split_url(target).scheme == "https":
            return self._elsewhere
        raise Invalid(
            f"{shown_url(url)} leads to another host, {shown_url(target):.200}, which is not asked",
            hint="only an https:// address is followed" if elsewhere else None,
        )

    def _get(self, client: httpx2.Client, url: str, largest: int) -> bytes | str:
        """Return the body, or where a redirect leads."""
        until = time.monotonic() + LONGEST_S
        try:
            with client.stream("GET", url) as response:
                if 300 <= response.status_code < 400 and response.headers.get("location"):
                    return str(response.headers["location"])
                if response.status_code >= 300:
                    raise Invalid(f"{shown_url(url)} answered HTTP {response.status_code}")
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise Invalid(f"{shown_url(url)} compresses its answer though nobody asked for that")
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > largest:
                        raise Invalid(f"{shown_url(url)} answers with more than {largest // 2**20} MB")
                    if time.monotonic() > until:
                        raise Invalid(f"{shown_url(url)} was not read within {LONGEST_S:g} s")
                return bytes(body)
        except httpx2.TimeoutException:
            raise Invalid(f"{shown_url(url)} did not answer in time") from None
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, UnicodeError):
            raise Invalid(f"{shown_url(url)} cannot be reached") from None


def _client(check: HostCheck, verify: SSLContext | bool) -> httpx2.Client:
    return httpx2.Client(
        headers={"Accept-Encoding": "identity", "User-Agent": "infospace"},
        timeout=httpx2.Timeout(LONGEST_S, connect=CONNECT_S),
        follow_redirects=False,
        transport=CheckedTransport(check, verify),
    )


def _url(base: str, text: str) -> httpx2.URL:
    try:
        return httpx2.URL(urljoin(base, text))
    except (ValueError, httpx2.InvalidURL):
        raise Invalid(f"{shown_url(text or base)!r:.200} is not a URL") from None
