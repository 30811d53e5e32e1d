"""Hosts as URLs name them: this machine, private networks, and all others."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import Final
from urllib.parse import SplitResult, urlsplit

from infospace.core.errors import Invalid

LARGEST: Final = 16 * 2**20
"""Bytes of one answer that are taken."""


def is_private_name(host: str) -> bool:
    """Whether a host is an address of this machine or a private network as it is written; names are not looked up."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(name.strip("[]")).is_global
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine by its own address."""
    host = (split_url(url).hostname or "").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL. Raises Invalid for what is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise Invalid(f"{url!r:.200} is not a URL", hint="https://…") from None
    return parts


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port. Raises Invalid for what is no URL."""
    parts = split_url(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)


def resolve(host: str) -> list[str]:
    """Return the addresses of a host, as the system names them. Raises Invalid where it has none."""
    try:
        results = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Invalid(f"{host!r:.100} has no address") from None
    return list(dict.fromkeys(str(result[4][0]) for result in results))


def is_public(address: str) -> bool:
    """Whether an address is neither this machine's nor one of a private network."""
    return ipaddress.ip_address(address.partition("%")[0]).is_global


def must_be_public(host: str, resolve: Callable[[str], list[str]] = resolve) -> list[str]:
    """Return the addresses of a host. Raises Invalid where one is of this machine or a private network, or none is."""
    if is_private_name(host):
        raise Invalid(f"{host!r:.100} is this machine or one of a private network, and is not asked")
    results = resolve(host)
    private = next((result for result in results if not is_public(result)), None)
    if private is not None:
        raise Invalid(f"{host!r:.100} leads to {private}, this machine or one of a private network, and is not asked")
    return results
