"""Fetching over HTTP what a registry has: bounded, from the host that was named, and from nowhere else."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

import httpx2

from infospace.core.errors import Invalid
from infospace.core.redaction import shown_url
from infospace.tools.mcp.registries.hosts import LARGEST, must_be_public, origin, split_url

LONGEST_S: Final = 60.0
"""Seconds that one answer may take."""
CONNECT_S: Final = 15.0
REDIRECTS: Final = 5


class Fetcher:
    """Fetches from one host. A host that nobody named (`trusted` false) may not be this machine or a private one."""

    def __init__(self, url: str, *, trusted: bool) -> None:
        self._origin = origin(url)
        if not trusted:
            must_be_public(split_url(url).hostname or "")
        self._client = httpx2.Client(
            headers={"Accept-Encoding": "identity", "User-Agent": "infospace"},
            timeout=httpx2.Timeout(LONGEST_S, connect=CONNECT_S),
            follow_redirects=False,
        )

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def fetch(self, url: str, params: Mapping[str, str] | None = None, *, largest: int = LARGEST) -> bytes:
        """Return the body of an answer. Raises Invalid with one sentence where there is none, or too much."""
        target = _url(url, "")
        if params:
            target = target.copy_merge_params(dict(params))
        for _ in range(REDIRECTS + 1):
            if origin(str(target)) != self._origin:
                raise Invalid(
                    f"{shown_url(url)} leads to another host, {shown_url(str(target)):.200}, which is not asked"
                )
            there = self._get(str(target), largest)
            if isinstance(there, bytes):
                return there
            target = _url(str(target), there)
        raise Invalid(f"{shown_url(url)} leads on and on")

    def _get(self, url: str, largest: int) -> bytes | str:
        """Return the body, or where a redirect leads."""
        until = time.monotonic() + LONGEST_S
        try:
            with self._client.stream("GET", url) as response:
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


def _url(base: str, written: str) -> httpx2.URL:
    try:
        return httpx2.URL(urljoin(base, written))
    except (ValueError, httpx2.InvalidURL):
        raise Invalid(f"{shown_url(written or base)!r:.200} is not a URL") from None
