"""`infospace serve` says what is wrong with how it is called, before it listens to anybody."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

README = (Path(__file__).parents[4] / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--http", "0.0.0.0:8765"], "not a loopback address"),
        (["--http", ":8765"], "not a loopback address"),
        (["--http", "some"], "is not a port"),
        (["--http", "65536"], "is not a port"),
        (["--http", "0", "--token", "short"], "at least 16 characters"),
        (["--token", "a-token-that-is-long-enough"], "a token is for --http"),
    ],
)
def test_a_wrong_call_is_refused_in_a_sentence(cli: Any, tmp_path: Path, arguments: list[str], said: str) -> None:
    """With code 2, and no space is made."""
    answer = cli("serve", *arguments)
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert not (tmp_path / "space.db").exists()


def test_the_clients_configuration_of_the_readme_starts_the_server() -> None:
    """Its arguments are those of the command."""
    from tui.command import build_parser

    text = next(text for text in re.findall(r"`([^`\n]+)`", README) if "mcpServers" in text)
    server = json.loads(text)["mcpServers"]["infospace"]
    assert server["command"] == "infospace"
    parsed = build_parser(server["args"]).parse_args(server["args"])
    assert (parsed.command, parsed.space, parsed.http) == ("serve", "/path/to/work.db", None)


def test_the_help_says_that_a_scope_limits_notes_runs_and_sessions(cli: Any) -> None:
    """Each is named with its values, as the file takes them; nobody is told that they are open to all."""
    from planner.server.config import ScopeEntry

    said = " ".join(cli("serve", "--help").out.split())
    for name, value in (("notes", '"none"'), ("runs", '"own"'), ("sessions", '"own"')):
        assert name in ScopeEntry.model_fields
        assert f'"{name}": ' in said
        assert value in said
    assert "belongs in a space of its own" not in said
