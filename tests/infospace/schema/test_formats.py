"""The formats that are asserted: dates and times, addresses, identifiers."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.schema.validate import first_violation

FORMATS: dict[str, tuple[list[Any], list[Any]]] = {
    # what has it, and what has not
    "date": (
        ["2026-01-31", "2024-02-29", "0001-01-01", 20260131, None],
        [
            "2026-02-29",
            "2026-13-01",
            "2026-1-31",
            "31.01.2026",
            "20260131",
            "2026-W05-6",
            "",
            "2026-01-31 ",
            "২০২৬-01-31",
        ],
    ),
    "time": (
        ["09:30:00Z", "09:30:00z", "23:59:60Z", "00:59:60+01:00", "18:29:60-05:30", "09:30:00.123456+02:00", []],
        [
            "09:30:00",
            "09:30Z",
            "24:00:00Z",
            "09:60:00Z",
            "22:59:60Z",
            "23:59:61Z",
            "09:30:00+24:00",
            "9:30:00Z",
            "09:30:00.Z",
        ],
    ),
    "date-time": (
        ["2026-01-31T09:30:00Z", "2026-01-31t09:30:00.5z", "1998-12-31T15:59:60.123-08:00", True],
        ["2026-01-31", "2026-01-31 09:30:00Z", "2026-01-31T09:30:00", "2026-02-30T09:30:00Z", "2026-01-31T24:00:00Z"],
    ),
    "email": (
        [
            "a@example.org",
            "first.last+tag@sub.example.org",
            "~a@x",
            '"a b"@example.org',
            "a@[192.0.2.1]",
            "a@[IPv6:::1]",
            "a" * 64 + "@x.org",
            f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 61}",
        ],
        [
            "a",
            "@example.org",
            "a@",
            "a b@example.org",
            ".a@x.org",
            "a.@x.org",
            "a..b@x.org",
            "a@-x.org",
            "a@[1.2.3]",
            "a@b@c",
            "a" * 65 + "@x.org",
            f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 62}",
            f"a@{'b' * 64}.org",
        ],
    ),
    "uri": (
        [
            "https://example.org/a?b=c&d=%20#e",
            "mailto:a@example.org",
            "urn:isbn:0451450523",
            "ftp://[2001:db8::1]:21/a",
            "file:///tmp/a",
            "tel:+1-816-555-1212",
        ],
        [
            "/a/b",
            "example.org",
            "//example.org/a",
            "http:// a.org",
            "https://x.org/ä",
            "https://x.org/%zz",
            ":x",
            "a<b:c",
            "https://x.org:port/",
            "https://x.org/[a]",
            "https://[::1/",
            "https://x.org/\\a",
            "a:b#c#d",
            "bar,baz",
        ],
    ),
    "uuid": (
        [
            "123e4567-e89b-12d3-a456-426614174000",
            "123E4567-E89B-12D3-A456-426614174000",
            "0" * 8 + "-0000-0000-0000-" + "0" * 12,
        ],
        [
            "123e4567e89b12d3a456426614174000",
            "123e4567-e89b-12d3-a456-42661417400",
            "{123e4567-e89b-12d3-a456-426614174000}",
            "x",
        ],
    ),
    "ipv4": (
        ["192.0.2.1", "0.0.0.1", "255.255.255.255"],
        ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4/24", "1.2.3.4 ", "1২.0.0.1"],
    ),
    "ipv6": (
        ["::1", "2001:db8::1", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8"],
        ["1::2::3", "12345::", "fe80::1%eth0", "1:2:3", "::1/64", "::g"],
    ),
    "anything-else": (["", "x"], []),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_text_has_a_format_or_not(name: str) -> None:
    """What is no text has any; formats that are not known say nothing; unasked, none is asserted."""
    has, others = FORMATS[name]
    for value in has:
        assert first_violation(value, {"format": name}, formats=True) is None, value
    for value in others:
        said = first_violation(value, {"format": name}, formats=True)
        assert said is not None, value
        assert " is not a" in said
        assert "such as" in said
        assert first_violation(value, {"format": name}) is None
