"""Which proxy stands between a URL and us, by what the environment says."""

from __future__ import annotations

import httpx2
import pytest

from infospace.tools.mcp.transport.checked import proxy_for

NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({}, "http://a.example/x", None),
        ({"http_proxy": "http://p:1"}, "http://a.example/x", "http://p:1"),
        ({"http_proxy": "http://p:1"}, "https://a.example/x", None),
        ({"https_proxy": "http://p:1", "all_proxy": "http://q:2"}, "https://a.example/x", "http://p:1"),
        ({"https_proxy": "http://p:1", "all_proxy": "http://q:2"}, "http://a.example/x", "http://q:2"),
        ({"all_proxy": "p:1"}, "http://a.example/x", "http://p:1"),
        ({"all_proxy": "socks5://p:1"}, "http://a.example/x", "socks5://p:1"),
        ({"all_proxy": "http://p:1", "no_proxy": "a.example"}, "http://a.example/x", None),
        ({"all_proxy": "http://p:1", "no_proxy": "a.example:80"}, "http://a.example:8080/x", "http://p:1"),
        ({"all_proxy": "http://p:1", "no_proxy": "a.example:8080"}, "http://a.example:8080/x", None),
    ],
)
def test_the_proxy_of_a_scheme_comes_before_that_of_all(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], url: str, proxy: str | None
) -> None:
    """None for hosts that are named as reached without one, with their port where that is named."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(httpx2.URL(url)) == proxy
