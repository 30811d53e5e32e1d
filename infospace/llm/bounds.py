"""How much of what an endpoint answers is read, and how long it is waited for: a little more than is taken."""

from __future__ import annotations

import time
import zlib
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime

import httpx2

from infospace.llm.response import MAX_BYTES

ERROR_BYTES = 2**16
"""Bytes of the body of an error that are read."""
MAX_WAIT_S = 120
"""Seconds that an endpoint may ask to wait before it is asked again."""
_ZIPPED = {"gzip": 47, "deflate": zlib.MAX_WBITS}


async def bound(response: httpx2.Response) -> None:
    """Have the body of a response end once it is too long to be taken, packed or not."""
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous client has no other
    most = MAX_BYTES if response.status_code < 400 else ERROR_BYTES
    packed = _ZIPPED.get(response.headers.get("content-encoding", "").strip().lower())
    if packed is not None:
        del response.headers["content-encoding"]
    response.stream = _Bounded(stream, most, packed)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int, packed: int | None) -> None:
        self._stream = stream
        self._most = most
        self._unpack = None if packed is None else zlib.decompressobj(packed)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most + 1
        async for chunk in self._stream:
            part = self._part(chunk, left)
            left -= len(part)
            yield part
            if left <= 0:
                return

    def _part(self, chunk: bytes, left: int) -> bytes:
        if self._unpack is None:
            return chunk[:left]
        try:
            return self._unpack.decompress(chunk, left)
        except zlib.error as error:
            raise httpx2.DecodingError("it answers with what cannot be unpacked") from error

    async def aclose(self) -> None:
        """Close the body, whatever was not read of it."""
        await self._stream.aclose()


async def refuse_long_wait(response: httpx2.Response) -> None:
    """Let nobody wait where an endpoint asks for more than two minutes: what it asks for is told instead.

    The client of one vendor waits as long as it is asked to, an hour as well, unless this header says not to.
    """
    if (_wait_of(response.headers.get("retry-after", "")) or 0) > MAX_WAIT_S:
        response.headers["x-should-retry"] = "false"


def _wait_of(text: str) -> float | None:
    """Return the seconds of a `Retry-After`: a number, or a date as HTTP has it; None where it is neither."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
