"""The formats of texts that JSON Schema names and that are asserted here: dates and times, addresses, identifiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Any, Final
from urllib.parse import urlsplit

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = re.compile(rf'{_ATOM}(?:\.{_ATOM})*|"(?:[ !#-\[\]-~]|\\[ -~])*"')
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
LONGEST_EMAIL: Final = 254
"""Characters of an address that mail servers take."""


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    """RFC 3339, with an offset; a leap second is the last of a day in UTC."""
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    hour, minute, second = (int(match[part]) for part in (1, 2, 3))
    off_hour, off_minute = int(match[5] or 0), int(match[6] or 0)
    if hour > 23 or minute > 59 or off_hour > 23 or off_minute > 59:
        return False
    offset = timedelta(hours=off_hour, minutes=off_minute) * (-1 if match[4] == "-" else 1)
    in_utc = (timedelta(hours=hour, minutes=minute) - offset) % timedelta(days=1)
    return second < 60 or (second == 60 and in_utc == timedelta(hours=23, minutes=59))


def _is_date_time(text: str) -> bool:
    return _is_date(text[:10]) and text[10:11] in ("T", "t") and _is_time(text[11:])


def _is_email(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    if len(text) > LONGEST_EMAIL or len(local) > 64 or _LOCAL.fullmatch(local) is None:
        return False
    if domain.startswith("[") and domain.endswith("]"):
        inner = domain[1:-1]
        return _is_ipv6(inner[5:]) if inner[:5].lower() == "ipv6:" else _is_ipv4(inner)
    return bool(domain) and all(_LABEL.fullmatch(label) for label in domain.split("."))


def _is_uri(text: str) -> bool:
    """An absolute one, of RFC 3986."""
    if _URI.fullmatch(text) is None:
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    beyond = text.replace(parts.netloc, "", 1) if parts.netloc else text
    return not set("[]") & set(beyond) and beyond.count("#") <= 1 and (":" not in (parts.hostname or "") or "[" in text)


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return text.isascii()


def _is_ipv6(text: str) -> bool:
    """Without a zone."""
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return text.isascii() and "%" not in text


FORMATS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "date": (_is_date, 'a date such as "2026-01-31"'),
    "date-time": (_is_date_time, 'a date and time such as "2026-01-31T09:30:00Z"'),
    "time": (_is_time, 'a time with its offset such as "09:30:00Z"'),
    "email": (_is_email, 'an address such as "name@example.org"'),
    "uri": (_is_uri, 'a URI such as "https://example.org/a"'),
    "uuid": (_is_uuid, 'a UUID such as "123e4567-e89b-12d3-a456-426614174000"'),
    "ipv4": (_is_ipv4, 'an IPv4 address such as "192.0.2.1"'),
    "ipv6": (_is_ipv6, 'an IPv6 address such as "2001:db8::1"'),
}
"""Formats, each with whether a text has it, and what one is. Others say nothing."""


@cache
def format_checker() -> Any:
    """Return what a validator of `jsonschema` asserts these formats with."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, (has, _) in FORMATS.items():
        checker.checks(name)(_of_texts(has))
    return checker


def _of_texts(has: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or has(value)
