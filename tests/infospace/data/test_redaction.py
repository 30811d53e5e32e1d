"""What is secret stands in nothing that is shown, and what is not stays readable."""

from __future__ import annotations

import pytest

from infospace.core.redaction import hidden, secret_arguments, secrets_in, shown_arguments, shown_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pass@host.org/mcp?key=abc&x=1#frag", "https://•••@host.org/mcp?key=•••&x=•••#•••"),
        ("https://token@host.org/", "https://•••@host.org/"),
        ("https://host.org/mcp?${QUERY}", "https://host.org/mcp?${QUERY}"),
        ("https://host.org/mcp?key=${KEY}", "https://host.org/mcp?key=${KEY}"),
        ("https://${USER}@host.org", "https://${USER}@host.org"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("no URL at all", "no URL at all"),
    ],
)
def test_a_url_is_shown_without_login_and_values_of_its_query(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["--api-key", "abcd", "run"], ["--api-key", "•••", "run"]),
        (["--token=abcd"], ["--token=•••"]),
        (["--apiKey", "abcd"], ["--apiKey", "•••"]),
        (["--header", "Authorization: Bearer x y"], ["--header", "Authorization: •••"]),
        (["-e", "GITHUB_PERSONAL_ACCESS_TOKEN=abcd"], ["-e", "GITHUB_PERSONAL_ACCESS_TOKEN=•••"]),
        (["postgres://me:pw@host/db"], ["postgres://•••@host/db"]),
        (["ghp_0123456789abcdef"], ["•••"]),
        (["0123456789abcdefghijklmn", "0123456789abcdefghijklm"], ["•••", "0123456789abcdefghijklm"]),
        (["--token=abcd", "run", "--secret", "abcd", "efgh"], ["--token=•••", "run", "--secret", "•••", "efgh"]),
        (["https://host.org/mcp#abcd"], ["https://host.org/mcp#•••"]),
        (["--token", "${TOKEN}", "--key", "--verbose"], ["--token", "${TOKEN}", "--key", "--verbose"]),
        (
            ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes", "--keyboard=de"],
            ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes", "--keyboard=de"],
        ),
    ],
)
def test_arguments_are_shown_without_what_is_secret_by_its_name_or_its_form(given: list[str], shown: list[str]) -> None:
    assert shown_arguments(given) == shown
    taken = [one for before, after in zip(given, shown, strict=True) if before != after for one in [before]]
    assert all(hidden(one, secret_arguments(given)) != one for one in taken)
    left = [one for one in given if one in shown and "${" not in one]
    assert [hidden(one, secret_arguments(given)) for one in left] == left


def test_a_known_secret_is_hidden_wherever_it_stands_the_longest_first() -> None:
    """Also as it stands in a URL; what is too short stands everywhere, and stays."""
    assert hidden("a=s3cret&b=s3cret/more&c=s3cret%2Fmore&d=abc", ["s3cret", "s3cret/more", "abc"]) == (
        "a=•••&b=•••&c=•••&d=abc"
    )
    assert set(secrets_in("https://me:pa%20ss@h/?k=v1v1")) == {"me:pa%20ss", "me:pa ss", "pa%20ss", "pa ss", "v1v1"}
